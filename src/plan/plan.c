/* What a run would take. See plan.h. The whole is at the end.
 *
 * n, m: rows in all and of the rank; d columns of the file, c of what the kernels read; T threads,
 * R ranks; k neighbours; rates of machine.h are per thread. */
#include "plan/plan.h"

#include <math.h>

#include "cells/cells.h"
#include "isolation/tree.h"
#include "kernelsum/slabs.h"
#include "kernelsum/spread.h"
#include "neighbours/search.h"
#include "objective/divergence.h"
#include "objective/laplacian.h"
#include "spectral/solver.h"

static const double giga = 1e9, mega = 1e6, micro = 1e-6;

/* What an operation of a stage costs in basic ones, beyond its inner kernel: means of what was
 * timed on two cores of a Xeon with AVX-512 and on one of an EPYC, which differ by a third or less
 * of most, and by 1.8 at most. In multiply-adds: */
static const double coded_coordinate = 1.14, /* of a row of float32 against that of a centre */
    block_coordinate = 1.06,                 /* of a pair, its distance alone */
    projected_coordinate = 1.37,             /* of a row, onto a component */
    covariance_product = 3.63,               /* of the upper triangle, of a row */
    kernel_pair = 12.4,                      /* of the exact repulsion */
    block_pair = 6.7,                        /* of the whole kernel */
    negative_pair = 83,                      /* of a row and a far row */
    curve_entry = 60,        /* of P by UMAP's curve, beyond what attraction takes */
    divergence_entry = 33.3, /* of P, beyond what attraction takes */
    read_value = 48,         /* of the file, brought to scale */
    moved_coordinate = 53,   /* of a point, by the optimiser */
    met_pair = 45,           /* of TriMap: a far row and a near one of a row */
    met_triplet = 180,       /* of those that are drawn once, for one of its rows */
    summed_point = 297;      /* for the bounds of the map and Z */
/* In gathers: */
static const double searched_coordinate = 0.207, /* of a pair, and the best kept */
    eigen_cube = 0.432,                          /* of d^3, on one thread */
    ordered_coordinate = 1.08,                   /* of a centre, for each halving, on one thread */
    cell_coordinate = 0.166,                     /* of a row on the way to its cell */
    listed_distance = 0.777,                     /* offered to a list of the nearest */
    walked_cell = 165,                           /* found in such a list */
    shared_column = 2.23,                        /* of a sparse row and a centre */
    passed_node = 3.75,                          /* of a random tree */
    probed_cell = 102,                           /* that a search looks at, beyond distances */
    kept_neighbour = 109,                        /* among candidates */
    refined_pair = 46.7,                         /* a neighbour of a neighbour */
    sought_weight = 40.6,                        /* of a neighbour, by its bandwidth search */
    symmetrised_entry = 124,                     /* a neighbour brought into P */
    looked_up = 8,                               /* two rows, whether a graph joins them */
    attraction_near = 1.27,                      /* an entry of P, 2^16 rows on a rank */
    attraction_far = 1.74,                       /* the same, 2^19 rows */
    multiplied_near = 2.9, /* an entry of P with 8 columns of vectors, 2^16 rows on a rank */
    multiplied_far = 5.6,  /* the same, 2^19 rows */
    counted_cell = 20,     /* of the whole kernel: a row in a partitioning */
    sorted_near = 14,    /* ... brought to its cell and its block, and back, 2^16 rows on a rank */
    sorted_far = 28,     /* the same, 2^19 rows */
    spread_point = 11.5, /* to the grid */
    gathered_point = 14.8, /* from the grid */
    measured_point = 132;  /* for each doubling of the rows */
/* In others: coordinates of bytes, bytes of codes, and nodes of a grid of 2^20 or of 2^24. */
static const double gap_byte = 4.5, gap_coordinate = 1.5; /* of Manhattan distances */
static const double coded_byte = 1.5, searched_byte = 1.82, fft_near = IKT_FFT_COST, fft_far = 1.48;

enum { REDUCED_SUM_BYTES = 560, SAMPLES = 8, RING_ROWS = 1024, USUAL_RANK = 15 };

