/* Rows and centres as bytes: what they stand for, and the values of a kernel. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/near_trial.h"

enum { ROWS = 40, CENTRES = 77, LANES = 16, STRIDE = 96, CHOSEN = 29, ROOM = 48 };

typedef struct {
    int64_t d;
    float *rows, *mean;
    int64_t index[CENTRES];
    int32_t *word;
    ikt_near_bytes centres;
} example;

/* Columns of differing means and widths; the last row is far, and row 3 is the mean. */
static void create(ikt_arrays *held, int64_t d, example *e) {
    const int64_t rows = ROWS + CENTRES;
    *e = (example){.d = d,
                   .rows = ikt_claim(held, rows * d, sizeof *e->rows),
                   .mean = ikt_claim(held, d, sizeof *e->mean),
                   .word = ikt_claim(held, ROWS * ikt_near_bytes_words(d), sizeof *e->word)};
    assert_int_equal(held->status, IKT_OK);
    for (int64_t k = 0; k < d; k++) {
        e->mean[k] = (float)(20 * ikt_rng_normal(5, IKT_RNG_TEST, 1, (uint64_t)k));
        for (int64_t i = 0; i < rows; i++) {
            const double wide = i == ROWS - 1 ? 1000 : i == 3 ? 0 : 1 + (double)(k % 3);
            e->rows[i * d + k] =
                (float)((double)e->mean[k] +
                        wide * ikt_rng_normal(5, IKT_RNG_TEST, 10 + i, (uint64_t)k));
        }
    }
    for (int64_t j = 0; j < CENTRES; j++)
        e->index[j] = ROWS + (j * 5 + 2) % CENTRES;
    ikt_near_bytes_rows(e->rows, ROWS, d, e->mean, e->word);
    assert_int_equal(
        ikt_near_bytes_create(held, e->rows, e->index, CENTRES, d, e->mean, &e->centres), IKT_OK);
}

/* The largest distance of a row from the mean in a column, over the steps to there. */
static double step_of(const example *e, int64_t row, int steps) {
    double most = 0;
    for (int64_t k = 0; k < e->d; k++)
        most = fmax(most, fabs((double)(e->rows[row * e->d + k] - e->mean[k])));
    return most / steps;
}

/* Half the squared length of a centre less the product with a row, both rounded to whole steps; and
 * in *plain without rounding. */
static double value_of(const example *e, int64_t row, int64_t centre, double *plain) {
    const double step[] = {step_of(e, row, 63), step_of(e, centre, 127)};
    double half = 0, product = 0, rounded = 0;
    for (int64_t k = 0; k < e->d; k++) {
        const double x = (double)(e->rows[row * e->d + k] - e->mean[k]);
        const double c = (double)(e->rows[centre * e->d + k] - e->mean[k]);
        half += c * c / 2;
        product += x * c;
        if (step[0] > 0) rounded += floor(x / step[0] + .5) * floor(c / step[1] + .5);
    }
    *plain = half - product;
    return half - step[0] * step[1] * rounded;
}

static void values_are_those_of_whole_steps(void **state) {
    static const int64_t columns[] = {1, 3, 4, 50, 101, 1024};
    for (size_t q = 0; q < sizeof columns / sizeof *columns; q++) {
        example e;
        uint32_t row[CHOSEN];
        float out[ROOM * STRIDE];
        IKT_ARRAYS(held, *state, "test");
        create(&held, columns[q], &e);
        for (int64_t i = 0; i < CHOSEN; i++)
            row[i] = (uint32_t)((i * 7 + 3) % ROWS);
        for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++)
            for (int64_t first = 0; first < e.centres.vectors; first++) {
                ikt_near_bytes_kernel_for((ikt_isa)isa)
                    ->score_chosen(e.word, row, CHOSEN, &e.centres, first, e.centres.vectors, out,
                                   STRIDE);
                for (int64_t i = 0; i < CHOSEN; i++)
                    for (int64_t j = first * LANES; j < e.centres.vectors * LANES; j++) {
                        const double value = (double)out[i * STRIDE + j - first * LANES];
                        double plain;
                        if (j >= CENTRES) {
                            assert_true(value == (double)INFINITY);
                            continue;
                        }
                        const double expected = value_of(&e, row[i], e.index[j], &plain);
                        const double length =
                            sqrt((double)e.d) * step_of(&e, row[i], 1) * step_of(&e, e.index[j], 1);
                        /* A rounding at the middle between two steps may go either way. */
                        if (fabs(value - expected) > 1e-6 * fabs(expected) + 2e-4 * length)
                            fail_msg("%s, %lld columns: row %u, centre %lld: %.9g, not %.9g",
                                     ikt_isa_name((ikt_isa)isa), (long long)e.d, row[i],
                                     (long long)j, value, expected);
                        assert_true(fabs(value - plain) < .02 * length + 1e-6 * fabs(plain));
                    }
            }
    }
}

