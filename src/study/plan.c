/* From a study to the runs it consists of. Read ikt_study_plan_make first. */
#include "study/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "config/config.h"
#include "settings/preset.h"
#include "settings/checks.h"

/* Where settings are applied to. */
typedef struct {
    ikt_context *ctx;
    const ikt_study *study;
    const ikt_study_plan *plan;
    int64_t seed; /* number of the run's seed */
    const ikt_config_part *parts;
    const ikt_settings *settings; /* that the parts are of */
} target;

/* "section.key=data:NAME" stands for the file of the data set of that name. */
static ikt_status apply_one(const target *t, const char *assignment) {
    char with_file[2 * IKT_STRING_MAX];
    const char *name = strstr(assignment, "=data:");
    if (!name) return ikt_config_override(t->ctx, t->parts, IKT_SETTINGS_PARTS, assignment);
    const int key = (int)(name - assignment);
    name += strlen("=data:");
    const int64_t i = ikt_study_find_data(t->study, name);
    if (i < 0)
        return ikt_fail(t->ctx, IKT_ERR_USAGE, "%s: there is no data set '%s' (%.*s)",
                        t->study->path, name, key, assignment);
    snprintf(with_file, sizeof with_file, "%.*s=%s", key, assignment,
             t->plan->table[i * t->study->n_seeds + t->seed].file);
    return ikt_config_override(t->ctx, t->parts, IKT_SETTINGS_PARTS, with_file);
}

static ikt_status apply(const target *t, const ikt_assignments *assignments) {
    for (int64_t a = 0; a < assignments->count; a++)
        IKT_TRY(apply_one(t, assignments->text[a]));
    return IKT_OK;
}

/* Defaults, the preset, and what the study says.
 *   shared   receives what it says for all methods */
static ikt_status apply_all(const target *to, int preset, const ikt_study_run *run, int64_t table,
                            ikt_settings *shared) {
    const ikt_study *study = to->study;
    const ikt_study_method *method = &study->method[run->method];
    IKT_TRY(ikt_config_defaults(to->ctx, to->parts, IKT_SETTINGS_PARTS));
    IKT_TRY(ikt_preset_apply(to->ctx, to->parts, IKT_SETTINGS_PARTS, preset));
    IKT_TRY(apply(to, &study->settings));
    IKT_TRY(apply(to, &study->data[table / study->n_seeds].settings));
    *shared = *to->settings;
    IKT_TRY(apply(to, &method->settings));
    for (int a = 0; a < method->axes; a++) {
        char assignment[IKT_STRING_MAX];
        snprintf(assignment, sizeof assignment, "%s=%s", method->axis[a].name, run->value[a]);
        IKT_TRY(ikt_config_override(to->ctx, to->parts, IKT_SETTINGS_PARTS, assignment));
    }
    return IKT_OK;
}

ikt_status ikt_study_run_settings(ikt_context *ctx, const ikt_study *study,
                                  const ikt_study_plan *plan, const ikt_study_run *run,
                                  int64_t table, ikt_settings *out) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    const target to = {ctx, study, plan, table % study->n_seeds, parts, out};
    ikt_settings shared;
    memset(out, 0, sizeof *out);
    ikt_settings_parts(out, parts);
    IKT_TRY(apply_all(&to, IKT_RUN_PRESET_NONE, run, table, &shared));
    if (out->run.preset != IKT_RUN_PRESET_NONE)
        IKT_TRY(apply_all(&to, out->run.preset, run, table, &shared));
    snprintf(out->input.file, sizeof out->input.file, "%s", plan->table[table].file);
    out->run.seed = run->seed;
    IKT_TRY(ikt_unused_reset(ctx, out, true, &shared));
    return ikt_unused_check(ctx, out, true, out->input.graph[0] != '\0');
}

