/* Nearest centre in float32: the text of the kernel, compiled once for each instruction set.
 *
 * Method: s_j = |c_j|^2/2 - x.c_j by one multiply-add a coordinate, register-blocked, best and
 * second best of every lane kept; a row whose nearest centre is beyond rounding
 * (kernel_f32_bound.h) is done. The others are decided by the definition D_j: among the few vectors
 * of centres that can still hold the nearest, or, where a lane holds two of them, among all.
 * Advantage: half the arithmetic of D and the same answer to the bit. Disadvantage: where clusters
 * are far smaller than their distance from the origin, most rows are in doubt and the first pass is
 * wasted; so when that happens the next few partitionings go straight to the definition, as do rows
 * of few dimensions, where keeping the second best costs more than it saves.
 */
#include <float.h>
#include <string.h>

#include "isolation/codes_kernel.h"
#include "isolation/kernel_f32_bound.h"

enum {
    DIRECT_DIMENSIONS = 6, /* up to here the definition alone is faster */
    DIRECT_SPELL = 7,      /* partitionings to skip the first pass for, after it was wasted */
    FEW = 4 /* vectors that can hold the nearest and are worth looking at one by one */
};

/* Vectors of the next panel when `left` are left: as many as fit, but 2 + 2 rather than 3 + 1. */
static inline int panel_vectors(int64_t left) {
    if (BLOCK_VECTORS == 3 && left == 4) return 2;
    return left < BLOCK_VECTORS ? (int)left : BLOCK_VECTORS;
}

/* Unrolled, or the sums would have addresses and live in memory. */
#define EACH_ROW(r) IKT_UNROLL for (int r = 0; r < BLOCK_ROWS; r++)

typedef floats sums[BLOCK_ROWS][BLOCK_VECTORS];

/* sum[r][v] += (x_r - c_v)^2 or -= x_r c_v over `depth` dimensions, in order. */
LANES_INLINE void add_dimensions(sums sum, const float *x, const float *c, int64_t vector_stride,
                                 int64_t depth, const int vectors, const bool direct) {
    for (int64_t k = 0; k < depth; k++, x += BLOCK_ROWS, c += IKT_LANES) {
        floats centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = floats_load(c + v * vector_stride);
        EACH_ROW(r) {
            floats row = floats_set(x[r]);
            for (int v = 0; v < vectors; v++) {
                if (direct) {
                    floats gap = floats_sub(row, centre[v]);
                    sum[r][v] = floats_fma(gap, gap, sum[r][v]);
                } else {
                    sum[r][v] = floats_minus_product(row, centre[v], sum[r][v]);
                }
            }
        }
    }
}

/* What the lanes of a row have seen: least value, second least, vector of the least. */
enum { BEST = 0, SECOND = IKT_LANES, VECTOR = 2 * IKT_LANES, SEEN = 3 * IKT_LANES };

LANES_INLINE float *seen_of(const ikt_row_block *block, int64_t row) {
    return (float *)block->seen + row * SEEN;
}

LANES_INLINE int32_t *vectors_of(float *seen) {
    return (int32_t *)(void *)(seen + VECTOR);
}

/* Shows the finished values of one row to its lanes. */
LANES_INLINE void track(float *seen, const floats *value, int32_t first_vector, const int vectors,
                        const bool direct) {
    floats best = floats_load(seen + BEST), second = floats_load(seen + SECOND);
    ints vector = ints_load(vectors_of(seen));
    for (int v = 0; v < vectors; v++) {
        if (!direct) second = floats_min(second, floats_max(best, value[v]));
        vector = floats_select_less(value[v], best, ints_set(first_vector + v), vector);
        best = floats_min(value[v], best);
    }
    floats_store(seen + BEST, best);
    ints_store(vectors_of(seen), vector);
    if (!direct) floats_store(seen + SECOND, second);
}

