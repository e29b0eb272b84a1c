/* Looking at the inputs of a run. See shape.h. */
#include "recipe/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "io/results/result.h"
#include "io/sources/labels.h"
#include "io/sources/pairwise.h"
#include "recipe/facts.h"
#include "recipe/recipe.h"

/* The shape of an opened source, whose rows the kernels will read sparse or not. */
static ikt_data_shape shape_of(const ikt_source *source, bool is_sparse) {
    ikt_data_shape shape = {.n = ikt_source_rows(source),
                            .d = ikt_source_columns(source),
                            .type = ikt_source_type(source),
                            .is_half = ikt_source_is_half(source),
                            .is_sparse = is_sparse};
    if (!is_sparse) return shape;
    shape.entries = (double)ikt_source_entries(source) / (double)shape.n;
    shape.longest = ikt_source_longest_row(source);
    return shape;
}

/* --- a graph, or a matrix of all pairs -------------------------------------------------------- */

/* COLLECTIVE. A graph by rows of entries. */
static ikt_status look_at_graph(ikt_context *ctx, const char *name, ikt_graph_about *about) {
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    IKT_TRY(ikt_graph_file_open(ctx, name, &file));
    about->n = ikt_graph_file_rows(file);
    about->entries = ikt_graph_file_entries(file);
    about->is_kept = ikt_graph_file_is_kept(file);
    about->is_ordered = ikt_graph_file_is_ordered(file);
    about->start = ikt_graph_file_start(file, &about->q);
    ikt_graph_file_int(file, "seed", &about->seed);
    snprintf(about->name, sizeof about->name, "%s", ikt_graph_file_name(file));
    snprintf(about->values, sizeof about->values, "%s", ikt_graph_file_values(file));
    if (!about->is_kept) return IKT_OK;
    IKT_TRY(ikt_graph_file_text(file, "settings", &about->settings));
    if (about->settings) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s: a kept graph without its settings", about->name);
}

static ikt_status look_at_edges(ikt_context *ctx, const char *name, ikt_graph_about *about) {
    ikt_pairwise pairs;
    if (!name[0]) return IKT_OK;
    IKT_TRY(ikt_pairwise_open(ctx, name, &pairs));
    if (!pairs.source) return ikt_agree(ctx, look_at_graph(ctx, name, about));
    about->n = pairs.n;
    about->is_pairwise = true;
    snprintf(about->name, sizeof about->name, "%s", ikt_source_name(pairs.source));
    snprintf(about->values, sizeof about->values, "%s", pairs.values);
    ikt_pairwise_close(&pairs);
    return IKT_OK;
}

/* --- other files ------------------------------------------------------------------------------ */

ikt_status ikt_model_rows_order(ikt_context *ctx, ikt_source *model, ikt_source *rows,
                                ikt_source **ordered) {
    char *names IKT_AT_END(ikt_free) = NULL;
    *ordered = NULL;
    IKT_TRY(ikt_source_column_names(rows, &names));
    return ikt_source_order_columns(ctx, model, true, names, ikt_source_name(rows), ordered);
}

/* COLLECTIVE. Whether the columns of two data sets are the same ones. */
static ikt_status look_at_columns(ikt_context *ctx, ikt_source *rows, ikt_source **model) {
    ikt_source *ordered;
    IKT_TRY(ikt_model_rows_order(ctx, *model, rows, &ordered));
    if (!ordered) return IKT_OK;
    *model = ordered;
    ikt_log(ctx, IKT_LOG_STAGE,
            "%s (isolation.model_from): columns are taken by their names, in the order of %s",
            ikt_source_name(ordered), ikt_source_name(rows));
    return IKT_OK;
}

/* COLLECTIVE. Rows that centres are drawn from, and the type that rows meet them in.
 *   rows   those of the run, or NULL */
static ikt_status look_at_model(ikt_context *ctx, const ikt_isolation_settings *isolation,
                                ikt_source *rows, ikt_shape *shape) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    if (!isolation->model_from[0]) return IKT_OK;
    IKT_TRY(ikt_source_open(ctx, isolation->model_from, isolation->model_dataset, 0, &source));
    shape->data.drawn = ikt_source_rows(source);
    shape->model_columns = ikt_source_columns(source);
    if (ikt_source_type(source) != IKT_TYPE_U8 && shape->data.type == IKT_TYPE_U8)
        shape->data.type = IKT_TYPE_F32;
    snprintf(shape->model_name, sizeof shape->model_name, "%s", ikt_source_name(source));
    return rows ? look_at_columns(ctx, rows, &source) : IKT_OK;
}

static ikt_status look_at_start(ikt_context *ctx, const ikt_layout_settings *layout,
                                ikt_shape *shape) {
    ikt_result_file *map = NULL;
    if (!ikt_layout_start_file(layout)[0]) return IKT_OK;
    IKT_TRY(ikt_result_open(ctx, layout->init_file, &map));
    shape->start_rows = ikt_result_rows(map);
    shape->start_dimensions = ikt_result_dimensions(map);
    ikt_result_close(&map);
    return IKT_OK;
}

/* COLLECTIVE. Whether there are labels. */
static ikt_status look_for_labels(ikt_context *ctx, const ikt_settings *settings,
                                  ikt_source *source, ikt_shape *shape) {
    const ikt_rows none = {.n = shape->data.n};
    ikt_companions found;
    IKT_TRY(ikt_companions_read(ctx, &settings->input, source, &none, &found));
    shape->is_unlabelled = ikt_max_one(ctx, found.labels != NULL) == 0;
    ikt_companions_free(&found);
    return IKT_OK;
}

