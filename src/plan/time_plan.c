/* Operation counts of the stages. See time_plan.h. The table of stages is at the end.
 *
 * n, m: rows in all and of the rank; d columns of the file, c of what the kernels read; T threads,
 * R ranks; k neighbours; rates of machine.h are per thread. */
#include "plan/time_plan.h"

#include <math.h>

#include "isolation/tree.h"
#include "kernelsum/slabs.h"
#include "kernelsum/spread.h"
#include "objective/divergence.h"
#include "neighbours/nearest_cell.h"
#include "neighbours/refine.h"

static const double giga = 1e9, mega = 1e6, micro = 1e-6;

enum { REDUCED_SUM_BYTES = 560, SAMPLES = 8 };

/* --- transfers -------------------------------------------------------------------------------- */

static double doublings(int ranks) {
    return ceil(log2((double)ranks));
}

ikt_cost ikt_cost_reduction(const ikt_machine *m, int ranks, double bytes) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    double moved = 2 * bytes * (ranks - 1) / ranks;
    return (ikt_cost){2 * doublings(ranks) * m->latency * micro + moved / (m->reduction * giga),
                      bytes, 0, 1};
}

ikt_cost ikt_cost_concatenation(const ikt_machine *m, int ranks, double bytes) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    double moved = bytes * (ranks - 1) / ranks;
    return (ikt_cost){doublings(ranks) * m->latency * micro + moved / (m->bandwidth * giga),
                      bytes / ranks, 0, 1};
}

ikt_cost ikt_cost_scatter(const ikt_machine *m, int ranks, double bytes) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    double moved = bytes * (ranks - 1) / ranks;
    return (ikt_cost){doublings(ranks) * m->latency * micro + moved / (m->reduction * giga), bytes,
                      0, 1};
}

ikt_cost ikt_cost_messages(const ikt_machine *m, double messages, double bytes) {
    return (ikt_cost){messages * m->latency * micro + bytes / (m->bandwidth * giga), bytes,
                      messages, 0};
}

static ikt_cost sum(ikt_cost a, ikt_cost b) {
    return (ikt_cost){a.seconds + b.seconds, a.bytes_sent + b.bytes_sent, a.messages + b.messages,
                      a.collectives + b.collectives};
}

static ikt_cost times(double count, ikt_cost a) {
    return (ikt_cost){count * a.seconds, count * a.bytes_sent, count * a.messages,
                      count * a.collectives};
}

static ikt_cost seconds(double value) {
    return (ikt_cost){.seconds = value};
}

/* `count` operations at `rate` per second and thread. */
static ikt_cost work(const ikt_workload *w, double count, double rate) {
    return seconds(count / (rate * w->threads));
}

static double rows_of(const ikt_workload *w) {
    return (double)w->distribution.count;
}

/* Rows of so many bytes brought to their positions: all but 1/R of them on another rank, in slices
 * of 64 bytes. */
