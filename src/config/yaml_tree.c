/* A YAML file as a tree, by libyaml's document. */
#include "config/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "config/config.h"
#include "config/key.h"

struct ikt_yaml {
    char name[IKT_STRING_MAX];
    yaml_document_t document;
};

/* libyaml's time grows with the square of the depth, and of the number of anchors. */
enum { DEPTH_MAX = 64, ANCHORS_MAX = 1000 };

/* Whether an event of a node has a name of its own (&name). */
static bool has_anchor(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    default:
        return false;
    }
}

/* How much deeper the nodes behind an event lie than those before it. */
static int deeper(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return -1;
    default:
        return 0;
    }
}

/* Reads the text event by event, which is linear, before it becomes a tree. What is not valid is
 * left to the parser of the tree. */
static ikt_status check_depth(ikt_context *ctx, const ikt_yaml *yaml, const char *text) {
    yaml_parser_t parser IKT_AT_END(yaml_parser_delete);
    yaml_event_t event;
    int depth = 0, anchors = 0;
    if (!yaml_parser_initialize(&parser))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %s", yaml->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    while (yaml_parser_parse(&parser, &event)) {
        const yaml_event_type_t type = event.type;
        const size_t line = event.start_mark.line + 1;
        depth += deeper(&event);
        anchors += has_anchor(&event);
        yaml_event_delete(&event);
        if (depth > DEPTH_MAX)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "%s, line %zu: lists and mappings are nested more than 64 deep",
                            yaml->name, line);
        if (anchors > ANCHORS_MAX)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "%s, line %zu: there are more than 1000 anchors (&name) in this file",
                            yaml->name, line);
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT) break;
    }
    return IKT_OK;
}

static ikt_status load(ikt_context *ctx, const char *text, ikt_yaml *yaml) {
    yaml_parser_t parser IKT_AT_END(yaml_parser_delete);
    if (!yaml_parser_initialize(&parser))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", yaml->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &yaml->document)) return IKT_OK;
    if (parser.error == YAML_MEMORY_ERROR)
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", yaml->name);
    return ikt_fail(ctx, IKT_ERR_USAGE, "%.800s, line %zu: not valid YAML: %s", yaml->name,
                    parser.problem_mark.line + 1, parser.problem ? parser.problem : "unreadable");
}

ikt_status ikt_yaml_parse(ikt_context *ctx, const char *name, const char *text, ikt_yaml **out) {
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "text file");
    if (st != IKT_OK) return st;
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    if (!ikt_utf8_valid(text)) st = ikt_fail(ctx, IKT_ERR_USAGE, "%.800s is not UTF-8 text", name);
    if (st == IKT_OK) st = check_depth(ctx, *out, text);
    if (st == IKT_OK) st = load(ctx, text, *out);
    if (st != IKT_OK) ikt_free(out);
    return st;
}

ikt_status ikt_yaml_load(ikt_context *ctx, const char *path, ikt_yaml **out) {
    IKT_ARRAYS(held, ctx, "text file");
    char *text = NULL;
    *out = NULL;
    IKT_TRY(ikt_text_file_load(ctx, path, &text));
    ikt_arrays_take(&held, text);
    const ikt_status st = ikt_agree(ctx, ikt_yaml_parse(ctx, path, text, out));
    if (st != IKT_OK) ikt_yaml_destroy(out);
    return st;
}

void ikt_yaml_destroy(ikt_yaml **yaml) {
    if (!*yaml) return;
    yaml_document_delete(&(*yaml)->document);
    ikt_free(yaml);
}

/* libyaml's functions take what they do not change as if they did. */
static const yaml_node_t *at(const ikt_yaml *yaml, int node) {
    const yaml_node_t *start = yaml->document.nodes.start, *top = yaml->document.nodes.top;
    return node > 0 && start + node <= top ? start + (node - 1) : NULL;
}

int ikt_yaml_root(const ikt_yaml *yaml) {
    return at(yaml, 1) ? 1 : 0;
}

