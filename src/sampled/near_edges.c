/* Edges to near rows, by both ends. See near_edges.h. */
#include "sampled/near_edges.h"

#include "base/comm.h"
#include "base/memory.h"
#include "base/number.h"
#include "sampled/pool.h"

static const char purpose[] = "triplets";

static bool is_own(const ikt_rows *rows, uint32_t row) {
    return (int64_t)row >= rows->first && (int64_t)row < rows->first + rows->count;
}

/* COLLECTIVE. Tells the owners of the rows where cut edges end.
 *   arrived   receives the rows where other ranks' edges end here, by ascending row where these
 *             begin */
static ikt_status exchange_cut(ikt_context *ctx, const ikt_neighbours *lists, ikt_near_edges *e,
                               uint32_t **arrived) {
    const ikt_rows *rows = &e->rows;
    uint32_t *sent = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_shuffle_create(ctx, purpose, &e->cut)));
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (!is_own(rows, lists->row[x]))
            ikt_shuffle_count(&e->cut, ikt_rows_owner(rows, lists->row[x]));
    ikt_shuffle_group(ctx, &e->cut);
    ikt_shuffle_meet(ctx, &e->cut);
    ikt_status st = ikt_alloc(ctx, &sent, e->cut.sent, sizeof *sent, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, arrived, e->cut.received, sizeof **arrived, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &e->leaving, e->cut.sent, sizeof *e->leaving, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &e->packed, e->cut.sent * e->q, sizeof *e->packed, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t x = 0; x < rows->count * e->m && st == IKT_OK; x++) {
        if (is_own(rows, lists->row[x])) continue;
        const int64_t at = ikt_shuffle_next(&e->cut, ikt_rows_owner(rows, lists->row[x]));
        sent[at] = lists->row[x];
        e->leaving[at] = (uint32_t)ikt_near_edges_place(e, x / e->m, x % e->m);
    }
    if (st == IKT_OK) ikt_shuffle_send(ctx, &e->cut, sent, *arrived, sizeof *sent);
    ikt_free(&sent);
    return st;
}

/* LOCAL. Numbers the rows of other ranks where own edges end.
 *   set   receives them */
static ikt_status find_ghosts(ikt_context *ctx, const ikt_neighbours *lists, ikt_near_edges *e,
                              ikt_row_set *set) {
    uint32_t *row = NULL;
    IKT_TRY(ikt_row_set_create(ctx, e->rows.n, set));
    for (int64_t x = 0; x < e->rows.count * e->m; x++)
        if (!is_own(&e->rows, lists->row[x])) ikt_row_set_add(set, lists->row[x]);
    ikt_row_set_number(set);
    e->n_ghost = set->count;
    IKT_TRY(ikt_alloc(ctx, &row, set->count, sizeof *row, purpose));
    ikt_status st = ikt_alloc(ctx, &e->ghost_row, set->count, sizeof *e->ghost_row, purpose);
    if (st == IKT_OK) {
        ikt_row_set_list(set, row);
        for (int64_t g = 0; g < set->count; g++)
            e->ghost_row[g] = row[g];
    }
    ikt_free(&row);
    return st;
}

static int32_t local_number(const ikt_rows *rows, const ikt_row_set *set, uint32_t row) {
    return (int32_t)(is_own(rows, row) ? (int64_t)row - rows->first
                                       : rows->count + ikt_row_set_place(set, row));
}

/* LOCAL. Where the list of each own row begins. */
static void divide_ends(const ikt_neighbours *lists, const uint32_t *arrived, ikt_near_edges *e) {
    const ikt_rows *rows = &e->rows;
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (is_own(rows, lists->row[x])) e->start[lists->row[x] - rows->first + 1]++;
    for (int64_t x = 0; x < e->cut.received; x++)
        e->start[arrived[x] - rows->first + 1]++;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t groups = (e->start[i + 1] + IKT_ENDS_SUMS - 1) / IKT_ENDS_SUMS;
        e->start[i + 1] = e->start[i] + groups * IKT_ENDS_SUMS;
    }
}

/* LOCAL. The lists of ends. Ranks own ascending rows: edges from lower ranks, own ones, and those
 * from higher ranks are in the order of the rows where they begin. */
static ikt_status list_ends(ikt_context *ctx, const ikt_neighbours *lists, const uint32_t *arrived,
                            ikt_near_edges *e) {
    const ikt_rows *rows = &e->rows;
    const int64_t own = e->tiles * e->m * IKT_TILE, rank = ikt_rank(ctx);
    int64_t *next = NULL, taken = 0;
    IKT_TRY(ikt_alloc(ctx, &e->start, rows->count + 1, sizeof *e->start, purpose));
    divide_ends(lists, arrived, e);
    const int64_t places = e->start[rows->count] + IKT_ENDS_AHEAD;
    IKT_TRY(ikt_alloc(ctx, &e->ends, places, sizeof *e->ends, purpose));
    for (int64_t x = 0; x < places; x++)
        e->ends[x] = (int32_t)(own + e->cut.received);
    IKT_TRY(ikt_alloc(ctx, &next, rows->count, sizeof *next, purpose));
    for (int64_t i = 0; i < rows->count; i++)
        next[i] = e->start[i];
    for (int64_t r = 0; r < rows->ranks; r++) {
        for (int64_t x = 0; r == rank && x < rows->count * e->m; x++)
            if (is_own(rows, lists->row[x]))
                e->ends[next[lists->row[x] - rows->first]++] =
                    (int32_t)ikt_near_edges_place(e, x / e->m, x % e->m);
        for (int64_t end = taken + e->cut.recv_counts[r]; taken < end; taken++)
            e->ends[next[arrived[taken] - rows->first]++] = (int32_t)(own + taken);
    }
    ikt_free(&next);
    return IKT_OK;
}

