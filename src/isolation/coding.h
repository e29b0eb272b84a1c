/* What the ways of computing codes share: the stream of rows, and where cells are written. */
#ifndef IKT_ISOLATION_CODING_H
#define IKT_ISOLATION_CODING_H

#include "isolation/codes.h"
#include "isolation/codes_kernel.h"

typedef struct {
    ikt_context *ctx;
    ikt_dataset *data;
    const ikt_rows *distribution;
    const ikt_model *model;
    const ikt_codes_kernel *kernel;
    ikt_codes *codes;
    uint16_t *coarse; /* [distribution->count], or NULL */
    ikt_codes_budget budget;
    int64_t d;
    int64_t element; /* bytes of a coordinate */
    int64_t block;   /* rows of X read at a time: the same on all ranks */
    int threads;
    void *rows; /* [block * d]; NULL for sparse rows */
    bool is_sparse;
    ikt_sparse entries;            /* sparse rows in place of them */
    int64_t passes;                /* over X, for progress */
    int64_t seen;                  /* rows seen in all passes */
    const ikt_codes_hooks *keeper; /* or NULL */
    int32_t *done;                 /* [distribution->count] see there; NULL without a keeper */
    bool has_worked;               /* this rank, since the last pause */
} ikt_coding;

/* LOCAL. Codes of `count` rows of the block at hand, which begins at own row `row`. */
typedef void ikt_coding_visitor(void *self, int64_t row, int64_t count);

/* COLLECTIVE. One pass over the own rows of X: reads block after block into c->rows, sparse ones
 * into c->entries. Blocks that are done are passed over, and between two blocks the run may stop.
 *   entries   of a row that are there after the pass */
ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self);

/* LOCAL. Writes the cell of `count` rows in partitioning p, `step` numbers from one to the next;
 * p = t is the coarse one. */
void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint16_t *cell, int64_t step);

/* COLLECTIVE. The ways; see codes.h. Trees know no coarse partition. */
ikt_status ikt_coding_direct(ikt_coding *c);
ikt_status ikt_coding_lists(ikt_coding *c);
ikt_status ikt_coding_forest(ikt_coding *c);
ikt_status ikt_coding_sparse(ikt_coding *c, bool with_lists);

/* LOCAL. Bytes that they take beside codes, model and rows. `distinct`: of all centres. */
int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads);
int64_t ikt_coding_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                               int64_t distinct, int64_t d, int threads);
int64_t ikt_coding_forest_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t row_bytes, int64_t d, int threads);

int64_t ikt_coding_sparse_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t distinct, const ikt_codes_rows *rows, int threads);

#endif
