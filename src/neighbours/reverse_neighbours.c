/* Rows that have a row among their nearest. See reverse_neighbours.h.
 *
 * Method: every row tells the rows of its list that it has them, a batch of rows at a time; the
 * owners keep those that are wanted. */
#include "neighbours/reverse_neighbours.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/memory.h"
#include "dist/shuffle.h"

/* Rows of a rank in a batch, and of all ranks: one may own all rows that they mention. */
enum { BATCH_ROWS = 16384, BATCH_OF_ALL = 16 * BATCH_ROWS };

static const char purpose[] = "refine";

/* Row `from` has own row `to`. */
typedef struct {
    uint32_t to, from; /* a local number of the receiver; a slot */
    float score;
} mention;

typedef struct {
    ikt_context *ctx;
    const ikt_rows *rows;
    const ikt_neighbours *lists;
    int64_t near, first, back; /* entries set aside; the first half of them; the rest at most */
    int64_t mentioned;         /* entries of each list, whose rows hear of it */
    bool is_far_first;
    uint32_t *nearest; /* [n_local * near] */
    uint32_t *row;     /* [n_local * back] the best that have a row, as heaps, */
    float *score;      /* [n_local * back] */
    ikt_shuffle shuffle;
    mention *sent, *received;
} reversal;

static void reversal_destroy(reversal *r) {
    ikt_shuffle_destroy(&r->shuffle);
    ikt_free_all(&r->sent, &r->received);
}

/* Rows of each rank in a batch; fewer where transfers are cut into short pieces. */
static int64_t batch_rows(int64_t piece_bytes, int ranks, int64_t mentions) {
    const int64_t usual = ikt_smaller(BATCH_ROWS, BATCH_OF_ALL / ranks + 1);
    return ikt_smaller(usual, piece_bytes / (mentions * (int64_t)sizeof(mention)) + 1);
}

/* LOCAL. What the rows from .. end - 1 have to tell, grouped by receiver. */
static ikt_status fill(reversal *r, int64_t from, int64_t end) {
    ikt_shuffle_clear(r->ctx, &r->shuffle);
    for (int64_t i = from; i < end; i++)
        ikt_shuffle_count_rows(&r->shuffle, r->rows, r->nearest + i * r->near, r->mentioned);
    ikt_shuffle_group(r->ctx, &r->shuffle);
    IKT_TRY(ikt_reserve(r->ctx, &r->sent, r->shuffle.sent, sizeof *r->sent, purpose));
    for (int64_t i = from; i < end; i++)
        for (int64_t e = 0; e < r->mentioned; e++) {
            const int64_t to = r->nearest[i * r->near + e];
            const int owner = ikt_rows_owner(r->rows, to);
            r->sent[ikt_shuffle_next(&r->shuffle, owner)] =
                (mention){(uint32_t)(to - ikt_rows_first(r->rows, owner)),
                          (uint32_t)(r->rows->first + i), r->lists->score[i * r->lists->k + e]};
        }
    return IKT_OK;
}

static void take(const reversal *r, const mention *m) {
    const uint32_t *own = r->nearest + m->to * r->near;
    for (int64_t e = 0; e < r->first; e++)
        if (own[e] == m->from) return;
    ikt_best_offer(r->score + m->to * r->back, r->row + m->to * r->back, r->back,
                   r->is_far_first ? -m->score : m->score, m->from);
}

/* Threads own shares of the rows, whatever their number is. */
static void take_all(const reversal *r) {
    const int shares = ikt_threads(r->ctx);
#pragma omp parallel for schedule(static, 1) num_threads(shares)
    for (int s = 0; s < shares; s++) {
        const ikt_rows share = ikt_rows_make(r->lists->n_local, shares, s);
        for (int64_t m = 0; m < r->shuffle.received; m++)
            if (ikt_is_own(&share, r->received[m].to)) take(r, &r->received[m]);
    }
}

/* The best first, from the end on: what they replace are the farthest of the row's own. One that is
 * among these is taken out there. */
static void write_row(const reversal *r, int64_t i) {
    uint32_t *row = r->row + i * r->back, *own = r->nearest + i * r->near;
    int64_t end = r->near;
    ikt_best_sort(r->score + i * r->back, row, r->back);
    for (int64_t e = 0; e < r->back && row[e] != UINT32_MAX; e++) {
        int64_t at = end - 1;
        for (int64_t o = r->first; o < end; o++)
            if (own[o] == row[e]) at = o;
        memmove(own + at, own + at + 1, (size_t)(--end - at) * sizeof *own);
        own[end] = row[e];
    }
}

ikt_status ikt_reverse_neighbours_add(ikt_context *ctx, const ikt_rows *rows,
                                      const ikt_neighbours *lists, int64_t near, bool is_far_first,
                                      uint32_t *nearest) {
    const int64_t n_local = lists->n_local, most = ikt_rows_count(rows, 0);
    reversal r IKT_AT_END(reversal_destroy) = {.ctx = ctx,
                                               .rows = rows,
                                               .lists = lists,
                                               .near = near,
                                               .first = near - near / 2,
                                               .back = near / 2,
                                               .is_far_first = is_far_first,
                                               .nearest = nearest};
    if (r.back == 0) return IKT_OK;
    r.mentioned = is_far_first ? ikt_smaller(near, lists->k) : r.first;
    IKT_ARRAYS(held, ctx, purpose);
    r.row = ikt_claim(&held, n_local * r.back, sizeof *r.row);
    r.score = ikt_claim(&held, n_local * r.back, sizeof *r.score);
    if (held.status == IKT_OK) held.status = ikt_shuffle_create(ctx, purpose, &r.shuffle);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_best_clear(r.score, r.row, n_local * r.back);
    const int64_t batch = batch_rows(ikt_piece_bytes(ctx), ikt_size(ctx), r.mentioned);
    for (int64_t from = 0; from < most; from += batch) {
        const int64_t own = ikt_smaller(from, n_local);
        IKT_TRY(ikt_agree(ctx, fill(&r, own, ikt_smaller(from + batch, n_local))));
        ikt_shuffle_meet(ctx, &r.shuffle);
        IKT_TRY(ikt_agree(
            ctx, ikt_reserve(ctx, &r.received, r.shuffle.received, sizeof *r.received, purpose)));
        ikt_shuffle_send(ctx, &r.shuffle, r.sent, r.received, sizeof *r.sent);
        take_all(&r);
    }
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++)
        write_row(&r, i);
    return IKT_OK;
}

int64_t ikt_reverse_neighbours_memory(int64_t n_local, int64_t near, int ranks) {
    const int64_t kept = (int64_t)(sizeof(uint32_t) + sizeof(float));
    const int64_t sent = ikt_smaller(n_local, batch_rows(INT64_MAX, ranks, near));
    const int64_t received = ranks * sent;
    return near / 2 * n_local * kept + near * (sent + received) * (int64_t)sizeof(mention) +
           24 * (int64_t)ranks;
}
