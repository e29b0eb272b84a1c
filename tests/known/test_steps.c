/* Starts and first steps of the loop against t-SNE written plainly, in double precision, from the
 * papers: van der Maaten & Hinton 2008 (P, gradient, momentum, gains), van der Maaten 2014 (early
 * exaggeration), Linderman & Steinerberger and FIt-SNE (learning rate on a quarter of the
 * gradient), Belkina et al. 2019 (its rule n / exaggeration). But for two functions at the end,
 * only the public interface is used: rows in, positions out, after every single iteration. */
#include <iktsne/iktsne.h>

#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layout/layout.h"
#include "optimiser/optimiser.h"
#include "support/expect.h"
#include "support/plain_random.h"

enum { ROWS_MOST = 500, COLUMNS = 4, STEPS = 20, SEED = 3 };
enum { JITTER = 2, INITIAL = 3 }; /* purposes of draws */

/* Of positions, in units of the spread of the map; positions are floats, and the descent doubles
 * what they err by in some steps: measured are 1e-7 at the start and 5e-5 in the end. */
#define TOLERANCE 1e-4

static float data[ROWS_MOST * COLUMNS];

/* Three clouds, the first axis the longest. */
static void make_data(int n) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++)
            data[COLUMNS * i + c] =
                (float)((i % 3 == c) * (9 - 2 * c) + plain_normal(77, 9, i, (uint64_t)c));
}

/* --- the program ------------------------------------------------------------------------------ */

typedef struct {
    const char *key, *value;
} option;

static ikt_embedding *embed(ikt_context *ctx, int n, const option *options, int iterations,
                            int exaggerated) {
    static const option common[] = {{"preprocess.normalise", "none"}, {"affinity.kind", "gaussian"},
                                    {"affinity.support", "dense"},    {"gaussian.perplexity", "9"},
                                    {"layout.repulsion", "exact"},    {"run.seed", "3"},
                                    {"output.measures", "none"}};
    char number[32];
    ikt_parameters *parameters;
    ikt_embedding *map;
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        succeed(ctx, ikt_parameters_set(parameters, common[i].key, common[i].value));
    for (; options->key; options++)
        succeed(ctx, ikt_parameters_set(parameters, options->key, options->value));
    snprintf(number, sizeof number, "%d", iterations);
    if (iterations >= 0) succeed(ctx, ikt_parameters_set(parameters, "layout.iterations", number));
    snprintf(number, sizeof number, "%d", exaggerated < iterations ? exaggerated : iterations);
    if (iterations >= 0)
        succeed(ctx, ikt_parameters_set(parameters, "layout.exaggeration_iterations", number));
    const int size = ikt_size(ctx), rank = ikt_rank(ctx);
    const int first = n * rank / size, end = n * (rank + 1) / size;
    succeed(ctx, ikt_embed_rows(ctx, parameters, data + COLUMNS * first, end - first, COLUMNS,
                                IKT_TYPE_F32, NULL, &map));
    ikt_parameters_destroy(&parameters);
    return map;
}

/* --- the plain program ------------------------------------------------------------------------ */

typedef struct {
    int n, q;
    double exaggeration, rate, final_rate, momentum, final_momentum;
    int exaggerated, momentum_switch; /* iterations of the first phase; of the first momentum */
    double degrees;                   /* of freedom; 0: 1 */
    double late;                      /* exaggeration, 0: 1, */
    int late_from;                    /* from this iteration on */
} plain_settings;

typedef struct {
    double p[ROWS_MOST][ROWS_MOST];
    double y[ROWS_MOST][3], velocity[ROWS_MOST][3], gain[ROWS_MOST][3];
} plain_state;

static plain_state plain;

static double squared_distance(int i, int j) {
    double sum = 0;
    for (int c = 0; c < COLUMNS; c++) {
        const double gap = (double)data[COLUMNS * i + c] - (double)data[COLUMNS * j + c];
        sum += gap * gap;
    }
    return sum;
}

