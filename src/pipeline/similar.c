/* The most similar rows: all pairs, or near cells. */
#include "pipeline/similar.h"

#include "base/timer.h"
#include "neighbours/refine.h"
#include "neighbours/search.h"

enum { RECALL_SAMPLE = 1000 };

bool ikt_similar_is_near(const ikt_similar_job *job, const ikt_probabilities *p) {
    return !p->is_dense && ikt_affinity_is_approximate(&job->settings->affinity, job->map->n);
}

ikt_affinity_job ikt_similar_weighing(const ikt_similar_job *job, const ikt_probabilities *p) {
    return (ikt_affinity_job){.settings = &job->settings->affinity,
                              .k = p->k,
                              .t = job->settings->isolation.partitionings,
                              .data = job->data,
                              .map = job->map,
                              .order = p->is_ordered ? &p->order : NULL};
}

static ikt_status make_dense(ikt_context *ctx, const ikt_similar_job *job, const ikt_scorer *scorer,
                             ikt_probabilities *p) {
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = job->kind->dense(ctx, &weighing, scorer, &p->dense, &p->orphans);
    p->entries = scorer->map.n * (scorer->map.n - 1);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

ikt_status ikt_similar_all(ikt_context *ctx, const ikt_similar_job *job, const ikt_scorer *scorer,
                           ikt_probabilities *p, ikt_neighbours *lists) {
    if (p->is_dense) return make_dense(ctx, job, scorer, p);
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_brute(ctx, scorer, p->k, lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

ikt_status ikt_similar_near(ikt_context *ctx, const ikt_similar_job *job, const ikt_cells *cells,
                            ikt_shelf *shelf, ikt_probabilities *p, ikt_neighbours *lists) {
    const ikt_affinity_settings *settings = &job->settings->affinity;
    const uint64_t seed = (uint64_t)job->settings->run.seed;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_search(
        ctx, cells, shelf, p->k, ikt_affinity_candidates(settings, shelf->map.n, p->k), lists);
    for (int64_t round = 0; st == IKT_OK && round < settings->refinements; round++)
        st = ikt_neighbours_refine(ctx, shelf, lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK) st = ikt_recall_measure(ctx, shelf, lists, seed, RECALL_SAMPLE, &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    if (st != IKT_OK) ikt_neighbours_destroy(lists);
    return st;
}
