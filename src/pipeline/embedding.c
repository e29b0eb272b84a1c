/* From data to embedding. Read ikt_embed_dataset, at the end, first. */
#include "pipeline/embedding.h"

#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "pipeline/graph_keep.h"
#include "pipeline/landmarks.h"
#include "pipeline/probabilities.h"
#include "pipeline/start.h"
#include "plan/machine.h"

/* --- landmarks: the same line on a subset of the rows, which is embedded first -------------------
 */

static ikt_status draw_landmarks(ikt_context *ctx, uint64_t seed, int64_t n,
                                 ikt_landmarks *landmarks) {
    int64_t *slot = NULL, slots = ikt_draw_slots(landmarks->count);
    ikt_status st = ikt_alloc(ctx, &landmarks->row, landmarks->count, sizeof(int64_t), "landmarks");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &landmarks->y, landmarks->q * landmarks->count, sizeof(float),
                       "landmarks");
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, "landmarks");
    if (st == IKT_OK)
        ikt_draw_subset(seed, IKT_RNG_LANDMARK, 0, n, landmarks->count, slot, slots,
                        landmarks->row);
    ikt_free(&slot);
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Gathers what the ranks have of the positions. */
static ikt_status share_landmarks(ikt_context *ctx, const ikt_rows *rows, const float *own,
                                  ikt_landmarks *landmarks) {
    int64_t *counts = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, "landmarks")));
    for (int rank = 0; rank < rows->ranks; rank++)
        counts[rank] = ikt_rows_count(rows, rank);
    ikt_allgather(ctx, own, rows->count, (size_t)landmarks->q * sizeof *own, landmarks->y, counts);
    ikt_free(&counts);
    return IKT_OK;
}

static ikt_status embed_source(ikt_context *ctx, ikt_settings *settings, ikt_source *source,
                               ikt_landmarks *landmarks) {
    const ikt_rows rows = ikt_rows_make(landmarks->count, ikt_size(ctx), ikt_rank(ctx));
    ikt_dataset *data = NULL;
    ikt_embed_result embedding = {0};
    ikt_status st = ikt_dataset_create(ctx, source, &settings->preprocess, &data);
    if (st == IKT_OK)
        st = ikt_embed_dataset(ctx, settings, data, &rows, &(ikt_embed_options){0}, &embedding);
    if (st == IKT_OK) st = share_landmarks(ctx, &rows, embedding.y, landmarks);
    ikt_embed_result_destroy(&embedding);
    ikt_dataset_destroy(&data);
    return st;
}

static ikt_status embed_dense(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                              ikt_landmarks *landmarks) {
    const int64_t columns = ikt_dataset_columns(data);
    const ikt_type type = ikt_dataset_is_u8(data) ? IKT_TYPE_U8 : IKT_TYPE_F32;
    ikt_source *source = NULL;
    void *rows = NULL;
    ikt_status st = ikt_agree(
        ctx, ikt_alloc(ctx, &rows, landmarks->count * columns, ikt_type_size(type), "landmarks"));
    if (st == IKT_OK) st = ikt_dataset_gather(data, landmarks->row, landmarks->count, rows);
    if (st == IKT_OK)
        st = ikt_source_from_memory(ctx, rows, landmarks->count, columns, type, &source);
    if (st == IKT_OK) st = embed_source(ctx, settings, source, landmarks);
    ikt_source_close(&source);
    ikt_free(&rows);
    return st;
}

/* Rows of kernels as rows of a source. */
static ikt_status widen(ikt_context *ctx, const ikt_sparse *from, ikt_sparse_rows *to) {
    const int64_t entries = from->start[from->count];
    IKT_TRY(ikt_sparse_rows_reserve(ctx, from->count, entries, to));
    to->count = from->count;
    memcpy(to->start, from->start, (size_t)(from->count + 1) * sizeof *to->start);
    for (int64_t e = 0; e < entries; e++) {
        to->column[e] = from->column[e];
        to->value[e] = (double)from->value[e];
    }
    return IKT_OK;
}

