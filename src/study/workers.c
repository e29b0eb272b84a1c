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
#include "study/plan.h"

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
#include "base/row_hash.h"
#include "base/shared_file.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "evaluate/measure.h"
#include "evaluate/structure.h"
#include "io/results/result.h"
#include "pipeline/outcome.h"
#include "study/results.h"

enum { SESSION_TEXT = 128, ATTEMPTS_MOST = 3 };

typedef struct {
    int64_t run;      /* taken; -1: none is left */
    int64_t attempts; /* earlier sessions that began it */
} claim_of_run;

static const char stopped[] = "stopped";

/* --- the queue -------------------------------------------------------------------------------- */

/* COLLECTIVE. The name of this session: of the Slurm job or array, and how often it was requeued;
 * otherwise host, process and time. The same on every rank. Blanks separate the fields of the
 * queue. */
static void name_session(ikt_context *ctx, char session[SESSION_TEXT]) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *job = getenv("SLURM_JOB_ID");
    const char *restarts = getenv("SLURM_RESTART_COUNT");
    char host[64] = "host";
    memset(session, 0, SESSION_TEXT);
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "host");
    if (array || job)
        snprintf(session, SESSION_TEXT, "slurm-%.40s-%.20s", array ? array : job,
                 restarts ? restarts : "0");
    else
        snprintf(session, SESSION_TEXT, "%.60s-%ld-%lld", host, (long)getpid(),
                 (long long)time(NULL));
    for (char *c = session; *c; c++)
        if (*c == ' ' || *c == '\n') *c = '-';
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

/* Everything that a group works with. */
typedef struct {
    ikt_context *ctx; /* of the group, or of its present run */
    const ikt_study_plan *plan;
    char session[SESSION_TEXT];
    const ikt_study_run **order; /* [count] runs that are not done, the longest first */
    int64_t count;
    int64_t cursor; /* place in `order` up to which all were found taken */
} worker;

/* LOCAL, for the first rank of a group. Takes a run; or, where `stopped_run` is not -1, notes that
 * this one, which was taken, has been stopped and goes on in a later session. Errors: IKT_ERR_FILE.
 */
static ikt_status use_queue(ikt_context *ctx, worker *w, int64_t stopped_run, claim_of_run *out) {
    char path[IKT_STRING_MAX], line[SESSION_TEXT + 32];
    ikt_locked_file file;
    *out = (claim_of_run){stopped_run, 0};
    snprintf(path, sizeof path, "%.1000s/queue", w->plan->output);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    if (stopped_run < 0) {
        while (w->cursor < w->count &&
               is_taken(file.text, w->session, w->order[w->cursor]->id, &out->attempts))
            w->cursor++;
        if (w->cursor < w->count) out->run = w->order[w->cursor++] - w->plan->run;
    }
    ikt_status st = IKT_OK;
    if (out->run >= 0) {
        snprintf(line, sizeof line, "%s %016" PRIx64 "%s%s\n", w->session,
                 w->plan->run[out->run].id, stopped_run < 0 ? "" : " ",
                 stopped_run < 0 ? "" : stopped);
        st = ikt_locked_append(&file, line);
    }
    ikt_locked_close(&file);
    return st;
}

/* --- one run: embed, write, measure ----------------------------------------------------------- */

static void note_run(ikt_context *ctx, const ikt_run *run, ikt_study_result *out) {
    const ikt_trace *trace = &run->embedding.trace;
    static const ikt_stage wanted[] = {IKT_STAGE_TOTAL, IKT_STAGE_LAYOUT, IKT_STAGE_PCA};
    double seconds[3];
    ikt_run_cost cost;
    ikt_run_cost_collect(ctx, &cost);
    for (int s = 0; s < 3; s++)
        seconds[s] = cost.times[wanted[s]].count > 0 ? cost.times[wanted[s]].most : 0;
    out->hash = run->hash;
    out->number[IKT_RUN_ROWS] = (double)run->rows.n;
    out->number[IKT_RUN_COLUMNS] = (double)run->d;
    out->number[IKT_RUN_ITERATIONS] = (double)trace->end;
    /* A regulariser is no part of the divergence, which methods are compared by. */
    out->number[IKT_RUN_KL] = trace->eigenvalues > 0 ? trace->divergence
                              : trace->count > 0     ? ikt_trace_last(trace)
                                                     : NAN;
    out->number[IKT_RUN_SECONDS] = seconds[0];
    out->number[IKT_RUN_LAYOUT] = seconds[1];
    /* The start by PCA belongs to neither step of the paper. */
    out->number[IKT_RUN_SIMILARITIES] = seconds[0] - seconds[1] - seconds[2];
    out->number[IKT_RUN_MEMORY] = (double)cost.accounted_bytes / 1e6;
}

