/* Blocks of other ranks, fetched together. */
#ifndef IKT_NEIGHBOURS_FETCH_H
#define IKT_NEIGHBOURS_FETCH_H

#include "neighbours/probe.h"

typedef struct {
    int64_t count;
    uint32_t *first; /* [count] first positions of the foreign blocks, ascending */
    int64_t *offset; /* [count + 1] bytes into data */
    char *data;      /* the blocks */
} ikt_foreign;

/* COLLECTIVE. Fetches every block of another rank that is among the probes, once each.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                             const ikt_probe_lists *lists, ikt_foreign *out);
void ikt_foreign_destroy(ikt_foreign *foreign);

/* LOCAL. The block that begins at the position, own or fetched. */
const char *ikt_foreign_block(const ikt_tiles *tiles, const ikt_foreign *foreign, int64_t position);

#endif
