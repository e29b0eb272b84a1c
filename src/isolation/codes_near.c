/* Codes in one pass over X, from lists of near centres.
 *
 * As codes_lists.c, but a row is compared with the centres of near coarse cells only
 * (near_centres.h), and then with centres that are linked to the nearest of those.
 * Method: the rows of a block are sorted by coarse cell, and a tile holds rows of one. Each centre
 * is linked to the centres nearest to it, and to those that it is one of the nearest of; following
 * the links of the first entries of a list finds what the cells cut apart (as neighbours of
 * neighbours do: Dong, Moses, Li, WWW 2011). Advantage: some thousand distances a row however many
 * centres there are. Disadvantage: a nearest centre may be missed, which moves a row to its
 * next-nearest centre in the partitionings that had chosen it; how often that happens is measured
 * on a sample of the rows. */
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "isolation/centre_lists.h"
#include "isolation/row_lists.h"

enum {
    LINKS = 16,               /* of a centre to those nearest to it, */
    BACK = 16,                /* and to those that it is one of the nearest of, at most */
    ALL_LINKS = LINKS + BACK, /* in this order */
    LINK_ROUNDS = 2,          /* the second finds links along those of the first */
    FOLLOWED = 16,            /* entries of a list whose links are followed, */
    FOLLOW_ROUNDS = 3,        /* again where new ones have come among them */
    CHECKED = 1000            /* rows whose exact cells are found as well */
};

static const char purpose[] = "lists";

/* What one thread works with beside its tile. */
typedef struct {
    float *scratch;        /* [d] */
    uint32_t *stamp, tile; /* [vectors] the tile that a vector was last offered to */
    uint32_t *seen, row;   /* [centres] the row that a place was last looked at for */
} workspace;

typedef struct {
    ikt_row_lists lists;
    uint32_t *link; /* [centres * ALL_LINKS] by place: places; UINT32_MAX where there are no more */
    uint32_t *cell; /* [block] coarse cell of each row of the block */
    uint32_t *order;     /* [block] rows of the block by coarse cell */
    int64_t *next;       /* [cells + 1] where the next row of each cell belongs there */
    int64_t *tile_first; /* [block + 1] where tiles begin there */
    workspace *space;    /* [threads] */
} near_coding;

/* --- the lists of a tile ---------------------------------------------------------------------- */

/* Offers the vectors that hold the centres near to a coarse cell, each once, nearest cell first. */
static void offer_near(const near_coding *n, workspace *w, ikt_list_tile *s, int64_t cell) {
    const ikt_near_centres *near = &n->lists.near;
    const uint32_t *probe = near->probe + cell * near->probes;
    int64_t left = near->candidates;
    w->tile++;
    for (int64_t e = 0; e < near->probes && probe[e] != UINT32_MAX; e++) {
        const int64_t begin = near->first[probe[e]], size = near->first[probe[e] + 1] - begin;
        const int64_t taken = size < left ? size : left;
        const int64_t end = ikt_divide_up(begin + taken, IKT_LANES);
        left -= taken;
        for (int64_t v = begin / IKT_LANES, to; v < end; v = to) {
            for (to = v; to < end && w->stamp[to] != w->tile; to++)
                w->stamp[to] = w->tile;
            if (to > v) ikt_row_lists_offer(&n->lists, s, v, to);
            while (to < end && w->stamp[to] == w->tile)
                to++;
        }
    }
}

/* The sorted lists of the rows in s->x, which are of one coarse cell. */
static void keep_near(const near_coding *n, workspace *w, ikt_list_tile *s, int64_t count,
                      int64_t cell) {
    ikt_row_lists_stage(&n->lists, s, count);
    offer_near(n, w, s, cell);
    for (int64_t r = 0; r < count; r++) {
        ikt_select_end(&s->kept[r]);
        ikt_row_list_sort(&n->lists, s, r);
    }
}

/* Adds the centres that are linked to the first of a row's list, as long as that changes which are
 * the first, but not more than FOLLOW_ROUNDS times. */
