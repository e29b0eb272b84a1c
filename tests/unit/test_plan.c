/* The arithmetic of plans against numbers worked out by hand. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "kernelsum/slabs.h"
#include "plan/plan.h"

/* Rates of 1 and a network that is easy to reckon with: 1 us, 1 GB/s. */
static ikt_machine simple_machine(ikt_context *ctx) {
    ikt_machine m;
    ikt_config_part part = ikt_machine_part(&m);
    memset(&m, 0, sizeof m);
    assert_int_equal(ikt_config_defaults(ctx, &part, 1), IKT_OK);
    for (size_t k = 0; k < ikt_machine_section.n_keys; k++) {
        const ikt_key *key = &ikt_machine_section.keys[k];
        if (key->type == IKT_KEY_REAL) *(double *)((char *)&m + key->offset) = 1;
    }
    return m;
}

static ikt_settings defaults(ikt_context *ctx) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
    return settings;
}

static ikt_workload workload(ikt_context *ctx, const ikt_settings *settings, int64_t n, int64_t d,
                             ikt_type type, int ranks, int threads) {
    const ikt_data_shape shape = {.n = n, .d = d, .type = type};
    ikt_workload w;
    assert_int_equal(ikt_workload_make(ctx, settings, &shape, ranks, threads, &w), IKT_OK);
    return w;
}

