/* Mini-batches: the rows that one step moves (LaptSNE-Mini; Sun, Han & Fan 2022, section 3.4).
 *
 * In every iteration some rows are drawn at random; they and their nearest rows by P are moved, all
 * others stay where they are, and keep what the optimiser remembers of them. The gradient is that
 * of the whole objective. Advantage: what the paper does, to compare with. Disadvantage: sums over
 * the kernel give the gradient of all rows at the price of that of a few, so that nothing is saved
 * but the step.
 */
#ifndef IKT_OBJECTIVE_BATCH_H
#define IKT_OBJECTIVE_BATCH_H

#include <stdint.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"

typedef struct ikt_batch ikt_batch;

typedef struct {
    int64_t count;      /* rows that are drawn in an iteration, 1 .. n */
    int64_t neighbours; /* of each, 0 or more */
    uint64_t seed;
} ikt_batch_settings;

/* LOCAL. Refuses more neighbours than a row of P has entries. Errors: IKT_ERR_USAGE. */
ikt_status ikt_batch_check(ikt_context *ctx, int64_t neighbours, int64_t entries);

/* COLLECTIVE. The nearest rows of the own rows: those of the largest entries of P, of equal ones
 * the lower.
 *   graph, dense   P in one of the two forms; borrowed until this returns
 *   out            NULL on failure
 * Errors: IKT_ERR_USAGE where a row has fewer entries than neighbours are asked for;
 * IKT_ERR_RESOURCE. */
ikt_status ikt_batch_create(ikt_context *ctx, const ikt_batch_settings *settings,
                            const ikt_graph *graph, const ikt_dense *dense, ikt_batch **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_batch_destroy(ikt_batch **batch);

/* COLLECTIVE. Which own rows an iteration moves, [rows.count] of 1 and 0; a function of the seed,
 * of the iteration and of P. Owned by the batch, until the next call. */
const uint8_t *ikt_batch_draw(ikt_batch *batch, int64_t iteration);

/* LOCAL, pure. Bytes on a rank with n_local rows. */
int64_t ikt_batch_memory(const ikt_batch_settings *settings, int64_t n_local);

#endif
