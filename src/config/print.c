/* The configuration as YAML, and its description: comments, help, Markdown. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/value.h"

enum { COMMENT_WIDTH = 100, VALUES_SIZE = 320 };

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

/* "  psi: 64" */
static void add_key(ikt_text *text, const ikt_config_part *part, const ikt_key *key) {
    char value[IKT_STRING_MAX];
    ikt_value_print(key, ikt_config_member(part, key), value, sizeof value);
    ikt_text_add(text, "  %s: ", key->name);
    if (key->type == IKT_KEY_STRING)
        add_quoted(text, value);
    else
        ikt_text_add(text, "%s", value);
    ikt_text_add(text, "\n");
}

/* Hands the text over, or frees what there is of it. */
static ikt_status give(ikt_text *text, char **out) {
    if (text->status != IKT_OK) ikt_free(&text->data);
    *out = text->data;
    return text->status;
}

ikt_status ikt_config_print(ikt_context *ctx, const ikt_config_part *parts, size_t n, char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        ikt_text_add(&text, "%s:\n", parts[p].section->name);
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            add_key(&text, &parts[p], &parts[p].section->keys[k]);
    }
    return give(&text, out);
}

/* --- with comments ---------------------------------------------------------------------------- */

/* What a key takes: "an integer from 1 to 4096, or auto; rows". */
static void describe_values(const ikt_key *key, char *text, size_t size) {
    const char *unit = key->unit && key->unit[0] ? key->unit : "";
    ikt_value_expected(key, text, size);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", unit[0] ? "; " : "", unit);
}

/* The same in brackets. */
static void describe_inside(const ikt_key *key, char *text, size_t size) {
    char values[VALUES_SIZE];
    describe_values(key, values, sizeof values);
    snprintf(text, size, "(%s)", values);
}

static void add_comment(ikt_text *text, const ikt_key *key) {
    char inside[VALUES_SIZE + 2];
    describe_inside(key, inside, sizeof inside);
    ikt_text_wrap_behind(text, "  # ", COMMENT_WIDTH, key->help);
    ikt_text_wrap_behind(text, "  # ", COMMENT_WIDTH, inside);
}

ikt_status ikt_config_print_commented(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                      char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        const ikt_section *section = parts[p].section;
        if (p > 0) ikt_text_add(&text, "\n");
        ikt_text_wrap_behind(&text, "# ", COMMENT_WIDTH, section->help);
        ikt_text_add(&text, "%s:\n", section->name);
        for (size_t k = 0; k < section->n_keys; k++) {
            add_comment(&text, &section->keys[k]);
            add_key(&text, &parts[p], &section->keys[k]);
        }
    }
    return give(&text, out);
}

/* --- for people ------------------------------------------------------------------------------- */

static const char *shown_default(const ikt_key *key) {
    return key->fallback[0] ? key->fallback : "\"\"";
}

static void describe_key(ikt_text *text, const ikt_section *section, const ikt_key *key) {
    char inside[VALUES_SIZE + 2];
    describe_inside(key, inside, sizeof inside);
    ikt_text_add(text, "  %s.%s = %s\n", section->name, key->name, shown_default(key));
    ikt_text_wrap(text, 6, key->help);
    ikt_text_wrap(text, 6, inside);
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
    return give(&text, out);
}

/* --- as Markdown ------------------------------------------------------------------------------ */

/* Words in a cell of a table, where some characters would be markup. */
static void add_cell(ikt_text *text, const char *words) {
    for (; *words; words++)
        ikt_text_add(text, strchr("|*<\\", *words) ? "\\%c" : "%c", *words);
}

static void add_row(ikt_text *text, const ikt_section *section, const ikt_key *key) {
    char values[VALUES_SIZE];
    describe_values(key, values, sizeof values);
    ikt_text_add(text, "| `%s.%s` | `%s` | ", section->name, key->name, shown_default(key));
    add_cell(text, values);
    ikt_text_add(text, " | ");
    add_cell(text, key->help);
    ikt_text_add(text, " |\n");
}

ikt_status ikt_config_describe_markdown(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                        char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        const ikt_section *section = parts[p].section;
        ikt_text_add(&text, "%s## %s: ", p ? "\n" : "", section->name);
        ikt_text_add(&text, "%s\n\n| key | default | values | meaning |\n|---|---|---|---|\n",
                     section->help);
        for (size_t k = 0; k < section->n_keys; k++)
            add_row(&text, section, &section->keys[k]);
    }
    return give(&text, out);
}
