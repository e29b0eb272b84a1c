/* Missing values: a source without them.
 *
 * Method: one pass over the rows finds what is missing (NaN) and the mean of each column's other
 * values, or, in eight passes more, their median by counting bytes of the numbers from the highest
 * on; or which rows hold missing values. A source on top of the other then gives rows in
 * which the values stand, or the other rows alone. Everything behind it knows nothing of it.
 * Advantage: X stays where it is; the same bits on any ranks, as counts are integers and sums are
 * exact. Disadvantage: extra passes over the file.
 */
#ifndef IKT_DATA_MISSING_H
#define IKT_DATA_MISSING_H

#include <stdbool.h>

#include "io/sources/source.h"
#include "linalg/blocks.h"

/* Order of the choices of preprocess.missing. */
typedef enum {
    IKT_MISSING_REFUSE, /* an error that names the first row and column */
    IKT_MISSING_MEAN,   /* the mean of the column's other values */
    IKT_MISSING_MEDIAN, /* their median, the mean of the two middle ones of an even number */
    IKT_MISSING_DROP    /* rows with missing values are left out */
} ikt_missing;

/* LOCAL, pure. What tells which rows there are as well, in fewer passes: a mean for a median. */
static inline ikt_missing ikt_missing_of_look(int how) {
    return how == IKT_MISSING_MEDIAN ? IKT_MISSING_MEAN : (ikt_missing)how;
}

/* COLLECTIVE. Puts a source without missing values on top of another one; logs how many values
 * were missing, in how many rows and columns, and what was done.
 *   from      dense; borrowed, or taken over where `owns` says so: then closing *out closes it,
 *             and a failure leaves it to the caller
 *   fill      [columns] what stands for missing values, from the rows of a model; NULL: from these
 *   out       receives the source (owned by the caller); NULL where nothing can be missing (how is
 *             refuse, or the numbers are integers) or nothing is (drop)
 * Errors: IKT_ERR_DATA (a column without any value, no row without a missing one), IKT_ERR_USAGE
 * (sparse rows), IKT_ERR_RESOURCE, the source's. */
ikt_status ikt_missing_open(ikt_context *ctx, ikt_source *from, bool owns, ikt_missing how,
                            const double *fill, ikt_source **out);

/* LOCAL. What stands for missing values in a source that ikt_missing_open made, [columns]; NULL:
 * it was not made so. Valid as long as the source. */
const double *ikt_missing_fill(const ikt_source *source);

/* LOCAL. Whether rows are left out of a source, and the number that row `row` of it has among those
 * that are read. */
bool ikt_missing_drops(const ikt_source *source);
int64_t ikt_missing_original(const ikt_source *source, int64_t row);

/* The rows of a dense source as they are, in double precision, for passes over them. */

typedef struct {
    ikt_context *ctx;
    ikt_source *source; /* borrowed */
    void *native;       /* of one block of rows, in the source's type */
} ikt_raw_rows;

/* COLLECTIVE. Makes a reader of a source's rows, of which at most ikt_stream_rows(columns, 8) are
 * read at a time.
 *   source   dense; borrowed
 *   out      free with ikt_raw_rows_destroy, also after a failure
 *   reader   receives the reader, valid as long as `out`
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_raw_rows_create(ikt_context *ctx, ikt_source *source, ikt_raw_rows *out,
                               ikt_row_reader *reader);
void ikt_raw_rows_destroy(ikt_raw_rows *rows);

/* LOCAL. Values of a source's type as doubles. */
void ikt_widen(ikt_type type, const void *from, int64_t count, double *to);

#endif
