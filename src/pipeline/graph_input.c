/* A graph from a file in place of a kernel. See graph_input.h. */
#include "pipeline/graph_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "graph/load.h"
#include "io/sources/labels.h"
#include "settings/graph_settings.h"

/* --- what it decides -------------------------------------------------------------------------- */

/* What the numbers are, by the attribute of the group or by its name. */
static ikt_edges guess(const char *attribute, const char *name) {
    static const struct {
        const char *word;
        ikt_edges values;
    } words[] = {{"similarit", IKT_EDGES_SIMILARITIES},
                 {"connectivit", IKT_EDGES_SIMILARITIES},
                 {"distance", IKT_EDGES_DISTANCES},
                 {"probabilit", IKT_EDGES_PROBABILITIES}};
    const char *colon = strrchr(name, ':');
    if (strcmp(attribute, "none") == 0) return IKT_EDGES_NONE;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strstr(attribute, words[w].word)) return words[w].values;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (colon && strstr(colon, words[w].word)) return words[w].values;
    return IKT_EDGES_AUTO;
}

static ikt_status settle_foreign(ikt_context *ctx, const ikt_graph_file *file,
                                 ikt_settings *settings) {
    ikt_affinity_settings *affinity = &settings->affinity;
    const int kind = affinity->kind;
    const char *name = ikt_graph_file_name(file);
    if (kind != IKT_AFFINITY_ISOLATION && kind != IKT_AFFINITY_GRAPH)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind = %s does not go with input.graph, which stands in place of "
                        "a kernel; distances get Gaussian weights by graph.values=distances with "
                        "gaussian.perplexity",
                        ikt_affinity_of(affinity)->name);
    affinity->kind = IKT_AFFINITY_GRAPH;
    if (affinity->graph.values == IKT_EDGES_AUTO)
        affinity->graph.values = (int)guess(ikt_graph_file_values(file), name);
    if (affinity->graph.values != IKT_EDGES_AUTO) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s does not say what its numbers are: give graph.values=similarities, "
                    "distances, probabilities or none",
                    name);
}

static ikt_status settle_kept(ikt_context *ctx, const ikt_graph_file *file,
                              ikt_settings *settings) {
    char *text = NULL;
    IKT_TRY(ikt_graph_file_text(file, "settings", &text));
    ikt_status st = IKT_OK;
    if (!text)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s: a kept graph without its settings",
                      ikt_graph_file_name(file));
    if (st == IKT_OK) st = ikt_graph_settings_adopt(ctx, settings, text, ikt_graph_file_name(file));
    ikt_free(&text);
    return st;
}

/* What goes with no graph. */
static ikt_status check_others(ikt_context *ctx, const ikt_settings *settings) {
    if (settings->affinity.support == IKT_SUPPORT_DENSE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = dense needs a kernel that knows every pair; a graph "
                        "(input.graph) is sparse");
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

static void note(const ikt_graph_file *file, ikt_graph_about *about) {
    about->n = ikt_graph_file_rows(file);
    about->entries = ikt_graph_file_entries(file);
    about->is_kept = ikt_graph_file_is_kept(file);
    about->is_ordered = ikt_graph_file_is_ordered(file);
    about->start = ikt_graph_file_start(file, &about->q);
    ikt_graph_file_int(file, "seed", &about->seed);
    snprintf(about->name, sizeof about->name, "%s", ikt_graph_file_name(file));
}

ikt_status ikt_graph_settle(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about) {
    ikt_graph_file *file = NULL;
    *about = (ikt_graph_about){0};
    if (!settings->input.graph[0] && settings->affinity.kind == IKT_AFFINITY_GRAPH)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind = graph, but input.graph is not set: name the file with the "
                        "graph");
    if (!settings->input.graph[0]) return IKT_OK;
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    note(file, about);
    ikt_status st =
        about->is_kept ? settle_kept(ctx, file, settings) : settle_foreign(ctx, file, settings);
    if (st == IKT_OK) st = check_others(ctx, settings);
    if (st == IKT_OK) st = settle_start(ctx, settings, about);
    ikt_graph_file_close(&file);
    return ikt_agree(ctx, st);
}

/* --- P ---------------------------------------------------------------------------------------- */

static ikt_edge_rule rule_of(const ikt_graph_file *file, const ikt_affinity_settings *affinity) {
    return (ikt_edge_rule){.values = ikt_graph_file_is_kept(file)
                                         ? IKT_EDGES_CONDITIONAL
                                         : (ikt_edges)affinity->graph.values,
                           .kernel = (ikt_edge_kernel)affinity->graph.weights,
                           .perplexity = affinity->gaussian.perplexity};
}

