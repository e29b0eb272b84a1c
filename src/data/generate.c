/* Choosing a generated set, completing its settings, and filling rows with it; a set as a file. */
#include "data/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/rng.h"
#include "config/config.h"
#include "config/value.h"
#include "dist/rows.h"
#include "iktsne/version.h"
#include "io/convert/table_writer.h"
#include "linalg/blocks.h"

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

static const ikt_generate_use *find_use(const ikt_generator *generator, const char *key) {
    for (const ikt_generate_use *use = generator->uses; use->key; use++)
        if (strcmp(use->key, key) == 0) return use;
    return NULL;
}

/* Puts the set's defaults where the caller gave nothing, and refuses what does not apply. */
static ikt_status complete(ikt_context *ctx, const ikt_generator *generator,
                           ikt_generate_settings *settings) {
    for (int k = 0; k < KEYS; k++) {
        char text[IKT_STRING_MAX], what[64];
        const ikt_generate_use *use = find_use(generator, keys[k].name);
        ikt_value_print(&keys[k], member(&keys[k], settings), text, sizeof text);
        const bool given = strcmp(text, keys[k].fallback) != 0; /* "auto" or "" */
        if (!use && given) {
            char list[256] = "";
            for (use = generator->uses; use->key; use++)
                ikt_join(list, sizeof list, ", ", "%s", use->key);
            return ikt_fail(ctx, IKT_ERR_USAGE, "the set %s has no setting '%s'; it has: %s",
                            generator->name, keys[k].name, list);
        }
        if (!use) continue;
        if (!given && use->fallback[0] == '\0')
            return ikt_fail(ctx, IKT_ERR_USAGE, "the set %s needs the setting '%s' (%s)",
                            generator->name, keys[k].name, keys[k].help);
        snprintf(what, sizeof what, "%s: %s", generator->name, keys[k].name);
        /* A given value is parsed again too: that checks its range for callers from C. */
        IKT_TRY(ikt_value_parse(ctx, &keys[k], what, given ? text : use->fallback,
                                member(&keys[k], settings)));
    }
    return IKT_OK;
}

static ikt_status find_generator(ikt_context *ctx, const char *name, const ikt_generator **found) {
    ikt_nearest nearest = ikt_nearest_begin(name);
    for (int g = 0; g < GENERATORS; g++) {
        *found = generators[g];
        if (strcmp((*found)->name, name) == 0) return IKT_OK;
        ikt_nearest_offer(&nearest, (*found)->name);
    }
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "there is no set '%.60s' to generate%s (`iktsne generate --help` lists them)",
                    name, ikt_nearest_say(&nearest));
}

ikt_status ikt_generation_open(ikt_context *ctx, const char *name,
                               const ikt_generate_settings *settings, uint64_t seed,
                               ikt_generation **out) {
    const ikt_generator *generator = NULL;
    ikt_generation *g IKT_AT_END(ikt_generation_close) = NULL;
    *out = NULL;
    ikt_status st = find_generator(ctx, name, &generator);
    if (st == IKT_OK) st = ikt_alloc(ctx, &g, 1, sizeof *g, "generation");
    if (st == IKT_OK) {
        *g = (ikt_generation){.ctx = ctx,
                              .generator = generator,
                              .settings = *settings,
                              .seed = seed,
                              .columns = generator->columns,
                              .origin = -1,
                              .has_labels = generator->labels};
        st = complete(ctx, generator, &g->settings);
    }
    IKT_TRY(ikt_agree(ctx, st));
    if (generator->prepare) IKT_TRY(generator->prepare(g));
    return ikt_give(out, g);
}

