/* What must not change the distances of the Fisher metric, beside what must. */
#include "support/fisher_world.h"

static double largest_change(const world *w, const float *before) {
    double most = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++)
            most = fmax(most, fabs((double)distance(w, i, j) - (double)before[i * N + j]));
    return most;
}

static void remember(const world *w, float *d) {
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++)
            d[i * N + j] = distance(w, i, j);
}

static void summands_of_single_rows_cancel(void **state) {
    (void)state;
    world w;
    float before[N * N];
    world_begin(&w, M);
    const int64_t m = w.support.m;
    remember(&w, before);
    /* Squared distances in place of inner products: K + r_i + r_l. */
    for (int64_t i = 0; i < N; i++)
        for (int64_t l = 0; l < m; l++) {
            double squared = 0;
            for (int c = 0; c < D; c++)
                squared += pow(w.x[i][c] - w.x[w.support.row[l]][c], 2);
            w.k[i * m + l] = (float)(-squared / 2);
        }
    double self[N];
    memcpy(self, w.self, (size_t)m * sizeof *self);
    for (int64_t l = 0; l < m; l++)
        w.self[l] = 0;
    weigh(&w, sigma, false);
    assert_true(largest_change(&w, before) < 1e-5);
    /* r_l in the block alone, and not in k(s, s): another kernel. */
    for (int64_t l = 0; l < m; l++)
        w.self[l] = self[l];
    weigh(&w, sigma, false);
    assert_true(largest_change(&w, before) > 0.1);
    /* (4 K, 2 sigma): powers of two are exact. */
    compare_rows(&w);
    for (int64_t e = 0; e < N * m; e++)
        w.k[e] *= 4;
    for (int64_t l = 0; l < m; l++)
        w.self[l] *= 4;
    weigh(&w, 2 * sigma, false);
    assert_true(largest_change(&w, before) == 0);
    world_end(&w);
}

/* K + s I moves the own entries alone, which are left out. */
static void own_entries_count_only_where_they_are_kept(void **state) {
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        world w;
        float before[N * N];
        world_begin(&w, N);
        const int64_t m = w.support.m;
        weigh(&w, sigma, kept == 0);
        if (!kept) /* of a pair both entries are left out; here those of its rows alone can be */
            for (int64_t i = 0; i < N; i++)
                assert_true(
                    w.weight[i * w.support.shape.lanes + ikt_class_lane_of(&w.support, i)] ==
                    IKT_NO_WEIGHT);
        remember(&w, before);
        for (int64_t l = 0; l < m; l++)
            w.k[w.support.row[l] * m + l] += 7;
        weigh(&w, sigma, kept == 0);
        if (kept)
            assert_true(largest_change(&w, before) > 0.1);
        else
            assert_true(largest_change(&w, before) == 0);
        world_end(&w);
    }
}

static void indefinite_similarities_give_probabilities(void **state) {
    (void)state;
    world w;
    world_begin(&w, M);
    const int64_t m = w.support.m;
    for (int64_t i = 0; i < N; i++)
        for (int64_t l = 0; l < m; l++) {
            const int64_t s = w.support.row[l], low = i < s ? i : s, high = i < s ? s : i;
            w.k[i * m + l] = (float)(3 * normal(1000 + low, high));
        }
    for (int64_t l = 0; l < m; l++)
        w.self[l] = 3 * normal(1000 + w.support.row[l], w.support.row[l]);
    weigh(&w, sigma, false);
    for (int rule = 0; rule < 3; rule++)
        for (int64_t i = 0; i < N; i++) {
            double sum = 0;
            for (int c = 0; c < w.support.shape.wide; c++)
                sum += pow((double)w.root[i * w.support.shape.wide + c], 2);
            assert_true(fabs(sum - 1) < 1e-5);
            for (int64_t j = i + 1; j < N; j += 5) {
                const ref_pair pair = pair_of(&w, i, j);
                w.job.rule = (ikt_segment_rule)rule;
                const double d = (double)distance(&w, i, j);
                assert_true(d >= 0 &&
                            fabs(d - ref_distance(&pair, w.job.rule, 5)) < 1e-4 * (1 + d));
            }
        }
    world_end(&w);
}

/* Similarities by squared distances of rows in single precision, as the program takes those of rows
 * with coordinates. */
static void compare_by_metric(world *w) {
    _Alignas(64) float packed[32 * D], squared[N * 32], x[N * D], s[M * D];
    const int64_t m = w->support.m;
    assert_true(m <= M && ikt_packed_rows(m) <= 32);
    for (int64_t i = 0; i < N; i++)
        for (int c = 0; c < D; c++)
            x[i * D + c] = (float)w->x[i][c];
    for (int64_t l = 0; l < m; l++)
        memcpy(s + l * D, x + w->support.row[l] * D, D * sizeof *s);
    ikt_pack_rows(s, m, D, packed);
    ikt_class_compare(&ikt_metric_euclidean, x, N, packed, m, D, squared, w->k);
    memset(w->self, 0, (size_t)m * sizeof *w->self);
}

