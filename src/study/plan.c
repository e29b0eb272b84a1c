/* From a study to the runs it consists of. Read ikt_study_plan_make first. */
#include "study/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "config/config.h"
#include "config/value.h"
#include "data/generate.h"
#include "io/sources/source.h"
#include "recipe/facts.h"
#include "recipe/recipe.h"
#include "settings/preset.h"
#include "settings/run_files.h"
#include "study/checksums.h"

/* 64-bit FNV-1a hash of a text, continued from `hash` (0: begin). */
static uint64_t hash_text(uint64_t hash, const char *text) {
    if (hash == 0) hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 1) * 0x100000001b3u; /* so that "ab", "c" differs from "a", "bc" */
}

/* --- the data sets as files: found, or generated ---------------------------------------------- */

/* COLLECTIVE. Looks for a file where the user said, beside the study, and in the current folder:
 * the first place where it is; "" where it is nowhere. */
static void find_file(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                      const char *file, char path[IKT_STRING_MAX]) {
    const char *slash = strrchr(study->path, '/');
    const int folder = slash ? (int)(slash - study->path) : 1;
    bool is_there = false;
    memset(path, 0, IKT_STRING_MAX);
    for (int f = 0; f <= places->folders && file[0] != '/' && ikt_rank(ctx) == 0 && !is_there;
         f++) {
        if (f < places->folders)
            snprintf(path, IKT_STRING_MAX, "%.500s/%.500s", places->folder[f], file);
        else
            snprintf(path, IKT_STRING_MAX, "%.*s/%.500s", folder, slash ? study->path : ".", file);
        is_there = access(path, R_OK) == 0;
    }
    if (ikt_rank(ctx) == 0 && !is_there)
        snprintf(path, IKT_STRING_MAX, "%s", access(file, R_OK) == 0 ? file : "");
    ikt_broadcast(ctx, path, IKT_STRING_MAX, 0);
}

static ikt_status measure_table(ikt_context *ctx, const ikt_study_data *data,
                                ikt_study_table *table) {
    ikt_source *source = NULL;
    const char *dataset = IKT_DATASET_AUTO;
    for (int64_t s = 0; s < data->settings.count; s++)
        if (strncmp(data->settings.text[s], "input.dataset=", 14) == 0)
            dataset = data->settings.text[s] + 14;
        else if (strncmp(data->settings.text[s], "input.similarities=", 19) == 0)
            dataset = data->settings.text[s] + 19;
    IKT_TRY(ikt_source_open(ctx, table->file, dataset, 0, &source));
    table->n = ikt_source_rows(source);
    table->d = ikt_source_columns(source);
    ikt_source_close(&source);
    return IKT_OK;
}

static ikt_status open_file(ikt_context *ctx, const ikt_study *study,
                            const ikt_study_places *places, const ikt_study_data *data,
                            ikt_study_table *table) {
    find_file(ctx, study, places, data->file, table->file);
    if (table->file[0]) return measure_table(ctx, data, table);
    if (!data->is_optional)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s: the data set '%s' (%s) is neither beside the study nor in a folder "
                        "given by --data",
                        study->path, data->name, data->file);
    ikt_log(ctx, IKT_LOG_WARN,
            "the data set '%s' (%s) is left out: it is neither beside the study nor in a folder "
            "given by --data",
            data->name, data->file);
    return IKT_OK;
}

/* Options of a generator as its settings. */
static ikt_status generator_settings(ikt_context *ctx, const ikt_study_data *data,
                                     ikt_generate_settings *out) {
    IKT_TRY(ikt_generate_defaults(ctx, out));
    for (int64_t o = 0; o < data->options.count; o++) {
        const char *option = data->options.text[o], *value = strchr(option, '=') + 1;
        for (size_t k = 0; k < ikt_generate_section.n_keys; k++) {
            const ikt_key *key = &ikt_generate_section.keys[k];
            const size_t length = strlen(key->name);
            if (strncmp(option, key->name, length) != 0 || option[length] != '=') continue;
            IKT_TRY(ikt_value_parse(ctx, key, option, value, (char *)out + key->offset));
        }
    }
    return IKT_OK;
}

/* COLLECTIVE. Whether a set is no older than the last change of the source that it is made of. */
static ikt_status look_at_age(ikt_context *ctx, const char *source, const char *made,
                              int64_t *is_new) {
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "options: source", source);
    ikt_files_add(&files, IKT_FILE_READ, "generate", made);
    const ikt_status st = ikt_files_look(&files);
    if (st == IKT_OK) *is_new = files.file[0].changed <= files.file[1].changed;
    ikt_files_destroy(&files);
    return st;
}

/* Makes OUTPUT/data/NAME-HASH.h5, named by a hash of all that the data depends on but the contents
 * of its source, unless it is there and no older than that source. */
