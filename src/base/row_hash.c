/* Checksums of rows and of files. See row_hash.h. */
#define _GNU_SOURCE
#include "base/row_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"

/* Finaliser of splitmix64: every input bit changes every output bit with probability one half. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t ikt_hash_bytes(const void *data, size_t bytes, uint64_t seed) {
    const unsigned char *byte = data;
    uint64_t state = mix(seed + 0x9E3779B97F4A7C15u * (bytes + 1));
    uint64_t word;
    for (; bytes >= sizeof word; byte += sizeof word, bytes -= sizeof word) {
        memcpy(&word, byte, sizeof word);
        state = mix(state ^ word) + 0x9E3779B97F4A7C15u;
    }
    if (bytes > 0) {
        word = 0;
        memcpy(&word, byte, bytes);
        state = mix(state ^ word) + 0x9E3779B97F4A7C15u;
    }
    return mix(state);
}

uint64_t ikt_hash_entry(int64_t row, int64_t column, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t low = (uint64_t)(row < column ? row : column);
    const uint64_t high = (uint64_t)(row < column ? column : row);
    const uint64_t hash = mix(mix(low << 32 ^ high) + 0x9E3779B97F4A7C15u + bits);
    return row < column ? hash : row > column ? 0 - hash : 0;
}

uint64_t ikt_row_hash_local(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                            size_t row_bytes) {
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++)
        sum += ikt_hash_bytes((const char *)rows + (size_t)i * row_bytes, row_bytes,
                              (uint64_t)(first_row + i));
    return sum;
}

uint64_t ikt_hash_total(ikt_context *ctx, uint64_t mine) {
    return (uint64_t)ikt_sum_one(ctx, (int64_t)mine); /* two's complement: addition modulo 2^64 */
}

uint64_t ikt_row_hash(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                      size_t row_bytes) {
    return ikt_hash_total(ctx, ikt_row_hash_local(ctx, rows, first_row, n_local, row_bytes));
}

/* --- seals of files --------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 1 << 20, SETTLED_SECONDS = 1 };

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

/* COLLECTIVE. Hash of the first `bytes` bytes, whose blocks the ranks share. */
static ikt_status hash_file(ikt_context *ctx, int file, const char *path, int64_t bytes,
                            uint64_t *hash) {
    const int64_t blocks = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    char *block IKT_AT_END(ikt_free) = NULL;
    uint64_t sum = 0;
    ikt_status st = ikt_alloc(ctx, &block, BLOCK_BYTES, 1, "seal");
    for (int64_t b = ikt_rank(ctx); st == IKT_OK && b < blocks; b += ikt_size(ctx)) {
        const int64_t left = bytes - b * BLOCK_BYTES;
        const int64_t count = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        st = read_at(ctx, file, path, block, count, b * BLOCK_BYTES);
        sum += st == IKT_OK ? ikt_hash_bytes(block, (size_t)count, (uint64_t)b) : 0;
    }
    IKT_TRY(ikt_agree(ctx, st));
    sum = ikt_hash_total(ctx, sum);
    *hash = ikt_hash_bytes(&sum, sizeof sum, (uint64_t)bytes);
    return IKT_OK;
}

static void close_open(const int *file) {
    if (*file >= 0) close(*file);
}

/* What names the bytes of an open file. A file is settled where a later change is sure to give it
 * another time: file systems count those in steps of up to a second. */
static ikt_file_state state_of(const struct stat *is) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (ikt_file_state){.device = (int64_t)is->st_dev,
                            .inode = (int64_t)is->st_ino,
                            .bytes = (int64_t)is->st_size,
                            .modified = {(int64_t)is->st_mtim.tv_sec, (int64_t)is->st_mtim.tv_nsec},
                            .changed = {(int64_t)is->st_ctim.tv_sec, (int64_t)is->st_ctim.tv_nsec},
                            .is_settled = now.tv_sec > is->st_ctim.tv_sec + SETTLED_SECONDS};
}

