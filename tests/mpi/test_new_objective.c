/* The contracts are enough for a method that has nothing in common with t-SNE: a spring layout on
 * sampled pairs, with a step and a state of its own, which uses none of P. This file is all that it
 * takes: it runs through the whole line from a file to an embedding, gives the same bits on any
 * ranks, is stopped by a signal and goes on from its checkpoint, and is planned, like any other. */
#include "support/run.h"

#include <math.h>
#include <signal.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "base/watch.h"
#include "kernelsum/replica.h"
#include "objective/divergence.h"
#include "pipeline/outcome.h"
#include "plan/plan.h"
#include "support/equal_cells.h"

enum { ROWS = 150, COLUMNS = 5, CLASSES = 3, Q = 2, PARTNERS = 4, ITERATIONS = 40, STOP_AT = 17 };
static const int64_t extra_bytes = 123456789; /* that the objective says it takes */

/* --- the objective ---------------------------------------------------------------------------- */

/* Each row is tied by springs to some partners, drawn anew in each evaluation. A spring is short
 * between rows of a class, long between others:
 *     E = sum over rows i and partners j of (|y_i - y_j| - rest_ij)^2 / 2. */
typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    uint64_t seed;
    ikt_replica all;
    int64_t label[ROWS];
    float y[ROWS * Q], pull[ROWS * Q], none[ROWS * Q];
    float mean[ROWS * Q]; /* state: a running mean of the pull, which the next gradient uses */
    int64_t drawn;        /* state: draws made so far, with which the next ones begin */
} springs;

/* What a test does on the way. */
static int64_t stop_at = -1, first_iteration = -1;

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    (void)kind;
    (void)options;
    if (n <= ROWS && q == Q) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "springs are for %d rows in %d dimensions", ROWS, Q);
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    springs *s;
    assert_null(inputs->graph);
    assert_null(inputs->dense);
    assert_int_equal(inputs->neighbours->k, 0);
    ikt_status st = ikt_alloc(ctx, &s, 1, sizeof *s, "layout");
    if (st == IKT_OK) {
        out->self = s;
        out->y = s->y;
        *s = (springs){.ctx = ctx, .rows = inputs->rows, .seed = inputs->options.seed};
        st = ikt_replica_create(ctx, &inputs->rows, Q, &s->all);
    }
    IKT_TRY(ikt_agree(ctx, st));
    int64_t counts[16];
    for (int rank = 0; rank < inputs->rows.ranks; rank++)
        counts[rank] = ikt_rows_count(&inputs->rows, rank);
    ikt_allgather(ctx, inputs->labels, inputs->rows.count, sizeof *s->label, s->label, counts);
    return IKT_OK;
}

static void destroy(ikt_objective *objective) {
    springs *s = objective->self;
    if (!s) return;
    ikt_replica_destroy(&s->all);
    ikt_free(&s);
}

static double pull_of(const springs *s, int64_t i, int64_t j, double along[Q]) {
    const double rest = s->label[i] == s->label[j] ? 1 : 5;
    double square = 1e-12;
    for (int c = 0; c < Q; c++) {
        along[c] = (double)s->all.at[c][i] - (double)s->all.at[c][j];
        square += along[c] * along[c];
    }
    const double length = sqrt(square);
    for (int c = 0; c < Q; c++)
        along[c] *= (length - rest) / length;
    return 0.5 * (length - rest) * (length - rest);
}

/* Every rank goes through all springs in one order and takes what its own rows get. */
static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    springs *s = objective->self;
    const int64_t first = s->rows.first, n = s->rows.n;
    double value = 0, along[Q];
    if (first_iteration < 0) first_iteration = iteration;
    if (iteration == stop_at && ikt_rank(s->ctx) == 0) raise(SIGTERM);
    if (!ikt_replica_fill(s->ctx, &s->rows, s->y, &s->all))
        return ikt_fail(s->ctx, IKT_ERR_INTERNAL, "the loop lets through what is not finite");
    memset(s->pull, 0, sizeof s->pull);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < PARTNERS; k++) {
            const uint64_t draw = (uint64_t)(s->drawn + k);
            const int64_t j = ikt_rng_below(s->seed, IKT_RNG_TEST, i, draw, n);
            value += pull_of(s, i, j, along);
            for (int c = 0; c < Q; c++) {
                if (i >= first && i < first + s->rows.count)
                    s->pull[Q * (i - first) + c] += (float)along[c];
                if (j >= first && j < first + s->rows.count)
                    s->pull[Q * (j - first) + c] -= (float)along[c];
            }
        }
    s->drawn += PARTNERS;
    for (int64_t e = 0; e < Q * s->rows.count; e++) {
        s->mean[e] = 0.75f * s->mean[e] + 0.25f * s->pull[e];
        s->pull[e] = s->mean[e];
    }
    *gradient = (ikt_gradient){s->pull, s->none, 1, 0};
    *terms = (ikt_objective_terms){.value = want_value ? value : NAN};
    return IKT_OK;
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    (void)objective;
    snprintf(text, size, "none; %d springs a row", PARTNERS);
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    return extra_bytes + (int64_t)sizeof(springs) + ikt_replica_memory(&shape->rows, shape->q);
}

