/* What an HDF5 file holds that could be embedded, and what could be labels: for messages and
 * `iktsne info`. Of AnnData files the parts are known by their names. */
#ifndef IKT_IO_HDF5_H5_CONTENTS_H
#define IKT_IO_HDF5_H5_CONTENTS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL, all of them, but for files opened in parallel by all ranks. Texts are cut at `size`. */

/* Whether the file is an AnnData: it says so, or has groups obs and var. */
bool ikt_h5_is_anndata(hid_t file);

/* Whether the file has variables of MATLAB 7.3 at its root. */
bool ikt_h5_is_matlab_file(hid_t file);

/* Whether a data set is a matrix of MATLAB's, which is stored column after column; and whether its
 * elements are numbers (IKT_ERR_DATA: text, cells, no elements at all). */
bool ikt_h5_is_matlab(hid_t dataset);
ikt_status ikt_h5_check_matlab(ikt_context *ctx, hid_t dataset, const char *name);

/* "X (2700 x 1838), obsm/X_pca (2700 x 50), layers/counts (sparse)"; "" where there is nothing. */
void ikt_h5_list_tables(hid_t file, char *text, size_t size);

/* "obsm/X_umap (2700 x 2), Y (2700 x 3)": those that have at most so many columns; "" where there
 * are none. */
void ikt_h5_list_maps(hid_t file, int64_t columns, char *text, size_t size);

/* "labels, leiden, cell_type": data sets of n entries, and columns of obs. */
void ikt_h5_list_labels(hid_t file, int64_t n, char *text, size_t size);

/* Fails with IKT_ERR_DATA: the file has no such data set; the message lists what it has. */
ikt_status ikt_h5_no_table(ikt_context *ctx, hid_t file, const char *path, const char *dataset);

#endif
