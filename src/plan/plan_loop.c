/* What the loop of a run takes. See plan.h. */
#include <math.h>

#include "kernelsum/grid.h"
#include "kernelsum/slabs.h"
#include "kernelsum/spread.h"
#include "objective/divergence.h"
#include "objective/negative_sampling.h"
#include "objective/regulariser.h"
#include "plan/task.h"

/* Multiply-adds of a pair of the exact repulsion. */
static const double kernel_pair = 12.4;

enum {
    REDUCED_SUM_BYTES = 560,
    SAMPLES = 8,    /* sizes of the growing map that sums by FFT are planned for */
    USUAL_RANK = 15 /* of the regulariser, where the eigengap of P will say it */
};

/* A position of each boundary row in one message to each rank that shares a boundary, or so many
 * bytes in place of a position. */
static ikt_piece boundary_sent(const ikt_task *t, bool is_had, double times, double bytes) {
    return (ikt_piece){is_had, IKT_STAGE_HALO, MESSAGES, times, bytes, ikt_workload_partners(t->w)};
}

/* Evaluations with a regulariser, and how many sums with charges each of them takes. */
static double regularised_of(const ikt_task *t, double *charges) {
    const ikt_layout_settings *l = &t->w->settings.layout;
    const int64_t rank = ikt_chosen(l->regulariser_rank, USUAL_RANK);
    const double from =
        l->regulariser_from == IKT_AUTO_INT ? t->early : (double)l->regulariser_from;
    *charges = (double)ikt_regulariser_columns(rank, t->w->data.n) + 1;
    return l->regulariser == IKT_REGULARISER_NONE ? 0 : t->gradients - from;
}

/* --- repulsion -------------------------------------------------------------------------------- */

/* `times` sums by FFT on a map of that span: points to the grid and back; eight bytes for each node
 * of the grid, to all ranks or each row of nodes to one that shares; and the transforms. The padded
 * grid is whole on every rank; or in shares, with the transpose of the Fourier coefficients there
 * and back, and the potentials to all ranks. Charges and potentials travel whole, or by the pieces
 * that a rank touches: then the counts come first, and with the nodes the bits that say which; and
 * a rank that shares has as many to answer as share, of all ranks. */
static void plan_grid(const ikt_task *t, double times, double span) {
    const ikt_workload *w = t->w;
    const ikt_stage sum = IKT_STAGE_GRID_SUM, transform = IKT_STAGE_FFT;
    ikt_objective_options options = ikt_layout_options(&w->settings.layout, 0);
    options.rates = ikt_machine_fft_rates(t->m, w->threads);
    const ikt_fft_settings fft =
        ikt_divergence_fft(ikt_layout_objective(&w->settings.layout)->divergence, &options);
    const ikt_grid grid = ikt_grid_fit(&fft, &(ikt_bounds){{0, 0}, {span, span}});
    const int sharers = ikt_slabs_sharers(&fft, &grid, w->ranks);
    const bool is_shared = sharers > 1;
    const bool by_pieces =
        is_shared && ikt_slabs_by_pieces(&fft, &grid, w->distribution.n, w->ranks, sharers);
    const bool is_gathered = is_shared && !by_pieces; /* whole, on every rank */
    const double share = sharers, number = fft.single ? sizeof(float) : sizeof(double);
    const double padded = (double)grid.padded[0] * (double)grid.padded[1];
    const double potentials = number * (double)grid.nodes[0] * (double)grid.nodes[1];
    const double summed = 8 * (double)(ikt_charge_stride(&grid, fft.order) * grid.nodes[1]);
    const double touched = ikt_slabs_touched_share(w->ranks) * t->others / w->ranks;
    const double sent = number * (double)grid.padded[0] * (double)grid.nodes[1] / share;
    /* Of a node of the padded grid, of 2^20 or of 2^24 of them. */
    const double place = fmin(1, fmax(0, (log2(padded) - 20) / 4));
    const double node = ikt_between(IKT_FFT_COST, 1.48, place);
    const ikt_piece pieces[] = {
        {true, IKT_STAGE_SPREAD, GATHERS, times * t->rows, 11.5, 0},
        {true, IKT_STAGE_GATHER, GATHERS, times * t->rows, 14.8, 0},
        {!is_shared, sum, SUM, times, summed, 0},
        {is_gathered, sum, SHARED_SUM, times, summed, 0},
        {by_pieces, sum, CONCATENATION, times, 8.0 * w->ranks, 0},
        {by_pieces, sum, MESSAGES, times, summed * touched * 65 / 64, fmin(share, t->others)},
        {true, transform, GRID_NODES, times * padded / share, node, 0},
        {is_shared, transform, MESSAGES, 2 * times, sent * (share - 1) / share, share - 1},
        {by_pieces, transform, MESSAGES, times, potentials * touched * w->ranks / share, t->others},
        {is_gathered, transform, CONCATENATION, times, potentials, 0}};
    ADD(t, pieces);
}

/* From negative samples: position and weight of every row of the pool, and m far_rows pairs. Where
 * values are reported, another pool's, and eight pairs a row by logarithms in doubles. */