/* `vectors` vectors of centres and one block of dimensions, for all groups of rows. */
typedef struct {
    const float *c;     /* first word of the first vector in this block */
    int64_t stride;     /* words from vector to vector */
    int64_t depth;      /* dimensions of this block */
    bool first, last;   /* of the blocks */
    const float *start; /* [vectors][16] */
    int32_t vector;     /* number of the first vector */
    float *out;         /* where values go instead of to the lanes, or NULL; see `score` */
    int64_t out_stride; /* from row to row */
} panel;

/* Shows finished values to the lanes, or writes them out. */
LANES_INLINE void finish(const panel *at, int64_t row, float *seen, const floats *value,
                         const int vectors) {
    if (!at->out) {
        track(seen, value, at->vector, vectors, false);
        return;
    }
    for (int v = 0; v < vectors; v++)
        floats_store(at->out + row * at->out_stride + v * IKT_LANES, value[v]);
}

/* The definition adds in order, so each block goes on from the sums of the one before. */
LANES_INLINE void multiply_direct(const panel *at, const float *x, float *partial, float *seen,
                                  const int vectors) {
    const float *from = at->first ? at->start : partial;
    const int64_t row_stride = at->first ? 0 : vectors * IKT_LANES;
    sums sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = floats_load(from + r * row_stride + v * IKT_LANES);
    add_dimensions(sum, x, at->c, at->stride, at->depth, vectors, true);
    if (at->last) {
        EACH_ROW(r) track(seen + r * SEEN, sum[r], at->vector, vectors, true);
        return;
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        floats_store(partial + (r * vectors + v) * IKT_LANES, sum[r][v]);
}

/* The first pass keeps its rounding small by starting each block of dimensions from zero and adding
 * up the blocks; a single block starts from `start`, and its sums never leave the registers. */
LANES_INLINE void multiply_first_pass(const panel *at, int64_t row, const float *x, float *partial,
                                      float *seen, const int vectors) {
    static const float zero[BLOCK_VECTORS * IKT_LANES];
    const bool single = at->first && at->last;
    const float *from = single ? at->start : zero;
    sums sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = floats_load(from + v * IKT_LANES);
    add_dimensions(sum, x, at->c, at->stride, at->depth, vectors, false);
    if (single) {
        EACH_ROW(r) finish(at, row + r, seen + r * SEEN, sum[r], vectors);
        return;
    }
    EACH_ROW(r) {
        float *to = partial + r * vectors * IKT_LANES;
        for (int v = 0; v < vectors; v++) {
            floats before = floats_load((at->first ? at->start : to) + v * IKT_LANES);
            sum[r][v] = floats_add(before, sum[r][v]);
            if (!at->last) floats_store(to + v * IKT_LANES, sum[r][v]);
        }
        if (at->last) finish(at, row + r, seen + r * SEEN, sum[r], vectors);
    }
}

/* All rows against `vectors` vectors of centres. */
LANES_INLINE void multiply_panel(const ikt_row_block *block, const ikt_centres *centres,
                                 int64_t vector, const int vectors, const bool direct, float *out,
                                 int64_t out_stride) {
    const int64_t words = centres->words, most = depth_of(words), stride = words * IKT_LANES;
    const float *start = direct ? centres->bias : (const float *)centres->start;
    for (int64_t from = 0; from < words; from += most) {
        const int64_t depth = words - from < most ? words - from : most;
        const panel at = {
            .c = (const float *)centres->word + vector * stride + from * IKT_LANES,
            .stride = stride,
            .depth = depth,
            .first = from == 0,
            .last = from + depth == words,
            .start = start + vector * IKT_LANES,
            .vector = (int32_t)vector,
            .out = out,
            .out_stride = out_stride,
        };
        const float *x = (const float *)block->word + from * BLOCK_ROWS;
        float *partial = block->partial, *seen = seen_of(block, 0);
        for (int64_t group = 0; group < block->groups; group++) {
            if (direct)
                multiply_direct(&at, x, partial, seen, vectors);
            else
                multiply_first_pass(&at, group * BLOCK_ROWS, x, partial, seen, vectors);
            x += words * BLOCK_ROWS;
            partial += BLOCK_ROWS * vectors * IKT_LANES;
            seen += BLOCK_ROWS * SEEN;
        }
    }
}

/* Vectors first .. end - 1 of the centres; values of the first go to out[row * out_stride]. */
LANES_INLINE void multiply_range(const ikt_row_block *block, const ikt_centres *centres,
                                 int64_t first, int64_t end, const bool direct, float *out,
                                 int64_t out_stride) {
    for (int64_t vector = first, left = end - first; left > 0; left = end - vector) {
        const int vectors = panel_vectors(left);
        float *to = out ? out + (vector - first) * IKT_LANES : NULL;
        if (vectors == 1)
            multiply_panel(block, centres, vector, 1, direct, to, out_stride);
        else if (vectors == 2)
            multiply_panel(block, centres, vector, BLOCK_VECTORS > 1 ? 2 : 1, direct, to,
                           out_stride);
        else
            multiply_panel(block, centres, vector, BLOCK_VECTORS, direct, to, out_stride);
        vector += vectors;
    }
}

/* Shows all centres to the lanes of all rows, which have seen nothing before. */
LANES_INLINE void compare(const ikt_row_block *block, const ikt_centres *centres,
                          const bool direct) {
    for (int64_t row = 0; row < block->groups * BLOCK_ROWS; row++) {
        float *seen = seen_of(block, row);
        floats_store(seen + BEST, floats_set(INFINITY));
        floats_store(seen + SECOND, floats_set(INFINITY));
        ints_store(vectors_of(seen), ints_set(0));
    }
    multiply_range(block, centres, 0, centres->vectors, direct, NULL, 0);
}

static TARGET void score(const ikt_row_tile *tile, const ikt_centres *centres, int64_t first,
                         int64_t end, void *out, int64_t stride) {
    multiply_range(&tile->all, centres, first, end, false, out, stride);
}

static TARGET void compare_all(const ikt_row_block *block, const ikt_centres *centres) {
    compare(block, centres, false);
}

static TARGET void compare_all_direct(const ikt_row_block *block, const ikt_centres *centres) {
    compare(block, centres, true);
}

/* Lowest centre among the lanes of `mask`, each standing for the centre it found in vector[lane].
 */
LANES_INLINE int64_t lowest_centre(uint32_t mask, const int32_t *vector) {
    int64_t lowest = INT64_MAX;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        int64_t centre = (int64_t)vector[lane] * IKT_LANES + lane;
        if (centre < lowest) lowest = centre;
    }
    return lowest;
}

