/* Probabilities, speeds and lengths of lines against the plain formulas and known answers. */
#include "support/fisher_world.h"

/* --- the model -------------------------------------------------------------------------------- */

static void support_is_drawn_by_class(void **state) {
    (void)state;
    world w;
    int32_t few[N];
    world_begin(&w, M);
    assert_int_equal(w.support.m, M);
    int64_t count[C] = {0};
    for (int64_t l = 0; l < M; l++) {
        assert_int_equal(w.support.of[l], w.of_row[w.support.row[l]]);
        assert_true(l == 0 || w.support.row[l] > w.support.row[l - 1]);
        assert_int_equal(ikt_class_lane_of(&w.support, w.support.row[l]), w.support.lane[l]);
        count[w.support.of[l]]++;
        /* Those of least draw of their class. */
        for (int64_t i = 0; i < N; i++)
            if (w.of_row[i] == w.support.of[l] && ikt_class_lane_of(&w.support, i) < 0)
                assert_true(ikt_rng_u64(7, IKT_RNG_SUPPORT, i, 0) >
                            ikt_rng_u64(7, IKT_RNG_SUPPORT, w.support.row[l], 0));
    }
    for (int c = 0; c < C; c++) {
        assert_int_equal(count[c], M / C);
        assert_int_equal(w.support.first[c] % 16, 0);
    }
    /* Shares by size, at least two, and no more than there are; rows without a label never. */
    for (int64_t i = 0; i < N; i++)
        few[i] = i < 2 ? 0 : i < 5 ? 1 : i < 50 ? 2 : -1;
    ikt_class_support_destroy(&w.support);
    assert_int_equal(ikt_class_support_draw(w.ctx, few, N, 3, 20, 7, &w.support), IKT_OK);
    memset(count, 0, sizeof count);
    for (int64_t l = 0; l < w.support.m; l++) {
        count[w.support.of[l]]++;
        assert_true(w.support.row[l] < 50);
    }
    assert_int_equal(count[0], 2);
    assert_int_equal(count[1], 2);
    assert_int_equal(count[2], 18);
    world_end(&w);
}

static void probabilities_are_those_of_parzen(void **state) {
    (void)state;
    world w;
    world_begin(&w, M);
    for (int64_t i = 0; i < N; i++) {
        double sum[C] = {0}, total = 0;
        for (int64_t l = 0; l < M; l++) {
            double squared = 0;
            for (int c = 0; c < D; c++)
                squared += pow(w.x[i][c] - w.x[w.support.row[l]][c], 2);
            const double weight = exp(-squared / (2 * sigma * sigma));
            sum[w.support.of[l]] += weight;
            total += weight;
        }
        for (int c = 0; c < w.support.shape.wide; c++) {
            const double root = (double)w.root[i * w.support.shape.wide + c];
            if (c >= C)
                assert_true(root == 0);
            else
                assert_true(fabs(root * root - sum[c] / total) < 2e-6);
        }
    }
    world_end(&w);
}

/* sigma by the plain rules, with bandwidths by bisection to the last bit. */
static double plain_likelihood(const world *w, const double *k, double bandwidth) {
    const int64_t m = w->support.m;
    double mean = 0;
    for (int64_t l = 0; l < m; l++) {
        double own = 0, all = 0;
        for (int64_t j = 0; j < m; j++) {
            if (j == l) continue;
            const double squared = k[l * m + l] + k[j * m + j] - 2 * k[l * m + j];
            const double weight = exp(-squared / (2 * bandwidth * bandwidth));
            all += weight;
            if (w->support.of[j] == w->support.of[l]) own += weight;
        }
        mean += log(fmax(own / all, 1e-6)) / (double)m;
    }
    return mean;
}

