/* The model and the graph of a run. See early_outputs.h. */
#include "pipeline/early_outputs.h"

#include <stdio.h>
#include <string.h>

#include <omp.h>

#include "base/atomic_file.h"
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

static ikt_status write_parts(ikt_context *ctx, ikt_model_writer *w, const ikt_model_shared *parts,
                              size_t count) {
    for (size_t p = 0; p < count; p++)
        if (parts[p].rows)
            IKT_TRY(write_shared(ctx, w, parts[p].part, 0, parts[p].count, parts[p].rows));
    return IKT_OK;
}

/* COLLECTIVE. Shape and preprocessing; of rows that are similarities the shape alone.
 *   shape   all but what the preprocessing tells, which it receives */
static ikt_status write_head(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                             ikt_model_shape *shape) {
    const ikt_data_map map = ikt_dataset_map(data);
    char *names IKT_AT_END(ikt_free) = NULL;
    const ikt_pca none = {.mean = NULL}, *pca = map.pca ? map.pca : &none;
    const int64_t d = map.normaliser.d;
    IKT_ARRAYS(held, ctx, "model");
    const double *shift = map.normaliser.shift;
    /* Columns of sparse rows that are reduced are scaled and not shifted. */
    if (map.normaliser.scale && !shift) shift = ikt_claim(&held, d, sizeof *shift);
    IKT_TRY(ikt_arrays_agree(&held));
    if (!shape->is_of_similarities)
        IKT_TRY(ikt_source_column_names(ikt_dataset_source(data), &names));
    shape->name_bytes = names ? (int64_t)strlen(names) : 0;
    const ikt_model_shared parts[] = {{IKT_MODEL_COLUMN_NAMES, shape->name_bytes, names},
                                      {IKT_MODEL_FILL, d, ikt_dataset_fill(data)},
                                      {IKT_MODEL_SHIFT, d, shift},
                                      {IKT_MODEL_SCALE, d, map.normaliser.scale},
                                      {IKT_MODEL_MEAN, d, pca->mean},
                                      {IKT_MODEL_COMPONENTS, pca->k, pca->components}};
    if (shape->is_of_similarities) return ikt_model_writer_shape(w, shape);
    shape->d = d;
    shape->columns = ikt_dataset_columns(data);
    shape->is_shifted = shift != NULL;
    shape->is_reduced = map.pca != NULL;
    shape->is_unit = map.normaliser.mode == IKT_NORMALISE_UNIT;
    shape->metric = map.normaliser.metric;
    IKT_TRY(ikt_model_writer_shape(w, shape));
    return write_parts(ctx, w, parts, sizeof parts / sizeof *parts);
}

/* The shape of a model whose rows are placed one by one, by what the objective places them. */
static ikt_model_shape shape_of(const ikt_rows *rows, const ikt_layout_settings *layout) {
    const bool by_triplets = ikt_layout_objective(layout)->places == IKT_PLACES_BY_TRIPLETS;
    return (ikt_model_shape){.n = rows->n,
                             .q = layout->dimensions,
                             .placing =
                                 by_triplets ? IKT_PLACING_TRIPLETS : IKT_PLACING_DIVERGENCE};
}

/* Rows of so many bytes that are held at a time. */
static int64_t rows_at_a_time(int64_t room, int64_t bytes, int64_t count) {
    return ikt_smaller(ikt_larger(room / bytes, 1), count);
}

typedef ikt_status gathering(ikt_dataset *data, const int64_t *row, int64_t count, void *out);

static ikt_status gather_floats(ikt_dataset *data, const int64_t *row, int64_t count, void *out) {
    return ikt_dataset_gather_floats(data, row, count, out);
}

/* COLLECTIVE. Chosen rows, some at a time.
 *   gather   how they are read
 *   bytes    of a row
 *   room     bytes of the rows held at a time */
