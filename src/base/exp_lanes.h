/* The exponential of eight doubles at a time, of additions and multiplications alone: the same bits
 * on every processor and at every vector width.
 *
 * Method: x = k log 2 + r with |r| <= log(2) / 2, log 2 in two parts so that r is exact to the last
 * bits; the Taylor series of e^r to the 13th power, whose rest is below 1e-17; and k added to the
 * exponent. Advantage: a few dozen instructions for eight values, where the C library takes as many
 * for one. Disadvantage: arguments up to 0 only, and 0 in place of results below 1e-307.
 *
 * For functions that IKT_WIDEST_VECTORS compiles (base/cpu.h). */
#ifndef IKT_BASE_EXP_LANES_H
#define IKT_BASE_EXP_LANES_H

#include <stdint.h>
#include <string.h>

enum { IKT_DOUBLES = 8 };

typedef double ikt_doubles __attribute__((vector_size(IKT_DOUBLES * sizeof(double))));
typedef int64_t ikt_longs __attribute__((vector_size(IKT_DOUBLES * sizeof(int64_t))));
typedef uint64_t ikt_unsigned_longs __attribute__((vector_size(IKT_DOUBLES * sizeof(uint64_t))));

#define IKT_DOUBLES_INLINE static inline __attribute__((always_inline))

/* From the first eight of some floats, or the first `count` where there are fewer; the others are
 * as `rest`. */
IKT_DOUBLES_INLINE void ikt_doubles_load(const float *from, int64_t count, float rest,
                                         ikt_doubles *out) {
    typedef float floats __attribute__((vector_size(IKT_DOUBLES * sizeof(float))));
    floats value;
    if (count >= IKT_DOUBLES)
        memcpy(&value, from, sizeof value);
    else
        for (int l = 0; l < IKT_DOUBLES; l++)
            value[l] = l < count ? from[l] : rest;
    *out = __builtin_convertvector(value, ikt_doubles);
}

/* Zero from place `count` on. */
IKT_DOUBLES_INLINE void ikt_doubles_keep(ikt_doubles *x, int64_t count) {
    const ikt_longs place = {0, 1, 2, 3, 4, 5, 6, 7};
    *x = (ikt_doubles)((ikt_longs)*x & (ikt_longs)(place < count));
}

/* Their sum, halves added to halves. */
IKT_DOUBLES_INLINE double ikt_doubles_total(const ikt_doubles *x) {
    double lane[IKT_DOUBLES];
    memcpy(lane, x, sizeof lane);
    for (int half = IKT_DOUBLES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* e^x of x <= 0. */
IKT_DOUBLES_INLINE void ikt_exp_lanes(ikt_doubles *x) {
    static const double least = -707, whole = 0x1.8p52; /* adding the latter rounds to integers */
    static const double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33; /* of log 2 */
    static const double factor[] = {1.0 / 479001600,
                                    1.0 / 39916800,
                                    1.0 / 3628800,
                                    1.0 / 362880,
                                    1.0 / 40320,
                                    1.0 / 5040,
                                    1.0 / 720,
                                    1.0 / 120,
                                    1.0 / 24,
                                    1.0 / 6,
                                    1.0 / 2,
                                    1,
                                    1};
    const ikt_doubles rounded = *x * 1.4426950408889634 + whole, k = rounded - whole;
    const ikt_doubles r = (*x - k * high) - k * low;
    ikt_doubles sum = r * (1.0 / 6227020800) + factor[0];
    for (size_t e = 1; e < sizeof factor / sizeof *factor; e++)
        sum = sum * r + factor[e];
    /* Unsigned: what is below `least` may overflow before it is left out. */
    const ikt_unsigned_longs scaled = (ikt_unsigned_longs)sum + ((ikt_unsigned_longs)rounded << 52);
    *x = (ikt_doubles)((ikt_longs)scaled & (ikt_longs)(*x >= least));
}

#endif
