/* Which nodes of a grid the points of a rank touch. See touched.h.
 *
 * Method: each point marks the piece in which its window begins, in the row in which it begins, and
 * the next piece where it reaches there; marks then go down as many rows as a window has. A mark is
 * a byte, so threads that set the same one need not wait for each other. */
#include "kernelsum/touched.h"

#include <string.h>

#include "base/cpu.h"

enum { NODES = 8, WORD = 64 };

static int64_t pieces_of(int64_t stride) {
    return (stride + NODES - 1) / NODES;
}

int64_t ikt_touched_words(int64_t stride) {
    return (pieces_of(stride) + WORD - 1) / WORD;
}

int64_t ikt_touched_scratch(const ikt_grid *grid, int64_t stride) {
    return grid->nodes[1] * ikt_touched_words(stride) * WORD;
}

/* Marks the pieces of the rows in which the windows of at most IKT_PIECE points begin.
 *   reach   nodes that a window's vector covers along a row */
static IKT_WIDEST_VECTORS void mark_piece(const ikt_grid *grid, int reach, const float *y,
                                          int count, int64_t width, uint8_t *marks) {
    ikt_places at;
    ikt_places_find(grid, y, count, &at);
    for (int i = 0; i < count; i++) {
        const int32_t node = at.cell[0][i];
        uint8_t *piece = marks + at.cell[1][i] * width + node / NODES;
        __atomic_store_n(piece, 1, __ATOMIC_RELAXED);
        if (node % NODES + reach > NODES) __atomic_store_n(piece + 1, 1, __ATOMIC_RELAXED);
    }
}

static void mark(const ikt_grid *grid, int reach, int threads, const float *y, int64_t count,
                 int64_t width, uint8_t *marks) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < count; first += IKT_PIECE)
        mark_piece(grid, reach, y + 2 * first,
                   (int)(count - first < IKT_PIECE ? count - first : IKT_PIECE), width, marks);
}

void ikt_touched_find(const ikt_grid *grid, int order, int threads, const float *y, int64_t count,
                      const float *target, int64_t targets, uint8_t *scratch, ikt_touched *out) {
    const int64_t words = ikt_touched_words(out->stride), width = words * WORD;
    const int reach = order == 4 ? order : NODES;
    memset(scratch, 0, (size_t)(out->rows * width));
    mark(grid, reach, threads, y, count, width, scratch);
    if (target) mark(grid, reach, threads, target, targets, width, scratch);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < out->rows; row++)
        for (int64_t w = 0; w < words; w++) {
            uint64_t bits = 0;
            for (int64_t from = row < order ? 0 : row - order + 1; from <= row; from++)
                for (int b = 0; b < WORD; b++)
                    bits |= (uint64_t)scratch[from * width + w * WORD + b] << b;
            out->bits[row * words + w] = bits;
        }
}

/* The next run of pieces of a row that are meant, from bit *at on: nodes *from .. *to - 1; false
 * where there is none. */
static bool next_run(const uint64_t *bits, int64_t stride, int64_t *at, int64_t *from,
                     int64_t *to) {
    const int64_t pieces = pieces_of(stride);
    while (*at < pieces && !(bits[*at / WORD] >> *at % WORD & 1))
        (*at)++;
    *from = *at * NODES;
    while (*at < pieces && bits[*at / WORD] >> *at % WORD & 1)
        (*at)++;
    *to = *at * NODES < stride ? *at * NODES : stride;
    return *from < *to;
}

int64_t ikt_touched_nodes(const ikt_touched *touched) {
    const int64_t words = ikt_touched_words(touched->stride);
    int64_t nodes = 0, from, to;
    for (int64_t row = 0; row < touched->rows; row++)
        for (int64_t at = 0;
             next_run(touched->bits + row * words, touched->stride, &at, &from, &to);)
            nodes += to - from;
    return nodes;
}

void ikt_touched_pack(const ikt_touched *touched, size_t size, const void *node, void *packed) {
    const int64_t words = ikt_touched_words(touched->stride), stride = touched->stride;
    const char *row_of = node;
    char *end = packed;
    int64_t from, to;
    for (int64_t row = 0; row < touched->rows; row++, row_of += (size_t)stride * size)
        for (int64_t at = 0; next_run(touched->bits + row * words, stride, &at, &from, &to);) {
            const size_t bytes = (size_t)(to - from) * size;
            memcpy(end, row_of + (size_t)from * size, bytes);
            end += bytes;
        }
}

void ikt_touched_unpack(const ikt_touched *touched, size_t size, const void *packed, void *node) {
    const int64_t words = ikt_touched_words(touched->stride), stride = touched->stride;
    const char *next = packed;
    char *row_of = node;
    int64_t from, to;
    for (int64_t row = 0; row < touched->rows; row++, row_of += (size_t)stride * size)
        for (int64_t at = 0; next_run(touched->bits + row * words, stride, &at, &from, &to);) {
            const size_t bytes = (size_t)(to - from) * size;
            memcpy(row_of + (size_t)from * size, next, bytes);
            next += bytes;
        }
}

void ikt_touched_add(const ikt_touched *touched, const int64_t *packed, int64_t *charge) {
    const int64_t words = ikt_touched_words(touched->stride), stride = touched->stride;
    int64_t from, to;
    for (int64_t row = 0; row < touched->rows; row++, charge += stride)
        for (int64_t at = 0; next_run(touched->bits + row * words, stride, &at, &from, &to);
             packed += to - from)
            for (int64_t k = from; k < to; k++)
                charge[k] += packed[k - from];
}
