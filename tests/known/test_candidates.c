/* What a row is compared with in approximate search, against the rule written plainly: whole cells
 * from the nearest centre on, until there are enough rows; of the last cell the first rows; and of
 * an own cell that is larger than that, the part around the row's stretch of 256. A row is never
 * its own neighbour. */
#include "support/search_setting.h"

#include <math.h>

#include "affinity/affinity.h"
#include "metric/metric.h"
#include "support/neighbour_lists.h"

enum { N = 1200, STRETCH = 256 };

static float all_scores[N * (N + 16)];

static double apart[N][N]; /* squared distances of centres */

static void measure_centres(const ikt_cells *cells) {
    for (int64_t a = 0; a < cells->count; a++)
        for (int64_t b = 0; b < cells->count; b++) {
            apart[a][b] = 0;
            for (int64_t c = 0; c < D; c++) {
                const double gap =
                    (double)cells->centre[a * D + c] - (double)cells->centre[b * D + c];
                apart[a][b] += gap * gap;
            }
        }
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
                (near < 0 || apart[own][c] < apart[own][near]))
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
        assert_true(at != slot && at < N);
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
    const ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.distribution);
    scorer.score(&scorer, s.codes.code, N, s.codes.code, N, all_scores);
    assert_int_equal(search_lists(alone, &s.cells, &s.tiles, K, candidates, &lists), IKT_OK);
    ikt_neighbours_sort(alone, &lists);
    measure_centres(&s.cells);
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

/* All but 16 rows in four cells, and these in a cell each: round them, the nearest cells hold far
 * fewer rows than cells do on average. Coordinates are small integers: distances are exact. */
static void prepare_uneven(ikt_context *alone, setting *s) {
    enum { FAR = 16, DENSE = N - FAR, CENTRES = 4 + FAR };
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    int64_t centre[CENTRES];
    memset(s, 0, sizeof *s);
    s->distribution = ikt_rows_make(N, 1, 0);
    assert_int_equal(ikt_alloc(alone, &s->rows, N * D, sizeof *s->rows, "test"), IKT_OK);
    for (int64_t e = 0; e < N * D; e++)
        s->rows[e] = (float)(e / D < DENSE ? ikt_rng_below(5, IKT_RNG_TEST, e, 0, 4)
                                           : 300 + ikt_rng_below(5, IKT_RNG_TEST, e, 0, 200));
    for (int64_t c = 0; c < CENTRES; c++)
        centre[c] = c < 4 ? c : DENSE + c - 4;
    assert_int_equal(ikt_source_from_memory(alone, s->rows, N, D, IKT_TYPE_F32, &s->source),
                     IKT_OK);
    assert_int_equal(ikt_dataset_create(alone, s->source, &raw, &s->data), IKT_OK);
    assert_int_equal(ikt_alloc(alone, &s->slot, N, sizeof *s->slot, "test"), IKT_OK);
    assert_int_equal(ikt_cells_create(alone, s->data, centre, CENTRES, &s->distribution, NULL, NULL,
                                      &s->cells, s->slot),
                     IKT_OK);
    assert_int_equal(ikt_order_create(alone, &s->distribution, s->slot, &s->order), IKT_OK);
    assert_int_equal(ikt_tiles_data(alone, &s->cells, &s->order, s->data, &s->tiles), IKT_OK);
}

