/* A study from its file. Read ikt_study_read at the end first. */
#include "study/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "config/config.h"
#include "config/value.h"
#include "data/generate.h"
#include "evaluate/measure.h"
#include "settings/settings.h"

/* What the readers of a study's parts share. */
typedef struct {
    ikt_context *ctx;
    const ikt_yaml *yaml;
    ikt_study *study;
} reader;

/* --- texts, values and lists ------------------------------------------------------------------ */

/* A scalar of at most `size` - 1 bytes; "" and IKT_OK where there is no node. */
static ikt_status read_text(reader *r, int node, const char *what, char *text, size_t size) {
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

/* The name of a method or a data set, which is not empty. */
static ikt_status read_name(reader *r, int node, const char *of, char name[IKT_STUDY_NAME]) {
    const int at = ikt_yaml_find(r->yaml, node, "name");
    char what[IKT_STUDY_NAME];
    snprintf(what, sizeof what, "the name of %s", of);
    IKT_TRY(read_text(r, at, what, name, IKT_STUDY_NAME));
    if (name[0]) return IKT_OK;
    return ikt_yaml_fail(r->ctx, r->yaml, at ? at : node, "%s needs a name", of);
}

/* Parses the scalar at the node, or `text` where it is not NULL, into *member of the type of the
 * key, which messages call `name`; leaves it where there is no node. */
static ikt_status read_value(reader *r, int node, const ikt_key *key, const char *name,
                             const char *text, void *member) {
    char what[IKT_STRING_MAX];
    if (!node) return IKT_OK;
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    ikt_join(what, sizeof what, "", "%s", name);
    return ikt_value_parse(r->ctx, key, what, text ? text : ikt_yaml_text(r->yaml, node), member);
}

/* The number of entries of a list, which is not empty, or 0 with a message. */
static int count_list(reader *r, int node, const char *expected) {
    const int count =
        ikt_yaml_kind_of(r->yaml, node) == IKT_YAML_LIST ? ikt_yaml_count(r->yaml, node) : 0;
    if (count == 0) ikt_yaml_fail(r->ctx, r->yaml, node, "%s", expected);
    return count;
}

/* --- settings --------------------------------------------------------------------------------- */

/* The key of "section.key" and the part of the settings that it is in; NULL with a message where
 * there is none, or where a study sets it itself. */
static const ikt_key *find_key(reader *r, int node, const char *name, ikt_settings *settings,
                               ikt_config_part *part) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    const ikt_config_part *found;
    char where[IKT_STRING_MAX];
    const char *dot = strchr(name, '.');
    ikt_settings_parts(settings, parts);
    ikt_yaml_where(r->yaml, node, where, sizeof where);
    if (!dot || dot - name >= IKT_STUDY_NAME) {
        ikt_yaml_fail(r->ctx, r->yaml, node, "'%.80s' is no setting of the form section.key", name);
        return NULL;
    }
    if (strncmp(name, "output.", strlen("output.")) == 0 || strcmp(name, "input.file") == 0 ||
        strcmp(name, "run.seed") == 0) {
        ikt_yaml_fail(r->ctx, r->yaml, node, "%s is not set here: a study gives it to its runs",
                      name);
        return NULL;
    }
    const ikt_key *key = ikt_config_find(r->ctx, parts, IKT_SETTINGS_PARTS, where, name, &found);
    if (found) *part = *found;
    return key;
}

/* Appends "name=value"; a name that is there already is an error at the node. */
static ikt_status assign(reader *r, int node, const char *name, const char *value,
                         ikt_assignments *out) {
    const size_t length = strlen(name);
    for (int64_t i = 0; i < out->count; i++)
        if (strncmp(out->text[i], name, length) == 0 && out->text[i][length] == '=')
            return ikt_yaml_fail(r->ctx, r->yaml, node, "%s is given a second time", name);
    IKT_TRY(ikt_resize(r->ctx, &out->text, out->count + 1, sizeof *out->text, "study"));
    snprintf(out->text[out->count++], sizeof *out->text, "%.100s=%.900s", name, value);
    return IKT_OK;
}

static ikt_status read_setting(reader *r, int node, const char *name, ikt_assignments *out) {
    ikt_settings settings;
    ikt_config_part part = {NULL, NULL};
    const ikt_key *key = find_key(r, node, name, &settings, &part);
    if (!key) return IKT_ERR_USAGE;
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_SCALAR)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "%s takes a single value here; lists of values stand under `vary`",
                             name);
    IKT_TRY(read_value(r, node, key, name, NULL, ikt_config_member(&part, key)));
    return assign(r, node, name, ikt_yaml_text(r->yaml, node), out);
}

