/* Lists of the centres nearest to the rows of a tile. See row_lists.h. */
#include "isolation/row_lists.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "isolation/centre_table.h"
#include "metric/metric.h"

enum {
    TILE_ROWS = 4 * IKT_KERNEL_ROWS,
    CHUNK_VECTORS = 64, /* of centres: values of a tile stay in the second-level cache */
    CHUNK = CHUNK_VECTORS * IKT_LANES
};

static const char purpose[] = "lists";

/* Lanes of the packed centres. */
static int64_t lanes_of(int64_t centres) {
    return ikt_divide_up(centres, IKT_LANES) * IKT_LANES;
}

/* --- making ----------------------------------------------------------------------------------- */

int64_t ikt_row_lists_tile(const ikt_codes_kernel *kernel, int64_t d) {
    const int64_t rows = ikt_row_tile_rows(kernel, d);
    return rows < TILE_ROWS ? rows : TILE_ROWS;
}

static bool keeps_rows(bool is_u8, const ikt_model_spec *spec) {
    return !is_u8 || spec->candidates > 0;
}

int64_t ikt_row_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                            int64_t distinct, int64_t d, int64_t rows, int threads) {
    const int64_t length = ikt_list_length(distinct, spec), parts = ikt_model_parts(spec);
    const int64_t tile = ikt_row_lists_tile(kernel, d);
    const int64_t element = ikt_held_bytes(kernel->is_u8), gathered = distinct * d * element;
    const int64_t packed = ikt_centres_bytes(kernel, distinct, d);
    const int64_t pairs = (rows + 1) * IKT_SELECT_CAPACITY * length;
    const int64_t space = 2 * ikt_row_tile_bytes(kernel, d) + tile * CHUNK * 4 +
                          kernel->rows * lanes_of(distinct) * 4 +
                          pairs * (int64_t)sizeof(ikt_pair) + parts * 4 +
                          ikt_larger(spec->psi, spec->coarse) * 4;
    const bool is_kept = keeps_rows(kernel->is_u8, spec);
    const int64_t uses = spec->t * spec->psi + spec->coarse;
    const int64_t making = ikt_model_distinct_bytes(spec, uses, threads);
    const bool has_places = spec->near > 0 || spec->candidates > 0;
    const int64_t places = has_places ? ikt_near_centres_bytes(distinct, d) : 0;
    const int64_t loading = gathered + (has_places && is_kept ? gathered : packed);
    const int64_t listing = packed + (is_kept ? gathered : 0) + threads * space;
    return ikt_larger(making, ikt_larger(loading, listing) + places) +
           ikt_centre_table_bytes(distinct, parts, uses);
}

/* The number by row of the centre that is computed with as number q. */
static uint32_t number_of(const ikt_row_lists *l, int64_t q) {
    return l->near.count > 0 ? l->near.number[q] : ikt_centre_number(&l->table, q);
}

/* Where a centre stands among l->rows. */
static int64_t row_of(const ikt_row_lists *l, uint32_t number) {
    return l->near.count > 0 ? l->near.place[number] : number;
}

/* LOCAL. Brings the rows of the centres into the order of their places. */
static ikt_status reorder_rows(ikt_row_lists *l) {
    const int64_t bytes = l->c->d * l->c->element;
    char *ordered = NULL;
    IKT_TRY(ikt_alloc(l->c->ctx, &ordered, l->table.count, (size_t)bytes, "centres"));
    for (int64_t q = 0; q < l->table.count; q++)
        memcpy(ordered + q * bytes, (const char *)l->rows + l->near.number[q] * bytes,
               (size_t)bytes);
    ikt_free(&l->rows);
    l->rows = ordered;
    return IKT_OK;
}

static ikt_status load_centres(ikt_row_lists *l) {
    const ikt_coding *c = l->c;
    const ikt_model_spec *spec = &c->model->spec;
    const bool is_kept = keeps_rows(c->kernel->is_u8, spec);
    const int64_t count = l->table.count, bytes = ikt_centres_bytes(c->kernel, count, c->d);
    IKT_TRY(ikt_alloc_all(c->ctx, &l->rows, count * c->d, (size_t)c->element, "centres"));
    IKT_TRY(ikt_dataset_gather(ikt_dataset_model(c->data), l->table.row, count, l->rows));
    if (c->places->near > 0 || spec->candidates > 0)
        IKT_TRY(ikt_near_centres_create(
            c->ctx, ikt_metric_of(c->data), l->rows, c->kernel->is_u8, count, c->d, spec->seed,
            spec->candidates,
            spec->candidates > 0 &&
                ikt_near_has_means(ikt_bytes_suit(c->kernel->is_u8, c->kernel->is_manhattan, c->d),
                                   c->d),
            &l->near));
    const bool is_placed = is_kept && l->near.count > 0;
    if (is_placed) IKT_TRY(ikt_agree(c->ctx, reorder_rows(l)));
    IKT_ARRAYS(held, c->ctx, "centres");
    l->slab = ikt_claim_kept(&held, bytes, 1);
    int64_t *index = ikt_claim(&held, count, sizeof *index);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t q = 0; q < count; q++)
        index[q] = is_placed ? q : number_of(l, q);
    ikt_centres_place(c->kernel, count, c->d, l->slab, &l->centres);
    ikt_centres_fill(c->kernel, &l->centres, l->rows, index, NULL);
    if (!is_kept) ikt_free(&l->rows);
    return IKT_OK;
}

