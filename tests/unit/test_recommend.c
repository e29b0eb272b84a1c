/* Recommended placements: they fit, are fast by their own predictions, and small runs stay on one
 * rank. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"

enum { BASE = 60 << 20 };

static ikt_settings settings_of(ikt_context *ctx) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
    return settings;
}

static ikt_machine machine_of(ikt_context *ctx) {
    ikt_machine machine;
    ikt_config_part part = ikt_machine_part(&machine);
    assert_int_equal(ikt_config_defaults(ctx, &part, 1), IKT_OK);
    return machine;
}

static ikt_recommendation recommend(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                                    ikt_cluster cluster) {
    const ikt_data_shape shape = {.n = n, .d = 50, .type = IKT_TYPE_F32};
    const ikt_machine machine = machine_of(ctx);
    ikt_recommendation out;
    assert_int_equal(ikt_recommend(ctx, settings, &shape, &machine, BASE, &cluster, &out), IKT_OK);
    return out;
}

/* A placement planned once more, by itself. */
static ikt_plan plan_of(ikt_context *ctx, const ikt_settings *settings, int64_t n, int64_t ranks,
                        int64_t threads) {
    const ikt_data_shape shape = {.n = n, .d = 50, .type = IKT_TYPE_F32};
    ikt_plan plan = {.machine = machine_of(ctx)};
    assert_int_equal(ikt_workload_make(ctx, settings, &shape, (int)ranks, (int)threads, &plan.work),
                     IKT_OK);
    assert_int_equal(ikt_plan_make(ctx, BASE, &plan), IKT_OK);
    return plan;
}

static void check(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                  const ikt_recommendation *r, const ikt_placement *p) {
    const ikt_cluster *c = &r->cluster;
    const int64_t each = p->ranks / p->nodes;
    const ikt_plan plan = plan_of(ctx, settings, n, p->ranks, p->threads);
    assert_true(p->nodes >= 1 && p->nodes <= c->nodes && p->ranks <= n);
    assert_int_equal(each * p->nodes, p->ranks);
    assert_int_equal(c->cores % each, 0);
    assert_true(each * p->threads <= c->cores && p->threads <= c->cores / c->domains);
    assert_int_equal(p->node_bytes, each * plan.memory.peak);
    assert_true(p->seconds == plan.time.stage[IKT_STAGE_TOTAL].seconds);
    assert_true((double)p->node_bytes <= 0.9 * (double)c->memory);
}

/* The best of all placements on so many nodes that fit, found one by one. */
static double fastest(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                      const ikt_cluster *c, int64_t nodes) {
    double best = INFINITY;
    for (int64_t each = 1; each <= c->cores && each * nodes <= n; each++) {
        int64_t threads = c->cores / each;
        if (c->cores % each != 0) continue;
        if (threads > c->cores / c->domains) threads = c->cores / c->domains;
        const ikt_plan plan = plan_of(ctx, settings, n, each * nodes, threads);
        if ((double)(each * plan.memory.peak) <= 0.9 * (double)c->memory)
            best = fmin(best, plan.time.stage[IKT_STAGE_TOTAL].seconds);
    }
    return best;
}

static void it_fits_and_is_fast(void **state) {
    ikt_context *ctx = *state;
    const ikt_settings settings = settings_of(ctx);
    const int64_t sizes[] = {50, 3000, 100000, 2000000, 30000000};
    const ikt_cluster clusters[] = {{1, 2, 1, INT64_C(8) << 30},
                                    {16, 64, 2, INT64_C(256) << 30},
                                    {6, 24, 4, INT64_C(16) << 30}};
    int found = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof clusters / sizeof *clusters; k++) {
            const ikt_recommendation r = recommend(ctx, &settings, sizes[i], clusters[k]);
            const ikt_placement *first = &r.of_nodes[0];
            if (!r.fits) continue;
            found++;
            check(ctx, &settings, sizes[i], &r, &r.best);
            for (int v = 0; v < r.count; v++) {
                const double best =
                    fastest(ctx, &settings, sizes[i], &clusters[k], r.of_nodes[v].nodes);
                check(ctx, &settings, sizes[i], &r, &r.of_nodes[v]);
                assert_true(r.of_nodes[v].seconds <= best / 0.9 * (1 + 1e-12));
            }
            if ((double)r.single.node_bytes <= 0.9 * (double)r.cluster.memory)
                assert_true(r.best.seconds <= r.single.seconds);
            /* More nodes than needed are half used at least. */
            assert_true(r.best.nodes == first->nodes ||
                        first->seconds * (double)first->nodes >=
                            0.5 * r.best.seconds * (double)r.best.nodes);
        }
    assert_true(found >= 12);
}

static void small_runs_get_one_rank_and_large_ones_the_nodes(void **state) {
    ikt_context *ctx = *state;
    const ikt_settings settings = settings_of(ctx);
    const ikt_cluster cluster = {16, 64, 2, INT64_C(256) << 30};
    const ikt_recommendation small = recommend(ctx, &settings, 1000, cluster);
    assert_int_equal(small.best.ranks, 1);
    assert_int_equal(small.best.nodes, 1);
    assert_int_equal(small.best.threads, 32);
    const ikt_recommendation large = recommend(ctx, &settings, 20000000, cluster);
    assert_int_equal(large.best.nodes, 16);
    assert_true(large.best.seconds < large.of_nodes[0].seconds / 8);
    assert_int_equal(large.count, 5); /* 1, 2, 4, 8, 16 */
    const ikt_recommendation six =
        recommend(ctx, &settings, 20000000, (ikt_cluster){6, 64, 2, INT64_C(256) << 30});
    assert_int_equal(six.count, 4); /* 1, 2, 4, and all 6 */
    assert_int_equal(six.of_nodes[3].nodes, 6);
}

static void what_was_set_is_obeyed_and_what_does_not_fit_is_said(void **state) {
    ikt_context *ctx = *state;
    ikt_settings settings = settings_of(ctx);
    settings.run.threads = 4;
    const ikt_cluster cluster = {1, 64, 2, INT64_C(256) << 30};
    const ikt_recommendation r = recommend(ctx, &settings, 1000000, cluster);
    assert_true(r.fits && r.best.threads <= 4);
    settings = settings_of(ctx);
    const ikt_cluster tiny = {2, 8, 1, INT64_C(1) << 30};
    const ikt_recommendation none = recommend(ctx, &settings, 20000000, tiny);
    assert_false(none.fits);
    assert_int_equal(none.count, 0);
    assert_non_null(none.advice);
    for (int64_t nodes = 1; nodes <= 2; nodes++)
        for (int64_t each = 1; each <= 8; each *= 2) {
            const ikt_plan plan = plan_of(ctx, &settings, 20000000, nodes * each, 8 / each);
            assert_true(none.leanest.node_bytes <= each * plan.memory.peak);
        }
}

static void this_machine_has_something(void **state) {
    const ikt_cluster here = ikt_cluster_here();
    (void)state;
    assert_int_equal(here.nodes, 1);
    assert_true(here.cores >= 1 && here.domains >= 1 && here.domains <= here.cores);
    assert_true(here.memory > 1 << 20);
}

IKT_MPI_TESTS(ikt_test(it_fits_and_is_fast),
              ikt_test(small_runs_get_one_rank_and_large_ones_the_nodes),
              ikt_test(what_was_set_is_obeyed_and_what_does_not_fit_is_said),
              ikt_test(this_machine_has_something))
