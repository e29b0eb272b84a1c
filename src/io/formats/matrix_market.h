/* Matrix Market files: sparse matrices as text, a line `row column value` for each entry, behind a
 * banner that says what they are (Boisvert, Pozo & Remington 1996). Rows and columns count from 1.
 *
 * Read are coordinate files of real, integer or pattern entries, general or symmetric, gzipped or
 * not; and as rows also arrays, which are their values alone, column after column, of a symmetric
 * one from the diagonal on. Who reads a part of a file takes the lines of a range of its bytes
 * (text_lines.h).
 */
#ifndef IKT_IO_FORMATS_MATRIX_MARKET_H
#define IKT_IO_FORMATS_MATRIX_MARKET_H

#include "base/atomic_file.h"
#include "io/formats/text_lines.h"

typedef struct {
    int64_t rows, columns;
    int64_t entries;   /* lines of entries that are announced */
    bool is_pattern;   /* entries have no values: each is 1 */
    bool is_symmetric; /* an entry stands for its mirror image as well */
    bool is_dense;     /* an array; never where that is not asked for */
    bool is_packed;    /* the file is gzipped */
    int64_t lines;     /* of the header */
    int64_t body;      /* byte at which the entries begin, in a file that is not gzipped */
} ikt_matrix_market;

typedef struct {
    uint32_t row, column; /* from 0 */
    double value;
} ikt_matrix_entry;

/* LOCAL. Whether a file begins like one; false where it cannot be read. */
bool ikt_matrix_market_is(const char *path);

/* LOCAL. Whether it is one, or a zip archive, in which scipy keeps sparse matrices: what a graph
 * may be beside HDF5. */
bool ikt_matrix_file_is(const char *path);

/* LOCAL. Reads the header of `lines`, which have been opened at the beginning of the file.
 *   takes_dense   arrays are no error
 * Errors: IKT_ERR_DATA (another kind of matrix, sizes that are none), in lines->fault, without a
 * message; as ikt_text_lines_next. */
ikt_status ikt_matrix_market_header(ikt_text_lines *lines, bool takes_dense,
                                    ikt_matrix_market *out);

/* LOCAL. The next entry, of an array its value only; *found = false behind the last line. Errors:
 * IKT_ERR_DATA (no numbers, a row or column that the matrix does not have, a value that is not
 * finite), in lines->fault; as ikt_text_lines_next. */
ikt_status ikt_matrix_market_next(ikt_text_lines *lines, const ikt_matrix_market *about,
                                  ikt_matrix_entry *entry, bool *found);

#endif
