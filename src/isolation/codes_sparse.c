/* Cells of sparse rows. See codes_sparse.h. */
#include "isolation/codes_sparse.h"

#include <math.h>

#include "base/memory.h"

enum { CHUNK = IKT_POSTINGS_CHUNK };

static const char purpose[] = "lists";

bool ikt_sparse_list_pays(int64_t centres, int64_t psi, int64_t t) {
    return 2 * centres <= psi * t;
}

int64_t ikt_sparse_tile(const ikt_sparse *rows, int64_t from, int64_t end) {
    int64_t count = 1;
    const int64_t begin = rows->start[from];
    while (from + count < end && count < IKT_SPARSE_TILE_ROWS &&
           rows->start[from + count + 1] - begin <= IKT_SPARSE_TILE_ENTRIES)
        count++;
    return count;
}

/* --- creation --------------------------------------------------------------------------------- */

ikt_status ikt_sparse_coder_create(ikt_context *ctx, const ikt_model *model,
                                   const ikt_centre_table *table, const ikt_sparse *centres,
                                   bool with_lists, ikt_sparse_coder *out) {
    *out = (ikt_sparse_coder){.table = table, .centres = centres, .isa = ikt_cpu_isa()};
    out->stride = ikt_list_stride(table->count);
    if (with_lists)
        out->length = ikt_list_length(table->count, model->psi, model->t, model->spec.coarse);
    return ikt_postings_create(ctx, centres, out->stride, &out->postings);
}

void ikt_sparse_coder_destroy(ikt_sparse_coder *coder) {
    ikt_postings_destroy(&coder->postings);
}

static int64_t tile_entries(int64_t longest) {
    return longest > IKT_SPARSE_TILE_ENTRIES ? longest : IKT_SPARSE_TILE_ENTRIES;
}

/* Rows whose values of all centres are held at a time. */
static int64_t held_rows(const ikt_sparse_coder *coder) {
    return coder->length > 0 ? 1 : IKT_SPARSE_TILE_ROWS;
}

ikt_status ikt_sparse_space_create(ikt_context *ctx, const ikt_sparse_coder *coder, int64_t longest,
                                   ikt_sparse_space *out) {
    const int64_t rows = IKT_SPARSE_TILE_ROWS, entries = tile_entries(longest);
    const int64_t pairs = rows * IKT_SELECT_ROOM * coder->length;
    const int64_t values = held_rows(coder) * coder->table->count;
    *out = (ikt_sparse_space){.open_rows = 0};
    IKT_TRY(ikt_alloc(ctx, &out->row, rows, sizeof *out->row, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->slot, entries, sizeof *out->slot, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->entry, entries, sizeof *out->entry, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->sum, CHUNK, sizeof *out->sum, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->value, CHUNK, sizeof *out->value, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->all, values, sizeof *out->all, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->kept, rows, sizeof *out->kept, purpose));
    return ikt_alloc(ctx, &out->pair, pairs, sizeof *out->pair, purpose);
}

void ikt_sparse_space_destroy(ikt_sparse_space *space) {
    ikt_free(&space->row);
    ikt_free(&space->slot);
    ikt_free(&space->entry);
    ikt_free(&space->sum);
    ikt_free(&space->value);
    ikt_free(&space->all);
    ikt_free(&space->kept);
    ikt_free(&space->pair);
}

int64_t ikt_sparse_coder_bytes(int64_t centres, int64_t d, int64_t entries) {
    return ikt_postings_bytes(centres, d, entries) + 8 * (centres + entries);
}

int64_t ikt_sparse_space_bytes(int64_t centres, int64_t length, int64_t longest) {
    const int64_t rows = IKT_SPARSE_TILE_ROWS;
    return tile_entries(longest) * (4 + 8) + CHUNK * (4 + 8) +
           (length > 0 ? 1 : rows) * centres * 4 +
           rows * (64 + IKT_SELECT_ROOM * length * (int64_t)sizeof(ikt_pair));
}

/* --- values ----------------------------------------------------------------------------------- */

static uint32_t number_of(const ikt_sparse_coder *coder, int64_t indexed) {
    return (uint32_t)(indexed * coder->stride % coder->table->count);
}

static void post_tile(const ikt_sparse_coder *coder, ikt_sparse_space *space,
                      const ikt_sparse *rows, int64_t from, int64_t count) {
    for (int64_t r = 0; r < count; r++) {
        const int64_t at = rows->start[from + r] - rows->start[from];
        space->row[r] = (ikt_posted_row){0, space->slot + at, space->entry + at};
        ikt_postings_post(&coder->postings, ikt_sparse_row_of(rows, from + r), &space->row[r]);
    }
}

