/* What the files of io/ share about HDF5: opening in parallel, ranges of rows, attributes, reasons.
 *
 * HDF5 prints its own error stack; that is switched off, and the innermost line of it becomes part
 * of our one message.
 */
#ifndef IKT_IO_H5_H
#define IKT_IO_H5_H

#include <hdf5.h>
#include <stdbool.h>

#include "base/status.h"

/* COLLECTIVE. Opens an existing file on all ranks for reading. Rank 0 looks first, alone, so that a
 * missing or damaged file gives one message. Errors: IKT_ERR_FILE. *file is negative on failure. */
ikt_status ikt_h5_open(ikt_context *ctx, const char *path, hid_t *file);

/* COLLECTIVE. Creates (truncates) a file on all ranks for writing. Errors: IKT_ERR_FILE. */
ikt_status ikt_h5_create(ikt_context *ctx, const char *path, hid_t *file);

/* LOCAL. Closes whatever `id` is; accepts negative ids. Returns false when closing failed. */
bool ikt_h5_close(hid_t id);

/* LOCAL. Innermost line of HDF5's error stack, or "unknown reason"; clears the stack. */
const char *ikt_h5_reason(char *text, size_t size);

/* LOCAL. True when `file` has an object of that path (every part of the path exists). */
bool ikt_h5_has(hid_t file, const char *path);

/* COLLECTIVE. Reads or writes rows first .. first + count - 1 of a one- or two-dimensional data set
 * with `row_bytes` bytes a row in memory type `type`, collectively, in pieces below 1 GiB. Ranks
 * may ask for different ranges and for none. name   for messages. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_h5_read_rows(ikt_context *ctx, hid_t dataset, const char *name, hid_t type,
                            int64_t row_bytes, int64_t first, int64_t count, void *rows);
ikt_status ikt_h5_write_rows(ikt_context *ctx, hid_t dataset, const char *name, hid_t type,
                             int64_t row_bytes, int64_t first, int64_t count, const void *rows);

/* COLLECTIVE. Creates a data set of n rows (and d columns when d > 0), chunked in whole rows of
 * about 1 MiB and checksummed (fletcher32). Returns a negative id on failure. */
hid_t ikt_h5_create_rows(hid_t parent, const char *name, hid_t type, int64_t n, int64_t d);

/* COLLECTIVE. Attributes with the same value on all ranks. Return false on failure. */
bool ikt_h5_set_text(hid_t object, const char *name, const char *text);
bool ikt_h5_set_int(hid_t object, const char *name, int64_t value);
bool ikt_h5_set_real(hid_t object, const char *name, double value);

/* LOCAL. Reads a text attribute (fixed or variable length) into a string of ikt_alloc; NULL with
 * IKT_OK where there is none. */
ikt_status ikt_h5_get_text(ikt_context *ctx, hid_t object, const char *name, char **text);

#endif
