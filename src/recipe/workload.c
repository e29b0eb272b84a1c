/* From settings and shape to what a run has to do, in numbers. See recipe.h. */
#include "recipe/recipe.h"

#include <math.h>

#include "base/sort.h"
#include "cells/cells.h"
#include "isolation/near_search.h"
#include "neighbours/byte_lists.h"
#include "neighbours/local_join.h"
#include "sampled/lone_rows.h"

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
    } else if (data->is_sparse && w->scores == IKT_SCORES_CODES) {
        const double likely = fmin(longest_share * data->entries, (double)rows.d);
        rows.is_sparse = true;
        rows.entries = data->entries;
        rows.longest = data->longest > 0 ? data->longest : (int64_t)likely;
    }
    return rows;
}

/* How rows are compared, and which form P has. */
static void find_kinds(ikt_workload *w) {
    const ikt_settings *s = &w->settings;
    const unsigned needs = ikt_layout_objective(&s->layout)->needs;
    const ikt_normalise mode = ikt_normalise_of(&s->preprocess);
    const bool is_scaled = mode != IKT_NORMALISE_NONE && mode != IKT_NORMALISE_AUTO;
    const bool has_features = needs & IKT_NEEDS_FEATURES;
    const unsigned of_triplets = IKT_NEEDS_FEATURES | IKT_NEEDS_NEIGHBOURS;
    const bool is_bytes = w->data.type == IKT_TYPE_U8 && !w->data.is_sparse;
    w->columns = s->preprocess.pca > 0 ? s->preprocess.pca : w->data.d;
    w->is_pairs = s->preprocess.metric == IKT_METRIC_PRECOMPUTED;
    if (w->is_pairs) w->columns = 1; /* a distance that is read counts as a coordinate */
    /* Bytes of which nothing more is known are taken for images. */
    w->is_as_read = !is_scaled && !w->is_pairs && s->preprocess.pca == 0;
    w->is_u8 = is_bytes && w->is_as_read;
    w->scores = ikt_affinity_of(&s->affinity)->scores;
    bool has_pairs = w->is_pairs && w->scores != IKT_SCORES_CODES;
    if (w->data.graph_entries > 0) {
        w->scores = IKT_SCORES_NONE;
        has_pairs = s->affinity.graph.is_pairwise;
        w->is_joined = has_features && !has_pairs;
    }
    w->has_matrix = has_features && has_pairs;
    w->is_forest = w->scores == IKT_SCORES_CODES && s->isolation.form == IKT_FORM_FOREST;
    w->is_dense = s->affinity.support == IKT_SUPPORT_DENSE;
    w->is_whole = s->affinity.support == IKT_SUPPORT_WHOLE;
    w->is_listed = s->affinity.support == IKT_SUPPORT_SPARSE;
    w->rows = coded_rows(w);
    w->is_measured =
        ikt_lone_rows_are_sought((needs & of_triplets) == of_triplets,
                                 w->scores == IKT_SCORES_CODES, w->rows.is_sparse, w->is_pairs);
}

bool ikt_workload_has_bytes(const ikt_workload *w) {
    return w->is_near && w->scores == IKT_SCORES_DISTANCES &&
           ikt_byte_lists_suit(w->rows.is_manhattan, w->data.n, w->columns, w->passes);
}

bool ikt_workload_has_halves(const ikt_workload *w) {
    return w->is_u8 || (w->data.is_half && w->is_as_read);
}

bool ikt_workload_is_joined(const ikt_workload *w) {
    return ikt_local_join_suits(ikt_workload_has_bytes(w), ikt_byte_lists_length(w->data.n, w->k));
}

/* Rows that each is compared with, rounds over their neighbours, and cells that they are found by.
 *   distinct   centres, or 0 */
