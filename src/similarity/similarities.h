/* How similar rows are to some chosen rows (a support, or landmarks), under one of several kernels.
 *
 * linear      k(x, s) = x^T s of the rows after preprocessing, which takes a common offset off the
 *             columns of numbers that are no bytes: nothing that is centred depends on that
 * gaussian    k(x, s) = exp(-|x - s|^2 / (2 bandwidth^2))
 * isolation   k(x, s) = share of equal cell codes (Zhu & Ting 2021, equation 2)
 * given       k(x, s) = the entry of a matrix of similarities (similarity_matrix.h)
 *
 * Method: the chosen rows, or their codes, are held by every rank, so that a block of n rows and m
 * chosen ones takes n m products of d columns, or n m comparisons of t codes, and no message. Inner
 * products come from a tile whose operations have one order (linalg/dot_tile.h). Of a matrix the
 * columns of the chosen rows are read. Advantage: a value depends on its two rows alone, has the
 * same bits on any ranks and threads, and k(x, s) = k(s, x) bit for bit (of a matrix, as far as it
 * is symmetric). Disadvantage: m d numbers on every rank.
 */
#ifndef IKT_SIMILARITY_SIMILARITIES_H
#define IKT_SIMILARITY_SIMILARITIES_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes.h"
#include "similarity/settings.h"

typedef struct ikt_similarities ikt_similarities;

/* What rows are compared by. */
typedef struct {
    ikt_similarity_kind kind; /* not AUTO */
    double bandwidth;         /* of the Gaussian kernel; not above 0: half of the median distance of
                                 the chosen rows */
    ikt_dataset *data;        /* borrowed. Of kind GIVEN, and of a Gaussian kernel on distances, a
                                 precomputed one (ikt_dataset_pairs) */
    const ikt_codes *codes;   /* of the own rows, for the Isolation kernel; borrowed; else NULL */
    /* Where the chosen rows are not rows of `data` (those of a map in which its rows are new): */
    bool is_apart;            /* they are given, or of kind GIVEN: `data` has one column for each
                                 of them, the similarity to it, and none is known among them */
    const float *chosen_rows; /* [m * columns]; borrowed while they are prepared; else NULL */
    const void *chosen_codes; /* [m * codes->stride bytes], for the Isolation kernel; likewise */
} ikt_similarity_of;

/* COLLECTIVE. Prepares the comparison of any rows with m chosen ones.
 *   rows     ownership of the rows of `of->data`
 *   chosen   [m] ascending, distinct, the same on all ranks; borrowed until destroyed. NULL where
 *            they are apart
 *   out      free with ikt_similarities_destroy; NULL on failure
 * Errors: IKT_ERR_USAGE for a kernel that the data do not allow; IKT_ERR_DATA where the bandwidth
 * is to be chosen and most chosen rows are equal; those of reading; IKT_ERR_RESOURCE. */
ikt_status ikt_similarities_create(ikt_context *ctx, const ikt_similarity_of *of,
                                   const ikt_rows *rows, const int64_t *chosen, int64_t m,
                                   ikt_similarities **out);
void ikt_similarities_destroy(ikt_similarities **s);

/* LOCAL. The bandwidth in use; 0 for kernels without one. */
double ikt_similarities_bandwidth(const ikt_similarities *s);

/* LOCAL. Rows that are asked for at a time: fewer ones use less of the work space. */
int64_t ikt_similarities_rows_most(const ikt_similarities *s);

/* COLLECTIVE. Rows of the data with the chosen rows. Ranks may ask for different rows, also for
 * none.
 *   first, count   own rows; at most ikt_similarities_rows_most
 *   k              [count * m] receives k(x_i, s_l)
 *   self           [count] receives k(x_i, x_i); or NULL, as it must be of kind GIVEN apart
 * Errors: those of reading; IKT_ERR_DATA for similarities to rows apart that are not finite. */
ikt_status ikt_similarities_of_rows(ikt_similarities *s, int64_t first, int64_t count, double *k,
                                    double *self);

/* COLLECTIVE. Chosen rows with each other, whoever owns them.
 *   first, count   which of the m chosen rows, any on each rank; at most ikt_similarities_rows_most
 *   k              [count * m] */
ikt_status ikt_similarities_of_chosen(ikt_similarities *s, int64_t first, int64_t count, double *k);

#endif
