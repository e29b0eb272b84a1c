/* One run of a study: a map, its file, its measures. Read ikt_study_run_make at the end first. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "config/config.h"
#include "config/value.h"
#include "evaluate/measure.h"
#include "io/results/result.h"
#include "pipeline/outcome.h"
#include "pipeline/pipeline.h"
#include "study/results.h"
#include "transform/transform.h"

/* COLLECTIVE. Seconds and memory so far. */
static void note_cost(ikt_context *ctx, ikt_study_result *out) {
    static const ikt_stage wanted[] = {IKT_STAGE_TOTAL, IKT_STAGE_LAYOUT, IKT_STAGE_PCA};
    double seconds[3];
    ikt_run_cost cost;
    ikt_run_cost_collect(ctx, &cost);
    for (int s = 0; s < 3; s++)
        seconds[s] = cost.times[wanted[s]].count > 0 ? cost.times[wanted[s]].most : 0;
    out->number[IKT_RUN_SECONDS] = seconds[0];
    out->number[IKT_RUN_LAYOUT] = seconds[1];
    /* The start by PCA belongs to neither step of the paper. */
    out->number[IKT_RUN_SIMILARITIES] = seconds[0] - seconds[1] - seconds[2];
    out->number[IKT_RUN_MEMORY] = (double)cost.accounted_bytes / 1e6;
}

static void note_run(ikt_context *ctx, const ikt_run *run, ikt_study_result *out) {
    const ikt_trace *trace = &run->embedding.trace;
    note_cost(ctx, out);
    out->hash = run->hash;
    out->number[IKT_RUN_ROWS] = (double)run->rows.n;
    out->number[IKT_RUN_COLUMNS] = (double)run->d;
    out->number[IKT_RUN_ITERATIONS] = (double)trace->end;
    const bool is_kl = strcmp(ikt_trace_key(trace), "kl") == 0;
    if (trace->count > 0) out->number[is_kl ? IKT_RUN_KL : IKT_RUN_COST] = ikt_trace_last(trace);
    /* A regulariser is no part of the divergence, which methods are compared by. */
    if (trace->eigenvalues > 0) out->number[IKT_RUN_KL] = trace->divergence;
}

/* What the study's measures need: families as ikt_measure_settings.only takes them, and others. */
typedef struct {
    char families[IKT_STRING_MAX];
    bool marked, apart, reference;
} needs;

static needs find_needs(const ikt_study *study, const ikt_run *run) {
    const bool is_isolation = ikt_affinity_of(&run->settings.affinity)->scores == IKT_SCORES_CODES;
    needs n = {.marked = false};
    bool known = false; /* of every run */
    const struct {
        const char *family;
        bool *is_needed;
    } others[] = {
        {"marked", &n.marked}, {"apart", &n.apart}, {"reference", &n.reference}, {"run", &known}};
    for (int64_t m = 0; m < study->n_measures; m++) {
        const char *family = ikt_measure_find(study->measure[m])->family;
        size_t o = 0;
        while (o < 4 && strcmp(family, others[o].family) != 0)
            o++;
        if (o < 4) {
            *others[o].is_needed = true;
            continue;
        }
        if (strcmp(family, "kernel") == 0 && !is_isolation) family = "ranks";
        ikt_join(n.families, sizeof n.families, "", "%s%s", n.families[0] ? "," : "", family);
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
    ikt_run other IKT_AT_END(ikt_run_destroy) = {.given = NULL};
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->reference, &settings));
    snprintf(settings.output.file, sizeof settings.output.file, "%s",
             run->settings.output.file); /* checked, not written */
    settings.output.overwrite = true;
    ikt_settings_forget_job(&settings.run);
    strcpy(settings.run.checkpoint, "none"); /* the run's own has that place */
    IKT_TRY(ikt_pipeline_run(ctx, &settings, NULL, &other));
    const ikt_measured map = ikt_run_measured(ctx, run), reference = ikt_run_measured(ctx, &other);
    return ikt_measure_arrangement(ctx, &map, &reference, (uint64_t)what->seed, out);
}

