/* What a run takes before its loop: from rows to P. See plan.h. */
#include <math.h>

#include "cells/cells.h"
#include "isolation/tree.h"
#include "neighbours/search.h"
#include "plan/task.h"
#include "spectral/solver.h"

/* Operations beyond those of task.h, in multiply-adds: */
static const double coded_coordinate = 1.14, /* of a row of float32 against that of a centre */
    filtered_coordinate = 0.44; /* of a pair, as integers of 16 bits before the distance */
/* In multiply-adds for each log-weight of a row, timed on two cores of a Xeon with AVX-512: */
static const double fisher_pair = 0.8, /* a pair that bounds leave aside, on average */
    fisher_point = 107; /* a point of the lines of a row's neighbours, and of those beside them */
/* In gathers: */
static const double ordered_coordinate = 1.08, /* of a centre, for each halving, on one thread */
    cell_coordinate = 0.125,                   /* of a row on the way to its cell */
    listed_distance = 0.777,                   /* offered to a list of the nearest */
    walked_cell = 35,                          /* found in such a list */
    shared_column = 2.23,                      /* of a sparse row and a centre */
    passed_node = 3.75,                        /* of a random tree */
    probed_cell = 13,                          /* that a search looks at, beyond distances */
    kept_neighbour = 23,                       /* among candidates */
    refined_pair = 23.5,                       /* a neighbour of a neighbour */
    sought_weight = 34,                        /* of a neighbour, by its bandwidth search */
    symmetrised_entry = 56,                    /* a neighbour brought into P */
    multiplied_near = 2.9, /* an entry of P with 8 columns of vectors, 2^16 rows on a rank */
    multiplied_far = 5.6,  /* the same, 2^19 rows */
    counted_cell = 20;     /* of the whole kernel: a row in a partitioning */
/* In others: coordinates of bytes, bytes of codes. */
static const double gap_byte = 4.5, gap_coordinate = 1.5; /* of Manhattan distances */
static const double coded_byte = 1.5;

/* Reading: a graph is read twice, for its checksum and for its weights, 12 bytes an entry, or once
 * more where it is read as pairs; where it is ordered, its entries move to their slots. The kernels
 * of distances hold their rows; where those are ordered, the rows that change rank are sent. The
 * first positions: some components of a sample of the rows, and the scores of all, of eight lanes a
 * component. Of sparse rows, products of every two of a sample, of which each is as good as an
 * entry looked up; their eigenvectors; and the scores of all. Landmarks: each row against every
 * one, and a pass over rows that are not coded; their own embedding is a plan of its own. */
static void plan_rows(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const double landmarks = (double)w->landmarks;
    const ikt_stage pca = IKT_STAGE_PCA;
    if (w->is_given) {
        const double passes = w->is_joined ? 3 : 2; /* the largest number is found before */
        t->own[IKT_STAGE_READ].seconds +=
            passes * t->rows * (double)w->k * 12 / (t->m->file * mega);
        if (w->is_near) move(t, IKT_STAGE_READ, 8 * w->k);
    } else if (!w->is_isolation && !w->is_fisher) {
        pass(t, IKT_STAGE_READ, 1, true);
        if (w->is_near) move(t, IKT_STAGE_READ, ikt_workload_row_bytes(w));
    }
    preprocess(t, IKT_STAGE_PREPROCESS);
    if (w->settings.layout.init == IKT_INIT_PCA && w->rows.is_sparse) {
        const double sample = fmin(IKT_START_SPARSE_ROWS, t->n), entries = w->rows.entries;
        gathering(t, pca, (sample * sample / w->ranks + t->rows * t->axes) * entries,
                  shared_column);
        pass(t, pca, 1, true);
        t->own[pca].seconds += pow(sample, 3) * eigen_cube / (t->m->gathers * mega);
        concatenate(t, pca, 1, 8 * sample * sample);
    } else if (w->settings.layout.init == IKT_INIT_PCA) {
        const bool is_reduced = (double)w->settings.preprocess.pca >= t->axes;
        const double columns = is_reduced ? (double)w->data.d : (double)w->columns;
        if (!is_reduced) components(t, pca, fmin(1, IKT_START_ROWS / t->n), columns, true);
        pass(t, pca, 1, !is_reduced);
        arithmetic(t, pca, 8 * t->axes * t->rows * columns, projected_coordinate);
    }
    if (landmarks == 0) return;
    pairs(t, IKT_STAGE_LANDMARKS, t->rows * landmarks);
    if (!w->is_isolation) pass(t, IKT_STAGE_LANDMARKS, 1, true);
    concatenate(t, IKT_STAGE_LANDMARKS, 1, landmarks * (double)ikt_workload_searched_bytes(w));
}

/* Trees: every row goes down every one, and they are grown on every rank: each sampled row goes
 * down its own. Centres: a distance of c coordinates for each row and centre that it is compared
 * with, t psi or the distinct ones, of whose values lists are kept; of sparse rows the columns that
 * each shares with the centres are looked up. Centres and sampled rows come from all ranks. */
