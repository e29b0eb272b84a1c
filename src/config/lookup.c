/* Finding a key by its name; defaults and single assignments.
 *
 * A wrong name is answered with the nearest right one, by edit distance over all sections: a right
 * key in the wrong section, or without a section, is a small mistake. */
#include "config/config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/value.h"

enum { NAME_SIZE = 128 };

void *ikt_config_member(const ikt_config_part *part, const ikt_key *key) {
    return (char *)part->settings + key->offset;
}

/* The nearest name so far. */
typedef struct {
    char name[2 * NAME_SIZE];
    int distance;
} nearest;

static void consider(nearest *best, int distance, const char *section, const char *key) {
    if (distance >= best->distance) return;
    best->distance = distance;
    snprintf(best->name, sizeof best->name, "%s%s%s", section, key ? "." : "", key ? key : "");
}

/* Compares "section.key" as a whole, and the key alone: a right key in the wrong section is near.
 */
static int distance_of_key(const char *wanted_section, const char *wanted, const char *section,
                           const char *key) {
    char a[NAME_SIZE], b[NAME_SIZE];
    snprintf(a, sizeof a, "%.60s.%.60s", wanted_section, wanted);
    snprintf(b, sizeof b, "%.60s.%.60s", section, key);
    int whole = ikt_name_distance(a, b), alone = ikt_name_distance(wanted, key) + 1;
    return whole < alone ? whole : alone;
}

static void consider_keys(nearest *best, const ikt_config_part *parts, size_t n,
                          const char *wanted_section, const char *wanted) {
    for (size_t p = 0; p < n; p++) {
        const ikt_section *s = parts[p].section;
        for (size_t k = 0; k < s->n_keys; k++)
            consider(best, distance_of_key(wanted_section, wanted, s->name, s->keys[k].name),
                     s->name, s->keys[k].name);
    }
}

const ikt_config_part *ikt_config_find_section(ikt_context *ctx, const ikt_config_part *parts,
                                               size_t n, const char *where, const char *section) {
    nearest best = {"", INT_MAX};
    for (size_t p = 0; p < n; p++) {
        const char *name = parts[p].section->name;
        if (strcmp(name, section) == 0) return &parts[p];
        consider(&best, ikt_name_distance(name, section), name, NULL);
    }
    consider_keys(&best, parts, n, "", section); /* a key without its section */
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown section '%.60s'; did you mean '%s'?", where, section,
             best.name);
    return NULL;
}

const ikt_key *ikt_config_find_key(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                   const ikt_config_part *part, const char *where,
                                   const char *name) {
    for (size_t k = 0; k < part->section->n_keys; k++)
        if (strcmp(part->section->keys[k].name, name) == 0) return &part->section->keys[k];
    nearest best = {"", INT_MAX};
    consider_keys(&best, parts, n, part->section->name, name);
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown key '%s.%.60s'; did you mean '%s'?", where,
             part->section->name, name, best.name);
    return NULL;
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

/* What is left of '=' in an assignment, as "section" and "key" in one buffer. */
typedef struct {
    char text[NAME_SIZE];
    const char *key; /* NULL: no '=', no dot, or too long */
    const char *value;
} assignment_parts;

static void split(const char *assignment, assignment_parts *a) {
    size_t length = strcspn(assignment, "=");
    snprintf(a->text, sizeof a->text, "%.*s", (int)(length < NAME_SIZE ? length : 0), assignment);
    char *dot = strchr(a->text, '.');
    a->value = assignment + length + 1;
    a->key = assignment[length] == '=' && dot ? dot + 1 : NULL;
    if (a->key) *dot = '\0';
}

ikt_status ikt_config_override(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *assignment) {
    assignment_parts a;
    split(assignment, &a);
    if (!a.key) {
        nearest best = {"", INT_MAX};
        consider_keys(&best, parts, n, "", a.text);
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "'%.80s' is no setting, which is section.key=value; did you mean '%s'?",
                        assignment, best.name);
    }
    const ikt_config_part *part = ikt_config_find_section(ctx, parts, n, "", a.text);
    if (!part) return IKT_ERR_USAGE;
    const ikt_key *key = ikt_config_find_key(ctx, parts, n, part, "", a.key);
    if (!key) return IKT_ERR_USAGE;
    char what[2 * NAME_SIZE];
    snprintf(what, sizeof what, "%s.%s", part->section->name, key->name);
    return ikt_value_parse(ctx, key, what, a.value, ikt_config_member(part, key));
}
