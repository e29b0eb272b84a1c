/* The model and the graph of a run. See early_outputs.h. */
#include "pipeline/early_outputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/order.h"
#include "iktsne/version.h"
#include "linalg/blocks.h"
#include "sampled/far_similarity.h"

enum { CENTRE_BYTES = 16 << 20, ROW_BYTES = 4 << 20 };

/* --- the model -------------------------------------------------------------------------------- */

/* Every rank holds what is written here; one writes it. */
static ikt_status write_shared(ikt_context *ctx, ikt_model_writer *w, ikt_model_part part,
                               int64_t first, int64_t count, const void *rows) {
    return ikt_model_writer_part(w, part, first, ikt_rank(ctx) == 0 ? count : 0, rows, 0);
}

/* COLLECTIVE. Shape and preprocessing of rows with coordinates.
 *   shape   all but what the preprocessing tells, which it receives */
static ikt_status write_preprocessing(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                      ikt_model_shape *shape) {
    const ikt_data_map map = ikt_dataset_map(data);
    const int64_t d = map.normaliser.d;
    const double *fill = ikt_dataset_fill(data);
    shape->d = d;
    shape->columns = ikt_dataset_columns(data);
    shape->is_shifted = map.normaliser.shift != NULL;
    shape->is_reduced = map.pca != NULL;
    shape->is_unit = map.normaliser.mode == IKT_NORMALISE_UNIT;
    shape->metric = map.normaliser.metric;
    IKT_TRY(ikt_model_writer_shape(w, shape));
    if (fill) IKT_TRY(write_shared(ctx, w, IKT_MODEL_FILL, 0, d, fill));
    if (map.normaliser.shift) {
        IKT_TRY(write_shared(ctx, w, IKT_MODEL_SHIFT, 0, d, map.normaliser.shift));
        IKT_TRY(write_shared(ctx, w, IKT_MODEL_SCALE, 0, d, map.normaliser.scale));
    }
    if (!map.pca) return IKT_OK;
    IKT_TRY(write_shared(ctx, w, IKT_MODEL_MEAN, 0, d, map.pca->mean));
    return write_shared(ctx, w, IKT_MODEL_COMPONENTS, 0, map.pca->k, map.pca->components);
}

/* COLLECTIVE. Shape and preprocessing.
 *   model   NULL: the file holds rows */
static ikt_status write_shape(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                              const ikt_rows *rows, const ikt_model *model, int64_t centres,
                              const ikt_layout_settings *layout) {
    const bool by_triplets = ikt_layout_objective(layout)->places == IKT_PLACES_BY_TRIPLETS;
    ikt_model_shape shape = {.n = rows->n,
                             .q = layout->dimensions,
                             .centres = centres,
                             .t = model ? model->t : 0,
                             .psi = model ? model->psi : 0,
                             .is_u8 = model && ikt_dataset_is_u8(data),
                             .placing = by_triplets ? IKT_PLACING_TRIPLETS : IKT_PLACING_DIVERGENCE,
                             .has_rows = model == NULL};
    return write_preprocessing(ctx, w, data, &shape);
}

/* COLLECTIVE. Coordinates of the distinct centres, some at a time. */
static ikt_status write_centres(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                const int64_t *row, int64_t count) {
    const int64_t bytes = ikt_dataset_columns(data) * (ikt_dataset_is_u8(data) ? 1 : 4);
    const int64_t block = bytes < CENTRE_BYTES ? CENTRE_BYTES / bytes : 1;
    char *rows = NULL;
    ikt_status st = ikt_agree(
        ctx, ikt_alloc(ctx, &rows, block < count ? block : count, (size_t)bytes, "model"));
    for (int64_t first = 0; st == IKT_OK && first < count; first += block) {
        const int64_t now = count - first < block ? count - first : block;
        st = ikt_dataset_gather(ikt_dataset_model(data), row + first, now, rows);
        if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_CENTRES, first, now, rows);
    }
    ikt_free(&rows);
    return st;
}

/* COLLECTIVE. Of each partitioning the numbers of its centres among the distinct ones, some
 * partitionings at a time. */
static ikt_status write_partitionings(ikt_context *ctx, ikt_model_writer *w, const ikt_model *model,
                                      const int64_t *row, int64_t count) {
    const int64_t psi = model->psi, bytes = psi * (int64_t)sizeof(int32_t);
    const int64_t some = bytes < CENTRE_BYTES ? CENTRE_BYTES / bytes : 1;
    const int64_t block = some < model->t ? some : model->t;
    ikt_draws draws;
    int32_t *number = NULL;
    ikt_status st = ikt_draws_create(ctx, model, ikt_threads(ctx), &draws);
    if (st == IKT_OK) st = ikt_alloc(ctx, &number, block, (size_t)bytes, "model");
    st = ikt_agree(ctx, st);
    for (int64_t first = 0; st == IKT_OK && first < model->t; first += block) {
        const int64_t now = model->t - first < block ? model->t - first : block;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
        for (int64_t p = 0; p < now; p++) {
            const int64_t *centre = ikt_model_draw(model, &draws, omp_get_thread_num(), first + p);
            for (int64_t j = 0; j < psi; j++)
                number[p * psi + j] = (int32_t)ikt_find_i64(row, count, centre[j]);
        }
        st = write_shared(ctx, w, IKT_MODEL_PARTITIONINGS, first, now, number);
    }
    ikt_draws_destroy(&draws);
    ikt_free(&number);
    return st;
}

