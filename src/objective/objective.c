/* The evaluation that all divergences share: attraction along P, repulsion through sums of kernels
 * over all points.
 *
 * The boundary exchange travels while the repulsion is computed; the law of pairs may depend on the
 * normalisation, which is known by then; value and balance come from the pass that computes the
 * attraction. */
#include "objective/objective.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "kernelsum/replica.h"
#include "objective/attraction.h"
#include "objective/normalisation.h"

typedef struct {
    ikt_context *ctx;
    ikt_objective_spec spec;
    const ikt_divergence *divergence;
    ikt_rows rows;
    int q;
    float *y;                       /* own positions, then those of ghosts (sparse P) */
    float *force;                   /* [n_local * q] attraction */
    float *field[IKT_KERNELS_MOST]; /* [n_local * q] gradient of each phi */
    double *phi;                    /* [n_local] */
    ikt_halo *halo;                 /* sparse P */
    ikt_replica replica;            /* dense P */
} embedding;

/* phi includes the point itself. */
static double kernel_at_zero(ikt_kernel kernel) {
    return kernel == IKT_KERNEL_STUDENT_LOG ? 0 : 1;
}

static void repel(embedding *t, ikt_divergence_sums *sums) {
    const ikt_divergence *d = t->divergence;
    for (int k = 0; k < d->n_kernels; k++) {
        ikt_stage_begin(t->ctx, IKT_STAGE_REPULSION);
        ikt_kernelsum_evaluate(
            t->spec.sums[k],
            &(ikt_kernelsum_request){.y = t->y, .value = t->phi, .gradient = t->field[k]});
        ikt_stage_end(t->ctx, IKT_STAGE_REPULSION);
        sums->total[k] =
            ikt_normalisation(t->ctx, t->phi, kernel_at_zero(d->kernel[k]), t->rows.count);
    }
}

static void receive(embedding *t) {
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    if (t->spec.graph)
        ikt_halo_end(t->halo);
    else /* where a position is not finite, Z says so */
        ikt_replica_fill(t->ctx, &t->rows, t->y, &t->replica);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
}

static void attract(embedding *t, const ikt_pair_law *law, ikt_pair_totals *totals) {
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    if (t->spec.graph)
        ikt_attraction(t->ctx, t->spec.graph, t->q, law, t->y, t->force, totals);
    else
        ikt_attraction_dense(t->ctx, t->spec.dense, t->q, law, (const float *const *)t->replica.at,
                             t->force, totals);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
}

static double total_of(ikt_context *ctx, ikt_exact_sum *sum) {
    ikt_exact_sum_reduce(ctx, sum, 1);
    return ikt_exact_sum_value(sum);
}

/* Two fields become one. */
static void mix(embedding *t, const double *factor) {
    const float a = (float)factor[0], b = (float)factor[1];
    float *restrict into = t->field[0];
    const float *restrict other = t->field[1];
#pragma omp parallel for num_threads(ikt_threads(t->ctx)) schedule(static)
    for (int64_t e = 0; e < t->q * t->rows.count; e++)
        into[e] = a * into[e] + b * other[e];
}

static void evaluate(void *self, ikt_gradient *gradient, ikt_objective_terms *terms) {
    embedding *t = self;
    const ikt_divergence *d = t->divergence;
    ikt_pair_totals totals = {{{0}, 0, 0}, {{0}, 0, 0}};
    ikt_divergence_sums sums = {.n = t->rows.n, .trade_off = t->spec.trade_off};
    if (t->spec.graph) ikt_halo_begin(t->halo, t->y, t->y + t->q * t->rows.count);
    repel(t, &sums);
    receive(t);
    const ikt_pair_law law = d->law(&sums);
    attract(t, &law, terms->want_value || d->has_balance ? &totals : NULL);
    if (terms->want_value) sums.value = total_of(t->ctx, &totals.value);
    if (d->has_balance) sums.balance = total_of(t->ctx, &totals.balance);
    const ikt_divergence_terms found = d->combine(&sums);
    terms->z = sums.total[0];
    terms->value = terms->want_value ? found.value : NAN;
    if (d->n_kernels > 1) mix(t, found.field);
    *gradient = (ikt_gradient){t->force, t->field[0], (float)found.pull,
                               d->n_kernels > 1 ? 1 : (float)found.field[0]};
}

