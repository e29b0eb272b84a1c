/* P of uniform weights, which needs no values.
 *
 * Where every neighbour of a row counts the same, p_ij is one number for two rows of which one has
 * the other among its neighbours, and twice that for two that have each other.
 * Method: the least value of all ranks; where every entry holds that or twice that, a bit an entry
 * takes the place of the values. Advantage: 4 bytes and a bit an entry in place of 8, with the same
 * numbers; and nobody has to say beforehand that weights are uniform, so that graphs from files
 * are, too. Disadvantage: the values are there while P is made. */
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "graph/graph.h"

/* LOCAL. The least value of a part; INFINITY where it has none. */
static float least_of(ikt_context *ctx, const ikt_csr *part, int64_t entries) {
    float least = INFINITY;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(min : least)
    for (int64_t e = 0; e < entries; e++)
        least = part->value[e] < least ? part->value[e] : least;
    return least;
}

/* LOCAL. Entries that are neither `once` nor twice that. */
static int64_t count_others(ikt_context *ctx, const ikt_csr *part, int64_t entries, float once) {
    const float twice = 2 * once;
    int64_t others = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(+ : others)
    for (int64_t e = 0; e < entries; e++)
        others += part->value[e] != once && part->value[e] != twice;
    return others;
}

/* LOCAL. Bits in place of the values of a part; its entries hold `once` or twice that. */
static ikt_status drop_values(ikt_context *ctx, ikt_csr *part, int64_t entries, float once) {
    const int64_t bytes = entries / 8 + IKT_TWICE_SPARE;
    IKT_TRY(ikt_alloc(ctx, &part->twice, bytes, 1, "graph"));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t b = 0; b < bytes; b++)
        for (int64_t e = 8 * b; e < 8 * b + 8 && e < entries; e++)
            part->twice[b] |= (uint8_t)((part->value[e] > once) << (e % 8));
    part->once = once;
    ikt_free(&part->value);
    return IKT_OK;
}

ikt_status ikt_graph_drop_values(ikt_context *ctx, ikt_graph *graph) {
    ikt_csr *const parts[] = {&graph->forward, &graph->reverse};
    const int64_t n = graph->rows.count;
    int64_t others = 0;
    double most = -INFINITY; /* the least one, with a minus sign */
    for (int p = 0; p < 2; p++)
        most = fmax(most, -(double)least_of(ctx, parts[p], parts[p]->start[n]));
    ikt_max_f64(ctx, &most, 1);
    const float once = (float)-most;
    for (int p = 0; p < 2; p++)
        others += count_others(ctx, parts[p], parts[p]->start[n], once);
    if (ikt_sum_one(ctx, others) > 0) return IKT_OK;
    ikt_status st = drop_values(ctx, parts[0], parts[0]->start[n], once);
    if (st == IKT_OK) st = drop_values(ctx, parts[1], parts[1]->start[n], once);
    return ikt_agree(ctx, st);
}
