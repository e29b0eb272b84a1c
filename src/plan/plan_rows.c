/* What a run takes before its loop: from rows to P. See plan.h. */
#include <math.h>

#include "base/sort.h"
#include "cells/cells.h"
#include "graph/transpose.h"
#include "isolation/tree.h"
#include "linalg/blocks.h"
#include "linalg/covariance_leading.h"
#include "linalg/eigen.h"
#include "linalg/solver.h"
#include "metric/near_bytes.h"
#include "neighbours/search.h"
#include "plan/task.h"

/* Entries that symmetrisation sends at a time, 12 bytes each. */
enum { SENT_ENTRY_BYTES = 12 };

/* Rows of so many bytes brought to their slots: all but 1/R of them on another rank, in slices of
 * 64 bytes. */
static ikt_piece moved(const ikt_task *t, bool is_had, ikt_stage stage, int64_t bytes) {
    const double slices = ceil((double)bytes / 64);
    return (ikt_piece){is_had,
                       stage,
                       MESSAGES,
                       1,
                       t->others / t->w->ranks * t->rows * (double)bytes,
                       slices * t->others};
}

/* Reading: a graph is read twice, for its checksum and for its weights, 12 bytes an entry, or once
 * more where it is read as pairs, to find the largest number; where it is ordered, its entries move
 * to their slots. The kernels of distances hold their rows; where those are ordered, the rows that
 * change rank are sent. */
static void plan_reading(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage read = IKT_STAGE_READ;
    const bool is_given = w->scores == IKT_SCORES_NONE;
    const bool is_held = w->is_measured || w->scores == IKT_SCORES_DISTANCES;
    const ikt_stage held = w->is_measured ? IKT_STAGE_AFFINITY : read;
    const int64_t row_bytes = w->is_measured ? 4 * w->columns : ikt_workload_row_bytes(w);
    const double passes = w->is_joined ? 3 : 2;
    /* Bytes are made once, and rows are read for the last lists. */
    const double times = ikt_workload_has_bytes(w) ? 2 : (double)w->passes;
    const ikt_piece pieces[] = {
        {is_given, read, FILE_BYTES, passes * t->rows * (double)w->k, 12, 0},
        moved(t, is_given && w->is_near, read, 8 * w->k),
        {w->is_measured, IKT_STAGE_AFFINITY, MULTIPLY_ADDS, t->rows * (double)w->k * t->columns, 1,
         0},
        moved(t, is_held && w->is_near, held, (int64_t)times * row_bytes)};
    ADD(t, pieces);
    if (is_held) ikt_plan_pass(t, held, times, true);
    ikt_plan_preprocess(t, IKT_STAGE_PREPROCESS);
}

int64_t ikt_start_rows(const ikt_layout_settings *layout, int64_t d) {
    enum { VALUES = 1 << 26 };
    const bool is_map = ikt_layout_objective(layout)->is_start;
    if (is_map || !ikt_covariance_is_wide(d, layout->dimensions)) return IKT_START_ROWS;
    return ikt_smaller(IKT_START_ROWS, ikt_larger(IKT_BLOCK_ROWS, VALUES / d));
}

/* The first positions: some components of a sample of the rows, and the scores of all, of eight
 * lanes a component. Of sparse rows, products of every two of a sample, of which each is as good as
 * an entry looked up; their eigenvectors; and the scores of all. */
static void plan_first_axes(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_layout_settings *layout = &w->settings.layout;
    const ikt_stage pca = IKT_STAGE_PCA;
    const bool is_sparse = w->rows.is_sparse;
    const bool is_reduced = !is_sparse && (double)w->settings.preprocess.pca >= t->axes;
    const double columns = is_reduced ? (double)w->data.d : t->columns;
    const double sample = fmin(IKT_START_SPARSE_ROWS, t->n), entries = w->rows.entries;
    const double products = (sample * sample / w->ranks + t->rows * t->axes) * entries;
    const ikt_piece pieces[] = {
        {is_sparse, pca, GATHERS, products, shared_column, 0},
        {is_sparse, pca, LONE_GATHERS, pow(sample, 3), eigen_cube, 0},
        {is_sparse, pca, CONCATENATION, 1, 8 * sample * sample, 0},
        {!is_sparse, pca, MULTIPLY_ADDS, 8 * t->axes * t->rows * columns, projected_coordinate, 0}};
    if (layout->init != IKT_INIT_PCA) return;
    if (!is_sparse && !is_reduced)
        ikt_plan_components(t, pca, fmin(1, (double)ikt_start_rows(layout, w->columns) / t->n),
                            w->columns, (int64_t)t->axes, true);
    ikt_plan_pass(t, pca, 1, !is_reduced);
    ADD(t, pieces);
}

