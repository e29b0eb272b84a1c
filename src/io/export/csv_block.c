/* A block of delimited text under construction. See csv_block.h. */
#include "io/export/csv_block.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

enum { ROOM_FIRST = 1 << 16, LEVEL = 6, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

static ikt_status reserve(ikt_csv_block *b, size_t count) {
    if (b->status != IKT_OK || b->room - b->length >= (int64_t)count) return b->status;
    int64_t room = b->room > 0 ? b->room : ROOM_FIRST;
    while (room - b->length < (int64_t)count)
        room *= 2;
    b->status = ikt_resize(b->ctx, &b->data, room, 1, "text");
    if (b->status == IKT_OK) b->room = room;
    return b->status;
}

void ikt_csv_block_add(ikt_csv_block *b, const char *bytes, size_t count) {
    if (reserve(b, count) != IKT_OK) return;
    memcpy(b->data + b->length, bytes, count);
    b->length += (int64_t)count;
}

static int has_meaning(char c, char delimiter) {
    return c == delimiter || c == '"' || c == '\n' || c == '\r';
}

void ikt_csv_block_text(ikt_csv_block *b, char delimiter, const char *text, size_t count) {
    /* What spreadsheets take for the beginning of a formula, which may open files and addresses. */
    const int is_formula =
        b->guards_formulas && count > 0 && strchr("=+-@\t\r", text[0]) && text[0];
    int is_quoted = count > 0 && (text[0] == ' ' || text[count - 1] == ' ');
    for (size_t i = 0; i < count; i++)
        is_quoted |= has_meaning(text[i], delimiter);
    if (!is_quoted) {
        if (is_formula) ikt_csv_block_add(b, "'", 1);
        ikt_csv_block_add(b, text, count);
        return;
    }
    ikt_csv_block_add(b, "\"'", is_formula ? 2 : 1);
    for (size_t i = 0; i < count; i++)
        ikt_csv_block_add(b, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    ikt_csv_block_add(b, "\"", 1);
}

/* All of it at once: the room is as large as a member can get. A piece of zlib's is below 4 GiB, as
 * a block is. */
static ikt_status deflate_into(ikt_csv_block *b, z_stream *z, char **out, int64_t *room) {
    *room = (int64_t)deflateBound(z, (uLong)b->length);
    IKT_TRY(ikt_alloc(b->ctx, out, *room, 1, "text"));
    z->next_in = (Bytef *)b->data;
    z->avail_in = (uInt)b->length;
    z->next_out = (Bytef *)*out;
    z->avail_out = (uInt)*room;
    if (deflate(z, Z_FINISH) == Z_STREAM_END) return IKT_OK;
    return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of text");
}

ikt_status ikt_csv_block_compress(ikt_csv_block *b) {
    z_stream z = {.zalloc = Z_NULL};
    char *out = NULL;
    int64_t room = 0;
    if (b->length == 0) return IKT_OK;
    if (b->length > UINT32_MAX / 2)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "a block of text is too large to be compressed");
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "out of memory for zlib");
    ikt_status st = deflate_into(b, &z, &out, &room);
    if (st == IKT_OK) {
        ikt_free(&b->data);
        *b = (ikt_csv_block){b->ctx, out, (int64_t)z.total_out, room, b->guards_formulas, IKT_OK};
    } else {
        ikt_free(&out);
    }
    deflateEnd(&z);
    return st;
}

void ikt_csv_block_destroy(ikt_csv_block *block) {
    ikt_free(&block->data);
    block->length = block->room = 0;
}
