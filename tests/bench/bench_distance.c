/* Rate of the distance kernel, beside the machine's own peak of fused multiply-adds.
 *
 * One thread. "share of peak": subtractions and multiply-adds a second over the multiply-adds a
 * second of a loop that does nothing else; 100 % means that both multiply-add units
 * are always busy; a processor that subtracts on a third unit can exceed it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/cpu.h"
#include "base/timer.h"
#include "linalg/distance.h"

#if defined(__x86_64__)
enum { CHAINS = 12, PEAK_STEPS = 100000000 };

__attribute__((target("avx512f"))) static double peak_avx512(void) {
    __m512 sum[CHAINS], factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        sum[i] = _mm512_set1_ps((float)i);
    double start = ikt_now();
    for (int64_t step = 0; step < PEAK_STEPS / CHAINS; step++)
        for (int i = 0; i < CHAINS; i++)
            sum[i] = _mm512_fmadd_ps(sum[i], factor, term);
    double seconds = ikt_now() - start;
    for (int i = 1; i < CHAINS; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    volatile float keep = _mm512_reduce_add_ps(sum[0]);
    (void)keep;
    return 16.0 * PEAK_STEPS / seconds;
}

__attribute__((target("avx2,fma"))) static double peak_avx2(void) {
    __m256 sum[CHAINS], factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        sum[i] = _mm256_set1_ps((float)i);
    double start = ikt_now();
    for (int64_t step = 0; step < PEAK_STEPS / CHAINS; step++)
        for (int i = 0; i < CHAINS; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], factor, term);
    double seconds = ikt_now() - start;
    for (int i = 1; i < CHAINS; i++)
        sum[0] = _mm256_add_ps(sum[0], sum[i]);
    volatile float keep = _mm_cvtss_f32(_mm256_castps256_ps128(sum[0]));
    (void)keep;
    return 8.0 * PEAK_STEPS / seconds;
}

static double peak(ikt_isa isa) {
    if (isa >= IKT_ISA_AVX512) return peak_avx512();
    return isa == IKT_ISA_AVX2 ? peak_avx2() : 0;
}
#else
static double peak(ikt_isa isa) {
    (void)isa;
    return 0;
}
#endif

static void *aligned(int64_t floats) {
    float *memory = aligned_alloc(64, ((size_t)floats * sizeof(float) + 63) / 64 * 64);
    if (!memory) exit(EXIT_FAILURE);
    for (int64_t i = 0; i < floats; i++)
        memory[i] = (float)(i % 97) * 0.01f;
    return memory;
}

/* Elements (pairs times columns) a second. */
static double rate(ikt_isa isa, int64_t na, int64_t nb, int64_t d) {
    float *a = aligned(na * d), *b = aligned(nb * d), *packed = aligned(ikt_packed_floats(nb, d));
    float *out = aligned(na * ikt_packed_rows(nb));
    int64_t elements = na * nb * d,
            repeats = (isa == IKT_ISA_PORTABLE ? 20000000 : 2000000000) / elements + 1;
    ikt_pack_rows(b, nb, d, packed);
    ikt_distance_block(isa, a, na, packed, nb, d, out);
    double start = ikt_now();
    for (int64_t i = 0; i < repeats; i++)
        ikt_distance_block(isa, a, na, packed, nb, d, out);
    double seconds = ikt_now() - start;
    free(a);
    free(b);
    free(packed);
    free(out);
    return (double)(repeats * elements) / seconds;
}

int main(void) {
    const int64_t dims[] = {8, 50, 256, 784};
    printf("%-10s %6s %12s %14s\n", "isa", "d", "Gelement/s", "share of peak");
    for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
        double most = peak((ikt_isa)isa);
        for (size_t t = 0; t < sizeof dims / sizeof *dims; t++) {
            double elements = rate((ikt_isa)isa, 256, 256, dims[t]);
            printf("%-10s %6lld %12.2f", ikt_isa_name((ikt_isa)isa), (long long)dims[t],
                   elements / 1e9);
            if (most > 0) printf(" %12.0f %%", 200 * elements / most);
            printf("\n");
        }
    }
    return 0;
}