void ikt_study_run_name(const ikt_study *study, const ikt_study_run *run, char *text, size_t size) {
    const ikt_study_method *method = &study->method[run->method];
    snprintf(text, size, "%s, %s", study->data[run->data].name, method->name);
    for (int a = 0; a < method->axes; a++)
        snprintf(text + strlen(text), size - strlen(text), ", %s %s", method->axis[a].name,
                 run->value[a]);
    snprintf(text + strlen(text), size - strlen(text), ", seed %" PRId64, run->seed);
}

/* Drops the folders of a path. */
static void keep_name(char *path) {
    const char *slash = strrchr(path, '/');
    if (slash) memmove(path, slash + 1, strlen(slash));
}

/* A fingerprint of what the result depends on: settings, shape and name of the data. */
static ikt_status identify(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                           ikt_study_run *run) {
    const ikt_study_table *table = &plan->table[run->table];
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL, shape[IKT_STRING_MAX];
    IKT_TRY(ikt_study_run_settings(ctx, study, plan, run, run->table, &settings));
    settings.input.file[0] = '\0'; /* where files lie does not matter */
    keep_name(settings.isolation.model_from);
    settings.run.threads = IKT_AUTO_INT;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text));
    const char *slash = strrchr(table->file, '/');
    snprintf(shape, sizeof shape, "%.600s %" PRId64 " %" PRId64, slash ? slash + 1 : table->file,
             table->n, table->d);
    run->id = ikt_study_hash(ikt_study_hash(0, text), shape);
    run->id = ikt_study_hash(run->id, study->data[run->data].name);
    run->id = ikt_study_hash(run->id, study->method[run->method].name);
    const double n = (double)table->n;
    run->cost = settings.affinity.support == IKT_SUPPORT_DENSE ? n * n : n * 2000;
    ikt_free(&text);
    return IKT_OK;
}

static int64_t reference_of(const ikt_study *study, int64_t data, int64_t seed) {
    const char *name = study->data[data].reference;
    const int64_t i = name[0] ? ikt_study_find_data(study, name) : -1;
    return i < 0 ? -1 : i * study->n_seeds + seed;
}

typedef struct {
    ikt_context *ctx;
    const ikt_study *study;
    ikt_study_plan *plan;
    int64_t room;
} planner;

/* Appends a run, unless shares of n made it equal to one before: of this data set and method, the
 * runs since `first`. */
static ikt_status append(planner *p, const ikt_study_run *run, int64_t first) {
    ikt_study_plan *plan = p->plan;
    const int axes = p->study->method[run->method].axes;
    for (int64_t r = first; r < plan->n_runs; r++) {
        int a = 0;
        while (a < axes && strcmp(plan->run[r].value[a], run->value[a]) == 0)
            a++;
        if (a == axes && plan->run[r].seed == run->seed) return IKT_OK;
    }
    if (plan->n_runs == p->room) {
        const int64_t room = 2 * p->room + 64;
        IKT_TRY(ikt_resize(p->ctx, &plan->run, room, sizeof *plan->run, "study"));
        p->room = room;
    }
    plan->run[plan->n_runs] = *run;
    IKT_TRY(identify(p->ctx, p->study, plan, &plan->run[plan->n_runs]));
    plan->n_runs++;
    return IKT_OK;
}

/* All values of the axes from `axis` on. */
static ikt_status vary(planner *p, ikt_study_run *run, int axis, int64_t first) {
    const ikt_study_method *method = &p->study->method[run->method];
    if (axis == method->axes || axis == IKT_STUDY_AXES) return append(p, run, first);
    const ikt_study_axis *of = &method->axis[axis];
    for (int64_t v = 0; v < of->values.count; v++) {
        ikt_study_value_text(&of->values.value[v], of->key, p->plan->table[run->table].n,
                             run->value[axis]);
        IKT_TRY(vary(p, run, axis + 1, first));
    }
    return IKT_OK;
}

