/* Sparse matrices in groups of HDF5 files: by rows (CSR), as AnnData and h5sparse store them, read
 * by ranges of rows; and column after column, as MATLAB 7.3 and AnnData (csc_matrix) store them,
 * read whole into memory to be turned into rows.
 *
 * By rows:
 *   GROUP           attributes encoding-type = "csr_matrix", shape = [n, d]; AnnData before 0.8
 *                   wrote h5sparse_format = "csr" and h5sparse_shape instead
 *   GROUP/indptr    [n + 1] integers: the entries of row i are indptr[i] .. indptr[i + 1] - 1
 *   GROUP/indices   [entries] integers, columns of the entries
 *   GROUP/data      [entries] numbers or truth values
 * 10x Genomics has a data set `shape`, genes x cells, and the genes of a cell together: cells are
 * rows.
 *
 * Files are not believed: ranges, columns and values are checked as they are read, and messages
 * name row and column. Order and repetition within a row are the reader's matter: data add up what
 * comes twice (source_hdf5.c), a graph refuses it (graph/load.c).
 *
 * By columns:
 *   MATLAB    data, ir, jc; attribute MATLAB_sparse: the number of rows
 *   AnnData   data, indices, indptr; attribute shape
 * Advantage of reading these whole: one pass over the file. Disadvantage: 16 bytes an entry on one
 * rank, which is why only `convert` does so, once.
 */
#ifndef IKT_IO_HDF5_SPARSE_GROUP_H
#define IKT_IO_HDF5_SPARSE_GROUP_H

#include "base/status.h"
#include "io/hdf5/h5.h"

typedef struct {
    ikt_context *ctx;
    const char *name; /* "file.h5:/X", borrowed */
    hid_t group, indptr, indices, data;
    int64_t n, d;               /* rows, columns, at least 1 */
    int64_t entries;            /* as stored; more than indptr says where some are no row's */
    ikt_h5_number number;       /* what the values are */
    ikt_h5_number index, start; /* what the columns and the numbers of indptr are */
} ikt_csr_group;

/* LOCAL. Whether a group has the three data sets of such a matrix, or says that it is sparse. */
bool ikt_csr_group_is(hid_t group);

/* LOCAL. Rows and columns by the attribute of the group, or its data set `shape`; false where there
 * is none. */
bool ikt_csr_group_shape(hid_t group, int64_t shape[2]);

/* LOCAL. Opens the parts of a group and checks their shapes, types and lengths.
 *   group          an open group, taken over also on failure
 *   name           borrowed until ikt_csr_group_close
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

typedef struct {
    int64_t n, d, entries;
    ikt_type type;    /* that holds every value */
    bool is_unsigned; /* the rows, as the file has them */
    int64_t *rows;    /* [entries] from 0, column after column; as the file has them, unchecked */
    int64_t *starts;  /* [d + 1] first entry of each column; unchecked, too */
    double *values;   /* [entries] */
} ikt_csc;

/* LOCAL. Whether a group holds such a matrix. */
bool ikt_csc_is_here(hid_t group);

/* LOCAL. Fails with IKT_ERR_DATA: only rows can be read; names the command that makes them.
 *   path, dataset   of the file and in it */
ikt_status ikt_csc_refuse(ikt_context *ctx, hid_t group, const char *path, const char *dataset);

/* LOCAL. Reads it all; free with ikt_csc_destroy, also after a failure.
 *   name   for messages
 * Errors: IKT_ERR_DATA (parts missing, lengths that do not go together, no numbers), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE (more than there is memory for). */
ikt_status ikt_csc_read(ikt_context *ctx, hid_t group, const char *name, ikt_csc *out);
void ikt_csc_destroy(ikt_csc *csc);

#endif
