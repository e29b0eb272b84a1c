/* A reader that sees evenly spread blocks of another's rows only. */
#include "linalg/thin_reader.h"

#include "base/comm.h"
#include "linalg/blocks.h"

/* Where seen row `row` lies: block b of the view is block b * whole / blocks of all. */
static int64_t source_row(const ikt_thin_reader *t, int64_t row) {
    int64_t block = row / IKT_BLOCK_ROWS;
    return block * t->whole / t->blocks * IKT_BLOCK_ROWS + row % IKT_BLOCK_ROWS;
}

static ikt_status read_thin(void *self, int64_t first, int64_t count, double *rows) {
    const ikt_thin_reader *t = self;
    const ikt_row_range range = {first, count};
    int64_t pieces = 0, done = 0;
    for (int64_t at = 0; at < count; at += ikt_block_part(range, at).count)
        pieces++;
    pieces = ikt_max_one(t->ctx, pieces); /* reading is collective */
    for (int64_t piece = 0; piece < pieces; piece++) {
        ikt_row_range part = done < count ? ikt_block_part(range, done) : (ikt_row_range){0, 0};
        IKT_TRY(t->all.read(t->all.self, part.count > 0 ? source_row(t, part.first) : 0, part.count,
                            rows + done * t->all.d));
        done += part.count;
    }
    return IKT_OK;
}

ikt_row_reader ikt_thin_reader_make(ikt_context *ctx, const ikt_row_reader *all, int64_t most,
                                    ikt_thin_reader *space) {
    *space = (ikt_thin_reader){ctx, *all, most / IKT_BLOCK_ROWS, all->n / IKT_BLOCK_ROWS};
    if (all->n <= most || space->blocks < 1 || space->whole < 1) return *all;
    ikt_row_reader thin = *all;
    thin.read = read_thin;
    thin.self = space;
    thin.n = space->blocks * IKT_BLOCK_ROWS;
    return thin;
}