/* What the study's measures need: families as ikt_measure_settings.only takes them, and others. */
typedef struct {
    char families[IKT_STRING_MAX];
    bool marked, apart, reference;
} needs;

static needs find_needs(const ikt_study *study, const ikt_run *run) {
    const bool is_isolation = run->settings.affinity.kind == IKT_AFFINITY_ISOLATION;
    needs n = {.marked = false};
    for (int64_t m = 0; m < study->n_measures; m++) {
        const char *family = ikt_measure_find(study->measure[m])->family;
        const size_t used = strlen(n.families);
        bool *other = strcmp(family, "marked") == 0      ? &n.marked
                      : strcmp(family, "apart") == 0     ? &n.apart
                      : strcmp(family, "reference") == 0 ? &n.reference
                                                         : NULL;
        if (other) *other = true;
        if (other || strcmp(family, "run") == 0) continue;
        if (strcmp(family, "kernel") == 0 && !is_isolation) family = "ranks";
        snprintf(n.families + used, sizeof n.families - used, "%s%s", used ? "," : "", family);
    }
    return n;
}

static const ikt_measure *find_measure(const ikt_measures *measures, const char *name,
                                       size_t length) {
    for (int64_t i = 0; i < measures->count; i++) {
        const char *other = measures->list[i].name;
        if (strlen(other) == length && memcmp(name, other, length) == 0) return &measures->list[i];
    }
    return NULL;
}

/* Notes the study's measures. A Gaussian kernel ranks a row's neighbours as their distances do. */
static void note_measures(const ikt_study *study, const ikt_run *run, const ikt_measures *measures,
                          ikt_study_result *out) {
    const bool is_gaussian = run->settings.affinity.kind == IKT_AFFINITY_GAUSSIAN;
    for (int64_t m = 0; m < study->n_measures; m++) {
        const char *name = study->measure[m], *kernel = strstr(name, ", kernel");
        const ikt_measure *found = find_measure(measures, name, strlen(name));
        if (!found && is_gaussian && kernel)
            found = find_measure(measures, name, (size_t)(kernel - name));
        if (found) out->number[ikt_study_number(study, m)] = found->value;
    }
}

/* Embeds the data set that this one is compared with, in the same way, and compares. */
static ikt_status compare(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *what,
                          const ikt_run *run, ikt_measures *out) {
    ikt_settings settings;
    ikt_run other;
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->reference, &settings));
    snprintf(settings.output.file, sizeof settings.output.file, "%s",
             run->settings.output.file); /* checked, not written */
    settings.output.overwrite = true;
    ikt_settings_forget_job(&settings.run);
    strcpy(settings.run.checkpoint, "none"); /* the run's own has that place */
    IKT_TRY(ikt_pipeline_run(ctx, &settings, NULL, &other));
    const ikt_measured map = ikt_run_measured(ctx, run), reference = ikt_run_measured(ctx, &other);
    ikt_status st = ikt_measure_arrangement(ctx, &map, &reference, (uint64_t)what->seed, out);
    ikt_run_destroy(&other);
    return st;
}

static ikt_status measure(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *what,
                          const ikt_run *run, ikt_study_result *out) {
    const needs n = find_needs(plan->study, run);
    ikt_measures measures = {0};
    /* Where all rows lie so close together that the kernel 1 / (1 + r^2) tells none of them apart,
     * which is what similarities that are all alike lead to, measures of the map, scaled to fill
     * the unit square, would be measures of its noise. */
    if (ikt_layout_width(ctx, run->embedding.y, run->settings.layout.dimensions, run->rows.count) <=
        0.01) {
        snprintf(out->message, sizeof out->message,
                 "all rows are in one place: nothing to measure");
        return IKT_OK;
    }
    ikt_status st = ikt_run_measures_of(ctx, run, n.families, n.marked, &measures);
    if (st == IKT_OK && n.apart) {
        const ikt_measured map = ikt_run_measured(ctx, run);
        st = ikt_measure_apart(ctx, &map, run->marked, run->n_marked, &measures);
    }
    if (st == IKT_OK && n.reference && what->reference >= 0 && what->reference != what->table &&
        !what->map[0])
        st = compare(ctx, plan, what, run, &measures);
    if (st == IKT_OK) note_measures(plan->study, run, &measures, out);
    ikt_measures_destroy(&measures);
    return st;
}

