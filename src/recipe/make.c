/* What a run is. See recipe.h; read ikt_recipe_make, at the end, first. */
#include "recipe/recipe.h"

#include <string.h>

#include "data/missing.h"
#include "recipe/facts.h"
#include "settings/checks.h"
#include "similarity/kernel_map.h"

/* Whether the start is not said, and may follow from the input. */
static bool has_free_start(const ikt_layout_settings *layout) {
    return layout->init == IKT_INIT_AUTO && !layout->init_file[0] &&
           !ikt_layout_objective(layout)->is_start;
}

/* What follows from input.similarities: the metric is `precomputed`, of similarities, and rows
 * start at a map of them unless something is said of that. */
static void adopt_similarities(ikt_settings *settings) {
    ikt_preprocess_settings *rows = &settings->preprocess;
    ikt_layout_settings *layout = &settings->layout;
    if (!settings->input.similarities[0]) return;
    if (rows->metric == IKT_METRIC_EUCLIDEAN && rows->matrix == 0) {
        rows->metric = IKT_METRIC_PRECOMPUTED;
        rows->matrix = IKT_MATRIX_SIMILARITIES;
    }
    if (has_free_start(layout) && layout->preset == IKT_PRESET_DEFAULT)
        layout->init = IKT_INIT_KPCA;
}

/* --- a graph or a matrix in place of a kernel ------------------------------------------------- */

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

/* Whether the kind is one that a graph replaces without a word: the usual one, or `graph`. */
static bool is_replaced(const ikt_affinity_settings *affinity) {
    return affinity->kind == IKT_AFFINITY_ISOLATION || affinity->kind == IKT_AFFINITY_GRAPH;
}

/* The kind that the numbers of a matrix of all pairs are for, unless another is given. */
static ikt_affinity_name kind_of(const ikt_graph_settings *graph) {
    if (graph->values != IKT_EDGES_DISTANCES) return IKT_AFFINITY_GRAPH;
    return graph->weights == IKT_WEIGHTS_KNN ? IKT_AFFINITY_KNN : IKT_AFFINITY_GAUSSIAN;
}

/* Puts what input.graph decides into the settings: affinity.kind = graph and what the numbers are;
 * of a matrix of all pairs that holds distances, affinity.kind = gaussian unless another kind that
 * weighs distances is given; of a kept graph the settings that made it. */
static ikt_status adopt_graph(ikt_context *ctx, ikt_settings *settings,
                              const ikt_graph_about *about) {
    ikt_layout_settings *layout = &settings->layout;
    ikt_affinity_settings *affinity = &settings->affinity;
    const bool has_components =
        about->q == layout->dimensions && about->start == IKT_GRAPH_START_PCA;
    if (about->n == 0 || settings->input.similarities[0]) return IKT_OK;
    affinity->graph.is_pairwise = about->is_pairwise;
    IKT_TRY(about->is_kept ? ikt_graph_settings_adopt(ctx, settings, about->settings, about->name)
                           : find_values(ctx, about, &affinity->graph));
    if (is_replaced(affinity) && !about->is_kept)
        affinity->kind = (int)(about->is_pairwise ? kind_of(&affinity->graph) : IKT_AFFINITY_GRAPH);
    if (has_free_start(layout) && !settings->input.file[0] && !has_components)
        layout->init = IKT_INIT_RANDOM;
    return IKT_OK;
}

/* gaussian.perplexity, where something reads it: a configuration that is written stays as it was
 * elsewhere. */
static void resolve_perplexity(ikt_context *ctx, const ikt_shape *shape, ikt_recipe *out) {
    ikt_affinity_settings *affinity = &out->settings.affinity;
    const ikt_facts facts = ikt_facts_of(&out->settings, shape);
    out->is_perplexity_auto = affinity->gaussian.perplexity <= IKT_AUTO_REAL &&
                              ikt_section_is_used(&out->settings, &facts, &ikt_gaussian_section);
    if (out->is_perplexity_auto) ikt_perplexity_resolve(ctx, affinity, shape->data.n);
}

/* How many entries of a matrix of all pairs are used. */
static ikt_status count_pairs(ikt_context *ctx, const ikt_affinity_settings *affinity,
                              ikt_graph_about *about) {
    int64_t k;
    if (!about->is_pairwise) return IKT_OK;
    IKT_TRY(ikt_affinity_resolve(ctx, affinity, about->n, &k));
    about->entries = (affinity->support == IKT_SUPPORT_DENSE ? about->n - 1 : k) * about->n;
    return IKT_OK;
}

/* What follows from a matrix in place of rows: searches are exact. */
static void adopt_matrix(ikt_settings *settings) {
    if (settings->preprocess.metric != IKT_METRIC_PRECOMPUTED) return;
    if (settings->affinity.support != IKT_SUPPORT_DENSE)
        settings->affinity.search = IKT_SEARCH_EXACT;
    if (ikt_affinity_of(&settings->affinity)->scores == IKT_SCORES_CODES)
        settings->isolation.search = IKT_CELLS_EXACT;
}

/* --- numbers of rows and columns -------------------------------------------------------------- */

static ikt_status check_columns(ikt_context *ctx, const ikt_settings *s, const ikt_shape *shape) {
    const long long n = (long long)shape->data.n, d = (long long)shape->data.d;
    if (s->preprocess.metric == IKT_METRIC_PRECOMPUTED && shape->has_rows && n != d)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; preprocess.metric = precomputed needs "
                        "a square matrix, of the distances of all pairs of rows",
                        shape->name, n, d);
    if (d > 0)
        IKT_TRY(ikt_preprocess_check(ctx, &s->preprocess, shape->name, shape->data.d,
                                     shape->is_stored_sparse));
    if (shape->model_columns == 0) return IKT_OK;
    return ikt_check_model_columns(ctx, shape->model_name, shape->model_columns, shape->name,
                                   shape->data.d);
}