static void near_to(double value, double expected) {
    assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

/* What the inner kernel alone would take, or up to twice that. */
static void within_two(double value, double kernel) {
    assert_true(value >= kernel && value <= 2 * kernel);
}

static void transfers_follow_the_formulas(void **state) {
    ikt_machine m = simple_machine(*state);
    ikt_cost reduced = ikt_cost_reduction(&m, 4, 1e6); /* 2 doublings twice; 1.5 MB moved */
    near_to(reduced.seconds, 4e-6 + 1.5e-3);
    near_to(reduced.bytes_sent, 1e6);
    near_to(reduced.collectives, 1);
    ikt_cost joined = ikt_cost_concatenation(&m, 5, 1e6); /* 3 doublings; 0.8 MB come */
    near_to(joined.seconds, 3e-6 + 0.8e-3);
    near_to(joined.bytes_sent, 2e5);
    ikt_cost sent = ikt_cost_messages(&m, 7, 2e6);
    near_to(sent.seconds, 7e-6 + 2e-3);
    near_to(sent.messages, 7);
    ikt_cost alone = ikt_cost_reduction(&m, 1, 1e6);
    assert_true(alone.seconds == 0 && alone.bytes_sent == 0 && alone.collectives == 1);
}

/* 1,000 rows of 10 bytes, psi 8, t 5, on one rank with two threads: every count is small. */
static ikt_settings small_settings(ikt_context *ctx) {
    ikt_settings s = defaults(ctx);
    s.preprocess.normalise = IKT_NORMALISE_NONE;
    s.isolation.psi = 8;
    s.isolation.partitionings = 5;
    s.affinity.neighbours = 20;
    s.layout.init = IKT_INIT_RANDOM;
    s.layout.iterations = 99; /* and one evaluation more */
    s.layout.exaggeration_iterations = 30;
    s.layout.report_every = 50;
    s.layout.repulsion = IKT_REPULSION_EXACT;
    return s;
}

static ikt_time_plan small_plan(ikt_context *ctx, const ikt_settings *s, int64_t n, int threads) {
    ikt_machine m = simple_machine(ctx);
    m.file = 1e30; /* nothing to read */
    const ikt_workload w = workload(ctx, s, n, 10, IKT_TYPE_U8, 1, threads);
    assert_true(w.is_u8 && w.scores == IKT_SCORES_CODES && w.is_exact && !w.is_near && !w.is_dense);
    return ikt_time_plan_make(&w, NULL, &m);
}

static void stages_count_their_operations(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = small_settings(ctx);
    const ikt_time_plan plan = small_plan(ctx, &s, 1000, 2);
    const ikt_cost *stage = plan.stage;
    near_to(plan.gradients, 100);
    within_two(stage[IKT_STAGE_CODES].seconds, 1000 * 8 * 5 * 10 / 1e9 / 2);
    within_two(stage[IKT_STAGE_NEIGHBOURS].seconds, 1e6 * 64 / 1e9 / 2); /* codes of 64 bytes */
    assert_true(stage[IKT_STAGE_LAYOUT].seconds > stage[IKT_STAGE_ATTRACTION].seconds +
                                                      stage[IKT_STAGE_REPULSION].seconds +
                                                      stage[IKT_STAGE_STEP].seconds);
    assert_true(stage[IKT_STAGE_FFT].seconds == 0 && stage[IKT_STAGE_HALO].seconds == 0);
    assert_true(stage[IKT_STAGE_TOTAL].bytes_sent == 0);
    near_to(ikt_time_plan_iteration(&plan).seconds, stage[IKT_STAGE_LAYOUT].seconds / 100);
}

/* What costs how many basic operations is not asked here, but what it grows with. */
static void stages_grow_with_their_operations(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = small_settings(ctx);
    const ikt_time_plan plan = small_plan(ctx, &s, 1000, 2);
    const ikt_time_plan twice = small_plan(ctx, &s, 2000, 2); /* rows */
    near_to(twice.stage[IKT_STAGE_GRAPH].seconds, 2 * plan.stage[IKT_STAGE_GRAPH].seconds);
    near_to(twice.stage[IKT_STAGE_REPULSION].seconds, 4 * plan.stage[IKT_STAGE_REPULSION].seconds);
    near_to(twice.stage[IKT_STAGE_STEP].seconds, 2 * plan.stage[IKT_STAGE_STEP].seconds);
    assert_true(plan.stage[IKT_STAGE_REPULSION].seconds > 0);
    s.affinity.neighbours = 40;
    const ikt_time_plan longer = small_plan(ctx, &s, 1000, 2);
    near_to(longer.stage[IKT_STAGE_GRAPH].seconds, 2 * plan.stage[IKT_STAGE_GRAPH].seconds);
    /* An entry of P adds to what a row takes: with k neighbours a + k b. */
    s.affinity.neighbours = 60;
    const ikt_time_plan longest = small_plan(ctx, &s, 1000, 2);
    const double more_entries =
        longer.stage[IKT_STAGE_ATTRACTION].seconds - plan.stage[IKT_STAGE_ATTRACTION].seconds;
    near_to(longest.stage[IKT_STAGE_ATTRACTION].seconds,
            longer.stage[IKT_STAGE_ATTRACTION].seconds + more_entries);
    assert_true(more_entries > 0 && more_entries < plan.stage[IKT_STAGE_ATTRACTION].seconds);
    /* The divergence, in iterations 0 and 50 so far, is part of the attraction: with n reports it
     * takes a + n d. */
    s = small_settings(ctx);
    s.layout.report_every = 25; /* 4 reports */
    const double four = small_plan(ctx, &s, 1000, 2).stage[IKT_STAGE_ATTRACTION].seconds;
    s.layout.report_every = 10; /* 10 reports */
    const double ten = small_plan(ctx, &s, 1000, 2).stage[IKT_STAGE_ATTRACTION].seconds;
    assert_true(four > plan.stage[IKT_STAGE_ATTRACTION].seconds);
    near_to(ten - four, 3 * (four - plan.stage[IKT_STAGE_ATTRACTION].seconds));
    /* And with the evaluations of the gradient. */
    s = small_settings(ctx);
    s.layout.iterations = 199;
    const ikt_time_plan more = small_plan(ctx, &s, 1000, 2);
    near_to(more.stage[IKT_STAGE_REPULSION].seconds, 2 * plan.stage[IKT_STAGE_REPULSION].seconds);
    near_to(more.stage[IKT_STAGE_ATTRACTION].seconds,
            2 * plan.stage[IKT_STAGE_ATTRACTION].seconds); /* 4 reports of 200 */
}

/* The same rows down trees instead: 1 + 2 ln(psi) nodes for each of them and for each sampled row.
 */
static void trees_count_the_nodes_passed(void **state) {
    ikt_context *ctx = *state;
    ikt_machine m = simple_machine(ctx);
    m.file = 1e30;
    ikt_settings s = defaults(ctx);
    s.preprocess.normalise = IKT_NORMALISE_NONE;
    s.isolation.form = IKT_FORM_FOREST;
    s.isolation.psi = 8;
    s.isolation.partitionings = 5;
    ikt_workload w = workload(ctx, &s, 1000, 10, IKT_TYPE_U8, 1, 2);
    ikt_time_plan plan = ikt_time_plan_make(&w, NULL, &m);
    assert_true(w.scores == IKT_SCORES_CODES && w.is_forest && w.compared == 5 * 8);
    s.isolation.psi = 16;
    s.isolation.partitionings = 10;
    const ikt_workload larger = workload(ctx, &s, 1000, 10, IKT_TYPE_U8, 1, 2);
    near_to(ikt_time_plan_make(&larger, NULL, &m).stage[IKT_STAGE_CODES].seconds /
                plan.stage[IKT_STAGE_CODES].seconds,
            1016 * 10 * (1 + 2 * log(16)) / (1008 * 5 * (1 + 2 * log(8))));
    /* Their coarse cells do not come with the codes: rows are read again, as for distances. */
    s.affinity.search = IKT_SEARCH_APPROXIMATE;
    ikt_workload trees = workload(ctx, &s, 100000, 10, IKT_TYPE_U8, 1, 2);
    s.affinity.kind = IKT_AFFINITY_KNN;
    ikt_workload distances = workload(ctx, &s, 100000, 10, IKT_TYPE_U8, 1, 2);
    assert_true(distances.scores != IKT_SCORES_CODES && !distances.is_forest);
    plan = ikt_time_plan_make(&trees, NULL, &m);
    near_to(plan.stage[IKT_STAGE_CELLS].seconds,
            ikt_time_plan_make(&distances, NULL, &m).stage[IKT_STAGE_CELLS].seconds);
}

/* Half of the rows on each of two ranks, unordered: every entry crosses with probability 1/2. */
static void the_boundary_of_unordered_rows_is_nearly_everything(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    s.affinity.search = IKT_SEARCH_EXACT;
    s.layout.grid = IKT_SHARING_REPLICATED;
    ikt_workload w = workload(ctx, &s, 10000, 50, IKT_TYPE_F32, 2, 1);
    near_to(ikt_workload_cut(&w), 0.5);
    near_to(ikt_workload_boundary(&w), 5000 * (1 - exp(-0.5 * 1.26 * 30)));
    near_to(ikt_workload_partners(&w), 1);
    ikt_machine m = simple_machine(ctx);
    ikt_time_plan plan = ikt_time_plan_make(&w, NULL, &m);
    near_to(plan.stage[IKT_STAGE_HALO].bytes_sent, 751 * 8 * ikt_workload_boundary(&w));
    near_to(plan.stage[IKT_STAGE_HALO].messages, 751);
    /* Bounds, grid, Z; and divergence and norm at iterations 0, 50, ..., 750. */
    near_to(ikt_time_plan_iteration(&plan).collectives, 3 + 2 * 16.0 / 751);
}

/* What objective and dimensions change: a second grid for NeRV, three numbers a boundary row, a
 * tree in place of a grid, and one pass for a dense P with exact sums. */
static void plans_know_objective_and_dimensions(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    ikt_machine m = simple_machine(ctx);
    s.layout.grid = IKT_SHARING_REPLICATED;
    const ikt_workload flat = workload(ctx, &s, 50000, 50, IKT_TYPE_F32, 2, 1);
    s.layout.objective = IKT_OBJECTIVE_NERV;
    const ikt_workload nerv = workload(ctx, &s, 50000, 50, IKT_TYPE_F32, 2, 1);
    s.layout.objective = IKT_OBJECTIVE_TSNE;
    s.layout.dimensions = 3;
    const ikt_workload solid = workload(ctx, &s, 50000, 50, IKT_TYPE_F32, 2, 1);
    const ikt_time_plan a = ikt_time_plan_make(&flat, NULL, &m);
    const ikt_time_plan b = ikt_time_plan_make(&nerv, NULL, &m);
    const ikt_time_plan c = ikt_time_plan_make(&solid, NULL, &m);
    near_to(b.stage[IKT_STAGE_FFT].seconds, 2 * a.stage[IKT_STAGE_FFT].seconds);
    near_to(b.stage[IKT_STAGE_SPREAD].seconds, 2 * a.stage[IKT_STAGE_SPREAD].seconds);
    near_to(c.stage[IKT_STAGE_HALO].bytes_sent, 1.5 * a.stage[IKT_STAGE_HALO].bytes_sent);
    near_to(c.stage[IKT_STAGE_STEP].seconds, 1.5 * a.stage[IKT_STAGE_STEP].seconds);
    assert_true(c.stage[IKT_STAGE_FFT].seconds == 0 && c.stage[IKT_STAGE_SPREAD].seconds == 0);
    assert_true(ikt_memory_plan_make(&nerv, 0).stage[IKT_STAGE_LAYOUT] >
                ikt_memory_plan_make(&flat, 0).stage[IKT_STAGE_LAYOUT]);

    s.affinity.support = IKT_SUPPORT_DENSE;
    s.layout.repulsion = IKT_REPULSION_EXACT;
    const ikt_workload dense = workload(ctx, &s, 2000, 50, IKT_TYPE_F32, 2, 1);
    const ikt_time_plan d = ikt_time_plan_make(&dense, NULL, &m);
    assert_true(d.stage[IKT_STAGE_ATTRACTION].seconds == 0);
    assert_true(d.stage[IKT_STAGE_REPULSION].seconds > 0);
    /* A point of the tree costs as much as 9,000 to 10,000 exact pairs, beside what is sent. */
    m.latency = 0;
    m.bandwidth = 1e30;
    const double pair =
        ikt_time_plan_make(&dense, NULL, &m).stage[IKT_STAGE_REPULSION].seconds / (1000.0 * 2000);
    const double tree = ikt_time_plan_make(&solid, NULL, &m).stage[IKT_STAGE_REPULSION].seconds;
    assert_true(tree > 25000.0 * 9000 * pair && tree < 25000.0 * 10000 * pair);
}

/* Slabs halve the transform on two ranks, and each charge is summed on one of them only. */
/* As counted: docs and plan.h have the sets. */
static void larger_sets_have_fewer_mutual_neighbours(void **state) {
    (void)state;
    near_to(ikt_symmetric_share(10000), 1.26);
    near_to(ikt_symmetric_share(1000000), 1.53);
    near_to(ikt_symmetric_share(10), ikt_symmetric_share(1000));
    near_to(ikt_symmetric_share(100000000), ikt_symmetric_share(10000000));
}

static void shared_grids_divide_the_transform(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    ikt_machine m = simple_machine(ctx);
    m.latency = 0;
    m.bandwidth = m.reduction = 1e30;
    s.layout.grid = IKT_SHARING_REPLICATED;
    ikt_workload whole = workload(ctx, &s, 100000, 50, IKT_TYPE_F32, 2, 1);
    s.layout.grid = IKT_SHARING_SLABS;
    ikt_workload shared = workload(ctx, &s, 100000, 50, IKT_TYPE_F32, 2, 1);
    ikt_time_plan a = ikt_time_plan_make(&whole, NULL, &m);
    ikt_time_plan b = ikt_time_plan_make(&shared, NULL, &m);
    near_to(b.stage[IKT_STAGE_FFT].seconds, a.stage[IKT_STAGE_FFT].seconds / 2);
    near_to(b.stage[IKT_STAGE_FFT].messages, 3 * 751); /* there and back, and potentials */
    near_to(b.stage[IKT_STAGE_FFT].collectives, 0);
    near_to(b.stage[IKT_STAGE_GRID_SUM].messages, 751); /* half of the touched pieces, with bits */
    near_to(b.stage[IKT_STAGE_GRID_SUM].bytes_sent - 751 * 8,
            a.stage[IKT_STAGE_GRID_SUM].bytes_sent * ikt_slabs_touched_share(2) / 2 * 65 / 64);
}

/* Landmarks are a plan of their own and a comparison of each row with all of them. */
/* Every row is a centre here: a fine cell has one row. */
static void rows_have_the_fine_cells_that_hold_their_candidates(void **state) {
    static const int64_t known[][2] = {{50, 68 /* twice the neighbours */}, {200, 208}, {600, 608}};
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    ikt_workload w = workload(ctx, &s, 100000, 50, IKT_TYPE_F32, 1, 1);
    assert_int_equal(w.model.psi, 12500);
    assert_int_equal(w.model.near, 80); /* the list: 8 (log(200) + 4.6) */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        s.affinity.candidates = known[i][0];
        w = workload(ctx, &s, 100000, 50, IKT_TYPE_F32, 1, 1);
        assert_int_equal(w.model.near, known[i][1]);
    }
}

