/* Rows without any similarity: their nearest rows by input distance, which become their neighbours.
 *
 * Method: such rows are few; their coordinates go to every rank, each rank streams its own rows
 * past them and keeps the k nearest, and the ranks' lists are merged. Advantage: exact, and one
 * pass over the data per thousand of them. Disadvantage: the data is read again. Sparse rows stay
 * sparse, with the same distances. */
#include "affinity/affinity.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "metric/metric.h"
#include "neighbours/neighbours.h"

enum { BATCH = 1024, BLOCK_ROWS = 1024 };

static const char purpose[] = "zero similarity";

/* A batch of zero-similarity rows and the k nearest rows found so far. */
typedef struct {
    const ikt_metric *metric;
    const int64_t *row; /* [count] global rows */
    int64_t count, k, d;
    bool is_sparse;    /* x and block are the sparse rows below in place of these */
    float *x;          /* [count * d] */
    float *score;      /* [count * k] */
    uint32_t *nearest; /* [count * k] */
    float *block;      /* [BLOCK_ROWS * d] own rows being streamed */
    ikt_sparse zero;   /* [count] */
    ikt_sparse rows;   /* own rows being streamed */
    float *all_score;  /* [ranks * count * k] lists of all ranks */
    uint32_t *all_nearest;
    int64_t *counts; /* [ranks] */
} batch;

static void offer_block(ikt_context *ctx, batch *b, int64_t first_row, int64_t rows) {
    const int64_t d = b->d, k = b->k;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < b->count; q++)
        for (int64_t r = 0; r < rows; r++) {
            if (first_row + r == b->row[q]) continue;
            const double score = b->is_sparse
                                     ? b->metric->sparse_exact(ikt_sparse_row_of(&b->zero, q),
                                                               ikt_sparse_row_of(&b->rows, r))
                                     : b->metric->exact(b->x + q * d, b->block + r * d, d);
            ikt_best_offer(b->score + q * k, b->nearest + q * k, k, (float)score,
                           (uint32_t)(first_row + r));
        }
}

static ikt_status stream(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                         batch *b) {
    for (int64_t q = 0; q < b->count; q++)
        ikt_best_clear(b->score + q * b->k, b->nearest + q * b->k, b->k);
    const int64_t block = b->is_sparse ? ikt_dataset_block_rows(data) : BLOCK_ROWS;
    const int64_t steps = (ikt_rows_count(distribution, 0) + block - 1) / block;
    for (int64_t step = 0; step < steps; step++) {
        const int64_t done = step * block, left = distribution->count - done;
        const int64_t rows = left < 0 ? 0 : left < block ? left : block;
        const int64_t first = distribution->first + done;
        IKT_TRY(b->is_sparse ? ikt_dataset_read_sparse(data, rows ? first : 0, rows, &b->rows)
                             : ikt_dataset_read(data, rows ? first : 0, rows, b->block));
        offer_block(ctx, b, first, rows);
    }
    return IKT_OK;
}

/* The nearest rows of a matrix of all distances, of which the rows of the batch are all there is
 * to look at. */
static void look_up(ikt_context *ctx, batch *b) {
    const int64_t k = b->k, n = b->d;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < b->count; q++) {
        ikt_best_clear(b->score + q * k, b->nearest + q * k, k);
        for (int64_t j = 0; j < n; j++)
            if (j != b->row[q])
                ikt_best_offer(b->score + q * k, b->nearest + q * k, k, b->x[q * n + j],
                               (uint32_t)j);
        ikt_best_sort(b->score + q * k, b->nearest + q * k, k);
    }
}

