/* Kernel sums against plain double sums over all pairs, at the accuracy that each preset states,
 * and with the same bits on any ranks and threads. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "kernelsum/kernelsum.h"

/* Maps as they occur: a late one (a disc of even density), an early one (everything within 1e-4),
 * clusters with a point far outside, and all points in one place. */
typedef enum { LATE, EARLY, CLUSTERS, ONE_PLACE, MAPS } map_kind;

static double coordinate(map_kind kind, int64_t n, int64_t row, int c) {
    uint64_t draw = (uint64_t)c;
    double angle = 6.283185307179586 * ikt_rng_uniform(1, IKT_RNG_TEST, row, 2);
    double radius = 0.55 * sqrt((double)n) * sqrt(ikt_rng_uniform(1, IKT_RNG_TEST, row, 3));
    switch (kind) {
    case LATE:
        return radius * (c ? sin(angle) : cos(angle));
    case EARLY:
        return 1e-4 * ikt_rng_normal(1, IKT_RNG_TEST, row, draw);
    case CLUSTERS:
        if (row == 5) return 150 * (c + 1);
        return 20 * ikt_rng_normal(1, IKT_RNG_SHAPE, row % 9, draw) +
               ikt_rng_normal(1, IKT_RNG_TEST, row, draw);
    default:
        return 3.25;
    }
}

static float *make_map(ikt_context *ctx, map_kind kind, int64_t n, int64_t first, int64_t count) {
    float *y;
    assert_int_equal(ikt_alloc(ctx, &y, 2 * count, sizeof *y, "test"), IKT_OK);
    for (int64_t e = 0; e < 2 * count; e++)
        y[e] = (float)coordinate(kind, n, first + e / 2, (int)(e % 2));
    return y;
}

/* Relative errors: of the force, root mean square; of Z; of phi, the largest. */
typedef struct {
    double force, z, phi;
} errors;

static errors compare(ikt_context *ctx, map_kind kind, int64_t n, const ikt_fft_settings *fft) {
    ikt_row_map map = ikt_row_map_make(n, 1, 0);
    ikt_kernelsum *sums;
    float *y = make_map(ctx, kind, n, 0, n), *gradient;
    double *phi, z = 0, z_sum = 0, wrong = 0, right = 0, phi_worst = 0;
    ikt_alloc(ctx, &gradient, 2 * n, sizeof *gradient, "test");
    ikt_alloc(ctx, &phi, n, sizeof *phi, "test");
    assert_int_equal(fft ? ikt_kernelsum_create_fft(ctx, &map, fft, &sums)
                         : ikt_kernelsum_create_exact(ctx, &map, &sums),
                     IKT_OK);
    ikt_kernelsum_evaluate(sums, y, phi, gradient);
    int64_t step = n > 4000 ? 7 : 1; /* rows compared */
    for (int64_t i = 0; i < n; i += step) {
        double sum = 0, gx = 0, gy = 0;
        for (int64_t j = 0; j < n; j++) {
            double dx = (double)y[2 * i] - (double)y[2 * j];
            double dy = (double)y[2 * i + 1] - (double)y[2 * j + 1];
            double w = 1 / (1 + dx * dx + dy * dy);
            sum += w;
            gx -= 2 * w * w * dx;
            gy -= 2 * w * w * dy;
        }
        z += sum - 1;
        z_sum += phi[i] - 1;
        phi_worst = fmax(phi_worst, fabs(phi[i] - sum) / sum);
        wrong += pow((double)gradient[2 * i] - gx, 2) + pow((double)gradient[2 * i + 1] - gy, 2);
        right += gx * gx + gy * gy;
    }
    ikt_kernelsum_destroy(&sums);
    ikt_free(&y);
    ikt_free(&gradient);
    ikt_free(&phi);
    return (errors){sqrt(wrong / (right > 0 ? right : 1)), fabs(z_sum - z) / (z > 0 ? z : 1),
                    phi_worst};
}

static void exact_sums_are_exact(void **state) {
    (void)state;
    ikt_context *alone = ikt_test_alone();
    const int64_t sizes[] = {1, 2, 17, 1000, 1025};
    for (int kind = 0; kind < MAPS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            errors e = compare(alone, (map_kind)kind, sizes[s], NULL);
            assert_true(e.force < 2e-6 && e.phi < 1e-6);
        }
    ikt_context_destroy(&alone);
}

