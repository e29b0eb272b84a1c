/* From P to the map. See line.h. */
#include "pipeline/line.h"

#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "base/watch.h"
#include "dist/shuffle.h"
#include "pipeline/early_outputs.h"
#include "pipeline/eigenvectors.h"
#include "plan/machine.h"

/* --- landmarks: the same line on a subset of the rows, which is embedded first ---------------- */

/* The landmarks' rows as they are in the data set, in memory. */
typedef struct {
    void *dense;
    ikt_sparse_rows sparse;
    ikt_source *source; /* of one of the two */
} landmark_rows;

/* COLLECTIVE. */
static ikt_status gather_landmarks(ikt_context *ctx, ikt_dataset *data,
                                   const ikt_landmarks *landmarks, landmark_rows *out) {
    const int64_t count = landmarks->count, columns = ikt_dataset_columns(data);
    const ikt_type type = ikt_dataset_is_u8(data) ? IKT_TYPE_U8 : IKT_TYPE_F32;
    if (!ikt_dataset_is_sparse(data)) {
        IKT_TRY(ikt_agree(
            ctx, ikt_alloc(ctx, &out->dense, count * columns, ikt_type_size(type), "landmarks")));
        IKT_TRY(ikt_dataset_gather(data, landmarks->row, count, out->dense));
        return ikt_source_from_memory(ctx, out->dense, count, columns, type, &out->source);
    }
    ikt_sparse gathered = {0};
    ikt_status st = ikt_dataset_gather_sparse(data, landmarks->row, count, &gathered);
    if (st == IKT_OK) {
        const int64_t entries = gathered.start[count];
        st = ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, entries, &out->sparse));
        if (st == IKT_OK) {
            out->sparse.count = count;
            memcpy(out->sparse.start, gathered.start,
                   (size_t)(count + 1) * sizeof *out->sparse.start);
            for (int64_t e = 0; e < entries; e++) {
                out->sparse.column[e] = gathered.column[e];
                out->sparse.value[e] = (double)gathered.value[e];
            }
            st = ikt_source_from_sparse(ctx, &out->sparse, gathered.d, IKT_TYPE_F32, &out->source);
        }
    }
    ikt_sparse_destroy(&gathered);
    return st;
}

/* COLLECTIVE. Nothing where the loop goes on from a state, or rows have been placed. */
ikt_status ikt_step_landmarks(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_settings *settings = line->settings;
    ikt_dataset *data = line->data;
    ikt_landmarks *out = &line->landmarks;
    const int64_t count = settings->layout.landmarks, q = settings->layout.dimensions;
    const ikt_rows rows = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
    ikt_settings subset = ikt_settings_of_landmarks(settings, count);
    landmark_rows gathered = {.dense = NULL};
    ikt_dataset *part = NULL;
    ikt_embed_result embedding = {0};
    if (line->from || line->p.start) return IKT_OK;
    *out = (ikt_landmarks){.count = count, .q = (int)q};
    ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("rows", count), {0}},
                    "landmarks: %lld rows are embedded first", (long long)count);
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = ikt_start_draw(ctx, (uint64_t)settings->run.seed, IKT_RNG_LANDMARK,
                                   ikt_dataset_rows(data), count, &out->row);
    if (st == IKT_OK) st = gather_landmarks(ctx, data, out, &gathered);
    if (st == IKT_OK) st = ikt_dataset_create(ctx, gathered.source, &subset.preprocess, &part);
    if (st == IKT_OK)
        st = ikt_embed_dataset(ctx, &subset, part, &rows, &(ikt_embed_options){0}, &embedding);
    if (st == IKT_OK)
        st = ikt_share_rows(ctx, &rows, embedding.y, (size_t)q * sizeof *out->y, "landmarks",
                            &out->y);
    ikt_embed_result_destroy(&embedding);
    ikt_dataset_destroy(&part);
    ikt_source_close(&gathered.source);
    ikt_free(&gathered.dense);
    ikt_sparse_rows_destroy(&gathered.sparse);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    if (st != IKT_OK) ikt_landmarks_destroy(out);
    return st;
}

/* --- where rows start ------------------------------------------------------------------------- */

