/* Items as blocks of text. See parts.h.
 *
 * Method: rounds of as many blocks as there are ranks, at most 16. In a round each of these ranks
 * receives the items of one block from all, arranges, deflates and encodes them, and rank 0 writes
 * the texts in their order.
 * Advantage: bounded memory, and the slowest part, deflate, is shared. Disadvantage: one stream a
 * file, from one rank; it is a few hundred megabytes at most. */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/sort.h"
#include "viewer/parts.h"

enum { AT_ONCE = 16 };
enum { NO_ZLIB_HEADER = -15, LEVEL = 6, MEMORY = 8 };
static const int64_t bytes_most = 1 << 28; /* of a block: its text is one string of a browser */

static const char purpose[] = "pages";

/* The work of a round; freed as one. */
typedef struct {
    const ikt_block_items *items;
    int64_t ranks;           /* that pack a block in a round */
    int64_t first;           /* block of the round */
    int64_t sent;            /* items of this rank that have been sent */
    int64_t *send, *receive; /* [size] items to and from each rank */
    int64_t *give, *take;    /* [size] their bytes */
    uint32_t *head, *heads;  /* of each item that leaves, that comes: its place and its bytes */
    uint8_t *outgoing, *incoming; /* the bytes of these items, one after the other */
    uint8_t *block;               /* in their order */
    int64_t *start;               /* [count + 1] of each in the block */
    char *text, *texts;           /* of this rank's block; on rank 0 of all */
    int64_t length;
} work;

/* The block of `bytes` bytes as text. A block of nothing stays without one. */
static ikt_status pack(ikt_context *ctx, work *w, int64_t count, int64_t bytes) {
    const int64_t capacity = (int64_t)compressBound((uLong)bytes);
    const uint8_t *from = w->block;
    uint8_t *packed IKT_AT_END(ikt_free) = NULL;
    z_stream z;
    if (count == 0) return IKT_OK;
    if (w->items->arrange) {
        w->items->arrange(w->block, count, w->items->bytes, w->incoming);
        from = w->incoming;
    }
    IKT_TRY(ikt_alloc(ctx, &packed, capacity, 1, purpose));
    memset(&z, 0, sizeof z);
    int end = deflateInit2(&z, LEVEL, Z_DEFLATED, NO_ZLIB_HEADER, MEMORY, Z_DEFAULT_STRATEGY);
    if (end == Z_OK) {
        z.next_in = (Bytef *)(uintptr_t)from; /* zlib reads it only */
        z.avail_in = (uInt)bytes;
        z.next_out = packed;
        z.avail_out = (uInt)capacity;
        end = deflate(&z, Z_FINISH);
        deflateEnd(&z);
    }
    w->length = ikt_base64_length((int64_t)z.total_out);
    if (end != Z_STREAM_END)
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of %" PRId64 " bytes",
                        bytes);
    IKT_TRY(ikt_alloc(ctx, &w->text, w->length, 1, purpose));
    ikt_base64(packed, (int64_t)z.total_out, w->text);
    return IKT_OK;
}

static int64_t length_of(const ikt_block_items *items, int64_t i) {
    return items->length ? items->length(items->self, i) : items->bytes;
}

/* LOCAL. This rank's items of the round, from `sent` on, as they ascend. */
static ikt_status fill(ikt_context *ctx, work *w, int size) {
    const ikt_block_items *items = w->items;
    int64_t upto = w->sent, bytes = 0;
    memset(w->send, 0, (size_t)size * sizeof *w->send);
    memset(w->give, 0, (size_t)size * sizeof *w->give);
    for (; upto < items->count; upto++) {
        const int64_t rank = items->place[upto] / items->per_block - w->first;
        if (rank >= w->ranks) break;
        const int64_t length = length_of(items, upto);
        if (length > bytes_most)
            return ikt_fail(ctx, IKT_ERR_RESOURCE,
                            "a text of %" PRId64 " bytes is too long for a page, which takes those "
                            "of up to %" PRId64,
                            length, bytes_most);
        w->send[rank]++;
        w->give[rank] += length;
        bytes += length;
    }
    IKT_TRY(ikt_alloc(ctx, &w->head, 2 * (upto - w->sent), sizeof *w->head, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->outgoing, bytes, 1, purpose));
    uint8_t *out = w->outgoing;
    for (int64_t i = w->sent; i < upto; i++) {
        const int64_t length = length_of(items, i);
        w->head[2 * (i - w->sent)] = items->place[i];
        w->head[2 * (i - w->sent) + 1] = (uint32_t)length;
        items->fill(items->self, i, out);
        out += length;
    }
    w->sent = upto;
    return IKT_OK;
}

