/* Transposing a matrix that is shared by blocks of rows into one shared by blocks of columns.
 *
 * The exchange is FFTW's (fftw_mpi_plan_many_transpose), which moves data and computes nothing, by
 * plans that are not timed: what arrives has the same bits however it travels. Every call of
 * FFTW's MPI part is in transpose.c. FFTW counts in ints: see IKT_TRANSPOSE_MOST.
 */
#ifndef IKT_BASE_TRANSPOSE_H
#define IKT_BASE_TRANSPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IKT_TRANSPOSE_MOST INT32_MAX /* numbers that a rank may hold of a matrix */

/* A matrix of rows x columns elements, each of `tuple` numbers of `size` bytes. Rank r owns the
 * rows r * row_block up to the next rank's, and columns likewise; ranks beyond have none. */
typedef struct {
    int64_t rows, columns, tuple;
    int64_t row_block, column_block;
    size_t size; /* of float or of double */
} ikt_transpose_shape;

typedef struct ikt_transpose ikt_transpose;

/* COLLECTIVE, SAME-ARGS. Numbers that each of the two arrays has to hold on this rank. */
int64_t ikt_transpose_capacity(ikt_context *ctx, const ikt_transpose_shape *shape);

/* COLLECTIVE, SAME-ARGS. Plans the transposes between two arrays of ikt_alloc, which it leaves as
 * they are. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transpose_create(ikt_context *ctx, const ikt_transpose_shape *shape, void *by_rows,
                                void *by_columns, ikt_transpose **out);

/* LOCAL. Accepts NULL. */
void ikt_transpose_destroy(ikt_transpose **transpose);

/* COLLECTIVE. Between the two arrays of ikt_transpose_create; what was in the source is lost.
 *   is_back   false: from by_rows [columns][own rows][tuple] to by_columns [own
 * columns][rows][tuple]; true: from by_columns to by_rows, in the same forms */
void ikt_transpose_execute(ikt_context *ctx, const ikt_transpose *t, bool is_back);

#endif