static void landmarks_are_planned(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    ikt_machine m = simple_machine(ctx);
    s.layout.init = IKT_INIT_LANDMARK;
    ikt_workload w = workload(ctx, &s, 200000, 50, IKT_TYPE_F32, 1, 1), few;
    assert_int_equal(w.landmarks, 10000);
    assert_int_equal(ikt_workload_of_landmarks(ctx, &w, &few), IKT_OK);
    assert_true(few.data.n == 10000 && few.data.d == 50 && few.landmarks == 0);
    ikt_time_plan own = ikt_time_plan_make(&few, NULL, &m), all = ikt_time_plan_make(&w, &few, &m);
    ikt_time_plan without = ikt_time_plan_make(&w, NULL, &m);
    double compared = 200000.0 * 10000 * (double)ikt_workload_searched_bytes(&w) / 1e9;
    within_two(without.stage[IKT_STAGE_LANDMARKS].seconds, compared);
    near_to(all.stage[IKT_STAGE_LANDMARKS].seconds,
            without.stage[IKT_STAGE_LANDMARKS].seconds + own.stage[0].seconds);
}

static void ordered_rows_stay_together(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    double before = 0;
    for (int ranks = 1; ranks <= 4096; ranks *= 2) {
        ikt_workload w = workload(ctx, &s, 8100000, 50, IKT_TYPE_F32, ranks, 1);
        double others = (double)(w.distribution.n - w.distribution.count),
               cut = ikt_workload_cut(&w);
        assert_true(w.is_near);
        assert_true(ranks == 1 ? cut == 0 : cut > before && cut < (double)(ranks - 1) / ranks);
        assert_true(ikt_workload_boundary(&w) <= others);
        assert_true(ikt_workload_partners(&w) <= ranks - 1);
        before = cut;
    }
}

