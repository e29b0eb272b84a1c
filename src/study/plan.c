/* From a study to the runs it consists of. Read ikt_study_plan_make first. */
#include "study/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/build.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"
#include "config/config.h"
#include "pipeline/pipeline.h"
#include "recipe/facts.h"
#include "recipe/recipe.h"
#include "settings/checks.h"
#include "study/inputs.h"

/* --- the settings of a run -------------------------------------------------------------------- */

/* Applies assignments, in which "section.key=data:NAME" stands for the file of the data set of that
 * name, for seed number `seed`. */
static ikt_status apply(ikt_context *ctx, const ikt_study_plan *plan, int64_t seed,
                        const ikt_config_part *parts, const ikt_assignments *assignments) {
    const ikt_study *study = plan->study;
    for (int64_t a = 0; a < assignments->count; a++) {
        char with_file[2 * IKT_STRING_MAX];
        const char *assignment = assignments->text[a], *name = strstr(assignment, "=data:");
        if (name) {
            const int key = (int)(name - assignment);
            name += strlen("=data:");
            const int64_t i = ikt_study_find_data(study, name);
            if (i < 0)
                return ikt_fail(ctx, IKT_ERR_USAGE, "%s: there is no data set '%s' (%.*s)",
                                study->path, name, key, assignment);
            snprintf(with_file, sizeof with_file, "%.*s=%s", key, assignment,
                     plan->table[i * study->n_seeds + seed].file);
            assignment = with_file;
        }
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, assignment));
    }
    return IKT_OK;
}

/* Defaults, the preset, and what the study says; a preset that the study names makes a second pass,
 * below everything else that it says. */
ikt_status ikt_study_run_settings(ikt_context *ctx, const ikt_study_plan *plan,
                                  const ikt_study_run *run, int64_t table, ikt_settings *out) {
    const ikt_study *study = plan->study;
    const ikt_study_method *method = &study->method[run->method];
    const int64_t seed = table % study->n_seeds, data = table / study->n_seeds;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings shared; /* what it says for all methods */
    memset(out, 0, sizeof *out);
    ikt_settings_parts(out, parts);
    for (int pass = 0; pass < (out->run.preset == IKT_RUN_PRESET_NONE ? 1 : 2); pass++) {
        const int preset = pass == 0 ? IKT_RUN_PRESET_NONE : out->run.preset;
        IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
        IKT_TRY(ikt_preset_apply(ctx, parts, IKT_SETTINGS_PARTS, preset));
        IKT_TRY(apply(ctx, plan, seed, parts, &study->settings));
        IKT_TRY(apply(ctx, plan, seed, parts, &study->data[data].settings));
        shared = *out;
        IKT_TRY(apply(ctx, plan, seed, parts, &method->settings));
        for (int a = 0; a < method->axes; a++) {
            char assignment[IKT_STRING_MAX];
            snprintf(assignment, sizeof assignment, "%s=%s", method->axis[a].name, run->value[a]);
            IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, assignment));
        }
    }
    snprintf(out->input.file, sizeof out->input.file, "%s", plan->table[table].file);
    out->input.skip_is_shared = !ikt_study_skips_itself(&study->data[data]);
    ikt_input_delimit(ctx, &out->input); /* of the command line: a run is repeated as it was made */
    out->run.seed = run->seed;
    return ikt_unused_reset(ctx, out, NULL, &shared);
}

void ikt_study_run_name(const ikt_study_plan *plan, const ikt_study_run *run, char *text,
                        size_t size) {
    const ikt_study_method *method = &plan->study->method[run->method];
    snprintf(text, size, "%s, %s", plan->study->data[run->data].name, method->name);
    for (int a = 0; a < method->axes; a++)
        ikt_join(text, size, "", ", %s %s", method->axis[a].name, run->value[a]);
    ikt_join(text, size, "", ", seed %" PRId64, run->seed);
}

/* --- the runs --------------------------------------------------------------------------------- */

/* What the runs read, while they are listed. */
typedef struct {
    ikt_files files; /* of all of them */
    ikt_checksums checksums;
} reading;

