/* Rows of which each rank holds a block of its own, and any range of them on any rank.
 *
 * Programs that bring their own arrays have blocks of any sizes, also none, where the rest of the
 * house has equal ones (rows.h). Method: every rank tells all what it wants, two numbers each;
 * then each knows what the others want of it, sends that, and what arrives is in order. Advantage:
 * one exchange whatever the blocks are, none at all where each rank wants rows of its own only.
 * Disadvantage: 40 bytes a rank, and where all want rows of one rank that one sends them all.
 */
#ifndef IKT_DIST_ROW_BLOCKS_H
#define IKT_DIST_ROW_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t first, count; /* rows first .. first + count - 1 */
} ikt_row_span;

typedef struct {
    int64_t n;                     /* global rows */
    int64_t *first;                /* [ranks + 1] first row of each rank's block, then n */
    ikt_row_span *request;         /* [ranks] what each rank reads, during a read */
    int64_t *give_counts, *counts; /* [ranks] rows for each rank; from each */
    int64_t round_bytes;           /* that a rank sends at a time, about; a test makes it small */
} ikt_row_blocks;

/* COLLECTIVE. The blocks of ranks that hold `count` rows each, in the order of the ranks.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_row_blocks_create(ikt_context *ctx, int64_t count, ikt_row_blocks *out);
void ikt_row_blocks_destroy(ikt_row_blocks *blocks);

/* COLLECTIVE. Reads rows; ranks may ask for different ranges, which may overlap, and for none.
 *   own    the rows of this rank's block, `bytes` bytes each; borrowed
 *   rows   [count] receives them; not part of `own`
 * Errors: IKT_ERR_RESOURCE. Memory: what others want of this rank, at most some 64 MiB or a row
 * for each of them at a time. Cost: a small gather, and where rows travel an exchange for every 64
 * MiB that the rank most asked has to send. */
ikt_status ikt_row_blocks_read(ikt_context *ctx, ikt_row_blocks *b, const void *own, size_t bytes,
                               int64_t first, int64_t count, void *rows);

#endif
