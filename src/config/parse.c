/* Settings by their names: defaults, single assignments, and YAML of two levels.
 *
 * A wrong name is answered with the nearest right one over all sections, where one is near, or with
 * what another program's name is called here (hints.c).
 * YAML is read by libyaml's events rather than a document tree: every one carries its line, nothing
 * but scalars and two levels of mappings is accepted, and a hostile file can make nothing large. */
#include "config/config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/memory.h"
#include "config/value.h"

enum { NAME_SIZE = 128, SEEN_MAX = 512 };

/* --- names ------------------------------------------------------------------------------------ */

void *ikt_config_member(const ikt_config_part *part, const ikt_key *key) {
    return (char *)part->settings + key->offset;
}

/* Offers all keys: a right key in another section, or without one, is a small mistake. */
static void offer_keys(ikt_nearest *nearest, const ikt_config_part *parts, size_t n,
                       const char *wanted_section) {
    char full[2 * NAME_SIZE];
    for (size_t p = 0; p < n; p++) {
        const ikt_section *s = parts[p].section;
        for (size_t k = 0; k < s->n_keys; k++) {
            snprintf(full, sizeof full, "%.60s.%.60s", s->name, s->keys[k].name);
            ikt_nearest_offer_as(nearest, s->keys[k].name, full,
                                 strcmp(s->name, wanted_section) != 0);
            ikt_nearest_offer(nearest, full);
        }
    }
}

/* "; HINT" to a name that is no key: what another program's name is here, or the nearest one.
 *   name      borrowed by *nearest, which holds the answer
 *   section   that was asked for; "" for none */
static const char *hint_to_key(ikt_nearest *nearest, const ikt_config_part *parts, size_t n,
                               const char *section, const char *name) {
    *nearest = ikt_nearest_begin(name);
    const char *sentence = ikt_peer_hint(name);
    if (sentence) {
        snprintf(nearest->text, sizeof nearest->text, "; %s", sentence);
        return nearest->text;
    }
    offer_keys(nearest, parts, n, section);
    return ikt_nearest_say(nearest);
}

/* The part of that section, or NULL with a message that `where` begins and that names the nearest
 * section or key. */
static const ikt_config_part *find_section(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                           const char *where, const char *section) {
    ikt_nearest key, own = ikt_nearest_begin(section);
    for (size_t p = 0; p < n; p++) {
        const char *name = parts[p].section->name;
        if (strcmp(name, section) == 0) return &parts[p];
        ikt_nearest_offer(&own, name);
    }
    const char *hint = hint_to_key(&key, parts, n, "", section); /* a key without its section */
    const bool is_key = !key.name[0] ? hint[0] != '\0' : key.distance < own.distance;
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown section '%.60s'%s", where, section,
             is_key || !own.name[0] ? hint : ikt_nearest_say(&own));
    return NULL;
}

const ikt_key *ikt_config_find_key(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                   const ikt_config_part *part, const char *where,
                                   const char *name) {
    for (size_t k = 0; k < part->section->n_keys; k++)
        if (strcmp(part->section->keys[k].name, name) == 0) return &part->section->keys[k];
    ikt_nearest nearest;
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown key '%s.%.60s'%s", where, part->section->name, name,
             hint_to_key(&nearest, parts, n, part->section->name, name));
    return NULL;
}

const ikt_key *ikt_config_find(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *where, const char *name, const ikt_config_part **part) {
    char section[NAME_SIZE];
    const size_t length = strcspn(name, ".");
    snprintf(section, sizeof section, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE), name);
    *part = find_section(ctx, parts, n, where, section);
    if (!*part) return NULL;
    return ikt_config_find_key(ctx, parts, n, *part, where, name + length + (name[length] == '.'));
}

void ikt_config_offer(ikt_nearest *nearest, const ikt_config_part *parts, size_t n) {
    offer_keys(nearest, parts, n, "");
}

ikt_status ikt_config_defaults(ikt_context *ctx, const ikt_config_part *parts, size_t n) {
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const ikt_key *key = &parts[p].section->keys[k];
            if (ikt_value_parse(ctx, key, key->name, key->fallback,
                                ikt_config_member(&parts[p], key)) != IKT_OK)
                return IKT_ERR_INTERNAL;
        }
    return IKT_OK;
}