static ikt_status check_rows(ikt_context *ctx, const ikt_settings *s, const ikt_recipe *recipe,
                             int64_t n) {
    int64_t m;
    if (recipe->graph.n > 0)
        IKT_TRY(ikt_check_graph_rows(ctx, recipe->graph.name, recipe->graph.n, n));
    if (recipe->start_rows > 0)
        IKT_TRY(ikt_check_start(ctx, &s->layout, recipe->start_rows, recipe->start_dimensions, n));
    if (!ikt_settings_has_kernel_map(s)) return IKT_OK;
    return ikt_kernel_landmarks(ctx, &s->kernel, n, &m);
}

/* What only the resolved numbers tell. */
static ikt_status check_batch(ikt_context *ctx, const ikt_workload *w) {
    const ikt_layout_settings *layout = &w->settings.layout;
    const int64_t entries = w->is_dense ? w->data.n - 1 : w->k;
    if (layout->batch_rows == IKT_AUTO_INT || w->scores == IKT_SCORES_NONE) return IKT_OK;
    return ikt_batch_check(ctx, layout->batch_neighbours, entries);
}

/* LOCAL. Refuses landmarks that cannot be embedded, as a run of their own. */
static ikt_status check_landmarks(ikt_context *ctx, const ikt_workload *w) {
    if (w->landmarks == 0) return IKT_OK;
    IKT_ARRAYS(held, ctx, "recipe");
    ikt_workload *of_landmarks = ikt_claim(&held, 1, sizeof *of_landmarks);
    IKT_TRY(held.status);
    return ikt_workload_of_landmarks(ctx, w, of_landmarks);
}

/* What the rows decide, and what they refuse. */
static ikt_status make_work(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_data_shape *data, int ranks, int threads, ikt_workload *out) {
    IKT_TRY(ikt_workload_make(ctx, settings, data, ranks, threads, out));
    IKT_TRY(check_batch(ctx, out));
    return check_landmarks(ctx, out);
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_recipe_check_settings(ikt_context *ctx, const ikt_settings *given) {
    ikt_settings settings = *given;
    adopt_similarities(&settings);
    IKT_TRY(ikt_preset_trim(ctx, &settings, NULL));
    return ikt_preset_name(ctx, &settings, ikt_rules_check(ctx, &settings, NULL));
}

static ikt_status make(ikt_context *ctx, const ikt_settings *given, const ikt_shape *shape,
                       int ranks, int threads, ikt_recipe *out) {
    ikt_settings *settings = &out->settings;
    ikt_data_shape data = shape->data;
    *settings = *given;
    out->graph = shape->graph;
    out->has_labels = !shape->is_unlabelled;
    out->start_rows = shape->start_rows;
    out->start_dimensions = shape->start_dimensions;
    adopt_similarities(settings);
    IKT_TRY(adopt_graph(ctx, settings, &out->graph));
    IKT_TRY(ikt_preset_trim(ctx, settings, shape));
    IKT_TRY(ikt_rules_check(ctx, settings, shape));
    IKT_TRY(ikt_unused_check(ctx, settings, shape));
    resolve_perplexity(ctx, shape, out);
    IKT_TRY(count_pairs(ctx, &settings->affinity, &out->graph));
    IKT_TRY(ikt_check_time(ctx, &settings->run));
    IKT_TRY(check_columns(ctx, settings, shape));
    /* How many rows are left, only their values tell (ikt_recipe_fit). */
    if (settings->preprocess.missing != IKT_MISSING_DROP)
        IKT_TRY(check_rows(ctx, settings, out, data.n));
    else if (out->start_rows > 0)
        IKT_TRY(ikt_check_start(ctx, &settings->layout, out->start_rows, out->start_dimensions,
                                out->start_rows));
    adopt_matrix(settings);
    data.is_sparse = shape->is_stored_sparse && settings->preprocess.pca == 0;
    data.graph_entries = out->graph.entries;
    data.graph_is_ordered = out->graph.is_ordered;
    IKT_TRY(make_work(ctx, settings, &data, ranks, threads, &out->work));
    const ikt_facts facts = ikt_facts_of(&out->work.settings, shape);
    return ikt_steps_find(ctx, &out->work.settings, &facts,
                          ikt_steps_wanted(&out->work.settings, &facts), &out->steps);
}

ikt_status ikt_recipe_make(ikt_context *ctx, const ikt_settings *given, const ikt_shape *shape,
                           int ranks, int threads, ikt_recipe *out) {
    return ikt_preset_name(ctx, given, make(ctx, given, shape, ranks, threads, out));
}

ikt_status ikt_recipe_fit(ikt_context *ctx, ikt_recipe *recipe, int64_t n, ikt_type type,
                          ikt_settings *settings) {
    ikt_workload *work = &recipe->work;
    ikt_data_shape data = work->data;
    if (recipe->is_perplexity_auto && n != data.n) {
        settings->affinity.gaussian.perplexity = IKT_AUTO_REAL;
        ikt_perplexity_resolve(ctx, &settings->affinity, n);
    }
    data.n = n;
    data.type = type;
    ikt_status st = check_rows(ctx, settings, recipe, n);
    if (st == IKT_OK) st = make_work(ctx, settings, &data, work->ranks, work->threads, work);
    return ikt_preset_name(ctx, settings, st);
}
