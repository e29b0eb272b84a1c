/* Measures that compare the map with the input: retrieval, triplets, the global score, the curve
 * R(k), ranks by the Isolation kernel; and gamma of the data. Against plain double-precision code
 * and known answers. Coordinates are small whole numbers where ranks are compared. The same bits on
 * any ranks: test_measures.c. */
#include "support/measure_set.h"

#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "isolation/model.h"
#include "linalg/pca.h"
#include "support/equal_cells.h"

/* --- retrieval -------------------------------------------------------------------------------- */

static void retrieval_matches_plain_code(void **state) {
    static sample_set s;
    static const int64_t rows[] = {2, 15, 90, 130}; /* fewer than relevant, than retrieved */
    const ikt_measure_settings settings = ikt_measure_defaults();
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        make_in(&s, rows[r], 2, 2, 1 + (int64_t)r % 3);
        assert_near(measure_one(*state, &s.set, &settings, "retrieval", "precision-recall area"),
                    ref_retrieval(&s.set, 20, 100), 1e-13);
    }
}

/* Two groups of 21 rows, and a map in one place, where rows are retrieved in their order. The first
 * group retrieves its 20 relevant rows first, the second after the 21 of the first: precision 1/2
 * up to recall 1/2, then (k - 1) / (2 k) while recall grows by 1/40 a step. */
static void retrieval_by_hand(void **state) {
    enum { EACH = 21 };
    static float x[2 * EACH], y[2 * EACH];
    const ikt_measure_settings settings = ikt_measure_defaults();
    const ikt_ref_set set = {2 * EACH, 1, 1, x, y, NULL};
    double expected = 0.25;
    for (int i = 0; i < 2 * EACH; i++)
        x[i] = (float)(i < EACH ? i : 1000 + i);
    for (int k = 22; k <= 41; k++)
        expected += ((k - 1) / (2.0 * k) + (k - 2) / (2.0 * (k - 1))) / 2 / 40;
    assert_near(measure_one(*state, &set, &settings, "retrieval", "precision-recall area"),
                expected, 1e-14);
}

/* --- triplets --------------------------------------------------------------------------------- */

/* The definition, with the draws that it names. */
static double plain_triplets(const ikt_ref_set *set, const ikt_measure_settings *settings) {
    double right = 0;
    for (int64_t i = 0; i < set->n; i++)
        for (int64_t t = 0; t < settings->triplets; t++) {
            int64_t other[2], n = set->n;
            other[0] = ikt_rng_below(settings->seed, IKT_RNG_TRIPLET, i, 2 * (uint64_t)t, n - 1);
            other[1] =
                ikt_rng_below(settings->seed, IKT_RNG_TRIPLET, i, 2 * (uint64_t)t + 1, n - 2);
            if (other[1] >= other[0]) other[1]++;
            for (int e = 0; e < 2; e++)
                if (other[e] >= i) other[e]++;
            assert_true(other[0] != other[1] && other[0] != i && other[1] != i);
            assert_true(other[0] < n && other[1] < n);
            double high =
                ref_squared(set->x, set->d, i, other[0]) - ref_squared(set->x, set->d, i, other[1]);
            double low =
                ref_squared(set->y, set->q, i, other[0]) - ref_squared(set->y, set->q, i, other[1]);
            right += high * low > 0 || (high == 0 && low == 0) ? 1 : high * low == 0 ? 0.5 : 0;
        }
    return right / (double)(set->n * settings->triplets);
}

static void triplets_match_plain_code(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 61, 3, 1, q);
        settings.seed = (uint64_t)q;
        settings.triplets = 3 * q;
        assert_near(measure_one(*state, &s.set, &settings, "triplets", "triplet accuracy"),
                    plain_triplets(&s.set, &settings), 1e-15);
    }
}

static void triplets_have_known_ends(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.triplets = 200;
    make_in(&s, 300, 3, 0, 2);
    const ikt_ref_set same = {300, 2, 2, s.y, s.y, NULL};
    assert_near(measure_one(*state, &same, &settings, "triplets", "triplet accuracy"), 1, 0);
    for (int64_t e = 0; e < 600; e++) /* nothing to do with the input */
        s.y[e] = (float)ikt_rng_normal(9, IKT_RNG_TEST, e, 0);
    assert_near(measure_one(*state, &s.set, &settings, "triplets", "triplet accuracy"), 0.5, 0.02);
    for (int64_t e = 0; e < 600; e++)
        s.y[e] = 1;
    assert_near(measure_one(*state, &s.set, &settings, "triplets", "triplet accuracy"), 0.5, 0);
}

