/* Edges to near rows, by both ends. See near_edges.h. */
#include "sampled/near_edges.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "sampled/pool.h"

/* Rows of a block, whose forces stand together: some 200 KB, so that they stay in the second-level
 * cache of a core; and of the blocks that tiles append to, a line each. */
enum { BLOCK = 2048 };

static const char purpose[] = "triplets";

/* LOCAL, pure. Where in `force` own edges that end elsewhere begin; the 0; what nobody reads of a
 * tile, since two threads may be at the first and the last tile at once. */
static int64_t leaving_place(const ikt_near_edges *e) {
    return e->own + e->cut.received;
}
static int64_t zero_place(const ikt_near_edges *e) {
    return leaving_place(e) + e->cut.sent;
}
static int64_t idle_place(const ikt_near_edges *e, int64_t tile) {
    return zero_place(e) + 1 + (tile == e->tiles - 1);
}

static ikt_status check_places(ikt_context *ctx, const ikt_near_edges *e) {
    if (zero_place(e) + 2 < INT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%lld rows with %lld neighbours each are too many for one rank, which has room "
                    "for 2^31 edges: use more ranks",
                    (long long)e->rows.count, (long long)e->m);
}

/* COLLECTIVE. Tells the owners of the rows where cut edges end, and gives the forces of these
 * edges their places.
 *   arrived   receives the rows where other ranks' edges end here, by ascending row where these
 *             begin */
static ikt_status exchange_cut(ikt_context *ctx, const ikt_neighbours *lists, ikt_near_edges *e,
                               uint32_t **arrived) {
    const ikt_rows *rows = &e->rows;
    IKT_TRY(ikt_agree(ctx, ikt_shuffle_create(ctx, purpose, &e->cut)));
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (!ikt_is_own(rows, lists->row[x]))
            ikt_shuffle_count(&e->cut, ikt_rows_owner(rows, lists->row[x]));
    ikt_shuffle_group(ctx, &e->cut);
    ikt_shuffle_meet(ctx, &e->cut);
    e->own = rows->count * e->m - e->cut.sent;
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *sent = ikt_claim(&held, e->cut.sent, sizeof *sent);
    *arrived = ikt_claim_kept(&held, e->cut.received, sizeof **arrived);
    e->place = ikt_claim_kept(&held, e->tiles * e->m * IKT_TILE, sizeof *e->place);
    if (held.status == IKT_OK) held.status = check_places(ctx, e);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t x = 0; x < e->tiles * e->m * IKT_TILE; x++)
        e->place[x] = (int32_t)idle_place(e, x / (e->m * IKT_TILE));
    for (int64_t x = 0; x < rows->count * e->m; x++) {
        if (ikt_is_own(rows, lists->row[x])) continue;
        const int64_t at = ikt_shuffle_next(&e->cut, ikt_rows_owner(rows, lists->row[x]));
        sent[at] = lists->row[x];
        e->place[ikt_near_edges_place(e, x / e->m, x % e->m)] = (int32_t)(leaving_place(e) + at);
    }
    ikt_shuffle_send(ctx, &e->cut, sent, *arrived, sizeof *sent);
    return IKT_OK;
}

/* LOCAL. Numbers the rows of other ranks where own edges end.
 *   set   receives them */
static ikt_status find_ghosts(ikt_context *ctx, const ikt_neighbours *lists, ikt_near_edges *e,
                              ikt_row_set *set) {
    IKT_TRY(ikt_row_set_create(ctx, e->rows.n, set));
    for (int64_t x = 0; x < e->rows.count * e->m; x++)
        if (!ikt_is_own(&e->rows, lists->row[x])) ikt_row_set_add(set, lists->row[x]);
    ikt_row_set_number(set);
    e->n_ghost = set->count;
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *row = ikt_claim(&held, set->count, sizeof *row);
    e->ghost_row = ikt_claim_kept(&held, set->count, sizeof *e->ghost_row);
    IKT_TRY(held.status);
    ikt_row_set_list(set, row);
    for (int64_t g = 0; g < set->count; g++)
        e->ghost_row[g] = row[g];
    return IKT_OK;
}