/* A map of similarities: those of its rows, their eigenvectors, of which few cost as much as all,
 * on one thread or on all ranks; and those of all rows with them. */
static void plan_kernel_map(const ikt_task *t) {
    const ikt_settings *s = &t->w->settings;
    const ikt_stage pca = IKT_STAGE_PCA;
    const bool is_full = s->kernel.solver == IKT_KERNEL_FULL;
    const double chosen = (double)ikt_chosen(s->kernel.landmarks, IKT_EIGEN_ALONE_MAX);
    const double m = is_full ? t->n : fmin(chosen, t->n);
    const bool is_alone = m <= IKT_EIGEN_ALONE_MAX;
    const double compared = m * m / t->w->ranks + t->rows * m;
    const ikt_piece pieces[] = {
        {true, pca, MULTIPLY_ADDS, compared * t->columns, block_coordinate, 0},
        {is_alone, pca, LONE_GATHERS, pow(m, 3), eigen_cube, 0},
        {!is_alone, pca, GATHERS, pow(m, 3) / t->w->ranks, eigen_cube, 0}};
    if (!ikt_settings_has_kernel_map(s)) return;
    ikt_plan_pass(t, pca, 1, true);
    ADD(t, pieces);
}

/* Landmarks: each row against every one, and a pass over rows that are not coded; their own
 * embedding is a plan of its own. */
static void plan_landmarks(const ikt_task *t) {
    const double count = (double)t->w->landmarks;
    const ikt_stage landmarks = IKT_STAGE_LANDMARKS;
    const ikt_piece pieces[] = {ikt_pairs_compared(t, true, landmarks, t->rows * count),
                                {true, landmarks, CONCATENATION, 1, count * t->searched, 0}};
    if (count == 0) return;
    if (t->w->scores != IKT_SCORES_CODES) ikt_plan_pass(t, landmarks, 1, true);
    ADD(t, pieces);
}

/* Trees: every row goes down every one, and they are grown on every rank: each sampled row goes
 * down its own. Centres: a distance of c coordinates for each row and centre that it is compared
 * with, t psi or the distinct ones, of whose values lists are kept; of sparse rows the columns that
 * each shares with the centres are looked up, and values are looked through, partitioning by
 * partitioning. Centres and sampled rows come from all ranks. */
static void plan_codes(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage codes = IKT_STAGE_CODES;
    const bool is_sparse = w->rows.is_sparse, is_manhattan = w->rows.is_manhattan;
    enum { TREES, SHARED, BYTES, MADE_BYTES, REALS } by = w->is_u8 ? BYTES : REALS;
    if (w->model.candidates > 0 && ikt_bytes_suit(w->is_u8, is_manhattan, w->rows.d))
        by = MADE_BYTES;
    if (is_sparse) by = SHARED;
    if (w->is_forest) by = TREES;
    const double psi = (double)w->psi, partitionings = (double)w->t;
    const double most = is_sparse ? (double)w->model.n : INFINITY;
    const double compared = t->rows * fmin((double)w->compared, most);
    const double passed = (t->rows + psi) * partitionings * ikt_tree_depth(w->psi);
    const double listed = 0.777; /* a distance offered to a list of the nearest */
    const ikt_piece pieces[] = {
        {by == TREES, codes, GATHERS, passed, 3.75, 0},
        {by == SHARED, codes, GATHERS, compared * ikt_workload_overlap(w), shared_column, 0},
        /* A coordinate of a row against that of a centre. */
        {by == BYTES, codes, COORDINATES, compared * t->columns, is_manhattan ? 4.5 : 1.5, 0},
        {by == MADE_BYTES, codes, COORDINATES, compared * t->columns, 3.2, 0},
        {by == REALS, codes, MULTIPLY_ADDS, compared * t->columns, is_manhattan ? 1.5 : 1.14, 0},
        {w->has_lists, codes, GATHERS, compared, listed, 0},
        {w->has_lists, codes, GATHERS, t->rows * partitionings, 35, 0}, /* a cell of the list */
        {is_sparse && !w->has_lists, codes, GATHERS, t->rows * psi * partitionings, listed, 0},
        {true, codes, CONCATENATION, 1, (double)(w->centres * ikt_workload_row_bytes(w)), 0}};
    if (w->scores != IKT_SCORES_CODES) return;
    ikt_plan_pass(t, codes, 1, true);
    ADD(t, pieces);
}

