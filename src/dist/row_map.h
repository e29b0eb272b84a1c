/* Which rank owns which rows: contiguous blocks whose sizes differ by at most one.
 *
 * Pure functions of (n, ranks); ranks without rows are legal (n < ranks).
 */
#ifndef IKT_DIST_ROW_MAP_H
#define IKT_DIST_ROW_MAP_H

#include <stdint.h>

typedef struct {
    int64_t n;     /* global rows, >= 0 */
    int ranks;     /* >= 1 */
    int64_t first; /* first global row of this rank */
    int64_t count; /* rows of this rank */
} ikt_row_map;

/* LOCAL, all of them. */
ikt_row_map ikt_row_map_make(int64_t n, int ranks, int rank);
int64_t ikt_row_map_first(const ikt_row_map *map, int rank); /* rank == ranks gives n */
int64_t ikt_row_map_count(const ikt_row_map *map, int rank);
int ikt_row_map_owner(const ikt_row_map *map, int64_t row);

#endif
