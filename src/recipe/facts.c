/* Facts of a run. See facts.h. */
#include "recipe/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "config/value.h"
#include "data/missing.h"
#include "objective/divergence.h"
#include "settings/checks.h"

/* --- from settings and shape ------------------------------------------------------------------ */

static void find_inputs(const ikt_settings *s, const ikt_shape *shape, bool *has) {
    const ikt_input_settings *input = &s->input;
    const ikt_graph_about *graph = &shape->graph;
    const bool fits = graph->q == s->layout.dimensions;
    has[IKT_FACT_ROWS] = shape->has_rows;
    has[IKT_FACT_FILE] = input->file[0];
    has[IKT_FACT_HOST] = shape->is_host;
    has[IKT_FACT_SPARSE_INPUT] = shape->is_stored_sparse;
    has[IKT_FACT_RAW] = input->columns != IKT_AUTO_INT || input->type != 0;
    has[IKT_FACT_SOME_ROWS] = input->rows != IKT_AUTO_INT;
    has[IKT_FACT_TABLE_KEYS] = input->skip_columns[0] || input->transposed != 0;
    has[IKT_FACT_SIMILARITIES] = input->similarities[0];
    has[IKT_FACT_SPECTRUM_CHANGED] =
        input->spectrum == IKT_USE_CLIP || input->spectrum == IKT_USE_FLIP;
    has[IKT_FACT_GRAPH] = input->graph[0];
    has[IKT_FACT_PAIRS_GRAPH] = s->affinity.graph.is_pairwise;
    has[IKT_FACT_KEPT_GRAPH] = graph->is_kept;
    has[IKT_FACT_GRAPH_COMPONENTS] = fits && graph->start == IKT_GRAPH_START_PCA;
    has[IKT_FACT_GRAPH_LANDMARKS] = fits && graph->start == IKT_GRAPH_START_LANDMARK;
    has[IKT_FACT_OTHER_MODEL] = s->isolation.model_from[0];
    has[IKT_FACT_UNLABELLED] = shape->is_unlabelled;
}

static void find_preparation(const ikt_settings *s, bool *has) {
    const ikt_preprocess_settings *rows = &s->preprocess;
    const bool is_similar = rows->matrix == IKT_MATRIX_SIMILARITIES;
    has[IKT_FACT_FILLED] = rows->missing != IKT_MISSING_REFUSE;
    has[IKT_FACT_DROPPED] = rows->missing == IKT_MISSING_DROP;
    has[IKT_FACT_REDUCED] = rows->pca > 0;
    has[IKT_FACT_SCALED] =
        rows->normalise != IKT_NORMALISE_AUTO && rows->normalise != IKT_NORMALISE_NONE;
    has[IKT_FACT_MATRIX] = rows->metric == IKT_METRIC_PRECOMPUTED;
    has[IKT_FACT_MATRIX_OF_SIMILARITIES] = has[IKT_FACT_MATRIX] && is_similar;
    has[IKT_FACT_OTHER_METRIC] = !has[IKT_FACT_MATRIX_OF_SIMILARITIES] &&
                                 (rows->metric != IKT_METRIC_EUCLIDEAN || is_similar);
    has[IKT_FACT_MANHATTAN] = rows->metric == IKT_METRIC_MANHATTAN;
}

enum { NO_KERNEL = -1 }; /* in place of a kind of similarity */