static double plain_bandwidth(const world *w, const double *k, double target) {
    const int64_t m = w->support.m;
    double mean = 0;
    for (int64_t l = 0; l < m; l++) {
        double low = 1e-6, high = 1e6;
        for (int step = 0; step < 200; step++) {
            const double s = sqrt(low * high);
            double sum = 0, first = 0;
            for (int64_t j = 0; j < m; j++) {
                if (j == l) continue;
                const double d2 = k[l * m + l] + k[j * m + j] - 2 * k[l * m + j];
                const double weight = exp(-d2 / (2 * s * s));
                sum += weight;
                first += weight * d2 / (2 * s * s);
            }
            if (sum == 0 || log(sum) + first / sum < log(target))
                low = s;
            else
                high = s;
        }
        mean += low / (double)m;
    }
    return mean;
}

static void sigma_is_the_likeliest_of_the_grid(void **state) {
    (void)state;
    world w;
    ikt_class_sigma found;
    world_begin(&w, M);
    double k[M * M], self[M];
    for (int64_t a = 0; a < M; a++)
        for (int64_t b = 0; b < M; b++) {
            k[a * M + b] = 0;
            for (int c = 0; c < D; c++)
                k[a * M + b] += w.x[w.support.row[a]][c] * w.x[w.support.row[b]][c];
            if (a == b) self[a] = k[a * M + b];
        }
    const double expected = plain_bandwidth(&w, k, fmin(20, (M - 1) / 3.0));
    assert_int_equal(
        ikt_class_sigma_find(w.ctx, &w.support, IKT_SIGMA_PERPLEXITY, 0, k, self, &found), IKT_OK);
    assert_true(fabs(found.sigma / expected - 1) < 1e-8);
    assert_true(fabs(found.log_likelihood - plain_likelihood(&w, k, expected)) < 1e-8);
    double best = -INFINITY, sought = 0;
    for (int q = -4; q <= 6; q++) {
        const double value = plain_likelihood(&w, k, expected * pow(2, q / 2.0));
        if (value >= best) sought = expected * pow(2, q / 2.0);
        best = fmax(best, value);
    }
    assert_int_equal(
        ikt_class_sigma_find(w.ctx, &w.support, IKT_SIGMA_LIKELIHOOD, 0, k, self, &found), IKT_OK);
    assert_true(fabs(found.sigma / sought - 1) < 1e-8);
    assert_true(fabs(found.log_likelihood - best) < 1e-8);
    assert_int_equal(ikt_class_sigma_find(w.ctx, &w.support, IKT_SIGMA_GIVEN, 2.5, k, self, &found),
                     IKT_OK);
    assert_true(found.sigma == 2.5);
    memset(k, 0, sizeof k); /* all rows equal */
    memset(self, 0, sizeof self);
    assert_int_equal(
        ikt_class_sigma_find(w.ctx, &w.support, IKT_SIGMA_LIKELIHOOD, 0, k, self, &found),
        IKT_ERR_DATA);
    ikt_clear(w.ctx);
    world_end(&w);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* b_c = sum_l xi_l^c s_l - sum_l xi_l s_l at x, and p_c. */
static void gradients(const world *w, const double x[D], double b[C][D], double p[C]) {
    double mean[D] = {0}, of_class[C][D] = {{0}}, sum[C] = {0}, total = 0;
    for (int64_t l = 0; l < w->support.m; l++) {
        const double *s = w->x[w->support.row[l]];
        double squared = 0;
        for (int c = 0; c < D; c++)
            squared += (x[c] - s[c]) * (x[c] - s[c]);
        const double weight = exp(-squared / (2 * sigma * sigma));
        sum[w->support.of[l]] += weight;
        total += weight;
        for (int c = 0; c < D; c++) {
            mean[c] += weight * s[c];
            of_class[w->support.of[l]][c] += weight * s[c];
        }
    }
    for (int e = 0; e < C; e++) {
        p[e] = sum[e] / total;
        for (int c = 0; c < D; c++)
            b[e][c] = of_class[e][c] / sum[e] - mean[c] / total;
    }
}

/* v^2 = (y - x)^T J (y - x), J = sum_c p_c g_c g_c^T with g_c = b_c / sigma^2 the gradient of
 * log p(c|x), which differences of log p(c|x) tell, too; and the g_c sum up to 0. */
static void speeds_are_those_of_the_fisher_matrix(void **state) {
    (void)state;
    world w;
    world_begin(&w, M);
    const ikt_class_lanes *shape = &w.support.shape;
    for (int64_t i = 0; i + 1 < N; i += 3) {
        double x[D], b[C][D], p[C], square = 0, zero[D] = {0};
        const double t = 0.3;
        for (int c = 0; c < D; c++)
            x[c] = (1 - t) * w.x[i][c] + t * w.x[i + 1][c];
        gradients(&w, x, b, p);
        for (int e = 0; e < C; e++) {
            double along = 0;
            for (int c = 0; c < D; c++) {
                double moved[D], step = 1e-5, up[C], down[C], unused[C][D];
                memcpy(moved, x, sizeof moved);
                moved[c] += step;
                gradients(&w, moved, unused, up);
                moved[c] -= 2 * step;
                gradients(&w, moved, unused, down);
                const double slope = (log(up[e]) - log(down[e])) / (2 * step);
                assert_true(fabs(slope - b[e][c] / (sigma * sigma)) < 1e-7);
                along += b[e][c] / (sigma * sigma) * (w.x[i + 1][c] - w.x[i][c]);
                zero[c] += p[e] * b[e][c];
            }
            square += p[e] * along * along;
        }
        for (int c = 0; c < D; c++)
            assert_true(fabs(zero[c]) < 1e-12);
        const double v = w.job.kernel->speed(shape, w.weight + i * shape->lanes,
                                             w.weight + (i + 1) * shape->lanes, (float)t);
        assert_true(fabs(v - square) < 2e-5 * (1 + square));
    }
    world_end(&w);
}

static void lengths_are_those_of_the_formulas(void **state) {
    (void)state;
    static const int points[] = {0, 1, 2, 3, 5, 8, 11, 40};
    world w;
    world_begin(&w, M);
    for (int rule = 0; rule < 3; rule++)
        for (size_t e = 0; e < sizeof points / sizeof *points; e++) {
            if (rule == IKT_RULE_OUTER && points[e] % 2 == 0) continue;
            w.job.rule = (ikt_segment_rule)rule;
            w.job.points = points[e];
            for (int64_t i = 0; i < N; i += 2)
                for (int64_t j = i; j < N; j += 7) {
                    const ref_pair pair = pair_of(&w, i, j);
                    const double sought = ref_distance(&pair, w.job.rule, points[e]);
                    assert_true(fabs((double)distance(&w, i, j) - sought) < 2e-5);
                }
        }
    world_end(&w);
}

static void coarse_arcs_are_never_above_fine_ones(void **state) {
    (void)state;
    static const int nested[] = {0, 1, 3, 7, 15};
    world w;
    world_begin(&w, M);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            float before = 0;
            for (size_t e = 0; e < sizeof nested / sizeof *nested; e++) {
                w.job.points = nested[e];
                const float d = distance(&w, i, j);
                assert_true(d >= before - 2e-6f);
                before = d;
            }
        }
    w.job.points = 5;
    for (int64_t i = 0; i < N; i++)
        assert_true(distance(&w, i, i) == 0);
    world_end(&w);
}