static void plan_negatives(const ikt_task *t, const ikt_negative_settings *sample, bool has_curve) {
    const ikt_stage repulsion = IKT_STAGE_REPULSION;
    const double in_doubles = 8 * 40, pair = has_curve ? 165 : 55;
    const double pairs = t->gradients * (double)sample->far_rows + t->reports * in_doubles;
    const double bytes = 4 * (t->axes + 1) * (double)sample->pool;
    const ikt_piece pieces[] = {
        {true, repulsion, CONCATENATION, t->gradients + t->reports, bytes, 0},
        {true, repulsion, MULTIPLY_ADDS, t->rows * pairs, pair, 0}};
    ADD(t, pieces);
}

/* Exact: m n pairs, and everyone's position. By FFT: the bounds of the map, four numbers; the parts
 * are stages of their own, and depend on the size of the map. By a tree: rows to the ranks of their
 * places, and results back; nodes and points that others open, in bytes for each row of a rank.
 * Sums with charges come after the first phase; exact ones share the values of the kernel. */
static void plan_repulsion(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage repulsion = IKT_STAGE_REPULSION;
    const bool is_exact = w->is_exact;
    const bool is_grid = !is_exact && w->settings.layout.repulsion == IKT_REPULSION_FFT;
    const bool is_tree = !is_exact && !is_grid;
    double charges;
    const double regularised = regularised_of(t, &charges);
    const double late = t->kernels * t->late + regularised * charges * (is_exact ? 0.5 : 1);
    const double sums = t->kernels * t->early + late;
    const double abroad = t->rows * t->others / w->ranks, opened = 20;
    /* Exact pairs that a point's nodes and near points cost as much as: measured on maps of 17,000
     * and 100,000 points, 8,300 and 9,700 in three dimensions, 4,800 in two, 1,600 to 2,300 in one.
     * And those that building the tree costs a point of the rank, once where it is alone. */
    const double near = fmin(t->n, 1000 * t->axes * t->axes), built = w->ranks > 1 ? 200 : 100;
    const ikt_piece pieces[] = {
        {is_exact, repulsion, CONCATENATION, sums, 4 * t->axes * t->n, 0},
        {is_exact, repulsion, MULTIPLY_ADDS, sums * t->rows * t->n, kernel_pair, 0},
        {is_grid, repulsion, SUM, sums, 32, 0},
        {is_tree, repulsion, MESSAGES, sums, (48 + opened) * abroad, 4 * t->others},
        {is_tree, repulsion, SUM, 2 * sums, 56, 0},
        {is_tree, repulsion, LONE_MULTIPLY_ADDS, sums * built * t->rows, kernel_pair, 0},
        {is_tree, repulsion, MULTIPLY_ADDS, sums * t->rows * near, kernel_pair, 0}};
    ADD(t, pieces);
    if (!is_grid) return;
    plan_grid(t, t->kernels * t->early, ikt_workload_span(w, 0));
    for (int s = 0; s < SAMPLES; s++)
        plan_grid(t, late / SAMPLES, ikt_workload_span(w, (s + 0.5) / SAMPLES));
}

/* --- attraction ------------------------------------------------------------------------------- */

/* Attraction along the whole kernel: rows to their cells and blocks and back, pairs in blocks. Rows
 * whose cell another rank computes travel there with cell, share and position, and a force comes
 * back. */
static void plan_whole_attraction(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage attraction = IKT_STAGE_ATTRACTION;
    const double passes = ikt_workload_passes(w), rows = passes * t->rows;
    const double pairs = rows * ikt_workload_block(w);
    const double abroad = ikt_workload_cut(w) * t->rows * (8 + 8 * t->axes);
    const ikt_piece pieces[] = {
        {true, attraction, GATHERS, rows, ikt_between(14, 28, t->place), 0},
        {true, attraction, MULTIPLY_ADDS, pairs, 6.7, 0},
        {true, IKT_STAGE_HALO, MESSAGES, passes, abroad, 0.5 * t->others},
        {true, IKT_STAGE_LAYOUT, SUM, t->reports, 16 * t->axes * IKT_WHOLE_PAIRS, 0}};
    ADD(t, pieces);
}

/* TriMap by near rows of each row with far ones, both ways, m f of them; or by triplets that are
 * held three times, as each is met by each of its rows. The columns or codes of far rows, and where
 * edges end, which are entries as those of P; in a graph it is looked up whether it joins two rows.
 * Then the pool, and a coefficient of each edge that is cut. */