/* COLLECTIVE. All but the rows and their labels. */
static ikt_status look_beside(ikt_context *ctx, const ikt_settings *settings, ikt_source *rows,
                              ikt_shape *shape) {
    IKT_TRY(look_at_edges(ctx, settings->input.graph, &shape->graph));
    IKT_TRY(look_at_model(ctx, &settings->isolation, rows, shape));
    return look_at_start(ctx, &settings->layout, shape);
}

ikt_status ikt_shape_look(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                          bool is_host, ikt_shape *out, ikt_source **source) {
    ikt_shape shape IKT_AT_END(ikt_shape_destroy) = {.is_host = is_host};
    ikt_source *opened IKT_AT_END(ikt_source_close) = NULL;
    *out = shape;
    *source = NULL;
    IKT_TRY(ikt_recipe_check_settings(ctx, settings));
    if (!given && !ikt_input_is_graph(&settings->input))
        IKT_TRY(ikt_input_look(ctx, &settings->input, &opened));
    ikt_source *rows = ikt_source_or(given, opened);
    shape.has_rows = rows != NULL;
    if (rows) {
        shape.is_stored_sparse = ikt_source_is_sparse(rows);
        shape.data = shape_of(rows, shape.is_stored_sparse);
        snprintf(shape.name, sizeof shape.name, "%s", ikt_source_name(rows));
    }
    IKT_TRY(look_beside(ctx, settings, rows, &shape));
    if (!rows) {
        shape.data = (ikt_data_shape){.n = shape.graph.n, .type = IKT_TYPE_F32};
        memcpy(shape.name, shape.graph.name, sizeof shape.name);
    }
    IKT_TRY(look_for_labels(ctx, settings, rows, &shape));
    *source = opened;
    opened = NULL;
    return ikt_give(out, shape);
}

ikt_status ikt_shape_describe(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_data_shape *data, ikt_shape *out) {
    *out = (ikt_shape){.data = *data, .has_rows = true, .is_stored_sparse = data->is_sparse};
    snprintf(out->name, sizeof out->name, "the data");
    const ikt_status st = look_beside(ctx, settings, NULL, out);
    if (st != IKT_OK) ikt_shape_destroy(out);
    return st;
}

void ikt_shape_destroy(ikt_shape *shape) {
    ikt_free(&shape->graph.settings);
}

/* --- labels and marked rows ------------------------------------------------------------------- */

/* COLLECTIVE. Labels of the own rows, which are beside the graph or in a file of their own. */
static ikt_status read_graph_labels(ikt_context *ctx, const ikt_graph_file *file, const char *name,
                                    const ikt_rows *rows, bool *present, ikt_companions *out) {
    IKT_TRY(ikt_graph_file_labels(file, name, rows->first, rows->count, out->labels, present,
                                  &out->label_names));
    if (*present || ikt_labels_are_default(name)) return IKT_OK;
    IKT_TRY(ikt_label_file_read(ctx, name, rows->n, rows->first, rows->count, out->labels, present,
                                &out->label_names));
    if (*present) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has no labels '%s' (input.labels) beside it, and there is no file of that "
                    "name",
                    ikt_graph_file_name(file), name);
}

/* COLLECTIVE. What goes with a graph by rows of entries, of that name. */
static ikt_status read_beside_graph(ikt_context *ctx, const ikt_input_settings *input,
                                    const ikt_rows *rows, bool *present, ikt_companions *out) {
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    IKT_TRY(ikt_graph_file_open(ctx, input->graph, &file));
    IKT_TRY(read_graph_labels(ctx, file, input->labels, rows, present, out));
    IKT_TRY(ikt_graph_file_originals(file, rows, &out->original));
    return ikt_graph_file_marked(file, &out->marked, &out->n_marked);
}

/* COLLECTIVE. What goes with rows, or with a matrix of all pairs. Labels that were named have to be
 * there. */
static ikt_status read_beside_rows(ikt_source *source, const char *name, const ikt_rows *rows,
                                   bool *present, ikt_companions *out) {
    IKT_TRY(ikt_source_read_labels(source, name, rows->first, rows->count, out->labels, present));
    if (*present)
        IKT_TRY(ikt_source_read_text(source, "label_names", &out->label_names));
    else if (!ikt_labels_are_default(name))
        return ikt_source_no_labels(source, name, "input.labels");
    return ikt_source_read_marked(source, &out->marked, &out->n_marked);
}

ikt_status ikt_companions_read(ikt_context *ctx, const ikt_input_settings *input,
                               ikt_source *source, const ikt_rows *rows, ikt_companions *out) {
    bool present = false;
    ikt_pairwise pairs IKT_AT_END(ikt_pairwise_close) = {.source = NULL};
    ikt_companions found IKT_AT_END(ikt_companions_free) = {.labels = NULL};
    *out = found;
    if (!source) IKT_TRY(ikt_pairwise_open(ctx, input->graph, &pairs));
    source = ikt_source_or(source, pairs.source);
    IKT_TRY(ikt_alloc_all(ctx, &found.labels, rows->count, sizeof *found.labels, "labels"));
    IKT_TRY(source ? read_beside_rows(source, input->labels, rows, &present, &found)
                   : read_beside_graph(ctx, input, rows, &present, &found));
    if (present) ikt_labels_leave_unnamed(found.label_names, found.labels, rows->count);
    if (!present) ikt_free(&found.labels);
    return ikt_give(out, found);
}

void ikt_companions_free(ikt_companions *c) {
    ikt_free(&c->labels);
    ikt_free(&c->label_names);
    ikt_free(&c->marked);
    ikt_free(&c->original);
}
