/* Edges to near rows, by both ends. See near_edges.h. */
#include "sampled/near_edges.h"

#include "base/comm.h"
#include "base/memory.h"
#include "sampled/pool.h"

static const char purpose[] = "triplets";

/* Where both ends of an edge are, as global rows. */
typedef struct {
    uint32_t to, from;
} ends;

static bool is_own(const ikt_rows *rows, uint32_t row) {
    return (int64_t)row >= rows->first && (int64_t)row < rows->first + rows->count;
}

/* COLLECTIVE. Tells the owners of the rows where cut edges end.
 *   arrived   receives the edges that end at own rows, by ascending row where they begin */
static ikt_status exchange_cut(ikt_context *ctx, const ikt_neighbours *lists, ikt_near_edges *e,
                               ends **arrived) {
    const ikt_rows *rows = &e->rows;
    ends *sent = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_shuffle_create(ctx, purpose, &e->cut)));
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (!is_own(rows, lists->row[x]))
            ikt_shuffle_count(&e->cut, ikt_rows_owner(rows, lists->row[x]));
    ikt_shuffle_group(ctx, &e->cut);
    ikt_shuffle_meet(ctx, &e->cut);
    ikt_status st = ikt_alloc(ctx, &sent, e->cut.sent, sizeof *sent, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, arrived, e->cut.received, sizeof **arrived, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &e->leaving, e->cut.sent, sizeof *e->leaving, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &e->packed, e->cut.sent, sizeof *e->packed, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t x = 0; x < rows->count * e->m && st == IKT_OK; x++) {
        if (is_own(rows, lists->row[x])) continue;
        const int64_t at = ikt_shuffle_next(&e->cut, ikt_rows_owner(rows, lists->row[x]));
        sent[at] = (ends){lists->row[x], (uint32_t)(rows->first + x / e->m)};
        e->leaving[at] = (uint32_t)ikt_near_edges_place(e, x / e->m, x % e->m);
    }
    if (st == IKT_OK) ikt_shuffle_send(ctx, &e->cut, sent, *arrived, sizeof *sent);
    ikt_free(&sent);
    return st;
}

/* LOCAL. Numbers the rows of other ranks that edges have an end at.
 *   set   receives them */