/* --- global score ----------------------------------------------------------------------------- */

/* The first q principal components of the rows, [n * q]. */
static double *components_of(ikt_context *ctx, const ikt_ref_set *set, int64_t q) {
    input in = input_open(ctx, set);
    const ikt_row_reader reader = ikt_dataset_reader(in.data);
    ikt_pca *pca = NULL;
    double *scores = calloc((size_t)(set->n * q), sizeof *scores);
    assert_int_equal(ikt_pca_fit(ctx, &reader, q, &pca), IKT_OK);
    assert_int_equal(ikt_pca_scores(ctx, pca, &reader, 0, set->n, scores), IKT_OK);
    ikt_pca_destroy(&pca);
    input_close(&in);
    return scores;
}

static void compare_global(ikt_context *ctx, const ikt_ref_set *set) {
    const ikt_measure_settings settings = ikt_measure_defaults();
    double *pca = components_of(ctx, set, set->q);
    double *map = calloc((size_t)(set->n * set->q), sizeof *map);
    for (int64_t e = 0; e < set->n * set->q; e++)
        map[e] = (double)set->y[e];
    double by_pca = ref_reconstruction(set, pca, set->q);
    double by_map = ref_reconstruction(set, map, set->q);
    double expected = exp(-(by_map - by_pca) / by_pca);
    assert_near(measure_one(ctx, set, &settings, "global", "global score"), expected,
                1e-9 * expected);
    free(pca);
    free(map);
}

static void the_global_score_matches_plain_code(void **state) {
    static sample_set s;
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 250, 4, 0, q);
        compare_global(*state, &s.set);
        for (int64_t e = 0; e < 250 * q; e++) /* far from the origin */
            s.y[e] += 1000;
        compare_global(*state, &s.set);
        for (int64_t i = 0; q > 1 && i < 250; i++) /* two columns that tell the same */
            s.y[q * i + 1] = -2 * s.y[q * i];
        compare_global(*state, &s.set);
        for (int64_t e = 0; e < 250 * q; e++)
            s.y[e] = 3;
        compare_global(*state, &s.set);
    }
}

static void components_score_one(void **state) {
    static sample_set s;
    const ikt_measure_settings settings = ikt_measure_defaults();
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 200, 4, 0, q);
        double *pca = components_of(*state, &s.set, q);
        for (int64_t i = 0; i < 200; i++) /* and any linear map of them */
            for (int64_t c = 0; c < q; c++)
                s.y[q * i + c] = (float)(pca[q * i + c] * (1 + (double)c) - 2 * pca[q * i] + 7);
        free(pca);
        assert_near(measure_one(*state, &s.set, &settings, "global", "global score"), 1, 1e-9);
    }
}

/* --- labels of the nearest rows of the input ---------------------------------------------------
 */

/* Whole numbers, so that there are ties, which go to the lower row. */
static void errors_of_the_input_match_plain_code(void **state) {
    static sample_set s;
    const ikt_measure_settings settings = ikt_measure_defaults();
    for (int run = 0; run < 3; run++) {
        int64_t wrong = 0;
        make_in(&s, 60 + 100 * run, 2 + run, run == 2 ? 0 : 1, 2);
        for (int64_t e = 0; run == 1 && e < s.set.n * D; e++) /* of all rows but one column */
            if (e % D > 0) s.x[e] = 0;
        for (int64_t i = 0; i < s.set.n; i += 3) /* some rows have a label of others */
            s.labels[i] = i * i / 5 % 2;
        for (int64_t i = 0; i < s.set.n; i++) {
            int64_t nearest = -1;
            for (int64_t j = s.set.n - 1; j >= 0; j--)
                if (j != i &&
                    (nearest < 0 || ref_squared(s.x, D, i, j) <= ref_squared(s.x, D, i, nearest)))
                    nearest = j;
            wrong += s.labels[nearest] != s.labels[i];
        }
        assert_true(wrong > 0);
        assert_near(measure_one(*state, &s.set, &settings, "input-labels", "1-NN error, input"),
                    (double)wrong / (double)s.set.n, 1e-15);
    }
}