/* Whether a setting names a data set that is not at hand. */
static bool lacks(const planner *p, const ikt_assignments *assignments, int64_t seed) {
    for (int64_t a = 0; a < assignments->count; a++) {
        const char *name = strstr(assignments->text[a], "=data:");
        const int64_t i = name ? ikt_study_find_data(p->study, name + strlen("=data:")) : -1;
        if (i >= 0 && !p->plan->table[i * p->study->n_seeds + seed].file[0]) return true;
    }
    return false;
}

static bool is_possible(const planner *p, int64_t data, int64_t method, int64_t seed) {
    const ikt_study *study = p->study;
    if (p->plan->table[data * study->n_seeds + seed].n == 0 || study->data[data].is_source)
        return false;
    if (!lacks(p, &study->settings, seed) && !lacks(p, &study->data[data].settings, seed) &&
        !lacks(p, &study->method[method].settings, seed))
        return true;
    ikt_log(p->ctx, IKT_LOG_WARN,
            "%s, %s is left out: a data set that its settings name is not there",
            study->data[data].name, study->method[method].name);
    return false;
}

static ikt_status list_runs(planner *p) {
    const ikt_study *study = p->study;
    for (int64_t i = 0; i < study->n_data; i++)
        for (int64_t m = 0; m < study->n_methods; m++)
            for (int64_t s = 0, first = p->plan->n_runs; s < study->data[i].n_seeds; s++) {
                ikt_study_run run = {.data = i,
                                     .method = m,
                                     .table = i * study->n_seeds + s,
                                     .reference = reference_of(study, i, s),
                                     .seed = study->seed[s]};
                if (is_possible(p, i, m, s)) IKT_TRY(vary(p, &run, 0, first));
            }
    if (p->plan->n_runs == 0)
        return ikt_fail(p->ctx, IKT_ERR_USAGE,
                        "%s: no data set is at hand, so there is nothing to do", study->path);
    return IKT_OK;
}

typedef struct {
    uint64_t id;
    int64_t run;
} identity;

static int by_identity(const void *a, const void *b) {
    const identity *x = a, *y = b;
    return IKT_COMPARE(x->id, y->id);
}

static ikt_status sort_runs(ikt_context *ctx, ikt_study_plan *plan) {
    identity *list = NULL;
    ikt_status st = ikt_alloc(ctx, &list, plan->n_runs, sizeof *list, "study");
    if (st == IKT_OK) st = ikt_alloc(ctx, &plan->by_id, plan->n_runs, sizeof *plan->by_id, "study");
    if (st == IKT_OK) {
        for (int64_t r = 0; r < plan->n_runs; r++)
            list[r] = (identity){plan->run[r].id, r};
        qsort(list, (size_t)plan->n_runs, sizeof *list, by_identity);
        for (int64_t r = 0; r < plan->n_runs; r++)
            plan->by_id[r] = list[r].run;
    }
    ikt_free(&list);
    return st;
}

int64_t ikt_study_plan_find(const ikt_study_plan *plan, uint64_t id) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, plan->n_runs, plan->run[plan->by_id[at]].id >= id);
    return at < plan->n_runs && plan->run[plan->by_id[at]].id == id ? plan->by_id[at] : -1;
}

ikt_status ikt_study_plan_make(ikt_context *ctx, const ikt_study *study,
                               const ikt_study_places *places, ikt_study_plan *out) {
    planner p = {ctx, study, out, 0};
    *out = (ikt_study_plan){.n_runs = 0};
    ikt_status st =
        ikt_alloc(ctx, &out->table, study->n_data * study->n_seeds, sizeof *out->table, "study");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_study_tables_find(ctx, study, places, out->table);
    if (st == IKT_OK) {
        st = list_runs(&p);
        if (st == IKT_OK) st = sort_runs(ctx, out);
        st = ikt_agree(ctx, st);
    }
    if (st != IKT_OK) ikt_study_plan_destroy(out);
    return st;
}

void ikt_study_plan_destroy(ikt_study_plan *plan) {
    ikt_free(&plan->table);
    ikt_free(&plan->run);
    ikt_free(&plan->by_id);
    plan->n_runs = 0;
}
