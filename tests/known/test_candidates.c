/* What a row is compared with in approximate search, against the rule written plainly: whole cells
 * from the nearest centre on, until there are enough rows; of the last cell the first rows; and of
 * an own cell that is larger than that, the part around the row's stretch of 256. A row is never
 * its own neighbour. */
#include "support/search_setting.h"

#include <math.h>

#include "neighbours/scorers.h"

enum { N = 1200, STRETCH = 256 };

static float all_scores[N * (N + 16)];

/* Squared distance of two centres. */
static double apart(const ikt_cells *cells, int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t c = 0; c < D; c++) {
        const double gap = (double)cells->centre[a * D + c] - (double)cells->centre[b * D + c];
        sum += gap * gap;
    }
    return sum;
}

/* Marks the slots that the row in `slot` is compared with. */
static void mark_candidates(const ikt_cells *cells, int64_t slot, int64_t enough, bool *marked) {
    static bool is_used[N];
    int64_t own = 0, left = enough;
    memset(is_used, 0, sizeof is_used);
    memset(marked, 0, N * sizeof *marked);
    while (cells->first[own + 1] <= slot)
        own++;
    while (left > 0) {
        int64_t near = -1;
        for (int64_t c = 0; c < cells->count; c++)
            if (!is_used[c] && cells->first[c + 1] > cells->first[c] &&
                (near < 0 || apart(cells, own, c) < apart(cells, own, near)))
                near = c;
        if (near < 0) break;
        is_used[near] = true;
        int64_t from = cells->first[near];
        const int64_t size = cells->first[near + 1] - from, taken = size < left ? size : left;
        if (near == own && size > left) {
            const int64_t stretch = from + (slot - from) / STRETCH * STRETCH;
            const int64_t wanted = stretch - left / 2, last = from + size - left;
            from = wanted < from ? from : wanted > last ? last : wanted;
        }
        for (int64_t at = from; at < from + taken; at++)
            marked[at] = true;
        left -= taken;
    }
}

static void check_row(const ikt_neighbours *lists, int64_t slot, const bool *marked) {
    const float *score = all_scores + slot * ikt_score_stride(N);
    for (int64_t e = 0; e < K; e++) {
        const int64_t at = lists->row[slot * K + e];
        int64_t before = 0;
        assert_true(at != slot);
        assert_true(marked[at]);
        for (int64_t j = 0; j < N; j++)
            before += marked[j] && j != slot &&
                      (score[j] < score[at] || (score[j] == score[at] && j < at));
        assert_int_equal(before, e);
        assert_true(lists->score[slot * K + e] == score[at]);
    }
}

static void check_search(ikt_context *alone, kind what, int64_t candidates) {
    static bool marked[N];
    setting s;
    ikt_neighbours lists;
    prepare(alone, what, N, true, &s);
    ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.distribution);
    scorer.score(scorer.self, 0, N, s.codes.code, N, all_scores);
    assert_int_equal(ikt_neighbours_search(alone, &s.cells, &s.tiles, K, candidates, &lists),
                     IKT_OK);
    ikt_neighbours_sort(alone, &lists);
    for (int64_t slot = 0; slot < N; slot++) {
        mark_candidates(&s.cells, slot, candidates, marked);
        check_row(&lists, slot, marked);
    }
    ikt_neighbours_destroy(&lists);
    clear(&s);
}

/* In DUPLICATES half of the rows are in one cell, of three stretches. */
static void rows_are_compared_with_near_cells(void **state) {
    static const int64_t candidates[] = {10, 77, 300, N};
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (size_t c = 0; c < sizeof candidates / sizeof *candidates; c++) {
        check_search(alone, SPREAD, candidates[c]);
        check_search(alone, DUPLICATES, candidates[c]);
    }
    ikt_context_destroy(&alone);
}

/* Among all pairs neither, be there as many equal rows as there may. */
static void no_row_is_its_own_neighbour(void **state) {
    ikt_context *ctx = *state;
    for (int codes = 0; codes < 2; codes++) {
        setting s;
        ikt_neighbours lists;
        float *x = NULL;
        ikt_scorer scorer;
        prepare(ctx, DUPLICATES, 150, true, &s);
        assert_int_equal(ikt_alloc(ctx, &x, s.distribution.count * D, sizeof *x, "test"), IKT_OK);
        memcpy(x, s.rows + s.distribution.first * D,
               (size_t)(s.distribution.count * D) * sizeof *x);
        if (codes)
            scorer = ikt_scorer_codes(&s.codes, &s.distribution);
        else
            assert_int_equal(ikt_scorer_rows(ctx, x, D, &s.distribution, &scorer), IKT_OK);
        assert_int_equal(ikt_neighbours_brute(ctx, &scorer, K, &lists), IKT_OK);
        for (int64_t i = 0; i < s.distribution.count; i++)
            for (int64_t e = i * K; e < (i + 1) * K; e++)
                assert_true(lists.row[e] != s.distribution.first + i && lists.row[e] < 150);
        ikt_neighbours_destroy(&lists);
        if (!codes) ikt_scorer_euclidean_destroy(&scorer);
        ikt_free(&x);
        clear(&s);
    }
}

IKT_MPI_TESTS(ikt_test(rows_are_compared_with_near_cells), ikt_test(no_row_is_its_own_neighbour))