static void find_affinity(const ikt_settings *s, bool *has) {
    const ikt_affinity_settings *a = &s->affinity;
    const ikt_affinity *kind = ikt_affinity_of(a);
    has[IKT_FACT_SPARSE] = a->support == IKT_SUPPORT_SPARSE;
    has[IKT_FACT_DENSE] = a->support == IKT_SUPPORT_DENSE;
    has[IKT_FACT_WHOLE] = a->support == IKT_SUPPORT_WHOLE;
    has[IKT_FACT_BY_CODES] = kind->scores == IKT_SCORES_CODES;
    has[IKT_FACT_BY_DISTANCES] = kind->scores == IKT_SCORES_DISTANCES;
    has[IKT_FACT_BY_CLASSES] = kind->scores == IKT_SCORES_CLASSES;
    has[IKT_FACT_GRAPH_KIND] = a->kind == IKT_AFFINITY_GRAPH;
    has[IKT_FACT_EDGE_DISTANCES] =
        (has[IKT_FACT_GRAPH_KIND] || has[IKT_FACT_PAIRS_GRAPH]) &&
        (a->graph.values == IKT_EDGES_DISTANCES || a->graph.values == IKT_EDGES_AUTO);
    has[IKT_FACT_EDGE_PROBABILITIES] = a->graph.values == IKT_EDGES_PROBABILITIES;
    has[IKT_FACT_EDGES_ALIKE] = a->graph.values == IKT_EDGES_NONE;
    has[IKT_FACT_NEAREST_ONLY] = !kind->dense;
    has[IKT_FACT_COUNTS_NEIGHBOURS] = kind->counts_neighbours;
    has[IKT_FACT_SEARCH_NEAR] = a->search == IKT_SEARCH_APPROXIMATE;
    has[IKT_FACT_SEARCH_ALL] = a->search == IKT_SEARCH_EXACT;
    has[IKT_FACT_CELLS_NEAR] = s->isolation.search == IKT_CELLS_APPROXIMATE;
    has[IKT_FACT_FOREST] = s->isolation.form == IKT_FORM_FOREST;
    has[IKT_FACT_PSI_AUTO] = s->isolation.psi == IKT_AUTO_INT;
    if (kind->facts) kind->facts(a, has);
    const int classes =
        has[IKT_FACT_BY_CLASSES] ? (int)ikt_settings_class_similarity(s) : NO_KERNEL;
    has[IKT_FACT_CLASS_LINEAR] = classes == IKT_SIMILARITY_LINEAR;
    has[IKT_FACT_CLASS_GAUSSIAN] = classes == IKT_SIMILARITY_GAUSSIAN;
    has[IKT_FACT_CLASS_CODES] = classes == IKT_SIMILARITY_ISOLATION;
}

/* What it compares P with; of others nothing holds. */
static const ikt_divergence *divergence_of(const ikt_objective_kind *kind) {
    static const ikt_divergence none;
    return kind->divergence ? kind->divergence : &none;
}

static void find_objective(const ikt_layout_settings *l, bool *has) {
    const ikt_objective_kind *kind = ikt_layout_objective(l);
    const ikt_divergence *divergence = divergence_of(kind);
    has[IKT_FACT_CUSTOM] = l->custom != NULL;
    has[IKT_FACT_TAKES_P] = kind->needs & IKT_NEEDS_P;
    has[IKT_FACT_TAKES_LISTS] = kind->needs & IKT_NEEDS_NEIGHBOURS;
    has[IKT_FACT_TAKES_CODES] = kind->needs & IKT_NEEDS_CODES;
    has[IKT_FACT_TAKES_LABELS] = ikt_layout_labels_key(l) != NULL;
    has[IKT_FACT_TAKES_FEATURES] = kind->needs & IKT_NEEDS_FEATURES;
    has[IKT_FACT_TAKES_PARTS] = kind->takes_parts;
    has[IKT_FACT_STANDS] = kind->is_start;
    has[IKT_FACT_MOVES] = !kind->is_start;
    has[IKT_FACT_EXAGGERATES] = kind->has_exaggeration;
    has[IKT_FACT_REMEMBERS] = kind->optimiser != &ikt_optimiser_descent;
    has[IKT_FACT_HAS_BEGINNING] = kind->begins_with_tsne;
    has[IKT_FACT_BEGINS_WITH_TSNE] = l->tsne_iterations > 0; /* refused of others */
    has[IKT_FACT_PLACES_BY_TRIPLETS] = kind->places == IKT_PLACES_BY_TRIPLETS;
    has[IKT_FACT_PLACES_BY_KERNEL] = kind->places == IKT_PLACES_BY_KERNEL;
    has[IKT_FACT_TRADES] = divergence->has_trade_off;
    has[IKT_FACT_SUMS_ALL] = divergence->n_kernels + kind->pair_sums > 0;
    has[IKT_FACT_STUDENT] = divergence->has_degrees;
    has[IKT_FACT_OTHER_DEGREES] = l->degrees_of_freedom != 1;
    has[IKT_FACT_SUMS_PAIRS] = kind->divergence && l->repulsion != IKT_REPULSION_EXACT &&
                               kind->divergence->kernel[0] != IKT_KERNEL_GAUSSIAN;
    has[IKT_FACT_SUMS_ON_GRID] =
        has[IKT_FACT_SUMS_PAIRS] && l->dimensions == 2 && l->repulsion != IKT_REPULSION_TREE;
    has[IKT_FACT_REGULARISED] = l->regulariser != IKT_REGULARISER_NONE;
    has[IKT_FACT_BATCHES] = l->batch_rows != IKT_AUTO_INT;
    has[IKT_FACT_LATE_FACTOR] = l->final_exaggeration != 1;
    has[IKT_FACT_RATE_FOLLOWS] = l->final_learning_rate <= IKT_AUTO_REAL;
    has[IKT_FACT_STOPS_ITSELF] = l->stop == IKT_STOP_AUTO;
}

