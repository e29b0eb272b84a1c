/* Nearest centre of many rows of bytes. See codes_kernel.h, codes_block.h.
 *
 * Method, in exact integers: score_j = |c_j|^2 - 2 x.c_j by integer dot products of four or two
 * coordinates a lane (ints_add_products). The four-fold form multiplies unsigned by signed bytes,
 * so it stores c - 128; that adds the same 256 sum(x) to every score of a row and changes no
 * comparison. Advantage: nothing to certify, and up to four times the rate of float32.
 * Disadvantage: an int32 holds the score only up to IKT_U8_COLUMNS columns; wider rows are summed
 * in pieces.
 *
 * Manhattan distances. Method: the definition itself, by sums of absolute differences, four to six
 * instructions for four coordinates. */
#include "isolation/codes_block.h"

#if defined(LANES_VNNI)
enum { COORDINATES = 4 }; /* of a word */
#else
enum { COORDINATES = 2 };
#endif

typedef ints dots[BLOCK_ROWS][BLOCK_VECTORS];

/* sum[r][v] = x_r . c_v over `words` words, or the sum of the gaps. */
LANES_INLINE void u8_multiply_words(dots sum, const int32_t *x, const int32_t *c,
                                    int64_t vector_stride, int64_t words, const int vectors,
                                    const form of) {
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = 0; w < words; w++, x += BLOCK_ROWS, c += LANES) {
        ints centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = ints_load(c + v * vector_stride);
        EACH_ROW(r) {
            ints row = ints_set(x[r]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = of == GAPS ? ints_add_gaps(sum[r][v], row, centre[v])
                                       : ints_add_products(sum[r][v], row, centre[v]);
        }
    }
}

LANES_INLINE int32_t *u8_seen_of(const ikt_row_block *block, int64_t row) {
    return (int32_t *)block->seen + row * U8_SEEN;
}

/* The value that centres are compared by. The start of lanes without a centre is the largest
 * integer, which stays. */
LANES_INLINE ints u8_value(ints start, ints sum, const form of) {
    return of == GAPS ? ints_select_less(sum, start, start, sum) : ints_minus_twice(start, sum);
}

/* Shows the sums of one row to its lanes. */
LANES_INLINE void u8_track(int32_t *seen, const ints *sum, const ints *start, int32_t first_vector,
                           const int vectors, const form of) {
    ints best = ints_load(seen + BEST), number = ints_load(seen + VECTOR);
    for (int v = 0; v < vectors; v++) {
        ints score = u8_value(start[v], sum[v], of);
        number = ints_select_less(score, best, ints_set(first_vector + v), number);
        best = ints_min(score, best);
    }
    ints_store(seen + BEST, best);
    ints_store(seen + VECTOR, number);
}

/* All rows against `vectors` vectors of centres; to the lanes, or to out[row * out_stride]. */
LANES_INLINE void u8_multiply_panel(const ikt_row_block *block, const ikt_centres *centres,
                                    int64_t number, const int vectors, const form of, int32_t *out,
                                    int64_t out_stride) {
    const int64_t words = centres->words, stride = words * LANES;
    const int32_t *c = (const int32_t *)centres->word + number * stride;
    const int32_t *x = block->word, *start_at = (const int32_t *)centres->start + number * LANES;
    int32_t *seen = u8_seen_of(block, 0);
    for (int64_t group = block->groups; group > 0; group--) {
        dots sum;
        ints start[BLOCK_VECTORS];
        u8_multiply_words(sum, x, c, stride, words, vectors, of);
        for (int v = 0; v < vectors; v++)
            start[v] = ints_load(start_at + v * LANES);
        if (out) {
            EACH_ROW(r)
            for (int v = 0; v < vectors; v++)
                ints_store(out + r * out_stride + v * LANES, u8_value(start[v], sum[r][v], of));
            out += BLOCK_ROWS * out_stride;
        } else {
            EACH_ROW(r)
            u8_track(seen + r * U8_SEEN, sum[r], start, (int32_t)number, vectors, of);
        }
        x += words * BLOCK_ROWS;
        seen += BLOCK_ROWS * U8_SEEN;
    }
}

LANES_INLINE uint32_t u8_nearest_of_row(const int32_t *seen) {
    ints best = ints_load(seen + BEST);
    return (uint32_t)lowest_centre(ints_at_most(best, ints_least(best)), seen + VECTOR);
}

MULTIPLY_RANGE(u8_multiply_range, u8_multiply_panel, int32_t)
SCORE(u8_score, u8_multiply_range, PRODUCTS)
SCORE(u8_l1_score, u8_multiply_range, GAPS)

typedef int64_t wide_scores[BLOCK_ROWS][LANES];

