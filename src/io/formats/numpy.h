/* Files of numpy: NPY, an array behind a header (magic, version, and a dictionary as text; versions
 * 1 to 3), and NPZ, a zip file whose members are NPY files, stored or deflated, in which scipy
 * keeps sparse matrices, too.
 *
 * Archives need libzip; a build without it says so when it meets one.
 */
#ifndef IKT_IO_FORMATS_NUMPY_H
#define IKT_IO_FORMATS_NUMPY_H

#include "io/formats/bytes.h"

enum { IKT_NPY_AXES_MOST = 8, IKT_NPY_TYPE_SIZE = 24 };

typedef struct {
    char type[IKT_NPY_TYPE_SIZE]; /* as numpy writes it, "<f4", perhaps cut */
    bool numeric;                 /* of a type that we read; `element` says how it is stored */
    ikt_element element;
    bool fortran;
    int axes;
    int64_t shape[IKT_NPY_AXES_MOST];
    int64_t bytes; /* of the header */
} ikt_npy_header;

/* LOCAL. Reads the header; the elements follow in `bytes`. Errors: IKT_ERR_FILE (ends in its
 * header), IKT_ERR_DATA (no NPY, malformed). */
ikt_status ikt_npy_header_read(ikt_bytes *bytes, ikt_npy_header *header);

/* LOCAL. Begins to read an array, which stands in the open bytes of a reader of ikt_reader_npy:
 * sets what the reader tells. Errors: IKT_ERR_FILE, IKT_ERR_DATA. */
ikt_status ikt_npy_begin(ikt_reader *reader);

typedef struct {
    char *name;       /* without ".npy" */
    int64_t position; /* in the archive */
    ikt_npy_header header;
} ikt_npz_member;

typedef struct {
    ikt_context *ctx;
    const char *path; /* lent */
    void *zip;        /* libzip's */
    int64_t file_bytes;
    ikt_npz_member *member; /* [count] the arrays, in the order of the file */
    int64_t count;
} ikt_npz;

/* LOCAL. The array of that name, or NULL. */
const ikt_npz_member *ikt_npz_find(const ikt_npz *npz, const char *name);

/* LOCAL. The bytes of a member, from its header on; reading the last of them compares the checksum
 * (CRC-32) of the archive. Several can be open at once, and are closed before the archive. Errors:
 * IKT_ERR_FILE. */
ikt_status ikt_npz_bytes(const ikt_npz *npz, const ikt_npz_member *member, ikt_bytes *bytes);

/* LOCAL. A reader of the sparse matrix in an archive (scipy.sparse.save_npz; formats csr, csc and
 * coo), which has the arrays "format", "shape" and "data": to be closed before the archive.
 * Rows (csr) are streamed; columns (csc) and triplets (coo) are brought into rows in memory.
 * Errors: IKT_ERR_DATA (another format, arrays that do not go together), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE; while it reads: IKT_ERR_DATA (a column that the matrix does not have, or twice
 * in a row). */
ikt_status ikt_npz_sparse_open(const ikt_npz *npz, ikt_reader **reader);

#endif
