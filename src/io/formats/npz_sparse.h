/* Sparse matrices of scipy (scipy.sparse.save_npz) as sparse rows: formats csr, csc and coo.
 *
 * Rows (csr) are streamed; columns (csc) and places (coo) are brought into rows in memory.
 */
#ifndef IKT_IO_FORMATS_NPZ_SPARSE_H
#define IKT_IO_FORMATS_NPZ_SPARSE_H

#include "io/formats/npz_column.h"
#include "io/numbers/sparse_block.h"

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