static ikt_status find_ghosts(ikt_context *ctx, const ikt_neighbours *lists, const ends *arrived,
                              ikt_near_edges *e, ikt_row_set *set) {
    uint32_t *row = NULL;
    IKT_TRY(ikt_row_set_create(ctx, e->rows.n, set));
    for (int64_t x = 0; x < e->rows.count * e->m; x++)
        if (!is_own(&e->rows, lists->row[x])) ikt_row_set_add(set, lists->row[x]);
    for (int64_t x = 0; x < e->cut.received; x++)
        ikt_row_set_add(set, arrived[x].from);
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

/* Adds an edge to the list of the row where it ends; `next` counts what is there. */
static void add_end(ikt_near_edges *e, int64_t *next, const ikt_row_set *set, ends edge,
                    int64_t place) {
    const int64_t at = next[(int64_t)edge.to - e->rows.first]++;
    e->ends.begin[at] = local_number(&e->rows, set, edge.from);
    e->ends.place[at] = (int32_t)place;
}

/* LOCAL. The lists of ends. Ranks own ascending rows: edges from lower ranks, own ones, and those
 * from higher ranks are in the order of the rows where they begin. */
static ikt_status list_ends(ikt_context *ctx, const ikt_neighbours *lists, const ends *arrived,
                            const ikt_row_set *set, ikt_near_edges *e) {
    const ikt_rows *rows = &e->rows;
    const int64_t own = e->tiles * e->m * IKT_TILE, rank = ikt_rank(ctx);
    int64_t *next = NULL, taken = 0;
    IKT_TRY(ikt_alloc(ctx, &e->ends.start, rows->count + 1, sizeof *e->ends.start, purpose));
    for (int64_t x = 0; x < rows->count * e->m; x++)
        if (is_own(rows, lists->row[x])) e->ends.start[lists->row[x] - rows->first + 1]++;
    for (int64_t x = 0; x < e->cut.received; x++)
        e->ends.start[arrived[x].to - rows->first + 1]++;
    for (int64_t i = 0; i < rows->count; i++)
        e->ends.start[i + 1] += e->ends.start[i];
    const int64_t edges = e->ends.start[rows->count];
    IKT_TRY(ikt_alloc(ctx, &e->ends.begin, edges, sizeof *e->ends.begin, purpose));
    IKT_TRY(ikt_alloc(ctx, &e->ends.place, edges, sizeof *e->ends.place, purpose));
    IKT_TRY(ikt_alloc(ctx, &next, rows->count, sizeof *next, purpose));
    for (int64_t i = 0; i < rows->count; i++)
        next[i] = e->ends.start[i];
    for (int64_t r = 0; r < rows->ranks; r++) {
        for (int64_t x = 0; r == rank && x < rows->count * e->m; x++)
            if (is_own(rows, lists->row[x]))
                add_end(e, next, set, (ends){lists->row[x], (uint32_t)(rows->first + x / e->m)},
                        ikt_near_edges_place(e, x / e->m, x % e->m));
        for (int64_t end = taken + e->cut.recv_counts[r]; taken < end; taken++)
            add_end(e, next, set, arrived[taken], own + taken);
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
    IKT_TRY(ikt_alloc(ctx, &e->c, own + e->cut.received, sizeof *e->c, purpose));
    for (int64_t x = 0; x < e->rows.count * e->m; x++) {
        const int64_t at = ikt_near_edges_place(e, x / e->m, x % e->m);
        e->near[at] = local_number(&e->rows, set, lists->row[x]);
        e->d[at] = lists->score[x];
    }
    return IKT_OK;
}

ikt_status ikt_near_edges_create(ikt_context *ctx, const ikt_rows *rows,
                                 const ikt_neighbours *lists, ikt_near_edges *out) {
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    ikt_row_set set = {0};
    ends *arrived = NULL;
    *out = (ikt_near_edges){.rows = *rows, .m = lists->k, .tiles = tiles.last - tiles.first};
    ikt_status st = exchange_cut(ctx, lists, out, &arrived);
    if (st == IKT_OK) {
        const int64_t places = out->tiles * out->m * IKT_TILE + out->cut.received;
        if (places > INT32_MAX)
            st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                          "%lld rows with %lld neighbours each are too many for one rank, which "
                          "has room for 2^31 edges: use more ranks",
                          (long long)rows->count, (long long)out->m);
        if (st == IKT_OK) st = find_ghosts(ctx, lists, arrived, out, &set);
        if (st == IKT_OK) st = list_ends(ctx, lists, arrived, &set, out);
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
    ikt_free(&e->c);
    ikt_free(&e->ends.start);
    ikt_free(&e->ends.begin);
    ikt_free(&e->ends.place);
    ikt_free(&e->ghost_row);
    ikt_shuffle_destroy(&e->cut);
    ikt_free(&e->leaving);
    ikt_free(&e->packed);
}

void ikt_near_edges_exchange(ikt_context *ctx, const ikt_near_edges *e) {
    if (e->rows.ranks == 1) return;
    for (int64_t x = 0; x < e->cut.sent; x++)
        e->packed[x] = e->c[e->leaving[x]];
    ikt_shuffle_send(ctx, &e->cut, e->packed, e->c + e->tiles * e->m * IKT_TILE, sizeof *e->c);
}

int64_t ikt_near_edges_memory(const ikt_rows *rows, int64_t m, int64_t ghosts, int64_t cut) {
    const int64_t own = (rows->count / IKT_TILE + 2) * IKT_TILE * m;
    return 12 * own + 8 * rows->count * m + 8 * (rows->count + 1) + 8 * ghosts + 12 * cut;
}
