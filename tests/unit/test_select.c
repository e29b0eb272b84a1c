/* The k least of many values, and numbers in order, against sorting them all. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/select.h"

enum { COUNT = 5000, ROOM = COUNT + 16 };

static float float_at(int64_t e) {
    return (float)(40 * ikt_rng_normal(3, IKT_RNG_TEST, e, 0)); /* of both signs */
}

static int32_t int_at(int64_t e) {
    return (int32_t)ikt_rng_below(3, IKT_RNG_TEST, e, 1, 60) - 30; /* many ties */
}

static int by_number(const void *a, const void *b) {
    ikt_pair x = *(const ikt_pair *)a, y = *(const ikt_pair *)b;
    return (x > y) - (x < y);
}

static const ikt_isa isas[] = {IKT_ISA_PORTABLE, IKT_ISA_AVX2, IKT_ISA_AVX512};

static bool is_usable(ikt_isa isa) {
    return isa <= ikt_cpu_isa();
}

/* Offers the values in uneven pieces: those of odd rank first, then the others from the last on. */
static void offer(ikt_select *s, bool floats, int64_t except, const void *value) {
    int64_t begin[COUNT + 1], pieces = 0;
    for (int64_t at = 0, piece = 1; at < COUNT; at += piece, piece = piece * 3 % 1001 + 1)
        begin[pieces++] = at;
    begin[pieces] = COUNT;
    for (int64_t turn = 0; turn < 2 * pieces; turn++) {
        const int64_t p = turn < pieces ? turn : 2 * pieces - 1 - turn, at = begin[p];
        if (p % 2 == (turn < pieces ? 0 : 1)) continue;
        if (floats)
            ikt_select_floats(s, except, at, begin[p + 1] - at, (const float *)value + at);
        else
            ikt_select_ints(s, at, begin[p + 1] - at, (const int32_t *)value + at);
    }
}

static void check(bool floats, int64_t except, int64_t k, ikt_isa isa) {
    static float f[ROOM];
    static int32_t i32[ROOM];
    static ikt_pair all[COUNT], buffer[IKT_SELECT_CAPACITY * COUNT];
    int64_t count = 0;
    ikt_select s;
    for (int64_t e = 0; e < COUNT; e++) {
        f[e] = float_at(e);
        i32[e] = int_at(e);
        if (e != except) all[count++] = ikt_pair_make(floats ? f[e] : (float)i32[e], (uint32_t)e);
    }
    qsort(all, (size_t)count, sizeof *all, by_number);
    ikt_select_begin(&s, isa, k, buffer);
    offer(&s, floats, except, floats ? (void *)f : (void *)i32);
    ikt_select_end(&s);
    assert_int_equal(s.count, k < count ? k : count);
    ikt_pairs_sort(s.pair, s.count);
    for (int64_t e = 0; e < s.count; e++)
        assert_int_equal(ikt_pair_number(s.pair[e]), ikt_pair_number(all[e]));
}

static void the_k_least_are_kept_with_ties_by_number(void **state) {
    (void)state;
    const int64_t lengths[] = {1, 2, 7, 30, 90, 600, COUNT};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!is_usable(isas[i])) continue;
            check(true, 5, lengths[l], isas[i]); /* the first of a piece, and the last */
            check(true, 17, lengths[l], isas[i]);
            check(false, -1, lengths[l], isas[i]);
        }
}

static void pairs_give_their_parts_back_in_order(void **state) {
    (void)state;
    const float values[] = {-INFINITY, -3.5f, -1e-40f, -0.0f, 0.0f, 1e-40f, 2, 1e30f, INFINITY};
    for (size_t e = 0; e < sizeof values / sizeof *values; e++) {
        ikt_pair pair = ikt_pair_make(values[e], 77);
        float back = ikt_pair_value(pair);
        assert_memory_equal(&back, &values[e], sizeof back);
        assert_int_equal(ikt_pair_number(pair), 77);
        if (e > 0) assert_true(ikt_pair_make(values[e - 1], UINT32_MAX) < pair + 77);
    }
}

/* After tightening, all that is not above the limit is still there, and nothing else. */
static void check_tightened(ikt_isa isa) {
    static float f[ROOM];
    static ikt_pair buffer[IKT_SELECT_CAPACITY * 200];
    ikt_select s;
    for (int64_t e = 0; e < COUNT; e++)
        f[e] = float_at(e);
    ikt_select_begin(&s, isa, 200, buffer);
    ikt_select_floats(&s, -1, 0, COUNT / 4, f);
    ikt_select_tighten(&s, 20);
    ikt_select_floats(&s, -1, COUNT / 4, COUNT - COUNT / 4, f + COUNT / 4);
    ikt_select_end(&s);
    int64_t below = 0;
    for (int64_t e = 0; e < COUNT; e++)
        below += ikt_pair_make(f[e], (uint32_t)e) <= s.limit;
    assert_int_equal(s.count, below);
    assert_in_range(s.count, 20, 200);
}

static void a_tightened_selection_is_complete_below_its_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (is_usable(isas[i])) check_tightened(isas[i]);
}

/* Where all that is offered is kept, the buffer need only hold it and IKT_SELECT_BEYOND pairs more:
 * what stands behind these is not touched, and every pair is there. */
