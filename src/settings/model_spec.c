/* Which model of the Isolation kernel the settings of a run mean. */
#include "settings/model_spec.h"

#include "neighbours/cells.h"

ikt_status ikt_model_spec_make(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                               int64_t drawn, ikt_model_spec *out) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    const bool is_near = settings->affinity.support != IKT_SUPPORT_DENSE &&
                         ikt_affinity_is_approximate(&settings->affinity, n);
    *out = (ikt_model_spec){.seed = (uint64_t)settings->run.seed,
                            .n = drawn,
                            .t = isolation->partitionings,
                            .form = isolation->form};
    IKT_TRY(ikt_isolation_resolve_psi(ctx, isolation, n, drawn, &out->psi));
    IKT_TRY(ikt_isolation_resolve_pool(ctx, isolation, drawn, out->psi, &out->pool));
    if (is_near) out->pool = ikt_cells_pool(n, out->pool);
    if (out->pool >= drawn) out->pool = 0;
    if (is_near) out->coarse = ikt_cells_choose(n, out->pool);
    if (out->coarse > drawn) out->coarse = drawn;
    return IKT_OK;
}
