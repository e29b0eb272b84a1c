/* A sparse matrix that stands column after column in a group of an HDF5 file, as MATLAB 7.3 and
 * AnnData (csc_matrix) store it, read whole into memory to be turned into rows.
 *
 *   MATLAB    data, ir, jc; attribute MATLAB_sparse: the number of rows
 *   AnnData   data, indices, indptr; attribute shape
 *
 * Advantage: one pass over the file. Disadvantage: 16 bytes an entry on one rank, which is why only
 * `convert` does so, once.
 */
#ifndef IKT_IO_HDF5_CSC_H5_H
#define IKT_IO_HDF5_CSC_H5_H

#include <hdf5.h>
#include <stdbool.h>

#include "base/status.h"
#include "io/numbers/element.h"

typedef struct {
    int64_t n, d, entries;
    ikt_type type;   /* that holds every value */
    int64_t *rows;   /* [entries] from 0, column after column; as the file has them, unchecked */
    int64_t *starts; /* [d + 1] first entry of each column; unchecked, too */
    double *values;  /* [entries] */
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
