/* A graph from a file in place of a kernel. See graph_input.h. */
#include "pipeline/graph_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "graph/load.h"
#include "io/sources/labels.h"

/* --- what it decides -------------------------------------------------------------------------- */

/* What the numbers are, unless the settings say it: by the attribute of the group or data set, or
 * by its name, which is what stands behind the colon, or in a file that holds one array the name of
 * the file. */
static ikt_status settle_values(ikt_context *ctx, const char *attribute, const char *name,
                                ikt_graph_settings *graph) {
    static const struct {
        const char *word;
        ikt_edges values;
    } words[] = {{"similarit", IKT_EDGES_SIMILARITIES},
                 {"connectivit", IKT_EDGES_SIMILARITIES},
                 {"distance", IKT_EDGES_DISTANCES},
                 {"probabilit", IKT_EDGES_PROBABILITIES}};
    const char *colon = strrchr(name, ':'), *slash = strrchr(name, '/');
    const char *const told[] = {attribute, colon ? colon : slash ? slash : name};
    const size_t n_words = sizeof words / sizeof *words;
    if (graph->values == IKT_EDGES_AUTO && strcmp(attribute, "none") == 0)
        graph->values = IKT_EDGES_NONE;
    for (size_t w = 0; w < 2 * n_words && graph->values == IKT_EDGES_AUTO; w++)
        if (strstr(told[w / n_words], words[w % n_words].word))
            graph->values = (int)words[w % n_words].values;
    if (graph->values != IKT_EDGES_AUTO) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s does not say what its numbers are: give graph.values=similarities, "
                    "distances, probabilities or none",
                    name);
}

/* COLLECTIVE. A matrix of all pairs: distances are for the kinds that weigh distances, other
 * numbers for the kind `graph`. */
static ikt_status look_at_pairs(ikt_context *ctx, const ikt_pairwise *pairs, ikt_settings *settings,
                                ikt_graph_about *about) {
    int64_t k = 0;
    ikt_affinity_settings *affinity = &settings->affinity;
    const char *name = ikt_source_name(pairs->source);
    const bool is_dense = affinity->support == IKT_SUPPORT_DENSE;
    IKT_TRY(settle_values(ctx, pairs->values, name, &affinity->graph));
    affinity->graph.is_pairwise = true;
    if (affinity->graph.values == IKT_EDGES_NONE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "graph.values = none would make all pairs of %s count the same: say what "
                        "the numbers are",
                        name);
    const bool needs_p = ikt_layout_objective(&settings->layout)->needs & IKT_NEEDS_P;
    if (affinity->graph.values == IKT_EDGES_PROBABILITIES && !is_dense && needs_p)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s holds the probabilities of all pairs, which are used as they are: give "
                        "affinity.support=dense",
                        name);
    const bool is_any =
        affinity->kind == IKT_AFFINITY_ISOLATION || affinity->kind == IKT_AFFINITY_GRAPH;
    if (affinity->graph.values != IKT_EDGES_DISTANCES) {
        if (!is_any)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "affinity.kind = %s makes similarities of distances, and %s does not "
                            "hold distances: leave affinity.kind out",
                            ikt_affinity_of(affinity)->name, name);
        affinity->kind = IKT_AFFINITY_GRAPH;
    } else if (is_any) {
        const bool is_knn = affinity->graph.weights == IKT_WEIGHTS_KNN;
        affinity->kind = is_knn ? IKT_AFFINITY_KNN : IKT_AFFINITY_GAUSSIAN;
    }
    IKT_TRY(ikt_affinity_resolve(ctx, affinity, pairs->n, &k));
    about->n = pairs->n;
    about->entries = (is_dense ? pairs->n - 1 : k) * pairs->n;
    about->is_pairwise = true;
    snprintf(about->name, sizeof about->name, "%s", name);
    return IKT_OK;
}

/* What goes with no graph. */
static ikt_status check_others(ikt_context *ctx, const ikt_settings *settings) {
    if (settings->affinity.support == IKT_SUPPORT_DENSE && !settings->affinity.graph.is_pairwise)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = dense needs every pair; this graph (input.graph) is "
                        "sparse");
    if (settings->input.rows != IKT_AUTO_INT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "input.rows does not go with input.graph, whose rows belong together");
    if (settings->output.model[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model does not go with input.graph: keep the model in the run that "
                        "makes the graph");
    if (settings->output.measures == IKT_MEASURES_ALL && !settings->input.file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.measures = all compares with the data: give input.file, or take "
                        "output.measures=map");
    return IKT_OK;
}

