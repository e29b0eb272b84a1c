/* A data set file (/X, /labels, /marked) written in parallel, by blocks, and atomically. */
#ifndef IKT_IO_TABLE_WRITER_H
#define IKT_IO_TABLE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/source.h"

typedef struct ikt_table_writer ikt_table_writer;

/* COLLECTIVE. Begins a file of n rows and d columns; it appears under its name at close.
 *   labels   whether there is a data set /labels (int32)
 * Errors: IKT_ERR_FILE (cannot be written, exists and not `overwrite`). */
ikt_status ikt_table_create(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                            int64_t d, ikt_type type, bool labels, ikt_table_writer **out);

/* COLLECTIVE. Writes rows first .. first + count - 1; ranks may write different ranges, and none.
 *   rows     [count * d] of the file's type
 *   labels   [count], or NULL where the file has none. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_table_write(ikt_table_writer *writer, int64_t first, int64_t count, const void *rows,
                           const int32_t *labels);

/* COLLECTIVE, same arguments. A text attribute of the file, of any length. */
ikt_status ikt_table_attribute(ikt_table_writer *writer, const char *name, const char *text);

/* COLLECTIVE, same arguments. Rows to be marked in pictures. */
ikt_status ikt_table_marked(ikt_table_writer *writer, const int64_t *rows, int64_t count);

/* COLLECTIVE. `local` is this rank's outcome so far: when all ranks succeeded the file gets its
 * name, otherwise it is removed. Frees *writer. Returns the agreed outcome; accepts NULL. */
ikt_status ikt_table_close(ikt_table_writer **writer, ikt_status local);

#endif