/* What is known of a distance does not depend on the limit, and none at or below it is lost. */
static void a_limit_only_drops_what_is_above_it(void **state) {
    (void)state;
    world w;
    int64_t dropped = 0;
    world_begin(&w, M);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            const float d = distance(&w, i, j);
            assert_true(distance_within(&w, i, j, d) == d);
            const float near = distance_within(&w, i, j, 0.9f * d);
            assert_true(near == d || near == INFINITY);
            const float far = distance_within(&w, i, j, 0.3f * d);
            dropped += far == INFINITY;
        }
    assert_true(dropped > N * (N - 1) / 2 * 9 / 10);
    world_end(&w);
}

static void errors_fall_with_the_points(void **state) {
    (void)state;
    static const int points[] = {5, 11, 23};
    world w;
    double error[3][3] = {{0}};
    world_begin(&w, M);
    for (int64_t i = 0; i < N; i += 3)
        for (int64_t j = i + 1; j < N; j += 5) {
            const ref_pair pair = pair_of(&w, i, j);
            const double sought = ref_distance(&pair, IKT_RULE_ARC, 1535);
            for (int rule = 0; rule < 3; rule++)
                for (int e = 0; e < 3; e++) {
                    w.job.rule = (ikt_segment_rule)rule;
                    w.job.points = points[e];
                    error[rule][e] += pow((double)distance(&w, i, j) - sought, 2);
                }
        }
    for (int e = 1; e < 3; e++) { /* squared: 16 for four times, 4 for twice */
        assert_true(error[IKT_RULE_ARC][e] < error[IKT_RULE_ARC][e - 1] / 12);
        assert_true(error[IKT_RULE_TRAPEZOID][e] < error[IKT_RULE_TRAPEZOID][e - 1] / 12);
        assert_true(error[IKT_RULE_OUTER][e] < error[IKT_RULE_OUTER][e - 1] / 3);
        assert_true(error[IKT_RULE_OUTER][e] > error[IKT_RULE_OUTER][e - 1] / 6);
    }
    assert_true(error[IKT_RULE_ARC][0] < error[IKT_RULE_OUTER][0] / 25);
    world_end(&w);
}

