/* What a run would take: transfers, what many stages have, and the whole. See plan.h. */
#include <math.h>

#include "evaluate/queries.h"
#include "linalg/covariance_few.h"
#include "linalg/covariance_leading.h"
#include "neighbours/exact.h"
#include "objective/divergence.h"
#include "plan/task.h"

static const double giga = 1e9, mega = 1e6, micro = 1e-6;

/* --- transfers -------------------------------------------------------------------------------- */

/* A vector that moves `times` times, less what stays where it is; `rate` in GB/s. */
static ikt_cost collective(const ikt_machine *m, int ranks, double times, double bytes, double rate,
                           double sent) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    const double moved = times * bytes * (ranks - 1) / ranks, doublings = ceil(log2((double)ranks));
    return (ikt_cost){times * doublings * m->latency * micro + moved / (rate * giga), sent, 0, 1};
}

ikt_cost ikt_cost_reduction(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 2, bytes, m->reduction, bytes);
}

ikt_cost ikt_cost_concatenation(const ikt_machine *m, int ranks, double bytes) {
    return collective(m, ranks, 1, bytes, m->bandwidth, bytes / ranks);
}

ikt_cost ikt_cost_messages(const ikt_machine *m, double messages, double bytes) {
    return (ikt_cost){messages * m->latency * micro + bytes / (m->bandwidth * giga), bytes,
                      messages, 0};
}

