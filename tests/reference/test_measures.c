/* Measures against plain double-precision code and known answers; the same bits as on one rank and
 * thread; samples; errors. Coordinates are small whole numbers where values are compared, so that
 * float and double distances, and their ties, are the same. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/family.h"
#include "evaluate/measure.h"
#include "support/measure_set.h"

static void make(sample_set *s, int64_t n, int64_t classes, double grid) {
    make_in(s, n, classes, grid, 2);
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
    for (int64_t q = 1; q <= Q_MAX; q++) {
        ikt_measure_settings settings = ikt_measure_defaults();
        settings.k = 5;
        settings.trust_k = 7;
        make_in(&s, 75, 4, 1, q); /* many ties and duplicates */
        compare_with_reference(*state, &s.set, 4, &settings);
        make_in(&s, 60, 3, 64, q);
        settings.batch_bytes = 1; /* a query at a time */
        compare_with_reference(*state, &s.set, 3, &settings);
        make_in(&s, 5, 2, 4, q); /* fewer rows than 7 ranks */
        settings.k = settings.trust_k = 2;
        compare_with_reference(*state, &s.set, 2, &settings);
        settings.k = 4; /* all others vote */
        compare_with_reference(*state, &s.set, 2, &settings);
    }
}

/* A map that is the input has all neighbours right, whatever the ties, all triplets, and tells the
 * input linearly. */
static void a_perfect_map_is_perfect(void **state) {
    static sample_set s;
    for (int64_t q = 1; q <= Q_MAX; q++) {
        ikt_measures found;
        ikt_measure_settings settings = ikt_measure_defaults();
        make_in(&s, 203, 3, 2, q);
        const ikt_ref_set same = {203, q, q, s.y, s.y, NULL};
        assert_int_equal(compute(*state, &same, &settings, &found), IKT_OK);
        assert_int_equal(found.count, 9);
        assert_near(value_of(&found, "outlier ratio"),
                    value_of(&found, "outlier ratio of the data"), 1e-13);
        for (int64_t m = 0; m < found.count; m++)
            if (strncmp(found.list[m].name, "outlier ratio", 13) != 0)
                assert_near(found.list[m].value, 1, 1e-14);
        ikt_measures_destroy(&found);
    }
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
        {4, {-3, 5, -3, 9, 7, 5, 7, 9}, {7, 7, 40, 40}, 1, 2},
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
        const ikt_ref_set set = {cases[c].n, 0, 2, NULL, cases[c].y, cases[c].labels};
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
    static const int64_t labels[] = {1, 9, 2, 1};
    const ikt_ref_set set = {4, 0, 2, NULL, y, labels};
    ikt_measure_settings settings = ikt_measure_defaults();
    ikt_measures found;
    settings.only = "labels";
    settings.k = 2; /* row 0 sees {9, 2}, 1 sees {1, 2}, 2 sees {9, 1}, 3 sees {2, 9} */
    assert_int_equal(compute(*state, &set, &settings, &found), IKT_OK);
    assert_near(found.list[0].value, 0, 0);
    ikt_measures_destroy(&found);
    settings.k = 3; /* the others' labels: row 0 {9, 2, 1}: right; 1 two of 1; 2 same; 3 as 0 */
    assert_int_equal(compute(*state, &set, &settings, &found), IKT_OK);
    assert_near(found.list[0].value, 0.5, 0);
    ikt_measures_destroy(&found);
}

static int64_t sample_of(const ikt_measures *measures, const char *name) {
    for (int64_t m = 0; m < measures->count; m++)
        if (strcmp(measures->list[m].name, name) == 0) return measures->list[m].sample;
    fail_msg("there is no measure '%s'", name);
    return -1;
}

static void same_bits_as_one_rank(void **state) {
    static sample_set s;
    static const int64_t batch[] = {1, 16000, (int64_t)1 << 28};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int c = 0; c < 6; c++) {
        make_in(&s, N_MAX, 5, 0, 1 + c % 3);
        ikt_measures found, expected;
        ikt_measure_settings settings = ikt_measure_defaults();
        settings.exact_limit = c < 3 ? N_MAX : 10;
        settings.sample = 41;
        assert_int_equal(compute(alone, &s.set, &settings, &expected), IKT_OK);
        settings.batch_bytes = batch[c % 3];
        ikt_set_piece_bytes(ctx, 4096);
        assert_int_equal(compute(ctx, &s.set, &settings, &found), IKT_OK);
        assert_int_equal(found.count, expected.count);
        assert_memory_equal(found.list, expected.list, (size_t)found.count * sizeof *found.list);
        assert_int_equal(sample_of(&found, "AUC_RNX"), c < 3 ? 0 : 41);
        assert_int_equal(sample_of(&found, "silhouette"), c < 3 ? 0 : 41);
        assert_int_equal(sample_of(&found, "NMI of k-means"), 0);
        ikt_measures_destroy(&found);
        ikt_measures_destroy(&expected);
    }
    ikt_context_destroy(&alone);
}

