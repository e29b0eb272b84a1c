/* What a run would take. See plan.h. */
#include "plan/plan.h"

ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan) {
    const bool has_landmarks = plan->work.landmarks > 0;
    ikt_workload landmarks;
    if (has_landmarks) IKT_TRY(ikt_workload_of_landmarks(ctx, &plan->work, &landmarks));
    plan->memory = ikt_memory_plan_make(&plan->work, base);
    plan->time = ikt_time_plan_make(&plan->work, has_landmarks ? &landmarks : NULL, &plan->machine);
    return IKT_OK;
}

void ikt_plan_settings(const ikt_workload *work, ikt_settings *out) {
    *out = work->settings; /* its layout is resolved */
    out->input.rows = work->data.n;
    out->run.threads = work->threads;
    out->affinity.neighbours = work->k;
    if (!work->is_dense) {
        out->affinity.search = work->is_near ? IKT_SEARCH_APPROXIMATE : IKT_SEARCH_EXACT;
        if (work->is_near) out->affinity.candidates = work->candidates;
    }
    if (!work->is_isolation) return;
    out->isolation.psi = work->psi;
    out->isolation.pool = work->model.pool;
}
