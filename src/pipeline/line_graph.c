/* A graph from a file in place of a kernel (input.graph): its weights, the pairs that it joins, and
 * what it is. See line.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "graph/graph.h"
#include "pipeline/line.h"
#include "settings/checks.h"

/* --- what a kept graph knows ------------------------------------------------------------------ */

/* What the numbers of the file are. */
static ikt_edges values_of(const ikt_graph_file *file, const ikt_affinity_settings *affinity) {
    return ikt_graph_file_is_kept(file) ? IKT_EDGES_CONDITIONAL : (ikt_edges)affinity->graph.values;
}

/* A number that a kept graph tells of its making; `fallback` where it does not. */
static double noted(const ikt_graph_file *file, const char *name, double fallback) {
    char *text IKT_AT_END(ikt_free) = NULL, *end;
    if (ikt_graph_file_text(file, name, &text) != IKT_OK || !text) return fallback;
    const double value = strtod(text, &end);
    return end == text ? fallback : value;
}

/* What a kept graph tells of its making: all that is known, which is told by a number above 0
 * (`known`), or by the fact itself where it is not below 0. */
enum { OWN = -1 };
static const struct {
    const char *name;
    size_t at; /* in a line */
    bool is_real;
    double unknown;
    int64_t known; /* in a line; OWN */
} facts_of_making[] = {
    {"rows_without_similarity", offsetof(ikt_line, zero_similarity), false, -1, OWN},
    {"neighbour_label_accuracy", offsetof(ikt_line, accuracy), true, -1, OWN},
    {"recall_sample", offsetof(ikt_line, recall.sample), false, 0,
     offsetof(ikt_line, recall.sample)},
    {"neighbour_similarity", offsetof(ikt_line, recall.similarity), true, 0,
     offsetof(ikt_line, recall.sample)},
    {"neighbours_found", offsetof(ikt_line, recall.found), true, -1, OWN},
    {"cell_sample", offsetof(ikt_line, cells.sample), false, 0, offsetof(ikt_line, cells.sample)},
    {"cells_differing", offsetof(ikt_line, cells.differing), true, 0,
     offsetof(ikt_line, cells.sample)},
    {"psi", offsetof(ikt_line, psi), false, 0, offsetof(ikt_line, psi)},
    {"pool", offsetof(ikt_line, pool), false, 0, offsetof(ikt_line, psi)}};
enum { FACTS_OF_MAKING = sizeof facts_of_making / sizeof *facts_of_making };

ikt_status ikt_line_write_facts(const ikt_line *line, ikt_graph_writer *w) {
    for (int f = 0; f < FACTS_OF_MAKING; f++) {
        const void *value = (const char *)line + facts_of_making[f].at;
        const bool is_real = facts_of_making[f].is_real;
        const double number = is_real ? *(const double *)value : (double)*(const int64_t *)value;
        const int64_t known = facts_of_making[f].known;
        char text[32];
        if (known == OWN ? number < 0
                         : *(const int64_t *)(const void *)((const char *)line + known) <= 0)
            continue;
        snprintf(text, sizeof text, "%.17g", number);
        IKT_TRY(is_real ? ikt_graph_writer_text(w, facts_of_making[f].name, text)
                        : ikt_graph_writer_int(w, facts_of_making[f].name, (int64_t)number));
    }
    return IKT_OK;
}

static void read_facts(const ikt_graph_file *file, ikt_line *line) {
    for (int f = 0; f < FACTS_OF_MAKING; f++) {
        void *value = (char *)line + facts_of_making[f].at;
        if (facts_of_making[f].is_real)
            *(double *)value = noted(file, facts_of_making[f].name, facts_of_making[f].unknown);
        else
            ikt_graph_file_int(file, facts_of_making[f].name, value);
    }
    /* Of an older build that did not know it. */
    if (line->recall.found == 0) line->recall.found = -1;
}

/* COLLECTIVE. The slots of the own rows, in which a kept graph has its rows.
 *   slot   receives [rows->count], of `held`; NULL where the graph is not ordered */
static ikt_status read_slots(const ikt_graph_file *file, const ikt_rows *rows, ikt_arrays *held,
                             uint32_t **slot) {
    *slot = NULL;
    if (!ikt_graph_file_is_ordered(file)) return IKT_OK;
    *slot = ikt_claim(held, rows->count, sizeof **slot);
    IKT_TRY(ikt_arrays_agree(held));
    return ikt_graph_file_slots(file, rows, *slot);
}

