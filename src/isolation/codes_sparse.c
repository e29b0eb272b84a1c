/* Codes of sparse rows: the values of all centres from an inverted index, then the definition.
 *
 * The cells are those of codes_kernel.h for the same rows held dense as float32, to the bit: a
 * distance by definition is a merge of two rows (linalg/sparse.h).
 * Method: a row's values for all distinct centres come from the index (postings.h). With lists, the
 * `length` least are kept, sorted by the distance that defines cells and walked through, as for
 * dense rows (row_lists.c); distances are only computed where values leave the order open.
 * Without lists, and in partitionings that a list leaves open, the centres of a partitioning whose
 * values are within rounding of its least are compared by definition; mostly there is one.
 * Advantage: centres are held and compared sparse, and nothing of length d is touched for a row.
 * Disadvantage: of models whose partitionings share no centres every centre has to be indexed, some
 * at a time, with a pass over X for every batch whose centres fit the budget. */
#include <math.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "isolation/centre_table.h"
#include "isolation/coding.h"
#include "isolation/postings.h"

/* Rows that are coded together, and their entries: a tile has at most so many of both, or one row.
 */
enum { TILE_ROWS = 64, TILE_ENTRIES = 1 << 15, CHUNK = IKT_POSTINGS_CHUNK };

/* What lists may take for the index of all centres. */
static const int64_t index_most = INT64_C(4) << 30;
static const char purpose[] = "lists";

/* What one thread works with. */
typedef struct {
    ikt_posted_row *row; /* [TILE_ROWS] */
    int32_t *slot;       /* their arrays */
    double *entry;
    float *value;      /* [CHUNK] */
    float *all;        /* [TILE_ROWS * centres] values by number, of rows that are compared by
                          definition; with lists, of one row */
    ikt_select *kept;  /* [TILE_ROWS] */
    ikt_pair *pair;    /* [TILE_ROWS * IKT_SELECT_CAPACITY * length] */
    uint32_t *cell;    /* [TILE_ROWS * parts] */
    uint64_t *open;    /* [words of the table] parts without a cell */
    int32_t *member;   /* [the most centres of a part] */
    int64_t open_rows; /* rows whose list was too short, so far */
} workspace;

typedef struct {
    ikt_coding *c;
    ikt_isa isa;
    int64_t first;          /* part of the model, from which on the pass finds cells */
    ikt_centre_table table; /* of the parts of the pass */
    ikt_sparse centres;     /* the distinct ones, in the order of the table */
    ikt_postings postings;  /* of them in the order of computing */
    int64_t length;         /* of a list; 0: there are none */
    uint32_t *place;        /* [centres] place of each, by number; NULL where none are wanted */
    workspace *space;       /* [threads] */
    int64_t *tile;          /* [block + 1] where the tiles of the block at hand begin */
    ikt_arrays held;        /* the workspaces and what is in them */
} coder;

/* --- sizes ------------------------------------------------------------------------------------ */

/* Bytes of centres with so many entries, as they are and indexed. */
static int64_t centres_bytes(int64_t centres, int64_t d, int64_t entries) {
    return ikt_postings_bytes(centres, d, entries) + 8 * (centres + entries);
}

bool ikt_sparse_list_pays(const ikt_model_spec *spec, const ikt_codes_rows *rows,
                          int64_t distinct) {
    const int64_t held = (int64_t)((double)distinct * rows->entries);
    return 2 * distinct <= spec->psi * spec->t &&
           centres_bytes(distinct, rows->d, held) <= index_most;
}

static int64_t tile_entries(int64_t longest) {
    return longest > TILE_ENTRIES ? longest : TILE_ENTRIES;
}

/* Partitionings of a pass: the centres of a batch, as they are and indexed, fit the budget. */
static int64_t batch_of(ikt_codes_budget budget, const ikt_model_spec *spec,
                        const ikt_codes_rows *rows) {
    const int64_t psi = spec->psi, held = psi * (int64_t)(rows->entries + 1);
    const int64_t bytes = centres_bytes(psi, 0, held) + psi * 24 + rows->d / 256;
    return ikt_coding_batch(budget.batch_bytes, bytes, spec->t);
}