/* Whether the bounds on values mean something. */
static bool is_safe(const ikt_sparse_coder *coder, double x_norm) {
    return x_norm <= largest_safe_norm && coder->postings.largest_norm <= largest_safe_norm;
}

/* Values of a posted row and all centres, by number. */
static void score_all(const ikt_sparse_coder *coder, const ikt_sparse_space *space, int64_t chunk,
                      int64_t r, float *all) {
    const int64_t count =
        ikt_postings_score(&coder->postings, &space->row[r], chunk, space->sum, space->value);
    for (int64_t m = 0; m < count; m++)
        all[number_of(coder, chunk * CHUNK + m)] = space->value[m];
}

/* About the `length` least values of every row. */
static void keep_nearest(const ikt_sparse_coder *coder, ikt_sparse_space *space, int64_t count) {
    const int64_t chunks = coder->postings.chunks;
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&space->kept[r], coder->isa, coder->length,
                         space->pair + r * IKT_SELECT_ROOM * coder->length);
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        for (int64_t r = 0; r < count; r++) {
            const int64_t members = ikt_postings_score(&coder->postings, &space->row[r], chunk,
                                                       space->sum, space->value);
            ikt_select_floats(&space->kept[r], -1, chunk * CHUNK, members, space->value);
        }
        if (chunk == 0 || chunk == 3 || chunk == 15)
            ikt_list_tighten(space->kept, count, coder->length, (chunk + 1) * CHUNK,
                             coder->table->count);
    }
    for (int64_t r = 0; r < count; r++)
        ikt_select_end(&space->kept[r]);
}

/* --- the race of a partitioning's centres ------------------------------------------------------
 */

/* Nearest centre of partitioning p by definition, the lowest on ties, among those that the values
 * leave in the race. */
static uint16_t race(const ikt_sparse_coder *coder, ikt_sparse_row row, double x_norm, int64_t p,
                     const float *all) {
    const ikt_centre_table *table = coder->table;
    const int32_t *index = table->index + table->first[p];
    const int64_t count = table->first[p + 1] - table->first[p];
    int64_t best = 0, winner = -1;
    float least = INFINITY;
    for (int64_t j = 1; j < count; j++)
        if (all[index[j]] < all[index[best]]) best = j;
    const float bound = is_safe(coder, x_norm)
                            ? race_bound(ikt_postings_rounding(&coder->postings, row.count), x_norm,
                                         coder->postings.norm[index[best]], all[index[best]])
                            : INFINITY;
    for (int64_t j = 0; j < count; j++) {
        if (all[index[j]] > bound) continue;
        const float distance =
            ikt_sparse_distance(row, ikt_sparse_row_of(coder->centres, index[j]));
        if (winner >= 0 && !(distance < least)) continue;
        winner = j;
        least = distance;
    }
    return (uint16_t)winner;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Between which bounds a distance by definition lies, by its value. */
typedef struct {
    double low, high;
} interval;

static interval bounds_of(const ikt_sparse_coder *coder, double start, int64_t entries,
                          double x_norm, ikt_pair pair) {
    const uint32_t number = ikt_pair_number(pair);
    const double s = (double)ikt_pair_value(pair), norm = coder->postings.norm[number];
    const int64_t terms = entries + ikt_sparse_row_of(coder->centres, number).count;
    const double g = rounding_gamma(terms + 2), tiny = (double)(terms + 4) * 0x1p-145;
    const double low = x_norm + 2 * (s - start * x_norm / 2);
    const double high = x_norm + 2 * (s + start * (x_norm / 2 + 2 * norm));
    return (interval){low * (1 - g) - tiny, high * (1 + g) + tiny};
}

/* Distances in place of values, and their order. */
static void define(const ikt_sparse_coder *coder, ikt_sparse_row row, ikt_pair *pair,
                   int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        const uint32_t number = ikt_pair_number(pair[e]);
        const ikt_sparse_row centre = ikt_sparse_row_of(coder->centres, number);
        pair[e] = ikt_pair_make(ikt_sparse_distance(row, centre), number);
    }
    ikt_pairs_sort(pair, count);
}

/* Pairs whose bounds overlap are put in order by their distances; for a single one its upper bound
 * stands. */
