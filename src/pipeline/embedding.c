/* From data to embedding. Read ikt_embed_dataset, at the end, first. */
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
#include "pipeline/pipeline.h"
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

static ikt_status embed_landmarks(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  ikt_landmarks *out) {
    const int64_t count = settings->layout.landmarks, q = settings->layout.dimensions;
    const ikt_rows rows = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
    ikt_settings subset = ikt_settings_of_landmarks(settings, count);
    landmark_rows gathered = {.dense = NULL};
    ikt_dataset *part = NULL;
    ikt_embed_result embedding = {0};
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

/* --- P ---------------------------------------------------------------------------------------- */

/* COLLECTIVE. What the objective needs; before it the landmarks, where rows are to start among them
 * and no state of the loop is there to go on from. */
static ikt_status make_probabilities(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_embed_options *options,
                                     bool goes_on, ikt_landmarks *landmarks, ikt_probabilities *p) {
    const ikt_layout_settings *layout = &settings->layout;
    if (layout->init == IKT_INIT_LANDMARK && !settings->input.graph[0] && !goes_on && !p->start)
        IKT_TRY(embed_landmarks(ctx, settings, data, landmarks));
    const ikt_probabilities_options wanted = {
        .needs = ikt_layout_objective(layout)->needs,
        .labels = options->labels,
        .label_names = options->label_names,
        .landmarks = landmarks->count > 0 ? landmarks : NULL,
        .model_writer = ikt_settings_is_kernel_map(settings) ? NULL : options->model_writer,
        .graph_writer = options->graph_writer ? *options->graph_writer : NULL};
    return ikt_probabilities_compute(ctx, settings, data, &wanted, p);
}

static void note_probabilities(ikt_context *ctx, ikt_probabilities *p, int64_t n, double seconds,
                               ikt_settings *settings, ikt_embed_result *out) {
    out->zero_similarity = p->zero_similarity;
    out->entries = p->entries;
    out->classes = p->classes; /* given away */
    p->classes = (ikt_class_outcome){.is_there = false};
    if (out->classes.is_there) settings->affinity.fisher.euclidean = out->classes.euclidean;
    if (p->k > 0) settings->affinity.neighbours = p->k;
    if (p->rounds >= 0) settings->affinity.refinements = p->rounds;
    if (p->psi > 0) {
        settings->isolation.psi = p->psi;
        settings->isolation.pool = p->pool;
    }
    ikt_whole_settings *whole = &settings->affinity.whole;
    if (p->is_whole && whole->step <= IKT_AUTO_REAL)
        whole->step =
            ikt_whole_step_auto(p->psi, n, ikt_whole_noise(whole, p->whole.t, p->whole.others));
    if (p->k == 0) return; /* nothing was made of the rows */
    if (p->is_whole)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("largest_cell", p->whole.largest),
                                           IKT_LOG_REAL("seconds", seconds),
                                           {0}},
                        "P: the whole kernel, from %lld partitionings of %lld cells, of up to %lld "
                        "rows, in %.1f s",
                        (long long)p->whole.t, (long long)p->whole.psi, (long long)p->whole.largest,
                        seconds);
    else if (p->entries == 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("k", p->k), IKT_LOG_REAL("seconds", seconds), {0}},
            "lists of %lld neighbours a row, in %.1f s", (long long)p->k, seconds);
    else
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("entries", p->entries),
                                           IKT_LOG_REAL("seconds", seconds),
                                           {0}},
                        "P: %lld entries, %.1f a row, in %.1f s", (long long)p->entries,
                        (double)p->entries / (double)n, seconds);
    out->cells = p->cells;
    out->recall = p->recall;
    out->accuracy = p->accuracy;
    if (p->recall.sample > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_REAL("similarity", p->recall.similarity),
                               IKT_LOG_REAL("found", p->recall.found),
                               IKT_LOG_INT("sample", p->recall.sample),
                               {0}},
            "neighbours: %.1f %% of the similarity of the true ones, %.1f %% of them found "
            "(%lld rows compared with exact search)",
            100 * p->recall.similarity, 100 * p->recall.found, (long long)p->recall.sample);
    if (p->zero_similarity > 0)
        ikt_log_numbers(ctx, IKT_LOG_WARN,
                        (ikt_log_number[]){IKT_LOG_INT("rows", p->zero_similarity), {0}},
                        "%lld rows %s", (long long)p->zero_similarity,
                        ikt_affinity_of(&settings->affinity)->zero_similarity_because);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Between the order of the input and that of the loop. */
