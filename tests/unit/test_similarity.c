/* Counts of equal entries: every instruction set against a plain loop. */
#include "support/ikt_test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/similarity.h"

enum { GUARD = 0xBEEF };

typedef struct {
    int64_t na, nb, t;
    int width;
} shape;

static int64_t entry(const char *rows, const ikt_code_shape *code, int64_t i, int64_t p) {
    const char *at = rows + i * code->stride + p * code->width;
    return code->width == 1   ? *(const uint8_t *)at
           : code->width == 2 ? *(const uint16_t *)(const void *)at
                              : (int64_t) * (const uint32_t *)(const void *)at;
}

/* Codes with many equal entries, some of them 0 like the padding, some with equal low bytes: two
 * values of four bytes differ in the lowest alone, two in the highest. */
static char *create_rows(ikt_context *ctx, const ikt_code_shape *code, int64_t n, uint64_t salt) {
    char *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, n * code->stride, 1, "test"), IKT_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < code->t; p++) {
            int64_t value = ikt_rng_below(salt, IKT_RNG_TEST, i, (uint64_t)p, 4);
            char *at = rows + i * code->stride + p * code->width;
            if (code->width == 1)
                *(uint8_t *)at = (uint8_t)(value * 85);
            else if (code->width == 2)
                *(uint16_t *)(void *)at = (uint16_t)(value * 256);
            else
                *(uint32_t *)(void *)at = (uint32_t)(value / 2) << 30 | (uint32_t)(value % 2);
        }
    return rows;
}

static void check(ikt_context *ctx, shape s) {
    const ikt_code_shape code = {s.t, (s.t * s.width + 63) / 64 * 64, s.width};
    const int64_t stride = s.nb + 3;
    char *a = create_rows(ctx, &code, s.na, 1), *b = create_rows(ctx, &code, s.nb, 2);
    uint16_t *equal;
    assert_int_equal(ikt_alloc(ctx, &equal, s.na * stride, sizeof *equal, "test"), IKT_OK);
    for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
        for (int64_t i = 0; i < s.na * stride; i++)
            equal[i] = GUARD;
        ikt_similarity_block((ikt_isa)isa, code, a, s.na, b, s.nb, equal, stride);
        for (int64_t i = 0; i < s.na; i++) {
            for (int64_t j = 0; j < s.nb; j++) {
                int64_t expected = 0;
                for (int64_t p = 0; p < s.t; p++)
                    expected += entry(a, &code, i, p) == entry(b, &code, j, p);
                assert_int_equal(equal[i * stride + j], expected);
            }
            for (int64_t j = s.nb; j < stride; j++)
                assert_int_equal(equal[i * stride + j], GUARD);
        }
    }
    ikt_free(&equal);
    ikt_free(&a);
    ikt_free(&b);
}

static void counts_are_exact(void **state) {
    static const int64_t ts[] = {1, 31, 32, 33, 63, 64, 65, 200, 256, 1000};
    for (size_t i = 0; i < sizeof ts / sizeof *ts; i++)
        for (int width = 1; width <= 4; width *= 2) {
            check(*state, (shape){1, 1, ts[i], width});
            check(*state, (shape){3, 5, ts[i], width});
            check(*state, (shape){9, 70, ts[i], width});
        }
}

/* More equal entries than an 8-bit or a signed 16-bit counter holds. */
static void long_codes_do_not_overflow(void **state) {
    for (int width = 1; width <= 4; width *= 2) {
        const int64_t t = 65535;
        const ikt_code_shape code = {t, (t * width + 63) / 64 * 64, width};
        char *a = create_rows(*state, &code, 2, 1);
        uint16_t equal[4];
        for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
            ikt_similarity_block((ikt_isa)isa, code, a, 2, a, 2, equal, 2);
            assert_int_equal(equal[0], t);
            assert_int_equal(equal[3], t);
            assert_int_equal(equal[1], equal[2]);
        }
        ikt_free(&a);
        check(*state, (shape){2, 2, t, width});
    }
}

static void nothing_to_do(void **state) {
    (void)state;
    const ikt_code_shape code = {10, 64, 1};
    uint16_t equal = GUARD;
    char row[64] = {0};
    ikt_similarity_block(ikt_cpu_isa(), code, row, 0, row, 1, &equal, 1);
    ikt_similarity_block(ikt_cpu_isa(), code, row, 1, row, 0, &equal, 1);
    assert_int_equal(equal, GUARD);
}

IKT_MPI_TESTS(ikt_test(counts_are_exact), ikt_test(long_codes_do_not_overflow),
              ikt_test(nothing_to_do))
