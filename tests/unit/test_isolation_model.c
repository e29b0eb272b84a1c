/* Settings and the draw of the model. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "isolation/model.h"
#include "isolation/settings.h"
#include "support/model_rows.h"

static int64_t resolved(ikt_context *ctx, ikt_psi_rule rule, int64_t psi, int64_t n) {
    const ikt_isolation_settings settings = {
        .psi = psi, .psi_most = IKT_AUTO_INT, .partitionings = 200};
    int64_t value;
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, n, n, rule, &value), IKT_OK);
    return value;
}

static void coarse_psi_is_a_sixteenth_of_the_rows(void **state) {
    static const int64_t known[][2] = {{1, 1},       {2, 2},         {32, 2}, {1250, 64},
                                       {10000, 512}, {70000, 4096},  {64, 4}, {90, 4},
                                       {91, 8},      {8100000, 4096}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(resolved(*state, IKT_PSI_COARSE, IKT_AUTO_INT, known[i][0]), known[i][1]);
    assert_int_equal(resolved(*state, IKT_PSI_COARSE, 77, 100), 77);
    assert_int_equal(resolved(*state, IKT_PSI_COARSE, 100, 100), 100);
}

/* A sixth of up to 1,000 rows. */
static void fine_psi_is_an_eighth_of_the_rows(void **state) {
    static const int64_t known[][2] = {{1, 1},
                                       {2, 2},
                                       {17, 2},
                                       {18, 3},
                                       {600, 100},
                                       {1000, 166},
                                       {3000, 395},
                                       {4999, 624},
                                       {5000, 625},
                                       {70000, 8750},
                                       {1048576, 131072},
                                       {1048584, 131072},
                                       {2097152, 131072},
                                       {2097153, 65536}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(resolved(*state, IKT_PSI_FINE, IKT_AUTO_INT, known[i][0]), known[i][1]);
    assert_int_equal(resolved(*state, IKT_PSI_FINE, 100000, 1000000), 100000);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int64_t least = known[i][1] < 8192 ? known[i][1] : 8192;
        assert_int_equal(resolved(*state, IKT_PSI_INDEXED, IKT_AUTO_INT, known[i][0]), least);
    }
}

/* One row more never makes a jump. */
static void fine_psi_grows_with_the_rows(void **state) {
    int64_t before = 2;
    for (int64_t n = 3; n <= 20001; n++) {
        const int64_t psi = resolved(*state, IKT_PSI_FINE, IKT_AUTO_INT, n);
        assert_in_range(psi, before, before + 1);
        before = psi;
    }
}

static void automatic_psi_has_a_bound(void **state) {
    static const int64_t known[][4] = {{1024, 1024, 1024, 1024},
                                       {1500, 1024, 1500, 1500},
                                       {2, 2, 2, 2},
                                       {65536, 4096, 65536, 65536},
                                       {100000, 4096, 75000, 75000}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const ikt_isolation_settings settings = {.psi = IKT_AUTO_INT, .psi_most = known[i][0]};
        for (int rule = IKT_PSI_COARSE; rule <= IKT_PSI_FINE; rule++) {
            int64_t psi;
            assert_int_equal(ikt_isolation_resolve_psi(*state, &settings, 600000, 600000,
                                                       (ikt_psi_rule)rule, &psi),
                             IKT_OK);
            assert_int_equal(psi, known[i][1 + rule]);
        }
    }
}