static int32_t local_number(const ikt_rows *rows, const ikt_row_set *set, uint32_t row) {
    return (int32_t)(ikt_is_own(rows, row) ? (int64_t)row - rows->first
                                           : rows->count + ikt_row_set_place(set, row));
}

/* LOCAL. Where the list of each own row begins. */
static void divide_ends(const ikt_neighbours *lists, const uint32_t *arrived, ikt_near_edges *e) {
    const ikt_rows *rows = &e->rows;
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (ikt_is_own(rows, lists->row[x])) e->start[lists->row[x] - rows->first + 1]++;
    for (int64_t x = 0; x < e->cut.received; x++)
        e->start[arrived[x] - rows->first + 1]++;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t groups = (e->start[i + 1] + IKT_ENDS_SUMS - 1) / IKT_ENDS_SUMS;
        e->start[i + 1] = e->start[i] + groups * IKT_ENDS_SUMS;
    }
}

/* LOCAL. The first place of the forces of each block.
 *   next   [rows.count / BLOCK + 2] zeros, receives them */
static void divide_blocks(const ikt_near_edges *e, const ikt_neighbours *lists, int64_t *next) {
    for (int64_t x = 0; x < e->rows.count * e->m; x++)
        if (ikt_is_own(&e->rows, lists->row[x]))
            next[(lists->row[x] - e->rows.first) / BLOCK + 1]++;
    for (int64_t k = 0; k < e->rows.count / BLOCK + 1; k++)
        next[k + 1] += next[k];
}

/* LOCAL. Places of the forces of own edges that end at own rows, and the lists of ends.
 *   next      [rows.count] where the next end of each own row belongs
 *   in_block  [rows.count / BLOCK + 2] where the next force of each block belongs */
static void list_own(const ikt_neighbours *lists, ikt_near_edges *e, int64_t *next,
                     int64_t *in_block) {
    for (int64_t x = 0; x < e->rows.count * e->m; x++) {
        if (!ikt_is_own(&e->rows, lists->row[x])) continue;
        const int64_t end = lists->row[x] - e->rows.first;
        const int32_t place = (int32_t)in_block[end / BLOCK]++;
        e->place[ikt_near_edges_place(e, x / e->m, x % e->m)] = place;
        e->ends[next[end]++] = place;
    }
}

/* LOCAL. The lists of ends. Ranks own ascending rows: edges from lower ranks, own ones, and those
 * from higher ranks are in the order of the rows where they begin. */
static ikt_status list_ends(ikt_context *ctx, const ikt_neighbours *lists, const uint32_t *arrived,
                            ikt_near_edges *e) {
    const ikt_rows *rows = &e->rows;
    int64_t taken = 0;
    IKT_TRY(ikt_alloc(ctx, &e->start, rows->count + 1, sizeof *e->start, purpose));
    divide_ends(lists, arrived, e);
    const int64_t places = e->start[rows->count] + IKT_ENDS_AHEAD;
    IKT_TRY(ikt_alloc(ctx, &e->ends, places, sizeof *e->ends, purpose));
    for (int64_t x = 0; x < places; x++)
        e->ends[x] = (int32_t)zero_place(e);
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *next = ikt_claim(&held, rows->count, sizeof *next);
    int64_t *in_block = ikt_claim(&held, rows->count / BLOCK + 2, sizeof *in_block);
    IKT_TRY(held.status);
    memcpy(next, e->start, (size_t)rows->count * sizeof *next);
    divide_blocks(e, lists, in_block);
    for (int64_t r = 0; r < rows->ranks; r++) {
        if (r == ikt_rank(ctx)) list_own(lists, e, next, in_block);
        for (int64_t end = taken + e->cut.recv_counts[r]; taken < end; taken++)
            e->ends[next[arrived[taken] - rows->first]++] = (int32_t)(e->own + taken);
    }
    return IKT_OK;
}

