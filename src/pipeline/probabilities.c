/* From data to P. See probabilities.h. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/accuracy.h"
#include "objective/objective.h"
#include "pipeline/graph_input.h"
#include "pipeline/graph_keep.h"
#include "pipeline/saved_probabilities.h"
#include "pipeline/similar.h"

enum { LABEL_NEIGHBOURS = 10 };

ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *hooks,
                                   const ikt_rows *rows, ikt_probabilities *out) {
    memset(out, 0, sizeof *out);
    out->rows = *rows;
    out->hooks = hooks;
    out->accuracy = -1;
    return ikt_probabilities_load(ctx, out);
}

/* Label accuracy of the lists, while they still have scores. */
static ikt_status measure_accuracy(ikt_context *ctx, const int64_t *labels, ikt_probabilities *p) {
    int64_t *ordered = NULL;
    const int64_t bytes = sizeof *ordered;
    ikt_status st = IKT_OK;
    if (p->is_ordered) {
        st = ikt_agree(ctx, ikt_alloc(ctx, &ordered, p->rows.count, sizeof *ordered, "labels"));
        if (st == IKT_OK)
            st = ikt_order_apply(ctx, &p->order, labels, bytes, ordered, bytes, bytes);
    }
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, &p->rows, &p->lists, ordered ? ordered : labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&ordered);
    return st;
}

/* COLLECTIVE. From lists with scores to what the objective needs of them: the lists as they are,
 * weights, or both. A checkpoint holds lists with weights, unless their scores are needed. */
static ikt_status weigh(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    const bool needs_scores = job->options->needs & IKT_NEEDS_NEIGHBOURS;
    const bool needs_weights = job->options->needs & IKT_NEEDS_P;
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    const int64_t entries = p->rows.count * p->lists.k;
    ikt_status st = IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    if (job->options->labels && !p->is_found) st = measure_accuracy(ctx, job->options->labels, p);
    if (st == IKT_OK && needs_scores && !p->is_found) st = ikt_probabilities_save(ctx, p);
    if (st == IKT_OK && needs_scores && needs_weights) {
        st = ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->lists.k, &p->neighbours));
        if (st == IKT_OK && entries > 0) {
            memcpy(p->neighbours.row, p->lists.row, (size_t)entries * sizeof *p->lists.row);
            memcpy(p->neighbours.score, p->lists.score, (size_t)entries * sizeof *p->lists.score);
        }
    } else if (st == IKT_OK && needs_scores) {
        p->neighbours = p->lists;
        p->lists = (ikt_neighbours){0};
    }
    if (st == IKT_OK && needs_scores) ikt_neighbours_sort(ctx, &p->neighbours);
    if (st == IKT_OK && needs_weights && (needs_scores || !p->is_found))
        st = job->kind->weigh(ctx, &weighing, &p->lists, &p->zero_similarity);
    if (st == IKT_OK && !needs_scores && !p->is_found) st = ikt_probabilities_save(ctx, p);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* COLLECTIVE. From weights to the symmetric P, by way of a file where they are kept. */
static ikt_status symmetrise(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_status st = IKT_OK;
    if (!p->weights.start)
        st = ikt_agree(ctx, ikt_directed_from_lists(ctx, &p->lists, &p->weights));
    if (st == IKT_OK && job->options->graph_writer)
        st = ikt_graph_keep_rows(ctx, job->settings, job->options, p);
    if (st == IKT_OK) st = ikt_graph_from_directed(ctx, &p->rows, &p->weights, &p->graph);
#ifdef NDEBUG
    if (st == IKT_OK) st = ikt_graph_check_sums(ctx, &p->graph);
#else
    if (st == IKT_OK) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

/* Outputs and forms that an objective with these needs does not have. */
static ikt_status check_needs(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_probabilities_options *options, bool has_sparse_graph) {
    const char *name = ikt_layout_objective(&settings->layout)->name;
    if (options->graph_writer && !(options->needs & IKT_NEEDS_P))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.graph keeps P, which layout.objective=%s does not make", name);
    if (!(options->needs & IKT_NEEDS_NEIGHBOURS)) return IKT_OK;
    if (settings->affinity.support == IKT_SUPPORT_DENSE || has_sparse_graph)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective=%s works on lists of neighbours, which %s does not give",
                        name, has_sparse_graph ? "a graph" : "affinity.support=dense");
    return IKT_OK;
}

ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_probabilities_options *options,
                                     ikt_probabilities *p) {
    const unsigned of_rows = IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES;
    ikt_similar_job job = {settings, ikt_affinity_of(&settings->affinity), data, options, NULL};
    ikt_pairwise pairs = {.source = NULL};
    if (!(options->needs & of_rows) && !options->model_writer) return IKT_OK;
    if (settings->input.graph[0]) IKT_TRY(ikt_pairwise_open(ctx, settings->input.graph, &pairs));
    if (pairs.source) job.pairs = &pairs;
    const bool has_sparse_graph = settings->input.graph[0] && !pairs.source;
    p->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    ikt_status st = check_needs(ctx, settings, options, has_sparse_graph);
    if (st == IKT_OK) st = ikt_affinity_resolve(ctx, &settings->affinity, p->rows.n, &p->k);
    if (st == IKT_OK && has_sparse_graph) {
        ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
        st = ikt_graph_weights(ctx, settings, data, &p->rows, p);
        ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    } else if (st == IKT_OK) {
        st = ikt_similar_find(ctx, &job, p);
        if (st == IKT_OK && !p->is_dense && p->lists.k > 0) st = weigh(ctx, &job, p);
    }
    ikt_pairwise_close(&pairs);
    if (st == IKT_OK && !p->is_dense && (options->needs & IKT_NEEDS_P))
        st = symmetrise(ctx, &job, p);
    if (st != IKT_OK) ikt_probabilities_destroy(p);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
    ikt_free(&p->scores);
    ikt_neighbours_destroy(&p->lists);
    ikt_neighbours_destroy(&p->neighbours);
    ikt_codes_destroy(&p->codes);
    ikt_directed_destroy(&p->weights);
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
}
