/* Whole runs of TriMap: the same bits on any ranks and threads; stopping in the middle of an epoch;
 * copies of rows; what is refused. */
#include "support/run.h"
#include "support/stopping.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/watch.h"
#include "pipeline/outcome.h"

enum { ROWS = 333, COLUMNS = 6, CLASSES = 4, STOP_AT = 17 };

/* copies   how many times each row is there */
static run_files make_files(ikt_context *ctx, int copies) {
    static float rows[ROWS * COLUMNS];
    int32_t labels[ROWS];
    for (int64_t e = 0; e < ROWS * COLUMNS; e++) {
        const int64_t of = e / COLUMNS / copies;
        rows[e] = (float)(ikt_rng_normal(7, IKT_RNG_TEST, of, (uint64_t)(e % COLUMNS)) +
                          4 * (double)(of % CLASSES == e % COLUMNS));
    }
    for (int i = 0; i < ROWS; i++)
        labels[i] = i / copies % CLASSES;
    return run_files_write(ctx, rows, labels, ROWS, COLUMNS);
}

static ikt_settings make_settings(ikt_context *ctx, const run_files *f, const char *text) {
    ikt_settings settings = run_settings(ctx, f, "layout.iterations=45 layout.objective=trimap");
    set(ctx, &settings, text);
    return settings;
}

/* Rows in the order of the input and in that of cells; 333 rows are no whole tiles, and fewer than
 * a usual pool; epochs of one and of seven iterations. */
static const char *const variants[] = {
    "trimap.triplets=fixed affinity.kind=knn affinity.search=exact layout.dimensions=2",
    "trimap.triplets=fixed affinity.kind=isolation affinity.search=approximate layout.dimensions=3",
    "trimap.triplets=pool affinity.kind=knn affinity.search=approximate trimap.redraw=7",
    "trimap.triplets=pool affinity.kind=knn trimap.pool_rows=50 layout.dimensions=1",
    "trimap.triplets=pool affinity.kind=isolation affinity.search=exact trimap.pool_rows=64",
    "trimap.triplets=pool affinity.kind=isolation affinity.search=approximate layout.dimensions=3",
    "trimap.triplets=pool affinity.kind=gaussian trimap.weights=ratio trimap.t=1.5",
    "trimap.triplets=pool affinity.kind=knn trimap.weights=log",
    "trimap.triplets=pool preprocess.metric=manhattan affinity.kind=knn trimap.t_prime=1"};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void it_gives_the_same_bits_on_any_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const run_files f = make_files(ctx, 1);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int v = 0; v < VARIANTS; v++) {
        const ikt_settings settings = make_settings(ctx, &f, variants[v]);
        double here, there;
        ikt_context_set_threads(alone, 1);
        const uint64_t hash = run_hash(alone, &settings, &there);
        if (run_hash(ctx, &settings, &here) != hash) fail_msg("%s", variants[v]);
        assert_true(here == there);
    }
    ikt_context_destroy(&alone);
    io_remove(ctx, f.input);
}

static void it_is_stopped_in_an_epoch_and_goes_on(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx, 1);
    const ikt_objective_kind stopping = stopping_trimap();
    for (int v = 0; v < 3; v++) {
        ikt_settings settings = make_settings(ctx, &f, variants[v]);
        ikt_run run;
        settings.layout.custom = &stopping;
        stop_at = -1;
        const uint64_t whole = run_hash(ctx, &settings, NULL);
        set_checkpoint(ctx, &settings, &f);
        stop_at = STOP_AT;
        assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_STOPPED);
        ikt_watch_signals_end();
        stop_at = -1;
        assert_true(run_hash(ctx, &settings, NULL) == whole);
        ikt_watch_signals_end();
    }
    io_remove(ctx, f.input);
}