static ikt_status count_ranks(ikt_context *ctx, const ikt_ref_set *set,
                              const ikt_measure_settings *settings, ikt_rank_counts *out) {
    input in = input_open(ctx, set);
    const ikt_measured what = measured(ctx, set, in.data);
    ikt_status st = ikt_rank_counts_compute(ctx, settings, &what, out);
    input_close(&in);
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

/* Bytes at the peak of what is allocated for a purpose, or for any. */
static int64_t peak_of(const ikt_context *ctx, const char *purpose) {
    int64_t peak = ikt_memory_peak(ctx);
    for (int p = 0; purpose && p < ctx->purposes; p++) {
        peak = ctx->purpose[p].peak;
        if (strcmp(ctx->purpose[p].name, purpose) == 0) break;
    }
    return peak;
}

/* Principal components and statistics of columns are accounted for by the modules that make them,
 * from above. */
static void memory_of(ikt_context *ctx, const ikt_ref_set *set, const char *family) {
    const bool global = strcmp(family, "global") == 0 || strcmp(family, "data-outliers") == 0;
    ikt_context *own;
    ikt_measures found;
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.batch_bytes = 30000;
    settings.only = family;
    assert_int_equal(ikt_context_create(ikt_comm(ctx), 0, &own), IKT_OK);
    input in = input_open(own, set);
    int64_t before = global ? ikt_memory_now(own) : 0;
    input_close(&in);
    assert_int_equal(compute(own, set, &settings, &found), IKT_OK);
    const ikt_measure_extent extent = {.n = set->n,
                                       .d = set->d,
                                       .q = set->q,
                                       .classes = set->labels ? 3 : 0,
                                       .ranks = ikt_size(own),
                                       .threads = ikt_threads(own),
                                       .input = set->x};
    int64_t predicted = ikt_measures_memory(&settings, &extent);
    int64_t peak = peak_of(own, global ? NULL : "measures") - before;
    if (peak < predicted * 7 / 10 || peak > predicted + 48 * (int64_t)sizeof(ikt_measure))
        fail_msg("%s takes %lld bytes, not %lld", family, (long long)peak, (long long)predicted);
    ikt_measures_destroy(&found);
    assert_int_equal(ikt_memory_now(own), 0);
    ikt_context_destroy(&own);
}

static void peak_memory_is_predicted(void **state) {
    static sample_set s;
    static const char *const map[] = {"clusters", "labels",  "clusters,labels", "silhouette",
                                      "kmeans",   "visible", "outliers"};
    static const char *const compared[] = {"ranks",
                                           "retrieval",
                                           "triplets",
                                           "separation",
                                           "ranks,retrieval,triplets,separation,silhouette",
                                           "global",
                                           "data-outliers",
                                           "input-labels"};
    make_in(&s, N_MAX, 3, 0, 3);
    for (size_t f = 0; f < sizeof compared / sizeof *compared; f++)
        memory_of(*state, &s.set, compared[f]);
    s.set.x = NULL;
    for (size_t f = 0; f < sizeof map / sizeof *map; f++)
        memory_of(*state, &s.set, map[f]);
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
    ikt_ref_set set = s.set, bare = {20, D, 2, NULL, s.y, NULL};
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
    refused(*state, &set, &settings, IKT_ERR_USAGE, "'rank' is no measure");
    settings.only = "";
    refused(*state, &set, &settings, IKT_ERR_USAGE, "'' is no measure");
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
        assert_int_equal(found.count, 3); /* only the label accuracies remain */
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
    ikt_ref_set bare = {20, D, 2, NULL, s.y, NULL};
    assert_int_equal(compute(*state, &bare, &settings, &found), IKT_OK);
    assert_int_equal(found.count, 0);
    ikt_measures_destroy(&found);
}

/* Measures of classes are those of the rows with a label, to the bit, wherever these stand. */
static void rows_without_a_label_are_left_out(void **state) {
    static sample_set s, part;
    enum { N = 150 };
    for (int among_first = 0; among_first < 2; among_first++) {
        ikt_measure_settings settings = ikt_measure_defaults();
        ikt_measures all, some;
        int64_t n = 0;
        settings.only = "clusters,labels,silhouette,kmeans,visible,separation,input-labels";
        make_in(&s, N, 4, 2, 2);
        for (int64_t i = 0; i < N; i++) {
            if (among_first ? i >= 40 : i % 5 == 2) { /* a rank, or some of all ranks */
                s.labels[i] = -1 - i % 3;
                s.y[2 * i] *= 50; /* what is left out does not stretch the map's box */
                continue;
            }
            memcpy(part.x + D * n, s.x + D * i, D * sizeof *s.x);
            memcpy(part.y + 2 * n, s.y + 2 * i, 2 * sizeof *s.y);
            part.labels[n++] = s.labels[i];
        }
        part.set = (ikt_ref_set){n, D, 2, part.x, part.y, part.labels};
        assert_int_equal(compute(*state, &s.set, &settings, &all), IKT_OK);
        assert_int_equal(compute(*state, &part.set, &settings, &some), IKT_OK);
        assert_int_equal(all.unlabelled, N - n);
        assert_int_equal(some.unlabelled, 0);
        assert_int_equal(all.count, some.count);
        assert_true(all.count > 15);
        for (int64_t m = 0; m < all.count; m++) {
            const ikt_measure *a = &all.list[m], *b = &some.list[m];
            assert_string_equal(a->name, b->name);
            assert_string_equal(a->note, b->note);
            assert_true(a->value == b->value || (isnan(a->value) && isnan(b->value)));
        }
        ikt_measures_destroy(&all);
        ikt_measures_destroy(&some);
        for (int64_t i = 0; i < N; i++)
            s.labels[i] = i < 6 ? 2 + i % 2 : -1;
        refused(*state, &s.set, &settings, IKT_ERR_DATA, "only 6 rows have a label");
        s.labels[0] = s.labels[2] = s.labels[4] = -1;
        settings.only = "clusters";
        refused(*state, &s.set, &settings, IKT_ERR_DATA, "fewer than the 3 rows with a label");
        for (int64_t i = 0; i < N; i++)
            s.labels[i] = -1;
        settings.only = "input-labels";
        refused(*state, &s.set, &settings, IKT_ERR_DATA, "need 2 rows with a label");
    }
}

/* Lists: a row without a label neither asks nor votes, and one whose list has no label is no row.
 */
static void lists_vote_by_labels_alone(void **state) {
    enum { ROWS = 6, LIST = 3 };
    static const int64_t labels[ROWS] = {0, 0, -1, 1, -1, 1};
    static const uint32_t list[ROWS * LIST] = {2, 4, 1, 0, 2, 3, 0, 1, 3,
                                               4, 2, 0, 5, 3, 1, 2, 4, 4};
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(ROWS, ikt_size(ctx), ikt_rank(ctx));
    float score[ROWS * LIST];
    uint32_t row[ROWS * LIST];
    double accuracy;
    for (int64_t e = 0; e < LIST * rows.count; e++) {
        score[e] = (float)(e % LIST);
        row[e] = list[LIST * rows.first + e];
    }
    const ikt_neighbours lists = {.n_local = rows.count, .k = LIST, .row = row, .score = score};
    assert_int_equal(
        ikt_list_label_accuracy(ctx, &rows, &lists, labels + rows.first, NULL, 1, &accuracy),
        IKT_OK);
    assert_near(accuracy, 2 / 3.0, 1e-15); /* 0 and 1 are told, 3 is not, nobody votes for 5 */
    static const int64_t none[ROWS] = {-1, -1, -1, -1, -1, -1};
    assert_int_equal(
        ikt_list_label_accuracy(ctx, &rows, &lists, none + rows.first, NULL, 1, &accuracy), IKT_OK);
    assert_true(accuracy < 0);
}

IKT_MPI_TESTS(ikt_test(rows_without_a_label_are_left_out), ikt_test(lists_vote_by_labels_alone),
              ikt_test(values_match_plain_code), ikt_test(a_perfect_map_is_perfect),
              ikt_test(small_clusters_by_hand), ikt_test(equal_votes_go_to_the_smallest_label),
              ikt_test(same_bits_as_one_rank), ikt_test(a_sample_is_a_part_of_all),
              ikt_test(samples_are_fair), ikt_test(peak_memory_is_predicted),
              ikt_test(wrong_requests_are_refused),
              ikt_test(a_position_that_is_not_finite_is_named),
              ikt_test(labels_that_are_no_clusters), ikt_test(nothing_to_measure_gives_nothing))
