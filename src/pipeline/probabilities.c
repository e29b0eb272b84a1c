/* From data to P. See probabilities.h. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/accuracy.h"
#include "pipeline/graph_input.h"
#include "pipeline/graph_keep.h"
#include "pipeline/kept_probabilities.h"
#include "pipeline/similar.h"

enum { LABEL_NEIGHBOURS = 10 };

/* Label accuracy of the lists, while they still have scores. */
static ikt_status judge(ikt_context *ctx, const ikt_rows *rows, const ikt_neighbours *lists,
                        ikt_probabilities *p) {
    int64_t *labels = NULL;
    if (!p->labels) return IKT_OK;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &labels, rows->count, sizeof *labels, "labels"));
    if (st == IKT_OK && p->is_ordered)
        st = ikt_order_apply(ctx, &p->order, p->labels, sizeof *labels, labels, sizeof *labels,
                             sizeof *labels);
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, rows, lists, p->is_ordered ? labels : p->labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&labels);
    return st;
}

/* Weights in place of the scores of lists. */
static ikt_status weigh(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = judge(ctx, job->rows, &p->lists, p);
    if (st == IKT_OK) st = job->kind->weigh(ctx, &weighing, &p->lists, &p->orphans);
    if (st == IKT_OK) st = ikt_probabilities_keep(ctx, p);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* Weighted lists become rows where they stand. */
static ikt_status make_rows(ikt_context *ctx, ikt_probabilities *p) {
    if (p->rows.start) return IKT_OK;
    return ikt_agree(ctx, ikt_directed_from_lists(ctx, &p->lists, &p->rows));
}

/* From weights to P, by way of a file where they are kept. */
static ikt_status symmetrise(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                             ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_status st = make_rows(ctx, p);
    if (st == IKT_OK && p->graph_keep) st = ikt_graph_keep_rows(ctx, settings, rows, p);
    if (st == IKT_OK) st = ikt_graph_from_directed(ctx, rows, &p->rows, &p->graph);
#ifndef NDEBUG
    if (st == IKT_OK) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *keepers,
                                   ikt_probabilities *out) {
    memset(out, 0, sizeof *out);
    out->keepers = keepers;
    out->accuracy = -1;
    return ikt_probabilities_find(ctx, out);
}

/* COLLECTIVE. Weights from input.graph. */
static ikt_status read_graph(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = ikt_graph_weights(ctx, job->settings, job->data, job->rows, p);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* Lists of similar rows, or the dense P at once; nothing where a checkpoint has had them. */
static ikt_status find_similar(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    if (job->settings->input.graph[0]) return read_graph(ctx, job, p);
    if (p->is_found) return p->keep ? ikt_similar_keep_codes(ctx, job, p) : IKT_OK;
    IKT_TRY(job->kind->scores == IKT_SCORES_CODES
                ? ikt_similar_by_codes(ctx, job, p, &p->lists)
                : ikt_similar_by_distances(ctx, job, p, &p->lists));
    return p->is_dense ? IKT_OK : weigh(ctx, job, p);
}

ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_rows *rows, const int64_t *labels,
                                     const ikt_landmarks *landmarks, ikt_model_writer *keep,
                                     ikt_probabilities *p) {
    const ikt_similar_job job = {settings, ikt_affinity_of(&settings->affinity), data, rows};
    p->labels = labels;
    p->landmarks = landmarks;
    p->keep = keep;
    p->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    ikt_status st = ikt_affinity_resolve(ctx, &settings->affinity, rows->n, &p->k);
    if (st == IKT_OK) st = find_similar(ctx, &job, p);
    if (st == IKT_OK && !p->is_dense) st = symmetrise(ctx, settings, rows, p);
    if (st != IKT_OK) ikt_probabilities_destroy(p);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
    ikt_free(&p->scores);
    ikt_neighbours_destroy(&p->lists);
    ikt_directed_destroy(&p->rows);
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
}
