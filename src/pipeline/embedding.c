/* From data to embedding. Read ikt_embed_dataset first. */
#include "pipeline/embedding.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "pipeline/graph_keep.h"
#include "pipeline/landmarks.h"
#include "pipeline/objective_make.h"
#include "pipeline/probabilities.h"
#include "pipeline/start.h"

static void note_probabilities(ikt_context *ctx, const ikt_probabilities *p, int64_t n,
                               double seconds, ikt_settings *settings, ikt_embed_result *out) {
    out->orphans = p->orphans;
    out->entries = p->entries;
    settings->affinity.neighbours = p->k;
    if (p->psi > 0) {
        settings->isolation.psi = p->psi;
        settings->isolation.pool = p->pool;
    }
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
    if (p->orphans > 0)
        ikt_log_numbers(ctx, IKT_LOG_WARN, (ikt_log_number[]){IKT_LOG_INT("rows", p->orphans), {0}},
                        "%lld rows %s", (long long)p->orphans,
                        ikt_affinity_of(&settings->affinity)->zero_similarity_because);
}

/* The loop works in positions, the run in rows of the input. */
static ikt_status bring(ikt_context *ctx, const ikt_probabilities *p, int64_t q, bool back,
                        float *y) {
    const int64_t bytes = q * (int64_t)sizeof *y;
    if (!p->is_ordered) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = back ? ikt_order_restore(ctx, &p->order, y, bytes, y, bytes, bytes)
                         : ikt_order_apply(ctx, &p->order, y, bytes, y, bytes, bytes);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

/* What an embedding is made of while it is made. */
typedef struct {
    const ikt_embed_options *wish;
    ikt_landmarks landmarks;
    ikt_probabilities p;
    ikt_loop_state kept; /* of a checkpoint */
    bool is_kept;
} making;

static void making_free(making *m) {
    ikt_landmarks_destroy(&m->landmarks);
    ikt_probabilities_destroy(&m->p);
    ikt_loop_state_destroy(&m->kept);
}

/* Where the loop begins: the state that has come furthest; NULL: at initial positions. */
static const ikt_loop_state *loop_start(const making *m) {
    const ikt_loop_state *from = m->wish->from;
    if (m->is_kept && (!from || m->kept.iteration > from->iteration)) return &m->kept;
    return from;
}

/* COLLECTIVE. What a checkpoint holds of loop and P. */
static ikt_status find_kept(ikt_context *ctx, making *m) {
    if (m->wish->keepers)
        IKT_TRY(ikt_checkpoint_load_loop(m->wish->keepers, &m->kept, &m->is_kept));
    return ikt_probabilities_begin(ctx, m->wish->keepers, &m->p);
}

static ikt_status make_probabilities(ikt_context *ctx, making *m, ikt_settings *settings,
                                     ikt_dataset *data, const ikt_rows *rows,
                                     ikt_embed_result *out) {
    const double begun = ikt_now();
    m->p.graph_keep = m->wish->graph ? *m->wish->graph : NULL;
    IKT_TRY(ikt_probabilities_compute(ctx, settings, data, rows, m->wish->labels,
                                      m->landmarks.count > 0 ? &m->landmarks : NULL, m->wish->keep,
                                      &m->p));
    note_probabilities(ctx, &m->p, rows->n, ikt_now() - begun, settings, out);
    out->y = m->p.start;
    m->p.start = NULL;
    return IKT_OK;
}

/* Whether the start has to be found: for the loop, or for the file of the graph, although the loop
 * goes on; landmarks that nobody needs any more are not embedded again for that. */
static bool wants_start(const making *m, const ikt_layout_settings *layout) {
    if (!loop_start(m)) return true;
    return m->p.graph_keep && layout->init == IKT_INIT_PCA;
}

/* Initial positions in the order of the loop; where it goes on, room for its results. */
static ikt_status start(ikt_context *ctx, making *m, const ikt_settings *settings,
                        ikt_dataset *data, const ikt_rows *rows, float **y) {
    const int64_t q = settings->layout.dimensions;
    const ikt_start_sources from = {&m->landmarks, m->p.scores, m->p.graph_keep};
    if (wants_start(m, &settings->layout)) {
        IKT_TRY(ikt_start(ctx, settings, data, rows, &from, y));
        if (!loop_start(m)) IKT_TRY(bring(ctx, &m->p, q, false, *y));
        ikt_free(&m->p.scores);
    }
    if (m->wish->graph) IKT_TRY(ikt_graph_keep_end(ctx, m->wish->graph));
    if (*y) return IKT_OK;
    return ikt_agree(ctx, ikt_alloc(ctx, y, q * rows->count, sizeof **y, "embedding"));
}

static ikt_status place(ikt_context *ctx, making *m, const ikt_layout_settings *settings,
                        const ikt_rows *rows, ikt_embed_result *out) {
    const ikt_loop_course course = {.keeper = m->wish->keepers ? &m->wish->keepers->loop : NULL,
                                    .from = loop_start(m),
                                    .is_extended = m->wish->from != NULL,
                                    .last = m->wish->want_last ? &out->last : NULL};
    ikt_made_objective made;
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_status st = ikt_objective_make(ctx, &m->p, settings, &made);
    if (st == IKT_OK)
        st = ikt_layout_run(ctx, settings, rows, &made.objective, &course, out->y, &out->trace);
    ikt_objective_release(&made);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    return st == IKT_OK ? bring(ctx, &m->p, settings->dimensions, true, out->y) : st;
}

ikt_status ikt_embed_dataset(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const ikt_embed_options *wish,
                             ikt_embed_result *out) {
    making m = {.wish = wish};
    *out = (ikt_embed_result){.accuracy = -1};
    IKT_TRY(ikt_layout_resolve(ctx, &settings->layout, rows->n));
    ikt_status st = find_kept(ctx, &m);
    if (st == IKT_OK && settings->layout.init == IKT_INIT_LANDMARK && !settings->input.graph[0] &&
        !loop_start(&m) && !m.p.start)
        st = ikt_landmarks_make(ctx, settings, settings->layout.landmarks, data, &m.landmarks);
    if (st == IKT_OK) st = make_probabilities(ctx, &m, settings, data, rows, out);
    if (st == IKT_OK) st = start(ctx, &m, settings, data, rows, &out->y);
    ikt_landmarks_destroy(&m.landmarks);
    if (st == IKT_OK) st = place(ctx, &m, &settings->layout, rows, out);
    making_free(&m);
    if (st != IKT_OK) ikt_embed_result_destroy(out);
    return st;
}

void ikt_embed_result_destroy(ikt_embed_result *embedding) {
    ikt_free(&embedding->y);
    ikt_trace_destroy(&embedding->trace);
    ikt_loop_state_destroy(&embedding->last);
}
