/* Search among near cells: exact when it may look at everything, the same on any ranks and threads
 * when it may not, and honest about what it misses. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "neighbours/recall.h"
#include "neighbours/scorers.h"
#include "neighbours/search.h"

enum { D = 6, K = 8, T = 40, PSI = 32 };

typedef enum { SPREAD, DUPLICATES } kind;

/* Five blobs; for DUPLICATES half of all rows are one and the same point. */
static float coordinate(kind what, int64_t row, int64_t c) {
    if (what == DUPLICATES && row % 2 == 0) return 3;
    return (float)(10 * ikt_rng_normal(4, IKT_RNG_TEST, row % 5, (uint64_t)c) +
                   ikt_rng_normal(4, IKT_RNG_TEST, 100 + row, (uint64_t)c));
}

/* Everything that a search needs, from data to shelf. */
typedef struct {
    float *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    ikt_codes codes;
    uint16_t *cell;
    uint32_t *position;
    ikt_row_map map;
    ikt_cells cells;
    ikt_order order;
    ikt_shelf shelf;
} setting;

static void open_data(ikt_context *ctx, kind what, int64_t n, setting *s) {
    const ikt_preprocess_settings raw = {IKT_NORMALISE_NONE, 0};
    memset(s, 0, sizeof *s);
    assert_int_equal(ikt_alloc(ctx, &s->rows, n * D, sizeof *s->rows, "test"), IKT_OK);
    for (int64_t e = 0; e < n * D; e++)
        s->rows[e] = coordinate(what, e / D, e % D);
    s->map = ikt_row_map_make(n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, s->rows, n, D, IKT_TYPE_F32, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
}

static void prepare(ikt_context *ctx, kind what, int64_t n, bool codes, setting *s) {
    open_data(ctx, what, n, s);
    const ikt_model_spec spec = {
        .seed = 2, .n = n, .psi = n < PSI ? n : PSI, .t = T, .coarse = ikt_cells_choose(n)};
    assert_int_equal(ikt_model_create(ctx, &spec, &s->model), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->cell, s->map.count, sizeof *s->cell, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->position, s->map.count, 4, "test"), IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, s->data, &s->map, s->model, &s->codes, s->cell),
                     IKT_OK);
    assert_int_equal(ikt_cells_create(ctx, s->data, s->model->coarse_row, spec.coarse, &s->map,
                                      s->cell, &s->cells, s->position),
                     IKT_OK);
    assert_int_equal(ikt_order_create(ctx, &s->map, s->position, &s->order), IKT_OK);
    assert_int_equal(ikt_order_apply(ctx, &s->order, s->codes.code, s->codes.stride, s->codes.code,
                                     s->codes.stride, s->codes.stride),
                     IKT_OK);
    if (codes)
        assert_int_equal(ikt_shelf_codes(ctx, &s->cells, &s->map, &s->codes, &s->shelf), IKT_OK);
    else
        assert_int_equal(ikt_shelf_euclidean(ctx, &s->cells, &s->order, s->data, &s->shelf),
                         IKT_OK);
}

static void clear(setting *s) {
    ikt_shelf_destroy(&s->shelf);
    ikt_order_destroy(&s->order);
    ikt_cells_destroy(&s->cells);
    ikt_codes_destroy(&s->codes);
    ikt_model_destroy(&s->model);
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_free(&s->cell);
    ikt_free(&s->position);
    ikt_free(&s->rows);
}

static uint64_t hash_lists(ikt_context *ctx, const ikt_neighbours *lists, int64_t first) {
    uint64_t rows =
        ikt_row_hash(ctx, lists->row, first, lists->n_local, (size_t)lists->k * sizeof *lists->row);
    uint64_t scores = ikt_row_hash(ctx, lists->score, first, lists->n_local,
                                   (size_t)lists->k * sizeof *lists->score);
    return rows * 31 + scores;
}