/* A mapping of settings, `affinity.kind: gaussian` or `affinity: {kind: gaussian}`, appended to
 * *out. A node that is not there is no setting. */
static ikt_status read_settings(reader *r, int node, ikt_assignments *out) {
    if (node && ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "settings are a mapping, e.g. {affinity.kind: gaussian}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        const char *section = ikt_yaml_key(r->yaml, node, i);
        const int value = ikt_yaml_value(r->yaml, node, i);
        if (ikt_yaml_kind_of(r->yaml, value) != IKT_YAML_MAPPING) {
            IKT_TRY(read_setting(r, value, section, out));
            continue;
        }
        for (int k = 0; k < ikt_yaml_count(r->yaml, value); k++) {
            char name[IKT_STRING_MAX];
            snprintf(name, sizeof name, "%.60s.%.60s", section, ikt_yaml_key(r->yaml, value, k));
            IKT_TRY(read_setting(r, ikt_yaml_value(r->yaml, value, k), name, out));
        }
    }
    return IKT_OK;
}

/* --- methods ---------------------------------------------------------------------------------- */

static ikt_status read_axis(reader *r, const char *name, int node, ikt_study_method *method) {
    if (method->axes == IKT_STUDY_AXES)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a method varies at most %d settings",
                             (int)IKT_STUDY_AXES);
    ikt_study_axis *axis = &method->axis[method->axes];
    ikt_settings settings;
    ikt_config_part part;
    axis->key = find_key(r, node, name, &settings, &part);
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

/* Maps that other programs have made, one for each data set that is named. */
static ikt_status read_given(reader *r, int node, int vary, ikt_study_method *method) {
    if (!node) return IKT_OK;
    if (vary)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "a method has either `given` maps, which are as they are, or `vary`");
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_MAPPING || ikt_yaml_count(r->yaml, node) == 0)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "`given` names a map for each data set, e.g. {digits: umap.npy, "
                             "cells: 'cells.h5ad:obsm/X_umap'}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        const int value = ikt_yaml_value(r->yaml, node, i);
        char map[IKT_STRING_MAX];
        IKT_TRY(read_text(r, value, "a map", map, sizeof map));
        if (!map[0]) return ikt_yaml_fail(r->ctx, r->yaml, value, "the name of the map is empty");
        IKT_TRY(assign(r, value, ikt_yaml_key(r->yaml, node, i), map, &method->given));
    }
    return IKT_OK;
}