static ikt_status generate(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                           const ikt_study_data *data, uint64_t seed, ikt_study_table *table) {
    ikt_generate_settings settings;
    ikt_generation *generation = NULL;
    char text[IKT_STRING_MAX];
    int64_t is_there = 0;
    uint64_t hash = hash_text(0, data->generator);
    for (int64_t o = 0; o < data->options.count; o++)
        hash = hash_text(hash, data->options.text[o]);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    hash = hash_text(hash, text);
    snprintf(table->file, IKT_STRING_MAX, "%.800s/data/%s-%08" PRIx32 ".h5", places->output,
             data->generator, (uint32_t)(hash ^ hash >> 32));
    if (ikt_rank(ctx) == 0) is_there = access(table->file, R_OK) == 0;
    is_there = ikt_max_one(ctx, is_there);
    IKT_TRY(generator_settings(ctx, data, &settings));
    text[0] = '\0';
    if (settings.source[0]) { /* which may name a data set of the study */
        find_file(ctx, study, places, settings.source, text);
        if (is_there && text[0]) IKT_TRY(look_at_age(ctx, text, table->file, &is_there));
        if (!text[0] && !is_there && data->is_optional) {
            ikt_log(ctx, IKT_LOG_WARN, "the data set '%s' is left out: its source %s is not found",
                    data->name, settings.source);
            return IKT_OK;
        }
        if (text[0]) snprintf(settings.source, sizeof settings.source, "%s", text);
    }
    if (is_there) return measure_table(ctx, data, table);
    IKT_TRY(ikt_generation_open(ctx, data->generator, &settings, seed, &generation));
    ikt_status st = ikt_generation_write(generation, table->file, true);
    ikt_generation_close(&generation);
    return st == IKT_OK ? measure_table(ctx, data, table) : st;
}

ikt_status ikt_study_make_folder(ikt_context *ctx, const char *path) {
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        st = ikt_fail(ctx, IKT_ERR_FILE, "the folder %s cannot be made: %s", path, strerror(errno));
    return ikt_agree(ctx, st);
}

/* Marks the data sets that a list "a,b" names; all where there is no list.
 *   wanted   [study->n_data], receives the marks */
static ikt_status mark_wanted(ikt_context *ctx, const ikt_study *study, const char *only,
                              bool *wanted) {
    for (int64_t i = 0; i < study->n_data; i++)
        wanted[i] = !only || !only[0];
    while (only && *only) {
        const size_t length = strcspn(only, ",");
        bool found = false;
        for (int64_t i = 0; i < study->n_data; i++)
            if (strlen(study->data[i].name) == length &&
                memcmp(only, study->data[i].name, length) == 0)
                wanted[i] = found = true;
        if (!found)
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s has no data set '%.*s' (--only)", study->path,
                            (int)length, only);
        only += length + (only[length] == ',');
    }
    return IKT_OK;
}

/* COLLECTIVE. Fills table[n_data * n_seeds], whose entry i * n_seeds + s is data set i for seed s
 * (the same one for all seeds but where the set is generated anew for each). */
static ikt_status find_tables(ikt_context *ctx, const ikt_study *study,
                              const ikt_study_places *places, ikt_study_table *table) {
    static const char *const below[] = {"", "/data", "/best"};
    bool wanted[IKT_STUDY_DATA_MOST];
    IKT_TRY(mark_wanted(ctx, study, places->only, wanted));
    for (size_t f = 0; f < sizeof below / sizeof *below; f++) {
        char path[IKT_STRING_MAX];
        snprintf(path, sizeof path, "%.1000s%s", places->output, below[f]);
        IKT_TRY(ikt_study_make_folder(ctx, path));
    }
    for (int64_t i = 0; i < study->n_data; i++) {
        const ikt_study_data *data = &study->data[i];
        ikt_study_table *first = &table[i * study->n_seeds];
        if (!wanted[i] && !data->is_source) continue;
        const bool is_anew = data->generator[0] && data->seed == IKT_AUTO_INT;
        for (int64_t s = 0; s < study->n_seeds; s++) {
            const uint64_t seed = (uint64_t)(is_anew ? study->seed[s] : data->seed);
            if (s > 0 && !is_anew)
                first[s] = first[0];
            else if (data->generator[0])
                IKT_TRY(generate(ctx, study, places, data, seed, &first[s]));
            else
                IKT_TRY(open_file(ctx, study, places, data, &first[s]));
        }
    }
    return IKT_OK;
}

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
    out->run.seed = run->seed;
    return ikt_unused_reset(ctx, out, NULL, &shared);
}

