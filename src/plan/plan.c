/* What a run would take. See plan.h. The table of stages is at the end.
 *
 * n, m: rows in all and of the rank; d columns of the file, c of what the kernels read; T threads,
 * R ranks; k neighbours; rates of machine.h are per thread. */
#include "plan/plan.h"

#include <math.h>

#include "isolation/tree.h"
#include "kernelsum/slabs.h"
#include "kernelsum/spread.h"
#include "neighbours/cells.h"
#include "neighbours/search.h"
#include "objective/divergence.h"

static const double giga = 1e9, mega = 1e6, micro = 1e-6;

/* What an operation of a stage costs in basic ones, beyond its inner kernel: means of what was
 * timed on two cores of a Xeon with AVX-512 and on one of an EPYC, which differ by a third or less
 * of most, and by 1.8 at most. In multiply-adds: */
static const double coded_coordinate = 1.14, /* of a row of float32 against that of a centre */
    block_coordinate = 1.06,                 /* of a pair, its distance alone */
    projected_coordinate = 1.37,             /* of a row, onto a component */
    covariance_product = 3.63,               /* of the upper triangle, of a row */
    kernel_pair = 12.4,                      /* of the exact repulsion */
    divergence_entry = 33.3,                 /* of P, beyond what attraction takes */
    read_value = 48,                         /* of the file, brought to scale */
    moved_coordinate = 53,                   /* of a point, by the optimiser */
    summed_point = 297;                      /* for the bounds of the map and Z */
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
    attraction_near = 1.27,                      /* an entry of P, 2^16 rows on a rank */
    attraction_far = 1.74,                       /* the same, 2^19 rows */
    spread_point = 11.5,                         /* to the grid */
    gathered_point = 14.8,                       /* from the grid */
    measured_point = 132;                        /* for each doubling of the rows */
/* In others: coordinates of bytes, bytes of codes, and nodes of a grid of 2^20 or of 2^24. */
static const double coded_byte = 1.5, searched_byte = 1.82, fft_near = IKT_FFT_COST, fft_far = 1.48;

enum { REDUCED_SUM_BYTES = 560, SAMPLES = 8, RING_ROWS = 1024, RECALL_ROWS = 1000 };

/* --- transfers -------------------------------------------------------------------------------- */

static double doublings(int ranks) {
    return ceil(log2((double)ranks));
}

/* A vector that moves `times` times, less what stays where it is. */
static ikt_cost collective(const ikt_machine *m, int ranks, double times, double bytes, double rate,
                           double sent) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    const double moved = times * bytes * (ranks - 1) / ranks;
    return (ikt_cost){times * doublings(ranks) * m->latency * micro + moved / (rate * giga), sent,
                      0, 1};
}

ikt_cost ikt_cost_reduction(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 2, bytes, m->reduction, bytes);
}

ikt_cost ikt_cost_scatter(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 1, bytes, m->reduction, bytes);
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

/* A workload, the machine that it meets, and numbers that many stages need. */
typedef struct {
    const ikt_workload *w;
    const ikt_machine *m;
    double n, rows;     /* n and m */
    double early, late; /* evaluations of the gradient with exaggeration, and without */
    double reports;     /* of them, with the value of the objective */
    double axes, kernels;
} task;

/* `count` operations, on all threads, of so many basic ones of a rate. */
static void work(const task *t, ikt_cost *cost, double count, double basic, double rate) {
    cost->seconds += count * basic / (rate * t->w->threads);
}

static void arithmetic(const task *t, ikt_cost *cost, double count, double basic) {
    work(t, cost, count, basic, t->m->multiply_adds * giga);
}

static void gathering(const task *t, ikt_cost *cost, double count, double basic) {
    work(t, cost, count, basic, t->m->gathers * mega);
}

static void concatenate(const task *t, ikt_cost *cost, double times, double bytes) {
    add(cost, times, ikt_cost_concatenation(t->m, t->w->ranks, bytes));
}

/* Rows of so many bytes brought to their positions: all but 1/R of them on another rank, in slices
 * of 64 bytes. */
static void move(const task *t, ikt_cost *cost, int64_t bytes) {
    const double others = t->w->ranks - 1, slices = ceil((double)bytes / 64);
    add(cost, 1,
        ikt_cost_messages(t->m, slices * others, others / t->w->ranks * t->rows * (double)bytes));
}

