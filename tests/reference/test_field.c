/* The field of given points at other places, against plain double sums. */
#include "support/kernelsum_maps.h"

#include <string.h>

#include "kernelsum/field.h"

enum { PLACES = 700, MOST = IKT_FIELD_DIMENSIONS_MOST };

/* A source: three clumps in q dimensions, or a late map where q is 2. */
static float *sources(int64_t n, int q) {
    float *y = malloc((size_t)(n * q) * sizeof *y);
    assert_non_null(y);
    for (int64_t e = 0; e < n * q; e++)
        y[e] = (float)(q == 2 ? map_coordinate(MAP_LATE, n, e / q, (int)(e % q))
                              : 8 * ikt_rng_normal(3, IKT_RNG_SHAPE, e / q % 3, (uint64_t)(e % q)) +
                                    ikt_rng_normal(3, IKT_RNG_TEST, e / q, (uint64_t)(e % q)));
    return y;
}

/* Places between the sources and a little beyond; the last of them far away. */
static float *places(int64_t n, int q) {
    float *at = malloc((size_t)(PLACES * q) * sizeof *at);
    assert_non_null(at);
    const double span = q == 2 ? 1.2 * sqrt((double)n) : 30;
    for (int64_t e = 0; e < PLACES * q; e++)
        at[e] = (float)(span * (ikt_rng_uniform(5, IKT_RNG_TEST, e / q, (uint64_t)(e % q)) - 0.5));
    for (int64_t e = 0; e < 20 * q; e++)
        at[(PLACES - 20) * q + e] *= 40;
    return at;
}

typedef struct {
    double phi, force; /* root mean squares, relative to phi and to that of the gradient */
    double worst;      /* largest relative error of phi; with light tails beside at least 1e-3 */
} errors;

static void sum_plainly(const float *y, int64_t n, int q, double degrees, const float *at,
                        double *sum) {
    memset(sum, 0, (1 + MOST) * sizeof *sum);
    for (int64_t j = 0; j < n; j++) {
        double d[MOST], r2 = 0;
        for (int a = 0; a < q; a++) {
            d[a] = (double)at[a] - (double)y[j * q + a];
            r2 += d[a] * d[a];
        }
        const double v = 1 / (1 + r2 / degrees), w = isinf(degrees) ? exp(-r2) : pow(v, degrees);
        sum[0] += w;
        for (int a = 0; a < q; a++)
            sum[1 + a] -= 2 * d[a] * w * v;
    }
}

static errors compare(ikt_context *ctx, int64_t n, int q, double degrees, bool exact, bool mesh,
                      int64_t count) {
    float *y = sources(n, q), *at = places(n, q), gradient[PLACES * MOST];
    double phi[PLACES], off = 0, all = 0;
    ikt_field *field;
    errors e = {0, 0, 0};
    assert_int_equal(ikt_field_create(ctx, y, n, q, ikt_kernel_of_degrees(degrees), exact, &field),
                     IKT_OK);
    assert_int_equal(ikt_field_has_mesh(field), mesh);
    ikt_field_evaluate(field, at, PLACES, phi, gradient);
    for (int64_t i = 0; i < count; i++) {
        double sum[1 + MOST];
        sum_plainly(y, n, q, degrees, at + i * q, sum);
        double wrong = fabs(phi[i] - sum[0]) / fmax(sum[0], degrees > 2 ? 1e-3 : 0);
        e.phi += wrong * wrong / (double)count;
        e.worst = fmax(e.worst, wrong);
        for (int a = 0; a < q; a++) {
            off += pow((double)gradient[i * q + a] - sum[1 + a], 2);
            all += sum[1 + a] * sum[1 + a];
        }
    }
    e.phi = sqrt(e.phi);
    e.force = sqrt(off / all);
    ikt_field_destroy(&field);
    assert_null(field);
    free(y);
    free(at);
    return e;
}

static void few_sources_are_summed_exactly(void **state) {
    const int64_t sizes[] = {1, 2, 17, 1000, IKT_FIELD_EXACT_SOURCES};
    for (int q = 1; q <= MOST; q++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            errors e = compare(*state, sizes[s], q, 1, false, false, PLACES);
            assert_true(e.worst < 1e-6 && e.force < 1e-6);
        }
}

