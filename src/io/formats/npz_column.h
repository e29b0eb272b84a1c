/* A one-dimensional array of an NPZ archive, read in order: what sparse matrices of scipy are made
 * of. */
#ifndef IKT_IO_FORMATS_NPZ_COLUMN_H
#define IKT_IO_FORMATS_NPZ_COLUMN_H

#include "io/formats/npz.h"

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

#endif
