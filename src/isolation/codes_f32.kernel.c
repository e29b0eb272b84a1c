/* Nearest centre of many rows of float32. See codes_kernel.h, codes_block.h.
 *
 * Method: s_j = |c_j|^2/2 - x.c_j by one multiply-add a coordinate, register-blocked, best
 * and second best of every lane kept; a row whose nearest centre is beyond rounding
 * (kernel_f32_bound.h) is done. The others are decided by the definition D_j: among the few vectors
 * of centres that can still hold the nearest, or, where a lane holds two of them, among all.
 * Advantage: half the arithmetic of D and the same answer to the bit. Disadvantage: where clusters
 * are far smaller than their distance from the origin, most rows are in doubt and the first pass is
 * wasted; so when that happens the next few partitionings go straight to the definition, as do rows
 * of few dimensions, where keeping the second best costs more than it saves.
 *
 * Manhattan distances. Method: the definition itself, by sums of absolute differences.
 * Disadvantage: three instructions a coordinate in place of one, as no form of it is a sum of
 * products. */
#include <float.h>

#include "isolation/codes_block.h"
#include "isolation/kernel_f32_bound.h"

enum {
    DIRECT_DIMENSIONS = 6, /* up to here the definition alone is faster */
    DIRECT_SPELL = 7,      /* partitionings to skip the first pass for, after it was wasted */
    FEW = 4 /* vectors that can hold the nearest and are worth looking at one by one */
};

typedef floats sums[BLOCK_ROWS][BLOCK_VECTORS];

/* sum[r][v] += (x_r - c_v)^2, += |x_r - c_v| or -= x_r c_v over `depth` dimensions, in order. */
LANES_INLINE void add_dimensions(sums sum, const float *x, const float *c, int64_t vector_stride,
                                 int64_t depth, const int vectors, const form of) {
    for (int64_t k = 0; k < depth; k++, x += BLOCK_ROWS, c += LANES) {
        floats centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = floats_load(c + v * vector_stride);
        EACH_ROW(r) {
            floats row = floats_set(x[r]);
            for (int v = 0; v < vectors; v++) {
                if (of == SQUARES) {
                    floats gap = floats_sub(row, centre[v]);
                    sum[r][v] = floats_fused(gap, gap, sum[r][v]);
                } else if (of == GAPS) {
                    sum[r][v] = floats_add_gap(row, centre[v], sum[r][v]);
                } else {
                    sum[r][v] = floats_minus_product(row, centre[v], sum[r][v]);
                }
            }
        }
    }
}

LANES_INLINE float *f32_seen_of(const ikt_row_block *block, int64_t row) {
    return (float *)block->seen + row * F32_SEEN;
}

LANES_INLINE int32_t *vectors_of(float *seen) {
    return (int32_t *)(void *)(seen + VECTOR);
}

/* Shows the finished values of one row to its lanes. */
LANES_INLINE void f32_track(float *seen, const floats *value, int32_t first_vector,
                            const int vectors, const bool direct) {
    floats best = floats_load(seen + BEST), second = floats_load(seen + SECOND);
    ints number = ints_load(vectors_of(seen));
    for (int v = 0; v < vectors; v++) {
        if (!direct) second = floats_min(second, floats_max(best, value[v]));
        number = floats_select_less(value[v], best, ints_set(first_vector + v), number);
        best = floats_min(value[v], best);
    }
    floats_store(seen + BEST, best);
    ints_store(vectors_of(seen), number);
    if (!direct) floats_store(seen + SECOND, second);
}

/* `vectors` vectors of centres and one block of dimensions, for all groups of rows. */
typedef struct {
    const float *c;     /* first word of the first vector in this block */
    int64_t stride;     /* words from vector to vector */
    int64_t depth;      /* dimensions of this block */
    bool first, last;   /* of the blocks */
    const float *start; /* [vectors][16] */
    int32_t number;     /* number of the first vector */
    float *out;         /* where values go instead of to the lanes, or NULL; see `score` */
    int64_t out_stride; /* from row to row */
} panel;