static ikt_status read_method(reader *r, int node, ikt_study_method *method) {
    static const char *const method_keys[] = {"name",  "settings",  "vary",
                                              "given", "landmarks", NULL};
    static const ikt_key count = {.name = "landmarks", .type = IKT_KEY_INT, .low = 1, .high = 1e9};
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, node, "a method", method_keys));
    const int vary = ikt_yaml_find(r->yaml, node, "vary");
    IKT_TRY(read_name(r, node, "a method", method->name));
    IKT_TRY(read_settings(r, ikt_yaml_find(r->yaml, node, "settings"), &method->settings));
    const int landmarks = ikt_yaml_find(r->yaml, node, "landmarks");
    IKT_TRY(read_given(r, ikt_yaml_find(r->yaml, node, "given"), vary, method));
    IKT_TRY(read_value(r, landmarks, &count, "landmarks", NULL, &method->landmarks));
    if (landmarks && method->given.count > 0)
        return ikt_yaml_fail(
            r->ctx, r->yaml, landmarks,
            "a method has either `given` maps, which are as they are, or `landmarks`");
    if (vary && ikt_yaml_kind_of(r->yaml, vary) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(
            r->ctx, r->yaml, vary,
            "`vary` is a mapping of settings to lists, e.g. {isolation.psi: [16, 64]}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, vary); i++)
        IKT_TRY(
            read_axis(r, ikt_yaml_key(r->yaml, vary, i), ikt_yaml_value(r->yaml, vary, i), method));
    return IKT_OK;
}

static ikt_status read_methods(reader *r, int node) {
    ikt_study *study = r->study;
    const int count = count_list(r, node, "`methods` is a list with at least one method in it");
    if (count == 0) return IKT_ERR_USAGE;
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

/* --- data sets: files, or sets that are generated --------------------------------------------- */

static ikt_status check_generator(reader *r, int node, const char *name) {
    const ikt_generator *generator;
    ikt_nearest nearest = ikt_nearest_begin(name);
    for (int i = 0; (generator = ikt_generator_at(i)) != NULL; i++) {
        if (strcmp(generator->name, name) == 0) return IKT_OK;
        ikt_nearest_offer(&nearest, generator->name);
    }
    return ikt_yaml_fail(r->ctx, r->yaml, node, "there is no set '%.60s' to generate%s", name,
                         ikt_nearest_say(&nearest));
}

/* One option of the generator; a list is left to read_entry. */
static ikt_status read_option(reader *r, const char *name, int node, ikt_study_data *data) {
    ikt_generate_settings scratch;
    const ikt_key *key = NULL;
    for (size_t k = 0; k < ikt_generate_section.n_keys && !key; k++)
        if (strcmp(ikt_generate_section.keys[k].name, name) == 0)
            key = &ikt_generate_section.keys[k];
    if (!key)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "generated sets have no option '%.60s'", name);
    if (ikt_yaml_kind_of(r->yaml, node) == IKT_YAML_LIST) return IKT_OK;
    const char *text = ikt_yaml_text(r->yaml, node);
    IKT_TRY(read_value(r, node, key, name, text, (char *)&scratch + key->offset));
    return assign(r, node, name, text, &data->options);
}

/* File or generator: one of them. */
static ikt_status read_origin(reader *r, int node, ikt_study_data *data) {
    const int file = ikt_yaml_find(r->yaml, node, "file"),
              generate = ikt_yaml_find(r->yaml, node, "generate"),
              options = ikt_yaml_find(r->yaml, node, "options");
    if ((file != 0) == (generate != 0))
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a data set has either `file` or `generate`");
    IKT_TRY(read_text(r, file, "`file`", data->file, sizeof data->file));
    if (file && !data->file[0])
        return ikt_yaml_fail(r->ctx, r->yaml, file, "`file` is empty: name the file of the data");
    IKT_TRY(read_text(r, generate, "`generate`", data->generator, sizeof data->generator));
    if (generate) IKT_TRY(check_generator(r, generate, data->generator));
    if (options && !generate)
        return ikt_yaml_fail(r->ctx, r->yaml, options, "`options` belong to a generated set");
    if (options && ikt_yaml_kind_of(r->yaml, options) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(r->ctx, r->yaml, options,
                             "`options` are a mapping, e.g. {points: 1000}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, options); i++)
        IKT_TRY(read_option(r, ikt_yaml_key(r->yaml, options, i),
                            ikt_yaml_value(r->yaml, options, i), data));
    return IKT_OK;
}

/* Numbers of the literature: for each method a list in the order of `measures`; `-` is none. */
static ikt_status read_published(reader *r, int node, ikt_study_data *data) {
    const ikt_study *study = r->study;
    const int64_t count = study->n_methods * study->n_measures;
    if (!node) return IKT_OK;
    IKT_TRY(ikt_alloc(r->ctx, &data->published, count, sizeof *data->published, "study"));
    for (int64_t i = 0; i < count; i++)
        data->published[i] = NAN;
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        const int list = ikt_yaml_value(r->yaml, node, i);
        const char *name = ikt_yaml_key(r->yaml, node, i);
        int64_t m = 0;
        while (m < study->n_methods && strcmp(study->method[m].name, name) != 0)
            m++;
        if (m == study->n_methods)
            return ikt_yaml_fail(r->ctx, r->yaml, list, "there is no method '%.60s'", name);
        if (ikt_yaml_count(r->yaml, list) != study->n_measures)
            return ikt_yaml_fail(r->ctx, r->yaml, list,
                                 "published values are a list of %lld, in the order of `measures`",
                                 (long long)study->n_measures);
        for (int64_t j = 0; j < study->n_measures; j++) {
            const char *text = ikt_yaml_text(r->yaml, ikt_yaml_item(r->yaml, list, (int)j));
            char *end;
            const double value = strtod(text, &end);
            if (end != text && *end == '\0')
                data->published[m * study->n_measures + j] = value;
            else if (strcmp(text, "-") != 0)
                return ikt_yaml_fail(r->ctx, r->yaml, list, "'%.40s' is neither a number nor -",
                                     text);
        }
    }
    return IKT_OK;
}

/* All of a data set. Of the study's seeds it takes all, or fewer where runs are long. */
static ikt_status read_data(reader *r, int node, ikt_study_data *data) {
    static const char *const keys[] = {"name",     "file",      "generate",  "options",
                                       "seed",     "seeds",     "embed",     "optional",
                                       "settings", "published", "reference", NULL};
    static const ikt_key key_of_seed = {
        .name = "seed", .type = IKT_KEY_INT, .high = 9e15, .allow_auto = 1};
    static const ikt_key yes_or_no = {.name = "", .type = IKT_KEY_BOOL};
    const ikt_key key_of_seeds = {
        .name = "seeds", .type = IKT_KEY_INT, .low = 1, .high = (double)r->study->n_seeds};
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, node, "a data set", keys));
    const int seed = ikt_yaml_find(r->yaml, node, "seed"),
              seeds = ikt_yaml_find(r->yaml, node, "seeds"),
              optional = ikt_yaml_find(r->yaml, node, "optional"),
              embed = ikt_yaml_find(r->yaml, node, "embed"),
              reference = ikt_yaml_find(r->yaml, node, "reference");
    bool is_embedded = true;
    IKT_TRY(read_name(r, node, "a data set", data->name));
    IKT_TRY(read_origin(r, node, data));
    data->seed = 1;
    data->n_seeds = r->study->n_seeds;
    const bool is_each = seed && strcmp(ikt_yaml_text(r->yaml, seed), "each") == 0;
    IKT_TRY(read_value(r, seed, &key_of_seed, "seed", is_each ? "auto" : NULL, &data->seed));
    IKT_TRY(read_value(r, seeds, &key_of_seeds, "seeds", NULL, &data->n_seeds));
    IKT_TRY(read_value(r, optional, &yes_or_no, "optional", NULL, &data->is_optional));
    IKT_TRY(read_value(r, embed, &yes_or_no, "embed", NULL, &is_embedded));
    data->is_source = !is_embedded;
    IKT_TRY(read_text(r, reference, "`reference`", data->reference, sizeof data->reference));
    IKT_TRY(read_settings(r, ikt_yaml_find(r->yaml, node, "settings"), &data->settings));
    return read_published(r, ikt_yaml_find(r->yaml, node, "published"), data);
}

