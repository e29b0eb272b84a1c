/* What a run would take. See plan.h. */
#include <math.h>

#include "evaluate/queries.h"
#include "objective/divergence.h"
#include "objective/laplacian.h"
#include "plan/task.h"

/* Operations beyond those of task.h, in gathers: */
static const double measured_point = 600, /* for each doubling of the rows, */
    sorted_point = 6,                     /* and on every rank, into the tree that is searched */
    ranked_coordinate = 0.207;            /* of a pair, whose distance is ranked among all */

enum { USUAL_RANK = 15 };

/* Measures: neighbours in the map, m log n, of everyone's positions and labels. Against the input:
 * distances of the queries to all rows, and their order, at about a tenth of the rate of distances.
 */
static void plan_outcome(const ikt_task *t) {
    const int wanted = t->w->settings.output.measures;
    const double queries = (t->n <= 20000 ? t->n : 2000) / t->w->ranks;
    const ikt_stage measures = IKT_STAGE_MEASURES;
    t->own[IKT_STAGE_WRITE].seconds += t->rows * 4 * t->axes / (t->m->file * mega);
    if (wanted == IKT_MEASURES_NONE) return;
    const ikt_measure_settings usual = ikt_measure_defaults();
    const double looked_at = (double)ikt_label_queries(&usual, t->w->data.n) / t->w->ranks;
    gathering(t, measures, looked_at * log2(t->n), measured_point);
    gathering(t, measures, t->n * log2(t->n), sorted_point);
    concatenate(t, measures, 1, 16 * t->n);
    if (wanted != IKT_MEASURES_ALL) return;
    preprocess(t, measures);
    pass(t, measures, 1, true);
    gathering(t, measures, queries * t->n * ((double)t->w->columns + 100), ranked_coordinate);
}

ikt_time_plan ikt_time_plan_make(const ikt_workload *w, const ikt_workload *subset,
                                 const ikt_machine *machine) {
    const ikt_layout_settings *l = &w->settings.layout;
    const ikt_divergence *divergence = ikt_layout_objective(l)->divergence;
    const double gradients = (double)(l->iterations + 1),
                 early = (double)l->exaggeration_iterations;
    ikt_cost own[IKT_STAGE_COUNT] = {{0}};
    const bool is_regularised = l->regulariser != IKT_REGULARISER_NONE;
    const int64_t rank = l->regulariser_rank == IKT_AUTO_INT ? USUAL_RANK : l->regulariser_rank;
    const double from = l->regulariser_from == IKT_AUTO_INT ? early : (double)l->regulariser_from;
    const ikt_task t = {.w = w,
                        .m = machine,
                        .n = (double)w->data.n,
                        .rows = (double)w->distribution.count,
                        .early = early,
                        .late = gradients - early,
                        .regularised = is_regularised ? gradients - from : 0,
                        .charges = (double)ikt_laplacian_columns(rank, w->data.n) + 1,
                        .reports = (double)(l->iterations / l->report_every) + 1,
                        .axes = (double)l->dimensions,
                        .kernels =
                            divergence ? divergence->n_kernels : ikt_layout_objective(l)->pair_sums,
                        .own = own};
    ikt_time_plan plan = {.gradients = gradients};
    ikt_plan_before_loop(&t);
    ikt_plan_loop(&t);
    plan_outcome(&t);
    if (subset)
        ikt_cost_add(&own[IKT_STAGE_LANDMARKS], 1,
                     ikt_time_plan_make(subset, NULL, machine).stage[IKT_STAGE_TOTAL]);
    /* A stage adds to those above it: the last ones before it that are less deep. */
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        int depth = ikt_stage_depth((ikt_stage)s) + 1;
        for (int above = s; above >= 0; above--)
            if (ikt_stage_depth((ikt_stage)above) < depth) {
                depth = ikt_stage_depth((ikt_stage)above);
                ikt_cost_add(&plan.stage[above], 1, own[s]);
            }
    }
    return plan;
}

ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan) {
    ikt_cost cost = {0};
    ikt_cost_add(&cost, 1 / plan->gradients, plan->stage[IKT_STAGE_LAYOUT]);
    return cost;
}

ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan) {
    const bool has_landmarks = plan->work.landmarks > 0;
    ikt_workload landmarks_work;
    if (has_landmarks) IKT_TRY(ikt_workload_of_landmarks(ctx, &plan->work, &landmarks_work));
    plan->memory = ikt_memory_plan_make(&plan->work, base);
    plan->time =
        ikt_time_plan_make(&plan->work, has_landmarks ? &landmarks_work : NULL, &plan->machine);
    return IKT_OK;
}