/* Every row fourteen times, more copies than near rows: a map of finite size. */
static void copies_do_no_harm(void **state) {
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx, 14);
    ikt_settings settings = make_settings(ctx, &f, "affinity.kind=knn layout.iterations=200");
    ikt_run run;
    for (int way = 0; way < 2; way++) {
        set(ctx, &settings, way == 0 ? "trimap.triplets=fixed" : "trimap.triplets=pool");
        succeed(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run));
        const double last = run.embedding.trace.point[run.embedding.trace.count - 1].value;
        assert_true(last >= 0 && last < run.embedding.trace.point[0].value);
        for (int64_t e = 0; e < 2 * run.rows.count; e++)
            assert_true(fabsf(run.embedding.y[e]) < 1e4f);
        ikt_run_destroy(&run);
    }
    io_remove(ctx, f.input);
}

/* Rules without a bound on forces overflowed: Gaussian similarities in the map, and no logarithm.
 */
static void rules_without_a_bound_give_finite_maps(void **state) {
    static const char *const rules[] = {"trimap.t=1 trimap.t_prime=1 trimap.weights=unit",
                                        "trimap.t=1 trimap.weights=unit", "trimap.t=0"};
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx, 1);
    for (int rule = 0; rule < 6; rule++) {
        ikt_settings settings = make_settings(ctx, &f, "affinity.kind=knn layout.iterations=400");
        ikt_run run;
        set(ctx, &settings, rules[rule / 2]);
        set(ctx, &settings, rule % 2 == 0 ? "trimap.triplets=fixed" : "trimap.triplets=pool");
        succeed(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run));
        const double last = run.embedding.trace.point[run.embedding.trace.count - 1].value;
        if (!(last >= 0 && last < run.embedding.trace.point[0].value))
            fail_msg("%s: %g", rules[rule / 2], last);
        ikt_run_destroy(&run);
    }
    io_remove(ctx, f.input);
}

enum { CROWD = 1200, PIXELS = 16, FAR_ROW = 77 };

/* Ten classes of rows along two or three directions each, as images of digits are; one of the rows
 * is shifted by ten root mean square lengths. */
static run_files make_outlier(ikt_context *ctx, uint64_t seed) {
    static float rows[CROWD * PIXELS];
    double square = 0, length = 0;
    for (int64_t i = 0; i < CROWD; i++)
        for (int64_t c = 0; c < PIXELS; c++) {
            const uint64_t at = (uint64_t)c;
            const double centre = ikt_rng_normal(seed, IKT_RNG_TEST, i % 10, at);
            const double along = ikt_rng_normal(seed, IKT_RNG_TEST, 10 + i % 10, at);
            const double how = ikt_rng_normal(seed, IKT_RNG_TEST, 100 + i, PIXELS);
            const double noise = ikt_rng_normal(seed, IKT_RNG_TEST, 100 + i, at);
            const double x = centre + 0.5 * how * along + 0.4 * noise;
            rows[i * PIXELS + c] = (float)x;
            square += x * x / CROWD;
        }
    for (uint64_t c = 0; c < PIXELS; c++)
        length += pow(ikt_rng_normal(seed, IKT_RNG_TEST, 5000, c), 2);
    for (int64_t c = 0; c < PIXELS; c++)
        rows[FAR_ROW * PIXELS + c] +=
            (float)(10 * sqrt(square / length) *
                    ikt_rng_normal(seed, IKT_RNG_TEST, 5000, (uint64_t)c));
    return run_files_write(ctx, rows, NULL, CROWD, PIXELS);
}

/* Rows that lie farther from the middle of the map than the far one. */
static int64_t rows_farther_out(ikt_context *ctx, const ikt_run *run) {
    double own = 0;
    int64_t farther = 0;
    for (int64_t i = 0; i < run->rows.count; i++)
        if (run->rows.first + i == FAR_ROW)
            own = hypot((double)run->embedding.y[2 * i], (double)run->embedding.y[2 * i + 1]);
    ikt_max_f64(ctx, &own, 1);
    for (int64_t i = 0; i < run->rows.count; i++)
        farther +=
            hypot((double)run->embedding.y[2 * i], (double)run->embedding.y[2 * i + 1]) > own;
    return ikt_sum_one(ctx, farther);
}

