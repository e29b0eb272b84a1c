/* One-dimensional data sets beside the rows: labels, marks, columns to colour by. */
#ifndef IKT_IO_COLUMNS_H
#define IKT_IO_COLUMNS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Reads `count` integers from `first` on of the data set `name` of `file`: integers of
 * any type, or floating numbers that are integers.
 *   path      of the file, for messages
 *   n         the length that it must have
 *   present   false where there is no such data set (no error)
 * Errors: IKT_ERR_DATA (length, not integers; names the row), IKT_ERR_FILE. */
ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present);

/* COLLECTIVE. The same for numbers of any type, of any HDF5 file; the data set must exist. */
ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *dataset,
                                  int64_t n, int64_t first, int64_t count, double *values);

/* COLLECTIVE. All entries of /marked below n, on every rank; see ikt_source_read_marked. */
ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n,
                           int64_t **rows, int64_t *count);

#endif