static uint64_t hash_of_search(ikt_context *ctx, kind what, int64_t n, bool codes,
                               int64_t candidates) {
    setting s;
    ikt_neighbours lists;
    int64_t k = n - 1 < K ? n - 1 : K;
    prepare(ctx, what, n, codes, &s);
    assert_int_equal(ikt_neighbours_search(ctx, &s.cells, &s.shelf, k, candidates, &lists), IKT_OK);
    ikt_neighbours_sort(ctx, &lists);
    uint64_t hash = hash_lists(ctx, &lists, s.map.first);
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

/* The reference: scores of own row i against all positions, by (score, position). */
static void check_row(const setting *s, const ikt_neighbours *lists, int64_t i,
                      const float *score) {
    for (int64_t e = 0; e < K; e++) {
        int64_t before = 0, at = lists->row[i * K + e], own = s->map.first + i;
        for (int64_t j = 0; j < s->map.n; j++)
            before += j != own && (score[j] < score[at] || (score[j] == score[at] && j < at));
        assert_true(lists->score[i * K + e] == score[at]);
        assert_int_equal(before, e);
    }
}

/* With room for all rows as candidates the search is exact. */
static void enough_candidates_find_the_truth(void **state) {
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int which = 0; which < 2; which++) {
        enum { N = 400 };
        static float all[(N + 16) * (N + 16)];
        setting s;
        ikt_neighbours lists;
        prepare(alone, which ? DUPLICATES : SPREAD, N, true, &s);
        assert_int_equal(ikt_neighbours_search(alone, &s.cells, &s.shelf, K, N, &lists), IKT_OK);
        ikt_neighbours_sort(alone, &lists);
        ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.map);
        scorer.score(scorer.self, 0, N, s.codes.code, N, all);
        for (int64_t i = 0; i < N; i++)
            check_row(&s, &lists, i, all + i * ikt_score_stride(N));
        ikt_neighbours_destroy(&lists);
        clear(&s);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

static ikt_recall recall_of(ikt_context *ctx, bool codes, int64_t candidates) {
    setting s;
    ikt_neighbours lists;
    ikt_recall recall;
    prepare(ctx, SPREAD, 900, codes, &s);
    assert_int_equal(ikt_neighbours_search(ctx, &s.cells, &s.shelf, K, candidates, &lists), IKT_OK);
    assert_int_equal(ikt_recall_measure(ctx, &s.shelf, &lists, 1, 200, &recall), IKT_OK);
    ikt_neighbours_destroy(&lists);
    clear(&s);
    return recall;
}

static void recall_is_one_for_exact_lists_and_less_for_poor_ones(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int codes = 0; codes < 2; codes++) {
        ikt_recall exact = recall_of(ctx, codes, 900), poor = recall_of(ctx, codes, K + 1);
        ikt_recall same = recall_of(alone, codes, K + 1);
        assert_int_equal(exact.sample, 200);
        assert_true(exact.found == 1 && exact.similarity == 1);
        assert_true(poor.found < 0.9 && poor.found > 0.05);
        assert_true(poor.similarity < 1 && poor.similarity > poor.found);
        assert_true(poor.found == same.found && poor.similarity == same.similarity);
    }
    ikt_context_destroy(&alone);
}

/* Positions are a permutation, cells are contiguous and hold what belongs to them. */
static void cells_hold_their_rows(void **state) {
    ikt_context *ctx = *state;
    setting s;
    prepare(ctx, SPREAD, 900, true, &s);
    assert_int_equal(s.cells.first[0], 0);
    assert_int_equal(s.cells.first[s.cells.count], 900);
    for (int64_t i = 0; i < s.map.count; i++) {
        const float *centre = s.cells.centre + ikt_cells_find(&s.cells, s.position[i]) * D;
        const float *row = s.rows + (s.map.first + i) * D;
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
              ikt_test(cells_hold_their_rows))