/* --- outliers of the data --------------------------------------------------------------------- */

static void outliers_of_the_data_match_plain_code(void **state) {
    static sample_set s;
    const ikt_measure_settings settings = ikt_measure_defaults();
    static const int64_t rows[] = {3, 30, 49, 50, 399};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int c = 0; c < 3; c++) {
            make_in(&s, rows[r], 2, c == 1 ? 1 : 0, 2);
            for (int64_t e = 0; e < D * rows[r] && c == 2; e++)
                s.x[e] += 100;
            const double expected = ref_outlier_ratio(s.x, rows[r], D);
            assert_near(measure_one(*state, &s.set, &settings, "data-outliers",
                                    "outlier ratio of the data"),
                        expected, 1e-9 * expected);
        }
}

/* Blocks of rows that several ranks have, and the same bits whoever has them. */
static void outliers_of_many_rows_have_the_same_bits(void **state) {
    enum { MANY = 4100 };
    static float x[MANY * 2];
    const ikt_measure_settings settings = ikt_measure_defaults();
    const ikt_ref_set set = {MANY, 2, 2, x, x, NULL};
    ikt_context *alone = ikt_test_alone();
    for (int64_t e = 0; e < 2 * MANY; e++)
        x[e] = (float)floor(8 * ikt_rng_normal(3, IKT_RNG_TEST, e, 0));
    const double of_data =
        measure_one(*state, &set, &settings, "data-outliers", "outlier ratio of the data");
    const double of_map = measure_one(*state, &set, &settings, "outliers", "outlier ratio");
    const double one =
        measure_one(alone, &set, &settings, "data-outliers", "outlier ratio of the data");
    const double map_of_one = measure_one(alone, &set, &settings, "outliers", "outlier ratio");
    assert_memory_equal(&of_data, &one, sizeof one);
    assert_memory_equal(&of_map, &map_of_one, sizeof one);
    assert_near(of_map, of_data, 1e-12);
    assert_near(of_map, ref_outlier_ratio(x, MANY, 2), 1e-11);
    ikt_context_destroy(&alone);
}

/* Asked for by name, what the data do not allow is refused, or left out where that is wanted. */
static void what_is_not_possible_is_left_out_on_request(void **state) {
    static sample_set s;
    ikt_measures found;
    ikt_measure_settings settings = ikt_measure_defaults();
    make_in(&s, 60, 3, 0, 2);
    settings.only = "labels,data-outliers,clusters";
    s.set.x = NULL;
    for (int64_t i = 0; i < 60; i++)
        s.labels[i] = 1;
    assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_ERR_USAGE);
    ikt_measures_destroy(&found);
    ikt_clear(*state);
    settings.leaves_out = true;
    assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_OK);
    assert_int_equal(found.count, 3); /* the label accuracies */
    ikt_measures_destroy(&found);
}

/* --- gamma of the data ------------------------------------------------------------------------ */

/* Definition 3, condition by condition. `spherical` and `separated` tell which of the two hold. */
static void judge(const ikt_ref_set *set, int64_t classes, double gamma, const double *b,
                  int *spherical, int *separated) {
    *spherical = *separated = 1;
    for (int64_t i = 0; i < set->n; i++) {
        const int64_t c = set->labels[i];
        double near = 0, size = 0;
        for (int64_t j = 0; j < set->n; j++) {
            double square = ref_squared(set->x, set->d, i, j);
            size += set->labels[j] == c;
            if (set->labels[j] != c)
                *separated &=
                    square >= (1 + gamma * log((double)set->n)) * fmax(b[c], b[set->labels[j]]);
            if (set->labels[j] != c || j == i) continue;
            *spherical &= square >= b[c] / (1 + gamma);
            near += square <= b[c];
        }
        *spherical &= near >= 0.51 * size;
        assert_true(c < classes);
    }
}

static double b_of(const ikt_measures *found, int64_t c) {
    char name[48];
    snprintf(name, sizeof name, "b, class %lld", (long long)c);
    return value_of(found, name);
}

