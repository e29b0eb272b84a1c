/* A data set file (/X, /labels, /marked, /rows, /columns) written in parallel, by blocks, and
 * atomically.
 *
 * Method: collective writes to chunks of about 1 MiB with a checksum (fletcher32), into a file
 * beside the final name. Blocks need not fit the chunks, but a chunk that is written in parts is
 * checked and summed each time: blocks of many chunks are cheapest.
 */
#ifndef IKT_IO_CONVERT_TABLE_WRITER_H
#define IKT_IO_CONVERT_TABLE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/numbers/sparse_rows.h"
#include "io/sources/source.h"

typedef struct ikt_table_writer ikt_table_writer;

/* COLLECTIVE. Begins a file of n rows and d columns; it appears under its name at close.
 *   n, d     rows and columns, at least 1
 *   labels   whether there is a data set /labels (int32)
 *   out      receives the writer, to be closed in any case; NULL on failure
 * Errors: IKT_ERR_FILE (cannot be written, exists and not `overwrite`). */
ikt_status ikt_table_create(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                            int64_t d, ikt_type type, bool labels, ikt_table_writer **out);

/* COLLECTIVE. Writes rows first .. first + count - 1; ranks may write different ranges, and none.
 *   rows     [count * d] of the file's type
 *   labels   [count], or NULL where the file has none. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_table_write(ikt_table_writer *writer, int64_t first, int64_t count, const void *rows,
                           const int32_t *labels);

/* COLLECTIVE, same arguments. A text attribute of the file, in UTF-8 and of any length. Errors:
 * IKT_ERR_FILE. */
ikt_status ikt_table_attribute(ikt_table_writer *writer, const char *name, const char *text);

/* COLLECTIVE, same arguments. Rows to be marked in pictures; at most once. Errors: IKT_ERR_FILE. */
ikt_status ikt_table_marked(ikt_table_writer *writer, const int64_t *rows, int64_t count);

/* COLLECTIVE, same arguments. The numbers that the rows have in the data set that they were taken
 * from, as /rows; at most once. Errors: IKT_ERR_FILE. */
ikt_status ikt_table_origin(ikt_table_writer *writer, const int64_t *rows, int64_t count);

/* A column of texts beside the rows. */
typedef struct {
    char name[256];    /* of the data set, without slashes */
    char heading[256]; /* what the column was called */
    int64_t width;     /* bytes of the longest text, in UTF-8 */
    int64_t bytes;     /* of all texts */
} ikt_table_text;

/* COLLECTIVE, same arguments. Makes the group /columns with a data set of n texts for each column:
 * of fixed length, filled up with zeros, compressed. At most once, before rows are written. Errors:
 * IKT_ERR_FILE. */
ikt_status ikt_table_texts(ikt_table_writer *writer, int64_t n, const ikt_table_text *text,
                           int64_t count);

/* COLLECTIVE. Writes entries first .. first + count - 1 of a column, `width` bytes each; ranks may
 * write different ranges, and none. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_table_write_texts(ikt_table_writer *writer, const ikt_table_text *text,
                                 int64_t first, int64_t count, const char *texts);

/* COLLECTIVE. `local` is this rank's outcome so far: when all ranks succeeded the file gets its
 * name, otherwise it is removed. Frees *writer. Returns the agreed outcome; accepts NULL. */
ikt_status ikt_table_close(ikt_table_writer **writer, ikt_status local);

/* A data set file whose /X is a sparse matrix, written in parallel, by blocks, and atomically.
 *
 * The matrix stands as AnnData has it (encoding csr_matrix 0.1.0): a group with the data sets data,
 * indices (int32, or int64 from 2^31 columns on) and indptr (int64), and the attribute shape.
 * Labels, attributes and closing are those of a dense one. */
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
