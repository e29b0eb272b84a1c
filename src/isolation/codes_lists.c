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
 * than centres.
 * Where the model's spec says so, a row is compared with the centres of near coarse cells only
 * (near_centres.h): the rows of a block are sorted by coarse cell, and a tile holds rows of one.
 * Advantage: a few thousand distances a row however many centres there are. Disadvantage: a nearest
 * centre may be missed, which moves a row to its next-nearest centre in the partitionings that had
 * chosen it; which is measured on a sample of the rows. */
#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "isolation/centre_lists.h"
#include "isolation/centre_table.h"
#include "isolation/coding.h"
#include "isolation/near_centres.h"
#include "metric/metric.h"

enum {
    TILE_ROWS = 96,     /* a multiple of every kernel's rows */
    CHUNK_VECTORS = 64, /* of centres: the values of a tile stay in the second-level cache */
    CHUNK = CHUNK_VECTORS * IKT_LANES,
    LINKS = 16,      /* of a centre to those nearest to it, */
    BACK_LINKS = 16, /* and to those that it is one of the nearest of, at most */
    FOLLOWED = 16,   /* centres of a list whose links are followed */
    LINK_ROUNDS = 2,
    CHECKED = 1000 /* rows whose exact cells are found beside approximate ones */
};

static const int64_t packed_most = INT64_C(1) << 30;
static const char purpose[] = "lists";

/* What one thread works with. */
typedef struct {
    ikt_row_tile tile, rest; /* rows; those of them that a list leaves open */
    char *x;                 /* [rows of a tile * d] the rows side by side */
    float *scratch;          /* [d] */
    uint32_t *stamp, now;    /* near: [vectors] the tile that a vector was last scored for */
    uint32_t *seen, row;     /* near: [centres] the row that a place was last looked at for */
    uint32_t *cell;          /* [parts] of a row */
    uint64_t *open;          /* [words of the table] parts without a cell */
    int32_t *member;         /* [the most centres of a part] */
    void *value;             /* [rows of a tile * CHUNK] values of a chunk of centres */
    void *all;               /* [rows of the kernel * centres] values of all centres */
    ikt_select *kept;        /* [rows of a tile] */
    ikt_pair *pair;          /* [rows of a tile * IKT_SELECT_CAPACITY * length] */
    ikt_pair *exact;   /* [IKT_SELECT_CAPACITY * length] the list of a row among all centres */
    int64_t open_rows; /* rows whose list was too short, so far */
} workspace;

