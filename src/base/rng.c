/* Philox 4x32-10: ten rounds of 32 x 32 -> 64 bit products keyed by the seed. */
#include "base/rng.h"

#include <math.h>

typedef struct {
    uint32_t word[4];
} block;

static block philox(uint64_t seed, block counter) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * counter.word[0];
        uint64_t b = (uint64_t)0xCD9E8D57u * counter.word[2];
        counter = (block){{(uint32_t)(b >> 32) ^ counter.word[1] ^ key0, (uint32_t)b,
                           (uint32_t)(a >> 32) ^ counter.word[3] ^ key1, (uint32_t)a}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

static block draw_block(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    uint64_t r = (uint64_t)row;
    return philox(
        seed, (block){{(uint32_t)draw, (uint32_t)(draw >> 32 & 0xFFFFu) | (uint32_t)purpose << 16,
                       (uint32_t)r, (uint32_t)(r >> 32)}});
}

static uint64_t low(block b) {
    return (uint64_t)b.word[1] << 32 | b.word[0];
}

static uint64_t high(block b) {
    return (uint64_t)b.word[3] << 32 | b.word[2];
}

static double unit(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

uint64_t ikt_rng_u64(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    return low(draw_block(seed, purpose, row, draw));
}

double ikt_rng_uniform(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    return unit(low(draw_block(seed, purpose, row, draw)));
}

double ikt_rng_normal(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw) {
    block b = draw_block(seed, purpose, row, draw);
    double u = 1.0 - unit(low(b)); /* in (0, 1]: the logarithm is finite */
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * unit(high(b)));
}

int64_t ikt_rng_below(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw,
                      int64_t bound) {
    uint64_t bits = low(draw_block(seed, purpose, row, draw));
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(uint64_t)((wide)bits * (uint64_t)bound >> 64);
}
