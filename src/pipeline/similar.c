/* The most similar rows: all pairs, or near cells. */
#include "pipeline/similar.h"

#include "base/timer.h"
#include "neighbours/exact.h"
#include "neighbours/refine.h"
#include "neighbours/search.h"

enum { RECALL_SAMPLE = 1000 };

bool ikt_similar_is_near(const ikt_similar_job *job, const ikt_probabilities *p) {
    return !p->is_dense && ikt_affinity_is_approximate(&job->settings->affinity, job->rows->n);
}

ikt_affinity_job ikt_similar_weighing(const ikt_similar_job *job, const ikt_probabilities *p) {
    return (ikt_affinity_job){.settings = &job->settings->affinity,
                              .k = p->k,
                              .t = job->settings->isolation.partitionings,
                              .data = job->data,
                              .rows = job->rows,
                              .order = p->is_ordered ? &p->order : NULL};
}

static ikt_status make_dense(ikt_context *ctx, const ikt_similar_job *job, const ikt_scorer *scorer,
                             ikt_probabilities *p) {
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = job->kind->dense(ctx, &weighing, scorer, &p->dense, &p->orphans);
    p->entries = scorer->rows.n * (scorer->rows.n - 1);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* COLLECTIVE. Lists and their course, with what a checkpoint holds of them. */
static ikt_status begin_lists(ikt_context *ctx, const ikt_rows *rows, const ikt_probabilities *p,
                              ikt_neighbours *lists, ikt_list_course *course) {
    *course = (ikt_list_course){.lists = lists};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, rows, p->k, lists)));
    return ikt_list_course_begin(ctx, p->keepers ? &p->keepers->lists : NULL, lists, course);
}

ikt_status ikt_similar_all(ikt_context *ctx, const ikt_similar_job *job, const ikt_scorer *scorer,
                           ikt_probabilities *p, ikt_neighbours *lists) {
    ikt_list_course course;
    if (p->is_dense) return make_dense(ctx, job, scorer, p);
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, &scorer->rows, p, lists, &course);
    if (st == IKT_OK) st = ikt_neighbours_brute_kept(ctx, scorer, &course);
    ikt_list_course_end(&course);
    if (st == IKT_OK)
        ikt_neighbours_sort(ctx, lists);
    else
        ikt_neighbours_destroy(lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

/* COLLECTIVE. The search and the rounds after it, from where they were left off. */
static ikt_status search_rounds(ikt_context *ctx, const ikt_similar_job *job,
                                const ikt_cells *cells, ikt_tiles *tiles, ikt_list_course *course) {
    const ikt_affinity_settings *settings = &job->settings->affinity;
    const int64_t k = course->lists->k;
    if (course->progress.round == 0) {
        IKT_TRY(ikt_neighbours_search_kept(
            ctx, cells, tiles, ikt_affinity_candidates(settings, tiles->scorer.rows.n, k), course));
        ikt_list_course_next(course);
    }
    while (course->progress.round <= settings->refinements) {
        IKT_TRY(ikt_neighbours_refine_kept(ctx, tiles, course));
        ikt_list_course_next(course);
    }
    return IKT_OK;
}

ikt_status ikt_similar_near(ikt_context *ctx, const ikt_similar_job *job, const ikt_cells *cells,
                            ikt_tiles *tiles, ikt_probabilities *p, ikt_neighbours *lists) {
    const uint64_t seed = (uint64_t)job->settings->run.seed;
    ikt_list_course course;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, &tiles->scorer.rows, p, lists, &course);
    if (st == IKT_OK) st = search_rounds(ctx, job, cells, tiles, &course);
    ikt_list_course_end(&course);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK) st = ikt_recall_measure(ctx, tiles, lists, seed, RECALL_SAMPLE, &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    if (st != IKT_OK) ikt_neighbours_destroy(lists);
    return st;
}
