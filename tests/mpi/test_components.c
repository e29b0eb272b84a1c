/* layout.objective=pca: the map is that of the principal components, of a set whose components are
 * known, in no iteration and without any stage of a kernel; the same bits on any ranks and threads;
 * a plan of little; what it has no use for is refused. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/memory.h"
#include "base/timer.h"
#include "plan/plan.h"
#include "support/run.h"

enum { ROWS = 240, COLUMNS = 4, Q_MOST = 3 };
static const double circle = 6.283185307179586;

/* Column c of row i is a wave of so many turns and of its own height, far from the origin: waves of
 * different numbers of turns are uncorrelated, so that the components are the columns. */
static const double height[COLUMNS] = {3, 7, 0.25, 1}; /* their order is 1, 0, 3, 2 */
static const int order[Q_MOST] = {1, 0, 3};

static double value_at(int64_t i, int column) {
    return height[column] * cos(circle * (double)((column + 1) * i) / ROWS);
}

static run_files make_files(ikt_context *ctx) {
    float rows[ROWS * COLUMNS];
    int32_t labels[ROWS];
    for (int i = 0; i < ROWS; i++) {
        labels[i] = i % 2;
        for (int c = 0; c < COLUMNS; c++)
            rows[i * COLUMNS + c] = (float)(value_at(i, c) + 20);
    }
    return run_files_write(ctx, rows, labels, ROWS, COLUMNS);
}

static ikt_settings make_settings(ikt_context *ctx, const run_files *f, const char *text) {
    ikt_settings settings = run_settings(ctx, f, "layout.objective=pca preprocess.normalise=none");
    set(ctx, &settings, text);
    return settings;
}

/* Embeds, and compares the own rows with the columns that are the components, whatever their sign.
 */
static uint64_t embed(ikt_context *ctx, const ikt_settings *settings) {
    const int q = (int)settings->layout.dimensions;
    ikt_run run;
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    const ikt_trace *trace = &run.embedding.trace;
    double variance = 0;
    assert_int_equal(trace->end, 0);
    assert_int_equal(trace->count, 1);
    for (int c = 0; c < q; c++) {
        double same = 0, turned = 0;
        variance += height[order[c]] * height[order[c]] / 2;
        for (int64_t i = 0; i < run.rows.count; i++) {
            const double wanted = value_at(run.rows.first + i, order[c]);
            same = fmax(same, fabs((double)run.embedding.y[i * q + c] - wanted));
            turned = fmax(turned, fabs((double)run.embedding.y[i * q + c] + wanted));
        }
        assert_true(fmin(same, turned) < 2e-5);
    }
    if (fabs(trace->point[0].value + variance) > 1e-5)
        fail_msg("the cost is %g instead of %g", trace->point[0].value, -variance);
    assert_true(trace->point[0].gradient_norm == 0);
    ikt_stage_times times[IKT_STAGE_COUNT];
    ikt_stage_collect(ctx, times);
    assert_int_equal(times[IKT_STAGE_NEIGHBOURS].count + times[IKT_STAGE_GRAPH].count +
                         times[IKT_STAGE_CODES].count + times[IKT_STAGE_STEP].count,
                     0);
    const uint64_t hash = run.hash;
    ikt_run_finish(ctx, &run);
    ikt_run_destroy(&run);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void the_map_is_that_of_the_components(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const run_files f = make_files(ctx);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int q = 1; q <= Q_MOST; q++) {
        char text[64];
        snprintf(text, sizeof text, "layout.dimensions=%d run.seed=%d", q, 5 * q);
        const ikt_settings settings = make_settings(ctx, &f, text);
        const uint64_t hash = embed(alone, &settings);
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            assert_true(embed(ctx, &settings) == hash);
        }
    }
    ikt_context_destroy(&alone);
    io_remove(ctx, f.input);
}

static void it_is_planned_without_a_kernel(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    const ikt_data_shape shape = {.n = 100000, .d = COLUMNS, .type = IKT_TYPE_F32};
    const ikt_settings settings = make_settings(ctx, &f, "");
    ikt_workload work;
    ikt_machine machine;
    const ikt_config_part part = ikt_machine_part(&machine);
    succeed(ctx, ikt_workload_make(ctx, &settings, &shape, 2, 1, &work));
    succeed(ctx, ikt_config_defaults(ctx, &part, 1));
    const ikt_memory_plan memory = ikt_memory_plan_make(&work, 0);
    const ikt_time_plan time = ikt_time_plan_make(&work, NULL, &machine);
    static const ikt_stage none[] = {IKT_STAGE_CODES, IKT_STAGE_NEIGHBOURS, IKT_STAGE_GRAPH};
    for (size_t s = 0; s < sizeof none / sizeof *none; s++) {
        assert_int_equal(memory.stage[none[s]], 0);
        assert_true(time.stage[none[s]].seconds == 0);
    }
    assert_true(memory.stage[IKT_STAGE_LAYOUT] >= 50000 * 2 * 4 * 2);
    assert_true(time.stage[IKT_STAGE_ATTRACTION].seconds == 0);
    assert_true(time.stage[IKT_STAGE_REPULSION].seconds == 0);
    io_remove(ctx, f.input);
}

static void what_it_has_no_use_for_is_refused(void **state) {
    static const struct {
        const char *settings, *why;
    } cases[] = {{"layout.iterations=1", "would have no effect"},
                 {"layout.init=random", "leave layout.init"},
                 {"layout.init_file=a.npy", "leave layout.init"},
                 {"affinity.kind=gaussian", "an objective other than pca"},
                 {"affinity.support=dense", "an objective other than pca"},
                 {"isolation.psi=20", "an objective other than pca"},
                 {"gaussian.perplexity=10", "would have no effect"},
                 {"layout.preset=matlab", "an objective other than pca"},
                 {"layout.learning_rate=3", "an objective other than pca"},
                 {"layout.stop=auto", "an objective other than pca"},
                 {"layout.momentum=0.5", "would have no effect"},
                 {"layout.exaggeration=4", "would have no effect"},
                 {"layout.final_exaggeration=2", "leave it at 1"},
                 {"layout.degrees_of_freedom=2", "would have no effect"},
                 {"layout.trade_off=0.5", "nothing to trade off"},
                 {"layout.repulsion=exact", "has no such sum"},
                 {"output.graph=g.h5", "output.graph keeps P"},
                 {"output.model=m.h5", "output.model does not go"}};
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const ikt_settings settings = make_settings(ctx, &f, cases[c].settings);
        run_is_refused(ctx, &settings, cases[c].settings, cases[c].why);
    }
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(the_map_is_that_of_the_components), ikt_test(it_is_planned_without_a_kernel),
              ikt_test(what_it_has_no_use_for_is_refused))
