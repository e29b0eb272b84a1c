/* YAML of two levels, by libyaml's events.
 *
 * Events rather than a document tree: every one carries its line, nothing but scalars and two
 * levels of mappings is accepted, and nothing is kept that a hostile file could make large. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/comm.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/lookup.h"
#include "config/value.h"

enum { FILE_SIZE_MAX = 1 << 20, KEYS_MAX = 512 };

typedef struct {
    ikt_context *ctx;
    const ikt_config_part *parts;
    size_t n;
    const char *name; /* of the file */
    yaml_parser_t parser;
    const ikt_key *seen[KEYS_MAX]; /* keys set so far: a key set twice is an error */
    int n_seen;
} reader;

static void where(const reader *r, const yaml_event_t *event, char *text, size_t size) {
    snprintf(text, size, "%s, line %zu: ", r->name, event->start_mark.line + 1);
}

static ikt_status next(reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event)) return IKT_OK;
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s, line %zu: not valid YAML: %s", r->name,
                    r->parser.problem_mark.line + 1,
                    r->parser.problem ? r->parser.problem : "unreadable");
}

static ikt_status refuse(reader *r, const yaml_event_t *event, const char *what) {
    char place[IKT_STRING_MAX];
    where(r, event, place, sizeof place);
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s%s", place, what);
}

static ikt_status check_scalar(reader *r, const yaml_event_t *event, const char *what) {
    if (event->type != YAML_SCALAR_EVENT) return refuse(r, event, what);
    if (event->data.scalar.anchor)
        return refuse(r, event, "anchors (&name) are not used in this file; write the value out");
    if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return refuse(r, event, "a value holds a zero byte");
    return IKT_OK;
}

static ikt_status set(reader *r, const ikt_config_part *part, const ikt_key *key,
                      const yaml_event_t *event) {
    char what[IKT_STRING_MAX];
    where(r, event, what, sizeof what);
    size_t used = strlen(what);
    snprintf(what + used, sizeof what - used, "%s.%s", part->section->name, key->name);
    IKT_TRY(check_scalar(r, event, "a list or mapping stands where a single value is expected"));
    const char *text = (const char *)event->data.scalar.value;
    bool plain_empty = text[0] == '\0' && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain_empty) return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s has no value", what);
    for (int s = 0; s < r->n_seen; s++)
        if (r->seen[s] == key)
            return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s is set a second time", what);
    if (r->n_seen < KEYS_MAX) r->seen[r->n_seen++] = key;
    return ikt_value_parse(r->ctx, key, what, text, ikt_config_member(part, key));
}

/* key: value pairs until the section's mapping ends. */
static ikt_status read_keys(reader *r, const ikt_config_part *part) {
    for (;;) {
        yaml_event_t event;
        char place[IKT_STRING_MAX];
        IKT_TRY(next(r, &event));
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return IKT_OK;
        }
        ikt_status st = check_scalar(r, &event, "a key is expected here");
        const ikt_key *key = NULL;
        where(r, &event, place, sizeof place);
        if (st == IKT_OK) {
            key = ikt_config_find_key(r->ctx, r->parts, r->n, part, place,
                                      (const char *)event.data.scalar.value);
            if (!key) st = IKT_ERR_USAGE;
        }
        yaml_event_delete(&event);
        IKT_TRY(st);
        IKT_TRY(next(r, &event));
        st = set(r, part, key, &event);
        yaml_event_delete(&event);
        IKT_TRY(st);
    }
}

/* The value of a section: a mapping, or nothing at all. */
static ikt_status read_section(reader *r, const ikt_config_part *part) {
    yaml_event_t event;
    IKT_TRY(next(r, &event));
    ikt_status st = IKT_OK;
    bool empty = event.type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
    bool mapping = event.type == YAML_MAPPING_START_EVENT;
    if (!empty && !mapping)
        st = refuse(r, &event, "a section holds lines of the form `key: value`, indented");
    yaml_event_delete(&event);
    return st == IKT_OK && mapping ? read_keys(r, part) : st;
}

static ikt_status read_sections(reader *r) {
    for (;;) {
        yaml_event_t event;
        char place[IKT_STRING_MAX];
        IKT_TRY(next(r, &event));
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return IKT_OK;
        }
        ikt_status st = check_scalar(r, &event, "the name of a section is expected here");
        const ikt_config_part *part = NULL;
        where(r, &event, place, sizeof place);
        if (st == IKT_OK) {
            part = ikt_config_find_section(r->ctx, r->parts, r->n, place,
                                           (const char *)event.data.scalar.value);
            if (!part) st = IKT_ERR_USAGE;
        }
        yaml_event_delete(&event);
        IKT_TRY(st);
        IKT_TRY(read_section(r, part));
    }
}

/* The stream: at most one document, whose root is a mapping or empty. */
static ikt_status read_stream(reader *r) {
    bool had_document = false;
    for (;;) {
        yaml_event_t event;
        IKT_TRY(next(r, &event));
        yaml_event_type_t type = event.type;
        bool empty = type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
        ikt_status st = IKT_OK;
        if (type == YAML_DOCUMENT_START_EVENT && had_document)
            st = refuse(r, &event, "a second document begins; one file is one configuration");
        else if (type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT ||
                 (type == YAML_SCALAR_EVENT && !empty))
            st = refuse(r, &event, "the file must consist of sections, e.g. `isolation:`");
        had_document |= type == YAML_DOCUMENT_START_EVENT;
        yaml_event_delete(&event);
        IKT_TRY(st);
        if (type == YAML_MAPPING_START_EVENT) IKT_TRY(read_sections(r));
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT) return IKT_OK;
    }
}

ikt_status ikt_config_parse_text(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                 const char *name, const char *text) {
    reader r = {.ctx = ctx, .parts = parts, .n = n, .name = name};
    if (!yaml_parser_initialize(&r.parser))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %s", name);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, strlen(text));
    ikt_status st = read_stream(&r);
    yaml_parser_delete(&r.parser);
    return st;
}

static ikt_status read_file(ikt_context *ctx, const char *path, char *text) {
    FILE *file = fopen(path, "rb");
    if (!file) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    size_t length = fread(text, 1, FILE_SIZE_MAX, file);
    ikt_status st = IKT_OK;
    if (ferror(file))
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    else if (length == FILE_SIZE_MAX)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s is larger than 1 MiB: not a configuration", path);
    else if (memchr(text, '\0', length))
        st = ikt_fail(ctx, IKT_ERR_USAGE, "%s is no text file: it holds a zero byte", path);
    else
        text[length] = '\0';
    fclose(file);
    return st;
}

ikt_status ikt_config_load(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                           const char *path) {
    char *text = NULL;
    ikt_status st = ikt_alloc(ctx, &text, FILE_SIZE_MAX, 1, "configuration");
    if (st == IKT_OK && ikt_rank(ctx) == 0) st = read_file(ctx, path, text);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_broadcast(ctx, text, FILE_SIZE_MAX, 0);
        st = ikt_config_parse_text(ctx, parts, n, path, text);
    }
    ikt_free(&text);
    return st;
}