/* Exact pairs that a point's nodes and near points cost as much as: measured on maps of 17,000 and
 * 100,000 points, 8,300 and 9,700 in three dimensions, 4,800 in two, 1,600 to 2,300 in one. And
 * those that building the tree costs a point, on every rank. */
static const double tree_pairs = 1000, tree_moves = 100;

/* --- transfers -------------------------------------------------------------------------------- */

/* A vector that moves `times` times, less what stays where it is. */
static ikt_cost collective(const ikt_machine *m, int ranks, double times, double bytes, double rate,
                           double sent) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    const double moved = times * bytes * (ranks - 1) / ranks, doublings = ceil(log2((double)ranks));
    return (ikt_cost){times * doublings * m->latency * micro + moved / (rate * giga), sent, 0, 1};
}

ikt_cost ikt_cost_reduction(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 2, bytes, m->reduction, bytes);
}

ikt_cost ikt_cost_concatenation(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 1, bytes, m->bandwidth, bytes / ranks);
}

ikt_cost ikt_cost_messages(const ikt_machine *m, double messages, double bytes) {
    return (ikt_cost){messages * m->latency * micro + bytes / (m->bandwidth * giga), bytes,
                      messages, 0};
}

static void add(ikt_cost *cost, double times, ikt_cost other) {
    cost->seconds += times * other.seconds;
    cost->bytes_sent += times * other.bytes_sent;
    cost->messages += times * other.messages;
    cost->collectives += times * other.collectives;
}

/* --- what stages share ------------------------------------------------------------------------ */

/* A workload, the machine that it meets, numbers that many stages need, and what comes out. */
typedef struct {
    const ikt_workload *w;
    const ikt_machine *m;
    double n, rows;     /* n and m */
    double early, late; /* evaluations of the gradient with exaggeration, and without */
    double regularised; /* with the regulariser, */
    double charges;     /* which then takes so many sums with charges */
    double reports;     /* of them, with the value of the objective */
    double axes, kernels;
    ikt_cost *own; /* [IKT_STAGE_COUNT] what each stage costs without those below it */
} task;

/* `count` operations, on all threads, of so many basic ones of a rate. */
static void work(const task *t, ikt_stage stage, double count, double basic, double rate) {
    t->own[stage].seconds += count * basic / (rate * t->w->threads);
}

static void arithmetic(const task *t, ikt_stage stage, double count, double basic) {
    work(t, stage, count, basic, t->m->multiply_adds * giga);
}

static void gathering(const task *t, ikt_stage stage, double count, double basic) {
    work(t, stage, count, basic, t->m->gathers * mega);
}

static void reduce(const task *t, ikt_stage stage, double times, double bytes) {
    add(&t->own[stage], times, ikt_cost_reduction(t->m, t->w->ranks, bytes));
}

static void concatenate(const task *t, ikt_stage stage, double times, double bytes) {
    add(&t->own[stage], times, ikt_cost_concatenation(t->m, t->w->ranks, bytes));
}

static void send(const task *t, ikt_stage stage, double times, double messages, double bytes) {
    add(&t->own[stage], times, ikt_cost_messages(t->m, messages, bytes));
}

/* Rows of so many bytes brought to their slots: all but 1/R of them on another rank, in slices of
 * 64 bytes. */
static void move(const task *t, ikt_stage stage, int64_t bytes) {
    const double others = t->w->ranks - 1, slices = ceil((double)bytes / 64);
    send(t, stage, 1, slices * others, others / t->w->ranks * t->rows * (double)bytes);
}

/* A share of the own rows: m d values from the file, of sparse rows with a column of four bytes
 * each; brought to scale unless they stay bytes; and projected, m d c multiply-adds, where they are
 * reduced. */
static void pass(const task *t, ikt_stage stage, double share, bool reduced) {
    const ikt_data_shape *data = &t->w->data;
    const double values = share * t->rows * (data->is_sparse ? data->entries : (double)data->d);
    const double bytes = (double)ikt_type_size(data->type) + (data->is_sparse ? 4 : 0);
    t->own[stage].seconds += values * bytes / (t->m->file * mega);
    if (!t->w->is_u8) arithmetic(t, stage, values, read_value);
    if (reduced && t->w->settings.preprocess.pca > 0)
        arithmetic(t, stage, values * (double)t->w->columns, projected_coordinate);
}