/* layout.init, which without input.file can only be what the graph knows, a file, or random: auto
 * becomes random where there is nothing else. */
static ikt_status settle_start(ikt_context *ctx, ikt_settings *settings,
                               const ikt_graph_about *about) {
    ikt_layout_settings *layout = &settings->layout;
    const bool fits = about->q == layout->dimensions;
    const bool has_pca = fits && about->start == IKT_GRAPH_START_PCA;
    const bool has_places = fits && about->start == IKT_GRAPH_START_LANDMARK;
    if (layout->init == IKT_INIT_LANDMARK && !has_places)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.init = landmark needs a kernel, or a graph that was kept by such a "
                        "run in as many dimensions; with input.graph take pca, random or file");
    if (settings->input.file[0] || has_pca) return IKT_OK;
    if (layout->init == IKT_INIT_PCA)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.init = pca needs the rows, or a graph that was kept by a run that "
                        "began so in %lld dimensions: give input.file, or take random or file",
                        (long long)layout->dimensions);
    if (layout->init == IKT_INIT_AUTO && !layout->init_file[0]) {
        layout->init = IKT_INIT_RANDOM;
        ikt_log(ctx, IKT_LOG_STAGE,
                "layout.init: random, as there is no input.file to take principal components from");
    }
    return IKT_OK;
}

/* COLLECTIVE. A graph by rows of entries. */
static ikt_status look_at_graph(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about) {
    ikt_graph_file *file = NULL;
    char *text = NULL;
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    about->n = ikt_graph_file_rows(file);
    about->entries = ikt_graph_file_entries(file);
    about->is_kept = ikt_graph_file_is_kept(file);
    about->is_ordered = ikt_graph_file_is_ordered(file);
    about->start = ikt_graph_file_start(file, &about->q);
    ikt_graph_file_int(file, "seed", &about->seed);
    snprintf(about->name, sizeof about->name, "%s", ikt_graph_file_name(file));
    ikt_affinity_settings *affinity = &settings->affinity;
    ikt_status st = IKT_OK;
    if (!about->is_kept && affinity->kind != IKT_AFFINITY_ISOLATION &&
        affinity->kind != IKT_AFFINITY_GRAPH) {
        st = ikt_fail(ctx, IKT_ERR_USAGE,
                      "affinity.kind = %s does not go with input.graph, which stands in place of "
                      "a kernel; distances get Gaussian weights by graph.values=distances with "
                      "gaussian.perplexity",
                      ikt_affinity_of(affinity)->name);
    } else if (!about->is_kept) {
        affinity->kind = IKT_AFFINITY_GRAPH;
        st = settle_values(ctx, ikt_graph_file_values(file), about->name, &affinity->graph);
    } else {
        st = ikt_graph_file_text(file, "settings", &text);
        if (st == IKT_OK)
            st = text ? ikt_graph_settings_adopt(ctx, settings, text, about->name)
                      : ikt_fail(ctx, IKT_ERR_DATA, "%s: a kept graph without its settings",
                                 about->name);
    }
    ikt_free(&text);
    ikt_graph_file_close(&file);
    return st;
}

ikt_status ikt_graph_settle(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about) {
    ikt_pairwise pairs;
    *about = (ikt_graph_about){0};
    if (!settings->input.graph[0] && settings->affinity.kind == IKT_AFFINITY_GRAPH)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind = graph, but input.graph is not set: name the file with the "
                        "graph");
    if (!settings->input.graph[0]) return IKT_OK;
    IKT_TRY(ikt_pairwise_open(ctx, settings->input.graph, &pairs));
    ikt_status st = pairs.source ? look_at_pairs(ctx, &pairs, settings, about)
                                 : look_at_graph(ctx, settings, about);
    ikt_pairwise_close(&pairs);
    if (st == IKT_OK) st = check_others(ctx, settings);
    if (st == IKT_OK) st = settle_start(ctx, settings, about);
    return ikt_agree(ctx, st);
}

ikt_status ikt_graph_shape(ikt_context *ctx, const ikt_graph_about *about, ikt_data_shape *shape) {
    shape->graph_entries = about->entries;
    shape->graph_is_ordered = about->is_ordered;
    if (about->n == 0 || about->n == shape->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, input.file has %lld: not the same data",
                    about->name, (long long)about->n, (long long)shape->n);
}

/* --- P ---------------------------------------------------------------------------------------- */

static ikt_edge_rule rule_of(const ikt_graph_file *file, const ikt_affinity_settings *affinity) {
    return (ikt_edge_rule){.values = ikt_graph_file_is_kept(file)
                                         ? IKT_EDGES_CONDITIONAL
                                         : (ikt_edges)affinity->graph.values,
                           .kernel = (ikt_edge_kernel)affinity->graph.weights,
                           .perplexity = affinity->gaussian.perplexity};
}