static ikt_status reorder(ikt_context *ctx, const ikt_probabilities *p, bool back, const void *in,
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

/* COLLECTIVE. What is wanted of the eigenvectors of P.
 *   start   receives those of a start in the order of the input, owned by the caller; NULL where
 *           the loop goes on, or starts elsewhere */
static ikt_status find_eigenvectors(ikt_context *ctx, const ikt_settings *settings,
                                    const ikt_probabilities *p, bool goes_on, double **start,
                                    ikt_embed_result *out) {
    const int64_t bytes = settings->layout.dimensions * (int64_t)sizeof **start;
    *start = NULL;
    if (settings->layout.eigengap != IKT_EIGENGAP_OFF)
        IKT_TRY(ikt_eigenvectors_gap(ctx, settings, p, &out->gap));
    if (settings->layout.init != IKT_INIT_SPECTRAL || goes_on) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, start, p->rows.count, (size_t)bytes, "initial"));
    IKT_TRY(ikt_eigenvectors_start(ctx, settings, p, *start, &out->eigenvectors));
    return reorder(ctx, p, true, *start, *start, bytes);
}

/* What the watcher of the context is told of: the positions in the order of the input. */
typedef struct {
    ikt_context *ctx;
    const ikt_probabilities *p;
    const ikt_objective *objective;
    float *y; /* [rows.count * q] */
} reporter;

