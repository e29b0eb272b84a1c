/* The evaluation that all divergences share: attraction along P, repulsion through sums of kernels
 * over all points.
 *
 * The boundary exchange travels while the repulsion is computed; the weight of pairs may depend on
 * the normalisation, which is known by then; value and balance come from the pass that computes the
 * attraction. */
#include "objective/divergence.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "kernelsum/replica.h"
#include "objective/regulariser.h"
#include "objective/whole_attraction.h"

typedef struct {
    ikt_context *ctx;
    ikt_objective_inputs inputs;
    const ikt_divergence *divergence;
    float *y;                       /* own positions, then those of ghosts (sparse P) */
    float *attraction;              /* [n_local * q] */
    float *field[IKT_KERNELS_MOST]; /* [n_local * q] gradient of each phi */
    double *phi;                    /* [n_local] */
    ikt_halo *halo;                 /* sparse P */
    ikt_replica replica;            /* dense P */
    ikt_whole_attraction *whole;    /* whole kernel */
    ikt_kernelsum *sums[IKT_KERNELS_MOST];
    ikt_regulariser *regulariser; /* the regulariser, or NULL */
    ikt_arrays held;
} state;

/* --- choices ---------------------------------------------------------------------------------- */

/* The number of rows up to which exact sums are chosen. Measured: at 3,000 rows both ways of
 * summing take about 2 ms on two cores. Powers and exponentials take three to ten times as long as
 * the Student kernel. */
static const int64_t exact_rows = 3000, exact_rows_of_powers = 1000;

/* The k-th kernel of the objective. */
static ikt_kernel kernel_of(const ikt_divergence *d, const ikt_objective_options *options, int k) {
    if (d->has_degrees && options->degrees > 0) return ikt_kernel_of_degrees(options->degrees);
    return (ikt_kernel){d->kernel[k], 1};
}

/* Whether all kernels of the objective can be summed so: the grid is flat, and the tree has
 * expansions of some kernels. SNE, which is here for the record, is summed exactly. */
static bool is_possible(const ikt_divergence *d, const ikt_objective_options *options, int q,
                        int repulsion) {
    bool has_tree = true;
    for (int k = 0; k < d->n_kernels; k++)
        has_tree = has_tree && ikt_tree_has_kernel(kernel_of(d, options, k));
    if (repulsion == IKT_REPULSION_FFT) return d->kernel[0] != IKT_KERNEL_GAUSSIAN && q == 2;
    if (repulsion == IKT_REPULSION_TREE) return has_tree;
    return true;
}

ikt_status ikt_divergence_resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n,
                                  int q, ikt_objective_options *options) {
    const ikt_divergence *d = kind->divergence;
    const bool has_fft = is_possible(d, options, q, IKT_REPULSION_FFT);
    /* auto is negative */
    if (d->has_trade_off && !(options->trade_off > 0)) options->trade_off = 0.5;
    const bool is_student = kernel_of(d, options, 0).kind == IKT_KERNEL_STUDENT;
    if (options->repulsion == IKT_REPULSION_AUTO) {
        const bool has_tree = is_possible(d, options, q, IKT_REPULSION_TREE);
        options->repulsion = n <= (is_student ? exact_rows : exact_rows_of_powers)
                                 ? IKT_REPULSION_EXACT
                             : has_fft  ? IKT_REPULSION_FFT
                             : has_tree ? IKT_REPULSION_TREE
                                        : IKT_REPULSION_EXACT;
    }
    if (is_possible(d, options, q, options->repulsion)) return IKT_OK;
    if (options->repulsion == IKT_REPULSION_FFT && q != 2)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.repulsion=fft sums on a flat grid, but layout.dimensions = %d; "
                        "take repulsion=barnes_hut, exact or auto",
                        q);
    if (d->has_degrees && options->repulsion == IKT_REPULSION_TREE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.repulsion=barnes_hut sums kernels of at most 10 degrees of "
                        "freedom, as lighter tails need ever smaller boxes, but "
                        "layout.degrees_of_freedom = %g; take repulsion=%s or auto",
                        options->degrees, has_fft ? "fft, exact" : "exact");
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "layout.repulsion=%s cannot sum what layout.objective=%s needs; take "
                    "repulsion=%s or auto",
                    options->repulsion == IKT_REPULSION_FFT ? "fft" : "barnes_hut", kind->name,
                    has_fft ? "fft, exact" : "exact");
}

