/* Parameters: the settings of a run behind texts; and the table of their keys. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "config/config.h"
#include "config/value.h"

ikt_status ikt_parameters_create(ikt_context *ctx, ikt_parameters **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "parameters"));
    (*out)->ctx = ctx;
    ikt_settings_parts(&(*out)->settings, (*out)->parts);
    ikt_status st = ikt_config_defaults(ctx, (*out)->parts, IKT_SETTINGS_PARTS);
    if (st != IKT_OK) ikt_parameters_destroy(out);
    return st;
}

void ikt_parameters_destroy(ikt_parameters **parameters) {
    if (!*parameters) return;
    ikt_free(&(*parameters)->yaml);
    ikt_free(parameters);
}

ikt_status ikt_parameters_set(ikt_parameters *p, const char *key, const char *value) {
    ikt_text text = {p->ctx, NULL, 0, 0, IKT_OK};
    ikt_clear(p->ctx);
    ikt_text_add(&text, "%s=%s", key, value);
    ikt_status st = text.status;
    if (st == IKT_OK) st = ikt_config_override(p->ctx, p->parts, IKT_SETTINGS_PARTS, text.data);
    ikt_free(&text.data);
    return st;
}

ikt_status ikt_parameters_get(const ikt_parameters *p, const char *key, char *text, size_t size) {
    const ikt_config_part *part;
    ikt_clear(p->ctx);
    if (size > 0) text[0] = '\0';
    const ikt_key *found = ikt_config_find(p->ctx, p->parts, IKT_SETTINGS_PARTS, "", key, &part);
    if (!found) return IKT_ERR_USAGE;
    ikt_value_print(found, ikt_config_member(part, found), text, size);
    return IKT_OK;
}

ikt_status ikt_parameters_load(ikt_parameters *p, const char *path) {
    ikt_clear(p->ctx);
    return ikt_agree(p->ctx, ikt_config_load(p->ctx, p->parts, IKT_SETTINGS_PARTS, path));
}

ikt_status ikt_parameters_yaml(ikt_parameters *p, const char **yaml) {
    *yaml = NULL;
    ikt_clear(p->ctx);
    ikt_free(&p->yaml);
    IKT_TRY(ikt_config_print(p->ctx, p->parts, IKT_SETTINGS_PARTS, &p->yaml));
    *yaml = p->yaml;
    return IKT_OK;
}

bool ikt_is_shared(ikt_context *ctx, int64_t number) {
    int64_t most[] = {number, -number};
    ikt_max_i64(ctx, most, 2);
    return most[0] == -most[1];
}

ikt_status ikt_parameters_hash(ikt_context *ctx, const ikt_parameters *parameters, int64_t *hash) {
    char *text = NULL;
    *hash = 0;
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parameters->parts, IKT_SETTINGS_PARTS, &text)));
    *hash = (int64_t)(ikt_hash_bytes(text, strlen(text), 0) >> 1);
    ikt_free(&text);
    return IKT_OK;
}

/* --- the table of the keys -------------------------------------------------------------------- */

bool ikt_setting_at(int64_t i, ikt_setting *out) {
    static const ikt_setting_type types[] = {[IKT_KEY_INT] = IKT_SETTING_INT,
                                             [IKT_KEY_REAL] = IKT_SETTING_REAL,
                                             [IKT_KEY_BOOL] = IKT_SETTING_BOOL,
                                             [IKT_KEY_STRING] = IKT_SETTING_TEXT,
                                             [IKT_KEY_CHOICE] = IKT_SETTING_CHOICE};
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&settings, parts); /* addresses within it; nothing is read */
    for (int p = 0; p < IKT_SETTINGS_PARTS && i >= 0; p++) {
        const ikt_section *section = parts[p].section;
        const int64_t count = (int64_t)section->n_keys;
        if (i < count) {
            const ikt_key *key = &section->keys[i];
            *out = (ikt_setting){.section = section->name,
                                 .name = key->name,
                                 .type = types[key->type],
                                 .fallback = key->fallback,
                                 .takes_auto = key->allow_auto != 0,
                                 .low = key->low,
                                 .high = key->high,
                                 .choices = key->choices,
                                 .unit = key->unit,
                                 .help = key->help};
            return true;
        }
        i -= count;
    }
    return false;
}
