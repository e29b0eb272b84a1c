/* t-SNE: attraction along P, repulsion through the sum of the Student kernel over all points.
 *
 * With phi(y) = sum_j 1 / (1 + |y - y_j|^2): Z = sum_i (phi(y_i) - 1), and the repulsive sum
 * sum_j w_ij^2 (y_i - y_j) is -1/2 grad phi(y_i) (methods, section 3), so
 *     gradient_i = 4 attraction_i + (2 / Z) grad phi(y_i).
 * The boundary exchange travels while the repulsion is computed; the divergence comes from the pass
 * that computes the attraction. */
#include <math.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "objective/attraction.h"
#include "objective/normalisation.h"
#include "objective/objective.h"

typedef struct {
    ikt_context *ctx;
    int64_t n_local;
    ikt_kernelsum *sums;
    float *y;         /* own positions, then those of ghosts (sparse P) */
    float *force;     /* [n_local * 2] attraction */
    float *repulsion; /* [n_local * 2] gradient of phi */
    double *phi;      /* [n_local] */

    const ikt_graph *graph; /* sparse P */
    ikt_halo *halo;

    const ikt_dense *dense; /* or dense P */
    int64_t *counts;        /* [ranks] rows of each */
    float *all;             /* [n * 2] positions of all rows */
    float *apart;           /* [2 * stride of P] the same, x and y apart */
} tsne;

static void repel(tsne *t) {
    ikt_stage_begin(t->ctx, IKT_STAGE_REPULSION);
    ikt_kernelsum_evaluate(t->sums, t->y, t->phi, t->repulsion);
    ikt_stage_end(t->ctx, IKT_STAGE_REPULSION);
}

static void attract_sparse(tsne *t, ikt_exact_sum *divergence) {
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    ikt_halo_end(t->halo);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    ikt_attraction(t->ctx, t->graph, t->y, t->force, divergence);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
}

static void attract_dense(tsne *t, ikt_exact_sum *divergence) {
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    ikt_allgather(t->ctx, t->y, t->n_local, 2 * sizeof *t->y, t->all, t->counts);
    for (int64_t i = 0; i < t->dense->map.n; i++) {
        t->apart[i] = t->all[2 * i];
        t->apart[t->dense->stride + i] = t->all[2 * i + 1];
    }
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_ATTRACTION);
    ikt_attraction_dense(t->ctx, t->dense, t->apart, t->force, divergence);
    ikt_stage_end(t->ctx, IKT_STAGE_ATTRACTION);
}

static void evaluate(void *self, ikt_gradient *gradient, ikt_objective_terms *terms) {
    tsne *t = self;
    ikt_exact_sum divergence = {{0}, 0, 0}, *wanted = terms->want_value ? &divergence : NULL;
    if (t->graph) ikt_halo_begin(t->halo, t->y, t->y + 2 * t->n_local);
    repel(t);
    terms->z = ikt_normalisation(t->ctx, t->phi, t->n_local);
    if (t->graph)
        attract_sparse(t, wanted);
    else
        attract_dense(t, wanted);
    if (wanted) ikt_exact_sum_reduce(t->ctx, wanted, 1);
    terms->value = wanted ? ikt_exact_sum_value(wanted) + log(terms->z) : NAN;
    *gradient = (ikt_gradient){t->force, t->repulsion, 4, (float)(2 / terms->z)};
}

static void destroy(void *self) {
    tsne *t = self;
    if (!t) return;
    ikt_halo_destroy(&t->halo);
    ikt_free(&t->y);
    ikt_free(&t->force);
    ikt_free(&t->repulsion);
    ikt_free(&t->phi);
    ikt_free(&t->counts);
    ikt_free(&t->all);
    ikt_free(&t->apart);
    ikt_free(&t);
}

/* LOCAL. What both kinds of P need; `rows`: own rows and ghosts. */
static ikt_status begin(ikt_context *ctx, const ikt_row_map *map, int64_t rows, ikt_kernelsum *sums,
                        tsne **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "layout"));
    tsne *t = *out;
    t->ctx = ctx;
    t->n_local = map->count;
    t->sums = sums;
    IKT_TRY(ikt_alloc(ctx, &t->y, 2 * rows, sizeof *t->y, "layout"));
    IKT_TRY(ikt_alloc(ctx, &t->force, 2 * t->n_local, sizeof *t->force, "layout"));
    IKT_TRY(ikt_alloc(ctx, &t->repulsion, 2 * t->n_local, sizeof *t->repulsion, "layout"));
    return ikt_alloc(ctx, &t->phi, t->n_local, sizeof *t->phi, "layout");
}

/* COLLECTIVE. Gives out the objective, or frees it where a rank has failed. */
static ikt_status finish(ikt_context *ctx, tsne *t, ikt_status st, ikt_objective *out) {
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        *out = (ikt_objective){t, t->y, evaluate, destroy};
    else
        destroy(t);
    return st;
}

ikt_status ikt_tsne_create(ikt_context *ctx, const ikt_graph *graph, ikt_kernelsum *sums,
                           ikt_objective *out) {
    tsne *t = NULL;
    *out = (ikt_objective){NULL, NULL, NULL, NULL};
    ikt_status st = begin(ctx, &graph->map, graph->map.count + graph->n_ghost, sums, &t);
    if (st == IKT_OK) t->graph = graph;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_halo_create(ctx, &graph->map, graph->ghost_row, graph->n_ghost, 2, &t->halo);
    return finish(ctx, t, st, out);
}

ikt_status ikt_tsne_dense_create(ikt_context *ctx, const ikt_dense *dense, ikt_kernelsum *sums,
                                 ikt_objective *out) {
    tsne *t = NULL;
    *out = (ikt_objective){NULL, NULL, NULL, NULL};
    ikt_status st = begin(ctx, &dense->map, dense->map.count, sums, &t);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->all, 2 * dense->map.n, sizeof *t->all, "layout");
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->apart, 2 * dense->stride, sizeof *t->apart, "layout");
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->counts, ikt_size(ctx), sizeof *t->counts, "layout");
    if (st == IKT_OK) {
        t->dense = dense;
        for (int r = 0; r < ikt_size(ctx); r++)
            t->counts[r] = ikt_row_map_count(&dense->map, r);
    }
    return finish(ctx, t, st, out);
}

void ikt_objective_destroy(ikt_objective *objective) {
    if (objective->self) objective->destroy(objective->self);
    objective->self = NULL;
}
