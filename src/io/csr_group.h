/* A sparse matrix by rows (CSR) in a group of an HDF5 file: AnnData's form, read by ranges of rows.
 *
 *   GROUP          attributes encoding-type = "csr_matrix", shape = [n, d]; AnnData before 0.8
 * wrote h5sparse_format = "csr" and h5sparse_shape instead, which is read as well GROUP/indptr   [n
 * + 1] integers: the entries of row i are indptr[i] .. indptr[i + 1] - 1 GROUP/indices  [entries]
 * integers, columns of the entries GROUP/data     [entries] numbers or truth values Files are not
 * believed: ranges, columns and values are checked as they are read, and messages name row and
 * column. Order and repetition within a row are the reader's matter.
 */
#ifndef IKT_IO_CSR_GROUP_H
#define IKT_IO_CSR_GROUP_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/source.h"

typedef struct {
    ikt_context *ctx;
    hid_t group, indptr, indices, data;
    int64_t n, d; /* rows, columns; d is at most 2^32 - 1 */
    int64_t entries;
    ikt_type type;   /* of ours that holds every value: integers of more than 16 bits are float64 */
    bool is_truth;   /* values are truth values, which are read as bytes */
    char name[1024]; /* "file.h5:/X" */
} ikt_csr_group;

/* LOCAL. Whether `path` is a group of `file` that says that it is a sparse matrix (by rows or by
 * columns), or has the three data sets of one. */
bool ikt_csr_group_is(hid_t file, const char *path);

/* COLLECTIVE. Opens the group and checks shape, types and lengths.
 *   file   open; stays the caller's
 *   out    free with ikt_csr_group_close, also after a failure
 * Errors: IKT_ERR_DATA (no group, no CSR matrix, data sets missing or not of the lengths that shape
 * and indptr say), IKT_ERR_FILE. */
ikt_status ikt_csr_group_open(ikt_context *ctx, hid_t file, const char *path, ikt_csr_group *out);
void ikt_csr_group_close(ikt_csr_group *g);

/* COLLECTIVE, as all that follow: ranks may ask for different ranges, and for none. Where the
 * entries of rows first .. first + count - 1 begin.
 *   start   [count + 1] ascending, within 0 .. entries
 * Errors: IKT_ERR_DATA naming the row, IKT_ERR_FILE. */
ikt_status ikt_csr_group_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                                int64_t *start);

/* Columns of the entries of these rows.
 *   start    [count + 1] of ikt_csr_group_starts
 *   column   [start[count] - start[0]], receives them, each below d
 * Errors: IKT_ERR_DATA naming row and column, IKT_ERR_FILE, IKT_ERR_RESOURCE. Memory: 8 MiB. */
ikt_status ikt_csr_group_columns(const ikt_csr_group *g, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column);

/* Values of the entries of these rows, as `type`; bytes of a matrix of another type are refused.
 *   column   [start[count] - start[0]] of ikt_csr_group_columns, for messages
 *   value    [start[count] - start[0]] of that type
 * Errors: IKT_ERR_DATA naming row and column of a value that is not finite, IKT_ERR_FILE. */
ikt_status ikt_csr_group_values(const ikt_csr_group *g, int64_t first, int64_t count,
                                const int64_t *start, const uint32_t *column, ikt_type type,
                                void *value);

/* LOCAL, pure. The row, of first .. first + count - 1, that entry e (counted from start[0]) is in.
 */
int64_t ikt_csr_row_of(int64_t first, int64_t count, const int64_t *start, int64_t e);

#endif
