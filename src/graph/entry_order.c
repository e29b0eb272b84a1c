/* Entries of a row in the order of their columns.
 */
#include "graph/entry_order.h"

#include <string.h>

#include "base/select.h"

void ikt_entries_sort(uint32_t *column, float *value, int64_t count, uint64_t *key) {
    for (int64_t e = 0; e < count; e++) {
        uint32_t bits;
        memcpy(&bits, &value[e], sizeof bits);
        key[e] = (uint64_t)column[e] << 32 | bits;
    }
    ikt_pairs_sort(key, count);
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
