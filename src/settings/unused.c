/* Settings of parts that are not in use. See unused.h. */
#include "settings/unused.h"

#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"
#include "settings/preset.h"

typedef struct {
    const ikt_settings *settings;
    bool has_rows;
} situation;

/* --- what brings a part into use ------------------------------------------------------------- */

static bool is_isolation(const situation *s) {
    return s->settings->affinity.kind == IKT_AFFINITY_ISOLATION;
}

static bool is_graph(const situation *s) {
    return s->settings->affinity.kind == IKT_AFFINITY_GRAPH;
}

static bool is_pairwise(const situation *s) {
    return s->settings->affinity.graph.is_pairwise;
}

static bool has_graph(const situation *s) {
    return is_graph(s) || is_pairwise(s);
}

static bool is_adaptive(const situation *s) {
    return s->settings->affinity.kind == IKT_AFFINITY_ADAPTIVE;
}

/* What the numbers of a graph are may be told by the file alone. */
static bool may_have_distances(const situation *s) {
    const int values = s->settings->affinity.graph.values;
    return has_graph(s) && (values == IKT_EDGES_DISTANCES || values == IKT_EDGES_AUTO);
}

static bool has_perplexity(const situation *s) {
    return s->settings->affinity.kind == IKT_AFFINITY_GAUSSIAN ||
           (may_have_distances(s) && s->settings->affinity.graph.weights == IKT_WEIGHTS_GAUSSIAN);
}

static bool has_automatic_psi(const situation *s) {
    return s->settings->isolation.psi == IKT_AUTO_INT;
}

static bool has_other_model(const situation *s) {
    return s->settings->isolation.model_from[0] != '\0';
}

static bool has_search(const situation *s) {
    return !has_graph(s) && s->settings->affinity.support == IKT_SUPPORT_SPARSE;
}

static bool may_have_near_search(const situation *s) {
    return has_search(s) && s->settings->affinity.search != IKT_SEARCH_EXACT;
}

static bool has_neighbours(const situation *s) {
    const bool is_sparse = s->settings->affinity.support == IKT_SUPPORT_SPARSE;
    return has_search(s) || s->settings->affinity.kind == IKT_AFFINITY_KNN ||
           (is_pairwise(s) && is_sparse);
}

static bool has_preprocessing(const situation *s) {
    return s->has_rows || !is_graph(s);
}

static bool has_rows(const situation *s) {
    return s->has_rows || !s->settings->input.graph[0];
}

static bool has_landmarks(const situation *s) {
    return s->settings->layout.init == IKT_INIT_LANDMARK;
}

static bool may_approximate(const situation *s) {
    const ikt_layout_settings *layout = &s->settings->layout;
    return layout->repulsion != IKT_REPULSION_EXACT && layout->objective != IKT_OBJECTIVE_SNE;
}

static bool may_have_grid(const situation *s) {
    const ikt_layout_settings *layout = &s->settings->layout;
    return may_approximate(s) && layout->dimensions == 2 && layout->repulsion != IKT_REPULSION_TREE;
}

static bool has_checkpoints(const situation *s) {
    return strcmp(s->settings->run.checkpoint, "none") != 0;
}

/* Keys with what they need, the most general need of a key first; without a key: a whole section.
 * What other checks refuse with the reason (layout.trade_off, layout.init_file, numbers of raw
 * files) is not here. */
