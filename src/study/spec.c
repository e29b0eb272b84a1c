/* A study from its file. Read ikt_study_read first. */
#include "study/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"
#include "evaluate/measure.h"
#include "settings/settings.h"
#include "study/spec_parts.h"

static const char *const study_keys[] = {"title",       "about", "settings", "data",
                                         "methods",     "seeds", "measures", "curves_over",
                                         "rank_curves", NULL};

static ikt_status read_measures(ikt_spec_reader *r, int node) {
    ikt_study *study = r->study;
    const int count = ikt_yaml_count(r->yaml, node);
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_LIST || count == 0)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "`measures` is a list of names of measures");
    if (count > IKT_STUDY_MEASURES)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a study has at most %d measures",
                             (int)IKT_STUDY_MEASURES);
    IKT_TRY(ikt_alloc(r->ctx, &study->measure, count, sizeof *study->measure, "study"));
    study->n_measures = count;
    for (int m = 0; m < count; m++) {
        const int item = ikt_yaml_item(r->yaml, node, m);

        IKT_TRY(ikt_spec_text(r, item, "a measure", study->measure[m], sizeof *study->measure));
        if (!ikt_measure_find(study->measure[m]))
            return ikt_yaml_fail(r->ctx, r->yaml, item,
                                 "there is no measure '%s'; did you mean '%s'?", study->measure[m],
                                 ikt_measure_nearest(study->measure[m]));
    }
    return IKT_OK;
}

static ikt_status read_seeds(ikt_spec_reader *r, int node) {
    ikt_study *study = r->study;
    ikt_study_values values = {NULL, 0};
    if (node) IKT_TRY(ikt_study_values_read(r->ctx, r->yaml, node, &values));
    study->n_seeds = node ? values.count : 1;
    ikt_status st = ikt_alloc(r->ctx, &study->seed, study->n_seeds, sizeof *study->seed, "study");
    if (st == IKT_OK && !node) study->seed[0] = 1;
    for (int64_t i = 0; i < values.count && st == IKT_OK; i++) {
        const ikt_study_value *v = &values.value[i];
        study->seed[i] = (int64_t)v->number;
        if (!v->is_number || v->is_share || v->number < 0 || v->number > 9e15 ||
            (double)study->seed[i] != v->number)
            st = ikt_yaml_fail(r->ctx, r->yaml, node, "'%s' is no seed: seeds are integers from 0",
                               v->text);
    }
    ikt_study_values_destroy(&values);
    return st;
}

static ikt_status read_report(ikt_spec_reader *r, int root) {
    char text[IKT_STUDY_NAME];
    const int over = ikt_yaml_find(r->yaml, root, "curves_over"),
              ranks = ikt_yaml_find(r->yaml, root, "rank_curves");
    IKT_TRY(ikt_spec_text(r, over, "`curves_over`", text, sizeof text));
    if (text[0] && strcmp(text, "rows") != 0 && strcmp(text, "values") != 0)
        return ikt_yaml_fail(r->ctx, r->yaml, over, "`curves_over` is `values` or `rows`");
    r->study->over_rows = strcmp(text, "rows") == 0;
    IKT_TRY(ikt_spec_text(r, ranks, "`rank_curves`", text, sizeof text));
    if (text[0] && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return ikt_yaml_fail(r->ctx, r->yaml, ranks, "`rank_curves` is yes or no");
    r->study->has_rank_curves = strcmp(text, "yes") == 0;
    return IKT_OK;
}

/* Methods and measures first: data sets refer to them. */
static ikt_status read_all(ikt_spec_reader *r) {
    const int root = ikt_yaml_root(r->yaml);
    ikt_study *study = r->study;
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, root, "a study", study_keys));
    IKT_TRY(ikt_spec_text(r, ikt_yaml_find(r->yaml, root, "title"), "`title`", study->title,
                          sizeof study->title));
    IKT_TRY(ikt_spec_text(r, ikt_yaml_find(r->yaml, root, "about"), "`about`", study->about,
                          sizeof study->about));
    IKT_TRY(ikt_spec_settings(r, ikt_yaml_find(r->yaml, root, "settings"), &study->settings));
    IKT_TRY(ikt_spec_methods(r, ikt_yaml_find(r->yaml, root, "methods")));
    IKT_TRY(read_measures(r, ikt_yaml_find(r->yaml, root, "measures")));
    IKT_TRY(read_seeds(r, ikt_yaml_find(r->yaml, root, "seeds")));
    IKT_TRY(read_report(r, root));
    return ikt_spec_data(r, ikt_yaml_find(r->yaml, root, "data"));
}

/* "table5" of "config/studies/table5.yaml". */
static void name_from_path(const char *path, char name[IKT_STUDY_NAME]) {
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
    snprintf(name, IKT_STUDY_NAME, "%.*s", (int)strcspn(begin, "."), begin);
    if (!name[0]) snprintf(name, IKT_STUDY_NAME, "study");
}

