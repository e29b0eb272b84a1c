/* Peak rates: sixteen to twenty-four independent chains of one instruction, nothing from memory. */
#define _POSIX_C_SOURCE 200809L
#include "limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 200, READS = 10, STEPS = 500000 };

#if defined(__x86_64__)
#include <immintrin.h>

enum { CHAINS_24 = 24, CHAINS_12 = 12 };

__attribute__((target("avx512f"))) static float fma_512(int64_t steps) {
    __m512 sum[CHAINS_24], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS_24; i++)
        sum[i] = _mm512_set1_ps((float)i);
    for (int64_t s = 0; s < steps; s++)
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS_24; i++)
            sum[i] = _mm512_fmadd_ps(sum[i], a, b);
    for (int i = 1; i < CHAINS_24; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_reduce_add_ps(sum[0]);
}

__attribute__((target("avx2,fma"))) static float fma_256(int64_t steps) {
    __m256 sum[CHAINS_12], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS_12; i++)
        sum[i] = _mm256_set1_ps((float)i);
    for (int64_t s = 0; s < steps; s++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS_12; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], a, b);
    for (int i = 1; i < CHAINS_12; i++)
        sum[0] = _mm256_add_ps(sum[0], sum[i]);
    return _mm256_cvtss_f32(sum[0]);
}

/* Assembly and few chains: see kernel_u8_vnni.c for what a compiler makes of the intrinsic. */
__attribute__((target("avx512f,avx512bw,avx512vnni"))) static float dot4_512(int64_t steps) {
    __m512i s0 = _mm512_set1_epi32(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0;
    __m512i s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0;
    const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-5);
    for (int64_t s = 0; s < steps; s++)
        __asm__("vpdpbusd %12, %13, %0\n\tvpdpbusd %12, %13, %1\n\t"
                "vpdpbusd %12, %13, %2\n\tvpdpbusd %12, %13, %3\n\t"
                "vpdpbusd %12, %13, %4\n\tvpdpbusd %12, %13, %5\n\t"
                "vpdpbusd %12, %13, %6\n\tvpdpbusd %12, %13, %7\n\t"
                "vpdpbusd %12, %13, %8\n\tvpdpbusd %12, %13, %9\n\t"
                "vpdpbusd %12, %13, %10\n\tvpdpbusd %12, %13, %11"
                : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7),
                  "+v"(s8), "+v"(s9), "+v"(s10), "+v"(s11)
                : "v"(a), "v"(b));
    s0 = _mm512_add_epi32(_mm512_add_epi32(s0, s1), _mm512_add_epi32(s2, s3));
    s4 = _mm512_add_epi32(_mm512_add_epi32(s4, s5), _mm512_add_epi32(s6, s7));
    s8 = _mm512_add_epi32(_mm512_add_epi32(s8, s9), _mm512_add_epi32(s10, s11));
    return (float)_mm512_reduce_add_epi32(_mm512_add_epi32(s0, _mm512_add_epi32(s4, s8)));
}

/* The product is made anew from a changing factor, or a compiler would take it out of the loop. */
__attribute__((target("avx512f,avx512bw"))) static float dot2_512(int64_t steps) {
    __m512i sum[CHAINS_24], a = _mm512_set1_epi16(3);
    for (int i = 0; i < CHAINS_24; i++)
        sum[i] = _mm512_set1_epi32(i);
    for (int64_t s = 0; s < steps; s++)
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS_24; i++)
            sum[i] = _mm512_add_epi32(a, _mm512_madd_epi16(sum[i], a));
    for (int i = 1; i < CHAINS_24; i++)
        sum[0] = _mm512_add_epi32(sum[0], sum[i]);
    return (float)_mm512_reduce_add_epi32(sum[0]);
}

__attribute__((target("avx2"))) static float dot2_256(int64_t steps) {
    __m256i sum[CHAINS_12], a = _mm256_set1_epi16(3);
    for (int i = 0; i < CHAINS_12; i++)
        sum[i] = _mm256_set1_epi32(i);
    for (int64_t s = 0; s < steps; s++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS_12; i++)
            sum[i] = _mm256_add_epi32(a, _mm256_madd_epi16(sum[i], a));
    for (int i = 1; i < CHAINS_12; i++)
        sum[0] = _mm256_add_epi32(sum[0], sum[i]);
    return (float)_mm256_extract_epi32(sum[0], 0);
}
#endif

static float plain(int64_t steps) {
    float sum[16];
    for (int i = 0; i < 16; i++)
        sum[i] = (float)i;
    for (int64_t s = 0; s < steps; s++)
        for (int i = 0; i < 16; i++)
            sum[i] = sum[i] * 0.999f + 1e-3f;
    for (int i = 1; i < 16; i++)
        sum[0] += sum[i];
    return sum[0];
}

typedef float loop(int64_t steps);

double ikt_thread_seconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) abort();
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Best rate over all threads in billions of operations a second. */
static double rate(loop *run, double operations_per_step) {
    double best = 0;
    volatile float keep = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double threads = 0, slowest = 0;
#pragma omp parallel reduction(+ : threads) reduction(max : slowest)
        {
            double start = ikt_thread_seconds();
            float result = run(STEPS);
            slowest = ikt_thread_seconds() - start;
            threads = 1;
#pragma omp critical
            keep = keep + result;
        }
        double now = threads * STEPS * operations_per_step / slowest * 1e-9;
        if (now > best) best = now;
    }
    return best;
}

double ikt_limit_fma(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return rate(fma_512, 2.0 * 16 * CHAINS_24);
    if (isa >= IKT_ISA_AVX2) return rate(fma_256, 2.0 * 8 * CHAINS_12);
#endif
    (void)isa;
    return rate(plain, 2.0 * 16);
}

double ikt_limit_integer(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512_VNNI) return rate(dot4_512, 2.0 * 64 * CHAINS_12);
    if (isa >= IKT_ISA_AVX512) return rate(dot2_512, 2.0 * 32 * CHAINS_24);
    if (isa >= IKT_ISA_AVX2) return rate(dot2_256, 2.0 * 16 * CHAINS_12);
#endif
    (void)isa;
    return rate(plain, 2.0 * 16);
}

double ikt_limit_read(void) {
    const int64_t count = INT64_C(1) << 25; /* 256 MiB: larger than the cache a tenant gets */
    uint64_t *data = malloc((size_t)count * sizeof *data);
    if (!data) return 0;
    memset(data, 1, (size_t)count * sizeof *data);
    double best = 0;
    volatile uint64_t keep = 0;
    for (int repeat = 0; repeat < READS; repeat++) {
        uint64_t sum = 0;
        double slowest = 0;
#pragma omp parallel reduction(+ : sum) reduction(max : slowest)
        {
            double start = ikt_thread_seconds();
#pragma omp for schedule(static) nowait
            for (int64_t i = 0; i < count; i++)
                sum += data[i];
            slowest = ikt_thread_seconds() - start;
        }
        keep = sum;
        double now = (double)count * sizeof *data / slowest * 1e-9;
        if (now > best) best = now;
    }
    (void)keep;
    free(data);
    return best;
}
