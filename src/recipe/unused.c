/* Settings of parts that are not in use, and what run.preset has set. See facts.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "config/value.h"
#include "recipe/facts.h"

static const char comparing[] = "layout.objective or layout.init = {any:kernel}";
static const char moving[] = "an objective other than {all:stands}";
static const char searching[] = "an affinity.kind other than fisher, which has fisher.candidates";
static const char relating[] = "an objective other than {all:alone}";
static const char exaggerating[] = "layout.objective={any:exaggerates}";
static const char listing[] = "affinity.support=sparse and affinity.search=approximate";
static const char regularising[] = "layout.regulariser=laplacian";

/* Keys with the fact that brings them into use, the most general fact of a key first; without a
 * key: a whole section. What other rules refuse with the reason (layout.init_file, numbers of raw
 * files) is not here, and sections of single methods are in use where the method is. */
static const struct {
    const char *section, *key;
    ikt_fact fact;
    const char *with; /* what would bring it into use */
} uses[] = {
    {"input", "dataset", IKT_FACT_ROWS, "input.file"},
    {"input", "skip_columns", IKT_FACT_FILE, "input.file"},
    {"input", "delimiter", IKT_FACT_FILE, "input.file"},
    {"input", "transposed", IKT_FACT_ROWS, "input.file"},
    {"input", "columns", IKT_FACT_ROWS, "input.file"},
    {"input", "type", IKT_FACT_ROWS, "input.file"},
    {"input", "byte_order", IKT_FACT_ROWS, "input.file"},
    {"input", "skip", IKT_FACT_ROWS, "input.file"},
    {"input", "symmetrise", IKT_FACT_SIMILARITIES, "input.similarities"},
    {"input", "spectrum", IKT_FACT_SIMILARITIES, "input.similarities"},
    {"kernel", NULL, IKT_FACT_KERNEL,
     "layout.objective or layout.init = {any:kernel}, or affinity.kind=fisher"},
    {"kernel", "solver", IKT_FACT_KERNEL_MAP, comparing},
    {"kernel", "landmarks", IKT_FACT_KERNEL_MAP, comparing},
    {"kernel", "bandwidth", IKT_FACT_KERNEL_WIDTH, "kernel.kind=gaussian"},
    {"kernel", "landmarks", IKT_FACT_KERNEL_SOME, "kernel.solver=landmarks"},
    {"kernel", "ridge", IKT_FACT_START_LABELS, "layout.objective or layout.init = {any:labels}"},
    {"preprocess", NULL, IKT_FACT_PREPARES, "input.file"},
    {"preprocess", "normalise", IKT_FACT_COORDINATES, "a preprocess.metric other than precomputed"},
    {"preprocess", "pca", IKT_FACT_COORDINATES, "a preprocess.metric other than precomputed"},
    {"preprocess", "pca_rows", IKT_FACT_REDUCED, "preprocess.pca"},
    {"preprocess", "matrix", IKT_FACT_MATRIX, "preprocess.metric=precomputed"},
    {"affinity", NULL, IKT_FACT_RELATES, relating},
    {"affinity", "neighbours", IKT_FACT_LISTS, "affinity.support=sparse and no input.graph"},
    {"affinity", "search", IKT_FACT_OWN_SEARCH, searching},
    {"affinity", "passes", IKT_FACT_OWN_SEARCH, searching},
    {"affinity", "candidates", IKT_FACT_OWN_SEARCH, searching},
    {"affinity", "refinements", IKT_FACT_OWN_SEARCH, searching},
    {"affinity", "search", IKT_FACT_ORDERS, "affinity.support=sparse or whole and no input.graph"},
    {"affinity", "passes", IKT_FACT_SEARCHES_NEAR, listing},
    {"affinity", "passes", IKT_FACT_BY_DISTANCES, "an affinity.kind that compares distances"},
    {"affinity", "candidates", IKT_FACT_SEARCHES_NEAR, listing},
    {"affinity", "refinements", IKT_FACT_SEARCHES_NEAR, listing},
    {"whole", NULL, IKT_FACT_WHOLE, "affinity.support=whole"},
    {"graph", "weights", IKT_FACT_EDGE_DISTANCES, "graph.values=distances"},
    {"graph", "weights", IKT_FACT_EDGE_WEIGHTS, "an objective that has P"},
    {"isolation", NULL, IKT_FACT_CELLS, relating},
    {"isolation", NULL, IKT_FACT_CODES, "affinity.kind=isolation"},
    {"isolation", "psi_most", IKT_FACT_PSI_AUTO, "isolation.psi=auto"},
    {"isolation", "model_dataset", IKT_FACT_OTHER_MODEL, "isolation.model_from"},
    {"layout", "exaggeration", IKT_FACT_EXAGGERATES, exaggerating},
    {"layout", "exaggeration_iterations", IKT_FACT_EXAGGERATES, exaggerating},
    {"layout", "tsne_iterations", IKT_FACT_HAS_BEGINNING, "layout.objective={any:begins}"},
    {"layout", "trade_off", IKT_FACT_TRADES,
     "layout.objective={any:trades} (others have nothing to trade off)"},
    {"layout", "degrees_of_freedom", IKT_FACT_STUDENT,
     "layout.objective=tsne (umap has umap.a and umap.b; the gradients of nerv and jse are those "
     "of the kernel with 1)"},
    {"layout", "repulsion", IKT_FACT_SUMS_ALL,
     "an objective that has a sum over all pairs (umap and largevis take repulsion from rows drawn "
     "at random, trimap sums over triplets, and a map that is its start has no such sum)"},
    {"layout", "preset", IKT_FACT_MOVES, moving},
    {"layout", "iterations", IKT_FACT_MOVES, moving},
    {"layout", "regulariser", IKT_FACT_MOVES, moving},
    {"layout", "learning_rate", IKT_FACT_MOVES, moving},
    {"layout", "learning_rate", IKT_FACT_FIRST_RATE,
     "early exaggeration, or with layout.final_learning_rate=auto"},
    {"layout", "final_learning_rate", IKT_FACT_MOVES, moving},
    {"layout", "stop", IKT_FACT_MOVES, moving},
    {"layout", "momentum", IKT_FACT_REMEMBERS, "layout.objective={any:remembers}"},
    {"layout", "final_momentum", IKT_FACT_REMEMBERS, "layout.objective={any:remembers}"},
    {"layout", "momentum_switch", IKT_FACT_REMEMBERS, "layout.objective={any:remembers}"},
    {"layout", "landmarks", IKT_FACT_START_LANDMARKS, "layout.init=landmark"},
    {"layout", "accuracy", IKT_FACT_SUMS_PAIRS, "layout.repulsion=fft or barnes_hut"},
    {"layout", "grid", IKT_FACT_SUMS_ON_GRID, "layout.repulsion=fft in two dimensions"},
    {"layout", "final_exaggeration_from", IKT_FACT_LATE_FACTOR,
     "layout.final_exaggeration other than 1"},
    {"layout", "regulariser_form", IKT_FACT_REGULARISED, regularising},
    {"layout", "regulariser_weight", IKT_FACT_REGULARISED, regularising},
    {"layout", "regulariser_rank", IKT_FACT_REGULARISED, regularising},
    {"layout", "regulariser_every", IKT_FACT_REGULARISED, regularising},
    {"layout", "regulariser_from", IKT_FACT_REGULARISED, regularising},
    {"layout", "regulariser_vectors", IKT_FACT_REGULARISED, regularising},
    {"layout", "batch_neighbours", IKT_FACT_BATCHES, "layout.batch_rows"},
    {"run", "checkpoint_every", IKT_FACT_CHECKPOINTS, "run.checkpoint other than none"},
    {"run", "checkpoint_keep", IKT_FACT_CHECKPOINTS, "run.checkpoint other than none"}};

