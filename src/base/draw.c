/* Floyd's algorithm. */
#include "base/draw.h"

#include <stdbool.h>
#include <string.h>

#include "base/sort.h"

typedef struct {
    int64_t *slot; /* number + 1, 0 = free */
    int64_t size;  /* a power of two */
} number_set;

/* Adds a number; false if it is there already. */
static bool take(number_set *set, int64_t number) {
    uint64_t at = (uint64_t)number * 0x9E3779B97F4A7C15u; /* spreads neighbouring numbers */
    for (at >>= 16;; at++) {
        int64_t *slot = &set->slot[at & (uint64_t)(set->size - 1)];
        if (*slot == number + 1) return false;
        if (*slot == 0) {
            *slot = number + 1;
            return true;
        }
    }
}

int64_t ikt_draw_slots(int64_t count) {
    int64_t size = 2;
    while (size < 2 * count)
        size *= 2;
    return size;
}

void ikt_draw_subset(uint64_t seed, ikt_rng_purpose what, int64_t which, int64_t n, int64_t count,
                     int64_t *slot, int64_t slots, int64_t *number) {
    number_set taken = {slot, slots};
    memset(slot, 0, (size_t)slots * sizeof *slot);
    for (int64_t i = 0; i < count; i++) {
        int64_t j = n - count + i;
        int64_t r = ikt_rng_below(seed, what, which, (uint64_t)i, j + 1);
        number[i] = take(&taken, r) ? r : j;
        if (number[i] == j && r != j) take(&taken, j);
    }
    ikt_sort_i64(number, count);
}
