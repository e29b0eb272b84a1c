/* Exact sums over all pairs.
 *
 * Method: positions of all rows on every rank (replica.h); each own row runs over them in global
 * order (pairs.h).
 * Advantage: no approximation, any kernel and dimension, the same bits on any ranks, threads and
 * vector width. Disadvantage: n^2 operations. */
#include <stdio.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/ops.h"
#include "kernelsum/pairs.h"

typedef struct {
    ikt_isa isa;
    ikt_replica replica;
} exact;

/* Own rows to sum for. */
typedef struct {
    const ikt_replica *replica;
    const float *y;
    int64_t count;
    double *phi;
    float *gradient;
} job;

LANES_INLINE void sum_group(const job *j, int q, ikt_kernel kernel, int group, int64_t i) {
    pair_sums sums[PAIR_GROUP];
    memset(sums, 0, (size_t)group * sizeof *sums);
    pair_add((const float *const *)j->replica->at, 0, j->replica->padded, q, kernel, group,
             j->y + q * i, sums);
    for (int k = 0; k < group; k++) {
        j->phi[i + k] = pair_total(&sums[k].value);
        for (int c = 0; c < q; c++)
            j->gradient[q * (i + k) + c] = (float)(-2 * pair_total(&sums[k].along[c]));
    }
}

LANES_INLINE void sum_rows(const job *j, int q, ikt_kernel kernel) {
    int64_t i = 0;
    for (; i + PAIR_GROUP <= j->count; i += PAIR_GROUP)
        sum_group(j, q, kernel, PAIR_GROUP, i);
    for (; i < j->count; i++)
        sum_group(j, q, kernel, 1, i);
}

LANES_INLINE void sum_any(const job *j, int q, ikt_kernel kernel) {
    if (kernel == IKT_KERNEL_STUDENT)
        sum_rows(j, q, IKT_KERNEL_STUDENT);
    else if (kernel == IKT_KERNEL_STUDENT_LOG)
        sum_rows(j, q, IKT_KERNEL_STUDENT_LOG);
    else
        sum_rows(j, q, IKT_KERNEL_GAUSSIAN);
}

LANES_INLINE void sum_all(const job *j, ikt_kernel kernel) {
    if (j->replica->q == 1)
        sum_any(j, 1, kernel);
    else if (j->replica->q == 2)
        sum_any(j, 2, kernel);
    else
        sum_any(j, 3, kernel);
}

static void sum_portable(const job *j, ikt_kernel kernel) {
    sum_all(j, kernel);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void sum_avx2(const job *j, ikt_kernel kernel) {
    sum_all(j, kernel);
}

__attribute__((target("avx512f"))) static void sum_avx512(const job *j, ikt_kernel kernel) {
    sum_all(j, kernel);
}
#endif

static void sum(ikt_isa isa, const job *j, ikt_kernel kernel) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512)
        sum_avx512(j, kernel);
    else if (isa == IKT_ISA_AVX2)
        sum_avx2(j, kernel);
    else
#endif
        sum_portable(j, kernel);
    (void)isa;
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    exact *e = sums->self;
    const int q = sums->q;
    if (!ikt_replica_fill(sums->ctx, &sums->rows, y, &e->replica)) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    enum { PIECE = 4 * PAIR_GROUP };
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(static)
    for (int64_t i = 0; i < sums->rows.count; i += PIECE) {
        const int64_t left = sums->rows.count - i;
        const job j = {&e->replica, y + q * i, left < PIECE ? left : PIECE, phi + i,
                       gradient + q * i};
        sum(e->isa, &j, sums->kernel);
    }
}

static void destroy(ikt_kernelsum *sums) {
    exact *e = sums->self;
    if (!e) return;
    ikt_replica_destroy(&e->replica);
    ikt_free(&e);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    snprintf(text, size, "exact sums over all pairs of %lld points", (long long)sums->rows.n);
}

static const ikt_kernelsum_ops exact_ops = {evaluate, destroy, describe};

static ikt_status prepare(ikt_kernelsum *sums) {
    exact *e = NULL;
    IKT_TRY(ikt_alloc(sums->ctx, &e, 1, sizeof *e, "repulsion"));
    sums->self = e;
    e->isa = ikt_cpu_isa();
    return ikt_replica_create(sums->ctx, &sums->rows, sums->q, &e->replica);
}

ikt_status ikt_kernelsum_create_exact(ikt_context *ctx, const ikt_rows *rows, int q,
                                      ikt_kernel kernel, ikt_kernelsum **out) {
    *out = NULL;
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *rows, q, kernel, NULL, &exact_ops};
        st = prepare(*out);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

int64_t ikt_kernelsum_memory_exact(const ikt_rows *rows, int q) {
    return ikt_replica_memory(rows, q);
}
