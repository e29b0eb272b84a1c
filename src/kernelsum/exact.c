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

/* Own places begin .. end - 1 to sum at, all with the sets of charges first .. first + group - 1.
 */
typedef struct {
    const ikt_kernelsum *sums;
    const ikt_kernelsum_request *request;
    const exact *exact;
    int first, group;
    int64_t begin, end;
} job;

/* `group` rows from row i on; with charges, row i in `group` sets of them. */
LANES_INLINE void sum_group(const job *j, bool charged, int q, pair_form form, int group,
                            int64_t i) {
    const ikt_kernelsum_request *r = j->request;
    const ikt_replica *replica = &j->exact->replica;
    const float *own = (r->target ? r->target : r->y) + q * i, *charge[PAIR_GROUP];
    pair_sums sums[PAIR_GROUP];
    memset(sums, 0, (size_t)group * sizeof *sums);
    for (int k = 0; k < group && charged; k++)
        charge[k] = j->exact->charge + k * replica->padded;
    pair_add((const float *const *)replica->at, charged ? charge : NULL, 0, replica->padded, q,
             form, group, own, sums);
    for (int k = 0; k < group; k++) {
        const int64_t places = ikt_kernelsum_places(j->sums, r);
        const int64_t at = charged ? (j->first + k) * places + i : i + k;
        const double scale = charged ? j->sums->scale[j->first + k] : 1;
        if (r->value) r->value[at] = scale * pair_total(&sums[k].value);
        for (int c = 0; c < q && r->gradient; c++)
            r->gradient[q * at + c] = (float)(-2 * scale * pair_total(&sums[k].along[c]));
    }
}

LANES_INLINE void sum_rows(const job *j, int q, pair_form form) {
    const bool charged = j->request->charge != NULL;
    int64_t i = j->begin;
    for (; !charged && i + PAIR_GROUP <= j->end; i += PAIR_GROUP)
        sum_group(j, false, q, form, PAIR_GROUP, i);
    for (; i < j->end; i++)
        if (!charged)
            sum_group(j, false, q, form, 1, i);
        else if (j->group == PAIR_GROUP)
            sum_group(j, true, q, form, PAIR_GROUP, i);
        else
            sum_group(j, true, q, form, 1, i);
}

/* A function for each kernel and dimension, in which both are constants, not one for all: the time
 * of a compiler grows faster than what is inlined into a function. */
#define SUMS_OF(name, kind, q)                                                                     \
    LANES_INLINE void name##_body(const job *j) {                                                  \
        const pair_form form = pair_form_of(j->sums->kernel);                                      \
        sum_rows(j, q, (pair_form){kind, form.alpha, form.inverse});                               \
    }                                                                                              \
    IKT_FOR_EACH_ISA(name, name##_body, (const job *j), (j))

SUMS_OF(student_1, IKT_KERNEL_STUDENT, 1)
SUMS_OF(student_2, IKT_KERNEL_STUDENT, 2)
SUMS_OF(student_3, IKT_KERNEL_STUDENT, 3)
SUMS_OF(student_log_1, IKT_KERNEL_STUDENT_LOG, 1)
SUMS_OF(student_log_2, IKT_KERNEL_STUDENT_LOG, 2)
SUMS_OF(student_log_3, IKT_KERNEL_STUDENT_LOG, 3)
SUMS_OF(gaussian_1, IKT_KERNEL_GAUSSIAN, 1)
SUMS_OF(gaussian_2, IKT_KERNEL_GAUSSIAN, 2)
SUMS_OF(gaussian_3, IKT_KERNEL_GAUSSIAN, 3)
SUMS_OF(tailed_1, IKT_KERNEL_TAILED, 1)
SUMS_OF(tailed_2, IKT_KERNEL_TAILED, 2)
SUMS_OF(tailed_3, IKT_KERNEL_TAILED, 3)

typedef void sum_function(const job *j);
typedef sum_function *isa_choice(ikt_isa isa);

static sum_function *sum_of(const ikt_kernelsum *sums, ikt_isa isa) {
    static isa_choice *const choice[][IKT_DIMENSIONS_MOST] = {
        [IKT_KERNEL_STUDENT] = {student_1, student_2, student_3},
        [IKT_KERNEL_STUDENT_LOG] = {student_log_1, student_log_2, student_log_3},
        [IKT_KERNEL_GAUSSIAN] = {gaussian_1, gaussian_2, gaussian_3},
        [IKT_KERNEL_TAILED] = {tailed_1, tailed_2, tailed_3},
    };
    return choice[sums->kernel.kind][sums->q - 1](isa);
}

static ikt_status evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    enum { PIECE = 4 * PAIR_GROUP };
    exact *e = sums->self;
    ikt_context *ctx = sums->ctx;
    const int64_t places = ikt_kernelsum_places(sums, r);
    if (r->charge && !e->charge)
        IKT_TRY(ikt_kernelsum_claim(sums, &e->charge, PAIR_GROUP * e->replica.padded,
                                    sizeof *e->charge));
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
#pragma omp parallel for num_threads(ikt_threads(ctx)) schedule(static)
        for (int64_t i = 0; i < places; i += PIECE) {
            const job j = {sums, r, e, first, group, i, places - i < PIECE ? places : i + PIECE};
            sum_of(sums, e->isa)(&j);
        }
    }
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    exact *e = sums->self;
    ikt_replica_destroy(&e->replica);
    ikt_free(&e->charge);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    snprintf(text, size, "exact sums over all pairs of %lld points", (long long)sums->rows.n);
}

static ikt_status prepare(ikt_kernelsum *sums, const void *settings) {
    exact *e = sums->self;
    (void)settings;
    e->isa = ikt_cpu_isa();
    return ikt_replica_create(sums->ctx, &sums->rows, sums->q, &e->replica);
}

ikt_status ikt_kernelsum_create_exact(ikt_context *ctx, const ikt_rows *rows, int q,
                                      ikt_kernel kernel, ikt_kernelsum **out) {
    static const ikt_kernelsum_ops ops = {sizeof(exact), prepare, evaluate, destroy, describe};
    return ikt_kernelsum_create(ctx, rows, q, kernel, &ops, NULL, out);
}

int64_t ikt_kernelsum_memory_exact(const ikt_rows *rows, int q, int charges) {
    const int64_t sets = charges > 0 ? PAIR_GROUP * (rows->n + LANES) : 0;
    return ikt_replica_memory(rows, q) + sets * (int64_t)sizeof(float) + 8 * charges;
}
