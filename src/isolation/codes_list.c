/* Cells from the ordered list of a row's nearest distinct centres. See codes_list.h. */
#include "isolation/codes_list.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    TILE_ROWS = 96,     /* a multiple of every kernel's rows */
    CHUNK_VECTORS = 64, /* of centres: the values of a tile stay in the second-level cache */
    CHUNK = CHUNK_VECTORS * IKT_LANES
};

static const int64_t packed_most = INT64_C(1) << 30;

/* --- shape ------------------------------------------------------------------------------------ */

bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d) {
    return 2 * centres <= psi * t && centres * d * (is_u8 ? 1 : 4) <= packed_most &&
           (!is_u8 || d <= IKT_U8_COLUMNS);
}

int64_t ikt_list_rows(const ikt_codes_kernel *kernel, int64_t d) {
    int64_t rows = ikt_row_tile_rows(kernel, d);
    return rows < TILE_ROWS ? rows : TILE_ROWS;
}

static int64_t slots(int64_t centres) {
    return (centres + IKT_LANES - 1) / IKT_LANES * IKT_LANES;
}

static uint32_t number_of(const ikt_list_coder *coder, int64_t packed) {
    return (uint32_t)(packed * coder->stride % coder->table->count);
}

/* --- creation --------------------------------------------------------------------------------- */

ikt_status ikt_list_coder_create(ikt_context *ctx, const ikt_codes_kernel *kernel,
                                 const ikt_model *model, const ikt_centre_table *table, int64_t d,
                                 void **gathered, ikt_list_coder *out) {
    int64_t *index = NULL, count = table->count;
    *out = (ikt_list_coder){.kernel = kernel, .isa = ikt_cpu_isa(), .table = table, .d = d};
    out->stride = ikt_list_stride(count);
    out->length = ikt_list_length(count, model->psi, model->t, model->spec.coarse);
    ikt_status st = ikt_alloc(ctx, &out->slab, ikt_centres_bytes(kernel, count, d), 1, "centres");
    if (st == IKT_OK) st = ikt_alloc(ctx, &index, count, sizeof *index, "centres");
    if (st == IKT_OK) {
        for (int64_t j = 0; j < count; j++)
            index[j] = number_of(out, j);
        ikt_centres_place(kernel, count, d, out->slab, &out->centres);
        ikt_centres_fill(kernel, &out->centres, *gathered, index);
        if (!kernel->is_u8) { /* float32 needs them once more, as they are */
            out->rows = *gathered;
            *gathered = NULL;
        }
    }
    ikt_free(&index);
    if (st != IKT_OK) ikt_list_coder_destroy(out);
    return st;
}

void ikt_list_coder_destroy(ikt_list_coder *coder) {
    ikt_free(&coder->slab);
    ikt_free(&coder->rows);
}

ikt_status ikt_list_space_create(ikt_context *ctx, const ikt_list_coder *coder,
                                 ikt_list_space *out) {
    const ikt_codes_kernel *kernel = coder->kernel;
    int64_t rows = ikt_list_rows(kernel, coder->d), room = rows * IKT_SELECT_ROOM * coder->length;
    int64_t count = slots(coder->table->count);
    *out = (ikt_list_space){.open_rows = 0};
    IKT_TRY(ikt_row_tile_create(ctx, kernel, coder->d, &out->tile));
    IKT_TRY(ikt_row_tile_create(ctx, kernel, coder->d, &out->rest));
    IKT_TRY(ikt_alloc(ctx, &out->value, rows * CHUNK, 4, "lists"));
    IKT_TRY(ikt_alloc(ctx, &out->all, kernel->rows * count, 4, "lists"));
    IKT_TRY(ikt_alloc(ctx, &out->kept, rows, sizeof *out->kept, "lists"));
    return ikt_alloc(ctx, &out->pair, room, sizeof *out->pair, "lists");
}

