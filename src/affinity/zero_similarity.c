/* Rows without any similarity: their nearest rows by input distance, which become their neighbours.
 *
 * Method: such rows are few; they are queries (neighbours/search.h), past which each rank streams
 * its own rows. Advantage: exact, and one pass over the data per thousand of them. Disadvantage:
 * the data is read again. Sparse rows stay sparse, with the same distances. */
#include "affinity/affinity.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/watch.h"
#include "linalg/blocks.h"
#include "metric/metric.h"
#include "neighbours/search.h"

enum { BATCH = 1024, BLOCK_ROWS = 1024 };

static const char purpose[] = "zero similarity";

/* A batch of zero-similarity rows and the k nearest rows found so far. */
typedef struct {
    ikt_dataset *data;
    const ikt_metric *metric;
    const int64_t *row; /* [count] global rows */
    int64_t count, d;
    bool is_pairs;       /* x holds all distances of the rows, and nothing is streamed */
    bool is_sparse;      /* x and block are the sparse rows below in place of these */
    float *x;            /* [count * d] */
    float *block;        /* [BLOCK_ROWS * d] own rows being streamed */
    ikt_sparse zero;     /* [count] */
    ikt_sparse rows;     /* own rows being streamed */
    ikt_neighbours best; /* among the own rows; then, of those dealt to this rank, among all */
} batch;

static void batch_destroy(batch *b) {
    ikt_sparse_destroy(&b->zero);
    ikt_sparse_destroy(&b->rows);
    ikt_neighbours_destroy(&b->best);
}

/* From a zero-similarity row to row r of the block that begins with `first_row`. */
static float distance(const batch *b, int64_t q, int64_t first_row, int64_t r) {
    const float *x = b->is_sparse ? NULL : b->x + q * b->d;
    if (b->is_pairs) return x[first_row + r];
    if (!b->is_sparse) return (float)b->metric->exact(x, b->block + r * b->d, b->d);
    return (float)b->metric->sparse_exact(ikt_sparse_row_of(&b->zero, q),
                                          ikt_sparse_row_of(&b->rows, r));
}

static void offer_block(ikt_context *ctx, const batch *b, int64_t first_row, int64_t rows) {
    const int64_t k = b->best.k;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < b->count; q++)
        for (int64_t r = 0; r < rows; r++)
            if (first_row + r != b->row[q])
                ikt_best_offer(b->best.score + q * k, b->best.row + q * k, k,
                               distance(b, q, first_row, r), (uint32_t)(first_row + r));
}

/* COLLECTIVE. The own rows, block by block, past the batch. */
static ikt_status stream(ikt_context *ctx, const ikt_rows *rows, batch *b) {
    const int64_t block = b->is_sparse ? ikt_dataset_block_rows(b->data) : BLOCK_ROWS;
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        if (b->is_sparse)
            IKT_TRY(ikt_dataset_read_sparse(b->data, at.first, at.count, &b->rows));
        else if (!b->is_pairs)
            IKT_TRY(ikt_dataset_read(b->data, at.first, at.count, b->block));
        offer_block(ctx, b, at.first, at.count);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

static ikt_status find_batch(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             ikt_zero_similarity *zeros, int64_t done) {
    const int64_t left = zeros->count - done, k = zeros->k;
    const ikt_rows dealt = ikt_rows_make(left < BATCH ? left : BATCH, ikt_size(ctx), ikt_rank(ctx));
    const ikt_rows all = ikt_rows_make(dealt.n, 1, 0);
    batch b IKT_AT_END(batch_destroy) = {.data = data,
                                         .metric = ikt_metric_of(data),
                                         .row = zeros->row + done,
                                         .count = dealt.n,
                                         .is_pairs = ikt_dataset_pairs(data) != NULL,
                                         .is_sparse = ikt_dataset_is_sparse(data),
                                         .d = ikt_dataset_columns(data)};
    const int64_t d = b.is_sparse ? 0 : b.d, streamed = b.is_pairs ? 0 : BLOCK_ROWS * d;
    IKT_ARRAYS(held, ctx, purpose);
    b.x = ikt_claim(&held, b.count * d, sizeof *b.x);
    b.block = ikt_claim(&held, streamed, sizeof *b.block);
    int64_t *counts = ikt_claim(&held, dealt.ranks, sizeof *counts); /* dealt to each rank */
    IKT_TRY(ikt_agree(ctx, held.status != IKT_OK ? held.status
                                                 : ikt_neighbours_create(ctx, &all, k, &b.best)));
    IKT_TRY(b.is_sparse ? ikt_dataset_gather_sparse(data, b.row, b.count, &b.zero)
                        : ikt_dataset_gather_floats(data, b.row, b.count, b.x));
    IKT_TRY(stream(ctx, rows, &b));
    for (int r = 0; r < dealt.ranks; r++)
        counts[r] = ikt_rows_count(&dealt, r);
    IKT_TRY(ikt_query_join(ctx, &b.best, counts));
    ikt_allgather(ctx, b.best.row, dealt.count, (size_t)k * sizeof *b.best.row,
                  zeros->nearest + done * k, counts);
    return IKT_OK;
}

ikt_status ikt_zero_similarity_find(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                    const uint8_t *marked, int64_t k, ikt_zero_similarity *out) {
    ikt_zero_similarity made IKT_AT_END(ikt_zero_similarity_destroy) = {0, k, NULL, NULL};
    *out = (ikt_zero_similarity){0};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t mine = 0, *own = ikt_claim(&held, rows->count, sizeof *own);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < rows->count; i++)
        if (marked[i]) own[mine++] = rows->first + i;
    made.count = ikt_sum_one(ctx, mine);
    ikt_gather_counts(ctx, mine, counts);
    made.row = ikt_claim_kept(&held, made.count, sizeof *made.row);
    made.nearest = ikt_claim_kept(&held, made.count * k, sizeof *made.nearest);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_allgather(ctx, own, mine, sizeof *own, made.row, counts); /* to all ranks, ascending */
    ikt_arrays_free(&held);
    if (made.count > 0 && !data)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%lld of %lld rows of input.graph have no similarity to another row, first "
                        "row %lld; with input.file they are tied to their nearest rows there, "
                        "otherwise leave them out of the matrix",
                        (long long)made.count, (long long)rows->n, (long long)made.row[0]);
    for (int64_t done = 0; done < made.count; done += BATCH)
        IKT_TRY(find_batch(ctx, data, rows, &made, done));
    return ikt_give(out, made);
}