static ikt_status measure(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *what,
                          const ikt_run *run, ikt_study_result *out) {
    const needs n = find_needs(plan->study, run);
    const bool has_reference = what->reference >= 0 && what->reference != what->table;
    ikt_measures measures IKT_AT_END(ikt_measures_destroy) = {0};
    /* Where all rows lie so close together that the kernel 1 / (1 + r^2) tells none of them apart,
     * which is what similarities that are all alike lead to, measures of the map, scaled to fill
     * the unit square, would be measures of its noise. */
    if (ikt_map_width(ctx, run->embedding.y, run->settings.layout.dimensions, run->rows.count) <=
        0.01) {
        snprintf(out->message, sizeof out->message,
                 "all rows are in one place: nothing to measure");
        return IKT_OK;
    }
    IKT_TRY(ikt_run_measures_of(ctx, run, n.families, n.marked, &measures));
    const ikt_measured map = ikt_run_measured(ctx, run);
    if (n.apart) IKT_TRY(ikt_measure_apart(ctx, &map, run->marked, run->n_marked, &measures));
    if (n.reference && has_reference && !what->map[0])
        IKT_TRY(compare(ctx, plan, what, run, &measures));
    note_measures(plan->study, run, &measures, out);
    return IKT_OK;
}

/* COLLECTIVE over a group. Makes the run, writes its embedding below OUTPUT/best and measures it.
 */
static ikt_status embed(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *what,
                        ikt_study_result *out) {
    ikt_settings settings;
    ikt_run run IKT_AT_END(ikt_run_destroy) = {.given = NULL};
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->table, &settings));
    ikt_study_embedding_file(plan, what->id, settings.output.file);
    settings.output.overwrite = true;
    IKT_TRY_STAGE(ctx, IKT_STAGE_TOTAL, ikt_pipeline_run(ctx, &settings, NULL, &run));
    note_run(ctx, &run, out);
    IKT_TRY(ikt_run_write(ctx, &run));
    ikt_run_finish(ctx, &run);
    return measure(ctx, plan, what, &run, out);
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
    ikt_result result = ikt_run_map(run);
    result.value_name = "kl";
    result.configuration = "";
    result.facts = facts;
    result.n_facts = 2;
    return ikt_result_write(ctx, path, true, &result);
}

/* COLLECTIVE over a group. Opens a map and what stands beside the data as a run of which nothing
 * but these is known, and measures it. What needs its kernel or its P is left out. With
 * `is_foreign` it is also written below OUTPUT/best. */
static ikt_status measure_map(ikt_context *ctx, const ikt_study_plan *plan,
                              const ikt_study_run *what, const char *path, bool is_foreign,
                              ikt_study_result *out) {
    const ikt_study_table *table = &plan->table[what->table];
    char best[IKT_STRING_MAX];
    ikt_run run = {.given = NULL};
    ikt_result_file *map IKT_AT_END(ikt_result_close) = NULL;
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_companions found IKT_AT_END(ikt_companions_free) = {.labels = NULL};
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->table, &run.settings));
    ikt_study_embedding_file(plan, what->id, best);
    IKT_TRY(ikt_result_open(ctx, path, &map));
    if (ikt_result_rows(map) != table->n) /* the same on all ranks */
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %" PRId64 " rows, but %s has %" PRId64 ": a map of other data",
                        path, ikt_result_rows(map), table->file, table->n);
    const ikt_rows rows = ikt_rows_make(table->n, ikt_size(ctx), ikt_rank(ctx));
    const int q = ikt_result_dimensions(map);
    IKT_ARRAYS(held, ctx, "embedding");
    float *y = ikt_claim(&held, rows.count * q, sizeof *y);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_result_read_embedding(map, rows.first, rows.count, y));
    IKT_TRY(ikt_input_open(ctx, &run.settings.input, &source));
    IKT_TRY(ikt_companions_read(ctx, &run.settings.input, source, &rows, &found));
    run.rows = rows;
    run.settings.layout.dimensions = q;
    run.settings.affinity.kind = IKT_AFFINITY_KNN; /* no kernel of ours is said to be its own */
    run.embedding.y = y;
    run.labels = found.labels;
    run.label_names = found.label_names;
    run.marked = found.marked;
    run.n_marked = found.n_marked;
    out->number[IKT_RUN_ROWS] = (double)table->n;
    out->number[IKT_RUN_COLUMNS] = (double)table->d;
    out->hash = ikt_row_hash(ctx, y, rows.first, rows.count, (size_t)q * sizeof *y);
    if (is_foreign) IKT_TRY(write_given(ctx, what, &run, best));
    return measure(ctx, plan, what, &run, out);
}

/* COLLECTIVE over a group. Measures a given map as if a run had made it. */
static ikt_status take_given(ikt_context *ctx, const ikt_study_plan *plan,
                             const ikt_study_run *what, ikt_study_result *out) {
    if (asks_for_provenance(plan->study))
        snprintf(out->message, sizeof out->message,
                 "a given map: its settings are not known, so that measures of the run, of its "
                 "kernel and against a reference are left out");
    return measure_map(ctx, plan, what, what->map, true, out);
}