/* --- sections of single methods --------------------------------------------------------------- */

/* Whether a kind has the section for its own, or reads it, too. */
static bool reads(const ikt_affinity *kind, const ikt_section *section) {
    return kind->section == section || kind->also == section;
}

/* Names of the kinds that read a section of an affinity, "affinity.kind=gaussian or fisher"; false
 * where it is none of theirs. */
static bool name_readers(const ikt_section *section, char *text, size_t size) {
    const char *name[IKT_AFFINITIES];
    int count = 0;
    for (int k = 0; k < IKT_AFFINITIES; k++) {
        const ikt_affinity *kind = ikt_affinity_kind_of((ikt_affinity_name)k);
        if (reads(kind, section)) name[count++] = kind->name;
    }
    const int used = snprintf(text, size, "affinity.kind=");
    ikt_names_join(name, count, " or ", text + used, size - (size_t)used);
    return count > 0;
}

/* What would bring the section of a method into use, in `text`; false where it is in use, or no
 * method's. */
static bool section_lacks(const ikt_settings *s, const ikt_facts *facts, const ikt_section *section,
                          char *text, size_t size) {
    const bool is_weighing =
        facts->has[IKT_FACT_EDGE_DISTANCES] && s->affinity.graph.weights == IKT_WEIGHTS_GAUSSIAN;
    for (int k = 0; k < IKT_OBJECTIVES; k++) {
        const ikt_objective_kind *kind = ikt_objective_kind_of((ikt_objective_name)k);
        if (kind->section != section) continue;
        snprintf(text, size, "layout.objective=%s", kind->name);
        return ikt_layout_objective(&s->layout)->section != section;
    }
    if (section == &ikt_graph_section) {
        snprintf(text, size, "input.graph");
        return !facts->has[IKT_FACT_GRAPH_KIND] && !facts->has[IKT_FACT_PAIRS_GRAPH];
    }
    if (!name_readers(section, text, size)) return false;
    if (section == &ikt_gaussian_section && facts->has[IKT_FACT_GRAPH_KIND])
        snprintf(text, size, "graph.values=distances and graph.weights=gaussian");
    ikt_join(text, size, "", ", and an objective that has P");
    const bool is_read = reads(ikt_affinity_of(&s->affinity), section) ||
                         (section == &ikt_gaussian_section && is_weighing);
    return !is_read || !facts->has[IKT_FACT_TAKES_P];
}

