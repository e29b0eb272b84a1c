/* Rows whose Isolation model comes from another data set. */
#include "pipeline/model_rows.h"

static ikt_status check_columns(ikt_context *ctx, const ikt_source *rows, const ikt_source *model) {
    if (ikt_source_columns(rows) == ikt_source_columns(model)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s (isolation.model_from) has %lld columns, %s has %lld: centres and rows "
                    "must have the same",
                    ikt_source_name(model), (long long)ikt_source_columns(model),
                    ikt_source_name(rows), (long long)ikt_source_columns(rows));
}

/* The one whose statistics fix the map, then the other under that map. */
static ikt_status create_both(ikt_context *ctx, const ikt_preprocess_settings *settings,
                              ikt_source *first, ikt_source *second, ikt_dataset **leading,
                              ikt_dataset **following) {
    IKT_TRY(ikt_dataset_create(ctx, first, settings, leading));
    const ikt_data_map map = ikt_dataset_map(*leading);
    return ikt_dataset_create_mapped(ctx, second, &map, following);
}

static ikt_status open_other(ikt_context *ctx, const ikt_settings *settings,
                             const ikt_source *source, ikt_source **other) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    *other = NULL;
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.model_from needs affinity.kind = isolation: other kernels draw "
                        "no centres");
    IKT_TRY(ikt_source_open(ctx, isolation->model_from, isolation->model_dataset, 0, other));
    ikt_status st = check_columns(ctx, source, *other);
    if (st != IKT_OK) ikt_source_close(other);
    return st;
}

ikt_status ikt_model_rows_check(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_source *source, int64_t *drawn, bool *is_u8) {
    ikt_source *other = NULL;
    *drawn = 0;
    *is_u8 = ikt_source_type(source) == IKT_TYPE_U8;
    if (!settings->isolation.model_from[0]) return IKT_OK;
    IKT_TRY(open_other(ctx, settings, source, &other));
    *drawn = ikt_source_rows(other);
    *is_u8 = ikt_source_type(other) == IKT_TYPE_U8;
    ikt_source_close(&other);
    return IKT_OK;
}

ikt_status ikt_model_rows_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                               ikt_dataset **out) {
    const ikt_preprocess_settings *preprocess = &settings->preprocess;
    ikt_source *other = NULL;
    ikt_dataset *model = NULL;
    *out = NULL;
    bool by_rows = preprocess->pca == 0 && (preprocess->normalise == IKT_NORMALISE_NONE ||
                                            preprocess->normalise == IKT_NORMALISE_UNIT);
    IKT_TRY(open_other(ctx, settings, source, &other));
    ikt_status st = by_rows ? create_both(ctx, preprocess, source, other, out, &model)
                            : create_both(ctx, preprocess, other, source, &model, out);
    if (st == IKT_OK) {
        ikt_dataset_take_model(*out, &other, &model);
    } else if (by_rows) {
        ikt_dataset_destroy(&model); /* what borrows the map goes first */
        ikt_dataset_destroy(out);
    } else {
        ikt_dataset_destroy(out);
        ikt_dataset_destroy(&model);
    }
    ikt_source_close(&other);
    return st;
}