/* A number that a kept graph tells of its making; `fallback` where it does not. */
static double told(const ikt_graph_file *file, const char *name, double fallback) {
    char *text = NULL, *end;
    double value = fallback;
    if (ikt_graph_file_text(file, name, &text) == IKT_OK && text) {
        value = strtod(text, &end);
        if (end == text) value = fallback;
    }
    ikt_free(&text);
    return value;
}

/* COLLECTIVE. The slots of the own rows, in which a kept graph has its rows.
 *   slot   receives [rows->count], owned by the caller; NULL where the graph is not ordered */
static ikt_status read_slots(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                             uint32_t **slot) {
    *slot = NULL;
    if (!ikt_graph_file_is_ordered(file)) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, slot, rows->count, sizeof **slot, "order"));
    const ikt_status st = ikt_graph_file_slots(file, rows, *slot);
    if (st != IKT_OK) ikt_free(slot);
    return st;
}

/* COLLECTIVE. What the run that kept the graph began at, where this one begins in the same way. */
static ikt_status take_start(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_layout_settings *layout, const ikt_rows *rows,
                             ikt_probabilities *p) {
    int64_t q;
    const ikt_graph_start start = ikt_graph_file_start(file, &q);
    const int64_t numbers = q * rows->count;
    const bool has_pca = start == IKT_GRAPH_START_PCA && layout->init == IKT_INIT_PCA;
    const bool has_places =
        start == IKT_GRAPH_START_LANDMARK && layout->init == IKT_INIT_LANDMARK && !p->start;
    if (q != layout->dimensions || (!has_pca && !has_places)) return IKT_OK;
    IKT_TRY(ikt_agree(ctx,
                      has_pca ? ikt_alloc(ctx, &p->scores, numbers, sizeof *p->scores, "initial")
                              : ikt_alloc(ctx, &p->start, numbers, sizeof *p->start, "embedding")));
    return ikt_graph_file_read_start(file, rows, has_pca ? (void *)p->scores : p->start);
}

ikt_status ikt_graph_check_rows(ikt_context *ctx, const ikt_graph_file *file,
                                const ikt_rows *rows) {
    if (ikt_graph_file_rows(file) == rows->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, the data has %lld: not the same data",
                    ikt_graph_file_name(file), (long long)ikt_graph_file_rows(file),
                    (long long)rows->n);
}

ikt_status ikt_graph_take_order(ikt_context *ctx, const ikt_graph_file *file,
                                const ikt_settings *settings, const ikt_rows *rows,
                                const ikt_graph_facts *facts, ikt_directed *read,
                                ikt_probabilities *p) {
    const char *name = ikt_graph_file_name(file);
    uint32_t *slot;
    if (facts->selves > 0)
        ikt_log(ctx, IKT_LOG_DETAIL, "%s: %lld entries of rows with themselves left out", name,
                (long long)facts->selves);
    if (facts->zeros > 0)
        ikt_log(ctx, IKT_LOG_DETAIL, "%s: %lld entries with the number 0 left out", name,
                (long long)facts->zeros);
    /* Rows and columns in slots, as they were in the run that kept the graph. */
    IKT_TRY(read_slots(ctx, file, rows, &slot));
    if (slot) {
        ikt_status st = ikt_order_create(ctx, rows, slot, &p->order);
        p->is_ordered = st == IKT_OK;
        if (st == IKT_OK) st = ikt_directed_to_slots(ctx, &p->order, slot, read);
        ikt_free(&slot);
        IKT_TRY(st);
    }
    return take_start(ctx, file, &settings->layout, rows, p);
}

static ikt_status read_weights(ikt_context *ctx, const ikt_graph_file *file,
                               const ikt_settings *settings, ikt_dataset *data,
                               const ikt_rows *rows, ikt_probabilities *p) {
    const ikt_edge_rule rule = rule_of(file, &settings->affinity);
    ikt_graph_facts facts;
    IKT_TRY(ikt_graph_check_rows(ctx, file, rows));
    IKT_TRY(ikt_directed_load(ctx, file, rows, &rule, data, p->k, &p->weights, &facts));
    p->zero_similarity = facts.zero_similarity;
    if (ikt_graph_file_is_kept(file)) {
        p->accuracy = told(file, "neighbour_label_accuracy", -1);
        p->recall.similarity = told(file, "neighbour_similarity", 0);
        p->recall.found = told(file, "neighbours_found", 0);
        ikt_graph_file_int(file, "recall_sample", &p->recall.sample);
        p->cells.differing = told(file, "cells_differing", 0);
        ikt_graph_file_int(file, "cell_sample", &p->cells.sample);
        ikt_graph_file_int(file, "rows_without_similarity", &p->zero_similarity);
        ikt_graph_file_int(file, "psi", &p->psi);
        ikt_graph_file_int(file, "pool", &p->pool);
    }
    return ikt_graph_take_order(ctx, file, settings, rows, &facts, &p->weights, p);
}