/* Rows to their slots, and the map there and back. */
static void plan_order(const ikt_task *t) {
    const ikt_stage order = IKT_STAGE_ORDER;
    const ikt_piece pieces[] = {
        moved(t, true, order, 8), moved(t, true, order, 8),
        moved(t, t->w->scores == IKT_SCORES_CODES, order, ikt_workload_searched_bytes(t->w))};
    if (t->w->is_near) ADD(t, pieces);
}

/* Coordinates of a distance between centres: sixteen sparse rows have some ten times the columns of
 * one together. */
static double centre_coordinates(const ikt_task *t) {
    return t->w->rows.is_sparse ? fmin(t->columns, 10 * t->w->rows.entries) : t->columns;
}

/* The order of the C cells, C log C coordinates of d, on one thread; and the cell of each row,
 * where it does not come with the codes. */
static void plan_cells(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const double passes = (double)w->passes; /* each with cells of its own */
    const ikt_stage cells = IKT_STAGE_CELLS;
    const bool is_sought = w->scores != IKT_SCORES_CODES || w->is_forest;
    const bool has_bytes = ikt_workload_has_bytes(w);
    const double count = (double)w->cells, c = centre_coordinates(t);
    const double compared = (double)ikt_pyramid_compared(w->cells, has_bytes);
    const ikt_piece pieces[] = {
        {true, cells, LONE_GATHERS, passes * count * log2(count) * c, 1.08, 0},
        {is_sought && !has_bytes, cells, GATHERS, passes * t->rows * compared * c, 0.125, 0},
        {has_bytes, cells, MULTIPLY_ADDS, passes * t->rows * compared * c, byte_coordinate, 0},
        {true, cells, SUM, passes, 8 * count, 0},
        {true, cells, CONCATENATION, passes, count * (double)ikt_workload_row_bytes(w), 0}};
    if (is_sought) ikt_plan_pass(t, cells, has_bytes ? 1 : passes, true);
    ADD(t, pieces);
}

/* The candidates of each row (single rows, as in refinement; codes compared; of rows distances,
 * looking at their cells, and keeping some), the neighbours of neighbours, and a distance of each
 * own cell to every centre. Blocks of other ranks come as often as they are wanted by another batch
 * of own blocks. At last a sample of rows against all. */
static void plan_near_search(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage search = IKT_STAGE_NEIGHBOURS, recall = IKT_STAGE_RECALL;
    const bool is_fine = w->model.near > 0, is_distant = !is_fine && w->scores != IKT_SCORES_CODES;
    const double count = (double)w->cells, near = IKT_REFINE_NEAR, refined = 23.5;
    const double passes = (double)w->passes, candidates = t->rows * passes * (double)w->candidates;
    const double sample = (double)ikt_recall_rows((int64_t)t->n);
    const ikt_fetching fetching = ikt_workload_fetching(w);
    /* As integers of 16 bits before the distance, where there is such a filter. */
    const bool has_bytes = ikt_workload_has_bytes(w), is_joined = ikt_workload_is_joined(w);
    const double filtered = has_bytes              ? byte_coordinate
                            : w->rows.is_manhattan ? block_coordinate
                                                   : 0.44;
    const ikt_piece pieces[] = {
        {!is_joined, search, GATHERS, (double)w->rounds * t->rows * near * near, refined, 0},
        {is_joined, search, GATHERS, (double)w->rounds * t->rows * 4 * near, refined, 0},
        {is_joined, search, MULTIPLY_ADDS,
         (double)w->rounds * t->rows * near * near / 2 * t->columns, byte_coordinate, 0},
        {is_fine, search, GATHERS, candidates, refined, 0},
        {is_fine, IKT_STAGE_CELLS, SUM, 1, 2 * 8 * (double)w->centres, 0},
        ikt_pairs_compared(t, !is_fine && w->scores == IKT_SCORES_CODES, search, candidates),
        {is_distant, search, MULTIPLY_ADDS, candidates * t->columns, filtered, 0},
        {is_distant, search, GATHERS, candidates * count / t->n, 13, 0}, /* a cell looked at */
        {is_distant, search, GATHERS, (has_bytes ? 1.5 : passes) * t->rows * (double)w->k, 23,
         0}, /* those kept */
        {!is_fine, search, MULTIPLY_ADDS, passes * count * count / w->ranks * centre_coordinates(t),
         has_bytes ? byte_coordinate : block_coordinate, 0},
        {true, search, MESSAGES, 1, passes * fetching.rows * t->searched,
         2 * passes * fetching.batches * ikt_workload_partners(w)},
        moved(t, w->passes > 1, IKT_STAGE_ORDER, (w->passes - 1) * 8 * w->k),
        ikt_pairs_compared(t, true, recall, sample * t->rows),
        {true, recall, CONCATENATION, 1, sample * t->searched, 0}};
    if (!w->is_whole) ADD(t, pieces);
}

