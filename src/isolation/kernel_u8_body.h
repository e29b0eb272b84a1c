/* Nearest centre in exact integers: the text of the kernel, compiled once for each instruction set.
 *
 * Method: score_j = |c_j|^2 - 2 x.c_j by integer dot products of four or two coordinates a lane
 * (ints_dot of the including file). The four-fold form multiplies unsigned by signed bytes, so it
 * stores c - 128; that adds the same 256 sum(x) to every score of a row and changes no comparison.
 * Advantage: exact, so nothing to certify, and up to four times the rate of float32. Disadvantage:
 * an int32 holds the score only up to IKT_U8_COLUMNS columns; wider rows are summed in pieces.
 */
#include <string.h>

#include "isolation/codes_kernel.h"

/* Vectors of the next panel when `left` are left: as many as fit, but 2 + 2 rather than 3 + 1. */
static inline int panel_vectors(int64_t left) {
    if (BLOCK_VECTORS == 3 && left == 4) return 2;
    return left < BLOCK_VECTORS ? (int)left : BLOCK_VECTORS;
}

/* Unrolled, or the sums would have addresses and live in memory. */
#define EACH_ROW(r) IKT_UNROLL for (int r = 0; r < BLOCK_ROWS; r++)

typedef ints dots[BLOCK_ROWS][BLOCK_VECTORS];

/* sum[r][v] = x_r . c_v over `words` words. */
LANES_INLINE void multiply_words(dots sum, const int32_t *x, const int32_t *c,
                                 int64_t vector_stride, int64_t words, const int vectors) {
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = 0; w < words; w++, x += BLOCK_ROWS, c += IKT_LANES) {
        ints centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = ints_load(c + v * vector_stride);
        EACH_ROW(r) {
            ints row = ints_set(x[r]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = ints_dot(sum[r][v], row, centre[v]);
        }
    }
}

/* What the lanes of a row have seen: least score, vector of the least. */
enum { BEST = 0, VECTOR = IKT_LANES, SEEN = 2 * IKT_LANES };

LANES_INLINE int32_t *seen_of(const ikt_row_block *block, int64_t row) {
    return (int32_t *)block->seen + row * SEEN;
}

/* Shows the dot products of one row to its lanes. */
LANES_INLINE void track(int32_t *seen, const ints *dot, const ints *start, int32_t first_vector,
                        const int vectors) {
    ints best = ints_load(seen + BEST), vector = ints_load(seen + VECTOR);
    for (int v = 0; v < vectors; v++) {
        ints score = ints_minus_twice(start[v], dot[v]);
        vector = ints_select_less(score, best, ints_set(first_vector + v), vector);
        best = ints_min(score, best);
    }
    ints_store(seen + BEST, best);
    ints_store(seen + VECTOR, vector);
}

/* All rows against `vectors` vectors of centres; to the lanes, or to out[row * out_stride]. */
LANES_INLINE void multiply_panel(const ikt_row_block *block, const ikt_centres *centres,
                                 int64_t vector, const int vectors, int32_t *out,
                                 int64_t out_stride) {
    const int64_t words = centres->words, stride = words * IKT_LANES;
    const int32_t *c = (const int32_t *)centres->word + vector * stride;
    const int32_t *x = block->word,
                  *start_at = (const int32_t *)centres->start + vector * IKT_LANES;
    int32_t *seen = seen_of(block, 0);
    for (int64_t group = block->groups; group > 0; group--) {
        dots sum;
        ints start[BLOCK_VECTORS];
        multiply_words(sum, x, c, stride, words, vectors);
        for (int v = 0; v < vectors; v++)
            start[v] = ints_load(start_at + v * IKT_LANES);
        if (out) {
            EACH_ROW(r)
            for (int v = 0; v < vectors; v++)
                ints_store(out + r * out_stride + v * IKT_LANES,
                           ints_minus_twice(start[v], sum[r][v]));
            out += BLOCK_ROWS * out_stride;
        } else {
            EACH_ROW(r) track(seen + r * SEEN, sum[r], start, (int32_t)vector, vectors);
        }
        x += words * BLOCK_ROWS;
        seen += BLOCK_ROWS * SEEN;
    }
}

LANES_INLINE uint16_t nearest_of_row(const int32_t *seen) {
    const int32_t *vector = seen + VECTOR;
    ints best = ints_load(seen + BEST);
    int64_t lowest = INT64_MAX;
    for (uint32_t mask = ints_at_most(best, ints_least(best)); mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        int64_t centre = (int64_t)vector[lane] * IKT_LANES + lane;
        if (centre < lowest) lowest = centre;
    }
    return (uint16_t)lowest;
}

