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

int64_t ikt_touched_scratch(int64_t rows, int64_t stride) {
    return rows * ikt_touched_words(stride) * WORD;
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

/* Consecutive nodes of a row that are meant; the next run begins behind `piece`. */
typedef struct {
    int64_t row, piece;
    int64_t first, count; /* the former from the beginning of the first row */
} run;

static bool is_meant(const uint64_t *bits, int64_t piece) {
    return bits[piece / WORD] >> piece % WORD & 1;
}

/* On to the next run, from {0} to the first one; false where there is none. */
static bool next_run(const ikt_touched *touched, run *r) {
    const int64_t stride = touched->stride;
    const int64_t pieces = pieces_of(stride), words = ikt_touched_words(stride);
    for (; r->row < touched->rows; r->row++, r->piece = 0) {
        const uint64_t *bits = touched->bits + r->row * words;
        while (r->piece < pieces && !is_meant(bits, r->piece))
            r->piece++;
        if (r->piece == pieces) continue;
        const int64_t from = r->piece * NODES;
        while (r->piece < pieces && is_meant(bits, r->piece))
            r->piece++;
        const int64_t to = r->piece * NODES < stride ? r->piece * NODES : stride;
        r->first = r->row * stride + from;
        r->count = to - from;
        return true;
    }
    return false;
}

int64_t ikt_touched_nodes(const ikt_touched *touched) {
    int64_t nodes = 0;
    for (run r = {0}; next_run(touched, &r);)
        nodes += r.count;
    return nodes;
}

void ikt_touched_pack(const ikt_touched *touched, size_t size, const void *node, void *packed) {
    char *end = packed;
    for (run r = {0}; next_run(touched, &r); end += (size_t)r.count * size)
        memcpy(end, (const char *)node + (size_t)r.first * size, (size_t)r.count * size);
}

void ikt_touched_unpack(const ikt_touched *touched, size_t size, const void *packed, void *node) {
    const char *next = packed;
    for (run r = {0}; next_run(touched, &r); next += (size_t)r.count * size)
        memcpy((char *)node + (size_t)r.first * size, next, (size_t)r.count * size);
}

void ikt_touched_add(const ikt_touched *touched, const int64_t *packed, int64_t *charge) {
    for (run r = {0}; next_run(touched, &r); packed += r.count)
        for (int64_t k = 0; k < r.count; k++)
            charge[r.first + k] += packed[k];
}