bool ikt_study_same_values(const ikt_study_plan *plan, const ikt_study_run *a,
                           const ikt_study_run *b) {
    bool is_same = a->data == b->data && a->method == b->method;
    for (int i = 0; is_same && i < plan->study->method[a->method].axes; i++)
        is_same = strcmp(a->value[i], b->value[i]) == 0;
    return is_same;
}

static void close_reading(reading *r) {
    ikt_files_destroy(&r->files);
    ikt_checksums_close(&r->checksums);
}

/* COLLECTIVE. Continues a fingerprint by the contents of all that the run reads, and adds these
 * files to those of the study. */
static ikt_status add_contents(ikt_context *ctx, const ikt_study_plan *plan,
                               const ikt_study_run *run, const ikt_settings *settings, reading *r,
                               uint64_t *hash) {
    ikt_files files IKT_AT_END(ikt_files_destroy) = {.ctx = ctx};
    ikt_run_files_read(settings, &files);
    if (run->reference >= 0)
        ikt_files_add(&files, IKT_FILE_READ, "data: reference", plan->table[run->reference].file);
    ikt_files_add(&files, IKT_FILE_READ, "given", run->map);
    IKT_TRY(ikt_files_look(&files));
    IKT_TRY(ikt_checksums_add(&r->checksums, &files, hash));
    for (int64_t f = 0; f < files.count; f++)
        ikt_files_add(&r->files, IKT_FILE_READ, files.file[f].role, files.file[f].path);
    return IKT_OK;
}

/* Gives the run its identity, a fingerprint of what its result depends on: settings, names, shape
 * and contents of the data. Where files lie does not matter. */
static ikt_status identify(ikt_context *ctx, const ikt_study_plan *plan, reading *r,
                           ikt_study_run *run) {
    const ikt_study_table *table = &plan->table[run->table];
    const ikt_study_method *method = &plan->study->method[run->method];
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL, shape[IKT_STRING_MAX], *model = settings.isolation.model_from;
    uint64_t hash = 0;
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    IKT_TRY(add_contents(ctx, plan, run, &settings, r, &hash));
    settings.input.file[0] = '\0';
    memmove(model, ikt_study_base(model), strlen(ikt_study_base(model)) + 1);
    settings.run.threads = IKT_AUTO_INT;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    snprintf(shape, sizeof shape, "%.600s %" PRId64 " %" PRId64, ikt_study_base(table->file),
             table->n, table->d);
    hash = ikt_study_hash(ikt_study_hash(hash, text), shape);
    hash = ikt_study_hash(hash, plan->study->data[run->data].name);
    hash = ikt_study_hash(hash, method->name);
    if (run->map[0]) hash = ikt_study_hash(hash, ikt_study_base(run->map));
    snprintf(shape, sizeof shape, "%" PRId64 " landmarks", method->landmarks);
    if (method->landmarks > 0) hash = ikt_study_hash(hash, shape);
    run->content = hash;
    run->id = ikt_study_id(hash, ikt_build_tag());
    const double n = (double)table->n;
    run->cost = settings.affinity.support == IKT_SUPPORT_DENSE ? n * n : n * 2000;
    if (run->map[0]) run->cost = n;
    ikt_free(&text);
    return IKT_OK;
}

/* Appends a run, unless shares of n made it equal to one before: of this data set and method, the
 * runs since `first`. */
static ikt_status append(ikt_context *ctx, ikt_study_plan *plan, reading *r,
                         const ikt_study_run *run, int64_t first) {
    const int64_t n = plan->n_runs;
    for (int64_t i = first; i < n; i++)
        if (plan->run[i].seed == run->seed && ikt_study_same_values(plan, &plan->run[i], run))
            return IKT_OK;
    if ((n & (n - 1)) == 0) /* the capacity is the next power of two */
        IKT_TRY(
            ikt_agree(ctx, ikt_resize(ctx, &plan->run, n ? 2 * n : 1, sizeof *plan->run, "study")));
    plan->run[n] = *run;
    IKT_TRY(identify(ctx, plan, r, &plan->run[n]));
    plan->n_runs++;
    return IKT_OK;
}

