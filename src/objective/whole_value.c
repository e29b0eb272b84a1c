/* The divergence from the whole kernel, estimated. See whole_attraction.h.
 *
 * Method: the mean of log(P_ij / w_ij) over pairs that were drawn with the probabilities of P, once
 * for the whole run: values of one run differ by the map alone. Advantage: unbiased, with an error
 * that is known, for a millisecond; no pass over codes. Disadvantage: an error of about 1 / 180 of
 * the deviation of the terms, where a sum over P has none. */
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "objective/whole_attraction.h"

/* COLLECTIVE. Positions of the rows of all pairs: as whole numbers, to which one rank adds.
 *   bits   [2 * count * q] receives them as bits of floats */
static void share_positions(ikt_context *ctx, const ikt_whole *w, int q, const float *y,
                            int64_t *bits) {
    const ikt_rows *rows = &w->rows;
    for (int64_t e = 0; e < 2 * w->sample.count; e++) {
        const int64_t i = w->sample.row[e] - rows->first;
        for (int c = 0; c < q; c++) {
            union {
                float value;
                uint32_t bits;
            } one = {.bits = 0};
            if (i >= 0 && i < rows->count) one.value = y[q * i + c];
            bits[q * e + c] = one.bits;
        }
    }
    ikt_sum_i64(ctx, bits, 2 * w->sample.count * q);
}

static double square(const int64_t *bits, int q, int64_t pair) {
    double sum = 0;
    for (int c = 0; c < q; c++) {
        union {
            uint32_t bits;
            float value;
        } a = {(uint32_t)bits[2 * q * pair + c]}, b = {(uint32_t)bits[2 * q * pair + q + c]};
        const double d = (double)a.value - (double)b.value;
        sum += d * d;
    }
    return sum;
}

ikt_status ikt_whole_value_estimate(ikt_context *ctx, const ikt_whole *w, int q, ikt_kernel kernel,
                                    const float *y, ikt_whole_value *out) {
    const int64_t count = w->sample.count;
    int64_t *bits IKT_AT_END(ikt_free) = NULL;
    double mean = 0, squares = 0;
    *out = (ikt_whole_value){0, 0};
    if (count == 0) return IKT_OK; /* no row has any similarity */
    IKT_TRY(ikt_alloc_all(ctx, &bits, 2 * count * q, sizeof *bits, "attraction"));
    share_positions(ctx, w, q, y, bits);
    for (int64_t s = 0; s < count; s++) { /* Welford's sums */
        const double r2 = square(bits, q, s);
        const double term = w->sample.log_p[s] + ikt_kernel_minus_log(kernel, r2);
        const double off = term - mean;
        mean += off / (double)(s + 1);
        squares += off * (term - mean);
    }
    out->value = mean;
    if (count > 1) out->error = sqrt(squares / ((double)count * (double)(count - 1)));
    return IKT_OK;
}
