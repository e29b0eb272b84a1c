/* All runs of a study, taken from a queue by groups of ranks. Read ikt_study_execute_all at the end
 * first.
 *
 * Method: OUTPUT/queue holds a line for each run that was begun: session, identity, and when the
 * newest file of the run's checkpoint was written, 0 for none. Whoever is free locks the file,
 * takes the first run of the list that nobody of this session has, and adds its line. Advantage:
 * the same for groups of one job and for the jobs of an array, which need not know of each other.
 * Disadvantage: a file system with locks is needed, and some milliseconds a run.
 *
 * A session is a job, or a task of a job array, from one start of it to the next. The tasks of an
 * array run at the same time, and may be requeued each by itself: none takes what another task has
 * begun, in whichever of its starts, since that one goes on with it. A run that earlier starts of
 * the same task, or sessions of other jobs, began and never ended is taken again, but not for ever:
 * sessions count that began it where it stands now, since a checkpoint is written only after some
 * work. One that was stopped in good order is as if that session had not begun it.
 */
#define _GNU_SOURCE
#include "study/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/build.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/shared_file.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "checkpoint/checkpoint.h"
#include "config/value.h"
#include "study/results.h"

enum { SESSION_TEXT = 128, ATTEMPTS_MOST = 3 };

/* What the queue's lines begin with, and how much of it other names share: those of all tasks of
 * the array, and of all starts of this task; 0 where there is no array. */
typedef struct {
    char name[SESSION_TEXT];
    size_t array, task;
} session_name;

typedef struct {
    int64_t run;      /* taken; -1: none is left */
    int64_t attempts; /* earlier sessions that began it and got no further */
} claim_of_run;

static const char stopped[] = "stopped";

/* --- the queue -------------------------------------------------------------------------------- */

/* COLLECTIVE. Names this session: after the Slurm job, or array and task, and how often it was
 * requeued; otherwise after host, process and time. The same on every rank. Blanks separate the
 * fields of the queue. */
static void name_session(ikt_context *ctx, session_name *session) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *index = getenv("SLURM_ARRAY_TASK_ID");
    const char *job = getenv("SLURM_JOB_ID"), *restarts = getenv("SLURM_RESTART_COUNT");
    char host[64] = "host", *name = session->name;
    memset(session, 0, sizeof *session);
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "host");
    if (!restarts) restarts = "0";
    if (array) {
        snprintf(name, SESSION_TEXT, "slurm-%.40s_", array);
        session->array = strlen(name);
        snprintf(name + session->array, 24, "%.20s-", index ? index : "");
        session->task = strlen(name);
        snprintf(name + session->task, 24, "%.20s", restarts);
    } else if (job) {
        snprintf(name, SESSION_TEXT, "slurm-%.40s-%.20s", job, restarts);
    } else {
        snprintf(name, SESSION_TEXT, "%.60s-%ld-%lld", host, (long)getpid(), (long long)time(NULL));
    }
    for (char *c = name; *c; c++)
        if (*c == ' ' || *c == '\n') *c = '-';
    ikt_broadcast(ctx, session, sizeof *session, 0);
}

/* Whether the run is in the hands of this session or of another task of its array. */
static bool is_in_hand(const session_name *ours, const char *name) {
    if (strcmp(name, ours->name) == 0) return true;
    return strncmp(name, ours->name, ours->array) == 0 &&
           strncmp(name, ours->name, ours->task) != 0;
}

/* A line of the queue that is about a run. */
typedef struct {
    char session[SESSION_TEXT], note[24];
    bool has_note; /* "stopped", or a time */
} queue_line;

/* The first such line from `text` on; returns the text behind it, NULL where there is none. */
static const char *next_line(const char *text, uint64_t id, queue_line *out) {
    while (text) {
        uint64_t other;
        /* A line may be cut off: its fields must not be looked for in the next. */
        const int fields =
            sscanf(text, "%127s %" SCNx64 "%*1[ ]%23s", out->session, &other, out->note);
        text = strchr(text, '\n');
        if (text) text++;
        out->has_note = fields == 3;
        if (fields >= 2 && other == id) return text ? text : "";
    }
    return NULL;
}

/* Whether nobody is to take the run now. */
static bool is_held(const char *text, const session_name *session, uint64_t id) {
    queue_line line;
    while ((text = next_line(text, id, &line)))
        if (is_in_hand(session, line.session)) return true;
    return false;
}

static bool puts_back(const queue_line *line) {
    return line->has_note && strcmp(line->note, stopped) == 0;
}

/* How many ended sessions began the run without putting it back, and with a checkpoint no older
 * than the one of now, which was written at `saved`. */
static int64_t count_attempts(const char *text, uint64_t id, int64_t saved) {
    int64_t attempts = 0;
    queue_line begun, later;
    while ((text = next_line(text, id, &begun))) {
        bool is_back = puts_back(&begun);
        for (const char *rest = text; !is_back && (rest = next_line(rest, id, &later));)
            is_back = puts_back(&later) && strcmp(later.session, begun.session) == 0;
        const bool has_gained = begun.has_note && strtoll(begun.note, NULL, 10) < saved;
        attempts += !is_back && !has_gained;
    }
    return attempts;
}

