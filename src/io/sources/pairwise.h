/* Numbers of every pair of rows, from a file: a dense n x n matrix of distances, similarities or
 * probabilities, read by blocks of rows. It stands beside rows (source.h) and sparse graphs
 * (io/results/graph_file.h); what the numbers mean, the caller knows. */
#ifndef IKT_IO_SOURCES_PAIRWISE_H
#define IKT_IO_SOURCES_PAIRWISE_H

#include <stdbool.h>

#include "dist/rows.h"
#include "io/sources/source.h"

typedef struct {
    ikt_source *source; /* n x n; its labels and marked rows are those beside the matrix */
    int64_t n;
    char values[32];    /* the attribute `values` of an HDF5 data set, or "" */
    bool is_borrowed;   /* the source is another's, or that of a program */
    bool is_kernel;     /* the numbers are similarities K, of either sign, and are handed on as the
                           distances sqrt(K_ii + K_jj - 2 K_ij) */
    bool is_indefinite; /* and K may belong to no distances: squares below 0 count as 0 */
    double *diagonal;   /* [n] of K, on every rank; NULL where is_kernel is not set */
} ikt_pairwise;

/* COLLECTIVE. Opens FILE or FILE:PATH where that names a dense matrix: a data set of an HDF5 file,
 * a file of any other format that ikt_source_open reads (NPY), or one that a program lends
 * (ikt_borrowed).
 *   out   close with ikt_pairwise_close; out->source is NULL, without an error, where the name is
 *         that of no dense matrix (a missing file, the group of a sparse one)
 * Errors: IKT_ERR_DATA where it is not square; those of ikt_source_open. */
ikt_status ikt_pairwise_open(ikt_context *ctx, const char *name, ikt_pairwise *out);

/* COLLECTIVE. The distances of all pairs from a source of the caller's, which is borrowed until
 * they are closed.
 *   is_kernel   see above; the diagonal is read then
 *   out         close with ikt_pairwise_close, also after a failure
 * Errors: IKT_ERR_DATA where the source is sparse or not square, or K_ii is not finite; those of
 * reading; IKT_ERR_RESOURCE. */
ikt_status ikt_pairwise_lend(ikt_context *ctx, ikt_source *source, bool is_kernel,
                             ikt_pairwise *out);

/* COLLECTIVE. Reads all entries and refuses what are no distances. Entries may differ from their
 * mirror images by rounding: by 1e-4 of the larger one, or by 1e-6 of the largest of all.
 * Method: sums of hashes tell whether all entries have a mirror image, which one pass over the own
 * rows finds; only where some have none, windows of columns are exchanged and compared. Advantage:
 * the usual case costs one pass and no memory. Disadvantage: the other costs more passes the larger
 * the matrix is.
 * Errors: IKT_ERR_DATA naming row and column: an entry that is negative, not finite or too large to
 * be squared in single precision, a row whose distance to itself is not 0, and of entries that are
 * not symmetric the worst; K that belongs to no distances; all entries 0. */
ikt_status ikt_pairwise_check(ikt_context *ctx, const ikt_pairwise *pairs);

/* COLLECTIVE. The same for similarities, of which that of a row with itself is not looked at.
 *   largest   receives that of all pairs of different rows
 * Errors: IKT_ERR_DATA: an entry that is negative or not finite, entries that are not symmetric,
 * all entries 0. */
ikt_status ikt_pairwise_check_similarities(ikt_context *ctx, const ikt_pairwise *pairs,
                                           double *largest);

typedef struct {
    double largest, largest_self; /* magnitudes of all entries, and of the diagonal */
    int64_t negative;             /* entries below 0 */
} ikt_pairwise_numbers;

/* COLLECTIVE. The same for similarities of either sign, those of a row with itself among them, of
 * pairs that are K as it is (is_kernel without a diagonal).
 *   tolerance   how far entries may differ from their mirror images, as a part of the largest
 *               magnitude; below 0: at will
 * Errors: IKT_ERR_DATA: an entry that is not finite, entries that are not symmetric, all 0. */
ikt_status ikt_pairwise_check_numbers(ikt_context *ctx, const ikt_pairwise *pairs, double tolerance,
                                      ikt_pairwise_numbers *out);

/* COLLECTIVE. Closes and empties; accepts an empty one. */
void ikt_pairwise_close(ikt_pairwise *pairs);

/* LOCAL. Is given rows first .. first + count - 1 as value[count * n]. */
typedef ikt_status (*ikt_pairwise_take)(void *self, int64_t first, int64_t count,
                                        const double *value);

/* COLLECTIVE. Hands the own rows to `take`, some million numbers at a time, in the order of the
 * file. Entries of a row with itself are handed on as they are.
 * Errors: IKT_ERR_DATA naming row and column of another entry that is negative or not finite;
 * those of reading and of `take`; IKT_ERR_RESOURCE. Agreed. */
ikt_status ikt_pairwise_read(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                             ikt_pairwise_take take, void *self);

#endif
