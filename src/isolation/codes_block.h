/* What the kernels of bytes and of float32 have in common, beside the values of chosen rows
 * (metric/chosen_rows.h): vectors of centres, in panels, against all rows of a tile. */
#ifndef IKT_ISOLATION_CODES_BLOCK_H
#define IKT_ISOLATION_CODES_BLOCK_H

#include "base/lanes.h"
#include "isolation/codes_kernel.h"
#include "metric/chosen_rows.h"

/* The title of a kernel for reports: its type of data and its instruction set. */
#define KERNEL_NAME(type)         KERNEL_NAME_ON(type, IKT_ISA)
#define KERNEL_NAME_ON(type, isa) type " " KERNEL_TEXT(isa)
#define KERNEL_TEXT(isa)          #isa

/* What the lanes of a row have seen: least value, vector of the least, second least (float32). */
enum { BEST = 0, VECTOR = LANES, SECOND = 2 * LANES, U8_SEEN = 2 * LANES, F32_SEEN = 3 * LANES };

/* Vectors first .. end - 1 of the centres against all rows, by panels of constant widths; values of
 * the first go to out[row * stride], where they go anywhere. */
#define MULTIPLY_RANGE(name, multiply_panel, element)                                              \
    LANES_INLINE void name(const ikt_row_block *block, const ikt_centres *centres, int64_t first,  \
                           int64_t end, const form of, element *out, int64_t stride) {             \
        for (int64_t number = first, left = end - first; left > 0; left = end - number) {          \
            const int vectors = panel_vectors(left);                                               \
            element *to = out ? out + (number - first) * LANES : NULL;                             \
            if (vectors == 1)                                                                      \
                multiply_panel(block, centres, number, 1, of, to, stride);                         \
            else if (vectors == 2)                                                                 \
                multiply_panel(block, centres, number, BLOCK_VECTORS > 1 ? 2 : 1, of, to, stride); \
            else                                                                                   \
                multiply_panel(block, centres, number, BLOCK_VECTORS, of, to, stride);             \
            number += vectors;                                                                     \
        }                                                                                          \
    }

/* The score of one type. */
#define SCORE(name, multiply_range, of)                                                            \
    static void name(const ikt_row_tile *tile, const ikt_centres *centres, int64_t first,          \
                     int64_t end, void *out, int64_t stride) {                                     \
        multiply_range(&tile->all, centres, first, end, of, out, stride);                          \
    }

/* Lowest centre among the lanes of `mask`, each standing for the centre it found in number[lane].
 */
LANES_INLINE int64_t lowest_centre(uint32_t mask, const int32_t *number) {
    int64_t lowest = INT64_MAX;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        int64_t centre = (int64_t)number[lane] * LANES + lane;
        if (centre < lowest) lowest = centre;
    }
    return lowest;
}

#endif
