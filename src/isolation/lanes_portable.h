/* Sixteen lanes in plain C: arrays. Same names as lanes_avx512.h, which says why. */
#ifndef IKT_ISOLATION_LANES_H
#define IKT_ISOLATION_LANES_H

#include <math.h>
#include <stdint.h>

#define TARGET
#define LANES_INLINE static inline

enum { BLOCK_ROWS = 2, BLOCK_VECTORS = 1 };

typedef struct {
    float lane[16];
} floats;

typedef struct {
    int32_t lane[16];
} ints;

#define EACH_LANE for (int l = 0; l < 16; l++)

LANES_INLINE floats floats_load(const float *from) {
    floats a;
    EACH_LANE a.lane[l] = from[l];
    return a;
}
LANES_INLINE void floats_store(float *to, floats a) {
    EACH_LANE to[l] = a.lane[l];
}
LANES_INLINE floats floats_set(float value) {
    floats a;
    EACH_LANE a.lane[l] = value;
    return a;
}
LANES_INLINE floats floats_add(floats a, floats b) {
    EACH_LANE a.lane[l] += b.lane[l];
    return a;
}
LANES_INLINE floats floats_sub(floats a, floats b) {
    EACH_LANE a.lane[l] -= b.lane[l];
    return a;
}
LANES_INLINE floats floats_min(floats a, floats b) {
    EACH_LANE a.lane[l] = a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l];
    return a;
}
LANES_INLINE floats floats_max(floats a, floats b) {
    EACH_LANE a.lane[l] = a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l];
    return a;
}
LANES_INLINE floats floats_fma(floats a, floats b, floats c) {
    EACH_LANE a.lane[l] = fmaf(a.lane[l], b.lane[l], c.lane[l]);
    return a;
}
LANES_INLINE floats floats_minus_product(floats a, floats b, floats c) {
    EACH_LANE c.lane[l] -= a.lane[l] * b.lane[l];
    return c;
}
LANES_INLINE ints floats_select_less(floats a, floats b, ints yes, ints no) {
    EACH_LANE no.lane[l] = a.lane[l] < b.lane[l] ? yes.lane[l] : no.lane[l];
    return no;
}
LANES_INLINE uint32_t floats_at_most(floats a, float b) {
    uint32_t mask = 0;
    EACH_LANE mask |= (uint32_t)(a.lane[l] <= b) << l;
    return mask;
}
LANES_INLINE float floats_least(floats a) {
    float least = a.lane[0];
    EACH_LANE least = a.lane[l] < least ? a.lane[l] : least;
    return least;
}

LANES_INLINE ints ints_load(const int32_t *from) {
    ints a;
    EACH_LANE a.lane[l] = from[l];
    return a;
}
LANES_INLINE void ints_store(int32_t *to, ints a) {
    EACH_LANE to[l] = a.lane[l];
}
LANES_INLINE ints ints_set(int32_t value) {
    ints a;
    EACH_LANE a.lane[l] = value;
    return a;
}
LANES_INLINE ints ints_min(ints a, ints b) {
    EACH_LANE a.lane[l] = a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l];
    return a;
}
LANES_INLINE ints ints_minus_twice(ints a, ints b) {
    EACH_LANE a.lane[l] -= 2 * b.lane[l];
    return a;
}
LANES_INLINE ints ints_select_less(ints a, ints b, ints yes, ints no) {
    EACH_LANE no.lane[l] = a.lane[l] < b.lane[l] ? yes.lane[l] : no.lane[l];
    return no;
}
LANES_INLINE uint32_t ints_at_most(ints a, int32_t b) {
    uint32_t mask = 0;
    EACH_LANE mask |= (uint32_t)(a.lane[l] <= b) << l;
    return mask;
}
LANES_INLINE int32_t ints_least(ints a) {
    int32_t least = a.lane[0];
    EACH_LANE least = a.lane[l] < least ? a.lane[l] : least;
    return least;
}
LANES_INLINE ints ints_dot2(ints sum, ints a, ints b) {
    EACH_LANE {
        int32_t x = a.lane[l], c = b.lane[l];
        sum.lane[l] += (int16_t)x * (int16_t)c + (x >> 16) * (c >> 16);
    }
    return sum;
}

#endif
