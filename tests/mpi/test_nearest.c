/* The k nearest of many candidates: with the filter as without it, to the bit, on every instruction
 * set, and on data that rounding to 16 bits does not suit. */
#include "neighbours/nearest.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/select.h"
#include "support/ikt_test.h"

enum { N = 1250, D_MOST = 33, K = 7, OWN = 101, TILE = 250, AT = 400 };

typedef enum {
    PLAIN,
    OFFSET,      /* far from the origin */
    CONSTANT,    /* two columns are */
    OUTLIER,     /* one row a million times farther out */
    MANY_FAR,    /* more than are left outside the ball: steps as long as gaps between rows */
    COPIES,      /* half of the rows are one point */
    TIES,        /* on a coarse grid */
    DENORMAL,    /* squares leave the floats */
    HUGE_VALUES, /* so do these */
    ALIKE,       /* all rows are one point */
    KINDS
} kind;

static float value(kind what, int64_t row, int64_t c) {
    const double x = ikt_rng_normal(7, IKT_RNG_TEST, row, (uint64_t)c);
    switch (what) {
    case OFFSET:
        return (float)(1e5 + x);
    case CONSTANT:
        return c < 2 ? 1e20f : (float)x;
    case OUTLIER:
        return (float)(row == AT + 3 ? 1e6 * x : x);
    case MANY_FAR:
        return (float)(row % 60 == 0 ? 1e3 * x : x);
    case COPIES:
        return row % 2 ? 3 : (float)x;
    case TIES:
        return (float)lrint(x);
    case DENORMAL:
        return (float)(1e-42 * x);
    case HUGE_VALUES:
        return (float)(1e30 * x);
    case ALIKE:
        return 1.5f;
    default:
        return (float)x;
    }
}

typedef struct {
    kind what;
    int64_t d;
    float *x;
    ikt_rows rows;
    ikt_quantiser quantiser;
    int32_t *quantised; /* which tiles of TILE rows are cut from, amid a packed group */
} world;

static void create(ikt_context *ctx, kind what, int64_t d, world *w) {
    memset(w, 0, sizeof *w);
    w->what = what;
    w->d = d;
    w->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_alloc(ctx, &w->x, N * d, sizeof *w->x, "test"), IKT_OK);
    for (int64_t e = 0; e < N * d; e++)
        w->x[e] = value(what, e / d, e % d);
    assert_int_equal(
        ikt_quantiser_create(ctx, &w->rows, w->x + w->rows.first * d, d, &w->quantiser), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &w->quantised, ikt_quantised_size(d, N), 4, "test"), IKT_OK);
    if (w->quantiser.unit > 0) ikt_quantise_all(ctx, &w->quantiser, w->x, N, w->quantised);
}

static void destroy(world *w) {
    ikt_quantiser_destroy(&w->quantiser);
    ikt_free(&w->x);
    ikt_free(&w->quantised);
}

static const char *find(const void *self, uint32_t number) {
    const world *w = self;
    return (const char *)(w->x + number * w->d);
}

/* Lists of rows AT .. AT + OWN - 1 among rows 30 .. N - 1, sorted. Returns in how many passes. */
static int search(ikt_context *ctx, const world *w, ikt_isa isa, bool filter, float *score,
                  uint32_t *row) {
    ikt_scorer scorer = ikt_scorer_rows(&ikt_metric_euclidean, NULL, w->d, &w->rows);
    ikt_nearest_rows nearest;
    const ikt_row_finder finder = {w, find};
    int passes = 0;
    bool again = true;
    scorer.isa = isa;
    IKT_ARRAYS(held, ctx, "candidates");
    ikt_nearest_rows_create(&held, &scorer, filter ? &w->quantiser : NULL, K, &nearest);
    assert_int_equal(held.status, IKT_OK);
    ikt_nearest_rows_begin(&nearest, (const char *)(w->x + AT * w->d), AT, OWN);
    for (; again; passes++) {
        for (int64_t t = 0; t < N / TILE; t++) {
            const int64_t first = t == 0 ? 30 : t * TILE, group = first / 16 * 16;
            const ikt_candidates c = {.plain = (const char *)(w->x + first * w->d),
                                      .first = (uint32_t)first,
                                      .count = (t + 1) * TILE - first,
                                      .packed = w->quantised + ikt_quantised_size(w->d, group),
                                      .skipped = first - group};
            ikt_nearest_rows_offer(&nearest, &c);
        }
        again = ikt_nearest_rows_next(&nearest, &finder, score, row);
    }
    for (int64_t r = 0; r < OWN; r++)
        ikt_best_sort(score + r * K, row + r * K, K);
    return passes;
}

/* By the definition: every distance in float32, in the order of the columns, by (distance, row). */
static void reference(const world *w, int64_t own, ikt_pair *list) {
    static ikt_pair pair[N];
    int64_t count = 0;
    for (int64_t j = 30; j < N; j++) {
        float sum = 0;
        for (int64_t c = 0; c < w->d; c++) {
            const float gap = w->x[j * w->d + c] - w->x[own * w->d + c];
            sum = fmaf(gap, gap, sum);
        }
        if (j != own) pair[count++] = ikt_pair_make(sum, (uint32_t)j);
    }
    ikt_pairs_part(ikt_cpu_isa(), pair, count, K);
    ikt_pairs_sort(pair, K);
    memcpy(list, pair, K * sizeof *list);
}

