/* Settings of parts that are not in use. See checks.h. */
#include "settings/checks.h"

#include <string.h>

#include "config/config.h"
#include "config/value.h"
#include "settings/preset.h"

/* What brings parts into use. */
typedef enum {
    ROWS,
    PREPROCESSING,
    COORDINATES,
    COMPONENTS,
    PAIRS,
    SEARCH,
    ORDER,
    NEIGHBOURS,
    NEAR_SEARCH,
    PERPLEXITY,
    ADAPTIVE,
    FISHER,
    OTHER_SEARCH,
    GRAPH,
    WHOLE,
    DISTANCES,
    EDGE_WEIGHTS,
    ISOLATION,
    AUTOMATIC_PSI,
    OTHER_MODEL,
    LANDMARKS,
    APPROXIMATION,
    GRID,
    LATE_EXAGGERATION,
    STEPS,
    KERNEL,
    CELLS,
    SIMILARITIES,
    KERNEL_MAP,
    COMPARED,
    KERNEL_WIDTH,
    KERNEL_SOME,
    KERNEL_LABELS,
    EXAGGERATION,
    STUDENT_KERNEL,
    FIRST_RATE,
    TRIMAP,
    TRIMAP_POOL,
    TRIMAP_SCALES,
    MOMENTUM,
    UMAP,
    LARGEVIS,
    REGULARISER,
    BATCH,
    CHECKPOINTS,
    NEEDS
} need;

/* Those of similarities, given or of the section `kernel`. */
static void find_kernel_needs(const ikt_settings *s, bool has[NEEDS]) {
    const ikt_similarity_kind kind = ikt_settings_similarity(s);
    const bool is_kda =
        ikt_layout_objective(&s->layout) == &ikt_objective_kda || s->layout.init == IKT_INIT_KDA;
    const ikt_similarity_kind of_classes =
        has[FISHER] ? ikt_settings_class_similarity(s) : IKT_SIMILARITY_AUTO;
    has[KERNEL_MAP] = ikt_settings_has_kernel_map(s);
    has[COMPARED] = has[KERNEL_MAP] || has[FISHER];
    has[KERNEL_WIDTH] = (has[KERNEL_MAP] && kind == IKT_SIMILARITY_GAUSSIAN) ||
                        of_classes == IKT_SIMILARITY_GAUSSIAN;
    has[KERNEL_SOME] = has[KERNEL_MAP] && s->kernel.solver == IKT_KERNEL_LANDMARKS;
    has[KERNEL_LABELS] = is_kda;
    has[SIMILARITIES] = s->input.similarities[0] != '\0';
    const bool is_coded = (has[KERNEL_MAP] && kind == IKT_SIMILARITY_ISOLATION) ||
                          of_classes == IKT_SIMILARITY_ISOLATION;
    has[CELLS] = has[KERNEL] || is_coded;
    has[ISOLATION] = has[ISOLATION] || is_coded;
}