static ikt_status write_chosen(ikt_context *ctx, ikt_model_writer *w, ikt_model_part part,
                               ikt_dataset *data, gathering *gather, const int64_t *row,
                               int64_t count, int64_t bytes, int64_t room) {
    const int64_t block = rows_at_a_time(room, bytes, count);
    IKT_ARRAYS(held, ctx, "model");
    char *rows = ikt_claim(&held, block, (size_t)bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t first = 0; first < count; first += block) {
        const int64_t now = ikt_smaller(count - first, block);
        IKT_TRY(gather(data, row + first, now, rows));
        IKT_TRY(write_shared(ctx, w, part, first, now, rows));
    }
    return IKT_OK;
}

/* COLLECTIVE. Coordinates of the distinct centres. */
static ikt_status write_centres(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                const int64_t *row, int64_t count) {
    const int64_t bytes = ikt_dataset_columns(data) * ikt_held_bytes(ikt_dataset_is_u8(data));
    return write_chosen(ctx, w, IKT_MODEL_CENTRES, ikt_dataset_model(data), ikt_dataset_gather, row,
                        count, bytes, CENTRE_BYTES);
}

/* COLLECTIVE. Of each partitioning the numbers of its centres among the distinct ones, some
 * partitionings at a time. */
static ikt_status write_partitionings(ikt_context *ctx, ikt_model_writer *w, const ikt_model *model,
                                      const int64_t *row, int64_t count) {
    const int64_t psi = model->psi, bytes = psi * (int64_t)sizeof(int32_t);
    const int64_t block = rows_at_a_time(CENTRE_BYTES, bytes, model->t);
    ikt_draws draws IKT_AT_END(ikt_draws_destroy) = {0};
    IKT_ARRAYS(held, ctx, "model");
    int32_t *number = ikt_claim(&held, block, (size_t)bytes);
    if (number) held.status = ikt_draws_create(ctx, model, ikt_threads(ctx), &draws);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t first = 0; first < model->t; first += block) {
        const int64_t now = ikt_smaller(model->t - first, block);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
        for (int64_t p = 0; p < now; p++) {
            const int64_t *centre = ikt_model_draw(model, &draws, omp_get_thread_num(), first + p);
            for (int64_t j = 0; j < psi; j++)
                number[p * psi + j] = (int32_t)ikt_find_i64(row, count, centre[j]);
        }
        IKT_TRY(write_shared(ctx, w, IKT_MODEL_PARTITIONINGS, first, now, number));
    }
    return IKT_OK;
}

/* COLLECTIVE. The distinct centres of a model, of which the shape tells.
 *   row   receives them; freed by the caller, also after a failure */
static ikt_status find_centres(ikt_context *ctx, ikt_dataset *data, const ikt_model *model,
                               int64_t **row, ikt_model_shape *shape) {
    IKT_TRY(ikt_agree(ctx, ikt_model_distinct(ctx, model, 0, model->t, row, &shape->centres)));
    shape->t = model->t;
    shape->psi = model->psi;
    shape->is_u8 = ikt_dataset_is_u8(data);
    return IKT_OK;
}

ikt_status ikt_run_model_codes(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                               const ikt_rows *rows, const ikt_model *model, const ikt_codes *codes,
                               const ikt_layout_settings *layout) {
    int64_t *row IKT_AT_END(ikt_free) = NULL;
    ikt_model_shape shape = shape_of(rows, layout);
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    IKT_TRY(find_centres(ctx, data, model, &row, &shape));
    IKT_TRY(write_head(ctx, writer, data, &shape));
    IKT_TRY(write_centres(ctx, writer, data, row, shape.centres));
    IKT_TRY(write_partitionings(ctx, writer, model, row, shape.centres));
    return ikt_model_writer_part(writer, IKT_MODEL_CODES, rows->first, rows->count, codes->code,
                                 codes->stride);
}

/* COLLECTIVE. The own rows as they are compared, some at a time. */
static ikt_status write_rows(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                             const ikt_rows *rows) {
    const int64_t bytes = ikt_dataset_columns(data) * (int64_t)sizeof(float);
    const int64_t block = ikt_larger(ROW_BYTES / bytes, 1);
    const int64_t steps = ikt_stream_steps(ctx, rows->count, block);
    const ikt_row_range own = {rows->first, rows->count};
    IKT_ARRAYS(held, ctx, "model");
    float *x = ikt_claim(&held, block, (size_t)bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
        IKT_TRY(ikt_model_writer_part(w, IKT_MODEL_ROWS, at.first, at.count, x, 0));
    }
    return IKT_OK;
}

