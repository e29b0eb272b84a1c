/* Measures against plain double-precision code and known answers; the same bits as on one rank and
 * thread; samples; errors. Coordinates are small whole numbers where values are compared, so that
 * float and double distances, and their ties, are the same. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/measure.h"
#include "evaluate/rank_counts.h"
#include "support/measure_ref.h"

enum { N_MAX = 400, D = 6 };

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

typedef struct {
    float x[N_MAX * D], y[N_MAX * 2];
    int64_t labels[N_MAX];
    ikt_ref_set set;
} sample_set;

/* `classes` clusters; grid > 0 rounds to multiples of 1 / grid, which makes ties and duplicates. */
static void make(sample_set *s, int64_t n, int64_t classes, double grid) {
    for (int64_t i = 0; i < n; i++) {
        s->labels[i] = i % classes;
        for (int64_t c = 0; c < D + 2; c++) {
            double centre = 2 * ikt_rng_normal(1, IKT_RNG_SHAPE, i % classes, (uint64_t)c);
            double value = centre + ikt_rng_normal(1, IKT_RNG_TEST, i, (uint64_t)c);
            if (grid > 0) value = floor(grid * value) / grid;
            if (c < D)
                s->x[i * D + c] = (float)value;
            else
                s->y[i * 2 + c - D] = (float)value;
        }
    }
    s->set = (ikt_ref_set){n, D, s->x, s->y, s->labels};
}

/* The measures of a set on the ranks of ctx; x NULL: no input. */
static ikt_status compute(ikt_context *ctx, const ikt_ref_set *set,
                          const ikt_measure_settings *settings, ikt_measures *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_preprocess_settings none = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    memset(out, 0, sizeof *out);
    if (set->x) {
        assert_int_equal(ikt_source_from_memory(ctx, set->x, set->n, set->d, IKT_TYPE_F32, &source),
                         IKT_OK);
        assert_int_equal(ikt_dataset_create(ctx, source, &none, &data), IKT_OK);
    }
    ikt_row_map map = ikt_row_map_make(set->n, ikt_size(ctx), ikt_rank(ctx));
    const ikt_measured what = {map, set->y + 2 * map.first,
                               set->labels ? set->labels + map.first : NULL, set->labels != NULL,
                               data};
    ikt_status st = ikt_measures_compute(ctx, settings, &what, out);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    return st;
}

static double value_of(const ikt_measures *measures, const char *name) {
    for (int64_t m = 0; m < measures->count; m++)
        if (strcmp(measures->list[m].name, name) == 0) return measures->list[m].value;
    fail_msg("there is no measure '%s'", name);
    return NAN;
}

static void compare_with_reference(ikt_context *ctx, const ikt_ref_set *set, int64_t classes,
                                   const ikt_measure_settings *settings) {
    ikt_measures found;
    double db, ch;
    char name[64];
    ikt_ref_ranks ranks = ref_rank_measures(set, settings->trust_k);
    ref_clusters(set, classes, &db, &ch);
    assert_int_equal(compute(ctx, set, settings, &found), IKT_OK);
    assert_near(value_of(&found, "Davies-Bouldin"), db, 1e-12 * (1 + db));
    assert_near(value_of(&found, "Calinski-Harabasz"), ch, 1e-10 * (1 + ch));
    snprintf(name, sizeof name, "%lld-NN accuracy", (long long)settings->k);
    assert_near(value_of(&found, name), ref_accuracy(set, settings->k), 0);
    assert_near(value_of(&found, "1-NN error"), 1 - ref_accuracy(set, 1), 1e-15);
    assert_near(value_of(&found, "AUC_RNX"), ranks.auc, 1e-13);
    assert_near(value_of(&found, "AUC_RNX (paper's k)"), ranks.auc_paper, 1e-13);
    snprintf(name, sizeof name, "trustworthiness (k %lld)", (long long)settings->trust_k);
    assert_near(value_of(&found, name), ranks.trust, 1e-14);
    snprintf(name, sizeof name, "continuity (k %lld)", (long long)settings->trust_k);
    assert_near(value_of(&found, name), ranks.continuity, 1e-14);
    for (int64_t m = 0; m < found.count; m++)
        assert_int_equal(found.list[m].sample, 0);
    ikt_measures_destroy(&found);
}