/* p_j|i for one precision; returns the entropy of the row. */
static double weigh_row(int n, int i, double precision, double *weight) {
    double total = 0, entropy = 0;
    for (int j = 0; j < n; j++)
        total += weight[j] = j == i ? 0 : exp(-precision * squared_distance(i, j));
    for (int j = 0; j < n; j++) {
        weight[j] /= total;
        if (weight[j] > 0) entropy -= weight[j] * log(weight[j]);
    }
    return entropy;
}

/* Precision of each row by bisection: the entropy falls where it grows. */
static void make_p(int n, double perplexity) {
    static double weight[ROWS_MOST];
    memset(plain.p, 0, sizeof plain.p);
    for (int i = 0; i < n; i++) {
        double low = 1e-6, high = 1e3;
        for (int step = 0; step < 100; step++) {
            const double middle = sqrt(low * high);
            if (weigh_row(n, i, middle, weight) > log(perplexity))
                low = middle;
            else
                high = middle;
        }
        for (int j = 0; j < n; j++) {
            plain.p[i][j] += weight[j] / (2 * n);
            plain.p[j][i] += weight[j] / (2 * n);
        }
    }
}

/* The kernel of the map; where `pull` is not NULL it receives what the attraction of a pair is
 * multiplied by beside p: -dw / d(r^2) / w. */
static double kernel(const plain_settings *s, int i, int j, double *pull) {
    const double degrees = s->degrees > 0 ? s->degrees : 1;
    double square = 0;
    for (int c = 0; c < s->q; c++)
        square += (plain.y[i][c] - plain.y[j][c]) * (plain.y[i][c] - plain.y[j][c]);
    if (pull) *pull = 1 / (1 + square / degrees);
    return isinf(degrees) ? exp(-square) : pow(1 + square / degrees, -degrees);
}

static double kernel_total(const plain_settings *s) {
    double z = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            if (i != j) z += kernel(s, i, j, NULL);
    return z;
}

static double plain_kl(const plain_settings *s) {
    const double z = kernel_total(s);
    double kl = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            if (plain.p[i][j] > 0)
                kl += plain.p[i][j] * log(plain.p[i][j] * z / kernel(s, i, j, NULL));
    return kl;
}

static void start_at_random(int n, int q) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < q; c++) {
            plain.y[i][c] = 1e-4 * plain_normal(SEED, INITIAL, i, (uint64_t)c);
            plain.velocity[i][c] = 0;
            plain.gain[i][c] = 1;
        }
}

static void plain_step(const plain_settings *s, int iteration) {
    static double slope[ROWS_MOST][3];
    const bool is_exaggerated = iteration < s->exaggerated;
    const bool is_late = s->late > 0 && iteration >= s->late_from;
    const double factor = is_exaggerated ? s->exaggeration : is_late ? s->late : 1;
    const double rate = is_exaggerated ? s->rate : s->final_rate;
    const double momentum = iteration < s->momentum_switch ? s->momentum : s->final_momentum;
    const double z = kernel_total(s);
    memset(slope, 0, sizeof slope);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            for (int c = 0; c < s->q && i != j; c++) {
                double pull;
                const double w = kernel(s, i, j, &pull);
                slope[i][c] +=
                    (factor * plain.p[i][j] - w / z) * pull * (plain.y[i][c] - plain.y[j][c]);
            }
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < s->q; c++) {
            double *gain = &plain.gain[i][c], *velocity = &plain.velocity[i][c];
            *gain = slope[i][c] * *velocity > 0 ? 0.8 * *gain : *gain + 0.2;
            if (*gain < 0.01) *gain = 0.01;
            *velocity = momentum * *velocity - rate * *gain * slope[i][c];
            plain.y[i][c] += *velocity;
        }
}

/* --- comparison ------------------------------------------------------------------------------- */

/* Own positions of the program against the plain ones, both centred: within `tolerance` of the
 * spread of the map. */