/* score[r][lane] = |c|^2 - 2 x.c of one group and one vector, in pieces that fit an int32. */
static void u8_score_wide(const ikt_row_block *block, const ikt_centres *centres, int64_t group,
                          int64_t number, int64_t piece, wide_scores score) {
    const int64_t words = centres->words;
    const int32_t *x = (const int32_t *)block->word + group * words * BLOCK_ROWS;
    const int32_t *c = (const int32_t *)centres->word + number * words * LANES;
    for (int r = 0; r < BLOCK_ROWS; r++)
        for (int l = 0; l < LANES; l++)
            score[r][l] = (int64_t)centres->norm[number * LANES + l];
    for (int64_t w = 0; w < words; w += piece) {
        dots sum;
        int32_t dot[LANES];
        u8_multiply_words(sum, x + w * BLOCK_ROWS, c + w * LANES, 0,
                          words - w < piece ? words - w : piece, 1, PRODUCTS);
        for (int r = 0; r < BLOCK_ROWS; r++) {
            ints_store(dot, sum[r][0]);
            for (int l = 0; l < LANES; l++)
                score[r][l] -= 2 * (int64_t)dot[l];
        }
    }
}

/* Rows of more columns than IKT_U8_COLUMNS: scores in 64 bits, compared one by one. */
static void u8_assign_wide(const ikt_row_block *block, const ikt_centres *centres, int64_t piece,
                           uint32_t *cell) {
    for (int64_t group = 0; group < block->groups; group++) {
        int64_t least[BLOCK_ROWS];
        wide_scores score;
        for (int r = 0; r < BLOCK_ROWS; r++)
            least[r] = INT64_MAX;
        for (int64_t j = 0; j < centres->psi; j++) {
            if (j % LANES == 0) u8_score_wide(block, centres, group, j / LANES, piece, score);
            for (int64_t r = 0; r < BLOCK_ROWS && group * BLOCK_ROWS + r < block->count; r++) {
                if (score[r][j % LANES] >= least[r]) continue;
                least[r] = score[r][j % LANES];
                cell[group * BLOCK_ROWS + r] = (uint32_t)j;
            }
        }
    }
}

/* Shows all centres to the lanes of all rows, and reads the cells. */
LANES_INLINE void u8_compare(const ikt_row_block *block, const ikt_centres *centres, const form of,
                             uint32_t *cell) {
    for (int64_t row = 0; row < block->groups * BLOCK_ROWS; row++) {
        ints_store(u8_seen_of(block, row) + BEST, ints_set(INT32_MAX));
        ints_store(u8_seen_of(block, row) + VECTOR, ints_set(0));
    }
    u8_multiply_range(block, centres, 0, centres->vectors, of, NULL, 0);
    for (int64_t row = 0; row < block->count; row++)
        cell[row] = u8_nearest_of_row(u8_seen_of(block, row));
}

static void u8_assign(ikt_row_tile *tile, const ikt_centres *centres, uint32_t *cell) {
    if (centres->d > IKT_U8_COLUMNS)
        u8_assign_wide(&tile->all, centres, IKT_U8_COLUMNS / COORDINATES, cell);
    else
        u8_compare(&tile->all, centres, PRODUCTS, cell);
}

/* Below 2^23 columns, which a data set of bytes has at most, the sums fit. */
static void u8_l1_assign(ikt_row_tile *tile, const ikt_centres *centres, uint32_t *cell) {
    u8_compare(&tile->all, centres, GAPS, cell);
}

LANES_INLINE void u8_score_group(const int32_t *const x[BLOCK_ROWS], const ikt_centres *centres,
                                 int64_t number, const int vectors, const form of, int32_t *out,
                                 int64_t stride) {
    const int64_t words = centres->words, step = words * LANES;
    const int32_t *c = (const int32_t *)centres->word + number * step;
    const int32_t *start = (const int32_t *)centres->start + number * LANES;
    dots sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = 0; w < words; w++, c += LANES) {
        ints centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = ints_load(c + v * step);
        EACH_ROW(r) {
            ints row = ints_set(x[r][w]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = of == GAPS ? ints_add_gaps(sum[r][v], row, centre[v])
                                       : ints_add_products(sum[r][v], row, centre[v]);
        }
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        ints_store(out + r * stride + v * LANES,
                   u8_value(ints_load(start + v * LANES), sum[r][v], of));
}

SCORE_CHOSEN(u8_score_chosen, ikt_centres, u8_score_group, int32_t, PRODUCTS)
SCORE_CHOSEN(u8_l1_score_chosen, ikt_centres, u8_score_group, int32_t, GAPS)

const ikt_codes_kernel IKT_KERNEL(ikt_codes_u8) = {.name = KERNEL_NAME("uint8"),
                                                   .is_u8 = true,
                                                   .rows = BLOCK_ROWS,
                                                   .per_word = COORDINATES,
                                                   .multiple = 1,
                                                   .assign = u8_assign,
                                                   .score = u8_score,
                                                   .score_chosen = u8_score_chosen};

const ikt_codes_kernel IKT_KERNEL(ikt_codes_u8_l1) = {.name = KERNEL_NAME("uint8 manhattan"),
                                                      .is_u8 = true,
                                                      .is_manhattan = true,
                                                      .rows = BLOCK_ROWS,
                                                      .per_word = 4,
                                                      .multiple = 1,
                                                      .assign = u8_l1_assign,
                                                      .score = u8_l1_score,
                                                      .score_chosen = u8_l1_score_chosen};