/* COLLECTIVE. Rows and columns in slots, as they were in the run that kept the graph. */
static ikt_status take_order(ikt_line *line, const ikt_graph_file *file, ikt_directed *read) {
    ikt_context *ctx = line->ctx;
    const ikt_rows *rows = line->rows;
    uint32_t *slot;
    IKT_ARRAYS(held, ctx, "order");
    IKT_TRY(read_slots(file, rows, &held, &slot));
    if (!slot) return IKT_OK;
    IKT_TRY(ikt_order_create(ctx, rows, slot, &line->order));
    line->is_ordered = true;
    return ikt_directed_to_slots(ctx, &line->order, slot, read);
}

/* COLLECTIVE. What the run that kept the graph began at, where this one begins in the same way. */
static ikt_status take_start(ikt_line *line, const ikt_graph_file *file) {
    ikt_context *ctx = line->ctx;
    const int64_t numbers = line->settings->layout.dimensions * line->rows->count;
    if (ikt_steps_have(line->steps, IKT_STEP_START_KEPT_SCORES)) {
        IKT_TRY(ikt_alloc_all(ctx, &line->scores, numbers, sizeof *line->scores, "initial"));
        return ikt_graph_file_read_start(file, line->rows, line->scores);
    }
    if (!ikt_steps_have(line->steps, IKT_STEP_START_KEPT_PLACES) || line->start) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &line->start, numbers, sizeof *line->start, "embedding"));
    return ikt_graph_file_read_start(file, line->rows, line->start);
}

/* COLLECTIVE. What goes with rows of edges that were read: what the log says of entries that were
 * left out, order and start of a kept graph.
 *   read   the rows, in the order of the file; then in slots */
static ikt_status take_rest(ikt_line *line, const ikt_graph_file *file,
                            const ikt_graph_facts *facts, ikt_directed *read) {
    ikt_context *ctx = line->ctx;
    const struct {
        int64_t count;
        const char *what;
    } left[] = {{facts->selves, "of rows with themselves"}, {facts->zeros, "with the number 0"}};
    for (size_t l = 0; l < sizeof left / sizeof *left; l++)
        if (left[l].count > 0)
            ikt_log(ctx, IKT_LOG_DETAIL, "%s: %lld entries %s left out", ikt_graph_file_name(file),
                    (long long)left[l].count, left[l].what);
    IKT_TRY(take_order(line, file, read));
    return take_start(line, file);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* COLLECTIVE. The graph, of as many rows as there are.
 *   file   closed by the caller, also after a failure */
static ikt_status open_graph(const ikt_line *line, ikt_graph_file **file) {
    IKT_TRY(ikt_graph_file_open(line->ctx, line->settings->input.graph, file));
    return ikt_check_graph_rows(line->ctx, ikt_graph_file_name(*file), ikt_graph_file_rows(*file),
                                line->rows->n);
}

/* COLLECTIVE. Weights of the edges, with what a kept graph knows. */
ikt_status ikt_step_edges(ikt_line *line) {
    const ikt_affinity_settings *affinity = &line->settings->affinity;
    ikt_graph_facts facts;
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(open_graph(line, &file));
    const ikt_edge_rule rule = {.values = values_of(file, affinity),
                                .kernel = (ikt_edge_kernel)affinity->graph.weights,
                                .perplexity = affinity->gaussian.perplexity};
    IKT_TRY(ikt_directed_load(line->ctx, file, line->rows, &rule, line->data, line->k,
                              &line->weights, &facts));
    line->zero_similarity = facts.zero_similarity;
    if (ikt_graph_file_is_kept(file)) read_facts(file, line);
    return take_rest(line, file, &facts, &line->weights);
}

/* COLLECTIVE. Refuses rows that no other is joined to. */
static ikt_status check_joined(ikt_context *ctx, const ikt_rows *rows, const ikt_directed *pairs,
                               const char *name) {
    int64_t alone = 0, first = INT64_MAX;
    for (int64_t i = rows->count - 1; i >= 0; i--) {
        if (pairs->start[i + 1] > pairs->start[i]) continue;
        alone++;
        first = rows->first + i;
    }
    alone = ikt_sum_one(ctx, alone);
    ikt_min_i64(ctx, &first, 1);
    if (alone == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: %lld of %lld rows have no edge to or from another row, first row %lld: "
                    "there are no triplets with them; leave them out of the graph",
                    name, (long long)alone, (long long)rows->n, (long long)first);
}

/* COLLECTIVE. The pairs that the edges join, in both directions. */
ikt_status ikt_step_join(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_rows *rows = line->rows;
    ikt_joined *joined = &line->joined;
    ikt_graph_facts facts;
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    IKT_IN_STAGE(ctx, IKT_STAGE_GRAPH);
    IKT_TRY(open_graph(line, &file));
    const ikt_edges values = values_of(file, &line->settings->affinity);
    joined->are_distances = values == IKT_EDGES_DISTANCES;
    IKT_TRY(ikt_pairs_load(ctx, file, rows, values, &joined->pairs, &facts));
    IKT_TRY(take_rest(line, file, &facts, &joined->pairs));
    IKT_TRY(ikt_directed_unite(ctx, rows, !joined->are_distances, &joined->pairs));
    IKT_TRY(check_joined(ctx, rows, &joined->pairs, ikt_graph_file_name(file)));
    const int64_t entries = ikt_sum_one(ctx, joined->pairs.start[rows->count]);
    ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("pairs", entries / 2)),
                    "graph: %lld pairs of rows are joined, %.1f a row", (long long)(entries / 2),
                    (double)entries / (double)rows->n);
    return IKT_OK;
}