static void order_group(const ikt_sparse_coder *coder, ikt_sparse_row row, double high,
                        ikt_pair *pair, int64_t count) {
    if (count > 1)
        define(coder, row, pair, count);
    else
        *pair = ikt_pair_make((float)(high * (1 + 0x1p-22)), ikt_pair_number(*pair));
}

/* Brings pairs that are sorted by value into the order of distance. */
static void order_pairs(const ikt_sparse_coder *coder, ikt_sparse_row row, double x_norm,
                        ikt_pair *pair, int64_t count) {
    const double start = ikt_postings_rounding(&coder->postings, row.count).start;
    double reach = -INFINITY; /* upper bound of the group so far */
    int64_t first = 0;
    for (int64_t e = 0; e < count; e++) {
        const interval at = bounds_of(coder, start, row.count, x_norm, pair[e]);
        if (e > first && at.low > reach) {
            order_group(coder, row, reach, pair + first, e - first);
            first = e;
            reach = -INFINITY;
        }
        reach = fmax(reach, at.high);
    }
    if (count > 0) order_group(coder, row, reach, pair + first, count - first);
}

/* Brings a row's list into the order of distance; pairs below the result are beyond doubt. */
static ikt_pair order_list(const ikt_sparse_coder *coder, ikt_sparse_row row, ikt_select *kept) {
    const double x_norm = ikt_sparse_norm(row);
    ikt_pair certain = UINT64_MAX;
    if (kept->limit < UINT64_MAX) {
        const rounding round = ikt_postings_rounding(&coder->postings, row.count);
        const float below = ikt_list_certain_below(round, x_norm, coder->postings.largest_norm,
                                                   ikt_pair_value(kept->limit));
        certain = ikt_pair_make(below, 0);
    }
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] = (kept->pair[e] & ~(ikt_pair)UINT32_MAX) |
                        number_of(coder, ikt_pair_number(kept->pair[e]));
    ikt_pairs_sort(kept->pair, kept->count);
    if (is_safe(coder, x_norm))
        order_pairs(coder, row, x_norm, kept->pair, kept->count);
    else
        define(coder, row, kept->pair, kept->count);
    return certain;
}

/* Decides what a list left open. */
static void close_row(const ikt_sparse_coder *coder, ikt_sparse_space *space, ikt_sparse_row row,
                      int64_t r, uint16_t *cell) {
    const double x_norm = ikt_sparse_norm(row);
    for (int64_t chunk = 0; chunk < coder->postings.chunks; chunk++)
        score_all(coder, space, chunk, r, space->all);
    for (int64_t p = 0; p < coder->table->parts; p++)
        if (cell[p] == IKT_CELL_OPEN) cell[p] = race(coder, row, x_norm, p, space->all);
    space->open_rows++;
}

static void code_by_lists(const ikt_sparse_coder *coder, ikt_sparse_space *space,
                          const ikt_sparse *rows, int64_t from, int64_t count, uint16_t *cell) {
    const int64_t parts = coder->table->parts;
    keep_nearest(coder, space, count);
    for (int64_t r = 0; r < count; r++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, from + r);
        const ikt_pair certain = order_list(coder, row, &space->kept[r]);
        if (ikt_list_walk(coder->table, &space->kept[r], certain, cell + r * parts) > 0)
            close_row(coder, space, row, r, cell + r * parts);
    }
}

static void code_by_races(const ikt_sparse_coder *coder, ikt_sparse_space *space,
                          const ikt_sparse *rows, int64_t from, int64_t count, uint16_t *cell) {
    const int64_t parts = coder->table->parts, centres = coder->table->count;
    for (int64_t chunk = 0; chunk < coder->postings.chunks; chunk++)
        for (int64_t r = 0; r < count; r++)
            score_all(coder, space, chunk, r, space->all + r * centres);
    for (int64_t r = 0; r < count; r++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, from + r);
        const double x_norm = ikt_sparse_norm(row);
        for (int64_t p = 0; p < parts; p++)
            cell[r * parts + p] = race(coder, row, x_norm, p, space->all + r * centres);
    }
}

void ikt_sparse_code(const ikt_sparse_coder *coder, ikt_sparse_space *space, const ikt_sparse *rows,
                     int64_t from, int64_t count, uint16_t *cell) {
    post_tile(coder, space, rows, from, count);
    if (coder->length > 0)
        code_by_lists(coder, space, rows, from, count, cell);
    else
        code_by_races(coder, space, rows, from, count, cell);
}