static void follow_links(const near_coding *n, workspace *w, ikt_select *kept, const void *x) {
    const uint32_t *place_of = n->lists.near.place;
    w->row += 2; /* a place is marked by it when it was followed, by one less when it was seen */
    for (int64_t e = 0; e < kept->count; e++)
        w->seen[place_of[ikt_pair_number(kept->pair[e])]] = w->row - 1;
    for (int round = 0; round < FOLLOW_ROUNDS; round++) {
        uint32_t found[FOLLOWED * ALL_LINKS];
        int64_t count = 0;
        for (int64_t e = 0; e < FOLLOWED && e < kept->count; e++) {
            const int64_t from = place_of[ikt_pair_number(kept->pair[e])];
            if (w->seen[from] == w->row) continue;
            w->seen[from] = w->row;
            for (int64_t g = from * ALL_LINKS; g < (from + 1) * ALL_LINKS; g++) {
                const uint32_t to = n->link[g];
                if (to == UINT32_MAX || w->seen[to] >= w->row - 1) continue;
                w->seen[to] = w->row - 1;
                found[count++] = to;
            }
        }
        if (count == 0) return;
        ikt_row_list_add(&n->lists, kept, x, found, count);
    }
}

/* --- links ------------------------------------------------------------------------------------ */

/* The links of the places first .. first + count - 1 of one coarse cell.
 *   link   [count * LINKS] */
static void link_tile(const near_coding *n, int thread, int64_t cell, int64_t first, int64_t count,
                      bool is_linked, uint32_t *link) {
    const ikt_row_lists *l = &n->lists;
    ikt_list_tile *s = &l->space[thread];
    const int64_t bytes = l->c->d * l->c->element;
    memcpy(s->x, (const char *)l->rows + first * bytes, (size_t)(count * bytes));
    keep_near(n, &n->space[thread], s, count, cell);
    for (int64_t r = 0; r < count; r++) {
        ikt_select *kept = &s->kept[r];
        int64_t found = 0;
        if (is_linked) follow_links(n, &n->space[thread], kept, ikt_list_row(l, s, r));
        for (int64_t e = 0; e < kept->count && found < LINKS; e++) {
            const uint32_t place = l->near.place[ikt_pair_number(kept->pair[e])];
            if (place != first + r) link[r * LINKS + found++] = place;
        }
        for (; found < LINKS; found++)
            link[r * LINKS + found] = UINT32_MAX;
    }
}

/* Brings the links that were found to where they belong, and their reverse beside them: of those,
 * the ones to which the centre is nearest, by rank. A centre that is few others' nearest is reached
 * by these. */
static void join_links(const near_coding *n, const uint32_t *found, uint8_t *back) {
    const int64_t count = n->lists.table.count;
    memset(back, 0, (size_t)count);
#pragma omp parallel for num_threads(n->lists.c->threads)
    for (int64_t at = 0; at < count; at++)
        for (int64_t g = 0; g < ALL_LINKS; g++)
            n->link[at * ALL_LINKS + g] = g < LINKS ? found[at * LINKS + g] : UINT32_MAX;
    for (int64_t g = 0; g < LINKS; g++)
        for (int64_t at = 0; at < count; at++) {
            const uint32_t to = found[at * LINKS + g];
            if (to == UINT32_MAX || back[to] == BACK) continue;
            n->link[(int64_t)to * ALL_LINKS + LINKS + back[to]++] = (uint32_t)at;
        }
}

/* COLLECTIVE. Links each centre to the centres nearest to it; each rank finds the links of its
 * share of the coarse cells. */
static ikt_status link_centres(near_coding *n) {
    const ikt_row_lists *l = &n->lists;
    ikt_context *ctx = l->c->ctx;
    const ikt_near_centres *near = &l->near;
    const int ranks = ikt_size(ctx);
    const ikt_rows share = ikt_rows_make(near->cells, ranks, ikt_rank(ctx));
    const int64_t from = near->first[share.first], last = share.first + share.count;
    const int64_t own = near->first[last] - from;
    uint32_t *link = NULL, *found = NULL;
    uint8_t *back = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &link, own * LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &found, near->count * LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &back, near->count, sizeof *back, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &n->link, near->count * ALL_LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ranks, sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    for (int r = 0; st == IKT_OK && r < ranks; r++)
        counts[r] =
            near->first[ikt_rows_first(&share, r + 1)] - near->first[ikt_rows_first(&share, r)];
    for (int round = 0; st == IKT_OK && round < LINK_ROUNDS; round++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->c->threads)
        for (int64_t cell = share.first; cell < last; cell++)
            for (int64_t at = near->first[cell]; at < near->first[cell + 1]; at += l->rows_most) {
                const int64_t left = near->first[cell + 1] - at;
                link_tile(n, omp_get_thread_num(), cell, at,
                          left < l->rows_most ? left : l->rows_most, round > 0,
                          link + (at - from) * LINKS);
            }
        ikt_allgather(ctx, link, own, LINKS * sizeof *link, found, counts);
        join_links(n, found, back);
    }
    ikt_free(&link);
    ikt_free(&found);
    ikt_free(&back);
    ikt_free(&counts);
    return st;
}