/* --- what it is ------------------------------------------------------------------------------- */

/* COLLECTIVE. Of the entries, and of order and start, which a result may depend on as well. */
static ikt_status hash_file(ikt_context *ctx, const ikt_graph_file *file, ikt_edges values,
                            uint64_t *hash) {
    const ikt_rows rows = ikt_rows_make(ikt_graph_file_rows(file), ikt_size(ctx), ikt_rank(ctx));
    int64_t q;
    const ikt_graph_start start = ikt_graph_file_start(file, &q);
    const size_t number = start == IKT_GRAPH_START_PCA ? sizeof(double) : sizeof(float);
    const size_t bytes = (size_t)q * number;
    uint32_t *slot;
    IKT_ARRAYS(held, ctx, "order");
    IKT_TRY(ikt_graph_file_hash(ctx, file, &rows, values, hash));
    IKT_TRY(read_slots(file, &rows, &held, &slot));
    if (slot) *hash += ikt_row_hash(ctx, slot, rows.first, rows.count, sizeof *slot);
    ikt_arrays_free(&held);
    if (start == IKT_GRAPH_START_NONE) return IKT_OK;
    char *begun = ikt_claim(&held, rows.count, bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_graph_file_read_start(file, &rows, begun));
    *hash += ikt_row_hash(ctx, begun, rows.first, rows.count, bytes);
    return IKT_OK;
}

/* COLLECTIVE. Warns of a kept graph that was made of other data than these. No error: the same data
 * may be stored in two types. */
static ikt_status compare_data(ikt_context *ctx, const ikt_graph_file *file, const char *data) {
    char *made_of IKT_AT_END(ikt_free) = NULL;
    if (!ikt_graph_file_is_kept(file) || !data[0]) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, ikt_graph_file_text(file, "input", &made_of)));
    if (made_of && strncmp(made_of, data, strlen(data)) != 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s was made of other data (%s) than input.file (%s): what is taken from the rows "
                "may not fit it",
                ikt_graph_file_name(file), made_of, data);
    return IKT_OK;
}

ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]) {
    const char *between = data[0] ? "; " : "";
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    ikt_pairwise pairs IKT_AT_END(ikt_pairwise_close) = {.source = NULL};
    char table[IKT_INPUT_TEXT];
    uint64_t hash;
    IKT_TRY(ikt_pairwise_open(ctx, settings->input.graph, &pairs));
    if (pairs.source) {
        IKT_TRY(ikt_fingerprint_input(ctx, pairs.source, table));
        snprintf(text, IKT_INPUT_TEXT, "pairs %.120s%s%.120s", table, between, data);
        return IKT_OK;
    }
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    IKT_TRY(hash_file(ctx, file, values_of(file, &settings->affinity), &hash));
    IKT_TRY(compare_data(ctx, file, data));
    snprintf(text, IKT_INPUT_TEXT, "graph of %lld rows, %lld entries, hash %016llx%s%s",
             (long long)ikt_graph_file_rows(file), (long long)ikt_graph_file_entries(file),
             (unsigned long long)hash, between, data);
    return IKT_OK;
}
