/* YAML of two levels, by libyaml's events.
 *
 * Events rather than a document tree: every one carries its line, nothing but scalars and two
 * levels of mappings is accepted, and nothing is kept that a hostile file could make large. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"

enum { SEEN_MAX = 512 };

typedef struct {
    ikt_context *ctx;
    const ikt_config_part *parts;
    size_t n;
    const char *name; /* of the file */
    const char *text; /* of the file, whole */
    yaml_parser_t parser;
    const void *seen[SEEN_MAX]; /* sections and keys so far: one that comes twice is an error */
    int n_seen;
} reader;

static void where(const reader *r, const yaml_event_t *event, char *text, size_t size) {
    snprintf(text, size, "%.800s, line %zu: ", r->name, event->start_mark.line + 1);
}

/* Line of the parser's failure, from 1. Of bytes that are no text it knows the offset only. */
static size_t failed_line(const reader *r) {
    if (r->parser.error != YAML_READER_ERROR) return r->parser.problem_mark.line + 1;
    size_t line = 1;
    for (size_t i = 0; r->text[i] && i < r->parser.problem_offset; i++)
        line += r->text[i] == '\n';
    return line;
}

/* True when the line begins with a tab behind any blanks: the commonest slip in YAML. */
static bool tab_indents(const char *text, size_t line) {
    while (--line > 0 && (text = strchr(text, '\n')))
        text++;
    return text && text[strspn(text, " ")] == '\t';
}

static ikt_status next(reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event)) return IKT_OK;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return ikt_fail(r->ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", r->name);
    size_t line = failed_line(r);
    const char *problem = r->parser.problem ? r->parser.problem : "unreadable";
    if (tab_indents(r->text, line)) problem = "the line begins with a tab; indent with blanks";
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%.800s, line %zu: not valid YAML: %s", r->name, line,
                    problem);
}

static ikt_status refuse(reader *r, const yaml_event_t *event, const char *what) {
    char place[IKT_STRING_MAX];
    where(r, event, place, sizeof place);
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s%s", place, what);
}

/* True the first time that a section or key is met. Tables hold far fewer than SEEN_MAX. */
static bool is_new(reader *r, const void *what) {
    for (int s = 0; s < r->n_seen; s++)
        if (r->seen[s] == what) return false;
    if (r->n_seen < SEEN_MAX) r->seen[r->n_seen++] = what;
    return true;
}

/* Refuses what YAML can hang on a value. */
static ikt_status check_plain(reader *r, const yaml_event_t *event) {
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT) {
        anchor = event->data.alias.anchor;
    } else if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return refuse(r, event,
                      "anchors and aliases (&name, *name) are not used in this file; write the "
                      "value out, in quotes if it begins with & or *");
    if (tag)
        return refuse(r, event,
                      "tags (!name) are not used in this file; leave it out, or put the value in "
                      "quotes if it begins with !");
    return IKT_OK;
}

static ikt_status check_scalar(reader *r, const yaml_event_t *event, const char *what) {
    IKT_TRY(check_plain(r, event));
    if (event->type != YAML_SCALAR_EVENT) return refuse(r, event, what);
    if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return refuse(r, event, "a value holds a zero byte");
    return IKT_OK;
}

/* True for YAML's ways of writing nothing. */
static bool is_nothing(const yaml_event_t *event) {
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (event->type != YAML_SCALAR_EVENT) return false;
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp((const char *)event->data.scalar.value, words[w]) == 0) return true;
    return false;
}

static ikt_status set(reader *r, const ikt_config_part *part, const ikt_key *key,
                      const yaml_event_t *event) {
    char what[IKT_STRING_MAX];
    where(r, event, what, sizeof what);
    size_t used = strlen(what);
    snprintf(what + used, sizeof what - used, "%s.%s", part->section->name, key->name);
    IKT_TRY(check_scalar(r, event, "a list or mapping stands where a single value is expected"));
    if (is_nothing(event))
        return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s has no value%s", what,
                        key->type == IKT_KEY_STRING ? "; write \"\" for an empty text" : "");
    if (!is_new(r, key)) return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s is set a second time", what);
    return ikt_value_parse(r->ctx, key, what, (const char *)event->data.scalar.value,
                           ikt_config_member(part, key));
}

