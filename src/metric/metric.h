/* Distances from a block of rows to a block of rows.
 *
 * Neighbour search, coarse cells, landmarks, zero-similarity rows and measures compare rows through
 * this contract and name no metric: a new metric is one file with an ikt_metric, which
 * ikt_metric_of chooses. Every metric gives the square of its distance; smaller is nearer. Every
 * function gives a pair of rows the same bits, whatever block, instruction set or thread it is met
 * in. Rows of the left-hand side lie side by side; those of the right-hand side are packed in
 * groups of sixteen, one row a SIMD lane (ikt_pack_rows, ikt_sparse_pack_create).
 */
#ifndef IKT_METRIC_METRIC_H
#define IKT_METRIC_METRIC_H

#include <stdint.h>

#include "base/cpu.h"
#include "data/dataset.h"
#include "linalg/sparse.h"

enum { IKT_PACK_ROWS = 16 }; /* rows in a packed group */

/* Sparse rows, packed. A group holds the columns that any of its rows has, ascending, and for each
 * of them the sixteen values. Advantage: a metric compares a row with sixteen at once, without a
 * branch that cannot be foreseen for each pair. Disadvantage: a group takes up to sixteen times
 * what its rows take sparse, and the time of all its columns. */
typedef struct {
    int64_t count;   /* rows packed */
    int64_t groups;  /* of sixteen */
    int64_t *first;  /* [groups + 1] where the columns of a group begin */
    int32_t *column; /* [first[groups]] ascending in each group */
    float *value;    /* [first[groups] * 16] */
} ikt_sparse_pack;

/* How a metric is computed on one instruction set (block.kernel.c): the same bits on all. All
 * functions are LOCAL, run in one thread, and may be called from any number of threads. */
typedef struct {
    /* Dense rows in single precision.
     *   a          [na * d], row-major
     *   packed_b   nb rows packed by ikt_pack_rows
     *   out        [na * ikt_packed_rows(nb)]; pair (i, j) is at out[i * ikt_packed_rows(nb) + j],
     *              columns from nb on hold distances to rows of zeros
     * Best with na >= 8 and two groups of rows well below the second-level cache. */
    void (*block)(const float *a, int64_t na, const float *packed_b, int64_t nb, int64_t d,
                  float *out);
    /* One row against packed groups of sixteen that lie anywhere: the bits of `block`.
     *   group   [groups] where each begins
     *   out     [groups * 16] */
    void (*groups)(const float *a, const float *const *group, int64_t groups, int64_t d,
                   float *out);
    /* A sparse row against all rows of a pack: the bits of `block` on the dense rows.
     *   out   [pack->groups * 16], columns from pack->count on as in `block` */
    void (*sparse)(const ikt_sparse_pack *pack, ikt_sparse_row row, float *out);
} ikt_metric_kernel;

IKT_KERNELS(const ikt_metric_kernel, ikt_euclidean)
IKT_KERNELS(const ikt_metric_kernel, ikt_manhattan)

typedef struct {
    const ikt_metric_kernel *(*on)(ikt_isa isa); /* at most ikt_cpu_isa() */
    /* Two rows in double precision, in the order of the columns. */
    double (*exact)(const float *x, const float *y, int64_t d);
    double (*sparse_exact)(ikt_sparse_row x, ikt_sparse_row y);
} ikt_metric;

/* Squared Euclidean distance, squared Manhattan distance. */
extern const ikt_metric ikt_metric_euclidean, ikt_metric_manhattan;

/* LOCAL, pure. The metric by which the rows of a data set are compared. */
const ikt_metric *ikt_metric_of(const ikt_dataset *data);

/* LOCAL, pure. `n` rounded up to whole groups: the number of columns of a block of distances. */
static inline int64_t ikt_packed_rows(int64_t n) {
    return (n + IKT_PACK_ROWS - 1) / IKT_PACK_ROWS * IKT_PACK_ROWS;
}

/* LOCAL, pure. Floats that n packed rows of d columns take. */
static inline int64_t ikt_packed_floats(int64_t n, int64_t d) {
    return ikt_packed_rows(n) * d;
}

/* LOCAL. Packs rows: element (row, column) goes to
 * packed[((row / 16) * d + column) * 16 + row % 16]; missing rows of the last group are zero.
 *   rows     [n * d], row-major, borrowed
 *   packed   [ikt_packed_floats(n, d)], aligned to 64 bytes */
void ikt_pack_rows(const float *rows, int64_t n, int64_t d, float *packed);

/* LOCAL. The same of rows row[i] that lie anywhere; leaves what the last group lacks as it is. */
void ikt_pack_rows_from(const float *const *row, int64_t n, int64_t d, float *packed);

/* LOCAL. Packs sparse rows. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_sparse_pack_create(ikt_context *ctx, const ikt_sparse *rows, ikt_sparse_pack *out);
void ikt_sparse_pack_destroy(ikt_sparse_pack *pack);

/* LOCAL, pure. Bytes of a pack of so many rows with so many entries in all, at most. */
int64_t ikt_sparse_pack_bytes(int64_t rows, int64_t entries);

#endif
