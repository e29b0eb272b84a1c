/* From directed weights to the symmetric P.
 *
 * Method: the weights p_j|i travel, transposed, to the owner of row j, a batch of rows at a time.
 * First round: where row j has i among its own neighbours, both weights are added in place. The sum
 * is stored with a minus sign, so that when row j's turn to send comes, row i takes the sum instead
 * of adding again; pairs of one batch have both sent their weights before either adds. What finds
 * no partner is counted. Second round: what is still positive has no partner, and travels again
 * into the reverse part, which now has exactly its room.
 * Pairs of two own rows need no message: they are joined where they stand.
 * Advantage: the lists become P where they stand, and beside the reverse part only buffers of fixed
 * size are needed; the sum of two floats commutes, so nothing depends on who sent first.
 * Disadvantage: entries to rows of other ranks without a partner travel twice. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/memory.h"
#include "graph/entry_order.h"
#include "graph/ghosts.h"
#include "graph/graph.h"

enum { BATCH_ENTRIES = 1 << 21 }; /* 25 MB to send */

typedef struct {
    uint32_t row;    /* local number of the target on its owner */
    uint32_t column; /* global number of the row it comes from */
    float value;
} entry;

typedef struct {
    ikt_context *ctx;
    ikt_row_map map;
    int64_t *start;   /* [n_local + 1] of the forward part */
    uint32_t *column; /* of the forward part, global numbers */
    float *value;
    int64_t *reverse_start, *cursor; /* [n_local + 1] */
    uint32_t *reverse_column;
    float *reverse_value;
    int64_t *send_counts, *recv_counts, *place; /* [ranks] */
    entry *sent, *received;                     /* grow to what a batch needs */
    int64_t sent_room, received_room;
} work;

static void work_free(work *w) {
    ikt_free(&w->start);
    ikt_free(&w->column);
    ikt_free(&w->value);
    ikt_free(&w->reverse_start);
    ikt_free(&w->cursor);
    ikt_free(&w->reverse_column);
    ikt_free(&w->reverse_value);
    ikt_free(&w->send_counts);
    ikt_free(&w->recv_counts);
    ikt_free(&w->place);
    ikt_free(&w->sent);
    ikt_free(&w->received);
}

static ikt_status work_alloc(work *w) {
    ikt_context *ctx = w->ctx;
    int64_t rows = w->map.count + 1, ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &w->start, rows, sizeof *w->start, "graph"));
    IKT_TRY(ikt_alloc(ctx, &w->reverse_start, rows, sizeof *w->reverse_start, "graph"));
    IKT_TRY(ikt_alloc(ctx, &w->cursor, rows, sizeof *w->cursor, "symmetrise"));
    IKT_TRY(ikt_alloc(ctx, &w->send_counts, ranks, sizeof(int64_t), "symmetrise"));
    IKT_TRY(ikt_alloc(ctx, &w->recv_counts, ranks, sizeof(int64_t), "symmetrise"));
    return ikt_alloc(ctx, &w->place, ranks, sizeof(int64_t), "symmetrise");
}

/* Drops zeros and closes the gaps: start[] and the arrays of the forward part. */
static void drop_zeros(work *w, int64_t k) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->map.count; i++) {
        w->start[i] = kept;
        for (int64_t e = i * k; e < (i + 1) * k; e++) {
            if (!(w->value[e] > 0)) continue;
            w->column[kept] = w->column[e];
            w->value[kept++] = w->value[e];
        }
    }
    w->start[w->map.count] = kept;
}