ikt_status ikt_line_reorder(ikt_context *ctx, const ikt_probabilities *p, bool back, const void *in,
                            void *out, int64_t bytes) {
    if (!p->is_ordered) {
        if (in != out) memcpy(out, in, (size_t)(bytes * p->rows.count));
        return IKT_OK;
    }
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = back ? ikt_order_restore(ctx, &p->order, in, bytes, out, bytes, bytes)
                         : ikt_order_apply(ctx, &p->order, in, bytes, out, bytes, bytes);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

/* What the map of similarities had to decide. */
static void note_kernel(const ikt_kernel_report *report, ikt_kernel_settings *settings) {
    if (report->m == 0) return;
    if (report->bandwidth > 0) settings->bandwidth = report->bandwidth;
    if (report->is_kda) settings->ridge = report->separated.ridge;
}

/* COLLECTIVE. What is wanted of the eigenvectors of P. */
ikt_status ikt_step_eigenvectors(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_probabilities *p = &line->p;
    const ikt_layout_settings *layout = &line->settings->layout;
    const int64_t bytes = layout->dimensions * (int64_t)sizeof *line->eigenvectors;
    if (layout->eigengap != IKT_EIGENGAP_OFF)
        IKT_TRY(ikt_eigenvectors_gap(ctx, line->settings, p, &line->out->gap));
    if (layout->init != IKT_INIT_SPECTRAL || line->from) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &line->eigenvectors, p->rows.count, (size_t)bytes, "initial"));
    IKT_TRY(ikt_eigenvectors_start(ctx, line->settings, p, line->eigenvectors,
                                   &line->out->eigenvectors));
    return ikt_line_reorder(ctx, p, true, line->eigenvectors, line->eigenvectors, bytes);
}

/* COLLECTIVE. Positions, in the order of the loop; the file of the graph keeps a start from
 * components, although the loop goes on. */
ikt_status ikt_step_start(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_embed_result *out = line->out;
    const ikt_embed_options *options = line->options;
    const ikt_layout_settings *layout = &line->settings->layout;
    const int64_t bytes = layout->dimensions * (int64_t)sizeof *out->y;
    const ikt_start_sources sources = {
        &line->landmarks,
        line->eigenvectors,
        line->p.scores,
        options->graph_writer ? *options->graph_writer : NULL,
        options->labels,
        &out->kernel,
        ikt_settings_is_kernel_map(line->settings) ? options->model_writer : NULL};
    const bool is_written = sources.model_writer || /* with what the start alone knows */
                            (sources.graph_writer && layout->init == IKT_INIT_PCA);
    ikt_status st = IKT_OK;
    if (!line->from || is_written)
        st = ikt_start(ctx, line->settings, line->data, line->rows, &sources, &out->y);
    if (st == IKT_OK && !line->from)
        st = ikt_line_reorder(ctx, &line->p, false, out->y, out->y, bytes);
    note_kernel(&out->kernel, &line->settings->kernel);
    ikt_free(&line->p.scores);
    ikt_free(&line->eigenvectors);
    ikt_landmarks_destroy(&line->landmarks);
    if (st == IKT_OK && options->graph_writer) st = ikt_run_graph_end(ctx, options->graph_writer);
    return st;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* What the watcher of the context is told of: the positions in the order of the input. */
typedef struct {
    ikt_context *ctx;
    const ikt_probabilities *p;
    const ikt_objective *objective;
    float *y; /* [rows.count * q] */
} reporter;

static ikt_status report(void *self, int64_t iteration, double value) {
    const reporter *r = self;
    IKT_TRY(ikt_line_reorder(r->ctx, r->p, true, r->objective->y, r->y,
                             r->objective->q * (int64_t)sizeof *r->y));
    ikt_watcher_report(r->ctx, iteration, value, r->y);
    return IKT_OK;
}

/* COLLECTIVE. The objective of the settings on what it needs.
 *   clusters   by the eigengap; 0 where that was not sought
 *   labels     receives the labels in the order of the loop, or NULL; lent by the objective */
static ikt_status create_objective(ikt_context *ctx, const ikt_settings *settings,
                                   ikt_probabilities *p, const int64_t *given, int64_t clusters,
                                   int64_t **labels, ikt_objective *objective) {
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    char text[256];
    if (kind->needs & IKT_NEEDS_LABELS) {
        if (ikt_max_one(ctx, given != NULL) == 0) /* a rank without rows may have none */
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "layout.objective=%s needs labels, and the input has none; name them "
                            "by input.labels",
                            kind->name);
        const int64_t bytes = sizeof **labels;
        IKT_TRY(ikt_alloc_all(ctx, labels, p->rows.count, (size_t)bytes, "labels"));
        IKT_TRY(ikt_line_reorder(ctx, p, false, given, *labels, bytes));
    }
    ikt_objective_inputs inputs = {
        .rows = p->rows,
        .q = (int)layout->dimensions,
        .options = ikt_layout_options(layout, (uint64_t)settings->run.seed),
        .graph = kind->needs & IKT_NEEDS_P && p->graph.forward.start ? &p->graph : NULL,
        .dense = kind->needs & IKT_NEEDS_P && p->is_dense ? &p->dense : NULL,
        .whole = kind->needs & IKT_NEEDS_P && p->is_whole ? &p->whole : NULL,
        .sampling = settings->affinity.whole,
        .iterations = layout->iterations,
        .neighbours = &p->neighbours,
        .codes = &p->codes,
        .features = p->features.tile ? &p->features : NULL,
        .joined = p->joined.pairs.start ? &p->joined : NULL,
        .labels = *labels};
    inputs.options.laplacian.found = clusters;
    if (layout->grid == IKT_SHARING_AUTO && ikt_size(ctx) > 1) {
        ikt_machine machine;
        /* P is there by now: a broken file of rates, which change no bit, must not cost it. */
        if (ikt_machine_load(ctx, "", &machine) == IKT_OK) {
            inputs.options.rates = ikt_machine_fft_rates(&machine, ikt_threads(ctx));
        } else {
            ikt_log(ctx, IKT_LOG_WARN, "the usual rates of a machine are taken: %s",
                    ikt_message(ctx));
            ikt_clear(ctx);
        }
    }
    IKT_TRY(ikt_objective_create(ctx, kind, &inputs, objective));
    objective->kind->describe(objective, text, sizeof text); /* `create` may choose another */
    ikt_log(ctx, IKT_LOG_STAGE, "%s in %d dimensions; %s%s", kind->name, inputs.q,
            kind->needs & IKT_NEEDS_P && !kind->is_start ? "repulsion: " : "", text);
    return IKT_OK;
}