LANES_INLINE int64_t nearest_of_row(float *seen, float *value) {
    floats best = floats_load(seen + BEST);
    *value = floats_least(best);
    return lowest_centre(floats_at_most(best, *value), vectors_of(seen));
}

/* The definition for one row and FEW vectors of centres. */
static TARGET int64_t nearest_of_few(const float *x, const ikt_centres *centres,
                                     const int32_t *vector) {
    const float *c[FEW];
    floats sum[FEW];
    for (int v = 0; v < FEW; v++) {
        c[v] = (const float *)centres->word + (int64_t)vector[v] * centres->words * IKT_LANES;
        sum[v] = floats_load(centres->bias + (int64_t)vector[v] * IKT_LANES);
    }
    for (int64_t k = 0; k < centres->words; k++) {
        floats row = floats_set(x[k * BLOCK_ROWS]);
        for (int v = 0; v < FEW; v++) {
            floats gap = floats_sub(row, floats_load(c[v] + k * IKT_LANES));
            sum[v] = floats_fma(gap, gap, sum[v]);
        }
    }
    floats all = floats_min(floats_min(sum[0], sum[1]), floats_min(sum[2], sum[3]));
    float least = floats_least(all);
    int64_t lowest = INT64_MAX;
    for (int v = 0; v < FEW; v++) {
        uint32_t mask = floats_at_most(sum[v], least);
        int64_t centre = (int64_t)vector[v] * IKT_LANES + (mask ? __builtin_ctz(mask) : 0);
        if (mask && centre < lowest) lowest = centre;
    }
    return lowest;
}

/* Vectors of the lanes in `mask` (at most FEW bits), filled up by repeating the first. */
LANES_INLINE void list_vectors(uint32_t mask, const int32_t *vector, int32_t *list) {
    int count = 0;
    for (; mask; mask &= mask - 1)
        list[count++] = vector[__builtin_ctz(mask)];
    for (; count < FEW; count++)
        list[count] = list[0];
}