static ikt_status check_rows(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows) {
    if (ikt_graph_file_rows(file) == rows->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, the data has %lld: not the same data",
                    ikt_graph_file_name(file), (long long)ikt_graph_file_rows(file),
                    (long long)rows->n);
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

static void take_facts(const ikt_graph_file *file, ikt_probabilities *p) {
    p->accuracy = told(file, "neighbour_label_accuracy", -1);
    p->recall.similarity = told(file, "neighbour_similarity", 0);
    p->recall.found = told(file, "neighbours_found", 0);
    ikt_graph_file_int(file, "recall_sample", &p->recall.sample);
    ikt_graph_file_int(file, "rows_without_similarity", &p->zero_similarity);
    ikt_graph_file_int(file, "psi", &p->psi);
    ikt_graph_file_int(file, "pool", &p->pool);
}

/* COLLECTIVE. Rows and columns in positions, as they were in the run that kept the graph. */
static ikt_status put_in_order(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                               ikt_probabilities *p) {
    uint32_t *position = NULL;
    if (!ikt_graph_file_is_ordered(file)) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &position, rows->count, sizeof *position, "order");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_graph_file_positions(file, rows, position);
    if (st == IKT_OK) st = ikt_order_create(ctx, rows, position, &p->order);
    p->is_ordered = st == IKT_OK;
    if (st == IKT_OK) st = ikt_directed_to_slots(ctx, &p->order, position, &p->weights);
    ikt_free(&position);
    return st;
}

/* COLLECTIVE. What the run that kept the graph began at, where this one begins in the same way. */
static ikt_status take_start(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_layout_settings *layout, const ikt_rows *rows,
                             ikt_probabilities *p) {
    int64_t q;
    const ikt_graph_start start = ikt_graph_file_start(file, &q);
    const int64_t numbers = q * rows->count;
    ikt_status st = IKT_OK;
    if (q != layout->dimensions) return IKT_OK;
    if (start == IKT_GRAPH_START_PCA && layout->init == IKT_INIT_PCA) {
        st = ikt_alloc(ctx, &p->scores, numbers, sizeof *p->scores, "initial");
        IKT_TRY(ikt_agree(ctx, st));
        return ikt_graph_file_read_start(file, rows, p->scores);
    }
    if (start == IKT_GRAPH_START_LANDMARK && layout->init == IKT_INIT_LANDMARK && !p->start) {
        st = ikt_alloc(ctx, &p->start, numbers, sizeof *p->start, "embedding");
        IKT_TRY(ikt_agree(ctx, st));
        return ikt_graph_file_read_start(file, rows, p->start);
    }
    return IKT_OK;
}

static void log_left_out(ikt_context *ctx, const char *name, const ikt_graph_facts *facts) {
    if (facts->selves > 0)
        ikt_log(ctx, IKT_LOG_DETAIL, "%s: %lld entries of rows with themselves left out", name,
                (long long)facts->selves);
    if (facts->zeros > 0)
        ikt_log(ctx, IKT_LOG_DETAIL, "%s: %lld entries with the number 0 left out", name,
                (long long)facts->zeros);
}

static ikt_status read_weights(ikt_context *ctx, const ikt_graph_file *file,
                               const ikt_settings *settings, ikt_dataset *data,
                               const ikt_rows *rows, ikt_probabilities *p) {
    const ikt_edge_rule rule = rule_of(file, &settings->affinity);
    ikt_graph_facts facts;
    IKT_TRY(check_rows(ctx, file, rows));
    IKT_TRY(ikt_directed_load(ctx, file, rows, &rule, data, p->k, &p->weights, &facts));
    p->zero_similarity = facts.zero_similarity;
    if (ikt_graph_file_is_kept(file)) take_facts(file, p);
    log_left_out(ctx, ikt_graph_file_name(file), &facts);
    IKT_TRY(put_in_order(ctx, file, rows, p));
    return take_start(ctx, file, &settings->layout, rows, p);
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

/* COLLECTIVE. Adds the order and the start, which a result may depend on as well. */
static ikt_status hash_order(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                             uint64_t *hash) {
    uint32_t *position = NULL;
    if (!ikt_graph_file_is_ordered(file)) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &position, rows->count, sizeof *position, "order");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_graph_file_positions(file, rows, position);
    if (st == IKT_OK)
        *hash += ikt_row_hash(ctx, position, rows->first, rows->count, sizeof *position);
    ikt_free(&position);
    return st;
}