/* A share of the own rows: m d values from the file, of sparse rows with a column of four bytes
 * each; brought to scale unless they stay bytes; and projected, m d c multiply-adds, where they are
 * reduced. */
static void pass(const task *t, ikt_cost *cost, double share, bool reduced) {
    const ikt_data_shape *data = &t->w->data;
    const double values = share * t->rows * (data->is_sparse ? data->entries : (double)data->d);
    const double bytes = (double)ikt_type_size(data->type) + (data->is_sparse ? 4 : 0);
    cost->seconds += values * bytes / (t->m->file * mega);
    if (!t->w->is_u8) arithmetic(t, cost, values, read_value);
    if (reduced && t->w->settings.preprocess.pca > 0)
        arithmetic(t, cost, values * (double)t->w->columns, projected_coordinate);
}

/* Principal components of a share of the own rows, which have `columns` columns: two passes,
 * columns^2 / 2 products a row, columns^3 on one thread, and the upper triangle summed over ranks.
 */
static void components(const task *t, ikt_cost *cost, double share, double columns, bool reduced) {
    const double triangle = columns * (columns + 1) / 2;
    pass(t, cost, 2 * share, reduced);
    arithmetic(t, cost, share * t->rows * triangle, covariance_product);
    cost->seconds += pow(columns, 3) * eigen_cube / (t->m->gathers * mega);
    add(cost, 1, ikt_cost_reduction(t->m, t->w->ranks, 8 * triangle));
}

/* Pairs of rows: bytes of codes compared, or squared differences. */
static void pairs(const task *t, ikt_cost *cost, double count) {
    if (t->w->is_isolation)
        work(t, cost, count * (double)ikt_workload_searched_bytes(t->w), searched_byte,
             t->m->compares * giga);
    else
        gathering(t, cost, count * (double)t->w->columns, searched_coordinate);
}

/* All pairs: blocks of rows go round the ring of ranks. */
static void all_pairs(const task *t, ikt_cost *cost) {
    const double bytes = (double)ikt_workload_searched_bytes(t->w);
    pairs(t, cost, t->rows * t->n);
    add(cost, 1,
        ikt_cost_messages(t->m, ceil(t->rows / RING_ROWS) * (t->w->ranks - 1),
                          (t->n - t->rows) * bytes));
}

/* Coordinates of a distance between centres: sixteen sparse rows have some ten times the columns of
 * one together. */
static double compared_columns(const ikt_workload *w) {
    const double columns = (double)w->columns;
    return w->rows.is_sparse ? fmin(columns, 10 * w->rows.entries) : columns;
}

/* --- from rows to P --------------------------------------------------------------------------- */

/* A graph is read twice, for its checksum and for its weights, 12 bytes an entry; where it is
 * ordered, its entries move to their positions. The kernels of distances hold their rows; where
 * those are ordered, the rows that change rank are sent. */
static void read_rows(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    if (w->is_given) {
        cost->seconds += 2 * t->rows * (double)w->k * 12 / (t->m->file * mega);
        if (w->is_near) move(t, cost, 8 * w->k);
    } else if (!w->is_isolation) {
        pass(t, cost, 1, true);
        if (w->is_near) move(t, cost, ikt_workload_row_bytes(w));
    }
}

/* Statistics of the columns, where rows are brought to scale; components, where they are reduced.
 */
static void preprocess(const task *t, ikt_cost *cost) {
    if (!t->w->is_u8) pass(t, cost, 1, false);
    if (t->w->settings.preprocess.pca > 0) components(t, cost, 1, (double)t->w->data.d, false);
}

/* The first positions: some components of a sample of the rows, and the scores of all, of eight
 * lanes a component. Of sparse rows, products of every two of a sample, of which each is as good as
 * an entry looked up; their eigenvectors; and the scores of all. */
static void initial(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    if (w->settings.layout.init != IKT_INIT_PCA) return;
    if (w->rows.is_sparse) {
        const double sample = fmin(IKT_START_SPARSE_ROWS, t->n), entries = w->rows.entries;
        gathering(t, cost, (sample * sample / w->ranks + t->rows * t->axes) * entries,
                  shared_column);
        pass(t, cost, 1, true);
        cost->seconds += pow(sample, 3) * eigen_cube / (t->m->gathers * mega);
        concatenate(t, cost, 1, 8 * sample * sample);
        return;
    }
    components(t, cost, fmin(1, IKT_START_ROWS / t->n), (double)w->columns, true);
    pass(t, cost, 1, true);
    arithmetic(t, cost, 8 * t->axes * t->rows * (double)w->columns, projected_coordinate);
}