static ikt_fft_settings fft_settings(const ikt_objective_options *options) {
    const bool is_tight = options->accuracy == IKT_ACCURACY_TIGHT;
    ikt_fft_settings fft = ikt_fft_preset(is_tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    fft.sharing = options->sharing;
    fft.rates = options->rates;
    return fft;
}

ikt_fft_settings ikt_divergence_fft(const ikt_divergence *d, const ikt_objective_options *options) {
    const ikt_fft_settings usual = fft_settings(options);
    return ikt_fft_for_kernel(&usual, kernel_of(d, options, 0));
}

/* --- making and destroying -------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status allocate(ikt_context *ctx, const ikt_objective_inputs *inputs,
                           ikt_objective *out) {
    const ikt_graph *graph = inputs->graph;
    const int64_t n_local = inputs->rows.count, rows = n_local + (graph ? graph->n_ghost : 0);
    const int q = inputs->q;
    state *t;
    IKT_TRY(ikt_objective_check_rows(ctx, rows, q));
    IKT_TRY(ikt_alloc(ctx, &t, 1, sizeof *t, "layout"));
    out->self = t;
    *t = (state){.ctx = ctx, .inputs = *inputs, .divergence = out->kind->divergence};
    t->held = ikt_arrays_of(ctx, "layout");
    out->y = t->y = ikt_claim(&t->held, q * rows, sizeof *t->y);
    t->attraction = ikt_claim(&t->held, q * n_local, sizeof *t->attraction);
    for (int k = 0; k < t->divergence->n_kernels; k++)
        t->field[k] = ikt_claim(&t->held, q * n_local, sizeof *t->field[k]);
    t->phi = ikt_claim(&t->held, n_local, sizeof *t->phi);
    IKT_TRY(t->held.status);
    return inputs->dense ? ikt_replica_create(ctx, &inputs->rows, q, &t->replica) : IKT_OK;
}

/* COLLECTIVE. */
static ikt_status create_whole(ikt_context *ctx, const ikt_objective_inputs *inputs, state *t) {
    const ikt_whole_settings *s = &inputs->sampling;
    const ikt_whole_sampling sampling = {
        .seed = inputs->options.seed,
        .t = inputs->whole->t,
        .usual = s->partitionings,
        .last = s->last_partitionings,
        .last_from = inputs->iterations - s->last_iterations,
        .block = s->block,
        .iterations = inputs->iterations,
        .step = s->step,
        .noise = ikt_whole_noise(s, inputs->whole->t, inputs->whole->others)};
    return ikt_whole_attraction_create(ctx, inputs->whole, inputs->q,
                                       kernel_of(t->divergence, &inputs->options, 0), &sampling,
                                       &t->whole);
}

ikt_status ikt_divergence_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                 ikt_objective *out) {
    const ikt_graph *graph = inputs->graph;
    const ikt_rows *rows = &inputs->rows;
    const int q = inputs->q;
    const bool is_tight = inputs->options.accuracy == IKT_ACCURACY_TIGHT;
    const ikt_fft_settings fft = fft_settings(&inputs->options);
    IKT_TRY(ikt_agree(ctx, allocate(ctx, inputs, out)));
    state *t = out->self;
    if (graph)
        IKT_TRY(ikt_halo_create(ctx, &graph->rows, graph->ghost_row, graph->n_ghost, q, &t->halo));
    if (inputs->whole) IKT_TRY(create_whole(ctx, inputs, t));
    out->is_estimated = inputs->whole && inputs->whole->sample.count > 0;
    for (int k = 0; k < t->divergence->n_kernels; k++) {
        const ikt_kernel kernel = kernel_of(t->divergence, &inputs->options, k);
        if (inputs->options.repulsion == IKT_REPULSION_EXACT)
            IKT_TRY(ikt_kernelsum_create_exact(ctx, rows, q, kernel, &t->sums[k]));
        else if (inputs->options.repulsion == IKT_REPULSION_TREE)
            IKT_TRY(ikt_kernelsum_create_tree(
                ctx, rows, q, kernel, is_tight ? IKT_TREE_TIGHT : IKT_TREE_DEFAULT, &t->sums[k]));
        else
            IKT_TRY(ikt_kernelsum_create_fft(ctx, rows, kernel, &fft, &t->sums[k]));
    }
    return ikt_regulariser_create(ctx, inputs, t->sums[0], &t->regulariser);
}

