/* Codes that are being computed, and the ways of computing them: all give the cells that
 * codes_kernel.h and tree.h define.
 *
 * A way takes codes that are being computed, and passes over the rows until all entries are there.
 * Who wants codes includes codes.h.
 */
#ifndef IKT_ISOLATION_CODING_H
#define IKT_ISOLATION_CODING_H

#include "base/select.h"
#include "isolation/codes.h"
#include "isolation/codes_kernel.h"
#include "isolation/near_centres.h"

/* Codes that are being computed. */
typedef struct {
    ikt_context *ctx;
    ikt_dataset *data;
    const ikt_rows *distribution;
    const ikt_model *model;
    const ikt_codes_kernel *kernel;
    ikt_codes *codes;
    ikt_code_places *places;
    ikt_codes_budget budget;
    int64_t d;
    int64_t element; /* bytes of a coordinate */
    int64_t block;   /* rows of X read at a time: the same on all ranks */
    int threads;
    void *rows; /* [block * d] the rows of the block at hand; NULL for sparse rows */
    bool is_sparse;
    ikt_sparse entries;           /* sparse rows in place of them */
    int64_t passes;               /* over X, for progress */
    int64_t seen;                 /* rows seen in all passes */
    const ikt_codes_hooks *hooks; /* or NULL */
    int32_t *done;                /* [distribution->count] see there; NULL without hooks */
    bool has_worked;              /* this rank, since the last checkpoint */
} ikt_coding;

/* LOCAL. Codes `count` rows of the block at hand, which begins at own row `row`. */
typedef void ikt_coding_visitor(void *self, int64_t row, int64_t count);

/* COLLECTIVE. One pass over the own rows of X: reads block after block into c->rows, sparse ones
 * into c->entries. Blocks that are done are passed over, and between two blocks the run may stop.
 *   entries   of a row that are there after the pass */
ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self);

/* LOCAL. Writes the cell of `count` rows in partitioning p, `step` numbers from one to the next;
 * p = t is the coarse one. */
void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint32_t *cell, int64_t step);

/* LOCAL. Writes all cells of a row, and the coarse one behind them where there is one. */
void ikt_coding_write_row(const ikt_coding *c, int64_t row, const uint32_t *cell);

/* LOCAL. Writes where a row lies, if that is wanted: the places of the first centres of its sorted
 * list.
 *   place   of each centre, by number */
void ikt_coding_write_places(const ikt_coding *c, const uint32_t *place, int64_t row,
                             const ikt_select *kept);

/* COLLECTIVE. Tells c->places what places there are. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_coding_give_places(const ikt_coding *c, const ikt_near_centres *near);

/* COLLECTIVE. The centres of parts first .. first + count - 1 of the model, each once.
 *   row   receives their rows in ikt_dataset_model(c->data), ascending
 *   x     receives their coordinates [n_rows * d]
 * Both are owned by the caller (ikt_free), after a failure, too.
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_coding_gather(const ikt_coding *c, int64_t first, int64_t count, int64_t **row,
                             int64_t *n_rows, void **x);

/* LOCAL, pure. Partitionings to a pass, of t that take `each` bytes of `bytes`: passes of equal
 * length. They depend on the problem alone, so that they are the same on all ranks. */
int64_t ikt_coding_batch(int64_t bytes, int64_t each, int64_t t);

/* LOCAL, pure. Rows of a tile, so that the threads have about equal shares of `count` rows, 1 at
 * least: `most` at most, for which there is memory, and a multiple of `multiple` where that is not
 * above it. */
int64_t ikt_coding_tile(const ikt_coding *c, int64_t count, int64_t most, int64_t multiple);

/* --- from lists of a row's nearest distinct centres (row_lists.c) --------------------------- */

/* LOCAL, pure. Whether lists pay for a model of `centres` distinct centres: they need half of the
 * distances at most, and all packed centres fit 1 GiB. */
bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d);

/* COLLECTIVE. Errors: those of ikt_codes_compute, as for the following ways. */
ikt_status ikt_coding_lists(ikt_coding *c);

/* --- the same from lists of near centres (codes_near.c) --------------------------------------- */

/* COLLECTIVE. Compares rows with spec.candidates centres, and measures what that misses. */
ikt_status ikt_coding_near(ikt_coding *c);

/* LOCAL, pure. Rows whose lists are held together so; bytes that it takes beside those of lists
 * (row_lists.h).
 *   block   rows that are read at a time */
int64_t ikt_coding_near_tile(const ikt_codes_kernel *kernel, int64_t d);
int64_t ikt_coding_near_bytes(const ikt_codes_kernel *kernel, int64_t distinct, int64_t candidates,
                              int64_t d, int64_t block, int threads);

/* --- every row against the centres of each partitioning (codes_direct.c) ---------------------- */

ikt_status ikt_coding_direct(ikt_coding *c);
int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads);

/* --- every row down each of t random trees (codes_forest.c) ----------------------------------- */

ikt_status ikt_coding_forest(ikt_coding *c);
int64_t ikt_coding_forest_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t row_bytes, int64_t d, int threads);

/* --- rows of a matrix of all distances (codes_pairs.c) ---------------------------------------- */

ikt_status ikt_coding_pairs(ikt_coding *c);
int64_t ikt_coding_pairs_bytes(const ikt_model_spec *spec, int64_t distinct, int64_t n,
                               int threads);

/* --- sparse rows, by an inverted index of the centres (codes_sparse.c) ------------------------ */

/* LOCAL, pure. Whether lists pay: they look at fewer centres than the partitionings have, and the
 * index of all distinct ones fits 4 GiB. */
bool ikt_sparse_list_pays(const ikt_model_spec *spec, const ikt_codes_rows *rows, int64_t distinct);

/* COLLECTIVE. In one pass where cells are found from lists, otherwise some partitionings a pass. */
ikt_status ikt_coding_sparse(ikt_coding *c, const ikt_codes_rows *rows, bool with_lists);

/* LOCAL. distinct: of all centres where lists pay, otherwise 0. */
int64_t ikt_coding_sparse_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t distinct, const ikt_codes_rows *rows, int threads);

#endif
