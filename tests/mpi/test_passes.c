/* Searches with cells of their own: lists are the best of what all passes find, the same on any
 * ranks and threads; and more is found. */
#include "support/search_setting.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "neighbours/passes.h"
#include "support/neighbour_lists.h"

enum { N = 900, CANDIDATES = 20 };

/* Lists of `passes` passes, by the slots of the order, which is kept. */
static void found(ikt_context *ctx, kind what, int64_t passes, setting *s, ikt_neighbours *lists) {
    open_data(ctx, what, N, s);
    const ikt_pass_rows rows = {s->data, &s->distribution, 7, NULL};
    ikt_list_course course = {.lists = lists};
    assert_int_equal(ikt_pass_order(ctx, &rows, 0, &s->cells, &s->order), IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &s->distribution, K, lists), IKT_OK);
    for (; course.progress.round < passes - 1; ikt_list_course_next(&course))
        assert_int_equal(ikt_pass_search(ctx, &rows, &s->order, CANDIDATES, &s->tiles, &course),
                         IKT_OK);
    assert_int_equal(ikt_tiles_data(ctx, &s->cells, &s->order, s->data, &s->tiles), IKT_OK);
    assert_int_equal(ikt_neighbours_search(ctx, &s->cells, &s->tiles, CANDIDATES, &course), IKT_OK);
    ikt_neighbours_sort(ctx, lists);
}

static void results_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int which = 0; which < 4; which++) {
        uint64_t hash[2];
        ikt_context_set_threads(ctx, 1 + which % 2);
        for (int w = 0; w < 2; w++) {
            setting s;
            ikt_neighbours lists;
            ikt_context *on = w ? ctx : alone;
            found(on, which / 2 ? DUPLICATES : SPREAD, 3, &s, &lists);
            hash[w] = hash_lists(on, &lists, s.distribution.first);
            ikt_neighbours_destroy(&lists);
            clear(&s);
        }
        assert_true(hash[0] == hash[1]);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

/* What one draw of cells finds by itself, as numbers of rows: near[i * N + j] becomes true. */
static void mark(ikt_context *alone, const setting *of, int64_t draw, bool *near) {
    const ikt_pass_rows rows = {of->data, &of->distribution, 7, NULL};
    ikt_cells cells;
    ikt_order order;
    ikt_tiles tiles = {0};
    ikt_neighbours lists;
    assert_int_equal(ikt_pass_order(alone, &rows, draw, &cells, &order), IKT_OK);
    assert_int_equal(ikt_tiles_data(alone, &cells, &order, of->data, &tiles), IKT_OK);
    assert_int_equal(search_lists(alone, &cells, &tiles, K, CANDIDATES, &lists), IKT_OK);
    for (int64_t e = 0; e < N * K; e++)
        near[(int64_t)order.row[e / K] * N + order.row[lists.row[e]]] = true;
    ikt_neighbours_destroy(&lists);
    ikt_tiles_destroy(&tiles);
    ikt_order_destroy(&order);
    ikt_cells_destroy(&cells);
}

static float distance(const setting *s, int64_t i, int64_t j) {
    float sum = 0;
    for (int64_t c = 0; c < D; c++) {
        const float gap = s->rows[i * D + c] - s->rows[j * D + c];
        sum = fmaf(gap, gap, sum);
    }
    return sum;
}

/* Entry e of a list: e rows that some pass has found stand before it, by (distance, slot). */
static void lists_are_the_best_of_all_passes(void **state) {
    static bool near[N * N];
    static uint32_t slot[N];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int what = SPREAD; what <= DUPLICATES; what++) {
        setting s;
        ikt_neighbours lists;
        found(alone, (kind)what, 3, &s, &lists);
        memset(near, 0, sizeof near);
        for (int64_t draw = 0; draw < 3; draw++)
            mark(alone, &s, draw, near);
        assert_int_equal(ikt_order_slots(alone, &s.order, slot), IKT_OK);
        for (int64_t e = 0; e < N * K; e++) {
            const int64_t i = s.order.row[e / K], at = s.order.row[lists.row[e]];
            int64_t before = 0;
            assert_true(near[i * N + at] && lists.score[e] == distance(&s, i, at));
            for (int64_t j = 0; j < N; j++) {
                const float gap = distance(&s, i, j);
                before += near[i * N + j] &&
                          (gap < lists.score[e] || (gap == lists.score[e] && slot[j] < slot[at]));
            }
            assert_int_equal(before, e % K);
        }
        ikt_neighbours_destroy(&lists);
        clear(&s);
    }
    ikt_context_destroy(&alone);
}

/* Equal scores by row, a pair of both lists once, and places that stay empty. */
static void joined_lists_are_in_order(void **state) {
    enum { LENGTH = 5 };
    float score[LENGTH] = {0, 1, 2, 2, INFINITY}, own[LENGTH];
    uint32_t row[LENGTH] = {1, 5, 7, 9, UINT32_MAX}, own_row[LENGTH];
    float other[LENGTH] = {1, 1, 2, INFINITY, INFINITY};
    uint32_t other_row[LENGTH] = {4, 5, 8, UINT32_MAX, UINT32_MAX};
    static const float expected[LENGTH] = {0, 1, 1, 2, 2};
    static const uint32_t expected_row[LENGTH] = {1, 4, 5, 7, 8};
    (void)state;
    ikt_best_join(score, row, LENGTH, other, other_row, own, own_row);
    for (int e = 0; e < LENGTH; e++)
        assert_true(score[e] == expected[e] && row[e] == expected_row[e]);
    ikt_best_clear(score, row, LENGTH);
    ikt_best_join(score, row, LENGTH, other, other_row, own, own_row);
    assert_memory_equal(score, other, sizeof score);
    assert_memory_equal(row, other_row, sizeof row);
}

static void more_passes_find_more(void **state) {
    ikt_context *ctx = *state;
    double share[3];
    for (int64_t passes = 1; passes <= 3; passes++) {
        setting s;
        ikt_neighbours lists;
        ikt_recall recall;
        found(ctx, SPREAD, passes, &s, &lists);
        assert_int_equal(ikt_recall_measure(ctx, &s.tiles, &lists, 1, 200, &recall), IKT_OK);
        share[passes - 1] = recall.found;
        ikt_neighbours_destroy(&lists);
        clear(&s);
    }
    assert_true(share[1] > share[0] + 0.05 && share[2] > share[1] + 0.02);
}

IKT_MPI_TESTS(ikt_test(results_do_not_depend_on_ranks_and_threads),
              ikt_test(joined_lists_are_in_order), ikt_test(lists_are_the_best_of_all_passes),
              ikt_test(more_passes_find_more))
