/* Blocks of rows: for streaming, and for sums in a fixed global order.
 *
 * Streaming: a rank goes through its rows a few at a time; because reading is collective, all ranks
 * take as many steps as the one with the most rows, the others with empty steps at the end.
 * Fixed blocks: sums over points are formed within blocks of IKT_BLOCK_ROWS rows that start at
 * multiples of it in the whole data set. The blocks are dealt to the ranks in contiguous ranges, so
 * a block is summed by one rank, in one order, whatever the number of ranks. Advantage: cheap plain
 * sums that are reproducible once the block sums are added exactly. Disadvantage: a second
 * distribution beside the row ownership of dist/rows.h; data sets of less than ranks *
 * IKT_BLOCK_ROWS rows leave ranks idle.
 */
#ifndef IKT_LINALG_BLOCKS_H
#define IKT_LINALG_BLOCKS_H

#include <stdint.h>

#include "base/status.h"

/* Changing it changes the last bits of every statistic. */
enum { IKT_BLOCK_ROWS = 512 };

typedef struct {
    int64_t first, count; /* global rows first .. first + count - 1 */
} ikt_row_range;

/* LOCAL, pure. The rows of the fixed blocks that rank `rank` of `ranks` sums up, of n rows in all;
 * starts at a multiple of IKT_BLOCK_ROWS; may be empty. */
ikt_row_range ikt_blocks_of_rank(int64_t n, int ranks, int rank);

/* LOCAL, pure. Rows of `columns` columns to stream at a time so that `bytes_per_value` bytes a
 * value stay around 16 MiB: a power of two between 1 and 32 IKT_BLOCK_ROWS, so that steps from a
 * block's start on hold whole blocks or lie within one. */
int64_t ikt_stream_rows(int64_t columns, int64_t bytes_per_value);

/* COLLECTIVE. Steps of `rows` rows that the rank with the most rows needs. */
int64_t ikt_stream_steps(ikt_context *ctx, int64_t count, int64_t rows);

/* LOCAL, pure. Rows of one step: `rows` rows of `range` from step * rows on, fewer at its end, none
 * beyond it (first is then the end of the range). */
ikt_row_range ikt_stream_step(ikt_row_range range, int64_t rows, int64_t step);

/* LOCAL, pure. What lies in one fixed block of rows of `range` from its row `done` on. */
ikt_row_range ikt_block_part(ikt_row_range range, int64_t done);

#endif
