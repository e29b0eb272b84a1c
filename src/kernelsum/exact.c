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
    float *charge; /* [PAIR_GROUP][padded], once there have been charges; zeros in the padding */
} exact;

/* Places to sum at, all with the charges of one or more sets. */
typedef struct {
    const ikt_replica *replica;
    const float *charge[PAIR_GROUP]; /* [padded]; NULL: all are 1 */
    double scale[PAIR_GROUP];        /* what a sum is multiplied by */
    int group;                       /* sets */
    const float *y;                  /* [count * q] */
    int64_t count;
    double *value[PAIR_GROUP];   /* [count], or NULL */
    float *gradient[PAIR_GROUP]; /* [count * q], or NULL */
} job;

LANES_INLINE void store(const job *j, int q, int set, int64_t i, const pair_sums *sums) {
    const double scale = j->scale[set];
    if (j->value[set]) j->value[set][i] = scale * pair_total(&sums->value);
    for (int c = 0; c < q && j->gradient[set]; c++)
        j->gradient[set][q * i + c] = (float)(-2 * scale * pair_total(&sums->along[c]));
}

LANES_INLINE void sum_group(const job *j, int q, ikt_kernel kernel, int group, int64_t i) {
    pair_sums sums[PAIR_GROUP];
    memset(sums, 0, (size_t)group * sizeof *sums);
    pair_add((const float *const *)j->replica->at, 0, j->replica->padded, q, kernel, group,
             j->y + q * i, sums);
    for (int k = 0; k < group; k++)
        store(j, q, 0, i + k, &sums[k]);
}

LANES_INLINE void sum_charged(const job *j, int q, ikt_kernel kernel, int group, int64_t i) {
    pair_sums sums[PAIR_GROUP];
    memset(sums, 0, (size_t)group * sizeof *sums);
    pair_add_charged((const float *const *)j->replica->at, j->charge, 0, j->replica->padded, q,
                     kernel, group, j->y + q * i, sums);
    for (int k = 0; k < group; k++)
        store(j, q, k, i, &sums[k]);
}

LANES_INLINE void sum_rows(const job *j, int q, ikt_kernel kernel) {
    int64_t i = 0;
    if (!j->charge[0])
        for (; i + PAIR_GROUP <= j->count; i += PAIR_GROUP)
            sum_group(j, q, kernel, PAIR_GROUP, i);
    for (; i < j->count; i++)
        if (!j->charge[0])
            sum_group(j, q, kernel, 1, i);
        else if (j->group == PAIR_GROUP)
            sum_charged(j, q, kernel, PAIR_GROUP, i);
        else
            sum_charged(j, q, kernel, 1, i);
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

/* Sums of the sets first .. first + group - 1 at all own places. */
static void sum_sets(const ikt_kernelsum *sums, const ikt_kernelsum_request *r, int first,
                     int group) {
    const exact *e = sums->self;
    const int64_t q = sums->q, places = ikt_kernelsum_places(sums, r);
    const float *y = r->target ? r->target : r->y;
    enum { PIECE = 4 * PAIR_GROUP };
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(static)
    for (int64_t i = 0; i < places; i += PIECE) {
        job j = {.replica = &e->replica,
                 .group = group,
                 .y = y + q * i,
                 .count = places - i < PIECE ? places - i : PIECE};
        for (int k = 0; k < group; k++) {
            const int64_t at = (first + k) * places + i;
            j.charge[k] = r->charge ? e->charge + k * e->replica.padded : NULL;
            j.scale[k] = r->charge ? sums->scale[first + k] : 1;
            j.value[k] = r->value ? r->value + at : NULL;
            j.gradient[k] = r->gradient ? r->gradient + q * at : NULL;
        }
        sum(e->isa, &j, sums->kernel);
    }
}

static ikt_status evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    exact *e = sums->self;
    ikt_context *ctx = sums->ctx;
    if (r->charge && !e->charge) { /* on all ranks in the same call */
        ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &e->charge, PAIR_GROUP * e->replica.padded,
                                                 sizeof *e->charge, "repulsion"));
        if (st != IKT_OK) ikt_free(&e->charge);
        IKT_TRY(st);
    }
    if (!ikt_replica_fill(ctx, &sums->rows, r->y, &e->replica)) {
        ikt_kernelsum_invalid(sums, r);
        return IKT_OK;
    }
    for (int first = 0, group; first < r->charges; first += group) {
        group = r->charge && r->charges - first >= PAIR_GROUP ? PAIR_GROUP : 1;
        for (int k = 0; k < group && r->charge; k++)
            ikt_replica_charges(ctx, &sums->rows, r->charge + (first + k) * sums->rows.count,
                                sums->scale[first + k], &e->replica,
                                e->charge + k * e->replica.padded);
        sum_sets(sums, r, first, group);
    }
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    exact *e = sums->self;
    if (!e) return;
    ikt_replica_destroy(&e->replica);
    ikt_free(&e->charge);
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
        **out = (ikt_kernelsum){ctx, *rows, q, kernel, NULL, &exact_ops, NULL};
        st = prepare(*out);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

int64_t ikt_kernelsum_memory_exact(const ikt_rows *rows, int q) {
    return ikt_replica_memory(rows, q);
}
