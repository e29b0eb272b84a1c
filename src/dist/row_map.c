/* Contiguous blocks of rows: the first n % ranks ranks own one row more than the others. */
#include "dist/row_map.h"

ikt_row_map ikt_row_map_make(int64_t n, int ranks, int rank) {
    ikt_row_map map = {n, ranks, 0, 0};
    map.first = ikt_row_map_first(&map, rank);
    map.count = ikt_row_map_count(&map, rank);
    return map;
}

int64_t ikt_row_map_first(const ikt_row_map *map, int rank) {
    int64_t base = map->n / map->ranks, more = map->n % map->ranks;
    return rank * base + (rank < more ? rank : more);
}

int64_t ikt_row_map_count(const ikt_row_map *map, int rank) {
    return map->n / map->ranks + (rank < map->n % map->ranks ? 1 : 0);
}

int ikt_row_map_owner(const ikt_row_map *map, int64_t row) {
    int64_t base = map->n / map->ranks, more = map->n % map->ranks;
    int64_t in_larger = more * (base + 1); /* rows in the blocks of base + 1 */
    if (row < in_larger) return (int)(row / (base + 1));
    return (int)(more + (row - in_larger) / base);
}
