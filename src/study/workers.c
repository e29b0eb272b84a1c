/* All runs of a study, taken from a queue by groups of ranks. Read ikt_study_execute_all at the end
 * first.
 *
 * Method: OUTPUT/queue holds a line for each run that was begun: session and identity. Whoever is
 * free locks the file, takes the first run of the list that nobody of this session has, and adds
 * its line. Advantage: the same for groups of one job and for the jobs of an array, which need not
 * know of each other. Disadvantage: a file system with locks is needed, and some milliseconds a
 * run.
 * A session is what runs at the same time: a job, or all jobs of an array. A run that earlier
 * sessions began and never ended is taken again, but not for ever; one that was stopped in good
 * order, with a checkpoint, is as if that session had not begun it.
 */
#define _GNU_SOURCE
#include "study/workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/shared_file.h"
#include "base/sort.h"
#include "base/watch.h"

enum { SESSION_TEXT = 128, ATTEMPTS_MOST = 3 };

typedef struct {
    int64_t run;      /* taken; -1: none is left */
    int64_t attempts; /* earlier sessions that began it */
} claim_of_run;

static const char stopped[] = "stopped";

/* Blanks separate the fields of the queue. */
static void set_session(char session[SESSION_TEXT]) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *job = getenv("SLURM_JOB_ID");
    const char *restarts = getenv("SLURM_RESTART_COUNT");
    char host[64] = "host";
    if (array || job) {
        snprintf(session, SESSION_TEXT, "slurm-%.40s-%.20s", array ? array : job,
                 restarts ? restarts : "0");
    } else {
        if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "host");
        snprintf(session, SESSION_TEXT, "%.60s-%ld-%lld", host, (long)getpid(),
                 (long long)time(NULL));
    }
    for (char *c = session; *c; c++)
        if (*c == ' ' || *c == '\n') *c = '-';
}

/* COLLECTIVE. The name of this session: of the Slurm job or array, and how often it was requeued;
 * otherwise host, process and time. The same on every rank. */
static void name_session(ikt_context *ctx, char session[SESSION_TEXT]) {
    memset(session, 0, SESSION_TEXT);
    if (ikt_rank(ctx) == 0) set_session(session);
    ikt_broadcast(ctx, session, SESSION_TEXT, 0);
}

/* Whether this session has taken the run, and how many others have, without putting it back. */
static bool is_taken(const char *text, const char *session, uint64_t id, int64_t *attempts) {
    char name[SESSION_TEXT], note[16];
    uint64_t other;
    bool is_ours = false;
    *attempts = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        /* A line may be cut off: its fields must not be looked for in the next. */
        const int fields = sscanf(line, "%127s %" SCNx64 "%*1[ ]%15s", name, &other, note);
        if (fields < 2 || other != id) continue;
        const bool is_back = fields == 3 && strcmp(note, stopped) == 0;
        if (strcmp(name, session) == 0)
            is_ours = true;
        else
            *attempts += is_back ? -1 : 1;
    }
    return is_ours;
}

/* LOCAL, for the first rank of a group. Takes a run.
 *   order    [count] numbers of runs, those to be taken first at the front
 *   cursor   place in `order` up to which all were found taken; 0 at first, kept by the caller
 * Errors: IKT_ERR_FILE. */
static ikt_status queue_take(ikt_context *ctx, const ikt_study_plan *plan, const char *output,
                             const char *session, const int64_t *order, int64_t count,
                             int64_t *cursor, claim_of_run *out) {
    char path[IKT_STRING_MAX], line[SESSION_TEXT + 32];
    ikt_locked_file file;
    *out = (claim_of_run){-1, 0};
    snprintf(path, sizeof path, "%.1000s/queue", output);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    while (*cursor < count &&
           is_taken(file.text, session, plan->run[order[*cursor]].id, &out->attempts))
        ++*cursor;
    ikt_status st = IKT_OK;
    if (*cursor < count) {
        out->run = order[(*cursor)++];
        snprintf(line, sizeof line, "%s %016" PRIx64 "\n", session, plan->run[out->run].id);
        st = ikt_locked_append(&file, line);
    }
    ikt_locked_close(&file);
    return st;
}

/* LOCAL, for the first rank of a group. Notes that a run that was taken has been stopped, and goes
 * on in a later session. Errors: IKT_ERR_FILE. */
static ikt_status queue_put_back(ikt_context *ctx, const ikt_study_plan *plan, const char *output,
                                 const char *session, int64_t run) {
    char path[IKT_STRING_MAX], line[SESSION_TEXT + 32];
    ikt_locked_file file;
    snprintf(path, sizeof path, "%.1000s/queue", output);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    snprintf(line, sizeof line, "%s %016" PRIx64 " %s\n", session, plan->run[run].id, stopped);
    ikt_status st = ikt_locked_append(&file, line);
    ikt_locked_close(&file);
    return st;
}

/* --- groups of ranks -------------------------------------------------------------------------- */

/* Everything that a group works with. */
typedef struct {
    ikt_context *ctx; /* of the group */
    const ikt_study *study;
    const ikt_study_plan *plan;
    const char *output;
    char session[SESSION_TEXT];
    int64_t *order; /* [count] runs that are not done, the longest first */
    int64_t count;
    int64_t cursor;
} worker;

static void report(const worker *w, const claim_of_run *claim, const ikt_study_result *result) {
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
static void give_up(const claim_of_run *claim, ikt_study_result *out) {
    *out = ikt_study_result_empty();
    out->is_done = true;
    snprintf(out->message, sizeof out->message,
             "begun %lld times before and never ended (time limit, memory, or a crash)",
             (long long)claim->attempts);
}

/* COLLECTIVE over a group. Leaves a run that was stopped to a later session; returns `st`. */
static ikt_status put_back(worker *w, const claim_of_run *claim, ikt_status st) {
    ikt_status noted = IKT_OK;
    if (ikt_rank(w->ctx) == 0)
        noted = queue_put_back(w->ctx, w->plan, w->output, w->session, claim->run);
    noted = ikt_agree(w->ctx, noted);
    return noted == IKT_OK ? st : noted;
}

/* COLLECTIVE over a group whose context is made anew for each run: its account, clocks and message
 * begin empty. */
static ikt_status make_run(worker *w, ikt_context *group, const claim_of_run *claim) {
    ikt_study_result result;
    ikt_status st = ikt_context_split(group, 0, &w->ctx);
    if (st != IKT_OK) return st;
    ikt_context_set_log(w->ctx, IKT_LOG_ERROR);
    if (claim->attempts >= ATTEMPTS_MOST)
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
        claim_of_run claim = {-1, 0};
        ikt_status st = IKT_OK;
        if (ikt_watch_poll(group) == IKT_REQUEST_STOP)
            return ikt_fail(group, IKT_STOPPED,
                            "stopped by %s between two runs; the same command goes on with those "
                            "that are left",
                            ikt_watch_reason(group));
        if (ikt_rank(group) == 0)
            st = queue_take(group, w->plan, w->output, w->session, w->order, w->count, &w->cursor,
                            &claim);
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
        name_session(ctx, w.session);
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