void ikt_divergence_destroy(ikt_objective *objective) {
    state *t = objective->self;
    if (!t) return;
    ikt_regulariser_destroy(&t->regulariser);
    for (int k = 0; k < IKT_KERNELS_MOST; k++)
        ikt_kernelsum_destroy(&t->sums[k]);
    ikt_halo_destroy(&t->halo);
    ikt_whole_attraction_destroy(&t->whole);
    ikt_replica_destroy(&t->replica);
    ikt_arrays_free(&t->held);
    ikt_free(&t);
}

void ikt_divergence_describe(const ikt_objective *objective, char *text, size_t size) {
    const state *t = objective->self;
    ikt_kernelsum_describe(t->sums[0], text, size);
}

/* Of a row in the loop: phi; for each dimension attraction and the first field. A boundary row here
 * and there: its number and its position, and both again where it is sent. */
enum { ROW_BYTES = 8, AXIS_BYTES = 8, BOUNDARY_BYTES = 12, BOUNDARY_AXIS_BYTES = 8 };

/* The map may grow by so much more than predicted. */
static const double span_margin = 1.2;

static int64_t whole_memory(const ikt_objective_shape *shape) {
    const ikt_whole_settings *s = &shape->sampling;
    const ikt_whole_sampling sampling = {
        .t = shape->t, .usual = s->partitionings, .last = s->last_partitionings, .block = s->block};
    return ikt_whole_attraction_memory(shape->rows.count, shape->q, shape->psi, &sampling,
                                       shape->cut, shape->threads);
}

int64_t ikt_divergence_memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    const ikt_objective_options *options = &shape->options;
    const ikt_fft_settings fft = ikt_divergence_fft(kind->divergence, options);
    const int64_t kernels = kind->divergence->n_kernels, q = shape->q;
    const int charges = ikt_regulariser_charges(shape);
    const int64_t sums =
        options->repulsion == IKT_REPULSION_EXACT
            ? ikt_kernelsum_memory_exact(&shape->rows, shape->q, charges)
        : options->repulsion == IKT_REPULSION_TREE
            ? ikt_kernelsum_memory_tree(&shape->rows, shape->q, charges, shape->threads)
            : ikt_kernelsum_memory_fft(&fft, &shape->rows, charges, shape->threads,
                                       span_margin * shape->span);
    return (ROW_BYTES + q * AXIS_BYTES) * shape->rows.count + kernels * sums +
           (kernels - 1) * q * (int64_t)sizeof(float) * shape->rows.count +
           (BOUNDARY_BYTES + q * BOUNDARY_AXIS_BYTES) * shape->boundary +
           (shape->is_dense ? ikt_replica_memory(&shape->rows, shape->q) : 0) +
           (shape->is_whole ? whole_memory(shape) : 0) + ikt_regulariser_memory(shape);
}

/* --- Z ----------------------------------------------------------------------------------------
 *
 * Method: phi without the point itself in fixed point; heads and tails of 32 bits are summed apart,
 * which a rank can do for 2^31 rows. Advantage over a superaccumulator (base/exact_sum.h): as fast
 * as memory is read, and 24 bytes to reduce. Disadvantage: an absolute error, far below that of phi
 * itself. */

static const double units = 1 << 30, most = 8589934592.0 /* 2^33 */;

enum { PIECE = 8192 };

/* Rows from which on a second thread is worth waking. */
static const int64_t parallel_rows = 1 << 16;

typedef struct {
    int64_t head, tail, not_finite;
} fixed;