static ikt_status embed_sparse(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                               ikt_landmarks *landmarks) {
    ikt_source *source = NULL;
    ikt_sparse gathered = {0};
    ikt_sparse_rows rows = {0};
    ikt_status st = ikt_dataset_gather_sparse(data, landmarks->row, landmarks->count, &gathered);
    if (st == IKT_OK) st = ikt_agree(ctx, widen(ctx, &gathered, &rows));
    if (st == IKT_OK) st = ikt_source_from_sparse(ctx, &rows, gathered.d, IKT_TYPE_F32, &source);
    if (st == IKT_OK) st = embed_source(ctx, settings, source, landmarks);
    ikt_source_close(&source);
    ikt_sparse_destroy(&gathered);
    ikt_sparse_rows_destroy(&rows);
    return st;
}

static ikt_status embed_landmarks(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  ikt_landmarks *out) {
    const int64_t count = settings->layout.landmarks;
    ikt_settings subset = ikt_settings_of_landmarks(settings, count);
    *out = (ikt_landmarks){.count = count, .q = (int)settings->layout.dimensions};
    ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("rows", out->count), {0}},
                    "landmarks: %lld rows are embedded first", (long long)out->count);
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = draw_landmarks(ctx, (uint64_t)settings->run.seed, ikt_dataset_rows(data), out);
    if (st == IKT_OK)
        st = ikt_dataset_is_sparse(data) ? embed_sparse(ctx, &subset, data, out)
                                         : embed_dense(ctx, &subset, data, out);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    if (st != IKT_OK) ikt_landmarks_destroy(out);
    return st;
}

/* --- P ---------------------------------------------------------------------------------------- */

static void note_probabilities(ikt_context *ctx, const ikt_probabilities *p, int64_t n,
                               double seconds, ikt_settings *settings, ikt_embed_result *out) {
    out->zero_similarity = p->zero_similarity;
    out->entries = p->entries;
    if (p->k > 0) settings->affinity.neighbours = p->k;
    if (p->psi > 0) {
        settings->isolation.psi = p->psi;
        settings->isolation.pool = p->pool;
    }
    if (p->k == 0) return; /* nothing was made of the rows */
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){
                        IKT_LOG_INT("entries", p->entries), IKT_LOG_REAL("seconds", seconds), {0}},
                    "P: %lld entries, %.1f a row, in %.1f s", (long long)p->entries,
                    (double)p->entries / (double)n, seconds);
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

/* Labels in the order of the loop, where the objective needs them. */
static ikt_status order_labels(ikt_context *ctx, const ikt_objective_kind *kind,
                               const ikt_probabilities *p, const int64_t *labels, int64_t **out) {
    if (!(kind->needs & IKT_NEEDS_LABELS)) return IKT_OK;
    if (ikt_max_one(ctx, labels != NULL) == 0) /* a rank without rows may have none */
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "layout.objective=%s needs labels, and the input has none; name them by "
                        "input.labels",
                        kind->name);
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, out, p->rows.count, sizeof **out, "labels")));
    return reorder(ctx, p, false, labels, *out, sizeof **out);
}

/* Minimises the objective from the start y, or from the state `from`; y receives the places in the
 * order of the input. */
