/* A graph from a file in place of a kernel. See graph_input.h. */
#include "pipeline/graph_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "graph/graph.h"
#include "io/sources/labels.h"

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