static void plan_codes(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage codes = IKT_STAGE_CODES;
    double centres = (double)w->compared;
    if (!w->is_isolation) return;
    if (w->is_forest) {
        gathering(t, codes, (t->rows + (double)w->psi) * (double)w->t * ikt_tree_depth(w->psi),
                  passed_node);
    } else if (w->rows.is_sparse) {
        centres = fmin(centres, (double)w->model.n);
        gathering(t, codes, t->rows * centres * ikt_workload_overlap(w), shared_column);
    } else if (w->is_u8) {
        work(t, codes, t->rows * centres * (double)w->columns,
             w->rows.is_manhattan ? gap_byte : coded_byte, t->m->bytes * giga);
    } else {
        arithmetic(t, codes, t->rows * centres * (double)w->columns,
                   w->rows.is_manhattan ? gap_coordinate : coded_coordinate);
    }
    if (w->has_lists && !w->is_forest) {
        gathering(t, codes, t->rows * centres, listed_distance);
        gathering(t, codes, t->rows * (double)w->t, walked_cell);
    } else if (w->rows.is_sparse) { /* values are looked through, partitioning by partitioning */
        gathering(t, codes, t->rows * (double)(w->psi * w->t), listed_distance);
    }
    pass(t, codes, 1, true);
    concatenate(t, codes, 1, (double)w->centres * (double)ikt_workload_row_bytes(w));
}

/* Near cells. The order of the C cells, C log C coordinates of d, on one thread; and the cell of
 * each row, where it does not come with the codes. Codes to their slots, and the map there and
 * back. The candidates of each row (of codes compared; of rows distances, looking at their cells,
 * and keeping some), the neighbours of neighbours, and a distance of each own cell to every centre.
 * Blocks of other ranks come as often as they are wanted by another batch of own blocks. At last a
 * sample of rows against all. */
static void plan_near_cells(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage cells = IKT_STAGE_CELLS, search = IKT_STAGE_NEIGHBOURS;
    const double count = (double)w->cells, bytes = (double)ikt_workload_searched_bytes(w);
    const double candidates = t->rows * (double)w->candidates, near = IKT_REFINE_NEAR;
    const double rounds = (double)w->rounds;
    const ikt_fetching fetching = ikt_workload_fetching(w);
    /* Coordinates of a distance between centres: sixteen sparse rows have some ten times the
     * columns of one together. */
    double c = (double)w->columns;
    if (w->rows.is_sparse) c = fmin(c, 10 * w->rows.entries);

    t->own[cells].seconds += count * log2(count) * c * ordered_coordinate / (t->m->gathers * mega);
    if (!w->is_isolation || w->is_forest) {
        pass(t, cells, 1, true);
        gathering(t, cells, t->rows * (double)ikt_pyramid_compared(w->cells) * c, cell_coordinate);
    }
    reduce(t, cells, 1, 8 * count);
    concatenate(t, cells, 1, count * (double)ikt_workload_row_bytes(w));

    if (w->is_whole) return; /* nothing is searched for */
    gathering(t, search, rounds * t->rows * near * near, refined_pair);
    if (w->model.near > 0) { /* single rows, as in refinement */
        gathering(t, search, candidates, refined_pair);
        reduce(t, cells, 1, 2 * 8 * (double)w->centres);
    } else if (w->is_isolation) {
        pairs(t, search, candidates);
    } else {
        arithmetic(t, search, candidates * (double)w->columns,
                   w->rows.is_manhattan ? block_coordinate : filtered_coordinate);
        gathering(t, search, candidates * count / t->n, probed_cell);
        gathering(t, search, t->rows * (double)w->k, kept_neighbour);
    }
    if (w->model.near == 0) arithmetic(t, search, count * count / w->ranks * c, block_coordinate);
    send(t, search, 1, 2 * fetching.batches * ikt_workload_partners(w), fetching.rows * bytes);

    const double sample = (double)ikt_recall_rows((int64_t)t->n);
    pairs(t, IKT_STAGE_RECALL, sample * t->rows);
    concatenate(t, IKT_STAGE_RECALL, 1, sample * bytes);
}

/* Log-weights of the rows: a distance to each row of the support; the lines to the neighbours; and
 * the bounds of all pairs, or of those of near cells. Blocks of log-weights go round the ring twice
 * for each batch of rows, or those of near cells are fetched. */
static void plan_fisher(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage search = IKT_STAGE_NEIGHBOURS;
    const ikt_fisher_settings *fisher = &w->settings.affinity.fisher;
    const double lanes = (double)w->lanes, batch = 8192;
    const int64_t n = w->distribution.n;
    const double points = (double)fisher->points * (double)w->k;
    pass(t, search, 1, true);
    arithmetic(t, search, t->rows * lanes * (double)w->columns, block_coordinate);
    arithmetic(t, search, t->rows * points * lanes, fisher_point);
    if (ikt_fisher_candidates_of(fisher, n) == IKT_CANDIDATES_NEAR) {
        const double among = (double)ikt_fisher_among(fisher, n, w->k), batches = 64;
        const double fetched = fmin(t->rows * among / 256, t->n - t->rows) * lanes * 4;
        arithmetic(t, search, t->rows * among * lanes, fisher_pair);
        send(t, search, batches, ikt_workload_partners(w), fetched);
        return;
    }
    arithmetic(t, search, t->rows * t->n * lanes, fisher_pair);
    send(t, search, 2 * ceil(t->rows / batch), ceil(t->rows / 512) * (w->ranks - 1),
         (t->n - t->rows) * lanes * 4);
}

