/* The rows of a run: opened, completed, brought to scale. See pipeline.h. */
#include "base/log.h"
#include "isolation/settings.h"
#include "pipeline/pipeline.h"
#include "recipe/shape.h"
#include "settings/checks.h"

/* COLLECTIVE. Opens isolation.model_from.
 *   out   closed by the caller, also after a failure */
static ikt_status open_model_rows(ikt_context *ctx, const ikt_settings *settings, ikt_source *rows,
                                  ikt_source **out) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    ikt_source *ordered;
    IKT_TRY(ikt_source_open(ctx, isolation->model_from, isolation->model_dataset, 0, out));
    IKT_TRY(ikt_check_model_columns(ctx, ikt_source_name(*out), ikt_source_columns(*out),
                                    ikt_source_name(rows), ikt_source_columns(rows)));
    IKT_TRY(ikt_model_rows_order(ctx, *out, rows, &ordered));
    if (ordered) *out = ordered;
    return IKT_OK;
}

/* COLLECTIVE. Puts what preprocess.normalise: auto means for the rows of `source` in its place. */
static ikt_status resolve_normalise(ikt_context *ctx, ikt_source *source,
                                    ikt_preprocess_settings *preprocess) {
    ikt_normalise mode = ikt_normalise_of(preprocess);
    if (mode == IKT_NORMALISE_AUTO && preprocess->metric != IKT_METRIC_PRECOMPUTED)
        IKT_TRY(ikt_normalise_choose(ctx, source, &mode));
    preprocess->normalise = (int)mode;
    return IKT_OK;
}

/* COLLECTIVE. Two data sets by one map, which the statistics of the first fix.
 *   leading     receives the first, whose map the other borrows
 *   following   receives the other */
static ikt_status open_both(ikt_context *ctx, const ikt_preprocess_settings *preprocess,
                            ikt_source *first, ikt_source *other, ikt_dataset **leading,
                            ikt_dataset **following) {
    IKT_TRY(ikt_dataset_create(ctx, first, preprocess, leading));
    const ikt_data_map map = ikt_dataset_map(*leading);
    return ikt_dataset_create_mapped(ctx, other, &map, following);
}

/* COLLECTIVE. The data set of `source`, and where its model comes from other rows that of those.
 * The statistics of one of the two fix the map of both. */
static ikt_status open_data(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                            ikt_dataset **out) {
    ikt_preprocess_settings preprocess = settings->preprocess;
    ikt_source *other IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *leading IKT_AT_END(ikt_dataset_destroy) = NULL;
    ikt_dataset *following IKT_AT_END(ikt_dataset_destroy) = NULL; /* goes first */
    preprocess.is_indefinite = settings->input.similarities[0] != '\0';
    if (!settings->isolation.model_from[0])
        return ikt_dataset_create(ctx, source, &preprocess, out);
    IKT_TRY(open_model_rows(ctx, settings, source, &other));
    IKT_TRY(resolve_normalise(ctx, other, &preprocess));
    if (preprocess.pca == 0 && (preprocess.normalise == IKT_NORMALISE_NONE ||
                                preprocess.normalise == IKT_NORMALISE_UNIT)) {
        IKT_TRY(open_both(ctx, &preprocess, source, other, &leading, &following));
        ikt_dataset_take_model(leading, &other, &following);
        return ikt_give(out, leading);
    }
    IKT_TRY(open_both(ctx, &preprocess, other, source, &leading, &following));
    ikt_dataset_take_model(following, &other, &leading);
    return ikt_give(out, following);
}

/* COLLECTIVE. Puts psi for rows with small neighbourhoods in place of isolation.psi: auto. The
 * rule of other rows asks for no look at them (isolation/settings.h). */
static ikt_status resolve_psi(ikt_context *ctx, ikt_dataset *data, ikt_settings *settings) {
    const int64_t n = ikt_dataset_rows(data);
    int64_t cell_rows, *psi = &settings->isolation.psi;
    double growth;
    if (!ikt_settings_look_at_neighbourhoods(settings, n, ikt_dataset_is_sparse(data)))
        return IKT_OK;
    IKT_TRY(ikt_small_neighbourhoods_find(ctx, data, &cell_rows, &growth));
    if (cell_rows == 0) return IKT_OK;
    *psi = n / cell_rows;
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("psi", *psi), IKT_LOG_REAL("growth", growth)),
                    "isolation.psi: auto takes %lld, n/%lld, because the rows stand in small "
                    "groups: beyond the 8 nearest rows their local dimension is %.1f times as high",
                    (long long)*psi, (long long)cell_rows, growth);
    return IKT_OK;
}

ikt_status ikt_rows_complete(ikt_context *ctx, ikt_missing how, ikt_source *given,
                             ikt_source **source) {
    ikt_source *without;
    IKT_TRY(
        ikt_missing_open(ctx, ikt_source_or(given, *source), given == NULL, how, NULL, &without));
    if (without) *source = without;
    return IKT_OK;
}

ikt_status ikt_rows_open(ikt_context *ctx, ikt_source *rows, ikt_settings *settings,
                         ikt_dataset **data) {
    ikt_dataset *made IKT_AT_END(ikt_dataset_destroy) = NULL;
    IKT_TRY(open_data(ctx, settings, rows, &made));
    settings->preprocess.normalise = (int)ikt_dataset_map(made).normaliser.mode;
    IKT_TRY(resolve_psi(ctx, made, settings));
    return ikt_give(data, made);
}

ikt_status ikt_rows_resolve(ikt_context *ctx, ikt_source *rows, ikt_settings *settings) {
    ikt_source *model IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *data IKT_AT_END(ikt_dataset_destroy) = NULL;
    const bool is_sparse = ikt_source_is_sparse(rows) && settings->preprocess.pca == 0;
    if (ikt_settings_look_at_neighbourhoods(settings, ikt_source_rows(rows), is_sparse))
        return ikt_rows_open(ctx, rows, settings, &data);
    if (settings->isolation.model_from[0]) IKT_TRY(open_model_rows(ctx, settings, rows, &model));
    return resolve_normalise(ctx, ikt_source_or(model, rows), &settings->preprocess);
}

ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                             ikt_source **source, ikt_dataset **data) {
    ikt_source *opened IKT_AT_END(ikt_source_close) = NULL;
    *source = NULL;
    *data = NULL;
    if (!given && ikt_input_is_graph(&settings->input)) return IKT_OK;
    if (!given) IKT_TRY(ikt_input_open(ctx, &settings->input, &opened));
    IKT_TRY(ikt_rows_complete(ctx, (ikt_missing)settings->preprocess.missing, given, &opened));
    IKT_TRY(open_data(ctx, settings, ikt_source_or(opened, given), data));
    return ikt_give(source, opened);
}

void ikt_pipeline_close(ikt_source **source, ikt_dataset **data) {
    ikt_dataset_destroy(data);
    ikt_source_close(source);
}