/* More than few in one or three dimensions, and where exactness is asked for. */
static void others_can_be_exact_too(void **state) {
    for (int q = 1; q <= MOST; q++) {
        errors e = compare(*state, 9000, q, 1, true, false, 100);
        assert_true(e.worst < 1e-6 && e.force < 1e-6);
        e = compare(*state, 9000, q, 1, false, q == 2, 100);
        assert_true(q == 2 || e.worst < 1e-6);
    }
}

/* What field.h states of the mesh, at densities of late maps; places outside are exact. */
static void the_mesh_keeps_the_stated_accuracy(void **state) {
    for (int64_t n = 5000; n <= 40000; n *= 2) {
        errors e = compare(*state, n, 2, 1, false, true, PLACES);
        print_message("n %lld: phi %.2e (worst %.2e), gradient %.2e\n", (long long)n, e.phi,
                      e.worst, e.force);
        assert_true(e.phi < 1e-6 && e.worst < 1e-5 && e.force < 1e-4);
    }
}

/* The same of other kernels. */
static void tails_are_summed_as_well(void **state) {
    const double degrees[] = {0.3, 0.5, 2, 20, INFINITY};
    for (int d = 0; d < 5; d++) {
        for (int q = 1; q <= MOST; q++) {
            const errors e = compare(*state, 1000, q, degrees[d], false, false, PLACES);
            if (e.worst >= 2e-6 || e.force >= 2e-6)
                print_message("alpha %g, q %d: phi %.2e, worst %.2e, gradient %.2e\n", degrees[d],
                              q, e.phi, e.worst, e.force);
            assert_true(e.worst < 2e-6 && e.force < 2e-6);
        }
        const errors e = compare(*state, 20000, 2, degrees[d], false, true, PLACES);
        print_message("alpha %g: phi %.2e (worst %.2e), gradient %.2e\n", degrees[d], e.phi,
                      e.worst, e.force);
        assert_true(e.phi < 2e-5 && e.force < 1e-4);
    }
}

/* A place has its own bits, whatever else is asked, in whatever order. */
static void a_place_does_not_depend_on_the_batch(void **state) {
    const int64_t sizes[] = {900, 6000, 900, 6000};
    for (int s = 0; s < 4; s++) {
        const ikt_kernel kernel = ikt_kernel_of_degrees(s < 2 ? 1 : 0.5);
        float *y = sources(sizes[s], 2), *at = places(sizes[s], 2), gradient[2 * PLACES], one[2];
        double phi[PLACES], alone;
        ikt_field *field, *again;
        assert_int_equal(ikt_field_create(*state, y, sizes[s], 2, kernel, false, &field), IKT_OK);
        assert_int_equal(ikt_field_create(*state, y, sizes[s], 2, kernel, false, &again), IKT_OK);
        ikt_field_evaluate(field, at, PLACES, phi, gradient);
        for (int64_t i = PLACES - 1; i >= 0; i--) {
            ikt_field_evaluate(again, at + 2 * i, 1, &alone, one);
            assert_memory_equal(&alone, &phi[i], sizeof alone);
            assert_memory_equal(one, gradient + 2 * i, sizeof one);
        }
        ikt_field_destroy(&field);
        ikt_field_destroy(&again);
        free(y);
        free(at);
    }
}

static void memory_is_as_predicted(void **state) {
    ikt_context *ctx = *state;
    for (int64_t n = 1000; n <= 64000; n *= 4) {
        const ikt_kernel kernel = ikt_kernel_of_degrees(n == 1000 || n == 16000 ? 0.3 : 1);
        float *y = sources(n, 2);
        const int64_t before = ikt_memory_peak(ctx), held = ikt_memory_now(ctx);
        ikt_field *field;
        assert_int_equal(ikt_field_create(ctx, y, n, 2, kernel, false, &field), IKT_OK);
        int64_t predicted = ikt_field_memory(n, 2, kernel, ikt_threads(ctx), 1.1 * sqrt((double)n));
        assert_true(ikt_memory_now(ctx) - held <= predicted);
        assert_true(ikt_memory_peak(ctx) <= before || ikt_memory_peak(ctx) - held <= predicted);
        ikt_field_destroy(&field);
        free(y);
        assert_int_equal(ikt_memory_now(ctx), held);
    }
}

IKT_MPI_TESTS(ikt_test(few_sources_are_summed_exactly), ikt_test(others_can_be_exact_too),
              ikt_test(the_mesh_keeps_the_stated_accuracy), ikt_test(tails_are_summed_as_well),
              ikt_test(a_place_does_not_depend_on_the_batch), ikt_test(memory_is_as_predicted))
