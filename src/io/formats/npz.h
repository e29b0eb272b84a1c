/* NPZ, numpy's archive of arrays: a zip file whose members are NPY files, stored or deflated.
 *
 * Needs libzip; a build without it says so when it meets such a file.
 */
#ifndef IKT_IO_FORMATS_NPZ_H
#define IKT_IO_FORMATS_NPZ_H

#include "io/formats/npy_header.h"
#include "io/numbers/sparse_block.h"

typedef struct {
    char *name;    /* without ".npy" */
    int64_t place; /* in the archive */
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

/* LOCAL. Opens the archive and reads the headers of its arrays. `npz` is to be closed in any case.
 * Errors: IKT_ERR_FILE (damaged), IKT_ERR_DATA (no array in it, malformed), IKT_ERR_RESOURCE. */
ikt_status ikt_npz_open(ikt_context *ctx, const char *path, ikt_npz *npz);

/* LOCAL. The array of that name, or NULL. */
const ikt_npz_member *ikt_npz_find(const ikt_npz *npz, const char *name);

/* LOCAL. The bytes of a member, from its header on; reading the last of them compares the checksum
 * (CRC-32) of the archive. several can be open at once, and are closed
 * before the archive. Errors: IKT_ERR_FILE. */
ikt_status ikt_npz_bytes(const ikt_npz *npz, const ikt_npz_member *member, ikt_bytes *bytes);

/* LOCAL. Closes and frees; accepts an all-zero struct. */
void ikt_npz_close(ikt_npz *npz);

/* A one-dimensional array of an NPZ archive, read in order: what sparse matrices of scipy are made
 * of. */

/* All zero: closed. */
typedef struct {
    ikt_context *ctx;
    const char *path, *name; /* for messages; lent */
    ikt_bytes bytes;
    ikt_element element;
    int64_t length, done;
    unsigned char *stored; /* a block as stored */
} ikt_npz_column;

/* LOCAL. Opens the array. Errors: IKT_ERR_DATA (not there, not one axis, no numbers), IKT_ERR_FILE
 * (more than the archive can hold). */
ikt_status ikt_npz_column_open(const ikt_npz *npz, const char *name, ikt_npz_column *column);

/* LOCAL. The next `count` numbers, as integers or as reals. Errors: IKT_ERR_FILE (truncated),
 * IKT_ERR_DATA (not integers; beyond 2^53). */
ikt_status ikt_npz_column_ints(ikt_npz_column *column, int64_t count, int64_t *values);
ikt_status ikt_npz_column_reals(ikt_npz_column *column, int64_t count, double *values);

/* LOCAL. All of it, in memory of ikt_alloc, the caller's. Errors as above, IKT_ERR_RESOURCE. */
ikt_status ikt_npz_column_all(const ikt_npz *npz, const char *name, int64_t **values,
                              int64_t *length);

/* LOCAL. Closes; accepts a closed one. */
void ikt_npz_column_close(ikt_npz_column *column);

/* Sparse matrices of scipy (scipy.sparse.save_npz) as sparse rows: formats csr, csc and coo.
 *
 * Rows (csr) are streamed; columns (csc) and places (coo) are brought into rows in memory.
 */

/* All zero: closed. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    bool streamed; /* csr */
    int64_t n, d, entries;
    ikt_type type;                  /* that holds every value */
    int64_t *starts;                /* csr: [n + 1] */
    ikt_npz_column columns, values; /* csr */
    ikt_sparse_block whole;         /* csc, coo */
    int64_t done;                   /* rows */
} ikt_npz_sparse;

/* LOCAL. Whether the archive holds such a matrix: by the names of its arrays. */
bool ikt_npz_is_sparse(const ikt_npz *npz);

/* LOCAL. Opens it. `sparse` is to be closed in any case, before the archive. Errors: IKT_ERR_DATA
 * (another format, arrays that do not go together), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_npz_sparse_open(const ikt_npz *npz, ikt_npz_sparse *sparse);

/* LOCAL. As the read_sparse and the count of a reader. Errors: IKT_ERR_DATA (a column that the
 * matrix does not have, or twice in a row), IKT_ERR_FILE. */
ikt_status ikt_npz_sparse_read(ikt_npz_sparse *sparse, int64_t rows, int64_t entries,
                               ikt_sparse_block *block);
int64_t ikt_npz_sparse_count(const ikt_npz_sparse *sparse, int64_t rows);

/* LOCAL. Closes and frees. */
void ikt_npz_sparse_close(ikt_npz_sparse *sparse);

#endif
