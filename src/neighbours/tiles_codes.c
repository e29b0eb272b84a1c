/* Cell codes as blocks: they already lie row behind row, so nothing is packed. */
#include <string.h>

#include "isolation/similarity.h"
#include "neighbours/scorer.h"
#include "neighbours/tiles.h"
#include "neighbours/tiles_parts.h"

static int64_t bytes(const void *self, int64_t count) {
    const ikt_tiles *tiles = self;
    return count * tiles->stride;
}

static const void *prepare(const void *self, const char *block, int64_t count, void *scratch) {
    (void)self;
    (void)count;
    (void)scratch;
    return block;
}

/* Counts of equal entries become numbers of different ones: smaller is more similar. */
static void score(const void *self, const void *left, int64_t na, const char *block, int64_t nb,
                  float *out) {
    const ikt_tiles *tiles = self;
    const ikt_code_shape shape = {tiles->d, tiles->stride, tiles->width};
    uint16_t equal[4 * IKT_SHELF_ROWS];
    int64_t stride = ikt_score_stride(nb);
    for (int64_t a = 0; a < na; a += 4) {
        int64_t rows = na - a < 4 ? na - a : 4;
        ikt_similarity_block(tiles->isa, shape, (const char *)left + a * tiles->stride, rows, block,
                             nb, equal, IKT_SHELF_ROWS);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t b = 0; b < nb; b++)
                out[(a + r) * stride + b] =
                    (float)((int)tiles->d - (int)equal[r * IKT_SHELF_ROWS + b]);
    }
}

static void do_nothing(ikt_tiles *tiles) {
    (void)tiles;
}

enum { SOME = 64 }; /* rows gathered at a time */

static void score_some(const ikt_tiles *tiles, const char *row, const char *const *other,
                       int64_t count, void *scratch, float *out) {
    const ikt_code_shape shape = {tiles->d, tiles->stride, tiles->width};
    uint16_t equal[SOME];
    for (int64_t done = 0; done < count; done += SOME) {
        int64_t now = count - done < SOME ? count - done : SOME;
        for (int64_t c = 0; c < now; c++)
            memcpy((char *)scratch + c * tiles->stride, other[done + c], (size_t)tiles->stride);
        ikt_similarity_block(tiles->isa, shape, scratch, now, row, 1, equal, 1);
        for (int64_t c = 0; c < now; c++)
            out[done + c] = (float)((int)tiles->d - (int)equal[c]);
    }
}

ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out) {
    *out = (ikt_tiles){.rows = *rows,
                       .isa = ikt_cpu_isa(),
                       .data = codes->code,
                       .d = codes->t,
                       .stride = codes->stride,
                       .width = codes->width,
                       .row_bytes = codes->stride,
                       .left_bytes = codes->stride,
                       .score_most = (double)codes->t,
                       .bytes = bytes,
                       .prepare = prepare,
                       .score = score,
                       .some_bytes = SOME * codes->stride,
                       .flatten = do_nothing,
                       .pack = do_nothing,
                       .score_some = score_some};
    ikt_status st = ikt_tiles_blocks(ctx, cells, out);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}
