/* Keeping the graph of a run. See graph_keep.h. */
#include "pipeline/graph_keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/order.h"
#include "iktsne/version.h"
#include "io/results/graph_file.h"
#include "settings/graph_settings.h"

/* --- beginning -------------------------------------------------------------------------------- */

/* LOCAL. Whether a text of the file is this one. */
static bool says(const ikt_graph_file *file, const char *name, const char *expected) {
    char *text = NULL;
    const bool is =
        ikt_graph_file_text(file, name, &text) == IKT_OK && text && strcmp(text, expected) == 0;
    ikt_free(&text);
    return is;
}

/* COLLECTIVE. Whether a file of that name is the graph that this run would keep: that of the part
 * of this run that was stopped. */
static ikt_status is_kept_already(ikt_context *ctx, const ikt_graph_origin *o, const char *given,
                                  bool *is) {
    const char *path = o->settings->output.graph;
    ikt_graph_file *file = NULL;
    int64_t seed = -1, exists = ikt_rank(ctx) == 0 && access(path, F_OK) == 0;
    *is = false;
    ikt_broadcast(ctx, &exists, (int64_t)sizeof exists, 0);
    if (exists == 0) return IKT_OK;
    if (ikt_graph_file_open(ctx, path, &file) != IKT_OK) {
        ikt_clear(ctx);
        return IKT_OK; /* something else: the usual rules of output files hold */
    }
    ikt_graph_file_int(file, "seed", &seed);
    *is = ikt_graph_file_is_kept(file) && seed == o->settings->run.seed &&
          says(file, "version", IKT_VERSION) && says(file, "input", o->input) &&
          says(file, "settings_given", given);
    ikt_graph_file_close(&file);
    return IKT_OK;
}

static ikt_status check_name(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_output_settings *output = &settings->output;
    if (settings->affinity.support == IKT_SUPPORT_DENSE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.graph needs affinity.support = sparse: a dense P is no graph");
    if (strcmp(output->graph, output->file) == 0 || strcmp(output->graph, output->model) == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.graph and another output are the same file: %s",
                        output->graph);
    return IKT_OK;
}

/* COLLECTIVE. What is known before P is. */
static ikt_status write_origin(const ikt_graph_origin *o, const char *given, ikt_graph_writer *w) {
    IKT_TRY(ikt_graph_writer_text(w, "version", IKT_VERSION));
    IKT_TRY(ikt_graph_writer_text(w, "input", o->input));
    IKT_TRY(ikt_graph_writer_text(w, "settings_given", given));
    IKT_TRY(ikt_graph_writer_int(w, "seed", o->settings->run.seed));
    if (o->label_names) IKT_TRY(ikt_graph_writer_text(w, "label_names", o->label_names));
    return o->n_marked > 0 ? ikt_graph_writer_marked(w, o->marked, o->n_marked) : IKT_OK;
}

/* COLLECTIVE. */
static ikt_status begin(ikt_context *ctx, const ikt_graph_origin *o, const char *given,
                        ikt_graph_writer **out) {
    const ikt_output_settings *output = &o->settings->output;
    bool is_kept = false;
    if (!output->overwrite) IKT_TRY(is_kept_already(ctx, o, given, &is_kept));
    if (is_kept) {
        ikt_log(ctx, IKT_LOG_STAGE, "graph: %s is there already, of these data and settings",
                output->graph);
        return IKT_OK;
    }
    IKT_TRY(ikt_graph_writer_begin(ctx, output->graph, output->overwrite, out));
    return write_origin(o, given, *out);
}

ikt_status ikt_graph_keep_begin(ikt_context *ctx, const ikt_graph_origin *o,
                                ikt_graph_writer **out) {
    char *given = NULL;
    *out = NULL;
    if (!o->settings->output.graph[0]) return IKT_OK;
    IKT_TRY(check_name(ctx, o->settings));
    ikt_status st = ikt_agree(ctx, ikt_graph_settings_print(ctx, o->settings, &given));
    if (st == IKT_OK) st = begin(ctx, o, given, out);
    ikt_free(&given);
    if (st != IKT_OK) ikt_graph_writer_abandon(out);
    return st;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Columns and weights of rows that stand in the order of the input. */
static ikt_status write_rows(ikt_context *ctx, ikt_graph_writer *w, ikt_probabilities *p) {
    ikt_directed *weights = &p->weights;
    IKT_TRY(ikt_agree(ctx, ikt_directed_sort(ctx, weights)));
    IKT_TRY(ikt_graph_writer_rows(w, &p->rows, weights->start));
    IKT_TRY(ikt_graph_writer_columns(w, weights->column));
    return ikt_graph_writer_weights(w, weights->value);
}

/* COLLECTIVE. The same of rows that stand in slots: columns get the numbers of rows, in whose order
 * the entries of a row are written, one array after the other, and then those of slots back. */
static ikt_status write_ordered(ikt_context *ctx, ikt_graph_writer *w, ikt_probabilities *p) {
    const ikt_order *order = &p->order;
    ikt_directed *from = &p->weights;
    const int64_t count = order->rows.count, entries = from->start[count];
    uint32_t *slot = NULL, *moved = NULL;
    int64_t *to = NULL;
    ikt_status st = ikt_alloc(ctx, &slot, count, sizeof *slot, "order");
    if (st == IKT_OK) st = ikt_alloc(ctx, &to, count + 1, sizeof *to, "graph");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_translate_indices(ctx, &order->rows, order->row, from->column, entries);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_directed_sort(ctx, from));
    if (st == IKT_OK) st = ikt_redistribute_starts(ctx, order, IKT_TO_ROWS, from->start, to);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, &moved, to[count], sizeof *moved, "graph"));
    if (st == IKT_OK) st = ikt_graph_writer_rows(w, &order->rows, to);
    if (st == IKT_OK)
        st =
            ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, from->start, from->column, to, moved);
    if (st == IKT_OK) st = ikt_graph_writer_columns(w, moved);
    if (st == IKT_OK)
        st = ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, from->start, from->value, to, moved);
    if (st == IKT_OK) st = ikt_graph_writer_weights(w, (const float *)(const void *)moved);
    if (st == IKT_OK) st = ikt_order_slots(ctx, order, slot);
    if (st == IKT_OK) st = ikt_graph_writer_positions(w, slot);
    if (st == IKT_OK) st = ikt_translate_indices(ctx, &order->rows, slot, from->column, entries);
    ikt_free(&slot);
    ikt_free(&moved);
    ikt_free(&to);
    return st;
}