static void values_match_plain_code(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.k = 5;
    settings.trust_k = 7;
    make(&s, 75, 4, 1); /* many ties and duplicates */
    compare_with_reference(*state, &s.set, 4, &settings);
    make(&s, 60, 3, 64);
    settings.batch_bytes = 1; /* a query at a time */
    compare_with_reference(*state, &s.set, 3, &settings);
    make(&s, 5, 2, 4); /* fewer rows than 7 ranks */
    settings.k = settings.trust_k = 2;
    compare_with_reference(*state, &s.set, 2, &settings);
    settings.k = 4; /* all others vote */
    compare_with_reference(*state, &s.set, 2, &settings);
}

/* A map that is the input has all neighbours right, whatever the ties. */
static void a_perfect_map_is_perfect(void **state) {
    static sample_set s;
    ikt_measures found;
    ikt_measure_settings settings = ikt_measure_defaults();
    make(&s, 203, 3, 2);
    const ikt_ref_set same = {203, 2, s.y, s.y, NULL};
    assert_int_equal(compute(*state, &same, &settings, &found), IKT_OK);
    assert_int_equal(found.count, 4);
    for (int64_t m = 0; m < found.count; m++)
        assert_near(found.list[m].value, 1, 1e-14);
    ikt_measures_destroy(&found);
}

/* Worked out by hand; scikit-learn's definitions. */
static void small_clusters_by_hand(void **state) {
    static const struct {
        int64_t n;
        float y[8];
        int64_t labels[4];
        double db, ch;
    } cases[] = {
        /* a square: spreads 1/2, distance 1; between 1, within 1 with 2 degrees of freedom */
        {4, {-3, 5, -3, 9, 7, 5, 7, 9}, {-7, -7, 40, 40}, 1, 2},
        /* a class of one: distance sqrt(5)/2; between 5/6, within 1/2 */
        {3, {0, 0, 0, 10, 1, 0}, {1, 1, 0}, 0.4472135954999579, 1.6666666666666667},
        /* centres coincide: no pair of clusters counts */
        {4, {0, 0, 1, 1, 0, 1, 1, 0}, {0, 0, 1, 1}, 0, 0},
        /* every class in one place: as scikit-learn has it */
        {4, {0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1}, 0, 1}};
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.only = "clusters";
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ikt_measures found;
        const ikt_ref_set set = {cases[c].n, 0, NULL, cases[c].y, cases[c].labels};
        assert_int_equal(compute(*state, &set, &settings, &found), IKT_OK);
        assert_int_equal(found.count, 2);
        assert_near(found.list[0].value, cases[c].db, 1e-15);
        assert_near(found.list[1].value, cases[c].ch, 1e-14);
        ikt_measures_destroy(&found);
    }
}

/* Four points in a row; where labels have equal votes the smallest wins. */
static void equal_votes_go_to_the_smallest_label(void **state) {
    static const float y[] = {0, 0, 1, 0, 2, 0, 3, 0};
    static const int64_t labels[] = {-5, 9, 2, -5};
    const ikt_ref_set set = {4, 0, NULL, y, labels};
    ikt_measure_settings settings = ikt_measure_defaults();
    ikt_measures found;
    settings.only = "labels";
    settings.k = 2; /* row 0 sees {9, 2}, 1 sees {-5, 2}, 2 sees {9, -5}, 3 sees {2, 9} */
    assert_int_equal(compute(*state, &set, &settings, &found), IKT_OK);
    assert_near(found.list[0].value, 0, 0);
    ikt_measures_destroy(&found);
    settings.k = 3; /* the others' labels: row 0 {9, 2, -5}: right; 1 two of -5; 2 same; 3 as 0 */
    assert_int_equal(compute(*state, &set, &settings, &found), IKT_OK);
    assert_near(found.list[0].value, 0.5, 0);
    ikt_measures_destroy(&found);
}

