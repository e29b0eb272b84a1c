/* The configuration as YAML, and its description for people. */
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/lookup.h"
#include "config/value.h"

/* Strings are written in double quotes, so that any byte comes back as it was. */
static void add_quoted(ikt_text *text, const char *value) {
    ikt_text_add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\')
            ikt_text_add(text, "\\%c", *c);
        else if (*c < 32 || *c == 127)
            ikt_text_add(text, "\\x%02x", *c);
        else
            ikt_text_add(text, "%c", *c);
    }
    ikt_text_add(text, "\"");
}

ikt_status ikt_config_print(ikt_context *ctx, const ikt_config_part *parts, size_t n, char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        ikt_text_add(&text, "%s:\n", parts[p].section->name);
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const ikt_key *key = &parts[p].section->keys[k];
            char value[IKT_STRING_MAX];
            ikt_value_print(key, ikt_config_member(&parts[p], key), value, sizeof value);
            ikt_text_add(&text, "  %s: ", key->name);
            if (key->type == IKT_KEY_STRING)
                add_quoted(&text, value);
            else
                ikt_text_add(&text, "%s", value);
            ikt_text_add(&text, "\n");
        }
    }
    if (text.status != IKT_OK) ikt_free(&text.data);
    *out = text.data;
    return text.status;
}

static void describe_key(ikt_text *text, const ikt_section *section, const ikt_key *key) {
    char expected[256];
    ikt_value_expected(key, expected, sizeof expected);
    ikt_text_add(text, "  %s.%s = %s\n", section->name, key->name,
                 key->fallback[0] ? key->fallback : "\"\"");
    ikt_text_wrap(text, 6, key->help);
    const char *unit = key->unit && key->unit[0] ? key->unit : "";
    ikt_text_add(text, "      (%s%s%s)\n", expected, unit[0] ? "; " : "", unit);
}

ikt_status ikt_config_describe(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        ikt_text_add(&text, "%s%s: %s\n", p ? "\n" : "", parts[p].section->name,
                     parts[p].section->help);
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            describe_key(&text, parts[p].section, &parts[p].section->keys[k]);
    }
    if (text.status != IKT_OK) ikt_free(&text.data);
    *out = text.data;
    return text.status;
}