/* One dimension, two classes, a support row of each at 0 and at 1: the log-odds are linear, and the
 * length is 2 |asin sqrt p(x) - asin sqrt p(x')| for any number of points. */
static void a_logistic_curve_is_an_arc(void **state) {
    (void)state;
    static const int64_t first[] = {0, 16, 32};
    const ikt_class_lanes shape = {.lanes = 32, .classes = 2, .wide = 16, .first = first};
    ikt_segment_job job = {ikt_segment_kernel_for(ikt_cpu_isa()), shape, IKT_RULE_ARC, 0};
    _Alignas(64) float weight[2][32], root[2][16], scratch[1000 * 16];
    const double s = 0.6;
    for (double x = -1; x < 2; x += 0.37)
        for (double y = -1; y < 2; y += 0.41) {
            const double at[2] = {x, y};
            double p[2];
            for (int e = 0; e < 2; e++) {
                const double a = -at[e] * at[e] / (2 * s * s);
                const double b = -(at[e] - 1) * (at[e] - 1) / (2 * s * s);
                const double total = log2(exp(a) + exp(b)), log_e = 1.4426950408889634;
                for (int l = 0; l < 32; l++)
                    weight[e][l] = IKT_NO_WEIGHT;
                weight[e][0] = (float)(a * log_e - total);
                weight[e][16] = (float)(b * log_e - total);
                p[e] = exp(b) / (exp(a) + exp(b));
                job.kernel->roots(&shape, weight[e], weight[e], 0, root[e]);
            }
            const double sought = 2 * fabs(asin(sqrt(p[0])) - asin(sqrt(p[1])));
            for (job.points = 0; job.points < 9; job.points += 2)
                assert_true(fabs((double)ikt_segment_distance(&job, weight[0], weight[1], root[0],
                                                              root[1], INFINITY, scratch) -
                                 sought) < 1e-5);
        }
}

/* Two classes 40 sigma apart: no speed within a class, pi across it, whatever the points; the
 * paper's sum sees nothing at all. The weights in the middle are far below 2^-126. */
static void far_classes_are_half_a_circle_apart(void **state) {
    (void)state;
    static const int points[] = {0, 1, 5, 6};
    const double pi = 3.14159265358979323846;
    world w;
    world_begin(&w, M);
    for (int64_t i = 0; i < N; i++)
        for (int c = 0; c < D; c++)
            w.x[i][c] = 0.3 * normal(i, c) + (c == 0 ? 40 * (double)(i % C) : 0);
    compare_rows(&w);
    weigh(&w, 1, false);
    for (size_t e = 0; e < sizeof points / sizeof *points; e++) {
        w.job.points = points[e];
        w.job.rule = IKT_RULE_ARC;
        assert_true(fabs((double)distance(&w, 0, 1) - pi) < 2e-6);
        assert_true((double)distance(&w, 0, 3) < 1e-6);
    }
    w.job.rule = IKT_RULE_OUTER;
    w.job.points = 5;
    assert_true((double)distance(&w, 0, 1) < 1e-6);
    world_end(&w);
}