static void find_start(const ikt_settings *s, bool *has) {
    const ikt_layout_settings *l = &s->layout;
    has[IKT_FACT_START_PCA] = l->init == IKT_INIT_PCA;
    has[IKT_FACT_START_LANDMARKS] = l->init == IKT_INIT_LANDMARK;
    has[IKT_FACT_START_LABELS] = ikt_layout_start(l)->of_labels;
    has[IKT_FACT_START_P] = ikt_layout_start(l)->of_p;
    has[IKT_FACT_START_FILE] = l->init == IKT_INIT_FILE;
    has[IKT_FACT_SPECTRUM] = ikt_layout_has_spectrum(l);
    has[IKT_FACT_KERNEL_MAP] = ikt_settings_has_kernel_map(s);
    has[IKT_FACT_KERNEL_STANDS] = ikt_settings_is_kernel_map(s);
    const int kernel = has[IKT_FACT_KERNEL_MAP] ? (int)ikt_settings_similarity(s) : NO_KERNEL;
    has[IKT_FACT_KERNEL_LINEAR] = kernel == IKT_SIMILARITY_LINEAR;
    has[IKT_FACT_KERNEL_GAUSSIAN] = kernel == IKT_SIMILARITY_GAUSSIAN;
    has[IKT_FACT_KERNEL_CODES] = kernel == IKT_SIMILARITY_ISOLATION;
    has[IKT_FACT_KERNEL_SOME] =
        has[IKT_FACT_KERNEL_MAP] && s->kernel.solver == IKT_KERNEL_LANDMARKS;
}

static void find_outputs(const ikt_settings *s, bool *has) {
    has[IKT_FACT_MODEL] = s->output.model[0];
    has[IKT_FACT_GRAPH_WRITTEN] = s->output.graph[0];
    has[IKT_FACT_MEASURES_ALL] = s->output.measures == IKT_MEASURES_ALL;
    has[IKT_FACT_CHECKPOINTS] = ikt_run_has_checkpoints(&s->run);
    has[IKT_FACT_EXTENDS] = s->run.extend > 0;
    has[IKT_FACT_TIME_LIMIT] = ikt_run_has_limit(&s->run);
}

/* No edges of a graph that another program has made. */
#define NO_EDGES IKT_NOT(IKT_FACT_GRAPH_KIND), IKT_NOT(IKT_FACT_PAIRS_GRAPH)

