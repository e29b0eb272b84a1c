/* Codes in one pass over X, from the ordered lists of rows' nearest distinct centres.
 *
 * All partitionings draw their centres from the same rows, so a row needs its distances to the
 * distinct centres only: in the order of distance, the first that belongs to a partitioning is the
 * row's cell there (methods, "Codes without t psi distances"). The cells are those of
 * codes_kernel.h to the bit.
 * Method: a kernel writes the values of a tile of rows and a chunk of centres; for each row the
 * `length` least are kept, sorted by the distance that defines cells, and walked through. What the
 * list leaves open (rare) is decided by the distances to all centres. Advantage: count distances a
 * row in place of t psi. Disadvantage: the lists pay only where there are fewer distinct centres
 * than centres. */
#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/memory.h"
#include "isolation/centre_lists.h"
#include "isolation/centre_table.h"
#include "isolation/coding.h"

enum {
    TILE_ROWS = 96,     /* a multiple of every kernel's rows */
    CHUNK_VECTORS = 64, /* of centres: the values of a tile stay in the second-level cache */
    CHUNK = CHUNK_VECTORS * IKT_LANES
};

static const int64_t packed_most = INT64_C(1) << 30;
static const char purpose[] = "lists";

/* What one thread works with. */
typedef struct {
    ikt_row_tile tile, rest; /* rows; those of them that a list leaves open */
    uint32_t *cell;          /* [rows of a tile * parts] */
    uint64_t *open;          /* [words of the table] parts without a cell */
    int32_t *member;         /* [the most centres of a part] */
    void *value;             /* [rows of a tile * CHUNK] values of a chunk of centres */
    void *all;               /* [rows of the kernel * centres] values of all centres */
    ikt_select *kept;        /* [rows of a tile] */
    ikt_pair *pair;          /* [rows of a tile * IKT_SELECT_CAPACITY * length] */
    int64_t open_rows;       /* rows whose list was too short, so far */
} workspace;

typedef struct {
    ikt_coding *c;
    ikt_isa isa;
    ikt_centre_table table;
    ikt_centres centres; /* all distinct ones, packed in the order of computing */
    void *slab;          /* their memory */
    float *rows;         /* float32: [table.count * d] the same as rows */
    int64_t length;      /* of a list */
    int64_t tile;        /* rows */
    workspace *space;    /* [threads] */
} lists;

/* --- shape ------------------------------------------------------------------------------------ */

bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d) {
    return 2 * centres <= psi * t && centres * d * (is_u8 ? 1 : 4) <= packed_most &&
           (!is_u8 || d <= IKT_U8_COLUMNS);
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Rows that are coded together. */
static int64_t tile_rows(const ikt_codes_kernel *kernel, int64_t d) {
    const int64_t rows = ikt_row_tile_rows(kernel, d);
    return rows < TILE_ROWS ? rows : TILE_ROWS;
}

/* Lanes of the packed centres. */
static int64_t lanes_of(int64_t centres) {
    return ikt_divide_up(centres, IKT_LANES) * IKT_LANES;
}

int64_t ikt_coding_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                               int64_t distinct, int64_t d, int threads) {
    const int64_t length = ikt_list_length(distinct, spec);
    const int64_t rows = tile_rows(kernel, d), gathered = distinct * d * (kernel->is_u8 ? 1 : 4);
    const int64_t packed = ikt_centres_bytes(kernel, distinct, d), packing = packed + gathered;
    const int64_t space = 2 * ikt_row_tile_bytes(kernel, d) + rows * CHUNK * 4 +
                          kernel->rows * lanes_of(distinct) * 4 +
                          rows * IKT_SELECT_CAPACITY * length * (int64_t)sizeof(ikt_pair) +
                          rows * ikt_model_parts(spec) * 4 + larger(spec->psi, spec->coarse) * 4;
    const int64_t coding = packed + (kernel->is_u8 ? 0 : gathered) + threads * space;
    const int64_t parts = ikt_model_parts(spec), uses = spec->t * spec->psi + spec->coarse;
    const int64_t making = ikt_model_distinct_bytes(spec, uses, threads);
    return larger(making, larger(coding, packing)) + ikt_centre_table_bytes(distinct, parts, uses);
}

/* --- the nearest centres of a tile ------------------------------------------------------------ */