static ikt_status create_spaces(ikt_row_lists *l) {
    const ikt_coding *c = l->c;
    const ikt_model_spec *spec = &c->model->spec;
    const int64_t d = c->d, list = IKT_SELECT_CAPACITY * l->length;
    const int64_t rows = l->rows_most, tile = ikt_row_lists_tile(c->kernel, d);
    const int64_t all = c->kernel->rows * lanes_of(l->table.count);
    ikt_arrays *held = &l->held;
    l->space = ikt_claim(held, c->threads, sizeof *l->space);
    for (ikt_list_tile *s = l->space; s && s < l->space + c->threads; s++) {
        ikt_row_tile_create(held, c->kernel, d, &s->tile);
        ikt_row_tile_create(held, c->kernel, d, &s->alone);
        s->value = ikt_claim(held, tile * CHUNK, 4);
        s->kept = ikt_claim(held, rows, sizeof *s->kept);
        s->pair = ikt_claim(held, rows * list, sizeof *s->pair);
        s->open = ikt_claim(held, l->table.words, sizeof *s->open);
        s->cell = ikt_claim(held, l->table.parts, sizeof *s->cell);
        s->member = ikt_claim(held, ikt_larger(spec->psi, spec->coarse), sizeof *s->member);
        s->all = ikt_claim(held, all, 4);
        s->longer = ikt_claim(held, list, sizeof *s->longer);
    }
    return held->status;
}

ikt_status ikt_row_lists_create(const ikt_coding *c, int64_t rows, ikt_row_lists *out) {
    const ikt_model *model = c->model;
    *out = (ikt_row_lists){
        .c = c, .isa = ikt_cpu_isa(), .rows_most = rows, .held = ikt_arrays_of(c->ctx, purpose)};
    IKT_TRY(ikt_agree(c->ctx, ikt_centre_table_create(c->ctx, model, 0,
                                                      ikt_model_parts(&model->spec), &out->table)));
    out->length = ikt_list_length(out->table.count, &model->spec);
    IKT_TRY(load_centres(out));
    return ikt_agree(c->ctx, create_spaces(out));
}

void ikt_row_lists_destroy(ikt_row_lists *l) {
    ikt_arrays_free(&l->held);
    ikt_near_centres_destroy(&l->near);
    ikt_free_all(&l->slab, &l->rows);
    ikt_centre_table_destroy(&l->table);
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Offers the centres of vectors first .. end - 1 to the lists of the staged rows. */
static void offer(const ikt_row_lists *l, ikt_list_tile *s, int64_t first, int64_t end) {
    const ikt_codes_kernel *kernel = l->c->kernel;
    const int64_t from = first * IKT_LANES, left = l->table.count - from;
    const int64_t lanes = (end - first) * IKT_LANES, offered = left < lanes ? left : lanes;
    kernel->score(&s->tile, &l->centres, first, end, s->value, CHUNK);
    for (int64_t r = 0; r < s->tile.all.count; r++) {
        const int64_t at = r * CHUNK;
        if (kernel->is_u8)
            ikt_select_ints(&s->kept[r], from, offered, (int32_t *)s->value + at);
        else
            ikt_select_floats(&s->kept[r], -1, from, offered, (float *)s->value + at);
    }
}

void ikt_row_lists_compare_all(const ikt_row_lists *l, ikt_list_tile *s, const void *x,
                               int64_t count) {
    const int64_t vectors = l->centres.vectors;
    s->x = x;
    ikt_row_tile_stage(l->c->kernel, &s->tile, x, count);
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&s->kept[r], l->isa, l->length,
                         s->pair + r * IKT_SELECT_CAPACITY * l->length);
    for (int64_t v = 0, end, chunks = 1; v < vectors; v = end, chunks++) {
        end = v + CHUNK_VECTORS < vectors ? v + CHUNK_VECTORS : vectors;
        offer(l, s, v, end);
        if (l->near.count == 0) /* the chunks are samples of all centres */
            ikt_list_tighten(s->kept, count, l->length, chunks, CHUNK, l->table.count);
    }
    for (int64_t r = 0; r < count; r++)
        ikt_select_end(&s->kept[r]);
}