ikt_status ikt_graph_weights(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, ikt_probabilities *p) {
    ikt_graph_file *file = NULL;
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    ikt_status st = read_weights(ctx, file, settings, data, rows, p);
    ikt_graph_file_close(&file);
    return st;
}

/* --- what it is ------------------------------------------------------------------------------- */

/* COLLECTIVE. Of the entries, and of order and start, which a result may depend on as well. */
static ikt_status hash_file(ikt_context *ctx, const ikt_graph_file *file,
                            const ikt_affinity_settings *affinity, uint64_t *hash) {
    const ikt_edge_rule rule = rule_of(file, affinity);
    const ikt_rows rows = ikt_rows_make(ikt_graph_file_rows(file), ikt_size(ctx), ikt_rank(ctx));
    int64_t q;
    const ikt_graph_start start = ikt_graph_file_start(file, &q);
    const size_t bytes =
        (size_t)q * (start == IKT_GRAPH_START_PCA ? sizeof(double) : sizeof(float));
    uint32_t *slot;
    char *begun = NULL;
    IKT_TRY(ikt_graph_file_hash(ctx, file, &rows, rule.values, hash));
    IKT_TRY(read_slots(ctx, file, &rows, &slot));
    if (slot) *hash += ikt_row_hash(ctx, slot, rows.first, rows.count, sizeof *slot);
    ikt_free(&slot);
    if (start == IKT_GRAPH_START_NONE) return IKT_OK;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &begun, rows.count, bytes, "initial"));
    if (st == IKT_OK) st = ikt_graph_file_read_start(file, &rows, begun);
    if (st == IKT_OK) *hash += ikt_row_hash(ctx, begun, rows.first, rows.count, bytes);
    ikt_free(&begun);
    return st;
}

ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]) {
    ikt_graph_file *file = NULL;
    ikt_pairwise pairs;
    char *made_of = NULL;
    uint64_t hash = 0;
    IKT_TRY(ikt_pairwise_open(ctx, settings->input.graph, &pairs));
    if (pairs.source) {
        char table[IKT_INPUT_TEXT] = "";
        const ikt_status st = ikt_fingerprint_input(ctx, pairs.source, table);
        snprintf(text, IKT_INPUT_TEXT, "pairs %.120s%s%.120s", table, data[0] ? "; " : "", data);
        ikt_pairwise_close(&pairs);
        return st;
    }
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    ikt_status st = hash_file(ctx, file, &settings->affinity, &hash);
    if (st == IKT_OK && ikt_graph_file_is_kept(file) && data[0])
        st = ikt_agree(ctx, ikt_graph_file_text(file, "input", &made_of));
    /* No error: the same data may be stored in two types. */
    if (made_of && strncmp(made_of, data, strlen(data)) != 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s was made of other data (%s) than input.file (%s): what is taken from the rows "
                "may not fit it",
                ikt_graph_file_name(file), made_of, data);
    snprintf(text, IKT_INPUT_TEXT, "graph of %lld rows, %lld entries, hash %016llx%s%s",
             (long long)ikt_graph_file_rows(file), (long long)ikt_graph_file_entries(file),
             (unsigned long long)hash, data[0] ? "; " : "", data);
    ikt_free(&made_of);
    ikt_graph_file_close(&file);
    return st;
}

/* --- labels ----------------------------------------------------------------------------------- */

ikt_status ikt_graph_labels(ikt_context *ctx, const ikt_graph_file *file, const char *name,
                            const ikt_rows *rows, int64_t *labels, bool *present, char **names) {
    const bool is_default = strcmp(name, "labels") == 0;
    IKT_TRY(ikt_graph_file_labels(file, name, rows->first, rows->count, labels, present, names));
    if (!*present && !is_default)
        IKT_TRY(ikt_label_file_read(ctx, name, rows->n, rows->first, rows->count, labels, present,
                                    names));
    if (*present || is_default) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has no labels '%s' (input.labels) beside it, and there is no file of that "
                    "name",
                    ikt_graph_file_name(file), name);
}