/* Twice the threads halve the work; other ranks divide it and add transfers. */
static void plans_scale(void **state) {
    ikt_context *ctx = *state;
    ikt_machine m = simple_machine(ctx);
    ikt_settings s = defaults(ctx);
    ikt_workload one = workload(ctx, &s, 200000, 50, IKT_TYPE_F32, 1, 1);
    ikt_workload two = workload(ctx, &s, 200000, 50, IKT_TYPE_F32, 1, 2);
    ikt_workload ranks = workload(ctx, &s, 200000, 50, IKT_TYPE_F32, 2, 1);
    ikt_time_plan a = ikt_time_plan_make(&one, NULL, &m), b = ikt_time_plan_make(&two, NULL, &m);
    ikt_time_plan c = ikt_time_plan_make(&ranks, NULL, &m);
    const ikt_stage shared[] = {IKT_STAGE_ATTRACTION, IKT_STAGE_SPREAD, IKT_STAGE_GATHER,
                                IKT_STAGE_STEP};
    for (int i = 0; i < 4; i++) {
        const double whole = a.stage[shared[i]].seconds, part = c.stage[shared[i]].seconds;
        near_to(b.stage[shared[i]].seconds, whole / 2);
        if (shared[i] != IKT_STAGE_ATTRACTION) near_to(part, whole / 2);
        assert_true(part > 0.4 * whole && part <= whole / 2); /* fewer positions lie nearer */
    }
    assert_true(a.stage[IKT_STAGE_TOTAL].bytes_sent == 0);
    assert_true(c.stage[IKT_STAGE_GRID_SUM].bytes_sent > 0);
    assert_true(c.stage[IKT_STAGE_NEIGHBOURS].messages > 0);
}

