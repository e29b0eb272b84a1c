/* What an iteration draws of the whole kernel: every partitioning once an epoch, blocks without
 * single rows, and numbers that are known from elsewhere. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "affinity/whole.h"
#include "base/rng.h"
#include "objective/whole_draw.h"

enum { T_MOST = 200 };

/* Counts how often each partitioning is drawn in some iterations. */
static void count_draws(const ikt_whole_sampling *s, int64_t from, int64_t to, int *seen) {
    int32_t order[T_MOST];
    memset(seen, 0, T_MOST * sizeof *seen);
    for (int64_t i = from; i < to; i++) {
        int64_t count;
        const int32_t *drawn = ikt_whole_draw(s, i, order, &count);
        assert_true(count >= 1 && count <= (i < s->last_from ? s->usual : s->last));
        for (int64_t e = 0; e < count; e++)
            seen[drawn[e]]++;
    }
}

static void an_epoch_deals_out_all_partitionings(void **state) {
    (void)state;
    const int64_t t[] = {1, 2, 7, 64, 200};
    int seen[T_MOST];
    for (int k = 0; k < 5; k++)
        for (int64_t usual = 1; usual <= t[k]; usual += 1 + usual / 3) {
            const ikt_whole_sampling s = {3, t[k], usual, t[k], 1 << 20, 32, 0, 0, 0};
            const int64_t steps = (t[k] + usual - 1) / usual;
            for (int64_t epoch = 0; epoch < 3; epoch++) {
                count_draws(&s, epoch * steps, (epoch + 1) * steps, seen);
                for (int64_t p = 0; p < T_MOST; p++)
                    assert_int_equal(seen[p], p < t[k]);
            }
        }
}

static void draws_of_an_epoch_differ_in_size_by_one_at_most(void **state) {
    (void)state;
    const ikt_whole_sampling s = {3, 10, 4, 10, 1 << 20, 32, 0, 0, 0};
    int32_t order[10];
    int64_t count[3];
    for (int64_t i = 0; i < 3; i++)
        ikt_whole_draw(&s, i, order, &count[i]);
    assert_int_equal(count[0], 3);
    assert_int_equal(count[1], 3);
    assert_int_equal(count[2], 4);
}

/* The last iterations begin epochs of their own, with other permutations. */
static void the_last_iterations_take_more(void **state) {
    (void)state;
    const ikt_whole_sampling s = {3, 200, 4, 50, 7, 32, 0, 0, 0};
    int32_t order[T_MOST], first[T_MOST], last[T_MOST];
    int seen[T_MOST];
    int64_t count;
    ikt_whole_draw(&s, 6, order, &count);
    assert_int_equal(count, 4);
    ikt_whole_draw(&s, 7, order, &count);
    assert_int_equal(count, 50);
    count_draws(&s, 7, 11, seen);
    for (int p = 0; p < T_MOST; p++)
        assert_int_equal(seen[p], 1);
    ikt_whole_draw(&s, 0, first, &count);
    ikt_whole_draw(&s, 7, last, &count);
    assert_memory_not_equal(first, last, sizeof first);
    ikt_whole_draw(&s, 11, last, &count); /* another epoch */
    ikt_whole_draw(&s, 7, first, &count);
    assert_memory_not_equal(first, last, sizeof first);
}

static void steps_are_constant_and_then_fall(void **state) {
    (void)state;
    const ikt_whole_sampling s = {.iterations = 1000, .step = 3, .noise = 1};
    assert_true(ikt_whole_step(&s, 0) == 3 && ikt_whole_step(&s, 600) == 3);
    assert_true(fabs(ikt_whole_step(&s, 800) - (3 + 0.05) / 2) < 1e-12);
    assert_true(fabs(ikt_whole_step(&s, 1000) - 0.05) < 1e-12);
    assert_true(fabs(ikt_whole_step(&s, 1001) - 0.05) < 1e-12); /* a run that goes on */
    for (int64_t i = 600; i < 1000; i++)
        assert_true(ikt_whole_step(&s, i + 1) < ikt_whole_step(&s, i));
}

