/* Where the rows may start, as a table. */
#include "layout/layout.h"

static const ikt_start_kind kinds[] = {
    [IKT_INIT_AUTO] = {.name = "auto"},
    [IKT_INIT_PCA] = {.name = "pca"},
    [IKT_INIT_RANDOM] = {.name = "random"},
    [IKT_INIT_LANDMARK] = {.name = "landmark"},
    [IKT_INIT_FILE] = {.name = "file", .is_scaled = true},
    [IKT_INIT_SPECTRAL] = {.name = "spectral", .of_p = true, .is_scaled = true},
    [IKT_INIT_KPCA] = {.name = "kpca", .of_similarities = true},
    [IKT_INIT_KDA] = {.name = "kda", .of_similarities = true, .of_labels = true}};

const ikt_start_kind *ikt_layout_start(const ikt_layout_settings *settings) {
    return &kinds[settings->init];
}

const ikt_start_kind *ikt_start_kind_of(ikt_layout_init init) {
    return &kinds[init];
}
