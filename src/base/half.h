/* Numbers of half precision (float16): 1 bit of sign, 5 of the exponent, 10 of the fraction.
 * Without branches, so that compilers take several at a time. */
#ifndef IKT_BASE_HALF_H
#define IKT_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* LOCAL, pure. The value of a half. */
static inline float ikt_half_value(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7FFFu;
    const uint32_t is_normal = 0u - (uint32_t)(rest >= 0x400u);
    const uint32_t is_special = 0u - (uint32_t)(rest >= 0x7C00u); /* infinite, or not a number */
    const uint32_t normal = (rest << 13) + ((127u - 15u) << 23);
    const float tiny = (float)(int32_t)rest * 0x1p-24f;
    uint32_t word;
    float value;
    memcpy(&word, &tiny, sizeof word);
    word = (word & ~is_normal) | (normal & is_normal) | (0x7F800000u & is_special) | sign;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* LOCAL, pure. The half of that value, where there is one (ikt_half_holds); else some other. */
static inline uint16_t ikt_half_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    const uint32_t rest = word & 0x7FFFFFFFu;
    const uint32_t is_normal = 0u - (uint32_t)(rest >= (127u - 14u) << 23);
    const uint32_t normal = (rest >> 13) - ((127u - 15u) << 10);
    const float least = value < 0x1p-14f && value > -0x1p-14f ? value * 0x1p24f : 0;
    const int32_t steps = (int32_t)least;
    const uint32_t tiny = (uint32_t)(steps < 0 ? -steps : steps);
    return (uint16_t)((((normal & is_normal) | (tiny & ~is_normal)) & 0x7FFFu) |
                      (word >> 16 & 0x8000u));
}

/* LOCAL, pure. Whether a half has exactly that value, which is finite. */
static inline bool ikt_half_holds(float value) {
    return ikt_half_value(ikt_half_of(value)) == value;
}

#endif