/* Which of them there are, or may be where only the data will tell. */
static void find_needs(const ikt_settings *s, bool has_rows, bool has[NEEDS]) {
    const int kind = s->affinity.kind, values = s->affinity.graph.values;
    const bool is_pairwise = s->affinity.graph.is_pairwise;
    const bool is_sparse = s->affinity.support == IKT_SUPPORT_SPARSE;
    const ikt_layout_settings *layout = &s->layout;
    has[ROWS] = has_rows || !s->input.graph[0];
    has[PREPROCESSING] = has_rows || kind != IKT_AFFINITY_GRAPH;
    has[PAIRS] = s->preprocess.metric == IKT_METRIC_PRECOMPUTED;
    has[COORDINATES] = !has[PAIRS];
    has[COMPONENTS] = s->preprocess.pca > 0;
    has[GRAPH] = kind == IKT_AFFINITY_GRAPH || is_pairwise;
    has[WHOLE] = s->affinity.support == IKT_SUPPORT_WHOLE;
    has[SEARCH] = !has[GRAPH] && is_sparse;
    has[ORDER] = has[SEARCH] || (!has[GRAPH] && has[WHOLE]);
    has[NEIGHBOURS] = has[SEARCH] || kind == IKT_AFFINITY_KNN || (is_pairwise && is_sparse);
    has[NEAR_SEARCH] = has[SEARCH] && s->affinity.search != IKT_SEARCH_EXACT;
    /* What the numbers of a graph are may be told by the file alone. */
    has[DISTANCES] = has[GRAPH] && (values == IKT_EDGES_DISTANCES || values == IKT_EDGES_AUTO);
    has[FISHER] = kind == IKT_AFFINITY_FISHER;
    has[OTHER_SEARCH] = !has[FISHER];
    has[PERPLEXITY] = kind == IKT_AFFINITY_GAUSSIAN || has[FISHER] ||
                      (has[DISTANCES] && s->affinity.graph.weights == IKT_WEIGHTS_GAUSSIAN);
    has[ADAPTIVE] = kind == IKT_AFFINITY_ADAPTIVE;
    has[ISOLATION] = kind == IKT_AFFINITY_ISOLATION;
    has[AUTOMATIC_PSI] = s->isolation.psi == IKT_AUTO_INT;
    has[OTHER_MODEL] = s->isolation.model_from[0] != '\0';
    has[LANDMARKS] = layout->init == IKT_INIT_LANDMARK;
    has[APPROXIMATION] =
        layout->repulsion != IKT_REPULSION_EXACT && layout->objective != IKT_OBJECTIVE_SNE;
    has[GRID] =
        has[APPROXIMATION] && layout->dimensions == 2 && layout->repulsion != IKT_REPULSION_TREE;
    const ikt_objective_kind *objective = ikt_layout_objective(layout);
    const bool is_trimap = objective->resolve == ikt_objective_trimap.resolve;
    has[PERPLEXITY] = has[PERPLEXITY] && (objective->needs & IKT_NEEDS_P);
    has[ADAPTIVE] = has[ADAPTIVE] && (objective->needs & IKT_NEEDS_P);
    has[STEPS] = !objective->is_start;
    has[KERNEL] = has[STEPS] || (objective->needs & ~(unsigned)IKT_NEEDS_LABELS);
    find_kernel_needs(s, has);
    has[STUDENT_KERNEL] = objective->divergence || layout->custom;
    has[APPROXIMATION] = has[APPROXIMATION] && objective->divergence;
    has[GRID] = has[GRID] && objective->divergence;
    has[EXAGGERATION] = objective->has_exaggeration || layout->custom;
    /* Without a first phase its rate is but what the later one's "auto" stands for. */
    has[FIRST_RATE] = has[EXAGGERATION] || layout->final_learning_rate <= IKT_AUTO_REAL;
    has[TRIMAP] = is_trimap;
    has[TRIMAP_POOL] = is_trimap && layout->trimap.triplets != IKT_TRIPLETS_FIXED;
    const bool has_weights = objective->needs & IKT_NEEDS_P;
    const bool is_kept_graph = s->input.graph[0] && !has[GRAPH];
    has[EDGE_WEIGHTS] = has[DISTANCES] && has_weights;
    has[TRIMAP_SCALES] = is_trimap && kind != IKT_AFFINITY_ISOLATION && !is_kept_graph &&
                         (!has[GRAPH] || has[DISTANCES]);
    has[MOMENTUM] = objective->optimiser != &ikt_optimiser_descent;
    has[UMAP] = objective->name == ikt_objective_umap.name;
    has[LARGEVIS] = objective->name == ikt_objective_largevis.name;
    has[REGULARISER] = layout->regulariser != IKT_REGULARISER_NONE;
    has[BATCH] = layout->batch_rows != IKT_AUTO_INT;
    has[LATE_EXAGGERATION] = layout->final_exaggeration != 1;
    has[CHECKPOINTS] = strcmp(s->run.checkpoint, "none") != 0;
}

static const char exaggerating[] = "layout.objective=tsne, nerv, jse or sne";
static const char comparing[] =
    "an affinity.kind other than isolation, or input.graph with graph.values=distances";
static const char moving[] = "an objective other than pca, kpca, kda and eigenmap";
static const char searching[] = "an affinity.kind other than fisher, which has fisher.candidates";
static const char bandwidths[] = "affinity.kind=gaussian or fisher, and an objective that has P";
static const char relating[] = "an objective other than pca, kpca and kda";
static const char remembering[] = "layout.objective=tsne, nerv, jse, sne or trimap";

/* Keys with what they need, the most general need of a key first; without a key: a whole section.
 * What other checks refuse with the reason (layout.trade_off, layout.init_file, numbers of raw
 * files) is not here. */
