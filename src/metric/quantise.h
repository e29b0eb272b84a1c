/* Rows as integers of 16 bits, and how far these can be from the truth.
 *
 * A row x becomes q = (x - centre) / unit, rounded, on a grid of steps around the middle of the
 * data. A sum of products of such integers is exact, so that it is the same in any order and on
 * every instruction set, and costs a quarter of the instructions of float32. Distances of the
 * integers tell which rows cannot be among the nearest; what remains is compared in
 * float32. So the quantisation decides how long a search takes, and never what it finds.
 *
 * Rows farther from the centre than `most` steps, some outliers at most, are brought to the ball of
 * that radius: a projection onto a ball makes no distance longer, so that bounds from below hold.
 */
#ifndef IKT_METRIC_QUANTISE_H
#define IKT_METRIC_QUANTISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    int64_t d, words; /* columns; words of two coordinates */
    float *centre;    /* [d] */
    double unit;      /* what a step is in the data; 0: the rows cannot be quantised */
    double most;      /* steps from the centre to where the ball ends */
    double error;     /* distance of a quantised row from the row, at most, in steps */
    double rounding;  /* of a squared distance in float32, relative to it, at most */
    int64_t outside;  /* rows beyond the ball, over all ranks */
} ikt_quantiser;

/* COLLECTIVE. Chooses centre (the median of some rows, column by column) and unit.
 *   rows   distribution of the rows
 *   x      [rows->count * d] the own rows, finite
 *   out    the same on all ranks; its unit is 0 where rows are all alike or their squared
 *          distances leave the range of float32. Free with ikt_quantiser_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Memory: 8 bytes a row while it works. */
ikt_status ikt_quantiser_create(ikt_context *ctx, const ikt_rows *rows, const float *x, int64_t d,
                                ikt_quantiser *out);
void ikt_quantiser_destroy(ikt_quantiser *quantiser);

/* LOCAL, pure. Integers of a block of packed rows of so many columns. */
static inline int64_t ikt_quantised_size(int64_t d, int64_t count) {
    return (count + 15) / 16 * 16 * (1 + (d + 1) / 2);
}

/* LOCAL. Packs rows, by all threads: in groups of sixteen, one row a lane, first half the squared
 * length of each row (rounded down), then its words; lanes without a row hold the largest integer.
 *   x        [count * d]
 *   packed   [ikt_quantised_size(d, count)] as [group][1 + words][16] */
void ikt_quantise_all(ikt_context *ctx, const ikt_quantiser *quantiser, const float *x,
                      int64_t count, int32_t *packed);

/* Which rows of many may be among the k nearest to a row, by squared Euclidean distances.
 *
 * Method (filter and refine): a candidate has the score |c|^2 / 2 - x.c in exact integers of rows
 * of 16 bits. The k-th least score seen so far, with the most that rounding of rows
 * and of float32 can do to it, is a limit that no row among the k nearest can be above. Sixteen
 * scores at a time are compared with it while they are in a register; the few that are not above it
 * go into a buffer, which is thinned, and the limit lowered, when it is full. What is left in the
 * end is a little more than k rows, for the caller to compare in float32.
 * Advantage: what is left holds the k nearest by the float32 definition of metric.c, to the last
 * tie, on every instruction set; a pair of rows costs a quarter of the instructions of that.
 * Disadvantage: a row is left undecided where too many candidates are as near as rounding can
 * tell, as with rows in thousands of copies; such rows are for the caller to compare with all.
 */

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
    const ikt_quantiser *quantiser; /* borrowed */
    ikt_isa isa;
    int64_t keep;     /* the limit follows from the keep-th least score */
    int64_t capacity; /* of the buffer of a row */
    int64_t rows;
    int32_t *own; /* [IKT_FILTER_ROWS / GROUP][words][GROUP], of turned sign */
    ikt_filter_row row[IKT_FILTER_ROWS];
    int32_t *score; /* memory of the buffers */
    uint32_t *number;
} ikt_filter;

/* LOCAL. For tiles of own rows and lists of k; its arrays are claimed in `held`. */
void ikt_filter_create(ikt_arrays *held, const ikt_quantiser *quantiser, ikt_isa isa, int64_t k,
                       ikt_filter *filter);

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

/* Rows one by one, for distances of rows that lie anywhere: half the squared length of a row
 * (rounded down), its words, and zeros up to whole vectors. */

/* LOCAL, pure. Integers of such a row of so many columns. */
static inline int64_t ikt_quantised_row(int64_t d) {
    return (1 + (d + 1) / 2 + 15) / 16 * 16;
}

/* LOCAL. Quantises rows one after another, by all threads.
 *   x     [count * d]
 *   row   [count * ikt_quantised_row(d)], receives them */
void ikt_quantise_rows(ikt_context *ctx, const ikt_quantiser *quantiser, const float *x,
                       int64_t count, int32_t *row);

/* LOCAL, called from several threads. Which of some rows can be as near to a row as a distance
 * says: all that are, by the float32 definition of metric.c, and few others. Returns how many.
 *   own        [ikt_quantised_row(d)] the row
 *   other      [count] where each of the others begins
 *   distance   squared
 *   product    [count] scratch memory
 *   kept       [count], receives the numbers of those, ascending */
int64_t ikt_quantised_near(const ikt_quantiser *quantiser, ikt_isa isa, const int32_t *own,
                           const int32_t *const *other, int64_t count, float distance,
                           int32_t *product, int32_t *kept);

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
    /* Sums of products of a row's words and those of others; `size` integers of each are read, the
     * first of which count for nothing. */
    void (*products)(const int32_t *own, const int32_t *const *other, int64_t count, int64_t size,
                     int32_t *product);
} ikt_filter_kernel;

IKT_KERNELS(const ikt_filter_kernel, ikt_filter_kernel)

#endif
