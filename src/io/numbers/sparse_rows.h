/* Rows of which only the entries that are not zero are held: compressed sparse rows (CSR).
 *
 * Text as bags of words has some hundred entries in a row of a million columns; dense, it would not
 * fit anywhere. Rows are CANONICAL: columns ascend within a row, none comes twice, no value is 0,
 * so that equal rows are equal bytes.
 */
#ifndef IKT_IO_NUMBERS_SPARSE_ROWS_H
#define IKT_IO_NUMBERS_SPARSE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/numbers/element.h"

typedef struct {
    int64_t count;   /* rows */
    int64_t *start;  /* [count + 1] entries of row i are start[i] .. start[i + 1] - 1, from 0 */
    int32_t *column; /* [start[count]] ascending in each row */
    double *value;   /* [start[count]] finite, not 0 */
} ikt_sparse_rows;

/* LOCAL. Reserves memory for so many rows and entries; an array that has to grow loses what it
 * holds. An all-zero struct has no memory. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_rows_reserve(ikt_context *ctx, int64_t count, int64_t entries,
                                   ikt_sparse_rows *rows);
void ikt_sparse_rows_destroy(ikt_sparse_rows *rows);

/* LOCAL. Makes rows canonical: sorts each by column, adds up the values of a column that comes more
 * than once, in the order in which they stand, and drops what is 0 then.
 *   is_single   whether sums are rounded to float32
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_rows_order(ikt_context *ctx, bool is_single, ikt_sparse_rows *rows);

/* A block of sparse rows on its way from a file to another: what readers of sparse formats fill.
 *
 * Rows stand one after the other; numbers that a row does not hold are zero. Columns are counted
 * from 0 and values are doubles, whatever the formats at both ends say: the writer narrows them.
 */

/* An all-zero struct is an empty block. */
typedef struct {
    int64_t rows, entries;
    int64_t *ends;    /* [rows] entries of the block up to the end of each row */
    int64_t *columns; /* [entries] ascending within a row, each once */
    double *values;   /* [entries] */
    int32_t *labels;  /* [rows] where the rows come with labels */
    int64_t row_capacity, entry_capacity;
} ikt_sparse_block;

/* LOCAL. Reserves memory for so many rows and entries more. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_block_reserve(ikt_context *ctx, ikt_sparse_block *block, int64_t rows,
                                    int64_t entries);

/* LOCAL. Empties the block and keeps its memory; frees it. */
void ikt_sparse_block_clear(ikt_sparse_block *block);
void ikt_sparse_block_free(ikt_sparse_block *block);

/* LOCAL. First entry of a row of the block. */
int64_t ikt_sparse_block_first(const ikt_sparse_block *block, int64_t row);

/* LOCAL. Puts the entries of each row in the order of their columns. Costs nothing but a look where
 * they are. Returns the first row that names a column twice, or -1. */
int64_t ikt_sparse_block_sort(ikt_sparse_block *block);

/* LOCAL. The rows of a block as dense ones: rows[block->rows * d] of `type`, which they fit. */
void ikt_sparse_block_spread(const ikt_sparse_block *block, int64_t d, ikt_type type, void *rows);

/* A sparse matrix by columns, or as triplets in no order, brought into rows in memory.
 *
 * Method: the entries of each row are counted, and then each is put into its place. Advantage: one
 * pass over the entries each. Disadvantage: the matrix is in memory twice, 16 bytes an entry and 8
 * a row as rows; a reader that can avoid it does.
 */

/* A matrix as it stands in a file; arrays are borrowed. */
typedef struct {
    const char *path; /* for messages */
    int64_t n, d, entries;
    const int64_t *rows;          /* [entries] from 0 */
    bool is_unsigned;             /* the rows: those of 2^63 and more are negative here */
    const int64_t *columns;       /* [entries], or NULL: column_starts tells them */
    const int64_t *column_starts; /* [d + 1], where entries stand column after column */
    const double *values;         /* [entries] */
} ikt_sparse_triplets;

/* LOCAL. The rows of the matrix as one block, to be freed by ikt_sparse_block_free. Entries of the
 * same row and column are added up. Errors: IKT_ERR_DATA: entries outside the matrix, column starts
 * that do not ascend; IKT_ERR_RESOURCE: more than there is memory for. */
ikt_status ikt_sparse_whole(ikt_context *ctx, const ikt_sparse_triplets *triplets,
                            ikt_sparse_block *whole);

/* LOCAL. Appends rows from number `first` on to a block, as the read_sparse of a reader does. */
ikt_status ikt_sparse_whole_read(ikt_context *ctx, const ikt_sparse_block *whole, int64_t first,
                                 int64_t rows, int64_t entries, ikt_sparse_block *block);

#endif