static void plan_search(const ikt_task *t) {
    const ikt_workload *w = t->w;
    if (w->scores == IKT_SCORES_NONE) return;
    if (w->scores == IKT_SCORES_CLASSES) {
        ikt_plan_classes(t);
    } else if (w->is_near) {
        plan_cells(t);
        plan_near_search(t);
    } else if (w->is_listed) {
        ikt_plan_all_pairs(t, IKT_STAGE_NEIGHBOURS);
    }
}

/* Entries sent to the owner of their column, in batches. */
static void plan_symmetrising(const ikt_task *t, double entries, double sent) {
    const ikt_stage graph = IKT_STAGE_GRAPH;
    const double listed = t->rows * (double)t->w->k;
    const double bytes = SENT_ENTRY_BYTES * sent * ikt_workload_cut(t->w);
    const double messages = 2 * ceil(listed / IKT_TRANSPOSE_BATCH) * t->others;
    const ikt_piece pieces[] = {{true, graph, GATHERS, entries, 56, 0}, /* a neighbour into P */
                                {true, graph, MESSAGES, 1, bytes, messages}};
    ADD(t, pieces);
}

/* m k weights, or of all pairs; those of the Gaussian kernel are searched for. Then m k entries are
 * sent, and those without a partner once more. */
static void plan_p(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage affinity = IKT_STAGE_AFFINITY;
    const ikt_affinity_settings *settings = &w->settings.affinity;
    const bool is_sought = w->scores == IKT_SCORES_NONE
                               ? settings->graph.values == IKT_EDGES_DISTANCES
                               : ikt_affinity_of(settings)->has_bandwidth_search;
    const double listed = t->rows * (double)w->k, cells = 8 * (double)w->t;
    const ikt_piece pieces[] = {
        {is_sought, affinity, GATHERS, w->is_dense ? t->entries : listed, 34, 0},
        {w->is_whole, affinity, GATHERS, t->rows * (double)w->t, 20, 0},
        {w->is_whole, affinity, SUM, 2, cells * (double)w->psi, 0},
        {w->is_whole, affinity, SUM, 3, cells * IKT_WHOLE_PAIRS, 0}};
    ADD(t, pieces);
    if (w->is_dense) ikt_plan_all_pairs(t, affinity);
    if (w->is_listed) plan_symmetrising(t, listed, t->entries);
}

/* Eigenvectors of P: products, as many as were counted on MNIST, each a pass over its entries with
 * some columns, eight at a time, and an exchange of boundary rows; and four products of all columns
 * with one another or with a small matrix for twenty of them. */
static void plan_eigenvectors(const ikt_task *t, double wanted, double products) {
    const ikt_workload *w = t->w;
    const ikt_stage spectrum = IKT_STAGE_SPECTRUM;
    const double columns = wanted + IKT_SOLVER_GUARDS, bytes = 8 * columns;
    const double among = products / 20 * 4, square = columns * columns;
    const double entry = ikt_between(2.9, 5.6, t->place); /* of P, with 8 columns of vectors */
    const ikt_piece pieces[] = {
        {true, spectrum, GATHERS, products * t->entries * ceil(columns / 8), entry, 0},
        {true, spectrum, MULTIPLY_ADDS, among * t->rows * square, projected_coordinate, 0},
        {true, spectrum, SUM, among, 8 * square, 0},
        {w->is_dense, spectrum, CONCATENATION, products, bytes * t->n, 0},
        {!w->is_dense, spectrum, MESSAGES, products, bytes * ikt_workload_boundary(w),
         ikt_workload_partners(w)}};
    ADD(t, pieces);
}

void ikt_plan_before_loop(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_layout_settings *layout = &w->settings.layout;
    const bool needs_p = ikt_layout_objective(layout)->needs & IKT_NEEDS_P;
    plan_reading(t);
    plan_first_axes(t);
    plan_kernel_map(t);
    plan_landmarks(t);
    if (ikt_workload_relates(w)) {
        plan_codes(t);
        plan_order(t);
        plan_search(t);
    }
    /* Both directions of the pairs of a graph: all entries travel twice. */
    if (w->is_joined) plan_symmetrising(t, 2 * t->rows * (double)w->k, 2 * t->rows * (double)w->k);
    if (!needs_p) return;
    plan_p(t);
    if (ikt_layout_start(layout)->of_p) plan_eigenvectors(t, t->axes, 61);
    if (layout->eigengap != IKT_EIGENGAP_OFF) plan_eigenvectors(t, IKT_EIGENGAP_VALUES - 1, 121);
}
