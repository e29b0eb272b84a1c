/* Where names of classes stand, and colours that tell near classes apart. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "plot/colouring.h"

enum { N = 4000, CLASSES = 14, MANY = 300 };

static float y[2 * N];
static uint16_t index_of[N];

/* Classes are round heaps on a ring; class 3 has a second, smaller heap in the middle, class 9 has
 * no points. */
static void make_points(void) {
    for (int64_t i = 0; i < N; i++) {
        const int64_t c = i % CLASSES == 9 ? 8 : i % CLASSES;
        const double angle = 2 * 3.14159265358979 * (double)c / CLASSES;
        const bool is_apart = c == 3 && i % 3 == 0;
        const double x = is_apart ? 0 : 50 * cos(angle), up = is_apart ? 0 : 50 * sin(angle);
        index_of[i] = (uint16_t)c;
        y[2 * i] = (float)(x + ikt_rng_normal(1, IKT_RNG_TEST, i, 0));
        y[2 * i + 1] = (float)(up + ikt_rng_normal(1, IKT_RNG_TEST, i, 1));
    }
}

static void find(ikt_context *ctx, int q, double *place) {
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const ikt_rows_points points = {.rows = &rows, .q = q, .y = y + q * rows.first};
    assert_int_equal(ikt_class_places(ctx, &points, index_of + rows.first, CLASSES, place), IKT_OK);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void a_name_stands_in_the_larger_heap(void **state) {
    double place[2 * CLASSES];
    make_points();
    find(*state, 2, place);
    for (int64_t c = 0; c < CLASSES; c++) {
        const double angle = 2 * 3.14159265358979 * (double)c / CLASSES;
        if (c == 9) {
            assert_true(isnan(place[2 * c]) && isnan(place[2 * c + 1]));
            continue;
        }
        /* Within half a deviation of the middle: cells are about six deviations wide. */
        assert_true(fabs(place[2 * c] - 50 * cos(angle)) < 0.5);
        assert_true(fabs(place[2 * c + 1] - 50 * sin(angle)) < 0.5);
    }
}

static void places_do_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    double all[2 * CLASSES], one[2 * CLASSES];
    make_points();
    for (int q = 1; q <= 2; q++) {
        find(ctx, q, all);
        find(alone, q, one);
        /* NaN of class 9 compares by its bytes, too. */
        assert_memory_equal(all, one, sizeof all);
    }
    find(ctx, 1, all);
    for (int64_t c = 0; c < CLASSES; c++)
        assert_true(c == 9 || all[2 * c + 1] == 0);
    ikt_context_destroy(&alone);
}

/* Distance of two colours in a plain measure, the sum of squares in sRGB. */
static double apart(int64_t a, int64_t b, int64_t n) {
    const ikt_rgb p = ikt_palette_class(a, n, false), q = ikt_palette_class(b, n, false);
    return pow(p.r - q.r, 2) + pow(p.g - q.g, 2) + pow(p.b - q.b, 2);
}

static void near_classes_differ_most(void **state) {
    enum { SIDE = 6, COUNT = SIDE * SIDE };
    double place[2 * COUNT], own = INFINITY, spread = INFINITY;
    int64_t colour[COUNT];
    bool seen[COUNT] = {false};
    for (int64_t c = 0; c < COUNT; c++) { /* of 24 colours, 12 come once more, darker */
        place[2 * c] = (double)(c / 2 % SIDE) + 0.2 * (double)(c % 2);
        place[2 * c + 1] = (double)(c / 2 / SIDE);
    }
    for (int64_t c = 0; c < COUNT; c++) /* class c and 24 + c side by side would be look-alikes */
        if (c % 2 == 1 && c < 24) {
            const int64_t other = 24 + c / 2;
            for (int64_t a = 0; a < 2; a++) {
                const double moved = place[2 * other + a];
                place[2 * other + a] = place[2 * c + a];
                place[2 * c + a] = moved;
            }
        }
    assert_int_equal(ikt_palette_spread(*state, place, COUNT, colour), IKT_OK);
    for (int64_t a = 0; a < COUNT; a++) {
        assert_true(colour[a] >= 0 && colour[a] < COUNT && !seen[colour[a]]);
        seen[colour[a]] = true;
        for (int64_t b = 0; b < a; b++) {
            if (hypot(place[2 * a] - place[2 * b], place[2 * a + 1] - place[2 * b + 1]) > 1.1)
                continue;
            own = fmin(own, apart(a, b, COUNT));
            spread = fmin(spread, apart(colour[a], colour[b], COUNT));
        }
    }
    assert_true(spread > 2 * own); /* the nearest pair of neighbours is no look-alike */
    assert_int_equal(ikt_memory_now(*state), 0);
}

static void few_and_very_many_keep_their_colours(void **state) {
    static double place[2 * MANY];
    static int64_t colour[MANY];
    static const int64_t counts[] = {0, 1, 12, 257, MANY};
    for (int64_t e = 0; e < 2 * MANY; e++)
        place[e] = ikt_rng_uniform(1, IKT_RNG_TEST, e, 0);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        assert_int_equal(ikt_palette_spread(*state, place, counts[k], colour), IKT_OK);
        for (int64_t c = 0; c < counts[k]; c++)
            assert_int_equal(colour[c], c);
    }
    place[2 * 5] = NAN; /* a class without points: the others are spread all the same */
    assert_int_equal(ikt_palette_spread(*state, place, 40, colour), IKT_OK);
    int64_t sum = 0;
    for (int64_t c = 0; c < 40; c++)
        sum += colour[c];
    assert_int_equal(sum, 39 * 20);
}

IKT_MPI_TESTS(ikt_test(a_name_stands_in_the_larger_heap), ikt_test(places_do_not_depend_on_ranks),
              ikt_test(near_classes_differ_most), ikt_test(few_and_very_many_keep_their_colours))