static void fft_keeps_the_stated_accuracy(void **state) {
    (void)state;
    ikt_context *alone = ikt_test_alone();
    const double force[] = {[IKT_FFT_DEFAULT] = 1e-2, [IKT_FFT_TIGHT] = 1e-4};
    const double z[] = {[IKT_FFT_DEFAULT] = 1e-3, [IKT_FFT_TIGHT] = 1e-5};
    for (int accuracy = IKT_FFT_DEFAULT; accuracy <= IKT_FFT_TIGHT; accuracy++)
        for (int kind = 0; kind < ONE_PLACE; kind++)
            for (int64_t n = 2000; n <= 20000; n *= 10) {
                ikt_fft_settings fft = ikt_fft_preset((ikt_fft_accuracy)accuracy);
                errors e = compare(alone, (map_kind)kind, n, &fft);
                print_message("accuracy %d, map %d, n %lld: force %.2e, Z %.2e, phi %.2e\n",
                              accuracy, kind, (long long)n, e.force, e.z, e.phi);
                assert_true(e.force < force[accuracy]);
                assert_true(e.z < z[accuracy]);
            }
    errors e = compare(alone, ONE_PLACE, 500, &(ikt_fft_settings){4, 1.0 / 3, 8192, false});
    assert_true(e.phi < 1e-2 && e.force < 1e-2 * 500);
    ikt_context_destroy(&alone);
}

/* Hash of phi and gradient of a map on a context's ranks. */
static uint64_t hash_of(ikt_context *ctx, map_kind kind, int64_t n, bool exact) {
    ikt_row_map map = ikt_row_map_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_kernelsum *sums;
    float *y = make_map(ctx, kind, n, map.first, map.count), *gradient;
    double *phi;
    ikt_alloc(ctx, &gradient, 2 * map.count, sizeof *gradient, "test");
    ikt_alloc(ctx, &phi, map.count, sizeof *phi, "test");
    ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    assert_int_equal(exact ? ikt_kernelsum_create_exact(ctx, &map, &sums)
                           : ikt_kernelsum_create_fft(ctx, &map, &fft, &sums),
                     IKT_OK);
    ikt_kernelsum_evaluate(sums, y, phi, gradient);
    uint64_t hash = ikt_row_hash(ctx, phi, map.first, map.count, sizeof *phi) ^
                    3 * ikt_row_hash(ctx, gradient, map.first, map.count, 2 * sizeof *gradient);
    ikt_kernelsum_destroy(&sums);
    ikt_free(&y);
    ikt_free(&gradient);
    ikt_free(&phi);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void bits_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const int64_t sizes[] = {1, 3, 500, 3000};
    for (int kind = 0; kind < MAPS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int exact = 0; exact < 2; exact++)
                assert_true(hash_of(ctx, (map_kind)kind, sizes[s], exact) ==
                            hash_of(alone, (map_kind)kind, sizes[s], exact));
    ikt_context_destroy(&alone);
}

static void a_position_that_is_not_finite_invalidates_all(void **state) {
    ikt_context *ctx = *state;
    enum { N = 40 };
    ikt_row_map map = ikt_row_map_make(N, ikt_size(ctx), ikt_rank(ctx));
    float *y = make_map(ctx, CLUSTERS, N, map.first, map.count), gradient[2 * N];
    double phi[N];
    if (map.first <= 20 && 20 < map.first + map.count) y[2 * (20 - map.first)] = NAN;
    for (int exact = 0; exact < 2; exact++) {
        ikt_kernelsum *sums;
        ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
        assert_int_equal(exact ? ikt_kernelsum_create_exact(ctx, &map, &sums)
                               : ikt_kernelsum_create_fft(ctx, &map, &fft, &sums),
                         IKT_OK);
        ikt_kernelsum_evaluate(sums, y, phi, gradient);
        for (int64_t i = 0; i < map.count; i++)
            assert_true(isnan(phi[i]));
        ikt_kernelsum_destroy(&sums);
    }
    ikt_free(&y);
}

static void a_map_too_large_for_the_grid_gets_a_coarser_one(void **state) {
    (void)state;
    ikt_context *alone = ikt_test_alone();
    errors e = compare(alone, LATE, 20000, &(ikt_fft_settings){4, 1.0 / 3, 200, false});
    assert_true(e.force < 0.3 && e.z < 0.02); /* far from the preset, but no nonsense */
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(exact_sums_are_exact), ikt_test(fft_keeps_the_stated_accuracy),
              ikt_test(bits_do_not_depend_on_ranks_and_threads),
              ikt_test(a_position_that_is_not_finite_invalidates_all),
              ikt_test(a_map_too_large_for_the_grid_gets_a_coarser_one))