static void add_cost(ikt_cost *cost, double times, ikt_cost other) {
    cost->seconds += times * other.seconds;
    cost->bytes_sent += times * other.bytes_sent;
    cost->messages += times * other.messages;
    cost->collectives += times * other.collectives;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static ikt_cost cost_of(const ikt_task *t, const ikt_piece *piece) {
    const int ranks = t->w->ranks;
    switch (piece->takes) {
    case MESSAGES:
        return ikt_cost_messages(t->m, piece->messages, piece->each);
    case CONCATENATION:
        return ikt_cost_concatenation(t->m, ranks, piece->each);
    case SUM:
        return ikt_cost_reduction(t->m, ranks, piece->each);
    case SHARED_SUM:
        return collective(t->m, ranks, 1, piece->each, t->m->reduction, piece->each);
    default:
        return (ikt_cost){.seconds = piece->each / t->rate[piece->takes]};
    }
}

void ikt_pieces_add(const ikt_task *t, const ikt_piece *piece, size_t count) {
    for (size_t p = 0; p < count; p++)
        if (piece[p].is_had)
            add_cost(&t->own[piece[p].stage], piece[p].count, cost_of(t, &piece[p]));
}

ikt_piece ikt_pairs_compared(const ikt_task *t, bool is_had, ikt_stage stage, double count) {
    const double byte = 1.82, coordinate = 0.07; /* of a pair, and the best kept */
    if (t->w->scores == IKT_SCORES_CODES)
        return (ikt_piece){is_had, stage, COMPARED_BYTES, count * t->searched, byte, 0};
    return (ikt_piece){is_had, stage, GATHERS, count * t->columns, coordinate, 0};
}

void ikt_plan_all_pairs(const ikt_task *t, ikt_stage stage) {
    const ikt_piece pieces[] = {ikt_pairs_compared(t, true, stage, t->rows * t->n),
                                {true, stage, MESSAGES, 1, (t->n - t->rows) * t->searched,
                                 ceil(t->rows / IKT_EXACT_BLOCK_ROWS) * t->others}};
    ADD(t, pieces);
}

/* Of sparse rows each value comes with a column of four bytes; what stays bytes is not brought to
 * scale; m d c multiply-adds project. */
void ikt_plan_pass(const ikt_task *t, ikt_stage stage, double share, bool is_reduced) {
    const ikt_data_shape *data = &t->w->data;
    const double values = share * t->rows * (data->is_sparse ? data->entries : (double)data->d);
    const double bytes = (double)ikt_type_size(data->type) + (data->is_sparse ? 4 : 0);
    const bool is_projected = is_reduced && t->w->settings.preprocess.pca > 0;
    const ikt_piece pieces[] = {
        {true, stage, FILE_BYTES, values, bytes, 0},
        {!t->w->is_u8, stage, MULTIPLY_ADDS, values, 48, 0}, /* brought to scale */
        {is_projected, stage, MULTIPLY_ADDS, values * t->columns, projected_coordinate, 0}};
    ADD(t, pieces);
}

/* Two passes, columns^2 / 2 products a row, columns^3 on one thread, and the upper triangle summed
 * over ranks; or of wide rows (linalg/covariance_leading.h) passes, each with two products of every
 * value and vector, and vectors gathered and summed; or of few (linalg/covariance_few.h) half of
 * the products of all pairs of rows, and rows^3. */
void ikt_plan_components(const ikt_task *t, ikt_stage stage, double share, int64_t d,
                         int64_t components, bool is_reduced) {
    const double columns = (double)d, triangle = columns * (columns + 1) / 2;
    const double product = 3.63; /* of the triangle */
    const double few = fmin(share, 1) * t->n;
    const bool is_of_few = ikt_covariance_is_of_few((int64_t)few, d);
    const bool is_wide = !is_of_few && ikt_covariance_is_wide(d, components);
    const bool has_matrix = !is_of_few && !is_wide;
    const double passes = is_wide ? IKT_COVARIANCE_PASSES : 2;
    const double vectors = columns * (double)ikt_covariance_vectors(d, components);
    const ikt_piece pieces[] = {
        {is_of_few, stage, MULTIPLY_ADDS, few / 2 * few * columns / t->w->ranks,
         projected_coordinate, 0},
        {is_of_few, stage, LONE_GATHERS, pow(few, 3), eigen_cube, 0},
        {has_matrix, stage, MULTIPLY_ADDS, share * t->rows * triangle, product, 0},
        {has_matrix, stage, LONE_GATHERS, pow(columns, 3), eigen_cube, 0},
        {has_matrix, stage, SUM, 1, 8 * triangle, 0},
        {is_wide, stage, MULTIPLY_ADDS, 2 * passes * share * t->rows * vectors,
         projected_coordinate, 0},
        {is_wide, stage, SUM, passes, 8 * vectors, 0},
        {is_wide, stage, CONCATENATION, passes, 8 * vectors, 0}};
    ikt_plan_pass(t, stage, passes * share, is_reduced);
    ADD(t, pieces);
}

void ikt_plan_preprocess(const ikt_task *t, ikt_stage stage) {
    const ikt_preprocess_settings *rows = &t->w->settings.preprocess;
    const double share = (double)ikt_pca_rows(rows, (int64_t)t->n) / t->n;
    if (!t->w->is_u8) ikt_plan_pass(t, stage, 1, false);
    if (rows->pca > 0) ikt_plan_components(t, stage, share, t->w->data.d, rows->pca, false);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Measures: neighbours in the map, m log n, of everyone's positions and labels. Against the input:
 * distances of the queries to all rows, and their order, at about a tenth of the rate of distances.
 */
static void plan_outcome(const ikt_task *t) {
    const int wanted = t->w->settings.output.measures;
    const bool is_measured = wanted != IKT_MEASURES_NONE, is_compared = wanted == IKT_MEASURES_ALL;
    const ikt_measure_settings usual = ikt_measure_defaults();
    const double queries = (double)ikt_queries_count(&usual, t->w->data.n) / t->w->ranks;
    const double looked_at = (double)ikt_label_queries(&usual, t->w->data.n) / t->w->ranks;
    const ikt_stage measures = IKT_STAGE_MEASURES;
    const ikt_piece pieces[] = {
        {true, IKT_STAGE_WRITE, FILE_BYTES, t->rows * t->axes, 4, 0},
        /* For each doubling of the rows; and on every rank, into the tree that is searched. */
        {is_measured, measures, GATHERS, looked_at * log2(t->n), 600, 0},
        {is_measured, measures, GATHERS, t->n * log2(t->n), 6, 0},
        {is_measured, measures, CONCATENATION, 1, 16 * t->n, 0},
        /* A coordinate of a pair, whose distance is ranked among all. */
        {is_compared, measures, GATHERS, queries * t->n * (t->columns + 100), 0.207, 0}};
    ADD(t, pieces);
    if (!is_compared) return;
    ikt_plan_preprocess(t, measures);
    ikt_plan_pass(t, measures, 1, true);
}

static ikt_task task_of(const ikt_workload *w, const ikt_machine *m, ikt_cost *own) {
    const ikt_layout_settings *l = &w->settings.layout;
    const ikt_objective_kind *kind = ikt_layout_objective(l);
    const double gradients = (double)(l->iterations + 1), all = w->threads;
    const double early = (double)l->exaggeration_iterations;
    const double of_tsne = fmax(0, (double)l->tsne_iterations) / gradients; /* one kernel's */
    const double rows = (double)w->distribution.count, n = (double)w->data.n;
    return (ikt_task){
        .w = w,
        .m = m,
        .rate = {[MULTIPLY_ADDS] = m->multiply_adds * giga * all,
                 [GATHERS] = m->gathers * mega * all,
                 [COORDINATES] = m->bytes * giga * all,
                 [COMPARED_BYTES] = m->compares * giga * all,
                 [GRID_NODES] = m->fft * mega * all,
                 [LONE_MULTIPLY_ADDS] = m->multiply_adds * giga,
                 [LONE_GATHERS] = m->gathers * mega,
                 [FILE_BYTES] = m->file * mega},
        .n = n,
        .rows = rows,
        .others = w->ranks - 1,
        .columns = (double)w->columns,
        .searched = (double)ikt_workload_searched_bytes(w),
        .entries = rows * (w->is_dense ? n : ikt_symmetric_share(w->data.n) * (double)w->k),
        .place = fmin(2.5, fmax(-1, (log2(rows) - 16) / 3)),
        .gradients = gradients,
        .early = early,
        .late = gradients - early,
        .reports = (double)(l->iterations / l->report_every) + 1,
        .axes = (double)l->dimensions,
        .kernels = kind->divergence ? 1 + (1 - of_tsne) * (kind->divergence->n_kernels - 1)
                                    : kind->pair_sums,
        .own = own};
}

ikt_time_plan ikt_time_plan_make(const ikt_workload *w, const ikt_workload *subset,
                                 const ikt_machine *machine) {
    ikt_cost own[IKT_STAGE_COUNT] = {{0}};
    const ikt_task t = task_of(w, machine, own);
    ikt_time_plan plan = {.gradients = t.gradients};
    ikt_plan_before_loop(&t);
    ikt_plan_loop(&t);
    plan_outcome(&t);
    if (subset)
        add_cost(&own[IKT_STAGE_LANDMARKS], 1,
                 ikt_time_plan_make(subset, NULL, machine).stage[IKT_STAGE_TOTAL]);
    /* A stage adds to those above it: the last ones before it that are less deep. */
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        int depth = ikt_stage_depth((ikt_stage)s) + 1;
        for (int above = s; above >= 0; above--)
            if (ikt_stage_depth((ikt_stage)above) < depth) {
                depth = ikt_stage_depth((ikt_stage)above);
                add_cost(&plan.stage[above], 1, own[s]);
            }
    }
    return plan;
}

ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan) {
    ikt_cost cost = {0};
    add_cost(&cost, 1 / plan->gradients, plan->stage[IKT_STAGE_LAYOUT]);
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
