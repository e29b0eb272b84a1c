/* Measures of the map and its labels: silhouette, k-means and its mutual information, visible
 * clusters; against plain double-precision code, known answers, and all subsets where a bound is
 * claimed. The same bits on any ranks: test_measures.c. */
#include "support/measure_set.h"

#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/shuffle.h"
#include "evaluate/family.h"
#include "evaluate/queries.h"

/* --- silhouette ------------------------------------------------------------------------------- */

static void silhouettes_match_plain_code(void **state) {
    static sample_set s;
    const ikt_measure_settings settings = ikt_measure_defaults();
    static const double grids[] = {0, 1};
    for (int64_t q = 1; q <= Q_MAX; q++)
        for (int g = 0; g < 2; g++) {
            double expected = 0;
            make_in(&s, 83, 4, grids[g], q);
            s.labels[5] = 4; /* a class of one row */
            double *at = ref_scaled(&s.set);
            for (int64_t i = 0; i < s.set.n; i++)
                expected += ref_silhouette(&s.set, at, 5, i) / (double)s.set.n;
            free(at);
            assert_near(measure_one(*state, &s.set, &settings, "silhouette", "silhouette"),
                        expected, 1e-13);
        }
}

static void a_sample_looks_at_all_rows(void **state) {
    static sample_set s;
    enum { SAMPLE = 17 };
    ikt_measure_settings settings = ikt_measure_defaults();
    int64_t query[SAMPLE];
    double expected = 0;
    const ikt_rows share = ikt_rows_make(SAMPLE, 1, 0);
    settings.exact_limit = 10;
    settings.sample = SAMPLE;
    settings.seed = 5;
    make_in(&s, 120, 3, 0, 2);
    ikt_queries_draw(settings.seed, s.set.n, &share, query);
    double *at = ref_scaled(&s.set);
    for (int64_t e = 0; e < SAMPLE; e++)
        expected += ref_silhouette(&s.set, at, 3, query[e]) / SAMPLE;
    free(at);
    assert_near(measure_one(*state, &s.set, &settings, "silhouette", "silhouette"), expected,
                1e-13);
}

/* Worked out by hand; scikit-learn's definition. */
static void silhouettes_by_hand(void **state) {
    static const struct {
        float y[4];
        int64_t labels[4];
        double value;
    } cases[] = {/* a = 1 throughout; b = 10.5, 9.5, 9.5, 10.5 */
                 {{0, 1, 10, 11}, {3, 3, 8, 8}, 1 - (1 / 10.5 + 1 / 9.5) / 2},
                 /* every class in one place, and the classes in one place too: 0 / 0 */
                 {{2, 2, 2, 2}, {0, 0, 1, 1}, 0},
                 /* classes of one row count 0: b = 11, 10, a = 1 of the others */
                 {{0, 1, 11, 30}, {0, 0, 1, 2}, (10.0 / 11 + 9.0 / 10) / 4}};
    const ikt_measure_settings settings = ikt_measure_defaults();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const ikt_ref_set set = {4, 0, 1, NULL, cases[c].y, cases[c].labels};
        assert_near(measure_one(*state, &set, &settings, "silhouette", "silhouette"),
                    cases[c].value, 1e-14);
    }
}

/* --- k-means ---------------------------------------------------------------------------------- */

/* Clusters of all rows, on every rank. */
static double cluster_all(ikt_context *ctx, const ikt_ref_set *set, int64_t k, uint64_t seed,
                          int32_t *all) {
    const ikt_kmeans_settings settings = {k, 10, seed};
    const ikt_measured what = measured(ctx, set, NULL);
    int32_t own[N_MAX], *joined = NULL;
    double inertia;
    assert_int_equal(ikt_kmeans(ctx, &settings, &what.rows, what.y, what.q, own, &inertia), IKT_OK);
    assert_int_equal(ikt_share_rows(ctx, &what.rows, own, sizeof *own, "measures", &joined),
                     IKT_OK);
    memcpy(all, joined, (size_t)set->n * sizeof *all);
    ikt_free(&joined);
    return inertia;
}

/* Sum of squared distances to the means of clusters, by a plain double loop over pairs: the sum of
 * squares of a cluster is that of its pairs over its size. */
static double plain_inertia(const ikt_ref_set *set, const int32_t *cluster, int64_t k) {
    double total = 0;
    for (int64_t c = 0; c < k; c++) {
        double pairs = 0, size = 0;
        for (int64_t i = 0; i < set->n; i++)
            for (int64_t j = 0; cluster[i] == c && j < set->n; j++) {
                if (cluster[j] == c) pairs += ref_squared(set->y, set->q, i, j) / 2;
                size += i == j;
            }
        total += size > 0 ? pairs / size : 0;
    }
    return total;
}