/* Shows finished values to the lanes, or writes them out. */
LANES_INLINE void finish(const panel *at, int64_t row, float *seen, const floats *value,
                         const int vectors, const bool direct) {
    if (!at->out) {
        f32_track(seen, value, at->number, vectors, direct);
        return;
    }
    for (int v = 0; v < vectors; v++)
        floats_store(at->out + row * at->out_stride + v * LANES, value[v]);
}

/* The definition adds in order, so each block goes on from the sums of the one before. */
LANES_INLINE void multiply_direct(const panel *at, int64_t row, const float *x, float *partial,
                                  float *seen, const int vectors, const form of) {
    const float *from = at->first ? at->start : partial;
    const int64_t row_stride = at->first ? 0 : vectors * LANES;
    sums sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = floats_load(from + r * row_stride + v * LANES);
    add_dimensions(sum, x, at->c, at->stride, at->depth, vectors, of);
    if (at->last) {
        EACH_ROW(r) finish(at, row + r, seen + r * F32_SEEN, sum[r], vectors, true);
        return;
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        floats_store(partial + (r * vectors + v) * LANES, sum[r][v]);
}

/* The first pass keeps its rounding small by starting each block of dimensions from zero and adding
 * up the blocks; a single block starts from `start`, and its sums never leave the registers. */
LANES_INLINE void multiply_first_pass(const panel *at, int64_t row, const float *x, float *partial,
                                      float *seen, const int vectors) {
    static const float zero[BLOCK_VECTORS * LANES];
    const bool single = at->first && at->last;
    const float *from = single ? at->start : zero;
    sums sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = floats_load(from + v * LANES);
    add_dimensions(sum, x, at->c, at->stride, at->depth, vectors, PRODUCTS);
    if (single) {
        EACH_ROW(r) finish(at, row + r, seen + r * F32_SEEN, sum[r], vectors, false);
        return;
    }
    EACH_ROW(r) {
        float *to = partial + r * vectors * LANES;
        for (int v = 0; v < vectors; v++) {
            floats before = floats_load((at->first ? at->start : to) + v * LANES);
            sum[r][v] = floats_add(before, sum[r][v]);
            if (!at->last) floats_store(to + v * LANES, sum[r][v]);
        }
        if (at->last) finish(at, row + r, seen + r * F32_SEEN, sum[r], vectors, false);
    }
}

/* All rows against `vectors` vectors of centres. */
LANES_INLINE void f32_multiply_panel(const ikt_row_block *block, const ikt_centres *centres,
                                     int64_t number, const int vectors, const form of, float *out,
                                     int64_t out_stride) {
    const int64_t words = centres->words, most = depth_of(words), stride = words * LANES;
    const float *start = of == PRODUCTS ? (const float *)centres->start : centres->bias;
    for (int64_t from = 0; from < words; from += most) {
        const int64_t depth = words - from < most ? words - from : most;
        const panel at = {
            .c = (const float *)centres->word + number * stride + from * LANES,
            .stride = stride,
            .depth = depth,
            .first = from == 0,
            .last = from + depth == words,
            .start = start + number * LANES,
            .number = (int32_t)number,
            .out = out,
            .out_stride = out_stride,
        };
        const float *x = (const float *)block->word + from * BLOCK_ROWS;
        float *partial = block->partial, *seen = f32_seen_of(block, 0);
        for (int64_t group = 0; group < block->groups; group++) {
            if (of != PRODUCTS)
                multiply_direct(&at, group * BLOCK_ROWS, x, partial, seen, vectors, of);
            else
                multiply_first_pass(&at, group * BLOCK_ROWS, x, partial, seen, vectors);
            x += words * BLOCK_ROWS;
            partial += BLOCK_ROWS * vectors * LANES;
            seen += BLOCK_ROWS * F32_SEEN;
        }
    }
}

MULTIPLY_RANGE(f32_multiply_range, f32_multiply_panel, float)
SCORE(f32_score, f32_multiply_range, PRODUCTS)
SCORE(f32_l1_score, f32_multiply_range, GAPS)

/* Shows all centres to the lanes of all rows, which have seen nothing before. */
static void compare(const ikt_row_block *block, const ikt_centres *centres, form of) {
    for (int64_t row = 0; row < block->groups * BLOCK_ROWS; row++) {
        float *seen = f32_seen_of(block, row);
        floats_store(seen + BEST, floats_set(INFINITY));
        floats_store(seen + SECOND, floats_set(INFINITY));
        ints_store(vectors_of(seen), ints_set(0));
    }
    if (of == SQUARES)
        f32_multiply_range(block, centres, 0, centres->vectors, SQUARES, NULL, 0);
    else if (of == GAPS)
        f32_multiply_range(block, centres, 0, centres->vectors, GAPS, NULL, 0);
    else
        f32_multiply_range(block, centres, 0, centres->vectors, PRODUCTS, NULL, 0);
}

LANES_INLINE int64_t f32_nearest_of_row(float *seen, float *value) {
    floats best = floats_load(seen + BEST);
    *value = floats_least(best);
    return lowest_centre(floats_at_most(best, *value), vectors_of(seen));
}

/* The definition for one row and FEW vectors of centres. */
static int64_t nearest_of_few(const float *x, const ikt_centres *centres, const int32_t *number) {
    const float *c[FEW];
    floats sum[FEW];
    for (int v = 0; v < FEW; v++) {
        c[v] = (const float *)centres->word + (int64_t)number[v] * centres->words * LANES;
        sum[v] = floats_load(centres->bias + (int64_t)number[v] * LANES);
    }
    for (int64_t k = 0; k < centres->words; k++) {
        floats row = floats_set(x[k * BLOCK_ROWS]);
        for (int v = 0; v < FEW; v++) {
            floats gap = floats_sub(row, floats_load(c[v] + k * LANES));
            sum[v] = floats_fused(gap, gap, sum[v]);
        }
    }
    floats all = floats_min(floats_min(sum[0], sum[1]), floats_min(sum[2], sum[3]));
    float least = floats_least(all);
    int64_t lowest = INT64_MAX;
    for (int v = 0; v < FEW; v++) {
        uint32_t mask = floats_at_most(sum[v], least);
        int64_t centre = (int64_t)number[v] * LANES + (mask ? __builtin_ctz(mask) : 0);
        if (mask && centre < lowest) lowest = centre;
    }
    return lowest;
}

/* The cell of one row after the first pass, or -1 when all centres must be looked at again. */
LANES_INLINE int64_t decide(const ikt_row_block *block, const ikt_centres *centres, rounding round,
                            int64_t row) {
    float value, *seen = f32_seen_of(block, row);
    int64_t winner = f32_nearest_of_row(seen, &value);
    float bound = nearest_bound(round, block->norm[row], centres->norm[winner], value);
    uint32_t open = floats_at_most(floats_load(seen + BEST), bound);
    if (!(bound < FLT_MAX) || floats_at_most(floats_load(seen + SECOND), bound)) return -1;
    if ((open & (open - 1)) == 0) return winner;
    if (__builtin_popcount(open) > FEW) return -1;
    int32_t list[FEW], count = 0; /* the vectors of the open lanes, the first again to fill up */
    for (; open; open &= open - 1)
        list[count++] = vectors_of(seen)[__builtin_ctz(open)];
    for (; count < FEW; count++)
        list[count] = list[0];
    const float *x = (const float *)block->word + row / BLOCK_ROWS * BLOCK_ROWS * centres->words;
    return nearest_of_few(x + row % BLOCK_ROWS, centres, list);
}

static void read_cells(const ikt_row_block *block, uint32_t *cell) {
    float value;
    for (int64_t row = 0; row < block->count; row++)
        cell[row] = (uint32_t)f32_nearest_of_row(f32_seen_of(block, row), &value);
}

/* A second pass, by the definition, for the `count` rows that the first leaves in doubt: they are
 * gathered into the tile's second block, the last of them fills up its last group. */
static void decide_doubtful(ikt_row_tile *tile, const ikt_centres *centres, int64_t count,
                            uint32_t *cell) {
    const int64_t words = tile->words;
    ikt_row_block *doubt = &tile->doubt;
    doubt->count = count;
    doubt->groups = (count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (int64_t i = 0; i < doubt->groups * BLOCK_ROWS; i++) {
        const int64_t row = tile->doubtful[i < count ? i : count - 1];
        const float *x = (const float *)tile->all.word + row / BLOCK_ROWS * BLOCK_ROWS * words;
        float *y = (float *)doubt->word + i / BLOCK_ROWS * BLOCK_ROWS * words;
        for (int64_t k = 0; k < words; k++)
            y[k * BLOCK_ROWS + i % BLOCK_ROWS] = x[k * BLOCK_ROWS + row % BLOCK_ROWS];
    }
    compare(doubt, centres, SQUARES);
    read_cells(doubt, tile->cell);
    for (int64_t i = 0; i < count; i++)
        cell[tile->doubtful[i]] = tile->cell[i];
}

static void f32_assign(ikt_row_tile *tile, const ikt_centres *centres, uint32_t *cell) {
    const rounding round = rounding_of(centres->d);
    int64_t doubts = 0;
    if (centres->d <= DIRECT_DIMENSIONS || tile->direct_left > 0 ||
        !(centres->largest_norm <= largest_safe_norm)) {
        if (tile->direct_left > 0) tile->direct_left--;
        compare(&tile->all, centres, SQUARES);
        read_cells(&tile->all, cell);
        return;
    }
    compare(&tile->all, centres, PRODUCTS);
    for (int64_t row = 0; row < tile->all.count; row++) {
        int64_t centre =
            tile->all.norm[row] <= largest_safe_norm ? decide(&tile->all, centres, round, row) : -1;
        if (centre < 0)
            tile->doubtful[doubts++] = (int32_t)row;
        else
            cell[row] = (uint32_t)centre;
    }
    if (2 * doubts > tile->all.count) tile->direct_left = DIRECT_SPELL;
    if (doubts > 0) decide_doubtful(tile, centres, doubts, cell);
}

static void f32_l1_assign(ikt_row_tile *tile, const ikt_centres *centres, uint32_t *cell) {
    compare(&tile->all, centres, GAPS);
    read_cells(&tile->all, cell);
}

LANES_INLINE void f32_score_group(const int32_t *const from[BLOCK_ROWS], const ikt_centres *centres,
                                  int64_t number, const int vectors, const form of, float *out,
                                  int64_t stride) {
    const int64_t words = centres->words, step = words * LANES;
    const float *c = (const float *)centres->word + number * step;
    const float *start =
        (of == GAPS ? centres->bias : (const float *)centres->start) + number * LANES;
    const float *x[BLOCK_ROWS];
    sums sum;
    EACH_ROW(r) {
        x[r] = (const float *)(const void *)from[r];
        for (int v = 0; v < vectors; v++)
            sum[r][v] = floats_load(start + v * LANES);
    }
    for (int64_t w = 0; w < words; w++, c += LANES) {
        floats centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = floats_load(c + v * step);
        EACH_ROW(r) { /* fused everywhere: no certificate mends what other roundings choose */
            floats row = floats_set(of == GAPS ? x[r][w] : -x[r][w]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = of == GAPS ? floats_add_gap(row, centre[v], sum[r][v])
                                       : floats_fused(row, centre[v], sum[r][v]);
        }
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        floats_store(out + r * stride + v * LANES, sum[r][v]);
}

SCORE_CHOSEN(f32_score_chosen, ikt_centres, f32_score_group, float, PRODUCTS)
SCORE_CHOSEN(f32_l1_score_chosen, ikt_centres, f32_score_group, float, GAPS)

const ikt_codes_kernel IKT_KERNEL(ikt_codes_f32) = {.name = KERNEL_NAME("float32"),
                                                    .rows = BLOCK_ROWS,
                                                    .per_word = 1,
                                                    .multiple = 1,
                                                    .assign = f32_assign,
                                                    .score = f32_score,
                                                    .score_chosen = f32_score_chosen};

const ikt_codes_kernel IKT_KERNEL(ikt_codes_f32_l1) = {.name = KERNEL_NAME("float32 manhattan"),
                                                       .is_manhattan = true,
                                                       .rows = BLOCK_ROWS,
                                                       .per_word = 1,
                                                       .multiple = 1,
                                                       .assign = f32_l1_assign,
                                                       .score = f32_l1_score,
                                                       .score_chosen = f32_l1_score_chosen};
