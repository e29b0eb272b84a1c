/* The centres near to the rows of a tile. See near_search.h. */
#include "isolation/near_search.h"

#include "base/arrays.h"
#include "base/log.h"
#include "base/sort.h"
#include "isolation/near_trial.h"

enum {
    CHUNK_VECTORS = 12, /* of points whose values are held for some rows: a multiple of a panel */
    CHUNK = CHUNK_VECTORS * IKT_LANES,
    PIECE = 5 * IKT_KERNEL_ROWS, /* rows whose values are held together: they stay in the cache */
    FIRST_SHARE = 8, /* a row is compared with the nearest of its sets first, then with so many
                        times as many: what it has found tells which points are worth keeping */
    CELL_SHARE = 4,  /* a row is compared with the cells of near groups: one in so many of all, */
    CELLS_LEAST = 4096, /* at least this many, */
    CELL_FACTOR = 4     /* and so many times as many as it wants */
};

/* Share of the cells that bytes may change, where a trial says how many they would. */
static const double missed_most = .001;

static const char purpose[] = "lists";

/* Cells that a row is compared with, and groups. */
static int64_t cells_wanted(int64_t centres, int64_t candidates) {
    const int64_t cells = ikt_near_centres_cells(centres);
    return ikt_smaller(ikt_divide_up(candidates * cells, centres), cells);
}

static int64_t groups_wanted(int64_t centres, int64_t candidates) {
    const int64_t cells = ikt_near_centres_cells(centres);
    const int64_t groups = ikt_near_centres_groups(centres);
    const int64_t compared = ikt_larger(ikt_larger(cells / CELL_SHARE, CELLS_LEAST),
                                        CELL_FACTOR * cells_wanted(centres, candidates));
    return ikt_smaller(ikt_divide_up(compared * groups, cells), groups);
}

int64_t ikt_near_compared(int64_t centres, int64_t candidates) {
    const int64_t groups = ikt_near_centres_groups(centres);
    const int64_t cells = ikt_near_centres_cells(centres);
    return groups + groups_wanted(centres, candidates) * cells / groups +
           ikt_smaller(candidates, centres);
}

/* --- making ----------------------------------------------------------------------------------- */

/* Packs points as a level.
 *   rows    what they are rows of
 *   index   [count] which; NULL: all */
static ikt_status pack_points(const ikt_near_search *n, const void *rows, const int64_t *index,
                              int64_t count, ikt_arrays *held, ikt_near_level *level) {
    const ikt_coding *c = n->lists->c;
    if (n->form.bytes)
        return ikt_near_bytes_create(held, rows, index, count, c->d, n->form.mean,
                                     &level->points.bytes);
    void *slab = ikt_claim(held, ikt_centres_bytes(c->kernel, count, c->d), 1);
    IKT_TRY(held->status);
    ikt_centres_place(c->kernel, count, c->d, slab, &level->points.plain);
    ikt_centres_fill(c->kernel, &level->points.plain, rows, index, NULL);
    return IKT_OK;
}

/* Packs groups or cells: means, or centres that they are drawn as.
 *   drawn   [count] see near_centres.h; NULL: all means */
static ikt_status pack_level(const ikt_near_search *n, const uint32_t *drawn, int64_t count,
                             ikt_arrays *held, ikt_near_level *level) {
    const ikt_near_centres *near = &n->lists->near;
    int64_t *index IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(n->lists->c->ctx, &index, count, sizeof *index, purpose));
    for (int64_t i = 0; i < count; i++)
        index[i] = !drawn ? i : near->mean ? drawn[i] : near->place[drawn[i]];
    return pack_points(n, near->mean ? near->mean : n->lists->rows, index, count, held, level);
}

/* The centres as bytes, where these choose as floats do; otherwise as the kernel has them. */
static ikt_status choose_form(ikt_near_search *n, ikt_arrays *held) {
    const ikt_row_lists *l = n->lists;
    const ikt_coding *c = l->c;
    ikt_near_level *last = &n->level[IKT_NEAR_LEVELS - 1];
    double share = 1;
    const ikt_near_form plain = {
        .kernel = c->kernel, .d = c->d, .words = ikt_row_words(c->kernel, c->d)};
    n->form = plain;
    last->points.plain = l->centres;
    if (!ikt_bytes_suit(c->kernel->is_u8, c->kernel->is_manhattan, c->d) ||
        !(l->centres.largest_norm <= largest_safe_norm))
        return IKT_OK;
    float *mean = ikt_claim(held, c->d, sizeof *mean);
    IKT_TRY(held->status);
    ikt_near_bytes_mean(c->ctx, l->rows, l->table.count, c->d, mean);
    n->form = (ikt_near_form){c->kernel, ikt_near_bytes_kernel_for(l->isa), mean, c->d,
                              ikt_near_bytes_words(c->d)};
    IKT_TRY(pack_points(n, l->rows, NULL, l->table.count, held, last));
    IKT_TRY(ikt_near_trial(l, &plain, &n->form, &last->points, &share));
    ikt_log_numbers(
        c->ctx, IKT_LOG_DETAIL, IKT_LOG_NUMBERS(IKT_LOG_REAL("differing", share)),
        "codes: near centres are chosen by %s, as bytes would change %.3f %% of the cells",
        share <= missed_most ? "bytes" : "floats", 100 * share);
    if (share > missed_most) n->form = plain;
    return IKT_OK;
}