/* LOCAL. What tiles read: near rows by lanes, and D. */
static ikt_status fill_tiles(ikt_context *ctx, const ikt_neighbours *lists, const ikt_row_set *set,
                             ikt_near_edges *e) {
    const int64_t all = e->tiles * e->m * IKT_TILE;
    IKT_TRY(ikt_alloc(ctx, &e->near, all, sizeof *e->near, purpose));
    IKT_TRY(ikt_alloc(ctx, &e->d, all, sizeof *e->d, purpose));
    IKT_TRY(ikt_alloc(ctx, &e->force, (zero_place(e) + 3) * e->q, sizeof *e->force, purpose));
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
    ikt_row_set set IKT_AT_END(ikt_row_set_destroy) = {0};
    uint32_t *arrived IKT_AT_END(ikt_free) = NULL;
    *out =
        (ikt_near_edges){.rows = *rows, .q = q, .m = lists->k, .tiles = tiles.last - tiles.first};
    IKT_TRY(exchange_cut(ctx, lists, out, &arrived));
    ikt_status st = find_ghosts(ctx, lists, out, &set);
    if (st == IKT_OK) st = list_ends(ctx, lists, arrived, out);
    if (st == IKT_OK) st = fill_tiles(ctx, lists, &set, out);
    return ikt_agree(ctx, st);
}

void ikt_near_edges_destroy(ikt_near_edges *e) {
    ikt_free_all(&e->near, &e->place, &e->d, &e->force, &e->start, &e->ends, &e->ghost_row);
    ikt_shuffle_destroy(&e->cut);
}

void ikt_near_edges_exchange(ikt_context *ctx, const ikt_near_edges *e) {
    if (e->rows.ranks == 1) return;
    ikt_shuffle_send(ctx, &e->cut, e->force + leaving_place(e) * e->q, e->force + e->own * e->q,
                     (size_t)e->q * sizeof *e->force);
}

/* --- forces of tiles -------------------------------------------------------------------------- */

void ikt_near_edges_ask(const ikt_near_edges *e, int64_t tile) {
    const int64_t first = tile * e->m * IKT_TILE, last = first + e->m * IKT_TILE;
    for (int64_t at = first; at < last; at += IKT_TILE) { /* one line of each */
        __builtin_prefetch(e->near + at);
        __builtin_prefetch(e->d + at);
        __builtin_prefetch(e->place + at);
    }
}

/* A tile's edges, in loops that are unrolled for each q. */
static inline __attribute__((always_inline)) void ask_ends(const ikt_near_edges *e, int q,
                                                           int64_t first, const float *y) {
    const int32_t *near = e->near + first, *place = e->place + first;
    for (int64_t x = 0; x < e->m * IKT_TILE; x += IKT_TILE) {
#pragma GCC unroll 16
        for (int64_t l = x; l < x + IKT_TILE; l++)
            __builtin_prefetch(y + (int64_t)q * near[l]);
#pragma GCC unroll 16
        for (int64_t l = x; l < x + IKT_TILE; l++)
            ikt_ask_to_write(e->force + (int64_t)q * place[l]);
    }
}

void ikt_near_edges_ask_ends(const ikt_near_edges *e, int64_t tile, const float *y) {
    const int64_t first = tile * e->m * IKT_TILE;
    if (e->q == 1)
        ask_ends(e, 1, first, y);
    else if (e->q == 2)
        ask_ends(e, 2, first, y);
    else
        ask_ends(e, 3, first, y);
}

static inline __attribute__((always_inline)) void keep_edges(const int32_t *place, int64_t count,
                                                             int q, const float *from, float *to) {
#pragma GCC unroll 16
    for (int64_t x = 0; x < count; x++)
        memcpy(to + (int64_t)q * place[x], from + q * x, (size_t)q * sizeof *to);
}

void ikt_near_edges_keep(const ikt_near_edges *e, int64_t tile, const float *force) {
    const int64_t count = e->m * IKT_TILE;
    const int32_t *place = e->place + tile * count;
    if (e->q == 1)
        keep_edges(place, count, 1, force, e->force);
    else if (e->q == 2)
        keep_edges(place, count, 2, force, e->force);
    else
        keep_edges(place, count, 3, force, e->force);
}

/* --- where edges end -------------------------------------------------------------------------- */

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
    for (int64_t first = 0; first < e->rows.count; first += BLOCK) {
        const int64_t last = ikt_smaller(first + BLOCK, e->rows.count);
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
    return (12 + 4 * q) * own + 4 * ends + 8 * (rows->count + 1) + 8 * ghosts + 8 * q * cut;
}
