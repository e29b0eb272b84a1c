/* What all ways of summing share. */
#include "kernelsum/kernelsum.h"

#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "kernelsum/ops.h"

enum { PIECE = 4096 }; /* charges that a thread looks at together */

/* Measured with bench_repulsion accuracy, one thread with AVX-512 on a shared machine, the least of
 * two runs: force and Z error, milliseconds an evaluation. Last, the force error on embeddings of
 * 10,000 and 70,000 digits, whose spans were 167 and 225.
 *
 *   order spacing          n 10,000, span 90       n 70,000, span 160     embeddings
 *   4     0.42    float    8.5e-3 2e-6  0.6        8.3e-3 4e-7  3.1       9.4e-3 6.0e-3
 *   4     0.40    float    7.1e-3 2e-6  0.6        6.7e-3 1e-6  3.1       7.6e-3 4.9e-3   default
 *   4     0.40    double   7.1e-3 2e-6  1.1        6.7e-3 1e-6  6.0       7.6e-3 4.9e-3
 *   6     0.45    float    6.9e-3 2e-6  0.8        6.7e-3 4e-7  4.0       7.1e-3 3.8e-3
 *   6     0.26    double   1.2e-4 7e-9  2.9        1.1e-4 5e-9  9.7       1.3e-4 6.9e-5
 *   6     0.24    float    6.0e-5 6e-8  2.4        5.6e-5 6e-8  10        6.4e-5 3.7e-5
 *   6     0.24    double   6.0e-5 1e-9  3.4        5.6e-5 4e-9  13        6.4e-5 3.7e-5   tight
 */
ikt_fft_settings ikt_fft_preset(ikt_fft_accuracy accuracy) {
    static const ikt_fft_settings presets[] = {
        [IKT_FFT_DEFAULT] = {4, 0.40, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
        [IKT_FFT_TIGHT] = {6, 0.24, 8192, false, IKT_SHARING_AUTO, {0, 0, 0}}};
    return presets[accuracy];
}

ikt_kernel ikt_kernel_of_degrees(double alpha) {
    if (alpha == 1) return ikt_student;
    if (alpha >= 1e9) return (ikt_kernel){IKT_KERNEL_GAUSSIAN, 1};
    return (ikt_kernel){IKT_KERNEL_TAILED, alpha};
}

/* The width of a kernel near 0 falls with the square root of alpha. Measured on embeddings of
 * 10,000 digits and on random points: force errors by the default and the tight setting.
 *
 *   alpha     spacing     embeddings         random points, at worst
 *   inf       1           2.6e-3 1.4e-5      5.3e-3 3.0e-5
 *   2         1           4.3e-3 2.5e-5      5.8e-3 3.0e-5
 *   1         1           7.6e-3 6.5e-5      7.7e-3 6.5e-5
 *   0.5       1           9.0e-3 2.0e-4
 *   0.5       .84         4.8e-3 5.1e-5      3.0e-3 4.0e-5
 *   0.25      .71                            1.5e-3 3.5e-5
 *   0.1       .56                            1.5e-3 6.1e-5
 */
ikt_fft_settings ikt_fft_for_kernel(const ikt_fft_settings *settings, ikt_kernel kernel) {
    ikt_fft_settings own = *settings;
    if (kernel.kind == IKT_KERNEL_TAILED && kernel.alpha < 1)
        own.spacing *= sqrt(sqrt(kernel.alpha));
    return own;
}

ikt_status ikt_kernelsum_create(ikt_context *ctx, const ikt_rows *rows, int q, ikt_kernel kernel,
                                const ikt_kernelsum_ops *ops, const void *settings,
                                ikt_kernelsum **out) {
    ikt_kernelsum *made IKT_AT_END(ikt_kernelsum_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &made, 1, sizeof *made, "repulsion"));
    *made = (ikt_kernelsum){ctx, *rows, q, kernel, NULL, ops, NULL};
    ikt_status st = ikt_alloc(ctx, &made->self, 1, ops->size, "repulsion");
    if (st == IKT_OK) st = ops->prepare(made, settings);
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_give(out, made);
}