/* A name of a file may have a = in it. */
static ikt_status refuse_assignment(ikt_context *ctx, const char *word, const char *hint) {
    if (hint[0] || word[0] == '=' || !strchr(word, '='))
        return ikt_fail(ctx, IKT_ERR_USAGE, "'%.80s' is no setting, which is section.key=value%s",
                        word, hint);
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "'%.80s' is no setting, which is section.key=value; a file of that name is "
                    "written ./%.80s",
                    word, word);
}

ikt_status ikt_config_override(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *assignment) {
    char name[NAME_SIZE], what[2 * NAME_SIZE];
    const size_t length = strcspn(assignment, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < NAME_SIZE ? length : 0), assignment);
    char *dot = strchr(name, '.');
    ikt_nearest nearest;
    if (assignment[length] != '=' || !dot)
        return refuse_assignment(ctx, assignment, hint_to_key(&nearest, parts, n, "", name));
    *dot = '\0';
    const ikt_config_part *part = NULL;
    for (size_t p = 0; p < n && !part; p++)
        if (strcmp(parts[p].section->name, name) == 0) part = &parts[p];
    /* A right key in a section that there is none of tells more than the name of the section. */
    const char *hint = part ? "" : hint_to_key(&nearest, parts, n, name, dot + 1);
    if (hint[0]) return ikt_fail(ctx, IKT_ERR_USAGE, "unknown section '%.60s'%s", name, hint);
    if (!part) part = find_section(ctx, parts, n, "", name);
    if (!part) return IKT_ERR_USAGE;
    const ikt_key *key = ikt_config_find_key(ctx, parts, n, part, "", dot + 1);
    if (!key) return IKT_ERR_USAGE;
    snprintf(what, sizeof what, "%s.%s", part->section->name, key->name);
    return ikt_value_parse(ctx, key, what, assignment + length + 1, ikt_config_member(part, key));
}

/* --- YAML ------------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    const ikt_config_part *parts;
    size_t n;
    const char *name; /* of the file */
    const char *text; /* of the file, whole */
    yaml_parser_t parser;
    char place[IKT_STRING_MAX];  /* of the event, for messages: "run.yaml, line 3: " */
    int depth;                   /* mappings that are open */
    const ikt_config_part *part; /* section whose value is awaited or read */
    const ikt_key *key;          /* key whose value is awaited */
    const void *seen[SEEN_MAX];  /* sections, keys and the document: none may come twice */
    int n_seen;
} reader;

static ikt_status next(reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event)) return IKT_OK;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return ikt_fail(r->ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", r->name);
    size_t line = r->parser.problem_mark.line + 1;
    if (r->parser.error == YAML_READER_ERROR) {
        line = 1; /* of bytes that are no text the parser knows the offset only */
        for (size_t i = 0; r->text[i] && i < r->parser.problem_offset; i++)
            line += r->text[i] == '\n';
    }
    /* The commonest slip in YAML: a line that begins with a tab behind any blanks. */
    const char *problem = r->parser.problem ? r->parser.problem : "unreadable", *at = r->text;
    for (size_t l = 1; l < line && at; l++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    if (at && at[strspn(at, " ")] == '\t')
        problem = "the line begins with a tab; indent with blanks";
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%.800s, line %zu: not valid YAML: %s", r->name, line,
                    problem);
}

static ikt_status refuse(reader *r, const char *what) {
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s%s", r->place, what);
}