ikt_status ikt_run_model_codes(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                               const ikt_rows *rows, const ikt_model *model, const ikt_codes *codes,
                               const ikt_layout_settings *layout) {
    int64_t *row = NULL, count = 0;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_agree(ctx, ikt_model_distinct(ctx, model, 0, model->t, &row, &count));
    if (st == IKT_OK) st = write_shape(ctx, writer, data, rows, model, count, layout);
    if (st == IKT_OK) st = write_centres(ctx, writer, data, row, count);
    if (st == IKT_OK) st = write_partitionings(ctx, writer, model, row, count);
    if (st == IKT_OK)
        st = ikt_model_writer_part(writer, IKT_MODEL_CODES, rows->first, rows->count, codes->code,
                                   codes->stride);
    ikt_free(&row);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

/* COLLECTIVE. The own rows as they are compared, some at a time. */
static ikt_status write_rows(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                             const ikt_rows *rows) {
    const int64_t d = ikt_dataset_columns(data), some = ROW_BYTES / (d * (int64_t)sizeof(float));
    const int64_t block = some > 0 ? some : 1, steps = ikt_stream_steps(ctx, rows->count, block);
    const ikt_row_range own = {rows->first, rows->count};
    float *x = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &x, block * d, sizeof *x, "model"));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_dataset_read(data, at.first, at.count, x);
        if (st == IKT_OK) st = ikt_model_writer_part(w, IKT_MODEL_ROWS, at.first, at.count, x, 0);
    }
    ikt_free(&x);
    return st;
}

ikt_status ikt_run_model_rows(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                              const ikt_rows *rows, const ikt_neighbours *lists,
                              const ikt_features *features, const ikt_order *order,
                              const ikt_layout_settings *layout) {
    const int64_t bytes = sizeof(float);
    ikt_similarity similarity = {.codes = NULL};
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st =
        ikt_similarity_create(ctx, rows, lists, features, NULL, layout->own.triplet.scale_from,
                              layout->own.triplet.scale_to, &similarity);
    if (st == IKT_OK && order)
        st = ikt_order_restore(ctx, order, similarity.scale, bytes, similarity.scale, bytes, bytes);
    if (st == IKT_OK) st = write_shape(ctx, writer, data, rows, NULL, 0, layout);
    if (st == IKT_OK) st = write_rows(ctx, writer, data, rows);
    if (st == IKT_OK)
        st = ikt_model_writer_part(writer, IKT_MODEL_SCALES, rows->first, rows->count,
                                   similarity.scale, 0);
    ikt_similarity_destroy(&similarity);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

ikt_status ikt_run_model_classes(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                 const ikt_fisher_rows *of, const ikt_class_columns *support,
                                 const ikt_layout_settings *layout) {
    const ikt_class_support *s = of->support;
    const ikt_rows *rows = &of->rows;
    const double numbers[2] = {support->sigma, of->euclidean};
    ikt_model_shape shape = {.n = rows->n,
                             .q = layout->dimensions,
                             .placing = IKT_PLACING_CLASSES,
                             .has_rows = of->euclidean > 0,
                             .support = s->m,
                             .classes = s->shape.classes,
                             .lanes = s->shape.lanes,
                             .is_of_similarities = support->x == NULL,
                             .d = s->m,
                             .columns = s->m};
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st =
        support->x ? write_preprocessing(ctx, w, data, &shape) : ikt_model_writer_shape(w, &shape);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_SUPPORT, 0, s->m, s->row);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_SUPPORT_CLASS, 0, s->m, s->of);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_SUPPORT_SELF, 0, s->m, support->self);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_CLASS_NUMBERS, 0, 2, numbers);
    if (st == IKT_OK && support->x)
        st = write_shared(ctx, w, IKT_MODEL_SUPPORT_ROWS, 0, s->m, support->x);
    if (st == IKT_OK)
        st = ikt_model_writer_part(w, IKT_MODEL_WEIGHTS, rows->first, rows->count, of->weight, 0);
    if (st == IKT_OK && shape.has_rows) st = write_rows(ctx, w, data, rows);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

