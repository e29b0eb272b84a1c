/* A sparse matrix by rows (CSR) in a group of an HDF5 file, as AnnData and h5sparse store it, read
 * by ranges of rows.
 *
 *   GROUP           attributes encoding-type = "csr_matrix", shape = [n, d]; AnnData before 0.8
 *                   wrote h5sparse_format = "csr" and h5sparse_shape instead
 *   GROUP/indptr    [n + 1] integers: the entries of row i are indptr[i] .. indptr[i + 1] - 1
 *   GROUP/indices   [entries] integers, columns of the entries
 *   GROUP/data      [entries] numbers or truth values
 *
 * Files are not believed: ranges, columns and values are checked as they are read, and messages
 * name row and column. Order and repetition within a row are the reader's matter: data add up what
 * comes twice (source_hdf5.c), a graph refuses it (graph/load.h).
 */
#ifndef IKT_IO_HDF5_CSR_GROUP_H
#define IKT_IO_HDF5_CSR_GROUP_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/hdf5/h5_numbers.h"

typedef struct {
    ikt_context *ctx;
    const char *name; /* "file.h5:/X", lent */
    hid_t group, indptr, indices, data;
    int64_t n, d;         /* rows, columns, at least 1 */
    int64_t entries;      /* as stored; more than indptr says where some are no row's */
    ikt_h5_number number; /* what the values are */
    bool is_short;        /* columns are stored in 32 bits */
} ikt_csr_group;

/* LOCAL. Whether a group has the three data sets of such a matrix, or says that it is sparse. */
bool ikt_csr_group_is(hid_t group);

/* LOCAL. Rows and columns by the attribute of the group; false where there is none. */
bool ikt_csr_group_shape(hid_t group, int64_t shape[2]);

/* LOCAL. Opens the parts of a group and checks their shapes, types and lengths.
 *   group          an open group, taken over also on failure
 *   name           lent until ikt_csr_group_close
 *   columns_most   columns that the caller can use, below 2^32
 *   out            free with ikt_csr_group_close, also after a failure
 * Errors: IKT_ERR_DATA (stored otherwise; parts missing, no numbers, or of lengths that do not
 * match; too many columns), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csr_group_open(ikt_context *ctx, hid_t group, const char *name, int64_t columns_most,
                              ikt_csr_group *out);

/* LOCAL, but COLLECTIVE as all closing. Accepts one that was never opened (all ids negative). */
void ikt_csr_group_close(ikt_csr_group *g);

/* COLLECTIVE, as all that follow: ranks may ask for different ranges, and for none. Where the
 * entries of rows first .. first + count - 1 begin.
 *   start   [count + 1] ascending, within 0 .. entries; 0 for no rows
 * Errors: IKT_ERR_DATA naming the row, IKT_ERR_FILE. */
ikt_status ikt_csr_group_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                                int64_t *start);

/* Columns and values of the entries of these rows.
 *   start    [count + 1] of ikt_csr_group_starts
 *   column   [start[count] - start[0]], receives them, each below d
 *   value    [start[count] - start[0]], finite
 * Errors: IKT_ERR_DATA naming row and column (a column beyond d, a value that is not finite, an
 * integer of 2^53 or more), IKT_ERR_FILE. */
ikt_status ikt_csr_group_entries(const ikt_csr_group *g, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column, double *value);

#endif