static void compare(const ikt_embedding *map, int n, int q, int iteration, double tolerance) {
    double mean[3] = {0}, spread = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < q; c++)
            mean[c] += plain.y[i][c] / n;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < q; c++)
            spread += (plain.y[i][c] - mean[c]) * (plain.y[i][c] - mean[c]) / n;
    const float *y = ikt_embedding_positions(map);
    for (int64_t e = 0; e < ikt_embedding_count(map) * q; e++) {
        const int64_t row = ikt_embedding_first(map) + e / q;
        const double wanted = plain.y[row][e % q] - mean[e % q], found = (double)y[e];
        if (!(fabs(found - wanted) <= tolerance * sqrt(spread)))
            fail_msg("after %d iterations, row %d, axis %d: %.9g instead of %.9g (spread %.3g)",
                     iteration, (int)row, (int)(e % q), found, wanted, sqrt(spread));
    }
}

/* The program after every number of iterations up to `steps`, from a random start. */
static void follow(ikt_context *ctx, const plain_settings *s, const option *options, int steps) {
    make_data(s->n);
    make_p(s->n, 9);
    start_at_random(s->n, s->q);
    for (int done = 0; done <= steps; done++) {
        ikt_embedding *map = embed(ctx, s->n, options, done, s->exaggerated);
        compare(map, s->n, s->q, done, TOLERANCE);
        const double kl = plain_kl(s);
        assert_true(fabs(ikt_embedding_objective(map) - kl) <= TOLERANCE * kl);
        assert_int_equal(ikt_embedding_iterations(map), done);
        ikt_embedding_destroy(&map);
        plain_step(s, done);
    }
}

/* --- what is tested --------------------------------------------------------------------------- */

/* Both phases, both momenta; learning rate n / 12, then n. */
static void steps_of_the_default_schedule(void **state) {
    const plain_settings s = {180, 2, 12, 15, 180, 0.6, 0.85, 8, 14, 0, 0, 0};
    const option options[] = {{"layout.init", "random"},
                              {"layout.momentum", "0.6"},
                              {"layout.final_momentum", "0.85"},
                              {"layout.momentum_switch", "14"},
                              {0}};
    follow(*state, &s, options, STEPS);
}

/* 500 times the full gradient, exaggeration 4, momenta 0.5 and 0.8, from a random start: all of it
 * by the name of the preset. */
static void steps_of_the_papers_schedule(void **state) {
    const plain_settings s = {180, 2, 4, 2000, 2000, 0.5, 0.8, 3, 5, 0, 0, 0};
    const option options[] = {{"layout.preset", "matlab"}, {"layout.momentum_switch", "5"}, {0}};
    follow(*state, &s, options, 8);
}

/* Learning rate n / exaggeration, then n; momentum 0.8. */
static void steps_by_the_rule_of_the_learning_rate(void **state) {
    const plain_settings s = {500, 2, 2, 250, 500, 0.8, 0.8, 10, 250, 0, 0, 0};
    const option options[] = {{"layout.init", "random"}, {"layout.exaggeration", "2"}, {0}};
    make_data(s.n);
    make_p(s.n, 9);
    start_at_random(s.n, s.q);
    for (int done = 0; done < STEPS; done++) {
        plain_step(&s, done);
        if (done + 1 != s.exaggerated && done + 1 != STEPS) continue;
        ikt_embedding *map = embed(*state, s.n, options, done + 1, s.exaggerated);
        compare(map, s.n, s.q, done + 1, TOLERANCE);
        ikt_embedding_destroy(&map);
    }
}

static void steps_in_one_and_three_dimensions(void **state) {
    for (int q = 1; q <= 3; q += 2) {
        const plain_settings s = {40, q, 1.5, 20, 45, 0.8, 0.8, 9, 250, 0, 0, 0};
        const option options[] = {{"layout.init", "random"},
                                  {"layout.dimensions", q == 1 ? "1" : "3"},
                                  {"layout.learning_rate", "20"},
                                  {"layout.final_learning_rate", "45"},
                                  {0}};
        follow(*state, &s, options, STEPS);
    }
}

