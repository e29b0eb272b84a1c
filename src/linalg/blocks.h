/* Rows of any data set as linear algebra reads them, in blocks: for streaming, and for sums in a
 * fixed global order.
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

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Changing it changes the last bits of every statistic. */
enum { IKT_BLOCK_ROWS = 512 };

typedef struct {
    int64_t first, count; /* global rows first .. first + count - 1 */
} ikt_row_range;

/* Rows that can be read by ranges, in double precision. What owns the rows (a file, a preprocessed
 * data set, an array in a test) lends one of these. */
typedef struct {
    /* COLLECTIVE. Reads rows first .. first + count - 1 into rows[count*d], row-major. Ranks may
     * ask for different ranges, also for none. Returns an agreed status. */
    ikt_status (*read)(void *self, int64_t first, int64_t count, double *rows);
    void *self;       /* passed to read */
    int64_t n, d;     /* rows and columns, the same on all ranks */
    const char *name; /* "file.h5:/X", for messages; borrowed */
} ikt_row_reader;

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

/* COLLECTIVE. Reads all rows once; each rank those of its fixed blocks.
 *   take   LOCAL, called in the order of rows for parts of one fixed block each: `rows` are those
 *          of `part`, and `is_end` says that the block ends with them
 * Errors: IKT_ERR_RESOURCE, the reader's. Memory: 16 MiB. */
ikt_status ikt_blocks_read(ikt_context *ctx, const ikt_row_reader *reader, void *self,
                           void (*take)(ikt_context *ctx, void *self, const double *rows,
                                        ikt_row_range part, bool is_end));

/* A reader that sees evenly spread blocks of another's rows only, for statistics that a sample
 * serves as well as all rows. Whole fixed blocks are taken, so that reading stays sequential; which
 * ones depends on the number of rows alone. */
typedef struct {
    ikt_context *ctx;
    ikt_row_reader all;
    int64_t blocks; /* that are seen, of `whole` */
    int64_t whole;
} ikt_strided_reader;

/* LOCAL. A view of at most `most` rows of `all`, at least one block; all rows where there are no
 * more than that. Valid as long as `space`, which it uses, and what `all` refers to. */
ikt_row_reader ikt_strided_reader_make(ikt_context *ctx, const ikt_row_reader *all, int64_t most,
                                       ikt_strided_reader *space);

#endif