int64_t ikt_coding_sparse_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t distinct, const ikt_codes_rows *rows, int threads) {
    const bool with_lists = distinct > 0;
    const int64_t batch = batch_of(budget, spec, rows);
    const int64_t drawn = batch * spec->psi > spec->coarse ? batch * spec->psi : spec->coarse;
    const int64_t centres = with_lists ? distinct : ikt_model_distinct_most(spec, drawn);
    const int64_t parts = with_lists ? ikt_model_parts(spec) : batch;
    const int64_t length = with_lists ? ikt_list_length(distinct, spec) : 0;
    const int64_t held = (int64_t)((double)centres * rows->entries);
    const int64_t uses = with_lists ? spec->t * spec->psi + spec->coarse : drawn;
    const int64_t space =
        tile_entries(rows->longest) * (4 + 8) + CHUNK * 4 +
        (length > 0 ? 1 : TILE_ROWS) * centres * 4 +
        TILE_ROWS * (64 + 4 * parts + IKT_SELECT_CAPACITY * length * (int64_t)sizeof(ikt_pair)) +
        4 * ikt_larger(spec->psi, spec->coarse);
    return ikt_larger(centres_bytes(centres, rows->d, held) + threads * space,
                      ikt_model_distinct_bytes(spec, uses, threads)) +
           ikt_centre_table_bytes(centres, parts, uses) +
           (spec->near > 0 ? (2 * 4 + 8) * centres + 4 * rows->d : 0);
}

/* --- values ----------------------------------------------------------------------------------- */

static bool is_manhattan(const coder *k) {
    return k->postings.is_manhattan;
}

/* Whether the bounds on values mean something. */
static bool is_safe(const coder *k, double x_norm) {
    return x_norm <= largest_safe_norm && k->postings.largest_norm <= largest_safe_norm;
}

/* |x|^2, or the sum of |x_k|. */
static double norm_of(const coder *k, ikt_sparse_row row) {
    return is_manhattan(k) ? ikt_sparse_length_l1(row) : ikt_sparse_norm(row);
}

/* The distance that defines cells. */
static float distance_of(const coder *k, ikt_sparse_row row, int64_t centre) {
    const ikt_sparse_row c = ikt_sparse_row_of(&k->centres, centre);
    return is_manhattan(k) ? ikt_sparse_manhattan(row, c) : ikt_sparse_distance(row, c);
}

/* The value beyond which a centre cannot be nearer than `winner`. */
static float bound_of(const coder *k, ikt_sparse_row row, double x_norm, int64_t winner,
                      float value) {
    const rounding round = ikt_postings_rounding(&k->postings, row.count);
    const double norm = k->postings.norm[winner];
    if (!is_safe(k, x_norm)) return INFINITY;
    return is_manhattan(k) ? nearest_bound_manhattan(round, x_norm, norm, value)
                           : nearest_bound(round, x_norm, norm, value);
}

/* Values of a posted row and the centres of a chunk, by number. */
static void score_chunk(const coder *k, const workspace *s, int64_t chunk, int64_t r, float *all) {
    const int64_t count = ikt_postings_score(&k->postings, &s->row[r], chunk, s->value);
    for (int64_t m = 0; m < count; m++)
        all[ikt_centre_number(&k->table, chunk * CHUNK + m)] = s->value[m];
}

/* About the `length` least values of every row. */
static void keep_nearest(const coder *k, workspace *s, int64_t count) {
    const int64_t chunks = k->postings.chunks;
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&s->kept[r], k->isa, k->length,
                         s->pair + r * IKT_SELECT_CAPACITY * k->length);
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        for (int64_t r = 0; r < count; r++) {
            const int64_t members = ikt_postings_score(&k->postings, &s->row[r], chunk, s->value);
            ikt_select_floats(&s->kept[r], -1, chunk * CHUNK, members, s->value);
        }
        ikt_list_tighten(s->kept, count, k->length, chunk + 1, CHUNK, k->table.count);
    }
    for (int64_t r = 0; r < count; r++)
        ikt_select_end(&s->kept[r]);
}

/* --- the centres of a partitioning ------------------------------------------------------------ */

/* Nearest centre by definition among the members of a part, the lowest on ties: of those whose
 * values leave it open. */