void ikt_list_space_destroy(ikt_list_space *space) {
    ikt_row_tile_destroy(&space->tile);
    ikt_row_tile_destroy(&space->rest);
    ikt_free(&space->value);
    ikt_free(&space->all);
    ikt_free(&space->kept);
    ikt_free(&space->pair);
}

int64_t ikt_list_bytes(const ikt_codes_kernel *kernel, int64_t centres, int64_t length, int64_t d,
                       int threads) {
    int64_t rows = ikt_list_rows(kernel, d);
    int64_t space = 2 * ikt_row_tile_bytes(kernel, d) + rows * CHUNK * 4 +
                    kernel->rows * slots(centres) * 4 +
                    rows * IKT_SELECT_ROOM * length * (int64_t)sizeof(ikt_pair);
    return ikt_centres_bytes(kernel, centres, d) + (kernel->is_u8 ? 0 : 4 * centres * d) +
           threads * space;
}

/* --- the nearest centres of a tile ------------------------------------------------------------ */

static void offer_chunk(const ikt_list_coder *coder, ikt_list_space *space, int64_t vector) {
    int64_t first = vector * IKT_LANES, left = coder->table->count - first;
    int64_t count = left < CHUNK ? left : CHUNK;
    for (int64_t r = 0; r < space->tile.all.count; r++) {
        if (coder->kernel->is_u8)
            ikt_select_ints(&space->kept[r], first, count, (int32_t *)space->value + r * CHUNK);
        else
            ikt_select_floats(&space->kept[r], -1, first, count, (float *)space->value + r * CHUNK);
    }
}

/* About the `length` least values of every row. */
static void keep_nearest(const ikt_list_coder *coder, ikt_list_space *space, const void *rows,
                         int64_t count) {
    const ikt_centres *centres = &coder->centres;
    ikt_row_tile_stage(coder->kernel, &space->tile, rows, count);
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&space->kept[r], coder->isa, coder->length,
                         space->pair + r * IKT_SELECT_ROOM * coder->length);
    for (int64_t vector = 0; vector < centres->vectors; vector += CHUNK_VECTORS) {
        int64_t end = vector + CHUNK_VECTORS;
        if (end > centres->vectors) end = centres->vectors;
        coder->kernel->score(&space->tile, centres, vector, end, space->value, CHUNK);
        offer_chunk(coder, space, vector);
        if (end == CHUNK_VECTORS || end == 4 * CHUNK_VECTORS || end == 16 * CHUNK_VECTORS)
            ikt_list_tighten(space->kept, count, coder->length, end * IKT_LANES,
                             coder->table->count);
    }
    for (int64_t r = 0; r < count; r++)
        ikt_select_end(&space->kept[r]);
}

/* --- float32: from values to the distances that define cells ---------------------------------- */

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

/* Replaces the values of a row's pairs by distances. */
static void define(const ikt_list_coder *coder, const float *x, ikt_select *kept) {
    for (int64_t e = 0; e < kept->count; e += IKT_LANES) {
        int64_t begin[IKT_LANES];
        float distance[IKT_LANES];
        for (int64_t l = 0; l < IKT_LANES; l++) {
            int64_t at = e + l < kept->count ? e + l : e; /* the first fills up */
            begin[l] = number_of(coder, ikt_pair_number(kept->pair[at])) * coder->d;
        }
        define_some(coder->rows, begin, x, coder->d, distance);
        for (int64_t l = 0; l < IKT_LANES && e + l < kept->count; l++)
            kept->pair[e + l] =
                ikt_pair_make(distance[l], number_of(coder, ikt_pair_number(kept->pair[e + l])));
    }
}

/* Sorts a row's list by the distance that defines cells; pairs below *certain are beyond doubt. */
static void order_floats(const ikt_list_coder *coder, const ikt_list_space *space, const float *x,
                         int64_t row, ikt_pair *certain) {
    ikt_select *kept = &space->kept[row];
    *certain = UINT64_MAX;
    if (kept->limit < UINT64_MAX)
        *certain = ikt_pair_make(
            ikt_list_certain_below(rounding_of(coder->d), space->tile.all.norm[row],
                                   coder->centres.largest_norm, ikt_pair_value(kept->limit)),
            0);
    define(coder, x, kept);
    ikt_pairs_sort(kept->pair, kept->count);
}

