/* The data sets of a study: files, or sets that are generated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/value.h"
#include "data/generate.h"
#include "study/spec_parts.h"

static const char *const keys[] = {"name",     "file",      "generate",  "options",
                                   "seed",     "seeds",     "embed",     "optional",
                                   "settings", "published", "reference", NULL};

static const ikt_key *option_key(const char *name) {
    for (size_t k = 0; k < ikt_generate_section.n_keys; k++)
        if (strcmp(ikt_generate_section.keys[k].name, name) == 0)
            return &ikt_generate_section.keys[k];
    return NULL;
}

static ikt_status check_generator(ikt_spec_reader *r, int node, const char *name) {
    const ikt_generator *generator, *nearest = ikt_generator_at(0);
    for (int i = 0; (generator = ikt_generator_at(i)) != NULL; i++) {
        if (strcmp(generator->name, name) == 0) return IKT_OK;
        if (ikt_name_distance(generator->name, name) < ikt_name_distance(nearest->name, name))
            nearest = generator;
    }
    return ikt_yaml_fail(r->ctx, r->yaml, node,
                         "there is no set '%.60s' to generate; did you mean '%s'?", name,
                         nearest->name);
}

/* One option of the generator; a list is left to expand(). */
static ikt_status read_option(ikt_spec_reader *r, const char *name, int node,
                              ikt_study_data *data) {
    ikt_generate_settings scratch;
    char what[IKT_STRING_MAX];
    const ikt_key *key = option_key(name);
    if (!key)
        return ikt_yaml_fail(r->ctx, r->yaml, node, "generated sets have no option '%.60s'", name);
    if (ikt_yaml_kind_of(r->yaml, node) == IKT_YAML_LIST) return IKT_OK;
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), "%s", name);
    IKT_TRY(ikt_value_parse(r->ctx, key, what, ikt_yaml_text(r->yaml, node),
                            (char *)&scratch + key->offset));
    return ikt_spec_assign(r, node, name, ikt_yaml_text(r->yaml, node), &data->options);
}

static ikt_status read_seed(ikt_spec_reader *r, int node, ikt_study_data *data) {
    static const ikt_key key = {.name = "seed", .type = IKT_KEY_INT, .high = 9e15, .allow_auto = 1};
    data->seed = 1;
    if (!node) return IKT_OK;
    const char *text = ikt_yaml_text(r->yaml, node);
    char what[IKT_STRING_MAX];
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), "seed");
    return ikt_value_parse(r->ctx, &key, what, strcmp(text, "each") == 0 ? "auto" : text,
                           &data->seed);
}

/* File or generator: one of them. */
static ikt_status read_origin(ikt_spec_reader *r, int node, ikt_study_data *data) {
    const int file = ikt_yaml_find(r->yaml, node, "file"),
              generate = ikt_yaml_find(r->yaml, node, "generate"),
              options = ikt_yaml_find(r->yaml, node, "options");
    if ((file != 0) == (generate != 0))
        return ikt_yaml_fail(r->ctx, r->yaml, node, "a data set has either `file` or `generate`");
    IKT_TRY(ikt_spec_text(r, file, "`file`", data->file, sizeof data->file));
    if (file && !data->file[0])
        return ikt_yaml_fail(r->ctx, r->yaml, file, "`file` is empty: name the file of the data");
    IKT_TRY(ikt_spec_text(r, generate, "`generate`", data->generator, sizeof data->generator));
    if (generate) IKT_TRY(check_generator(r, generate, data->generator));
    if (options && !generate)
        return ikt_yaml_fail(r->ctx, r->yaml, options, "`options` belong to a generated set");
    if (options && ikt_yaml_kind_of(r->yaml, options) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(r->ctx, r->yaml, options,
                             "`options` are a mapping, e.g. {points: 1000}");
    for (int i = 0; i < ikt_yaml_count(r->yaml, options); i++)
        IKT_TRY(read_option(r, ikt_yaml_key(r->yaml, options, i),
                            ikt_yaml_value(r->yaml, options, i), data));
    return read_seed(r, ikt_yaml_find(r->yaml, node, "seed"), data);
}

static int64_t find_method(const ikt_study *study, const char *name) {
    for (int64_t m = 0; m < study->n_methods; m++)
        if (strcmp(study->method[m].name, name) == 0) return m;
    return -1;
}

/* Numbers of the literature: for each method a list in the order of `measures`; `-` is none. */
static ikt_status read_published(ikt_spec_reader *r, int node, ikt_study_data *data) {
    const ikt_study *study = r->study;
    const int64_t count = study->n_methods * study->n_measures;
    if (!node) return IKT_OK;
    IKT_TRY(ikt_alloc(r->ctx, &data->published, count, sizeof *data->published, "study"));
    for (int64_t i = 0; i < count; i++)
        data->published[i] = NAN;
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++) {
        const int list = ikt_yaml_value(r->yaml, node, i);
        const int64_t m = find_method(study, ikt_yaml_key(r->yaml, node, i));
        if (m < 0)
            return ikt_yaml_fail(r->ctx, r->yaml, list, "there is no method '%.60s'",
                                 ikt_yaml_key(r->yaml, node, i));
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

/* How many of the study's seeds a data set takes: all, or fewer where runs are long. */
static ikt_status read_seed_count(ikt_spec_reader *r, int node, ikt_study_data *data) {
    const ikt_key key = {
        .name = "seeds", .type = IKT_KEY_INT, .low = 1, .high = (double)r->study->n_seeds};
    char what[IKT_STRING_MAX];
    data->n_seeds = r->study->n_seeds;
    if (!node) return IKT_OK;
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), "seeds");
    return ikt_value_parse(r->ctx, &key, what, ikt_yaml_text(r->yaml, node), &data->n_seeds);
}

