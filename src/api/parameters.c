/* Parameters: the settings of a run behind texts; and the version of the library. */
#include <stdio.h>
#include <string.h>

#include "api/own.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"
#include "iktsne/version.h"

enum { KEY_MAX = 128 };

ikt_status ikt_parameters_create(ikt_context *ctx, ikt_parameters **out) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "parameters"));
    (*out)->ctx = ctx;
    ikt_settings_parts(&(*out)->settings, parts);
    ikt_status st = ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS);
    if (st != IKT_OK) ikt_parameters_destroy(out);
    return st;
}

void ikt_parameters_destroy(ikt_parameters **parameters) {
    if (!*parameters) return;
    ikt_free(&(*parameters)->yaml);
    ikt_free(parameters);
}

ikt_status ikt_parameters_set(ikt_parameters *p, const char *key, const char *value) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_text text = {p->ctx, NULL, 0, 0, IKT_OK};
    ikt_clear(p->ctx);
    ikt_settings_parts(&p->settings, parts);
    ikt_text_add(&text, "%s=%s", key, value);
    ikt_status st = text.status;
    if (st == IKT_OK) st = ikt_config_override(p->ctx, parts, IKT_SETTINGS_PARTS, text.data);
    ikt_free(&text.data);
    return st;
}

ikt_status ikt_parameters_get(const ikt_parameters *p, const char *key, char *text, size_t size) {
    ikt_settings copy = p->settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char section[KEY_MAX];
    const char *dot = strchr(key, '.');
    ikt_clear(p->ctx);
    ikt_settings_parts(&copy, parts);
    if (size > 0) text[0] = '\0';
    snprintf(section, sizeof section, "%.*s", dot ? (int)(dot - key) : KEY_MAX - 1, key);
    const ikt_config_part *part =
        ikt_config_find_section(p->ctx, parts, IKT_SETTINGS_PARTS, "", section);
    if (!part) return IKT_ERR_USAGE;
    const ikt_key *found =
        ikt_config_find_key(p->ctx, parts, IKT_SETTINGS_PARTS, part, "", dot ? dot + 1 : "");
    if (!found) return IKT_ERR_USAGE;
    ikt_value_print(found, ikt_config_member(part, found), text, size);
    return IKT_OK;
}

ikt_status ikt_parameters_load(ikt_parameters *p, const char *path) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_clear(p->ctx);
    ikt_settings_parts(&p->settings, parts);
    return ikt_agree(p->ctx, ikt_config_load(p->ctx, parts, IKT_SETTINGS_PARTS, path));
}

ikt_status ikt_parameters_yaml(ikt_parameters *p, const char **yaml) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    *yaml = NULL;
    ikt_clear(p->ctx);
    ikt_free(&p->yaml);
    ikt_settings_parts(&p->settings, parts);
    IKT_TRY(ikt_config_print(p->ctx, parts, IKT_SETTINGS_PARTS, &p->yaml));
    *yaml = p->yaml;
    return IKT_OK;
}

const char *ikt_version(void) {
    return IKT_VERSION;
}
