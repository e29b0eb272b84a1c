/* The maps of kpca and kda. See kernel_scores.h. */
#include "pipeline/kernel_scores.h"

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/shuffle.h"
#include "isolation/model.h"
#include "kernelsum/replica.h"
#include "linalg/eigen.h"
#include "pipeline/early_outputs.h"

static const char purpose[] = "kernel map";

/* The rows that a map is made of, the same on all ranks. */
typedef struct {
    int64_t m;
    int64_t *row, *label; /* [m]; labels of kda only */
} landmarks;

static void landmarks_destroy(landmarks *l) {
    ikt_free(&l->row);
    ikt_free(&l->label);
}

/* COLLECTIVE. m of the rows that may be chosen: of all n where `may` is NULL, else of those that it
 * holds, [count] ascending. */
static ikt_status draw(ikt_context *ctx, const ikt_settings *settings, const int64_t *may,
                       int64_t count, landmarks *out) {
    int64_t *slot = NULL;
    IKT_TRY(ikt_kernel_landmarks(ctx, &settings->kernel, count, &out->m));
    const int64_t slots = ikt_draw_slots(out->m);
    ikt_status st = ikt_alloc(ctx, &out->row, out->m, sizeof *out->row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        ikt_draw_subset((uint64_t)settings->run.seed, IKT_RNG_KERNEL, 0, count, out->m, slot, slots,
                        out->row);
    for (int64_t l = 0; st == IKT_OK && may && l < out->m; l++)
        out->row[l] = may[out->row[l]];
    ikt_free(&slot);
    return st;
}

/* COLLECTIVE. Rows with a label, and some of them. */
static ikt_status draw_labelled(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_rows *rows, const int64_t *labels, landmarks *out,
                                int64_t *unlabelled) {
    int64_t *all = NULL, *may = NULL, count = 0;
    if (ikt_max_one(ctx, labels != NULL) == 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "kda needs labels, and the input has none; name them by input.labels");
    ikt_status st = ikt_share_rows(ctx, rows, labels, sizeof *all, purpose, &all);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_alloc(ctx, &may, rows->n, sizeof *may, purpose));
    for (int64_t i = 0; st == IKT_OK && i < rows->n; i++)
        if (all[i] >= 0) may[count++] = i;
    *unlabelled = rows->n - count;
    if (st == IKT_OK) st = draw(ctx, settings, may, count, out);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, &out->label, out->m, sizeof *out->label, purpose));
    for (int64_t l = 0; st == IKT_OK && l < out->m; l++)
        out->label[l] = all[out->row[l]];
    ikt_free(&all);
    ikt_free(&may);
    return st;
}

ikt_status ikt_kernel_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_rows *rows, ikt_codes *codes, ikt_model **out) {
    const ikt_codes_rows shape = ikt_codes_rows_of(data);
    ikt_model_spec spec;
    ikt_model *model = NULL;
    *codes = (ikt_codes){0};
    if (out) *out = NULL;
    IKT_TRY(ikt_model_spec_make(ctx, settings, rows->n, ikt_dataset_rows(ikt_dataset_model(data)),
                                &shape, &spec));
    spec.coarse = spec.near = 0; /* cells that order rows are no part of the kernel */
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &model));
    if (st == IKT_OK) st = ikt_codes_compute(ctx, data, rows, model, codes, NULL);
    if (st == IKT_OK && out)
        *out = model;
    else
        ikt_model_destroy(&model);
    return st;
}

