/* A model file brought into memory. */
#include "transform/transform.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "dist/shuffle.h"
#include "metric/near_bytes.h"

static const char purpose[] = "model";

/* --- the parts -------------------------------------------------------------------------------- */

static ikt_status read_settings(ikt_context *ctx, ikt_loaded_model *m) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text IKT_AT_END(ikt_free) = NULL, *hash IKT_AT_END(ikt_free) = NULL;
    ikt_settings_parts(&m->settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    IKT_TRY(ikt_model_file_note(m->file, "configuration", &text));
    IKT_TRY(ikt_model_file_note(m->file, "model_hash", &hash));
    if (text)
        IKT_TRY(ikt_config_parse_text(ctx, parts, IKT_SETTINGS_PARTS,
                                      "the configuration stored in the model", text));
    if (hash) snprintf(m->hash, sizeof m->hash, "%s", hash);
    IKT_TRY(ikt_model_file_label_names(m->file, &m->label_names));
    return ikt_model_file_column_names(m->file, &m->column_names);
}

/* COLLECTIVE. All rows of a part, which every rank reads. */
static ikt_status read_all(const ikt_loaded_model *m, ikt_model_part part, int64_t rows,
                           void *values) {
    return ikt_model_file_read(m->file, part, 0, rows, values, 0);
}

static ikt_status read_preprocessing(ikt_context *ctx, ikt_loaded_model *m) {
    const int64_t d = m->shape.d, k = m->shape.columns;
    m->normaliser =
        (ikt_normaliser){.mode = m->shape.is_unit ? IKT_NORMALISE_UNIT : IKT_NORMALISE_NONE,
                         .metric = (ikt_metric_kind)m->shape.metric,
                         .d = d};
    if (m->shape.is_shifted) {
        double **shift = &m->normaliser.shift;
        IKT_TRY(ikt_alloc_all(ctx, shift, 2 * d, sizeof(double), purpose));
        m->normaliser.scale = *shift + d;
        IKT_TRY(read_all(m, IKT_MODEL_SHIFT, d, *shift));
        IKT_TRY(read_all(m, IKT_MODEL_SCALE, d, m->normaliser.scale));
    }
    if (m->shape.has_fill) {
        IKT_TRY(ikt_alloc_all(ctx, &m->fill, d, sizeof *m->fill, purpose));
        IKT_TRY(read_all(m, IKT_MODEL_FILL, d, m->fill));
    }
    if (!m->shape.is_reduced) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    double *mean = ikt_claim(&held, (1 + k) * d, sizeof *mean);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_all(m, IKT_MODEL_MEAN, d, mean));
    IKT_TRY(read_all(m, IKT_MODEL_COMPONENTS, k, mean + d));
    return ikt_agree(ctx, ikt_pca_restore(ctx, d, k, mean, mean + d, &m->pca));
}

/* A model whose rows are the numbers of centres, which must ascend. */
static ikt_status read_model(ikt_context *ctx, ikt_loaded_model *m) {
    const ikt_model_shape *s = &m->shape;
    IKT_TRY(ikt_alloc_all(ctx, &m->model, 1, sizeof *m->model, purpose));
    *m->model = (ikt_model){
        .spec = {.seed = (uint64_t)m->settings.run.seed, .n = s->centres, .psi = s->psi, .t = s->t},
        .psi = s->psi,
        .t = s->t};
    int32_t **given = &m->model->given;
    IKT_TRY(ikt_alloc_all(ctx, given, s->t * s->psi, sizeof **given, purpose));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_PARTITIONINGS, 0, s->t, *given, 0));
    for (int64_t e = 0; e < s->t * s->psi; e++) {
        const bool ascends = e % s->psi == 0 || (*given)[e] > (*given)[e - 1];
        if (!ascends)
            return ikt_model_file_damaged(m->file, "/partitionings does not ascend in each");
    }
    return IKT_OK;
}

/* Numbers of the old rows, q each: each rank reads its share, and all get all. */
static ikt_status share_part(ikt_context *ctx, const ikt_loaded_model *m, ikt_model_part part,
                             int64_t q, float **out) {
    const ikt_rows rows = ikt_rows_make(m->shape.n, ikt_size(ctx), ikt_rank(ctx));
    IKT_ARRAYS(held, ctx, "embedding");
    float *own = ikt_claim(&held, rows.count * q, sizeof *own);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_model_file_read(m->file, part, rows.first, rows.count, own, 0));
    return ikt_share_rows(ctx, &rows, own, (size_t)q * sizeof *own, "embedding", out);
}

static ikt_status read_old(ikt_context *ctx, ikt_loaded_model *m) {
    IKT_TRY(share_part(ctx, m, IKT_MODEL_EMBEDDING, m->shape.q, &m->y));
    if (!m->shape.has_rows || m->shape.placing != IKT_PLACING_TRIPLETS) return IKT_OK;
    return share_part(ctx, m, IKT_MODEL_SCALES, 1, &m->scale);
}