/* Principal components of a share of the own rows, which have `columns` columns: two passes,
 * columns^2 / 2 products a row, columns^3 on one thread, and the upper triangle summed over ranks.
 */
static void components(const task *t, ikt_stage stage, double share, double columns, bool reduced) {
    const double triangle = columns * (columns + 1) / 2;
    pass(t, stage, 2 * share, reduced);
    arithmetic(t, stage, share * t->rows * triangle, covariance_product);
    t->own[stage].seconds += pow(columns, 3) * eigen_cube / (t->m->gathers * mega);
    reduce(t, stage, 1, 8 * triangle);
}

/* Statistics of the columns, where rows are brought to scale; components, where they are reduced.
 */
static void preprocess(const task *t, ikt_stage stage) {
    if (!t->w->is_u8) pass(t, stage, 1, false);
    if (t->w->settings.preprocess.pca > 0) components(t, stage, 1, (double)t->w->data.d, false);
}

/* Pairs of rows: bytes of codes compared, or squared differences. */
static void pairs(const task *t, ikt_stage stage, double count) {
    if (t->w->is_isolation)
        work(t, stage, count * (double)ikt_workload_searched_bytes(t->w), searched_byte,
             t->m->compares * giga);
    else
        gathering(t, stage, count * (double)t->w->columns, searched_coordinate);
}

/* All pairs: blocks of rows go round the ring of ranks. */
static void all_pairs(const task *t, ikt_stage stage) {
    pairs(t, stage, t->rows * t->n);
    send(t, stage, 1, ceil(t->rows / RING_ROWS) * (t->w->ranks - 1),
         (t->n - t->rows) * (double)ikt_workload_searched_bytes(t->w));
}

/* --- from rows to P --------------------------------------------------------------------------- */

/* Reading: a graph is read twice, for its checksum and for its weights, 12 bytes an entry, or once
 * more where it is read as pairs; where it
 * is ordered, its entries move to their slots. The kernels of distances hold their rows; where
 * those are ordered, the rows that change rank are sent. The first positions: some components of a
 * sample of the rows, and the scores of all, of eight lanes a component. Of sparse rows, products
 * of every two of a sample, of which each is as good as an entry looked up; their eigenvectors; and
 * the scores of all. Landmarks: each row against every one, and a pass over rows that are not
 * coded; their own embedding is a plan of its own. */
