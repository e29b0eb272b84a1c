/* Which rows of many may be among the k nearest to a row, by squared Euclidean distances.
 *
 * Method (filter and refine): a candidate has the score |c|^2 / 2 - x.c in exact integers of rows
 * of 16 bits (quantise.h). The k-th least score seen so far, with the most that rounding of rows
 * and of float32 can do to it, is a limit that no row among the k nearest can be above. Sixteen
 * scores at a time are compared with it while they are in a register; the few that are not above it
 * go into a buffer, which is thinned, and the limit lowered, when it is full. What is left in the
 * end is a little more than k rows, for the caller to compare in float32.
 * Advantage: what is left holds the k nearest by the float32 definition of euclidean.c, to the last
 * tie, on every instruction set; a pair of rows costs a quarter of the instructions of that.
 * Disadvantage: a row is left undecided where too many candidates are as near as rounding can
 * tell, as with rows in thousands of copies; such rows are for the caller to compare with all.
 */
#ifndef IKT_METRIC_FILTER_H
#define IKT_METRIC_FILTER_H

#include "base/cpu.h"
#include "metric/quantise.h"

enum {
    IKT_FILTER_ROWS = 256,   /* own rows, at most */
    IKT_FILTER_GROUP = 8,    /* own rows that are kept side by side */
    IKT_FILTER_APPENDED = 48 /* candidates that may come before a buffer is looked at again */
};

/* The candidates of an own row. */
typedef struct {
    int32_t limit;    /* scores above it are out */
    int32_t count;    /* candidates in the buffer */
    bool undecided;   /* there were too many */
    double square;    /* squared length of the quantised row */
    int32_t *score;   /* [capacity + 16] */
    uint32_t *number; /* [capacity + 16] */
} ikt_filter_row;

typedef struct {
    const ikt_quantiser *quantiser; /* lent */
    ikt_isa isa;
    int64_t keep;     /* the limit follows from the keep-th least score */
    int64_t capacity; /* of the buffer of a row */
    int64_t rows;
    int32_t *own; /* [IKT_FILTER_ROWS / GROUP][words][GROUP], of turned sign */
    ikt_filter_row row[IKT_FILTER_ROWS];
    int32_t *score; /* memory of the buffers */
    uint32_t *number;
} ikt_filter;

/* LOCAL. Memory for tiles of own rows and lists of k; free with ikt_filter_destroy in any case.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_filter_create(ikt_context *ctx, const ikt_quantiser *quantiser, ikt_isa isa,
                             int64_t k, ikt_filter *filter);
void ikt_filter_destroy(ikt_filter *filter);

/* LOCAL, pure. Bytes of it. */
int64_t ikt_filter_memory(int64_t d, int64_t k);

/* LOCAL. Begins with the own rows x [count * d], count <= IKT_FILTER_ROWS, without candidates. Rows
 * outside the ball of the quantiser are undecided from the start. */
void ikt_filter_begin(ikt_filter *filter, const float *x, int64_t count);

/* LOCAL. Shows the candidates from .. end - 1 of a packed block to all own rows.
 *   first   the number of the block's first row; a row may be shown once only */
void ikt_filter_block(ikt_filter *filter, const int32_t *packed, uint32_t first, int64_t from,
                      int64_t end);

/* LOCAL. Thins the buffer of an own row for the last time. Returns its candidates, of which the row
 * itself may be one, or -1 where it is undecided. */
int64_t ikt_filter_end(ikt_filter *filter, int64_t row);

/* --- for the kernels -------------------------------------------------------------------------- */

/* LOCAL, pure. The greatest score that a row among the k nearest of this row can have, where `keep`
 * candidates have scores up to `score`. */
int32_t ikt_filter_limit(const ikt_filter *filter, const ikt_filter_row *row, int32_t score);

/* The functions of an instruction set. Thin: leaves the candidates that may be among the k nearest;
 * it may leave `spare` more than it has to. */
typedef struct {
    void (*block)(ikt_filter *filter, const int32_t *packed, uint32_t first, int64_t from,
                  int64_t end);
    void (*thin)(const ikt_filter *filter, ikt_filter_row *row, int64_t spare);
} ikt_filter_kernel;

IKT_KERNELS(const ikt_filter_kernel, ikt_filter_kernel)

#endif