/* As many rows as fit a gibibyte; all of them where not even psi do. */
static void the_pool_fits_memory(void **state) {
    static const struct {
        int64_t n, psi, row_bytes, pool;
    } known[] = {{1000000, 65536, 200, 0},       {1000000, 4096, 200, 32768},
                 {8100000, 65536, 784, 524288},  {8100000, 300000, 784, 1369568},
                 {1000000, 65536, 3136, 342392}, {100000, 10000, 200000, 0},
                 {1000000, 65536, 0, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const ikt_isolation_settings settings = {.pool = IKT_AUTO_INT, .partitionings = 200};
        int64_t pool;
        assert_int_equal(ikt_isolation_resolve_pool(*state, &settings, known[i].n, known[i].psi,
                                                    known[i].row_bytes, &pool),
                         IKT_OK);
        assert_int_equal(pool, known[i].pool);
    }
}

static void approximate_search_is_for_many_centres(void **state) {
    ikt_isolation_settings settings = {.candidates = IKT_AUTO_INT};
    (void)state;
    assert_int_equal(ikt_isolation_candidates(&settings, 65536, 50, true), 0);
    assert_int_equal(ikt_isolation_candidates(&settings, 65536, 256, true), 0);
    assert_int_equal(ikt_isolation_candidates(&settings, 65536, 784, false), 0);
    assert_int_equal(ikt_isolation_candidates(&settings, 65537, 256, true), 16384);
    assert_int_equal(ikt_isolation_candidates(&settings, 65537, 257, false), 32768);
    /* As bytes. */
    assert_int_equal(ikt_isolation_candidates(&settings, 65537, 257, true), 16384);
    assert_int_equal(ikt_isolation_candidates(&settings, 16000, 257, true), 16000);
    assert_int_equal(ikt_isolation_candidates(&settings, 8192, 257, true), 0);
    settings.search = IKT_CELLS_EXACT;
    assert_int_equal(ikt_isolation_candidates(&settings, 1000000, 1024, true), 0);
    settings.search = IKT_CELLS_APPROXIMATE;
    assert_int_equal(ikt_isolation_candidates(&settings, 40000, 50, true), 16384);
    assert_int_equal(ikt_isolation_candidates(&settings, 16384, 50, true), 0);
    settings.candidates = 100;
    assert_int_equal(ikt_isolation_candidates(&settings, 10000, 50, true), 100);
}

static void more_centres_than_rows_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_isolation_settings settings = {.psi = 2000, .partitionings = 200};
    int64_t psi;
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, 1250, 1250, IKT_PSI_COARSE, &psi),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "isolation.psi = 2000"));
    assert_non_null(strstr(ikt_message(ctx), "1250"));
    ikt_clear(ctx);
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, 0, 0, IKT_PSI_COARSE, &psi),
                     IKT_ERR_DATA);
}

/* Sharpness follows the rows embedded; what is possible, the rows drawn from. */
static void another_data_set_limits_psi(void **state) {
    ikt_context *ctx = *state;
    ikt_isolation_settings settings = {
        .psi = IKT_AUTO_INT, .psi_most = 4096, .partitionings = 200, .model_from = "other.h5"};
    int64_t psi;
    assert_int_equal(
        ikt_isolation_resolve_psi(ctx, &settings, 10000, 8100000, IKT_PSI_COARSE, &psi), IKT_OK);
    assert_int_equal(psi, 512);
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, 10000, 300, IKT_PSI_COARSE, &psi),
                     IKT_OK);
    assert_int_equal(psi, 300);
    settings.psi = 2048;
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, 1000, 8100000, IKT_PSI_COARSE, &psi),
                     IKT_OK);
    assert_int_equal(psi, 2048);
    assert_int_equal(ikt_isolation_resolve_psi(ctx, &settings, 8100000, 1000, IKT_PSI_COARSE, &psi),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "1000 rows of the data in isolation.model_from"));
}

static ikt_model *draw(ikt_context *ctx, uint64_t seed, int64_t n, int64_t psi, int64_t t) {
    ikt_model *model;
    assert_int_equal(
        ikt_model_create(ctx, &(ikt_model_spec){.seed = seed, .n = n, .psi = psi, .t = t}, &model),
        IKT_OK);
    return model;
}

static void centres_are_distinct_ascending_rows(void **state) {
    static const int64_t shapes[][2] = {{1, 1}, {7, 1}, {7, 6}, {7, 7}, {1000, 999}, {100000, 300}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        ikt_model *model = draw(*state, 5, shapes[s][0], shapes[s][1], 20);
        int64_t *row = model_rows(*state, model);
        for (int64_t i = 0; i < model->t * model->psi; i++) {
            assert_in_range(row[i], 0, model->spec.n - 1);
            if (i % model->psi > 0) assert_true(row[i] > row[i - 1]);
        }
        ikt_free(&row);
        ikt_model_destroy(&model);
        assert_null(model);
    }
}