/* What the settings of the run say must be what the shape says: places follow from both. */
static ikt_status check_placing(const ikt_loaded_model *m) {
    const bool by_triplets =
        ikt_layout_objective(&m->settings.layout)->places == IKT_PLACES_BY_TRIPLETS;
    const ikt_affinity_scores scores = ikt_affinity_of(&m->settings.affinity)->scores;
    const bool projects = ikt_settings_is_kernel_map(&m->settings);
    const char *other = "what it holds is not what its configuration would place rows by";
    if (projects != ikt_transform_projects(m)) return ikt_model_file_damaged(m->file, other);
    if (projects) { /* the kernel of a matrix of similarities is no choice, but what auto means */
        const ikt_similarity_kind kind = ikt_settings_similarity(&m->settings);
        const bool is_given = m->settings.input.similarities[0] || kind == IKT_SIMILARITY_GIVEN;
        return m->shape.kernel == (int64_t)(is_given ? IKT_SIMILARITY_GIVEN : kind)
                   ? IKT_OK
                   : ikt_model_file_damaged(m->file, other);
    }
    if (by_triplets != (m->shape.placing == IKT_PLACING_TRIPLETS) ||
        (scores == IKT_SCORES_CLASSES) != (m->shape.placing == IKT_PLACING_CLASSES) ||
        (scores == IKT_SCORES_CODES) != ikt_model_has_codes(&m->shape))
        return ikt_model_file_damaged(m->file, other);
    return IKT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status load_parts(ikt_context *ctx, ikt_loaded_model *m) {
    IKT_TRY(read_settings(ctx, m));
    IKT_TRY(read_preprocessing(ctx, m));
    IKT_TRY(check_placing(m));
    if (ikt_model_has_cells(&m->shape)) IKT_TRY(read_model(ctx, m));
    return read_old(ctx, m);
}

ikt_status ikt_model_load(ikt_context *ctx, const char *path, ikt_loaded_model *out) {
    memset(out, 0, sizeof *out);
    IKT_TRY(ikt_model_file_open(ctx, path, &out->file));
    out->shape = *ikt_model_file_shape(out->file);
    const ikt_status st = load_parts(ctx, out);
    if (st != IKT_OK) ikt_loaded_model_destroy(out);
    return st;
}

void ikt_loaded_model_destroy(ikt_loaded_model *loaded) {
    ikt_model_file_close(&loaded->file);
    ikt_normaliser_free(&loaded->normaliser);
    ikt_pca_destroy(&loaded->pca);
    ikt_model_destroy(&loaded->model);
    ikt_free_all(&loaded->fill, &loaded->scale, &loaded->y, &loaded->label_names,
                 &loaded->column_names);
}

ikt_status ikt_loaded_model_dataset(ikt_context *ctx, ikt_loaded_model *m, ikt_source *source,
                                    ikt_dataset **out) {
    const ikt_data_map map = {m->normaliser, m->pca};
    /* The centres have been mapped; of cosine and correlation distances, too. */
    const bool is_manhattan = m->normaliser.metric == IKT_METRIC_MANHATTAN;
    const ikt_data_map identity = {
        {.mode = IKT_NORMALISE_NONE,
         .metric = is_manhattan ? IKT_METRIC_MANHATTAN : IKT_METRIC_EUCLIDEAN,
         .d = m->shape.columns},
        NULL};
    ikt_source *centre_rows IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *centres IKT_AT_END(ikt_dataset_destroy) = NULL;
    *out = NULL;
    if (m->shape.is_of_similarities && ikt_source_columns(source) != m->shape.d)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld columns, but rows are placed by %s from their similarities to "
                        "the %lld %s, in that order",
                        ikt_source_name(source), (long long)ikt_source_columns(source),
                        ikt_model_file_path(m->file), (long long)m->shape.d,
                        ikt_transform_projects(m)
                            ? "rows that its map is made of (/kernel/landmarks)"
                            : "rows of its support (/fisher/support)");
    if (ikt_source_columns(source) != m->shape.d)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s has %lld columns, but the rows of %s had %lld: new rows must have the same",
            ikt_source_name(source), (long long)ikt_source_columns(source),
            ikt_model_file_path(m->file), (long long)m->shape.d);
    if (!ikt_model_has_cells(&m->shape)) return ikt_dataset_create_mapped(ctx, source, &map, out);
    IKT_TRY(ikt_source_open(ctx, ikt_model_file_path(m->file), "centres", 0, &centre_rows));
    IKT_TRY(ikt_dataset_create_mapped(ctx, centre_rows, &identity, &centres));
    IKT_TRY(ikt_dataset_create_mapped(ctx, source, &map, out));
    ikt_dataset_take_model(*out, &centre_rows, &centres);
    const ikt_codes_rows rows = ikt_codes_rows_of(*out);
    if (!rows.is_sparse)
        m->model->spec.candidates =
            ikt_isolation_candidates(&m->settings.isolation, m->shape.centres, rows.d,
                                     ikt_bytes_suit(rows.is_u8, rows.is_manhattan, rows.d));
    return IKT_OK;
}
