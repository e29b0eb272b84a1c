/* Rows without any similarity, and their nearest rows by input distance. */
#ifndef IKT_AFFINITY_ORPHANS_H
#define IKT_AFFINITY_ORPHANS_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/row_map.h"

/* The same on every rank: orphans are few. */
typedef struct {
    int64_t count, k;
    int64_t *row;      /* [count] global rows, ascending */
    uint32_t *nearest; /* [count * k] their k nearest rows, by ascending (distance, row) */
} ikt_orphans;

/* COLLECTIVE. Finds the nearest rows of the marked ones.
 *   marked  [map->count] nonzero for the own rows that are orphans
 *   k       neighbours wanted, < n
 * The data is streamed once per thousand orphans, and not at all when there are none.
 * Errors: those of reading, IKT_ERR_RESOURCE; *out is empty then. */
ikt_status ikt_orphans_find(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                            const uint8_t *marked, int64_t k, ikt_orphans *out);

void ikt_orphans_destroy(ikt_orphans *orphans);

#endif