ikt_status ikt_run_model_rows(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                              const ikt_rows *rows, const ikt_neighbours *lists,
                              const ikt_features *features, const ikt_order *order,
                              const ikt_layout_settings *layout) {
    const int64_t bytes = sizeof(float);
    ikt_similarity s IKT_AT_END(ikt_similarity_destroy) = {.codes = NULL};
    ikt_model_shape shape = shape_of(rows, layout);
    shape.has_rows = true;
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    IKT_TRY(ikt_similarity_of_rows(ctx, rows, lists, features, layout->own.triplet.scale_from,
                                   layout->own.triplet.scale_to, &s));
    if (order) IKT_TRY(ikt_order_restore(ctx, order, s.scale, bytes, s.scale, bytes, bytes));
    IKT_TRY(write_head(ctx, writer, data, &shape));
    IKT_TRY(write_rows(ctx, writer, data, rows));
    return ikt_model_writer_part(writer, IKT_MODEL_SCALES, rows->first, rows->count, s.scale, 0);
}

ikt_status ikt_run_model_parts(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                               const ikt_rows *rows, ikt_model_shape *shape,
                               const ikt_model_shared *parts, size_t count, ikt_model_part own,
                               const void *values) {
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    IKT_TRY(write_head(ctx, w, data, shape));
    IKT_TRY(write_parts(ctx, w, parts, count));
    IKT_TRY(ikt_model_writer_part(w, own, rows->first, rows->count, values, 0));
    return shape->has_rows ? write_rows(ctx, w, data, rows) : IKT_OK;
}

/* COLLECTIVE. Codes of the landmarks, by the ranks whose rows they are. */
static ikt_status write_landmark_codes(ikt_context *ctx, ikt_model_writer *w, const ikt_rows *rows,
                                       const ikt_codes *codes, const int64_t *row, int64_t count) {
    const size_t stride = (size_t)codes->stride;
    int64_t from, end;
    IKT_FIND_FIRST(from, 0, count, row[from] >= rows->first);
    IKT_FIND_FIRST(end, from, count, row[end] >= rows->first + rows->count);
    IKT_ARRAYS(held, ctx, "model");
    char *own = ikt_claim(&held, end - from, stride);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t l = from; l < end; l++)
        memcpy(own + (size_t)(l - from) * stride,
               (const char *)codes->code + (size_t)(row[l] - rows->first) * stride, stride);
    return ikt_model_writer_part(w, IKT_MODEL_LANDMARK_CODES, from, end - from, own, codes->stride);
}

_Static_assert((int)IKT_MODEL_OF_LINEAR == (int)IKT_SIMILARITY_LINEAR &&
                   (int)IKT_MODEL_OF_GAUSSIAN == (int)IKT_SIMILARITY_GAUSSIAN &&
                   (int)IKT_MODEL_OF_ISOLATION == (int)IKT_SIMILARITY_ISOLATION &&
                   (int)IKT_MODEL_OF_GIVEN == (int)IKT_SIMILARITY_GIVEN,
               "kernels have one number in settings and files");

/* COLLECTIVE. What the landmarks are compared by: nothing where similarities are given, cells, or
 * the rows of a linear or Gaussian kernel. */
static ikt_status write_landmarks(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                  const ikt_rows *rows, const ikt_kernel_projection *p,
                                  const int64_t *centre, int64_t centres) {
    const int64_t m = p->map->m;
    if (p->kind == IKT_SIMILARITY_GIVEN) return IKT_OK;
    if (!p->model)
        return write_chosen(ctx, w, IKT_MODEL_LANDMARK_ROWS, data, gather_floats, p->landmark, m,
                            ikt_dataset_columns(data) * (int64_t)sizeof(float), ROW_BYTES);
    IKT_TRY(write_centres(ctx, w, data, centre, centres));
    IKT_TRY(write_partitionings(ctx, w, p->model, centre, centres));
    return write_landmark_codes(ctx, w, rows, p->codes, p->landmark, m);
}

