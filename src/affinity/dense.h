/* The dense symmetric P in distributed row blocks, for n up to what memory holds.
 *
 * Both kernels are symmetric before normalisation, so p_ij needs only K(i, j) and the row sums of i
 * and j: no transpose. Advantage: exact, no truncation. Disadvantage: 4 n^2 bytes over all ranks,
 * and an iteration costs n^2.
 */
#ifndef IKT_AFFINITY_DENSE_H
#define IKT_AFFINITY_DENSE_H

#include "affinity/affinity.h"
#include "neighbours/scorer.h"

typedef struct {
    ikt_row_map map;
    int64_t stride; /* floats a row, n rounded up to a multiple of 16; the rest is zero */
    float *value;   /* [map.count * stride] p_ij; 0 on the diagonal */
} ikt_dense;

/* LOCAL. Bytes of the matrix on a rank with n_local of n rows. */
int64_t ikt_dense_memory(int64_t n_local, int64_t n);

/* COLLECTIVE. P from a scorer: Isolation kernel (scores are differing cells out of t) or Gaussian
 * kernel (scores are squared distances) of the given perplexity.
 *   data     read again for rows without any similarity, which get the uniform weight over their
 *            `orphan_neighbours` nearest rows (as in ikt_affinity_adopt_orphans)
 *   orphans  receives the number of such rows
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_dense_isolation(ikt_context *ctx, const ikt_scorer *scorer, int64_t t,
                               ikt_dataset *data, int64_t orphan_neighbours, ikt_dense *out,
                               int64_t *orphans);
ikt_status ikt_dense_gaussian(ikt_context *ctx, const ikt_scorer *scorer, double perplexity,
                              ikt_dense *out);

void ikt_dense_destroy(ikt_dense *dense);

#endif