/* LOCAL. What has come, in the order of the ranks, in the order of the places. */
static ikt_status put_in_order(ikt_context *ctx, work *w, int64_t first, int64_t count,
                               int64_t bytes) {
    if (bytes > bytes_most)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "the texts of %" PRId64 " rows have %" PRId64
                        " bytes, but a block of a page takes up to %" PRId64,
                        count, bytes, bytes_most);
    IKT_TRY(ikt_alloc(ctx, &w->block, bytes, 1, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->start, count + 1, sizeof *w->start, purpose));
    for (int64_t k = 0; k < count; k++)
        w->start[w->heads[2 * k] - first + 1] = w->heads[2 * k + 1];
    for (int64_t k = 0; k < count; k++)
        w->start[k + 1] += w->start[k];
    const uint8_t *from = w->incoming;
    for (int64_t k = 0; k < count; k++) {
        memcpy(w->block + w->start[w->heads[2 * k] - first], from, w->heads[2 * k + 1]);
        from += w->heads[2 * k + 1];
    }
    return IKT_OK;
}

/* COLLECTIVE. The round's items to the ranks that pack them, which do so. */
static ikt_status exchange_items(ikt_context *ctx, work *w) {
    const ikt_block_items *items = w->items;
    const int64_t first = (w->first + ikt_rank(ctx)) * items->per_block;
    int64_t count = 0, bytes = 0; /* of this rank's block */
    if (ikt_rank(ctx) < w->ranks && first < items->n)
        count = ikt_smaller(items->n - first, items->per_block);
    IKT_TRY(ikt_agree(ctx, fill(ctx, w, ikt_size(ctx))));
    ikt_exchange_counts(ctx, w->send, w->receive);
    ikt_exchange_counts(ctx, w->give, w->take);
    for (int r = 0; r < ikt_size(ctx); r++)
        bytes += w->take[r];
    IKT_TRY(ikt_alloc_all(ctx, &w->heads, 2 * count, sizeof *w->heads, purpose));
    IKT_TRY(ikt_alloc_all(ctx, &w->incoming, bytes, 1, purpose));
    ikt_exchange(ctx, w->head, w->send, w->heads, w->receive, 2 * sizeof *w->head);
    ikt_exchange(ctx, w->outgoing, w->give, w->incoming, w->take, 1);
    const ikt_status st = put_in_order(ctx, w, first, count, bytes);
    return ikt_agree(ctx, st == IKT_OK ? pack(ctx, w, count, bytes) : st);
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
    if (!good) st = ikt_atomic_failed(ctx, path, NULL);
    return ikt_agree(ctx, st);
}

static void round_free(work *w) {
    ikt_free_all(&w->head, &w->heads, &w->outgoing, &w->incoming, &w->block, &w->start, &w->text,
                 &w->texts);
    w->length = 0;
}

ikt_status ikt_blocks_write(ikt_context *ctx, const ikt_block_items *items, FILE *file,
                            const char *path) {
    work w IKT_AT_END(round_free) = {.items = items, .ranks = ikt_smaller(ikt_size(ctx), AT_ONCE)};
    int64_t **const counts[] = {&w.send, &w.receive, &w.give, &w.take};
    IKT_ARRAYS(held, ctx, purpose);
    for (int c = 0; c < 4; c++)
        *counts[c] = ikt_claim(&held, ikt_size(ctx), sizeof **counts[c]);
    IKT_TRY(ikt_arrays_agree(&held));
    for (; w.first * items->per_block < items->n; w.first += w.ranks) {
        IKT_TRY(exchange_items(ctx, &w));
        IKT_TRY(write_round(ctx, &w, file, path));
        round_free(&w);
    }
    return IKT_OK;
}
