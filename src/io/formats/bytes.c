/* Bytes of a file, read in order. See bytes.h. */
#include "io/formats/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"

static ikt_status gz_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    const int64_t piece = (int64_t)1 << 28; /* zlib counts in ints */
    int now = 1;
    *got = 0;
    while (*got < count && now > 0) {
        const int64_t left = count - *got;
        now = gzread(bytes->handle, (char *)data + *got, (unsigned)(left < piece ? left : piece));
        if (now > 0) *got += now;
    }
    return now < 0 ? ikt_gz_check(bytes->ctx, bytes->path, bytes->handle) : IKT_OK;
}

static void gz_close(ikt_bytes *bytes) {
    gzclose(bytes->handle);
}

static const ikt_bytes_ops gz_ops = {gz_read, gz_close};

static ikt_status plain_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    *got = (int64_t)fread(data, 1, (size_t)count, bytes->handle);
    if (!ferror(bytes->handle)) return IKT_OK;
    return ikt_fail(bytes->ctx, IKT_ERR_FILE, "%s cannot be read: %s", bytes->path,
                    strerror(errno));
}

static void plain_close(ikt_bytes *bytes) {
    fclose(bytes->handle);
}

static const ikt_bytes_ops plain_ops = {plain_read, plain_close};

/* Bytes of a file of known length; -1 of a pipe. */
static int64_t length_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
}

ikt_status ikt_bytes_open(ikt_context *ctx, const char *path, ikt_bytes *bytes) {
    gzFile file;
    *bytes = (ikt_bytes){.ctx = ctx, .path = path};
    IKT_TRY(ikt_gz_open(ctx, path, &file));
    const int64_t length = length_of(path);
    const bool plain = gzdirect(file);
    bytes->ops = &gz_ops;
    bytes->handle = file;
    bytes->size = plain ? length : -1;
    bytes->packed = plain || length < 0 ? 0 : length;
    return IKT_OK;
}

ikt_status ikt_bytes_open_plain(ikt_context *ctx, const char *path, ikt_bytes *bytes) {
    *bytes = (ikt_bytes){.ctx = ctx, .path = path, .size = length_of(path)};
    IKT_TRY(ikt_input_check(ctx, path));
    FILE *file = fopen(path, "rb");
    if (!file) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    bytes->ops = &plain_ops;
    bytes->handle = file;
    return IKT_OK;
}

ikt_status ikt_bytes_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    return bytes->ops->read(bytes, data, count, got);
}

void ikt_bytes_close(ikt_bytes *bytes) {
    if (bytes->ops) bytes->ops->close(bytes);
    *bytes = (ikt_bytes){0};
}

bool ikt_bytes_is_file(const ikt_bytes *bytes) {
    return (bytes->ops == &gz_ops || bytes->ops == &plain_ops) && bytes->size >= 0;
}

bool ikt_bytes_can_hold(const ikt_bytes *bytes, int64_t count) {
    const int64_t ratio_most = 1032;
    return bytes->packed == 0 || count / ratio_most <= bytes->packed;
}

/* Files that may be gzipped. */

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