/* --- landmarks -------------------------------------------------------------------------------- */

/* LOCAL. OUTPUT/best/ID.h5 -> OUTPUT/best/ID.WORD.h5 */
static void name_beside(const char *best, const char *word, char path[IKT_STRING_MAX]) {
    snprintf(path, IKT_STRING_MAX, "%.*s.%s.h5", (int)(strlen(best) - strlen(".h5")), best, word);
}

/* COLLECTIVE over a group. Embeds landmarks, and writes the model by which rows are placed in their
 * map. */
static ikt_status embed_landmarks(ikt_context *ctx, const ikt_settings *all, const char *landmarks,
                                  const char *model, ikt_study_result *out) {
    ikt_settings settings = *all, usual;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_run run IKT_AT_END(ikt_run_destroy) = {.given = NULL};
    ikt_settings_parts(&usual, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    settings.input = usual.input; /* how the landmarks stand in their file */
    snprintf(settings.input.file, sizeof settings.input.file, "%s", landmarks);
    snprintf(settings.output.model, sizeof settings.output.model, "%s", model);
    IKT_TRY(ikt_pipeline_run(ctx, &settings, NULL, &run));
    note_run(ctx, &run, out);
    IKT_TRY(ikt_run_model_end(ctx, &run));
    ikt_run_finish(ctx, &run);
    return IKT_OK;
}

/* COLLECTIVE over a group. Places all rows in the map of the landmarks. */
static ikt_status place_all(ikt_context *ctx, const ikt_settings *all, const char *model,
                            const char *path) {
    const ikt_transform_request request = {.model = model,
                                           .input = all->input.file,
                                           .dataset = all->input.dataset,
                                           .labels = all->input.labels,
                                           .neighbours = IKT_AUTO_INT,
                                           .trials = IKT_TRANSFORM_TRIALS};
    ikt_transformed placed;
    IKT_TRY(ikt_transform_run(ctx, &request, &placed));
    const ikt_status st = ikt_transform_write(ctx, &request, &placed, path, true);
    ikt_transformed_destroy(&placed);
    return st;
}

/* COLLECTIVE over a group. The way of a method with `landmarks`: these are chosen and embedded, all
 * rows are placed in their map, and that is measured. Landmarks and model go when that is done; a
 * later session makes the same ones again. */
static ikt_status embed_by_landmarks(ikt_context *ctx, const ikt_study_plan *plan,
                                     const ikt_study_run *what, ikt_study_result *out) {
    const ikt_landmark_request request = {plan->study->method[what->method].landmarks,
                                          IKT_LANDMARK_STEPS};
    char best[IKT_STRING_MAX], landmarks[IKT_STRING_MAX], model[IKT_STRING_MAX];
    ikt_settings settings, choice;
    int64_t found;
    IKT_TRY(ikt_study_run_settings(ctx, plan, what, what->table, &settings));
    ikt_study_embedding_file(plan, what->id, best);
    name_beside(best, "landmarks", landmarks);
    name_beside(best, "model", model);
    snprintf(settings.output.file, sizeof settings.output.file, "%s", best);
    settings.output.overwrite = true;
    choice = settings;
    snprintf(choice.output.file, sizeof choice.output.file, "%s", landmarks);
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    ikt_status st = ikt_landmark_file_write(ctx, &choice, &request, &found);
    if (st == IKT_OK) st = embed_landmarks(ctx, &settings, landmarks, model, out);
    if (st == IKT_OK) st = place_all(ctx, &settings, model, best);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (ikt_rank(ctx) == 0) {
        unlink(landmarks);
        unlink(model);
    }
    if (st != IKT_OK) return st;
    note_cost(ctx, out);
    out->number[IKT_RUN_KL] = NAN; /* those of the landmarks are none of all rows */
    out->number[IKT_RUN_COST] = NAN;
    return measure_map(ctx, plan, what, best, false, out);
}

/* --- whichever it is -------------------------------------------------------------------------- */

ikt_status ikt_study_run_make(ikt_context *ctx, const ikt_study_plan *plan,
                              const ikt_study_run *what, ikt_study_result *out) {
    if (what->map[0]) return take_given(ctx, plan, what, out);
    if (plan->study->method[what->method].landmarks > 0)
        return embed_by_landmarks(ctx, plan, what, out);
    return embed(ctx, plan, what, out);
}
