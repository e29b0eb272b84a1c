/* Entries of a row in the order of their columns. */
#ifndef IKT_GRAPH_ENTRY_ORDER_H
#define IKT_GRAPH_ENTRY_ORDER_H

#include <stdint.h>

/* LOCAL. Sorts the `count` entries of one row by column. Columns are distinct.
 *   key   [count] room for what is sorted: column and value in one number. */
void ikt_entries_sort(uint32_t *column, float *value, int64_t count, uint64_t *key);

/* LOCAL. Place of `wanted` in the ascending columns, or -1. */
int64_t ikt_entries_find(const uint32_t *column, int64_t count, uint32_t wanted);

#endif
