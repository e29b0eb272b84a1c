/* The model of the Isolation kernel: t partitionings of psi centres each.
 *
 * Zhu & Ting 2021, section 4.1: the centres of a partitioning are psi distinct rows drawn uniformly
 * without replacement; its cells are their Voronoi cells, or the leaves of a tree that isolates
 * them. A model is row numbers only, 8 t psi bytes, a pure function of its spec: every rank draws
 * the same one without communication.
 */
#ifndef IKT_ISOLATION_MODEL_H
#define IKT_ISOLATION_MODEL_H

#include <stdint.h>

#include "base/status.h"
#include "isolation/settings.h"

/* What a model is drawn from. */
typedef struct {
    uint64_t seed;
    int64_t n;      /* rows drawn from */
    int64_t psi;    /* centres of a partitioning, 1 <= psi <= pool or n */
    int64_t t;      /* partitionings, may be 0 */
    int64_t pool;   /* 0: centres are drawn from all rows, the paper's definition. Otherwise from
                       `pool` rows, themselves drawn from all: each partitioning still is a uniform
                       sample, but partitionings share centres (methods, section 1) */
    int64_t coarse; /* centres of the coarse partition that orders rows (cells/cells.h); 0:
                       there is none. Drawn from the pool, too, and not part of the kernel */
    int64_t near;   /* entries of the list of centres near to a row that is wanted beside the codes,
                       0:   none. Not part of the kernel */
    int64_t candidates; /* distinct centres that a row is compared with, those of near coarse cells;
                           0: all, which gives the cells of the definition */
    int form; /* ikt_isolation_form: what the centres are for. Trees are grown when codes are
                 computed (tree.h), from the centres' coordinates */
} ikt_model_spec;

typedef struct {
    ikt_model_spec spec;
    int64_t psi, t;
    int64_t *row;        /* [t*psi] rows of the centres, ascending in each partitioning, so that the
                            lowest centre is the lowest row: ties in distance go to it */
    int64_t *coarse_row; /* [spec.coarse] rows of the coarse centres, ascending */
} ikt_model;

/* SAME-ARGS. Draws a model. The draws of a partitioning do not depend on t: a longer model begins
 * with the shorter one.
 *   out   receives the model, owned by the caller; NULL on failure.
 * Errors: IKT_ERR_RESOURCE. Cost: O(t psi log psi) over the threads. */
ikt_status ikt_model_create(ikt_context *ctx, const ikt_model_spec *spec, ikt_model **out);

/* LOCAL. Frees *model and sets it to NULL; accepts NULL. */
void ikt_model_destroy(ikt_model **model);

/* SAME-ARGS. The distinct rows among the centres of partitionings first .. first + count - 1.
 *   rows     receives them in ascending order, owned by the caller (ikt_free).
 *   n_rows   receives their number.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_model_distinct(ikt_context *ctx, const ikt_model *model, int64_t first,
                              int64_t count, int64_t **rows, int64_t *n_rows);

#endif