/* Distances by definition of x to IKT_LANES centres, given where each begins. */
IKT_WIDEST_FUSED
static void define_manhattan(const float *centre, const int64_t *begin, const float *x, int64_t d,
                             float *distance) {
    float sum[IKT_LANES] = {0};
    for (int64_t k = 0; k < d; k++)
        for (int l = 0; l < IKT_LANES; l++)
            sum[l] += fabsf(x[k] - centre[begin[l] + k]);
    memcpy(distance, sum, sizeof sum);
}

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

/* Sorts the list of row r by the distance that defines cells. Returns the pair below which a list
 * among all centres is beyond doubt. */
static ikt_pair sort_list(const ikt_row_lists *l, ikt_list_tile *s, int64_t r) {
    const int64_t d = l->c->d;
    const ikt_pair value = ~(ikt_pair)UINT32_MAX;
    ikt_select *kept = &s->kept[r];
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] = (kept->pair[e] & value) | number_of(l, ikt_pair_number(kept->pair[e]));
    if (ikt_kernel_is_exact(l->c->kernel)) { /* values are in the order of distance */
        ikt_pairs_sort(kept->pair, kept->count);
        return kept->limit < UINT64_MAX ? kept->limit & value : UINT64_MAX;
    }
    for (int64_t e = 0; e < kept->count; e += IKT_LANES) {
        int64_t begin[IKT_LANES];
        float distance[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++) { /* the first fills up */
            const int64_t at = e + i < kept->count ? e + i : e;
            begin[i] = row_of(l, ikt_pair_number(kept->pair[at])) * d;
        }
        define_some(l->rows, begin, ikt_list_row(l, s, r), d, distance);
        for (int64_t i = 0; i < IKT_LANES && e + i < kept->count; i++)
            kept->pair[e + i] = ikt_pair_make(distance[i], ikt_pair_number(kept->pair[e + i]));
    }
    ikt_pairs_sort(kept->pair, kept->count);
    return ikt_list_certain(kept, rounding_of(d), false, s->tile.all.norm[r],
                            l->centres.largest_norm);
}

