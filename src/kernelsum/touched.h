/* Which nodes of a grid the points of a rank touch, and moving those nodes alone.
 *
 * A row of nodes is cut into pieces of eight, a line of the cache of charges; a set has a bit for
 * each piece. Rows of P are ordered by cells, so a rank's points lie in islands of the map: all
 * over its rows, but in 64, 35 and 16 % of its pieces on 2, 16 and 64 ranks (1,000,000 digits).
 */
#ifndef IKT_KERNELSUM_TOUCHED_H
#define IKT_KERNELSUM_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelsum/grid.h"

/* Consecutive rows of nodes, and which pieces of them are meant. */
typedef struct {
    int64_t rows, stride; /* nodes of a row */
    uint64_t *bits;       /* [rows][ikt_touched_words(stride)], borrowed */
} ikt_touched;

/* LOCAL, pure. Words of a row's bits. */
int64_t ikt_touched_words(int64_t stride);

/* LOCAL, pure. Bytes that ikt_touched_find works in. */
int64_t ikt_touched_scratch(int64_t rows, int64_t stride);

/* LOCAL. Sets the bits of all pieces that a window of the points or of the targets reaches, the
 * lanes of its vectors included. Does not depend on threads.
 *   y         [count * 2]
 *   target    [targets * 2]
 *   scratch   [ikt_touched_scratch(rows of the grid, stride)] */
void ikt_touched_find(const ikt_grid *grid, int order, int threads, const float *y, int64_t count,
                      const float *target, int64_t targets, uint8_t *scratch, ikt_touched *out);

/* LOCAL, pure. Nodes of the pieces that are meant. */
int64_t ikt_touched_nodes(const ikt_touched *touched);

/* LOCAL. Copies the nodes that are meant between the rows that they stand in and `packed`, where
 * they stand one behind the other.
 *   size   of a node, bytes
 *   node   [rows][stride] */
void ikt_touched_pack(const ikt_touched *touched, size_t size, const void *node, void *packed);
void ikt_touched_unpack(const ikt_touched *touched, size_t size, const void *packed, void *node);

/* LOCAL. Adds packed charges to those of the rows. */
void ikt_touched_add(const ikt_touched *touched, const int64_t *packed, int64_t *charge);

#endif