typedef struct {
    ikt_coding *c;
    ikt_isa isa;
    ikt_centre_table table;
    ikt_centres centres; /* all distinct ones, packed in the order of computing */
    void *slab;          /* their memory */
    void *rows;          /* [table.count * d] the same as rows: by place where centres have places,
                            otherwise by number; NULL where bytes are not searched for near ones */
    int64_t length;      /* of a list */
    int64_t tile;        /* rows, at most */
    ikt_near_centres near; /* centres stand in this order; empty: in that of ikt_centre_number */
    uint32_t *link;        /* near: [table.count * (LINKS + BACK_LINKS)] by place: places of the
                              centres nearest to each, and of those that it is one of the nearest
                              of; UINT32_MAX where there are no more */
    uint32_t *cell;        /* [block] near: coarse cell of each row of the block */
    int64_t *next;         /* [cells + 1] near: where the next row of each cell belongs */
    uint32_t *order;       /* [block] rows of the block, tile after tile */
    int64_t *tile_first;   /* [block + 1] where tiles begin in this order */
    workspace *space;      /* [threads] */
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

/* The number by row of the centre that is computed with as number q. */
static uint32_t number_of(const lists *l, int64_t q) {
    return l->near.count > 0 ? l->near.number[q] : ikt_centre_number(&l->table, q);
}

/* Offers the values of the centres of vectors first .. end - 1 to the lists of the staged rows. */
static void offer(const lists *l, workspace *s, int64_t count, int64_t first, int64_t end) {
    const ikt_codes_kernel *kernel = l->c->kernel;
    for (int64_t vector = first; vector < end; vector += CHUNK_VECTORS) {
        const int64_t last = vector + CHUNK_VECTORS < end ? vector + CHUNK_VECTORS : end;
        const int64_t from = vector * IKT_LANES, left = l->table.count - from;
        const int64_t lanes = (last - vector) * IKT_LANES, offered = left < lanes ? left : lanes;
        kernel->score(&s->tile, &l->centres, vector, last, s->value, CHUNK);
        for (int64_t r = 0; r < count; r++) {
            if (kernel->is_u8)
                ikt_select_ints(&s->kept[r], from, offered, (int32_t *)s->value + r * CHUNK);
            else
                ikt_select_floats(&s->kept[r], -1, from, offered, (float *)s->value + r * CHUNK);
        }
    }
}

/* The vectors that hold the centres near to a coarse cell, each once, nearest cell first. */
static void offer_near(const lists *l, workspace *s, int64_t count, int64_t cell) {
    const ikt_near_centres *near = &l->near;
    const uint32_t *probe = near->probe + cell * near->probes;
    int64_t left = near->candidates;
    s->now++;
    for (int64_t e = 0; e < near->probes && probe[e] != UINT32_MAX; e++) {
        const int64_t begin = near->first[probe[e]], size = near->first[probe[e] + 1] - begin;
        const int64_t taken = size < left ? size : left;
        const int64_t end = ikt_divide_up(begin + taken, IKT_LANES);
        left -= taken;
        for (int64_t v = begin / IKT_LANES, to; v < end; v = to) {
            for (to = v; to < end && s->stamp[to] != s->now; to++)
                s->stamp[to] = s->now;
            if (to > v) offer(l, s, count, v, to);
            while (to < end && s->stamp[to] == s->now)
                to++;
        }
    }
}

/* About the `length` least values of every row of a tile.
 *   cell   near: the coarse cell of the rows */
static void keep_nearest(const lists *l, workspace *s, int64_t count, int64_t cell) {
    const int64_t vectors = l->centres.vectors;
    ikt_row_tile_stage(l->c->kernel, &s->tile, s->x, count);
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&s->kept[r], l->isa, l->length,
                         s->pair + r * IKT_SELECT_CAPACITY * l->length);
    if (l->near.probes > 0)
        offer_near(l, s, count, cell);
    else
        for (int64_t v = 0, end; v < vectors; v = end) {
            end = v + CHUNK_VECTORS < vectors ? v + CHUNK_VECTORS : vectors;
            offer(l, s, count, v, end);
            if (l->near.count == 0) /* the chunks are samples of all centres */
                ikt_list_tighten(s->kept, count, l->length, v / CHUNK_VECTORS + 1, CHUNK,
                                 l->table.count);
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

/* The place of a centre among l->rows. */
static int64_t row_of(const lists *l, uint32_t number) {
    return l->near.count > 0 ? l->near.place[number] : number;
}

/* Sorts a row's list by the distance that defines cells, with the numbers of centres; returns the
 * pair below which pairs are beyond doubt.
 *   x   the row, float32; NULL: uint8, whose values are exact and so in the order of distance */
static ikt_pair order_list(const lists *l, const workspace *s, const float *x, int64_t row) {
    const int64_t d = l->c->d;
    const ikt_pair value = ~(ikt_pair)UINT32_MAX;
    ikt_select *kept = &s->kept[row];
    for (int64_t e = 0; e < kept->count; e++)
        kept->pair[e] = (kept->pair[e] & value) | number_of(l, ikt_pair_number(kept->pair[e]));
    for (int64_t e = 0; x && e < kept->count; e += IKT_LANES) {
        int64_t begin[IKT_LANES];
        float distance[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++) /* the first fills up */
            begin[i] = row_of(l, ikt_pair_number(kept->pair[e + i < kept->count ? e + i : e])) * d;
        define_some(l->rows, begin, x, d, distance);
        for (int64_t i = 0; i < IKT_LANES && e + i < kept->count; i++)
            kept->pair[e + i] = ikt_pair_make(distance[i], ikt_pair_number(kept->pair[e + i]));
    }
    ikt_pairs_sort(kept->pair, kept->count);
    if (l->near.probes > 0) return UINT64_MAX; /* what is missing is measured */
    if (!x) return kept->limit < UINT64_MAX ? kept->limit & value : UINT64_MAX;
    return ikt_list_certain(kept, rounding_of(d), s->tile.all.norm[row], l->centres.largest_norm);
}

/* The value of two rows of bytes that stands for their distance: |c|^2 - 2 x.c, as kernels score.
 */
IKT_WIDEST_VECTORS
static int32_t score_bytes(const uint8_t *c, const uint8_t *x, int64_t d) {
    int32_t sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += c[k] * (c[k] - 2 * x[k]);
    return sum;
}

/* The squared distance of two rows to about six digits, in an order of its own. */
IKT_WIDEST_FUSED
static float rough_distance(const float *restrict c, const float *restrict x, int64_t d) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < d; k++)
        sum += (x[k] - c[k]) * (x[k] - c[k]);
    return sum;
}

