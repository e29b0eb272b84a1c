/* The objectives that there are. */
#include "objective/divergence.h"

static const ikt_divergence *const table[IKT_OBJECTIVES] = {
    [IKT_OBJECTIVE_TSNE] = &ikt_divergence_tsne,
    [IKT_OBJECTIVE_NERV] = &ikt_divergence_nerv,
    [IKT_OBJECTIVE_JSE] = &ikt_divergence_jse,
    [IKT_OBJECTIVE_SNE] = &ikt_divergence_sne};

const ikt_divergence *ikt_divergence_of(ikt_objective_kind kind) {
    return table[kind];
}
