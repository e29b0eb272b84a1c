/* A checksum at the end of a file. See seal.h. */
#define _GNU_SOURCE
#include "base/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "base/row_hash.h"

enum { BLOCK_BYTES = 1 << 20 };

/* What is appended. */
typedef struct {
    char magic[8];
    uint64_t bytes, hash; /* of what stands before; of that and of `bytes` */
} seal;

static const char magic[8] = {'i', 'k', 't', 's', 'e', 'a', 'l', '1'};

static ikt_status unreadable(ikt_context *ctx, const char *path) {
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
}

/* LOCAL. Reads all of `bytes` bytes, or fails. */
static ikt_status read_at(ikt_context *ctx, int file, const char *path, char *to, int64_t bytes,
                          int64_t offset) {
    while (bytes > 0) {
        const ssize_t now = pread(file, to, (size_t)bytes, offset);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return unreadable(ctx, path);
        if (now == 0) return ikt_fail(ctx, IKT_ERR_DATA, "%s ends before its end", path);
        to += now;
        offset += now;
        bytes -= now;
    }
    return IKT_OK;
}

/* LOCAL. Sum of the hashes of this rank's blocks. */
static ikt_status hash_share(ikt_context *ctx, int file, const char *path, int64_t bytes,
                             uint64_t *sum) {
    const int64_t blocks = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    char *block = NULL;
    ikt_status st = ikt_alloc(ctx, &block, BLOCK_BYTES, 1, "seal");
    for (int64_t b = ikt_rank(ctx); st == IKT_OK && b < blocks; b += ikt_size(ctx)) {
        const int64_t left = bytes - b * BLOCK_BYTES;
        const int64_t count = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        st = read_at(ctx, file, path, block, count, b * BLOCK_BYTES);
        *sum += st == IKT_OK ? ikt_hash_bytes(block, (size_t)count, (uint64_t)b) : 0;
    }
    ikt_free(&block);
    return st;
}

/* COLLECTIVE. Hash of the first `bytes` bytes. */
static ikt_status hash_file(ikt_context *ctx, int file, const char *path, int64_t bytes,
                            uint64_t *hash) {
    uint64_t sum = 0;
    IKT_TRY(ikt_agree(ctx, hash_share(ctx, file, path, bytes, &sum)));
    sum = ikt_hash_total(ctx, sum);
    *hash = ikt_hash_bytes(&sum, sizeof sum, (uint64_t)bytes);
    return IKT_OK;
}

/* COLLECTIVE. Opens the file on every rank; its length is rank 0's. */
static ikt_status open_all(ikt_context *ctx, const char *path, int flags, int *file,
                           int64_t *bytes) {
    struct stat about;
    ikt_status st = IKT_OK;
    /* Opening a pipe would wait for whoever writes it. */
    *file = open(path, (ikt_rank(ctx) == 0 ? flags : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0 || fstat(*file, &about) != 0) st = unreadable(ctx, path);
    if (st == IKT_OK && !S_ISREG(about.st_mode)) st = ikt_input_check(ctx, path);
    *bytes = st == IKT_OK ? (int64_t)about.st_size : 0;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_broadcast(ctx, bytes, (int64_t)sizeof *bytes, 0);
    return st;
}

static void close_file(int file) {
    if (file >= 0) close(file);
}

static ikt_status append(ikt_context *ctx, int file, const char *path, const seal *s) {
    if (pwrite(file, s, sizeof *s, (off_t)s->bytes) == (ssize_t)sizeof *s) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                    errno ? strerror(errno) : "no space left");
}

ikt_status ikt_seal_put(ikt_context *ctx, const char *path) {
    seal s = {.bytes = 0};
    int file;
    int64_t bytes;
    ikt_status st = open_all(ctx, path, O_RDWR, &file, &bytes);
    if (st == IKT_OK) st = hash_file(ctx, file, path, bytes, &s.hash);
    if (st == IKT_OK) {
        memcpy(s.magic, magic, sizeof magic);
        s.bytes = (uint64_t)bytes;
        errno = 0;
        st = ikt_agree(ctx, ikt_rank(ctx) == 0 ? append(ctx, file, path, &s) : IKT_OK);
    }
    close_file(file);
    return st;
}

static ikt_status check_open(ikt_context *ctx, int file, const char *path, int64_t bytes) {
    const int64_t inside = bytes - (int64_t)sizeof(seal);
    seal s;
    uint64_t hash;
    ikt_status st = IKT_OK;
    if (inside < 0)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s is cut off", path);
    else
        st = read_at(ctx, file, path, (char *)&s, (int64_t)sizeof s, inside);
    IKT_TRY(ikt_agree(ctx, st));
    if (memcmp(s.magic, magic, sizeof magic) != 0 || s.bytes != (uint64_t)inside)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s is cut off, or its end is damaged", path);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(hash_file(ctx, file, path, inside, &hash));
    if (hash != s.hash)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is damaged: its checksum is not that of its bytes",
                        path);
    return IKT_OK;
}

ikt_status ikt_seal_check(ikt_context *ctx, const char *path) {
    int file;
    int64_t bytes;
    ikt_status st = open_all(ctx, path, O_RDONLY, &file, &bytes);
    if (st == IKT_OK) st = check_open(ctx, file, path, bytes);
    close_file(file);
    return st;
}