bool ikt_section_is_used(const ikt_settings *settings, const ikt_facts *facts,
                         const ikt_section *section) {
    char text[IKT_STRING_MAX];
    return !section_lacks(settings, facts, section, text, sizeof text);
}

/* The same of a key in the section of the objective. */
static const char *key_lacks(const ikt_settings *s, const ikt_facts *facts,
                             const ikt_config_part *part, const ikt_key *key) {
    const ikt_objective_kind *objective = ikt_layout_objective(&s->layout);
    const ikt_idle *idle = part->section == objective->section ? objective->idle : NULL;
    for (; idle && idle->key; idle++) {
        char value[IKT_STRING_MAX] = "";
        if (strcmp(idle->key, key->name) != 0) continue;
        for (size_t k = 0; idle->other && k < part->section->n_keys; k++)
            if (strcmp(part->section->keys[k].name, idle->other) == 0)
                ikt_value_print(&part->section->keys[k],
                                ikt_config_member(part, &part->section->keys[k]), value,
                                sizeof value);
        if (idle->other ? strcmp(value, idle->value) == 0 : !facts->has[idle->fact])
            return idle->with;
    }
    return NULL;
}

/* What would bring a key into use, as for ikt_refuse; NULL: it is.
 *   text   [IKT_STRING_MAX] may hold it */
static const char *lacks(const ikt_settings *s, const ikt_facts *facts, const ikt_config_part *part,
                         const ikt_key *key, char *text) {
    if (section_lacks(s, facts, part->section, text, IKT_STRING_MAX)) return text;
    for (size_t r = 0; r < sizeof uses / sizeof *uses; r++)
        if (strcmp(uses[r].section, part->section->name) == 0 &&
            (!uses[r].key || strcmp(uses[r].key, key->name) == 0) && !facts->has[uses[r].fact])
            return uses[r].with;
    return key_lacks(s, facts, part, key);
}

/* --- every key ------------------------------------------------------------------------------- */

/* Defaults, and what the preset sets. */
static ikt_status begin(ikt_context *ctx, int preset, ikt_settings *out,
                        ikt_config_part parts[IKT_SETTINGS_PARTS]) {
    memset(out, 0, sizeof *out);
    ikt_settings_parts(out, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    return ikt_preset_apply(ctx, parts, IKT_SETTINGS_PARTS, preset);
}

static ikt_status refuse(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape,
                         const char *section, const char *key, const char *value,
                         const char *with) {
    char *text = NULL;
    IKT_TRY(ikt_sentence_make(ctx, settings, shape, with, &text));
    const ikt_status st = ikt_fail(ctx, IKT_ERR_USAGE,
                                   "%s.%s = %.80s would have no effect in this run, as it goes "
                                   "with %s: leave it out, or set that",
                                   section, key, value, text);
    ikt_free(&text);
    return st;
}

ikt_status ikt_unused_check(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_shape *shape) {
    ikt_settings own = *settings, usual, plain;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS],
        of_plain[IKT_SETTINGS_PARTS];
    const ikt_facts facts = ikt_facts_of(settings, shape);
    char text[IKT_STRING_MAX], value[IKT_STRING_MAX];
    ikt_settings_parts(&own, of_own);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    IKT_TRY(begin(ctx, IKT_RUN_PRESET_NONE, &plain, of_plain));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        const ikt_section *section = of_own[p].section;
        /* The settings of a kept graph are its own, with which these have been compared. */
        if (facts.has[IKT_FACT_KEPT_GRAPH] && ikt_settings_is_of_kernel(section)) continue;
        for (size_t k = 0; k < section->n_keys; k++) {
            const ikt_key *key = &section->keys[k];
            const char *with = lacks(settings, &facts, &of_own[p], key, text);
            if (!with || ikt_settings_has_equal(key, &of_own[p], &of_usual[p]) ||
                ikt_settings_has_equal(key, &of_own[p], &of_plain[p]))
                continue;
            ikt_value_print(key, ikt_config_member(&of_own[p], key), value, sizeof value);
            return refuse(ctx, settings, shape, section->name, key->name, value, with);
        }
    }
    return IKT_OK;
}

