/* Shortest decimals of float32. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/rng.h"

static void expect(float value, const char *wanted) {
    char text[IKT_FLOAT_TEXT];
    assert_int_equal(ikt_float_print(value, text), (int)strlen(wanted));
    assert_string_equal(text, wanted);
}

static void known_numbers(void **state) {
    (void)state;
    expect(0, "0");
    expect(-0.0F, "-0");
    expect(12, "12");
    expect(100, "100");
    expect(-3.25F, "-3.25");
    expect(0.1F, "0.1");
    expect(0.001F, "0.001");
    expect(0.00012345F, "0.00012345");
    expect(99999.99F, "99999.99");
    expect(123456, "123456");
    expect(1e30F, "1e+30");
    expect(1e-7F, "1e-07");
    expect(16777216, "16777216");
    expect(1.1754944e-38F, "1.1754944e-38");
    expect(1e-45F, "1e-45");
    expect(NAN, "nan");
    expect(-INFINITY, "-inf");
}

/* Digits of the shortest decimal that reads back, by trying all. */
static int fewest_digits(float value) {
    char text[64];
    for (int digits = 1; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, (double)value);
        if (strtof(text, NULL) == value) return digits;
    }
    return 9;
}

/* Digits from the first to the last that is not 0, without an exponent. */
static int own_digits(const char *text) {
    int count = 0, last = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0')) continue;
        count++;
        if (*text != '0') last = count;
    }
    return last;
}

static void check(float value) {
    char text[IKT_FLOAT_TEXT];
    const int length = ikt_float_print(value, text);
    assert_int_equal(length, (int)strlen(text));
    assert_true(strtof(text, NULL) == value);
    if (value != 0) assert_int_equal(own_digits(text), fewest_digits(value));
}

static void all_read_back(void **state) {
    (void)state;
    for (int64_t i = 0; i < 60000; i++) {
        const uint32_t bits = (uint32_t)(ikt_rng_uniform(1, IKT_RNG_TEST, i, 0) * 4294967295.0);
        float any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) check(any);
        check((float)(30 * ikt_rng_normal(1, IKT_RNG_TEST, i, 1)));
        check((float)(1e-4 * ikt_rng_normal(1, IKT_RNG_TEST, i, 2)));
        check((float)(int64_t)(1e6 * ikt_rng_uniform(1, IKT_RNG_TEST, i, 3)) / 100);
    }
}

IKT_MPI_TESTS(ikt_test(known_numbers), ikt_test(all_read_back))
