/* Kernel sums against plain double sums over all pairs, at the accuracy that each preset states. */
#include "support/kernelsum_maps.h"

/* Errors: of the force, root mean square relative to that of the force; of Z, relative; of phi, the
 * largest relative one; of the gradient in one point, the largest, relative to phi. */
typedef struct {
    double force, z, phi, gradient;
} errors;

static errors errors_of(const map_points *p) {
    double z = 0, z_wrong = 0, wrong = 0, right = 0;
    errors e = {0, 0, 0, 0};
    int64_t step = p->count > 4000 ? 13 : 1; /* rows compared */
    for (int64_t i = 0; i < p->count; i += step) {
        double sum = 0, gx = 0, gy = 0;
        for (int64_t j = 0; j < p->count; j++) {
            double dx = (double)p->y[2 * i] - (double)p->y[2 * j];
            double dy = (double)p->y[2 * i + 1] - (double)p->y[2 * j + 1];
            double w = 1 / (1 + dx * dx + dy * dy);
            sum += w;
            gx -= 2 * w * w * dx;
            gy -= 2 * w * w * dy;
        }
        double off = hypot((double)p->gradient[2 * i] - gx, (double)p->gradient[2 * i + 1] - gy);
        z += sum - 1;
        z_wrong += p->phi[i] - sum;
        wrong += off * off;
        right += gx * gx + gy * gy;
        e.phi = fmax(e.phi, fabs(p->phi[i] - sum) / sum);
        e.gradient = fmax(e.gradient, off / sum);
    }
    e.force = right > 0 ? sqrt(wrong / right) : 0;
    e.z = z > 0 ? fabs(z_wrong) / z : fabs(z_wrong);
    return e;
}

static errors compare(ikt_context *ctx, map_kind kind, int64_t n, const ikt_fft_settings *fft) {
    ikt_rows rows = ikt_rows_make(n, 1, 0);
    map_points p = map_make(ctx, kind, n, 0, n);
    ikt_kernelsum *sums = map_sums(ctx, &rows, fft);
    sum_units(sums, p.y, p.phi, p.gradient);
    errors e = errors_of(&p);
    ikt_kernelsum_destroy(&sums);
    map_free(&p);
    return e;
}

static void exact_sums_are_exact(void **state) {
    const int64_t sizes[] = {1, 2, 17, 1000, 1025};
    for (int kind = 0; kind < MAPS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            errors e = compare(*state, (map_kind)kind, sizes[s], NULL);
            assert_true(e.force < 1e-6 && e.phi < 1e-6 && e.z < 1e-6 && e.gradient < 1e-6);
        }
}

/* The promise of the presets, on every kind of map and at densities from 1 to 20,000 points in a
 * unit square. The presets promise it of points at random; clusters and early maps must do no
 * worse. */
static void fft_keeps_the_stated_accuracy(void **state) {
    static const double force[] = {[IKT_FFT_DEFAULT] = 1e-2, [IKT_FFT_TIGHT] = 1e-4};
    static const double z[] = {[IKT_FFT_DEFAULT] = 1e-3, [IKT_FFT_TIGHT] = 1e-5};
    for (int accuracy = IKT_FFT_DEFAULT; accuracy <= IKT_FFT_TIGHT; accuracy++)
        for (int kind = 0; kind < MAP_LINE; kind++)
            for (int64_t n = 1000; n <= 20000; n *= 20) {
                ikt_fft_settings fft = ikt_fft_preset((ikt_fft_accuracy)accuracy);
                errors e = compare(*state, (map_kind)kind, n, &fft);
                print_message("accuracy %d, map %d, n %lld: force %.2e, Z %.2e, phi %.2e\n",
                              accuracy, kind, (long long)n, e.force, e.z, e.phi);
                assert_true(e.force < force[accuracy]);
                assert_true(e.z < z[accuracy]);
            }
}

static const ikt_kernel student_log = {IKT_KERNEL_STUDENT_LOG, 1};

/* Sums of the other Student kernel, w log w, by the same grids, against exact ones; it is a little
 * steeper. */