/* All values of the axes from `axis` on. */
static ikt_status vary(ikt_context *ctx, ikt_study_plan *plan, reading *r, ikt_study_run *run,
                       int axis, int64_t first) {
    const ikt_study_method *method = &plan->study->method[run->method];
    if (axis == method->axes || axis == IKT_STUDY_AXES) return append(ctx, plan, r, run, first);
    const ikt_study_axis *of = &method->axis[axis];
    for (int64_t v = 0; v < of->values.count; v++) {
        ikt_study_value_text(&of->values.value[v], of->key, plan->table[run->table].n,
                             run->value[axis]);
        IKT_TRY(vary(ctx, plan, r, run, axis + 1, first));
    }
    return IKT_OK;
}

/* Whether the data set of a run, and those that its settings name, are at hand. */
static bool is_possible(ikt_context *ctx, const ikt_study_plan *plan, int64_t data, int64_t method,
                        int64_t seed) {
    const ikt_study *study = plan->study;
    const ikt_assignments *said[] = {&study->settings, &study->data[data].settings,
                                     &study->method[method].settings};
    bool lacks = false;
    if (plan->table[data * study->n_seeds + seed].n == 0 || study->data[data].is_source)
        return false;
    for (int s = 0; s < 3; s++)
        for (int64_t a = 0; a < said[s]->count; a++) {
            const char *name = strstr(said[s]->text[a], "=data:");
            const int64_t i = name ? ikt_study_find_data(study, name + strlen("=data:")) : -1;
            lacks |= i >= 0 && !plan->table[i * study->n_seeds + seed].file[0];
        }
    if (lacks)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s, %s is left out: a data set that its settings name is not there",
                study->data[data].name, study->method[method].name);
    return !lacks;
}

/* COLLECTIVE. The map that a method gives for the data set of the run, looked for as data are, as
 * it is named or without what stands behind a colon; "" where it gives none, or one of a data set
 * that is optional is not there. */
static ikt_status find_map(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                           ikt_study_run *run) {
    const ikt_study_method *method = &study->method[run->method];
    const ikt_study_data *data = &study->data[run->data];
    char file[IKT_STRING_MAX];
    const char *given = NULL;
    for (int64_t g = 0; g < method->given.count && !given; g++)
        given = ikt_study_given_map(data, method->given.text[g]);
    if (!given) return IKT_OK;
    ikt_study_find_file(ctx, study, places, given, run->map);
    const char *colon = strrchr(given, ':');
    if (run->map[0]) return IKT_OK;
    if (colon) {
        snprintf(file, sizeof file, "%.*s", (int)(colon - given), given);
        ikt_study_find_file(ctx, study, places, file, run->map);
        if (run->map[0]) {
            ikt_join(run->map, sizeof run->map, "", "%s", colon);
            return IKT_OK;
        }
    }
    return ikt_study_lack(ctx, study, data, "the map of '%s' by the method '%s' (%s)", data->name,
                          method->name, given);
}

/* How many rows a file has once those with missing values are filled or left out. */
typedef struct {
    ikt_input_settings input; /* how it is read */
    ikt_missing missing;
    int64_t n;
} counted;

/* What a run is made of, as long as the next runs are made of the same; and the rows of all files
 * that were looked through, each once. */
typedef struct {
    ikt_settings of; /* the settings whose files were looked at */
    ikt_shape shape;
    bool is_there;
    counted *rows; /* [n_rows] */
    int64_t n_rows;
} looked;

/* Whether settings name the same files, read in the same way. */
static bool is_of_same(const ikt_settings *a, const ikt_settings *b) {
    return memcmp(&a->input, &b->input, sizeof a->input) == 0 &&
           strcmp(a->isolation.model_from, b->isolation.model_from) == 0 &&
           strcmp(a->isolation.model_dataset, b->isolation.model_dataset) == 0 &&
           strcmp(a->layout.init_file, b->layout.init_file) == 0 &&
           a->layout.init == b->layout.init && a->layout.objective == b->layout.objective;
}

static void forget(looked *last) {
    ikt_shape_destroy(&last->shape);
    last->is_there = false;
}

static void forget_all(looked *last) {
    forget(last);
    ikt_free(&last->rows);
}