static void memory_is_that_of_the_largest_stage(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    const int64_t base = 1000000, n = 1000000;
    ikt_workload w = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 1);
    ikt_memory_plan p = ikt_memory_plan_make(&w, base);
    int64_t most = 0;
    for (int stage = 0; stage < IKT_STAGE_COUNT; stage++)
        most = p.stage[stage] > most ? p.stage[stage] : most;
    assert_int_equal(p.stage[p.largest], most);
    assert_true(p.base > base); /* with buffers of libraries */
    assert_int_equal(p.peak, p.base + most);
    assert_true(p.stage[IKT_STAGE_NEIGHBOURS] > n * (448 + 8 * 30)); /* codes of two bytes, lists */
    assert_true(p.stage[IKT_STAGE_GRAPH] > 14 * 8 * 30 * n / 10);    /* P */

    s.output.measures =
        IKT_MEASURES_ALL; /* 2,000 queries: distances to all rows, 256 MiB at a time */
    ikt_workload all = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 1);
    assert_true(ikt_memory_plan_make(&all, base).stage[IKT_STAGE_MEASURES] >
                p.stage[IKT_STAGE_MEASURES] + (200 << 20));
    s.output.measures = IKT_MEASURES_NONE;
    ikt_workload none = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 1);
    assert_true(ikt_memory_plan_make(&none, base).stage[IKT_STAGE_MEASURES] <
                p.stage[IKT_STAGE_MEASURES]);
    ikt_workload half = workload(ctx, &s, n, 50, IKT_TYPE_F32, 2, 1);
    assert_true(10 * ikt_memory_plan_make(&half, base).stage[IKT_STAGE_GRAPH] <
                7 * p.stage[IKT_STAGE_GRAPH]);
}

