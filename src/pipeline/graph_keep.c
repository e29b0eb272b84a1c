/* Keeping the graph of a run. See graph_keep.h. */
#include "pipeline/graph_keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/redistribute.h"
#include "dist/translate.h"
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

/* COLLECTIVE. Columns and weights as they stand: rows in the order of the input. */
static ikt_status write_rows(ikt_graph_writer *w, const ikt_rows *distribution,
                             const ikt_directed *rows) {
    IKT_TRY(ikt_graph_writer_rows(w, distribution, rows->start));
    IKT_TRY(ikt_graph_writer_columns(w, rows->column));
    return ikt_graph_writer_weights(w, rows->value);
}

/* COLLECTIVE. The same from positions, one array after the other.
 *   room   [entries that come] */
static ikt_status write_restored(ikt_context *ctx, const ikt_probabilities *p, const int64_t *to,
                                 void *room) {
    const ikt_order *order = &p->order;
    const ikt_directed *rows = &p->rows;
    IKT_TRY(ikt_graph_writer_rows(p->graph_keep, &order->rows, to));
    IKT_TRY(ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, rows->start, rows->column, to, room));
    IKT_TRY(ikt_graph_writer_columns(p->graph_keep, room));
    IKT_TRY(ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, rows->start, rows->value, to, room));
    return ikt_graph_writer_weights(p->graph_keep, room);
}

/* COLLECTIVE. Where each own row was put. */
static ikt_status find_positions(ikt_context *ctx, const ikt_order *order, uint32_t *position) {
    const int64_t bytes = sizeof *position;
    for (int64_t i = 0; i < order->rows.count; i++)
        position[i] = (uint32_t)(order->rows.first + i);
    return ikt_order_restore(ctx, order, position, bytes, position, bytes, bytes);
}

/* COLLECTIVE. Rows that are in positions: columns get the numbers of rows, in whose order the
 * entries of a row are written, and then those of positions back. */
static ikt_status write_ordered(ikt_context *ctx, ikt_probabilities *p) {
    const ikt_order *order = &p->order;
    ikt_directed *rows = &p->rows;
    const int64_t count = order->rows.count, entries = rows->start[count];
    uint32_t *position = NULL, *room = NULL;
    int64_t *to = NULL;
    ikt_status st = ikt_alloc(ctx, &position, count, sizeof *position, "order");
    if (st == IKT_OK) st = ikt_alloc(ctx, &to, count + 1, sizeof *to, "graph");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_translate_indices(ctx, &order->rows, order->row, rows->column, entries);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_directed_sort(ctx, rows));
    if (st == IKT_OK) st = ikt_redistribute_starts(ctx, order, IKT_TO_ROWS, rows->start, to);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_alloc(ctx, &room, to[count], sizeof *room, "graph"));
    if (st == IKT_OK) st = write_restored(ctx, p, to, room);
    if (st == IKT_OK) st = find_positions(ctx, order, position);
    if (st == IKT_OK) st = ikt_graph_writer_positions(p->graph_keep, position);
    if (st == IKT_OK)
        st = ikt_translate_indices(ctx, &order->rows, position, rows->column, entries);
    ikt_free(&position);
    ikt_free(&room);
    ikt_free(&to);
    return st;
}

/* --- what is known of them -------------------------------------------------------------------- */

static ikt_status write_real(ikt_graph_writer *w, const char *name, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return ikt_graph_writer_text(w, name, text);
}

/* COLLECTIVE. */
static ikt_status write_facts(const ikt_probabilities *p) {
    ikt_graph_writer *w = p->graph_keep;
    IKT_TRY(ikt_graph_writer_int(w, "rows_without_similarity", p->orphans));
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

/* COLLECTIVE. As used: what this run had to decide in place of "auto". */
static ikt_status write_settings(ikt_context *ctx, const ikt_settings *settings,
                                 const ikt_probabilities *p) {
    ikt_settings used = *settings;
    char *text = NULL;
    used.affinity.neighbours = p->k;
    if (p->psi > 0) {
        used.isolation.psi = p->psi;
        used.isolation.pool = p->pool;
    }
    ikt_status st = ikt_agree(ctx, ikt_graph_settings_print(ctx, &used, &text));
    if (st == IKT_OK) st = ikt_graph_writer_text(p->graph_keep, "settings", text);
    ikt_free(&text);
    return st;
}

ikt_status ikt_graph_keep_rows(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                               ikt_probabilities *p) {
    if (p->is_ordered) {
        IKT_TRY(write_ordered(ctx, p));
    } else {
        IKT_TRY(ikt_agree(ctx, ikt_directed_sort(ctx, &p->rows)));
        IKT_TRY(write_rows(p->graph_keep, rows, &p->rows));
    }
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, p->labels != NULL) > 0)
        IKT_TRY(ikt_graph_writer_labels(p->graph_keep, p->labels));
    IKT_TRY(write_facts(p));
    return write_settings(ctx, settings, p);
}

ikt_status ikt_graph_keep_end(ikt_context *ctx, ikt_graph_writer **writer) {
    char path[IKT_STRING_MAX];
    if (!*writer) return IKT_OK;
    snprintf(path, sizeof path, "%s", ikt_graph_writer_path(*writer));
    IKT_TRY(ikt_graph_writer_end(writer, IKT_OK));
    ikt_log(ctx, IKT_LOG_STAGE, "graph: %s; input.graph=%s takes it up", path, path);
    return IKT_OK;
}