static uint32_t nearest_of(const coder *k, ikt_sparse_row row, double x_norm, const int32_t *index,
                           int64_t count, const float *all) {
    int64_t best = 0, found = -1;
    float least = INFINITY;
    for (int64_t j = 1; j < count; j++)
        if (all[index[j]] < all[index[best]]) best = j;
    const float bound = bound_of(k, row, x_norm, index[best], all[index[best]]);
    for (int64_t j = 0; j < count; j++) {
        if (all[index[j]] > bound) continue;
        const float distance = distance_of(k, row, index[j]);
        if (found >= 0 && !(distance < least)) continue;
        found = j;
        least = distance;
    }
    return (uint32_t)found;
}

/* --- the order of a list ---------------------------------------------------------------------- */

/* Between which bounds the distance by definition of a pair lies, by its value. */
static void find_bounds(const coder *k, double start, int64_t entries, double x_norm, ikt_pair pair,
                        double *low, double *high) {
    const uint32_t number = ikt_pair_number(pair);
    const double s = (double)ikt_pair_value(pair), norm = k->postings.norm[number];
    const int64_t terms = entries + ikt_sparse_row_of(&k->centres, number).count;
    const double g = rounding_gamma(terms + 2), tiny = (double)(terms + 4) * 0x1p-145;
    if (is_manhattan(k)) {
        *low = (x_norm + s) * (1 - g) - tiny;
        *high = (x_norm + s + 2 * start * norm) * (1 + g) + tiny;
    } else {
        *low = (x_norm + 2 * (s - start * x_norm / 2)) * (1 - g) - tiny;
        *high = (x_norm + 2 * (s + start * (x_norm / 2 + 2 * norm))) * (1 + g) + tiny;
    }
}

/* Distances in place of values, and their order. */
static void define(const coder *k, ikt_sparse_row row, ikt_pair *pair, int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        const uint32_t number = ikt_pair_number(pair[e]);
        pair[e] = ikt_pair_make(distance_of(k, row, number), number);
    }
    ikt_pairs_sort(pair, count);
}

/* Brings pairs that are sorted by value into the order of distance. Pairs whose bounds overlap are
 * put in order by their distances; for a single one its upper bound stands. */
static void order_pairs(const coder *k, ikt_sparse_row row, double x_norm, ikt_pair *pair,
                        int64_t count) {
    const double start = ikt_postings_rounding(&k->postings, row.count).start;
    double reach = -INFINITY; /* upper bound of the group so far */
    int64_t first = 0;
    for (int64_t e = 0; e <= count; e++) {
        double low = INFINITY, high = INFINITY;
        if (e < count) find_bounds(k, start, row.count, x_norm, pair[e], &low, &high);
        if (e > first && (low > reach || e == count)) {
            if (e - first > 1)
                define(k, row, pair + first, e - first);
            else
                pair[first] =
                    ikt_pair_make((float)(reach * (1 + 0x1p-22)), ikt_pair_number(pair[first]));
            first = e;
            reach = -INFINITY;
        }
        reach = fmax(reach, high);
    }
}

/* Brings a row's list into the order of distance; pairs below the result are beyond doubt. */
static ikt_pair order_list(const coder *k, ikt_sparse_row row, double x_norm, ikt_select *kept) {
    const ikt_pair certain = ikt_list_certain(kept, ikt_postings_rounding(&k->postings, row.count),
                                              is_manhattan(k), x_norm, k->postings.largest_norm);
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] = (kept->pair[e] & ~(ikt_pair)UINT32_MAX) |
                        ikt_centre_number(&k->table, ikt_pair_number(kept->pair[e]));
    ikt_pairs_sort(kept->pair, kept->count);
    if (is_safe(k, x_norm))
        order_pairs(k, row, x_norm, kept->pair, kept->count);
    else
        define(k, row, kept->pair, kept->count);
    return certain;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Cells of own row `row` from its list, and from the values of all centres where that leaves parts
 * open. */
