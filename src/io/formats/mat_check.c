/* Whether a MAT file is whole. See mat_file.h. */
#include "io/formats/mat_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/formats/binary.h"

enum { HEADER = 128, MATRIX = 14, PACKED = 15, BLOCK = 1 << 16, AXES_MOST = 32 };
enum { CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_UINT64 = 15 };

/* The file, and the element at hand: its bytes as they are, or unpacked. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    FILE *file;
    bool big;     /* most significant byte first */
    int64_t left; /* bytes of the element still in the file */
    bool packed, ended;
    z_stream stream;
    unsigned char in[BLOCK], out[BLOCK];
} walk;

typedef struct {
    uint32_t type;
    int64_t bytes, padding; /* of the data; behind them */
} tag;

static ikt_status damaged(const walk *w, const char *what) {
    return ikt_fail(w->ctx, IKT_ERR_FILE,
                    "%s is truncated or damaged: as a MATLAB file %s (near byte %lld)", w->path,
                    what, (long long)ftell(w->file));
}

static uint32_t word(const walk *w, const unsigned char *at) {
    return w->big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
                  : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* The next bytes of the element as they stand in the file. */
static ikt_status take_stored(walk *w, unsigned char *data, int64_t count) {
    if (count > w->left) return damaged(w, "an element ends too early");
    w->left -= count;
    if (fread(data, 1, (size_t)count, w->file) == (size_t)count) return IKT_OK;
    return damaged(w, "it ends too early");
}

/* Unpacks up to `count` bytes; *got is less where the compression comes to its end. */
static ikt_status unpack(walk *w, unsigned char *data, int64_t count, int64_t *got) {
    w->stream.next_out = data;
    w->stream.avail_out = (uInt)count;
    while (w->stream.avail_out > 0 && !w->ended) {
        if (w->stream.avail_in == 0 && w->left > 0) {
            const int64_t now = w->left < BLOCK ? w->left : BLOCK;
            IKT_TRY(take_stored(w, w->in, now));
            w->stream.next_in = w->in;
            w->stream.avail_in = (uInt)now;
        }
        const int code = inflate(&w->stream, Z_NO_FLUSH);
        w->ended = code == Z_STREAM_END;
        if (code != Z_OK && !w->ended) return damaged(w, "its compression is damaged");
    }
    *got = count - (int64_t)w->stream.avail_out;
    return IKT_OK;
}

static ikt_status take_unpacked(walk *w, unsigned char *data, int64_t count) {
    int64_t got;
    IKT_TRY(unpack(w, data, count, &got));
    return got == count ? IKT_OK : damaged(w, "a compressed element ends too early");
}

static ikt_status take(walk *w, void *data, int64_t count) {
    return w->packed ? take_unpacked(w, data, count) : take_stored(w, data, count);
}

static ikt_status pass(walk *w, int64_t count) {
    for (; count > 0; count -= BLOCK)
        IKT_TRY(take(w, w->out, count < BLOCK ? count : BLOCK));
    return IKT_OK;
}

/* The tag of a part, of 8 bytes, or of 4 with up to 4 bytes of data behind it. `left` is what the
 * whole has left, from which the part is taken. */
static ikt_status take_tag(walk *w, int64_t *left, tag *t) {
    unsigned char head[4];
    if (*left < 8) return damaged(w, "the parts of a matrix do not fill it");
    IKT_TRY(take(w, head, 4));
    const uint32_t first = word(w, head);
    if (first >> 16) {
        *t = (tag){first & 0xffff, first >> 16, 4 - (int64_t)(first >> 16)};
        *left -= 8;
        return t->padding < 0 ? damaged(w, "a part has an impossible size") : IKT_OK;
    }
    IKT_TRY(take(w, head, 4));
    const int64_t bytes = word(w, head);
    *t = (tag){first, bytes, (8 - bytes % 8) % 8};
    *left -= 8 + bytes;
    if (*left < 0) return damaged(w, "a part is larger than its matrix");
    if (t->padding > *left) t->padding = *left; /* of the last part it may be missing */
    *left -= t->padding;
    return IKT_OK;
}

static int64_t type_size(uint32_t type) {
    static const int sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
    return type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

/* Flags, sizes and name, which every matrix begins with. */
static ikt_status take_head(walk *w, int64_t *left, unsigned *class, int64_t *numbers) {
    unsigned char data[4 * AXES_MOST];
    tag t;
    IKT_TRY(take_tag(w, left, &t));
    if (t.bytes != 8) return damaged(w, "a matrix has no flags");
    IKT_TRY(take(w, data, 8));
    *class = word(w, data) & 0xff;
    *numbers = 1;
    IKT_TRY(take_tag(w, left, &t));
    if (t.bytes > (int64_t)sizeof data || t.bytes % 4 != 0)
        return damaged(w, "a matrix has no sizes");
    IKT_TRY(take(w, data, t.bytes));
    IKT_TRY(pass(w, t.padding));
    for (int64_t at = 0; at < t.bytes; at += 4) {
        const uint32_t size = word(w, data + at);
        *numbers = size > INT32_MAX ? -1 : ikt_binary_product(*numbers, size);
    }
    if (*numbers < 0) return damaged(w, "a matrix has an impossible size");
    IKT_TRY(take_tag(w, left, &t));
    return pass(w, t.bytes + t.padding);
}

/* A matrix of `bytes` bytes. What numbers are not made of is only passed over. */
static ikt_status check_matrix(walk *w, int64_t bytes) {
    unsigned class = 0;
    int64_t left = bytes, numbers = 0;
    tag t;
    if (bytes == 0) return IKT_OK;
    IKT_TRY(take_head(w, &left, &class, &numbers));
    while (class >= CLASS_SPARSE && class <= CLASS_UINT64 && left > 0) {
        IKT_TRY(take_tag(w, &left, &t));
        const int64_t size = type_size(t.type);
        if (size == 0 || t.bytes % size != 0 ||
            (class >= CLASS_DOUBLE && t.bytes / size != numbers))
            return damaged(w, "a matrix has not the numbers that its size announces");
        IKT_TRY(pass(w, t.bytes + t.padding));
    }
    return pass(w, left);
}

/* Up to the end of the compression, where its checksum stands. */
static ikt_status check_unpacked(walk *w) {
    unsigned char head[8];
    int64_t more;
    IKT_TRY(take(w, head, 8));
    if (word(w, head) != MATRIX) return damaged(w, "an element holds no matrix");
    IKT_TRY(check_matrix(w, word(w, head + 4)));
    IKT_TRY(unpack(w, head, 1, &more));
    return more == 0 ? IKT_OK : damaged(w, "a compressed element does not end with its matrix");
}

static ikt_status check_packed(walk *w) {
    w->stream = (z_stream){.next_in = NULL};
    if (inflateInit(&w->stream) != Z_OK)
        return ikt_fail(w->ctx, IKT_ERR_RESOURCE, "%s: no memory to unpack it", w->path);
    w->packed = true;
    w->ended = false;
    const ikt_status st = check_unpacked(w);
    inflateEnd(&w->stream);
    w->packed = false;
    return st;
}

/* The next element of the file; *end where there is none. */
static ikt_status check_element(walk *w, bool *end) {
    unsigned char head[8];
    const size_t got = fread(head, 1, sizeof head, w->file);
    *end = got == 0;
    if (*end) return IKT_OK;
    if (got < sizeof head) return damaged(w, "it ends too early");
    w->left = word(w, head + 4);
    const uint32_t type = word(w, head);
    if (type == PACKED) IKT_TRY(check_packed(w));
    if (type == MATRIX) IKT_TRY(check_matrix(w, w->left));
    if (type != PACKED && type != MATRIX) return damaged(w, "an element is of no known type");
    return pass(w, w->left);
}

static ikt_status check_file(walk *w) {
    unsigned char head[HEADER];
    bool end = false;
    if (fread(head, 1, HEADER, w->file) != HEADER) return damaged(w, "it ends in its header");
    if (memcmp(head + 126, "IM", 2) != 0 && memcmp(head + 126, "MI", 2) != 0)
        return damaged(w, "it does not tell its byte order");
    w->big = head[126] == 'M';
    while (!end)
        IKT_TRY(check_element(w, &end));
    return IKT_OK;
}

ikt_status ikt_mat_check(ikt_context *ctx, const char *path) {
    walk *w;
    IKT_TRY(ikt_alloc(ctx, &w, 1, sizeof *w, "reader"));
    w->ctx = ctx;
    w->path = path;
    w->file = fopen(path, "rb");
    const ikt_status st =
        w->file ? check_file(w)
                : ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    if (w->file) fclose(w->file);
    ikt_free(&w);
    return st;
}