/* Capacity is doubled. The limit is there for aliases of YAML, by which a small file can ask for
 * any number of data sets. */
static ikt_status append(reader *r, int node, ikt_study_data **data) {
    ikt_study *study = r->study;
    const int64_t n = study->n_data;
    if (n == IKT_STUDY_DATA_MOST)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a study has at most %d data sets",
                             (int)IKT_STUDY_DATA_MOST);
    if ((n & (n - 1)) == 0)
        IKT_TRY(ikt_resize(r->ctx, &study->data, n ? 2 * n : 1, sizeof *study->data, "study"));
    *data = &study->data[study->n_data++];
    return read_data(r, node, *data);
}

/* The options of a generated set that are lists. */
enum { LISTS_MOST = 4 };
typedef struct {
    const char *name[LISTS_MOST];
    ikt_study_values values[LISTS_MOST];
    int count;
} option_lists;

static void option_lists_destroy(option_lists *lists) {
    for (int l = 0; l < lists->count; l++)
        ikt_study_values_destroy(&lists->values[l]);
}

static ikt_status find_lists(reader *r, int options, option_lists *lists) {
    for (int i = 0; i < ikt_yaml_count(r->yaml, options); i++) {
        const int value = ikt_yaml_value(r->yaml, options, i);
        if (ikt_yaml_kind_of(r->yaml, value) != IKT_YAML_LIST) continue;
        if (lists->count == LISTS_MOST)
            return ikt_yaml_fail(r->ctx, r->yaml, value,
                                 "at most %d options of a set are lists: name further sets for the "
                                 "values of '%.60s'",
                                 (int)LISTS_MOST, ikt_yaml_key(r->yaml, options, i));
        lists->name[lists->count] = ikt_yaml_key(r->yaml, options, i);
        IKT_TRY(ikt_study_values_read(r->ctx, r->yaml, value, &lists->values[lists->count++]));
    }
    return IKT_OK;
}

/* Gives a data set the values of combination `which`, of which the last list changes first; they
 * stand in its name. */