/* COLLECTIVE. How many rows are left where missing values are filled or left out. */
static ikt_status count_rows(ikt_context *ctx, const ikt_settings *settings, looked *last,
                             int64_t *n) {
    const ikt_missing missing = ikt_missing_of_look(settings->preprocess.missing);
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    for (int64_t r = 0; r < last->n_rows; r++)
        if (last->rows[r].missing == missing &&
            memcmp(&last->rows[r].input, &settings->input, sizeof settings->input) == 0) {
            *n = last->rows[r].n;
            return IKT_OK;
        }
    IKT_TRY(ikt_input_open(ctx, &settings->input, &source));
    IKT_TRY(ikt_rows_look(ctx, settings, &source));
    *n = ikt_source_rows(source);
    IKT_TRY(ikt_agree(ctx,
                      ikt_resize(ctx, &last->rows, last->n_rows + 1, sizeof *last->rows, "study")));
    last->rows[last->n_rows++] = (counted){settings->input, missing, *n};
    return IKT_OK;
}

/* COLLECTIVE. Whether the run can be made: as it would be refused later, before any begins. */
static ikt_status check_run(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *run,
                            looked *last) {
    const int64_t landmarks = plan->study->method[run->method].landmarks;
    ikt_settings settings;
    ikt_source *source = NULL;
    if (run->map[0]) return IKT_OK;
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    if (!last->is_there || !is_of_same(&settings, &last->of)) {
        forget(last);
        IKT_TRY(ikt_shape_look(ctx, &settings, NULL, false, &last->shape, &source));
        ikt_source_close(&source);
        last->of = settings;
        last->is_there = true;
    }
    ikt_shape shape = last->shape;
    if (landmarks > 0) shape.data.n = landmarks;
    IKT_ARRAYS(held, ctx, "recipe");
    ikt_recipe *recipe = ikt_claim(&held, 1, sizeof *recipe);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_recipe_make(ctx, &settings, &shape, ikt_size(ctx), ikt_threads(ctx), recipe));
    if (settings.preprocess.missing == IKT_MISSING_REFUSE) return IKT_OK;
    int64_t n;
    IKT_TRY(count_rows(ctx, &settings, last, &n));
    if (landmarks > 0) n = landmarks;
    return ikt_recipe_fit(ctx, recipe, n, recipe->work.data.type, &recipe->settings);
}

/* COLLECTIVE. Refuses a method of which no run can be made. Single values that do not suit a data
 * set are told of, and their runs count as failed. */
static ikt_status check_method(ikt_context *ctx, const ikt_study_plan *plan, int64_t m,
                               looked *last) {
    char name[IKT_STRING_MAX], reason[IKT_STRING_MAX];
    ikt_status refused = IKT_OK; /* the first run that is */
    int64_t runs = 0, possible = 0;
    for (int64_t r = 0; r < plan->n_runs; r++) {
        if (plan->run[r].method != m) continue;
        const ikt_status st = check_run(ctx, plan, &plan->run[r], last);
        const bool is_refused = st == IKT_ERR_USAGE || st == IKT_ERR_DATA;
        if (st != IKT_OK && !is_refused) return st;
        runs++;
        possible += !is_refused;
        if (is_refused && refused == IKT_OK) {
            ikt_study_run_name(plan, &plan->run[r], name, sizeof name);
            snprintf(reason, sizeof reason, "%.1000s", ikt_message(ctx));
            refused = st;
        }
        if (is_refused) ikt_clear(ctx);
    }
    if (refused == IKT_OK) return IKT_OK;
    if (possible == 0) return ikt_fail(ctx, refused, "%s: %s: %s", plan->study->path, name, reason);
    ikt_log(ctx, IKT_LOG_WARN,
            "%" PRId64 " of %" PRId64 " runs of the method '%s' cannot be made, such as %s: %s",
            runs - possible, runs, plan->study->method[m].name, name, reason);
    return IKT_OK;
}

/* COLLECTIVE. The same of all methods, before the first run begins. */
static ikt_status check_runs(ikt_context *ctx, const ikt_study_plan *plan) {
    looked last IKT_AT_END(forget_all) = {.is_there = false};
    for (int64_t m = 0; m < plan->study->n_methods; m++)
        IKT_TRY(check_method(ctx, plan, m, &last));
    return IKT_OK;
}