static int state(const ikt_objective_shape *shape,
                 ikt_objective_array array[IKT_OBJECTIVE_ARRAYS_MOST]) {
    array[0] = (ikt_objective_array){"mean_pull", IKT_PART_F32, false, shape->q};
    array[1] = (ikt_objective_array){"drawn", IKT_PART_I64, true, 1};
    return 2;
}

static void *state_array(ikt_objective *objective, int64_t iteration, int k) {
    springs *s = objective->self;
    (void)iteration;
    return k == 0 ? (void *)s->mean : &s->drawn;
}

/* --- its optimiser: plain descent whose rate falls linearly, as of stochastic gradients ------- */

static void step(const ikt_optimiser_step *step, const ikt_gradient *gradient, int64_t count,
                 float *const *array, float *y) {
    const float rate = (float)(step->rate * (1 - (double)step->iteration / (2 * ITERATIONS)));
    for (int64_t e = 0; e < count; e++) {
        array[0][e] += 1;
        y[e] -= rate * gradient->attraction_scale * gradient->attraction[e];
    }
}

static const ikt_optimiser_kind descent = {"descent", 1, {{"steps", 0, false}}, step};

static const ikt_objective_kind spring_layout = {.name = "springs",
                                                 .value_name = "cost",
                                                 .needs = IKT_NEEDS_LABELS,
                                                 .learning_rate = 0.4,
                                                 .optimiser = &descent,
                                                 .resolve = resolve,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .evaluate = evaluate,
                                                 .describe = describe,
                                                 .memory = memory,
                                                 .state = state,
                                                 .state_array = state_array};

/* --- runs ------------------------------------------------------------------------------------- */

static run_files make_files(ikt_context *ctx) {
    float rows[ROWS * COLUMNS];
    int32_t labels[ROWS];
    for (int64_t e = 0; e < ROWS * COLUMNS; e++)
        rows[e] = (float)ikt_rng_uniform(7, IKT_RNG_TEST, e, 0);
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % CLASSES;
    return run_files_write(ctx, rows, labels, ROWS, COLUMNS);
}

static ikt_settings make_settings(ikt_context *ctx, const run_files *f) {
    ikt_settings settings =
        run_settings(ctx, f, "layout.iterations=40 layout.exaggeration_iterations=0");
    assert_int_equal(settings.layout.iterations, ITERATIONS);
    settings.layout.custom = &spring_layout;
    return settings;
}

static uint64_t embed(ikt_context *ctx, const ikt_settings *settings) {
    ikt_run run;
    stop_at = first_iteration = -1;
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    ikt_stage_times times[IKT_STAGE_COUNT];
    ikt_stage_collect(ctx, times);
    assert_int_equal(times[IKT_STAGE_NEIGHBOURS].count + times[IKT_STAGE_GRAPH].count +
                         times[IKT_STAGE_CODES].count,
                     0);
    assert_int_equal(run.embedding.entries, 0);
    const ikt_trace *trace = &run.embedding.trace;
    assert_string_equal(trace->value_name, "cost");
    assert_int_equal(trace->count, 5);
    assert_int_equal(trace->exaggeration_end, 0);
    assert_true(trace->point[4].value < 0.5 * trace->point[0].value);
    const uint64_t hash = run.hash;
    ikt_run_finish(ctx, &run);
    ikt_run_destroy(&run);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void it_gives_the_same_bits_on_any_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    const run_files f = make_files(ctx);
    const ikt_settings settings = make_settings(ctx, &f);
    assert_true(embed(ctx, &settings) == embed(alone, &settings));
    ikt_context_destroy(&alone);
    io_remove(ctx, f.input);
}

static void it_is_stopped_and_goes_on(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    ikt_settings settings = make_settings(ctx, &f);
    ikt_run run;
    const uint64_t whole = embed(ctx, &settings);
    set_checkpoint(ctx, &settings, &f);
    stop_at = STOP_AT;
    first_iteration = -1;
    assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_STOPPED);
    io_expect(ctx, "stopped by");
    ikt_watch_signals_end();
    /* It goes on after the iteration in which the signal came. */
    const uint64_t resumed = embed(ctx, &settings);
    assert_int_equal(first_iteration, STOP_AT + 1);
    assert_true(resumed == whole);
    ikt_watch_signals_end();
    io_remove(ctx, f.input);
}