ikt_status ikt_graph_shape(ikt_context *ctx, const ikt_graph_about *about, ikt_data_shape *shape) {
    shape->graph_entries = about->entries;
    shape->graph_is_ordered = about->is_ordered;
    if (about->n == 0 || about->n == shape->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, input.file has %lld: not the same data",
                    about->name, (long long)about->n, (long long)shape->n);
}

static ikt_status hash_start(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_rows *distribution, uint64_t *hash) {
    int64_t q;
    const ikt_graph_start start = ikt_graph_file_start(file, &q);
    const size_t bytes =
        (size_t)q * (start == IKT_GRAPH_START_PCA ? sizeof(double) : sizeof(float));
    char *rows = NULL;
    if (start == IKT_GRAPH_START_NONE) return IKT_OK;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &rows, distribution->count, bytes, "initial"));
    if (st == IKT_OK) st = ikt_graph_file_read_start(file, distribution, rows);
    if (st == IKT_OK)
        *hash += ikt_row_hash(ctx, rows, distribution->first, distribution->count, bytes);
    ikt_free(&rows);
    return st;
}

/* COLLECTIVE. A graph and rows that do not belong together need not be an error: the same data may
 * be stored in two types. */
static ikt_status compare_data(ikt_context *ctx, const ikt_graph_file *file, const char *data) {
    char *text = NULL;
    if (!ikt_graph_file_is_kept(file) || !data[0]) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, ikt_graph_file_text(file, "input", &text)));
    if (text && strcmp(text, data) != 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s was made of other data (%s) than input.file (%s): what is taken from the rows "
                "may not fit it",
                ikt_graph_file_name(file), text, data);
    ikt_free(&text);
    return IKT_OK;
}

static ikt_status hash_file(ikt_context *ctx, const ikt_graph_file *file,
                            const ikt_affinity_settings *affinity, uint64_t *hash) {
    const ikt_edge_rule rule = rule_of(file, affinity);
    const ikt_rows rows = ikt_rows_make(ikt_graph_file_rows(file), ikt_size(ctx), ikt_rank(ctx));
    IKT_TRY(ikt_graph_file_hash(ctx, file, &rows, rule.values, hash));
    IKT_TRY(hash_order(ctx, file, &rows, hash));
    return hash_start(ctx, file, &rows, hash);
}

ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]) {
    ikt_graph_file *file = NULL;
    uint64_t hash = 0;
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    ikt_status st = hash_file(ctx, file, &settings->affinity, &hash);
    if (st == IKT_OK) st = compare_data(ctx, file, data);
    snprintf(text, IKT_INPUT_TEXT, "graph of %lld rows, %lld entries, hash %016llx%s%s",
             (long long)ikt_graph_file_rows(file), (long long)ikt_graph_file_entries(file),
             (unsigned long long)hash, data[0] ? "; " : "", data);
    ikt_graph_file_close(&file);
    return st;
}

/* --- labels ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Where they are: beside the graph, or in a file of their own. */
static ikt_status read_labels(ikt_context *ctx, const ikt_graph_file *file, const char *name,
                              const ikt_rows *rows, ikt_graph_companions *out) {
    bool present = false;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &out->labels, rows->count, sizeof(int64_t), "labels")));
    IKT_TRY(ikt_graph_file_labels(file, name, rows->first, rows->count, out->labels, &present,
                                  &out->label_names));
    const bool is_default = strcmp(name, "labels") == 0;
    if (!present && !is_default)
        IKT_TRY(ikt_label_file_read(ctx, name, rows->n, rows->first, rows->count, out->labels,
                                    &present, &out->label_names));
    if (present) return IKT_OK;
    ikt_free(&out->labels);
    if (is_default) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has no labels '%s' (input.labels) beside it, and there is no file of that "
                    "name",
                    ikt_graph_file_name(file), name);
}

ikt_status ikt_graph_companions_read(ikt_context *ctx, const ikt_input_settings *input,
                                     const ikt_rows *rows, ikt_graph_companions *out) {
    ikt_graph_file *file = NULL;
    *out = (ikt_graph_companions){.labels = NULL};
    IKT_TRY(ikt_graph_file_open(ctx, input->graph, &file));
    ikt_status st = read_labels(ctx, file, input->labels, rows, out);
    if (st == IKT_OK) st = ikt_graph_file_marked(file, &out->marked, &out->n_marked);
    ikt_graph_file_close(&file);
    if (st != IKT_OK) ikt_graph_companions_free(out);
    return st;
}

void ikt_graph_companions_free(ikt_graph_companions *c) {
    ikt_free(&c->labels);
    ikt_free(&c->label_names);
    ikt_free(&c->marked);
}
