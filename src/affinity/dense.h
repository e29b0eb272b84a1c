/* The dense symmetric P in distributed row blocks, for n up to what memory holds: the matrix, and
 * what the kinds of affinity fill it with (affinity.h).
 *
 * Scores are symmetric, so that p_ij needs only the score of i and j and some number of each row
 * (its sum, its width, its k-th nearest): no transpose. Advantage: exact, no truncation.
 * Disadvantage: 4 n^2 bytes over all ranks, and an iteration costs n^2.
 */
#ifndef IKT_AFFINITY_DENSE_H
#define IKT_AFFINITY_DENSE_H

#include "base/exact_sum.h"
#include "base/sort.h"
#include "base/status.h"
#include "neighbours/scorer.h"

typedef struct {
    ikt_rows rows;
    int64_t stride; /* floats a row, n rounded up to a multiple of 16; the rest is zero */
    float *value;   /* [rows.count * stride] p_ij; 0 on the diagonal */
} ikt_dense;

/* LOCAL. Bytes of the matrix on a rank with n_local of n rows. */
int64_t ikt_dense_memory(int64_t n_local, int64_t n);

/* LOCAL. A matrix of zeros. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_dense_create(ikt_context *ctx, const ikt_rows *rows, ikt_dense *out);

/* COLLECTIVE. The matrix with scores as its values, those of a row with itself included.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_dense_fill(ikt_context *ctx, const ikt_scorer *scorer, ikt_dense *out);

/* COLLECTIVE. Of every row of a matrix of scores the k-th nearest other row, ties to the lower one:
 * row j is among the k nearest of row i where ikt_pair_make(score of i and j, j) <= all[i].
 *   all   receives [rows->n], the same on every rank, owned by the caller; NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_dense_nearest(ikt_context *ctx, const ikt_dense *dense, int64_t k, ikt_pair **all);

/* COLLECTIVE. Whether a P, dense or sparse, can be one: IKT_ERR_INTERNAL where its entries do not
 * sum to 1 within 1e-6, or where entries and mirror images differ.
 *   total   of the own entries; changed
 *   odd     sum of ikt_hash_entry over the own entries */
ikt_status ikt_check_p(ikt_context *ctx, ikt_exact_sum *total, uint64_t odd);

/* COLLECTIVE. The same for a dense P. Cost: one pass. */
ikt_status ikt_dense_check(ikt_context *ctx, const ikt_dense *dense);

/* LOCAL. Frees the matrix and empties the struct; accepts an empty one. */
void ikt_dense_destroy(ikt_dense *dense);

#endif
