/* Codes in one pass over X, from lists of near centres.
 *
 * As codes_lists.c, but a row is compared with the centres of near coarse cells only
 * (near_centres.h), and then with centres that are linked to the nearest of those.
 * Method: the rows of a block are sorted by coarse cell, and a tile holds rows of one, which are
 * compared with the same centres. Each centre is linked to the centres nearest to it, and to those
 * that it is one of the nearest of; what the first entries of a row's list are linked to finds what
 * the cells cut apart (as neighbours of neighbours do: Dong, Moses, Li, WWW 2011). What the rows of
 * a tile look up so is brought together and compared with all of them at once, at a fraction of the
 * time, though each row looks at its own alone: its list does not depend on who shares its tile.
 * Advantage: some thousand distances a row however many centres there are, nearly all of them in
 * cache; equal rows have equal lists. Disadvantage: a nearest centre may be missed, which moves a
 * row to its next-nearest centre in the partitionings that had chosen it; how often that happens is
 * measured on a sample of the rows. */
#include <math.h>
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
    LINK_LIST = 32,           /* entries of the lists that links are taken from */
    LINK_SHARE = 4,           /* links are found among so much fewer centres */
    FOLLOWED = 16,            /* entries of a list whose links are followed, */
    FOLLOW_ROUNDS = 2,        /* again where others have come among them */
    ROW_MOST = FOLLOWED * ALL_LINKS,
    LINKED_MOST = 4096,  /* centres that are looked up together, at least ROW_MOST */
    LINKED_USUAL = 3000, /* what a row costs along links, in centres that it is compared with; for
                            plans */
    CHECKED = 1000       /* rows whose exact cells are found as well */
};

static const char purpose[] = "lists";

