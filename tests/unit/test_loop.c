/* The loop by itself, on objectives made for it. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layout/layout.h"

enum { ROWS = 3, Q = 2 };

/* An objective without forces that changes the size of the map by itself: `size` says by what
 * factor in which evaluation. */
typedef struct {
    float y[ROWS * Q], none[ROWS * Q];
    int64_t evaluations;
    float (*size)(int64_t evaluation);
} breathing;

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    breathing *b = objective->self;
    (void)iteration;
    (void)want_value;
    for (int e = 0; e < ROWS * Q; e++)
        b->y[e] *= b->size(b->evaluations);
    b->evaluations++;
    *terms = (ikt_objective_terms){.value = 1, .condition = IKT_MAP_POINT};
    *gradient = (ikt_gradient){b->none, b->none, 1, 1};
    return IKT_OK;
}

static const ikt_objective_kind breathes = {.name = "breathing",
                                            .value_name = "cost",
                                            .optimiser = &ikt_optimiser_momentum,
                                            .evaluate = evaluate};

static void run(ikt_context *ctx, float (*size)(int64_t), float *y) {
    const ikt_layout_settings settings = {.iterations = 100,
                                          .exaggeration = 1,
                                          .learning_rate = 1,
                                          .final_learning_rate = 1,
                                          .final_exaggeration = 1,
                                          .dimensions = Q,
                                          .custom = &breathes,
                                          .report_every = 50};
    const ikt_rows rows = ikt_rows_make(ROWS, 1, 0);
    breathing b = {.size = size};
    ikt_objective objective = {.kind = &breathes, .self = &b, .y = b.y, .q = Q};
    ikt_trace trace;
    assert_int_equal(ikt_layout_run(ctx, &settings, &rows, &objective, NULL, y, &trace), IKT_OK);
    assert_int_equal(trace.end, 100);
    ikt_trace_destroy(&trace);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* An objective with an even slope, whose value rises by 1 an iteration. */
static ikt_status rise(ikt_objective *objective, int64_t iteration, bool want_value,
                       ikt_gradient *gradient, ikt_objective_terms *terms) {
    const breathing *b = objective->self;
    *terms = (ikt_objective_terms){.value = want_value ? (double)iteration : NAN};
    *gradient = (ikt_gradient){b->none, b->none, 1, 1};
    return IKT_OK;
}

/* Steps of 1 until the values of 50 and 100 are above that of 0, of 1/2 until 200, then of 1/4. */
static void steps_become_shorter_where_the_value_rises(void **state) {
    ikt_objective_kind kind = {.name = "rising",
                               .value_name = "cost",
                               .optimiser = &ikt_optimiser_descent,
                               .divergence = ikt_objective_tsne.divergence,
                               .evaluate = rise};
    const ikt_layout_settings settings = {.iterations = 300,
                                          .exaggeration = 1,
                                          .learning_rate = 4,
                                          .final_learning_rate = 4,
                                          .final_exaggeration = 1,
                                          .dimensions = Q,
                                          .custom = &kind,
                                          .batch_rows = IKT_AUTO_INT,
                                          .report_every = 300};
    const ikt_rows rows = ikt_rows_make(ROWS, 1, 0);
    breathing b = {.size = NULL};
    ikt_objective objective = {.kind = &kind, .self = &b, .y = b.y, .q = Q};
    ikt_trace trace;
    float y[ROWS * Q] = {0};
    for (int e = 0; e < ROWS * Q; e++) /* a map is centred in the end */
        b.none[e] = e < Q ? 0.5f : -0.25f;
    assert_int_equal(ikt_layout_run(*state, &settings, &rows, &objective, NULL, y, &trace), IKT_OK);
    for (int e = 0; e < ROWS * Q; e++)
        assert_true(y[e] == (e < Q ? -175.0f : 87.5f));
    ikt_trace_destroy(&trace);
}

/* By 2^-240 in all: far below what a float holds. */
static float shrinks(int64_t evaluation) {
    return evaluation < 60 ? 0x1p-4f : 1.0f;
}

static float shrinks_a_little(int64_t evaluation) {
    return evaluation < 1 ? 0x1p-2f : 1.0f;
}

static void a_map_that_contracts_without_end_keeps_its_shape(void **state) {
    const float start[ROWS * Q] = {3e-5f, -1e-5f, -2e-5f, 4e-5f, -1e-5f, -3e-5f}; /* centred */
    float y[ROWS * Q];
    memcpy(y, start, sizeof y);
    run(*state, shrinks, y);
    const float ratio = y[0] / start[0];
    assert_true(ratio > 0);
    for (int e = 0; e < ROWS * Q; e++)
        assert_true(fabsf(y[e] - ratio * start[e]) <= 1e-6f * fabsf(ratio * start[e]));
}

static void a_small_map_is_left_alone(void **state) {
    const float start[ROWS * Q] = {3e-5f, -1e-5f, -2e-5f, 4e-5f, -1e-5f, -3e-5f};
    float y[ROWS * Q];
    memcpy(y, start, sizeof y);
    run(*state, shrinks_a_little, y);
    for (int e = 0; e < ROWS * Q; e++)
        assert_true(fabsf(y[e] - 0x1p-2f * start[e]) <= 1e-6f * fabsf(start[e]));
}

IKT_MPI_TESTS(ikt_test(a_map_that_contracts_without_end_keeps_its_shape),
              ikt_test(a_small_map_is_left_alone),
              ikt_test(steps_become_shorter_where_the_value_rises))
