/* Settings within a study: checked where they stand, kept as `section.key=value`. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"
#include "settings/settings.h"
#include "study/spec_parts.h"

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