static void it_is_planned(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    const ikt_settings settings = make_settings(ctx, &f);
    const ikt_data_shape shape = {.n = ROWS, .d = COLUMNS, .type = IKT_TYPE_F32};
    ikt_workload work;
    succeed(ctx, ikt_workload_make(ctx, &settings, &shape, 1, 1, &work));
    const ikt_memory_plan plan = ikt_memory_plan_make(&work, 0);
    assert_true(plan.stage[IKT_STAGE_LAYOUT] > extra_bytes &&
                plan.stage[IKT_STAGE_LAYOUT] < extra_bytes + 1000000);
    assert_int_equal(plan.largest, IKT_STAGE_LAYOUT);
    assert_int_equal(plan.stage[IKT_STAGE_NEIGHBOURS], 0);
    assert_int_equal(plan.stage[IKT_STAGE_GRAPH], 0);
    io_remove(ctx, f.input);
}

static void labels_that_are_missing_are_named(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    ikt_settings settings = make_settings(ctx, &f);
    ikt_run run;
    set(ctx, &settings, "input.labels=none-such");
    assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_DATA);
    io_expect(ctx, "none-such");
    io_remove(ctx, f.input);
}

/* --- what an objective may need --------------------------------------------------------------- */

/* t-SNE that asks for everything there is, and looks at it. */
static ikt_status create_and_look(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                  ikt_objective *out) {
    const ikt_neighbours *lists = inputs->neighbours;
    const ikt_codes *codes = inputs->codes;
    const int64_t n_local = inputs->rows.count, first = inputs->rows.first;
    assert_non_null(inputs->graph);
    assert_int_equal(codes->n_local, n_local);
    assert_true(lists->k > 1);
    for (int64_t i = 0; i < n_local; i++)
        for (int64_t e = 0, before = codes->t; e < lists->k; e++) {
            const int64_t j = (int64_t)lists->row[i * lists->k + e] - first;
            int64_t equal = 0;
            if (j < 0 || j >= n_local) continue; /* its code is on another rank */
            for (int64_t t = 0; t < codes->t; t++)
                equal += ikt_code_entry(codes, i, t) == ikt_code_entry(codes, j, t);
            assert_true(i != j && equal <= before);
            before = equal;
        }
    for (int64_t i = 0; i < n_local; i++)
        assert_true(inputs->labels[i] >= 0 && inputs->labels[i] < CLASSES);
    return ikt_divergence_create(ctx, inputs, out);
}

static void an_objective_gets_what_it_needs(void **state) {
    ikt_context *ctx = *state;
    const char *const searches[] = {"affinity.search=exact", "affinity.search=approximate"};
    ikt_objective_kind greedy = ikt_objective_tsne;
    greedy.needs |= IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES | IKT_NEEDS_LABELS;
    greedy.create = create_and_look;
    for (int a = 0; a < 2; a++) {
        const run_files f = make_files(ctx);
        ikt_settings settings = make_settings(ctx, &f);
        uint64_t hash[2];
        set(ctx, &settings, searches[a]);
        for (int k = 0; k < 2; k++) {
            ikt_run run;
            settings.layout.custom = k == 0 ? NULL : &greedy;
            succeed(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run));
            hash[k] = run.hash;
            ikt_run_destroy(&run);
        }
        assert_true(hash[0] == hash[1]);
        /* Distances have no codes. */
        set(ctx, &settings, "affinity.kind=gaussian");
        set(ctx, &settings, "gaussian.perplexity=10");
        ikt_run run;
        assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_USAGE);
        io_expect(ctx, "codes of the Isolation kernel");
        assert_int_equal(ikt_memory_now(ctx), 0);
        io_remove(ctx, f.input);
    }
}

/* Landmarks are rows without labels. */
static void labels_and_a_start_from_landmarks_are_refused(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    ikt_settings settings = make_settings(ctx, &f);
    ikt_objective_kind labelled = ikt_objective_tsne;
    ikt_run run;
    labelled.needs |= IKT_NEEDS_LABELS;
    settings.layout.custom = &labelled;
    set(ctx, &settings, "layout.init=landmark");
    set(ctx, &settings, "layout.landmarks=30");
    assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_USAGE);
    io_expect(ctx, "without their labels");
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(it_gives_the_same_bits_on_any_ranks), ikt_test(it_is_stopped_and_goes_on),
              ikt_test(it_is_planned), ikt_test(labels_that_are_missing_are_named),
              ikt_test(an_objective_gets_what_it_needs),
              ikt_test(labels_and_a_start_from_landmarks_are_refused))