static void inertia_is_that_of_the_clusters(void **state) {
    static sample_set s;
    int32_t cluster[N_MAX];
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 301, 6, 0, q);
        double inertia = cluster_all(*state, &s.set, 6, 1, cluster);
        double plain = plain_inertia(&s.set, cluster, 6);
        /* centres may be a last small move away from the means */
        assert_true(inertia >= plain * (1 - 1e-12) && inertia <= plain * 1.001);
    }
}

/* The best of all partitions into two clusters. */
static double best_of_two(const ikt_ref_set *set) {
    double best = INFINITY;
    int32_t cluster[16];
    for (int64_t bits = 0; bits < (int64_t)1 << (set->n - 1); bits++) {
        for (int64_t i = 0; i < set->n; i++)
            cluster[i] = (int32_t)(bits >> i & 1);
        best = fmin(best, plain_inertia(set, cluster, 2));
    }
    return best;
}

static void kmeans_finds_the_best_partition(void **state) {
    static sample_set s;
    int32_t cluster[N_MAX];
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 11, 2, 0, q);
        double inertia = cluster_all(*state, &s.set, 2, 3, cluster);
        assert_near(inertia, best_of_two(&s.set), 1e-9 * inertia);
    }
}

static void kmeans_has_the_same_bits_on_any_ranks(void **state) {
    static sample_set s;
    ikt_context *alone = ikt_test_alone();
    int32_t cluster[N_MAX], expected[N_MAX];
    for (uint64_t seed = 0; seed < 4; seed++) {
        make_in(&s, 333, 7, seed % 2 ? 2 : 0, 1 + (int64_t)seed % 3);
        double inertia = cluster_all(*state, &s.set, 7, seed, cluster);
        double one = cluster_all(alone, &s.set, 7, seed, expected);
        assert_memory_equal(&inertia, &one, sizeof one);
        assert_memory_equal(cluster, expected, 333 * sizeof *cluster);
    }
    ikt_context_destroy(&alone);
}

/* Three places for five clusters: three are made, and each has its place. */
static void fewer_places_than_clusters(void **state) {
    static float y[30];
    int32_t cluster[N_MAX];
    for (int i = 0; i < 15; i++)
        y[2 * i] = y[2 * i + 1] = (float)(i % 3);
    const ikt_ref_set set = {15, 0, 2, NULL, y, NULL};
    assert_near(cluster_all(*state, &set, 5, 1, cluster), 0, 0);
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 15; j++)
            assert_int_equal(cluster[i] == cluster[j], i % 3 == j % 3);
}

static void information_matches_plain_code(void **state) {
    static sample_set s;
    int32_t cluster[N_MAX];
    const ikt_measure_settings settings = ikt_measure_defaults();
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, 150, 4, 0, q);
        cluster_all(*state, &s.set, 4, settings.seed, cluster);
        assert_near(measure_one(*state, &s.set, &settings, "kmeans", "NMI of k-means"),
                    ref_nmi(s.labels, cluster, 150, 4), 1e-14);
    }
}

/* As many clusters as classes, and as many as are asked for: on the map as it is. */
static void clusters_of_the_map_match_plain_code(void **state) {
    enum { ROWS = 150, CLASSES = 4, ASKED = 6 };
    static sample_set s;
    static double at[3 * ROWS];
    static const char *const ending[2] = {"", " (k 6)"};
    static const int64_t count[2] = {CLASSES, ASKED};
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.clusters = ASKED;
    for (int64_t q = 1; q <= Q_MAX; q++) {
        make_in(&s, ROWS, CLASSES, 0, q);
        for (int64_t e = 0; e < q * ROWS; e += q)
            s.y[e] *= 3; /* which a unit box would undo */
        for (int64_t e = 0; e < q * ROWS; e++)
            at[e] = (double)s.y[e];
        for (int c = 0; c < 2; c++) {
            int32_t cluster[N_MAX];
            int64_t labels[N_MAX];
            double db, ch, silhouette = 0;
            char name[48];
            cluster_all(*state, &s.set, count[c], settings.seed, cluster);
            for (int i = 0; i < ROWS; i++)
                labels[i] = cluster[i];
            ikt_ref_set groups = s.set;
            groups.labels = labels;
            ref_clusters_at(&groups, at, count[c], &db, &ch);
            for (int64_t i = 0; i < ROWS; i++)
                silhouette += ref_silhouette(&groups, at, count[c], i) / ROWS;
            snprintf(name, sizeof name, "NMI of k-means%s", ending[c]);
            assert_near(measure_one(*state, &s.set, &settings, "kmeans", name),
                        ref_nmi(s.labels, cluster, ROWS, count[c]), 1e-14);
            snprintf(name, sizeof name, "silhouette of k-means%s", ending[c]);
            assert_near(measure_one(*state, &s.set, &settings, "kmeans", name), silhouette, 1e-12);
            snprintf(name, sizeof name, "Davies-Bouldin of k-means%s", ending[c]);
            assert_near(measure_one(*state, &s.set, &settings, "kmeans", name), db, 1e-12);
        }
    }
}

