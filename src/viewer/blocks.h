/* Items of all ranks, in their order, as blocks of text in a file of rank 0.
 *
 * A block is a <script> element that a browser does not run but keeps as text: the items' bytes,
 * deflated (RFC 1951) and in base64. Blocks are small, because a browser's strings are limited, and
 * each is unpacked by itself.
 */
#ifndef IKT_VIEWER_BLOCKS_H
#define IKT_VIEWER_BLOCKS_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

typedef struct {
    int64_t n;             /* over all ranks, below 2^32 */
    int64_t count;         /* of this rank */
    const uint32_t *place; /* [count] of each in the order, ascending; over all ranks 0 .. n - 1 */
    int64_t bytes;         /* of an item */
    int64_t per_block;     /* items */
    const char *name;      /* of the blocks: their ids are NAME-0, NAME-1, ... */
    /* LOCAL. The bytes of this rank's i-th item. */
    void (*fill)(const void *self, int64_t i, uint8_t *item);
    /* LOCAL. The bytes of a block of `count` items in the form in which they are packed; NULL: item
     * after item. */
    void (*arrange)(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block);
    const void *self;
} ikt_block_items;

/* LOCAL, pure. Blocks that the items make. */
int64_t ikt_blocks_count(const ikt_block_items *items);

/* COLLECTIVE. Writes all blocks; ranks pack at the same time.
 *   file   open for writing on rank 0; NULL on the others. `path`: its name for messages
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. Memory: four times a block; on rank 0 also 16 blocks. */
ikt_status ikt_blocks_write(ikt_context *ctx, const ikt_block_items *items, FILE *file,
                            const char *path);

#endif
