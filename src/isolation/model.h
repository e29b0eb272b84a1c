/* The model of the Isolation kernel: t partitionings of psi centres each.
 *
 * Zhu & Ting 2021, section 4.1: the centres of a partitioning are psi distinct rows drawn uniformly
 * without replacement; its cells are their Voronoi cells, or the leaves of a tree that isolates
 * them.
 * Method: a partitioning is a pure function of the spec and of its number, so it is drawn when it
 * is needed, the same on every rank without communication, and is not kept. Advantage: a model
 * takes 8 bytes for each row of the pool, however many centres its partitionings have.
 * Disadvantage: what is needed twice is drawn twice, at about a tenth of a microsecond a centre.
 *
 * The *parts* of a model are its partitionings 0 .. t - 1 and, where there is a coarse partition,
 * that one as part t.
 */
#ifndef IKT_ISOLATION_MODEL_H
#define IKT_ISOLATION_MODEL_H

#include <stdbool.h>
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
    int64_t *pool;       /* [spec.pool] the rows that centres are drawn from, ascending; NULL where
                            that is all rows */
    int64_t *coarse_row; /* [spec.coarse] rows of the coarse centres, ascending */
    int32_t *given;      /* [t*psi] rows of the centres, ascending in each partitioning, where a
                            file gives them (transform/model_load.c); NULL: they are drawn */
} ikt_model;

/* SAME-ARGS. Makes a model; its pool and its coarse centres are drawn at once. The draws of a
 * partitioning do not depend on t: a longer model begins with the shorter one.
 *   out   receives the model, owned by the caller; NULL on failure.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_model_create(ikt_context *ctx, const ikt_model_spec *spec, ikt_model **out);

/* LOCAL. Frees *model and sets it to NULL; accepts NULL. */
void ikt_model_destroy(ikt_model **model);

/* LOCAL, pure. The number of parts, and of the centres of one. */
static inline int64_t ikt_model_parts(const ikt_model_spec *spec) {
    return spec->t + (spec->coarse > 0);
}

static inline int64_t ikt_model_centres(const ikt_model_spec *spec, int64_t part) {
    return part < spec->t ? spec->psi : spec->coarse;
}

/* LOCAL, pure. Distinct centres that `parts` parts with `centres` centres in all can have at most.
 */
static inline int64_t ikt_model_distinct_most(const ikt_model_spec *spec, int64_t centres) {
    const int64_t from = spec->pool > 0 ? spec->pool : spec->n;
    return centres < from ? centres : from;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Work space for drawing parts on several threads. */
typedef struct {
    int64_t slots, most; /* of a thread: slots of a table, centres of a part at most */
    int64_t *slot;       /* [threads * slots] */
    int64_t *row;        /* [threads * most] */
} ikt_draws;

/* LOCAL. Allocates the work space for parts of a model. Errors: IKT_ERR_RESOURCE; free with
 * ikt_draws_destroy in any case. */
ikt_status ikt_draws_create(ikt_context *ctx, const ikt_model *model, int threads, ikt_draws *out);
void ikt_draws_destroy(ikt_draws *draws);
int64_t ikt_draws_bytes(const ikt_model_spec *spec, int threads);

/* LOCAL, from several threads, each with a number of its own. The rows of the centres of a part,
 * ascending, so that the lowest centre is the lowest row: ties in distance go to it.
 * Returns [ikt_model_centres] rows in the work space of `thread`, which may be overwritten and stay
 * until that thread draws again. Cost: O(psi log psi). */
int64_t *ikt_model_draw(const ikt_model *model, const ikt_draws *draws, int thread, int64_t part);

/* SAME-ARGS. The distinct rows among the centres of parts first .. first + count - 1.
 *   rows     receives them in ascending order, owned by the caller (ikt_free), also on failure.
 *   n_rows   receives their number.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_model_distinct(ikt_context *ctx, const ikt_model *model, int64_t first,
                              int64_t count, int64_t **rows, int64_t *n_rows);

/* LOCAL, pure. What it takes beside the distinct rows, for parts with `centres` centres in all:
 * work space, and a bit for each row that can be drawn or 8 bytes a centre. */
int64_t ikt_model_distinct_bytes(const ikt_model_spec *spec, int64_t centres, int threads);

#endif