/* The cell of one row after the first pass, or -1 when all centres must be looked at again. */
LANES_INLINE int64_t settle(const ikt_row_block *block, const ikt_centres *centres, rounding round,
                            int64_t row) {
    float value, *seen = seen_of(block, row);
    int64_t winner = nearest_of_row(seen, &value);
    float bound = nearest_bound(round, block->norm[row], centres->norm[winner], value);
    uint32_t open = floats_at_most(floats_load(seen + BEST), bound);
    if (!(bound < FLT_MAX) || floats_at_most(floats_load(seen + SECOND), bound)) return -1;
    if ((open & (open - 1)) == 0) return winner;
    if (__builtin_popcount(open) > FEW) return -1;
    int32_t list[FEW];
    list_vectors(open, vectors_of(seen), list);
    const float *x = (const float *)block->word + row / BLOCK_ROWS * BLOCK_ROWS * centres->words;
    return nearest_of_few(x + row % BLOCK_ROWS, centres, list);
}

/* Copies row `from` of `source` to row `to` of `target`, both interleaved. */
static void copy_row(const ikt_row_block *source, int64_t from, ikt_row_block *target, int64_t to,
                     int64_t words) {
    const float *x = (const float *)source->word + from / BLOCK_ROWS * BLOCK_ROWS * words;
    float *y = (float *)target->word + to / BLOCK_ROWS * BLOCK_ROWS * words;
    for (int64_t k = 0; k < words; k++)
        y[k * BLOCK_ROWS + to % BLOCK_ROWS] = x[k * BLOCK_ROWS + from % BLOCK_ROWS];
}

/* Gathers the doubtful rows into the tile's second block, filling up its last group. */
static void collect_doubt(ikt_row_tile *tile, int64_t count) {
    ikt_row_block *doubt = &tile->doubt;
    doubt->count = count;
    doubt->groups = (count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (int64_t i = 0; i < doubt->groups * BLOCK_ROWS; i++) {
        int64_t row = tile->doubtful[i < count ? i : count - 1];
        copy_row(&tile->all, row, doubt, i, tile->words);
    }
}

static TARGET void read_cells(const ikt_row_block *block, uint16_t *cell) {
    float value;
    for (int64_t row = 0; row < block->count; row++)
        cell[row] = (uint16_t)nearest_of_row(seen_of(block, row), &value);
}

/* First pass, and a second one for the rows that it leaves in doubt. */
static TARGET void assign_certified(ikt_row_tile *tile, const ikt_centres *centres,
                                    uint16_t *cell) {
    int64_t doubts = 0;
    rounding round = rounding_of(centres->d);
    compare_all(&tile->all, centres);
    for (int64_t row = 0; row < tile->all.count; row++) {
        int64_t centre =
            tile->all.norm[row] <= largest_safe_norm ? settle(&tile->all, centres, round, row) : -1;
        if (centre < 0)
            tile->doubtful[doubts++] = (int32_t)row;
        else
            cell[row] = (uint16_t)centre;
    }
    if (2 * doubts > tile->all.count) tile->direct_left = DIRECT_SPELL;
    if (doubts == 0) return;
    collect_doubt(tile, doubts);
    compare_all_direct(&tile->doubt, centres);
    read_cells(&tile->doubt, tile->cell);
    for (int64_t i = 0; i < doubts; i++)
        cell[tile->doubtful[i]] = tile->cell[i];
}

static TARGET void assign(ikt_row_tile *tile, const ikt_centres *centres, uint16_t *cell) {
    bool straight = centres->d <= DIRECT_DIMENSIONS || tile->direct_left > 0 ||
                    !(centres->largest_norm <= largest_safe_norm);
    if (!straight) {
        assign_certified(tile, centres, cell);
        return;
    }
    if (tile->direct_left > 0) tile->direct_left--;
    compare_all_direct(&tile->all, centres);
    read_cells(&tile->all, cell);
}