static void steps_end_the_longer_the_less_noise_there_is(void **state) {
    (void)state;
    ikt_whole_sampling s = {.iterations = 1000, .step = 3, .noise = 0.25};
    assert_true(fabs(ikt_whole_step(&s, 1000) - 0.2) < 1e-12);
    s.noise = 0;
    assert_true(fabs(ikt_whole_step(&s, 1000) - 1) < 1e-12);
    s.step = 1;
    assert_true(ikt_whole_step(&s, 800) == 1 && ikt_whole_step(&s, 1000) == 1);
    s.step = 0.5; /* as asked for */
    assert_true(ikt_whole_step(&s, 1000) == 0.5);
}

static void few_rows_are_not_sampled(void **state) {
    static const struct {
        int64_t n, t, partitionings, block, last;
    } known[] = {{1, 200, 200, 335544, 200}, {1000, 200, 200, 335, 200}, {5242, 200, 200, 64, 200},
                 {5243, 200, 8, 32, 16},     {1000000, 200, 8, 32, 16},  {1000000, 5, 5, 32, 5},
                 {1000000, 12, 8, 32, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ikt_whole_settings s = {IKT_AUTO_INT, IKT_AUTO_INT, IKT_AUTO_INT, IKT_AUTO_INT, 1};
        assert_int_equal(ikt_whole_resolve(NULL, &s, known[i].n, known[i].t, 750), IKT_OK);
        assert_int_equal(s.partitionings, known[i].partitionings);
        assert_int_equal(s.block, known[i].block);
        assert_int_equal(s.last_iterations, 50);
        assert_int_equal(s.last_partitionings, known[i].last);
    }
}

static void noise_is_that_of_partitionings_and_blocks(void **state) {
    (void)state;
    ikt_whole_settings s = {.partitionings = 200, .block = 32};
    assert_true(ikt_whole_noise(&s, 200, 31) == 0); /* no cell is cut */
    assert_true(fabs(ikt_whole_noise(&s, 200, 62) - 0.04) < 1e-12);
    s.partitionings = 8;
    assert_true(fabs(ikt_whole_noise(&s, 200, 5) - 0.96) < 1e-12);
    assert_true(fabs(ikt_whole_noise(&s, 200, 93) - 2.96) < 1e-12);
    assert_true(ikt_whole_step_auto(2500, 10000, 0.96) == 12 &&
                ikt_whole_step_auto(2, 100, 1) == 1);
    assert_true(fabs(ikt_whole_step_auto(250, 4096, 0.1) - 2) < 1e-12);
    assert_true(ikt_whole_step_auto(2500, 10000, 0.04) == 1);
}

static void blocks_cover_a_cell_and_none_is_a_single_row(void **state) {
    (void)state;
    for (int64_t block = 2; block < 40; block++)
        for (int64_t rows = 1; rows < 300; rows++) {
            const int64_t blocks = ikt_whole_blocks(rows, block);
            int64_t least = rows, most = 0;
            assert_int_equal(ikt_whole_block_first(rows, blocks, 0), 0);
            assert_int_equal(ikt_whole_block_first(rows, blocks, blocks), rows);
            for (int64_t b = 0; b < blocks; b++) {
                const int64_t size = ikt_whole_block_first(rows, blocks, b + 1) -
                                     ikt_whole_block_first(rows, blocks, b);
                least = size < least ? size : least;
                most = size > most ? size : most;
            }
            assert_true(most - least <= 1);
            assert_true(least >= 2 || rows == 1);
            assert_true(most <= (block > 3 ? block : 3));
            assert_true(rows > block || blocks == 1);
        }
}

/* A row of a cell meets each other row as often as any, weighed by the scales. */
static void scales_make_up_for_the_pairs_left_out(void **state) {
    (void)state;
    for (int64_t rows = 2; rows < 90; rows++) {
        const int64_t blocks = ikt_whole_blocks(rows, 7);
        double met = 0; /* ordered pairs, each counted by its scale */
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t size =
                ikt_whole_block_first(rows, blocks, b + 1) - ikt_whole_block_first(rows, blocks, b);
            met += (double)(size * (size - 1)) * (double)ikt_whole_block_scale(rows, size);
        }
        assert_true(fabs(met - (double)(rows * (rows - 1))) < 1e-5 * met);
    }
    assert_true(ikt_whole_block_scale(1, 1) == 0);
}