void ikt_kernelsum_destroy(ikt_kernelsum **sums) {
    if (!*sums) return;
    if ((*sums)->self) (*sums)->ops->destroy(*sums);
    ikt_free_all(&(*sums)->self, &(*sums)->scale, sums);
}

void ikt_kernelsum_describe(const ikt_kernelsum *sums, char *text, size_t size) {
    sums->ops->describe(sums, text, size);
}

ikt_status ikt_kernelsum_claim(ikt_kernelsum *sums, void *array, int64_t count, size_t size) {
    return ikt_alloc_all(sums->ctx, array, count, size, "repulsion");
}

static const double magnitude_most = 0x1p1023;

/* The largest magnitude of count charges; not below infinity where one is not finite or beyond
 * magnitude_most. */
static IKT_WIDEST_VECTORS double find_largest(const double *charge, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double magnitude = charge[i] < 0 ? -charge[i] : charge[i];
        const double sound = magnitude <= magnitude_most ? magnitude : INFINITY;
        most = sound > most ? sound : most;
    }
    return most;
}

/* For each set of charges the power of two that it is divided by: the least that no magnitude
 * exceeds. A maximum over all ranks does not depend on their number. */
static ikt_status find_scales(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    ikt_context *ctx = sums->ctx;
    const int64_t count = sums->rows.count;
    ikt_status st = ikt_reserve(ctx, &sums->scale, r->charges, sizeof *sums->scale, "repulsion");
    for (int k = 0; k < r->charges && st == IKT_OK; k++) {
        const double *charge = r->charge + k * count;
        double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) num_threads(ikt_threads(ctx))
        for (int64_t first = 0; first < count; first += PIECE)
            most = fmax(most, find_largest(charge + first, ikt_smaller(PIECE, count - first)));
        sums->scale[k] = most;
        for (int64_t i = 0; !isfinite(most) && i < count && st == IKT_OK; i++)
            if (!(fabs(charge[i]) <= magnitude_most))
                st = ikt_fail(ctx, IKT_ERR_DATA,
                              "kernel sums: charge %d of row %lld is %g; charges must be finite",
                              k + 1, (long long)(sums->rows.first + i), charge[i]);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_max_f64(ctx, sums->scale, r->charges);
    for (int k = 0; k < r->charges; k++) {
        int exponent;
        const double most = sums->scale[k], mantissa = frexp(most, &exponent);
        sums->scale[k] = most > 0 ? ldexp(1, mantissa > 0.5 ? exponent : exponent - 1) : 1;
    }
    return IKT_OK;
}

ikt_status ikt_kernelsum_evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *request) {
    ikt_kernelsum_request r = *request;
    int64_t invalid = 0;
    if (!r.charge) r.charges = 1;
    if (r.charges < 1) return IKT_OK;
    for (int64_t e = 0; r.target && e < sums->q * r.targets; e++)
        invalid += !isfinite(r.target[e]);
    if (r.target && ikt_max_one(sums->ctx, invalid) > 0) {
        ikt_kernelsum_invalid(sums, &r);
        return IKT_OK;
    }
    ikt_status st = r.charge ? find_scales(sums, &r) : IKT_OK;
    if (st == IKT_OK) st = sums->ops->evaluate(sums, &r);
    if (st != IKT_OK) ikt_kernelsum_invalid(sums, &r);
    return st;
}

void ikt_kernelsum_invalid(const ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    const int64_t places = r->charges * ikt_kernelsum_places(sums, r);
    for (int64_t i = 0; r->value && i < places; i++)
        r->value[i] = NAN;
    for (int64_t e = 0; r->gradient && e < sums->q * places; e++)
        r->gradient[e] = NAN;
}