static void eigenvectors_are_counted_where_they_are_wanted(void **state) {
    ikt_context *ctx = *state;
    const ikt_machine m = simple_machine(ctx);
    const int64_t n = 1000000;
    ikt_settings s = defaults(ctx);
    ikt_workload w = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 2);
    assert_int_equal(ikt_memory_plan_make(&w, 0).stage[IKT_STAGE_SPECTRUM], 0);
    assert_true(ikt_time_plan_make(&w, NULL, &m).stage[IKT_STAGE_SPECTRUM].seconds == 0);
    s.layout.init = IKT_INIT_SPECTRAL;
    w = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 2);
    const int64_t start = ikt_memory_plan_make(&w, 0).stage[IKT_STAGE_SPECTRUM];
    const double seconds = ikt_time_plan_make(&w, NULL, &m).stage[IKT_STAGE_SPECTRUM].seconds;
    /* P; two blocks of 12 columns; scales, components and the start itself. */
    assert_true(start > n * (14 * 8 * 30 / 10 + 2 * 8 * 12 + 2 * 8 + 2 * 8));
    assert_true(start < n * (14 * 8 * 30 / 10 + 2 * 8 * 12 + 150));
    s.layout.eigengap = IKT_EIGENGAP_ABSOLUTE;
    w = workload(ctx, &s, n, 50, IKT_TYPE_F32, 1, 2);
    assert_true(ikt_memory_plan_make(&w, 0).stage[IKT_STAGE_SPECTRUM] > start + n * 2 * 8 * 28);
    assert_true(ikt_time_plan_make(&w, NULL, &m).stage[IKT_STAGE_SPECTRUM].seconds > 3 * seconds);
    w = workload(ctx, &s, n, 50, IKT_TYPE_F32, 4, 2); /* boundary rows come and go */
    assert_true(ikt_time_plan_make(&w, NULL, &m).stage[IKT_STAGE_SPECTRUM].messages > 0);
}

static void impossible_work_is_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_settings s = defaults(ctx);
    const ikt_shape shape = {.data = {.n = 100, .d = 10, .type = IKT_TYPE_F32}, .has_rows = true};
    ikt_recipe recipe;
    s.preprocess.pca = 11;
    assert_int_equal(ikt_recipe_make(ctx, &s, &shape, 1, 1, &recipe), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "preprocess.pca = 11"));
    ikt_clear(ctx);
    s.preprocess.pca = 0;
    s.isolation.psi = 200;
    assert_int_equal(ikt_recipe_make(ctx, &s, &shape, 1, 1, &recipe), IKT_ERR_USAGE);
    ikt_clear(ctx);
    s.isolation.psi = 20;
    assert_int_equal(ikt_recipe_make(ctx, &s, &shape, 1, 1, &recipe), IKT_OK);
}

IKT_MPI_TESTS(ikt_test(transfers_follow_the_formulas), ikt_test(stages_count_their_operations),
              ikt_test(stages_grow_with_their_operations), ikt_test(trees_count_the_nodes_passed),
              ikt_test(the_boundary_of_unordered_rows_is_nearly_everything),
              ikt_test(plans_know_objective_and_dimensions),
              ikt_test(larger_sets_have_fewer_mutual_neighbours),
              ikt_test(shared_grids_divide_the_transform),
              ikt_test(rows_have_the_fine_cells_that_hold_their_candidates),
              ikt_test(landmarks_are_planned), ikt_test(ordered_rows_stay_together),
              ikt_test(plans_scale), ikt_test(memory_is_that_of_the_largest_stage),
              ikt_test(eigenvectors_are_counted_where_they_are_wanted),
              ikt_test(impossible_work_is_refused))