/* --- instruction sets ------------------------------------------------------------------------- */

static void bits_do_not_depend_on_the_instruction_set(void **state) {
    (void)state;
    world w;
    world_begin(&w, M);
    const ikt_class_lanes *shape = &w.support.shape;
    weigh(&w, 0.4, true); /* some middles are scaled */
    for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
        const ikt_segment_kernel *kernel = ikt_segment_kernel_for((ikt_isa)isa);
        ikt_segment_job job = w.job;
        job.kernel = kernel;
        _Alignas(64) float a[16], b[16], half[2][128], other[2][128], scratch[5 * 16];
        assert_true(shape->lanes <= 128 && shape->wide == 16);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = i + 1; j < N; j += 3) {
                const float *low = w.weight + i * shape->lanes, *high = w.weight + j * shape->lanes;
                kernel->roots(shape, low, high, 0.25f, a);
                w.job.kernel->roots(shape, low, high, 0.25f, b);
                assert_memory_equal(a, b, sizeof a);
                assert_true(kernel->speed(shape, low, high, 0.25f) ==
                            w.job.kernel->speed(shape, low, high, 0.25f));
                kernel->halves(low, shape->lanes, half[0]);
                kernel->halves(high, shape->lanes, half[1]);
                w.job.kernel->halves(low, shape->lanes, other[0]);
                w.job.kernel->halves(high, shape->lanes, other[1]);
                assert_memory_equal(half[0], other[0], (size_t)shape->lanes * sizeof(float));
                assert_true(kernel->middle(shape, half[0], half[1], a) ==
                            w.job.kernel->middle(shape, other[0], other[1], b));
                assert_memory_equal(a, b, sizeof a);
                assert_true(kernel->chord(a, w.root, 16) == w.job.kernel->chord(a, w.root, 16));
                assert_true(ikt_segment_distance(&job, low, high, w.root + i * 16, w.root + j * 16,
                                                 INFINITY, scratch) == distance(&w, i, j));
            }
    }
    world_end(&w);
}

/* Products against exponentials. */
static void middles_by_products_are_those_of_the_line(void **state) {
    (void)state;
    world w;
    world_begin(&w, M);
    const ikt_class_lanes *shape = &w.support.shape;
    _Alignas(64) float a[16], b[16], half[2][128];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            const float *low = w.weight + i * shape->lanes, *high = w.weight + j * shape->lanes;
            w.job.kernel->halves(low, shape->lanes, half[0]);
            w.job.kernel->halves(high, shape->lanes, half[1]);
            if (w.job.kernel->middle(shape, half[0], half[1], a) < 1e-30f) continue;
            w.job.kernel->roots(shape, low, high, 0.5f, b);
            for (int c = 0; c < C; c++)
                assert_true(fabsf(a[c] - b[c]) < 2e-6f);
            const float d = ikt_segment_arc(w.job.kernel->chord(w.root + i * 16, a, 16)) +
                            ikt_segment_arc(w.job.kernel->chord(a, w.root + j * 16, 16));
            assert_true(d <= distance(&w, i, j) + 1e-5f);
        }
    world_end(&w);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(support_is_drawn_by_class),
                                       cmocka_unit_test(probabilities_are_those_of_parzen),
                                       cmocka_unit_test(sigma_is_the_likeliest_of_the_grid),
                                       cmocka_unit_test(speeds_are_those_of_the_fisher_matrix),
                                       cmocka_unit_test(lengths_are_those_of_the_formulas),
                                       cmocka_unit_test(coarse_arcs_are_never_above_fine_ones),
                                       cmocka_unit_test(a_limit_only_drops_what_is_above_it),
                                       cmocka_unit_test(errors_fall_with_the_points),
                                       cmocka_unit_test(a_logistic_curve_is_an_arc),
                                       cmocka_unit_test(far_classes_are_half_a_circle_apart),
                                       cmocka_unit_test(bits_do_not_depend_on_the_instruction_set),
                                       cmocka_unit_test(middles_by_products_are_those_of_the_line)};
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