static IKT_WIDEST_VECTORS fixed sum_piece(const double *phi, double self, int64_t count) {
    int64_t head = 0, tail = 0, outside = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = phi[i] - self;
        int64_t is_inside = fabs(value) < most;
        int64_t whole = (int64_t)((is_inside ? value : 0) * units);
        head += whole >> 32;
        tail += whole & 0xFFFFFFFF;
        outside += 1 - is_inside;
    }
    return (fixed){head, tail, outside};
}

double ikt_normalisation(ikt_context *ctx, const double *phi, double self, int64_t n_local) {
    int64_t head = 0, tail = 0, outside = 0;
#pragma omp parallel for reduction(+ : head, tail, outside) num_threads(ikt_threads(ctx))         \
    if (n_local >= parallel_rows)
    for (int64_t first = 0; first < n_local; first += PIECE) {
        fixed piece =
            sum_piece(phi + first, self, n_local - first < PIECE ? n_local - first : PIECE);
        head += piece.head;
        tail += piece.tail;
        outside += piece.not_finite;
    }
    /* Tails of many ranks could overflow: what they have above 32 bits goes to the head. */
    int64_t sum[3] = {head + (tail >> 32), tail & 0xFFFFFFFF, outside};
    ikt_sum_i64(ctx, sum, 3);
    if (sum[2] > 0) return NAN;
    return (ldexp((double)sum[0], 32) + (double)sum[1]) / units;
}

/* --- evaluation ------------------------------------------------------------------------------- */

ikt_map_condition ikt_map_condition_of(double z, int64_t n) {
    const double pairs = (double)n * (double)(n - 1);
    if (!isfinite(z)) return IKT_MAP_NOT_FINITE;
    /* Z is a sum of positive terms; where it is not above 0, they are less than a grid errs by. */
    if (z <= 0) return IKT_MAP_UNRESOLVED;
    return z >= 0.999 * pairs ? IKT_MAP_POINT : IKT_MAP_SOUND;
}

/* Two fields become one. */
static void mix(const state *t, const double *factor) {
    const float a = (float)factor[0], b = (float)factor[1];
    float *restrict into = t->field[0];
    const float *restrict other = t->field[1];
#pragma omp parallel for num_threads(ikt_threads(t->ctx)) schedule(static)
    for (int64_t e = 0; e < t->inputs.q * t->inputs.rows.count; e++)
        into[e] = a * into[e] + b * other[e];
}

/* The weight of a pair: what the objective says, or what follows from its kernel alone. */
static ikt_pair_weight weight_of(const state *t, const ikt_divergence *d,
                                 const ikt_divergence_sums *sums) {
    const ikt_kernel kernel = kernel_of(d, &t->inputs.options, 0);
    if (d->weight) return d->weight(sums);
    if (kernel.kind == IKT_KERNEL_GAUSSIAN) return (ikt_pair_weight){.kind = IKT_PAIR_SNE};
    if (kernel.kind == IKT_KERNEL_STUDENT) return (ikt_pair_weight){.kind = d->pair};
    return (ikt_pair_weight){IKT_PAIR_TAILED, (float)kernel.alpha, (float)(1 / kernel.alpha), 0};
}

/* The attraction of every pair that has one, and what its terms sum to where that is wanted. */
static void attract(state *t, const ikt_pair_weight *weight, ikt_pair_totals *wanted) {
    const ikt_objective_inputs *in = &t->inputs;
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    if (in->dense)
        ikt_attraction_dense(t->ctx, in->dense, in->q, weight, (const float *const *)t->replica.at,
                             t->attraction, wanted);
    else if (in->graph)
        ikt_attraction(t->ctx, in->graph, in->q, weight, t->y, t->attraction, wanted);
    else
        memset(t->attraction, 0, (size_t)(in->q * in->rows.count) * sizeof *t->attraction);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
    if (t->whole) ikt_whole_attraction_end(t->whole, t->attraction);
}

/* COLLECTIVE. The value of the pairs of a sparse or dense P becomes that of all, with those of the
 * whole kernel: a share of P, as rows without similarity are of all rows, belongs to the former. */