/* What follows from facts: each where all of a line hold, of lines that stand before it. */
static const struct {
    int16_t fact, when[IKT_RULE_FACTS_MOST + 1];
} following[] = {
    {IKT_FACT_SPARSE_ROWS, {IKT_FACT_SPARSE_INPUT, IKT_NOT(IKT_FACT_REDUCED)}},
    {IKT_FACT_SPARSE_GRAPH, {IKT_FACT_GRAPH, IKT_NOT(IKT_FACT_PAIRS_GRAPH)}},
    /* Of what a program has brought along nothing is known. */
    {IKT_FACT_EXAGGERATES, {IKT_FACT_CUSTOM}},
    {IKT_FACT_TRADES, {IKT_FACT_CUSTOM}},
    {IKT_FACT_SUMS_ALL, {IKT_FACT_CUSTOM}},
    {IKT_FACT_STUDENT, {IKT_FACT_CUSTOM}},
    {IKT_FACT_FIRST_RATE, {IKT_FACT_EXAGGERATES}},
    /* Without a first phase its rate is but what the later one's "auto" stands for. */
    {IKT_FACT_FIRST_RATE, {IKT_FACT_RATE_FOLLOWS}},
    /* It is read with the edges, by those that take these. */
    {IKT_FACT_READS_GRAPH, {IKT_FACT_GRAPH, IKT_FACT_TAKES_P}},
    {IKT_FACT_READS_GRAPH, {IKT_FACT_GRAPH, IKT_FACT_TAKES_FEATURES}},
    {IKT_FACT_START_KEPT, {IKT_FACT_READS_GRAPH, IKT_FACT_START_PCA, IKT_FACT_GRAPH_COMPONENTS}},
    {IKT_FACT_START_KEPT,
     {IKT_FACT_READS_GRAPH, IKT_FACT_START_LANDMARKS, IKT_FACT_GRAPH_LANDMARKS}},
    {IKT_FACT_PREPARES, {IKT_FACT_ROWS}},
    {IKT_FACT_PREPARES, {IKT_NOT(IKT_FACT_GRAPH_KIND)}},
    {IKT_FACT_COORDINATES, {IKT_NOT(IKT_FACT_MATRIX)}},
    {IKT_FACT_SEARCHES, {IKT_FACT_SPARSE, IKT_FACT_TAKES_P, NO_EDGES}},
    {IKT_FACT_SEARCHES, {IKT_FACT_SPARSE, IKT_FACT_TAKES_LISTS, NO_EDGES}},
    {IKT_FACT_SEARCHES_NEAR, {IKT_FACT_SEARCHES, IKT_NOT(IKT_FACT_SEARCH_ALL)}},
    {IKT_FACT_OWN_SEARCH, {IKT_NOT(IKT_FACT_BY_CLASSES)}},
    {IKT_FACT_ORDERS, {IKT_FACT_SEARCHES}},
    {IKT_FACT_ORDERS, {IKT_FACT_WHOLE, NO_EDGES}},
    {IKT_FACT_LISTS, {IKT_FACT_SEARCHES}},
    {IKT_FACT_LISTS, {IKT_FACT_COUNTS_NEIGHBOURS}},
    {IKT_FACT_LISTS, {IKT_FACT_PAIRS_GRAPH, IKT_FACT_SPARSE}},
    {IKT_FACT_EDGE_WEIGHTS, {IKT_FACT_EDGE_DISTANCES, IKT_FACT_TAKES_P}},
    {IKT_FACT_MEASURES_ROWS, {IKT_FACT_EDGE_DISTANCES, IKT_NOT(IKT_FACT_BY_CODES)}},
    {IKT_FACT_MEASURES_ROWS, {IKT_NOT(IKT_FACT_GRAPH), IKT_NOT(IKT_FACT_BY_CODES), NO_EDGES}},
    {IKT_FACT_RELATES, {IKT_FACT_MOVES}},
    {IKT_FACT_RELATES, {IKT_FACT_TAKES_P}},
    {IKT_FACT_RELATES, {IKT_FACT_TAKES_LISTS}},
    {IKT_FACT_RELATES, {IKT_FACT_TAKES_CODES}},
    {IKT_FACT_KERNEL, {IKT_FACT_KERNEL_MAP}},
    {IKT_FACT_KERNEL, {IKT_FACT_BY_CLASSES}},
    {IKT_FACT_KERNEL_WIDTH, {IKT_FACT_KERNEL_GAUSSIAN}},
    {IKT_FACT_KERNEL_WIDTH, {IKT_FACT_CLASS_GAUSSIAN}},
    {IKT_FACT_CODES, {IKT_FACT_BY_CODES}},
    {IKT_FACT_CODES, {IKT_FACT_KERNEL_CODES}},
    {IKT_FACT_CODES, {IKT_FACT_CLASS_CODES}},
    {IKT_FACT_CELLS, {IKT_FACT_RELATES}},
    {IKT_FACT_CELLS, {IKT_FACT_KERNEL_CODES}},
    {IKT_FACT_CELLS, {IKT_FACT_CLASS_CODES}}};

ikt_facts ikt_facts_of(const ikt_settings *settings, const ikt_shape *shape) {
    const ikt_shape all = {.has_rows = !ikt_input_is_graph(&settings->input)};
    ikt_facts facts = {{false}};
    find_inputs(settings, shape ? shape : &all, facts.has);
    find_preparation(settings, facts.has);
    find_affinity(settings, facts.has);
    find_objective(&settings->layout, facts.has);
    find_start(settings, facts.has);
    find_outputs(settings, facts.has);
    for (size_t f = 0; f < sizeof following / sizeof *following; f++)
        facts.has[following[f].fact] |= ikt_facts_hold(&facts, following[f].when);
    return facts;
}

bool ikt_facts_hold(const ikt_facts *facts, const int16_t *when) {
    for (; *when != 0; when++)
        if (facts->has[abs(*when)] != (*when > 0)) return false;
    return true;
}