/* Vectors first .. end - 1 of the centres; values of the first go to out[row * out_stride]. */
LANES_INLINE void multiply_range(const ikt_row_block *block, const ikt_centres *centres,
                                 int64_t first, int64_t end, int32_t *out, int64_t out_stride) {
    for (int64_t vector = first, left = end - first; left > 0; left = end - vector) {
        const int vectors = panel_vectors(left);
        int32_t *to = out ? out + (vector - first) * IKT_LANES : NULL;
        if (vectors == 1)
            multiply_panel(block, centres, vector, 1, to, out_stride);
        else if (vectors == 2)
            multiply_panel(block, centres, vector, BLOCK_VECTORS > 1 ? 2 : 1, to, out_stride);
        else
            multiply_panel(block, centres, vector, BLOCK_VECTORS, to, out_stride);
        vector += vectors;
    }
}

static TARGET void score(const ikt_row_tile *tile, const ikt_centres *centres, int64_t first,
                         int64_t end, void *out, int64_t stride) {
    multiply_range(&tile->all, centres, first, end, out, stride);
}

/* Scores that fit an int32. */
static TARGET void assign_narrow(ikt_row_block *block, const ikt_centres *centres, uint16_t *cell) {
    for (int64_t row = 0; row < block->groups * BLOCK_ROWS; row++) {
        ints_store(seen_of(block, row) + BEST, ints_set(INT32_MAX));
        ints_store(seen_of(block, row) + VECTOR, ints_set(0));
    }
    multiply_range(block, centres, 0, centres->vectors, NULL, 0);
    for (int64_t row = 0; row < block->count; row++)
        cell[row] = nearest_of_row(seen_of(block, row));
}

typedef int64_t wide_scores[BLOCK_ROWS][IKT_LANES];

/* score[r][lane] = |c|^2 - 2 x.c of one group and one vector, in pieces that fit an int32. */
static TARGET void score_wide(const ikt_row_block *block, const ikt_centres *centres, int64_t group,
                              int64_t vector, int64_t piece, wide_scores score) {
    const int64_t words = centres->words;
    const int32_t *x = (const int32_t *)block->word + group * words * BLOCK_ROWS;
    const int32_t *c = (const int32_t *)centres->word + vector * words * IKT_LANES;
    for (int r = 0; r < BLOCK_ROWS; r++)
        for (int l = 0; l < IKT_LANES; l++)
            score[r][l] = (int64_t)centres->norm[vector * IKT_LANES + l];
    for (int64_t w = 0; w < words; w += piece) {
        dots sum;
        int32_t dot[IKT_LANES];
        multiply_words(sum, x + w * BLOCK_ROWS, c + w * IKT_LANES, 0,
                       words - w < piece ? words - w : piece, 1);
        for (int r = 0; r < BLOCK_ROWS; r++) {
            ints_store(dot, sum[r][0]);
            for (int l = 0; l < IKT_LANES; l++)
                score[r][l] -= 2 * (int64_t)dot[l];
        }
    }
}

/* Rows of more columns than IKT_U8_COLUMNS: scores in 64 bits, compared one by one. */
static TARGET void assign_wide(const ikt_row_block *block, const ikt_centres *centres,
                               int64_t piece, uint16_t *cell) {
    for (int64_t group = 0; group < block->groups; group++) {
        int64_t least[BLOCK_ROWS];
        wide_scores score;
        for (int r = 0; r < BLOCK_ROWS; r++)
            least[r] = INT64_MAX;
        for (int64_t j = 0; j < centres->psi; j++) {
            if (j % IKT_LANES == 0) score_wide(block, centres, group, j / IKT_LANES, piece, score);
            for (int64_t r = 0; r < BLOCK_ROWS && group * BLOCK_ROWS + r < block->count; r++) {
                if (score[r][j % IKT_LANES] >= least[r]) continue;
                least[r] = score[r][j % IKT_LANES];
                cell[group * BLOCK_ROWS + r] = (uint16_t)j;
            }
        }
    }
}

static TARGET void assign(ikt_row_tile *tile, const ikt_centres *centres, uint16_t *cell) {
    if (centres->d <= IKT_U8_COLUMNS)
        assign_narrow(&tile->all, centres, cell);
    else
        assign_wide(&tile->all, centres, IKT_U8_COLUMNS / COORDINATES, cell);
}