static void same_bits_as_one_rank(void **state) {
    static sample_set s;
    static const int64_t batch[] = {1, 16000, (int64_t)1 << 28};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    make(&s, N_MAX, 5, 0);
    for (int c = 0; c < 6; c++) {
        ikt_measures found, expected;
        ikt_measure_settings settings = ikt_measure_defaults();
        settings.exact_limit = c < 3 ? N_MAX : 10;
        settings.sample = 41;
        assert_int_equal(compute(alone, &s.set, &settings, &expected), IKT_OK);
        settings.batch_bytes = batch[c % 3];
        ikt_set_piece_bytes(ctx, 4096);
        assert_int_equal(compute(ctx, &s.set, &settings, &found), IKT_OK);
        assert_int_equal(found.count, 8);
        assert_int_equal(expected.count, 8);
        assert_memory_equal(found.list, expected.list, 8 * sizeof *found.list);
        assert_int_equal(found.list[4].sample, c < 3 ? 0 : 41);
        ikt_measures_destroy(&found);
        ikt_measures_destroy(&expected);
    }
    ikt_context_destroy(&alone);
}

static ikt_status count_ranks(ikt_context *ctx, const ikt_ref_set *set,
                              const ikt_measure_settings *settings, ikt_rank_counts *out) {
    ikt_source *source;
    ikt_dataset *data;
    ikt_preprocess_settings none = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    ikt_row_map map = ikt_row_map_make(set->n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, set->x, set->n, D, IKT_TYPE_F32, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &none, &data), IKT_OK);
    const ikt_measured what = {map, set->y + 2 * map.first, NULL, false, data};
    ikt_status st = ikt_rank_counts_compute(ctx, settings, &what, out);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    return st;
}

/* The histogram of a sample lies within that of all rows; it is the sum over distinct rows. */
static void a_sample_is_a_part_of_all(void **state) {
    static sample_set s;
    enum { N = 150, SAMPLE = 23 };
    ikt_rank_counts all, some;
    ikt_measure_settings settings = ikt_measure_defaults();
    int64_t total = 0, left = 0;
    make(&s, N, 3, 8);
    assert_int_equal(count_ranks(*state, &s.set, &settings, &all), IKT_OK);
    settings.exact_limit = N - 1;
    settings.sample = SAMPLE;
    assert_int_equal(count_ranks(*state, &s.set, &settings, &some), IKT_OK);
    assert_int_equal(all.queries, N);
    assert_int_equal(some.queries, SAMPLE);
    for (int64_t k = 0; k < N; k++) {
        assert_true(some.together[k] <= all.together[k] && some.together[k] >= 0);
        total += some.together[k];
        left += all.together[k] - some.together[k];
    }
    assert_int_equal(some.together[0], SAMPLE); /* each query with itself */
    assert_int_equal(total, SAMPLE * N);
    assert_int_equal(left, (N - SAMPLE) * N);
    assert_true(some.intruders <= all.intruders && some.missing <= all.missing);
    ikt_rank_counts_destroy(&all);
    ikt_rank_counts_destroy(&some);
}

/* Over many seeds every row is drawn about equally often, and the mean of the estimates is the
 * exact value. */
static void samples_are_fair(void **state) {
    static sample_set s;
    enum { N = 60, SEEDS = 200 };
    ikt_rank_counts all, some;
    ikt_measure_settings settings = ikt_measure_defaults();
    double sum = 0, squares = 0;
    make(&s, N, 3, 8);
    assert_int_equal(count_ranks(*state, &s.set, &settings, &all), IKT_OK);
    settings.exact_limit = 0;
    settings.sample = 10;
    for (int seed = 0; seed < SEEDS; seed++) {
        settings.seed = (uint64_t)seed;
        assert_int_equal(count_ranks(*state, &s.set, &settings, &some), IKT_OK);
        double value = (double)some.intruders / 10;
        sum += value;
        squares += value * value;
        ikt_rank_counts_destroy(&some);
    }
    double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
    assert_true(error > 0);
    assert_near(mean, (double)all.intruders / N, 4 * error);
    ikt_rank_counts_destroy(&all);
}

static void peak_memory_is_predicted(void **state) {
    static sample_set s;
    ikt_context *ctx = *state;
    make(&s, N_MAX, 3, 0);
    for (int c = 0; c < 3; c++) {
        ikt_context *own;
        ikt_measures found;
        ikt_measure_settings settings = ikt_measure_defaults();
        ikt_ref_set set = s.set;
        if (c == 1) set.x = NULL;
        if (c == 2) set.labels = NULL;
        settings.batch_bytes = 30000;
        assert_int_equal(ikt_context_create(ikt_comm(ctx), 0, &own), IKT_OK);
        assert_int_equal(compute(own, &set, &settings, &found), IKT_OK);
        int64_t predicted = ikt_measures_memory(&settings, N_MAX, D, ikt_size(own),
                                                ikt_threads(own), set.labels, set.x);
        int64_t now, peak = 0;
        for (int p = 0; p < ikt_memory_purposes(own); p++)
            if (strcmp(ikt_memory_purpose(own, p, &now, &peak), "measures") == 0) break;
        assert_in_range(peak, predicted * 8 / 10, predicted + 16 * (int64_t)sizeof(ikt_measure));
        ikt_measures_destroy(&found);
        assert_int_equal(ikt_memory_now(own), 0);
        ikt_context_destroy(&own);
    }
}

