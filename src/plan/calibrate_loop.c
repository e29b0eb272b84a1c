/* Measuring what comes after the search: P, the loop, the measures of the map.
 *
 * Rows lie at random in a square as a late map does, numbered along a curve that keeps near ones
 * together. They have their neighbours among the next in that order, and one of six anywhere. */
#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "evaluate/measure.h"
#include "kernelsum/grid.h"
#include "layout/layout.h"
#include "plan/calibrate.h"

enum {
    ROWS = 65536, /* of a rank */
    NEIGHBOURS = 30,
    CELL = 64, /* rows that have near ones in the same places */
    GROUP = 3, /* neighbours of a row in one place */
    ITERATIONS = 30,
    REPORTED = 4, /* iterations of a loop that reports after each */
    EXACT = 4096, /* rows for the exact repulsion on one rank */
    FAR_ROWS = 4096,
    MANY_ROWS = 1 << 19, /* of a rank, whose positions leave the second-level cache */
    FEW_ITERATIONS = 6,
    NEAR_SPAN = 190, /* of maps whose padded grids have about 2^20 and 2^24 nodes */
    FAR_SPAN = 790,
    CLASSES = 10
};

typedef struct {
    ikt_rows distribution;
    ikt_graph graph;
    float *y;
} map_data;

static void map_destroy(map_data *m) {
    ikt_graph_destroy(&m->graph);
    ikt_free(&m->y);
}

/* Every second bit of a position along the curve. */
static double along(int64_t at, int axis) {
    double value = 0, weight = 0.5;
    for (int bit = 30 - axis; bit >= 0; bit -= 2, weight /= 2)
        if (at >> bit & 1) value += weight;
    return value;
}

static void place(ikt_context *ctx, map_data *m, double span) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < m->distribution.count; i++) {
        int64_t row = m->distribution.first + i,
                at = (int64_t)((double)row / (double)m->distribution.n * 0x1p31);
        for (int axis = 0; axis < 2; axis++) {
            double jitter = ikt_rng_uniform(1, IKT_RNG_SAMPLE, row, (uint64_t)axis) - 0.5;
            m->y[2 * i + axis] =
                (float)(span * along(at, axis) + jitter * span / sqrt((double)m->distribution.n));
        }
    }
}

/* How far from a row its neighbours are in the order: every halving of the rows cuts off 18 % of
 * them, as was counted on digits (workload.c), so a share u^0.285 of them is within u of all rows.
 * And they come in groups, since what is near is often in one cell. */
static int64_t draw_step(int64_t row, int64_t e, int64_t n) {
    const double exponent = 1 / 0.285;
    const uint64_t group = (uint64_t)(e / GROUP), single = (uint64_t)(NEIGHBOURS + e);
    double share = pow(ikt_rng_uniform(1, IKT_RNG_SAMPLE, row / CELL, group), exponent);
    int64_t step = (int64_t)((double)(n / 2 - CELL) * share);
    return 1 + step + ikt_rng_below(1, IKT_RNG_SAMPLE, row, single, CELL - 1);
}

/* Lists as a search leaves them. Rows may be twice in a list, which costs the same. */
static ikt_status make_lists(ikt_context *ctx, const ikt_rows *distribution,
                             ikt_neighbours *lists) {
    IKT_TRY(ikt_neighbours_create(ctx, distribution, NEIGHBOURS, lists));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < distribution->count; i++)
        for (int64_t e = 0; e < NEIGHBOURS; e++) {
            int64_t step = draw_step(distribution->first + i, e, distribution->n),
                    back = e / GROUP % 2 ? distribution->n - step : step;
            lists->row[i * NEIGHBOURS + e] =
                (uint32_t)((distribution->first + i + back) % distribution->n);
            lists->score[i * NEIGHBOURS + e] = 1.0f / NEIGHBOURS;
        }
    return IKT_OK;
}