static void gamma_is_where_the_definition_ends(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.only = "separation";
    for (int trial = 0; trial < 4; trial++) {
        ikt_measures found;
        double b[3];
        int spherical, separated;
        make_in(&s, 60, 3, 0, 2);
        for (int64_t i = 0; i < 60 * D; i++) /* whole numbers, from overlapping to far apart */
            s.x[i] = floorf(8 * (s.x[i] + (float)(10 * trial * s.labels[i / D])));
        assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_OK);
        double low = value_of(&found, "gamma spherical"),
               high = value_of(&found, "gamma separated");
        for (int64_t c = 0; c < 3; c++)
            b[c] = b_of(&found, c);
        judge(&s.set, 3, low * (1 + 1e-12), b, &spherical, &separated);
        assert_true(spherical);
        judge(&s.set, 3, low * (1 - 1e-12), b, &spherical, &separated);
        assert_false(spherical);
        judge(&s.set, 3, high - 1e-12 * fabs(high), b, &spherical, &separated);
        assert_true(separated);
        judge(&s.set, 3, high + 1e-12 * fabs(high), b, &spherical, &separated);
        assert_false(separated);
        double gamma = value_of(&found, "gamma");
        assert_true(high > 0 && high >= low ? gamma == high : isnan(gamma));
        for (int64_t c = 0; c < 3; c++) { /* b is the least that takes in .51 of each class */
            b[c] *= 1 - 1e-12;
            judge(&s.set, 3, 1e9, b, &spherical, &separated);
            assert_false(spherical);
            b[c] /= 1 - 1e-12;
        }
        ikt_measures_destroy(&found);
    }
}

/* Corners of two regular simplices: within a class all squared distances are 2, so b = 2 and every
 * gamma is spherical; across they are 2 + 36 or 36, so gamma = (36 / 2 - 1) / log n. */
static void simplices_are_spherical(void **state) {
    enum { EACH = 5 };
    static float x[2 * EACH * D], y[2 * EACH * 2];
    static int64_t labels[2 * EACH];
    const ikt_measure_settings settings = ikt_measure_defaults();
    const ikt_ref_set set = {2 * EACH, D, 2, x, y, labels};
    for (int i = 0; i < 2 * EACH; i++) {
        x[i * D + i % EACH] = 1;
        x[i * D + D - 1] = i < EACH ? 0 : 6;
        labels[i] = i < EACH ? 0 : 1;
    }
    assert_near(measure_one(*state, &set, &settings, "separation", "gamma spherical"), 0, 0);
    assert_near(measure_one(*state, &set, &settings, "separation", "gamma"), 17 / log(10), 1e-14);
    assert_near(measure_one(*state, &set, &settings, "separation", "b, class 0"), 2, 0);
    x[D - 1] = 6; /* a row moves to the place of one of the other class */
    assert_true(isnan(measure_one(*state, &set, &settings, "separation", "gamma")));
    assert_true(measure_one(*state, &set, &settings, "separation", "gamma separated") < 0);
}

/* --- the curve -------------------------------------------------------------------------------- */

static void the_curve_is_that_of_plain_code(void **state) {
    static sample_set s;
    ikt_context *ctx = *state;
    const ikt_measure_settings settings = ikt_measure_defaults();
    ikt_rank_curve curve;
    for (int64_t q = 1; q <= Q_MAX; q++) {
        double sum = 0, weight = 0;
        make_in(&s, 47, 3, 1, q);
        int64_t *high = ref_ranks(s.x, 47, D), *low = ref_ranks(s.y, 47, q);
        input in = input_open(ctx, &s.set);
        const ikt_measured what = measured(ctx, &s.set, in.data);
        assert_int_equal(ikt_measure_rank_curve(ctx, &settings, &what, &curve), IKT_OK);
        assert_int_equal(curve.count, 45);
        assert_int_equal(curve.queries, 47);
        for (int64_t k = 1; k <= 45; k++) {
            double r = ref_r(high, low, 47, k);
            assert_near(curve.rescaled[k - 1], r, 1e-13);
            assert_near(curve.overlap[k - 1], (r * (double)(46 - k) + (double)k) / 46, 1e-13);
            sum += r / (double)k;
            weight += 1 / (double)k;
        }
        assert_near(measure_one(ctx, &s.set, &settings, "ranks", "AUC_RNX"), sum / weight, 1e-13);
        ikt_rank_curve_destroy(&curve);
        input_close(&in);
        free(high);
        free(low);
    }
}

