/* One-dimensional data sets beside the rows: labels, marks, columns to colour by.
 *
 * They are read like the rows: each rank a range, collectively. `path` is the name of the file for
 * messages; `n` is the length that the data set must have, the rows of the file that it describes.
 */
#ifndef IKT_IO_HDF5_COLUMNS_H
#define IKT_IO_HDF5_COLUMNS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Reads `count` integers from `first` on of the data set `name` of `file`: integers of
 * any type, or floating numbers that are integers.
 *   first, count   this rank's range; count may be 0
 *   values         [count]
 *   present        false where there is no such data set (no error)
 * Errors: IKT_ERR_DATA (length, not integers, 2^63 or more, which names the row; a link that leads
 * nowhere), IKT_ERR_FILE. */
ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present);

/* A column that is read range after range, of any HDF5 file. */
typedef struct ikt_column ikt_column;

/* COLLECTIVE. Opens it; a column of obs (AnnData) may be named alone. *out is NULL on failure.
 * Errors: those above; IKT_ERR_DATA where there is no such data set, naming those there are. */
ikt_status ikt_column_open(ikt_context *ctx, const char *path, const char *dataset, int64_t n,
                           ikt_column **out);

/* LOCAL. Its entries, where n was -1: any number of them. */
int64_t ikt_column_length(const ikt_column *column);

/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_column_close(ikt_column **column);

/* LOCAL. Whether its numbers are of a floating type. */
bool ikt_column_is_real(const ikt_column *column);

/* COLLECTIVE. Reads `count` numbers from `first` on, as doubles, or as integers what is stored as
 * integers. Errors: IKT_ERR_FILE; IKT_ERR_DATA: an integer of 2^63 or more. */
ikt_status ikt_column_read_reals(ikt_column *column, int64_t first, int64_t count, double *values);
ikt_status ikt_column_read_wholes(ikt_column *column, int64_t first, int64_t count,
                                  int64_t *values);

/* COLLECTIVE. Reads such a range as doubles and closes the file. */
ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *dataset,
                                  int64_t n, int64_t first, int64_t count, double *values);

/* COLLECTIVE. The entries of /marked below n, the number of rows in use, on every rank, in the
 * order of the file; see ikt_source_read_marked.
 *   n_file   rows of the file, all of which may be marked
 * Errors: IKT_ERR_DATA (not integers, no rows of the file), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n_file,
                           int64_t n, int64_t **rows, int64_t *count);

#endif
