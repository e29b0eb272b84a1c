/* What all ways of summing share. */
#include "kernelsum/kernelsum.h"

#include <math.h>

#include "base/memory.h"
#include "kernelsum/grid.h"
#include "kernelsum/ops.h"

void ikt_kernelsum_evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    sums->evaluate(sums, y, phi, gradient);
}

void ikt_kernelsum_destroy(ikt_kernelsum **sums) {
    if (!*sums) return;
    (*sums)->destroy(*sums);
    ikt_free(sums);
}

void ikt_kernelsum_invalid(const ikt_kernelsum *sums, double *phi) {
    for (int64_t i = 0; i < sums->map.count; i++)
        phi[i] = NAN;
}

int64_t ikt_kernelsum_memory(bool exact, const ikt_row_map *map) {
    if (exact) return 8 * map->n;
    ikt_fft_settings settings = ikt_fft_preset(IKT_FFT_DEFAULT);
    double side = 4 * sqrt((double)map->n) / 3;
    return ikt_grid_memory(&settings, side);
}
