/* Files that may be gzipped. */
#include "io/formats/gz.h"

#include <errno.h>
#include <string.h>

#include "base/input_file.h"

ikt_status ikt_gz_open(ikt_context *ctx, const char *path, gzFile *file) {
    *file = NULL;
    IKT_TRY(ikt_input_check(ctx, path));
    *file = gzopen(path, "rb");
    if (*file && gzbuffer(*file, 1 << 17) == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path,
                    *file ? "no memory" : strerror(errno));
}

ikt_status ikt_gz_check(ikt_context *ctx, const char *path, gzFile file) {
    int error = Z_OK, reason_of_system = errno;
    const char *reason = gzerror(file, &error);
    if (error == Z_OK || error == Z_STREAM_END || error == Z_BUF_ERROR) return IKT_OK;
    if (error == Z_ERRNO) reason = strerror(reason_of_system);
    size_t length = strlen(path); /* zlib says the path again */
    if (strncmp(reason, path, length) == 0) reason += length + strspn(reason + length, ": ");
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, reason);
}