static const struct {
    const char *section, *key;
    need need;
    const char *with; /* what would bring it into use */
} rules[] = {{"input", "dataset", ROWS, "input.file"},
             {"input", "skip_columns", ROWS, "input.file"},
             {"input", "transposed", ROWS, "input.file"},
             {"input", "columns", ROWS, "input.file"},
             {"input", "type", ROWS, "input.file"},
             {"input", "byte_order", ROWS, "input.file"},
             {"input", "skip", ROWS, "input.file"},
             {"input", "symmetrise", SIMILARITIES, "input.similarities"},
             {"input", "spectrum", SIMILARITIES, "input.similarities"},
             {"kernel", NULL, COMPARED,
              "layout.objective or layout.init = kpca or kda, or affinity.kind=fisher"},
             {"kernel", "solver", KERNEL_MAP, "layout.objective or layout.init = kpca or kda"},
             {"kernel", "landmarks", KERNEL_MAP, "layout.objective or layout.init = kpca or kda"},
             {"kernel", "bandwidth", KERNEL_WIDTH, "kernel.kind=gaussian"},
             {"kernel", "landmarks", KERNEL_SOME, "kernel.solver=landmarks"},
             {"kernel", "ridge", KERNEL_LABELS, "layout.objective or layout.init = kda"},
             {"preprocess", NULL, PREPROCESSING, "input.file"},
             {"preprocess", "normalise", COORDINATES, "a preprocess.metric other than precomputed"},
             {"preprocess", "pca", COORDINATES, "a preprocess.metric other than precomputed"},
             {"preprocess", "pca_rows", COMPONENTS, "preprocess.pca"},
             {"preprocess", "matrix", PAIRS, "preprocess.metric=precomputed"},
             {"affinity", NULL, KERNEL, relating},
             {"affinity", "neighbours", NEIGHBOURS, "affinity.support=sparse and no input.graph"},
             {"affinity", "search", OTHER_SEARCH, searching},
             {"affinity", "candidates", OTHER_SEARCH, searching},
             {"affinity", "refinements", OTHER_SEARCH, searching},
             {"affinity", "search", ORDER, "affinity.support=sparse or whole and no input.graph"},
             {"affinity", "candidates", NEAR_SEARCH,
              "affinity.support=sparse and affinity.search=approximate"},
             {"affinity", "refinements", NEAR_SEARCH,
              "affinity.support=sparse and affinity.search=approximate"},
             {"gaussian", NULL, PERPLEXITY, bandwidths},
             {"adaptive", NULL, ADAPTIVE, "affinity.kind=adaptive and an objective that has P"},
             {"fisher", NULL, FISHER, "affinity.kind=fisher"},
             {"whole", NULL, WHOLE, "affinity.support=whole"},
             {"graph", NULL, GRAPH, "input.graph"},
             {"graph", "weights", DISTANCES, "graph.values=distances"},
             {"graph", "weights", EDGE_WEIGHTS, "an objective that has P"},
             {"isolation", NULL, CELLS, relating},
             {"isolation", NULL, ISOLATION, "affinity.kind=isolation"},
             {"isolation", "psi_most", AUTOMATIC_PSI, "isolation.psi=auto"},
             {"isolation", "model_dataset", OTHER_MODEL, "isolation.model_from"},
             {"layout", "exaggeration", EXAGGERATION, exaggerating},
             {"layout", "exaggeration_iterations", EXAGGERATION, exaggerating},
             {"layout", "degrees_of_freedom", STUDENT_KERNEL,
              "layout.objective=tsne (umap has umap.a and umap.b)"},
             {"layout", "preset", STEPS, moving},
             {"layout", "iterations", STEPS, moving},
             {"layout", "learning_rate", STEPS, moving},
             {"layout", "learning_rate", FIRST_RATE,
              "early exaggeration, or with layout.final_learning_rate=auto"},
             {"layout", "final_learning_rate", STEPS, moving},
             {"layout", "stop", STEPS, moving},
             {"trimap", NULL, TRIMAP, "layout.objective=trimap"},
             {"trimap", "pool_rows", TRIMAP_POOL, "trimap.triplets=pool"},
             {"trimap", "redraw", TRIMAP_POOL, "trimap.triplets=pool"},
             {"trimap", "far_rows", TRIMAP_POOL, "trimap.triplets=pool"},
             {"trimap", "scale_from", TRIMAP_SCALES, comparing},
             {"trimap", "scale_to", TRIMAP_SCALES, comparing},
             {"umap", NULL, UMAP, "layout.objective=umap"},
             {"largevis", NULL, LARGEVIS, "layout.objective=largevis"},
             {"layout", "momentum", MOMENTUM, remembering},
             {"layout", "final_momentum", MOMENTUM, remembering},
             {"layout", "momentum_switch", MOMENTUM, remembering},
             {"layout", "landmarks", LANDMARKS, "layout.init=landmark"},
             {"layout", "accuracy", APPROXIMATION, "layout.repulsion=fft or barnes_hut"},
             {"layout", "grid", GRID, "layout.repulsion=fft in two dimensions"},
             {"layout", "final_exaggeration_from", LATE_EXAGGERATION,
              "layout.final_exaggeration other than 1"},
             {"layout", "regulariser_form", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "regulariser_weight", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "regulariser_rank", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "regulariser_every", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "regulariser_from", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "regulariser_vectors", REGULARISER, "layout.regulariser=laplacian"},
             {"layout", "batch_neighbours", BATCH, "layout.batch_rows"},
             {"run", "checkpoint_every", CHECKPOINTS, "run.checkpoint other than none"},
             {"run", "checkpoint_keep", CHECKPOINTS, "run.checkpoint other than none"}};