static void plan_rows(const task *t) {
    const ikt_workload *w = t->w;
    const double landmarks = (double)w->landmarks;
    const ikt_stage pca = IKT_STAGE_PCA;
    if (w->is_given) {
        const double passes = w->is_joined ? 3 : 2; /* the largest number is found before */
        t->own[IKT_STAGE_READ].seconds +=
            passes * t->rows * (double)w->k * 12 / (t->m->file * mega);
        if (w->is_near) move(t, IKT_STAGE_READ, 8 * w->k);
    } else if (!w->is_isolation) {
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
static void plan_codes(const task *t) {
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
static void plan_near_cells(const task *t) {
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
        arithmetic(t, search, candidates * (double)w->columns, block_coordinate);
        gathering(t, search, candidates * count / t->n, probed_cell);
        gathering(t, search, t->rows * (double)w->k, kept_neighbour);
    }
    if (w->model.near == 0) arithmetic(t, search, count * count / w->ranks * c, block_coordinate);
    send(t, search, 1, 2 * fetching.batches * ikt_workload_partners(w), fetching.rows * bytes);

    const double sample = (double)ikt_recall_rows((int64_t)t->n);
    pairs(t, IKT_STAGE_RECALL, sample * t->rows);
    concatenate(t, IKT_STAGE_RECALL, 1, sample * bytes);
}

/* m k weights, or of all pairs; those of the Gaussian kernel are searched for. Then m k entries
 * sent to the owner of their column, and those without a partner once more, 12 bytes each; batches
 * of 2^21. */
static void plan_p(const task *t) {
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
         12 * entries * IKT_SYMMETRIC_SHARE * ikt_workload_cut(w));
}

/* Both directions of the pairs of a graph: all entries travel twice. */
static void plan_joined(const task *t) {
    const ikt_workload *w = t->w;
    const double entries = t->rows * (double)w->k, others = w->ranks - 1;
    gathering(t, IKT_STAGE_GRAPH, 2 * entries, symmetrised_entry);
    send(t, IKT_STAGE_GRAPH, 1, 2 * ceil(entries / (1 << 21)) * others,
         2 * 12 * entries * ikt_workload_cut(w));
}

/* --- the loop --------------------------------------------------------------------------------- */

/* `times` sums by FFT on a map of that span: points to the grid and back; eight bytes for each node
 * of the grid, to all ranks or each row of nodes to one that shares; and the transforms. The padded
 * grid is whole on every rank; or in shares, with the transpose of the Fourier coefficients there
 * and back, and the potentials to all ranks. Between the two sizes at which it was measured, the
 * rate is a power of the size. */
static void plan_grid(const task *t, double times, double span) {
    const ikt_workload *w = t->w;
    const ikt_grid grid = ikt_grid_fit(&w->fft, &(ikt_bounds){{0, 0}, {span, span}});
    ikt_fft_settings fft = w->fft;
    fft.rates = ikt_machine_fft_rates(t->m, w->threads);
    const double share = ikt_slabs_sharers(&fft, &grid, w->ranks);
    const double nodes = (double)grid.nodes[0] * (double)grid.nodes[1];
    const double padded = (double)grid.padded[0] * (double)grid.padded[1];
    const double number = fft.single ? sizeof(float) : sizeof(double);
    const double place = fmin(1, fmax(0, (log2(padded) - 20) / 4));
    const double summed = 8 * (double)(ikt_charge_stride(&grid, fft.order) * grid.nodes[1]);
    gathering(t, IKT_STAGE_SPREAD, times * t->rows, spread_point);
    gathering(t, IKT_STAGE_GATHER, times * t->rows, gathered_point);
    if (share == 1)
        reduce(t, IKT_STAGE_GRID_SUM, times, summed);
    else /* a reduction of which each rank gets a part: half of it */
        add(&t->own[IKT_STAGE_GRID_SUM], times,
            collective(t->m, w->ranks, 1, summed, t->m->reduction, summed));
    work(t, IKT_STAGE_FFT, times * padded / share, fft_near * pow(fft_far / fft_near, place),
         t->m->fft * mega);
    if (share == 1) return;
    const double sent = number * (double)grid.padded[0] * (double)grid.nodes[1] / share;
    send(t, IKT_STAGE_FFT, 2 * times, share - 1, sent * (share - 1) / share);
    concatenate(t, IKT_STAGE_FFT, times, number * nodes);
}

/* From negative samples: position and weight of every row of the pool, and m far_rows pairs. Where
 * values are reported, another pool's, and eight pairs a row by logarithms in doubles. */
static void plan_negatives(const task *t, const ikt_negative_settings *sample) {
    const double evaluations = t->early + t->late, in_doubles = 8 * 40;
    const double bytes = 4 * (t->axes + 1) * (double)sample->pool;
    concatenate(t, IKT_STAGE_REPULSION, evaluations + t->reports, bytes);
    arithmetic(t, IKT_STAGE_REPULSION,
               t->rows * (evaluations * (double)sample->far_rows + t->reports * in_doubles),
               negative_pair);
}

/* By FFT: the bounds of the map, four numbers; the parts are stages of their own, and depend on the
 * size of the map. Exact: m n pairs, and everyone's position. By a tree: positions, and results. */
static void plan_repulsion(const task *t) {
    /* Sums with charges come after the first phase; exact ones share the values of the kernel. */
    const double charged = t->regularised * t->charges * (t->w->is_exact ? 0.5 : 1);
    const double late = t->kernels * t->late + charged, evaluations = t->kernels * t->early + late;
    const double positions = 4 * t->axes * t->n;
    const ikt_stage repulsion = IKT_STAGE_REPULSION;
    if (t->w->is_exact) {
        concatenate(t, repulsion, evaluations, positions);
        arithmetic(t, repulsion, evaluations * t->rows * t->n, kernel_pair);
    } else if (t->w->settings.layout.repulsion == IKT_REPULSION_FFT) {
        reduce(t, repulsion, evaluations, 32);
        plan_grid(t, t->kernels * t->early, ikt_workload_span(t->w, 0));
        for (int s = 0; s < SAMPLES; s++)
            plan_grid(t, late / SAMPLES, ikt_workload_span(t->w, (s + 0.5) / SAMPLES));
    } else {
        concatenate(t, repulsion, evaluations, positions);
        concatenate(t, repulsion, evaluations, 24 * t->n);
        t->own[repulsion].seconds +=
            evaluations * tree_moves * t->n * kernel_pair / (t->m->multiply_adds * giga);
        arithmetic(t, repulsion, evaluations * t->rows * fmin(t->n, tree_pairs * t->axes * t->axes),
                   kernel_pair);
    }
}

/* Attraction along the whole kernel: rows to their cells, pairs in blocks. Rows whose cell another
 * rank computes travel there with cell, share and position, and a force comes back. */
static void plan_whole_attraction(const task *t) {
    const ikt_workload *w = t->w;
    const double passes = ikt_workload_passes(w), block = ikt_workload_block(w);
    const double abroad = w->ranks > 1 ? ikt_workload_cut(w) * t->rows : 0;
    const double place = fmin(2.5, fmax(-1, (log2(t->rows) - 16) / 3));
    gathering(t, IKT_STAGE_ATTRACTION, passes * t->rows,
              sorted_near * pow(sorted_far / sorted_near, place));
    arithmetic(t, IKT_STAGE_ATTRACTION, passes * t->rows * block, block_pair);
    send(t, IKT_STAGE_HALO, passes, 0.5 * (w->ranks - 1), abroad * (8 + 8 * t->axes));
    reduce(t, IKT_STAGE_LAYOUT, t->reports, 16 * t->axes * IKT_WHOLE_PAIRS);
}

/* Whether attraction and repulsion are one pass over all pairs (objective/dense_tsne.c). */
static bool has_one_pass(const ikt_workload *w) {
    const ikt_layout_settings *layout = &w->settings.layout;
    return w->is_dense && w->is_exact && layout->objective == IKT_OBJECTIVE_TSNE &&
           layout->degrees_of_freedom == 1;
}

/* TriMap: m near rows of each row with f far ones, both ways, or triplets that are held three
 * times; the columns or codes of far rows, and where edges end, which are entries as those of P.
 * Then the pool, and a coefficient of each edge that is cut. */
static void plan_triplets(const task *t) {
    const ikt_workload *w = t->w;
    const ikt_trimap_settings *s = &w->settings.layout.trimap;
    const double iterations = t->early + t->late, m = (double)s->neighbours;
    const double f = (double)s->far_rows, draws = ceil(iterations / (double)s->redraw);
    const double size = (double)s->pool_rows, numbers = t->axes + m;
    if (s->triplets == IKT_TRIPLETS_FIXED) {
        const double triplets = m * (double)s->outliers + (double)s->random;
        arithmetic(t, IKT_STAGE_REPULSION, iterations * t->rows * 3 * triplets, met_triplet);
        concatenate(t, IKT_STAGE_HALO, iterations, 4 * t->axes * t->n);
        return;
    }
    arithmetic(t, IKT_STAGE_REPULSION, iterations * t->rows * 2 * m * f, met_pair);
    if (w->is_isolation)
        pairs(t, IKT_STAGE_REPULSION, draws * t->rows * f);
    else if (w->is_joined || w->has_matrix)
        gathering(t, IKT_STAGE_REPULSION, draws * t->rows * f, looked_up);
    else
        arithmetic(t, IKT_STAGE_REPULSION, draws * t->rows * f * (double)w->columns,
                   block_coordinate);
    gathering(t, IKT_STAGE_ATTRACTION, iterations * t->rows * m, 2 * attraction_far);
    concatenate(t, IKT_STAGE_HALO, iterations, 4 * numbers * size);
    concatenate(t, IKT_STAGE_HALO, draws,
                (double)ikt_workload_searched_bytes(w) * size + 4 * m * size);
    send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
         4 * t->axes * ikt_workload_boundary(w));
    send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
         4 * (w->ranks > 1 ? ikt_workload_cut(w) : 0) * t->rows * m);
}