/* LOCAL. What tiles read: near rows by lanes, and D. */
static ikt_status fill_tiles(ikt_context *ctx, const ikt_neighbours *lists, const ikt_row_set *set,
                             ikt_near_edges *e) {
    const int64_t own = e->tiles * e->m * IKT_TILE;
    IKT_TRY(ikt_alloc(ctx, &e->near, own, sizeof *e->near, purpose));
    IKT_TRY(ikt_alloc(ctx, &e->d, own, sizeof *e->d, purpose));
    IKT_TRY(
        ikt_alloc(ctx, &e->force, (own + e->cut.received + 1) * e->q, sizeof *e->force, purpose));
    for (int64_t x = 0; x < e->rows.count * e->m; x++) {
        const int64_t at = ikt_near_edges_place(e, x / e->m, x % e->m);
        e->near[at] = local_number(&e->rows, set, lists->row[x]);
        e->d[at] = lists->score[x];
    }
    return IKT_OK;
}

ikt_status ikt_near_edges_create(ikt_context *ctx, const ikt_rows *rows, int q,
                                 const ikt_neighbours *lists, ikt_near_edges *out) {
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    ikt_row_set set = {0};
    uint32_t *arrived = NULL;
    *out =
        (ikt_near_edges){.rows = *rows, .q = q, .m = lists->k, .tiles = tiles.last - tiles.first};
    ikt_status st = exchange_cut(ctx, lists, out, &arrived);
    if (st == IKT_OK) {
        const int64_t places = out->tiles * out->m * IKT_TILE + out->cut.received + 1;
        if (places > INT32_MAX)
            st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                          "%lld rows with %lld neighbours each are too many for one rank, which "
                          "has room for 2^31 edges: use more ranks",
                          (long long)rows->count, (long long)out->m);
        if (st == IKT_OK) st = find_ghosts(ctx, lists, out, &set);
        if (st == IKT_OK) st = list_ends(ctx, lists, arrived, out);
        if (st == IKT_OK) st = fill_tiles(ctx, lists, &set, out);
        st = ikt_agree(ctx, st);
    }
    ikt_row_set_destroy(&set);
    ikt_free(&arrived);
    return st;
}

void ikt_near_edges_destroy(ikt_near_edges *e) {
    ikt_free(&e->near);
    ikt_free(&e->d);
    ikt_free(&e->force);
    ikt_free(&e->start);
    ikt_free(&e->ends);
    ikt_free(&e->ghost_row);
    ikt_shuffle_destroy(&e->cut);
    ikt_free(&e->leaving);
    ikt_free(&e->packed);
}

void ikt_near_edges_exchange(ikt_context *ctx, const ikt_near_edges *e) {
    if (e->rows.ranks == 1) return;
    for (int64_t x = 0; x < e->cut.sent; x++)
        for (int64_t c = 0; c < e->q; c++)
            e->packed[x * e->q + c] = e->force[(int64_t)e->leaving[x] * e->q + c];
    ikt_shuffle_send(ctx, &e->cut, e->packed, e->force + e->tiles * e->m * IKT_TILE * e->q,
                     (size_t)e->q * sizeof *e->force);
}

/* --- where edges end -------------------------------------------------------------------------- */

enum { SOME_ROWS = 512 /* that a thread takes at a time */ };

/* Edge x of a row goes to sum x % IKT_ENDS_SUMS: a list ends after a whole number of them, since
 * branches that depend on each row's number of edges take longer than a few zeros. */
static inline __attribute__((always_inline)) void
end_rows(const ikt_near_edges *e, int q, int64_t first, int64_t last, float *force) {
    const int32_t *ends = e->ends;
    const float *of_edges = e->force;
    for (int64_t i = first; i < last; i++) {
        float sum[IKT_ENDS_SUMS][3] = {{0}};
        for (int64_t x = e->start[i]; x < e->start[i + 1]; x += IKT_ENDS_SUMS)
            for (int64_t s = 0; s < IKT_ENDS_SUMS; s++) {
                __builtin_prefetch(of_edges + (int64_t)q * ends[x + s + IKT_ENDS_AHEAD]);
                for (int c = 0; c < q; c++)
                    sum[s][c] += of_edges[(int64_t)q * ends[x + s] + c];
            }
        for (int c = 0; c < q; c++)
            force[q * i + c] = -((sum[0][c] + sum[1][c]) + (sum[2][c] + sum[3][c]));
    }
}

void ikt_near_edges_end(ikt_context *ctx, const ikt_near_edges *e, float *force) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < e->rows.count; first += SOME_ROWS) {
        const int64_t last = ikt_smaller(first + SOME_ROWS, e->rows.count);
        if (e->q == 1)
            end_rows(e, 1, first, last, force);
        else if (e->q == 2)
            end_rows(e, 2, first, last, force);
        else
            end_rows(e, 3, first, last, force);
    }
}

int64_t ikt_near_edges_memory(const ikt_rows *rows, int q, int64_t m, int64_t ghosts, int64_t cut) {
    const int64_t own = (rows->count / IKT_TILE + 2) * IKT_TILE * m;
    const int64_t ends = rows->count * (m + IKT_ENDS_SUMS / 2);
    return (8 + 4 * q) * own + 4 * ends + 8 * (rows->count + 1) + 8 * ghosts + (4 + 8 * q) * cut;
}
