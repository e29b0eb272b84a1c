/* The methods of a study: settings, and the keys that vary. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "study/spec_parts.h"

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
    static const char *const keys[] = {"name", "settings", "vary", NULL};
    IKT_TRY(ikt_yaml_check_keys(r->ctx, r->yaml, node, "a method", keys));
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
