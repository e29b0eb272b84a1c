/* What a search for neighbours will hold. See task.h. */
#include "plan/task.h"

#include "base/sort.h"
#include "dist/order.h"
#include "metric/metric.h"
#include "metric/quantise.h"
#include "neighbours/byte_lists.h"
#include "neighbours/exact.h"
#include "neighbours/fine.h"
#include "neighbours/foreign.h"
#include "neighbours/local_join.h"
#include "neighbours/neighbours.h"
#include "neighbours/search.h"
#include "neighbours/second_neighbours.h"

/* A row as 16-bit integers, which a search by Euclidean distances has beside it. */
static int64_t quantised_bytes(const ikt_workload *w) {
    const bool is_euclidean = w->scores != IKT_SCORES_CODES && !w->rows.is_manhattan;
    return when(is_euclidean, ikt_quantised_size(w->columns, 16) * (int64_t)sizeof(int32_t) / 16);
}

/* Centres of the cells that are looked into: as they are and packed, and their order. */
static int64_t centres_bytes(const ikt_workload *w) {
    const int64_t near = w->model.near, n_local = w->distribution.count;
    if (near > 0)
        return ikt_fine_cells_memory(w->centres) + n_local * near * (int64_t)sizeof(uint32_t);
    if (w->rows.is_sparse)
        return ikt_sparse_pack_bytes(w->cells, (int64_t)((double)w->cells * w->rows.entries)) +
               2 * w->cells * ikt_workload_row_bytes(w);
    return 3 * w->cells * w->columns * (int64_t)sizeof(float);
}

/* A round of refinement. */
static int64_t round_bytes(const ikt_workload *w, int64_t k, int64_t single) {
    const int64_t n_local = w->distribution.count, bytes = ikt_workload_searched_bytes(w);
    const int64_t scored =
        ikt_second_neighbours_score_memory(n_local, k, bytes, single, w->ranks, w->threads);
    const int64_t joined = ikt_local_join_memory(n_local, bytes, w->columns, w->ranks, w->threads);
    return when(w->rounds > 0, ikt_workload_is_joined(w) ? joined : scored);
}

/* The same, of rows as bytes, in place of rows and lists: the rows, and the lists, which are
 * longer, through passes and rounds; in the end the rows themselves, for the distances that decide.
 */
static int64_t byte_search_bytes(const ikt_workload *w) {
    const int64_t n_local = w->distribution.count, row = ikt_workload_searched_bytes(w);
    const int64_t k = ikt_byte_lists_length(w->distribution.n, w->k);
    const int64_t lists = ikt_neighbours_memory(n_local, k), rows = n_local * row;
    const int64_t moved = ikt_order_memory_transfer(n_local);
    const int64_t names = when(w->ranks > 1, 8 * n_local * k);
    const ikt_search_shape shape = {w->cells, w->candidates, k, row, row, w->threads};
    const ikt_fetching fetching = ikt_workload_fetching(w);
    const double most = fetching.blocks * (double)(w->candidates * 2 * row);
    const int64_t fetched = (int64_t)(fetching.most * 2 * (double)row - most);
    const int64_t searched = ikt_larger(ikt_search_memory(&shape) + fetched, moved + names);
    const int64_t pass = ikt_byte_lists_memory(&w->distribution, w->k, w->columns) +
                         ikt_order_memory(n_local) + centres_bytes(w) + searched;
    const int64_t own = w->columns * (ikt_workload_has_halves(w) ? (int64_t)sizeof(uint16_t)
                                                                 : (int64_t)sizeof(float));
    const int64_t batch = when(w->ranks > 1, 2 * IKT_FOREIGN_BYTES);
    return ikt_larger(ikt_larger(pass, rows + lists + round_bytes(w, k, 0)),
                      n_local * own + lists + ikt_neighbours_memory(n_local, w->k) +
                          ikt_larger(moved, batch));
}

/* The search among near cells and its refinement, without the most that a batch may fetch, but with
 * what it usually does, here and there. */
static int64_t near_search_bytes(const ikt_workload *w) {
    const int64_t n_local = w->distribution.count, bytes = ikt_workload_searched_bytes(w);
    const int64_t quantised = quantised_bytes(w), fetched = bytes + quantised;
    const ikt_fetching fetching = ikt_workload_fetching(w);
    const double most = fetching.blocks * (double)(w->candidates * fetched);
    /* What others asked for is copied on its way; later the rows are there, quantised, too. */
    const double usual = fetching.most * (double)ikt_larger(2 * bytes, fetched);
    const ikt_search_shape shape = {w->cells, w->candidates, w->k, bytes, quantised, w->threads};
    const int64_t searched =
        w->model.near > 0
            ? ikt_fine_search_memory(n_local, w->candidates, bytes, w->ranks, w->threads)
            : ikt_search_memory(&shape) + (int64_t)(usual - most) + n_local * quantised;
    const int64_t single =
        when(quantised > 0, ikt_quantised_row(w->columns) * (int64_t)sizeof(int32_t));
    /* What a pass before the last one has of its own while it searches; for a checkpoint its lists
     * are brought to the slots meanwhile, with names of other ranks. */
    const int64_t pass =
        ikt_neighbours_memory(n_local, w->k) + ikt_order_memory(n_local) + centres_bytes(w);
    const int64_t names = when(w->ranks > 1, 8 * n_local * w->k);
    const int64_t brought = ikt_order_memory_transfer(n_local) + names;
    const int64_t passes = when(w->passes > 1, pass + searched + brought);
    return ikt_larger(ikt_larger(searched, passes), round_bytes(w, w->k, single));
}

int64_t ikt_plan_search_bytes(const ikt_workload *w) {
    const int64_t n_local = w->distribution.count;
    const bool has_other = !w->is_listed || w->scores == IKT_SCORES_CLASSES || w->has_matrix;
    if (w->scores == IKT_SCORES_NONE) return 0;
    if (!w->is_near) return has_other ? 0 : ikt_exact_memory(&w->distribution, w->k);
    const int64_t order = centres_bytes(w) + ikt_order_memory(n_local);
    const int64_t slices = ikt_order_memory_transfer(n_local);
    if (ikt_workload_has_bytes(w)) return order + byte_search_bytes(w);
    if (w->is_whole) return order + slices;
    const bool is_distant = w->scores == IKT_SCORES_DISTANCES; /* lists are made before */
    const int64_t moved = is_distant ? n_local * ikt_workload_row_bytes(w) : slices;
    const int64_t more =
        ikt_larger(moved - ikt_neighbours_memory(n_local, w->k), when(is_distant, slices));
    return order + ikt_larger(more, near_search_bytes(w));
}