ikt_status ikt_run_model_projection(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                    const ikt_rows *rows, const ikt_kernel_projection *p) {
    const int64_t m = p->map->m, q = p->map->q;
    const double numbers[2] = {p->map->total, p->bandwidth};
    const ikt_model_shared parts[] = {{IKT_MODEL_LANDMARKS, m, p->landmark},
                                      {IKT_MODEL_KERNEL_WEIGHTS, q, p->map->weight},
                                      {IKT_MODEL_KERNEL_MEANS, m, p->map->mean},
                                      {IKT_MODEL_KERNEL_NUMBERS, 2, numbers},
                                      {IKT_MODEL_KERNEL_ORIGIN, q, p->origin}};
    int64_t *centre IKT_AT_END(ikt_free) = NULL;
    ikt_model_shape shape = {.n = rows->n,
                             .q = q,
                             .placing = IKT_PLACING_PROJECTION,
                             .support = m,
                             .kernel = p->kind,
                             .is_of_similarities = p->kind == IKT_SIMILARITY_GIVEN,
                             .d = m,
                             .columns = m};
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    if (p->model) IKT_TRY(find_centres(ctx, data, p->model, &centre, &shape));
    IKT_TRY(write_head(ctx, w, data, &shape));
    IKT_TRY(write_parts(ctx, w, parts, sizeof parts / sizeof *parts));
    return write_landmarks(ctx, w, data, rows, p, centre, shape.centres);
}

/* --- the graph: before P ---------------------------------------------------------------------- */

/* What a graph is of, as texts of its file. */
enum { ORIGIN_TEXTS = 3 };

typedef struct {
    const char *name, *text;
} origin_text;

/* LOCAL. Whether an open file says this of itself. */
static bool is_of(const ikt_graph_file *file, const origin_text *texts, int64_t seed) {
    int64_t own = -1;
    ikt_graph_file_int(file, "seed", &own);
    bool is = ikt_graph_file_is_kept(file) && own == seed;
    for (int t = 0; t < ORIGIN_TEXTS && is; t++) {
        char *text IKT_AT_END(ikt_free) = NULL;
        is = ikt_graph_file_text(file, texts[t].name, &text) == IKT_OK && text &&
             strcmp(text, texts[t].text) == 0;
    }
    return is;
}

/* COLLECTIVE. Whether a file of that name is the graph that this run would write: that of the part
 * of this run that was stopped. For anything else the usual rules of output files hold. */
static bool find_same_graph(ikt_context *ctx, const ikt_settings *settings,
                            const origin_text *texts) {
    const char *path = settings->output.graph;
    ikt_graph_file *file IKT_AT_END(ikt_graph_file_close) = NULL;
    if (!ikt_file_is_there(ctx, path)) return false;
    if (ikt_graph_file_open(ctx, path, &file) == IKT_OK)
        return is_of(file, texts, settings->run.seed);
    ikt_clear(ctx);
    return false;
}

/* COLLECTIVE. The head of a graph: what it is of. */
static ikt_status write_origin(ikt_graph_writer *w, const ikt_run *run, const origin_text *texts) {
    for (int t = 0; t < ORIGIN_TEXTS; t++)
        IKT_TRY(ikt_graph_writer_text(w, texts[t].name, texts[t].text));
    IKT_TRY(ikt_graph_writer_int(w, "seed", run->settings.run.seed));
    if (run->label_names) IKT_TRY(ikt_graph_writer_text(w, "label_names", run->label_names));
    return run->n_marked > 0 ? ikt_graph_writer_marked(w, run->marked, run->n_marked) : IKT_OK;
}

ikt_status ikt_run_graph_begin(ikt_context *ctx, const ikt_run *run, ikt_graph_writer **out) {
    const ikt_output_settings *output = &run->settings.output;
    char inputs[IKT_INPUTS_TEXT], *given IKT_AT_END(ikt_free) = NULL;
    ikt_graph_writer *writer IKT_AT_END(ikt_graph_writer_abandon) = NULL;
    *out = NULL;
    if (!output->graph[0]) return IKT_OK;
    ikt_run_inputs_of_graph(run, inputs);
    IKT_TRY(ikt_agree(ctx, ikt_graph_settings_print(ctx, &run->settings, &given)));
    const origin_text texts[ORIGIN_TEXTS] = {
        {"version", IKT_VERSION}, {"input", inputs}, {"settings_given", given}};
    if (!output->overwrite && find_same_graph(ctx, &run->settings, texts)) {
        ikt_log(ctx, IKT_LOG_STAGE, "graph: %s is there already, of these data and settings",
                output->graph);
        return IKT_OK;
    }
    IKT_TRY(ikt_graph_writer_begin(ctx, output->graph, output->overwrite, &writer));
    IKT_TRY(write_origin(writer, run, texts));
    return ikt_give(out, writer);
}