static void a_longer_model_begins_with_the_shorter(void **state) {
    ikt_model *one = draw(*state, 5, 500, 40, 10), *two = draw(*state, 5, 500, 40, 30);
    ikt_model *other = draw(*state, 6, 500, 40, 10);
    int64_t *short_one = model_rows(*state, one), *long_one = model_rows(*state, two);
    int64_t *others = model_rows(*state, other);
    assert_memory_equal(short_one, long_one, 10 * 40 * sizeof *short_one);
    assert_memory_not_equal(short_one, others, 10 * 40 * sizeof *others);
    assert_memory_not_equal(long_one, long_one + 40, 40 * sizeof *long_one);
    ikt_free(&short_one);
    ikt_free(&long_one);
    ikt_free(&others);
    ikt_model_destroy(&one);
    ikt_model_destroy(&two);
    ikt_model_destroy(&other);
}

/* All 10 subsets of 2 out of 5 rows come up equally often: chi-square with 9 degrees of freedom,
 * whose 99.99 % quantile is 33.7. The draw is fixed by the seed, so this cannot fail by chance. */
static void subsets_are_equally_likely(void **state) {
    enum { DRAWS = 20000 };
    int64_t seen[25] = {0};
    ikt_model *model = draw(*state, 11, 5, 2, DRAWS);
    int64_t *row = model_rows(*state, model);
    for (int64_t p = 0; p < DRAWS; p++)
        seen[row[2 * p] * 5 + row[2 * p + 1]]++;
    double chi = 0, mean = DRAWS / 10.0;
    for (int64_t a = 0; a < 5; a++)
        for (int64_t b = a + 1; b < 5; b++)
            chi += ((double)seen[a * 5 + b] - mean) * ((double)seen[a * 5 + b] - mean) / mean;
    assert_true(chi < 33.7);
    ikt_free(&row);
    ikt_model_destroy(&model);
}

/* Few centres among many rows are sorted, many are marked; with a pool and without, with the coarse
 * centres and without. */
static void distinct_rows_are_listed_once(void **state) {
    static const ikt_model_spec specs[] = {
        {.seed = 5, .n = 60, .psi = 20, .t = 10, .coarse = 7},
        {.seed = 5, .n = 20000, .psi = 3, .t = 9, .coarse = 11},
        {.seed = 5, .n = 20000, .psi = 20, .t = 10, .pool = 70, .coarse = 12},
        {.seed = 5, .n = 2000000, .psi = 3, .t = 9, .pool = 15000, .coarse = 11}};
    enum { FIRST = 2, MOST = 300 };
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (int64_t count = 5; count <= ikt_model_parts(&specs[s]) - FIRST; count++) {
            ikt_model *model;
            ikt_draws draws;
            int64_t *rows = NULL, n_rows, all = 0, wanted[MOST], distinct = 0;
            assert_int_equal(ikt_model_create(*state, &specs[s], &model), IKT_OK);
            assert_int_equal(ikt_draws_create(*state, model, 2, &draws), IKT_OK);
            for (int64_t p = FIRST; p < FIRST + count; p++) {
                const int64_t centres = ikt_model_centres(&specs[s], p);
                assert_int_equal(centres, p < specs[s].t ? specs[s].psi : specs[s].coarse);
                memcpy(wanted + all, ikt_model_draw(model, &draws, (int)(p % 2), p),
                       (size_t)centres * sizeof *wanted);
                all += centres;
            }
            assert_true(all <= MOST);
            ikt_sort_i64(wanted, all);
            for (int64_t e = 0; e < all; e++)
                if (e == 0 || wanted[e] != wanted[e - 1]) wanted[distinct++] = wanted[e];
            assert_int_equal(ikt_model_distinct(*state, model, FIRST, count, &rows, &n_rows),
                             IKT_OK);
            assert_int_equal(n_rows, distinct);
            assert_memory_equal(rows, wanted, (size_t)distinct * sizeof *rows);
            ikt_free(&rows);
            ikt_draws_destroy(&draws);
            ikt_model_destroy(&model);
        }
}

IKT_MPI_TESTS(ikt_test(coarse_psi_is_a_sixteenth_of_the_rows),
              ikt_test(fine_psi_is_an_eighth_of_the_rows), ikt_test(fine_psi_grows_with_the_rows),
              ikt_test(the_pool_fits_memory), ikt_test(approximate_search_is_for_many_centres),
              ikt_test(automatic_psi_has_a_bound), ikt_test(more_centres_than_rows_are_refused),
              ikt_test(another_data_set_limits_psi), ikt_test(centres_are_distinct_ascending_rows),
              ikt_test(a_longer_model_begins_with_the_shorter),
              ikt_test(subsets_are_equally_likely), ikt_test(distinct_rows_are_listed_once))