static ikt_status optimise(ikt_context *ctx, const ikt_settings *settings,
                           const ikt_embed_options *options, const ikt_loop_state *from,
                           const ikt_probabilities *p, ikt_embed_result *out) {
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    const ikt_loop_course course = {.hooks = options->hooks ? &options->hooks->loop : NULL,
                                    .from = from,
                                    .is_extended = options->from != NULL,
                                    .last = options->want_last ? &out->last : NULL};
    ikt_objective objective = {.kind = NULL};
    int64_t *labels = NULL;
    char text[256];
    ikt_status st = order_labels(ctx, kind, p, options->labels, &labels);
    ikt_objective_inputs inputs = {
        .rows = p->rows,
        .q = (int)layout->dimensions,
        .options = ikt_layout_options(layout, (uint64_t)settings->run.seed),
        .graph = kind->needs & IKT_NEEDS_P && !p->is_dense ? &p->graph : NULL,
        .dense = kind->needs & IKT_NEEDS_P && p->is_dense ? &p->dense : NULL,
        .neighbours = &p->neighbours,
        .codes = &p->codes,
        .labels = labels};
    if (st == IKT_OK && layout->grid == IKT_SHARING_AUTO && ikt_size(ctx) > 1) {
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
    if (st == IKT_OK) st = ikt_objective_create(ctx, kind, &inputs, &objective);
    if (st == IKT_OK) {
        objective.kind->describe(&objective, text, sizeof text);
        ikt_log(ctx, IKT_LOG_STAGE, "%s in %d dimensions; repulsion: %s", kind->name, inputs.q,
                text);
        st = ikt_layout_run(ctx, layout, &p->rows, &objective, &course, out->y, &out->trace);
    }
    ikt_objective_destroy(&objective);
    ikt_free(&labels);
    return st;
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
    bool is_saved = false;
    *out = (ikt_embed_result){.accuracy = -1};
    IKT_TRY(ikt_layout_resolve(ctx, layout, rows->n));
    if (options->hooks) IKT_TRY(ikt_checkpoint_load_loop(options->hooks, &saved, &is_saved));
    /* The loop goes on from the state that has come furthest; NULL: it begins at the start. */
    const ikt_loop_state *from = options->from;
    if (is_saved && (!from || saved.iteration > from->iteration)) from = &saved;

    ikt_status st = ikt_probabilities_begin(ctx, options->hooks, rows, &p);
    if (st == IKT_OK && layout->init == IKT_INIT_LANDMARK && !settings->input.graph[0] && !from &&
        !p.start)
        st = embed_landmarks(ctx, settings, data, &landmarks);
    if (st == IKT_OK) {
        const ikt_probabilities_options wanted = {
            .needs = ikt_layout_objective(layout)->needs,
            .labels = options->labels,
            .landmarks = landmarks.count > 0 ? &landmarks : NULL,
            .model_writer = options->model_writer,
            .graph_writer = options->graph_writer ? *options->graph_writer : NULL};
        st = ikt_probabilities_compute(ctx, settings, data, &wanted, &p);
    }
    if (st == IKT_OK) {
        note_probabilities(ctx, &p, rows->n, ikt_now() - begun, settings, out);
        out->y = p.start;
        p.start = NULL;
        /* The file of the graph keeps a start from components, although the loop goes on; landmarks
         * that nobody needs any more are not embedded again for that. */
        const ikt_start_sources sources = {&landmarks, p.scores,
                                           options->graph_writer ? *options->graph_writer : NULL};
        if (!from || (sources.graph_writer && layout->init == IKT_INIT_PCA))
            st = ikt_start(ctx, settings, data, rows, &sources, &out->y);
        if (st == IKT_OK && !from) st = reorder(ctx, &p, false, out->y, out->y, bytes);
        ikt_free(&p.scores);
    }
    ikt_landmarks_destroy(&landmarks);
    if (st == IKT_OK && options->graph_writer) st = ikt_graph_keep_end(ctx, options->graph_writer);
    if (st == IKT_OK && !out->y)
        st = ikt_agree(ctx, ikt_alloc(ctx, &out->y, bytes * rows->count, 1, "embedding"));

    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK) st = optimise(ctx, settings, options, from, &p, out);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK) st = reorder(ctx, &p, true, out->y, out->y, bytes);
    ikt_probabilities_destroy(&p);
    ikt_loop_state_destroy(&saved);
    if (st != IKT_OK) ikt_embed_result_destroy(out);
    return st;
}

void ikt_embed_result_destroy(ikt_embed_result *embedding) {
    ikt_free(&embedding->y);
    ikt_trace_destroy(&embedding->trace);
    ikt_loop_state_destroy(&embedding->last);
}