/* Attraction: entries of P on the rank, m symmetric_share k or m n. The more rows, the farther away
 * their positions lie: between the two sizes at which it was measured, and some way beyond, the
 * rate is a power of the rows. The pass over P computes the divergence, too, where that is
 * reported. Dense P and exact sums of t-SNE are one pass, counted as repulsion. The exchange: a
 * position, 4 bytes an axis, of each boundary row, in one message to each rank that shares a
 * boundary. The loop's own: the sum Z, three integers, in every iteration; the sums of the
 * divergence and of the gradient's norm where they are reported. */
static void plan_loop(const task *t) {
    const ikt_workload *w = t->w;
    const double iterations = t->early + t->late, bytes = 4 * t->axes;
    const double entries = t->rows * (w->is_dense ? t->n : IKT_SYMMETRIC_SHARE * (double)w->k);
    const double place = fmin(2.5, fmax(-1, (log2(t->rows) - 16) / 3));
    const ikt_negative_settings *sample = ikt_layout_negatives(&w->settings.layout);
    const bool has_p = ikt_layout_objective(&w->settings.layout)->needs & IKT_NEEDS_P;
    if (ikt_layout_objective(&w->settings.layout) == &ikt_objective_trimap) {
        plan_triplets(t);
    } else if (w->is_whole) {
        plan_whole_attraction(t);
    } else if (has_p && !has_one_pass(w)) {
        gathering(t, IKT_STAGE_ATTRACTION, iterations * entries,
                  attraction_near * pow(attraction_far / attraction_near, place));
        arithmetic(t, IKT_STAGE_ATTRACTION, t->reports * entries, divergence_entry);
        if (sample) arithmetic(t, IKT_STAGE_ATTRACTION, iterations * entries, curve_entry);
    }
    if (sample)
        plan_negatives(t, sample);
    else if (t->kernels > 0)
        plan_repulsion(t);
    if (has_p && w->is_dense)
        concatenate(t, IKT_STAGE_HALO, iterations, bytes * t->n);
    else if (has_p && !w->is_whole)
        send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
             bytes * ikt_workload_boundary(w));
    arithmetic(t, IKT_STAGE_STEP, iterations * t->rows * t->axes, moved_coordinate);
    arithmetic(t, IKT_STAGE_LAYOUT, iterations * t->rows, summed_point);
    reduce(t, IKT_STAGE_LAYOUT, iterations, 24);
    reduce(t, IKT_STAGE_LAYOUT, 2 * t->reports, REDUCED_SUM_BYTES);
}