ikt_status ikt_study_read(ikt_context *ctx, const char *path, ikt_study *out) {
    ikt_yaml *yaml = NULL;
    memset(out, 0, sizeof *out);
    IKT_TRY(ikt_yaml_load(ctx, path, &yaml));
    ikt_spec_reader r = {ctx, yaml, out};
    snprintf(out->path, sizeof out->path, "%s", path);
    name_from_path(path, out->name);
    ikt_status st = ikt_agree(ctx, read_all(&r));
    if (st == IKT_OK && !out->title[0]) snprintf(out->title, sizeof out->title, "%s", out->name);
    ikt_yaml_destroy(&yaml);
    if (st != IKT_OK) ikt_study_destroy(out);
    return st;
}

int64_t ikt_study_find_data(const ikt_study *study, const char *name) {
    for (int64_t i = 0; i < study->n_data; i++)
        if (strcmp(study->data[i].name, name) == 0) return i;
    return -1;
}

static void method_destroy(ikt_study_method *method) {
    ikt_free(&method->settings.text);
    for (int a = 0; a < IKT_STUDY_AXES; a++)
        ikt_study_values_destroy(&method->axis[a].values);
}

void ikt_study_destroy(ikt_study *study) {
    for (int64_t m = 0; m < study->n_methods; m++)
        method_destroy(&study->method[m]);
    for (int64_t i = 0; i < study->n_data; i++) {
        ikt_free(&study->data[i].options.text);
        ikt_free(&study->data[i].settings.text);
        ikt_free(&study->data[i].published);
    }
    ikt_free(&study->settings.text);
    ikt_free(&study->method);
    ikt_free(&study->data);
    ikt_free(&study->seed);
    ikt_free(&study->measure);
}

/* --- settings --------------------------------------------------------------------------------- */

/* Files, seeds and threads are what a study gives to its runs. */
static bool is_reserved(const char *section, const char *key) {
    return strcmp(section, "output") == 0 ||
           (strcmp(section, "input") == 0 && strcmp(key, "file") == 0) ||
           (strcmp(section, "run") == 0 && strcmp(key, "seed") == 0);
}

/* Part and key of a name, or a message. */
static const ikt_key *find(ikt_spec_reader *r, int node, const char *name, ikt_settings *settings,
                           ikt_config_part *part) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char where[IKT_STRING_MAX], section[IKT_STUDY_NAME] = "";
    const char *dot = strchr(name, '.');
    ikt_settings_parts(settings, parts);
    ikt_yaml_where(r->yaml, node, where, sizeof where);
    if (!dot || dot - name >= IKT_STUDY_NAME) {
        ikt_yaml_fail(r->ctx, r->yaml, node, "'%.80s' is no setting of the form section.key", name);
        return NULL;
    }
    memcpy(section, name, (size_t)(dot - name));
    const ikt_config_part *found =
        ikt_config_find_section(r->ctx, parts, IKT_SETTINGS_PARTS, where, section);
    if (!found) return NULL;
    if (is_reserved(section, dot + 1)) {
        ikt_yaml_fail(r->ctx, r->yaml, node, "%s is not set here: a study gives it to its runs",
                      name);
        return NULL;
    }
    *part = *found;
    return ikt_config_find_key(r->ctx, parts, IKT_SETTINGS_PARTS, found, where, dot + 1);
}

const ikt_key *ikt_spec_key(ikt_spec_reader *r, int node, const char *name) {
    ikt_settings settings;
    ikt_config_part part;
    return find(r, node, name, &settings, &part);
}

ikt_status ikt_spec_assign(ikt_spec_reader *r, int node, const char *name, const char *value,
                           ikt_assignments *out) {
    const size_t length = strlen(name);
    for (int64_t i = 0; i < out->count; i++)
        if (strncmp(out->text[i], name, length) == 0 && out->text[i][length] == '=')
            return ikt_yaml_fail(r->ctx, r->yaml, node, "%s is given a second time", name);
    IKT_TRY(ikt_resize(r->ctx, &out->text, out->count + 1, sizeof *out->text, "study"));
    snprintf(out->text[out->count++], sizeof *out->text, "%.100s=%.900s", name, value);
    return IKT_OK;
}

static ikt_status read_setting(ikt_spec_reader *r, int node, const char *name,
                               ikt_assignments *out) {
    ikt_settings settings;
    ikt_config_part part = {NULL, NULL};
    char what[IKT_STRING_MAX];
    const ikt_key *key = find(r, node, name, &settings, &part);
    if (!key) return IKT_ERR_USAGE;
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_SCALAR)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "%s takes a single value here; lists of values stand under `vary`",
                             name);
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), "%s", name);
    IKT_TRY(ikt_value_parse(r->ctx, key, what, ikt_yaml_text(r->yaml, node),
                            ikt_config_member(&part, key)));
    return ikt_spec_assign(r, node, name, ikt_yaml_text(r->yaml, node), out);
}

