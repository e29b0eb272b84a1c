/* Settings that a graph depends on. See graph_settings.h. */
#include "settings/graph_settings.h"

#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"

/* The parts of `settings` that a graph depends on; returns how many. */
static size_t choose_parts(ikt_settings *settings, ikt_config_part part[IKT_SETTINGS_PARTS]) {
    ikt_config_part all[IKT_SETTINGS_PARTS];
    const char *const outside[] = {"input", "layout", "output", "run"};
    size_t count = 0;
    ikt_settings_parts(settings, all);
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        bool is_outside = false;
        for (size_t o = 0; o < sizeof outside / sizeof *outside; o++)
            is_outside = is_outside || strcmp(all[p].section->name, outside[o]) == 0;
        if (!is_outside) part[count++] = all[p];
    }
    return count;
}

ikt_status ikt_graph_settings_print(ikt_context *ctx, const ikt_settings *settings, char **text) {
    ikt_settings copy = *settings;
    ikt_config_part part[IKT_SETTINGS_PARTS];
    const size_t parts = choose_parts(&copy, part);
    return ikt_config_print(ctx, part, parts, text);
}

/* The same key of the user, of the defaults, and of the graph. */
typedef struct {
    char own[IKT_STRING_MAX], usual[IKT_STRING_MAX], kept[IKT_STRING_MAX];
} values;

static ikt_status check_key(ikt_context *ctx, const ikt_section *section, const ikt_key *key,
                            const values *v, const char *name) {
    if (strcmp(v->own, v->usual) == 0 || strcmp(v->own, v->kept) == 0) return IKT_OK;
    /* "graph" says no more than that there is one. */
    if (strcmp(section->name, "affinity") == 0 && strcmp(v->own, "graph") == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s was made with %s.%s = %.80s, and this run asks for %.80s: leave the key "
                    "out, or make another graph (without input.graph)",
                    name, section->name, key->name, v->kept, v->own);
}

static ikt_status check_part(ikt_context *ctx, const ikt_config_part *own,
                             const ikt_config_part *usual, const ikt_config_part *kept,
                             const char *name) {
    values *v = NULL;
    IKT_TRY(ikt_alloc(ctx, &v, 1, sizeof *v, "settings"));
    ikt_status st = IKT_OK;
    for (size_t k = 0; k < own->section->n_keys && st == IKT_OK; k++) {
        const ikt_key *key = &own->section->keys[k];
        ikt_value_print(key, ikt_config_member(own, key), v->own, sizeof v->own);
        ikt_value_print(key, ikt_config_member(usual, key), v->usual, sizeof v->usual);
        ikt_value_print(key, ikt_config_member(kept, key), v->kept, sizeof v->kept);
        st = check_key(ctx, own->section, key, v, name);
    }
    ikt_free(&v);
    return st;
}

static ikt_status adopt(ikt_context *ctx, ikt_settings *settings, ikt_settings *usual,
                        ikt_settings *kept, const char *text, const char *name) {
    ikt_config_part own[IKT_SETTINGS_PARTS], plain[IKT_SETTINGS_PARTS], made[IKT_SETTINGS_PARTS];
    const size_t parts = choose_parts(settings, own);
    choose_parts(usual, plain);
    choose_parts(kept, made);
    IKT_TRY(ikt_config_defaults(ctx, plain, parts));
    IKT_TRY(ikt_config_defaults(ctx, made, parts));
    IKT_TRY(ikt_config_parse_text(ctx, made, parts, name, text));
    for (size_t p = 0; p < parts; p++)
        IKT_TRY(check_part(ctx, &own[p], &plain[p], &made[p], name));
    settings->preprocess = kept->preprocess;
    settings->affinity = kept->affinity;
    settings->isolation = kept->isolation;
    return IKT_OK;
}

ikt_status ikt_graph_settings_adopt(ikt_context *ctx, ikt_settings *settings, const char *text,
                                    const char *name) {
    ikt_settings *both = NULL;
    IKT_TRY(ikt_alloc(ctx, &both, 2, sizeof *both, "settings"));
    ikt_status st = adopt(ctx, settings, &both[0], &both[1], text, name);
    ikt_free(&both);
    return st;
}