static ikt_cost move(const ikt_workload *w, const ikt_machine *m, int64_t bytes) {
    double away = (double)(w->ranks - 1) / w->ranks, slices = ceil((double)bytes / 64);
    return ikt_cost_messages(m, slices * (w->ranks - 1), away * rows_of(w) * (double)bytes);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Column of an entry of a sparse row. */
enum { INDEX_BYTES = 4 };

/* One pass over the own rows: m d values from the file; brought to scale unless they stay bytes;
 * and projected, m d c multiply-adds, where they are reduced. */
static ikt_cost pass(const ikt_workload *w, const ikt_machine *m, bool reduced) {
    double values = rows_of(w) * (w->data.is_sparse ? w->data.entries : (double)w->data.d);
    double bytes = (double)ikt_type_size(w->data.type) + (w->data.is_sparse ? INDEX_BYTES : 0);
    ikt_cost cost = seconds(values * bytes / (m->file * mega));
    if (!w->is_u8) cost = sum(cost, work(w, values, m->rows * mega));
    if (reduced && w->settings.preprocess.pca > 0)
        cost = sum(cost, work(w, values * (double)w->columns, m->projection * giga));
    return cost;
}

/* Principal components of a share of the own rows, which have `columns` columns: two passes,
 * columns^2 / 2 multiply-adds a row, columns^3 on one thread, and the upper triangle summed over
 * ranks. */
static ikt_cost components(const ikt_workload *w, const ikt_machine *m, double share,
                           double columns, bool reduced) {
    double triangle = columns * (columns + 1) / 2;
    ikt_cost cost = times(2 * share, pass(w, m, reduced));
    cost = sum(cost, work(w, share * rows_of(w) * triangle, m->covariance * giga));
    cost = sum(cost, seconds(columns * columns * columns / (m->eigen * giga)));
    return sum(cost, ikt_cost_reduction(m, w->ranks, 8 * triangle));
}

/* Statistics of the columns, where rows are brought to scale; components, where they are reduced.
 */
static ikt_cost preprocess(const ikt_workload *w, const ikt_machine *m) {
    ikt_cost cost = seconds(0);
    if (!w->is_u8) cost = pass(w, m, false);
    if (w->settings.preprocess.pca > 0)
        cost = sum(cost, components(w, m, 1, (double)w->data.d, false));
    return cost;
}

/* Of sparse rows: products of every two of a sample, of which each is as good as an entry looked
 * up; their eigenvectors; and the scores of all. */
static ikt_cost initial_sparse(const ikt_workload *w, const ikt_machine *m) {
    const double sample = fmin(IKT_START_SPARSE_ROWS, (double)w->data.n);
    const double products = sample * sample / w->ranks * w->rows.entries;
    const double scored = rows_of(w) * w->rows.entries * (double)w->settings.layout.dimensions;
    ikt_cost cost = sum(work(w, products + scored, m->postings * mega), pass(w, m, true));
    cost = sum(cost, seconds(sample * sample * sample / (m->eigen * giga)));
    return sum(cost, ikt_cost_concatenation(m, w->ranks, 8 * sample * sample));
}

/* The first positions: some components of a sample of the rows, and the scores of all. */
static ikt_cost initial(const ikt_workload *w, const ikt_machine *m) {
    if (w->settings.layout.init != IKT_INIT_PCA) return seconds(0);
    if (w->rows.is_sparse) return initial_sparse(w, m);
    double columns = (double)w->columns, share = fmin(1, IKT_START_ROWS / (double)w->data.n);
    ikt_cost cost = sum(components(w, m, share, columns, true), pass(w, m, true));
    double scored = 8 * (double)w->settings.layout.dimensions; /* eight lanes a component */
    return sum(cost, work(w, scored * rows_of(w) * columns, m->projection * giga));
}

/* Of an entry in the file: a column and a value, 4 or 8 bytes each. */
static const double file_entry_bytes = 12;

/* A graph is read twice, for its checksum and for its weights; where it is ordered, its entries
 * move to their positions. */
static ikt_cost graph_file(const ikt_workload *w, const ikt_machine *m) {
    double entries = rows_of(w) * (double)w->k;
    ikt_cost cost = seconds(2 * entries * file_entry_bytes / (m->file * mega));
    return w->is_near ? sum(cost, move(w, m, 8 * w->k)) : cost;
}

/* The Gaussian kernel holds its rows; where they are ordered, those that change rank are sent. */
static ikt_cost reading(const ikt_workload *w, const ikt_machine *m) {
    if (w->is_given) return graph_file(w, m);
    if (w->is_isolation) return seconds(0);
    return sum(pass(w, m, true), w->is_near ? move(w, m, ikt_workload_row_bytes(w)) : seconds(0));
}

/* --- from rows to P --------------------------------------------------------------------------- */

/* Every row goes down every tree, and they are grown on every rank: each sampled row goes down its
 * own. */
static ikt_cost trees(const ikt_workload *w, const ikt_machine *m) {
    double rows = rows_of(w) + (double)w->psi, steps = (double)w->t * ikt_tree_depth(w->psi);
    double sampled = (double)w->compared * (double)ikt_workload_row_bytes(w);
    ikt_cost cost = sum(work(w, rows * steps, m->trees * mega), pass(w, m, true));
    return sum(cost, ikt_cost_concatenation(m, w->ranks, sampled));
}

/* One distance of c coordinates for each row and centre that it is compared with: t psi, or the
 * distinct ones, of whose values lists are kept. The centres come from all ranks. */
static ikt_cost coding(const ikt_workload *w, const ikt_machine *m) {
    double centres = (double)w->compared, bytes = (double)ikt_workload_row_bytes(w);
    double rate = w->is_u8 ? m->codes_u8 : m->codes_f32;
    ikt_cost cost = work(w, rows_of(w) * centres * (double)w->columns, rate * giga);
    if (w->has_lists) {
        cost = sum(cost, work(w, rows_of(w) * centres, m->lists * mega));
        cost = sum(cost, work(w, rows_of(w) * (double)w->t, m->walks * mega));
    }
    cost = sum(cost, pass(w, m, true));
    return sum(cost, ikt_cost_concatenation(m, w->ranks, centres * bytes));
}

/* Columns that each row shares with the centres are looked up, and their values go to lists or are
 * looked through, partitioning by partitioning. */
static ikt_cost coding_sparse(const ikt_workload *w, const ikt_machine *m) {
    const double distinct = fmin((double)w->compared, (double)w->model.n),
                 centres = (double)(w->psi * w->t);
    ikt_cost cost = work(w, rows_of(w) * distinct * ikt_workload_overlap(w), m->postings * mega);
    if (w->has_lists) {
        cost = sum(cost, work(w, rows_of(w) * distinct, m->lists * mega));
        cost = sum(cost, work(w, rows_of(w) * (double)w->t, m->walks * mega));
    } else {
        cost = sum(cost, work(w, rows_of(w) * centres, m->lists * mega));
    }
    cost = sum(cost, pass(w, m, true));
    return sum(cost,
               ikt_cost_concatenation(m, w->ranks, distinct * (double)ikt_workload_row_bytes(w)));
}

static ikt_cost codes(const ikt_workload *w, const ikt_machine *m) {
    if (!w->is_isolation) return seconds(0);
    if (w->rows.is_sparse) return coding_sparse(w, m);
    return w->is_forest ? trees(w, m) : coding(w, m);
}

/* Coordinates of a distance between centres: sixteen sparse rows have some ten times the columns of
 * one together. */
static double compared_columns(const ikt_workload *w) {
    const double columns = (double)w->columns;
    return w->rows.is_sparse ? fmin(columns, 10 * w->rows.entries) : columns;
}

/* The order of the C cells, C log C coordinates of d, on one thread; and the cell of each row,
 * where it does not come with the codes. */
static ikt_cost cells(const ikt_workload *w, const ikt_machine *m) {
    if (!w->is_near || w->is_given) return seconds(0);
    double count = (double)w->cells, c = compared_columns(w);
    ikt_cost cost = seconds(count * log2(count) * c / (m->locality * giga));
    if (!w->is_isolation || w->is_forest) {
        double compared = (double)ikt_nearest_cell_compared(w->cells);
        cost = sum(cost, pass(w, m, true));
        cost = sum(cost, work(w, rows_of(w) * compared * c, m->nearest_cell * giga));
    }
    cost = sum(cost, ikt_cost_reduction(m, w->ranks, 8 * count));
    return sum(cost,
               ikt_cost_concatenation(m, w->ranks, count * (double)ikt_workload_row_bytes(w)));
}

/* Codes to their positions, and the map there and back. */
static ikt_cost order(const ikt_workload *w, const ikt_machine *m) {
    if (!w->is_near) return seconds(0);
    ikt_cost cost = times(2, move(w, m, 8));
    return w->is_isolation ? sum(cost, move(w, m, ikt_workload_searched_bytes(w))) : cost;
}

/* Pairs of rows: bytes of codes compared, or squared differences. */
static ikt_cost pairs(const ikt_workload *w, const ikt_machine *m, double count) {
    double bytes = (double)ikt_workload_searched_bytes(w);
    return w->is_isolation ? work(w, count * bytes, m->similarity * giga)
                           : work(w, count * (double)w->columns, m->distance * giga);
}

/* Each row against every landmark, and a pass over rows that are not coded; their own embedding is
 * a plan of its own. */
static ikt_cost landmarks(const ikt_workload *w, const ikt_machine *m) {
    if (w->landmarks == 0) return seconds(0);
    double count = (double)w->landmarks, bytes = (double)ikt_workload_searched_bytes(w);
    ikt_cost cost = pairs(w, m, rows_of(w) * count);
    if (!w->is_isolation) cost = sum(cost, pass(w, m, true));
    return sum(cost, ikt_cost_concatenation(m, w->ranks, count * bytes));
}

/* All pairs: blocks of 1024 rows go round the ring of ranks. */
static ikt_cost all_pairs(const ikt_workload *w, const ikt_machine *m) {
    double foreign = (double)w->data.n - rows_of(w), blocks = ceil(rows_of(w) / 1024);
    double bytes = (double)ikt_workload_searched_bytes(w);
    return sum(pairs(w, m, rows_of(w) * (double)w->data.n),
               ikt_cost_messages(m, blocks * (w->ranks - 1), foreign * bytes));
}

/* The candidates of each row: distances, looking at their cells, and keeping some; of codes all
 * three. And the neighbours of neighbours. */
static ikt_cost compare_near(const ikt_workload *w, const ikt_machine *m) {
    double near = (double)IKT_REFINE_NEAR, rounds = (double)w->settings.affinity.refinements;
    double pairs_near = rows_of(w) * (double)w->candidates, c = (double)w->columns;
    ikt_cost cost = work(w, rounds * rows_of(w) * near * near, m->refine * mega);
    if (w->is_isolation) return sum(cost, pairs(w, m, pairs_near));
    cost = sum(cost, work(w, pairs_near * c, m->distance_block * giga));
    cost = sum(cost, work(w, pairs_near * (double)w->cells / (double)w->data.n, m->probes * mega));
    return sum(cost, work(w, rows_of(w) * (double)w->k, m->keeps * mega));
}

/* And a distance of each own cell to every centre. Blocks of other ranks come as often as they are
 * wanted by another batch of own blocks. */
static ikt_cost near_pairs(const ikt_workload *w, const ikt_machine *m) {
    double count = (double)w->cells, c = compared_columns(w);
    ikt_cost cost = compare_near(w, m);
    cost = sum(cost, work(w, count * count / w->ranks * c, m->distance_block * giga));
    double fetched = ikt_workload_fetched(w), bytes = (double)ikt_workload_searched_bytes(w);
    return sum(cost, ikt_cost_messages(m, 2 * ikt_workload_batches(w) * ikt_workload_partners(w),
                                       fetched * bytes));
}

static ikt_cost neighbours(const ikt_workload *w, const ikt_machine *m) {
    if (w->is_dense || w->is_given) return seconds(0);
    return w->is_near ? near_pairs(w, m) : all_pairs(w, m);
}

/* 1,000 rows against all. */
static ikt_cost recall(const ikt_workload *w, const ikt_machine *m) {
    if (!w->is_near || w->is_given) return seconds(0);
    double sample = 1000, bytes = (double)ikt_workload_searched_bytes(w);
    return sum(pairs(w, m, sample * rows_of(w)),
               ikt_cost_concatenation(m, w->ranks, sample * bytes));
}

/* m k weights, or of all pairs; those of the Gaussian kernel are searched for. */
static ikt_cost affinity(const ikt_workload *w, const ikt_machine *m) {
    double entries = rows_of(w) * (double)(w->is_dense ? w->data.n : w->k);
    bool is_sought = w->is_given ? w->settings.affinity.graph.values == IKT_EDGES_DISTANCES
                                 : ikt_affinity_of(&w->settings.affinity)->is_sought;
    ikt_cost cost = is_sought ? work(w, entries, m->weights * mega) : seconds(0);
    return w->is_dense ? sum(cost, all_pairs(w, m)) : cost;
}

/* m k entries sent to the owner of their column, and those without a partner once more, 12 bytes
 * each; batches of 2^21. */
static ikt_cost graph(const ikt_workload *w, const ikt_machine *m) {
    if (w->is_dense) return seconds(0);
    double entries = rows_of(w) * (double)w->k, sent = entries * ikt_workload_symmetric_share();
    double others = (double)(w->ranks - 1), batches = ceil(entries / (1 << 21));
    ikt_cost cost = work(w, entries, m->symmetrise * mega);
    return sum(cost, ikt_cost_messages(m, 2 * batches * others, 12 * sent * ikt_workload_cut(w)));
}

/* --- the loop --------------------------------------------------------------------------------- */

static double early(const ikt_workload *w) {
    return (double)w->settings.layout.exaggeration_iterations;
}

static double late(const ikt_workload *w) {
    return (double)(w->settings.layout.iterations + 1) - early(w);
}

/* Of P on the rank: m symmetric_share k; or m n. */
static double entries_of(const ikt_workload *w) {
    return rows_of(w) *
           (w->is_dense ? (double)w->data.n : ikt_workload_symmetric_share() * (double)w->k);
}

static double reports(const ikt_workload *w) {
    return floor((early(w) + late(w) - 1) / (double)w->settings.layout.report_every) + 1;
}

/* Entries a second: the more rows, the farther away their positions lie. Between the two sizes at
 * which it was measured, and some way beyond, the rate is a power of the rows. */
static double attraction_rate(const ikt_workload *w, const ikt_machine *m) {
    double place = fmin(2.5, fmax(-1, (log2(rows_of(w)) - 16) / 3));
    return m->attraction_near * pow(m->attraction_far / m->attraction_near, place) * mega;
}

/* Its pass over P computes the divergence, too, where that is reported. */
static ikt_cost attraction(const ikt_workload *w, const ikt_machine *m) {
    /* Dense P and exact sums of t-SNE are one pass, counted as repulsion. */
    if (w->is_dense && w->is_exact && w->settings.layout.objective == IKT_OBJECTIVE_TSNE)
        return seconds(0);
    return sum(times(early(w) + late(w), work(w, entries_of(w), attraction_rate(w, m))),
               times(reports(w), work(w, entries_of(w), m->divergence * mega)));
}

/* Sum of a cost over all iterations, where it depends on the size of the map. */
static ikt_cost over_the_maps(const ikt_workload *w, const ikt_machine *m,
                              ikt_cost (*of_grid)(const ikt_workload *, const ikt_machine *,
                                                  const ikt_grid *)) {
    ikt_grid grid = ikt_workload_grid(w, ikt_workload_span(w, 0));
    ikt_cost cost = times(early(w), of_grid(w, m, &grid));
    for (int s = 0; s < SAMPLES; s++) {
        grid = ikt_workload_grid(w, ikt_workload_span(w, (s + 0.5) / SAMPLES));
        cost = sum(cost, times(late(w) / SAMPLES, of_grid(w, m, &grid)));
    }
    return cost;
}

static bool has_grid(const ikt_workload *w) {
    return w->settings.layout.repulsion == IKT_REPULSION_FFT;
}

/* Kernels that are summed over all pairs. */
static double kernels(const ikt_workload *w) {
    const ikt_divergence *divergence = ikt_layout_objective(&w->settings.layout)->divergence;
    return divergence ? divergence->n_kernels : 0;
}

static double axes(const ikt_workload *w) {
    return (double)w->settings.layout.dimensions;
}

static ikt_cost spread(const ikt_workload *w, const ikt_machine *m) {
    if (!has_grid(w)) return seconds(0);
    return times(kernels(w) * (early(w) + late(w)), work(w, rows_of(w), m->spread * mega));
}

static ikt_cost gather(const ikt_workload *w, const ikt_machine *m) {
    if (!has_grid(w)) return seconds(0);
    return times(kernels(w) * (early(w) + late(w)), work(w, rows_of(w), m->gather * mega));
}

static int sharers_of(const ikt_workload *w, const ikt_grid *grid) {
    return ikt_slabs_sharers(&w->fft, grid, w->ranks);
}

/* Eight bytes for each node of the grid, to all ranks or each row of nodes to one that shares. */
static ikt_cost grid_sum_of(const ikt_workload *w, const ikt_machine *m, const ikt_grid *grid) {
    double bytes = 8 * (double)(ikt_charge_stride(grid, w->fft.order) * grid->nodes[1]);
    return sharers_of(w, grid) == 1 ? ikt_cost_reduction(m, w->ranks, bytes)
                                    : ikt_cost_scatter(m, w->ranks, bytes);
}

static ikt_cost grid_sum(const ikt_workload *w, const ikt_machine *m) {
    return has_grid(w) ? times(kernels(w), over_the_maps(w, m, grid_sum_of)) : seconds(0);
}

/* Between the two sizes at which it was measured, the rate is a power of the size. */
static double fft_rate(const ikt_machine *m, double nodes) {
    double place = fmin(1, fmax(0, (log2(nodes) - 20) / 4));
    return pow(m->fft_near, 1 - place) * pow(m->fft_far, place) * mega;
}

/* The padded grid, whole on every rank; or in shares, with the transpose of the waves of nodes that
 * hold charges there and back, and the potentials to all ranks. */
static ikt_cost fft_of(const ikt_workload *w, const ikt_machine *m, const ikt_grid *grid) {
    double nodes = (double)grid->nodes[0] * (double)grid->nodes[1], share = sharers_of(w, grid);
    double padded = (double)grid->padded[0] * (double)grid->padded[1];
    double number = w->fft.single ? sizeof(float) : sizeof(double);
    ikt_cost cost = work(w, padded / share, fft_rate(m, padded));
    if (share == 1) return cost;
    double waves = number * (double)grid->padded[0] * (double)grid->nodes[1] / share;
    ikt_cost transpose = ikt_cost_messages(m, share - 1, waves * (share - 1) / share);
    return sum(sum(cost, times(2, transpose)), ikt_cost_concatenation(m, w->ranks, number * nodes));
}

static ikt_cost fft(const ikt_workload *w, const ikt_machine *m) {
    return has_grid(w) ? times(kernels(w), over_the_maps(w, m, fft_of)) : seconds(0);
}

/* Exact pairs that a point's nodes and near points cost as much as: measured on maps of 17,000 and
 * 100,000 points, 8,300 and 9,700 in three dimensions, 4,800 in two, 1,600 to 2,300 in one. And
 * those that building the tree costs a point, on every rank. */
static const double tree_pairs = 1000, tree_moves = 100;

static ikt_cost tree(const ikt_workload *w, const ikt_machine *m) {
    const double n = (double)w->data.n, shared = fmin(n, tree_pairs * axes(w) * axes(w));
    ikt_cost cost = ikt_cost_concatenation(m, w->ranks, 4 * axes(w) * n);
    cost = sum(cost, ikt_cost_concatenation(m, w->ranks, 24 * n));
    cost = sum(cost, seconds(tree_moves * n / (m->kernel * mega)));
    return sum(cost, work(w, rows_of(w) * shared, m->kernel * mega));
}

/* By FFT: the bounds of the map, four numbers; the parts are stages of their own. Exact: m n pairs,
 * and everyone's position. By a tree: positions, and results. */
static ikt_cost repulsion(const ikt_workload *w, const ikt_machine *m) {
    ikt_cost cost = ikt_cost_reduction(m, w->ranks, 32);
    if (w->is_exact) {
        cost = ikt_cost_concatenation(m, w->ranks, 4 * axes(w) * (double)w->data.n);
        cost = sum(cost, work(w, rows_of(w) * (double)w->data.n, m->kernel * mega));
    } else if (!has_grid(w)) {
        cost = tree(w, m);
    }
    return times(kernels(w) * (early(w) + late(w)), cost);
}

/* A position, 4 bytes an axis, of each boundary row, in one message to each rank that shares a
 * boundary. */
static ikt_cost halo(const ikt_workload *w, const ikt_machine *m) {
    ikt_cost cost = w->is_dense
                        ? ikt_cost_concatenation(m, w->ranks, 4 * axes(w) * (double)w->data.n)
                        : ikt_cost_messages(m, ikt_workload_partners(w),
                                            4 * axes(w) * ikt_workload_boundary(w));
    return times(early(w) + late(w), cost);
}

static ikt_cost step(const ikt_workload *w, const ikt_machine *m) {
    return times(early(w) + late(w), work(w, axes(w) / 2 * rows_of(w), m->step * mega));
}

/* The loop's own: the sum Z, three integers, in every iteration; the sums of the divergence and of
 * the gradient's norm where they are reported. */
static ikt_cost layout(const ikt_workload *w, const ikt_machine *m) {
    ikt_cost each = sum(work(w, rows_of(w), m->sums * mega), ikt_cost_reduction(m, w->ranks, 24));
    ikt_cost report = times(2, ikt_cost_reduction(m, w->ranks, REDUCED_SUM_BYTES));
    return sum(times(early(w) + late(w), each), times(reports(w), report));
}

/* --- what comes out --------------------------------------------------------------------------- */

static ikt_cost writing(const ikt_workload *w, const ikt_machine *m) {
    return seconds(rows_of(w) * 4 * axes(w) / (m->file * mega));
}

/* Neighbours in the map, m log n, of everyone's positions and labels. Against the input: distances
 * of the queries to all rows, and their order, at about a tenth of the rate of distances. */
static ikt_cost measures(const ikt_workload *w, const ikt_machine *m) {
    double n = (double)w->data.n, c = (double)w->columns;
    if (w->settings.output.measures == IKT_MEASURES_NONE) return seconds(0);
    ikt_cost cost = work(w, rows_of(w) * log2(n), m->measures * mega);
    cost = sum(cost, ikt_cost_concatenation(m, w->ranks, 16 * n));
    if (w->settings.output.measures == IKT_MEASURES_ALL) {
        double queries = (n <= 20000 ? n : 2000) / w->ranks;
        cost = sum(cost, sum(preprocess(w, m), pass(w, m, true)));
        cost = sum(cost, work(w, queries * n * (c + 100), m->distance * giga));
    }
    return cost;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What each stage costs without those below it. */
static ikt_cost (*const stages[IKT_STAGE_COUNT])(const ikt_workload *, const ikt_machine *) = {
    [IKT_STAGE_READ] = reading,
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
    ikt_time_plan plan = {.gradients = early(w) + late(w)};
    /* A stage adds to those above it: the last ones before it that are less deep. */
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        if (!stages[s]) continue;
        ikt_cost own = stages[s](w, machine);
        if (s == IKT_STAGE_LANDMARKS && subset)
            own = sum(own, ikt_time_plan_make(subset, NULL, machine).stage[IKT_STAGE_TOTAL]);
        int depth = ikt_stage_depth((ikt_stage)s) + 1;
        for (int above = s; above >= 0; above--)
            if (ikt_stage_depth((ikt_stage)above) < depth) {
                depth = ikt_stage_depth((ikt_stage)above);
                plan.stage[above] = sum(plan.stage[above], own);
            }
    }
    return plan;
}

ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan) {
    return times(1 / plan->gradients, plan->stage[IKT_STAGE_LAYOUT]);
}
