/* Finding a key by its name; sets of keys and single assignments. */
#include "config/lookup.h"

#include <stdio.h>
#include <string.h>

#include "config/value.h"

enum { NAME_SIZE = 128 };

void *ikt_config_member(const ikt_config_part *part, const ikt_key *key) {
    return (char *)part->settings + key->offset;
}

const ikt_config_part *ikt_config_find_section(ikt_context *ctx, const ikt_config_part *parts,
                                               size_t n, const char *where, const char *section) {
    size_t nearest = 0;
    for (size_t p = 0; p < n; p++) {
        const char *name = parts[p].section->name;
        if (strcmp(name, section) == 0) return &parts[p];
        if (ikt_name_distance(name, section) <
            ikt_name_distance(parts[nearest].section->name, section))
            nearest = p;
    }
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown section '%.60s'; did you mean '%s'?", where, section,
             parts[nearest].section->name);
    return NULL;
}

/* Compares "section.key" as a whole, and the key alone: a right key in the wrong section is near.
 */
static int distance(const char *wanted_section, const char *wanted, const ikt_section *section,
                    const char *name) {
    char a[NAME_SIZE], b[NAME_SIZE];
    snprintf(a, sizeof a, "%.60s.%.60s", wanted_section, wanted);
    snprintf(b, sizeof b, "%.60s.%.60s", section->name, name);
    int whole = ikt_name_distance(a, b), alone = ikt_name_distance(wanted, name) + 1;
    return whole < alone ? whole : alone;
}

const ikt_key *ikt_config_find_key(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                   const ikt_config_part *part, const char *where,
                                   const char *name) {
    for (size_t k = 0; k < part->section->n_keys; k++)
        if (strcmp(part->section->keys[k].name, name) == 0) return &part->section->keys[k];
    const char *near_section = "", *near_key = "";
    int least = 1 << 20;
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const char *key = parts[p].section->keys[k].name;
            int here = distance(part->section->name, name, parts[p].section, key);
            if (here >= least) continue;
            least = here;
            near_section = parts[p].section->name;
            near_key = key;
        }
    ikt_fail(ctx, IKT_ERR_USAGE, "%sunknown key '%s.%.60s'; did you mean '%s.%s'?", where,
             part->section->name, name, near_section, near_key);
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

ikt_status ikt_config_override(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *assignment) {
    const char *equals = strchr(assignment, '='), *dot = strchr(assignment, '.');
    if (!equals || !dot || dot > equals || equals - assignment >= NAME_SIZE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "'%.80s' is no setting; write section.key=value, e.g. isolation.psi=512",
                        assignment);
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    name[dot - assignment] = '\0';
    const ikt_config_part *part = ikt_config_find_section(ctx, parts, n, "", name);
    if (!part) return IKT_ERR_USAGE;
    const ikt_key *key =
        ikt_config_find_key(ctx, parts, n, part, "", name + (dot - assignment) + 1);
    if (!key) return IKT_ERR_USAGE;
    name[dot - assignment] = '.';
    return ikt_value_parse(ctx, key, name, equals + 1, ikt_config_member(part, key));
}