static const struct {
    const char *section, *key;
    bool (*is_used)(const situation *s);
    const char *with; /* what would bring it into use */
} rules[] = {
    {"input", "dataset", has_rows, "input.file"},
    {"input", "transposed", has_rows, "input.file"},
    {"input", "columns", has_rows, "input.file"},
    {"input", "type", has_rows, "input.file"},
    {"input", "byte_order", has_rows, "input.file"},
    {"input", "skip", has_rows, "input.file"},
    {"preprocess", NULL, has_preprocessing, "input.file"},
    {"affinity", "neighbours", has_neighbours, "affinity.support=sparse and no input.graph"},
    {"affinity", "search", has_search, "affinity.support=sparse and no input.graph"},
    {"affinity", "candidates", may_have_near_search,
     "affinity.support=sparse and affinity.search=approximate"},
    {"affinity", "refinements", may_have_near_search,
     "affinity.support=sparse and affinity.search=approximate"},
    {"gaussian", NULL, has_perplexity, "affinity.kind=gaussian"},
    {"adaptive", NULL, is_adaptive, "affinity.kind=adaptive"},
    {"graph", NULL, has_graph, "input.graph"},
    {"graph", "weights", may_have_distances, "graph.values=distances"},
    {"isolation", NULL, is_isolation, "affinity.kind=isolation"},
    {"isolation", "psi_most", has_automatic_psi, "isolation.psi=auto"},
    {"isolation", "model_dataset", has_other_model, "isolation.model_from"},
    {"layout", "landmarks", has_landmarks, "layout.init=landmark"},
    {"layout", "accuracy", may_approximate, "layout.repulsion=fft or barnes_hut"},
    {"layout", "grid", may_have_grid, "layout.repulsion=fft in two dimensions"},
    {"run", "checkpoint_every", has_checkpoints, "run.checkpoint other than none"},
    {"run", "checkpoint_keep", has_checkpoints, "run.checkpoint other than none"}};

/* What would bring a key into use; NULL: it is. */
static const char *missing(const situation *s, const ikt_section *section, const ikt_key *key) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        if (strcmp(rules[r].section, section->name) == 0 &&
            (!rules[r].key || strcmp(rules[r].key, key->name) == 0) && !rules[r].is_used(s))
            return rules[r].with;
    return NULL;
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

static bool is_equal(const ikt_key *key, const ikt_config_part *a, const ikt_config_part *b) {
    char of_a[IKT_STRING_MAX], of_b[IKT_STRING_MAX];
    ikt_value_print(key, ikt_config_member(a, key), of_a, sizeof of_a);
    ikt_value_print(key, ikt_config_member(b, key), of_b, sizeof of_b);
    return strcmp(of_a, of_b) == 0;
}

static bool is_of_kernel(const ikt_section *section) {
    return strcmp(section->name, "input") != 0 && strcmp(section->name, "layout") != 0 &&
           strcmp(section->name, "output") != 0 && strcmp(section->name, "run") != 0;
}

ikt_status ikt_unused_check(ikt_context *ctx, const ikt_settings *settings, bool rows_are_there,
                            bool is_kept_graph) {
    ikt_settings own = *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS];
    const situation s = {settings, rows_are_there};
    ikt_settings_parts(&own, of_own);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        const ikt_section *section = of_own[p].section;
        if (is_kept_graph && is_of_kernel(section)) continue;
        for (size_t k = 0; k < section->n_keys; k++) {
            const ikt_key *key = &section->keys[k];
            const char *with = missing(&s, section, key);
            char value[IKT_STRING_MAX];
            if (!with || is_equal(key, &of_own[p], &of_usual[p])) continue;
            ikt_value_print(key, ikt_config_member(&of_own[p], key), value, sizeof value);
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "%s.%s = %.80s would have no effect in this run, as it goes with %s: "
                            "leave it out, or set that",
                            section->name, key->name, value, with);
        }
    }
    return IKT_OK;
}

ikt_status ikt_unused_reset(ikt_context *ctx, ikt_settings *settings, bool rows_are_there,
                            const ikt_settings *shared) {
    ikt_settings other = shared ? *shared : *settings, before = *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS],
        of_other[IKT_SETTINGS_PARTS];
    const situation s = {&before, rows_are_there};
    ikt_settings_parts(settings, of_own);
    ikt_settings_parts(&other, of_other);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < of_own[p].section->n_keys; k++) {
            const ikt_key *key = &of_own[p].section->keys[k];
            char value[IKT_STRING_MAX];
            if (!missing(&s, of_own[p].section, key) || !is_equal(key, &of_own[p], &of_other[p]))
                continue;
            ikt_value_print(key, ikt_config_member(&of_usual[p], key), value, sizeof value);
            IKT_TRY(
                ikt_value_parse(ctx, key, key->name, value, ikt_config_member(&of_own[p], key)));
        }
    return IKT_OK;
}