/* Heavy and light tails, and the limit; the divergence is that of the same kernel. */
static void steps_with_other_degrees_of_freedom(void **state) {
    static const char *const degrees[] = {"0.5", "3", "inf"};
    for (int d = 0; d < 3; d++) {
        const plain_settings s = {.n = 60,
                                  .q = 2,
                                  .exaggeration = 1.5,
                                  .rate = 20,
                                  .final_rate = 45,
                                  .momentum = 0.8,
                                  .final_momentum = 0.8,
                                  .exaggerated = 9,
                                  .momentum_switch = 250,
                                  .degrees = d == 2 ? INFINITY : strtod(degrees[d], NULL)};
        const option options[] = {{"layout.init", "random"},
                                  {"layout.degrees_of_freedom", degrees[d]},
                                  {"layout.learning_rate", "20"},
                                  {"layout.final_learning_rate", "45"},
                                  {0}};
        follow(*state, &s, options, STEPS);
    }
}

/* At once after the first phase, and from an iteration on; the divergence knows of no factor. */
static void steps_with_late_exaggeration(void **state) {
    for (int later = 0; later < 2; later++) {
        const plain_settings s = {.n = 60,
                                  .q = 2,
                                  .exaggeration = 1.5,
                                  .rate = 20,
                                  .final_rate = 45,
                                  .momentum = 0.8,
                                  .final_momentum = 0.8,
                                  .exaggerated = 6,
                                  .momentum_switch = 250,
                                  .late = 3,
                                  .late_from = later ? 11 : 0};
        const option options[] = {
            {"layout.init", "random"},
            {"layout.exaggeration", "1.5"},
            {"layout.final_exaggeration", "3"},
            {"layout.learning_rate", "20"},
            {"layout.final_learning_rate", "45"},
            {later ? "layout.final_exaggeration_from" : "layout.momentum", later ? "11" : "0.8"},
            {0}};
        make_data(s.n);
        make_p(s.n, 9);
        start_at_random(s.n, s.q);
        for (int done = 0; done < STEPS; done++) {
            plain_step(&s, done);
            if (done + 1 < 11) continue; /* the start must lie within the run */
            ikt_embedding *map = embed(*state, s.n, options, done + 1, s.exaggerated);
            compare(map, s.n, s.q, done + 1, TOLERANCE);
            assert_true(fabs(ikt_embedding_objective(map) - plain_kl(&s)) <=
                        TOLERANCE * plain_kl(&s));
            ikt_embedding_destroy(&map);
        }
    }
}

/* Lengths of the phases that no option here names: at 30 rows the first is shorter and weaker. */
static void schedules_have_their_lengths(void **state) {
    static const char *const wanted[2][8] = {
        {"\n  iterations: 750\n", "\n  exaggeration: 1.5\n", "\n  exaggeration_iterations: 50\n",
         "\n  learning_rate: 20\n", "\n  momentum: 0.8\n", "\n  final_momentum: 0.8\n",
         "\n  momentum_switch: 250\n", "\n  init: pca\n"},
        {"\n  iterations: 1000\n", "\n  exaggeration: 4\n", "\n  exaggeration_iterations: 20\n",
         "\n  learning_rate: 2000\n", "\n  momentum: 0.5\n", "\n  final_momentum: 0.8\n",
         "\n  momentum_switch: 250\n", "\n  init: random\n"}};
    make_data(30);
    for (int preset = 0; preset < 2; preset++) {
        const option options[] = {{"layout.preset", preset ? "matlab" : "default"}, {0}};
        ikt_embedding *map = embed(*state, 30, options, -1, 0);
        for (int line = 0; line < 8; line++)
            if (!strstr(ikt_embedding_yaml(map), wanted[preset][line]))
                fail_msg("no %s in %s", wanted[preset][line], ikt_embedding_yaml(map));
        assert_int_equal(ikt_embedding_iterations(map), preset ? 1000 : 750);
        ikt_embedding_destroy(&map);
    }
}