static void the_measures_keep_the_curve(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    ikt_measures found;
    make_in(&s, 80, 3, 0, 2);
    settings.keep_curve = true;
    settings.exact_limit = 0;
    settings.sample = 30;
    assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_OK);
    assert_int_equal(found.curve.count, 78);
    assert_int_equal(found.curve.queries, 30);
    ikt_measures_destroy(&found);
}

/* --- ranks by the Isolation kernel ------------------------------------------------------------ */

/* Codes of the own rows of a small model. */
static ikt_codes codes_of(ikt_context *ctx, const ikt_ref_set *set, ikt_dataset *data) {
    const ikt_model_spec spec = {.seed = 3, .n = set->n, .psi = 8, .t = 40};
    const ikt_rows rows = ikt_rows_make(set->n, ikt_size(ctx), ikt_rank(ctx));
    ikt_model *model = NULL;
    ikt_codes codes;
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, data, &rows, model, &codes, NULL), IKT_OK);
    ikt_model_destroy(&model);
    return codes;
}

/* Rows whose squared distances have the order of unshared cells: one 0-1 column for each cell. */
static float *indicators(ikt_context *ctx, const ikt_ref_set *set, int64_t *columns) {
    ikt_context *alone = ikt_test_alone();
    input in = input_open(alone, set);
    ikt_codes codes = codes_of(alone, set, in.data);
    *columns = 8 * codes.t;
    float *x = calloc((size_t)(set->n * *columns), sizeof *x);
    for (int64_t i = 0; i < set->n; i++)
        for (int64_t p = 0; p < codes.t; p++)
            x[i * *columns + 8 * p + ikt_code_entry(&codes, i, p)] = 1;
    ikt_codes_destroy(&codes);
    input_close(&in);
    ikt_context_destroy(&alone);
    (void)ctx;
    return x;
}

static void kernel_ranks_are_those_of_unshared_cells(void **state) {
    static sample_set s;
    ikt_context *ctx = *state;
    static const int64_t batch[] = {1, 2000, (int64_t)1 << 20};
    for (int c = 0; c < 3; c++) {
        ikt_measure_settings settings = ikt_measure_defaults();
        ikt_measures found = {0};
        settings.only = "kernel";
        settings.trust_k = 7;
        settings.batch_bytes = batch[c];
        make_in(&s, 73, 3, 0, 1 + c);
        input in = input_open(ctx, &s.set);
        ikt_codes codes = codes_of(ctx, &s.set, in.data);
        ikt_measured what = measured(ctx, &s.set, NULL);
        what.codes = &codes;
        assert_int_equal(ikt_measures_compute(ctx, &settings, &what, &found), IKT_OK);
        ikt_ref_set cells = s.set;
        float *x = indicators(ctx, &s.set, &cells.d);
        cells.x = x;
        ikt_ref_ranks expected = ref_rank_measures(&cells, 7);
        assert_near(value_of(&found, "AUC_RNX, kernel"), expected.auc, 1e-13);
        assert_near(value_of(&found, "AUC_RNX (paper's k), kernel"), expected.auc_paper, 1e-13);
        assert_near(value_of(&found, "trustworthiness (k 7), kernel"), expected.trust, 1e-14);
        assert_near(value_of(&found, "continuity (k 7), kernel"), expected.continuity, 1e-14);
        free(x);
        ikt_codes_destroy(&codes);
        input_close(&in);
        ikt_measures_destroy(&found);
    }
}

IKT_MPI_TESTS(ikt_test(retrieval_matches_plain_code), ikt_test(retrieval_by_hand),
              ikt_test(triplets_match_plain_code), ikt_test(triplets_have_known_ends),
              ikt_test(the_global_score_matches_plain_code), ikt_test(components_score_one),
              ikt_test(errors_of_the_input_match_plain_code),
              ikt_test(outliers_of_the_data_match_plain_code),
              ikt_test(outliers_of_many_rows_have_the_same_bits),
              ikt_test(what_is_not_possible_is_left_out_on_request),
              ikt_test(gamma_is_where_the_definition_ends), ikt_test(simplices_are_spherical),
              ikt_test(the_curve_is_that_of_plain_code), ikt_test(the_measures_keep_the_curve),
              ikt_test(kernel_ranks_are_those_of_unshared_cells))