/* --- the pass --------------------------------------------------------------------------------- */

/* Sorts the rows of the block by coarse cell and cuts them into tiles of rows of one cell; returns
 * how many. */
static int64_t cut_into_tiles(near_coding *n, int64_t count) {
    const ikt_coding *c = n->lists.c;
    const ikt_near_centres *near = &n->lists.near;
    const int64_t bytes = c->d * c->element, most = n->lists.rows_most;
    int64_t tiles = 0;
#pragma omp parallel for schedule(dynamic, 256) num_threads(c->threads)
    for (int64_t i = 0; i < count; i++)
        n->cell[i] = (uint32_t)ikt_near_centres_cell(near, (const char *)c->rows + i * bytes,
                                                     c->kernel->is_u8,
                                                     n->space[omp_get_thread_num()].scratch);
    memset(n->next, 0, (size_t)(near->cells + 1) * sizeof *n->next);
    for (int64_t i = 0; i < count; i++)
        n->next[n->cell[i] + 1]++;
    for (int64_t cell = 0; cell < near->cells; cell++) {
        for (int64_t from = 0; from < n->next[cell + 1]; from += most)
            n->tile_first[tiles++] = n->next[cell] + from;
        n->next[cell + 1] += n->next[cell];
    }
    n->tile_first[tiles] = count;
    for (int64_t i = 0; i < count; i++)
        n->order[n->next[n->cell[i]]++] = (uint32_t)i;
    return tiles;
}

static void code_tile(const near_coding *n, int thread, int64_t row, int64_t first, int64_t count) {
    const ikt_row_lists *l = &n->lists;
    const ikt_coding *c = l->c;
    const int64_t bytes = c->d * c->element;
    const uint32_t *order = n->order + first;
    ikt_list_tile *s = &l->space[thread];
    for (int64_t r = 0; r < count; r++)
        memcpy(s->x + r * bytes, (const char *)c->rows + order[r] * bytes, (size_t)bytes);
    keep_near(n, &n->space[thread], s, count, n->cell[order[0]]);
    for (int64_t r = 0; r < count; r++) {
        follow_links(n, &n->space[thread], &s->kept[r], ikt_list_row(l, s, r));
        ikt_row_list_cells(l, s, r, UINT64_MAX);
        ikt_coding_write_row(c, row + order[r], s->cell);
        ikt_coding_write_places(c, &l->near, row + order[r], &s->kept[r]);
    }
}

static void code_block(void *self, int64_t row, int64_t count) {
    near_coding *n = self;
    const int64_t tiles = cut_into_tiles(n, count), *first = n->tile_first;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n->lists.c->threads)
    for (int64_t t = 0; t < tiles; t++)
        code_tile(n, omp_get_thread_num(), row, first[t], first[t + 1] - first[t]);
}

/* --- what was missed -------------------------------------------------------------------------- */

/* Entries of the rows in s->x that differ from the exact ones.
 *   own   [count] numbers of the rows */
static int64_t count_differing(const ikt_row_lists *l, ikt_list_tile *s, const int64_t *own,
                               int64_t count) {
    const ikt_codes *codes = l->c->codes;
    int64_t differing = 0;
    ikt_row_lists_compare_all(l, s, count);
    for (int64_t r = 0; r < count; r++) {
        ikt_row_list_cells(l, s, r, ikt_row_list_sort(l, s, r));
        for (int64_t p = 0; p < codes->t; p++)
            differing += ikt_code_entry(codes, own[r], p) != s->cell[p];
    }
    return differing;
}

/* COLLECTIVE. Compares the codes of a sample of rows with the exact ones. The same rows whatever
 * the ranks, each on the rank that owns it. */
