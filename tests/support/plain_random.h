/* Philox 4x32-10 written from its paper (Salmon, Moraes, Dror & Shaw, SC 2011, section 3.3), for
 * tests that make the program's draws by themselves. */
#ifndef IKT_TESTS_PLAIN_RANDOM_H
#define IKT_TESTS_PLAIN_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Ten rounds: multiply two words, exchange halves, add the key, which grows by a Weyl sequence. */
static inline void plain_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 1; round <= 10; round++) {
        const uint64_t left = UINT64_C(0xD2511F53) * x[0], right = UINT64_C(0xCD9E8D57) * x[2];
        const uint32_t next[4] = {(uint32_t)(right >> 32) ^ x[1] ^ k[0], (uint32_t)right,
                                  (uint32_t)(left >> 32) ^ x[3] ^ k[1], (uint32_t)left};
        for (int w = 0; w < 4; w++)
            x[w] = next[w];
        k[0] += UINT32_C(0x9E3779B9); /* the golden ratio */
        k[1] += UINT32_C(0xBB67AE85); /* the square root of 3 */
    }
    for (int w = 0; w < 4; w++)
        out[w] = x[w];
}

/* The draw of (seed, purpose, row, number): words 0 and 1 of the counter hold the number (48 bits)
 * and the purpose, words 2 and 3 the row; the key is the seed. */
static inline void plain_draw(uint64_t seed, uint32_t purpose, int64_t row, uint64_t number,
                              uint32_t out[4]) {
    const uint32_t counter[4] = {(uint32_t)number,
                                 (uint32_t)(number >> 32 & 0xFFFFu) | purpose << 16,
                                 (uint32_t)(uint64_t)row, (uint32_t)((uint64_t)row >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    plain_philox(counter, key, out);
}

/* Two words as a number in [0, 1) with 53 bits. */
static inline double plain_unit(uint32_t low, uint32_t high) {
    return ldexp((double)(((uint64_t)high << 32 | low) >> 11), -53);
}

/* A standard normal number by Box and Muller's transform of one draw. */
static inline double plain_normal(uint64_t seed, uint32_t purpose, int64_t row, uint64_t number) {
    uint32_t word[4];
    plain_draw(seed, purpose, row, number, word);
    const double radius = sqrt(-2 * log(1 - plain_unit(word[0], word[1])));
    return radius * cos(2 * 3.14159265358979323846 * plain_unit(word[2], word[3]));
}

#endif