/* Whether the centre at a place may be nearer than the last of a full list; a centre that is told
 * to be cannot depend on the instruction set, since its distance decides in the end. */
static bool may_be_nearer(const lists *l, const ikt_select *kept, const void *x, uint32_t place) {
    const int64_t d = l->c->d;
    if (kept->count < kept->k || l->c->kernel->is_u8) return true;
    const float limit = ikt_pair_value(kept->pair[kept->k - 1]);
    return !(rough_distance((const float *)l->rows + place * d, x, d) > limit * 1.001f);
}

/* Adds some centres, given by their places, to the list of a row. */
static void add_places(const lists *l, ikt_select *kept, const void *x, const uint32_t *place,
                       int64_t count) {
    const int64_t d = l->c->d;
    const uint32_t *number = l->near.number;
    if (l->c->kernel->is_u8) {
        for (int64_t e = 0; e < count; e++) {
            const int32_t value = score_bytes((const uint8_t *)l->rows + place[e] * d, x, d);
            const ikt_pair key = (uint32_t)value ^ UINT32_C(1) << 31;
            kept->pair[kept->count++] = key << 32 | number[place[e]];
        }
        return;
    }
    for (int64_t e = 0; e < count; e += IKT_LANES) {
        int64_t begin[IKT_LANES];
        float distance[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++) /* the first fills up */
            begin[i] = place[e + i < count ? e + i : e] * d;
        define_some(l->rows, begin, x, d, distance);
        for (int64_t i = 0; i < IKT_LANES && e + i < count; i++)
            kept->pair[kept->count++] = ikt_pair_make(distance[i], number[place[e + i]]);
    }
}

/* Adds the centres that are linked to the first of a row's list, which is sorted before and
 * afterwards: near centres of cells that were not looked at are among them. */
static void follow_links(const lists *l, workspace *s, ikt_select *kept, const void *x) {
    const int64_t capacity = IKT_SELECT_CAPACITY * kept->k;
    const int64_t followed = kept->count < FOLLOWED ? kept->count : FOLLOWED;
    uint32_t found[FOLLOWED * (LINKS + BACK_LINKS)];
    int64_t count = 0;
    s->row++;
    for (int64_t e = 0; e < kept->count; e++)
        s->seen[l->near.place[ikt_pair_number(kept->pair[e])]] = s->row;
    for (int64_t e = 0; e < followed; e++) {
        const uint32_t *link =
            l->link + (int64_t)l->near.place[ikt_pair_number(kept->pair[e])] * (LINKS + BACK_LINKS);
        for (int64_t g = 0; g < LINKS + BACK_LINKS; g++) {
            if (link[g] == UINT32_MAX || s->seen[link[g]] == s->row) continue;
            if (kept->count + count >= capacity) break;
            s->seen[link[g]] = s->row;
            if (may_be_nearer(l, kept, x, link[g])) found[count++] = link[g];
        }
    }
    add_places(l, kept, x, found, count);
    ikt_select_tighten(kept, kept->k);
    ikt_pairs_sort(kept->pair, kept->count);
}

/* Decides the parts that are open in one row, by the values of all centres: the lowest of the
 * nearest. */
