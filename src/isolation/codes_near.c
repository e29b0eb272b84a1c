/* Codes in one pass over X, from lists of near centres.
 *
 * As row_lists.c, but a row is compared with the centres of near coarse cells only
 * (near_search.h). Method: the rows of a block are sorted by coarse cell, so that those of a tile
 * want many of the same cells. Rows whose lists leave cells open are searched for again, with
 * longer lists. Advantage: some thousand distances a row however many centres there are; equal rows
 * have equal lists. Disadvantage: a nearest centre may be missed, which moves a row to its
 * next-nearest centre in the partitionings that had chosen it; how often that happens is measured
 * on a sample of the rows. */
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/rng.h"
#include "isolation/centre_table.h"
#include "isolation/near_search.h"

enum {
    TILE_ROWS = 4096,     /* rows that are near each other and want many of the same cells */
    TILE_BYTES = 4 << 20, /* of such rows, at most */
    LONGER = 4,           /* times as long are the lists of rows that the first leave open */
    CHECKED = 1000        /* rows whose exact cells are found as well */
};

static const char purpose[] = "lists";

/* What one thread works with beside its tile. */
typedef struct {
    char *x;       /* [rows of a tile * d] rows of a tile, side by side */
    int64_t *open; /* [rows of a tile] those whose lists leave cells open */
    ikt_cell_finder finder;
} workspace;

typedef struct {
    ikt_row_lists lists;
    ikt_near_search search;
    uint32_t *cell;   /* [block] a coarse cell near each row of the block */
    uint32_t *order;  /* [block] rows of the block by coarse cell */
    int64_t *first;   /* [cells + 1] where those of each cell begin there */
    workspace *space; /* [threads] */
    ikt_arrays held;  /* these, and the arrays of the search */
} near_coding;

/* --- the pass --------------------------------------------------------------------------------- */

/* Sorts the rows of the block by coarse cell. */
static void sort_by_cell(near_coding *n, int64_t count) {
    const ikt_coding *c = n->lists.c;
    const ikt_near_centres *near = &n->lists.near;
    const int64_t bytes = c->d * c->element;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t i = 0; i < count; i += IKT_FINDER_ROWS)
        ikt_cell_finder_find(near, &n->space[omp_get_thread_num()].finder,
                             (const char *)c->rows + i * bytes, c->kernel->is_u8,
                             count - i < IKT_FINDER_ROWS ? count - i : IKT_FINDER_ROWS,
                             n->cell + i);
    ikt_order_by_group(n->cell, count, near->cells, n->first, n->order);
}

static void write_row(const near_coding *n, const ikt_list_tile *s, int64_t row, int64_t r) {
    ikt_coding_write_row(n->lists.c, row, s->cell);
    ikt_coding_write_places(n->lists.c, n->lists.near.place, row, &s->kept[r]);
}

/* Codes rows whose lists leave cells open: by longer lists, and what those leave open, too, by all
 * centres.
 *   x     [count * d]
 *   row   [count] their numbers */
static void code_open(const near_coding *n, int thread, const char *x, const int64_t *row,
                      int64_t count) {
    const ikt_row_lists *l = &n->lists;
    const int64_t bytes = l->c->d * l->c->element, some = l->rows_most / LONGER;
    const int64_t most = l->table.count, length = LONGER * l->length;
    ikt_list_tile *s = &l->space[thread];
    for (int64_t from = 0; from < count; from += some) {
        const int64_t rows = count - from < some ? count - from : some;
        ikt_near_search_rows(&n->search, &n->search.space[thread], s, x + from * bytes, rows,
                             length < most ? length : most);
        for (int64_t r = 0; r < rows; r++) {
            if (ikt_row_list_walk(l, s, r, UINT64_MAX) > 0) ikt_row_list_close(l, s, r);
            write_row(n, s, row[from + r], r);
        }
    }
}

/* Codes rows first .. first + count - 1 of the order, which begins at own row `row`. */
static void code_tile(const near_coding *n, int thread, int64_t row, int64_t first, int64_t count) {
    const ikt_row_lists *l = &n->lists;
    const ikt_coding *c = l->c;
    const int64_t bytes = c->d * c->element;
    const uint32_t *order = n->order + first;
    ikt_list_tile *s = &l->space[thread];
    workspace *w = &n->space[thread];
    int64_t open = 0;
    for (int64_t r = 0; r < count; r++)
        memcpy(w->x + r * bytes, (const char *)c->rows + order[r] * bytes, (size_t)bytes);
    ikt_near_search_rows(&n->search, &n->search.space[thread], s, w->x, count, l->length);
    for (int64_t r = 0; r < count; r++) {
        if (ikt_row_list_walk(l, s, r, UINT64_MAX) == 0) {
            write_row(n, s, row + order[r], r);
        } else { /* to the front: the rows before are done */
            memmove(w->x + open * bytes, w->x + r * bytes, (size_t)bytes);
            w->open[open++] = row + order[r];
        }
    }
    code_open(n, thread, w->x, w->open, open);
}

