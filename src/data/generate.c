/* Choosing a generated set, completing its settings, and filling rows with it. */
#include "data/generate.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "config/value.h"
#include "data/generate_sets.h"

static const ikt_generator *const generators[] = {
    &ikt_generator_five_subspace,   &ikt_generator_two_subspace,
    &ikt_generator_shared_subspace, &ikt_generator_gaussian_mixture,
    &ikt_generator_uniform_2d,      &ikt_generator_swiss_roll,
    &ikt_generator_s_curve,         &ikt_generator_sphere,
    &ikt_generator_glyphs,          &ikt_generator_deform,
    &ikt_generator_subset,          &ikt_generator_outlier,
    &ikt_generator_copies};
enum { GENERATORS = sizeof generators / sizeof *generators };

#define MEMBER(name) offsetof(ikt_generate_settings, name)
static const ikt_key keys[] = {
    {"points", IKT_KEY_INT, MEMBER(points), "auto", 1, 1e12, 1, NULL, "N", "Number of rows"},
    {"dimensions", IKT_KEY_INT, MEMBER(dimensions), "auto", 1, 1e6, 1, NULL, "D",
     "Number of columns"},
    {"clusters", IKT_KEY_INT, MEMBER(clusters), "auto", 1, 1e6, 1, NULL, "K", "Number of clusters"},
    {"separation", IKT_KEY_REAL, MEMBER(separation), "auto", 0, 1e6, 1, NULL, "S",
     "The root mean square distance of two cluster centres, in standard deviations of a cluster; "
     "for outlier and copies it is the length of the shift"},
    {"noise", IKT_KEY_REAL, MEMBER(noise), "auto", 0, 1e6, 1, NULL, "S",
     "The standard deviation of the normal noise that is added to each coordinate"},
    {"scale", IKT_KEY_CHOICE, MEMBER(scale), "auto", 0, 0, 0, "auto|sd|variance", "HOW",
     "Whether 1, 16, 81, 256 and 625 are the standard deviations of the clusters (sd, as in the "
     "authors' program) or their variances (variance, as in the text of the paper)"},
    {"strength", IKT_KEY_REAL, MEMBER(strength), "auto", 0, 10, 1, NULL, "F",
     "A factor on the deformation of the images; 0 leaves them undeformed"},
    {"source", IKT_KEY_STRING, MEMBER(source), "", 0, 0, 0, NULL, "FILE",
     "The file that the set is made from: its /X, which for deform holds square images of type "
     "uint8, and its /labels if there are any"},
    {"share", IKT_KEY_REAL, MEMBER(share), "auto", 1e-9, 1, 1, NULL, "F",
     "The share of the rows that is kept"},
    {"classes", IKT_KEY_STRING, MEMBER(classes), "", 0, 0, 0, NULL, "LIST",
     "The labels of the rows that are kept, separated by commas, or all"},
    {"keep-originals", IKT_KEY_CHOICE, MEMBER(keep_originals), "auto", 0, 0, 0, "auto|yes|no",
     "HOW", "Whether the first rows are the images of the source as they are"}};
enum { KEYS = sizeof keys / sizeof *keys };

const ikt_section ikt_generate_section = {"generate", "Settings of a generated data set", keys,
                                          KEYS};

const ikt_generator *ikt_generator_at(int i) {
    return i >= 0 && i < GENERATORS ? generators[i] : NULL;
}

static void *member(const ikt_key *key, ikt_generate_settings *settings) {
    return (char *)settings + key->offset;
}

ikt_status ikt_generate_defaults(ikt_context *ctx, ikt_generate_settings *settings) {
    for (int k = 0; k < KEYS; k++)
        IKT_TRY(ikt_value_parse(ctx, &keys[k], keys[k].name, keys[k].fallback,
                                member(&keys[k], settings)));
    return IKT_OK;
}

/* Whether the member is anything but the key's default, "auto" or "". */
static bool is_given(const ikt_key *key, ikt_generate_settings *settings) {
    char text[IKT_STRING_MAX];
    ikt_value_print(key, member(key, settings), text, sizeof text);
    return strcmp(text, key->fallback) != 0;
}

static const ikt_generate_use *find_use(const ikt_generator *generator, const char *key) {
    for (const ikt_generate_use *use = generator->uses; use->key; use++)
        if (strcmp(use->key, key) == 0) return use;
    return NULL;
}