/* m k weights, or of all pairs; those of the Gaussian kernel are searched for. Then m k entries
 * sent to the owner of their column, and those without a partner once more, 12 bytes each; batches
 * of 2^21. */
static void plan_p(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_affinity_settings *settings = &w->settings.affinity;
    const double entries = t->rows * (double)w->k, others = w->ranks - 1;
    const bool has_search = w->is_given ? settings->graph.values == IKT_EDGES_DISTANCES
                                        : ikt_affinity_of(settings)->has_bandwidth_search;
    if (has_search)
        gathering(t, IKT_STAGE_AFFINITY, w->is_dense ? t->rows * t->n : entries, sought_weight);
    if (w->is_dense) {
        all_pairs(t, IKT_STAGE_AFFINITY);
        return;
    }
    if (w->is_whole) {
        gathering(t, IKT_STAGE_AFFINITY, t->rows * (double)w->t, counted_cell);
        reduce(t, IKT_STAGE_AFFINITY, 2, 8 * (double)w->t * (double)w->psi);
        reduce(t, IKT_STAGE_AFFINITY, 3, 8 * (double)w->t * IKT_WHOLE_PAIRS);
        return;
    }
    gathering(t, IKT_STAGE_GRAPH, entries, symmetrised_entry);
    send(t, IKT_STAGE_GRAPH, 1, 2 * ceil(entries / (1 << 21)) * others,
         12 * entries * ikt_symmetric_share(w->distribution.n) * ikt_workload_cut(w));
}

/* Both directions of the pairs of a graph: all entries travel twice. */
static void plan_joined(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const double entries = t->rows * (double)w->k, others = w->ranks - 1;
    gathering(t, IKT_STAGE_GRAPH, 2 * entries, symmetrised_entry);
    send(t, IKT_STAGE_GRAPH, 1, 2 * ceil(entries / (1 << 21)) * others,
         2 * 12 * entries * ikt_workload_cut(w));
}

/* Eigenvectors of P: products, as many as were counted on MNIST, each a pass over its entries with
 * some columns, eight at a time, and an exchange of boundary rows; and four products of all columns
 * with one another or with a small matrix for twenty of them. */
static void plan_spectrum(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_layout_settings *layout = &w->settings.layout;
    const bool has_gap = layout->eigengap != IKT_EIGENGAP_OFF;
    const double wanted[2] = {layout->init == IKT_INIT_SPECTRAL ? t->axes : 0,
                              has_gap ? IKT_EIGENGAP_VALUES - 1 : 0};
    const double entries =
        t->rows * (w->is_dense ? t->n : ikt_symmetric_share(w->distribution.n) * (double)w->k);
    const double place = fmin(2.5, fmax(-1, (log2(t->rows) - 16) / 3));
    for (int s = 0; s < 2; s++) {
        const double columns = wanted[s] + IKT_SOLVER_GUARDS, products = s == 0 ? 61 : 121;
        const double bytes = 8 * columns;
        if (wanted[s] == 0) continue;
        gathering(t, IKT_STAGE_SPECTRUM, products * entries * ceil(columns / 8),
                  multiplied_near * pow(multiplied_far / multiplied_near, place));
        arithmetic(t, IKT_STAGE_SPECTRUM, products / 20 * 4 * t->rows * columns * columns,
                   projected_coordinate);
        reduce(t, IKT_STAGE_SPECTRUM, products / 20 * 4, 8 * columns * columns);
        if (w->is_dense)
            concatenate(t, IKT_STAGE_SPECTRUM, products, bytes * t->n);
        else
            send(t, IKT_STAGE_SPECTRUM, products, ikt_workload_partners(w),
                 bytes * ikt_workload_boundary(w));
    }
}

void ikt_plan_before_loop(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const unsigned needs = ikt_layout_objective(&w->settings.layout)->needs;
    const bool needs_lists =
        needs & (IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES | IKT_NEEDS_FEATURES);
    plan_rows(t);
    if (needs_lists) plan_codes(t);
    if (w->is_near && needs_lists) {
        move(t, IKT_STAGE_ORDER, 8);
        move(t, IKT_STAGE_ORDER, 8);
        if (w->is_isolation) move(t, IKT_STAGE_ORDER, ikt_workload_searched_bytes(w));
    }
    if (needs_lists && w->is_fisher)
        plan_fisher(t);
    else if (needs_lists && w->is_near && !w->is_given)
        plan_near_cells(t);
    else if (needs_lists && !w->is_dense && !w->is_whole && !w->is_given)
        all_pairs(t, IKT_STAGE_NEIGHBOURS);
    if (needs & IKT_NEEDS_P) plan_p(t);
    if (w->is_joined) plan_joined(t);
    if (needs & IKT_NEEDS_P) plan_spectrum(t);
}