static ikt_status read_section(ikt_spec_reader *r, const char *section, int node,
                               ikt_assignments *out) {
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        char name[IKT_STRING_MAX];
        snprintf(name, sizeof name, "%.60s.%.60s", section, ikt_yaml_key(r->yaml, node, i));
        IKT_TRY(read_setting(r, ikt_yaml_value(r->yaml, node, i), name, out));
    }
    return IKT_OK;
}

ikt_status ikt_spec_settings(ikt_spec_reader *r, int node, ikt_assignments *out) {
    if (node && ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "settings are a mapping, e.g. {affinity.kind: gaussian}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        const char *name = ikt_yaml_key(r->yaml, node, i);
        const int value = ikt_yaml_value(r->yaml, node, i);
        const bool is_section = ikt_yaml_kind_of(r->yaml, value) == IKT_YAML_MAPPING;
        IKT_TRY(is_section ? read_section(r, name, value, out) : read_setting(r, value, name, out));
    }
    return IKT_OK;
}

ikt_status ikt_spec_text(ikt_spec_reader *r, int node, const char *what, char *text, size_t size) {
    text[0] = '\0';
    if (!node) return IKT_OK;
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_SCALAR)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "%s is a single text", what);
    if (strlen(ikt_yaml_text(r->yaml, node)) >= size)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "%s has at most %zu characters", what,
                             size - 1);
    snprintf(text, size, "%s", ikt_yaml_text(r->yaml, node));
    return IKT_OK;
}

/* --- methods ---------------------------------------------------------------------------------- */

static ikt_status read_axis(ikt_spec_reader *r, const char *name, int node,
                            ikt_study_method *method) {
    if (method->axes == IKT_STUDY_AXES)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a method varies at most %d settings",
                             (int)IKT_STUDY_AXES);
    ikt_study_axis *axis = &method->axis[method->axes];
    axis->key = ikt_spec_key(r, node, name);
    if (!axis->key) return IKT_ERR_USAGE;
    snprintf(axis->name, sizeof axis->name, "%s", name);
    IKT_TRY(ikt_study_values_read(r->ctx, r->yaml, node, &axis->values));
    method->axes++;
    const bool is_number = axis->key->type == IKT_KEY_INT || axis->key->type == IKT_KEY_REAL;
    for (int64_t v = 0; v < axis->values.count; v++)
        if (axis->values.value[v].is_share && !is_number)
            return ikt_yaml_fail(r->ctx, r->yaml, node,
                                 "%s is no number and has no values in shares of n", name);
    return IKT_OK;
}

static ikt_status read_method(ikt_spec_reader *r, int node, ikt_study_method *method) {
    static const char *const method_keys[] = {"name", "settings", "vary", NULL};
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, node, "a method", method_keys));
    const int name = ikt_yaml_find(r->yaml, node, "name"),
              vary = ikt_yaml_find(r->yaml, node, "vary");
    if (!name) return ikt_yaml_fail(r->ctx, r->yaml, node, "a method needs a name");
    IKT_TRY(ikt_spec_text(r, name, "the name of a method", method->name, sizeof method->name));
    if (!method->name[0]) return ikt_yaml_fail(r->ctx, r->yaml, name, "a method needs a name");
    IKT_TRY(ikt_spec_settings(r, ikt_yaml_find(r->yaml, node, "settings"), &method->settings));
    if (vary && ikt_yaml_kind_of(r->yaml, vary) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(r->ctx, r->yaml, vary,
                             "`vary` is a mapping of settings to lists, e.g. {isolation.psi: [16, "
                             "64]}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, vary); i++)
        IKT_TRY(
            read_axis(r, ikt_yaml_key(r->yaml, vary, i), ikt_yaml_value(r->yaml, vary, i), method));
    return IKT_OK;
}

ikt_status ikt_spec_methods(ikt_spec_reader *r, int node) {
    ikt_study *study = r->study;
    const int count = ikt_yaml_count(r->yaml, node);
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_LIST || count == 0)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "`methods` is a list with at least one method in it");
    IKT_TRY(ikt_alloc(r->ctx, &study->method, count, sizeof *study->method, "study"));
    study->n_methods = count;
    for (int m = 0; m < count; m++) {
        const int item = ikt_yaml_item(r->yaml, node, m);
        IKT_TRY(read_method(r, item, &study->method[m]));
        for (int before = 0; before < m; before++)
            if (strcmp(study->method[before].name, study->method[m].name) == 0)
                return ikt_yaml_fail(r->ctx, r->yaml, item, "there are two methods called '%s'",
                                     study->method[m].name);
    }
    return IKT_OK;
}
