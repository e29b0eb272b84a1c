/* One run of a study: embed, write, measure. */
#include "study/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/structure.h"
#include "evaluate/measure.h"
#include "pipeline/outcome.h"

static double stage(const ikt_run_cost *cost, ikt_stage which) {
    return cost->times[which].count > 0 ? cost->times[which].most : 0;
}

static void note_run(ikt_context *ctx, const ikt_run *run, ikt_study_result *out) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_run_cost cost;
    ikt_run_cost_collect(ctx, &cost);
    out->hash = run->hash;
    out->number[IKT_RUN_ROWS] = (double)run->rows.n;
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

static needs find_needs(const ikt_study *study, const ikt_run *run) {
    needs n = {.marked = false};
    for (int64_t m = 0; m < study->n_measures; m++) {
        const char *family = ikt_measure_find(study->measure[m])->family;
        const bool is_marked = strcmp(family, "marked") == 0,
                   is_apart = strcmp(family, "apart") == 0,
                   is_reference = strcmp(family, "reference") == 0;
        n.marked |= is_marked;
        n.apart |= is_apart;
        n.reference |= is_reference;
        if (is_marked || is_apart || is_reference || strcmp(family, "run") == 0) continue;
        const bool by_distance =
            strcmp(family, "kernel") == 0 && run->settings.affinity.kind != IKT_AFFINITY_ISOLATION;
        add_family(&n, by_distance ? "ranks" : family);
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

/* Embeds the data set that this one is compared with, in the same way, and compares. */
static ikt_status compare(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                          const ikt_study_run *what, const ikt_run *run, ikt_measures *out) {
    ikt_settings settings;
    ikt_run other;
    IKT_TRY(ikt_study_run_settings(ctx, study, plan, what, what->reference, &settings));
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

/* COLLECTIVE. Whether all rows lie so close together that the kernel 1 / (1 + r^2) tells none of
 * them apart: what similarities that are all alike lead to. Measures of such a map, scaled to fill
 * the unit square, would be measures of its noise. */
static bool is_in_one_place(ikt_context *ctx, const ikt_run *run) {
    return ikt_layout_width(ctx, run->embedding.y, run->settings.layout.dimensions,
                            run->rows.count) <= 0.01;
}

static ikt_status measure(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                          const ikt_study_run *what, const ikt_run *run, ikt_study_result *out) {
    const needs n = find_needs(study, run);
    ikt_measures measures = {0};
    if (is_in_one_place(ctx, run)) {
        snprintf(out->message, sizeof out->message,
                 "all rows are in one place: nothing to measure");
        return IKT_OK;
    }
    ikt_status st = ikt_run_measures_of(ctx, run, n.families, n.marked, &measures);
    if (st == IKT_OK && n.apart) {
        const ikt_measured map = ikt_run_measured(ctx, run);
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
    ikt_status st = ikt_pipeline_run(ctx, &settings, NULL, &run);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st != IKT_OK) return st;
    note_run(ctx, &run, out);
    st = ikt_run_write(ctx, &run);
    if (st == IKT_OK) ikt_run_finish(ctx, &run);
    if (st == IKT_OK) st = measure(ctx, study, plan, what, &run, out);
    ikt_run_destroy(&run);
    return st;
}

ikt_status ikt_study_execute(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                             const char *output, int64_t run, ikt_study_result *out) {
    *out = ikt_study_result_empty();
    ikt_status st = embed(ctx, study, plan, output, &plan->run[run], out);
    if (st == IKT_STOPPED) return st;
    out->is_done = true;
    out->is_good = st == IKT_OK;
    if (st != IKT_OK) snprintf(out->message, sizeof out->message, "%s", ikt_message(ctx));
    ikt_clear(ctx);
    return IKT_OK;
}