/* --- starts ----------------------------------------------------------------------------------- */

static void a_random_start_is_normal_with_deviation_1e_4(void **state) {
    const option options[] = {{"layout.init", "random"}, {0}};
    double square = 0;
    make_data(ROWS_MOST);
    start_at_random(ROWS_MOST, 2);
    ikt_embedding *map = embed(*state, ROWS_MOST, options, 0, 0);
    compare(map, ROWS_MOST, 2, 0, 1e-6);
    for (int i = 0; i < ROWS_MOST; i++)
        square += plain.y[i][0] * plain.y[i][0] + plain.y[i][1] * plain.y[i][1];
    assert_true(fabs(sqrt(square / (2 * ROWS_MOST)) - 1e-4) < 4e-6); /* 1000 draws */
    ikt_embedding_destroy(&map);
}

/* The leading eigenvectors of the covariance by power iteration, the second beside the first. */
static void find_axes(int n, double mean[COLUMNS], double axis[2][COLUMNS]) {
    double covariance[COLUMNS][COLUMNS] = {{0}};
    memset(mean, 0, COLUMNS * sizeof *mean);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++)
            mean[c] += (double)data[COLUMNS * i + c] / n;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < COLUMNS; a++)
            for (int b = 0; b < COLUMNS; b++)
                covariance[a][b] += ((double)data[COLUMNS * i + a] - mean[a]) *
                                    ((double)data[COLUMNS * i + b] - mean[b]) / n;
    for (int k = 0; k < 2; k++) {
        double v[COLUMNS] = {1, 0.3, -0.2, 0.7};
        for (int step = 0; step < 3000; step++) {
            double next[COLUMNS] = {0}, along = 0, length = 0;
            for (int a = 0; a < COLUMNS; a++)
                for (int b = 0; b < COLUMNS; b++)
                    next[a] += covariance[a][b] * v[b];
            for (int a = 0; a < COLUMNS; a++)
                along += next[a] * axis[0][a];
            for (int a = 0; a < COLUMNS; a++)
                next[a] -= k * along * axis[0][a];
            for (int a = 0; a < COLUMNS; a++)
                length += next[a] * next[a];
            for (int a = 0; a < COLUMNS; a++)
                v[a] = next[a] / sqrt(length);
        }
        memcpy(axis[k], v, sizeof v);
    }
}

/* Scores scaled together so that those of the first axis have deviation 1e-4, and a hundredth of
 * that as jitter; the sign of an axis is free. */
static void a_start_by_components_has_deviation_1e_4_on_the_first_axis(void **state) {
    enum { N = 200 };
    const option options[] = {{"layout.init", "pca"}, {0}};
    double mean[COLUMNS], axis[2][COLUMNS] = {{0}}, score[N][2] = {{0}}, deviation = 0;
    make_data(N);
    find_axes(N, mean, axis);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < COLUMNS; c++)
                score[i][k] += axis[k][c] * ((double)data[COLUMNS * i + c] - mean[c]);
    for (int i = 0; i < N; i++)
        deviation += score[i][0] * score[i][0] / N;
    const double scale = 1e-4 / sqrt(deviation);
    ikt_embedding *map = embed(*state, N, options, 0, 0);
    const float *y = ikt_embedding_positions(map);
    double jitter_mean[2] = {0};
    for (int e = 0; e < 2 * N; e++)
        jitter_mean[e % 2] += 1e-6 * plain_normal(SEED, JITTER, e / 2, (uint64_t)(e % 2)) / N;
    for (int k = 0; k < 2; k++) {
        int wrong[2] = {0};
        for (int64_t i = 0; i < ikt_embedding_count(map); i++) {
            const int64_t row = ikt_embedding_first(map) + i;
            const double jitter =
                1e-6 * plain_normal(SEED, JITTER, row, (uint64_t)k) - jitter_mean[k];
            for (int sign = 0; sign < 2; sign++) {
                const double wanted = (sign ? -1 : 1) * scale * score[row][k] + jitter;
                wrong[sign] += fabs((double)y[2 * i + k] - wanted) > 1e-9;
            }
        }
        assert_true(wrong[0] == 0 || wrong[1] == 0);
    }
    ikt_embedding_destroy(&map);
}

