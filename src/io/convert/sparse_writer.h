/* A data set file whose /X is a sparse matrix, written in parallel, by blocks, and atomically.
 *
 * The matrix stands as AnnData has it (encoding csr_matrix 0.1.0): a group with the data sets data,
 * indices (int32, or int64 from 2^31 columns on) and indptr (int64), and the attribute shape.
 * Labels, attributes and closing are those of table_writer.h.
 */
#ifndef IKT_IO_CONVERT_SPARSE_WRITER_H
#define IKT_IO_CONVERT_SPARSE_WRITER_H

#include "io/convert/table_writer.h"
#include "io/numbers/sparse_block.h"

typedef struct {
    int64_t n, d;    /* rows and columns, at least 1 */
    int64_t entries; /* in all rows */
    ikt_type type;   /* of the values */
    bool labels;     /* whether there is a data set /labels (int32) */
} ikt_sparse_shape;

/* LOCAL, pure. Bytes that the matrix takes as sparse rows, in floating numbers as they may be more
 * than there are. */
double ikt_sparse_bytes(const ikt_sparse_shape *shape);

/* COLLECTIVE. Begins the file; it appears under its name when ikt_table_close closes it.
 *   out   receives the writer, to be closed in any case; NULL on failure
 * Errors: IKT_ERR_FILE (cannot be written, exists and not `overwrite`). */
ikt_status ikt_sparse_create(ikt_context *ctx, const char *path, bool overwrite,
                             const ikt_sparse_shape *shape, ikt_table_writer **out);

/* COLLECTIVE. Writes the rows of a block; ranks may write different ones, and none.
 *   first         global row of the block's first
 *   first_entry   entries of all rows before it
 *   block         whose values fit the type of the file; spoilt
 * Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_sparse_write(ikt_table_writer *writer, int64_t first, int64_t first_entry,
                            ikt_sparse_block *block);

#endif
