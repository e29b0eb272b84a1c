/* Sparse rows of float32, as the kernels read them, and distances between them.
 *
 * A column that neither of two rows has adds fma(0, 0, s) = s to a sum over the dimensions in
 * order. So a merge of the two ascending lists of columns gives what the dense rows would give, to
 * the bit; every distance here is one of the dense code's, by the same additions in the same order.
 */
#ifndef IKT_LINALG_SPARSE_H
#define IKT_LINALG_SPARSE_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t count, d; /* rows, columns */
    int64_t *start;   /* [count + 1] entries of row i are start[i] .. start[i + 1] - 1, from 0 */
    int32_t *column;  /* [start[count]] below d, ascending in each row */
    float *value;     /* [start[count]] finite, not 0 */
    int64_t entry_capacity; /* entries that column and value can hold */
} ikt_sparse;

/* One row, borrowed. */
typedef struct {
    int64_t count;
    const int32_t *column;
    const float *value;
} ikt_sparse_row;

static inline ikt_sparse_row ikt_sparse_row_of(const ikt_sparse *rows, int64_t i) {
    const int64_t at = rows->start[i];
    return (ikt_sparse_row){rows->start[i + 1] - at, rows->column + at, rows->value + at};
}

/* LOCAL. Allocates what is missing; an array that has to grow loses what it holds. An empty struct
 * has no capacity. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_reserve(ikt_context *ctx, int64_t count, int64_t entries, ikt_sparse *rows);
void ikt_sparse_destroy(ikt_sparse *rows);

/* COLLECTIVE. Joins the ranks' rows in the order of the ranks, on every rank.
 *   all   receives them, owned by the caller; empty on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_join(ikt_context *ctx, const ikt_sparse *own, ikt_sparse *all);

/* LOCAL. The first `count` rows of `rows` whose numbers are given, in that order.
 * Errors: IKT_ERR_RESOURCE; *out is empty then. */
ikt_status ikt_sparse_choose(ikt_context *ctx, const ikt_sparse *rows, const int64_t *number,
                             int64_t count, ikt_sparse *out);

/* LOCAL, pure. Most entries of a row. */
int64_t ikt_sparse_longest(const ikt_sparse *rows);

/* LOCAL, pure. Squared distance in float32, by fused multiply-adds over the columns in order: the
 * one that defines cells (isolation/codes_kernel.h) and that of metric/metric.c. */
float ikt_sparse_distance(ikt_sparse_row a, ikt_sparse_row b);

/* LOCAL, pure. The sum of the absolute differences, in float32 over the columns in order: the
 * Manhattan distance that defines cells; and in double precision. */
float ikt_sparse_manhattan(ikt_sparse_row a, ikt_sparse_row b);
double ikt_sparse_manhattan_f64(ikt_sparse_row a, ikt_sparse_row b);

/* LOCAL, pure. Squared distance and squared length in double precision, in the order of columns. */
double ikt_sparse_distance_f64(ikt_sparse_row a, ikt_sparse_row b);
double ikt_sparse_norm(ikt_sparse_row a);

/* LOCAL, pure. The sum of the absolute values, in double precision. */
double ikt_sparse_length_l1(ikt_sparse_row a);

/* LOCAL. Writes a row into a dense one of d floats that are 0, or makes those 0 again. */
void ikt_sparse_fill(ikt_sparse_row a, float *dense);
void ikt_sparse_clear(ikt_sparse_row a, float *dense);

#endif