static void find_search(ikt_workload *w, int64_t distinct) {
    const ikt_settings *s = &w->settings;
    const int64_t n = w->data.n;
    const bool is_fine = w->model.near > 0;
    w->passes = 1;
    w->candidates = n;
    if (w->scores == IKT_SCORES_NONE) {
        w->k = (w->data.graph_entries + n - 1) / n;
        w->is_near = w->data.graph_is_ordered;
    } else if (w->is_near) {
        if (w->scores == IKT_SCORES_DISTANCES)
            w->passes = ikt_affinity_passes(&s->affinity, w->columns);
        const ikt_list_search near = ikt_settings_list_search(s, n, w->k, is_fine ? distinct : 0,
                                                              w->passes, ikt_workload_is_joined(w));
        if (!w->is_whole) w->candidates = ikt_smaller(near.candidates, n);
        w->rounds = near.rounds;
        w->cells = w->model.coarse;
    }
    if (is_fine) w->cells = ikt_near_centres_cells(distinct);
}

/* Centres of the codes, or rows that trees are grown from. */
static void find_centres(ikt_workload *w, int64_t distinct) {
    const int64_t sampled = w->t * w->psi;
    const int64_t from = w->model.pool > 0 ? w->model.pool : w->model.n;
    w->has_lists = distinct > 0;
    w->centres = w->has_lists ? distinct : sampled + w->cells;
    if (w->is_forest) w->centres = ikt_smaller(sampled, from);
    w->compared =
        w->model.candidates > 0 ? ikt_near_compared(distinct, w->model.candidates) : w->centres;
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
    find_kinds(out);
    IKT_TRY(ikt_layout_resolve(ctx, &s->layout, data->n));
    IKT_TRY(ikt_settings_lists(ctx, s, data->n, &out->k));
    out->model = (ikt_model_spec){.n = drawn, .psi = 1};
    if (out->scores == IKT_SCORES_CODES) {
        IKT_TRY(ikt_model_spec_make(ctx, s, data->n, drawn, &out->rows, &out->model));
        out->psi = out->model.psi;
        out->t = out->model.t;
    }
    if (out->is_whole)
        IKT_TRY(ikt_whole_resolve(ctx, &s->affinity.whole, data->n, out->t, s->layout.iterations));
    out->is_near = out->scores != IKT_SCORES_CLASSES && ikt_settings_is_near(s, data->n);
    if (out->is_near && out->scores == IKT_SCORES_DISTANCES)
        out->model.coarse = ikt_cells_choose(data->n, 0);
    const int64_t distinct = ikt_codes_distinct(&out->model, &out->rows);
    find_search(out, distinct);
    find_centres(out, distinct);
    out->is_exact = s->layout.repulsion == IKT_REPULSION_EXACT;
    out->landmarks = s->layout.init == IKT_INIT_LANDMARK ? s->layout.landmarks : 0;
    return IKT_OK;
}

ikt_status ikt_workload_of_landmarks(ikt_context *ctx, const ikt_workload *w, ikt_workload *out) {
    ikt_settings settings = ikt_settings_of_landmarks(&w->settings, w->landmarks);
    settings.output.measures = IKT_MEASURES_NONE;
    const ikt_data_shape shape = {.n = w->landmarks,
                                  .d = w->columns,
                                  .type = ikt_held_type(w->is_u8),
                                  .is_sparse = w->rows.is_sparse,
                                  .entries = w->rows.entries,
                                  .longest = w->rows.longest,
                                  .overlap = w->data.overlap};
    return ikt_workload_make(ctx, &settings, &shape, w->ranks, w->threads, out);
}

/* The search that makes the lists. */
static void note_search(const ikt_workload *w, ikt_affinity_settings *out) {
    out->search = IKT_SEARCH_EXACT;
    if (!w->is_near) return;
    out->search = IKT_SEARCH_APPROXIMATE;
    out->candidates = w->candidates;
    if (w->scores != IKT_SCORES_NONE) out->refinements = w->rounds;
    if (w->scores == IKT_SCORES_DISTANCES) out->passes = w->passes;
}

void ikt_workload_settings(const ikt_workload *w, ikt_settings *out) {
    *out = w->settings; /* its layout is resolved */
    out->input.rows = w->data.n;
    out->run.threads = w->threads;
    out->affinity.neighbours = w->k;
    if (w->is_listed) note_search(w, &out->affinity);
    if (w->scores != IKT_SCORES_CODES) return;
    out->isolation.psi = w->psi;
    out->isolation.pool = w->model.pool;
}