void ikt_study_run_name(const ikt_study_plan *plan, const ikt_study_run *run, char *text,
                        size_t size) {
    const ikt_study_method *method = &plan->study->method[run->method];
    snprintf(text, size, "%s, %s", plan->study->data[run->data].name, method->name);
    for (int a = 0; a < method->axes; a++)
        snprintf(text + strlen(text), size - strlen(text), ", %s %s", method->axis[a].name,
                 run->value[a]);
    snprintf(text + strlen(text), size - strlen(text), ", seed %" PRId64, run->seed);
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

/* COLLECTIVE. Continues a fingerprint by the contents of all that the run reads, and adds these
 * files to those of the study. */
static ikt_status add_contents(ikt_context *ctx, const ikt_study_plan *plan,
                               const ikt_study_run *run, const ikt_settings *settings, reading *r,
                               uint64_t *hash) {
    ikt_files files = {.ctx = ctx};
    ikt_run_files_read(settings, &files);
    if (run->reference >= 0)
        ikt_files_add(&files, IKT_FILE_READ, "data: reference", plan->table[run->reference].file);
    ikt_files_add(&files, IKT_FILE_READ, "given", run->map);
    ikt_status st = ikt_files_look(&files);
    if (st == IKT_OK) st = ikt_checksums_add(&r->checksums, &files, hash);
    for (int64_t f = 0; f < files.count; f++)
        ikt_files_add(&r->files, IKT_FILE_READ, files.file[f].role, files.file[f].path);
    ikt_files_destroy(&files);
    return st;
}

/* Gives the run its identity, a fingerprint of what its result depends on: settings, names, shape
 * and contents of the data. Where files lie does not matter. */
static ikt_status identify(ikt_context *ctx, const ikt_study_plan *plan, reading *r,
                           ikt_study_run *run) {
    const ikt_study_table *table = &plan->table[run->table];
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL, shape[IKT_STRING_MAX], *model = settings.isolation.model_from;
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    run->content = 0;
    IKT_TRY(add_contents(ctx, plan, run, &settings, r, &run->content));
    settings.input.file[0] = '\0';
    const char *slash = strrchr(model, '/');
    if (slash) memmove(model, slash + 1, strlen(slash));
    settings.run.threads = IKT_AUTO_INT;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    slash = strrchr(table->file, '/');
    snprintf(shape, sizeof shape, "%.600s %" PRId64 " %" PRId64, slash ? slash + 1 : table->file,
             table->n, table->d);
    run->content = hash_text(hash_text(run->content, text), shape);
    run->content = hash_text(run->content, plan->study->data[run->data].name);
    run->content = hash_text(run->content, plan->study->method[run->method].name);
    slash = strrchr(run->map, '/');
    if (run->map[0]) run->content = hash_text(run->content, slash ? slash + 1 : run->map);
    const int64_t landmarks = plan->study->method[run->method].landmarks;
    snprintf(shape, sizeof shape, "%" PRId64 " landmarks", landmarks);
    if (landmarks > 0) run->content = hash_text(run->content, shape);
    run->id = ikt_study_id(run->content, ikt_build_tag());
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

/* COLLECTIVE. The map that a method gives for the data set of the run, looked for as data are; ""
 * where it gives none, or one of a data set that is optional is not there. */
static ikt_status find_map(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                           ikt_study_run *run) {
    const ikt_study_method *method = &study->method[run->method];
    const ikt_study_data *data = &study->data[run->data];
    char file[IKT_STRING_MAX];
    const char *given = NULL;
    for (int64_t g = 0; g < method->given.count && !given; g++)
        given = ikt_study_given_map(data, method->given.text[g]);
    if (!given) return IKT_OK;
    find_file(ctx, study, places, given, run->map);
    const char *colon = strrchr(given, ':');
    if (run->map[0] || !colon) colon = "";
    if (colon[0]) {
        snprintf(file, sizeof file, "%.*s", (int)(colon - given), given);
        find_file(ctx, study, places, file, run->map);
        if (run->map[0])
            snprintf(run->map + strlen(run->map), sizeof run->map - strlen(run->map), "%s", colon);
    }
    if (run->map[0]) return IKT_OK;
    if (!data->is_optional)
        return ikt_fail(
            ctx, IKT_ERR_FILE,
            "%s: the map of '%s' by the method '%s' (%s) is neither beside the study nor "
            "in a folder given by --data",
            study->path, data->name, method->name, given);
    ikt_log(ctx, IKT_LOG_WARN,
            "the map of '%s' by the method '%s' (%s) is left out: it is neither beside the study "
            "nor in a folder given by --data",
            data->name, method->name, given);
    return IKT_OK;
}

/* What a run is made of, as long as the next runs are made of the same. */
typedef struct {
    ikt_settings of; /* the settings whose files were looked at */
    ikt_shape shape;
    bool is_there;
} looked;

/* Whether settings name the same files, read in the same way. */
static bool is_of_same(const ikt_settings *a, const ikt_settings *b) {
    return memcmp(&a->input, &b->input, sizeof a->input) == 0 &&
           strcmp(a->isolation.model_from, b->isolation.model_from) == 0 &&
           strcmp(a->isolation.model_dataset, b->isolation.model_dataset) == 0 &&
           strcmp(a->layout.init_file, b->layout.init_file) == 0 &&
           a->layout.init == b->layout.init && a->layout.objective == b->layout.objective;
}

/* COLLECTIVE. Whether the run can be made: as it would be refused later, before any begins. */
static ikt_status check_run(ikt_context *ctx, const ikt_study_plan *plan, const ikt_study_run *run,
                            looked *last) {
    const int64_t landmarks = plan->study->method[run->method].landmarks;
    ikt_settings settings;
    ikt_recipe *recipe = NULL;
    ikt_source *source = NULL;
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    if (!last->is_there || !is_of_same(&settings, &last->of)) {
        ikt_shape_destroy(&last->shape);
        last->is_there = false;
        IKT_TRY(ikt_shape_look(ctx, &settings, NULL, false, &last->shape, &source));
        ikt_source_close(&source);
        last->of = settings;
        last->is_there = true;
    }
    ikt_shape shape = last->shape;
    if (landmarks > 0) shape.data.n = landmarks;
    IKT_TRY(ikt_alloc_all(ctx, &recipe, 1, sizeof *recipe, "recipe"));
    const ikt_status st =
        ikt_recipe_make(ctx, &settings, &shape, ikt_size(ctx), ikt_threads(ctx), recipe);
    ikt_free(&recipe);
    return st;
}

/* COLLECTIVE. Refuses a method of which no run can be made, before the first run begins. Single
 * values that do not suit a data set are told of, and their runs count as failed. */
static ikt_status check_runs(ikt_context *ctx, const ikt_study_plan *plan) {
    looked last = {.is_there = false};
    char name[IKT_STRING_MAX], reason[IKT_STRING_MAX];
    ikt_status st = IKT_OK;
    for (int64_t m = 0; m < plan->study->n_methods && st == IKT_OK; m++) {
        ikt_status refused = IKT_OK; /* the first run that is */
        int64_t runs = 0, possible = 0;
        for (int64_t r = 0; r < plan->n_runs && st == IKT_OK; r++) {
            const ikt_study_run *run = &plan->run[r];
            if (run->method != m) continue;
            runs++;
            const ikt_status one = run->map[0] ? IKT_OK : check_run(ctx, plan, run, &last);
            possible += one == IKT_OK;
            if (one != IKT_OK && one != IKT_ERR_USAGE && one != IKT_ERR_DATA) st = one;
            if (one == IKT_OK || st != IKT_OK) continue;
            if (refused == IKT_OK) {
                ikt_study_run_name(plan, run, name, sizeof name);
                snprintf(reason, sizeof reason, "%.1000s", ikt_message(ctx));
                refused = one;
            }
            ikt_clear(ctx);
        }
        if (st == IKT_OK && runs > 0 && possible == 0)
            st = ikt_fail(ctx, refused, "%s: %s: %s", plan->study->path, name, reason);
        else if (st == IKT_OK && possible < runs)
            ikt_log(ctx, IKT_LOG_WARN,
                    "%" PRId64 " of %" PRId64 " runs of the method '%s' cannot be made, such as "
                    "%s: %s",
                    runs - possible, runs, plan->study->method[m].name, name, reason);
    }
    ikt_shape_destroy(&last.shape);
    return st;
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
    reading r = {.files = {.ctx = ctx}};
    *out =
        (ikt_study_plan){.study = study, .output = places->output, .any_build = places->any_build};
    ikt_status st =
        ikt_alloc(ctx, &out->table, study->n_data * study->n_seeds, sizeof *out->table, "study");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = find_tables(ctx, study, places, out->table);
    if (st == IKT_OK) st = ikt_checksums_open(ctx, places->output, &r.checksums);
    if (st == IKT_OK) {
        st = list_runs(ctx, places, &r, out);
        if (st == IKT_OK)
            st = ikt_alloc(ctx, &out->by_content, out->n_runs, sizeof *out->by_content, "study");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) st = check_files(out, &r);
    ikt_files_destroy(&r.files);
    ikt_checksums_close(&r.checksums);
    if (st == IKT_OK) {
        for (int64_t i = 0; i < out->n_runs; i++)
            out->by_content[i] = &out->run[i];
        qsort(out->by_content, (size_t)out->n_runs, sizeof *out->by_content, by_content);
    }
    if (st != IKT_OK) ikt_study_plan_destroy(out);
    return st;
}

void ikt_study_plan_destroy(ikt_study_plan *plan) {
    ikt_free(&plan->table);
    ikt_free(&plan->run);
    ikt_free(&plan->by_content);
    plan->n_runs = 0;
}
