/* t-SNE: attraction along P, repulsion through the sum of the Student kernel over all points.
 *
 * With phi(y) = sum_j 1 / (1 + |y - y_j|^2): Z = sum_i (phi(y_i) - 1), and the repulsive sum
 * sum_j w_ij^2 (y_i - y_j) is -1/2 grad phi(y_i) (methods, section 3), so
 *     gradient_i = 4 exaggeration attraction_i + (2 / Z) grad phi(y_i).
 * The boundary exchange travels while the repulsion is computed. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "objective/attraction.h"
#include "objective/attraction_dense.h"
#include "objective/objective.h"

typedef struct {
    ikt_context *ctx;
    int64_t n_local;
    ikt_kernelsum *sums;
    float *force;    /* [n_local * 2] attraction */
    float *gradient; /* [n_local * 2] of phi */
    double *phi;     /* [n_local] */

    const ikt_graph *graph; /* sparse P */
    ikt_halo *halo;
    float *y; /* [(n_local + n_ghost) * 2] own and ghost positions */

    const ikt_dense *dense; /* or dense P */
    int64_t *counts;        /* [ranks] rows of each */
    float *all;             /* [n * 2] positions of all rows */
} tsne;

/* Z = sum of (phi - 1), and the divergence's own part, in one reduction. */
static void sum_terms(tsne *t, ikt_objective_terms *terms) {
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t i = 0; i < t->n_local; i++)
        ikt_exact_sum_add(&sum[0], t->phi[i] - 1);
    if (terms->want_value) {
        if (t->graph)
            ikt_attraction_divergence(t->graph, t->y, &sum[1]);
        else
            ikt_attraction_dense_divergence(t->dense, t->all, &sum[1]);
    }
    ikt_exact_sum_reduce(t->ctx, sum, terms->want_value ? 2 : 1);
    terms->z = ikt_exact_sum_value(&sum[0]);
    terms->value = terms->want_value ? ikt_exact_sum_value(&sum[1]) + log(terms->z) : NAN;
}

static void combine(const tsne *t, double exaggeration, double z, float *gradient) {
    float pull = (float)(4 * exaggeration), push = (float)(2 / z);
#pragma omp parallel for num_threads(ikt_threads(t->ctx))
    for (int64_t e = 0; e < 2 * t->n_local; e++)
        gradient[e] = pull * t->force[e] + push * t->gradient[e];
}

static void repel(tsne *t, const float *y) {
    ikt_stage_begin(t->ctx, IKT_STAGE_REPULSION);
    ikt_kernelsum_evaluate(t->sums, y, t->phi, t->gradient);
    ikt_stage_end(t->ctx, IKT_STAGE_REPULSION);
}

static void evaluate_sparse(void *self, double exaggeration, const float *y, float *gradient,
                            ikt_objective_terms *terms) {
    tsne *t = self;
    memcpy(t->y, y, (size_t)t->n_local * 2 * sizeof *y);
    ikt_halo_begin(t->halo, y, t->y + 2 * t->n_local);
    repel(t, y);
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    ikt_halo_end(t->halo);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    ikt_attraction(t->ctx, t->graph, t->y, t->force);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
    sum_terms(t, terms);
    combine(t, exaggeration, terms->z, gradient);
}

static void evaluate_dense(void *self, double exaggeration, const float *y, float *gradient,
                           ikt_objective_terms *terms) {
    tsne *t = self;
    repel(t, y);
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    ikt_allgather(t->ctx, y, t->n_local, 2 * sizeof *y, t->all, t->counts);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    ikt_attraction_dense(t->ctx, t->dense, t->all, t->force);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
    sum_terms(t, terms);
    combine(t, exaggeration, terms->z, gradient);
}

static void destroy(void *self) {
    tsne *t = self;
    if (!t) return;
    ikt_halo_destroy(&t->halo);
    ikt_free(&t->force);
    ikt_free(&t->gradient);
    ikt_free(&t->phi);
    ikt_free(&t->y);
    ikt_free(&t->counts);
    ikt_free(&t->all);
    ikt_free(&t);
}

static ikt_status alloc_common(tsne *t) {
    ikt_context *ctx = t->ctx;
    IKT_TRY(ikt_alloc(ctx, &t->force, 2 * t->n_local, sizeof *t->force, "layout"));
    IKT_TRY(ikt_alloc(ctx, &t->gradient, 2 * t->n_local, sizeof *t->gradient, "layout"));
    return ikt_alloc(ctx, &t->phi, t->n_local, sizeof *t->phi, "layout");
}

static ikt_status begin(ikt_context *ctx, const ikt_row_map *map, ikt_kernelsum *sums, tsne **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "layout"));
    (*out)->ctx = ctx;
    (*out)->n_local = map->count;
    (*out)->sums = sums;
    return alloc_common(*out);
}

ikt_status ikt_tsne_create(ikt_context *ctx, const ikt_graph *graph, ikt_kernelsum *sums,
                           ikt_objective *out) {
    tsne *t = NULL;
    *out = (ikt_objective){NULL, evaluate_sparse, destroy};
    ikt_status st = begin(ctx, &graph->map, sums, &t);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &t->y, 2 * (graph->map.count + graph->n_ghost), sizeof *t->y, "layout");
    if (st == IKT_OK) t->graph = graph;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_halo_create(ctx, &graph->map, graph->ghost_row, graph->n_ghost, 2, &t->halo);
    if (st != IKT_OK)
        destroy(t);
    else
        out->self = t;
    return st;
}

ikt_status ikt_tsne_dense_create(ikt_context *ctx, const ikt_dense *dense, ikt_kernelsum *sums,
                                 ikt_objective *out) {
    tsne *t = NULL;
    *out = (ikt_objective){NULL, evaluate_dense, destroy};
    ikt_status st = begin(ctx, &dense->map, sums, &t);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->all, 2 * dense->map.n, sizeof *t->all, "layout");
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->counts, ikt_size(ctx), sizeof *t->counts, "layout");
    if (st == IKT_OK) {
        t->dense = dense;
        for (int r = 0; r < ikt_size(ctx); r++)
            t->counts[r] = ikt_row_map_count(&dense->map, r);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK)
        destroy(t);
    else
        out->self = t;
    return st;
}

void ikt_objective_destroy(ikt_objective *objective) {
    if (objective->self) objective->destroy(objective->self);
    objective->self = NULL;
}