/* Sorts the entries of every row by column. */
static ikt_status sort_rows(const work *w, const int64_t *start, uint32_t *column, float *value) {
    int64_t longest = 0, threads = ikt_threads(w->ctx);
    uint64_t *keys = NULL;
    for (int64_t i = 0; i < w->map.count; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    IKT_TRY(ikt_alloc(w->ctx, &keys, threads * longest, sizeof *keys, "symmetrise"));
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
    for (int64_t i = 0; i < w->map.count; i++)
        ikt_entries_sort(column + start[i], value + start[i], start[i + 1] - start[i],
                         keys + omp_get_thread_num() * longest);
    ikt_free(&keys);
    return IKT_OK;
}

/* --- a batch of transposed entries ------------------------------------------------------------ */

/* Own rows first .. last - 1. */
typedef struct {
    int64_t first, last;
} rows;

/* The rows from `first` on that a batch takes. */
static rows next_batch(const work *w, int64_t first) {
    rows batch = {first, first};
    while (batch.last < w->map.count && w->start[batch.last + 1] - w->start[first] <= BATCH_ENTRIES)
        batch.last++;
    if (batch.last == first && first < w->map.count) batch.last++;
    return batch;
}

static bool is_own(const work *w, uint32_t row) {
    return row >= w->map.first && row < w->map.first + w->map.count;
}

/* Whether an entry has to travel. */
static bool is_wanted(const work *w, int64_t e, bool only_single) {
    return !is_own(w, w->column[e]) && (!only_single || w->value[e] > 0);
}

/* Fills `sent`, grouped by owner, and send_counts. */
static ikt_status fill(work *w, rows batch, bool only_single) {
    int64_t total = 0, ranks = ikt_size(w->ctx);
    memset(w->send_counts, 0, (size_t)ranks * sizeof *w->send_counts);
    for (int64_t e = w->start[batch.first]; e < w->start[batch.last]; e++)
        if (is_wanted(w, e, only_single))
            w->send_counts[ikt_row_map_owner(&w->map, w->column[e])]++;
    for (int64_t r = 0; r < ranks; r++) {
        w->place[r] = total;
        total += w->send_counts[r];
    }
    if (total > w->sent_room) {
        ikt_free(&w->sent);
        w->sent_room = 0;
        IKT_TRY(ikt_alloc(w->ctx, &w->sent, total, sizeof *w->sent, "symmetrise"));
        w->sent_room = total;
    }
    for (int64_t i = batch.first; i < batch.last; i++)
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
            if (!is_wanted(w, e, only_single)) continue;
            int owner = ikt_row_map_owner(&w->map, w->column[e]);
            int64_t local = w->column[e] - ikt_row_map_first(&w->map, owner);
            w->sent[w->place[owner]++] =
                (entry){(uint32_t)local, (uint32_t)(w->map.first + i), w->value[e]};
        }
    return IKT_OK;
}

/* COLLECTIVE. Sends the batch and receives the others': *count entries in w->received. */
static ikt_status exchange(work *w, rows batch, bool only_single, int64_t *count) {
    ikt_context *ctx = w->ctx;
    IKT_TRY(ikt_agree(ctx, fill(w, batch, only_single)));
    ikt_exchange_counts(ctx, w->send_counts, w->recv_counts);
    *count = 0;
    for (int r = 0; r < ikt_size(ctx); r++)
        *count += w->recv_counts[r];
    ikt_status st = IKT_OK;
    if (*count > w->received_room) {
        ikt_free(&w->received);
        st = ikt_alloc(ctx, &w->received, *count, sizeof *w->received, "symmetrise");
        w->received_room = st == IKT_OK ? *count : 0;
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, w->sent, w->send_counts, w->received, w->recv_counts, sizeof *w->sent);
    return IKT_OK;
}

/* Adds the weight of a pair, or counts an entry without a partner. */
static void join(work *w, const entry *from) {
    int64_t begin = w->start[from->row];
    int64_t found =
        ikt_entries_find(w->column + begin, w->start[from->row + 1] - begin, from->column);
    if (found < 0)
        w->reverse_start[from->row + 1]++;
    else if (from->value < 0) /* the partner has added already */
        w->value[begin + found] = from->value;
    else
        w->value[begin + found] = -(w->value[begin + found] + from->value);
}

static void place_single(work *w, const entry *from) {
    int64_t at = w->cursor[from->row]++;
    w->reverse_column[at] = from->column;
    w->reverse_value[at] = from->value;
}

/* Gives every received entry to `take`; a thread looks after the rows of its share. */
static void apply(work *w, int64_t count, void (*take)(work *, const entry *)) {
    int threads = ikt_threads(w->ctx);
#pragma omp parallel num_threads(threads)
    {
        ikt_row_map share = ikt_row_map_make(w->map.count, threads, omp_get_thread_num());
        for (int64_t e = 0; e < count; e++)
            if (w->received[e].row - share.first < share.count && w->received[e].row >= share.first)
                take(w, &w->received[e]);
    }
}

/* COLLECTIVE. All batches of all ranks. */
static ikt_status transpose(work *w, bool only_single, void (*take)(work *, const entry *)) {
    int64_t done = 0, count;
    while (ikt_max_one(w->ctx, done < w->map.count)) {
        rows batch = next_batch(w, done);
        IKT_TRY(exchange(w, batch, only_single, &count));
        apply(w, count, take);
        done = batch.last;
    }
    return IKT_OK;
}

/* --- pairs of own rows ------------------------------------------------------------------------ */