/* The automatic bandwidth, by inner products in double precision. */
static double likely_sigma(const world *w) {
    double k[M * M], self[M];
    ikt_class_sigma found;
    for (int64_t a = 0; a < M; a++)
        for (int64_t b = 0; b < M; b++) {
            k[a * M + b] = 0;
            for (int c = 0; c < D; c++)
                k[a * M + b] += w->x[w->support.row[a]][c] * w->x[w->support.row[b]][c];
            if (a == b) self[a] = k[a * M + b];
        }
    assert_int_equal(
        ikt_class_sigma_find(w->ctx, &w->support, IKT_SIGMA_LIKELIHOOD, 0, k, self, &found),
        IKT_OK);
    return found.sigma;
}

/* Turns the rows in the planes of neighbouring columns, and moves them away. */
static void turn_and_move(world *w) {
    for (int64_t i = 0; i < N; i++) {
        double *x = w->x[i];
        for (int c = 0; c < D; c++) {
            const int e = (c + 1) % D;
            const double a = x[c], b = x[e], angle = 0.4 + c;
            x[c] = cos(angle) * a - sin(angle) * b;
            x[e] = sin(angle) * a + cos(angle) * b;
        }
        for (int c = 0; c < D; c++)
            x[c] += 2 - c;
    }
}

/* Coordinates up to 8 are rounded to 2^-22, which changes squared distances up to 60 by 3e-5 at
 * most and logarithms of weights by half of that over sigma^2; most of it cancels. */
static void rows_that_are_turned_and_moved_keep_their_distances(void **state) {
    (void)state;
    world w;
    float before[N * N];
    world_begin(&w, M);
    compare_by_metric(&w);
    weigh(&w, sigma, false);
    remember(&w, before);
    const double found = likely_sigma(&w);
    turn_and_move(&w);
    compare_by_metric(&w);
    weigh(&w, sigma, false);
    const double most = largest_change(&w, before);
    assert_true(most > 0 && most < 1e-5);
    assert_true(fabs(likely_sigma(&w) / found - 1) < 1e-9);
    /* A stretch is no such motion. */
    for (int64_t i = 0; i < N; i++)
        w.x[i][0] *= 1.5;
    compare_by_metric(&w);
    weigh(&w, sigma, false);
    assert_true(largest_change(&w, before) > 0.1);
    assert_true(fabs(likely_sigma(&w) / found - 1) > 1e-3);
    world_end(&w);
}

/* The classes in another order: sums over them are added in that order, which the last bits of
 * probabilities tell, and d^2 where it is small. */
static void renamed_classes_have_the_same_distances(void **state) {
    (void)state;
    world w;
    float before[N * N], root[N * 16];
    int64_t row[M];
    world_begin(&w, M);
    const int wide = w.support.shape.wide;
    assert_int_equal(wide, 16);
    remember(&w, before);
    memcpy(root, w.root, sizeof root);
    memcpy(row, w.support.row, sizeof row);
    ikt_class_support_destroy(&w.support);
    for (int64_t i = 0; i < N; i++)
        w.of_row[i] = (w.of_row[i] + 1) % C;
    assert_int_equal(ikt_class_support_draw(w.ctx, w.of_row, N, C, M, 7, &w.support), IKT_OK);
    w.job.shape = w.support.shape;
    assert_memory_equal(row, w.support.row, sizeof row);
    compare_rows(&w);
    weigh(&w, sigma, false);
    for (int64_t i = 0; i < N; i++)
        for (int c = 0; c < C; c++)
            assert_true(fabsf(w.root[i * wide + (c + 1) % C] - root[i * wide + c]) < 2e-7f);
    assert_true(largest_change(&w, before) < 2e-6);
    /* Other classes, and not other names, change them. */
    ikt_class_support_destroy(&w.support);
    for (int64_t i = 0; i < N; i++)
        w.of_row[i] = (int32_t)(i / 2 % C);
    assert_int_equal(ikt_class_support_draw(w.ctx, w.of_row, N, C, M, 7, &w.support), IKT_OK);
    w.job.shape = w.support.shape;
    compare_rows(&w);
    weigh(&w, sigma, false);
    assert_true(largest_change(&w, before) > 0.1);
    world_end(&w);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summands_of_single_rows_cancel),
        cmocka_unit_test(own_entries_count_only_where_they_are_kept),
        cmocka_unit_test(indefinite_similarities_give_probabilities),
        cmocka_unit_test(rows_that_are_turned_and_moved_keep_their_distances),
        cmocka_unit_test(renamed_classes_have_the_same_distances)};
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
