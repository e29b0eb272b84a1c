/* The order of points along the Z-curve, by bits and against a plain sort. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/rng.h"
#include "viewer/parts.h"

enum { N = 777 };

/* What the points are like: spread out; all but one far outlier in one tile; many of them equal. */
typedef enum { SPREAD, OUTLIER, EQUAL, KINDS } point_kind;

static float coordinate(point_kind kind, int64_t row, uint64_t axis) {
    double at = ikt_rng_normal(4, IKT_RNG_TEST, row, axis);
    if (kind == OUTLIER && row == 333) return 1e7f;
    return kind == EQUAL ? floorf((float)at) : (float)at;
}

/* Bit by bit. */
static uint64_t plain_code(uint32_t x, uint32_t y) {
    uint64_t code = 0;
    for (int b = 0; b < IKT_CURVE_BITS; b++)
        code |= (uint64_t)(x >> b & 1) << 2 * b | (uint64_t)(y >> b & 1) << (2 * b + 1);
    return code;
}

static void codes_interleave_the_bits(void **state) {
    (void)state;
    assert_int_equal(ikt_curve_code(0xffffff, 0), 0x555555555555);
    assert_int_equal(ikt_curve_code(0, 0xffffff), 0xaaaaaaaaaaaa);
    for (int64_t i = 0; i < 1000; i++) {
        uint32_t x = (uint32_t)ikt_rng_below(1, IKT_RNG_TEST, i, 0, 1 << IKT_CURVE_BITS);
        uint32_t y = (uint32_t)ikt_rng_below(1, IKT_RNG_TEST, i, 1, 1 << IKT_CURVE_BITS);
        assert_true(ikt_curve_code(x, y) == plain_code(x, y));
    }
}

static void fill(point_kind kind, float *y) {
    for (int64_t i = 0; i < N; i++)
        for (uint64_t axis = 0; axis < 2; axis++)
            y[2 * i + (int64_t)axis] = coordinate(kind, i, axis);
}

/* The same box on all ranks, and no step further than half a step away. */
static void steps_are_near_their_points(void **state) {
    static float y[2 * N];
    for (point_kind k = 0; k < KINDS; k++) {
        ikt_rows rows = ikt_rows_make(N, ikt_size(*state), ikt_rank(*state));
        ikt_curve_box box;
        fill(k, y);
        assert_int_equal(ikt_curve_fit(*state, &rows, 2, y + 2 * rows.first, &box), IKT_OK);
        for (int64_t e = 0; e < 2 * N; e++) {
            uint32_t step = ikt_curve_step(&box, (int)(e % 2), (double)y[e]);
            double back = box.corner[e % 2] + (step + 0.5) * box.side / (1 << IKT_CURVE_BITS);
            assert_true(step < 1 << IKT_CURVE_BITS);
            assert_true(fabs(back - (double)y[e]) <= box.side / (1 << IKT_CURVE_BITS) * 0.500001);
        }
    }
}

static void places_are_those_of_a_plain_sort(void **state) {
    static float y[2 * N];
    static uint64_t code[N];
    static uint32_t place[N];
    for (point_kind k = 0; k < KINDS; k++) {
        ikt_rows rows = ikt_rows_make(N, ikt_size(*state), ikt_rank(*state));
        ikt_curve_box box;
        fill(k, y);
        assert_int_equal(ikt_curve_fit(*state, &rows, 2, y + 2 * rows.first, &box), IKT_OK);
        for (int64_t i = 0; i < N; i++)
            code[i] = ikt_curve_code(ikt_curve_step(&box, 0, (double)y[2 * i]),
                                     ikt_curve_step(&box, 1, (double)y[2 * i + 1]));
        assert_int_equal(ikt_curve_places(*state, &rows, code + rows.first, place), IKT_OK);
        for (int64_t i = 0; i < rows.count; i++) {
            uint64_t own = code[rows.first + i];
            int64_t before = 0;
            for (int64_t j = 0; j < N; j++)
                before += code[j] < own || (code[j] == own && j < rows.first + i);
            assert_int_equal(place[i], before);
        }
        assert_int_equal(ikt_memory_now(*state), 0);
    }
}

static void a_broken_coordinate_is_named(void **state) {
    ikt_rows rows = ikt_rows_make(N, ikt_size(*state), ikt_rank(*state));
    static float y[2 * N];
    ikt_curve_box box;
    fill(SPREAD, y);
    y[2 * 500 + 1] = INFINITY;
    assert_int_equal(ikt_curve_fit(*state, &rows, 2, y + 2 * rows.first, &box), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(*state), "row 500"));
}

/* The vectors of RFC 4648, section 10. */
static void base64_is_that_of_the_standard(void **state) {
    static const char *const known[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xef\xbe", "/+++"}};
    (void)state;
    for (size_t v = 0; v < sizeof known / sizeof *known; v++) {
        char text[16] = "";
        int64_t length = (int64_t)strlen(known[v][0]);
        ikt_base64(known[v][0], length, text);
        assert_string_equal(text, known[v][1]);
        assert_int_equal(ikt_base64_length(length), strlen(known[v][1]));
    }
}

IKT_MPI_TESTS(ikt_test(codes_interleave_the_bits), ikt_test(steps_are_near_their_points),
              ikt_test(places_are_those_of_a_plain_sort), ikt_test(a_broken_coordinate_is_named),
              ikt_test(base64_is_that_of_the_standard))