static ikt_status list_runs(ikt_context *ctx, const ikt_study_places *places, reading *r,
                            ikt_study_plan *plan) {
    const ikt_study *study = plan->study;
    for (int64_t i = 0; i < study->n_data; i++) {
        const char *compared = study->data[i].reference;
        const int64_t reference = compared[0] ? ikt_study_find_data(study, compared) : -1;
        for (int64_t m = 0; m < study->n_methods; m++)
            for (int64_t s = 0, first = plan->n_runs; s < study->data[i].n_seeds; s++) {
                ikt_study_run run = {.data = i,
                                     .method = m,
                                     .table = i * study->n_seeds + s,
                                     .reference =
                                         reference < 0 ? -1 : reference * study->n_seeds + s,
                                     .seed = study->seed[s]};
                const bool is_given = study->method[m].given.count > 0;
                if ((is_given && s > 0) || !is_possible(ctx, plan, i, m, s)) continue;
                if (is_given) IKT_TRY(find_map(ctx, study, places, &run));
                if (!is_given || run.map[0]) IKT_TRY(vary(ctx, plan, r, &run, 0, first));
            }
    }
    if (plan->n_runs == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s: no data set is at hand, so there is nothing to do",
                        study->path);
    return check_runs(ctx, plan);
}

/* COLLECTIVE. Refuses a study that would write over what it reads, or remove it. */
static ikt_status check_files(const ikt_study_plan *plan, reading *r) {
    static const struct {
        ikt_file_use use;
        const char *name;
    } own[] = {{IKT_FILE_CHANGED, "results.csv"},
               {IKT_FILE_CHANGED, "queue"},
               {IKT_FILE_CHANGED, "checksums"},
               {IKT_FILE_FOLDER, "best"},
               {IKT_FILE_FOLDER, "report"}};
    char path[IKT_STRING_MAX];
    ikt_files_add(&r->files, IKT_FILE_READ, "STUDY.yaml", plan->study->path);
    for (size_t f = 0; f < sizeof own / sizeof *own; f++) {
        snprintf(path, sizeof path, "%.900s/%s", plan->output, own[f].name);
        ikt_files_add(&r->files, own[f].use, own[f].name, path);
    }
    return ikt_files_check(&r->files);
}

static int by_content(const void *a, const void *b) {
    const ikt_study_run *const *x = a, *const *y = b;
    return IKT_COMPARE((*x)->content, (*y)->content);
}

int64_t ikt_study_plan_find(const ikt_study_plan *plan, uint64_t content) {
    const ikt_study_run **const run = plan->by_content;
    int64_t at;
    IKT_FIND_FIRST(at, 0, plan->n_runs, run[at]->content >= content);
    return at < plan->n_runs && run[at]->content == content ? run[at] - plan->run : -1;
}

ikt_status ikt_study_plan_make(ikt_context *ctx, const ikt_study *study,
                               const ikt_study_places *places, ikt_study_plan *out) {
    reading r IKT_AT_END(close_reading) = {.files = {.ctx = ctx}};
    ikt_study_plan plan IKT_AT_END(ikt_study_plan_destroy) = {
        .study = study, .output = places->output, .any_build = places->any_build};
    *out = (ikt_study_plan){.study = study};
    IKT_TRY(ikt_alloc_all(ctx, &plan.table, study->n_data * study->n_seeds, sizeof *plan.table,
                          "study"));
    IKT_TRY(ikt_study_find_tables(ctx, study, places, plan.table));
    IKT_TRY(ikt_checksums_open(ctx, places->output, &r.checksums));
    IKT_TRY(ikt_agree(ctx, list_runs(ctx, places, &r, &plan)));
    IKT_TRY(ikt_alloc_all(ctx, &plan.by_content, plan.n_runs, sizeof *plan.by_content, "study"));
    IKT_TRY(check_files(&plan, &r));
    for (int64_t i = 0; i < plan.n_runs; i++)
        plan.by_content[i] = &plan.run[i];
    qsort(plan.by_content, (size_t)plan.n_runs, sizeof *plan.by_content, by_content);
    return ikt_give(out, plan);
}

void ikt_study_plan_destroy(ikt_study_plan *plan) {
    ikt_free(&plan->table);
    ikt_free(&plan->run);
    ikt_free(&plan->by_content);
    plan->n_runs = 0;
}