static ikt_status measure_graph(ikt_context *ctx, map_data *m, ikt_machine *out) {
    ikt_neighbours lists = {0, 0, NULL, NULL};
    IKT_TRY(ikt_agree(ctx, make_lists(ctx, &m->distribution, &lists)));
    double begin = ikt_now();
    ikt_status st = ikt_graph_symmetrise(ctx, &m->distribution, &lists, &m->graph);
    double seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    out->symmetrise =
        (double)(m->distribution.n * NEIGHBOURS) / ikt_size(ctx) / seconds / ikt_threads(ctx) / 1e6;
    return st;
}

/* Stages of an evaluation of the gradient: seconds since `before` on the slowest rank. */
static double since(ikt_context *ctx, const double *before, ikt_stage stage) {
    return ikt_calibrate_slowest(ctx, ikt_stage_seconds(ctx, stage) - before[stage]);
}

static void note_seconds(ikt_context *ctx, double *seconds) {
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        seconds[s] = ikt_stage_seconds(ctx, (ikt_stage)s);
}

/* Nodes of the padded grid of a square map. */
static double padded_nodes(const ikt_fft_settings *fft, double span) {
    ikt_grid grid = ikt_grid_fit(fft, &(ikt_bounds){{0, 0}, {span, span}});
    return (double)grid.padded[0] * (double)grid.padded[1];
}

/* What a rank takes for a grid that it transforms alone. */
static ikt_fft_settings whole_grid(void) {
    ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    fft.sharing = IKT_SHARING_REPLICATED;
    return fft;
}

static ikt_status make_objective(ikt_context *ctx, const map_data *m, ikt_objective *out) {
    const ikt_objective_inputs inputs = {
        .rows = m->distribution,
        .q = 2,
        .options = {.repulsion = IKT_REPULSION_FFT, .sharing = IKT_SHARING_REPLICATED},
        .graph = &m->graph};
    return ikt_objective_create(ctx, &ikt_objective_tsne, &inputs, out);
}

/* A loop whose steps are too short to change the map. */
static const ikt_layout_settings still = {.exaggeration = 1,
                                          .learning_rate = 1e-6,
                                          .final_learning_rate = 1e-6,
                                          .momentum = 0.5,
                                          .final_momentum = 0.5};

/* What the stages of a loop took on the slowest rank. */
typedef struct {
    double stage[IKT_STAGE_COUNT];
    double rest; /* all but its stages */
} loop_times;

static ikt_status time_loop(ikt_context *ctx, map_data *m, ikt_objective *objective,
                            int64_t iterations, int64_t report_every, loop_times *out) {
    static const ikt_stage parts[] = {IKT_STAGE_ATTRACTION, IKT_STAGE_HALO, IKT_STAGE_SPREAD,
                                      IKT_STAGE_GRID_SUM,   IKT_STAGE_FFT,  IKT_STAGE_GATHER,
                                      IKT_STAGE_STEP};
    ikt_layout_settings settings = still;
    ikt_trace trace = {.point = NULL};
    double before[IKT_STAGE_COUNT];
    settings.iterations = iterations;
    settings.report_every = report_every;
    note_seconds(ctx, before);
    double begin = ikt_now();
    IKT_TRY(ikt_layout_run(ctx, &settings, &m->distribution, objective, NULL, m->y, &trace));
    const double whole = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    out->rest = whole;
    ikt_trace_destroy(&trace);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        out->stage[s] = since(ctx, before, (ikt_stage)s);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        out->rest -= out->stage[parts[p]];
    /* Each stage on its own slowest rank: on a busy machine they may be more than the whole. */
    if (!(out->rest > whole / 100)) out->rest = whole / 100;
    return IKT_OK;
}

/* The divergence comes out of the attraction's pass: what that takes longer in the first and last
 * evaluation of `few`, and in all of `many`. */
static void split_attraction(ikt_context *ctx, const loop_times *few, const loop_times *many,
                             double entries, ikt_machine *out) {
    double evaluations = ITERATIONS + 1, millions = ikt_threads(ctx) * 1e6;
    double usual = few->stage[IKT_STAGE_ATTRACTION] / evaluations; /* with 2 / evaluations of it */
    double with = many->stage[IKT_STAGE_ATTRACTION] / (REPORTED + 1);
    double divergence = (with - usual) / (1 - 2 / evaluations);
    if (!(divergence > with / 100)) divergence = with / 100;
    out->divergence = entries / divergence / millions;
    out->attraction_near = entries / (with - divergence) / millions;
}