/* The key that the event names, NULL on failure. */
static const ikt_key *find_key(reader *r, const ikt_config_part *part, const yaml_event_t *event) {
    char place[IKT_STRING_MAX];
    if (check_scalar(r, event, "a key is expected here") != IKT_OK) return NULL;
    where(r, event, place, sizeof place);
    return ikt_config_find_key(r->ctx, r->parts, r->n, part, place,
                               (const char *)event->data.scalar.value);
}

/* key: value pairs until the section's mapping ends. */
static ikt_status read_keys(reader *r, const ikt_config_part *part) {
    for (;;) {
        yaml_event_t event;
        IKT_TRY(next(r, &event));
        bool end = event.type == YAML_MAPPING_END_EVENT;
        const ikt_key *key = end ? NULL : find_key(r, part, &event);
        yaml_event_delete(&event);
        if (end) return IKT_OK;
        if (!key) return IKT_ERR_USAGE;
        IKT_TRY(next(r, &event));
        ikt_status st = set(r, part, key, &event);
        yaml_event_delete(&event);
        IKT_TRY(st);
    }
}

/* The value of a section: a mapping, or nothing at all. */
static ikt_status read_section(reader *r, const ikt_config_part *part) {
    yaml_event_t event;
    IKT_TRY(next(r, &event));
    bool mapping = event.type == YAML_MAPPING_START_EVENT;
    ikt_status st = check_plain(r, &event);
    if (st == IKT_OK && !mapping && !is_nothing(&event))
        st = refuse(r, &event, "a section holds lines of the form `key: value`, indented");
    yaml_event_delete(&event);
    return st == IKT_OK && mapping ? read_keys(r, part) : st;
}

/* The section that the event names, which must not have been there before; NULL on failure. */
static const ikt_config_part *find_section(reader *r, const yaml_event_t *event) {
    char place[IKT_STRING_MAX];
    if (check_scalar(r, event, "the name of a section is expected here") != IKT_OK) return NULL;
    where(r, event, place, sizeof place);
    const ikt_config_part *part = ikt_config_find_section(r->ctx, r->parts, r->n, place,
                                                          (const char *)event->data.scalar.value);
    if (!part || is_new(r, part)) return part;
    ikt_fail(r->ctx, IKT_ERR_USAGE, "%ssection %s begins a second time; join the two", place,
             part->section->name);
    return NULL;
}

static ikt_status read_sections(reader *r) {
    for (;;) {
        yaml_event_t event;
        IKT_TRY(next(r, &event));
        bool end = event.type == YAML_MAPPING_END_EVENT;
        const ikt_config_part *part = end ? NULL : find_section(r, &event);
        yaml_event_delete(&event);
        if (end) return IKT_OK;
        if (!part) return IKT_ERR_USAGE;
        IKT_TRY(read_section(r, part));
    }
}

/* What may stand outside the sections: one document, whose root is a mapping or empty. */
static ikt_status check_outer(reader *r, const yaml_event_t *event, bool had_document) {
    if (event->type == YAML_DOCUMENT_START_EVENT && had_document)
        return refuse(r, event, "a second document begins; one file is one configuration");
    IKT_TRY(check_plain(r, event));
    bool value = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_SCALAR_EVENT;
    if (value && !is_nothing(event))
        return refuse(r, event, "the file must consist of sections, e.g. `input:`");
    return IKT_OK;
}

static ikt_status read_stream(reader *r) {
    bool had_document = false;
    for (;;) {
        yaml_event_t event;
        IKT_TRY(next(r, &event));
        yaml_event_type_t type = event.type;
        ikt_status st = check_outer(r, &event, had_document);
        had_document |= type == YAML_DOCUMENT_START_EVENT;
        yaml_event_delete(&event);
        IKT_TRY(st);
        if (type == YAML_MAPPING_START_EVENT) IKT_TRY(read_sections(r));
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT) return IKT_OK;
    }
}

ikt_status ikt_config_parse_text(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                 const char *name, const char *text) {
    reader r = {.ctx = ctx, .parts = parts, .n = n, .name = name, .text = text};
    if (!yaml_parser_initialize(&r.parser))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", name);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, strlen(text));
    ikt_status st = read_stream(&r);
    yaml_parser_delete(&r.parser);
    return st;
}

ikt_status ikt_config_load(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                           const char *path) {
    char *text = NULL;
    ikt_status st = ikt_text_file_load(ctx, path, &text);
    if (st == IKT_OK) st = ikt_config_parse_text(ctx, parts, n, path, text);
    ikt_free(&text);
    return st;
}