/* Scores need not be centred: those of sparse rows are centred on a sample. */
static void scores_off_the_origin_have_the_same_spread(void **state) {
    enum { N = 300 };
    const ikt_rows rows = ikt_rows_make(N, 1, 0);
    ikt_context *alone = ikt_test_alone();
    double score[2 * N], mean = 0, square = 0;
    float y[2 * N];
    (void)state;
    for (int e = 0; e < 2 * N; e++)
        score[e] = 5 + plain_normal(1, 9, e, 0) * (e % 2 ? 3 : 1);
    ikt_initial_from_scores(alone, &rows, 2, SEED, 0, score, y);
    for (int i = 0; i < N; i++) {
        y[2 * i] -= (float)(1e-6 * plain_normal(SEED, JITTER, i, 0));
        mean += (double)y[2 * i] / N;
    }
    for (int i = 0; i < N; i++)
        square += ((double)y[2 * i] - mean) * ((double)y[2 * i] - mean) / N;
    assert_true(fabs(sqrt(square) - 1e-4) < 1e-9);
    ikt_context_destroy(&alone);
}

static void the_norm_is_that_of_both_parts_of_the_gradient(void **state) {
    const float attraction[6] = {1, -2, 3, 0.5f, 0, 4}, repulsion[6] = {-1, 1, 0.25f, 2, 8, -3};
    const ikt_gradient gradient = {attraction, repulsion, 4, 0.5f};
    double square = 0;
    for (int e = 0; e < 6; e++)
        square += pow(4 * (double)attraction[e] + 0.5 * (double)repulsion[e], 2);
    ikt_context *alone = ikt_test_alone();
    (void)state;
    assert_true(fabs(ikt_gradient_norm(alone, &gradient, 2, 3) - sqrt(square)) < 1e-12);
    ikt_context_destroy(&alone);
}

/* A run that is stopped goes on with all that its phases knew. */
static void phases_are_kept_whole(void **state) {
    const ikt_layout_settings settings = {.iterations = 10};
    const ikt_phases whole = {.settings = &settings,
                              .is_exaggerated = true,
                              .is_beginning = true,
                              .is_done = true,
                              .exaggeration_end = 3,
                              .end = 4,
                              .kl = 5.5,
                              .best_rate = 6.5,
                              .step = 0.25,
                              .begun = 7,
                              .checked = 8,
                              .misses = 9};
    ikt_phases again = {.settings = &settings};
    int64_t number[IKT_PHASE_NUMBERS];
    double real[IKT_PHASE_REALS];
    (void)state;
    ikt_phases_pack(&whole, number, real);
    ikt_phases_unpack(number, real, &again);
    assert_true(again.is_exaggerated && again.is_beginning && again.is_done);
    assert_true(again.exaggeration_end == 3 && again.end == 4 && again.begun == 7);
    assert_true(again.checked == 8 && again.misses == 9);
    assert_true(again.kl == 5.5 && again.best_rate == 6.5 && again.step == 0.25);
}

IKT_MPI_TESTS(ikt_test(steps_of_the_default_schedule), ikt_test(steps_of_the_papers_schedule),
              ikt_test(steps_by_the_rule_of_the_learning_rate),
              ikt_test(steps_in_one_and_three_dimensions),
              ikt_test(steps_with_other_degrees_of_freedom), ikt_test(steps_with_late_exaggeration),
              ikt_test(schedules_have_their_lengths),
              ikt_test(a_random_start_is_normal_with_deviation_1e_4),
              ikt_test(a_start_by_components_has_deviation_1e_4_on_the_first_axis),
              ikt_test(scores_off_the_origin_have_the_same_spread),
              ikt_test(the_norm_is_that_of_both_parts_of_the_gradient),
              ikt_test(phases_are_kept_whole))