static void tell(ikt_context *ctx, const ikt_kernel_report *r) {
    const ikt_discriminant_facts *d = &r->separated;
    if (!r->is_kda) {
        double sum = 0;
        for (int c = 0; c < r->q; c++)
            sum += r->components.value[c];
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("rows", r->m),
                               IKT_LOG_REAL("largest_eigenvalue", r->components.value[0]),
                               IKT_LOG_REAL("variance", sum / r->components.trace),
                               {0}},
            "kernel PCA of %lld rows: the largest eigenvalue is %.4g; %d hold %.1f %% "
            "of the sum of all",
            (long long)r->m, r->components.value[0], r->q, 100 * sum / r->components.trace);
        return;
    }
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        (ikt_log_number[]){IKT_LOG_INT("rows", r->m),
                           IKT_LOG_INT("unlabelled", r->unlabelled),
                           IKT_LOG_INT("classes", d->classes),
                           IKT_LOG_REAL("ridge", d->ridge),
                           IKT_LOG_REAL("error", d->error),
                           IKT_LOG_REAL("baseline", d->baseline),
                           IKT_LOG_REAL("chance", d->chance),
                           {0}},
        "kernel discriminant analysis of %lld labelled rows in %lld classes (%lld rows have no "
        "label), ridge %.4g: 1-NN error of these rows %.1f %%; of permuted labels %.1f %%, and by "
        "chance %.1f %%",
        (long long)r->m, (long long)d->classes, (long long)r->unlabelled, d->ridge, 100 * d->error,
        100 * d->baseline, 100 * d->chance);
    if (d->leaks)
        ikt_log(ctx, IKT_LOG_WARN,
                "kda: permuted labels are told better than by chance (1-NN error %.1f %% of %.1f "
                "%%), so that the map shows labels that mean nothing, too: take a larger "
                "kernel.ridge",
                100 * d->baseline, 100 * d->chance);
}

/* COLLECTIVE. The mean of the map, as positions have it, which the end of a run takes off them. */
static void find_origin(ikt_context *ctx, const ikt_rows *rows, int q, const double *scores,
                        double *origin) {
    ikt_exact_sum sum[IKT_DIMENSIONS_MOST] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t e = 0; e < q * rows->count; e++)
        ikt_exact_sum_add(&sum[e % q], (double)(float)scores[e]);
    ikt_exact_sum_reduce(ctx, sum, q);
    for (int c = 0; c < q; c++)
        origin[c] = ikt_exact_sum_value(&sum[c]) / (double)rows->n;
}

ikt_status ikt_kernel_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const int64_t *labels, ikt_model_writer *writer,
                             double *scores, ikt_kernel_report *report) {
    const ikt_kernel_settings *kernel = &settings->kernel;
    const int q = (int)settings->layout.dimensions;
    landmarks chosen = {.m = 0};
    ikt_codes codes = {0};
    ikt_kernel_map map = {.m = 0};
    ikt_model *model = NULL; /* of the Isolation kernel */
    ikt_similarities *similar = NULL;
    *report = (ikt_kernel_report){.is_kda = settings->layout.init == IKT_INIT_KDA, .q = q};
    ikt_status st = report->is_kda
                        ? draw_labelled(ctx, settings, rows, labels, &chosen, &report->unlabelled)
                        : draw(ctx, settings, NULL, rows->n, &chosen);
    ikt_similarity_of of = {
        .kind = ikt_settings_similarity(settings), .bandwidth = kernel->bandwidth, .data = data};
    if (st == IKT_OK && of.kind == IKT_SIMILARITY_ISOLATION) {
        st = ikt_kernel_codes(ctx, settings, data, rows, &codes, &model);
        of.codes = &codes;
    }
    if (st == IKT_OK) st = ikt_similarities_create(ctx, &of, rows, chosen.row, chosen.m, &similar);
    if (st == IKT_OK && report->is_kda)
        st = ikt_discriminant_fit(ctx, similar, chosen.m, chosen.label, q, kernel->ridge,
                                  (uint64_t)settings->run.seed, IKT_EIGEN_ALONE_MAX, &map,
                                  &report->separated);
    else if (st == IKT_OK)
        st = ikt_kernel_pca_fit(ctx, similar, chosen.m, q, IKT_EIGEN_ALONE_MAX, &map,
                                &report->components);
    if (st == IKT_OK) st = ikt_kernel_map_place(ctx, &map, similar, rows, scores, NULL);
    if (st == IKT_OK) {
        report->m = chosen.m;
        report->bandwidth = ikt_similarities_bandwidth(similar);
        tell(ctx, report);
    }
    if (st == IKT_OK && writer) {
        double origin[IKT_DIMENSIONS_MOST];
        find_origin(ctx, rows, q, scores, origin);
        const ikt_kernel_projection made = {
            of.kind, report->bandwidth, chosen.row, &map, origin, model, &codes};
        st = ikt_run_model_projection(ctx, writer, data, rows, &made);
    }
    ikt_model_destroy(&model);
    ikt_similarities_destroy(&similar);
    ikt_kernel_map_destroy(&map);
    ikt_codes_destroy(&codes);
    landmarks_destroy(&chosen);
    return st;
}