/* Each row against every landmark, and a pass over rows that are not coded; their own embedding is
 * a plan of its own. */
static void landmarks(const task *t, ikt_cost *cost) {
    const double count = (double)t->w->landmarks;
    if (count == 0) return;
    pairs(t, cost, t->rows * count);
    if (!t->w->is_isolation) pass(t, cost, 1, true);
    concatenate(t, cost, 1, count * (double)ikt_workload_searched_bytes(t->w));
}

/* Trees: every row goes down every one, and they are grown on every rank: each sampled row goes
 * down its own. Centres: a distance of c coordinates for each row and centre that it is compared
 * with, t psi or the distinct ones, of whose values lists are kept; of sparse rows the columns that
 * each shares with the centres are looked up. Centres and sampled rows come from all ranks. */
static void codes(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    double centres = (double)w->compared;
    if (!w->is_isolation) return;
    if (w->is_forest) {
        gathering(t, cost, (t->rows + (double)w->psi) * (double)w->t * ikt_tree_depth(w->psi),
                  passed_node);
    } else if (w->rows.is_sparse) {
        centres = fmin(centres, (double)w->model.n);
        gathering(t, cost, t->rows * centres * ikt_workload_overlap(w), shared_column);
    } else if (w->is_u8) {
        work(t, cost, t->rows * centres * (double)w->columns, coded_byte, t->m->bytes * giga);
    } else {
        arithmetic(t, cost, t->rows * centres * (double)w->columns, coded_coordinate);
    }
    if (w->has_lists && !w->is_forest) {
        gathering(t, cost, t->rows * centres, listed_distance);
        gathering(t, cost, t->rows * (double)w->t, walked_cell);
    } else if (w->rows.is_sparse) { /* values are looked through, partitioning by partitioning */
        gathering(t, cost, t->rows * (double)(w->psi * w->t), listed_distance);
    }
    pass(t, cost, 1, true);
    concatenate(t, cost, 1, centres * (double)ikt_workload_row_bytes(w));
}

/* The order of the C cells, C log C coordinates of d, on one thread; and the cell of each row,
 * where it does not come with the codes. */
static void cells(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    const double count = (double)w->cells, c = compared_columns(w);
    if (!w->is_near || w->is_given) return;
    cost->seconds += count * log2(count) * c * ordered_coordinate / (t->m->gathers * mega);
    if (!w->is_isolation || w->is_forest) {
        pass(t, cost, 1, true);
        gathering(t, cost, t->rows * (double)ikt_nearest_cell_compared(w->cells) * c,
                  cell_coordinate);
    }
    add(cost, 1, ikt_cost_reduction(t->m, w->ranks, 8 * count));
    concatenate(t, cost, 1, count * (double)ikt_workload_row_bytes(w));
}

/* Codes to their positions, and the map there and back. */
static void order(const task *t, ikt_cost *cost) {
    if (!t->w->is_near) return;
    move(t, cost, 8);
    move(t, cost, 8);
    if (t->w->is_isolation) move(t, cost, ikt_workload_searched_bytes(t->w));
}

/* Near cells: the candidates of each row (of codes compared; of rows distances, looking at their
 * cells, and keeping some), the neighbours of neighbours, and a distance of each own cell to every
 * centre. Blocks of other ranks come as often as they are wanted by another batch of own blocks. */
static void neighbours(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    const double candidates = t->rows * (double)w->candidates, count = (double)w->cells;
    const double rounds = (double)w->settings.affinity.refinements, near = IKT_REFINE_NEAR;
    if (w->is_dense || w->is_given) return;
    if (!w->is_near) {
        all_pairs(t, cost);
        return;
    }
    gathering(t, cost, rounds * t->rows * near * near, refined_pair);
    if (w->is_isolation) {
        pairs(t, cost, candidates);
    } else {
        arithmetic(t, cost, candidates * (double)w->columns, block_coordinate);
        gathering(t, cost, candidates * count / t->n, probed_cell);
        gathering(t, cost, t->rows * (double)w->k, kept_neighbour);
    }
    arithmetic(t, cost, count * count / w->ranks * compared_columns(w), block_coordinate);
    add(cost, 1,
        ikt_cost_messages(t->m, 2 * ikt_workload_batches(w) * ikt_workload_partners(w),
                          ikt_workload_fetched(w) * (double)ikt_workload_searched_bytes(w)));
}

