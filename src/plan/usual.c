/* What is usual, and was measured, of what a run has to do: the span of a map, the share of P that
 * crosses ranks, rows that are fetched. See plan.h. */
#include "plan/plan.h"

#include <math.h>

#include "isolation/codes.h"
#include "metric/near_bytes.h"
#include "neighbours/near_tiles.h"
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

/* How many times more rows than a batch of blocks has, and than a row has candidates, are near its
 * rows. */
static const double batch_spread = 12;

/* And the batch that fetches most, beside one of the mean: the same rows are near many of its own.
 * Measured on 100,000 rows of normal numbers: 37,000 of 50,000 and 49,000 of 75,000 on 2 and 4
 * ranks. */
static const double fetch_most = 1.5;

/* A row of text shares a twentieth of its words with another: measured on newsgroups, unless it is
 * known; and some by chance. */
static const double shared_words = 0.05;

bool ikt_workload_relates(const ikt_workload *w) {
    return ikt_layout_objective(&w->settings.layout)->needs &
           (IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES | IKT_NEEDS_FEATURES);
}

double ikt_workload_overlap(const ikt_workload *w) {
    const double entries = w->rows.entries;
    if (!w->rows.is_sparse) return (double)w->columns;
    if (w->data.overlap > 0) return w->data.overlap;
    return fmin(entries, shared_words * entries + entries * entries / (double)w->columns);
}

int64_t ikt_workload_row_bytes(const ikt_workload *w) {
    if (w->rows.is_sparse) return (int64_t)(w->rows.entries * SPARSE_ENTRY_BYTES);
    return w->columns * ikt_held_bytes(w->is_u8);
}

int64_t ikt_workload_searched_bytes(const ikt_workload *w) {
    if (ikt_workload_has_bytes(w))
        return ikt_near_bytes_words(w->columns) * (int64_t)sizeof(int32_t);
    return w->scores == IKT_SCORES_CODES ? ikt_codes_memory(1, w->psi, w->t)
                                         : w->columns * (int64_t)sizeof(float);
}

double ikt_workload_span(const ikt_workload *w, double done) {
    const ikt_layout_settings *layout = &w->settings.layout;
    double after = (double)(layout->iterations - layout->exaggeration_iterations) * done;
    double span = 21.6 * pow((double)w->data.n, 0.208) * sqrt(after / 500);
    const double degrees = layout->degrees_of_freedom, factor = layout->final_exaggeration;
    if (degrees > 1) span *= fmax(light_least, 1 / degrees);
    if (factor > 1 && layout->final_exaggeration_from == IKT_AUTO_INT) span /= factor;
    return fmax(span, early_span);
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
    const double others = (double)(w->distribution.n - w->distribution.count);
    if (w->is_dense || others <= 0) return others;
    if (w->is_whole) return 0;
    const double thrown = ikt_workload_cut(w) * ikt_symmetric_share(w->distribution.n) *
                          (double)(w->distribution.count * w->k) / others;
    const double of_order = 0.257 * pow(thrown, 0.75);
    return others * (1 - exp(-(w->is_near ? fmin(thrown, of_order) : thrown)));
}

double ikt_workload_partners(const ikt_workload *w) {
    return fmin(w->ranks - 1, ikt_workload_boundary(w));
}

ikt_fetching ikt_workload_fetching(const ikt_workload *w) {
    const double count = (double)w->distribution.count, candidates = (double)w->candidates;
    const double others = (double)w->distribution.n - count;
    const double of_block = fmin((double)w->data.n / (double)w->cells, IKT_TILE_ROWS); /* rows */
    ikt_fetching f;
    f.blocks = (double)ikt_near_tiles_batch(w->candidates, ikt_workload_searched_bytes(w));
    f.batches = ceil(count / (f.blocks * of_block));
    const double around = batch_spread * (count / f.batches + candidates);
    f.rows = f.batches * fmin(others, ikt_workload_cut(w) * around);
    f.most = others * (1 - exp(-fetch_most * ikt_workload_cut(w) * around / fmax(1, others)));
    return f;
}