static void code_listed(const coder *k, workspace *s, int64_t row, ikt_sparse_row x, int64_t r) {
    const double x_norm = norm_of(k, x);
    const ikt_pair certain = order_list(k, x, x_norm, &s->kept[r]);
    const ikt_select *kept = &s->kept[r];
    uint32_t *cell = s->cell + r * k->table.parts;
    ikt_coding_write_places(k->c, k->place, row, kept);
    ikt_parts_open(&k->table, s->open);
    if (ikt_centre_walk(&k->table, kept->pair, kept->count, certain, s->open, cell) == 0) return;
    s->open_rows++;
    for (int64_t chunk = 0; chunk < k->postings.chunks; chunk++)
        score_chunk(k, s, chunk, r, s->all);
    for (int64_t p = 0; p < k->table.parts; p++) {
        if (!ikt_part_is_open(s->open, p)) continue;
        int64_t count;
        const int32_t *index = ikt_centre_members(&k->table, p, s->member, &count);
        cell[p] = nearest_of(k, x, x_norm, index, count, s->all);
    }
}

/* Cells of rows from .. from + count - 1 from the values of all centres. */
static void code_unlisted(const coder *k, workspace *s, int64_t from, int64_t count) {
    const int64_t parts = k->table.parts;
    double x_norm[TILE_ROWS];
    for (int64_t chunk = 0; chunk < k->postings.chunks; chunk++)
        for (int64_t r = 0; r < count; r++)
            score_chunk(k, s, chunk, r, s->all + r * k->table.count);
    for (int64_t r = 0; r < count; r++)
        x_norm[r] = norm_of(k, ikt_sparse_row_of(&k->c->entries, from + r));
    for (int64_t p = 0; p < parts; p++) {
        int64_t members;
        const int32_t *index = ikt_centre_members(&k->table, p, s->member, &members);
        for (int64_t r = 0; r < count; r++)
            s->cell[r * parts + p] =
                nearest_of(k, ikt_sparse_row_of(&k->c->entries, from + r), x_norm[r], index,
                           members, s->all + r * k->table.count);
    }
}

/* Codes rows from .. from + count - 1 of the block at hand, which begins at own row `row`. */
static void code_tile(const coder *k, workspace *s, int64_t row, int64_t from, int64_t count) {
    const ikt_sparse *rows = &k->c->entries;
    const int64_t parts = k->table.parts;
    for (int64_t r = 0; r < count; r++) {
        const int64_t at = rows->start[from + r] - rows->start[from];
        s->row[r] = (ikt_posted_row){0, s->slot + at, s->entry + at};
        ikt_postings_post(&k->postings, ikt_sparse_row_of(rows, from + r), &s->row[r]);
    }
    if (k->length > 0) {
        keep_nearest(k, s, count);
        for (int64_t r = 0; r < count; r++)
            code_listed(k, s, row + from + r, ikt_sparse_row_of(rows, from + r), r);
    } else {
        code_unlisted(k, s, from, count);
    }
    for (int64_t p = 0; p < parts; p++)
        ikt_coding_write(k->c, row + from, count, k->first + p, s->cell + p, parts);
}

