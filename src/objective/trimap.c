/* TriMap as an objective. See trimap.h. */
#include "objective/trimap.h"
#include "base/arrays.h"

#include <math.h>

#include "base/comm.h"
#include "kernelsum/replica.h"

/* Three times the steps of the published program, which are 0.05 on the whole gradient (it writes
 * 0.1 and takes half of it): rows of large sets arrive within 400 iterations, and small sets get
 * no worse (docs/trimap.md). The learning rate is defined on a quarter of the gradient. */
static const double learning_rate = 0.6;

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    (void)q;
    if (options->repulsion != IKT_REPULSION_AUTO)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.repulsion is for objectives that sum over all pairs of rows, which "
                        "layout.objective=trimap does not: leave it out");
    IKT_TRY(ikt_objective_refuse_trade_off(ctx, kind, options));
    return ikt_trimap_resolve(ctx, &options->own.triplet, n);
}

static int64_t lists(const ikt_objective_options *options, bool has_distances, int64_t *least) {
    const ikt_triplet_settings *s = &options->own.triplet;
    *least = s->neighbours;
    if (has_distances && s->scale_to > *least) *least = s->scale_to;
    return ikt_triplet_lists(s, has_distances);
}

static const ikt_trimap_way *way_of(const ikt_objective_options *options) {
    return options->own.triplet.triplets == IKT_TRIPLETS_FIXED ? &ikt_trimap_fixed
                                                               : &ikt_trimap_pool;
}

/* The objective of one of the ways knows it by its kind. */
static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const ikt_triplet_settings *s = &inputs->options.own.triplet;
    ikt_similarity similarity IKT_AT_END(ikt_similarity_destroy) = {.codes = NULL};
    ikt_neighbours near IKT_AT_END(ikt_neighbours_destroy) = {0};
    ikt_status st =
        inputs->joined
            ? ikt_similarity_of_graph(ctx, &inputs->rows, inputs->joined, s->scale_from,
                                      s->scale_to, &similarity)
            : ikt_similarity_create(ctx, &inputs->rows, inputs->neighbours, inputs->features,
                                    inputs->codes, s->scale_from, s->scale_to, &similarity);
    if (st == IKT_OK)
        st = ikt_similarity_nearest(ctx, &similarity, inputs->neighbours, s->neighbours, &near);
    if (inputs->neighbours) ikt_neighbours_destroy(inputs->neighbours);
    IKT_TRY(st);
    return way_of(&inputs->options)->create(ctx, inputs, &similarity, &near, out);
}

/* What both ways begin with. */
typedef struct {
    const ikt_trimap_way *way;
} state;

static void destroy(ikt_objective *objective) {
    const state *s = objective->self;
    if (s) s->way->destroy(objective);
}

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    const state *s = objective->self;
    return s->way->evaluate(objective, iteration, want_value, gradient, terms);
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    const state *s = objective->self;
    s->way->describe(objective, text, size);
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    return way_of(&shape->options)->memory(shape);
}

ikt_status ikt_trimap_check_start(ikt_context *ctx, const ikt_rows *rows, int q, const float *y) {
    double most[2 * IKT_DIMENSIONS_MOST];
    bool has_extent = false;
    for (int c = 0; c < 2 * q; c++)
        most[c] = -INFINITY;
    for (int64_t e = 0; e < q * rows->count; e++) {
        most[2 * (e % q)] = fmax(most[2 * (e % q)], (double)y[e]);
        most[2 * (e % q) + 1] = fmax(most[2 * (e % q) + 1], -(double)y[e]);
    }
    ikt_max_f64(ctx, most, 2 * q);
    for (int c = 0; c < q; c++)
        has_extent = has_extent || most[2 * c] + most[2 * c + 1] > 0;
    if (has_extent) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "all rows start in one place, where the gradient of TriMap is zero: choose "
                    "another layout.init");
}

static void shrink(ikt_objective_own *own, int64_t n) {
    if (own->triplet.pool_rows > n) own->triplet.pool_rows = IKT_AUTO_INT;
}

static const ikt_idle idle[] = {
    {"pool_rows", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"redraw", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"far_rows", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"scale_from", NULL, NULL, IKT_FACT_MEASURES_ROWS,
     "an affinity.kind other than isolation, or input.graph with graph.values=distances"},
    {"scale_to", NULL, NULL, IKT_FACT_MEASURES_ROWS,
     "an affinity.kind other than isolation, or input.graph with graph.values=distances"},
    {NULL, NULL, NULL, 0, NULL}};

const ikt_objective_kind ikt_objective_trimap = {.name = "trimap",
                                                 .section = &ikt_triplet_section,
                                                 .keys = offsetof(ikt_objective_own, triplet),
                                                 .shrink = shrink,
                                                 .idle = idle,
                                                 .places = IKT_PLACES_BY_TRIPLETS,
                                                 .value_name = "cost",
                                                 .needs = IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_FEATURES,
                                                 .frees_neighbours = true,
                                                 .learning_rate = learning_rate,
                                                 .iterations = 400,
                                                 .momentum = 0.5,
                                                 .start_deviation = 0.01,
                                                 .optimiser = &ikt_optimiser_delta_bar_delta,
                                                 .resolve = resolve,
                                                 .lists = lists,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .evaluate = evaluate,
                                                 .describe = describe,
                                                 .memory = memory};