/* --- weights ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Columns and weights of rows that stand in slots: columns get the numbers of rows, in
 * whose order the entries of a row are written, one array after the other, and then those of slots
 * back. */
static ikt_status write_ordered(ikt_line *line, ikt_graph_writer *w) {
    ikt_context *ctx = line->ctx;
    const ikt_order *order = &line->order;
    ikt_directed *from = &line->weights;
    const int64_t count = order->rows.count, entries = from->start[count];
    IKT_ARRAYS(held, ctx, "graph");
    uint32_t *slot = ikt_claim(&held, count, sizeof *slot);
    int64_t *to = ikt_claim(&held, count + 1, sizeof *to);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_translate_indices(ctx, &order->rows, order->row, from->column, entries));
    IKT_TRY(ikt_agree(ctx, ikt_directed_sort(ctx, from)));
    IKT_TRY(ikt_redistribute_starts(ctx, order, IKT_TO_ROWS, from->start, to));
    uint32_t *moved = ikt_claim(&held, to[count], sizeof *moved);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_graph_writer_rows(w, &order->rows, to));
    IKT_TRY(
        ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, from->start, from->column, to, moved));
    IKT_TRY(ikt_graph_writer_columns(w, moved));
    IKT_TRY(ikt_redistribute_entries(ctx, order, IKT_TO_ROWS, from->start, from->value, to, moved));
    IKT_TRY(ikt_graph_writer_weights(w, (const float *)(const void *)moved));
    IKT_TRY(ikt_order_slots(ctx, order, slot));
    IKT_TRY(ikt_graph_writer_slots(w, slot));
    return ikt_translate_indices(ctx, &order->rows, slot, from->column, entries);
}

static ikt_status write_unordered(ikt_line *line, ikt_graph_writer *w) {
    IKT_TRY(ikt_agree(line->ctx, ikt_directed_sort(line->ctx, &line->weights)));
    IKT_TRY(ikt_graph_writer_rows(w, line->rows, line->weights.start));
    IKT_TRY(ikt_graph_writer_columns(w, line->weights.column));
    return ikt_graph_writer_weights(w, line->weights.value);
}

ikt_status ikt_run_graph_rows(ikt_line *line, ikt_graph_writer *w) {
    ikt_context *ctx = line->ctx;
    const int64_t *labels = line->options->labels, *original = line->options->original;
    ikt_settings used = *line->settings; /* with what this run had to decide in place of "auto" */
    char *text IKT_AT_END(ikt_free) = NULL;
    IKT_TRY((line->is_ordered ? write_ordered : write_unordered)(line, w));
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, labels != NULL) > 0) IKT_TRY(ikt_graph_writer_labels(w, labels));
    if (ikt_max_one(ctx, original != NULL) > 0) IKT_TRY(ikt_graph_writer_originals(w, original));
    IKT_TRY(ikt_line_write_facts(line, w));
    ikt_line_note(line, &used);
    IKT_TRY(ikt_agree(ctx, ikt_graph_settings_print(ctx, &used, &text)));
    return ikt_graph_writer_text(w, "settings", text);
}

ikt_status ikt_run_graph_end(ikt_context *ctx, ikt_graph_writer **writer) {
    char path[IKT_STRING_MAX];
    if (!writer || !*writer) return IKT_OK;
    snprintf(path, sizeof path, "%s", ikt_graph_writer_path(*writer));
    IKT_TRY(ikt_graph_writer_end(writer, IKT_OK));
    ikt_log(ctx, IKT_LOG_STAGE, "graph: %s; input.graph=%s takes it up", path, path);
    return IKT_OK;
}
