/* Whole runs of UMAP and LargeVis: the same map on any ranks and threads and after a stop, with
 * weights of several kinds; what there is a plan of; what is refused. */
#include "support/run.h"

#include <math.h>
#include <signal.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/watch.h"
#include "pipeline/outcome.h"
#include "plan/plan.h"

enum { ROWS = 150, COLUMNS = 5, CLASSES = 3, STOP_AT = 17 };

/* --- a data set, and a run of it -------------------------------------------------------------- */

static ikt_settings make_settings(ikt_context *ctx, const run_files *f, const char *text) {
    ikt_settings settings = run_settings(ctx, f, "layout.iterations=40");
    set(ctx, &settings, text);
    return settings;
}

/* --- the objective, which a test stops -------------------------------------------------------- */

static int64_t stop_at = -1, first_iteration = -1;
static const ikt_objective_kind *real;

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    if (first_iteration < 0) first_iteration = iteration;
    if (iteration == stop_at) raise(SIGTERM);
    return real->evaluate(objective, iteration, want_value, gradient, terms);
}

static uint64_t embed(ikt_context *ctx, const ikt_settings *settings) {
    ikt_run run;
    stop_at = first_iteration = -1;
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    const ikt_trace *trace = &run.embedding.trace;
    assert_string_equal(trace->value_name, "cost");
    assert_int_equal(trace->count, 5);
    assert_int_equal(trace->exaggeration_end, 0);
    assert_true(trace->point[4].value > 0 && isfinite(trace->point[4].gradient_norm));
    assert_true(trace->point[4].value < trace->point[0].value);
    const uint64_t hash = run.hash;
    ikt_run_finish(ctx, &run);
    ikt_run_destroy(&run);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static const char *const runs[] = {
    "affinity.kind=fuzzy layout.objective=umap umap.min_dist=0.3",
    ("affinity.kind=fuzzy affinity.search=approximate layout.objective=umap umap.pool=32 "
     "umap.far_rows=3 umap.redraw=3 layout.dimensions=3"),
    "layout.objective=umap umap.a=1 umap.b=1 layout.dimensions=1",
    "affinity.kind=gaussian gaussian.perplexity=10 layout.objective=largevis",
    "layout.objective=largevis largevis.pool=40 largevis.redraw=4 layout.init=random",
    "affinity.kind=fuzzy layout.init=landmark layout.landmarks=60 layout.objective=umap"};
enum { RUNS = sizeof runs / sizeof *runs };

static void it_gives_the_same_bits_on_any_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int r = 0; r < RUNS; r++) {
        const ikt_settings settings = make_settings(ctx, &f, runs[r]);
        const uint64_t hash = embed(alone, &settings);
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            if (embed(ctx, &settings) != hash)
                fail_msg("%s: another map with %d threads", runs[r], threads);
        }
    }
    ikt_context_destroy(&alone);
    io_remove(ctx, f.input);
}

/* In the middle of an epoch, too: the pool follows from the iteration. */
static void it_is_stopped_and_goes_on(void **state) {
    ikt_context *ctx = *state;
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    for (int r = 0; r < RUNS; r++) {
        ikt_settings settings = make_settings(ctx, &f, runs[r]);
        ikt_run run;
        real = ikt_objective_kind_of((ikt_objective_name)settings.layout.objective);
        ikt_objective_kind stopping = *real;
        const uint64_t whole = embed(ctx, &settings);
        stopping.evaluate = evaluate;
        settings.layout.custom = &stopping;
        set_checkpoint(ctx, &settings, &f);
        stop_at = STOP_AT;
        if (strstr(runs[r], "landmark")) continue; /* those would be stopped first */
        assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_STOPPED);
        io_expect(ctx, "stopped by");
        ikt_watch_signals_end();
        const uint64_t resumed = embed(ctx, &settings);
        assert_int_equal(first_iteration, STOP_AT + 1);
        assert_true(resumed == whole);
        ikt_watch_signals_end();
    }
    stop_at = -1;
    io_remove(ctx, f.input);
}