static void refused(ikt_context *ctx, const ikt_ref_set *set, const ikt_measure_settings *settings,
                    ikt_status expected, const char *words) {
    ikt_measures found;
    int64_t before = ikt_memory_now(ctx);
    assert_int_equal(compute(ctx, set, settings, &found), expected);
    if (!strstr(ikt_message(ctx), words)) fail_msg("'%s' is not in '%s'", words, ikt_message(ctx));
    ikt_measures_destroy(&found);
    assert_int_equal(ikt_memory_now(ctx), before);
    ikt_clear(ctx);
}

static void wrong_requests_are_refused(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    make(&s, 20, 2, 0);
    ikt_ref_set set = s.set, bare = {20, D, NULL, s.y, NULL};
    settings.trust_k = 9;
    settings.k = 20;
    refused(*state, &set, &settings, IKT_ERR_USAGE, "choose k from 1 to 19");
    settings.k = 19;
    settings.trust_k = 10;
    refused(*state, &set, &settings, IKT_ERR_USAGE, "trust-k");
    settings.only = "labels";
    refused(*state, &bare, &settings, IKT_ERR_USAGE, "need labels");
    settings.only = "ranks";
    refused(*state, &bare, &settings, IKT_ERR_USAGE, "need the input");
    settings.only = "clusters,rank";
    refused(*state, &set, &settings, IKT_ERR_USAGE, "'rank' is no family");
    settings.only = "";
    refused(*state, &set, &settings, IKT_ERR_USAGE, "'' is no family");
}

static void a_position_that_is_not_finite_is_named(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    static const int64_t rows[] = {0, 15, 29};
    for (int c = 0; c < 3; c++) {
        char words[64];
        make(&s, 30, 2, 0);
        s.y[2 * rows[c] + c % 2] = c == 1 ? INFINITY : NAN;
        snprintf(words, sizeof words, "row %lld is not finite", (long long)rows[c]);
        refused(*state, &s.set, &settings, IKT_ERR_DATA, words);
    }
}

static void labels_that_are_no_clusters(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    make(&s, 20, 1, 0); /* one class, then as many as rows */
    settings.k = 3;
    s.set.x = NULL;
    for (int c = 0; c < 2; c++) {
        ikt_measures found;
        settings.only = NULL;
        assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_OK);
        assert_int_equal(found.count, 2); /* the label accuracies remain */
        ikt_measures_destroy(&found);
        settings.only = "clusters";
        refused(*state, &s.set, &settings, IKT_ERR_DATA, "2 to 10000 classes");
        for (int64_t i = 0; i < 20; i++)
            s.labels[i] = i;
    }
}

static void nothing_to_measure_gives_nothing(void **state) {
    static sample_set s;
    ikt_measures found;
    ikt_measure_settings settings = ikt_measure_defaults();
    make(&s, 20, 2, 0);
    ikt_ref_set bare = {20, D, NULL, s.y, NULL};
    assert_int_equal(compute(*state, &bare, &settings, &found), IKT_OK);
    assert_int_equal(found.count, 0);
    ikt_measures_destroy(&found);
}

IKT_MPI_TESTS(ikt_test(values_match_plain_code), ikt_test(a_perfect_map_is_perfect),
              ikt_test(small_clusters_by_hand), ikt_test(equal_votes_go_to_the_smallest_label),
              ikt_test(same_bits_as_one_rank), ikt_test(a_sample_is_a_part_of_all),
              ikt_test(samples_are_fair), ikt_test(peak_memory_is_predicted),
              ikt_test(wrong_requests_are_refused),
              ikt_test(a_position_that_is_not_finite_is_named),
              ikt_test(labels_that_are_no_clusters), ikt_test(nothing_to_measure_gives_nothing))
