/* The configuration as YAML, and its description: comments, help, Markdown. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"

enum { COMMENT_WIDTH = 100, VALUES_SIZE = 640 };

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

/* Writes a heading for each section and what `add_key` makes of each key. *out: NULL on failure. */
static ikt_status
write_all(ikt_context *ctx, const ikt_config_part *parts, size_t n,
          void (*add_heading)(ikt_text *, const ikt_section *, const char *before),
          void (*add_key)(ikt_text *, const ikt_config_part *, const ikt_key *), char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    for (size_t p = 0; p < n; p++) {
        add_heading(&text, parts[p].section, p > 0 ? "\n" : "");
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            add_key(&text, &parts[p], &parts[p].section->keys[k]);
    }
    if (text.status != IKT_OK) ikt_free(&text.data);
    *out = text.data;
    return text.status;
}

/* --- as YAML, plain and with comments --------------------------------------------------------- */

static void add_name(ikt_text *text, const ikt_section *section, const char *before) {
    (void)before;
    ikt_text_add(text, "%s:\n", section->name);
}

/* "  psi: 64" */
static void add_assignment(ikt_text *text, const ikt_config_part *part, const ikt_key *key) {
    char value[IKT_STRING_MAX];
    ikt_value_print(key, ikt_config_member(part, key), value, sizeof value);
    ikt_text_add(text, "  %s: ", key->name);
    if (key->type == IKT_KEY_STRING)
        add_quoted(text, value);
    else
        ikt_text_add(text, "%s", value);
    ikt_text_add(text, "\n");
}

ikt_status ikt_config_print(ikt_context *ctx, const ikt_config_part *parts, size_t n, char **out) {
    return write_all(ctx, parts, n, add_name, add_assignment, out);
}

/* What a key takes: "(an integer from 1 to 4096, or auto; rows)", or the same without brackets. */
static void describe_values(const ikt_key *key, bool has_brackets, char text[VALUES_SIZE]) {
    const char *unit = key->unit ? key->unit : "";
    char expected[VALUES_SIZE / 2];
    ikt_value_expected(key, expected, sizeof expected);
    snprintf(text, VALUES_SIZE, "%s%s%s%.80s%s", has_brackets ? "(" : "", expected,
             unit[0] ? "; " : "", unit, has_brackets ? ")" : "");
}

static void add_commented_name(ikt_text *text, const ikt_section *section, const char *before) {
    ikt_text_add(text, "%s", before);
    ikt_text_wrap_behind(text, "# ", COMMENT_WIDTH, section->help);
    ikt_text_add(text, "%s:\n", section->name);
}

static void add_commented(ikt_text *text, const ikt_config_part *part, const ikt_key *key) {
    char values[VALUES_SIZE];
    describe_values(key, true, values);
    ikt_text_wrap_behind(text, "  # ", COMMENT_WIDTH, key->help);
    ikt_text_wrap_behind(text, "  # ", COMMENT_WIDTH, values);
    add_assignment(text, part, key);
}

ikt_status ikt_config_print_commented(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                      char **out) {
    return write_all(ctx, parts, n, add_commented_name, add_commented, out);
}

/* --- for people, and as Markdown -------------------------------------------------------------- */

static const char *shown_default(const ikt_key *key) {
    return ikt_text_or(key->fallback, "\"\"");
}

static void describe_section(ikt_text *text, const ikt_section *section, const char *before) {
    ikt_text_add(text, "%s%s: %s\n", before, section->name, section->help);
}

static void describe_key(ikt_text *text, const ikt_config_part *part, const ikt_key *key) {
    char values[VALUES_SIZE];
    describe_values(key, true, values);
    ikt_text_add(text, "  %s.%s = %s\n", part->section->name, key->name, shown_default(key));
    ikt_text_wrap(text, 6, key->help);
    ikt_text_wrap(text, 6, values);
}

ikt_status ikt_config_describe(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               char **out) {
    return write_all(ctx, parts, n, describe_section, describe_key, out);
}

static void begin_table(ikt_text *text, const ikt_section *section, const char *before) {
    ikt_text_add(text, "%s## %s: %s\n\n", before, section->name, section->help);
    ikt_text_add(text, "| key | default | values | meaning |\n|---|---|---|---|\n");
}

/* Words in a cell of a table, where some characters would be markup. */
static void add_cell(ikt_text *text, const char *words) {
    for (; *words; words++)
        ikt_text_add(text, strchr("|*<\\", *words) ? "\\%c" : "%c", *words);
}

static void add_row(ikt_text *text, const ikt_config_part *part, const ikt_key *key) {
    char values[VALUES_SIZE];
    describe_values(key, false, values);
    ikt_text_add(text, "| `%s.%s` | `%s` | ", part->section->name, key->name, shown_default(key));
    add_cell(text, values);
    ikt_text_add(text, " | ");
    add_cell(text, key->help);
    ikt_text_add(text, " |\n");
}

ikt_status ikt_config_describe_markdown(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                        char **out) {
    return write_all(ctx, parts, n, begin_table, add_row, out);
}