/* Squared distance, in lanes that are added up in a fixed order. */
IKT_WIDEST_VECTORS
static float lane_distance(const float *c, const float *x, int64_t d) {
    float lane[IKT_LANES] = {0};
    int64_t k = 0;
    for (; k + IKT_LANES <= d; k += IKT_LANES)
        for (int i = 0; i < IKT_LANES; i++)
            lane[i] += (x[k + i] - c[k + i]) * (x[k + i] - c[k + i]);
    for (int i = 0; k + i < d; i++)
        lane[i] += (x[k + i] - c[k + i]) * (x[k + i] - c[k + i]);
    for (int half = IKT_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

/* |c|^2 - 2 x.c of rows of bytes, which stands for their distance, as kernels score. */
IKT_WIDEST_VECTORS
static int32_t score_bytes(const uint8_t *c, const uint8_t *x, int64_t d) {
    int32_t sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += c[k] * (c[k] - 2 * x[k]);
    return sum;
}

/* The distance of row r to the centre of a place, by which near lists are sorted, and its number.
 */
static ikt_pair near_pair(const ikt_row_lists *l, const ikt_list_tile *s, int64_t r,
                          int64_t place) {
    const int64_t d = l->c->d;
    const void *x = ikt_list_row(l, s, r);
    const uint32_t number = l->near.number[place];
    if (!l->c->kernel->is_u8)
        return ikt_pair_make(lane_distance((const float *)l->rows + place * d, x, d), number);
    const int32_t value = score_bytes((const uint8_t *)l->rows + place * d, x, d);
    return (ikt_pair)((uint32_t)value ^ UINT32_C(1) << 31) << 32 | number;
}

void ikt_near_list_sort(const ikt_row_lists *l, ikt_list_tile *s, int64_t r) {
    const ikt_pair value = ~(ikt_pair)UINT32_MAX;
    ikt_select *kept = &s->kept[r];
    for (int64_t e = 0; e < kept->count; e++) {
        const uint32_t place = ikt_pair_number(kept->pair[e]);
        kept->pair[e] = ikt_kernel_is_exact(l->c->kernel)
                            ? (kept->pair[e] & value) | l->near.number[place]
                            : near_pair(l, s, r, place);
    }
    ikt_pairs_sort(kept->pair, kept->count);
}

/* --- cells ------------------------------------------------------------------------------------ */

/* Decides the parts that are open in a row by all centres: along a list of the nearest of them, and
 * what that leaves open by the lowest of the nearest of each part. */
void ikt_row_list_close(const ikt_row_lists *l, ikt_list_tile *s, int64_t r) {
    const ikt_centre_table *table = &l->table;
    const ikt_codes_kernel *kernel = l->c->kernel;
    const int64_t count = table->count, d = l->c->d;
    const void *row = ikt_list_row(l, s, r);
    const float *floats = s->all;
    int32_t *ints = (int32_t *)s->all + lanes_of(count);
    if (kernel->is_u8) {
        ikt_row_tile_stage(kernel, &s->alone, row, 1);
        kernel->score(&s->alone, &l->centres, 0, l->centres.vectors, s->all, lanes_of(count));
        /* the kernel fills up its rows with the same one: the second has space for the numbering */
        for (int64_t q = 0; q < count; q++)
            ints[number_of(l, q)] = ((const int32_t *)s->all)[q];
    }
    for (int64_t q = 0; !kernel->is_u8 && q < count; q += IKT_LANES) {
        int64_t begin[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++)
            begin[i] = row_of(l, (uint32_t)(q + i < count ? q + i : q)) * d;
        if (kernel->is_manhattan)
            define_manhattan(l->rows, begin, row, d, (float *)s->all + q);
        else
            define_some(l->rows, begin, row, d, (float *)s->all + q);
    }
    ikt_select nearest;
    ikt_select_begin(&nearest, l->isa, l->length, s->longer);
    if (kernel->is_u8)
        ikt_select_ints(&nearest, 0, count, ints);
    else
        ikt_select_floats(&nearest, -1, 0, count, floats);
    ikt_select_end(&nearest);
    ikt_pairs_sort(nearest.pair, nearest.count);
    int64_t left =
        ikt_centre_walk(table, nearest.pair, nearest.count, UINT64_MAX, s->open, s->cell);
    for (int64_t p = 0; left > 0 && p < table->parts; p++) {
        if (!ikt_part_is_open(s->open, p)) continue;
        int64_t best = 0, members;
        const int32_t *index = ikt_centre_members(table, p, s->member, &members);
        for (int64_t j = 1; j < members; j++)
            if (kernel->is_u8 ? ints[index[j]] < ints[index[best]]
                              : floats[index[j]] < floats[index[best]])
                best = j;
        s->cell[p] = (uint32_t)best;
        left--;
    }
    s->open_rows++;
}

int64_t ikt_row_list_walk(const ikt_row_lists *l, ikt_list_tile *s, int64_t r, ikt_pair certain) {
    const ikt_select *kept = &s->kept[r];
    ikt_parts_open(&l->table, s->open);
    return ikt_centre_walk(&l->table, kept->pair, kept->count, certain, s->open, s->cell);
}

void ikt_row_list_cells(const ikt_row_lists *l, ikt_list_tile *s, int64_t r) {
    if (ikt_row_list_walk(l, s, r, sort_list(l, s, r)) > 0) ikt_row_list_close(l, s, r);
}

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

bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d) {
    return 2 * centres <= psi * t && centres * d * ikt_held_bytes(is_u8) <= IKT_LISTED_BYTES &&
           (!is_u8 || d <= IKT_U8_COLUMNS);
}

static void code_tile(const ikt_row_lists *l, ikt_list_tile *s, const char *x, int64_t row,
                      int64_t count) {
    const ikt_coding *c = l->c;
    ikt_row_lists_compare_all(l, s, x, count);
    for (int64_t r = 0; r < count; r++) {
        ikt_row_list_cells(l, s, r);
        ikt_coding_write_row(c, row + r, s->cell);
        ikt_coding_write_places(c, l->near.place, row + r, &s->kept[r]);
    }
}

static void code_block(void *self, int64_t row, int64_t count) {
    const ikt_row_lists *l = self;
    const ikt_coding *c = l->c;
    const int64_t step = ikt_coding_tile(c, count, l->rows_most, c->kernel->rows);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += step)
        code_tile(l, &l->space[omp_get_thread_num()],
                  (const char *)c->rows + from * c->d * c->element, row + from,
                  count - from < step ? count - from : step);
}

ikt_status ikt_coding_lists(ikt_coding *c) {
    ikt_row_lists l IKT_AT_END(ikt_row_lists_destroy) = {0};
    int64_t open = 0;
    c->passes = 1;
    IKT_TRY(ikt_row_lists_create(c, ikt_row_lists_tile(c->kernel, c->d), &l));
    if (c->places->near > 0) IKT_TRY(ikt_coding_give_places(c, &l.near));
    IKT_TRY(ikt_coding_pass(c, ikt_model_parts(&c->model->spec), code_block, &l));
    for (int i = 0; i < c->threads; i++)
        open += l.space[i].open_rows;
    ikt_list_report(c->ctx, l.length, l.table.count, open, c->distribution->count);
    return IKT_OK;
}
