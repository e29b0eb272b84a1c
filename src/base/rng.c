/* Philox 4x32-10: ten rounds of 32 x 32 -> 64 bit products keyed by the seed. Floyd's algorithm. */
#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/sort.h"

typedef struct {
    uint64_t low, high;
} block;

static block draw_block(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    uint64_t low = (draw & UINT64_C(0xFFFFFFFFFFFF)) | (uint64_t)purpose << 48;
    uint64_t high = (uint64_t)row;
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * (uint32_t)low;
        const uint64_t b = (uint64_t)0xCD9E8D57u * (uint32_t)high;
        low = (b >> 32 ^ low >> 32 ^ key0) | b << 32;
        high = (a >> 32 ^ high >> 32 ^ key1) | a << 32;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return (block){low, high};
}

static double unit(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

uint64_t ikt_rng_u64(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    return draw_block(seed, purpose, row, draw).low;
}

double ikt_rng_uniform(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    return unit(draw_block(seed, purpose, row, draw).low);
}

double ikt_rng_normal(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    const block b = draw_block(seed, purpose, row, draw);
    const double u = 1.0 - unit(b.low); /* in (0, 1]: the logarithm is finite */
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * unit(b.high));
}

int64_t ikt_rng_below(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw,
                      int64_t bound) {
    return ikt_rng_scale(draw_block(seed, purpose, row, draw).low, bound);
}

/* Adds a number to a table of entries number + 1 (0 is free); false if it is there already. */
static bool take(int64_t *table, int64_t slots, int64_t number) {
    uint64_t at = (uint64_t)number * 0x9E3779B97F4A7C15u; /* spreads neighbouring numbers */
    for (at >>= 16;; at++) {
        int64_t *slot = &table[at & (uint64_t)(slots - 1)];
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
    memset(slot, 0, (size_t)slots * sizeof *slot);
    for (int64_t i = 0; i < count; i++) {
        int64_t j = n - count + i;
        int64_t r = ikt_rng_below(seed, what, which, (uint64_t)i, j + 1);
        number[i] = take(slot, slots, r) ? r : j;
        if (number[i] == j && r != j) take(slot, slots, j);
    }
    ikt_sort_below(number, count, n, slot);
}

void ikt_draw_claimed(ikt_arrays *held, uint64_t seed, ikt_rng_purpose what, int64_t which,
                      int64_t n, int64_t count, int64_t *number) {
    const int64_t slots = ikt_draw_slots(count);
    ikt_arrays work IKT_AT_END(ikt_arrays_free) = *held;
    work.last = NULL;
    int64_t *slot = ikt_claim(&work, slots, sizeof *slot);
    held->status = work.status;
    if (slot) ikt_draw_subset(seed, what, which, n, count, slot, slots, number);
}
