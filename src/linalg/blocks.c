/* Blocks of rows. See blocks.h. */
#include "linalg/blocks.h"

#include "base/comm.h"
#include "dist/rows.h"

enum { STREAM_BYTES = 16 << 20 };

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

ikt_row_range ikt_blocks_of_rank(int64_t n, int ranks, int rank) {
    int64_t blocks = n / IKT_BLOCK_ROWS + (n % IKT_BLOCK_ROWS > 0);
    ikt_rows rows = ikt_rows_make(blocks, ranks, rank);
    int64_t first = least(rows.first * IKT_BLOCK_ROWS, n);
    int64_t end = least((rows.first + rows.count) * IKT_BLOCK_ROWS, n);
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
    int64_t done = least(step * rows, range.count);
    return (ikt_row_range){range.first + done, least(rows, range.count - done)};
}

ikt_row_range ikt_block_part(ikt_row_range range, int64_t done) {
    int64_t first = range.first + done;
    return (ikt_row_range){first,
                           least(range.count - done, IKT_BLOCK_ROWS - first % IKT_BLOCK_ROWS)};
}