/* Rows of a sample vote with the nearest of all rows; a limit from which all are queries anyway
 * leaves no sample. */
static void labels_of_many_rows_are_sampled(void **state) {
    static sample_set s;
    enum { SAMPLE = 37, K = 5 };
    ikt_measure_settings settings = ikt_measure_defaults();
    ikt_measures found;
    int64_t query[SAMPLE], right = 0;
    const ikt_rows share = ikt_rows_make(SAMPLE, 1, 0);
    make_in(&s, 130, 3, 8, 2);
    settings.only = "labels";
    settings.k = K;
    settings.seed = 9;
    settings.exact_limit = 10;
    settings.label_limit = 129;
    settings.label_sample = SAMPLE;
    ikt_queries_draw(settings.seed, s.set.n, &share, query);
    for (int64_t e = 0; e < SAMPLE; e++)
        right += ref_vote(&s.set, query[e], K) == s.set.labels[query[e]];
    assert_int_equal(compute(*state, &s.set, &settings, &found), IKT_OK);
    assert_near(found.list[0].value, (double)right / SAMPLE, 1e-15);
    for (int64_t m = 0; m < found.count; m++)
        assert_int_equal(found.list[m].sample, SAMPLE);
    ikt_measures_destroy(&found);
    settings.exact_limit = s.set.n;
    assert_near(measure_one(*state, &s.set, &settings, "labels", "5-NN accuracy"),
                ref_accuracy(&s.set, K), 1e-15);
}

static void a_row_may_be_among_its_own_neighbours(void **state) {
    static sample_set s;
    ikt_measure_settings settings = ikt_measure_defaults();
    make_in(&s, 90, 4, 0, 2);
    for (int k = 1; k <= 12; k++) {
        char name[48];
        settings.k = k;
        snprintf(name, sizeof name, "%d-NN accuracy, self included", k);
        const double expected = ref_accuracy_with_self(&s.set, k);
        assert_near(measure_one(*state, &s.set, &settings, "labels", name), expected, 1e-15);
        assert_true(k > 1 || expected == 1);
    }
}

static void far_clusters_are_told_and_one_place_tells_nothing(void **state) {
    static sample_set s;
    const ikt_measure_settings settings = ikt_measure_defaults();
    make_in(&s, 90, 3, 0, 2);
    for (int64_t i = 0; i < 90; i++)
        s.y[2 * i] += 1000 * (float)s.labels[i];
    assert_near(measure_one(*state, &s.set, &settings, "kmeans", "NMI of k-means"), 1, 1e-15);
    for (int64_t i = 0; i < 180; i++)
        s.y[i] = 2;
    assert_near(measure_one(*state, &s.set, &settings, "kmeans", "NMI of k-means"), 0, 0);
}

/* --- visible clusters ------------------------------------------------------------------------- */

enum { SMALL = 9 };

static double apart(const ikt_ref_set *set, int64_t i, int64_t j) {
    return sqrt(ref_squared(set->y, set->q, i, j));
}

/* Longest distance within a subset. */
static double diameter(const ikt_ref_set *set, unsigned subset) {
    double longest = 0;
    for (int64_t i = 0; i < set->n; i++)
        for (int64_t j = 0; j < i; j++)
            if (subset >> i & 1 && subset >> j & 1) longest = fmax(longest, apart(set, i, j));
    return longest;
}

/* Definition 2 by trying all: rows belong to the part of their class or to none (subsets suffice,
 * see visible.c). */