/* What would bring a key into use; NULL: it is. */
static const char *missing(const bool has[NEEDS], const ikt_section *section, const ikt_key *key) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        if (strcmp(rules[r].section, section->name) == 0 &&
            (!rules[r].key || strcmp(rules[r].key, key->name) == 0) && !has[rules[r].need])
            return rules[r].with;
    return NULL;
}

/* --- every key ------------------------------------------------------------------------------- */

/* Defaults, and what the preset sets. */
static ikt_status begin(ikt_context *ctx, int preset, ikt_settings *out,
                        ikt_config_part parts[IKT_SETTINGS_PARTS]) {
    memset(out, 0, sizeof *out);
    ikt_settings_parts(out, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    return ikt_preset_apply(ctx, parts, IKT_SETTINGS_PARTS, preset);
}

ikt_status ikt_unused_check(ikt_context *ctx, const ikt_settings *settings, bool has_rows,
                            bool is_kept_graph) {
    ikt_settings own = *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS];
    bool has[NEEDS];
    find_needs(settings, has_rows, has);
    ikt_settings_parts(&own, of_own);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        const ikt_section *section = of_own[p].section;
        if (is_kept_graph && ikt_settings_is_of_kernel(section)) continue;
        for (size_t k = 0; k < section->n_keys; k++) {
            const ikt_key *key = &section->keys[k];
            const char *with = missing(has, section, key);
            char value[IKT_STRING_MAX];
            if (!with || ikt_settings_has_equal(key, &of_own[p], &of_usual[p])) continue;
            ikt_value_print(key, ikt_config_member(&of_own[p], key), value, sizeof value);
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "%s.%s = %.80s would have no effect in this run, as it goes with %s: "
                            "leave it out, or set that",
                            section->name, key->name, value, with);
        }
    }
    return IKT_OK;
}

ikt_status ikt_unused_reset(ikt_context *ctx, ikt_settings *settings, bool has_rows,
                            const ikt_settings *shared) {
    ikt_settings other = shared ? *shared : *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS],
        of_other[IKT_SETTINGS_PARTS];
    bool has[NEEDS];
    find_needs(settings, has_rows, has);
    ikt_settings_parts(settings, of_own);
    ikt_settings_parts(&other, of_other);
    IKT_TRY(begin(ctx, settings->run.preset, &usual, of_usual));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < of_own[p].section->n_keys; k++) {
            const ikt_key *key = &of_own[p].section->keys[k];
            char value[IKT_STRING_MAX];
            if (!missing(has, of_own[p].section, key) ||
                !ikt_settings_has_equal(key, &of_own[p], &of_other[p]))
                continue;
            ikt_value_print(key, ikt_config_member(&of_usual[p], key), value, sizeof value);
            IKT_TRY(
                ikt_value_parse(ctx, key, key->name, value, ikt_config_member(&of_own[p], key)));
        }
    return IKT_OK;
}