/* COLLECTIVE. Opens the file on every rank; what it is, rank 0 says. */
static ikt_status open_all(ikt_context *ctx, const char *path, int flags, int *file,
                           ikt_file_state *state) {
    struct stat about = {.st_size = 0};
    ikt_status st = ikt_input_check(ctx, path); /* opening a pipe would wait for its writer */
    if (st == IKT_OK) *file = open(path, (ikt_rank(ctx) == 0 ? flags : O_RDONLY) | O_CLOEXEC);
    if (st == IKT_OK && (*file < 0 || fstat(*file, &about) != 0)) st = unreadable(ctx, path);
    *state = state_of(&about);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_broadcast(ctx, state, (int64_t)sizeof *state, 0);
    return st;
}

/* SAME-ARGS, both: what all ranks have found whole in this run. */
static bool is_known_whole(const ikt_context *ctx, const ikt_file_state *state) {
    for (int i = 0; i < IKT_WHOLE_FILES; i++)
        if (memcmp(&ctx->whole[i], state, sizeof *state) == 0) return true;
    return false;
}

static void note_whole(ikt_context *ctx, const ikt_file_state *state) {
    if (state->is_settled) ctx->whole[ctx->whole_next++ % IKT_WHOLE_FILES] = *state;
}

ikt_status ikt_file_hash(ikt_context *ctx, const char *path, uint64_t *hash) {
    int file IKT_AT_END(close_open) = -1;
    ikt_file_state state;
    IKT_TRY(open_all(ctx, path, O_RDONLY, &file, &state));
    return hash_file(ctx, file, path, state.bytes, hash);
}

ikt_status ikt_seal_put(ikt_context *ctx, const char *path) {
    seal s = {.bytes = 0};
    int file IKT_AT_END(close_open) = -1;
    ikt_file_state state;
    ikt_status st = IKT_OK;
    IKT_TRY(open_all(ctx, path, O_RDWR, &file, &state));
    IKT_TRY(hash_file(ctx, file, path, state.bytes, &s.hash));
    memcpy(s.magic, magic, sizeof magic);
    s.bytes = (uint64_t)state.bytes;
    errno = 0;
    if (ikt_rank(ctx) == 0 && pwrite(file, &s, sizeof s, (off_t)state.bytes) != (ssize_t)sizeof s)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                      errno ? strerror(errno) : "no space left");
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Reads what stands at the end of an open file of `bytes` bytes, as rank 0 sees it. */
static ikt_status read_seal(ikt_context *ctx, int file, const char *path, int64_t bytes, seal *s) {
    const int64_t inside = bytes - (int64_t)sizeof *s;
    ikt_status st = IKT_OK;
    memset(s, 0, sizeof *s);
    if (ikt_rank(ctx) == 0 && inside >= 0)
        st = read_at(ctx, file, path, (char *)s, (int64_t)sizeof *s, inside);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, s, (int64_t)sizeof *s, 0);
    return IKT_OK;
}

ikt_status ikt_seal_look(ikt_context *ctx, const char *path, bool *is_sealed) {
    seal s;
    int file IKT_AT_END(close_open) = -1;
    ikt_file_state state;
    uint64_t hash;
    *is_sealed = false;
    IKT_TRY(open_all(ctx, path, O_RDONLY, &file, &state));
    IKT_TRY(read_seal(ctx, file, path, state.bytes, &s));
    if (memcmp(s.magic, magic, sizeof magic) != 0) return IKT_OK;
    *is_sealed = true;
    if (is_known_whole(ctx, &state)) return IKT_OK;
    const int64_t inside = state.bytes - (int64_t)sizeof s;
    if (s.bytes != (uint64_t)inside)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is cut off, or its end is damaged", path);
    IKT_TRY(hash_file(ctx, file, path, inside, &hash));
    if (hash != s.hash)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is damaged: its checksum is not that of its bytes; take another copy "
                        "of the file, or make it again",
                        path);
    note_whole(ctx, &state);
    return IKT_OK;
}

ikt_status ikt_seal_check(ikt_context *ctx, const char *path) {
    bool is_sealed;
    IKT_TRY(ikt_seal_look(ctx, path, &is_sealed));
    if (is_sealed) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s is cut off, or its end is damaged", path);
}
