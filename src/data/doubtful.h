/* What rows show that their owner may not have meant: columns that number the rows, and matrices of
 * distances. Each is a warning and changes nothing.
 *
 * Columns: pandas, scikit-learn, scanpy and R's Rtsne take every column of numbers as a feature, so
 * it is taken here as well, but named, with what leaves it out. A column numbers the rows where all
 * its values in the sample are whole and different and it has a heading that says so, counts on in
 * equal steps, or is a permutation: its range is that of as many numbers as there are rows.
 * Advantage: counts that happen to be all different have another range, and values that happen to
 * have the range come twice. Disadvantage: numbers with gaps and without a heading are not seen;
 * where most columns are of this kind the rows are ranks, and nothing is said.
 * Matrices of up to as many rows as the sample has: as many columns as rows, nothing negative, a
 * diagonal of zeros, and rows that add up to what the columns of their number do.
 */
#ifndef IKT_DATA_DOUBTFUL_H
#define IKT_DATA_DOUBTFUL_H

#include "io/sources/source.h"
#include "linalg/column_stats.h"

/* What a pass over a sample of the rows gathers on one rank; the fields are doubtful.c's. */
typedef struct {
    int64_t n, d;       /* of all rows */
    double *step_least; /* [d] of values less the ones before them; -infinity: not all are whole */
    double *step_most;  /* [d] */
    double *row_sum;    /* [n] of a square matrix, of the rows that were seen; else NULL */
    int64_t *positive;  /* [n] entries above 0 of these rows */
    double diagonal;    /* the largest magnitude on it */
} ikt_doubtful;

/* LOCAL. n, d: of all rows. out: free with ikt_doubtful_free, also after a failure. */
ikt_status ikt_doubtful_create(ikt_context *ctx, int64_t n, int64_t d, ikt_doubtful *out);
void ikt_doubtful_free(ikt_doubtful *doubtful);

/* LOCAL. Looks at rows first .. first + count - 1 of all; the same ones may come again.
 *   rows   [count * d], finite */
void ikt_doubtful_see(ikt_doubtful *doubtful, int64_t first, int64_t count, const double *rows);

/* COLLECTIVE. Joins what the ranks saw, and warns.
 *   sample   the rows that were seen, which are read once more where a column may number them
 *   stats    of the sample
 *   source   for names
 * Errors: IKT_ERR_RESOURCE, the reader's. */
ikt_status ikt_doubtful_tell(ikt_context *ctx, ikt_doubtful *doubtful, const ikt_row_reader *sample,
                             const ikt_column_stats *stats, const ikt_source *source);

#endif
