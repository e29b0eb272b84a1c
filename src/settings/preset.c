/* Presets of a run. The values are measured: docs/guide.md has what each costs and gives. */
#include "settings/settings.h"

const ikt_preset ikt_presets[IKT_RUN_PRESETS] = {
    {"none", "The defaults", {NULL}},
    {"quick",
     "A first look. The kernel is coarser and there are fewer iterations, which is two to three "
     "times as fast; clusters are where they will be, but their insides are less settled",
     {"isolation.psi_most=1024", "isolation.partitionings=100", "layout.iterations=300",
      "layout.exaggeration_iterations=150", NULL}},
    {"paper",
     "What the Isolation kernel paper does: every pair of rows counts, nothing is approximate, and "
     "the schedule is that of the paper. It takes 4 n^2 bytes over all ranks and n^2 operations in "
     "each iteration, which allows some 10,000 rows on a laptop",
     {"preprocess.normalise=minmax", "isolation.form=voronoi", "isolation.partitionings=200",
      "isolation.pool=0", "affinity.support=dense", "affinity.search=exact", "layout.preset=matlab",
      "layout.repulsion=exact", NULL}},
    {"large",
     "Millions of rows. The neighbours are better and there are the iterations that large maps "
     "need to settle, at about twice the time",
     {"affinity.refinements=1", "layout.iterations=1500", NULL}},
    {"umap",
     "UMAP as its users know it: its weights of 15 neighbours, found nearly all, its start from "
     "eigenvectors, and its objective (docs/umap.md)",
     {"affinity.kind=fuzzy", "affinity.refinements=2", "layout.objective=umap",
      "layout.init=spectral", NULL}},
    {"largevis",
     "LargeVis as its paper has it: Gaussian weights of perplexity 50 over 150 neighbours, and its "
     "objective (docs/umap.md)",
     {"affinity.kind=gaussian", "gaussian.perplexity=50", "affinity.neighbours=150",
      "layout.objective=largevis", NULL}},
    {"laptsne",
     "LaptSNE on the usual schedule: once clusters have formed, the map is drawn into as many "
     "compact groups as the eigengap of P finds (docs/laptsne.md)",
     {"layout.regulariser=laplacian", NULL}},
    {"laptsne-paper",
     "LaptSNE as its paper has it: dense Gaussian weights of perplexity 25, a start from "
     "eigenvectors of P as they are, no exaggeration, 100 iterations with a learning rate of 100 "
     "on the full gradient and a momentum of 0.5, and the regulariser from the first one on. It "
     "takes 4 n^2 bytes over all ranks and n^2 operations in each iteration",
     {"affinity.kind=gaussian", "gaussian.perplexity=25", "affinity.support=dense",
      "layout.init=spectral", "layout.init_scale=0", "layout.iterations=100",
      "layout.exaggeration=1", "layout.exaggeration_iterations=0", "layout.learning_rate=400",
      "layout.momentum=0.5", "layout.final_momentum=0.5", "layout.regulariser=laplacian", NULL}},
};

ikt_status ikt_preset_apply(ikt_context *ctx, const ikt_config_part *parts, size_t n, int preset) {
    const char *const *setting = ikt_presets[preset].setting;
    for (; *setting; setting++)
        if (ikt_config_override(ctx, parts, n, *setting) != IKT_OK) return IKT_ERR_INTERNAL;
    return IKT_OK;
}

void ikt_presets_describe(ikt_text *text) {
    for (int p = IKT_RUN_PRESET_NONE + 1; p < IKT_RUN_PRESETS; p++) {
        ikt_text_add(text, "  %s\n", ikt_presets[p].name);
        ikt_text_wrap(text, 6, ikt_presets[p].help);
        for (const char *const *setting = ikt_presets[p].setting; *setting; setting++)
            ikt_text_add(text, "      %s\n", *setting);
    }
}

void ikt_presets_describe_markdown(ikt_text *text) {
    ikt_text_add(text, "## Presets: what run.preset, or --preset, sets\n\n"
                       "| preset | sets | meaning |\n|---|---|---|\n");
    for (int p = IKT_RUN_PRESET_NONE + 1; p < IKT_RUN_PRESETS; p++) {
        ikt_text_add(text, "| `%s` | ", ikt_presets[p].name);
        for (const char *const *setting = ikt_presets[p].setting; *setting; setting++)
            ikt_text_add(text, "%s`%s`", setting == ikt_presets[p].setting ? "" : ", ", *setting);
        ikt_text_add(text, " | %s |\n", ikt_presets[p].help);
    }
}