void ikt_zero_similarity_destroy(ikt_zero_similarity *zeros) {
    ikt_free_all(&zeros->row, &zeros->nearest);
    zeros->count = 0;
}

/* --- neighbours for them ---------------------------------------------------------------------- */

static int64_t find_slot(const int64_t *row, int64_t count, const int64_t *slot, int64_t wanted) {
    return slot[ikt_find_i64(row, count, wanted)];
}

/* COLLECTIVE. Rows in the lists of zero-similarity rows become slots. */
static ikt_status to_slots(ikt_context *ctx, const ikt_order *order, ikt_zero_similarity *zeros) {
    int64_t entries = zeros->count * zeros->k, total = zeros->count + entries, kept;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *row = ikt_claim(&held, total, sizeof *row);
    int64_t *slot = ikt_claim(&held, total, sizeof *slot);
    IKT_TRY(ikt_arrays_agree(&held));
    memcpy(row, zeros->row, (size_t)zeros->count * sizeof *row);
    for (int64_t e = 0; e < entries; e++)
        row[zeros->count + e] = zeros->nearest[e];
    kept = ikt_sort_distinct_i64(row, total);
    ikt_order_find(ctx, order, row, kept, slot);
    for (int64_t e = 0; e < zeros->count; e++)
        zeros->row[e] = find_slot(row, kept, slot, zeros->row[e]);
    for (int64_t e = 0; e < entries; e++)
        zeros->nearest[e] = (uint32_t)find_slot(row, kept, slot, zeros->nearest[e]);
    return IKT_OK;
}

ikt_status ikt_zero_similarity_find_ordered(ikt_context *ctx, ikt_dataset *data,
                                            const ikt_rows *rows, const ikt_order *order,
                                            uint8_t *marked, int64_t k, ikt_zero_similarity *out) {
    ikt_zero_similarity found IKT_AT_END(ikt_zero_similarity_destroy) = {0, k, NULL, NULL};
    *out = (ikt_zero_similarity){0, k, NULL, NULL};
    if (order) IKT_TRY(ikt_order_restore(ctx, order, marked, 1, marked, 1, 1));
    IKT_TRY(ikt_zero_similarity_find(ctx, data, rows, marked, k, &found));
    if (order && found.count > 0) IKT_TRY(to_slots(ctx, order, &found));
    return ikt_give(out, found);
}

ikt_status ikt_affinity_adopt_zero_similarity(ikt_context *ctx, ikt_dataset *data,
                                              const ikt_rows *rows, const ikt_order *order,
                                              ikt_neighbours *lists, int64_t *count) {
    const int64_t k = lists->k;
    uint8_t *marked IKT_AT_END(ikt_free) = NULL;
    ikt_zero_similarity zeros IKT_AT_END(ikt_zero_similarity_destroy) = {0, 0, NULL, NULL};
    *count = 0;
    IKT_TRY(ikt_alloc_all(ctx, &marked, rows->count, 1, purpose));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        int64_t e = 0;
        while (e < k && !(lists->score[i * k + e] > 0))
            e++;
        marked[i] = e == k;
    }
    IKT_TRY(ikt_zero_similarity_find_ordered(ctx, data, rows, order, marked, k, &zeros));
    for (int64_t o = 0; o < zeros.count; o++) {
        const int64_t i = zeros.row[o] - rows->first;
        if (i < 0 || i >= rows->count) continue;
        memcpy(lists->row + i * k, zeros.nearest + o * k, (size_t)k * sizeof *lists->row);
        for (int64_t e = 0; e < k; e++)
            lists->score[i * k + e] = (float)(1 / (double)k);
    }
    *count = zeros.count;
    return IKT_OK;
}