static void plan_triplets(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_triplet_settings *s = &w->settings.layout.own.triplet;
    const ikt_stage repulsion = IKT_STAGE_REPULSION, halo = IKT_STAGE_HALO;
    const bool is_held = s->triplets == IKT_TRIPLETS_FIXED, is_drawn = !is_held;
    const bool is_looked_up = w->is_joined || w->has_matrix;
    const bool is_coded = w->scores == IKT_SCORES_CODES;
    const bool is_distant = !is_coded && !is_looked_up;
    const double iterations = t->gradients, m = (double)s->neighbours, f = (double)s->far_rows;
    const double draws = ceil(iterations / (double)s->redraw);
    const double far = is_drawn ? draws * t->rows * f : 0;
    const double triplets = m * (double)s->outliers + (double)s->random;
    const double size = (double)s->pool_rows, cut = ikt_workload_cut(w) * t->rows * m;
    const double edge = ikt_between(3.5, 6.5, t->place);
    const ikt_piece pieces[] = {
        {is_held, repulsion, MULTIPLY_ADDS, iterations * t->rows * 3 * triplets, 700, 0},
        {is_held, halo, CONCATENATION, iterations, 4 * t->axes * t->n, 0},
        {is_drawn, repulsion, MULTIPLY_ADDS, iterations * t->rows * 2 * m * f, 57, 0},
        ikt_pairs_compared(t, is_coded, repulsion, far),
        {is_looked_up, repulsion, GATHERS, far, 8, 0},
        {is_distant, repulsion, MULTIPLY_ADDS, far * t->columns, block_coordinate, 0},
        {is_drawn, IKT_STAGE_ATTRACTION, GATHERS, iterations * t->rows * m, edge, 0},
        {is_drawn, halo, CONCATENATION, iterations, 4 * (t->axes + m) * size, 0},
        {is_drawn, halo, CONCATENATION, draws, (t->searched + 4 * m) * size, 0},
        boundary_sent(t, is_drawn, iterations, 4 * t->axes * ikt_workload_boundary(w)),
        boundary_sent(t, is_drawn, iterations, 4 * cut)};
    ADD(t, pieces);
}

/* Attraction along P: its rows and their entries on the rank. The more rows, the farther away their
 * positions lie. The pass over P computes the divergence, too, where that is reported. One pass
 * over all pairs counts as repulsion. */
static void plan_attraction(const ikt_task *t, bool has_curve) {
    const ikt_layout_settings *layout = &t->w->settings.layout;
    const ikt_objective_options options = ikt_layout_options(layout, 0);
    const ikt_stage attraction = IKT_STAGE_ATTRACTION;
    const double entries = t->gradients * t->entries;
    const double entry = t->w->is_dense ? 1.27 : ikt_between(0.72, 0.92, t->place);
    const ikt_piece pieces[] = {
        {true, attraction, GATHERS, t->gradients * t->rows, 14, 0},
        {true, attraction, GATHERS, entries, entry, 0},
        {true, attraction, MULTIPLY_ADDS, t->reports * t->entries, 33.3, 0},
        {has_curve, attraction, MULTIPLY_ADDS, entries, 450, 0}}; /* beyond attraction */
    if (!ikt_objective_is_one_pass(ikt_layout_objective(layout), &options, t->w->is_dense))
        ADD(t, pieces);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* The exchange: a position, 4 bytes an axis, of each row, or of each boundary row. The step of the
 * optimiser. Bounds of the map and the sum Z, three integers, in every iteration; the sums of the
 * divergence and of the gradient's norm where they are reported. With a regulariser the
 * eigenvectors of the map are followed: a Gram matrix or two, and rotations. */
static void plan_steps(const ikt_task *t, bool has_p) {
    const ikt_workload *w = t->w;
    const ikt_stage vectors = IKT_STAGE_EIGENVECTORS, layout = IKT_STAGE_LAYOUT;
    double charges;
    const double regularised = regularised_of(t, &charges);
    const bool is_regularised = regularised != 0;
    const double iterations = t->gradients, rows = iterations * t->rows, bytes = 4 * t->axes;
    const double square = (charges - 1) * (charges - 1), products = 6 * t->rows * square;
    const ikt_piece pieces[] = {
        {has_p && w->is_dense, IKT_STAGE_HALO, CONCATENATION, iterations, bytes * t->n, 0},
        boundary_sent(t, has_p && w->is_listed, iterations, bytes * ikt_workload_boundary(w)),
        {true, IKT_STAGE_STEP, MULTIPLY_ADDS, rows * t->axes, 53, 0},
        {true, layout, MULTIPLY_ADDS, rows, 297, 0},
        {true, layout, SUM, iterations, 24, 0},
        {true, layout, SUM, 2 * t->reports, REDUCED_SUM_BYTES, 0},
        {is_regularised, vectors, MULTIPLY_ADDS, regularised * products, projected_coordinate, 0},
        {is_regularised, vectors, SUM, 8 * regularised, 8 * square, 0}};
    ADD(t, pieces);
}

void ikt_plan_loop(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_objective_kind *kind = ikt_layout_objective(&w->settings.layout);
    const bool has_p = kind->needs & IKT_NEEDS_P;
    const bool has_curve = kind->negatives && kind->negatives->has_curve;
    if (kind->places == IKT_PLACES_BY_TRIPLETS)
        plan_triplets(t);
    else if (w->is_whole)
        plan_whole_attraction(t);
    else if (has_p)
        plan_attraction(t, has_curve);
    if (kind->negatives)
        plan_negatives(t, ikt_negatives_of(kind, &w->settings.layout.own), has_curve);
    else if (t->kernels > 0)
        plan_repulsion(t);
    plan_steps(t, has_p);
}