/* COLLECTIVE over a group. Makes the run, writes its embedding below OUTPUT/best and measures it.
 */
static ikt_status embed(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *what,
                        ikt_study_result *out) {
    ikt_settings settings;
    ikt_run run;
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->table, &settings));
    ikt_study_embedding_file(plan, what, settings.output.file);
    settings.output.overwrite = true;
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    ikt_status st = ikt_pipeline_run(ctx, &settings, NULL, &run);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st != IKT_OK) return st;
    note_run(ctx, &run, out);
    st = ikt_run_write(ctx, &run);
    if (st == IKT_OK) ikt_run_finish(ctx, &run);
    if (st == IKT_OK) st = measure(ctx, plan, what, &run, out);
    ikt_run_destroy(&run);
    return st;
}

/* Whether the study asks for what is not known of a map that another program has made. */
static bool asks_for_provenance(const ikt_study *study) {
    bool asks = false;
    for (int64_t m = 0; m < study->n_measures; m++) {
        const char *family = ikt_measure_find(study->measure[m])->family;
        asks |= strcmp(family, "run") == 0 || strcmp(family, "kernel") == 0 ||
                strcmp(family, "reference") == 0;
    }
    return asks;
}

/* COLLECTIVE over a group. The embedding of a given map as a result file, like that of a run, but
 * without settings: nobody knows those that made it. */
static ikt_status write_given(ikt_context *ctx, const ikt_study_run *what, const ikt_run *run,
                              const char *path) {
    ikt_note facts[2] = {{"made_by", "a map of another program, measured by iktsne study"},
                         {"given", ""}};
    snprintf(facts[1].text, sizeof facts[1].text, "%s", what->map);
    const ikt_result result = {.rows = run->rows,
                               .q = (int)run->settings.layout.dimensions,
                               .embedding = run->embedding.y,
                               .labels = run->labels,
                               .label_names = run->label_names,
                               .marked = run->marked,
                               .n_marked = run->n_marked,
                               .value_name = "kl",
                               .configuration = "",
                               .facts = facts,
                               .n_facts = 2};
    return ikt_result_write(ctx, path, true, &result);
}

/* COLLECTIVE over a group. Measures a given map as if a run had made it. Its kernel and its P are
 * not known, so that what needs them is left out. */