/* The entry that mirrors entry e of own row i, a pair of own rows; -1 where there is none. */
static int64_t mirror_of(const work *w, int64_t i, int64_t e) {
    int64_t row = w->column[e] - w->map.first, begin = w->start[row];
    int64_t found = ikt_entries_find(w->column + begin, w->start[row + 1] - begin,
                                     (uint32_t)(w->map.first + i));
    return found < 0 ? -1 : begin + found;
}

/* Both entries of a pair are written by the thread that has the lower row, and by no other. */
static void join_own(work *w) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->map.count; i++)
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
            if (!is_own(w, w->column[e])) continue;
            int64_t row = w->column[e] - w->map.first, mirror = mirror_of(w, i, e);
            if (mirror < 0) {
#pragma omp atomic update
                w->reverse_start[row + 1]++;
            } else if (i < row) {
                w->value[e] = w->value[mirror] = -(w->value[e] + w->value[mirror]);
            }
        }
}

/* The order in which threads come does not matter: rows are sorted afterwards. */
static void place_own(work *w) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->map.count; i++)
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
            if (!is_own(w, w->column[e]) || !(w->value[e] > 0)) continue;
            int64_t row = w->column[e] - w->map.first, at;
#pragma omp atomic capture
            at = w->cursor[row]++;
            w->reverse_column[at] = (uint32_t)(w->map.first + i);
            w->reverse_value[at] = w->value[e];
        }
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status make_reverse_room(work *w) {
    for (int64_t i = 0; i < w->map.count; i++)
        w->reverse_start[i + 1] += w->reverse_start[i];
    memcpy(w->cursor, w->reverse_start, (size_t)(w->map.count + 1) * sizeof *w->cursor);
    int64_t total = w->reverse_start[w->map.count];
    IKT_TRY(ikt_alloc(w->ctx, &w->reverse_column, total, sizeof *w->reverse_column, "graph"));
    return ikt_alloc(w->ctx, &w->reverse_value, total, sizeof *w->reverse_value, "graph");
}

static ikt_status join_both(work *w) {
    IKT_TRY(ikt_agree(w->ctx, sort_rows(w, w->start, w->column, w->value)));
    IKT_TRY(transpose(w, false, join));
    join_own(w);
    IKT_TRY(ikt_agree(w->ctx, make_reverse_room(w)));
    IKT_TRY(transpose(w, true, place_single));
    place_own(w);
    ikt_free(&w->sent);
    ikt_free(&w->received);
    ikt_free(&w->cursor);
    return ikt_agree(w->ctx, sort_rows(w, w->reverse_start, w->reverse_column, w->reverse_value));
}

/* From sums of conditional probabilities, of either sign, to p_ij. */
static void scale_values(ikt_context *ctx, int64_t n, float *value, int64_t count) {
    double scale = 1.0 / (2.0 * (double)n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        value[e] = (float)(scale * fabs((double)value[e]));
}

/* Hands the arrays over; columns are still global numbers. */
static void hand_over(work *w, ikt_graph *out) {
    out->forward = (ikt_csr){w->start, (int32_t *)w->column, w->value};
    out->reverse = (ikt_csr){w->reverse_start, (int32_t *)w->reverse_column, w->reverse_value};
    w->start = w->reverse_start = NULL;
    w->column = w->reverse_column = NULL;
    w->value = w->reverse_value = NULL;
}

ikt_status ikt_graph_symmetrise(ikt_context *ctx, const ikt_row_map *map, ikt_neighbours *lists,
                                ikt_graph *out) {
    memset(out, 0, sizeof *out);
    out->map = *map;
    work w = {.ctx = ctx, .map = *map, .column = lists->row, .value = lists->score};
    lists->row = NULL;
    lists->score = NULL;
    ikt_status st = ikt_agree(ctx, work_alloc(&w));
    if (st == IKT_OK) {
        drop_zeros(&w, lists->k);
        st = join_both(&w);
    }
    if (st == IKT_OK) {
        scale_values(ctx, map->n, w.value, w.start[map->count]);
        scale_values(ctx, map->n, w.reverse_value, w.reverse_start[map->count]);
        hand_over(&w, out);
        st = ikt_agree(ctx, ikt_ghosts_number(ctx, out));
    }
    work_free(&w);
    if (st != IKT_OK) ikt_graph_destroy(out);
    return st;
}

static void csr_free(ikt_csr *part) {
    ikt_free(&part->start);
    ikt_free(&part->column);
    ikt_free(&part->value);
}

void ikt_graph_destroy(ikt_graph *graph) {
    csr_free(&graph->forward);
    csr_free(&graph->reverse);
    ikt_free(&graph->ghost_row);
    graph->n_ghost = 0;
}
