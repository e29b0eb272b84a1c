/* From data to embedding. Read ikt_embedding_make first. */
#include "pipeline/embedding.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "pipeline/landmarks.h"
#include "pipeline/objective_make.h"
#include "pipeline/probabilities.h"
#include "pipeline/start.h"

static void note_probabilities(ikt_context *ctx, const ikt_probabilities *p, int64_t n,
                               double seconds, ikt_settings *settings, ikt_embedding *out) {
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
                        ikt_affinity_of(&settings->affinity)->orphans_because);
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

static ikt_status place(ikt_context *ctx, const ikt_layout_settings *settings,
                        const ikt_probabilities *p, const ikt_row_map *map, ikt_embedding *out) {
    ikt_made_objective made;
    IKT_TRY(bring(ctx, p, settings->dimensions, false, out->y));
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_status st = ikt_objective_make(ctx, p, settings, &made);
    if (st == IKT_OK) st = ikt_layout_run(ctx, settings, map, &made.objective, out->y, &out->trace);
    ikt_objective_release(&made);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    return st == IKT_OK ? bring(ctx, p, settings->dimensions, true, out->y) : st;
}

ikt_status ikt_embedding_make(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                              const ikt_row_map *map, const int64_t *labels, ikt_model_writer *keep,
                              ikt_embedding *out) {
    ikt_landmarks landmarks = {0};
    ikt_probabilities p = {0};
    *out = (ikt_embedding){.accuracy = -1};
    IKT_TRY(ikt_layout_resolve(ctx, &settings->layout, map->n));
    bool has_landmarks = settings->layout.init == IKT_INIT_LANDMARK;
    ikt_status st = IKT_OK;
    if (has_landmarks)
        st = ikt_landmarks_make(ctx, settings, settings->layout.landmarks, data, &landmarks);
    const double begun = ikt_now();
    if (st == IKT_OK)
        st = ikt_probabilities_compute(ctx, settings, data, map, labels,
                                       has_landmarks ? &landmarks : NULL, keep, &p);
    if (st == IKT_OK) {
        note_probabilities(ctx, &p, map->n, ikt_now() - begun, settings, out);
        out->y = p.start;
        p.start = NULL;
        st = ikt_start(ctx, settings, data, map, &landmarks, &out->y);
    }
    ikt_landmarks_destroy(&landmarks);
    if (st == IKT_OK) st = place(ctx, &settings->layout, &p, map, out);
    ikt_probabilities_destroy(&p);
    if (st != IKT_OK) ikt_embedding_destroy(out);
    return st;
}

void ikt_embedding_destroy(ikt_embedding *embedding) {
    ikt_free(&embedding->y);
    ikt_trace_destroy(&embedding->trace);
}
