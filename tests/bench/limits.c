/* Peak rates: many independent chains of one instruction, nothing from memory; and memory with
 * next to no arithmetic. */
#include "limits.h"

#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"

enum {
    STEPS = 400000,       /* about a millisecond: waking the threads does not count */
    NEAR_BYTES = 1 << 18, /* a quarter of the second-level cache of small processors */
    NEAR_ROUNDS = 128,
    PAGE = 4096
};

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

/* A result that depends on all sums; adding the lanes up as int would overflow. */
__attribute__((target("avx512f"))) static float first_lane(__m512i sum) {
    __asm__ volatile("" : "+v"(sum)); /* as if all lanes were needed */
    return (float)_mm_cvtsi128_si32(_mm512_castsi512_si128(sum));
}

/* Assembly and few chains: see base/lanes.h for what a compiler makes of the intrinsic. */
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
    return first_lane(_mm512_add_epi32(s0, _mm512_add_epi32(s4, s8)));
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
    return first_lane(sum[0]);
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

/* A loop and the operations of one of its steps. */
typedef struct {
    loop *run;
    double operations;
} peak;

static peak fma_of(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return (peak){fma_512, 2.0 * 16 * CHAINS_24};
    if (isa >= IKT_ISA_AVX2) return (peak){fma_256, 2.0 * 8 * CHAINS_12};
#endif
    (void)isa;
    return (peak){plain, 2.0 * 16};
}

static peak dot_of(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512_VNNI) return (peak){dot4_512, 2.0 * 64 * CHAINS_12};
    if (isa >= IKT_ISA_AVX512) return (peak){dot2_512, 2.0 * 32 * CHAINS_24};
    if (isa >= IKT_ISA_AVX2) return (peak){dot2_256, 2.0 * 16 * CHAINS_12};
#endif
    (void)isa;
    return (peak){plain, 2.0 * 16};
}

static double run_peak(peak p, int threads) {
    volatile float keep = 0;
    double begin = ikt_now();
#pragma omp parallel num_threads(threads)
    {
        float result = p.run(STEPS);
#pragma omp critical
        keep = keep + result;
    }
    return ikt_now() - begin;
}

double bench_pass_fma(void *self) {
    const bench_cores *cores = self;
    return run_peak(fma_of(cores->isa), cores->threads);
}

double bench_fma_operations(const bench_cores *cores) {
    return fma_of(cores->isa).operations * STEPS * cores->threads;
}

double bench_pass_dot(void *self) {
    const bench_cores *cores = self;
    return run_peak(dot_of(cores->isa), cores->threads);
}

double bench_dot_operations(const bench_cores *cores) {
    return dot_of(cores->isa).operations * STEPS * cores->threads;
}

/* --- memory ----------------------------------------------------------------------------------- */

ikt_status bench_stream_create(ikt_context *ctx, int64_t bytes, bench_stream *out) {
    *out = (bench_stream){{ikt_cpu_isa(), ikt_threads(ctx)}, bytes, 1, NULL, NULL};
    ikt_status st = ikt_alloc(ctx, &out->from, bytes, 1, "bench");
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->to, bytes, 1, "bench");
    if (st != IKT_OK) bench_stream_destroy(out);
    return st;
}

ikt_status bench_near_create(ikt_context *ctx, bench_stream *out) {
    IKT_TRY(bench_stream_create(ctx, (int64_t)NEAR_BYTES * ikt_threads(ctx), out));
    out->rounds = NEAR_ROUNDS;
    return IKT_OK;
}

void bench_stream_destroy(bench_stream *stream) {
    ikt_free(&stream->from);
    ikt_free(&stream->to);
}

double bench_near_bytes(const bench_stream *stream) {
    return (double)stream->bytes * (double)stream->rounds;
}

/* Where the share of a thread begins; the last one ends with the memory. */
static int64_t share(const bench_stream *s, int thread) {
    if (thread == s->cores.threads) return s->bytes;
    return s->bytes / PAGE * thread / s->cores.threads * PAGE;
}

double bench_pass_copy(void *self) {
    const bench_stream *s = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(s->cores.threads)
    {
        int64_t first = share(s, omp_get_thread_num()), end = share(s, omp_get_thread_num() + 1);
        memcpy(s->to + first, s->from + first, (size_t)(end - first));
    }
    return ikt_now() - begin;
}

typedef uint64_t reading(const char *from, int64_t bytes);

static uint64_t read_plain(const char *from, int64_t bytes) {
    const uint64_t *word = (const void *)from;
    uint64_t sum = 0;
    for (int64_t i = 0; i < bytes / 8; i++)
        sum += word[i];
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t read_256(const char *from, int64_t bytes) {
    __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
    const __m256i *vector = (const void *)from;
    for (int64_t i = 0; i + 4 <= bytes / 32; i += 4) {
        s0 = _mm256_add_epi64(s0, vector[i]);
        s1 = _mm256_add_epi64(s1, vector[i + 1]);
        s2 = _mm256_add_epi64(s2, vector[i + 2]);
        s3 = _mm256_add_epi64(s3, vector[i + 3]);
    }
    s0 = _mm256_add_epi64(_mm256_add_epi64(s0, s1), _mm256_add_epi64(s2, s3));
    __asm__ volatile("" : "+x"(s0)); /* as if all lanes were needed */
    return (uint64_t)_mm256_extract_epi64(s0, 0);
}

__attribute__((target("avx512f"))) static uint64_t read_512(const char *from, int64_t bytes) {
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
    const __m512i *vector = (const void *)from;
    for (int64_t i = 0; i + 4 <= bytes / 64; i += 4) {
        s0 = _mm512_add_epi64(s0, vector[i]);
        s1 = _mm512_add_epi64(s1, vector[i + 1]);
        s2 = _mm512_add_epi64(s2, vector[i + 2]);
        s3 = _mm512_add_epi64(s3, vector[i + 3]);
    }
    s0 = _mm512_add_epi64(_mm512_add_epi64(s0, s1), _mm512_add_epi64(s2, s3));
    __asm__ volatile("" : "+v"(s0)); /* as if all lanes were needed */
    return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(s0));
}
#endif

static reading *reading_of(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return read_512;
    if (isa >= IKT_ISA_AVX2) return read_256;
#endif
    (void)isa;
    return read_plain;
}

double bench_pass_read(void *self) {
    const bench_stream *s = self;
    reading *read = reading_of(s->cores.isa);
    uint64_t sum = 0;
    double begin = ikt_now();
#pragma omp parallel num_threads(s->cores.threads) reduction(+ : sum)
    {
        int64_t first = share(s, omp_get_thread_num()), end = share(s, omp_get_thread_num() + 1);
        for (int64_t round = 0; round < s->rounds; round++)
            sum += read(s->from + first, end - first);
    }
    double seconds = ikt_now() - begin;
    volatile uint64_t keep = sum;
    (void)keep;
    return seconds;
}