static void the_logarithmic_kernel_is_about_as_accurate(void **state) {
    static const double force[] = {[IKT_FFT_DEFAULT] = 1.2e-2, [IKT_FFT_TIGHT] = 1.2e-4};
    static const double total[] = {[IKT_FFT_DEFAULT] = 1e-3, [IKT_FFT_TIGHT] = 1e-5};
    for (int accuracy = IKT_FFT_DEFAULT; accuracy <= IKT_FFT_TIGHT; accuracy++)
        for (int kind = 0; kind < MAP_LINE; kind++) {
            enum { N = 5000 };
            const ikt_rows rows = ikt_rows_make(N, 1, 0);
            const ikt_fft_settings fft = ikt_fft_preset((ikt_fft_accuracy)accuracy);
            map_points grid = map_make(*state, (map_kind)kind, N, 0, N);
            map_points exact = map_make(*state, (map_kind)kind, N, 0, N);
            ikt_kernelsum *sums[2];
            assert_int_equal(ikt_kernelsum_create_fft(*state, &rows, student_log, &fft, &sums[0]),
                             IKT_OK);
            assert_int_equal(ikt_kernelsum_create_exact(*state, &rows, 2, student_log, &sums[1]),
                             IKT_OK);
            sum_units(sums[0], grid.y, grid.phi, grid.gradient);
            sum_units(sums[1], exact.y, exact.phi, exact.gradient);
            double wrong = 0, right = 0, sum = 0, off = 0;
            for (int64_t i = 0; i < N; i++) {
                sum += exact.phi[i];
                off += grid.phi[i] - exact.phi[i];
                for (int64_t e = 2 * i; e < 2 * i + 2; e++) {
                    wrong += pow((double)grid.gradient[e] - (double)exact.gradient[e], 2);
                    right += pow((double)exact.gradient[e], 2);
                }
            }
            print_message("w log w, accuracy %d, map %d: force %.2e, total %.2e\n", accuracy, kind,
                          sqrt(wrong / right), fabs(off / sum));
            assert_true(sqrt(wrong / right) < force[accuracy]);
            assert_true(fabs(off) < total[accuracy] * fmax(fabs(sum), N)); /* beside Z */
            for (int w = 0; w < 2; w++)
                ikt_kernelsum_destroy(&sums[w]);
            map_free(&grid);
            map_free(&exact);
        }
}

/* Kernels of other degrees of freedom by the grid that suits them, against exact sums: no worse
 * than the Student kernel is promised. */
static void tails_keep_the_stated_accuracy(void **state) {
    static const double force[] = {[IKT_FFT_DEFAULT] = 1e-2, [IKT_FFT_TIGHT] = 1e-4};
    static const double total[] = {[IKT_FFT_DEFAULT] = 1e-3, [IKT_FFT_TIGHT] = 1e-5};
    static const double degrees[] = {0.1, 0.25, 0.5, 0.8, 2, 7, 100, INFINITY};
    enum { N = 3000 };
    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (int accuracy = IKT_FFT_DEFAULT; accuracy <= IKT_FFT_TIGHT; accuracy++)
            for (int kind = 0; kind < MAP_LINE; kind++) {
                const ikt_rows rows = ikt_rows_make(N, 1, 0);
                const ikt_kernel kernel = ikt_kernel_of_degrees(degrees[d]);
                const ikt_fft_settings fft = ikt_fft_preset((ikt_fft_accuracy)accuracy);
                map_points p = map_make(*state, (map_kind)kind, N, 0, N);
                map_points q = map_make(*state, (map_kind)kind, N, 0, N);
                ikt_kernelsum *grid, *exact;
                assert_int_equal(ikt_kernelsum_create_fft(*state, &rows, kernel, &fft, &grid),
                                 IKT_OK);
                assert_int_equal(ikt_kernelsum_create_exact(*state, &rows, 2, kernel, &exact),
                                 IKT_OK);
                sum_units(grid, p.y, p.phi, p.gradient);
                sum_units(exact, q.y, q.phi, q.gradient);
                double wrong = 0, right = 0, z = 0, off = 0;
                for (int64_t e = 0; e < 2 * N; e++) {
                    wrong += pow((double)p.gradient[e] - (double)q.gradient[e], 2);
                    right += pow((double)q.gradient[e], 2);
                    z += q.phi[e / 2] - 1;
                    off += p.phi[e / 2] - q.phi[e / 2];
                }
                if (sqrt(wrong / right) >= force[accuracy] || fabs(off / z) >= total[accuracy])
                    print_message("alpha %g, accuracy %d, map %d: force %.2e, Z %.2e\n", degrees[d],
                                  accuracy, kind, sqrt(wrong / right), fabs(off / z));
                /* on early maps gradients are floats near the rounding of phi */
                assert_true(sqrt(wrong / right) <
                            fmax(force[accuracy], kind == MAP_EARLY ? 2e-4 : 0));
                assert_true(fabs(off / z) < total[accuracy]);
                ikt_kernelsum_destroy(&grid);
                ikt_kernelsum_destroy(&exact);
                map_free(&p);
                map_free(&q);
            }
}