/* Every order of four rows is as frequent as any other; keys of cells and iterations differ. */
static void a_shuffle_is_uniform(void **state) {
    (void)state;
    const ikt_whole_sampling s = {3, 9, 4, 9, 1 << 20, 32, 0, 0, 0};
    enum { TIMES = 24000 };
    int seen[256] = {0};
    for (int64_t i = 0; i < TIMES; i++) {
        uint32_t row[4] = {0, 1, 2, 3};
        ikt_whole_shuffle(&s, i / 100, i % 10, i / 10 % 10, row, 4);
        seen[row[0] * 64 + row[1] * 16 + row[2] * 4 + row[3]]++;
    }
    double chi = 0;
    int orders = 0;
    for (int e = 0; e < 256; e++)
        if (seen[e] > 0) {
            chi += pow(seen[e] - TIMES / 24.0, 2) / (TIMES / 24.0);
            orders++;
        }
    assert_int_equal(orders, 24);
    assert_true(chi < 60); /* 23 degrees of freedom */
}

/* The first numbers of SplitMix64 from the state 1234567, as published with its code. */
static void the_mixer_is_splitmix64(void **state) {
    (void)state;
    static const uint64_t known[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                     UINT64_C(16408922859458223821)};
    for (uint64_t e = 0; e < 5; e++)
        assert_true(ikt_rng_mix(1234567, e) == known[e]);
}

/* All instruction sets against plain double, and against each other's bits. */
static void a_block_is_the_sum_of_its_pairs(void **state) {
    enum { ROWS = 400 };
    static float at[3][ROWS], share[ROWS], force[2][3][ROWS];
    (void)state;
    for (int rows = 1; rows < ROWS; rows += 1 + rows / 2)
        for (int q = 1; q <= 3; q++)
            for (int d = 0; d < 4; d++) {
                const double degrees[] = {1, INFINITY, 0.5, 20};
                memset(at, 0, sizeof at);
                memset(share, 0, sizeof share);
                for (int i = 0; i < rows; i++) {
                    share[i] = (float)ikt_rng_uniform(4, IKT_RNG_TEST, i, 9);
                    for (int c = 0; c < q; c++)
                        at[c][i] = (float)ikt_rng_normal(4, IKT_RNG_TEST, i, (uint64_t)c);
                }
                for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++) {
                    ikt_whole_block b = {
                        .rows = rows, .q = q, .kernel = ikt_kernel_of_degrees(degrees[d])};
                    b.share = share;
                    for (int c = 0; c < q; c++) {
                        b.at[c] = at[c];
                        b.force[c] = force[isa > 0][c];
                    }
                    ikt_whole_block_sum((ikt_isa)isa, &b);
                    for (int c = 0; isa > 0 && c < q; c++)
                        assert_memory_equal(force[0][c], force[1][c], (size_t)rows * sizeof(float));
                }
                for (int i = 0; i < rows; i++) {
                    double sum[3] = {0}, size = 0;
                    for (int j = 0; j < rows; j++) {
                        double r2 = 0, weight = (double)share[i] + (double)share[j];
                        for (int c = 0; c < q; c++)
                            r2 += pow((double)at[c][i] - (double)at[c][j], 2);
                        weight /= 1 + r2 / degrees[d];
                        for (int c = 0; c < q; c++)
                            sum[c] += weight * ((double)at[c][i] - (double)at[c][j]);
                        size += weight * sqrt(r2);
                    }
                    for (int c = 0; c < q; c++)
                        assert_true(fabs((double)force[0][c][i] - sum[c]) <= 1e-6 * size);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_deals_out_all_partitionings),
        cmocka_unit_test(draws_of_an_epoch_differ_in_size_by_one_at_most),
        cmocka_unit_test(the_last_iterations_take_more),
        cmocka_unit_test(steps_are_constant_and_then_fall),
        cmocka_unit_test(steps_end_the_longer_the_less_noise_there_is),
        cmocka_unit_test(few_rows_are_not_sampled),
        cmocka_unit_test(noise_is_that_of_partitionings_and_blocks),
        cmocka_unit_test(blocks_cover_a_cell_and_none_is_a_single_row),
        cmocka_unit_test(scales_make_up_for_the_pairs_left_out),
        cmocka_unit_test(a_shuffle_is_uniform),
        cmocka_unit_test(the_mixer_is_splitmix64),
        cmocka_unit_test(a_block_is_the_sum_of_its_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