static ikt_status measure_stages(ikt_context *ctx, map_data *m, const ikt_fft_settings *fft,
                                 ikt_machine *out) {
    ikt_objective objective = {.self = NULL};
    loop_times few, many;
    IKT_TRY(make_objective(ctx, m, &objective));
    /* Once before, to make the plans that the others use. */
    ikt_status st = time_loop(ctx, m, &objective, 0, 1, &few);
    if (st == IKT_OK) st = time_loop(ctx, m, &objective, ITERATIONS, 10 * ITERATIONS, &few);
    if (st == IKT_OK) st = time_loop(ctx, m, &objective, REPORTED, 1, &many);
    ikt_objective_destroy(&objective);
    if (st != IKT_OK) return st;
    double count = (double)(ITERATIONS + 1) / ikt_threads(ctx) / 1e6; /* per thread, in millions */
    double entries = (double)ikt_graph_entries(ctx, &m->graph) / ikt_size(ctx);
    out->spread = ROWS * count / few.stage[IKT_STAGE_SPREAD];
    out->gather = ROWS * count / few.stage[IKT_STAGE_GATHER];
    out->fft_near = padded_nodes(fft, NEAR_SPAN) * count / few.stage[IKT_STAGE_FFT];
    out->step = ROWS * count / few.stage[IKT_STAGE_STEP];
    out->sums = ROWS * count / few.rest;
    split_attraction(ctx, &few, &many, entries, out);
    return IKT_OK;
}

static ikt_status measure_loop(ikt_context *ctx, map_data *m, ikt_machine *out) {
    const ikt_fft_settings fft = whole_grid();
    return measure_stages(ctx, m, &fft, out);
}

static ikt_status time_attraction(ikt_context *ctx, map_data *m, ikt_machine *out) {
    ikt_objective objective = {.self = NULL};
    loop_times times;
    ikt_status st = make_objective(ctx, m, &objective);
    if (st == IKT_OK) st = time_loop(ctx, m, &objective, FEW_ITERATIONS, 1 << 20, &times);
    ikt_objective_destroy(&objective);
    if (st != IKT_OK) return st;
    double entries = (double)ikt_graph_entries(ctx, &m->graph) / ikt_size(ctx);
    double millions = ikt_threads(ctx) * 1e6, seconds = times.stage[IKT_STAGE_ATTRACTION];
    seconds -= 2 * entries / (out->divergence * millions); /* first and last report */
    seconds = fmax(seconds, times.stage[IKT_STAGE_ATTRACTION] / 4);
    out->attraction_far = (FEW_ITERATIONS + 1) * entries / seconds / millions;
    return IKT_OK;
}

/* The graph and its attraction where positions of rows are too many for a near cache. */
static ikt_status measure_many(ikt_context *ctx, ikt_machine *out) {
    const int ranks = ikt_size(ctx);
    map_data m = {.distribution = ikt_rows_make((int64_t)MANY_ROWS * ranks, ranks, ikt_rank(ctx))};
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &m.y, 2 * m.distribution.count, sizeof *m.y, "calibrate"));
    if (st == IKT_OK) {
        place(ctx, &m, NEAR_SPAN);
        st = measure_graph(ctx, &m, out);
    }
    if (st == IKT_OK) st = time_attraction(ctx, &m, out);
    map_destroy(&m);
    return st;
}

/* Evaluates sums of so many rows a rank twice and times the second. */
static ikt_status time_sums(ikt_context *ctx, map_data *m, ikt_kernelsum *sums, double *before,
                            double *seconds) {
    double *phi = NULL;
    float *gradient = NULL;
    ikt_status st = ikt_alloc(ctx, &phi, m->distribution.count, sizeof *phi, "calibrate");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &gradient, 2 * m->distribution.count, sizeof *gradient, "calibrate");
    st = ikt_agree(ctx, st);
    for (int t = 0; t < 2 && st == IKT_OK; t++) {
        note_seconds(ctx, before);
        double begin = ikt_now();
        ikt_kernelsum_evaluate(sums, m->y, phi, gradient);
        *seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    }
    ikt_free(&phi);
    ikt_free(&gradient);
    return st;
}