static ikt_status create_levels(ikt_near_search *n, ikt_arrays *held) {
    const ikt_near_centres *near = &n->lists->near;
    n->root[1] = near->groups;
    n->level[0] = (ikt_near_level){.first = n->root, .sets = 1, .wanted = 1};
    n->level[1] = (ikt_near_level){.first = near->group_first,
                                   .sets = near->groups,
                                   .wanted = groups_wanted(near->count, near->candidates)};
    n->level[2] = (ikt_near_level){.first = near->first,
                                   .sets = near->cells,
                                   .wanted = cells_wanted(near->count, near->candidates)};
    n->wanted_most = ikt_larger(n->level[1].wanted, n->level[2].wanted);
    IKT_TRY(choose_form(n, held));
    IKT_TRY(pack_level(n, near->group_drawn, near->groups, held, &n->level[0]));
    return pack_level(n, near->mean ? NULL : near->drawn, near->cells, held, &n->level[1]);
}

static ikt_status create_spaces(ikt_near_search *n, ikt_arrays *held) {
    const ikt_row_lists *l = n->lists;
    const int64_t rows = l->rows_most, cells = l->near.cells, wanted = n->wanted_most;
    const int64_t pairs = PIECE * wanted * IKT_SELECT_CAPACITY;
    n->space = ikt_claim(held, l->c->threads, sizeof *n->space);
    for (ikt_near_space *w = n->space; w && w < n->space + l->c->threads; w++) {
        w->word = ikt_claim(held, rows * n->form.words, 4);
        w->value = ikt_claim(held, PIECE * CHUNK + IKT_LANES, 4);
        w->near = ikt_claim(held, PIECE, sizeof *w->near);
        w->pair = ikt_claim(held, pairs, sizeof *w->pair);
        w->sets = ikt_claim(held, rows, sizeof *w->sets);
        w->set = ikt_claim(held, rows * wanted, sizeof *w->set);
        w->start = ikt_claim(held, cells, sizeof *w->start);
        w->size = ikt_claim(held, cells, sizeof *w->size);
        w->member = ikt_claim(held, rows * wanted, sizeof *w->member);
    }
    return held->status;
}

ikt_status ikt_near_search_create(const ikt_row_lists *lists, ikt_arrays *held,
                                  ikt_near_search *out) {
    *out = (ikt_near_search){.lists = lists};
    IKT_TRY(create_levels(out, held));
    return create_spaces(out, held);
}

int64_t ikt_near_search_bytes(const ikt_codes_kernel *kernel, int64_t centres, int64_t candidates,
                              int64_t d, int64_t rows, int threads) {
    const int64_t groups = ikt_near_centres_groups(centres);
    const int64_t cells = ikt_near_centres_cells(centres);
    const int64_t wanted =
        ikt_larger(groups_wanted(centres, candidates), cells_wanted(centres, candidates));
    const int64_t row = 4 * ikt_row_words(kernel, d) + 8 + 2 * 4 * wanted;
    const int64_t piece = CHUNK * 4 + (int64_t)sizeof(ikt_select) +
                          wanted * IKT_SELECT_CAPACITY * (int64_t)sizeof(ikt_pair);
    return (ikt_bytes_suit(kernel->is_u8, kernel->is_manhattan, d) ? ikt_near_bytes_size(centres, d)
                                                                   : 0) +
           ikt_centres_bytes(kernel, groups, d) + ikt_centres_bytes(kernel, cells, d) +
           threads * (rows * row + PIECE * piece + cells * (8 + 4));
}

/* --- a level ---------------------------------------------------------------------------------- */

/* Rows of a tile that are compared with points at a time. */
typedef struct {
    int64_t first, count;
    ikt_select *kept; /* [count] what each keeps */
} some_rows;

/* Offers the points of a set to rows that want it.
 *   row   [count] their numbers, counted from rows->first */
static void offer_set(const ikt_near_search *n, ikt_near_space *w, const ikt_near_level *level,
                      int64_t set, const some_rows *rows, const uint32_t *row, int64_t count) {
    const int32_t *word = w->word + rows->first * n->form.words;
    for (int64_t from = level->first[set], end = level->first[set + 1], to; from < end; from = to) {
        const int64_t vector = from / IKT_LANES, skipped = from % IKT_LANES;
        to = ikt_smaller((vector + CHUNK_VECTORS) * IKT_LANES, end);
        ikt_near_score(&n->form, &level->points, word, row, count, vector,
                       ikt_divide_up(to, IKT_LANES), w->value, CHUNK);
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = i * CHUNK + skipped;
            ikt_select *kept = &rows->kept[row[i]];
            if (n->form.kernel->is_u8)
                ikt_select_ints(kept, from, to - from, (const int32_t *)w->value + at);
            else
                ikt_select_floats(kept, -1, from, to - from, (const float *)w->value + at);
        }
    }
}