static ikt_status check_codes(const near_coding *n) {
    const ikt_row_lists *l = &n->lists;
    const ikt_coding *c = l->c;
    const ikt_rows *rows = c->distribution;
    const int64_t bytes = c->d * c->element, entries = c->codes->t;
    int64_t row[CHECKED], differing = 0, mine = 0;
    char *x = NULL;
    for (int64_t s = 0; s < CHECKED; s++)
        row[s] = ikt_rng_below(c->model->spec.seed, IKT_RNG_SAMPLE, s, 1, rows->n);
    const int64_t count = ikt_sort_distinct_i64(row, CHECKED);
    IKT_TRY(ikt_agree(c->ctx, ikt_alloc(c->ctx, &x, count * bytes, 1, purpose)));
    ikt_status st = ikt_dataset_gather(c->data, row, count, x);
    for (int64_t s = 0; s < count; s++) /* the own ones, to the front */
        if (row[s] >= rows->first && row[s] < rows->first + rows->count) {
            memmove(x + mine * bytes, x + s * bytes, (size_t)bytes);
            row[mine++] = row[s] - rows->first;
        }
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) reduction(+ : differing)
        for (int64_t from = 0; from < mine; from += l->rows_most) {
            const int64_t some = mine - from < l->rows_most ? mine - from : l->rows_most;
            ikt_list_tile *s = &l->space[omp_get_thread_num()];
            memcpy(s->x, x + from * bytes, (size_t)(some * bytes));
            differing += count_differing(l, s, row + from, some);
        }
        c->codes->check.sample = count;
        c->codes->check.differing =
            (double)ikt_sum_one(c->ctx, differing) / (double)(count * (entries > 0 ? entries : 1));
    }
    ikt_free(&x);
    return st;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status allocate(near_coding *n) {
    const ikt_coding *c = n->lists.c;
    const int64_t vectors = n->lists.centres.vectors, centres = n->lists.table.count;
    IKT_TRY(ikt_alloc(c->ctx, &n->cell, c->block, sizeof *n->cell, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->order, c->block, sizeof *n->order, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->next, n->lists.near.cells + 1, sizeof *n->next, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->tile_first, c->block + 1, sizeof *n->tile_first, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->space, c->threads, sizeof *n->space, purpose));
    for (workspace *w = n->space; w < n->space + c->threads; w++) {
        IKT_TRY(ikt_alloc(c->ctx, &w->scratch, c->d, sizeof *w->scratch, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->stamp, vectors, sizeof *w->stamp, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->seen, centres, sizeof *w->seen, purpose));
    }
    return IKT_OK;
}

ikt_status ikt_coding_near(ikt_coding *c) {
    near_coding n = {.link = NULL};
    int64_t open = 0;
    c->passes = 1;
    ikt_status st = ikt_row_lists_create(c, &n.lists);
    if (st == IKT_OK && c->places->near > 0) st = ikt_coding_give_places(c, &n.lists.near);
    if (st == IKT_OK) st = ikt_agree(c->ctx, allocate(&n));
    if (st == IKT_OK) st = link_centres(&n);
    if (st == IKT_OK) st = ikt_coding_pass(c, ikt_model_parts(&c->model->spec), code_block, &n);
    for (int i = 0; n.lists.space && i < c->threads; i++)
        open += n.lists.space[i].open_rows;
    if (st == IKT_OK)
        ikt_list_report(c->ctx, n.lists.length, n.lists.table.count, open, c->distribution->count);
    if (st == IKT_OK) st = check_codes(&n);
    for (int i = 0; n.space && i < c->threads; i++) {
        ikt_free(&n.space[i].scratch);
        ikt_free(&n.space[i].stamp);
        ikt_free(&n.space[i].seen);
    }
    ikt_free(&n.space);
    ikt_free(&n.cell);
    ikt_free(&n.order);
    ikt_free(&n.next);
    ikt_free(&n.tile_first);
    ikt_free(&n.link);
    ikt_row_lists_destroy(&n.lists);
    return st;
}

int64_t ikt_coding_near_bytes(int64_t distinct, int64_t d, int64_t block, int threads) {
    const int64_t number = sizeof(uint32_t);
    /* Links, those found on the way on this rank and on all; what the threads mark; the block. */
    return distinct * ((ALL_LINKS + 2 * LINKS) * number + 1) +
           threads * (distinct * number + distinct / IKT_LANES * number + d * number) +
           block * (2 * number + (int64_t)sizeof(int64_t));
}
