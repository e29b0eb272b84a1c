/* From data to P. See probabilities.h. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/list_accuracy.h"
#include "pipeline/similar.h"

enum { LABEL_NEIGHBOURS = 10 };

/* Label accuracy of the lists, while they still have scores. */
static ikt_status judge(ikt_context *ctx, const ikt_row_map *map, const ikt_neighbours *lists,
                        ikt_probabilities *p) {
    int64_t *labels = NULL;
    if (!p->labels) return IKT_OK;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &labels, map->count, sizeof *labels, "labels"));
    if (st == IKT_OK && p->is_ordered)
        st = ikt_order_apply(ctx, &p->order, p->labels, sizeof *labels, labels, sizeof *labels,
                             sizeof *labels);
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, map, lists, p->is_ordered ? labels : p->labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&labels);
    return st;
}

/* From lists of neighbours to P. Takes the lists over. */
static ikt_status weigh(ikt_context *ctx, const ikt_similar_job *job, ikt_neighbours *lists,
                        ikt_probabilities *p) {
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = judge(ctx, job->map, lists, p);
    if (st == IKT_OK) st = job->kind->weigh(ctx, &weighing, lists, &p->orphans);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    if (st == IKT_OK) st = ikt_graph_symmetrise(ctx, job->map, lists, &p->graph);
    ikt_neighbours_destroy(lists);
#ifndef NDEBUG
    if (st == IKT_OK) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_row_map *map,
                                     const int64_t *labels, const ikt_landmarks *landmarks,
                                     ikt_model_writer *keep, ikt_probabilities *out) {
    const ikt_similar_job job = {settings, ikt_affinity_of(&settings->affinity), data, map};
    ikt_neighbours lists = {0, 0, NULL, NULL};
    memset(out, 0, sizeof *out);
    out->labels = labels;
    out->landmarks = landmarks;
    out->keep = keep;
    out->accuracy = -1;
    out->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_affinity_resolve(ctx, &settings->affinity, map->n, &out->k));
    ikt_status st = job.kind->scores == IKT_SCORES_CODES
                        ? ikt_similar_by_codes(ctx, &job, out, &lists)
                        : ikt_similar_by_distances(ctx, &job, out, &lists);
    if (st == IKT_OK && !out->is_dense) st = weigh(ctx, &job, &lists, out);
    if (st != IKT_OK) ikt_probabilities_destroy(out);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
}