static void a_buffer_of_what_is_offered_is_enough(void **state) {
    (void)state;
    enum { MOST = 70, BEHIND = 8 };
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (int64_t count = 1; count <= MOST && is_usable(isas[i]); count++) {
            ikt_pair buffer[MOST + IKT_SELECT_BEYOND + BEHIND];
            float value[MOST + 16];
            ikt_select s;
            for (int64_t e = 0; e < MOST + 16; e++)
                value[e] = float_at(e);
            memset(buffer, 0x5A, sizeof buffer);
            ikt_select_begin(&s, isas[i], count, buffer);
            ikt_select_floats(&s, -1, 0, count, value);
            for (int64_t e = count + IKT_SELECT_BEYOND; e < MOST + IKT_SELECT_BEYOND + BEHIND; e++)
                assert_true(buffer[e] == 0x5A5A5A5A5A5A5A5A);
            ikt_select_end(&s);
            assert_int_equal(s.count, count);
        }
}

/* Brings the k least of 0 .. count - 1, in one of four orders, to the front. */
static void check_part(ikt_isa isa, int64_t count, int64_t k, int order) {
    enum { PAIRS = 700 };
    ikt_pair pair[PAIRS];
    bool seen[PAIRS] = {false};
    const int64_t least = k < count ? k : count;
    for (int64_t e = 0; e < count; e++)
        pair[e] = (ikt_pair)(order == 0   ? e
                             : order == 1 ? count - 1 - e
                             : order == 2 ? (e * 389 + 7) % count
                                          : (e + count / 2) % count);
    ikt_pairs_part(isa, pair, count, k);
    for (int64_t e = 0; e < count; e++) {
        assert_true(pair[e] < (ikt_pair)count && !seen[pair[e]]);
        seen[pair[e]] = true;
        assert_int_equal(pair[e] < (ikt_pair)least, e < least);
    }
}

/* Whatever k and however the pairs are ordered before, the k least come first. */
static void the_least_pairs_come_first(void **state) {
    (void)state;
    static const int64_t counts[] = {1, 2, 3, 8, 14, 15, 16, 17, 23, 24, 31, 40, 64, 699, 700};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts && is_usable(isas[i]); c++)
            for (int64_t k = 0; k <= counts[c] + 1; k += k / 8 + 1)
                for (int order = 0; order < 4; order++)
                    check_part(isas[i], counts[c], k, order);
}

static int by_value(const void *a, const void *b) {
    return IKT_COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

static void numbers_are_dealt_in_order(void **state) {
    (void)state;
    enum { NUMBERS = 20000 };
    static const int64_t ends[] = {1, 2, 2048, 2049, 1 << 22, INT64_C(1) << 40};
    static const int64_t counts[] = {0, 1, 100, 4096, 4097, NUMBERS};
    static int64_t number[NUMBERS], sorted[NUMBERS], scratch[NUMBERS];
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int64_t i = 0; i < counts[c]; i++)
                sorted[i] = number[i] = ikt_rng_below(5, IKT_RNG_TEST, i, e, ends[e]);
            qsort(sorted, (size_t)counts[c], sizeof *sorted, by_value);
            ikt_sort_below(number, counts[c], ends[e], scratch);
            assert_memory_equal(number, sorted, (size_t)counts[c] * sizeof *sorted);
        }
}

/* Each number once, groups ascending, numbers ascending within a group; empty groups are there. */
static void numbers_are_ordered_by_group(void **state) {
    (void)state;
    enum { NUMBERS = 1000, GROUPS = 37 };
    uint32_t group[NUMBERS], order[NUMBERS];
    int64_t first[GROUPS + 1];
    for (int64_t i = 0; i < NUMBERS; i++)
        group[i] = (uint32_t)(2 * ikt_rng_below(6, IKT_RNG_TEST, i, 0, GROUPS / 2));
    ikt_order_by_group(group, NUMBERS, GROUPS, first, order);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[GROUPS], NUMBERS);
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t at = first[g]; at < first[g + 1]; at++) {
            assert_int_equal(group[order[at]], g);
            if (at > first[g]) assert_true(order[at] > order[at - 1]);
        }
}

static int by_upper_half(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x >> 32 == y >> 32 ? IKT_COMPARE((uint32_t)x, (uint32_t)y) : IKT_COMPARE(x, y);
}

/* Lower halves are the places that the numbers had: equal upper halves keep that order. */
static void numbers_are_sorted_by_their_upper_halves(void **state) {
    (void)state;
    enum { NUMBERS = 700 };
    static const int64_t ends[] = {1, 2, 200, 300, 70000, 1 << 25, INT64_C(1) << 32};
    static const int64_t counts[] = {0, 1, 2, 30, 90, NUMBERS};
    static uint64_t pair[NUMBERS], sorted[NUMBERS], work[NUMBERS];
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
                for (int64_t i = 0; i < counts[c]; i++)
                    pair[i] = sorted[i] =
                        (uint64_t)ikt_rng_below(7, IKT_RNG_TEST, i, e, ends[e]) << 32 | (uint64_t)i;
                qsort(sorted, (size_t)counts[c], sizeof *sorted, by_upper_half);
                if (is_sorted) memcpy(pair, sorted, sizeof pair);
                ikt_pairs_sort_by_upper(pair, work, counts[c]);
                assert_memory_equal(pair, sorted, (size_t)counts[c] * sizeof *sorted);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_k_least_are_kept_with_ties_by_number),
        cmocka_unit_test(pairs_give_their_parts_back_in_order),
        cmocka_unit_test(a_tightened_selection_is_complete_below_its_limit),
        cmocka_unit_test(a_buffer_of_what_is_offered_is_enough),
        cmocka_unit_test(the_least_pairs_come_first),
        cmocka_unit_test(numbers_are_dealt_in_order),
        cmocka_unit_test(numbers_are_ordered_by_group),
        cmocka_unit_test(numbers_are_sorted_by_their_upper_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