static void close_row(const lists *l, workspace *s, const void *row) {
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
            ints[number_of(l, q)] = ((const int32_t *)s->all)[q];
    }
    for (int64_t q = 0; !kernel->is_u8 && q < count; q += IKT_LANES) {
        int64_t begin[IKT_LANES];
        for (int64_t i = 0; i < IKT_LANES; i++)
            begin[i] = row_of(l, (uint32_t)(q + i < count ? q + i : q)) * d;
        define_some(l->rows, begin, row, d, (float *)s->all + q);
    }
    /* The list of the nearest of all first: it leaves little open. */
    ikt_select nearest;
    ikt_select_begin(&nearest, l->isa, l->length, s->exact);
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
    }
    s->open_rows++;
}

/* --- the pass --------------------------------------------------------------------------------- */

/* Cuts the rows of the block into tiles, which are runs of l->order; returns how many. Near: tiles
 * of rows of one coarse cell. */
static int64_t cut_into_tiles(lists *l, int64_t count) {
    const ikt_coding *c = l->c;
    int64_t tiles = 0;
    if (l->near.probes == 0) {
        const int64_t step = ikt_coding_tile(c, count, l->tile, c->kernel->rows);
        for (int64_t i = 0; i < count; i++)
            l->order[i] = (uint32_t)i;
        for (int64_t from = 0; from < count; from += step)
            l->tile_first[tiles++] = from;
        l->tile_first[tiles] = count;
        return tiles;
    }
#pragma omp parallel for schedule(dynamic, 256) num_threads(c->threads)
    for (int64_t i = 0; i < count; i++)
        l->cell[i] = (uint32_t)ikt_near_centres_cell(
            &l->near, (const char *)c->rows + i * c->d * c->element, c->kernel->is_u8,
            l->space[omp_get_thread_num()].scratch);
    memset(l->next, 0, (size_t)(l->near.cells + 1) * sizeof *l->next);
    for (int64_t i = 0; i < count; i++)
        l->next[l->cell[i] + 1]++;
    for (int64_t cell = 0; cell < l->near.cells; cell++) {
        for (int64_t from = 0; from < l->next[cell + 1]; from += l->tile)
            l->tile_first[tiles++] = l->next[cell] + from;
        l->next[cell + 1] += l->next[cell];
    }
    l->tile_first[tiles] = count;
    for (int64_t i = 0; i < count; i++)
        l->order[l->next[l->cell[i]]++] = (uint32_t)i;
    return tiles;
}

/* Writes where a row lies: the places of the first centres of its list. */
static void write_places(const lists *l, const ikt_select *kept, int64_t row) {
    ikt_code_places *places = l->c->places;
    uint32_t *list = places->list + row * places->near;
    for (int64_t e = 0; e < places->near; e++)
        list[e] = e < kept->count ? l->near.place[ikt_pair_number(kept->pair[e])] : UINT32_MAX;
}

static void code_tile(const lists *l, workspace *s, int64_t first, int64_t count, int64_t row) {
    const ikt_coding *c = l->c;
    const int64_t bytes = c->d * c->element;
    const uint32_t *order = l->order + first;
    for (int64_t r = 0; r < count; r++)
        memcpy(s->x + r * bytes, (const char *)c->rows + order[r] * bytes, (size_t)bytes);
    keep_nearest(l, s, count, l->near.probes > 0 ? l->cell[order[0]] : 0);
    for (int64_t r = 0; r < count; r++) {
        const void *at = s->x + r * bytes;
        ikt_select *kept = &s->kept[r];
        const ikt_pair certain = order_list(l, s, c->kernel->is_u8 ? NULL : at, r);
        if (l->near.probes > 0) follow_links(l, s, kept, at);
        ikt_parts_open(&l->table, s->open);
        if (ikt_centre_walk(&l->table, kept->pair, kept->count, certain, s->open, s->cell) > 0)
            close_row(l, s, at);
        ikt_coding_write_row(c, row + order[r], s->cell);
        if (c->places->near > 0) write_places(l, kept, row + order[r]);
    }
}