static ikt_status refuse(ikt_context *ctx, const ikt_generator *generator, const char *key) {
    char list[256] = "";
    for (const ikt_generate_use *use = generator->uses; use->key; use++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 use == generator->uses ? "" : ", ", use->key);
    return ikt_fail(ctx, IKT_ERR_USAGE, "the set %s has no setting '%s'; it has: %s",
                    generator->name, key, list);
}

/* Puts the set's defaults where the caller gave nothing, and refuses what does not apply. */
static ikt_status complete(ikt_context *ctx, const ikt_generator *generator,
                           ikt_generate_settings *settings) {
    for (int k = 0; k < KEYS; k++) {
        char text[IKT_STRING_MAX], what[64];
        const ikt_generate_use *use = find_use(generator, keys[k].name);
        bool given = is_given(&keys[k], settings);
        if (!use && given) return refuse(ctx, generator, keys[k].name);
        if (!use) continue;
        if (!given && use->fallback[0] == '\0')
            return ikt_fail(ctx, IKT_ERR_USAGE, "the set %s needs the setting '%s' (%s)",
                            generator->name, keys[k].name, keys[k].help);
        snprintf(what, sizeof what, "%s: %s", generator->name, keys[k].name);
        /* A given value is parsed again too: that checks its range for callers from C. */
        ikt_value_print(&keys[k], member(&keys[k], settings), text, sizeof text);
        IKT_TRY(ikt_value_parse(ctx, &keys[k], what, given ? text : use->fallback,
                                member(&keys[k], settings)));
    }
    return IKT_OK;
}

static ikt_status find_generator(ikt_context *ctx, const char *name, const ikt_generator **found) {
    const ikt_generator *nearest = generators[0];
    for (int g = 0; g < GENERATORS; g++) {
        *found = generators[g];
        if (strcmp((*found)->name, name) == 0) return IKT_OK;
        if (ikt_name_distance((*found)->name, name) < ikt_name_distance(nearest->name, name))
            nearest = *found;
    }
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "there is no set '%.60s' to generate; did you mean '%s'? "
                    "(`iktsne generate --help` lists them)",
                    name, nearest->name);
}

ikt_status ikt_generation_open(ikt_context *ctx, const char *name,
                               const ikt_generate_settings *settings, uint64_t seed,
                               ikt_generation **out) {
    const ikt_generator *generator = NULL;
    ikt_generation *g = NULL;
    *out = NULL;
    ikt_status st = find_generator(ctx, name, &generator);
    if (st == IKT_OK) st = ikt_alloc(ctx, &g, 1, sizeof *g, "generation");
    if (st == IKT_OK) {
        *g = (ikt_generation){.ctx = ctx,
                              .generator = generator,
                              .settings = *settings,
                              .seed = seed,
                              .origin = -1,
                              .has_labels = generator->labels};
        st = complete(ctx, generator, &g->settings);
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = generator->prepare(g);
    if (st != IKT_OK) ikt_generation_close(&g);
    *out = g;
    return st;
}

void ikt_generation_close(ikt_generation **generation) {
    ikt_generation *g = *generation;
    if (!g) return;
    if (g->state && g->generator->release) g->generator->release(g->state);
    ikt_free(&g->state);
    ikt_free(generation);
}

void ikt_generation_fill(const ikt_generation *g, int64_t first, int64_t count, void *rows,
                         int32_t *labels) {
    size_t row_bytes = (size_t)g->columns * ikt_type_size(g->generator->type);
#pragma omp parallel for num_threads(ikt_threads(g->ctx))
    for (int64_t i = 0; i < count; i++) {
        int32_t label = 0;
        g->generator->row(g, first + i, (char *)rows + (size_t)i * row_bytes, &label);
        if (labels && g->has_labels) labels[i] = label;
    }
}

double ikt_generate_normal(const ikt_generation *g, int64_t row, uint64_t draw) {
    return ikt_rng_normal(g->seed, IKT_RNG_GENERATE, row, draw);
}

double ikt_generate_uniform(const ikt_generation *g, int64_t row, uint64_t draw) {
    return ikt_rng_uniform(g->seed, IKT_RNG_GENERATE, row, draw);
}