/* Sorts a row's list of exact values, in which the numbers of centres are put. */
static void order_ints(const ikt_list_coder *coder, const ikt_list_space *space, int64_t row,
                       ikt_pair *certain) {
    const ikt_pair value = ~(ikt_pair)UINT32_MAX;
    ikt_select *kept = &space->kept[row];
    *certain = kept->limit < UINT64_MAX ? kept->limit & value : UINT64_MAX;
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] = (kept->pair[e] & value) | number_of(coder, ikt_pair_number(kept->pair[e]));
    ikt_pairs_sort(kept->pair, kept->count);
}

/* --- rows that a list leaves open ------------------------------------------------------------- */

/* Nearest centre of partitioning p by the values of all centres; the lowest on ties. */
static uint16_t nearest_of(const ikt_centre_table *table, int64_t p, const float *floats,
                           const int32_t *ints) {
    const int32_t *index = table->index + table->first[p];
    int64_t best = 0, count = table->first[p + 1] - table->first[p];
    for (int64_t j = 1; j < count; j++)
        if (floats ? floats[index[j]] < floats[index[best]] : ints[index[j]] < ints[index[best]])
            best = j;
    return (uint16_t)best;
}

static void define_all(const ikt_list_coder *coder, const float *x, float *distance) {
    int64_t count = coder->table->count;
    for (int64_t c = 0; c < count; c += IKT_LANES) {
        int64_t begin[IKT_LANES];
        for (int64_t l = 0; l < IKT_LANES; l++)
            begin[l] = (c + l < count ? c + l : c) * coder->d;
        define_some(coder->rows, begin, x, coder->d, distance + c);
    }
}

/* Decides what is open in one row. */
static void close_row(const ikt_list_coder *coder, ikt_list_space *space, const void *row,
                      uint16_t *cell) {
    const ikt_centre_table *table = coder->table;
    const bool is_u8 = coder->kernel->is_u8;
    int32_t *numbered = (int32_t *)space->all + slots(table->count);
    if (is_u8) {
        ikt_row_tile_stage(coder->kernel, &space->rest, row, 1);
        coder->kernel->score(&space->rest, &coder->centres, 0, coder->centres.vectors, space->all,
                             slots(table->count));
        /* the kernel fills up its rows with the same one: the second has room for the numbering */
        for (int64_t q = 0; q < table->count; q++)
            numbered[number_of(coder, q)] = ((const int32_t *)space->all)[q];
    } else {
        define_all(coder, row, space->all);
    }
    for (int64_t p = 0; p < table->parts; p++)
        if (cell[p] == IKT_CELL_OPEN)
            cell[p] = nearest_of(table, p, is_u8 ? NULL : space->all, is_u8 ? numbered : NULL);
    space->open_rows++;
}

void ikt_list_code(const ikt_list_coder *coder, ikt_list_space *space, const void *rows,
                   int64_t count, uint16_t *cell) {
    const int64_t parts = coder->table->parts, d = coder->d;
    const bool is_u8 = coder->kernel->is_u8;
    keep_nearest(coder, space, rows, count);
    for (int64_t r = 0; r < count; r++) {
        const char *row = (const char *)rows + r * d * (is_u8 ? 1 : 4);
        ikt_pair certain = UINT64_MAX;
        if (is_u8)
            order_ints(coder, space, r, &certain);
        else
            order_floats(coder, space, (const float *)(const void *)row, r, &certain);
        if (ikt_list_walk(coder->table, &space->kept[r], certain, cell + r * parts) > 0)
            close_row(coder, space, row, cell + r * parts);
    }
}