static void code_block(void *self, int64_t row, int64_t count) {
    const coder *k = self;
    const int64_t *start = k->c->entries.start;
    int64_t tiles = 0, *tile = k->tile;
    for (int64_t from = 0; from < count; tiles++) {
        const int64_t begin = from++;
        while (from < count && from - begin < TILE_ROWS &&
               start[from + 1] - start[begin] <= TILE_ENTRIES)
            from++;
        tile[tiles] = begin;
        tile[tiles + 1] = from;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(k->c->threads)
    for (int64_t t = 0; t < tiles; t++)
        code_tile(k, &k->space[omp_get_thread_num()], row, tile[t], tile[t + 1] - tile[t]);
}

/* --- a pass ----------------------------------------------------------------------------------- */

static ikt_status create_spaces(coder *k) {
    ikt_arrays *held = &k->held;
    const int64_t entries = tile_entries(ikt_dataset_longest_row(k->c->data));
    const int64_t pairs = TILE_ROWS * IKT_SELECT_CAPACITY * k->length;
    const int64_t values = (k->length > 0 ? 1 : TILE_ROWS) * k->table.count;
    const ikt_model_spec *spec = &k->c->model->spec;
    const int64_t most = ikt_larger(spec->psi, spec->coarse);
    k->tile = ikt_claim(held, k->c->block + 1, sizeof *k->tile);
    k->space = ikt_claim(held, k->c->threads, sizeof *k->space);
    for (workspace *s = k->space; s && s < k->space + k->c->threads; s++) {
        s->row = ikt_claim(held, TILE_ROWS, sizeof *s->row);
        s->slot = ikt_claim(held, entries, sizeof *s->slot);
        s->entry = ikt_claim(held, entries, sizeof *s->entry);
        s->value = ikt_claim(held, CHUNK, sizeof *s->value);
        s->all = ikt_claim(held, values, sizeof *s->all);
        s->kept = ikt_claim(held, TILE_ROWS, sizeof *s->kept);
        s->pair = ikt_claim(held, pairs, sizeof *s->pair);
        s->cell = ikt_claim(held, TILE_ROWS * k->table.parts, sizeof *s->cell);
        s->open = ikt_claim(held, k->table.words, sizeof *s->open);
        s->member = ikt_claim(held, most, sizeof *s->member);
    }
    return held->status;
}

/* COLLECTIVE. Gives the centres places along an order in which near ones stand near each other, and
 * coarse cells of as many as those of dense rows have. */
static ikt_status place_centres(coder *k) {
    ikt_context *ctx = k->c->ctx;
    ikt_code_places *places = k->c->places;
    const int64_t count = k->table.count, cells = ikt_near_centres_cells(count);
    uint32_t *order IKT_AT_END(ikt_free) = NULL;
    ikt_status st = ikt_alloc(ctx, &order, count, sizeof *order, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &k->place, count, sizeof *k->place, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &places->first, cells + 1, sizeof *places->first, "cells");
    if (st == IKT_OK) st = ikt_locality_order(ctx, NULL, &k->centres, count, k->c->d, order);
    for (int64_t at = 0; st == IKT_OK && at < count; at++)
        k->place[order[at]] = (uint32_t)at;
    for (int64_t c = 0; st == IKT_OK && c <= cells; c++)
        places->first[c] = c * count / cells;
    places->centres = count;
    places->cells = cells;
    return ikt_agree(ctx, st);
}

static void coder_destroy(coder *k) {
    ikt_arrays_free(&k->held);
    ikt_free(&k->place);
    ikt_postings_destroy(&k->postings);
    ikt_sparse_destroy(&k->centres);
    ikt_centre_table_destroy(&k->table);
}

/* COLLECTIVE. Codes of all own rows in `parts` parts of the model, from `first` on. */
static ikt_status code_parts(ikt_coding *c, int64_t first, int64_t parts, bool with_lists) {
    coder k IKT_AT_END(coder_destroy) = {
        .c = c, .isa = ikt_cpu_isa(), .first = first, .held = ikt_arrays_of(c->ctx, purpose)};
    int64_t open = 0;
    IKT_TRY(ikt_agree(c->ctx, ikt_centre_table_create(c->ctx, c->model, first, parts, &k.table)));
    const int64_t distinct = k.table.count;
    IKT_TRY(
        ikt_dataset_gather_sparse(ikt_dataset_model(c->data), k.table.row, distinct, &k.centres));
    k.length = with_lists ? ikt_list_length(distinct, &c->model->spec) : 0;
    ikt_status st =
        ikt_postings_create(c->ctx, &k.centres, k.table.stride,
                            ikt_dataset_metric(c->data) == IKT_METRIC_MANHATTAN, &k.postings);
    if (st == IKT_OK) st = create_spaces(&k);
    IKT_TRY(ikt_agree(c->ctx, st));
    if (c->places->near > 0) IKT_TRY(place_centres(&k));
    IKT_TRY(ikt_coding_pass(c, first + parts, code_block, &k));
    for (int i = 0; i < c->threads; i++)
        open += k.space[i].open_rows;
    if (with_lists) ikt_list_report(c->ctx, k.length, distinct, open, c->distribution->count);
    return IKT_OK;
}

ikt_status ikt_coding_sparse(ikt_coding *c, const ikt_codes_rows *rows, bool with_lists) {
    const ikt_model_spec *spec = &c->model->spec;
    const int64_t t = spec->t, parts = ikt_model_parts(spec);
    const int64_t batch = batch_of(c->budget, spec, rows);
    c->passes = with_lists ? 1 : ikt_divide_up(t, batch) + (parts > t);
    if (with_lists) return code_parts(c, 0, parts, true);
    for (int64_t first = 0, count; first < parts; first += count) {
        const int64_t left = t - first; /* the coarse one by itself, the last */
        count = left > batch ? batch : left > 0 ? left : 1;
        IKT_TRY(code_parts(c, first, count, false));
    }
    return IKT_OK;
}