/* True the first time that a section or key is met. Tables hold far fewer than SEEN_MAX. */
static bool is_new(reader *r, const void *what) {
    for (int s = 0; s < r->n_seen; s++)
        if (r->seen[s] == what) return false;
    if (r->n_seen < SEEN_MAX) r->seen[r->n_seen++] = what;
    return true;
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

/* A scalar that is no more than that, where `what` says what should stand here. */
static ikt_status check_scalar(reader *r, const yaml_event_t *event, const char *what) {
    if (event->type != YAML_SCALAR_EVENT) return refuse(r, what);
    if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return refuse(r, "a value holds a zero byte");
    return IKT_OK;
}

static ikt_status set(reader *r, const yaml_event_t *event) {
    const ikt_key *key = r->key;
    char what[IKT_STRING_MAX + NAME_SIZE];
    IKT_TRY(check_scalar(r, event, "a list or mapping stands where a single value is expected"));
    snprintf(what, sizeof what, "%s%s.%s", r->place, r->part->section->name, key->name);
    if (is_nothing(event))
        return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s has no value%s", what,
                        key->type == IKT_KEY_STRING ? "; write \"\" for an empty text" : "");
    if (!is_new(r, key)) return ikt_fail(r->ctx, IKT_ERR_USAGE, "%s is set a second time", what);
    return ikt_value_parse(r->ctx, key, what, (const char *)event->data.scalar.value,
                           ikt_config_member(r->part, key));
}

/* The name of a section, or of a key of r->part. */
static ikt_status take_name(reader *r, const yaml_event_t *event) {
    IKT_TRY(check_scalar(
        r, event, r->part ? "a key is expected here" : "the name of a section is expected here"));
    const char *name = (const char *)event->data.scalar.value;
    if (r->part) {
        r->key = ikt_config_find_key(r->ctx, r->parts, r->n, r->part, r->place, name);
        return r->key ? IKT_OK : IKT_ERR_USAGE;
    }
    r->part = find_section(r->ctx, r->parts, r->n, r->place, name);
    if (!r->part) return IKT_ERR_USAGE;
    if (is_new(r, r->part)) return IKT_OK;
    return ikt_fail(r->ctx, IKT_ERR_USAGE, "%ssection %s begins a second time; join the two",
                    r->place, r->part->section->name);
}

/* One document, whose root is a mapping of sections or empty; a section is a mapping of keys, or
 * nothing at all. A part or key is set while its value is awaited or read. */
static ikt_status take_event(reader *r, const yaml_event_t *event) {
    const bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    const bool is_value = is_mapping || event->type == YAML_SCALAR_EVENT ||
                          event->type == YAML_SEQUENCE_START_EVENT ||
                          event->type == YAML_ALIAS_EVENT;
    snprintf(r->place, sizeof r->place, "%.800s, line %zu: ", r->name, event->start_mark.line + 1);
    if (event->type == YAML_DOCUMENT_START_EVENT && !is_new(r, r->text))
        return refuse(r, "a second document begins; one file is one configuration");
    if (event->type == YAML_MAPPING_END_EVENT) {
        r->depth--;
        r->part = NULL;
    }
    if (!is_value) return IKT_OK;
    /* What YAML can hang on a value is refused. */
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
        return refuse(r, "anchors and aliases (&name, *name) are not used in this file; write the "
                         "value out, in quotes if it begins with & or *");
    if (tag)
        return refuse(r, "tags (!name) are not used in this file; leave it out, or put the value "
                         "in quotes if it begins with !");
    if (r->key) {
        const ikt_status st = set(r, event);
        r->key = NULL;
        return st;
    }
    if (r->depth == (r->part ? 2 : 1)) return take_name(r, event);
    if (!is_mapping && !is_nothing(event))
        return refuse(r, r->part ? "a section holds lines of the form `key: value`, indented"
                                 : "the file must consist of sections, e.g. `input:`");
    if (is_mapping)
        r->depth++;
    else
        r->part = NULL;
    return IKT_OK;
}

ikt_status ikt_config_parse_text(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                 const char *name, const char *text) {
    reader r = {.ctx = ctx, .parts = parts, .n = n, .name = name, .text = text};
    if (!yaml_parser_initialize(&r.parser))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for reading %.800s", name);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, strlen(text));
    ikt_status st = IKT_OK;
    for (bool is_over = false; st == IKT_OK && !is_over;) {
        yaml_event_t event;
        st = next(&r, &event);
        if (st != IKT_OK) break;
        st = take_event(&r, &event);
        is_over = event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT;
        yaml_event_delete(&event);
    }
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
