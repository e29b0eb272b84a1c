/* Items as blocks of text.
 *
 * Method: rounds of as many blocks as there are ranks, at most 16. In a round each of these ranks
 * receives the items of one block from all, arranges, deflates and encodes them, and rank 0 writes
 * the texts in their order.
 * Advantage: bounded memory, and the slowest part, deflate, is shared. Disadvantage: one stream a
 * file, from one rank; it is a few hundred megabytes at most. */
#include "viewer/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"

enum { AT_ONCE = 16, PLACE_BYTES = sizeof(uint32_t), NO_ZLIB_HEADER = -15, LEVEL = 6, MEMORY = 8 };

static const char purpose[] = "pages";

/* The work of a round; freed as one. */
typedef struct {
    const ikt_block_items *items;
    int64_t ranks;                        /* that pack a block in a round */
    int64_t first;                        /* block of the round */
    int64_t sent;                         /* items of this rank that have been sent */
    int64_t *send, *receive;              /* [size] records to and from each rank */
    uint8_t *outgoing, *incoming, *block; /* records; records; items in order */
    char *text, *texts;                   /* of this rank's block; on rank 0 of all */
    int64_t length;
} work;

/* This rank's items of the round, each behind its place: those from `sent` on, as they ascend. */
static ikt_status collect_items(ikt_context *ctx, work *w) {
    const ikt_block_items *items = w->items;
    const int64_t record = PLACE_BYTES + items->bytes;
    int64_t upto = w->sent;
    memset(w->send, 0, (size_t)ikt_size(ctx) * sizeof *w->send);
    for (; upto < items->count; upto++) {
        int64_t rank = items->place[upto] / items->per_block - w->first;
        if (rank >= w->ranks) break;
        w->send[rank]++;
    }
    IKT_TRY(ikt_alloc(ctx, &w->outgoing, upto - w->sent, (size_t)record, purpose));
    for (int64_t i = w->sent; i < upto; i++) {
        uint8_t *out = w->outgoing + (i - w->sent) * record;
        memcpy(out, &items->place[i], PLACE_BYTES);
        items->fill(items->self, i, out + PLACE_BYTES);
    }
    w->sent = upto;
    return IKT_OK;
}

static ikt_status deflate_all(ikt_context *ctx, const uint8_t *bytes, int64_t count, uint8_t *out,
                              int64_t capacity, int64_t *length) {
    z_stream z;
    memset(&z, 0, sizeof z);
    int st = deflateInit2(&z, LEVEL, Z_DEFLATED, NO_ZLIB_HEADER, MEMORY, Z_DEFAULT_STRATEGY);
    if (st == Z_OK) {
        z.next_in = (Bytef *)(uintptr_t)bytes; /* zlib reads it only */
        z.avail_in = (uInt)count;
        z.next_out = out;
        z.avail_out = (uInt)capacity;
        st = deflate(&z, Z_FINISH);
        *length = (int64_t)z.total_out;
        deflateEnd(&z);
    }
    if (st == Z_STREAM_END) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of %" PRId64 " bytes",
                    count);
}

/* The block as text. A block of nothing stays without one. */
static ikt_status pack(ikt_context *ctx, work *w, int64_t count) {
    const int64_t bytes = count * w->items->bytes;
    const int64_t capacity = (int64_t)compressBound((uLong)bytes);
    const uint8_t *from = w->block;
    uint8_t *packed = NULL;
    int64_t length = 0;
    if (count == 0) return IKT_OK;
    if (w->items->arrange) {
        w->items->arrange(w->block, count, w->items->bytes, w->incoming);
        from = w->incoming;
    }
    ikt_status st = ikt_alloc(ctx, &packed, capacity, 1, purpose);
    if (st == IKT_OK) st = deflate_all(ctx, from, bytes, packed, capacity, &length);
    w->length = ikt_base64_length(length);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w->text, w->length, 1, purpose);
    if (st == IKT_OK) ikt_base64(packed, length, w->text);
    ikt_free(&packed);
    return st;
}

/* COLLECTIVE. The round's items to the ranks that pack them. */
static ikt_status exchange_items(ikt_context *ctx, work *w) {
    const int64_t bytes = w->items->bytes, record = PLACE_BYTES + bytes;
    const int64_t first = (w->first + ikt_rank(ctx)) * w->items->per_block;
    int64_t count = 0; /* items of this rank's block */
    if (ikt_rank(ctx) < w->ranks && first < w->items->n) {
        const int64_t left = w->items->n - first;
        count = left < w->items->per_block ? left : w->items->per_block;
    }
    IKT_TRY(ikt_agree(ctx, collect_items(ctx, w)));
    ikt_exchange_counts(ctx, w->send, w->receive);
    ikt_status st = ikt_alloc(ctx, &w->incoming, count, (size_t)record, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w->block, count, (size_t)bytes, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, w->outgoing, w->send, w->incoming, w->receive, (size_t)record);
    for (int64_t k = 0; k < count; k++) { /* received in the order of the ranks */
        uint32_t place;
        memcpy(&place, w->incoming + k * record, PLACE_BYTES);
        memcpy(w->block + (place - first) * bytes, w->incoming + k * record + PLACE_BYTES,
               (size_t)bytes);
    }
    return ikt_agree(ctx, pack(ctx, w, count));
}

/* COLLECTIVE. The round's texts to rank 0 and from there to the file. */
static ikt_status write_round(ikt_context *ctx, work *w, FILE *file, const char *path) {
    int64_t total = 0;
    ikt_gather_counts(ctx, w->length, w->receive);
    for (int r = 0; r < ikt_size(ctx); r++) {
        total += w->receive[r];
        w->send[r] = 0;
        if (ikt_rank(ctx) != 0) w->receive[r] = 0;
    }
    w->send[0] = w->length;
    ikt_status st = ikt_rank(ctx) == 0 ? ikt_alloc(ctx, &w->texts, total, 1, purpose) : IKT_OK;
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, w->text, w->send, w->texts, w->receive, 1);
    const char *text = w->texts;
    bool good = true;
    for (int64_t r = 0; r < w->ranks && good && file; text += w->receive[r++]) {
        if (w->receive[r] == 0) continue;
        good = fprintf(file, "<script type=\"application/octet-stream\" id=\"%s-%" PRId64 "\">",
                       w->items->name, w->first + r) > 0 &&
               fwrite(text, 1, (size_t)w->receive[r], file) == (size_t)w->receive[r] &&
               fputs("</script>\n", file) >= 0;
    }
    if (!good) st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    return ikt_agree(ctx, st);
}

ikt_status ikt_blocks_write(ikt_context *ctx, const ikt_block_items *items, FILE *file,
                            const char *path) {
    work w = {.items = items, .ranks = ikt_size(ctx) < AT_ONCE ? ikt_size(ctx) : AT_ONCE};
    ikt_status st = ikt_alloc(ctx, &w.send, ikt_size(ctx), sizeof *w.send, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.receive, ikt_size(ctx), sizeof *w.receive, purpose);
    st = ikt_agree(ctx, st);
    for (; w.first * items->per_block < items->n && st == IKT_OK; w.first += w.ranks) {
        st = exchange_items(ctx, &w);
        if (st == IKT_OK) st = write_round(ctx, &w, file, path);
        ikt_free(&w.outgoing);
        ikt_free(&w.incoming);
        ikt_free(&w.block);
        ikt_free(&w.text);
        ikt_free(&w.texts);
        w.length = 0;
    }
    ikt_free(&w.send);
    ikt_free(&w.receive);
    return st;
}