static double least_visualisation(const ikt_ref_set *set, int64_t classes) {
    double least = 1;
    for (unsigned kept = 0; kept < 1u << set->n; kept++) {
        double worst = 0;
        int valid = 1;
        for (int64_t c = 0; c < classes && valid; c++) {
            unsigned own = 0;
            double size = 0, left = 0, nearest = INFINITY;
            for (int64_t i = 0; i < set->n; i++)
                if (set->labels[i] == c) {
                    size++;
                    if (kept >> i & 1) {
                        own |= 1u << i;
                        left++;
                    }
                }
            worst = fmax(worst, (size - left) / size);
            for (int64_t i = 0; i < set->n; i++)
                for (int64_t j = 0; j < set->n; j++)
                    if (own >> i & 1 && kept >> j & 1 && set->labels[j] != c)
                        nearest = fmin(nearest, apart(set, i, j));
            valid = diameter(set, own) <= nearest / 2;
        }
        if (valid) least = fmin(least, worst);
    }
    return least;
}

/* Definition 1 for one class by trying all P, with P_err what P forces into it. */
static double least_visible(const ikt_ref_set *set, int64_t c) {
    double least = 1;
    for (unsigned p = 0; p < 1u << set->n; p++) {
        double wide = diameter(set, p), wrong = 0, size = 0, error = 0;
        for (int64_t j = 0; j < set->n; j++) {
            double nearest = INFINITY;
            for (int64_t i = 0; i < set->n; i++)
                if (p >> i & 1) nearest = fmin(nearest, apart(set, i, j));
            size += set->labels[j] == c;
            wrong += (set->labels[j] == c) != (p >> j & 1);
            error += !(p >> j & 1) && wide > nearest / 2;
        }
        least = fmin(least, fmax(wrong / size, error / (double)set->n));
    }
    return least;
}

static void epsilon_is_an_upper_bound(void **state) {
    ikt_context *ctx = *state;
    const ikt_measure_settings settings = ikt_measure_defaults();
    float y[SMALL * Q_MAX];
    int64_t labels[SMALL];
    int tight = 0;
    for (int trial = 0; trial < 12; trial++) {
        const int64_t q = 1 + trial % 3;
        const ikt_ref_set set = {SMALL, 0, q, NULL, y, labels};
        for (int64_t i = 0; i < SMALL; i++) {
            labels[i] = i % 2;
            for (int64_t c = 0; c < q; c++)
                y[q * i + c] =
                    (float)(ikt_rng_normal(7, IKT_RNG_TEST, i, (uint64_t)(3 * trial + c)) +
                            (double)(labels[i] * (trial % 5) * 3));
        }
        double found = measure_one(ctx, &set, &settings, "visible", "visualisation epsilon");
        double least = least_visualisation(&set, 2);
        assert_true(found >= least && found <= 1);
        tight += found == least;
        for (int64_t c = 0; c < 2; c++) {
            char name[48];
            snprintf(name, sizeof name, "visible epsilon, class %lld", (long long)c);
            double visible = measure_one(ctx, &set, &settings, "visible", name);
            assert_true(visible >= least_visible(&set, c) - 1e-15 && visible <= 1);
        }
    }
    assert_true(tight >= 2);
}

/* Two clusters far apart, each filling a ball; then rows of the one within the other. */
static void misplaced_rows_are_what_has_to_be_dropped(void **state) {
    enum { N = 40, EACH = 20 };
    const ikt_measure_settings settings = ikt_measure_defaults();
    static float y[N * Q_MAX];
    static int64_t labels[N];
    for (int64_t q = 1; q <= Q_MAX; q++)
        for (int64_t strays = 0; strays <= 3; strays++) {
            const ikt_ref_set set = {N, 0, q, NULL, y, labels};
            for (int64_t i = 0; i < N; i++) {
                labels[i] = i < EACH ? 3 : 11;
                for (int64_t c = 0; c < q; c++)
                    y[q * i + c] = (float)ikt_rng_uniform(1, IKT_RNG_TEST, i, (uint64_t)c);
                y[q * i] += (i < EACH) == (i >= strays) ? 0 : 100;
            }
            double share = (double)strays / EACH;
            assert_near(measure_one(*state, &set, &settings, "visible", "visualisation epsilon"),
                        share, 0);
            assert_near(measure_one(*state, &set, &settings, "visible", "visible epsilon, class 3"),
                        share, 0);
            /* all of the other class, with the strays as errors among all rows */
            assert_near(
                measure_one(*state, &set, &settings, "visible", "visible epsilon, class 11"),
                (double)strays / N, 0);
        }
}

/* Intervals of length 2 with a gap of 4 are a full visualisation; with less they are none, and the
 * ball that keeps one row of three is what is left of this family. */
