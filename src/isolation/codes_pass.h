/* Cell codes of rows, and the passes over the rows that fill them.
 *
 * What the ways of computing codes (codes_ways.h) stand on: the codes themselves, the rows that are
 * read block by block, and where cells are written. Whoever wants codes includes codes.h.
 */
#ifndef IKT_ISOLATION_CODES_PASS_H
#define IKT_ISOLATION_CODES_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes_kernel.h"
#include "isolation/model.h"

typedef struct {
    int64_t n_local;
    int64_t t;      /* entries of a row */
    int64_t stride; /* bytes from row to row, a multiple of 64; the bytes after the entries are 0 */
    int width;      /* bytes of an entry: 1 for psi <= 256, otherwise 2 */
    void *code;     /* [n_local*stride bytes], aligned to 64 */
} ikt_codes;

/* LOCAL. Frees the codes and empties the struct; accepts an empty one. */
void ikt_codes_destroy(ikt_codes *codes);

/* LOCAL, pure. Bytes of the codes of n_local rows. */
int64_t ikt_codes_memory(int64_t n_local, int64_t psi, int64_t t);

/* Most that a pass may take: bytes of centres (as gathered and packed together), bytes of rows. */
typedef struct {
    int64_t batch_bytes, block_bytes;
} ikt_codes_budget;

/* Checkpoint hooks: they load and save codes that are not complete, so that a run which is stopped
 * can go on. done[i] tells how many entries of own row i are there, in the order in which they are
 * computed: partitioning after partitioning, the coarse one last, so that t + 1 are all. Both are
 * COLLECTIVE. */
typedef struct {
    void *self;
    const char *where; /* for messages */
    /* Fills codes (allocated), coarse (or NULL) and done with what was saved, if anything was. */
    ikt_status (*load)(void *self, ikt_codes *codes, uint16_t *coarse, int32_t *done);
    ikt_status (*save)(void *self, const ikt_codes *codes, const uint16_t *coarse,
                       const int32_t *done);
} ikt_codes_hooks;

/* Shape of the rows to be coded. */
typedef struct {
    int64_t d;
    bool is_u8;
    bool is_sparse;
    double entries;  /* sparse: of a row, on average */
    int64_t longest; /* sparse: of a row, at most */
} ikt_codes_rows;

/* Codes that are being computed. */
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
    void *rows; /* [block * d] the rows of the block at hand; NULL for sparse rows */
    bool is_sparse;
    ikt_sparse entries;           /* sparse rows in place of them */
    int64_t passes;               /* over X, for progress */
    int64_t seen;                 /* rows seen in all passes */
    const ikt_codes_hooks *hooks; /* or NULL */
    int32_t *done;                /* [distribution->count] see there; NULL without hooks */
    bool has_worked;              /* this rank, since the last pause */
} ikt_coding;

/* LOCAL. Codes `count` rows of the block at hand, which begins at own row `row`. */
typedef void ikt_coding_visitor(void *self, int64_t row, int64_t count);

/* COLLECTIVE. One pass over the own rows of X: reads block after block into c->rows, sparse ones
 * into c->entries. Blocks that are done are passed over, and between two blocks the run may stop.
 *   entries   of a row that are there after the pass */
ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self);

/* COLLECTIVE. Whether hooks have loaded all codes. */
bool ikt_coding_is_complete(const ikt_coding *c);

/* COLLECTIVE. All codes are there: saves them where there are hooks and that is asked for. Errors:
 * IKT_STOPPED, those of saving. */
ikt_status ikt_coding_end(ikt_coding *c);

/* LOCAL. Writes the cell of `count` rows in partitioning p, `step` numbers from one to the next;
 * p = t is the coarse one. */
void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint16_t *cell, int64_t step);

/* LOCAL. Logs how lists of nearest distinct centres have done.
 *   open   rows of this rank that needed all centres */
void ikt_coding_report(const ikt_coding *c, int64_t length, int64_t distinct, int64_t open);

/* LOCAL, pure. */
static inline int64_t ikt_divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

/* LOCAL, pure. Partitionings to a pass, of t that take `each` bytes of `bytes`: passes of equal
 * length. */
int64_t ikt_coding_batch(int64_t bytes, int64_t each, int64_t t);

#endif
