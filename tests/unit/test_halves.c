/* Numbers in half precision: every one there is, and those that are none. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "metric/halves.h"

enum { HALVES = 1 << 16, SPECIAL = 31, SOME = 77 };

/* By the definition: 1 bit of sign, 5 of the exponent, 10 of the fraction. */
static double value_of(unsigned bits) {
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    const double size = exponent > 0 ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static void every_half_is_its_number(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < HALVES; bits++) {
        const float value = ikt_half_value((uint16_t)bits);
        if ((bits >> 10 & 31) == SPECIAL) {
            assert_false(isfinite(value));
            continue;
        }
        assert_true((double)value == value_of(bits) && !signbit(value) == !(bits >> 15));
        assert_int_equal(ikt_half_of(value), bits);
        assert_true(ikt_half_holds(value));
        assert_false(ikt_half_holds(nextafterf(value, INFINITY)));
        assert_false(ikt_half_holds(nextafterf(value, -INFINITY)));
    }
}

static void other_numbers_are_told(void **state) {
    static const float others[] = {65520,    65536,    0x1p17f,  0x1p100f, 3e38F,
                                   0x1p-25f, 0x3p-25f, 0x1p-40f, 1e-45F,   .1F};
    (void)state;
    for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        assert_false(ikt_half_holds(others[o]));
        assert_false(ikt_half_holds(-others[o]));
    }
}

static void kernels_do_the_same(void **state) {
    static float x[HALVES], back[HALVES];
    static uint16_t half[HALVES], written[HALVES];
    int64_t count = 0;
    (void)state;
    for (unsigned bits = 0; bits < HALVES; bits++)
        if ((bits >> 10 & 31) != SPECIAL) half[count++] = (uint16_t)bits;
    for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++) {
        const ikt_halves_kernel *kernel = ikt_halves_kernel_for((ikt_isa)isa);
        kernel->read(half, count, x);
        for (int64_t k = 0; k < count; k++)
            assert_true((double)x[k] == value_of(half[k]));
        kernel->write(x, count, written);
        assert_memory_equal(written, half, (size_t)count * sizeof *half);
        assert_true(kernel->hold(x, count));
        for (int64_t length = 0; length < SOME; length++) { /* ends that fill no vector */
            memset(back, 0xFF, sizeof back);
            kernel->read(half + 3, length, back);
            assert_memory_equal(back, x + 3, (size_t)length * sizeof *x);
            assert_true(isnan(back[length]));
        }
        for (int64_t at = 0; at < SOME; at++) {
            memcpy(back, x + 20000, SOME * sizeof *x);
            back[at] = .1F;
            assert_false(kernel->hold(back, SOME));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_half_is_its_number),
                                       cmocka_unit_test(other_numbers_are_told),
                                       cmocka_unit_test(kernels_do_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
