/* Search among near cells: exact when it may look at everything, the same on any ranks and threads
 * when it may not, and honest about what it misses. */
#include "support/search_setting.h"

#include <math.h>

#include "base/comm.h"
#include "metric/metric.h"
#include "support/neighbour_lists.h"

static uint64_t hash_of_search(ikt_context *ctx, kind what, int64_t n, bool codes,
                               int64_t candidates) {
    setting s;
    ikt_neighbours lists;
    int64_t k = n - 1 < K ? n - 1 : K;
    prepare(ctx, what, n, codes, &s);
    assert_int_equal(search_lists(ctx, &s.cells, &s.tiles, k, candidates, &lists), IKT_OK);
    ikt_neighbours_sort(ctx, &lists);
    uint64_t hash = hash_lists(ctx, &lists, s.distribution.first);
    ikt_neighbours_destroy(&lists);
    clear(&s);
    return hash;
}

static const int64_t sizes[] = {3, 40, 900};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void results_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int s = 0; s < SIZES; s++)
        for (int which = 0; which < 4; which++) {
            kind what = which / 2 ? DUPLICATES : SPREAD;
            ikt_context_set_threads(ctx, 1 + which % 2);
            uint64_t one = hash_of_search(alone, what, sizes[s], which % 2, 60);
            assert_true(hash_of_search(ctx, what, sizes[s], which % 2, 60) == one);
        }
    ikt_context_destroy(&alone);
}

/* The reference: scores of own row i against all slots, by (score, slot). */
static void check_row(const setting *s, const ikt_neighbours *lists, int64_t i,
                      const float *score) {
    for (int64_t e = 0; e < K; e++) {
        int64_t before = 0, at = lists->row[i * K + e], own = s->distribution.first + i;
        for (int64_t j = 0; j < s->distribution.n; j++)
            before += j != own && (score[j] < score[at] || (score[j] == score[at] && j < at));
        assert_true(lists->score[i * K + e] == score[at]);
        assert_int_equal(before, e);
    }
}

/* With all rows as candidates the search is exact. */
static void enough_candidates_find_the_truth(void **state) {
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int which = 0; which < 2; which++) {
        enum { N = 400 };
        static float all[(N + 16) * (N + 16)];
        setting s;
        ikt_neighbours lists;
        prepare(alone, which ? DUPLICATES : SPREAD, N, true, &s);
        assert_int_equal(search_lists(alone, &s.cells, &s.tiles, K, N, &lists), IKT_OK);
        ikt_neighbours_sort(alone, &lists);
        ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.distribution);
        scorer.score(&scorer, s.codes.code, N, s.codes.code, N, all);
        for (int64_t i = 0; i < N; i++)
            check_row(&s, &lists, i, all + i * ikt_score_stride(N));
        ikt_neighbours_destroy(&lists);
        clear(&s);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

enum { SEVERAL_BLOCKS = 1100 }; /* rows that one rank scores in two blocks (recall.c) */

static ikt_recall recall_of(ikt_context *ctx, bool codes, int64_t candidates) {
    setting s;
    ikt_neighbours lists;
    ikt_recall recall;
    prepare(ctx, SPREAD, SEVERAL_BLOCKS, codes, &s);
    assert_int_equal(search_lists(ctx, &s.cells, &s.tiles, K, candidates, &lists), IKT_OK);
    assert_int_equal(ikt_recall_measure(ctx, &s.tiles, &lists, 1, 200, &recall), IKT_OK);
    ikt_neighbours_destroy(&lists);
    clear(&s);
    return recall;
}

static void recall_is_one_for_exact_lists_and_less_for_poor_ones(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int codes = 0; codes < 2; codes++) {
        ikt_recall exact = recall_of(ctx, codes, SEVERAL_BLOCKS),
                   poor = recall_of(ctx, codes, K + 1);
        ikt_recall same = recall_of(alone, codes, K + 1);
        assert_int_equal(exact.sample, 200);
        assert_true(exact.found == 1 && exact.similarity == 1);
        assert_true(poor.found < 0.9 && poor.found > 0.05);
        assert_true(poor.similarity < 1 && poor.similarity > poor.found);
        assert_true(poor.found == same.found && poor.similarity == same.similarity);
    }
    ikt_context_destroy(&alone);
}

/* Cells found from the top of the pyramid: on any ranks the same, and mostly the nearest. */
static void cells_are_found_without_codes(void **state) {
    enum { N = 3000, COUNT = 700 }; /* three levels */
    ikt_context *ctx = *state;
    setting s;
    int64_t centre[COUNT], right = 0;
    ikt_cells cells;
    open_data(ctx, SPREAD, N, &s);
    for (int64_t c = 0; c < COUNT; c++)
        centre[c] = 4 * c + 1;
    assert_int_equal(ikt_alloc(ctx, &s.slot, s.distribution.count, 4, "test"), IKT_OK);
    assert_int_equal(
        ikt_cells_create(ctx, s.data, centre, COUNT, &s.distribution, NULL, NULL, &cells, s.slot),
        IKT_OK);
    assert_int_equal(cells.first[COUNT], N);
    for (int64_t i = 0; i < s.distribution.count; i++) {
        int64_t row = s.distribution.first + i, cell = ikt_cells_find(&cells, s.slot[i]);
        double own = ikt_metric_euclidean.exact(s.rows + row * D, cells.centre + cell * D, D),
               least = own;
        for (int64_t c = 0; c < COUNT; c++)
            least =
                fmin(least, ikt_metric_euclidean.exact(s.rows + row * D, cells.centre + c * D, D));
        right += own <= least * (1 + 1e-5);
    }
    right = ikt_sum_one(ctx, right);
    assert_true(right > 9 * N / 10);
    ikt_cells_destroy(&cells);
    clear(&s);
}

/* Slots are a permutation, cells are contiguous and hold what belongs to them. */
static void cells_hold_their_rows(void **state) {
    ikt_context *ctx = *state;
    setting s;
    prepare(ctx, SPREAD, 900, true, &s);
    assert_int_equal(s.cells.first[0], 0);
    assert_int_equal(s.cells.first[s.cells.count], 900);
    for (int64_t i = 0; i < s.distribution.count; i++) {
        const float *centre = s.cells.centre + ikt_cells_find(&s.cells, s.slot[i]) * D;
        const float *row = s.rows + (s.distribution.first + i) * D;
        float own = 0, least = INFINITY;
        for (int64_t c = 0; c < s.cells.count; c++) {
            float sum = 0;
            for (int64_t j = 0; j < D; j++) {
                float gap = row[j] - s.cells.centre[c * D + j];
                sum = fmaf(gap, gap, sum);
            }
            if (s.cells.centre + c * D == centre) own = sum;
            least = fminf(least, sum);
        }
        assert_true(own == least);
    }
    clear(&s);
}

IKT_MPI_TESTS(ikt_test(results_do_not_depend_on_ranks_and_threads),
              ikt_test(enough_candidates_find_the_truth),
              ikt_test(recall_is_one_for_exact_lists_and_less_for_poor_ones),
              ikt_test(cells_hold_their_rows), ikt_test(cells_are_found_without_codes))