/* About the `length` least values of every row. */
static void keep_nearest(const lists *l, workspace *s, const void *rows, int64_t count) {
    const ikt_codes_kernel *kernel = l->c->kernel;
    const int64_t vectors = l->centres.vectors, centres = l->table.count;
    ikt_row_tile_stage(kernel, &s->tile, rows, count);
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&s->kept[r], l->isa, l->length,
                         s->pair + r * IKT_SELECT_CAPACITY * l->length);
    for (int64_t vector = 0; vector < vectors; vector += CHUNK_VECTORS) {
        const int64_t end = vector + CHUNK_VECTORS < vectors ? vector + CHUNK_VECTORS : vectors;
        const int64_t first = vector * IKT_LANES;
        const int64_t offered = centres - first < CHUNK ? centres - first : CHUNK;
        kernel->score(&s->tile, &l->centres, vector, end, s->value, CHUNK);
        for (int64_t r = 0; r < count; r++) {
            if (kernel->is_u8)
                ikt_select_ints(&s->kept[r], first, offered, (int32_t *)s->value + r * CHUNK);
            else
                ikt_select_floats(&s->kept[r], -1, first, offered, (float *)s->value + r * CHUNK);
        }
        ikt_list_tighten(s->kept, count, l->length, vector / CHUNK_VECTORS + 1, CHUNK, centres);
    }
    for (int64_t r = 0; r < count; r++)
        ikt_select_end(&s->kept[r]);
}

/* Distances by definition of x to IKT_LANES centres, given where each begins. */
IKT_WIDEST_FUSED
static void define_some(const float *centre, const int64_t *begin, const float *x, int64_t d,
                        float *distance) {
    float sum[IKT_LANES] = {0};
    for (int64_t k = 0; k < d; k++)
        for (int l = 0; l < IKT_LANES; l++) {
            float gap = x[k] - centre[begin[l] + k];
            sum[l] = fmaf(gap, gap, sum[l]);
        }
    memcpy(distance, sum, sizeof sum);
}

/* Sorts a row's list by the distance that defines cells, with the numbers of centres; returns the
 * pair below which pairs are beyond doubt.
 *   x   the row, float32; NULL: uint8, whose values are exact and so in the order of distance */
static ikt_pair order_list(const lists *l, const workspace *s, const float *x, int64_t row) {
    const int64_t d = l->c->d;
    const ikt_pair value = ~(ikt_pair)UINT32_MAX;
    ikt_select *kept = &s->kept[row];
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] =
            (kept->pair[e] & value) | ikt_centre_number(&l->table, ikt_pair_number(kept->pair[e]));
    for (int64_t e = 0; x && e < kept->count; e += IKT_LANES) {
        int64_t begin[IKT_LANES];
        float distance[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++) /* the first fills up */
            begin[i] = ikt_pair_number(kept->pair[e + i < kept->count ? e + i : e]) * d;
        define_some(l->rows, begin, x, d, distance);
        for (int64_t i = 0; i < IKT_LANES && e + i < kept->count; i++)
            kept->pair[e + i] = ikt_pair_make(distance[i], ikt_pair_number(kept->pair[e + i]));
    }
    ikt_pairs_sort(kept->pair, kept->count);
    if (!x) return kept->limit < UINT64_MAX ? kept->limit & value : UINT64_MAX;
    return ikt_list_certain(kept, rounding_of(d), s->tile.all.norm[row], l->centres.largest_norm);
}

/* Decides the parts that are open in one row, by the values of all centres: the lowest of the
 * nearest. */
static void close_row(const lists *l, workspace *s, const void *row, uint32_t *cell) {
    const ikt_centre_table *table = &l->table;
    const ikt_codes_kernel *kernel = l->c->kernel;
    const int64_t count = table->count, d = l->c->d;
    const float *floats = s->all;
    int32_t *ints = (int32_t *)s->all + lanes_of(count);
    if (kernel->is_u8) {
        ikt_row_tile_stage(kernel, &s->rest, row, 1);
        kernel->score(&s->rest, &l->centres, 0, l->centres.vectors, s->all, lanes_of(count));
        /* the kernel fills up its rows with the same one: the second has space for the numbering */
        for (int64_t q = 0; q < count; q++)
            ints[ikt_centre_number(table, q)] = ((const int32_t *)s->all)[q];
    }
    for (int64_t q = 0; !kernel->is_u8 && q < count; q += IKT_LANES) {
        int64_t begin[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++)
            begin[i] = (q + i < count ? q + i : q) * d;
        define_some(l->rows, begin, row, d, (float *)s->all + q);
    }
    for (int64_t p = 0; p < table->parts; p++) {
        if (!ikt_part_is_open(s->open, p)) continue;
        int64_t best = 0, members;
        const int32_t *index = ikt_centre_members(table, p, s->member, &members);
        for (int64_t j = 1; j < members; j++)
            if (kernel->is_u8 ? ints[index[j]] < ints[index[best]]
                              : floats[index[j]] < floats[index[best]])
                best = j;
        cell[p] = (uint32_t)best;
    }
    s->open_rows++;
}

/* --- the pass --------------------------------------------------------------------------------- */