static void the_bound_is_sharp_for_intervals(void **state) {
    const ikt_measure_settings settings = ikt_measure_defaults();
    static const int64_t labels[] = {0, 0, 0, 1, 1, 1};
    float y[] = {-1, 0, 1, 5, 6, 7};
    const ikt_ref_set set = {6, 0, 1, NULL, y, labels};
    assert_near(measure_one(*state, &set, &settings, "visible", "visualisation epsilon"), 0, 0);
    for (int i = 3; i < 6; i++)
        y[i] -= 0.0625f;
    assert_near(least_visualisation(&set, 2), 1.0 / 3, 0);
    assert_near(measure_one(*state, &set, &settings, "visible", "visualisation epsilon"), 2.0 / 3,
                0);
}

/* Classes in one place each are fully visible, even in the same place. */
static void classes_in_one_place_are_visible(void **state) {
    static const float y[] = {4, 4, 4, 4, 4, 4, 4, 4};
    static const int64_t labels[] = {0, 0, 1, 1};
    const ikt_measure_settings settings = ikt_measure_defaults();
    const ikt_ref_set set = {4, 0, 2, NULL, y, labels};
    assert_near(measure_one(*state, &set, &settings, "visible", "visualisation epsilon"), 0, 0);
    assert_near(measure_one(*state, &set, &settings, "visible", "visible epsilon, class 1"), 0, 0);
}

/* --- outliers --------------------------------------------------------------------------------- */

static double outlier_ratio(ikt_context *ctx, const ikt_ref_set *set) {
    const ikt_measure_settings settings = ikt_measure_defaults();
    return measure_one(ctx, set, &settings, "outliers", "outlier ratio");
}

static void outlier_ratios_match_plain_code(void **state) {
    static sample_set s;
    static const int64_t rows[] = {2, 5, 29, 30, 31, 49, 50, 399, 400};
    for (int64_t q = 1; q <= Q_MAX; q++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (int c = 0; c < 3; c++) {
                make_in(&s, rows[r], 2, c == 1 ? 1 : 0, q); /* 1: many ties */
                for (int64_t e = 0; e < q * rows[r] && c == 2; e++)
                    s.y[e] += 1000; /* far from the origin */
                const double expected = ref_outlier_ratio(s.y, rows[r], q);
                const double found = outlier_ratio(*state, &s.set);
                if (isfinite(expected))
                    assert_near(found, expected, 1e-9 * expected);
                else /* few rows in one place */
                    assert_true(isnan(found) == isnan(expected) && isinf(found) == isinf(expected));
            }
}

/* 38 rows at -1 or 1 and two at -10 and 10 have the centre 0; ties on the limit are parted; rows in
 * one place have no ratio, and one that is away from all others an infinite one. */
static void outlier_ratios_by_hand(void **state) {
    static float y[40];
    const ikt_ref_set set = {40, 0, 1, NULL, y, NULL};
    for (int i = 0; i < 40; i++)
        y[i] = (float)(i % 2 ? 1 : -1) * (i < 2 ? 10.0f : 1.0f);
    assert_near(outlier_ratio(*state, &set), 10, 1e-15);
    for (int i = 2; i < 6; i++) /* four as far: the limit goes through them */
        y[i] *= 10;
    assert_near(outlier_ratio(*state, &set), 10 / ((34 * 1 + 4 * 10) / 38.0), 1e-14);
    for (int i = 0; i < 40; i++)
        y[i] = (float)(i % 2 ? 1 : -1);
    assert_near(outlier_ratio(*state, &set), 1, 0);
    for (int i = 0; i < 40; i++)
        y[i] = 3;
    assert_true(isnan(outlier_ratio(*state, &set)));
    y[0] = -1;
    y[1] = 7;
    assert_true(isinf(outlier_ratio(*state, &set)));
}

IKT_MPI_TESTS(
    ikt_test(silhouettes_match_plain_code), ikt_test(a_sample_looks_at_all_rows),
    ikt_test(silhouettes_by_hand), ikt_test(inertia_is_that_of_the_clusters),
    ikt_test(kmeans_finds_the_best_partition), ikt_test(kmeans_has_the_same_bits_on_any_ranks),
    ikt_test(fewer_places_than_clusters), ikt_test(information_matches_plain_code),
    ikt_test(clusters_of_the_map_match_plain_code), ikt_test(labels_of_many_rows_are_sampled),
    ikt_test(a_row_may_be_among_its_own_neighbours),
    ikt_test(far_clusters_are_told_and_one_place_tells_nothing),
    ikt_test(epsilon_is_an_upper_bound), ikt_test(misplaced_rows_are_what_has_to_be_dropped),
    ikt_test(the_bound_is_sharp_for_intervals), ikt_test(classes_in_one_place_are_visible),
    ikt_test(outlier_ratios_match_plain_code), ikt_test(outlier_ratios_by_hand))
