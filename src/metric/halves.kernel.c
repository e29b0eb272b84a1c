/* Rows in half precision. See halves.h. */
#include "metric/halves.h"

#include "base/half.h"
#include "base/lanes.h"

static bool hold(const float *x, int64_t count) {
    uint32_t others = 0;
    for (int64_t k = 0; k < count; k++)
        others |= (uint32_t)!ikt_half_holds(x[k]);
    return others == 0;
}

static void write(const float *x, int64_t count, uint16_t *half) {
    for (int64_t k = 0; k < count; k++)
        half[k] = ikt_half_of(x[k]);
}

static void read(const uint16_t *half, int64_t count, float *x) {
    int64_t k = 0;
#if LANE_WIDTH == 16
    for (; k + LANES <= count; k += LANES)
        _mm512_storeu_ps(x + k, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(half + k))));
#endif
    for (; k < count; k++)
        x[k] = ikt_half_value(half[k]);
}

const ikt_halves_kernel IKT_KERNEL(ikt_halves_kernel) = {
    .hold = hold, .write = write, .read = read};