static void code_block(void *self, int64_t row, int64_t count) {
    lists *l = self;
    const int64_t tiles = cut_into_tiles(l, count), *first = l->tile_first;
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->c->threads)
    for (int64_t t = 0; t < tiles; t++)
        code_tile(l, &l->space[omp_get_thread_num()], first[t], first[t + 1] - first[t], row);
}

/* COLLECTIVE. Brings the rows of centres into the order of their places.
 *   number   [table.count] of the centre at each place */
static ikt_status reorder_rows(lists *l, const int64_t *number) {
    const int64_t bytes = l->c->d * l->c->element, count = l->table.count;
    char *ordered = NULL;
    IKT_TRY(ikt_agree(l->c->ctx, ikt_alloc(l->c->ctx, &ordered, count, (size_t)bytes, "centres")));
    for (int64_t q = 0; q < count; q++)
        memcpy(ordered + q * bytes, (const char *)l->rows + number[q] * bytes, (size_t)bytes);
    ikt_free(&l->rows);
    l->rows = ordered;
    return IKT_OK;
}

/* The links of the places first .. first + count - 1 of one coarse cell. */
static void link_tile(const lists *l, workspace *s, int64_t cell, int64_t first, int64_t count,
                      bool is_linked, uint32_t *link) {
    const int64_t bytes = l->c->d * l->c->element;
    memcpy(s->x, (const char *)l->rows + first * bytes, (size_t)(count * bytes));
    keep_nearest(l, s, count, cell);
    for (int64_t r = 0; r < count; r++) {
        const char *x = s->x + r * bytes;
        ikt_select *kept = &s->kept[r];
        int64_t found = 0;
        order_list(l, s, l->c->kernel->is_u8 ? NULL : (const float *)(const void *)x, r);
        if (is_linked) follow_links(l, s, kept, x);
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
static void join_links(const lists *l, const uint32_t *found, uint8_t *back) {
    const int64_t count = l->table.count, width = LINKS + BACK_LINKS;
    memset(back, 0, (size_t)count);
#pragma omp parallel for num_threads(l->c->threads)
    for (int64_t at = 0; at < count; at++)
        for (int64_t g = 0; g < width; g++)
            l->link[at * width + g] = g < LINKS ? found[at * LINKS + g] : UINT32_MAX;
    for (int64_t g = 0; g < LINKS; g++)
        for (int64_t at = 0; at < count; at++) {
            const uint32_t to = found[at * LINKS + g];
            if (to == UINT32_MAX || back[to] == BACK_LINKS) continue;
            l->link[to * width + LINKS + back[to]++] = (uint32_t)at;
        }
}

/* COLLECTIVE. Links each centre to the centres nearest to it: by the near cells, then by those
 * links as well. Each rank makes those of its share of the coarse cells. */
static ikt_status link_centres(lists *l) {
    ikt_context *ctx = l->c->ctx;
    const ikt_near_centres *near = &l->near;
    const int size = ikt_size(ctx);
    const ikt_rows share = ikt_rows_make(near->cells, size, ikt_rank(ctx));
    const int64_t from = near->first[share.first],
                  own = near->first[share.first + share.count] - from;
    uint32_t *link = NULL, *found = NULL;
    uint8_t *back = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &link, own * LINKS, sizeof *link, "centres");
    if (st == IKT_OK) st = ikt_alloc(ctx, &found, near->count * LINKS, sizeof *link, "centres");
    if (st == IKT_OK) st = ikt_alloc(ctx, &back, near->count, sizeof *back, "centres");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &l->link, near->count * (LINKS + BACK_LINKS), sizeof *link, "centres");
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, size, sizeof *counts, "centres");
    st = ikt_agree(ctx, st);
    for (int r = 0; st == IKT_OK && r < size; r++)
        counts[r] =
            near->first[ikt_rows_first(&share, r + 1)] - near->first[ikt_rows_first(&share, r)];
    for (int round = 0; st == IKT_OK && round < LINK_ROUNDS; round++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->c->threads)
        for (int64_t cell = share.first; cell < share.first + share.count; cell++)
            for (int64_t at = near->first[cell]; at < near->first[cell + 1]; at += l->tile) {
                const int64_t left = near->first[cell + 1] - at;
                link_tile(l, &l->space[omp_get_thread_num()], cell, at,
                          left < l->tile ? left : l->tile, round > 0, link + (at - from) * LINKS);
            }
        ikt_allgather(ctx, link, own, LINKS * sizeof *link, found, counts);
        join_links(l, found, back);
    }
    ikt_free(&found);
    ikt_free(&back);
    ikt_free(&link);
    ikt_free(&counts);
    return st;
}