static void code_block(void *self, int64_t row, int64_t count) {
    const lists *l = self;
    const ikt_coding *c = l->c;
    const int64_t parts = l->table.parts;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += l->tile) {
        const int64_t rows = count - from < l->tile ? count - from : l->tile;
        const char *x = (const char *)c->rows + from * c->d * c->element;
        workspace *s = &l->space[omp_get_thread_num()];
        keep_nearest(l, s, x, rows);
        for (int64_t r = 0; r < rows; r++) {
            const void *at = x + r * c->d * c->element;
            uint32_t *cell = s->cell + r * parts;
            const ikt_pair certain = order_list(l, s, c->kernel->is_u8 ? NULL : at, r);
            const ikt_select *kept = &s->kept[r];
            ikt_parts_open(&l->table, s->open);
            if (ikt_centre_walk(&l->table, kept->pair, kept->count, certain, s->open, cell) > 0)
                close_row(l, s, at, cell);
        }
        for (int64_t p = 0; p < parts; p++)
            ikt_coding_write(c, row + from, rows, p, s->cell + p, parts);
    }
}

/* COLLECTIVE. Fetches the distinct centres and packs them. */
static ikt_status load_centres(lists *l) {
    ikt_coding *c = l->c;
    const int64_t count = l->table.count, bytes = ikt_centres_bytes(c->kernel, count, c->d);
    int64_t *index = NULL;
    void *x = NULL;
    ikt_status st = ikt_alloc(c->ctx, &x, count * c->d, (size_t)c->element, "centres");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &l->slab, bytes, 1, "centres");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &index, count, sizeof *index, "centres");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(ikt_dataset_model(c->data), l->table.row, count, x);
    if (st == IKT_OK) {
        for (int64_t q = 0; q < count; q++)
            index[q] = ikt_centre_number(&l->table, q);
        ikt_centres_place(c->kernel, count, c->d, l->slab, &l->centres);
        ikt_centres_fill(c->kernel, &l->centres, x, index);
        if (!c->kernel->is_u8) { /* float32 needs them once more, as they are */
            l->rows = x;
            x = NULL;
        }
    }
    ikt_free(&index);
    ikt_free(&x);
    return st;
}

static ikt_status create_spaces(lists *l) {
    ikt_context *ctx = l->c->ctx;
    const ikt_codes_kernel *kernel = l->c->kernel;
    const int64_t d = l->c->d, rows = l->tile, pairs = rows * IKT_SELECT_CAPACITY * l->length;
    const int64_t all = kernel->rows * lanes_of(l->table.count);
    const ikt_model_spec *spec = &l->c->model->spec;
    const int64_t most = larger(spec->psi, spec->coarse);
    IKT_TRY(ikt_alloc(ctx, &l->space, l->c->threads, sizeof *l->space, purpose));
    for (workspace *s = l->space; s < l->space + l->c->threads; s++) {
        IKT_TRY(ikt_row_tile_create(ctx, kernel, d, &s->tile));
        IKT_TRY(ikt_row_tile_create(ctx, kernel, d, &s->rest));
        IKT_TRY(ikt_alloc(ctx, &s->cell, rows * l->table.parts, sizeof *s->cell, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->open, l->table.words, sizeof *s->open, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->member, most, sizeof *s->member, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->value, rows * CHUNK, 4, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->all, all, 4, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->kept, rows, sizeof *s->kept, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->pair, pairs, sizeof *s->pair, purpose));
    }
    return IKT_OK;
}

ikt_status ikt_coding_lists(ikt_coding *c) {
    const ikt_model *model = c->model;
    lists l = {.c = c, .isa = ikt_cpu_isa(), .tile = tile_rows(c->kernel, c->d)};
    int64_t open = 0;
    c->passes = 1;
    ikt_status st = ikt_agree(
        c->ctx, ikt_centre_table_create(c->ctx, model, 0, ikt_model_parts(&model->spec), &l.table));
    if (st == IKT_OK) {
        l.length = ikt_list_length(l.table.count, &model->spec);
        st = load_centres(&l);
    }
    if (st == IKT_OK) st = ikt_agree(c->ctx, create_spaces(&l));
    if (st == IKT_OK) st = ikt_coding_pass(c, model->t + 1, code_block, &l);
    for (int i = 0; l.space && i < c->threads; i++) {
        workspace *s = &l.space[i];
        open += s->open_rows;
        ikt_row_tile_destroy(&s->tile);
        ikt_row_tile_destroy(&s->rest);
        ikt_free(&s->cell);
        ikt_free(&s->open);
        ikt_free(&s->member);
        ikt_free(&s->value);
        ikt_free(&s->all);
        ikt_free(&s->kept);
        ikt_free(&s->pair);
    }
    if (st == IKT_OK)
        ikt_list_report(c->ctx, l.length, l.table.count, open, c->distribution->count);
    ikt_free(&l.space);
    ikt_free(&l.slab);
    ikt_free(&l.rows);
    ikt_centre_table_destroy(&l.table);
    return st;
}
