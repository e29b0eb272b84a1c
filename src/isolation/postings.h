/* An inverted index of sparse centres: for each column, the centres that have it.
 *
 * Method: centres stand in chunks of IKT_POSTINGS_CHUNK, so that the sums of a chunk stay in the
 * first-level cache; in each chunk every column has a list of (centre, value). A row's value
 * |c|^2/2 - x.c for all centres of a chunk is then |c|^2/2 less the lists of the row's columns,
 * times its values: no work for columns that row and centre do not share. Lists that hold a quarter
 * of a chunk or more are filled up with zeros and taken as vectors. Advantage: a row costs the
 * lengths of the lists of its columns, for text some 10 of 100 entries of a row a centre or fewer.
 * Disadvantage: additions at places that cannot be foreseen, one at a time; rows with more than
 * about a fifth of their columns are faster dense.
 *
 * Sums are in double precision, from which each value is rounded once to float32. With u = 2^-24
 * and gamma that of double precision for the longest centre, the value s_j obeys S_j >= s_j - G X/2
 * and S_j <= s_j + G X/2 + 2 G N_j as in kernel_f32_bound.h, with G = u + gamma in place of the
 * sums of float32, as the start is lowered by G N_j. A distance by definition meets as many
 * roundings as row and centre have entries together: columns that neither has add nothing, exactly.
 *
 * By Manhattan distances the start is the sum of |c_k|, from which every column that both have
 * subtracts |x_k| + |c_k| - |x_k - c_k|: twice the smaller magnitude where the signs agree, 0
 * otherwise, which is exact. Norms are sums of magnitudes then.
 */
#ifndef IKT_ISOLATION_POSTINGS_H
#define IKT_ISOLATION_POSTINGS_H

#include <stdbool.h>

#include "base/arrays.h"
#include "isolation/kernel_f32_bound.h"
#include "linalg/sparse.h"

enum { IKT_POSTINGS_CHUNK = 4096 };

/* Side by side: a short list is one line of the cache. */
typedef struct {
    float value;
    uint32_t member; /* centre, counted in the chunk */
} ikt_posting;

typedef struct {
    int64_t count, d; /* centres, columns */
    int64_t chunks;
    int64_t slots;        /* columns that some centre has */
    int32_t *slot;        /* [d] number of a column among them, or -1 */
    int64_t *first;       /* [chunks * slots + 1] where the list of each chunk and slot begins */
    ikt_posting *posting; /* [first[chunks * slots]] by member in each list */
    double *start;        /* [count] |c|^2/2 less its error bound, or that of the other metric */
    double *norm;         /* [count] |c|^2, by row of the centres, or sum |c_k| */
    double largest_norm;
    int64_t longest; /* entries of a centre, at most */
    bool is_manhattan;
    ikt_arrays held;
} ikt_postings;

/* LOCAL. Makes the index.
 *   centres   sparse rows; centre q of the index is row q * stride % count
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_postings_create(ikt_context *ctx, const ikt_sparse *centres, int64_t stride,
                               bool is_manhattan, ikt_postings *out);
void ikt_postings_destroy(ikt_postings *postings);

/* A row's entries in columns that some centre has: what is worth looking up for every chunk. */
typedef struct {
    int64_t count;
    int32_t *slot; /* [count] */
    double *value; /* [count] */
} ikt_posted_row;

/* LOCAL. Fills a posted row, whose arrays have space for the row's entries. */
void ikt_postings_post(const ikt_postings *postings, ikt_sparse_row row, ikt_posted_row *out);

/* LOCAL. Values of a row and the centres of one chunk.
 *   value   [IKT_POSTINGS_CHUNK], receives those of the chunk's centres
 * Returns how many centres there are. */
int64_t ikt_postings_score(const ikt_postings *postings, const ikt_posted_row *row, int64_t chunk,
                           float *value);

/* LOCAL, pure. The bound on values and distances of a row of `entries` entries. */
rounding ikt_postings_rounding(const ikt_postings *postings, int64_t entries);

/* LOCAL, pure. Bytes of an index of centres with so many entries in all. */
int64_t ikt_postings_bytes(int64_t count, int64_t d, int64_t entries);

#endif