/* Everything that a group works with. */
typedef struct {
    ikt_context *ctx; /* of the group, or of its present run */
    const ikt_study_plan *plan;
    session_name session;
    const ikt_study_run **order; /* [count] runs that are not done, the longest first */
    int64_t count;
    int64_t cursor; /* place in `order` up to which all were found taken */
} worker;

/* LOCAL. When the newest file of a run's checkpoint was written. Settings that make no sense are
 * for the run to refuse. */
static int64_t when_saved(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *run) {
    ikt_settings settings;
    if (ikt_study_run_settings(ctx, plan, run, run->table, &settings) != IKT_OK) {
        ikt_clear(ctx);
        return 0;
    }
    ikt_study_embedding_file(plan, run->id, settings.output.file);
    return ikt_checkpoint_time(&settings);
}

/* LOCAL, for the first rank of a group, as the two below. The queue, locked and read. */
static ikt_status open_queue(ikt_context *ctx, const worker *w, ikt_locked_file *file) {
    char path[IKT_STRING_MAX];
    snprintf(path, sizeof path, "%.1000s/queue", w->plan->output);
    return ikt_locked_open(ctx, path, file);
}

static ikt_status add_line(ikt_locked_file *file, const worker *w, int64_t run, const char *note) {
    char line[SESSION_TEXT + 48];
    snprintf(line, sizeof line, "%s %016" PRIx64 " %s\n", w->session.name, w->plan->run[run].id,
             note);
    return ikt_locked_append(file, line);
}

/* Takes the next run, where one is left. Errors: IKT_ERR_FILE. */
static ikt_status take_run(ikt_context *ctx, worker *w, claim_of_run *out) {
    char note[24];
    ikt_locked_file file IKT_AT_END(ikt_locked_close) = {.ctx = NULL};
    *out = (claim_of_run){-1, 0};
    IKT_TRY(open_queue(ctx, w, &file));
    while (w->cursor < w->count && is_held(file.text, &w->session, w->order[w->cursor]->id))
        w->cursor++;
    if (w->cursor == w->count) return IKT_OK;
    const ikt_study_run *run = w->order[w->cursor++];
    const int64_t saved = when_saved(ctx, w->plan, run);
    *out = (claim_of_run){run - w->plan->run, count_attempts(file.text, run->id, saved)};
    snprintf(note, sizeof note, "%" PRId64, saved);
    return add_line(&file, w, out->run, note);
}

/* Notes that a run that was taken has been stopped, and goes on in a later session. Errors:
 * IKT_ERR_FILE. */
static ikt_status put_back(ikt_context *ctx, const worker *w, int64_t run) {
    ikt_locked_file file IKT_AT_END(ikt_locked_close) = {.ctx = NULL};
    IKT_TRY(open_queue(ctx, w, &file));
    return add_line(&file, w, run, stopped);
}

/* --- groups of ranks -------------------------------------------------------------------------- */

static void report(const worker *w, int64_t taken, const ikt_study_result *result) {
    const ikt_study *study = w->plan->study;
    char name[IKT_STRING_MAX], values[IKT_STRING_MAX] = "";
    ikt_study_run_name(w->plan, &w->plan->run[taken], name, sizeof name);
    if (!result->is_good) {
        ikt_log(w->ctx, IKT_LOG_WARN, "%s: failed: %s", name, result->message);
        return;
    }
    for (int64_t m = 0; m < study->n_measures && strlen(values) < sizeof values / 2; m++) {
        const double value = result->number[ikt_study_number(study, m)];
        if (isfinite(value))
            ikt_join(values, sizeof values, "", ", %s %.4g", study->measure[m], value);
    }
    ikt_log_numbers(w->ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("done", w->cursor), IKT_LOG_INT("total", w->count),
                                    IKT_LOG_REAL("seconds", result->number[IKT_RUN_SECONDS])),
                    isfinite(result->number[IKT_RUN_SECONDS]) ? "%lld of %lld: %s%s (%.1f s)"
                                                              : "%lld of %lld: %s%s, a given map",
                    (long long)w->cursor, (long long)w->count, name, values,
                    result->number[IKT_RUN_SECONDS]);
}

/* COLLECTIVE over a group, in a context that is made anew for each run: its account, clocks and
 * message begin empty. A run that fails is a result, too: its message is kept. So is a run that was
 * begun again and again and never ended: it must not hold up the study for ever. A run that was
 * stopped has no result: it is left to a later session, which goes on from its checkpoint. */