static void bits_do_not_depend_on_the_instruction_set(void **state) {
    enum { COLUMNS = 203 };
    example e;
    uint32_t row[CHOSEN];
    float best[ROOM * STRIDE], out[ROOM * STRIDE];
    IKT_ARRAYS(held, *state, "test");
    create(&held, COLUMNS, &e);
    for (uint32_t i = 0; i < CHOSEN; i++)
        row[i] = i;
    ikt_near_bytes_kernel_for(ikt_cpu_isa())
        ->score_chosen(e.word, row, CHOSEN, &e.centres, 0, e.centres.vectors, best, STRIDE);
    for (int isa = 0; isa < (int)ikt_cpu_isa(); isa++) {
        ikt_near_bytes_kernel_for((ikt_isa)isa)
            ->score_chosen(e.word, row, CHOSEN, &e.centres, 0, e.centres.vectors, out, STRIDE);
        for (int64_t i = 0; i < CHOSEN; i++)
            assert_memory_equal(out + i * STRIDE, best + i * STRIDE,
                                CENTRES * (int64_t)sizeof *out);
    }
}

/* Rows beyond all measure have values that can be put in order: no value is not a number. */
static void far_rows_have_values(void **state) {
    enum { COLUMNS = 2 };
    const float rows[][COLUMNS] = {{3e38F, 0}, {0, 1e17F}, {1, 1e17F}, {0, 0}}, mean[COLUMNS] = {0};
    const int64_t index[] = {1, 2, 3};
    const uint32_t row[] = {0};
    float out[ROOM * STRIDE];
    int32_t word[IKT_BYTES_HEAD + 1];
    ikt_near_bytes centres;
    IKT_ARRAYS(held, *state, "test");
    assert_int_equal(ikt_near_bytes_words(COLUMNS), IKT_BYTES_HEAD + 1);
    assert_int_equal(ikt_near_bytes_create(&held, rows[0], index, 3, COLUMNS, mean, &centres),
                     IKT_OK);
    ikt_near_bytes_rows(rows[0], 1, COLUMNS, mean, word);
    for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++) {
        ikt_near_bytes_kernel_for((ikt_isa)isa)
            ->score_chosen(word, row, 1, &centres, 0, 1, out, STRIDE);
        for (int64_t j = 0; j < 3; j++)
            assert_true(out[j] <= INFINITY);
    }
}

/* --- the trial -------------------------------------------------------------------------------- */

enum { POINTS = 3000, PSI = 1000, LENGTH = 8, TRIED = 120 };

typedef struct {
    double value;
    int64_t number;
} near_point;

