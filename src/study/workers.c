/* All runs of a study, by groups of ranks. Read ikt_study_execute_all first. */
#include "study/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/watch.h"
#include "study/execute.h"
#include "study/queue.h"

/* Everything that a group works with. */
typedef struct {
    ikt_context *ctx; /* of the group */
    const ikt_study *study;
    const ikt_study_plan *plan;
    const char *output;
    char session[IKT_STUDY_SESSION];
    int64_t *order; /* [count] runs that are not done, the longest first */
    int64_t count;
    int64_t cursor;
} worker;

static void report(const worker *w, const ikt_study_claim *claim, const ikt_study_result *result) {
    char name[IKT_STRING_MAX], values[IKT_STRING_MAX] = "";
    const ikt_study_run *run = &w->plan->run[claim->run];
    ikt_study_run_name(w->study, run, name, sizeof name);
    if (!result->is_good) {
        ikt_log(w->ctx, IKT_LOG_WARN, "%s: failed: %s", name, result->message);
        return;
    }
    for (int64_t m = 0; m < w->study->n_measures && strlen(values) < sizeof values / 2; m++)
        if (isfinite(result->number[ikt_study_number(w->study, m)]))
            snprintf(values + strlen(values), sizeof values - strlen(values), ", %s %.4g",
                     w->study->measure[m], result->number[ikt_study_number(w->study, m)]);
    ikt_log_numbers(w->ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("done", w->cursor),
                                       IKT_LOG_INT("total", w->count),
                                       IKT_LOG_REAL("seconds", result->number[IKT_RUN_SECONDS]),
                                       {0}},
                    "%lld of %lld: %s%s (%.1f s)", (long long)w->cursor, (long long)w->count, name,
                    values, result->number[IKT_RUN_SECONDS]);
}

/* A run that was begun again and again and never ended must not hold up the study for ever. */
static void give_up(const ikt_study_claim *claim, ikt_study_result *out) {
    *out = ikt_study_result_empty();
    out->is_done = true;
    snprintf(out->message, sizeof out->message,
             "begun %lld times before and never ended (time limit, memory, or a crash)",
             (long long)claim->attempts);
}

/* COLLECTIVE over a group. Leaves a run that was stopped to a later session; returns `st`. */
static ikt_status put_back(worker *w, const ikt_study_claim *claim, ikt_status st) {
    ikt_status noted = IKT_OK;
    if (ikt_rank(w->ctx) == 0)
        noted = ikt_study_queue_put_back(w->ctx, w->plan, w->output, w->session, claim->run);
    noted = ikt_agree(w->ctx, noted);
    return noted == IKT_OK ? st : noted;
}

/* COLLECTIVE over a group whose context is made anew for each run: its account, clocks and message
 * begin empty. */
static ikt_status make_run(worker *w, ikt_context *group, const ikt_study_claim *claim) {
    ikt_study_result result;
    ikt_status st = ikt_context_split(group, 0, &w->ctx);
    if (st != IKT_OK) return st;
    ikt_context_set_log(w->ctx, IKT_LOG_ERROR);
    if (claim->attempts >= IKT_STUDY_ATTEMPTS)
        give_up(claim, &result);
    else
        st = ikt_study_execute(w->ctx, w->study, w->plan, w->output, claim->run, &result);
    if (st != IKT_OK) ikt_fail(group, st, "%s", ikt_message(w->ctx));
    ikt_context_destroy(&w->ctx);
    w->ctx = group;
    if (st != IKT_OK) return put_back(w, claim, st);
    report(w, claim, &result);
    if (ikt_rank(group) == 0)
        st = ikt_study_results_add(group, w->study, w->plan, w->output, claim->run, &result);
    return ikt_agree(group, st);
}

static ikt_status work(worker *w, ikt_context *group) {
    ikt_watch_signals();
    ikt_watch_begin(group, INFINITY, INFINITY);
    for (;;) {
        ikt_study_claim claim = {-1, 0};
        ikt_status st = IKT_OK;
        if (ikt_watch_ask(group) == IKT_REQUEST_STOP)
            return ikt_fail(group, IKT_STOPPED,
                            "stopped by %s between two runs; the same command goes on with those "
                            "that are left",
                            ikt_watch_reason(group));
        if (ikt_rank(group) == 0)
            st = ikt_study_queue_take(group, w->plan, w->output, w->session, w->order, w->count,
                                      &w->cursor, &claim);
        IKT_TRY(ikt_agree(group, st));
        ikt_broadcast(group, &claim, sizeof claim, 0);
        if (claim.run < 0) return IKT_OK;
        IKT_TRY(make_run(w, group, &claim));
    }
}

typedef struct {
    double cost;
    int64_t run;
} weighed;

static int longest_first(const void *a, const void *b) {
    const weighed *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return IKT_COMPARE(x->run, y->run);
}

/* LOCAL. Runs that are to be made. */
static ikt_status make_order(ikt_context *ctx, const ikt_study_plan *plan,
                             const ikt_study_result *result, bool retry, worker *w) {
    weighed *list = NULL;
    ikt_status st = ikt_alloc(ctx, &list, plan->n_runs, sizeof *list, "study");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w->order, plan->n_runs, sizeof *w->order, "study");
    if (st == IKT_OK) {
        for (int64_t r = 0; r < plan->n_runs; r++)
            if (!result[r].is_done || (retry && !result[r].is_good))
                list[w->count++] = (weighed){plan->run[r].cost, r};
        qsort(list, (size_t)w->count, sizeof *list, longest_first);
        for (int64_t i = 0; i < w->count; i++)
            w->order[i] = list[i].run;
    }
    ikt_free(&list);
    return st;
}

/* COLLECTIVE. Groups of `ranks` neighbours; those left over join the last group. */
static ikt_status make_group(ikt_context *ctx, int64_t ranks, ikt_context **group) {
    int64_t groups = ikt_size(ctx) / ranks, mine = ikt_rank(ctx) / ranks;
    if (groups < 1) groups = 1;
    return ikt_context_split(ctx, (int)(mine < groups ? mine : groups - 1), group);
}

ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_plan *plan, const char *output,
                                 const ikt_study_effort *effort) {
    worker w = {.study = study, .plan = plan, .output = output};
    ikt_study_result *result = NULL;
    ikt_context *group = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &result, plan->n_runs, sizeof *result, "study"));
    if (st == IKT_OK) st = ikt_study_results_load(ctx, study, plan, output, result);
    if (st == IKT_OK) st = ikt_agree(ctx, make_order(ctx, plan, result, effort->retry, &w));
    if (st == IKT_OK) {
        ikt_study_session(ctx, w.session);
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){
                            IKT_LOG_INT("runs", plan->n_runs), IKT_LOG_INT("left", w.count), {0}},
                        "%s: %lld runs, %lld of them done before", study->name,
                        (long long)plan->n_runs, (long long)(plan->n_runs - w.count));
        st = make_group(ctx, effort->ranks, &group);
    }
    if (st == IKT_OK) {
        st = work(&w, group);
        if (st != IKT_OK) ikt_fail(ctx, st, "%s", ikt_message(group));
        st = ikt_agree(ctx, st); /* waits for all groups */
    }
    ikt_context_destroy(&group);
    ikt_free(&w.order);
    ikt_free(&result);
    return st;
}
