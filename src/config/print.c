/* The configuration as YAML, and its description for people. */
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/lookup.h"
#include "config/value.h"

/* What YAML takes in double quotes as it stands: no controls, no line breaks (U+0085, U+2028,
 * U+2029 are such), no byte order mark, nothing that is not a character. */
static bool is_printable(uint32_t c) {
    bool text = (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c <= 0xfffd) || c >= 0x10000;
    return text && c != 0x2028 && c != 0x2029 && c != 0xfeff;
}

/* Strings are written in double quotes, so that any text comes back as it was. */
static void add_quoted(ikt_text *text, const char *value) {
    uint32_t point = 0;
    ikt_text_add(text, "\"");
    for (int length; *value && text->status == IKT_OK; value += length) {
        length = ikt_utf8_decode(value, &point);
        if (length == 0)
            text->status = ikt_fail(text->ctx, IKT_ERR_USAGE, "'%.80s' is not UTF-8 text", value);
        else if (point == '"' || point == '\\')
            ikt_text_add(text, "\\%c", (int)point);
        else if (is_printable(point))
            ikt_text_add(text, "%.*s", length, value);
        else
            ikt_text_add(text, point < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)point);
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