static ikt_status find_batch(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             ikt_zero_similarity *zeros, int64_t done) {
    int64_t left = zeros->count - done, count = left < BATCH ? left : BATCH;
    batch b = {.metric = ikt_metric_of(data),
               .row = zeros->row + done,
               .count = count,
               .k = zeros->k,
               .is_sparse = ikt_dataset_is_sparse(data),
               .d = ikt_dataset_columns(data)};
    const int64_t lists = count * b.k, ranks = ikt_size(ctx), d = b.is_sparse ? 0 : b.d;
    IKT_ARRAYS(held, ctx, purpose);
    b.x = ikt_claim_kept(&held, count * d, sizeof *b.x);
    b.score = ikt_claim_kept(&held, lists, sizeof *b.score);
    b.nearest = ikt_claim_kept(&held, lists, sizeof *b.nearest);
    b.block = ikt_claim_kept(&held, BLOCK_ROWS * d, sizeof(float));
    b.all_score = ikt_claim(&held, ranks * lists, sizeof(float));
    b.all_nearest = ikt_claim(&held, ranks * lists, sizeof(uint32_t));
    b.counts = ikt_claim(&held, ranks, sizeof *b.counts);
    ikt_status st = ikt_arrays_agree(&held);
    if (st == IKT_OK)
        st = b.is_sparse ? ikt_dataset_gather_sparse(data, b.row, b.count, &b.zero)
                         : ikt_dataset_gather_floats(data, b.row, b.count, b.x);
    const bool is_pairs = ikt_dataset_pairs(data) != NULL;
    if (st == IKT_OK && is_pairs) {
        look_up(ctx, &b);
        memcpy(zeros->nearest + done * b.k, b.nearest, (size_t)lists * sizeof *b.nearest);
    } else if (st == IKT_OK) {
        st = stream(ctx, data, rows, &b);
    }
    if (st == IKT_OK && !is_pairs) {
        for (int r = 0; r < ranks; r++)
            b.counts[r] = lists;
        ikt_allgather(ctx, b.score, lists, sizeof(float), b.all_score, b.counts);
        ikt_allgather(ctx, b.nearest, lists, sizeof(uint32_t), b.all_nearest, b.counts);
        for (int64_t q = 0; q < count; q++) { /* every rank gets the same merged lists */
            float *score = b.score + q * b.k;
            uint32_t *nearest = zeros->nearest + (done + q) * b.k;
            ikt_best_clear(score, nearest, b.k);
            for (int64_t e = 0; e < ranks * b.k; e++) {
                const int64_t at = e / b.k * lists + q * b.k + e % b.k;
                if (b.all_nearest[at] != UINT32_MAX)
                    ikt_best_offer(score, nearest, b.k, b.all_score[at], b.all_nearest[at]);
            }
            ikt_best_sort(score, nearest, b.k);
        }
    }
    ikt_free_all(&b.x, &b.score, &b.nearest, &b.block);
    ikt_sparse_destroy(&b.zero);
    ikt_sparse_destroy(&b.rows);
    return st;
}

ikt_status ikt_zero_similarity_find(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                    const uint8_t *marked, int64_t k, ikt_zero_similarity *out) {
    ikt_zero_similarity made IKT_AT_END(ikt_zero_similarity_destroy) = {0, k, NULL, NULL};
    *out = (ikt_zero_similarity){0};
    int64_t mine = 0, *own = NULL, *counts = NULL; /* global numbers go to every rank, ascending */
    ikt_status st = ikt_alloc(ctx, &own, rows->count, sizeof *own, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, purpose);
    for (int64_t i = 0; st == IKT_OK && i < rows->count; i++)
        if (marked[i]) own[mine++] = rows->first + i;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        made.count = ikt_sum_one(ctx, mine);
        ikt_gather_counts(ctx, mine, counts);
        IKT_ARRAYS(held, ctx, purpose);
        made.row = ikt_claim_kept(&held, made.count, sizeof *made.row);
        made.nearest = ikt_claim_kept(&held, made.count * k, sizeof *made.nearest);
        st = ikt_arrays_agree(&held);
    }
    if (st == IKT_OK) ikt_allgather(ctx, own, mine, sizeof *own, made.row, counts);
    ikt_free_all(&own, &counts);
    IKT_TRY(st);
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
    *out = (ikt_zero_similarity){0, k, NULL, NULL};
    if (order) IKT_TRY(ikt_order_restore(ctx, order, marked, 1, marked, 1, 1));
    IKT_TRY(ikt_zero_similarity_find(ctx, data, rows, marked, k, out));
    if (!order || out->count == 0) return IKT_OK;
    const ikt_status st = to_slots(ctx, order, out);
    if (st != IKT_OK) ikt_zero_similarity_destroy(out);
    return st;
}

ikt_status ikt_affinity_adopt_zero_similarity(ikt_context *ctx, ikt_dataset *data,
                                              const ikt_rows *rows, const ikt_order *order,
                                              ikt_neighbours *lists, int64_t *count) {
    const int64_t k = lists->k;
    uint8_t *marked IKT_AT_END(ikt_free) = NULL;
    ikt_zero_similarity zeros IKT_AT_END(ikt_zero_similarity_destroy) = {0, 0, NULL, NULL};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &marked, rows->count, 1, purpose));
    if (st == IKT_OK) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < rows->count; i++) {
            int64_t e = 0;
            while (e < k && !(lists->score[i * k + e] > 0))
                e++;
            marked[i] = e == k;
        }
        st = ikt_zero_similarity_find_ordered(ctx, data, rows, order, marked, k, &zeros);
    }
    for (int64_t o = 0; st == IKT_OK && o < zeros.count; o++) {
        const int64_t i = zeros.row[o] - rows->first;
        if (i < 0 || i >= rows->count) continue;
        memcpy(lists->row + i * k, zeros.nearest + o * k, (size_t)k * sizeof *lists->row);
        for (int64_t e = 0; e < k; e++)
            lists->score[i * k + e] = (float)(1 / (double)k);
    }
    *count = zeros.count;
    return st;
}
