/* MATLAB's MAT files of versions 5, 6 and 7: what variables there are, and their values.
 *
 * Needs libmatio; a build without it says so when it meets such a file. The library trusts what it
 * reads, so a file is first tried in another process (base/sandbox.h): it is read twice, which is
 * bearable, as a variable of these versions has at most 2 GB. (Version 7.3 is HDF5, another
 * format.)
 */
#ifndef IKT_IO_FORMATS_MAT_FILE_H
#define IKT_IO_FORMATS_MAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/formats/binary.h"
#include "io/numbers/sparse_block.h"

/* A matrix, as MATLAB holds it: by columns. */
typedef struct {
    ikt_context *ctx;
    void *variable; /* libmatio's */
    int64_t n, d;
    bool sparse;
    ikt_element element; /* of this machine */
    void *values;        /* dense: [d][n] elements; lent by the variable */
} ikt_mat_matrix;

/* LOCAL. Reads the matrix that is meant (reader.h): of numbers, two axes, not complex.
 * `matrix` is to be closed in any case. Errors: IKT_ERR_FILE (damaged), IKT_ERR_DATA (no such
 * matrix), IKT_ERR_RESOURCE. */
ikt_status ikt_mat_read(ikt_context *ctx, const char *path, const char *name,
                        ikt_mat_matrix *matrix);

/* LOCAL. The rows of a sparse matrix as one block. Errors: IKT_ERR_DATA, IKT_ERR_RESOURCE. */
ikt_status ikt_mat_rows(const ikt_mat_matrix *matrix, const char *path, ikt_sparse_block *whole);

/* LOCAL. Frees; accepts an all-zero struct. */
void ikt_mat_close(ikt_mat_matrix *matrix);

/* Whether a MAT file of versions 5 to 7 is whole.
 *
 * The library that reads these files takes a matrix that ends too early, or whose compression is
 * damaged, for one of zeros. So the structure is gone through before: the elements of the file,
 * their compression to its end and checksum, the parts of each matrix, and that a matrix has as
 * many numbers as its size says. Cost: the file is read and unpacked once more.
 */

/* LOCAL. Errors: IKT_ERR_FILE: cannot be read, truncated, damaged, with what and where. */
ikt_status ikt_mat_check(ikt_context *ctx, const char *path);

#endif