static ikt_status make_run(worker *w, ikt_context *group, const claim_of_run *claim) {
    ikt_study_result result = ikt_study_result_empty();
    ikt_status st = ikt_context_split(group, 0, &w->ctx);
    if (st != IKT_OK) return st;
    ikt_context_set_log(w->ctx, IKT_LOG_ERROR);
    if (claim->attempts >= ATTEMPTS_MOST) {
        snprintf(
            result.message, sizeof result.message,
            "begun %lld times before where it stands, and never got further (time limit, memory, "
            "or a crash)",
            (long long)claim->attempts);
    } else {
        const ikt_study_run *what = &w->plan->run[claim->run];
        st = ikt_study_run_make(w->ctx, w->plan, what, &result);
        result.is_good = st == IKT_OK;
        if (st == IKT_STOPPED)
            ikt_fail(group, st, "%s", ikt_message(w->ctx));
        else if (st != IKT_OK)
            snprintf(result.message, sizeof result.message, "%s", ikt_message(w->ctx));
    }
    ikt_context_destroy(&w->ctx);
    w->ctx = group;
    if (st == IKT_STOPPED) {
        ikt_status noted = IKT_OK;
        if (ikt_rank(group) == 0) noted = put_back(group, w, claim->run);
        noted = ikt_agree(group, noted);
        return noted == IKT_OK ? st : noted;
    }
    result.is_done = true;
    report(w, claim->run, &result);
    st = IKT_OK;
    if (ikt_rank(group) == 0) st = ikt_study_results_add(group, w->plan, claim->run, &result);
    return ikt_agree(group, st);
}

static ikt_status work(worker *w, ikt_context *group) {
    ikt_watch_signals();
    ikt_watch_begin(group, INFINITY, INFINITY);
    for (;;) {
        claim_of_run claim = {-1, 0};
        ikt_status st = IKT_OK;
        if (ikt_watch_poll(group) == IKT_REQUEST_STOP)
            return ikt_fail(
                group, IKT_STOPPED,
                "stopped by %s between two runs; the same command goes on with those that are left",
                ikt_watch_reason(group));
        if (ikt_rank(group) == 0) st = take_run(group, w, &claim);
        IKT_TRY(ikt_agree(group, st));
        ikt_broadcast(group, &claim, sizeof claim, 0);
        if (claim.run < 0) return IKT_OK;
        IKT_TRY(make_run(w, group, &claim));
    }
}

/* Runs of equal cost are made in the order of the plan. */
static int longest_first(const void *a, const void *b) {
    const ikt_study_run *const *x = a, *const *y = b;
    if ((*x)->cost != (*y)->cost) return (*x)->cost < (*y)->cost ? 1 : -1;
    return IKT_COMPARE(*x, *y);
}

/* The runs that are to be made, the longest first. Says how many results are of other builds. */
static void choose_runs(worker *w, ikt_context *ctx, const ikt_study_result *result, bool retry) {
    const ikt_study_plan *plan = w->plan;
    int64_t others = 0;
    for (int64_t r = 0; r < plan->n_runs; r++) {
        const bool is_other = result[r].is_done && !result[r].is_own;
        const bool is_anew = is_other ? !plan->any_build : !result[r].is_done;
        others += is_other;
        if (is_anew || (retry && !result[r].is_good)) w->order[w->count++] = &plan->run[r];
    }
    if (others > 0)
        ikt_log(ctx, IKT_LOG_STAGE,
                "%s: %lld results in results.csv were made by other builds of the program, whose "
                "numbers may differ from those of this one (%s): %s",
                plan->study->name, (long long)others, ikt_build_name(),
                plan->any_build ? "they are taken as they are, and the report tells which"
                                : "they are made anew; --any-build takes them as they are");
    qsort(w->order, (size_t)w->count, sizeof *w->order, longest_first);
}

ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study_plan *plan, int64_t ranks,
                                 bool retry) {
    worker w = {.plan = plan};
    ikt_context *group IKT_AT_END(ikt_context_destroy) = NULL;
    IKT_ARRAYS(held, ctx, "study");
    ikt_study_result *result = ikt_claim(&held, plan->n_runs, sizeof *result);
    w.order = ikt_claim(&held, plan->n_runs, sizeof *w.order);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_study_results_load(ctx, plan, result));
    choose_runs(&w, ctx, result, retry);
    name_session(ctx, &w.session);
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        IKT_LOG_NUMBERS(IKT_LOG_INT("runs", plan->n_runs), IKT_LOG_INT("left", w.count)),
        "%s: %lld runs, %lld of them done before", plan->study->name, (long long)plan->n_runs,
        (long long)(plan->n_runs - w.count));
    /* Groups of neighbours; the ranks that are left over join the last group. */
    const int64_t groups = ikt_size(ctx) / ranks, mine = ikt_rank(ctx) / ranks;
    IKT_TRY(ikt_context_split(ctx, (int)(mine < groups || groups < 1 ? mine : groups - 1), &group));
    const ikt_status st = work(&w, group);
    if (st != IKT_OK) ikt_fail(ctx, st, "%s", ikt_message(group));
    return ikt_agree(ctx, st); /* waits for all groups */
}