static ikt_status report(void *self, int64_t iteration, double value) {
    const reporter *r = self;
    IKT_TRY(reorder(r->ctx, r->p, true, r->objective->y, r->y,
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
        IKT_TRY(reorder(ctx, p, false, given, *labels, bytes));
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
    if (p->is_whole)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.batch_rows moves rows that are near by P, which "
                        "affinity.support=whole never holds: take sparse or dense");
    return ikt_batch_create(ctx, &wanted, p->is_dense ? NULL : &p->graph,
                            p->is_dense ? &p->dense : NULL, out);
}

/* --- the line --------------------------------------------------------------------------------- */

ikt_status ikt_embed_dataset(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const ikt_embed_options *options,
                             ikt_embed_result *out) {
    ikt_layout_settings *layout = &settings->layout;
    const int64_t bytes = layout->dimensions * (int64_t)sizeof *out->y;
    const double begun = ikt_now();
    ikt_landmarks landmarks = {0};
    ikt_probabilities p;
    ikt_loop_state saved = {0};
    ikt_objective objective = {.kind = NULL};
    ikt_batch *batch = NULL;
    int64_t *labels = NULL;
    double *eigenvectors = NULL;
    bool is_saved = false;
    *out = (ikt_embed_result){.accuracy = -1};
    IKT_TRY(ikt_layout_resolve(ctx, layout, rows->n));
    if (settings->affinity.support == IKT_SUPPORT_WHOLE)
        IKT_TRY(ikt_whole_resolve(ctx, &settings->affinity.whole, rows->n,
                                  settings->isolation.partitionings, layout->iterations));
    if (settings->affinity.support == IKT_SUPPORT_WHOLE && options->from)
        ikt_log(ctx, IKT_LOG_WARN,
                "the last iterations of a run with the whole kernel draw from more partitionings "
                "and take shorter steps: the embedding will not be that of one longer run");
    const bool has_pool = ikt_layout_objective(layout) == &ikt_objective_trimap &&
                          layout->own.triplet.triplets == IKT_TRIPLETS_POOL;
    if (has_pool && options->from)
        ikt_log(ctx, IKT_LOG_WARN,
                "the last iterations of a run of trimap with a pool take shorter steps: the "
                "embedding will not be that of one longer run");
    if (options->hooks) IKT_TRY(ikt_checkpoint_load_loop(options->hooks, &saved, &is_saved));
    /* The loop goes on from the state that has come furthest; NULL: it begins at the start. */
    const ikt_loop_state *from = options->from;
    if (is_saved && (!from || saved.iteration > from->iteration)) from = &saved;

    ikt_status st = ikt_probabilities_begin(ctx, options->hooks, rows, &p);
    if (st == IKT_OK)
        st = make_probabilities(ctx, settings, data, options, from != NULL, &landmarks, &p);
    if (st == IKT_OK) {
        note_probabilities(ctx, &p, rows->n, ikt_now() - begun, settings, out);
        out->y = p.start;
        p.start = NULL;
        /* The file of the graph keeps a start from components, although the loop goes on; landmarks
         * that nobody needs any more are not embedded again for that. */
        st = find_eigenvectors(ctx, settings, &p, from != NULL, &eigenvectors, out);
        const ikt_start_sources sources = {
            &landmarks,
            eigenvectors,
            p.scores,
            options->graph_writer ? *options->graph_writer : NULL,
            options->labels,
            &out->kernel,
            ikt_settings_is_kernel_map(settings) ? options->model_writer : NULL};
        const bool is_written = sources.model_writer || /* with what the start alone knows */
                                (sources.graph_writer && layout->init == IKT_INIT_PCA);
        if (st == IKT_OK && (!from || is_written))
            st = ikt_start(ctx, settings, data, rows, &sources, &out->y);
        if (st == IKT_OK && !from) st = reorder(ctx, &p, false, out->y, out->y, bytes);
        note_kernel(&out->kernel, &settings->kernel);
        ikt_free(&p.scores);
        ikt_free(&eigenvectors);
    }
    ikt_landmarks_destroy(&landmarks);
    if (st == IKT_OK && options->graph_writer) st = ikt_run_graph_end(ctx, options->graph_writer);
    if (st == IKT_OK && !out->y)
        st = ikt_agree(ctx, ikt_alloc(ctx, &out->y, bytes * rows->count, 1, "embedding"));

    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK)
        st = create_objective(ctx, settings, &p, options->labels,
                              out->gap.values > 0 ? out->gap.after[0] : 0, &labels, &objective);
    if (st == IKT_OK) st = create_batch(ctx, settings, &p, &batch);
    /* Landmarks are not the rows that the program gave. */
    const bool is_told = options->is_told && ikt_watcher_every(ctx) > 0;
    reporter told = {ctx, &p, &objective, NULL};
    if (st == IKT_OK && is_told)
        st = ikt_agree(ctx, ikt_alloc(ctx, &told.y, bytes * rows->count, 1, "embedding"));
    if (st == IKT_OK) {
        const ikt_loop_course course = {.hooks = options->hooks ? &options->hooks->loop : NULL,
                                        .from = from,
                                        .is_extended = options->from != NULL,
                                        .last = options->want_last ? &out->last : NULL,
                                        .report = is_told ? report : NULL,
                                        .reporter = &told,
                                        .batch = batch};
        st = ikt_layout_run(ctx, layout, &p.rows, &objective, &course, out->y, &out->trace);
    }
    ikt_objective_destroy(&objective);
    ikt_batch_destroy(&batch);
    ikt_free(&told.y);
    ikt_free(&labels);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK) st = reorder(ctx, &p, true, out->y, out->y, bytes);
    ikt_probabilities_destroy(&p);
    if (st == IKT_OK && out->classes.is_there) {
        ikt_stage_begin(ctx, IKT_STAGE_MEASURES);
        st = ikt_figures_of_map(ctx, rows, layout->dimensions, out->y, &out->classes);
        ikt_stage_end(ctx, IKT_STAGE_MEASURES);
    }
    ikt_loop_state_destroy(&saved);
    if (st != IKT_OK) ikt_embed_result_destroy(out);
    return st;
}

void ikt_embed_result_destroy(ikt_embed_result *embedding) {
    ikt_free(&embedding->y);
    ikt_trace_destroy(&embedding->trace);
    ikt_loop_state_destroy(&embedding->last);
    ikt_class_outcome_destroy(&embedding->classes);
}
