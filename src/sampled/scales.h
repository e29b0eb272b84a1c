/* The scale of distances at each row: what TriMap divides them by (Zelnik-Manor & Perona 2004). */
#ifndef IKT_SAMPLED_SCALES_H
#define IKT_SAMPLED_SCALES_H

#include <stdint.h>

#include "base/exact_sum.h"
#include "base/status.h"
#include "dist/rows.h"

/* A scale below this share of the mean of all would be that of copies with some noise. */
#define IKT_SCALE_LEAST 1e-3

/* LOCAL, pure. The mean distance of a row to its nearest rows `from` to `to`, counted from 1 among
 * those that are not at distance 0; where there are fewer, to the last of them; 0 without any.
 *   square   [k] squared distances, ascending */
double ikt_scale_of(const float *square, int64_t k, int64_t from, int64_t to);

/* COLLECTIVE. No scale is left below IKT_SCALE_LEAST of the mean of all: D would be without
 * limit.
 *   sum     of the scales of the own rows
 *   whom    a row is equal to where its scale is 0, for the message
 *   scale   [rows->count]
 * Errors: IKT_ERR_DATA where all of them are 0. */
ikt_status ikt_scales_settle(ikt_context *ctx, const ikt_rows *rows, ikt_exact_sum *sum,
                             const char *whom, float *scale);

/* COLLECTIVE. The scales of the rows of other ranks that occur among some rows.
 *   row      [count] global rows, own ones among them
 *   scale    [rows->count] of the own rows
 *   set      receives the rows of other ranks; destroy it in any case
 *   others   receives their scales, by their numbers in the set; free it in any case
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_scales_fetch(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                            int64_t count, const float *scale, ikt_row_set *set, float **others);

#endif