static ikt_status add_whole_value(state *t, double *value, double *error) {
    const ikt_whole *whole = t->inputs.whole;
    const double share = 1 - (double)whole->zero / (double)whole->rows.n;
    ikt_whole_value found;
    const ikt_kernel kernel = kernel_of(t->divergence, &t->inputs.options, 0);
    IKT_TRY(ikt_whole_value_estimate(t->ctx, whole, t->inputs.q, kernel, t->y, &found));
    *value += share * found.value;
    *error = share * found.error;
    return IKT_OK;
}

ikt_status ikt_divergence_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                   ikt_gradient *gradient, ikt_objective_terms *terms) {
    state *t = objective->self;
    ikt_context *ctx = t->ctx;
    const ikt_divergence *d =
        objective->is_beginning ? ikt_objective_tsne.divergence : t->divergence;
    const ikt_graph *graph = t->inputs.graph;
    const ikt_rows *rows = &t->inputs.rows;
    const int q = t->inputs.q;
    ikt_divergence_sums sums = {.n = rows->n, .trade_off = t->inputs.options.trade_off};
    ikt_pair_totals totals = {{{0}, 0, 0}, {{0}, 0, 0}};
    double error = 0;

    if (graph) ikt_halo_begin(t->halo, t->y, t->y + q * rows->count);
    if (t->whole) ikt_whole_attraction_begin(t->whole, iteration, t->y);
    ikt_status st = IKT_OK;
    for (int k = 0; k < d->n_kernels && st == IKT_OK; k++) {
        const ikt_kernelsum_request request = {.y = t->y, .value = t->phi, .gradient = t->field[k]};
        ikt_stage_begin(ctx, IKT_STAGE_REPULSION);
        st = ikt_kernelsum_evaluate(t->sums[k], &request);
        ikt_stage_end(ctx, IKT_STAGE_REPULSION);
        const double self = d->kernel[k] == IKT_KERNEL_STUDENT_LOG ? 0 : 1;
        if (st == IKT_OK) sums.total[k] = ikt_normalisation(ctx, t->phi, self, rows->count);
    }
    ikt_stage_begin(ctx, IKT_STAGE_HALO);
    if (graph)
        ikt_halo_end(t->halo);
    else if (t->inputs.dense) /* where a position is not finite, Z says so */
        ikt_replica_fill(ctx, rows, t->y, &t->replica);
    ikt_stage_end(ctx, IKT_STAGE_HALO);
    if (st == IKT_OK) { /* what travels has arrived */
        const ikt_pair_weight weight = weight_of(t, d, &sums);
        attract(t, &weight, want_value || d->has_balance ? &totals : NULL);
    } else if (t->whole) {
        ikt_whole_attraction_end(t->whole, t->attraction);
    }
    IKT_TRY(st);
    if (want_value) {
        ikt_exact_sum_reduce(ctx, &totals.value, 1);
        sums.value = ikt_exact_sum_value(&totals.value);
        if (t->whole) IKT_TRY(add_whole_value(t, &sums.value, &error));
    }
    if (d->has_balance) {
        ikt_exact_sum_reduce(ctx, &totals.balance, 1);
        sums.balance = ikt_exact_sum_value(&totals.balance);
    }

    const ikt_divergence_terms found = d->combine(&sums);
    if (d->n_kernels > 1) mix(t, found.field);
    *gradient = (ikt_gradient){t->attraction, t->field[0], (float)found.attraction,
                               d->n_kernels > 1 ? 1 : (float)found.field[0]};
    *terms =
        (ikt_objective_terms){.value = want_value ? found.value : NAN,
                              .error = error,
                              .step = t->whole ? ikt_whole_attraction_step(t->whole, iteration) : 1,
                              .z = sums.total[0],
                              .condition = ikt_map_condition_of(sums.total[0], rows->n)};
    const ikt_regulariser_map map = {objective, iteration, want_value, t->phi, t->field[0]};
    return ikt_regulariser_add(t->regulariser, &t->inputs.options.regulariser, &map, gradient,
                               terms);
}

void *ikt_divergence_state_array(ikt_objective *objective, int64_t iteration, int k) {
    const state *t = objective->self;
    return ikt_regulariser_state_array(t->regulariser, iteration, k);
}
