/* The model of the Isolation kernel: t partitionings of psi centres each.
 *
 * Zhu & Ting 2021, section 4.1: the centres of a partitioning are psi distinct rows drawn uniformly
 * without replacement; its cells are their Voronoi cells. A model is row numbers only, 8 t psi
 * bytes, a pure function of (seed, n, psi, t): every rank draws the same one without talking.
 */
#ifndef IKT_ISOLATION_MODEL_H
#define IKT_ISOLATION_MODEL_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    uint64_t seed;
    int64_t n;    /* rows drawn from */
    int64_t psi;  /* centres of a partitioning, 1 <= psi <= n */
    int64_t t;    /* partitionings */
    int64_t *row; /* [t*psi] rows of the centres, ascending in each partitioning, so that the lowest
                     centre is the lowest row: ties in distance go to it */
} ikt_model;

/* SAME-ARGS. Draws a model. The draws of a partitioning do not depend on t: a longer model begins
 * with the shorter one.
 *   out   receives the model, owned by the caller; NULL on failure.
 * Errors: IKT_ERR_RESOURCE. Cost: O(t psi log psi) over the threads. */
ikt_status ikt_model_create(ikt_context *ctx, uint64_t seed, int64_t n, int64_t psi, int64_t t,
                            ikt_model **out);

/* LOCAL. Frees *model and sets it to NULL; accepts NULL. */
void ikt_model_destroy(ikt_model **model);

/* SAME-ARGS. The distinct rows among the centres of partitionings first .. first + count - 1.
 *   rows     receives them in ascending order, owned by the caller (ikt_free).
 *   n_rows   receives their number.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_model_distinct(ikt_context *ctx, const ikt_model *model, int64_t first,
                              int64_t count, int64_t **rows, int64_t *n_rows);

#endif