static int by_value(const void *a, const void *b) {
    const near_point *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Numbers of the LENGTH others nearest to a point, by plain values or by those of bytes. */
static void nearest_of(const example *e, int64_t row, bool by_bytes, int64_t number[LENGTH]) {
    static near_point point[POINTS];
    for (int64_t j = 0; j < POINTS; j++) {
        double plain;
        const double rounded = value_of(e, row, j, &plain);
        point[j] = (near_point){j == row ? INFINITY : by_bytes ? rounded : plain, j};
    }
    qsort(point, POINTS, sizeof *point, by_value);
    for (int64_t i = 0; i < LENGTH; i++)
        number[i] = point[i].number;
}

/* The share of cells by the definition: of psi of the points each, drawn at random. */
static double share_of(const example *e) {
    const double q = (double)PSI / POINTS;
    double share = 0;
    for (int64_t i = 0; i < TRIED; i++) {
        int64_t plain[LENGTH], rounded[LENGTH];
        nearest_of(e, i * POINTS / TRIED, false, plain);
        nearest_of(e, i * POINTS / TRIED, true, rounded);
        for (int64_t r = 0; r < LENGTH; r++) {
            bool is_there = false;
            for (int64_t s = 0; s < LENGTH; s++)
                is_there |= rounded[s] == plain[r];
            if (!is_there) share += q * pow(1 - q, (double)r) / TRIED;
        }
    }
    return share;
}

/* What the trial says of points in all directions, or around a ring. */
static void check_trial(ikt_context *ctx, bool is_ring, int64_t d, double *found,
                        double *expected) {
    const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(false, false, ikt_cpu_isa());
    ikt_model model = {.spec = {.psi = PSI}};
    const ikt_coding c = {
        .ctx = ctx, .kernel = kernel, .model = &model, .d = d, .threads = ikt_threads(ctx)};
    IKT_ARRAYS(held, ctx, "test");
    ikt_row_lists lists = {
        .c = &c, .isa = ikt_cpu_isa(), .length = LENGTH, .table = {.count = POINTS}};
    ikt_near_points points = {.plain = {0}};
    float *rows = ikt_claim(&held, POINTS * d, sizeof *rows);
    float *mean = ikt_claim(&held, d, sizeof *mean);
    int64_t *index = ikt_claim(&held, POINTS, sizeof *index);
    void *slab = ikt_claim(&held, ikt_centres_bytes(kernel, POINTS, d), 1);
    assert_int_equal(held.status, IKT_OK);
    for (int64_t i = 0; i < POINTS; i++) {
        index[i] = i;
        const double angle = 6.3 * ikt_rng_uniform(6, IKT_RNG_TEST, i, 1);
        for (int64_t k = 0; k < d; k++)
            rows[i * d + k] = (float)(!is_ring ? ikt_rng_normal(6, IKT_RNG_TEST, i, (uint64_t)k)
                                      : k == 0 ? sin(angle)
                                               : cos(angle));
    }
    ikt_centres_place(kernel, POINTS, d, slab, &lists.centres);
    ikt_centres_fill(kernel, &lists.centres, rows, index, NULL);
    lists.rows = rows;
    assert_int_equal(ikt_near_bytes_create(&held, rows, index, POINTS, d, mean, &points.bytes),
                     IKT_OK);
    const ikt_near_form plain = {kernel, NULL, NULL, d, ikt_row_words(kernel, d)};
    const ikt_near_form bytes = {kernel, ikt_near_bytes_kernel_for(lists.isa), mean, d,
                                 points.bytes.words};
    assert_int_equal(ikt_near_trial(&lists, &plain, &bytes, &points, found), IKT_OK);
    *expected = share_of(&(example){.d = d, .rows = rows, .mean = mean});
}

static void the_trial_tells_the_share_of_cells(void **state) {
    double found, expected;
    check_trial(*state, false, 24, &found, &expected);
    assert_true(fabs(found - expected) < 2e-4 && found < 5e-3);
    check_trial(*state, true, 2, &found, &expected);
    if (!(fabs(found - expected) < .02 && found > .1))
        fail_msg("the trial says %g where %g is so", found, expected);
}

IKT_MPI_TESTS(ikt_test(the_trial_tells_the_share_of_cells),
              ikt_test(values_are_those_of_whole_steps),
              ikt_test(bits_do_not_depend_on_the_instruction_set), ikt_test(far_rows_have_values))
