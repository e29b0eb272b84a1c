/* Entries of a row in the order of their columns.
 *
 * Method: shell sort of 64-bit keys, the column in the upper half. Advantage: no calls and no
 * memory of its own, fast for the few dozen entries that rows have. Disadvantage: slower than a
 * merge sort for rows of many thousands. */
#include "graph/entry_order.h"

#include <string.h>

static void sort_keys(uint64_t *key, int64_t count) {
    int64_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t i = gap; i < count; i++) {
            uint64_t moved = key[i];
            int64_t to = i;
            for (; to >= gap && key[to - gap] > moved; to -= gap)
                key[to] = key[to - gap];
            key[to] = moved;
        }
}

void ikt_entries_sort(uint32_t *column, float *value, int64_t count, uint64_t *key) {
    for (int64_t e = 0; e < count; e++) {
        uint32_t bits;
        memcpy(&bits, &value[e], sizeof bits);
        key[e] = (uint64_t)column[e] << 32 | bits;
    }
    sort_keys(key, count);
    for (int64_t e = 0; e < count; e++) {
        uint32_t bits = (uint32_t)key[e];
        memcpy(&value[e], &bits, sizeof bits);
        column[e] = (uint32_t)(key[e] >> 32);
    }
}

int64_t ikt_entries_find(const uint32_t *column, int64_t count, uint32_t wanted) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (column[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && column[low] == wanted ? low : -1;
}