/* A sample of rows against all. */
static void recall(const task *t, ikt_cost *cost) {
    if (!t->w->is_near || t->w->is_given) return;
    pairs(t, cost, RECALL_ROWS * t->rows);
    concatenate(t, cost, 1, RECALL_ROWS * (double)ikt_workload_searched_bytes(t->w));
}

/* m k weights, or of all pairs; those of the Gaussian kernel are searched for. */
static void affinity(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    const ikt_affinity_settings *settings = &w->settings.affinity;
    const bool has_search = w->is_given ? settings->graph.values == IKT_EDGES_DISTANCES
                                        : ikt_affinity_of(settings)->is_sought;
    if (has_search)
        gathering(t, cost, t->rows * (w->is_dense ? t->n : (double)w->k), sought_weight);
    if (w->is_dense) all_pairs(t, cost);
}

/* m k entries sent to the owner of their column, and those without a partner once more, 12 bytes
 * each; batches of 2^21. */
static void graph(const task *t, ikt_cost *cost) {
    const double entries = t->rows * (double)t->w->k, others = t->w->ranks - 1;
    if (t->w->is_dense) return;
    gathering(t, cost, entries, symmetrised_entry);
    add(cost, 1,
        ikt_cost_messages(t->m, 2 * ceil(entries / (1 << 21)) * others,
                          12 * entries * ikt_workload_symmetric_share() * ikt_workload_cut(t->w)));
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Entries of P on the rank, m symmetric_share k or m n. The more rows, the farther away their
 * positions lie: between the two sizes at which it was measured, and some way beyond, the rate is a
 * power of the rows. The pass over P computes the divergence, too, where that is reported. Dense P
 * and exact sums of t-SNE are one pass, counted as repulsion. */
static void attraction(const task *t, ikt_cost *cost) {
    const ikt_workload *w = t->w;
    const double entries =
        t->rows * (w->is_dense ? t->n : ikt_workload_symmetric_share() * (double)w->k);
    const double place = fmin(2.5, fmax(-1, (log2(t->rows) - 16) / 3));
    const double each = attraction_near * pow(attraction_far / attraction_near, place);
    if (w->is_dense && w->is_exact && w->settings.layout.objective == IKT_OBJECTIVE_TSNE) return;
    gathering(t, cost, (t->early + t->late) * entries, each);
    arithmetic(t, cost, t->reports * entries, divergence_entry);
}

/* Sum of a cost over all iterations, where it depends on the size of the map, for each kernel. */
static void over_the_maps(const task *t, ikt_cost *cost,
                          void (*of_grid)(const task *, ikt_cost *, const ikt_grid *)) {
    if (t->w->settings.layout.repulsion != IKT_REPULSION_FFT) return;
    for (int s = -1; s < SAMPLES; s++) {
        const double done = s < 0 ? 0 : (s + 0.5) / SAMPLES;
        const ikt_grid grid = ikt_workload_grid(t->w, ikt_workload_span(t->w, done));
        ikt_cost one = {0};
        of_grid(t, &one, &grid);
        add(cost, t->kernels * (s < 0 ? t->early : t->late / SAMPLES), one);
    }
}

static void spread_of(const task *t, ikt_cost *cost, const ikt_grid *grid) {
    (void)grid;
    gathering(t, cost, t->rows, spread_point);
}

static void gather_of(const task *t, ikt_cost *cost, const ikt_grid *grid) {
    (void)grid;
    gathering(t, cost, t->rows, gathered_point);
}

static int sharers_of(const task *t, const ikt_grid *grid) {
    ikt_fft_settings fft = t->w->fft;
    fft.rates = ikt_machine_fft_rates(t->m, t->w->threads);
    return ikt_slabs_sharers(&fft, grid, t->w->ranks);
}

/* Eight bytes for each node of the grid, to all ranks or each row of nodes to one that shares. */
static void grid_sum_of(const task *t, ikt_cost *cost, const ikt_grid *grid) {
    const double bytes = 8 * (double)(ikt_charge_stride(grid, t->w->fft.order) * grid->nodes[1]);
    const bool is_whole = sharers_of(t, grid) == 1;
    add(cost, 1, (is_whole ? ikt_cost_reduction : ikt_cost_scatter)(t->m, t->w->ranks, bytes));
}

/* The padded grid, whole on every rank; or in shares, with the transpose of the Fourier
 * coefficients there and back, and the potentials to all ranks. Between the two sizes at which it
 * was measured, the rate is a power of the size. */
static void fft_of(const task *t, ikt_cost *cost, const ikt_grid *grid) {
    const ikt_fft_settings *fft = &t->w->fft;
    const double nodes = (double)grid->nodes[0] * (double)grid->nodes[1];
    const double padded = (double)grid->padded[0] * (double)grid->padded[1];
    const double share = sharers_of(t, grid);
    const double number = fft->single ? sizeof(float) : sizeof(double);
    const double place = fmin(1, fmax(0, (log2(padded) - 20) / 4));
    work(t, cost, padded / share, fft_near * pow(fft_far / fft_near, place), t->m->fft * mega);
    if (share == 1) return;
    const double sent = number * (double)grid->padded[0] * (double)grid->nodes[1] / share;
    add(cost, 2, ikt_cost_messages(t->m, share - 1, sent * (share - 1) / share));
    concatenate(t, cost, 1, number * nodes);
}

static void spread(const task *t, ikt_cost *cost) {
    over_the_maps(t, cost, spread_of);
}

static void gather(const task *t, ikt_cost *cost) {
    over_the_maps(t, cost, gather_of);
}

static void grid_sum(const task *t, ikt_cost *cost) {
    over_the_maps(t, cost, grid_sum_of);
}

static void fft(const task *t, ikt_cost *cost) {
    over_the_maps(t, cost, fft_of);
}

/* Exact pairs that a point's nodes and near points cost as much as: measured on maps of 17,000 and
 * 100,000 points, 8,300 and 9,700 in three dimensions, 4,800 in two, 1,600 to 2,300 in one. And
 * those that building the tree costs a point, on every rank. */
static const double tree_pairs = 1000, tree_moves = 100;

/* By FFT: the bounds of the map, four numbers; the parts are stages of their own. Exact: m n pairs,
 * and everyone's position. By a tree: positions, and results. */
static void repulsion(const task *t, ikt_cost *cost) {
    const double evaluations = t->kernels * (t->early + t->late), positions = 4 * t->axes * t->n;
    ikt_cost one = {0};
    if (t->w->is_exact) {
        concatenate(t, &one, 1, positions);
        arithmetic(t, &one, t->rows * t->n, kernel_pair);
    } else if (t->w->settings.layout.repulsion == IKT_REPULSION_FFT) {
        add(&one, 1, ikt_cost_reduction(t->m, t->w->ranks, 32));
    } else {
        concatenate(t, &one, 1, positions);
        concatenate(t, &one, 1, 24 * t->n);
        one.seconds += tree_moves * t->n * kernel_pair / (t->m->multiply_adds * giga);
        arithmetic(t, &one, t->rows * fmin(t->n, tree_pairs * t->axes * t->axes), kernel_pair);
    }
    add(cost, evaluations, one);
}

/* A position, 4 bytes an axis, of each boundary row, in one message to each rank that shares a
 * boundary. */
static void halo(const task *t, ikt_cost *cost) {
    const double bytes = 4 * t->axes;
    if (t->w->is_dense)
        concatenate(t, cost, t->early + t->late, bytes * t->n);
    else
        add(cost, t->early + t->late,
            ikt_cost_messages(t->m, ikt_workload_partners(t->w),
                              bytes * ikt_workload_boundary(t->w)));
}

static void step(const task *t, ikt_cost *cost) {
    arithmetic(t, cost, (t->early + t->late) * t->rows * t->axes, moved_coordinate);
}

/* The loop's own: the sum Z, three integers, in every iteration; the sums of the divergence and of
 * the gradient's norm where they are reported. */
static void layout(const task *t, ikt_cost *cost) {
    const int ranks = t->w->ranks;
    arithmetic(t, cost, (t->early + t->late) * t->rows, summed_point);
    add(cost, t->early + t->late, ikt_cost_reduction(t->m, ranks, 24));
    add(cost, 2 * t->reports, ikt_cost_reduction(t->m, ranks, REDUCED_SUM_BYTES));
}

/* --- what comes out --------------------------------------------------------------------------- */

static void writing(const task *t, ikt_cost *cost) {
    cost->seconds += t->rows * 4 * t->axes / (t->m->file * mega);
}

/* Neighbours in the map, m log n, of everyone's positions and labels. Against the input: distances
 * of the queries to all rows, and their order, at about a tenth of the rate of distances. */
static void measures(const task *t, ikt_cost *cost) {
    const int wanted = t->w->settings.output.measures;
    const double queries = (t->n <= 20000 ? t->n : 2000) / t->w->ranks;
    if (wanted == IKT_MEASURES_NONE) return;
    gathering(t, cost, t->rows * log2(t->n), measured_point);
    concatenate(t, cost, 1, 16 * t->n);
    if (wanted != IKT_MEASURES_ALL) return;
    preprocess(t, cost);
    pass(t, cost, 1, true);
    gathering(t, cost, queries * t->n * ((double)t->w->columns + 100), searched_coordinate);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What each stage costs without those below it. */
static void (*const stages[IKT_STAGE_COUNT])(const task *,
                                             ikt_cost *) = {[IKT_STAGE_READ] = read_rows,
                                                            [IKT_STAGE_PREPROCESS] = preprocess,
                                                            [IKT_STAGE_PCA] = initial,
                                                            [IKT_STAGE_LANDMARKS] = landmarks,
                                                            [IKT_STAGE_CODES] = codes,
                                                            [IKT_STAGE_CELLS] = cells,
                                                            [IKT_STAGE_ORDER] = order,
                                                            [IKT_STAGE_RECALL] = recall,
                                                            [IKT_STAGE_NEIGHBOURS] = neighbours,
                                                            [IKT_STAGE_AFFINITY] = affinity,
                                                            [IKT_STAGE_GRAPH] = graph,
                                                            [IKT_STAGE_LAYOUT] = layout,
                                                            [IKT_STAGE_ATTRACTION] = attraction,
                                                            [IKT_STAGE_REPULSION] = repulsion,
                                                            [IKT_STAGE_SPREAD] = spread,
                                                            [IKT_STAGE_GRID_SUM] = grid_sum,
                                                            [IKT_STAGE_FFT] = fft,
                                                            [IKT_STAGE_GATHER] = gather,
                                                            [IKT_STAGE_HALO] = halo,
                                                            [IKT_STAGE_STEP] = step,
                                                            [IKT_STAGE_WRITE] = writing,
                                                            [IKT_STAGE_MEASURES] = measures};

ikt_time_plan ikt_time_plan_make(const ikt_workload *w, const ikt_workload *subset,
                                 const ikt_machine *machine) {
    const ikt_layout_settings *l = &w->settings.layout;
    const ikt_divergence *divergence = ikt_layout_objective(l)->divergence;
    const double gradients = (double)(l->iterations + 1),
                 early = (double)l->exaggeration_iterations;
    const task t = {.w = w,
                    .m = machine,
                    .n = (double)w->data.n,
                    .rows = (double)w->distribution.count,
                    .early = early,
                    .late = gradients - early,
                    .reports = (double)(l->iterations / l->report_every) + 1,
                    .axes = (double)l->dimensions,
                    .kernels = divergence ? divergence->n_kernels : 0};
    ikt_time_plan plan = {.gradients = gradients};
    /* A stage adds to those above it: the last ones before it that are less deep. */
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        ikt_cost own = {0};
        if (!stages[s]) continue;
        stages[s](&t, &own);
        if (s == IKT_STAGE_LANDMARKS && subset)
            add(&own, 1, ikt_time_plan_make(subset, NULL, machine).stage[IKT_STAGE_TOTAL]);
        int depth = ikt_stage_depth((ikt_stage)s) + 1;
        for (int above = s; above >= 0; above--)
            if (ikt_stage_depth((ikt_stage)above) < depth) {
                depth = ikt_stage_depth((ikt_stage)above);
                add(&plan.stage[above], 1, own);
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
    if (!w->is_dense) {
        out->affinity.search = w->is_near ? IKT_SEARCH_APPROXIMATE : IKT_SEARCH_EXACT;
        if (w->is_near) out->affinity.candidates = w->candidates;
    }
    if (!w->is_isolation) return;
    out->isolation.psi = w->psi;
    out->isolation.pool = w->model.pool;
}