static void destroy(void *self) {
    embedding *t = self;
    if (!t) return;
    ikt_halo_destroy(&t->halo);
    ikt_replica_destroy(&t->replica);
    ikt_free(&t->y);
    ikt_free(&t->force);
    for (int k = 0; k < IKT_KERNELS_MOST; k++)
        ikt_free(&t->field[k]);
    ikt_free(&t->phi);
    ikt_free(&t);
}

/* Local numbers of positions must be such that q times them are 32-bit, as gathers want. */
static ikt_status check_rows(ikt_context *ctx, int q, int64_t rows) {
    if (q * rows <= INT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%lld own and boundary rows in %d dimensions are too many for a rank: use more "
                    "ranks",
                    (long long)rows, q);
}

/* LOCAL. What both kinds of P need. */
static ikt_status allocate(ikt_context *ctx, embedding *t) {
    const ikt_graph *graph = t->spec.graph;
    const int64_t own = t->q * t->rows.count, rows = t->rows.count + (graph ? graph->n_ghost : 0);
    IKT_TRY(check_rows(ctx, t->q, rows));
    IKT_TRY(ikt_alloc(ctx, &t->y, t->q * rows, sizeof *t->y, "layout"));
    IKT_TRY(ikt_alloc(ctx, &t->force, own, sizeof *t->force, "layout"));
    for (int k = 0; k < t->divergence->n_kernels; k++)
        IKT_TRY(ikt_alloc(ctx, &t->field[k], own, sizeof *t->field[k], "layout"));
    IKT_TRY(ikt_alloc(ctx, &t->phi, t->rows.count, sizeof *t->phi, "layout"));
    return graph ? IKT_OK : ikt_replica_create(ctx, &t->rows, t->q, &t->replica);
}

static ikt_status begin(ikt_context *ctx, const ikt_objective_spec *spec, embedding **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "layout"));
    embedding *t = *out;
    t->ctx = ctx;
    t->spec = *spec;
    t->divergence = ikt_divergence_of(spec->kind);
    t->rows = spec->graph ? spec->graph->rows : spec->dense->rows;
    t->q = ikt_kernelsum_dimensions(spec->sums[0]);
    return allocate(ctx, t);
}

ikt_status ikt_objective_create(ikt_context *ctx, const ikt_objective_spec *spec,
                                ikt_objective *out) {
    const ikt_graph *graph = spec->graph;
    embedding *t = NULL;
    *out = (ikt_objective){.self = NULL};
    ikt_status st = ikt_agree(ctx, begin(ctx, spec, &t));
    if (st == IKT_OK && graph)
        st = ikt_halo_create(ctx, &graph->rows, graph->ghost_row, graph->n_ghost, t->q, &t->halo);
    if (st == IKT_OK)
        *out = (ikt_objective){t, t->y, t->q, t->divergence->value_name, evaluate, destroy};
    else
        destroy(t);
    return st;
}

ikt_status ikt_tsne_create(ikt_context *ctx, const ikt_graph *graph, ikt_kernelsum *sums,
                           ikt_objective *out) {
    const ikt_objective_spec spec = {.kind = IKT_OBJECTIVE_TSNE, .graph = graph, .sums = {sums}};
    return ikt_objective_create(ctx, &spec, out);
}

ikt_status ikt_tsne_dense_create(ikt_context *ctx, const ikt_dense *dense, ikt_kernelsum *sums,
                                 ikt_objective *out) {
    const ikt_objective_spec spec = {.kind = IKT_OBJECTIVE_TSNE, .dense = dense, .sums = {sums}};
    return ikt_objective_create(ctx, &spec, out);
}

void ikt_objective_destroy(ikt_objective *objective) {
    if (objective->self) objective->destroy(objective->self);
    objective->self = NULL;
}
