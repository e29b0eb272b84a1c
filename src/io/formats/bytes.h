/* Bytes that are read in order: of a file, gzipped or not, or of a member of an archive.
 *
 * The readers of binary formats know nothing else of where their numbers come from, so every format
 * can be read from every place.
 */
#ifndef IKT_IO_FORMATS_BYTES_H
#define IKT_IO_FORMATS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/status.h"

typedef struct ikt_bytes ikt_bytes;

/* A way of storing bytes. */
typedef struct {
    /* LOCAL. As ikt_bytes_read. */
    ikt_status (*read)(ikt_bytes *bytes, void *data, int64_t count, int64_t *got);
    void (*close)(ikt_bytes *bytes);
} ikt_bytes_ops;

/* All zero: closed. */
struct ikt_bytes {
    ikt_context *ctx;
    const ikt_bytes_ops *ops;
    const char *path; /* for messages; lent */
    void *handle;     /* of the ops */
    int64_t done;     /* of a member of an archive: how many were read */
    int64_t size;     /* how many there are; -1: that shows when their end comes */
    int64_t packed;   /* bytes that they take compressed; 0: they are not, or it is not known */
};

/* LOCAL. Opens a file, gzipped or not; as it stands, even where it looks gzipped. Errors:
 * IKT_ERR_FILE with path and reason; *bytes is closed then. */
ikt_status ikt_bytes_open(ikt_context *ctx, const char *path, ikt_bytes *bytes);
ikt_status ikt_bytes_open_plain(ikt_context *ctx, const char *path, ikt_bytes *bytes);

/* LOCAL. Reads `count` bytes, or fewer where the end comes; *got tells how many. Errors:
 * IKT_ERR_FILE: cannot be read, damaged compression. */
ikt_status ikt_bytes_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got);

/* LOCAL. Closes; accepts a closed one. */
void ikt_bytes_close(ikt_bytes *bytes);

/* LOCAL, pure. Whether they are those of a file that is not compressed, of known length. */
bool ikt_bytes_is_file(const ikt_bytes *bytes);

/* LOCAL. Whether compressed bytes can stand for so many: deflate makes nothing shorter than a
 * thousandth. Without it a few damaged bytes of a header would have us ask for any amount of
 * memory. */
bool ikt_bytes_can_hold(const ikt_bytes *bytes, int64_t count);

/* Files that may be gzipped: opening, and the reason of a failure.
 *
 * zlib reads plain files, too, so no reader needs to know whether its file is compressed. It tells
 * failures in three ways (errno, a number, a text); here they become our message.
 */

/* LOCAL. Opens a file for reading, compressed or not. *file is closed with gzclose; NULL where it
 * cannot be opened. Errors: IKT_ERR_FILE with path and reason. */
ikt_status ikt_gz_open(ikt_context *ctx, const char *path, gzFile *file);

/* LOCAL. IKT_OK, or IKT_ERR_FILE with path and reason after a failed call on the file. That the
 * data end within their compression is no failure here: the caller knows better what is missing. */
ikt_status ikt_gz_check(ikt_context *ctx, const char *path, gzFile file);

#endif