/* COLLECTIVE. Fetches the distinct centres, brings them into the order of coarse cells where that
 * is wanted, and packs them. */
static ikt_status load_centres(lists *l) {
    ikt_coding *c = l->c;
    const ikt_model_spec *spec = &c->model->spec;
    const int64_t count = l->table.count, bytes = ikt_centres_bytes(c->kernel, count, c->d);
    int64_t *index = NULL;
    void *x = NULL;
    ikt_status st = ikt_alloc(c->ctx, &x, count * c->d, (size_t)c->element, "centres");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &l->slab, bytes, 1, "centres");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &index, count, sizeof *index, "centres");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(ikt_dataset_model(c->data), l->table.row, count, x);
    if (st == IKT_OK && (c->places->near > 0 || spec->candidates > 0))
        st = ikt_near_centres_create(c->ctx, ikt_metric_of(c->data), x, c->kernel->is_u8, count,
                                     c->d, spec->seed, spec->candidates, &l->near);
    if (st == IKT_OK) {
        for (int64_t q = 0; q < count; q++)
            index[q] = number_of(l, q);
        ikt_centres_place(c->kernel, count, c->d, l->slab, &l->centres);
        ikt_centres_fill(c->kernel, &l->centres, x, index);
        if (!c->kernel->is_u8 || l->near.probes > 0) { /* they are needed once more, as they are */
            l->rows = x;
            x = NULL;
        }
        if (l->near.count > 0 && l->rows) st = reorder_rows(l, index);
    }
    ikt_free(&index);
    ikt_free(&x);
    return st;
}

static ikt_status create_spaces(lists *l) {
    const ikt_coding *c = l->c;
    ikt_context *ctx = c->ctx;
    const ikt_codes_kernel *kernel = c->kernel;
    const int64_t d = c->d, rows = l->tile, pairs = rows * IKT_SELECT_CAPACITY * l->length;
    const int64_t all = kernel->rows * lanes_of(l->table.count);
    const int64_t most = larger(c->model->spec.psi, c->model->spec.coarse);
    const int64_t near_rows = l->near.probes > 0 ? c->block : 0;
    const int64_t vectors = l->near.probes > 0 ? l->centres.vectors : 0;
    const int64_t seen = l->near.probes > 0 ? l->table.count : 0;
    IKT_TRY(ikt_alloc(ctx, &l->cell, near_rows, sizeof *l->cell, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->next, l->near.cells + 1, sizeof *l->next, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->order, c->block, sizeof *l->order, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->tile_first, c->block + 1, sizeof *l->tile_first, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->space, c->threads, sizeof *l->space, purpose));
    for (workspace *s = l->space; s < l->space + c->threads; s++) {
        IKT_TRY(ikt_row_tile_create(ctx, kernel, d, &s->tile));
        IKT_TRY(ikt_row_tile_create(ctx, kernel, d, &s->rest));
        IKT_TRY(ikt_alloc(ctx, &s->x, rows * d, (size_t)c->element, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->scratch, d, sizeof *s->scratch, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->stamp, vectors, sizeof *s->stamp, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->seen, seen, sizeof *s->seen, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->cell, l->table.parts, sizeof *s->cell, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->open, l->table.words, sizeof *s->open, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->member, most, sizeof *s->member, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->value, rows * CHUNK, 4, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->all, all, 4, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->kept, rows, sizeof *s->kept, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->pair, pairs, sizeof *s->pair, purpose));
        IKT_TRY(
            ikt_alloc(ctx, &s->exact, IKT_SELECT_CAPACITY * l->length, sizeof *s->exact, purpose));
    }
    return IKT_OK;
}