/* UMAP's weights keep their union on the way through a file. */
static void a_kept_graph_gives_the_same_map(void **state) {
    ikt_context *ctx = *state;
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    char kept[IO_NAME_MAX], text[2 * IO_NAME_MAX];
    io_name(ctx, "kept.h5", kept);
    snprintf(text, sizeof text, "affinity.kind=fuzzy layout.objective=umap output.graph=%s", kept);
    ikt_settings settings = make_settings(ctx, &f, text);
    const uint64_t hash = embed(ctx, &settings);
    snprintf(text, sizeof text, "layout.objective=umap input.file= input.graph=%s", kept);
    settings = make_settings(ctx, &f, text);
    assert_true(embed(ctx, &settings) == hash);
    /* The section of the objective is no part of the graph. */
    set(ctx, &settings, "umap.min_dist=0.3");
    assert_true(embed(ctx, &settings) != hash);
    set(ctx, &settings, "umap.min_dist=0.1 layout.objective=largevis largevis.repulsion=3");
    assert_true(embed(ctx, &settings) != hash);
    /* Nor are triplets: they compare its weights. */
    set(ctx, &settings, "largevis.repulsion=7 layout.objective=trimap trimap.neighbours=5");
    assert_true(embed(ctx, &settings) != hash);
    io_remove(ctx, kept);
    io_remove(ctx, f.input);
}

static void it_is_planned(void **state) {
    ikt_context *ctx = *state;
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    const ikt_data_shape shape = {.n = 100000, .d = COLUMNS, .type = IKT_TYPE_F32};
    for (int r = 0; r < RUNS; r++) {
        const ikt_settings settings = make_settings(ctx, &f, runs[r]);
        ikt_workload work;
        succeed(ctx, ikt_workload_make(ctx, &settings, &shape, 2, 1, &work));
        const ikt_memory_plan plan = ikt_memory_plan_make(&work, 0);
        assert_true(plan.stage[IKT_STAGE_LAYOUT] > 50000 * 4 * 3);
        assert_true(plan.stage[IKT_STAGE_GRAPH] > 0);
        if (work.landmarks > 0) continue;
        ikt_machine machine;
        const ikt_config_part part = ikt_machine_part(&machine);
        succeed(ctx, ikt_config_defaults(ctx, &part, 1));
        const ikt_time_plan time = ikt_time_plan_make(&work, NULL, &machine);
        assert_true(time.stage[IKT_STAGE_REPULSION].seconds > 0);
        assert_true(time.stage[IKT_STAGE_REPULSION].collectives >= 41);
        assert_true(time.stage[IKT_STAGE_ATTRACTION].seconds > 0);
    }
    io_remove(ctx, f.input);
}

static void what_makes_no_sense_is_refused_with_the_reason(void **state) {
    static const struct {
        const char *settings, *why;
    } cases[] = {
        {"umap.min_dist=2 layout.objective=umap", "must not be larger than umap.spread"},
        {"umap.a=2 layout.objective=umap", "are given together"},
        {"umap.pool=151 layout.objective=umap", "there are only 150 rows"},
        {"umap.pool=10 umap.far_rows=11 layout.objective=umap", "the pool has only 10 rows"},
        {"umap.min_dist=0.5", "layout.objective=umap"},
        {"largevis.repulsion=2 layout.objective=umap", "layout.objective=largevis"},
        {"layout.objective=umap layout.exaggeration=4", "would have no effect"},
        {"layout.objective=umap layout.final_momentum=0.5", "would have no effect"},
        {"layout.objective=largevis layout.repulsion=fft", "rows drawn at random"},
        {"layout.objective=largevis layout.degrees_of_freedom=2",
         "goes with layout.objective=tsne"},
        {"layout.objective=umap layout.trade_off=0.5", "nothing to trade off"},
        {"layout.objective=umap layout.final_exaggeration=2", "leave it at 1"},
        {"layout.objective=umap layout.stop=auto layout.iterations=auto", "layout.stop=auto"},
        {"layout.objective=umap affinity.support=dense", "take affinity.support=sparse"},
        {"layout.objective=largevis affinity.support=whole", "take affinity.support=sparse"},
        {"affinity.kind=fuzzy affinity.support=dense", "leave affinity.support at sparse"},
        {"affinity.kind=fuzzy affinity.neighbours=1", "affinity.neighbours of 2 or more"},
        {"affinity.kind=fuzzy affinity.neighbours=150", "choose at most 149"}};
    ikt_context *ctx = *state;
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const ikt_settings settings = make_settings(ctx, &f, cases[c].settings);
        run_is_refused(ctx, &settings, cases[c].settings, cases[c].why);
    }
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(it_gives_the_same_bits_on_any_ranks_and_threads),
              ikt_test(it_is_stopped_and_goes_on), ikt_test(a_kept_graph_gives_the_same_map),
              ikt_test(it_is_planned), ikt_test(what_makes_no_sense_is_refused_with_the_reason))
