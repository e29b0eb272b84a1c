/* A study from its file. Read ikt_study_read first. */
#include "study/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/measure.h"
#include "study/spec_parts.h"

static const char *const keys[] = {"title", "about",    "settings",    "data",        "methods",
                                   "seeds", "measures", "curves_over", "rank_curves", NULL};

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
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, root, "a study", keys));
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
