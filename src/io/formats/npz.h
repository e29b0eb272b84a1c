/* NPZ, numpy's archive of arrays: a zip file whose members are NPY files, stored or deflated.
 *
 * Needs libzip; a build without it says so when it meets such a file.
 */
#ifndef IKT_IO_FORMATS_NPZ_H
#define IKT_IO_FORMATS_NPZ_H

#include "io/formats/npy_header.h"

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

#endif
