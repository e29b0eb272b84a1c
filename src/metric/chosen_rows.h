/* Values of rows that are chosen one by one against vectors of points, for kernels of any type.
 *
 * Method: the registers hold the sums of some rows and some vectors of points, a panel, and the
 * rows are read from wherever they stand. Advantage: rows that want the same points need not be
 * brought together first. Disadvantage: one register more for each row's address. */
#ifndef IKT_METRIC_CHOSEN_ROWS_H
#define IKT_METRIC_CHOSEN_ROWS_H

#include <stdint.h>

#include "base/lanes.h"
#include "metric/near_bytes.h"

/* Register blocks. AVX-512: 24 sums, three centre vectors and a broadcast row fit 32 registers, and
 * a step loads 11 operands for 24 multiply-adds: the two multipliers are the limit, not the loads.
 * AVX2: twelve sums, two halves of a centre vector and a broadcast row are 15 of 16 registers. */
enum {
    BLOCK_ROWS = LANE_WIDTH == 16  ? 8
                 : LANE_WIDTH == 8 ? 6
                                   : 2,
    BLOCK_VECTORS = LANE_WIDTH == 16 ? 3 : 1
};

_Static_assert(IKT_KERNEL_ROWS % BLOCK_ROWS == 0, "arrays are made for whole groups of rows");

/* What is added up over the dimensions. */
typedef enum { PRODUCTS, SQUARES, GAPS } form;

/* Vectors of the next panel when `left` are left: as many as fit, but 2 + 2 rather than 3 + 1. */
static inline int panel_vectors(int64_t left) {
    if (BLOCK_VECTORS == 3 && left == 4) return 2;
    return left < BLOCK_VECTORS ? (int)left : BLOCK_VECTORS;
}

/* Unrolled, or the sums would have addresses and live in memory. */
#define EACH_ROW(r) LANES_UNROLL for (int r = 0; r < BLOCK_ROWS; r++)

/* Where the rows of a group begin; the last chosen one fills the group up. */
LANES_INLINE void find_chosen(const int32_t *x[BLOCK_ROWS], const void *word, int64_t words,
                              const uint32_t *row, int64_t left) {
    for (int64_t r = 0; r < BLOCK_ROWS; r++)
        x[r] = (const int32_t *)word + (int64_t)row[r < left ? r : left - 1] * words;
}

/* The score_chosen of one type of rows and `points`: panel after panel of centres, so that a panel
 * is in the first-level cache for all rows. */
#define SCORE_CHOSEN(name, points, score_group, element, of)                                       \
    static void name(const void *word, const uint32_t *row, int64_t count, const points *centres,  \
                     int64_t first, int64_t end, void *out, int64_t stride) {                      \
        for (int64_t number = first, left = end - first; left > 0; left = end - number) {          \
            const int vectors = panel_vectors(left);                                               \
            element *to = (element *)out + (number - first) * LANES;                               \
            for (int64_t r = 0; r < count; r += BLOCK_ROWS, to += BLOCK_ROWS * stride) {           \
                const int32_t *x[BLOCK_ROWS];                                                      \
                find_chosen(x, word, centres->words, row + r, count - r);                          \
                if (vectors == 1)                                                                  \
                    score_group(x, centres, number, 1, of, to, stride);                            \
                else if (vectors == 2)                                                             \
                    score_group(x, centres, number, BLOCK_VECTORS > 1 ? 2 : 1, of, to, stride);    \
                else                                                                               \
                    score_group(x, centres, number, BLOCK_VECTORS, of, to, stride);                \
            }                                                                                      \
            number += vectors;                                                                     \
        }                                                                                          \
    }

#endif