/* COLLECTIVE. The landmarks of a linear or Gaussian kernel as they are compared, some at a time. */
static ikt_status write_landmark_rows(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                      const int64_t *row, int64_t count) {
    const int64_t d = ikt_dataset_columns(data), some = ROW_BYTES / (d * (int64_t)sizeof(float));
    const int64_t block = ikt_smaller(some > 0 ? some : 1, count);
    float *x = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &x, block * d, sizeof *x, "model"));
    for (int64_t first = 0; st == IKT_OK && first < count; first += block) {
        const int64_t now = ikt_smaller(block, count - first);
        st = ikt_dataset_gather_floats(data, row + first, now, x);
        if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_LANDMARK_ROWS, first, now, x);
    }
    ikt_free(&x);
    return st;
}

/* COLLECTIVE. Codes of the landmarks, by the ranks whose rows they are. */
static ikt_status write_landmark_codes(ikt_context *ctx, ikt_model_writer *w, const ikt_rows *rows,
                                       const ikt_codes *codes, const int64_t *row, int64_t count) {
    const size_t stride = (size_t)codes->stride;
    int64_t from, end;
    char *own = NULL;
    IKT_FIND_FIRST(from, 0, count, row[from] >= rows->first);
    IKT_FIND_FIRST(end, from, count, row[end] >= rows->first + rows->count);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &own, end - from, stride, "model"));
    for (int64_t l = from; st == IKT_OK && l < end; l++)
        memcpy(own + (size_t)(l - from) * stride,
               (const char *)codes->code + (size_t)(row[l] - rows->first) * stride, stride);
    if (st == IKT_OK)
        st = ikt_model_writer_part(w, IKT_MODEL_LANDMARK_CODES, from, end - from, own,
                                   codes->stride);
    ikt_free(&own);
    return st;
}

_Static_assert((int)IKT_MODEL_OF_LINEAR == (int)IKT_SIMILARITY_LINEAR &&
                   (int)IKT_MODEL_OF_GAUSSIAN == (int)IKT_SIMILARITY_GAUSSIAN &&
                   (int)IKT_MODEL_OF_ISOLATION == (int)IKT_SIMILARITY_ISOLATION &&
                   (int)IKT_MODEL_OF_GIVEN == (int)IKT_SIMILARITY_GIVEN,
               "kernels have one number in settings and files");

ikt_status ikt_run_model_projection(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                    const ikt_rows *rows, const ikt_kernel_projection *p) {
    const int64_t m = p->map->m, q = p->map->q;
    const bool is_given = p->kind == IKT_SIMILARITY_GIVEN, has_cells = p->model != NULL;
    const double numbers[2] = {p->map->total, p->bandwidth};
    int64_t *centre = NULL, centres = 0;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = IKT_OK;
    if (has_cells)
        st = ikt_agree(ctx, ikt_model_distinct(ctx, p->model, 0, p->model->t, &centre, &centres));
    ikt_model_shape shape = {.n = rows->n,
                             .q = q,
                             .centres = centres,
                             .t = has_cells ? p->model->t : 0,
                             .psi = has_cells ? p->model->psi : 0,
                             .is_u8 = has_cells && ikt_dataset_is_u8(data),
                             .placing = IKT_PLACING_PROJECTION,
                             .support = m,
                             .kernel = p->kind,
                             .is_of_similarities = is_given,
                             .d = m,
                             .columns = m};
    if (st == IKT_OK)
        st = is_given ? ikt_model_writer_shape(w, &shape)
                      : write_preprocessing(ctx, w, data, &shape);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_LANDMARKS, 0, m, p->landmark);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_KERNEL_WEIGHTS, 0, q, p->map->weight);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_KERNEL_MEANS, 0, m, p->map->mean);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_KERNEL_NUMBERS, 0, 2, numbers);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_KERNEL_ORIGIN, 0, q, p->origin);
    if (st == IKT_OK && has_cells) {
        st = write_centres(ctx, w, data, centre, centres);
        if (st == IKT_OK) st = write_partitionings(ctx, w, p->model, centre, centres);
        if (st == IKT_OK) st = write_landmark_codes(ctx, w, rows, p->codes, p->landmark, m);
    } else if (st == IKT_OK && !is_given) {
        st = write_landmark_rows(ctx, w, data, p->landmark, m);
    }
    ikt_free(&centre);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

/* --- the graph: before P ---------------------------------------------------------------------- */

/* LOCAL. Whether a text of the file is this one. */
static bool says(const ikt_graph_file *file, const char *name, const char *expected) {
    char *text = NULL;
    const bool is =
        ikt_graph_file_text(file, name, &text) == IKT_OK && text && strcmp(text, expected) == 0;
    ikt_free(&text);
    return is;
}

/* COLLECTIVE. Whether a file of that name is the graph that this run would write: that of the part
 * of this run that was stopped. */
