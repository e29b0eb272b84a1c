/* P of uniform weights, which needs no values.
 *
 * Where every neighbour of a row counts the same, p_ij is one number for two rows of which one has
 * the other among its neighbours, and twice that for two that have each other.
 * Method: where every entry of a part holds the least value of the part or twice that, a bit an
 * entry takes the place of the values. Advantage: 4 bytes and a bit an entry in place of 8, with
 * the same numbers; and nobody has to say beforehand that weights are uniform, so that graphs from
 * files are, too. Disadvantage: the values are there while P is made. */
#include <math.h>

#include "base/arrays.h"
#include "graph/graph.h"

/* Whether all entries hold the least value, which `once` receives, or twice that. The largest one
 * tells of most weights that they do not, without a second look at each. */
static bool is_uniform(ikt_context *ctx, const float *value, int64_t entries, float *once) {
    float most = -INFINITY, below = -INFINITY; /* the least with a minus sign */
    int64_t others = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(max : most, below)
    for (int64_t e = 0; e < entries; e++) {
        most = value[e] > most ? value[e] : most;
        below = -value[e] > below ? -value[e] : below;
    }
    const float least = -below;
    *once = least;
    if (entries > 0 && most != least && most != 2 * least) return false;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(+ : others)
    for (int64_t e = 0; e < entries; e++)
        others += value[e] != least && value[e] != 2 * least;
    return others == 0;
}

ikt_status ikt_csr_drop_values(ikt_context *ctx, ikt_csr *part, int64_t entries) {
    const int64_t bytes = entries / 8 + IKT_TWICE_SPARE;
    float once;
    if (!is_uniform(ctx, part->value, entries, &once)) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &part->twice, bytes, 1, "graph"));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t b = 0; b < bytes; b++)
        for (int64_t e = 8 * b; e < 8 * b + 8 && e < entries; e++)
            part->twice[b] |= (uint8_t)((part->value[e] > once) << (e % 8));
    part->once = once;
    ikt_free(&part->value);
    return IKT_OK;
}
