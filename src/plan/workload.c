/* What a run has to do, in numbers. */
#include "plan/plan.h"

#include <math.h>

#include "cells/cells.h"
#include "isolation/codes.h"
#include "isolation/near_search.h"
#include "neighbours/tiles.h"

/* Of an entry of a sparse row: column and value. */
enum { SPARSE_ENTRY_BYTES = 8 };

/* The map while attraction is exaggerated: some clumps in a few units. */
static const double early_span = 15;

/* Light tails and late exaggeration make maps smaller: measured on 10,000 digits, beside the span
 * of t-SNE, .45 with 2 degrees of freedom, .1 with the Gaussian kernel; .35 and .15 with factors of
 * 2 and 4. Predictions stay above these. A heavy tail has the same span after 750 iterations (.86
 * with 0.5 degrees of freedom), and goes on growing. */
static const double light_least = 0.15;

/* Of a row's neighbours in a set of ordered rows that is halved, a share 2^-0.285 stays in its
 * half: measured on 70,000 digits, of which 17, 34 and 43 % leave on 2, 4 and 7 ranks. */
static const double halving_loss = 0.285;

/* What a batch of blocks may fetch (neighbours/search.c), and how many times more rows than it has,
 * and than a row has candidates, are near its rows. */
static const double fetch_bytes = 256 << 20, batch_spread = 12;

/* A row of text shares a twentieth of its words with another: measured on newsgroups, unless it is
 * known; and some by chance. Rows are taken to differ in length as much as those of texts do. */
static const double shared_words = 0.05, longest_share = 30;

ikt_data_shape ikt_data_shape_of(const ikt_source *source, bool is_sparse) {
    ikt_data_shape shape = {.n = ikt_source_rows(source),
                            .d = ikt_source_columns(source),
                            .type = ikt_source_type(source),
                            .is_sparse = is_sparse};
    if (!is_sparse) return shape;
    shape.entries = (double)ikt_source_entries(source) / (double)shape.n;
    shape.longest = ikt_source_longest_row(source);
    return shape;
}

double ikt_workload_overlap(const ikt_workload *w) {
    const double entries = w->rows.entries;
    if (!w->rows.is_sparse) return (double)w->columns;
    if (w->data.overlap > 0) return w->data.overlap;
    return fmin(entries, shared_words * entries + entries * entries / (double)w->columns);
}

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
    if (out->columns > data->d && data->d > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "preprocess.pca = %lld, but there are %lld columns",
                        (long long)s->preprocess.pca, (long long)data->d);
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
    if (out->rows.is_sparse && out->is_forest)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.form: forest needs dense rows, and these are sparse; take "
                        "isolation.form=voronoi");
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

int64_t ikt_workload_row_bytes(const ikt_workload *w) {
    if (w->rows.is_sparse) return (int64_t)(w->rows.entries * SPARSE_ENTRY_BYTES);
    return w->columns * (w->is_u8 ? 1 : (int64_t)sizeof(float));
}

int64_t ikt_workload_searched_bytes(const ikt_workload *w) {
    return w->is_isolation ? ikt_codes_memory(1, w->psi, w->t)
                           : w->columns * (int64_t)sizeof(float);
}

double ikt_workload_span(const ikt_workload *w, double done) {
    const ikt_layout_settings *layout = &w->settings.layout;
    double after = (double)(layout->iterations - layout->exaggeration_iterations) * done;
    double span = 21.6 * pow((double)w->data.n, 0.208) * sqrt(after / 500);
    const double degrees = layout->degrees_of_freedom, factor = layout->final_exaggeration;
    if (degrees > 1) span *= fmax(light_least, 1 / degrees);
    if (factor > 1 && layout->final_exaggeration_from == IKT_AUTO_INT) span /= factor;
    return span > early_span ? span : early_span;
}

double ikt_symmetric_share(int64_t n) {
    return 1.26 + 0.135 * fmin(3, fmax(-1, log10((double)n / 1e4)));
}

double ikt_workload_cut(const ikt_workload *w) {
    double ranks = w->ranks;
    return w->is_near ? 1 - pow(ranks, -halving_loss) : (ranks - 1) / ranks;
}

double ikt_workload_block(const ikt_workload *w) {
    /* Voronoi cells differ in size as much as they are large, so that a row's own is twice the
     * mean; and a large cell is cut into blocks of half to all of the rows allowed. */
    const double cell = fmax(1, 2 * (double)w->data.n / (double)w->psi);
    const double block = (double)w->settings.affinity.whole.block;
    return cell > block ? 0.8 * block : cell;
}

double ikt_workload_passes(const ikt_workload *w) {
    const ikt_whole_settings *s = &w->settings.affinity.whole;
    return (double)s->partitionings *
               (double)(w->settings.layout.iterations + 1 - s->last_iterations) +
           (double)s->last_partitionings * (double)s->last_iterations;
}

double ikt_workload_boundary(const ikt_workload *w) {
    double others = (double)(w->distribution.n - w->distribution.count);
    double crossing = ikt_workload_cut(w) * ikt_symmetric_share(w->distribution.n) *
                      (double)(w->distribution.count * w->k);
    if (others <= 0) return 0;
    if (w->is_dense) return others;
    if (w->is_whole) return 0;
    double thrown = crossing / others;
    if (w->is_near) thrown = fmin(thrown, 0.257 * pow(thrown, 0.75));
    return others * (1 - exp(-thrown));
}

double ikt_workload_partners(const ikt_workload *w) {
    return fmin(w->ranks - 1, ikt_workload_boundary(w));
}

ikt_fetching ikt_workload_fetching(const ikt_workload *w) {
    const double count = (double)w->distribution.count, candidates = (double)w->candidates;
    const double others = (double)w->distribution.n - count;
    const double of_block = fmin((double)w->data.n / (double)w->cells, IKT_TILE_ROWS); /* rows */
    ikt_fetching f;
    f.blocks = fetch_bytes / (candidates * (double)ikt_workload_searched_bytes(w));
    f.blocks = floor(fmin(4096, fmax(8, f.blocks)));
    f.batches = ceil(count / (f.blocks * of_block));
    const double around = batch_spread * (count / f.batches + candidates);
    f.rows = f.batches * fmin(others, ikt_workload_cut(w) * around);
    return f;
}