static ikt_status find_same_graph(ikt_context *ctx, const ikt_graph_origin *o, const char *given,
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

ikt_status ikt_run_graph_begin(ikt_context *ctx, const ikt_graph_origin *o,
                               ikt_graph_writer **out) {
    const ikt_output_settings *output = &o->settings->output;
    bool is_there = false;
    char *given = NULL;
    *out = NULL;
    if (!output->graph[0]) return IKT_OK;
    if (o->settings->affinity.support != IKT_SUPPORT_SPARSE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.graph needs affinity.support = sparse: a dense P is no graph");
    ikt_status st = ikt_agree(ctx, ikt_graph_settings_print(ctx, o->settings, &given));
    if (st == IKT_OK && !output->overwrite) st = find_same_graph(ctx, o, given, &is_there);
    if (st == IKT_OK && is_there) {
        ikt_log(ctx, IKT_LOG_STAGE, "graph: %s is there already, of these data and settings",
                output->graph);
    } else if (st == IKT_OK) {
        st = ikt_graph_writer_begin(ctx, output->graph, output->overwrite, out);
        if (st == IKT_OK) st = ikt_graph_writer_text(*out, "version", IKT_VERSION);
        if (st == IKT_OK) st = ikt_graph_writer_text(*out, "input", o->input);
        if (st == IKT_OK) st = ikt_graph_writer_text(*out, "settings_given", given);
        if (st == IKT_OK) st = ikt_graph_writer_int(*out, "seed", o->settings->run.seed);
        if (st == IKT_OK && o->label_names)
            st = ikt_graph_writer_text(*out, "label_names", o->label_names);
        if (st == IKT_OK && o->n_marked > 0)
            st = ikt_graph_writer_marked(*out, o->marked, o->n_marked);
    }
    ikt_free(&given);
    if (st != IKT_OK) ikt_graph_writer_abandon(out);
    return st;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Columns and weights of rows that stand in slots: columns get the numbers of rows, in
 * whose order the entries of a row are written, one array after the other, and then those of slots
 * back. */
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
    if (st == IKT_OK) st = ikt_graph_writer_slots(w, slot);
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

ikt_status ikt_run_graph_rows(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_embed_options *options, ikt_probabilities *p) {
    ikt_graph_writer *w = *options->graph_writer;
    ikt_settings used = *settings; /* with what this run had to decide in place of "auto" */
    char *text = NULL;
    if (p->is_ordered) {
        IKT_TRY(write_ordered(ctx, w, p));
    } else {
        IKT_TRY(ikt_agree(ctx, ikt_directed_sort(ctx, &p->weights)));
        IKT_TRY(ikt_graph_writer_rows(w, &p->rows, p->weights.start));
        IKT_TRY(ikt_graph_writer_columns(w, p->weights.column));
        IKT_TRY(ikt_graph_writer_weights(w, p->weights.value));
    }
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, options->labels != NULL) > 0)
        IKT_TRY(ikt_graph_writer_labels(w, options->labels));
    IKT_TRY(ikt_graph_writer_int(w, "rows_without_similarity", p->zero_similarity));
    if (p->accuracy >= 0) IKT_TRY(write_real(w, "neighbour_label_accuracy", p->accuracy));
    if (p->recall.sample > 0) {
        IKT_TRY(ikt_graph_writer_int(w, "recall_sample", p->recall.sample));
        IKT_TRY(write_real(w, "neighbour_similarity", p->recall.similarity));
        IKT_TRY(write_real(w, "neighbours_found", p->recall.found));
    }
    if (p->cells.sample > 0) {
        IKT_TRY(ikt_graph_writer_int(w, "cell_sample", p->cells.sample));
        IKT_TRY(write_real(w, "cells_differing", p->cells.differing));
    }
    used.affinity.neighbours = p->k;
    if (p->psi > 0) {
        IKT_TRY(ikt_graph_writer_int(w, "psi", p->psi));
        IKT_TRY(ikt_graph_writer_int(w, "pool", p->pool));
        used.isolation.psi = p->psi;
        used.isolation.pool = p->pool;
    }
    ikt_status st = ikt_agree(ctx, ikt_graph_settings_print(ctx, &used, &text));
    if (st == IKT_OK) st = ikt_graph_writer_text(w, "settings", text);
    ikt_free(&text);
    return st;
}

ikt_status ikt_run_graph_end(ikt_context *ctx, ikt_graph_writer **writer) {
    char path[IKT_STRING_MAX];
    if (!*writer) return IKT_OK;
    snprintf(path, sizeof path, "%s", ikt_graph_writer_path(*writer));
    IKT_TRY(ikt_graph_writer_end(writer, IKT_OK));
    ikt_log(ctx, IKT_LOG_STAGE, "graph: %s; input.graph=%s takes it up", path, path);
    return IKT_OK;
}
