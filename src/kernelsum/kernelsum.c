/* What all ways of summing share. */
#include "kernelsum/kernelsum.h"

#include <math.h>

#include "base/memory.h"
#include "kernelsum/ops.h"

ikt_fft_settings ikt_fft_preset(ikt_fft_accuracy accuracy) {
    static const ikt_fft_settings presets[] = {
        [IKT_FFT_DEFAULT] = {4, 0.40, 8192, true}, [IKT_FFT_TIGHT] = {6, 0.24, 8192, false}};
    return presets[accuracy];
}

void ikt_kernelsum_evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    sums->ops->evaluate(sums, y, phi, gradient);
}

void ikt_kernelsum_destroy(ikt_kernelsum **sums) {
    if (!*sums) return;
    (*sums)->ops->destroy(*sums);
    ikt_free(sums);
}

void ikt_kernelsum_describe(const ikt_kernelsum *sums, char *text, size_t size) {
    sums->ops->describe(sums, text, size);
}

void ikt_kernelsum_invalid(const ikt_kernelsum *sums, double *phi, float *gradient) {
    for (int64_t i = 0; i < sums->map.count; i++) {
        phi[i] = NAN;
        gradient[2 * i] = gradient[2 * i + 1] = NAN;
    }
}

int64_t ikt_kernelsum_memory(bool exact, const ikt_row_map *map) {
    if (exact) return ikt_kernelsum_memory_exact(map);
    ikt_fft_settings settings = ikt_fft_preset(IKT_FFT_DEFAULT);
    return ikt_kernelsum_memory_fft(&settings, map, 8, 4 * sqrt((double)map->n) / 3);
}