/* As ikt_unused_reset, to what a preset begins with. */
static ikt_status reset(ikt_context *ctx, ikt_settings *settings, const ikt_shape *shape,
                        const ikt_settings *shared, int preset) {
    ikt_settings other = shared ? *shared : *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS],
        of_other[IKT_SETTINGS_PARTS];
    const ikt_settings given = *settings;
    const ikt_facts facts = ikt_facts_of(settings, shape);
    char text[IKT_STRING_MAX], value[IKT_STRING_MAX];
    ikt_settings_parts(settings, of_own);
    ikt_settings_parts(&other, of_other);
    IKT_TRY(begin(ctx, preset, &usual, of_usual));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < of_own[p].section->n_keys; k++) {
            const ikt_key *key = &of_own[p].section->keys[k];
            if (!lacks(&given, &facts, &of_own[p], key, text) ||
                !ikt_settings_has_equal(key, &of_own[p], &of_other[p]))
                continue;
            ikt_value_print(key, ikt_config_member(&of_usual[p], key), value, sizeof value);
            IKT_TRY(
                ikt_value_parse(ctx, key, key->name, value, ikt_config_member(&of_own[p], key)));
        }
    return IKT_OK;
}

ikt_status ikt_unused_reset(ikt_context *ctx, ikt_settings *settings, const ikt_shape *shape,
                            const ikt_settings *shared) {
    /* Of a map that is its start the preset has set nothing: ikt_preset_trim. */
    const bool stands = ikt_facts_of(settings, shape).has[IKT_FACT_STANDS];
    return reset(ctx, settings, shape, shared, stands ? IKT_RUN_PRESET_NONE : settings->run.preset);
}

/* Whether a sentence speaks of a key, whose name may be the beginning of another. */
static bool mentions(const char *sentence, const char *name) {
    const size_t length = strlen(name);
    const char *at = strstr(sentence, name);
    while (at && (at[length] == '_' || isalpha((unsigned char)at[length])))
        at = strstr(at + length, name);
    return at != NULL;
}

ikt_status ikt_preset_name(ikt_context *ctx, const ikt_settings *settings, ikt_status st) {
    const ikt_preset *preset = &ikt_presets[settings->run.preset];
    ikt_settings own = *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS];
    char sentence[IKT_MESSAGE_MAX], set[IKT_STRING_MAX] = "", name[64];
    if (st != IKT_ERR_USAGE) return st;
    snprintf(sentence, sizeof sentence, "%s", ikt_message(ctx));
    ikt_settings_parts(&own, of_own);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    ikt_clear(ctx);
    for (const char *const *setting = preset->setting; *setting; setting++) {
        const ikt_config_part *part;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*setting, "="), *setting);
        const ikt_key *key = ikt_config_find(ctx, of_own, IKT_SETTINGS_PARTS, "", name, &part);
        if (key && mentions(sentence, name) &&
            ikt_settings_has_equal(key, part, &of_usual[part - of_own]))
            ikt_join(set, sizeof set, ", ", "%s", *setting);
    }
    if (!set[0]) return ikt_fail(ctx, st, "%s", sentence);
    return ikt_fail(ctx, st, "%s (run.preset=%s sets %s: give another value beside it)", sentence,
                    preset->name, set);
}

ikt_status ikt_preset_trim(ikt_context *ctx, ikt_settings *settings, const ikt_shape *shape) {
    ikt_settings usual;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    if (!ikt_facts_of(settings, shape).has[IKT_FACT_STANDS]) return IKT_OK;
    IKT_TRY(begin(ctx, settings->run.preset, &usual, parts));
    if (settings->layout.init == usual.layout.init) settings->layout.init = IKT_INIT_AUTO;
    if (!ikt_layout_start(&settings->layout)->is_scaled &&
        settings->layout.init_scale == usual.layout.init_scale)
        settings->layout.init_scale = IKT_AUTO_REAL;
    return reset(ctx, settings, shape, &usual, IKT_RUN_PRESET_NONE);
}