static float squared_distance(const float *a, const float *b) {
    float sum = 0;
    for (int64_t c = 0; c < D; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

static void more_cells_are_looked_at_where_the_near_ones_hold_few_rows(void **state) {
    static bool marked[N];
    static int64_t row_in[N];
    ikt_context *alone = ikt_test_alone();
    setting s;
    ikt_neighbours lists;
    (void)state;
    prepare_uneven(alone, &s);
    for (int64_t row = 0; row < N; row++)
        row_in[s.slot[row]] = row;
    for (int64_t a = 0; a < N; a++)
        for (int64_t b = 0; b < N; b++)
            all_scores[a * ikt_score_stride(N) + b] =
                squared_distance(s.rows + row_in[a] * D, s.rows + row_in[b] * D);
    assert_int_equal(search_lists(alone, &s.cells, &s.tiles, K, 25, &lists), IKT_OK);
    ikt_neighbours_sort(alone, &lists);
    measure_centres(&s.cells);
    for (int64_t slot = 0; slot < N; slot++) {
        mark_candidates(&s.cells, slot, 25, marked);
        check_row(&lists, slot, marked);
    }
    ikt_neighbours_destroy(&lists);
    clear(&s);
    ikt_context_destroy(&alone);
}

static double gap_between(const float *a, const double *b) {
    double sum = 0;
    for (int64_t c = 0; c < D; c++)
        sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sum;
}

/* Cells found without codes: the means of every 16 neighbouring centres are compared first, and the
 * centres behind the 16 nearest means then. Rounding may decide otherwise for a row in a thousand.
 */
static void cells_are_found_by_the_means_of_sixteen(void **state) {
    enum { ROWS = 3000, CENTRES = 700, GROUPS = (CENTRES + 15) / 16 };
    static double mean[GROUPS][D], centre[CENTRES][D];
    ikt_context *alone = ikt_test_alone();
    int64_t row_of[CENTRES], unlike = 0;
    setting s;
    (void)state;
    open_data(alone, SPREAD, ROWS, &s);
    for (int64_t c = 0; c < CENTRES; c++)
        row_of[c] = 4 * c + 1;
    assert_int_equal(ikt_alloc(alone, &s.slot, ROWS, sizeof *s.slot, "test"), IKT_OK);
    assert_int_equal(ikt_cells_create(alone, s.data, row_of, CENTRES, &s.distribution, NULL, NULL,
                                      &s.cells, s.slot),
                     IKT_OK);
    memset(mean, 0, sizeof mean);
    for (int64_t e = 0; e < CENTRES * D; e++) {
        const int64_t group = e / D / 16, left = CENTRES - 16 * group;
        centre[e / D][e % D] = (double)s.cells.centre[e];
        mean[group][e % D] += centre[e / D][e % D] / (double)(left < 16 ? left : 16);
    }
    for (int64_t row = 0; row < ROWS; row++) {
        const float *x = s.rows + row * D;
        int64_t found = -1;
        for (int64_t g = 0; g < GROUPS; g++) {
            int nearer = 0;
            for (int64_t other = 0; other < GROUPS; other++)
                nearer += gap_between(x, mean[other]) < gap_between(x, mean[g]);
            for (int64_t c = 16 * g; nearer < 16 && c < 16 * g + 16 && c < CENTRES; c++)
                if (found < 0 || gap_between(x, centre[c]) < gap_between(x, centre[found]))
                    found = c;
        }
        unlike += found != ikt_cells_find(&s.cells, s.slot[row]);
    }
    assert_true(unlike <= ROWS / 1000);
    ikt_cells_destroy(&s.cells);
    clear(&s);
    ikt_context_destroy(&alone);
}

/* 900 for each doubling of the rows from 2,048 on, four times that for distances, and at least 40
 * for each neighbour; in each of several passes 128, and 12 (`iktsne embed --help`). */
static void as_many_candidates_as_the_help_says(void **state) {
    ikt_affinity_settings s = {.kind = IKT_AFFINITY_ISOLATION, .candidates = IKT_AUTO_INT};
    (void)state;
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 30, 1, false), 6 * 900);
    assert_int_equal(ikt_affinity_candidates(&s, 1000, 10, 1, false), 900);
    assert_int_equal(ikt_affinity_candidates(&s, 4096, 50, 1, false), 40 * 50);
    s.kind = IKT_AFFINITY_KNN;
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 30, 1, false), 6 * 3600);
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 30, 1, true), 6 * 1800);
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 15, 4, true), 6 * 128);
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 200, 2, false), 12 * 200);
    s.passes = IKT_AUTO_INT;
    assert_int_equal(ikt_affinity_passes(&s, 128), 1);
    assert_int_equal(ikt_affinity_passes(&s, 129), 3);
    s.passes = 2;
    assert_int_equal(ikt_affinity_passes(&s, 5), 2);
    assert_int_equal(ikt_affinity_passes(&s, 0), 1); /* codes */
    s.candidates = 70;
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 30, 1, false), 70);
    assert_int_equal(ikt_affinity_candidates(&s, 2048 * 64, 80, 1, false), 81);
    s.search = IKT_SEARCH_AUTO;
    assert_false(ikt_affinity_is_approximate(&s, 16384));
    assert_true(ikt_affinity_is_approximate(&s, 16385));
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
            scorer = ikt_scorer_rows(&ikt_metric_euclidean, x, D, &s.distribution);
        assert_int_equal(exact_lists(ctx, &scorer, K, &lists), IKT_OK);
        for (int64_t i = 0; i < s.distribution.count; i++)
            for (int64_t e = i * K; e < (i + 1) * K; e++)
                assert_true(lists.row[e] != s.distribution.first + i && lists.row[e] < 150);
        ikt_neighbours_destroy(&lists);
        ikt_free(&x);
        clear(&s);
    }
}

IKT_MPI_TESTS(ikt_test(rows_are_compared_with_near_cells),
              ikt_test(more_cells_are_looked_at_where_the_near_ones_hold_few_rows),
              ikt_test(cells_are_found_by_the_means_of_sixteen),
              ikt_test(as_many_candidates_as_the_help_says), ikt_test(no_row_is_its_own_neighbour))