void ikt_generation_close(ikt_generation **generation) {
    ikt_generation *g = *generation;
    if (!g) return;
    if (g->state && g->generator->release) g->generator->release(g->state);
    ikt_free_all(&g->state, generation);
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

/* --- sources of sets -------------------------------------------------------------------------- */

ikt_status ikt_generate_load(ikt_generation *g, ikt_source *source, ikt_type type, void **rows,
                             int32_t **labels) {
    ikt_context *ctx = g->ctx;
    const ikt_type stored = ikt_source_type(source);
    const int64_t n = ikt_source_rows(source), d = g->columns;
    const ikt_rows own = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const size_t row_bytes = (size_t)d * ikt_type_size(type);
    float *part = NULL;
    bool present = false;
    const int64_t need = d * (type == IKT_TYPE_U8 ? 1 : 8) + 32; /* bytes a row */
    const int64_t available = ikt_memory_available(ctx);
    IKT_ARRAYS(held, ctx, "source");
    if (n > available / need)
        held.status =
            ikt_fail(ctx, IKT_ERR_RESOURCE,
                     "%s needs %.1f MB on every rank, and rank %d has %.1f MB left; start fewer "
                     "ranks a node (with more threads), or use a part of the source",
                     ikt_source_name(source), (double)n * (double)need / 1e6, ikt_rank(ctx),
                     (double)available / 1e6);
    void *native = ikt_claim(&held, own.count * d, ikt_type_size(stored));
    if (type == IKT_TYPE_F32) part = ikt_claim(&held, own.count * d, sizeof *part);
    int64_t *wide = ikt_claim(&held, own.count, sizeof *wide);
    int32_t *label = ikt_claim(&held, own.count, sizeof *label);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    *rows = ikt_claim_kept(&held, n, row_bytes);
    *labels = ikt_claim_kept(&held, n, sizeof **labels);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_status st = ikt_source_read(source, own.first, own.count, native);
    if (st == IKT_OK)
        st = ikt_source_read_labels(source, "labels", own.first, own.count, wide, &present);
    for (int64_t i = 0; st == IKT_OK && present && i < own.count; i++) {
        if (wide[i] < INT32_MIN || wide[i] > INT32_MAX)
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s: the label %" PRId64 " of row %" PRId64 " is beyond 32 bits",
                          ikt_source_name(source), wide[i], own.first + i);
        label[i] = (int32_t)wide[i];
    }
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t e = 0; part && e < own.count * d; e++)
        part[e] = (float)ikt_number_at(stored, native, e);
    ikt_gather_counts(ctx, own.count, counts);
    ikt_allgather(ctx, part ? part : native, own.count, row_bytes, *rows, counts);
    ikt_allgather(ctx, label, own.count, sizeof *label, *labels, counts);
    if (!present) ikt_free(labels);
    return IKT_OK;
}

/* --- as a file -------------------------------------------------------------------------------- */

static ikt_status write_attributes(ikt_generation *g, ikt_table_writer *writer) {
    char text[IKT_STRING_MAX];
    snprintf(text, sizeof text, "%" PRIu64, g->seed);
    IKT_TRY(ikt_table_attribute(writer, "generator", g->generator->name));
    IKT_TRY(ikt_table_attribute(writer, "program", "iktsne " IKT_VERSION));
    IKT_TRY(ikt_table_attribute(writer, "seed", text));
    for (const ikt_generate_use *use = g->generator->uses; use->key; use++)
        for (int k = 0; k < KEYS; k++) {
            if (strcmp(keys[k].name, use->key) != 0) continue;
            ikt_value_print(&keys[k], member(&keys[k], &g->settings), text, sizeof text);
            IKT_TRY(ikt_table_attribute(writer, keys[k].name, text));
        }
    if (g->origin < 0) return IKT_OK;
    return ikt_table_marked(writer, &g->origin, 1);
}

/* Every rank generates and writes its own rows, a block at a time; those that are done take part
 * with none. */
static ikt_status write_content(ikt_generation *g, ikt_table_writer *writer) {
    const int64_t element = (int64_t)ikt_type_size(g->generator->type);
    const int64_t block = ikt_stream_rows(g->columns, element);
    const ikt_rows own = ikt_rows_make(g->settings.points, ikt_size(g->ctx), ikt_rank(g->ctx));
    const int64_t steps = ikt_stream_steps(g->ctx, own.count, block);
    IKT_ARRAYS(held, g->ctx, "generation");
    char *rows = ikt_claim(&held, block, (size_t)(g->columns * element));
    int32_t *labels = ikt_claim(&held, block, sizeof *labels);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(write_attributes(g, writer));
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range part = ikt_stream_step((ikt_row_range){own.first, own.count}, block, step);
        ikt_generation_fill(g, part.first, part.count, rows, labels);
        IKT_TRY(
            ikt_table_write(writer, part.first, part.count, rows, g->has_labels ? labels : NULL));
        ikt_progress(g->ctx, "rows", part.first + part.count - own.first, own.count, NULL);
    }
    return IKT_OK;
}

ikt_status ikt_generation_write(ikt_generation *g, const char *path, bool overwrite) {
    const ikt_type type = g->generator->type;
    ikt_table_writer *writer = NULL;
    IKT_TRY(ikt_table_create(g->ctx, path, overwrite, g->settings.points, g->columns, type,
                             g->has_labels, &writer));
    IKT_TRY(ikt_table_close(&writer, write_content(g, writer)));
    ikt_log_numbers(g->ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", g->settings.points),
                                    IKT_LOG_INT("columns", g->columns)),
                    "%s: %" PRId64 " x %" PRId64 " %s, %s", path, g->settings.points, g->columns,
                    ikt_type_name(type), g->generator->name);
    return IKT_OK;
}