/* Offers each row the points of its sets from .. end - 1. */
static void offer_sets(const ikt_near_search *n, ikt_near_space *w, const ikt_near_level *level,
                       const some_rows *rows, int64_t from, int64_t end) {
    const uint32_t *wanted = w->set + rows->first * n->wanted_most;
    const int64_t *sets = w->sets + rows->first;
    int64_t start = 0;
    for (int64_t r = 0; r < rows->count; r++)
        for (int64_t e = from; e < end && e < sets[r]; e++)
            w->size[wanted[r * n->wanted_most + e]]++;
    for (int64_t set = 0; set < level->sets; set++) {
        w->start[set] = start;
        start += w->size[set];
    }
    for (int64_t r = 0; r < rows->count; r++)
        for (int64_t e = from; e < end && e < sets[r]; e++)
            w->member[w->start[wanted[r * n->wanted_most + e]]++] = (uint32_t)r;
    for (int64_t set = 0; set < level->sets; set++) {
        const int64_t count = w->size[set];
        const uint32_t *row = w->member + w->start[set] - count; /* filling has moved it on */
        for (int64_t i = 0; i < count; i += PIECE)
            offer_set(n, w, level, set, rows, row + i, ikt_smaller(count - i, PIECE));
        w->size[set] = 0;
    }
}

/* The sets of a row up to which it is compared with the nearest ones, before the `end` nearest. */
static int64_t nearer_sets(int64_t end) {
    return end > FIRST_SHARE ? ikt_divide_up(end, FIRST_SHARE) : 0;
}

/* Compares rows with the points of their sets on a level, up to the `end` nearest sets. */
static void compare_up_to(const ikt_near_search *n, ikt_near_space *w, const ikt_near_level *level,
                          const some_rows *rows, int64_t end) {
    const int64_t first = nearer_sets(end);
    if (first > 0) compare_up_to(n, w, level, rows, first);
    offer_sets(n, w, level, rows, first, end);
    for (int64_t r = 0; r < rows->count; r++)
        ikt_select_end(&rows->kept[r]);
}

/* Compares rows with the points of their sets on a level.
 *   most   points that each keeps
 *   pair   [rows->count * IKT_SELECT_CAPACITY * most] memory for them */
static void compare(const ikt_near_search *n, ikt_near_space *w, const ikt_near_level *level,
                    const some_rows *rows, int64_t most, ikt_pair *pair) {
    for (int64_t r = 0; r < rows->count; r++)
        ikt_select_begin(&rows->kept[r], n->lists->isa, most,
                         pair + r * IKT_SELECT_CAPACITY * most);
    compare_up_to(n, w, level, rows, level->wanted);
}

/* Finds the sets of the next level that are near to the rows. */
static void choose_sets(const ikt_near_search *n, ikt_near_space *w, int level, int64_t count) {
    const int64_t wanted = n->level[level + 1].wanted;
    for (int64_t first = 0; first < count; first += PIECE) {
        const some_rows rows = {first, ikt_smaller(count - first, PIECE), w->near};
        compare(n, w, &n->level[level], &rows, wanted, w->pair);
        for (int64_t r = 0; r < rows.count; r++) {
            const ikt_select *near = &w->near[r];
            int64_t part = near->count;
            for (int64_t end = nearer_sets(wanted); end > 0; end = nearer_sets(end)) {
                ikt_pairs_part(n->lists->isa, near->pair, part, end);
                if (end < part) part = end;
            }
            w->sets[first + r] = near->count;
            for (int64_t e = 0; e < near->count; e++)
                w->set[(first + r) * n->wanted_most + e] = ikt_pair_number(near->pair[e]);
        }
    }
}

void ikt_near_search_rows(const ikt_near_search *n, ikt_near_space *w, ikt_list_tile *s,
                          const void *x, int64_t count, int64_t length) {
    const ikt_row_lists *l = n->lists;
    const some_rows rows = {0, count, s->kept};
    s->x = x;
    ikt_near_rows_write(&n->form, x, count, w->word);
    for (int64_t r = 0; r < count; r++) {
        w->sets[r] = 1;
        w->set[r * n->wanted_most] = 0;
    }
    for (int level = 0; level + 1 < IKT_NEAR_LEVELS; level++)
        choose_sets(n, w, level, count);
    compare(n, w, &n->level[IKT_NEAR_LEVELS - 1], &rows, length, s->pair);
    for (int64_t r = 0; r < count; r++)
        ikt_near_list_sort(l, s, r);
}