/* Leaves the value where there is no node. */
static ikt_status read_yes_no(ikt_spec_reader *r, int node, const char *name, bool *value) {
    const ikt_key key = {.name = name, .type = IKT_KEY_BOOL};
    char what[IKT_STRING_MAX];
    if (!node) return IKT_OK;
    ikt_yaml_where(r->yaml, node, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), "%s", name);
    return ikt_value_parse(r->ctx, &key, what, ikt_yaml_text(r->yaml, node), value);
}

static ikt_status read_data(ikt_spec_reader *r, int node, ikt_study_data *data) {
    const int name = ikt_yaml_find(r->yaml, node, "name"),
              optional = ikt_yaml_find(r->yaml, node, "optional"),
              reference = ikt_yaml_find(r->yaml, node, "reference");
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, node, "a data set", keys));
    if (!name) return ikt_yaml_fail(r->ctx, r->yaml, node, "a data set needs a name");
    IKT_TRY(ikt_spec_text(r, name, "the name of a data set", data->name, sizeof data->name));
    if (!data->name[0]) return ikt_yaml_fail(r->ctx, r->yaml, name, "a data set needs a name");
    IKT_TRY(read_origin(r, node, data));
    bool is_embedded = true;
    IKT_TRY(read_seed_count(r, ikt_yaml_find(r->yaml, node, "seeds"), data));
    IKT_TRY(read_yes_no(r, optional, "optional", &data->is_optional));
    IKT_TRY(read_yes_no(r, ikt_yaml_find(r->yaml, node, "embed"), "embed", &is_embedded));
    data->is_source = !is_embedded;
    IKT_TRY(ikt_spec_text(r, reference, "`reference`", data->reference, sizeof data->reference));
    IKT_TRY(ikt_spec_settings(r, ikt_yaml_find(r->yaml, node, "settings"), &data->settings));
    return read_published(r, ikt_yaml_find(r->yaml, node, "published"), data);
}

/* The option that is a list: its data set stands for one of each value. 0 where there is none. */
static int list_option(const ikt_spec_reader *r, int node, const char **name) {
    const int options = ikt_yaml_find(r->yaml, node, "options");
    for (int i = 0; i < ikt_yaml_count(r->yaml, options); i++) {
        *name = ikt_yaml_key(r->yaml, options, i);
        const int value = ikt_yaml_value(r->yaml, options, i);
        if (ikt_yaml_kind_of(r->yaml, value) == IKT_YAML_LIST) return value;
    }
    return 0;
}

/* Room is doubled. The limit is there for aliases of YAML, by which a small file can ask for any
 * number of data sets. */
static ikt_status append(ikt_spec_reader *r, int node, ikt_study_data **data) {
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

static ikt_status read_entry(ikt_spec_reader *r, int node) {
    const char *name = "";
    ikt_study_values values;
    ikt_study_data *data;
    const int list = list_option(r, node, &name);
    if (!list) return append(r, node, &data);
    IKT_TRY(ikt_study_values_read(r->ctx, r->yaml, list, &values));
    ikt_status st = IKT_OK;
    for (int64_t v = 0; v < values.count && st == IKT_OK; v++) {
        char base[IKT_STUDY_NAME];
        st = append(r, node, &data);
        if (st != IKT_OK) break;
        snprintf(base, sizeof base, "%s", data->name);
        snprintf(data->name, sizeof data->name, "%.24s (%.12s %.20s)", base, name,
                 values.value[v].text);
        st = ikt_spec_assign(r, node, name, values.value[v].text, &data->options);
    }
    ikt_study_values_destroy(&values);
    return st;
}

ikt_status ikt_spec_data(ikt_spec_reader *r, int node) {
    ikt_study *study = r->study;
    if (ikt_yaml_kind_of(r->yaml, node) != IKT_YAML_LIST || ikt_yaml_count(r->yaml, node) == 0)
        return ikt_yaml_fail(r->ctx, r->yaml, node,
                             "`data` is a list with at least one data set in it");
    for (int i = 0; i < ikt_yaml_count(r->yaml, node); i++)
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
    return IKT_OK;
}