static void lists_are_those_of_the_definition(void **state) {
    static const int64_t columns[] = {1, 2, 5, D_MOST};
    static float score[OWN * K];
    static uint32_t row[OWN * K];
    static ikt_pair expected[OWN * K];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int what = 0; what < KINDS; what++)
        for (size_t d = 0; d < sizeof columns / sizeof *columns; d++) {
            world w;
            create(alone, (kind)what, columns[d], &w);
            for (int64_t r = 0; r < OWN; r++)
                reference(&w, AT + r, expected + r * K);
            for (ikt_isa isa = IKT_ISA_PORTABLE; isa <= ikt_cpu_isa(); isa++) {
                search(alone, &w, isa, true, score, row);
                for (int64_t e = 0; e < OWN * K; e++) {
                    assert_true(score[e] == ikt_pair_value(expected[e]));
                    assert_int_equal(row[e], ikt_pair_number(expected[e]));
                }
            }
            destroy(&w);
        }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

/* Of single rows those are kept that are as near as a distance says, and few more than these. */
static void near_rows_are_kept(void **state) {
    static const int64_t columns[] = {1, 2, 30, 31, D_MOST};
    static float distance[N];
    static int32_t product[N], kept[N];
    static const int32_t *other[N];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int what = 0; what < KINDS; what++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            const int64_t d = columns[c], size = ikt_quantised_row(d);
            int32_t *single = NULL;
            world w;
            create(alone, (kind)what, d, &w);
            assert_int_equal(ikt_alloc(alone, &single, N * size, sizeof *single, "test"), IKT_OK);
            if (w.quantiser.unit > 0) ikt_quantise_rows(alone, &w.quantiser, w.x, N, single);
            for (int64_t j = 0; j < N; j++) {
                other[j] = single + j * size;
                distance[j] = 0;
                for (int64_t k = 0; k < d; k++) {
                    const float gap = w.x[j * d + k] - w.x[AT * d + k];
                    distance[j] = fmaf(gap, gap, distance[j]);
                }
            }
            for (ikt_isa isa = IKT_ISA_PORTABLE; w.quantiser.unit > 0 && isa <= ikt_cpu_isa();
                 isa++)
                for (int64_t last = 0; last < N; last += 100) {
                    const int64_t left =
                        ikt_quantised_near(&w.quantiser, isa, single + AT * size, other, N,
                                           distance[last], product, kept);
                    int64_t near = 0, e = 0;
                    for (int64_t j = 0; j < N; j++) {
                        while (e < left && kept[e] < j)
                            e++;
                        const bool is_kept = e < left && kept[e] == j;
                        if (distance[j] <= distance[last]) assert_true(is_kept);
                        near += distance[j] <= distance[last];
                    }
                    if (what == PLAIN || what == OFFSET) assert_true(left <= near + 5);
                }
            ikt_free(&single);
            destroy(&w);
        }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

/* The filter decides where it can, also beside some outliers; else all candidates are scored. */
static void the_filter_decides_most_rows(void **state) {
    static float score[OWN * K];
    static uint32_t row[OWN * K];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int what = 0; what < KINDS; what++) {
        world w;
        create(alone, (kind)what, 16, &w);
        const bool is_usable = what != DENORMAL && what != ALIKE;
        assert_true(w.quantiser.unit > 0 || !is_usable || what == HUGE_VALUES);
        assert_int_equal(w.quantiser.outside, what == OUTLIER ? 1 : 0);
        const int passes = search(alone, &w, ikt_cpu_isa(), true, score, row);
        if (what == PLAIN || what == OFFSET || what == CONSTANT) assert_int_equal(passes, 1);
        if (what == OUTLIER || what == COPIES) assert_int_equal(passes, 2);
        destroy(&w);
    }
    ikt_context_destroy(&alone);
}

/* A row outside is brought to where the ball ends. */
static void an_outlier_lies_on_the_ball(void **state) {
    enum { COLUMNS = 16, PLACE = AT + 3 };
    ikt_context *alone = ikt_test_alone();
    world w;
    (void)state;
    create(alone, OUTLIER, COLUMNS, &w);
    const int32_t half = w.quantised[ikt_quantised_size(COLUMNS, PLACE / 16 * 16) + PLACE % 16];
    assert_true(fabs(sqrt(2.0 * half) - w.quantiser.most) <= w.quantiser.error + 1);
    destroy(&w);
    ikt_context_destroy(&alone);
}

/* Every rank has the same centre and unit, those of one rank. */
static void units_do_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int what = 0; what < KINDS; what++) {
        world w, one;
        create(ctx, (kind)what, 5, &w);
        create(alone, (kind)what, 5, &one);
        assert_true(w.quantiser.unit == one.quantiser.unit);
        assert_int_equal(w.quantiser.outside, one.quantiser.outside);
        for (int64_t c = 0; c < 5; c++)
            assert_true(w.quantiser.centre[c] == one.quantiser.centre[c]);
        destroy(&w);
        destroy(&one);
    }
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(lists_are_those_of_the_definition), ikt_test(near_rows_are_kept),
              ikt_test(the_filter_decides_most_rows), ikt_test(an_outlier_lies_on_the_ball),
              ikt_test(units_do_not_depend_on_ranks))
