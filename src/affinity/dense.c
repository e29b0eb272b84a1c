/* The dense matrix and what its kinds share. See dense.h. */
#include "affinity/dense.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/row_hash.h"
#include "base/select.h"
#include "dist/shuffle.h"
#include "neighbours/exact.h"

static const char purpose[] = "dense P";

static int64_t padded(int64_t n) {
    return (n + 15) / 16 * 16;
}

int64_t ikt_dense_memory(int64_t n_local, int64_t n) {
    return n_local * padded(n) * (int64_t)sizeof(float);
}

static void copy_tile(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                      const float *score, int64_t stride) {
    ikt_dense *dense = self;
    for (int64_t a = 0; a < na; a++)
        memcpy(dense->value + (first + a) * dense->stride + row, score + a * stride,
               (size_t)nb * sizeof *score);
}

ikt_status ikt_dense_create(ikt_context *ctx, const ikt_rows *rows, ikt_dense *out) {
    *out = (ikt_dense){*rows, padded(rows->n), NULL};
    return ikt_alloc(ctx, &out->value, rows->count * out->stride, sizeof *out->value, purpose);
}

ikt_status ikt_dense_fill(ikt_context *ctx, const ikt_scorer *scorer, ikt_dense *out) {
    ikt_dense made IKT_AT_END(ikt_dense_destroy) = {.value = NULL};
    *out = (ikt_dense){.value = NULL};
    IKT_TRY(ikt_agree(ctx, ikt_dense_create(ctx, &scorer->rows, &made)));
    IKT_TRY(ikt_score_all(ctx, scorer, copy_tile, &made));
    return ikt_give(out, made);
}

ikt_status ikt_dense_nearest(ikt_context *ctx, const ikt_dense *dense, int64_t k, ikt_pair **all) {
    const int64_t space = IKT_SELECT_CAPACITY * k, count = dense->rows.count;
    *all = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    ikt_pair *own = ikt_claim(&held, count, sizeof *own);
    ikt_pair *pairs = ikt_claim(&held, ikt_threads(ctx) * space, sizeof *pairs);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++) {
        ikt_select s;
        ikt_select_begin(&s, ikt_cpu_isa(), k, pairs + omp_get_thread_num() * space);
        ikt_select_floats(&s, dense->rows.first + i, 0, dense->rows.n,
                          dense->value + i * dense->stride);
        ikt_select_end(&s);
        own[i] = 0;
        for (int64_t e = 0; e < s.count; e++)
            if (s.pair[e] > own[i]) own[i] = s.pair[e];
    }
    return ikt_share_rows(ctx, &dense->rows, own, sizeof *own, purpose, all);
}

ikt_status ikt_check_p(ikt_context *ctx, ikt_exact_sum *total, uint64_t odd) {
    ikt_exact_sum_reduce(ctx, total, 1);
    odd = ikt_hash_total(ctx, odd);
    const double sum = ikt_exact_sum_value(total);
    if (!(fabs(sum - 1) <= 1e-6))
        return ikt_fail(ctx, IKT_ERR_INTERNAL,
                        "the entries of P sum to %.9g and not to 1, which is a defect of this "
                        "program: please report it with the settings of the run",
                        sum);
    if (odd != 0)
        return ikt_fail(ctx, IKT_ERR_INTERNAL,
                        "P is not symmetric, which is a defect of this program: please report it "
                        "with the settings of the run");
    return IKT_OK;
}

/* The entries of a row are in one order on any ranks; rows are added exactly. */
ikt_status ikt_dense_check(ikt_context *ctx, const ikt_dense *dense) {
    ikt_exact_sum total = {{0}, 0, 0};
    uint64_t odd = 0;
#pragma omp parallel for schedule(static) reduction(+ : odd) reduction(exact : total)              \
    num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->rows.count; i++) {
        const float *row = dense->value + i * dense->stride;
        double sum = 0;
        for (int64_t j = 0; j < dense->rows.n; j++) {
            sum += (double)row[j];
            odd += ikt_hash_entry(dense->rows.first + i, j, row[j]);
        }
        ikt_exact_sum_add(&total, sum);
    }
    return ikt_check_p(ctx, &total, odd);
}

void ikt_dense_destroy(ikt_dense *dense) {
    ikt_free(&dense->value);
}