/* The kernel by degrees of freedom: 1 is the Student kernel itself, and from 1e9 on the Gaussian.
 */
static void degrees_of_freedom_name_the_kernel(void **state) {
    (void)state;
    assert_int_equal(ikt_kernel_of_degrees(1).kind, IKT_KERNEL_STUDENT);
    assert_int_equal(ikt_kernel_of_degrees(INFINITY).kind, IKT_KERNEL_GAUSSIAN);
    assert_int_equal(ikt_kernel_of_degrees(1e9).kind, IKT_KERNEL_GAUSSIAN);
    assert_int_equal(ikt_kernel_of_degrees(0.5).kind, IKT_KERNEL_TAILED);
    assert_true(ikt_kernel_of_degrees(0.5).alpha == 0.5);
    assert_true(fabs(ikt_kernel_minus_log(ikt_kernel_of_degrees(0.5), 4) - 0.5 * log(9)) < 1e-15);
    assert_true(fabs(ikt_kernel_minus_log(ikt_kernel_of_degrees(1), 4) - log(5)) < 1e-15);
    assert_true(ikt_kernel_minus_log(ikt_kernel_of_degrees(INFINITY), 4) == 4);
    const ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    assert_true(ikt_fft_for_kernel(&fft, ikt_student).spacing == fft.spacing);
    assert_true(fabs(ikt_fft_for_kernel(&fft, ikt_kernel_of_degrees(0.0625)).spacing -
                     0.5 * fft.spacing) < 1e-15);
}

/* What a point feels of itself and of others in its own place has no direction. */
static void points_in_one_place_do_not_move(void **state) {
    ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    for (int64_t n = 1; n <= 1000; n *= 1000) {
        errors e = compare(*state, MAP_PLACE, n, &fft);
        assert_true(e.phi < 1e-9 && e.gradient < 1e-6);
    }
}

/* Points on one line all lie at the same height in their cells, so errors add up that otherwise
 * cancel: outside the promise of the presets, but bounded. */
static void a_line_is_worse_but_bounded(void **state) {
    ikt_fft_settings usual = ikt_fft_preset(IKT_FFT_DEFAULT), tight = ikt_fft_preset(IKT_FFT_TIGHT);
    errors e = compare(*state, MAP_LINE, 1000, &usual);
    assert_true(e.force < 5e-2 && e.z < 1e-3);
    e = compare(*state, MAP_LINE, 1000, &tight);
    print_message("line, tight: force %.2e, Z %.2e\n", e.force, e.z);
    assert_true(e.force < 5e-4 && e.z < 1e-5);
}

/* The measure by which the windows were chosen: the square of the error of the force between two
 * points at random places of the grid, integrated over their displacement, relative to that of the
 * force itself (pi/6). Computed from the windows' transforms it is 8.3e-3 at the default and 7.1e-5
 * at the tight setting. Pairs 40 apart measure it. */
static double pair_error(ikt_context *ctx, const ikt_fft_settings *fft) {
    enum { PAIRS = 1600, SIDE = 40, REACH = 2 };
    ikt_rows rows = ikt_rows_make(2 * PAIRS, 1, 0);
    map_points p = map_make(ctx, MAP_PLACE, 2 * PAIRS, 0, 2 * PAIRS);
    for (int64_t e = 0; e < 2 * PAIRS; e++) { /* coordinates of the first points of the pairs */
        int64_t pair = e / 2, place = e % 2 ? pair / SIDE : pair % SIDE;
        float *y = p.y + 4 * pair + e % 2;
        y[0] = (float)((double)(40 * place) + ikt_rng_uniform(2, IKT_RNG_TEST, e, 0));
        y[2] = y[0] + (float)(REACH * (2 * ikt_rng_uniform(2, IKT_RNG_TEST, e, 1) - 1));
    }
    ikt_kernelsum *sums = map_sums(ctx, &rows, fft), *exact = map_sums(ctx, &rows, NULL);
    sum_units(sums, p.y, p.phi, p.gradient);
    double square = 0, pi = 3.141592653589793;
    float *found = p.gradient;
    ikt_alloc(ctx, &p.gradient, 4 * PAIRS, sizeof *p.gradient, "test");
    sum_units(exact, p.y, p.phi, p.gradient);
    for (int64_t e = 0; e < 4 * PAIRS; e++)
        square += pow((double)(found[e] - p.gradient[e]) / 2, 2);
    ikt_free(&found);
    ikt_kernelsum_destroy(&sums);
    ikt_kernelsum_destroy(&exact);
    map_free(&p);
    return sqrt(square / (2 * PAIRS) * (4 * REACH * REACH) / (pi / 6));
}