ikt_yaml_kind ikt_yaml_kind_of(const ikt_yaml *yaml, int node) {
    const yaml_node_t *n = at(yaml, node);
    if (!n) return IKT_YAML_NONE;
    return n->type == YAML_SCALAR_NODE     ? IKT_YAML_SCALAR
           : n->type == YAML_SEQUENCE_NODE ? IKT_YAML_LIST
           : n->type == YAML_MAPPING_NODE  ? IKT_YAML_MAPPING
                                           : IKT_YAML_NONE;
}

int ikt_yaml_count(const ikt_yaml *yaml, int node) {
    const yaml_node_t *n = at(yaml, node);
    if (!n) return 0;
    if (n->type == YAML_SEQUENCE_NODE)
        return (int)(n->data.sequence.items.top - n->data.sequence.items.start);
    if (n->type == YAML_MAPPING_NODE)
        return (int)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
    return 0;
}

static bool holds(const ikt_yaml *yaml, int node, int i, yaml_node_type_t type) {
    const yaml_node_t *n = at(yaml, node);
    return n && n->type == type && i >= 0 && i < ikt_yaml_count(yaml, node);
}

int ikt_yaml_item(const ikt_yaml *yaml, int node, int i) {
    if (!holds(yaml, node, i, YAML_SEQUENCE_NODE)) return 0;
    return at(yaml, node)->data.sequence.items.start[i];
}

const char *ikt_yaml_key(const ikt_yaml *yaml, int node, int i) {
    if (!holds(yaml, node, i, YAML_MAPPING_NODE)) return "";
    return ikt_yaml_text(yaml, at(yaml, node)->data.mapping.pairs.start[i].key);
}

int ikt_yaml_value(const ikt_yaml *yaml, int node, int i) {
    if (!holds(yaml, node, i, YAML_MAPPING_NODE)) return 0;
    return at(yaml, node)->data.mapping.pairs.start[i].value;
}

int ikt_yaml_find(const ikt_yaml *yaml, int node, const char *key) {
    for (int i = 0; i < ikt_yaml_count(yaml, node); i++)
        if (strcmp(ikt_yaml_key(yaml, node, i), key) == 0) return ikt_yaml_value(yaml, node, i);
    return 0;
}

const char *ikt_yaml_text(const ikt_yaml *yaml, int node) {
    const yaml_node_t *n = at(yaml, node);
    if (!n || n->type != YAML_SCALAR_NODE) return "";
    return (const char *)n->data.scalar.value;
}

void ikt_yaml_where(const ikt_yaml *yaml, int node, char *text, size_t size) {
    const yaml_node_t *n = at(yaml, node);
    if (n)
        snprintf(text, size, "%.800s, line %zu: ", yaml->name, n->start_mark.line + 1);
    else
        snprintf(text, size, "%.800s: ", yaml->name);
}

ikt_status ikt_yaml_fail(ikt_context *ctx, const ikt_yaml *yaml, int node, const char *format,
                         ...) {
    char where[IKT_STRING_MAX], sentence[IKT_STRING_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    ikt_yaml_where(yaml, node, where, sizeof where);
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s%s", where, sentence);
}

ikt_status ikt_yaml_check_keys(ikt_context *ctx, const ikt_yaml *yaml, int node, const char *what,
                               const char *const *known) {
    if (ikt_yaml_kind_of(yaml, node) != IKT_YAML_MAPPING)
        return ikt_yaml_fail(ctx, yaml, node, "%s is a mapping of keys to values", what);
    for (int i = 0; i < ikt_yaml_count(yaml, node); i++) {
        const char *key = ikt_yaml_key(yaml, node, i);
        ikt_nearest nearest = ikt_nearest_begin(key);
        bool is_known = false;
        const int value = ikt_yaml_value(yaml, node, i);
        for (int j = 0; j < i; j++)
            if (strcmp(ikt_yaml_key(yaml, node, j), key) == 0)
                return ikt_yaml_fail(ctx, yaml, value, "'%s' is given a second time", key);
        for (const char *const *k = known; *k; k++) {
            is_known |= strcmp(*k, key) == 0;
            ikt_nearest_offer(&nearest, *k);
        }
        if (!is_known)
            return ikt_yaml_fail(ctx, yaml, value, "%s has no key '%.80s'%s", what, key,
                                 ikt_nearest_say(&nearest));
    }
    return IKT_OK;
}
