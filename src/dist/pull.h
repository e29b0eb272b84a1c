/* Values of rows of other ranks, asked for by their numbers.
 *
 * For what is wanted once; values that are wanted again and again travel by halo.h.
 */
#ifndef IKT_DIST_PULL_H
#define IKT_DIST_PULL_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/row_map.h"

/* COLLECTIVE. Fetches values of rows.
 *   map     ownership of the rows
 *   row     [count] global rows, ascending, distinct, none owned by this rank; lent
 *   own     [map->count] values of the own rows, `bytes` bytes each; lent
 *   value   [count] values of the rows asked for
 * Errors: IKT_ERR_RESOURCE. Memory: 4 bytes and a value for each that others ask this rank for. */
ikt_status ikt_pull(ikt_context *ctx, const ikt_row_map *map, const uint32_t *row, int64_t count,
                    const void *own, size_t bytes, void *value);

#endif
