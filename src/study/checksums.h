/* Checksums of the files that a study reads, which its runs are known by.
 *
 * OUTPUT/checksums remembers them, a line a file: checksum, device, inode, length, time of the last
 * change in ns, name. A file whose line is there in all of these is not read again, however many
 * runs it serves and however often the study is taken up.
 */
#ifndef IKT_STUDY_CHECKSUMS_H
#define IKT_STUDY_CHECKSUMS_H

#include "base/files.h"

typedef struct {
    uint64_t hash;
    uint64_t device, inode;
    int64_t bytes, changed;
} ikt_known_file;

typedef struct {
    ikt_context *ctx;
    char path[IKT_PATH_MAX];
    ikt_known_file *known; /* [count] the same on every rank; owned */
    int64_t count;
} ikt_checksums;

/* COLLECTIVE. Reads OUTPUT/checksums, where it is; the folder is there.
 *   out   freed with ikt_checksums_close. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_checksums_open(ikt_context *ctx, const char *output, ikt_checksums *out);
void ikt_checksums_close(ikt_checksums *checksums);

/* COLLECTIVE. Continues `hash` by the contents of the files of the list that are there and read, in
 * their order; the list is looked at. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_checksums_add(ikt_checksums *checksums, const ikt_files *files, uint64_t *hash);

#endif
