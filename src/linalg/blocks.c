/* Rows in blocks. See blocks.h. */
#include "linalg/blocks.h"

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/watch.h"
#include "dist/rows.h"

enum { STREAM_BYTES = 16 << 20 };

ikt_row_range ikt_blocks_of_rank(int64_t n, int ranks, int rank) {
    int64_t blocks = n / IKT_BLOCK_ROWS + (n % IKT_BLOCK_ROWS > 0);
    ikt_rows rows = ikt_rows_make(blocks, ranks, rank);
    int64_t first = ikt_smaller(rows.first * IKT_BLOCK_ROWS, n);
    int64_t end = ikt_smaller((rows.first + rows.count) * IKT_BLOCK_ROWS, n);
    return (ikt_row_range){first, end - first};
}

int64_t ikt_stream_rows(int64_t columns, int64_t bytes_per_value) {
    int64_t rows = 32 * IKT_BLOCK_ROWS;
    while (rows > 1 && rows * bytes_per_value > STREAM_BYTES / (columns < 1 ? 1 : columns))
        rows /= 2;
    return rows;
}

int64_t ikt_stream_steps(ikt_context *ctx, int64_t count, int64_t rows) {
    return ikt_max_one(ctx, count / rows + (count % rows > 0));
}

ikt_row_range ikt_stream_step(ikt_row_range range, int64_t rows, int64_t step) {
    int64_t done = ikt_smaller(step * rows, range.count);
    return (ikt_row_range){range.first + done, ikt_smaller(rows, range.count - done)};
}

ikt_row_range ikt_block_part(ikt_row_range range, int64_t done) {
    int64_t first = range.first + done;
    return (ikt_row_range){
        first, ikt_smaller(range.count - done, IKT_BLOCK_ROWS - first % IKT_BLOCK_ROWS)};
}

ikt_status ikt_blocks_read(ikt_context *ctx, const ikt_row_reader *reader, void *self,
                           void (*take)(ikt_context *ctx, void *self, const double *rows,
                                        ikt_row_range part, bool is_end)) {
    const int64_t rows_most = ikt_stream_rows(reader->d, (int64_t)sizeof(double));
    const ikt_row_range mine = ikt_blocks_of_rank(reader->n, ikt_size(ctx), ikt_rank(ctx));
    double *rows IKT_AT_END(ikt_free) = NULL;
    ikt_status st = ikt_alloc(ctx, &rows, rows_most * reader->d, sizeof *rows, "row blocks");
    IKT_TRY(ikt_agree(ctx, st));
    const int64_t steps = ikt_stream_steps(ctx, mine.count, rows_most);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(mine, rows_most, step);
        IKT_TRY(reader->read(reader->self, at.first, at.count, rows));
        for (int64_t done = 0; done < at.count;) {
            const ikt_row_range part = ikt_block_part(at, done);
            const int64_t end = part.first + part.count;
            take(ctx, self, rows + done * reader->d, part,
                 end % IKT_BLOCK_ROWS == 0 || end == reader->n);
            done += part.count;
        }
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

/* Block b of the view is block b * whole / blocks of all. */
static ikt_status read_strided(void *self, int64_t first, int64_t count, double *rows) {
    const ikt_strided_reader *s = self;
    const ikt_row_range range = {first, count};
    int64_t pieces = 0, done = 0;
    for (int64_t at = 0; at < count; at += ikt_block_part(range, at).count)
        pieces++;
    pieces = ikt_max_one(s->ctx, pieces); /* reading is collective */
    for (int64_t piece = 0; piece < pieces; piece++) {
        ikt_row_range part = {0, 0};
        int64_t source = 0;
        if (done < count) {
            part = ikt_block_part(range, done);
            source = part.first / IKT_BLOCK_ROWS * s->whole / s->blocks * IKT_BLOCK_ROWS +
                     part.first % IKT_BLOCK_ROWS;
        }
        IKT_TRY(s->all.read(s->all.self, source, part.count, rows + done * s->all.d));
        done += part.count;
    }
    return IKT_OK;
}

ikt_row_reader ikt_strided_reader_make(ikt_context *ctx, const ikt_row_reader *all, int64_t most,
                                       ikt_strided_reader *space) {
    *space = (ikt_strided_reader){ctx, *all, most / IKT_BLOCK_ROWS, all->n / IKT_BLOCK_ROWS};
    if (all->n <= most || space->blocks < 1 || space->whole < 1) return *all;
    ikt_row_reader strided = *all;
    strided.read = read_strided;
    strided.self = space;
    strided.n = space->blocks * IKT_BLOCK_ROWS;
    return strided;
}