static ikt_status choose_values(reader *r, int node, const option_lists *lists, int64_t which,
                                ikt_study_data *data) {
    char said[IKT_STRING_MAX] = "";
    int64_t rest = 1;
    for (int l = 0; l < lists->count; l++)
        rest *= lists->values[l].count;
    for (int l = 0; l < lists->count; l++) {
        const ikt_study_values *values = &lists->values[l];
        rest /= values->count;
        const char *text = values->value[which / rest % values->count].text;
        ikt_join(said, sizeof said, ", ", "%s %s", lists->name[l], text);
        IKT_TRY(assign(r, node, lists->name[l], text, &data->options));
    }
    const size_t length = strlen(data->name), more = strlen(said) + strlen(" ()");
    if (length + more >= sizeof data->name)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "with the values of its lists, '%.100s...', the name of a set is "
                             "longer than %d characters: give it a shorter name, or name sets for "
                             "some of the values",
                             said, (int)sizeof data->name - 1);
    snprintf(data->name + length, more + 1, " (%s)", said);
    return IKT_OK;
}

/* An entry of `data`. Options that are lists stand for a data set for each combination of their
 * values. */
static ikt_status read_entry(reader *r, int node) {
    option_lists lists IKT_AT_END(option_lists_destroy) = {.count = 0};
    ikt_study_data *data = NULL;
    int64_t sets = 1;
    IKT_TRY(find_lists(r, ikt_yaml_find(r->yaml, node, "options"), &lists));
    for (int l = 0; l < lists.count; l++)
        sets *= lists.values[l].count;
    for (int64_t s = 0; s < sets; s++) {
        IKT_TRY(append(r, node, &data));
        if (lists.count > 0) IKT_TRY(choose_values(r, node, &lists, s, data));
    }
    return IKT_OK;
}

static ikt_status read_all_data(reader *r, int node) {
    ikt_study *study = r->study;
    const int count = count_list(r, node, "`data` is a list with at least one data set in it");
    if (count == 0) return IKT_ERR_USAGE;
    for (int i = 0; i < count; i++)
        IKT_TRY(read_entry(r, ikt_yaml_item(r->yaml, node, i)));
    for (int64_t i = 0; i < study->n_data; i++) {
        const ikt_study_data *data = &study->data[i];
        if (ikt_study_find_data(study, data->name) < i)
            return ikt_yaml_fail(r->ctx, r->yaml, node, "there are two data sets called '%s'",
                                 data->name);
        if (data->reference[0] && ikt_study_find_data(study, data->reference) < 0)
            return ikt_yaml_fail(r->ctx, r->yaml, node, "there is no data set '%s' (reference)",
                                 data->reference);
    }
    for (int64_t m = 0; m < study->n_methods; m++)
        for (int64_t g = 0; g < study->method[m].given.count; g++) {
            const char *text = study->method[m].given.text[g];
            int64_t i = 0;
            while (i < study->n_data && !ikt_study_given_map(&study->data[i], text))
                i++;
            if (i == study->n_data)
                return ikt_yaml_fail(r->ctx, r->yaml, node,
                                     "there is no data set '%.*s', of which the method '%s' has a "
                                     "given map",
                                     (int)strcspn(text, "="), text, study->method[m].name);
        }
    return IKT_OK;
}

/* --- the whole study -------------------------------------------------------------------------- */

static ikt_status read_measures(reader *r, int node) {
    ikt_study *study = r->study;
    const int count = count_list(r, node, "`measures` is a list of names of measures");
    if (count == 0) return IKT_ERR_USAGE;
    if (count > IKT_STUDY_MEASURES)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a study has at most %d measures",
                             (int)IKT_STUDY_MEASURES);
    IKT_TRY(ikt_alloc(r->ctx, &study->measure, count, sizeof *study->measure, "study"));
    study->n_measures = count;
    for (int m = 0; m < count; m++) {
        const int item = ikt_yaml_item(r->yaml, node, m);
        char said[sizeof *study->measure], hint[200];
        IKT_TRY(read_text(r, item, "a measure", said, sizeof said));
        ikt_measure_hint(said, hint, sizeof hint);
        if (!ikt_measure_named(said, study->measure[m], sizeof *study->measure))
            return ikt_yaml_fail(r->ctx, r->yaml, item, "there is no measure '%s'%s", said, hint);
    }
    return IKT_OK;
}

static ikt_status read_seeds(reader *r, int node) {
    ikt_study *study = r->study;
    ikt_study_values values IKT_AT_END(ikt_study_values_destroy) = {NULL, 0};
    if (node) IKT_TRY(ikt_study_values_read(r->ctx, r->yaml, node, &values));
    const int64_t count = node ? values.count : 1;
    IKT_TRY(ikt_alloc(r->ctx, &study->seed, count, sizeof *study->seed, "study"));
    study->n_seeds = count;
    study->seed[0] = 1;
    for (int64_t i = 0; i < values.count; i++) {
        const ikt_study_value *v = &values.value[i];
        const bool is_integer = v->is_number && !v->is_share && v->number == floor(v->number);
        if (!is_integer || v->number < 0 || v->number > 9e15)
            return ikt_yaml_fail(r->ctx, r->yaml, node,
                                 "'%s' is no seed: seeds are integers from 0", v->text);
        study->seed[i] = (int64_t)v->number;
    }
    return IKT_OK;
}

