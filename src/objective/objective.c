/* The objectives that there are. */
#include "objective/objective.h"

static const ikt_objective_kind *const table[IKT_OBJECTIVES] = {
    [IKT_OBJECTIVE_TSNE] = &ikt_objective_tsne,
    [IKT_OBJECTIVE_NERV] = &ikt_objective_nerv,
    [IKT_OBJECTIVE_JSE] = &ikt_objective_jse,
    [IKT_OBJECTIVE_SNE] = &ikt_objective_sne};

const ikt_objective_kind *ikt_objective_kind_of(ikt_objective_name name) {
    return table[name];
}

ikt_status ikt_objective_create(ikt_context *ctx, const ikt_objective_kind *kind,
                                const ikt_objective_inputs *inputs, ikt_objective *out) {
    *out = (ikt_objective){.kind = kind, .q = inputs->q};
    const ikt_status st = kind->create(ctx, inputs, out);
    if (st != IKT_OK) ikt_objective_destroy(out);
    return st;
}

void ikt_objective_destroy(ikt_objective *objective) {
    if (objective->kind) objective->kind->destroy(objective);
    *objective = (ikt_objective){.kind = NULL};
}