bool ikt_facts_are_settings(const int16_t *when) {
    while (*when != 0 && abs(*when) < (int)IKT_FACT_OF_INPUTS)
        when++;
    return *when == 0;
}

/* --- sentences -------------------------------------------------------------------------------- */

/* What objectives may have in common. */
static bool kind_has(const ikt_objective_kind *kind, const char *word) {
    const ikt_start_kind *start = ikt_start_kind_of(kind->start);
    const bool has_p = kind->needs & IKT_NEEDS_P;
    const struct {
        const char *word;
        bool holds;
    } words[] = {{"exaggerates", kind->has_exaggeration},
                 {"remembers", kind->optimiser != &ikt_optimiser_descent},
                 {"begins", kind->begins_with_tsne},
                 {"stands", kind->is_start},
                 {"alone", kind->is_start && !has_p},
                 {"parts", kind->takes_parts},
                 {"triplets", kind->places == IKT_PLACES_BY_TRIPLETS},
                 {"trades", divergence_of(kind)->has_trade_off},
                 {"kernel", start->of_similarities},
                 {"labels", kind->needs & IKT_NEEDS_LABELS}};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp(words[w].word, word) == 0) return words[w].holds;
    return false;
}

void ikt_names_join(const char *const *name, int count, const char *last, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        ikt_join(text, size, i == count - 1 ? last : ", ", "%s", name[i]);
}

/* The objectives that have something in common. */
static void add_objectives(ikt_text *text, const char *word, const char *last) {
    const char *name[IKT_OBJECTIVES];
    char joined[IKT_STRING_MAX];
    int count = 0;
    for (int k = 0; k < IKT_OBJECTIVES; k++) {
        const ikt_objective_kind *kind = ikt_objective_kind_of((ikt_objective_name)k);
        if (kind_has(kind, word)) name[count++] = kind->name;
    }
    ikt_names_join(name, count, last, joined, sizeof joined);
    ikt_text_add(text, "%s", joined);
}

/* The value of "section.key". */
static void add_value(ikt_text *text, const ikt_settings *settings, const char *name) {
    ikt_settings own = *settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    const ikt_config_part *part;
    char value[IKT_STRING_MAX];
    ikt_settings_parts(&own, parts);
    const ikt_key *key = ikt_config_find(text->ctx, parts, IKT_SETTINGS_PARTS, "", name, &part);
    if (!key) {
        text->status = IKT_ERR_INTERNAL; /* of a rule that names no setting */
        return;
    }
    ikt_value_print(key, ikt_config_member(part, key), value, sizeof value);
    ikt_text_add(text, "%.200s", value);
}

static void add_sentence(ikt_text *text, const ikt_settings *settings, const ikt_shape *shape,
                         const char *sentence) {
    const struct {
        const char *word, *text;
    } own[] = {{"input", shape ? shape->name : settings->input.file},
               {"graph", shape ? shape->graph.name : settings->input.graph},
               {"spectrum", ikt_layout_spectrum_key(&settings->layout)}};
    const size_t n_own = sizeof own / sizeof *own;
    char word[64];
    for (const char *at = sentence; *at;) {
        const size_t plain = strcspn(at, "{"), length = strcspn(at + plain, "}");
        ikt_text_add(text, "%.*s", (int)plain, at);
        at += plain;
        if (!*at) break;
        snprintf(word, sizeof word, "%.*s", (int)length - 1, at + 1);
        at += length + 1;
        size_t o = 0;
        while (o < n_own && strcmp(word, own[o].word) != 0)
            o++;
        if (o < n_own)
            ikt_text_add(text, "%s", own[o].text);
        else if (strcmp(word, "labelled") == 0) {
            const char *key = ikt_layout_labels_key(&settings->layout);
            ikt_text_add(text, "%s=", key);
            add_value(text, settings, key);
        } else if (strncmp(word, "all:", 4) == 0)
            add_objectives(text, word + 4, " and ");
        else if (strncmp(word, "any:", 4) == 0)
            add_objectives(text, word + 4, " or ");
        else
            add_value(text, settings, word);
    }
}

ikt_status ikt_sentence_make(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape,
                             const char *sentence, char **out) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    add_sentence(&text, settings, shape, sentence);
    if (text.status != IKT_OK) ikt_text_free(&text);
    *out = text.data;
    return text.status;
}