/* TriMap shows one row that is far from all others (Amid and Warmuth 2019, section 2), by default
 * and by distances: outside all but a few rows. */
static void a_far_row_lies_outside(void **state) {
    static const char *const ways[] = {"", "affinity.search=approximate",
                                       "trimap.triplets=fixed affinity.kind=knn"};
    ikt_context *ctx = *state;
    for (int way = 0; way < 3; way++) {
        const run_files f = make_outlier(ctx, 3 + (uint64_t)way);
        const ikt_settings settings = run_settings(ctx, &f, "layout.objective=trimap");
        ikt_settings own = settings;
        ikt_run run;
        set(ctx, &own, ways[way]);
        succeed(ctx, ikt_pipeline_run(ctx, &own, NULL, &run));
        const int64_t farther = rows_farther_out(ctx, &run);
        if (farther > CROWD / 100) fail_msg("%s: %lld rows", ways[way], (long long)farther);
        ikt_run_destroy(&run);
        io_remove(ctx, f.input);
    }
}

/* --- what is refused -------------------------------------------------------------------------- */

static void settings_that_make_no_sense_are_refused(void **state) {
    static const struct {
        const char *settings, *why;
    } bad[] = {{"trimap.neighbours=332", "choose at most 331"},
               {"trimap.scale_from=6 affinity.kind=knn", "name no rows"},
               {"trimap.triplets=pool trimap.pool_rows=400", "there are 333 rows"},
               {"trimap.triplets=pool trimap.pool_rows=3 trimap.far_rows=5", "the pool has 3 rows"},
               {"trimap.triplets=pool trimap.far_rows=1", "needs pairs of far rows"},
               {"layout.repulsion=exact", "sum over all pairs"},
               {"layout.trade_off=0.5", "nothing to trade off"},
               {"affinity.neighbours=7", "chooses among them"},
               {"affinity.support=dense", "lists of neighbours"},
               {"layout.final_exaggeration=4", "no attraction that could be exaggerated"},
               {"layout.exaggeration=4", "would have no effect"},
               {"layout.degrees_of_freedom=2", "would have no effect"},
               {"gaussian.perplexity=20 affinity.kind=gaussian", "would have no effect"},
               {"trimap.scale_to=20", "would have no effect"}, /* of the Isolation kernel */
               {"trimap.triplets=fixed trimap.redraw=2", "would have no effect"},
               {"layout.objective=tsne trimap.t=3", "would have no effect"},
               {"layout.objective=umap output.model=model.h5", "by triplets (trimap)"},
               {"output.graph=graph.h5", "does not make"}};
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx, 1);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        const ikt_settings settings = make_settings(ctx, &f, bad[b].settings);
        run_is_refused(ctx, &settings, bad[b].settings, bad[b].why);
    }
    io_remove(ctx, f.input);
}

static void rows_that_make_no_map_are_refused(void **state) {
    static const char *const kinds[] = {"affinity.kind=knn", "affinity.kind=isolation"};
    static const char *const ways[] = {"trimap.triplets=fixed", "trimap.triplets=pool"};
    ikt_context *ctx = *state;
    const run_files f = make_files(ctx, ROWS);
    ikt_settings settings = make_settings(ctx, &f, "");
    ikt_run run;
    for (int k = 0; k < 4; k++) {
        set(ctx, &settings, kinds[k % 2]);
        set(ctx, &settings, ways[k / 2]);
        refuse(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_DATA,
               k % 2 == 0 ? "remove copies" : "are all rows equal");
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(it_gives_the_same_bits_on_any_ranks_and_threads),
              ikt_test(it_is_stopped_in_an_epoch_and_goes_on), ikt_test(copies_do_no_harm),
              ikt_test(rules_without_a_bound_give_finite_maps), ikt_test(a_far_row_lies_outside),
              ikt_test(settings_that_make_no_sense_are_refused),
              ikt_test(rows_that_make_no_map_are_refused))