static void error_of_a_pair_is_that_of_the_window(void **state) {
    ikt_fft_settings usual = ikt_fft_preset(IKT_FFT_DEFAULT), tight = ikt_fft_preset(IKT_FFT_TIGHT);
    double at_usual = pair_error(*state, &usual), at_tight = pair_error(*state, &tight);
    print_message("pair error %.2e and %.2e\n", at_usual, at_tight);
    assert_true(at_usual > 7e-3 && at_usual < 9e-3);
    assert_true(at_tight > 6e-5 && at_tight < 8e-5);
}

static void a_map_too_large_for_the_grid_gets_a_coarser_one(void **state) {
    errors e = compare(*state, MAP_LATE, 20000,
                       &(ikt_fft_settings){4, 0.4, 200, true, IKT_SHARING_AUTO, {0, 0, 0}});
    assert_true(e.force < 0.2 && e.z < 0.01); /* far from the preset, but no nonsense */
}

/* One object through a whole run: the map grows from 1e-4 to 100 and shrinks again, so meshes are
 * made, kept, dropped and made again. A fresh object must give the same bits at each size. */
static void the_past_does_not_matter(void **state) {
    enum { N = 500 };
    ikt_rows rows = ikt_rows_make(N, 1, 0);
    ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    map_points p = map_make(*state, MAP_LATE, N, 0, N), q = map_make(*state, MAP_LATE, N, 0, N);
    ikt_kernelsum *old = map_sums(*state, &rows, &fft);
    for (int step = -20; step <= 20; step++) {
        double scale = pow(2, 2 - 0.7 * abs(step));
        for (int64_t e = 0; e < 2 * N; e++)
            p.y[e] = q.y[e] = (float)(scale * map_coordinate(MAP_LATE, N, e / 2, (int)(e % 2)));
        ikt_kernelsum *fresh = map_sums(*state, &rows, &fft);
        sum_units(old, p.y, p.phi, p.gradient);
        sum_units(fresh, q.y, q.phi, q.gradient);
        assert_memory_equal(p.phi, q.phi, N * sizeof *p.phi);
        assert_memory_equal(p.gradient, q.gradient, 2 * N * sizeof *p.gradient);
        ikt_kernelsum_destroy(&fresh);
    }
    ikt_kernelsum_destroy(&old);
    map_free(&p);
    map_free(&q);
    assert_int_equal(ikt_memory_now(*state), 0);
}

/* What a run holds is at most what its plan said. */
static void memory_is_as_predicted(void **state) {
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int64_t n = 1000; n <= 100000; n *= 10)
        for (int accuracy = IKT_FFT_DEFAULT; accuracy <= IKT_FFT_TIGHT; accuracy++) {
            ikt_rows rows = ikt_rows_make(n, 1, 0);
            ikt_fft_settings fft = ikt_fft_preset((ikt_fft_accuracy)accuracy);
            ikt_kernelsum *sums = map_sums(alone, &rows, &fft);
            map_points p = map_make(alone, MAP_LATE, n, 0, n);
            int64_t before = ikt_memory_now(alone);
            double span = 1.1 * sqrt((double)n);
            sum_units(sums, p.y, p.phi, p.gradient);
            int64_t held = ikt_memory_now(alone) - before;
            int64_t predicted = ikt_kernelsum_memory_fft(&fft, &rows, 0, 1, span);
            assert_true(held <= predicted && predicted < 6 * held);
            ikt_kernelsum_destroy(&sums);
            map_free(&p);
        }
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(exact_sums_are_exact), ikt_test(fft_keeps_the_stated_accuracy),
              ikt_test(the_logarithmic_kernel_is_about_as_accurate),
              ikt_test(tails_keep_the_stated_accuracy),
              ikt_test(degrees_of_freedom_name_the_kernel),
              ikt_test(points_in_one_place_do_not_move), ikt_test(a_line_is_worse_but_bounded),
              ikt_test(error_of_a_pair_is_that_of_the_window),
              ikt_test(a_map_too_large_for_the_grid_gets_a_coarser_one),
              ikt_test(the_past_does_not_matter), ikt_test(memory_is_as_predicted))