static void code_block(void *self, int64_t row, int64_t count) {
    near_coding *n = self;
    const ikt_coding *c = n->lists.c;
    const int64_t step = ikt_coding_tile(c, count, n->lists.rows_most, c->kernel->rows);
    sort_by_cell(n, count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t first = 0; first < count; first += step)
        code_tile(n, omp_get_thread_num(), row, first, count - first < step ? count - first : step);
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
    char *x IKT_AT_END(ikt_free) = NULL;
    for (int64_t s = 0; s < CHECKED; s++)
        row[s] = ikt_rng_below(c->model->spec.seed, IKT_RNG_SAMPLE, s, 1, rows->n);
    const int64_t count = ikt_sort_distinct_i64(row, CHECKED);
    IKT_TRY(ikt_alloc_all(c->ctx, &x, count * bytes, 1, purpose));
    ikt_status st = ikt_dataset_gather(c->data, row, count, x);
    for (int64_t s = 0; s < count; s++) /* the own ones, to the front */
        if (ikt_is_own(rows, row[s])) {
            memmove(x + mine * bytes, x + s * bytes, (size_t)bytes);
            row[mine++] = row[s] - rows->first;
        }
    const int64_t tile = ikt_row_lists_tile(c->kernel, c->d);
    IKT_TRY(st);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) reduction(+ : differing)
    for (int64_t from = 0; from < mine; from += tile) {
        const int64_t some = mine - from < tile ? mine - from : tile;
        differing +=
            count_differing(l, &l->space[omp_get_thread_num()], x + from * bytes, row + from, some);
    }
    const double share =
        (double)ikt_sum_one(c->ctx, differing) / (double)(count * (entries > 0 ? entries : 1));
    c->codes->check = (ikt_code_check){.sample = count, .differing = share};
    ikt_log_numbers(c->ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_REAL("differing", share), IKT_LOG_INT("sample", count)),
                    "isolation: %.2f %% of the cells are not the exact ones (%lld rows compared "
                    "with all centres)",
                    100 * share, (long long)count);
    return IKT_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status allocate(near_coding *n) {
    const ikt_coding *c = n->lists.c;
    ikt_arrays *held = &n->held;
    const int64_t rows = n->lists.rows_most, cells = n->lists.near.cells;
    IKT_TRY(ikt_near_search_create(&n->lists, held, &n->search));
    n->cell = ikt_claim(held, c->block, sizeof *n->cell);
    n->order = ikt_claim(held, c->block, sizeof *n->order);
    n->first = ikt_claim(held, cells + 1, sizeof *n->first);
    n->space = ikt_claim(held, c->threads, sizeof *n->space);
    for (workspace *w = n->space; w && w < n->space + c->threads; w++) {
        w->x = ikt_claim(held, rows * c->d, (size_t)c->element);
        w->open = ikt_claim(held, rows, sizeof *w->open);
        ikt_cell_finder_create(held, &n->lists.near, IKT_FINDER_FEW, &w->finder);
    }
    return held->status;
}

static void near_coding_destroy(near_coding *n) {
    ikt_arrays_free(&n->held);
    ikt_row_lists_destroy(&n->lists);
}

ikt_status ikt_coding_near(ikt_coding *c) {
    near_coding n IKT_AT_END(near_coding_destroy) = {.held = ikt_arrays_of(c->ctx, purpose)};
    int64_t open = 0;
    c->passes = 1;
    IKT_TRY(ikt_row_lists_create(c, ikt_coding_near_tile(c->kernel, c->d), &n.lists));
    if (c->places->near > 0) IKT_TRY(ikt_coding_give_places(c, &n.lists.near));
    IKT_TRY(ikt_agree(c->ctx, allocate(&n)));
    IKT_TRY(ikt_coding_pass(c, ikt_model_parts(&c->model->spec), code_block, &n));
    for (int i = 0; i < c->threads; i++)
        open += n.lists.space[i].open_rows;
    ikt_list_report(c->ctx, n.lists.length, n.lists.table.count, open, c->distribution->count);
    return check_codes(&n);
}

int64_t ikt_coding_near_tile(const ikt_codes_kernel *kernel, int64_t d) {
    const int64_t least = ikt_row_lists_tile(kernel, d);
    const int64_t rows = TILE_BYTES / (4 * ikt_row_words(kernel, d)) / LONGER * LONGER;
    return rows < least ? least : rows < TILE_ROWS ? rows : TILE_ROWS;
}

int64_t ikt_coding_near_bytes(const ikt_codes_kernel *kernel, int64_t distinct, int64_t candidates,
                              int64_t d, int64_t block, int threads) {
    const int64_t rows = ikt_coding_near_tile(kernel, d), element = ikt_held_bytes(kernel->is_u8);
    const int64_t cells = ikt_near_centres_cells(distinct);
    return ikt_near_search_bytes(kernel, distinct, candidates, d, rows, threads) +
           block * 2 * (int64_t)sizeof(uint32_t) + (cells + 1) * (int64_t)sizeof(int64_t) +
           threads * (rows * (d * element + (int64_t)sizeof(int64_t)) +
                      ikt_cell_finder_bytes(distinct, d));
}
