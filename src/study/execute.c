/* One run of a study, and all of them. */
#include "study/execute.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/apart.h"
#include "evaluate/arrangement.h"
#include "evaluate/measure_names.h"
#include "pipeline/measures.h"
#include "pipeline/outcome.h"
#include "study/queue.h"

static double stage(const ikt_run_cost *cost, ikt_stage which) {
    return cost->times[which].count > 0 ? cost->times[which].most : 0;
}

static void note_run(ikt_context *ctx, const ikt_run *run, ikt_study_result *out) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_run_cost cost;
    ikt_run_cost_collect(ctx, &cost);
    out->hash = run->hash;
    out->number[IKT_RUN_ROWS] = (double)run->map.n;
    out->number[IKT_RUN_COLUMNS] = (double)run->d;
    out->number[IKT_RUN_ITERATIONS] = (double)trace->end;
    out->number[IKT_RUN_KL] = trace->count > 0 ? ikt_trace_last(trace) : NAN;
    out->number[IKT_RUN_SECONDS] = stage(&cost, IKT_STAGE_TOTAL);
    out->number[IKT_RUN_LAYOUT] = stage(&cost, IKT_STAGE_LAYOUT);
    /* The start by PCA belongs to neither step of the paper. */
    out->number[IKT_RUN_SIMILARITIES] = stage(&cost, IKT_STAGE_TOTAL) -
                                        stage(&cost, IKT_STAGE_LAYOUT) -
                                        stage(&cost, IKT_STAGE_PCA);
    out->number[IKT_RUN_MEMORY] = (double)cost.accounted_bytes / 1e6;
}

/* What the study's measures need: families as ikt_measure_settings.only takes them, and others. */
typedef struct {
    char families[IKT_STRING_MAX];
    bool marked, apart, reference;
} needs;

static void add_family(needs *n, const char *family) {
    if (strstr(n->families, family)) return;
    const size_t used = strlen(n->families);
    snprintf(n->families + used, sizeof n->families - used, "%s%s", used ? "," : "", family);
}

static needs find_needs(const ikt_study *study) {
    needs n = {.marked = false};
    for (int64_t m = 0; m < study->n_measures; m++) {
        char nearest[IKT_STUDY_NAME];
        const char *family = ikt_measure_find(study->measure[m], nearest, sizeof nearest)->family;
        const bool is_marked = strcmp(family, "marked") == 0,
                   is_apart = strcmp(family, "apart") == 0,
                   is_reference = strcmp(family, "reference") == 0;
        n.marked |= is_marked;
        n.apart |= is_apart;
        n.reference |= is_reference;
        if (is_marked || is_apart || is_reference || strcmp(family, "run") == 0) continue;
        add_family(&n, family);
        if (strcmp(family, "kernel") == 0) add_family(&n, "ranks");
    }
    return n;
}

static const ikt_measure *find_measure(const ikt_measures *measures, const char *name) {
    for (int64_t i = 0; i < measures->count; i++)
        if (strcmp(name, measures->list[i].name) == 0) return &measures->list[i];
    return NULL;
}

/* A Gaussian kernel ranks a row's neighbours as their distances do. */
static const ikt_measure *find_by_distance(const ikt_measures *measures, const char *name) {
    char base[IKT_STUDY_NAME];
    const char *suffix = strstr(name, ", kernel");
    if (!suffix) return NULL;
    snprintf(base, sizeof base, "%.*s", (int)(suffix - name), name);
    return find_measure(measures, base);
}

static void note_measures(const ikt_study *study, const ikt_run *run, const ikt_measures *measures,
                          ikt_study_result *out) {
    for (int64_t m = 0; m < study->n_measures; m++) {
        const ikt_measure *found = find_measure(measures, study->measure[m]);
        if (!found && run->settings.affinity.kind == IKT_AFFINITY_GAUSSIAN)
            found = find_by_distance(measures, study->measure[m]);
        if (found) out->number[ikt_study_number(study, m)] = found->value;
    }
}

/* The map of a run as what is measured. */
static ikt_measured map_of(ikt_context *ctx, const ikt_run *run) {
    return (ikt_measured){.map = run->map,
                          .y = run->embedding.y,
                          .q = run->settings.layout.dimensions,
                          .labels = run->labels,
                          .has_labels = ikt_max_one(ctx, run->labels != NULL) > 0};
}

