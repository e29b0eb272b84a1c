/* A sparse matrix by columns, or as places in no order, brought into rows in memory.
 *
 * Method: the entries of each row are counted, and then each is put into its place. Advantage: one
 * pass over the entries each. Disadvantage: the matrix is in memory twice, 16 bytes an entry and 8
 * a row as rows; a reader that can avoid it does.
 */
#ifndef IKT_IO_NUMBERS_SPARSE_WHOLE_H
#define IKT_IO_NUMBERS_SPARSE_WHOLE_H

#include "io/numbers/sparse_block.h"

/* A matrix as it stands in a file; arrays are lent. */
typedef struct {
    const char *path; /* for messages */
    int64_t n, d, entries;
    const int64_t *rows;          /* [entries] from 0 */
    const int64_t *columns;       /* [entries], or NULL: column_ends tells them */
    const int64_t *column_starts; /* [d + 1], where entries stand column after column */
    const double *values;         /* [entries] */
} ikt_sparse_places;

/* LOCAL. The rows of the matrix as one block, to be freed by ikt_sparse_block_free. Entries of the
 * same place are added up. Errors: IKT_ERR_DATA: places outside the matrix, column starts that do
 * not ascend; IKT_ERR_RESOURCE: more than there is memory for. */
ikt_status ikt_sparse_whole(ikt_context *ctx, const ikt_sparse_places *places,
                            ikt_sparse_block *whole);

/* LOCAL. Appends rows from number `first` on to a block, as the read_sparse of a reader does. */
ikt_status ikt_sparse_whole_read(ikt_context *ctx, const ikt_sparse_block *whole, int64_t first,
                                 int64_t rows, int64_t entries, ikt_sparse_block *block);

#endif
