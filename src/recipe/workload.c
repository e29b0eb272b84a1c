/* From settings and shape to what a run has to do, in numbers. See recipe.h. */
#include "recipe/recipe.h"

#include <math.h>

#include "cells/cells.h"
#include "isolation/near_search.h"

/* Rows of text are taken to differ in length as much as those of texts do. */
static const double longest_share = 30;

/* What codes are made of. */
static ikt_codes_rows coded_rows(const ikt_workload *w) {
    const ikt_data_shape *data = &w->data;
    ikt_codes_rows rows = {.d = w->columns,
                           .is_u8 = w->is_u8,
                           .is_manhattan = w->settings.preprocess.metric == IKT_METRIC_MANHATTAN};
    if (w->is_pairs) {
        rows.d = data->n;
        rows.is_pairs = true;
        return rows;
    }
    if (!data->is_sparse || !w->is_isolation || w->settings.preprocess.pca > 0) return rows;
    rows.is_sparse = true;
    rows.entries = data->entries;
    rows.longest = data->longest;
    if (rows.longest <= 0)
        rows.longest = (int64_t)fmin(longest_share * rows.entries, (double)rows.d);
    return rows;
}

ikt_status ikt_workload_make(ikt_context *ctx, const ikt_settings *settings,
                             const ikt_data_shape *data, int ranks, int threads,
                             ikt_workload *out) {
    *out = (ikt_workload){.settings = *settings,
                          .data = *data,
                          .distribution = ikt_rows_make(data->n, ranks, 0),
                          .ranks = ranks,
                          .threads = threads};
    ikt_settings *s = &out->settings;
    const int64_t drawn = data->drawn > 0 ? data->drawn : data->n;
    out->columns = s->preprocess.pca > 0 ? s->preprocess.pca : data->d;
    out->is_pairs = s->preprocess.metric == IKT_METRIC_PRECOMPUTED;
    if (out->is_pairs) out->columns = 1; /* a distance that is read counts as a coordinate */
    /* Bytes of which nothing more is known are taken for images. */
    const ikt_normalise mode = ikt_normalise_of(&s->preprocess);
    const bool is_as_read = mode == IKT_NORMALISE_NONE || mode == IKT_NORMALISE_AUTO;
    out->is_u8 = data->type == IKT_TYPE_U8 && !data->is_sparse && !out->is_pairs && is_as_read &&
                 s->preprocess.pca == 0;
    out->is_given = data->graph_entries > 0;
    const unsigned needs = ikt_layout_objective(&s->layout)->needs;
    const bool has_pairs = out->is_given && s->affinity.graph.is_pairwise;
    out->is_joined = out->is_given && !has_pairs && (needs & IKT_NEEDS_FEATURES);
    out->is_isolation = !out->is_given && ikt_affinity_of(&s->affinity)->scores == IKT_SCORES_CODES;
    out->is_forest = out->is_isolation && s->isolation.form == IKT_FORM_FOREST;
    out->has_matrix =
        (needs & IKT_NEEDS_FEATURES) && (has_pairs || (out->is_pairs && !out->is_isolation));
    out->is_dense = s->affinity.support == IKT_SUPPORT_DENSE;
    out->is_whole = s->affinity.support == IKT_SUPPORT_WHOLE;
    out->rows = coded_rows(out);
    IKT_TRY(ikt_layout_resolve(ctx, &s->layout, data->n));
    IKT_TRY(ikt_settings_lists(ctx, s, data->n, &out->k));
    out->model = (ikt_model_spec){.n = drawn, .psi = 1};
    if (out->is_isolation) {
        IKT_TRY(ikt_model_spec_make(ctx, s, data->n, drawn, &out->rows, &out->model));
        out->psi = out->model.psi;
        out->t = out->model.t;
    }
    if (out->is_whole)
        IKT_TRY(ikt_whole_resolve(ctx, &s->affinity.whole, data->n, out->t, s->layout.iterations));
    out->is_fisher = !out->is_given && s->affinity.kind == IKT_AFFINITY_FISHER;
    if (out->is_fisher) { /* where the classes are not known */
        const int64_t m = ikt_fisher_support(&s->affinity.fisher, data->n);
        out->lanes = ikt_class_lanes_most(m, IKT_USUAL_CLASSES);
    }
    out->is_near = !out->is_dense && !out->is_pairs && !out->is_fisher &&
                   ikt_affinity_is_approximate(&s->affinity, data->n);
    out->candidates = data->n;
    if (out->is_near && !out->is_given && !out->is_isolation)
        out->model.coarse = ikt_cells_choose(data->n, 0);
    const int64_t distinct = ikt_codes_distinct(&out->model, &out->rows);
    if (out->is_given) {
        out->k = (data->graph_entries + data->n - 1) / data->n;
        out->is_near = data->graph_is_ordered;
    } else if (out->is_near) {
        const bool is_fine = out->model.near > 0;
        if (!out->is_whole)
            out->candidates =
                is_fine ? ikt_affinity_fine_candidates(&s->affinity, data->n, distinct, out->k)
                        : ikt_affinity_candidates(&s->affinity, data->n, out->k,
                                                  ikt_layout_objective(&s->layout)->lists != NULL);
        out->rounds = ikt_affinity_refinements(&s->affinity, is_fine);
        if (out->candidates > data->n) out->candidates = data->n;
        out->cells = out->model.coarse;
    }
    if (out->model.near > 0) out->cells = ikt_near_centres_cells(distinct);
    out->centres = distinct > 0 ? distinct : out->t * out->psi + out->cells;
    if (out->is_forest) {
        int64_t from = out->model.pool > 0 ? out->model.pool : drawn, sampled = out->t * out->psi;
        out->centres = sampled < from ? sampled : from;
    }
    out->compared = out->centres;
    if (out->model.candidates > 0)
        out->compared = ikt_near_compared(distinct, out->model.candidates);
    out->has_lists = distinct > 0;
    out->is_exact = s->layout.repulsion == IKT_REPULSION_EXACT;
    out->fft =
        ikt_fft_preset(s->layout.accuracy == IKT_ACCURACY_TIGHT ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    out->fft = ikt_fft_for_kernel(&out->fft, ikt_kernel_of_degrees(s->layout.degrees_of_freedom));
    out->fft.sharing = s->layout.grid;
    out->landmarks = s->layout.init == IKT_INIT_LANDMARK ? s->layout.landmarks : 0;
    return IKT_OK;
}

ikt_status ikt_workload_of_landmarks(ikt_context *ctx, const ikt_workload *w, ikt_workload *out) {
    ikt_settings settings = ikt_settings_of_landmarks(&w->settings, w->landmarks);
    settings.output.measures = IKT_MEASURES_NONE;
    const ikt_data_shape shape = {.n = w->landmarks,
                                  .d = w->columns,
                                  .type = w->is_u8 ? IKT_TYPE_U8 : IKT_TYPE_F32,
                                  .is_sparse = w->rows.is_sparse,
                                  .entries = w->rows.entries,
                                  .longest = w->rows.longest,
                                  .overlap = w->data.overlap};
    return ikt_workload_make(ctx, &settings, &shape, w->ranks, w->threads, out);
}

void ikt_workload_settings(const ikt_workload *w, ikt_settings *out) {
    *out = w->settings; /* its layout is resolved */
    out->input.rows = w->data.n;
    out->run.threads = w->threads;
    out->affinity.neighbours = w->k;
    if (!w->is_dense && !w->is_whole) {
        out->affinity.search = w->is_near ? IKT_SEARCH_APPROXIMATE : IKT_SEARCH_EXACT;
        if (w->is_near) out->affinity.candidates = w->candidates;
    }
    if (!w->is_isolation) return;
    out->isolation.psi = w->psi;
    out->isolation.pool = w->model.pool;
    if (w->is_near) out->affinity.refinements = w->rounds;
}
