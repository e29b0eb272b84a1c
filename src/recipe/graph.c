/* What a graph or a matrix in place of a kernel decides. See recipe.h. */
#include "recipe/recipe.h"

#include <string.h>

/* What the numbers are, unless the settings say it: by the attribute of the group or data set, or
 * by its name, which is what stands behind the colon, or in a file that holds one array the name of
 * the file. */
static ikt_status find_values(ikt_context *ctx, const ikt_graph_about *about,
                              ikt_graph_settings *graph) {
    static const struct {
        const char *word;
        ikt_edges values;
    } words[] = {{"similarit", IKT_EDGES_SIMILARITIES},
                 {"connectivit", IKT_EDGES_SIMILARITIES},
                 {"distance", IKT_EDGES_DISTANCES},
                 {"probabilit", IKT_EDGES_PROBABILITIES}};
    const char *name = about->name, *attribute = about->values;
    const char *colon = strrchr(name, ':'), *slash = strrchr(name, '/');
    const char *const said[] = {attribute, colon ? colon : slash ? slash : name};
    const size_t n_words = sizeof words / sizeof *words;
    if (graph->values == IKT_EDGES_AUTO && strcmp(attribute, "none") == 0)
        graph->values = IKT_EDGES_NONE;
    for (size_t w = 0; w < 2 * n_words && graph->values == IKT_EDGES_AUTO; w++)
        if (strstr(said[w / n_words], words[w % n_words].word))
            graph->values = (int)words[w % n_words].values;
    if (graph->values != IKT_EDGES_AUTO) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s does not say what its numbers are: give graph.values=similarities, "
                    "distances, probabilities or none",
                    name);
}

/* A matrix of all pairs: distances are for the kinds that weigh distances, other numbers for the
 * kind `graph`. */
static ikt_status adopt_pairs(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about) {
    int64_t k = 0;
    ikt_affinity_settings *affinity = &settings->affinity;
    const char *name = about->name;
    const bool is_dense = affinity->support == IKT_SUPPORT_DENSE;
    const bool is_any =
        affinity->kind == IKT_AFFINITY_ISOLATION || affinity->kind == IKT_AFFINITY_GRAPH;
    const bool needs_p = ikt_layout_objective(&settings->layout)->needs & IKT_NEEDS_P;
    IKT_TRY(find_values(ctx, about, &affinity->graph));
    affinity->graph.is_pairwise = true;
    if (affinity->graph.values == IKT_EDGES_NONE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "graph.values = none would make all pairs of %s count the same: say what "
                        "the numbers are",
                        name);
    if (affinity->graph.values == IKT_EDGES_PROBABILITIES && !is_dense && needs_p)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s holds the probabilities of all pairs, which are used as they are: give "
                        "affinity.support=dense",
                        name);
    if (affinity->graph.values != IKT_EDGES_DISTANCES && !is_any)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind = %s makes similarities of distances, and %s does not "
                        "hold distances: leave affinity.kind out",
                        ikt_affinity_of(affinity)->name, name);
    if (affinity->graph.values != IKT_EDGES_DISTANCES)
        affinity->kind = IKT_AFFINITY_GRAPH;
    else if (is_any)
        affinity->kind =
            affinity->graph.weights == IKT_WEIGHTS_KNN ? IKT_AFFINITY_KNN : IKT_AFFINITY_GAUSSIAN;
    IKT_TRY(ikt_affinity_resolve(ctx, affinity, about->n, &k));
    about->entries = (is_dense ? about->n - 1 : k) * about->n;
    return IKT_OK;
}

/* A graph by rows of entries of another program. */
static ikt_status adopt_foreign(ikt_context *ctx, ikt_settings *settings,
                                const ikt_graph_about *about) {
    ikt_affinity_settings *affinity = &settings->affinity;
    if (affinity->kind != IKT_AFFINITY_ISOLATION && affinity->kind != IKT_AFFINITY_GRAPH)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind = %s does not go with input.graph, which stands in place of "
                        "a kernel; distances get Gaussian weights by graph.values=distances with "
                        "gaussian.perplexity",
                        ikt_affinity_of(affinity)->name);
    affinity->kind = IKT_AFFINITY_GRAPH;
    return find_values(ctx, about, &affinity->graph);
}

ikt_status ikt_graph_adopt(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about) {
    ikt_layout_settings *layout = &settings->layout;
    const bool has_components =
        about->q == layout->dimensions && about->start == IKT_GRAPH_START_PCA;
    if (about->n == 0 || settings->input.similarities[0]) return IKT_OK;
    if (about->is_pairwise)
        IKT_TRY(adopt_pairs(ctx, settings, about));
    else if (about->is_kept)
        IKT_TRY(ikt_graph_settings_adopt(ctx, settings, about->settings, about->name));
    else
        IKT_TRY(adopt_foreign(ctx, settings, about));
    if (layout->init != IKT_INIT_AUTO || layout->init_file[0] || settings->input.file[0] ||
        has_components || ikt_layout_objective(layout)->is_start)
        return IKT_OK;
    layout->init = IKT_INIT_RANDOM;
    return IKT_OK;
}