/* Embeds the data set that this one is compared with, in the same way, and compares. */
static ikt_status compare(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                          const ikt_study_run *what, const ikt_run *run, ikt_measures *out) {
    ikt_settings settings;
    ikt_run other;
    IKT_TRY(ikt_study_run_settings(ctx, study, plan, what, what->reference, &settings));
    snprintf(settings.output.file, sizeof settings.output.file, "%s",
             run->settings.output.file); /* checked, not written */
    settings.output.overwrite = true;
    IKT_TRY(ikt_pipeline_run(ctx, &settings, &other));
    const ikt_measured map = map_of(ctx, run), reference = map_of(ctx, &other);
    ikt_status st = ikt_measure_arrangement(ctx, &map, &reference, (uint64_t)what->seed, out);
    ikt_run_destroy(&other);
    return st;
}

static ikt_status measure(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                          const ikt_study_run *what, const ikt_run *run, ikt_study_result *out) {
    const needs n = find_needs(study);
    ikt_measures measures = {0};
    ikt_status st = ikt_run_measures_of(ctx, run, n.families, n.marked, &measures);
    if (st == IKT_OK && n.apart) {
        const ikt_measured map = map_of(ctx, run);
        st = ikt_measure_apart(ctx, &map, run->marked, run->n_marked, &measures);
    }
    if (st == IKT_OK && n.reference && what->reference >= 0 && what->reference != what->table)
        st = compare(ctx, study, plan, what, run, &measures);
    if (st == IKT_OK) note_measures(study, run, &measures, out);
    ikt_measures_destroy(&measures);
    return st;
}

static ikt_status embed(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                        const char *output, const ikt_study_run *what, ikt_study_result *out) {
    ikt_settings settings;
    ikt_run run;
    IKT_TRY(ikt_study_run_settings(ctx, study, plan, what, what->table, &settings));
    ikt_study_embedding_file(output, what, settings.output.file);
    settings.output.overwrite = true;
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    ikt_status st = ikt_pipeline_run(ctx, &settings, &run);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st != IKT_OK) return st;
    note_run(ctx, &run, out);
    st = ikt_run_write(ctx, &run);
    if (st == IKT_OK) st = measure(ctx, study, plan, what, &run, out);
    ikt_run_destroy(&run);
    return st;
}

static void make_empty(ikt_study_result *out) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < IKT_RUN_NUMBERS + IKT_STUDY_MEASURES; i++)
        out->number[i] = NAN;
}

void ikt_study_execute(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                       const char *output, int64_t run, ikt_study_result *out) {
    make_empty(out);
    ikt_status st = embed(ctx, study, plan, output, &plan->run[run], out);
    out->is_done = true;
    out->is_good = st == IKT_OK;
    if (st != IKT_OK) snprintf(out->message, sizeof out->message, "%s", ikt_message(ctx));
    ikt_clear(ctx);
}

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
    ikt_log(w->ctx, IKT_LOG_STAGE, "%lld of %lld: %s%s (%.1f s)", (long long)w->cursor,
            (long long)w->count, name, values, result->number[IKT_RUN_SECONDS]);
}

/* A run that was begun again and again and never ended must not hold up the study for ever. */
static void give_up(const ikt_study_claim *claim, ikt_study_result *out) {
    make_empty(out);
    out->is_done = true;
    snprintf(out->message, sizeof out->message,
             "begun %lld times before and never ended (time limit, memory, or a crash)",
             (long long)claim->attempts);
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
        ikt_study_execute(w->ctx, w->study, w->plan, w->output, claim->run, &result);
    ikt_context_destroy(&w->ctx);
    w->ctx = group;
    report(w, claim, &result);
    if (ikt_rank(group) == 0)
        st = ikt_study_results_add(group, w->study, w->plan, w->output, claim->run, &result);
    return ikt_agree(group, st);
}

static ikt_status work(worker *w, ikt_context *group) {
    for (;;) {
        ikt_study_claim claim = {-1, 0};
        ikt_status st = IKT_OK;
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
    return (x->run > y->run) - (x->run < y->run);
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
        ikt_log(ctx, IKT_LOG_STAGE, "%s: %lld runs, %lld of them done before", study->name,
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
