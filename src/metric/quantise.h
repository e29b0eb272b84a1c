/* Rows as integers of 16 bits, and how far these can be from the truth.
 *
 * A row x becomes q = (x - centre) / unit, rounded, on a grid of steps around the middle of the
 * data. A sum of products of such integers is exact, so that it is the same in any order and on
 * every instruction set, and costs a quarter of the instructions of float32. Distances of the
 * integers tell which rows cannot be among the nearest (filter.h); what remains is compared in
 * float32. So the quantisation decides how long a search takes, and never what it finds.
 *
 * Rows farther from the centre than `most` steps, some outliers at most, are brought to the ball of
 * that radius: a projection onto a ball makes no distance longer, so that bounds from below hold.
 */
#ifndef IKT_METRIC_QUANTISE_H
#define IKT_METRIC_QUANTISE_H

#include <stdbool.h>
#include <stdint.h>

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

/* LOCAL. Packs rows: in groups of sixteen, one row a lane, first half the squared length of each
 * row (rounded down), then its words; lanes without a row hold the largest integer there.
 *   x        [count * d]
 *   packed   [ikt_quantised_size(d, count)] as [group][1 + words][16] */
void ikt_quantise_pack(const ikt_quantiser *quantiser, const float *x, int64_t count,
                       int32_t *packed);

/* LOCAL. The same, by all threads. */
void ikt_quantise_all(ikt_context *ctx, const ikt_quantiser *quantiser, const float *x,
                      int64_t count, int32_t *packed);

/* LOCAL. One row with its sign turned, so that adding its products subtracts them.
 *   words   [words * stride], every stride-th is written
 *   square  receives the squared length
 * Returns whether the row is within the ball. */
bool ikt_quantise_negated(const ikt_quantiser *quantiser, const float *x, int32_t *words,
                          int64_t stride, double *square);

#endif
