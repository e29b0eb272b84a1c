/* The k-d tree against a full search, ranks by radix sort and order statistics against counting. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/family.h"
#include "evaluate/tree.h"

enum { N_MAX = 700, K_MAX = 64 };

typedef float shape(int64_t i, uint64_t axis);

static double draw(int64_t i, uint64_t axis) {
    return ikt_rng_normal(3, IKT_RNG_TEST, i, axis);
}

static float normal(int64_t i, uint64_t axis) {
    return (float)draw(i, axis);
}

/* Small whole numbers: many equal distances and equal places. */
static float lattice(int64_t i, uint64_t axis) {
    return (float)floor(2 * draw(i, axis));
}

static float one_place(int64_t i, uint64_t axis) {
    (void)i;
    return axis ? -3.5f : 1e6f;
}

static float line(int64_t i, uint64_t axis) {
    return axis ? 0 : (float)draw(i, 0);
}

/* Density that varies by many powers of ten. */
static float uneven(int64_t i, uint64_t axis) {
    return (float)(draw(i, axis) * exp(4 * draw(i, 2)));
}

static float two_places(int64_t i, uint64_t axis) {
    return axis ? 0 : (float)(i % 2);
}

static int before(float a, int64_t a_row, float b, int64_t b_row) {
    return a < b || (a == b && a_row < b_row);
}

/* The k first of the others by (distance, row), by insertion. */
static void plain_nearest(const float *y, int64_t n, int64_t q, int64_t row, int64_t k,
                          float *score, uint32_t *nearest) {
    int64_t kept = 0;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t c = 0; c < q; c++) {
            double apart = (double)y[q * j + c] - (double)y[q * row + c];
            sum += apart * apart;
        }
        float distance = (float)sum;
        if (j == row || (kept == k && !before(distance, j, score[k - 1], nearest[k - 1]))) continue;
        int64_t place = kept < k ? kept++ : k - 1;
        for (; place > 0 && before(distance, j, score[place - 1], nearest[place - 1]); place--) {
            score[place] = score[place - 1];
            nearest[place] = nearest[place - 1];
        }
        score[place] = distance;
        nearest[place] = (uint32_t)j;
    }
}

static void compare_all(ikt_context *ctx, const float *y, int64_t n, int64_t q, int64_t k) {
    float score[K_MAX], expected_score[K_MAX];
    uint32_t nearest[K_MAX], expected[K_MAX];
    ikt_tree tree;
    assert_int_equal(ikt_tree_create(ctx, y, n, q, &tree), IKT_OK);
    for (int64_t row = 0; row < n; row++) {
        ikt_tree_nearest(&tree, y + q * row, row, k, score, nearest);
        plain_nearest(y, n, q, row, k, expected_score, expected);
        assert_memory_equal(nearest, expected, (size_t)k * sizeof *nearest);
        assert_memory_equal(score, expected_score, (size_t)k * sizeof *score);
    }
    ikt_tree_destroy(&tree);
    ikt_tree_destroy(&tree); /* harmless */
}

static void tree_finds_the_nearest(void **state) {
    static shape *const shapes[] = {normal, lattice, one_place, line, uneven, two_places};
    static const int64_t sizes[] = {2, 3, 16, 17, 33, 100, N_MAX}, ks[] = {1, 2, 10, K_MAX};
    static float y[3 * N_MAX];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int64_t q = 1; q <= 3; q++)
            for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++) {
                for (int64_t e = 0; e < q * sizes[m]; e++)
                    y[e] = shapes[s](e / q, (uint64_t)(e % q));
                for (size_t k = 0; k < sizeof ks / sizeof *ks; k++)
                    if (ks[k] < sizes[m]) compare_all(*state, y, sizes[m], q, ks[k]);
            }
}

/* All points in one place: a search that looked at each would take 4e10 steps here. */
static void tree_is_quick_with_duplicates(void **state) {
    enum { N = 200000, K = 5 };
    ikt_context *ctx = *state;
    float *y, score[K];
    uint32_t nearest[K];
    ikt_tree tree;
    assert_int_equal(ikt_alloc(ctx, &y, 2 * N, sizeof *y, "test"), IKT_OK);
    int64_t before_tree = ikt_memory_now(ctx);
    assert_int_equal(ikt_tree_create(ctx, y, N, 2, &tree), IKT_OK);
    assert_int_equal(ikt_memory_now(ctx) - before_tree, ikt_tree_memory(N));
    for (int64_t row = 0; row < N; row++) {
        ikt_tree_nearest(&tree, y + 2 * row, row, K, score, nearest);
        for (int64_t e = 0; e < K; e++)
            assert_int_equal(nearest[e], e + (row <= e));
    }
    ikt_tree_destroy(&tree);
    ikt_free(&y);
}

static void radix_ranks_any_floats(void **state) {
    enum { N = 3000 };
    static float value[N];
    static const float special[] = {0.0f,  -0.0f,  INFINITY, -INFINITY,
                                    -1.0f, 1e-45f, -1e-45f,  3e38f};
    ikt_radix radix;
    assert_int_equal(ikt_radix_create(*state, N, &radix), IKT_OK);
    for (int64_t j = 0; j < N; j++)
        value[j] = j % 3 == 0   ? special[j / 3 % 8]
                   : j % 3 == 1 ? (float)(draw(j, 0) * exp(20 * draw(j, 1)))
                                : (float)floor(3 * draw(j, 0));
    ikt_radix_ranks(&radix, value, radix.rank[0]);
    for (int64_t j = 0; j < N; j++) {
        int64_t rank = 0;
        for (int64_t l = 0; l < N; l++)
            rank += before(value[l], l, value[j], j);
        assert_int_equal(radix.rank[0][j], rank);
    }
    value[17] = -NAN;
    ikt_radix_ranks(&radix, value, radix.rank[1]);
    assert_int_equal(radix.rank[1][17], N - 1);
    ikt_radix_destroy(&radix);
}

/* The place-th smallest has fewer than or exactly `place` values below it, and more up to it. */
static void order_statistics_are_those_of_counting(void **state) {
    static shape *const shapes[] = {normal, lattice, two_places, one_place};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int64_t count = 1; count <= 60; count++)
            for (int64_t place = 0; place < count; place++) {
                float values[60];
                int64_t below = 0, equal = 0;
                for (int64_t e = 0; e < count; e++)
                    values[e] = shapes[s](e, 0);
                float found = ikt_order_statistic(values, count, place);
                for (int64_t e = 0; e < count; e++) {
                    below += shapes[s](e, 0) < found;
                    equal += shapes[s](e, 0) == found;
                }
                assert_true(below <= place && place < below + equal);
            }
    float even[] = {4, 1, 9, 2}, odd[] = {4, 1, 9};
    assert_true(ikt_median(even, 4) == 3 && ikt_median(odd, 3) == 4);
}

IKT_MPI_TESTS(ikt_test(tree_finds_the_nearest), ikt_test(tree_is_quick_with_duplicates),
              ikt_test(radix_ranks_any_floats), ikt_test(order_statistics_are_those_of_counting))