/* COLLECTIVE. Compares the codes of a sample of rows with the exact ones. The same rows whatever
 * the ranks, each on the rank that owns it. */
static ikt_status check_codes(const lists *l) {
    const ikt_coding *c = l->c;
    const ikt_rows *rows = c->distribution;
    const int64_t bytes = c->d * c->element, t = c->codes->t;
    int64_t row[CHECKED], differing = 0;
    char *x = NULL;
    for (int64_t s = 0; s < CHECKED; s++)
        row[s] = ikt_rng_below(c->model->spec.seed, IKT_RNG_SAMPLE, s, 1, rows->n);
    const int64_t count = ikt_sort_distinct_i64(row, CHECKED);
    IKT_TRY(ikt_agree(c->ctx, ikt_alloc(c->ctx, &x, count * bytes, 1, purpose)));
    ikt_status st = ikt_dataset_gather(c->data, row, count, x);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) reduction(+ : differing)
        for (int64_t s = 0; s < count; s++) {
            workspace *w = &l->space[omp_get_thread_num()];
            const int64_t own = row[s] - rows->first;
            if (own < 0 || own >= rows->count) continue;
            ikt_parts_open(&l->table, w->open);
            close_row(l, w, x + s * bytes);
            for (int64_t p = 0; p < t; p++)
                differing += ikt_code_entry(c->codes, own, p) != w->cell[p];
        }
        c->codes->checked = count;
        c->codes->differing =
            (double)ikt_sum_one(c->ctx, differing) / (double)(count * (t > 0 ? t : 1));
    }
    ikt_free(&x);
    if (st == IKT_OK)
        ikt_log_numbers(c->ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_REAL("differing", c->codes->differing),
                                           IKT_LOG_INT("sample", count),
                                           {0}},
                        "codes: %.2f %% of the cells differ from the exact ones (%lld rows)",
                        100 * c->codes->differing, (long long)count);
    return st;
}

/* What the coarse cells are, for who orders rows by places. */
static ikt_status hand_over_places(lists *l) {
    ikt_code_places *places = l->c->places;
    const ikt_near_centres *near = &l->near;
    const int64_t count = near->cells + 1;
    places->centres = near->count;
    places->cells = near->cells;
    IKT_TRY(ikt_agree(l->c->ctx,
                      ikt_alloc(l->c->ctx, &places->first, count, sizeof *places->first, "cells")));
    memcpy(places->first, near->first, (size_t)count * sizeof *places->first);
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
    if (st == IKT_OK && c->places->near > 0) st = hand_over_places(&l);
    if (st == IKT_OK) st = ikt_agree(c->ctx, create_spaces(&l));
    if (st == IKT_OK && l.near.probes > 0) st = link_centres(&l);
    if (st == IKT_OK) st = ikt_coding_pass(c, model->t + 1, code_block, &l);
    for (int i = 0; l.space && i < c->threads; i++)
        open += l.space[i].open_rows;
    if (st == IKT_OK)
        ikt_list_report(c->ctx, l.length, l.table.count, open, c->distribution->count);
    if (st == IKT_OK && l.near.probes > 0) st = check_codes(&l);
    for (int i = 0; l.space && i < c->threads; i++) {
        workspace *s = &l.space[i];
        ikt_row_tile_destroy(&s->tile);
        ikt_row_tile_destroy(&s->rest);
        ikt_free(&s->x);
        ikt_free(&s->scratch);
        ikt_free(&s->stamp);
        ikt_free(&s->seen);
        ikt_free(&s->cell);
        ikt_free(&s->open);
        ikt_free(&s->member);
        ikt_free(&s->value);
        ikt_free(&s->all);
        ikt_free(&s->kept);
        ikt_free(&s->pair);
        ikt_free(&s->exact);
    }
    ikt_free(&l.link);
    ikt_near_centres_destroy(&l.near);
    ikt_free(&l.cell);
    ikt_free(&l.next);
    ikt_free(&l.order);
    ikt_free(&l.tile_first);
    ikt_free(&l.space);
    ikt_free(&l.slab);
    ikt_free(&l.rows);
    ikt_centre_table_destroy(&l.table);
    return st;
}
