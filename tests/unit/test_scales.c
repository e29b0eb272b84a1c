/* The scale of distances at a row, whose squares are known. */
#include "support/ikt_test.h"

#include "sampled/triplet.h"

/* Rows at distance 0 do not count; the mean is of the third to the fifth of the others. */
static void a_scale_is_the_mean_distance_to_some_rows(void **state) {
    static const float square[] = {0, 0, 1, 4, 9, 16, 36, 400};
    (void)state;
    assert_true(ikt_scale_of(square, 8, 3, 5) == (3.0 + 4 + 6) / 3);
    assert_true(ikt_scale_of(square, 6, 3, 5) == 3.5); /* of those that there are */
    assert_true(ikt_scale_of(square, 5, 3, 5) == 3);
    assert_true(ikt_scale_of(square, 8, 1, 1) == 1);
}

/* A row with fewer others than that has the distance of the last one; one with none has no scale.
 */
static void a_row_with_few_others_has_the_distance_of_the_last(void **state) {
    static const float square[] = {0, 0, 1, 4};
    (void)state;
    assert_true(ikt_scale_of(square, 4, 3, 5) == 2);
    assert_true(ikt_scale_of(square, 3, 3, 5) == 1);
    assert_true(ikt_scale_of(square, 2, 3, 5) == 0);
    assert_true(ikt_scale_of(square, 0, 3, 5) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scale_is_the_mean_distance_to_some_rows),
        cmocka_unit_test(a_row_with_few_others_has_the_distance_of_the_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