/* COLLECTIVE. Which rows steps move, where the settings do not say all.
 *   out   owned by the caller; NULL: all, and on failure */
static ikt_status create_batch(ikt_context *ctx, const ikt_settings *settings,
                               const ikt_probabilities *p, ikt_batch **out) {
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_batch_settings wanted = {.count = layout->batch_rows,
                                       .neighbours = layout->batch_neighbours,
                                       .seed = (uint64_t)settings->run.seed};
    *out = NULL;
    if (layout->batch_rows == IKT_AUTO_INT) return IKT_OK;
    return ikt_batch_create(ctx, &wanted, p->is_dense ? NULL : &p->graph,
                            p->is_dense ? &p->dense : NULL, out);
}

/* COLLECTIVE. */
ikt_status ikt_step_loop(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_embed_options *options = line->options;
    const ikt_layout_settings *layout = &line->settings->layout;
    ikt_probabilities *p = &line->p;
    ikt_embed_result *out = line->out;
    const int64_t bytes = layout->dimensions * (int64_t)sizeof *out->y, count = line->rows->count;
    ikt_objective objective = {.kind = NULL};
    ikt_batch *batch = NULL;
    int64_t *labels = NULL;
    /* Landmarks are not the rows that the program gave. */
    const bool is_told = options->is_told && ikt_watcher_every(ctx) > 0;
    reporter told = {ctx, p, &objective, NULL};
    ikt_status st = IKT_OK;
    if (!out->y) st = ikt_agree(ctx, ikt_alloc(ctx, &out->y, bytes * count, 1, "embedding"));
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK)
        st = create_objective(ctx, line->settings, p, options->labels,
                              out->gap.values > 0 ? out->gap.after[0] : 0, &labels, &objective);
    if (st == IKT_OK) st = create_batch(ctx, line->settings, p, &batch);
    if (st == IKT_OK && is_told)
        st = ikt_agree(ctx, ikt_alloc(ctx, &told.y, bytes * count, 1, "embedding"));
    if (st == IKT_OK) {
        const ikt_loop_course course = {.hooks = options->hooks ? &options->hooks->loop : NULL,
                                        .from = line->from,
                                        .is_extended = options->from != NULL,
                                        .last = options->want_last ? &out->last : NULL,
                                        .report = is_told ? report : NULL,
                                        .reporter = &told,
                                        .batch = batch};
        st = ikt_layout_run(ctx, layout, &p->rows, &objective, &course, out->y, &out->trace);
    }
    ikt_objective_destroy(&objective);
    ikt_batch_destroy(&batch);
    ikt_free(&told.y);
    ikt_free(&labels);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK) st = ikt_line_reorder(ctx, p, true, out->y, out->y, bytes);
    return st;
}