static ikt_status write_real(ikt_graph_writer *w, const char *name, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return ikt_graph_writer_text(w, name, text);
}

/* COLLECTIVE. What is known of the weights. */
static ikt_status write_facts(ikt_graph_writer *w, const ikt_probabilities *p) {
    IKT_TRY(ikt_graph_writer_int(w, "rows_without_similarity", p->zero_similarity));
    if (p->psi > 0) {
        IKT_TRY(ikt_graph_writer_int(w, "psi", p->psi));
        IKT_TRY(ikt_graph_writer_int(w, "pool", p->pool));
    }
    if (p->accuracy >= 0) IKT_TRY(write_real(w, "neighbour_label_accuracy", p->accuracy));
    if (p->recall.sample == 0) return IKT_OK;
    IKT_TRY(ikt_graph_writer_int(w, "recall_sample", p->recall.sample));
    IKT_TRY(write_real(w, "neighbour_similarity", p->recall.similarity));
    return write_real(w, "neighbours_found", p->recall.found);
}

ikt_status ikt_graph_keep_rows(ikt_context *ctx, const ikt_settings *settings,
                               const ikt_probabilities_options *options, ikt_probabilities *p) {
    ikt_graph_writer *w = options->graph_writer;
    ikt_settings used = *settings; /* with what this run had to decide in place of "auto" */
    char *text = NULL;
    IKT_TRY(p->is_ordered ? write_ordered(ctx, w, p) : write_rows(ctx, w, p));
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, options->labels != NULL) > 0)
        IKT_TRY(ikt_graph_writer_labels(w, options->labels));
    IKT_TRY(write_facts(w, p));
    used.affinity.neighbours = p->k;
    if (p->psi > 0) {
        used.isolation.psi = p->psi;
        used.isolation.pool = p->pool;
    }
    ikt_status st = ikt_agree(ctx, ikt_graph_settings_print(ctx, &used, &text));
    if (st == IKT_OK) st = ikt_graph_writer_text(w, "settings", text);
    ikt_free(&text);
    return st;
}

ikt_status ikt_graph_keep_end(ikt_context *ctx, ikt_graph_writer **writer) {
    char path[IKT_STRING_MAX];
    if (!*writer) return IKT_OK;
    snprintf(path, sizeof path, "%s", ikt_graph_writer_path(*writer));
    IKT_TRY(ikt_graph_writer_end(writer, IKT_OK));
    ikt_log(ctx, IKT_LOG_STAGE, "graph: %s; input.graph=%s takes it up", path, path);
    return IKT_OK;
}