/* Following the eigenvectors of the map: a Gram matrix or two, and rotations. */
static void plan_regulariser(const task *t) {
    const double columns = t->charges - 1, entries = columns * columns;
    if (t->regularised == 0) return;
    arithmetic(t, IKT_STAGE_EIGENVECTORS, t->regularised * 6 * t->rows * entries,
               projected_coordinate);
    reduce(t, IKT_STAGE_EIGENVECTORS, 8 * t->regularised, 8 * entries);
}

/* Eigenvectors of P: products, as many as were counted on MNIST, each a pass over its entries with
 * some columns, eight at a time, and an exchange of boundary rows; and four products of all columns
 * with one another or with a small matrix for twenty of them. */
static void plan_spectrum(const task *t) {
    const ikt_workload *w = t->w;
    const ikt_layout_settings *layout = &w->settings.layout;
    const bool has_gap = layout->eigengap != IKT_EIGENGAP_OFF;
    const double wanted[2] = {layout->init == IKT_INIT_SPECTRAL ? t->axes : 0,
                              has_gap ? IKT_EIGENGAP_VALUES - 1 : 0};
    const double entries = t->rows * (w->is_dense ? t->n : IKT_SYMMETRIC_SHARE * (double)w->k);
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

/* --- the whole -------------------------------------------------------------------------------- */

/* Measures: neighbours in the map, m log n, of everyone's positions and labels. Against the input:
 * distances of the queries to all rows, and their order, at about a tenth of the rate of distances.
 */
static void plan_outcome(const task *t) {
    const int wanted = t->w->settings.output.measures;
    const double queries = (t->n <= 20000 ? t->n : 2000) / t->w->ranks;
    const ikt_stage measures = IKT_STAGE_MEASURES;
    t->own[IKT_STAGE_WRITE].seconds += t->rows * 4 * t->axes / (t->m->file * mega);
    if (wanted == IKT_MEASURES_NONE) return;
    gathering(t, measures, t->rows * log2(t->n), measured_point);
    concatenate(t, measures, 1, 16 * t->n);
    if (wanted != IKT_MEASURES_ALL) return;
    preprocess(t, measures);
    pass(t, measures, 1, true);
    gathering(t, measures, queries * t->n * ((double)t->w->columns + 100), searched_coordinate);
}

ikt_time_plan ikt_time_plan_make(const ikt_workload *w, const ikt_workload *subset,
                                 const ikt_machine *machine) {
    const ikt_layout_settings *l = &w->settings.layout;
    const ikt_divergence *divergence = ikt_layout_objective(l)->divergence;
    const unsigned needs = ikt_layout_objective(l)->needs;
    const bool needs_lists =
        needs & (IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES | IKT_NEEDS_FEATURES);
    const double gradients = (double)(l->iterations + 1),
                 early = (double)l->exaggeration_iterations;
    ikt_cost own[IKT_STAGE_COUNT] = {{0}};
    const bool is_regularised = l->regulariser != IKT_REGULARISER_NONE;
    const int64_t rank = l->regulariser_rank == IKT_AUTO_INT ? USUAL_RANK : l->regulariser_rank;
    const double from = l->regulariser_from == IKT_AUTO_INT ? early : (double)l->regulariser_from;
    const task t = {.w = w,
                    .m = machine,
                    .n = (double)w->data.n,
                    .rows = (double)w->distribution.count,
                    .early = early,
                    .late = gradients - early,
                    .regularised = is_regularised ? gradients - from : 0,
                    .charges = (double)ikt_laplacian_columns(rank, w->data.n) + 1,
                    .reports = (double)(l->iterations / l->report_every) + 1,
                    .axes = (double)l->dimensions,
                    .kernels = divergence ? divergence->n_kernels : 0,
                    .own = own};
    ikt_time_plan plan = {.gradients = gradients};
    plan_rows(&t);
    if (needs_lists) plan_codes(&t);
    if (w->is_near && needs_lists) {
        move(&t, IKT_STAGE_ORDER, 8);
        move(&t, IKT_STAGE_ORDER, 8);
        if (w->is_isolation) move(&t, IKT_STAGE_ORDER, ikt_workload_searched_bytes(w));
    }
    if (needs_lists && w->is_near && !w->is_given)
        plan_near_cells(&t);
    else if (needs_lists && !w->is_dense && !w->is_whole && !w->is_given)
        all_pairs(&t, IKT_STAGE_NEIGHBOURS);
    if (needs & IKT_NEEDS_P) plan_p(&t);
    if (w->is_joined) plan_joined(&t);
    if (needs & IKT_NEEDS_P) plan_spectrum(&t);
    plan_loop(&t);
    plan_regulariser(&t);
    plan_outcome(&t);
    if (subset)
        add(&own[IKT_STAGE_LANDMARKS], 1,
            ikt_time_plan_make(subset, NULL, machine).stage[IKT_STAGE_TOTAL]);
    /* A stage adds to those above it: the last ones before it that are less deep. */
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        int depth = ikt_stage_depth((ikt_stage)s) + 1;
        for (int above = s; above >= 0; above--)
            if (ikt_stage_depth((ikt_stage)above) < depth) {
                depth = ikt_stage_depth((ikt_stage)above);
                add(&plan.stage[above], 1, own[s]);
            }
    }
    return plan;
}

ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan) {
    ikt_cost cost = {0};
    add(&cost, 1 / plan->gradients, plan->stage[IKT_STAGE_LAYOUT]);
    return cost;
}

ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan) {
    const bool has_landmarks = plan->work.landmarks > 0;
    ikt_workload landmarks_work;
    if (has_landmarks) IKT_TRY(ikt_workload_of_landmarks(ctx, &plan->work, &landmarks_work));
    plan->memory = ikt_memory_plan_make(&plan->work, base);
    plan->time =
        ikt_time_plan_make(&plan->work, has_landmarks ? &landmarks_work : NULL, &plan->machine);
    return IKT_OK;
}

void ikt_plan_settings(const ikt_workload *w, ikt_settings *out) {
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