static ikt_status take_given(ikt_context *ctx, const ikt_study_plan *plan,
                             const ikt_study_run *what, ikt_study_result *out) {
    const ikt_study_table *table = &plan->table[what->table];
    char path[IKT_STRING_MAX];
    ikt_run run = {.given = NULL};
    ikt_result_file *map = NULL;
    ikt_source *source = NULL;
    ikt_companions found = {NULL, NULL, NULL, 0};
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->table, &run.settings));
    ikt_study_embedding_file(plan, what, path);
    ikt_status st = ikt_result_open(ctx, what->map, &map);
    if (st == IKT_OK && ikt_result_rows(map) != table->n)
        st = ikt_fail(ctx, IKT_ERR_DATA, /* the same on all ranks */
                      "%s has %" PRId64 " rows, but %s has %" PRId64 ": a map of other data",
                      what->map, ikt_result_rows(map), table->file, table->n);
    if (st == IKT_OK) {
        run.rows = ikt_rows_make(table->n, ikt_size(ctx), ikt_rank(ctx));
        run.settings.layout.dimensions = ikt_result_dimensions(map);
        run.settings.affinity.kind = IKT_AFFINITY_KNN; /* no kernel of ours is said to be its own */
        st = ikt_alloc(ctx, &run.embedding.y, run.rows.count * run.settings.layout.dimensions,
                       sizeof *run.embedding.y, "embedding");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK)
        st = ikt_result_read_embedding(map, run.rows.first, run.rows.count, run.embedding.y);
    if (st == IKT_OK) st = ikt_input_open(ctx, &run.settings.input, &source);
    if (st == IKT_OK) st = ikt_companions_read(ctx, &run.settings.input, source, &run.rows, &found);
    if (st == IKT_OK) {
        run.labels = found.labels;
        run.label_names = found.label_names;
        run.marked = found.marked;
        run.n_marked = found.n_marked;
        out->number[IKT_RUN_ROWS] = (double)table->n;
        out->number[IKT_RUN_COLUMNS] = (double)table->d;
        out->hash = ikt_row_hash(ctx, run.embedding.y, run.rows.first, run.rows.count,
                                 (size_t)run.settings.layout.dimensions * sizeof *run.embedding.y);
        if (asks_for_provenance(plan->study))
            snprintf(out->message, sizeof out->message,
                     "a given map: its settings are not known, so that measures of the run, of its "
                     "kernel and against a reference are left out");
        st = write_given(ctx, what, &run, path);
    }
    if (st == IKT_OK) st = measure(ctx, plan, what, &run, out);
    ikt_companions_free(&found);
    ikt_free(&run.embedding.y);
    ikt_source_close(&source);
    ikt_result_close(&map);
    return st;
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
            snprintf(values + strlen(values), sizeof values - strlen(values), ", %s %.4g",
                     study->measure[m], value);
    }
    ikt_log_numbers(w->ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("done", w->cursor),
                                       IKT_LOG_INT("total", w->count),
                                       IKT_LOG_REAL("seconds", result->number[IKT_RUN_SECONDS]),
                                       {0}},
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
        snprintf(result.message, sizeof result.message,
                 "begun %lld times before and never ended (time limit, memory, or a crash)",
                 (long long)claim->attempts);
    } else {
        const ikt_study_run *what = &w->plan->run[claim->run];
        st = (what->map[0] ? take_given : embed)(w->ctx, w->plan, what, &result);
        result.is_good = st == IKT_OK;
        if (st == IKT_STOPPED)
            ikt_fail(group, st, "%s", ikt_message(w->ctx));
        else if (st != IKT_OK)
            snprintf(result.message, sizeof result.message, "%s", ikt_message(w->ctx));
    }
    ikt_context_destroy(&w->ctx);
    w->ctx = group;
    if (st == IKT_STOPPED) {
        claim_of_run stopped_run;
        ikt_status noted = IKT_OK;
        if (ikt_rank(group) == 0) noted = use_queue(group, w, claim->run, &stopped_run);
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
            return ikt_fail(group, IKT_STOPPED,
                            "stopped by %s between two runs; the same command goes on with those "
                            "that are left",
                            ikt_watch_reason(group));
        if (ikt_rank(group) == 0) st = use_queue(group, w, -1, &claim);
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

ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study_plan *plan, int64_t ranks,
                                 bool retry) {
    worker w = {.plan = plan};
    ikt_study_result *result = NULL;
    ikt_context *group = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &result, plan->n_runs, sizeof *result, "study"));
    if (st == IKT_OK) st = ikt_study_results_load(ctx, plan, result);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, &w.order, plan->n_runs, sizeof *w.order, "study"));
    if (st == IKT_OK) {
        for (int64_t r = 0; r < plan->n_runs; r++)
            if (!result[r].is_done || (retry && !result[r].is_good))
                w.order[w.count++] = &plan->run[r];
        qsort(w.order, (size_t)w.count, sizeof *w.order, longest_first);
        name_session(ctx, w.session);
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){
                            IKT_LOG_INT("runs", plan->n_runs), IKT_LOG_INT("left", w.count), {0}},
                        "%s: %lld runs, %lld of them done before", plan->study->name,
                        (long long)plan->n_runs, (long long)(plan->n_runs - w.count));
        /* Groups of neighbours; the ranks that are left over join the last group. */
        const int64_t groups = ikt_size(ctx) / ranks, mine = ikt_rank(ctx) / ranks;
        st = ikt_context_split(ctx, (int)(mine < groups || groups < 1 ? mine : groups - 1), &group);
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