static ikt_status measure_far(ikt_context *ctx, ikt_machine *out) {
    map_data m = {.distribution = ikt_rows_make((int64_t)FAR_ROWS * ikt_size(ctx), ikt_size(ctx),
                                                ikt_rank(ctx))};
    ikt_kernelsum *sums = NULL;
    ikt_fft_settings fft = whole_grid();
    double before[IKT_STAGE_COUNT], seconds = 0;
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &m.y, 2 * m.distribution.count, sizeof *m.y, "calibrate"));
    if (st == IKT_OK) st = ikt_kernelsum_create_fft(ctx, &m.distribution, &fft, &sums);
    if (st == IKT_OK) {
        place(ctx, &m, FAR_SPAN);
        st = time_sums(ctx, &m, sums, before, &seconds);
        out->fft_far = padded_nodes(&fft, FAR_SPAN) / since(ctx, before, IKT_STAGE_FFT) /
                       ikt_threads(ctx) / 1e6;
    }
    ikt_kernelsum_destroy(&sums);
    map_destroy(&m);
    return st;
}

static ikt_status measure_exact(ikt_context *ctx, ikt_machine *out) {
    int64_t n = (int64_t)(EXACT * sqrt((double)ikt_size(ctx)));
    map_data m = {.distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx))};
    ikt_kernelsum *sums = NULL;
    double before[IKT_STAGE_COUNT], seconds = 1;
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &m.y, 2 * m.distribution.count, sizeof *m.y, "calibrate"));
    if (st == IKT_OK)
        st = ikt_kernelsum_create_exact(ctx, &m.distribution, 2, IKT_KERNEL_STUDENT, &sums);
    if (st == IKT_OK) {
        place(ctx, &m, NEAR_SPAN);
        st = time_sums(ctx, &m, sums, before, &seconds);
    }
    out->kernel = (double)n * (double)n / ikt_size(ctx) / seconds / ikt_threads(ctx) / 1e6;
    ikt_kernelsum_destroy(&sums);
    map_destroy(&m);
    return st;
}

static ikt_status measure_measures(ikt_context *ctx, const map_data *m, ikt_machine *out) {
    int64_t *labels = NULL;
    ikt_measures measures = {0};
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.cheap_only = true;
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &labels, m->distribution.count, sizeof *labels, "calibrate"));
    for (int64_t i = 0; st == IKT_OK && i < m->distribution.count; i++)
        labels[i] = (m->distribution.first + i) * CLASSES / m->distribution.n;
    const ikt_measured what = {
        .rows = m->distribution, .y = m->y, .q = 2, .labels = labels, .has_labels = true};
    double begin = ikt_now();
    if (st == IKT_OK) st = ikt_measures_compute(ctx, &settings, &what, &measures);
    double seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    out->measures = ROWS * log2((double)m->distribution.n) / seconds / ikt_threads(ctx) / 1e6;
    ikt_measures_destroy(&measures);
    ikt_free(&labels);
    return st;
}

ikt_status ikt_calibrate_loop(ikt_context *ctx, ikt_machine *out) {
    map_data m = {.distribution =
                      ikt_rows_make((int64_t)ROWS * ikt_size(ctx), ikt_size(ctx), ikt_rank(ctx))};
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &m.y, 2 * m.distribution.count, sizeof *m.y, "calibrate"));
    if (st == IKT_OK) {
        place(ctx, &m, NEAR_SPAN);
        st = measure_graph(ctx, &m, out);
    }
    if (st == IKT_OK) st = measure_loop(ctx, &m, out);
    if (st == IKT_OK) st = measure_measures(ctx, &m, out);
    map_destroy(&m);
    if (st == IKT_OK) st = measure_many(ctx, out);
    if (st == IKT_OK) st = measure_far(ctx, out);
    return st == IKT_OK ? measure_exact(ctx, out) : st;
}