/* What one thread works with beside its tile. */
typedef struct {
    char *x;            /* [rows of a tile * d] rows of a tile, side by side */
    float *scratch;     /* [d] */
    uint32_t *stamp;    /* [vectors] the tile that a vector was last offered to */
    uint32_t tile;      /* number of the tile */
    uint32_t *seen;     /* [centres] the lookup that a place was last part of, */
    uint32_t *index;    /* [centres] and its number in that */
    uint32_t lookup;    /* number of the lookup */
    int64_t *linked;    /* [LINKED_MOST] the places that are looked up, */
    int64_t found;      /* so many, */
    ikt_centres packed; /* packed, */
    void *slab;         /* in this memory */
    void *value;        /* [rows of a tile * LINKED_MOST] their values */
    ikt_pair *pair;     /* [LINKED_MOST + length of a list] what a row adds, and both together */
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

/* The next number of a tile or lookup; where numbers have gone round, nothing has one. */
static uint32_t next_number(uint32_t now, uint32_t *marks, int64_t count) {
    if (now < UINT32_MAX) return now + 1;
    memset(marks, 0, (size_t)count * sizeof *marks);
    return 1;
}

/* Adds what the first entries of a sorted list of places are linked to to the lookup, but for what
 * has been offered to the tile. */
static void look_up(const near_coding *n, workspace *w, const ikt_select *kept) {
    for (int64_t e = 0; e < FOLLOWED && e < kept->count; e++) {
        const uint32_t *link = n->link + (int64_t)ikt_pair_number(kept->pair[e]) * ALL_LINKS;
        for (int64_t g = 0; g < ALL_LINKS; g++) {
            const uint32_t to = link[g];
            if (to == UINT32_MAX || w->seen[to] == w->lookup || w->stamp[to / IKT_LANES] == w->tile)
                continue;
            w->seen[to] = w->lookup;
            w->index[to] = (uint32_t)w->found;
            w->linked[w->found++] = to;
        }
    }
}

/* The pair of a row and a place of the lookup. */
static ikt_pair looked_up(const near_coding *n, const workspace *w, int64_t r, uint32_t place) {
    const int64_t at = r * LINKED_MOST + w->index[place];
    if (!n->lists.c->kernel->is_u8) return ikt_pair_make(((const float *)w->value)[at], place);
    const uint32_t key = (uint32_t)((const int32_t *)w->value)[at] ^ UINT32_C(1) << 31;
    return (ikt_pair)key << 32 | place;
}

/* Adds to the sorted list of row r what its first entries are linked to, from the values of the
 * lookup. */
static void add_linked(const near_coding *n, workspace *w, ikt_select *kept, int64_t r) {
    const ikt_pair limit = kept->count < kept->k ? UINT64_MAX : kept->pair[kept->k - 1];
    int64_t added = 0, left = 0;
    for (int64_t e = 0; e < FOLLOWED && e < kept->count; e++) {
        const uint32_t *link = n->link + (int64_t)ikt_pair_number(kept->pair[e]) * ALL_LINKS;
        for (int64_t g = 0; g < ALL_LINKS; g++) {
            if (link[g] == UINT32_MAX || w->stamp[link[g] / IKT_LANES] == w->tile) continue;
            const ikt_pair pair = looked_up(n, w, r, link[g]);
            if (pair < limit) w->pair[added++] = pair;
        }
    }
    /* The same centre may be linked to several, or in the list already: equal pairs. */
    ikt_pairs_sort(w->pair, added);
    for (int64_t e = 0; e < added; e++)
        if (left == 0 || w->pair[left - 1] != w->pair[e]) w->pair[left++] = w->pair[e];
    ikt_pair *list = w->pair + left; /* the two are merged here */
    const int64_t most = kept->k, count = kept->count;
    int64_t all = 0;
    for (int64_t a = 0, b = 0; all < most && (a < count || b < left);) {
        const ikt_pair mine = a < count ? kept->pair[a] : UINT64_MAX;
        const ikt_pair other = b < left ? w->pair[b] : UINT64_MAX;
        list[all++] = mine <= other ? mine : other;
        a += mine <= other;
        b += other <= mine;
    }
    memcpy(kept->pair, list, (size_t)all * sizeof *list);
    kept->count = all;
}

/* Follows the links of the lists of a tile, some rows at a time. The lists are sorted by value, and
 * their numbers are places, before and afterwards. */
static void follow_links(const near_coding *n, workspace *w, ikt_list_tile *s, int64_t count) {
    const ikt_row_lists *l = &n->lists;
    const ikt_codes_kernel *kernel = l->c->kernel;
    for (int64_t from = 0, end = 0; from < count; from = end) {
        w->lookup = next_number(w->lookup, w->seen, l->table.count);
        w->found = 0;
        while (end < count && w->found + ROW_MOST <= LINKED_MOST)
            look_up(n, w, &s->kept[end++]);
        if (w->found == 0) continue;
        ikt_centres_place(kernel, w->found, l->c->d, w->slab, &w->packed);
        ikt_centres_fill(kernel, &w->packed, l->rows, w->linked, l->centres.norm);
        kernel->score(&s->tile, &w->packed, 0, w->packed.vectors, w->value, LINKED_MOST);
        for (int64_t r = from; r < end; r++)
            add_linked(n, w, &s->kept[r], r);
    }
}

/* Offers the vectors that hold the centres near to a coarse cell, each once, nearest cell first.
 *   wanted   about so many centres */
static void offer_near(const near_coding *n, workspace *w, ikt_list_tile *s, int64_t cell,
                       int64_t wanted) {
    const ikt_row_lists *l = &n->lists;
    const ikt_near_centres *near = &l->near;
    const uint32_t *probe = near->probe + cell * near->probes;
    w->tile = next_number(w->tile, w->stamp, l->centres.vectors);
    for (int64_t e = 0; e < near->probes && probe[e] != UINT32_MAX && wanted > 0; e++) {
        const int64_t begin = near->first[probe[e]], size = near->first[probe[e] + 1] - begin;
        const int64_t taken = size < wanted ? size : wanted;
        const int64_t end = ikt_divide_up(begin + taken, IKT_LANES);
        wanted -= taken;
        for (int64_t v = begin / IKT_LANES, to; v < end; v = to) {
            for (to = v; to < end && w->stamp[to] != w->tile; to++)
                w->stamp[to] = w->tile;
            if (to > v) ikt_row_lists_offer(l, s, v, to);
            while (to < end && w->stamp[to] == w->tile)
                to++;
        }
    }
}

/* The sorted lists of rows of one coarse cell.
 *   x        [count * d], lent as long as the lists
 *   wanted   centres of near cells that they are compared with, about
 *   length   of the lists */
static void keep_near(const near_coding *n, workspace *w, ikt_list_tile *s, const void *x,
                      int64_t count, int64_t cell, int64_t wanted, int64_t length) {
    ikt_row_lists_stage(&n->lists, s, x, count, length);
    offer_near(n, w, s, cell, wanted);
    for (int64_t r = 0; r < count; r++) {
        ikt_select_end(&s->kept[r]);
        ikt_pairs_sort(s->kept[r].pair, s->kept[r].count);
    }
    for (int round = 0; n->link && round < FOLLOW_ROUNDS; round++)
        follow_links(n, w, s, count);
    for (int64_t r = 0; r < count; r++)
        ikt_near_list_sort(&n->lists, s, r);
}

/* --- links ------------------------------------------------------------------------------------ */

/* The links of the places first .. first + count - 1 of one coarse cell, along those that are
 * there.
 *   link   [count * LINKS], receives them */
static void link_tile(const near_coding *n, int thread, int64_t cell, int64_t first, int64_t count,
                      uint32_t *link) {
    const ikt_row_lists *l = &n->lists;
    ikt_list_tile *s = &l->space[thread];
    const int64_t bytes = l->c->d * l->c->element;
    const int64_t length = l->length < LINK_LIST ? l->length : LINK_LIST;
    keep_near(n, &n->space[thread], s, (const char *)l->rows + first * bytes, count, cell,
              ikt_divide_up(l->near.candidates, LINK_SHARE), length);
    for (int64_t r = 0; r < count; r++) {
        const ikt_select *kept = &s->kept[r];
        int64_t found = 0;
        for (int64_t e = 0; e < kept->count && found < LINKS; e++) {
            const uint32_t to = l->near.place[ikt_pair_number(kept->pair[e])];
            if (to != first + r) link[r * LINKS + found++] = to;
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
    uint32_t *link = NULL, *found = NULL, *joined = NULL;
    uint8_t *back = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &link, own * LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &found, near->count * LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &back, near->count, sizeof *back, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &joined, near->count * ALL_LINKS, sizeof *link, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ranks, sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    for (int r = 0; st == IKT_OK && r < ranks; r++)
        counts[r] =
            near->first[ikt_rows_first(&share, r + 1)] - near->first[ikt_rows_first(&share, r)];
    for (int round = 0; st == IKT_OK && round < 2; round++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->c->threads)
        for (int64_t cell = share.first; cell < last; cell++)
            for (int64_t at = near->first[cell]; at < near->first[cell + 1]; at += l->rows_most) {
                const int64_t left = near->first[cell + 1] - at;
                link_tile(n, omp_get_thread_num(), cell, at,
                          left < l->rows_most ? left : l->rows_most, link + (at - from) * LINKS);
            }
        ikt_allgather(ctx, link, own, LINKS * sizeof *link, found, counts);
        n->link = joined; /* there are none in the first round */
        join_links(n, found, back);
    }
    if (st != IKT_OK) ikt_free(&joined);
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

/* Fills what the list of row r leaves open along the centres that all its entries are linked to;
 * returns how much stays open. */
static int64_t close_near(const near_coding *n, workspace *w, ikt_list_tile *s, int64_t r) {
    const ikt_row_lists *l = &n->lists;
    const ikt_select *kept = &s->kept[r];
    int64_t count = 0;
    w->lookup = next_number(w->lookup, w->seen, l->table.count);
    for (int64_t e = 0; e < kept->count; e++)
        w->seen[l->near.place[ikt_pair_number(kept->pair[e])]] = w->lookup;
    for (int64_t e = 0; e < kept->count && count + ALL_LINKS <= LINKED_MOST; e++) {
        const int64_t from = l->near.place[ikt_pair_number(kept->pair[e])];
        for (int64_t g = from * ALL_LINKS; g < (from + 1) * ALL_LINKS; g++) {
            const uint32_t to = n->link[g];
            if (to == UINT32_MAX || w->seen[to] == w->lookup) continue;
            w->seen[to] = w->lookup;
            w->pair[count++] = ikt_near_pair(l, s, r, to);
        }
    }
    ikt_pairs_sort(w->pair, count);
    return ikt_centre_walk(&l->table, w->pair, count, UINT64_MAX, s->open, s->cell);
}

static void code_tile(const near_coding *n, int thread, int64_t row, int64_t first, int64_t count) {
    const ikt_row_lists *l = &n->lists;
    const ikt_coding *c = l->c;
    const int64_t bytes = c->d * c->element;
    const uint32_t *order = n->order + first;
    ikt_list_tile *s = &l->space[thread];
    workspace *w = &n->space[thread];
    for (int64_t r = 0; r < count; r++)
        memcpy(w->x + r * bytes, (const char *)c->rows + order[r] * bytes, (size_t)bytes);
    keep_near(n, w, s, w->x, count, n->cell[order[0]], l->near.candidates, l->length);
    for (int64_t r = 0; r < count; r++) {
        if (ikt_row_list_walk(l, s, r, UINT64_MAX) > 0 && close_near(n, w, s, r) > 0)
            ikt_row_list_close(l, s, r);
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

/* Entries of some rows that differ from the exact ones.
 *   own   [count] numbers of the rows */
static int64_t count_differing(const ikt_row_lists *l, ikt_list_tile *s, const void *x,
                               const int64_t *own, int64_t count) {
    const ikt_codes *codes = l->c->codes;
    int64_t differing = 0;
    ikt_row_lists_compare_all(l, s, x, count);
    for (int64_t r = 0; r < count; r++) {
        ikt_row_list_cells(l, s, r);
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
            differing += count_differing(l, &l->space[omp_get_thread_num()], x + from * bytes,
                                         row + from, some);
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
    const int64_t slab = ikt_centres_bytes(c->kernel, LINKED_MOST, c->d);
    const int64_t rows = ikt_divide_up(n->lists.rows_most, c->kernel->rows) * c->kernel->rows;
    IKT_TRY(ikt_alloc(c->ctx, &n->cell, c->block, sizeof *n->cell, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->order, c->block, sizeof *n->order, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->next, n->lists.near.cells + 1, sizeof *n->next, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->tile_first, c->block + 1, sizeof *n->tile_first, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &n->space, c->threads, sizeof *n->space, purpose));
    for (workspace *w = n->space; w < n->space + c->threads; w++) {
        IKT_TRY(ikt_alloc(c->ctx, &w->x, rows * c->d, (size_t)c->element, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->scratch, c->d, sizeof *w->scratch, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->stamp, vectors, sizeof *w->stamp, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->seen, centres, sizeof *w->seen, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->index, centres, sizeof *w->index, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->linked, LINKED_MOST, sizeof *w->linked, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->slab, slab, 1, purpose));
        IKT_TRY(ikt_alloc(c->ctx, &w->value, rows * LINKED_MOST, 4, purpose));
        IKT_TRY(
            ikt_alloc(c->ctx, &w->pair, LINKED_MOST + n->lists.length, sizeof *w->pair, purpose));
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
        ikt_free(&n.space[i].x);
        ikt_free(&n.space[i].scratch);
        ikt_free(&n.space[i].stamp);
        ikt_free(&n.space[i].seen);
        ikt_free(&n.space[i].index);
        ikt_free(&n.space[i].linked);
        ikt_free(&n.space[i].value);
        ikt_free(&n.space[i].pair);
        ikt_free(&n.space[i].slab);
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

int64_t ikt_near_compared(int64_t distinct, int64_t n, int64_t candidates) {
    /* The links of each centre are found twice, at first without any. */
    const double links = 2.0 * (double)candidates / LINK_SHARE + LINKED_USUAL;
    return (int64_t)((double)candidates + LINKED_USUAL + (double)distinct / (double)n * links);
}

int64_t ikt_coding_near_bytes(const ikt_codes_kernel *kernel, int64_t distinct, int64_t d,
                              int64_t block, int threads) {
    const int64_t number = sizeof(uint32_t), rows = ikt_row_lists_tile(kernel, d);
    /* Links, those found on the way on this rank and on all; what the threads mark and look up; the
     * block. */
    return distinct * ((ALL_LINKS + 2 * LINKS) * number + 1) +
           threads * (distinct * (2 * number + number / IKT_LANES) + d * number +
                      ikt_centres_bytes(kernel, LINKED_MOST, d) + rows * LINKED_MOST * number +
                      rows * d * (kernel->is_u8 ? 1 : number) + LINKED_MOST * 16) +
           block * (2 * number + (int64_t)sizeof(int64_t));
}