/* A word that is one of two; "" where there is no node. */
static ikt_status read_choice(reader *r, int root, const char *key, const char *one,
                              const char *other, const char *expected, bool *is_one) {
    const int node = ikt_yaml_find(r->yaml, root, key);
    char name[IKT_STUDY_NAME], text[IKT_STUDY_NAME];
    snprintf(name, sizeof name, "`%s`", key);
    IKT_TRY(read_text(r, node, name, text, sizeof text));
    *is_one = strcmp(text, one) == 0;
    if (text[0] && !*is_one && strcmp(text, other) != 0)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "%s", expected);
    return IKT_OK;
}

/* Methods and measures first: data sets refer to them. */
static ikt_status read_all(reader *r) {
    static const char *const keys[] = {"title", "about",    "settings",    "data",        "methods",
                                       "seeds", "measures", "curves_over", "rank_curves", NULL};
    const int root = ikt_yaml_root(r->yaml);
    ikt_study *study = r->study;
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, root, "a study", keys));
    IKT_TRY(read_text(r, ikt_yaml_find(r->yaml, root, "title"), "`title`", study->title,
                      sizeof study->title));
    IKT_TRY(read_text(r, ikt_yaml_find(r->yaml, root, "about"), "`about`", study->about,
                      sizeof study->about));
    IKT_TRY(read_settings(r, ikt_yaml_find(r->yaml, root, "settings"), &study->settings));
    IKT_TRY(read_methods(r, ikt_yaml_find(r->yaml, root, "methods")));
    IKT_TRY(read_measures(r, ikt_yaml_find(r->yaml, root, "measures")));
    IKT_TRY(read_seeds(r, ikt_yaml_find(r->yaml, root, "seeds")));
    IKT_TRY(read_choice(r, root, "curves_over", "rows", "values",
                        "`curves_over` is `values` or `rows`", &study->over_rows));
    IKT_TRY(read_choice(r, root, "rank_curves", "yes", "no", "`rank_curves` is yes or no",
                        &study->has_rank_curves));
    return read_all_data(r, ikt_yaml_find(r->yaml, root, "data"));
}

ikt_status ikt_study_read(ikt_context *ctx, const char *path, ikt_study *out) {
    ikt_yaml *yaml IKT_AT_END(ikt_yaml_destroy) = NULL;
    ikt_study study IKT_AT_END(ikt_study_destroy) = {.n_data = 0};
    memset(out, 0, sizeof *out);
    IKT_TRY(ikt_yaml_load(ctx, path, &yaml));
    reader r = {ctx, yaml, &study};
    snprintf(study.path, sizeof study.path, "%s", path);
    /* "table5" of "config/studies/table5.yaml" */
    const char *begin = ikt_study_base(path);
    snprintf(study.name, sizeof study.name, "%.*s", (int)strcspn(begin, "."), begin);
    if (!study.name[0]) snprintf(study.name, sizeof study.name, "study");
    IKT_TRY(ikt_agree(ctx, read_all(&r)));
    if (!study.title[0]) snprintf(study.title, sizeof study.title, "%s", study.name);
    return ikt_give(out, study);
}

const char *ikt_study_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *ikt_study_given_map(const ikt_study_data *data, const char *given) {
    const size_t length = strlen(data->name);
    return strncmp(given, data->name, length) == 0 && given[length] == '=' ? given + length + 1
                                                                           : NULL;
}

int64_t ikt_study_find_data(const ikt_study *study, const char *name) {
    for (int64_t i = 0; i < study->n_data; i++)
        if (strcmp(study->data[i].name, name) == 0) return i;
    return -1;
}

void ikt_study_destroy(ikt_study *study) {
    for (int64_t m = 0; m < study->n_methods; m++) {
        ikt_free(&study->method[m].settings.text);
        ikt_free(&study->method[m].given.text);
        for (int a = 0; a < IKT_STUDY_AXES; a++)
            ikt_study_values_destroy(&study->method[m].axis[a].values);
    }
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
