/* What does not go together in a run. Rules of single methods stand in their own files. */
#include "base/memory.h"
#include "recipe/facts.h"

/* Reasons against similarities in place of rows with coordinates, and against distances or
 * similarities, where some facts hold. */
#define NOT_OF_SIMILARITIES(reason, ...)                                                           \
    {                                                                                              \
        {IKT_FACT_SIMILARITIES, __VA_ARGS__},                                                      \
            reason ", and input.similarities gives similarities only: leave it out", IKT_ERR_USAGE \
    }

#define NOT_OF_MATRIX(reason, ...)                                                                 \
    NOT_OF_SIMILARITIES(reason, IKT_FACT_MATRIX, __VA_ARGS__), {                                   \
        {IKT_FACT_MATRIX, __VA_ARGS__},                                                            \
            reason ", and preprocess.metric = precomputed gives distances only: leave it out",     \
            IKT_ERR_USAGE                                                                          \
    }

static const ikt_rule rules[] = {
    /* --- the input --- */
    NOT_OF_SIMILARITIES("input.graph is another input", IKT_FACT_GRAPH),
    NOT_OF_SIMILARITIES("raw numbers have no labels beside", IKT_FACT_RAW),
    NOT_OF_SIMILARITIES("input.rows would leave columns without their rows", IKT_FACT_SOME_ROWS),
    NOT_OF_SIMILARITIES("input.skip_columns and input.transposed are for rows of a table",
                        IKT_FACT_TABLE_KEYS),
    NOT_OF_SIMILARITIES("preprocess.missing fills in columns of rows with coordinates",
                        IKT_FACT_FILLED),
    NOT_OF_SIMILARITIES("preprocess.pca reduces rows with coordinates (take kpca)",
                        IKT_FACT_REDUCED),
    NOT_OF_SIMILARITIES("preprocess.normalise scales the columns of rows with coordinates",
                        IKT_FACT_SCALED),
    NOT_OF_SIMILARITIES("preprocess.metric is a distance of rows with coordinates",
                        IKT_FACT_OTHER_METRIC),
    NOT_OF_SIMILARITIES(
        "layout.objective = {layout.objective} needs rows with coordinates (take kpca)",
        IKT_FACT_STANDS, IKT_NOT(IKT_FACT_TAKES_P), IKT_NOT(IKT_FACT_KERNEL_MAP)),
    NOT_OF_SIMILARITIES("layout.init = pca needs rows with coordinates (take kpca or random)",
                        IKT_FACT_START_PCA),
    NOT_OF_SIMILARITIES(
        "layout.init = landmark places rows by their coordinates (take kpca or random)",
        IKT_FACT_START_LANDMARKS),
    {{IKT_FACT_GRAPH_KIND, IKT_NOT(IKT_FACT_GRAPH)},
     "affinity.kind = graph, but input.graph is not set: name the file with the graph",
     IKT_ERR_USAGE},
    {{IKT_FACT_SPARSE_GRAPH, IKT_FACT_DENSE},
     "affinity.support = dense needs every pair; this graph (input.graph) is sparse",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_SOME_ROWS},
     "input.rows does not go with input.graph, whose rows belong together",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_MODEL},
     "output.model does not go with input.graph: keep the model in the run that makes the graph",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_MEASURES_ALL, IKT_NOT(IKT_FACT_FILE)},
     "output.measures = all compares with the data: give input.file, or take output.measures=map",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_START_LANDMARKS, IKT_NOT(IKT_FACT_GRAPH_LANDMARKS)},
     "layout.init = landmark needs a kernel, or a graph that was kept by such a run in as many "
     "dimensions; with input.graph take pca, random or file",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_STANDS, IKT_NOT(IKT_FACT_TAKES_P), IKT_NOT(IKT_FACT_KERNEL_MAP),
      IKT_NOT(IKT_FACT_ROWS)},
     "layout.objective={layout.objective} is the map of the principal components of the rows: "
     "leave layout.init and init_file out, and give the rows as input.file",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH, IKT_FACT_START_PCA, IKT_NOT(IKT_FACT_FILE),
      IKT_NOT(IKT_FACT_GRAPH_COMPONENTS)},
     "layout.init = pca needs the rows, or a graph that was kept by a run that began so in "
     "{layout.dimensions} dimensions: give input.file, or take random or file",
     IKT_ERR_USAGE},
    {{IKT_FACT_PAIRS_GRAPH, IKT_FACT_EDGES_ALIKE},
     "graph.values = none would make all pairs of {graph} count the same: say what the numbers are",
     IKT_ERR_USAGE},
    {{IKT_FACT_PAIRS_GRAPH, IKT_FACT_EDGE_PROBABILITIES, IKT_NOT(IKT_FACT_DENSE), IKT_FACT_TAKES_P},
     "{graph} holds the probabilities of all pairs, which are used as they are: give "
     "affinity.support=dense",
     IKT_ERR_USAGE},
    {{IKT_FACT_PAIRS_GRAPH, IKT_NOT(IKT_FACT_EDGE_DISTANCES), IKT_NOT(IKT_FACT_GRAPH_KIND)},
     "affinity.kind = {affinity.kind} makes similarities of distances, and {graph} does not hold "
     "distances: leave affinity.kind out",
     IKT_ERR_USAGE},
    {{IKT_FACT_SPARSE_GRAPH, IKT_NOT(IKT_FACT_KEPT_GRAPH), IKT_NOT(IKT_FACT_GRAPH_KIND)},
     "affinity.kind = {affinity.kind} does not go with input.graph, which stands in place of a "
     "kernel; distances get Gaussian weights by graph.values=distances with gaussian.perplexity",
     IKT_ERR_USAGE},
    /* --- what becomes of the rows --- */
    {{IKT_FACT_DROPPED, IKT_FACT_HOST},
     "preprocess.missing: drop is for files: the embedding of rows in memory has a place for each "
     "of them; take mean or median, or leave these rows out",
     IKT_ERR_USAGE},
    {{IKT_FACT_FILLED, IKT_FACT_OTHER_MODEL},
     "preprocess.missing does not go with isolation.model_from, as it would fill the two data sets "
     "by different values; fill them beforehand",
     IKT_ERR_USAGE},
    {{IKT_FACT_FILLED, IKT_FACT_SPARSE_INPUT},
     "preprocess.missing is for dense rows, and {input} is sparse: what is not there counts as 0",
     IKT_ERR_USAGE},
    {{IKT_FACT_SIMILARITIES, IKT_FACT_SPARSE_INPUT},
     "{input} is sparse, and input.similarities needs the similarities of all pairs; a graph of "
     "neighbours is given by input.graph",
     IKT_ERR_DATA},
    {{IKT_FACT_MATRIX, IKT_FACT_SPARSE_INPUT},
     "{input} is sparse, and preprocess.metric = precomputed needs the distances of all pairs of "
     "rows; a graph of neighbours is given by input.graph",
     IKT_ERR_DATA},
    {{IKT_FACT_OTHER_MODEL, IKT_NOT(IKT_FACT_BY_CODES)},
     "isolation.model_from needs affinity.kind = isolation: other kernels draw no centres",
     IKT_ERR_USAGE},
    {{IKT_FACT_FOREST, IKT_FACT_CODES, IKT_FACT_SPARSE_ROWS},
     "isolation.form: forest needs dense rows, and these are sparse; take isolation.form=voronoi",
     IKT_ERR_USAGE},
    NOT_OF_MATRIX("output.model keeps the coordinates of rows or centres", IKT_FACT_MODEL,
                  IKT_NOT(IKT_FACT_BY_CLASSES), IKT_NOT(IKT_FACT_KERNEL_STANDS)),
    NOT_OF_MATRIX("isolation.model_from names rows of another file", IKT_FACT_OTHER_MODEL),
    NOT_OF_MATRIX("input.graph takes the place of the distances", IKT_FACT_GRAPH),
    NOT_OF_MATRIX("layout.init = landmark places rows by their coordinates",
                  IKT_FACT_START_LANDMARKS),
    NOT_OF_MATRIX("isolation.form = forest splits columns", IKT_FACT_FOREST),
    NOT_OF_MATRIX("affinity.search = approximate looks into cells of near coordinates",
                  IKT_FACT_SEARCH_NEAR),
    NOT_OF_MATRIX("isolation.search = approximate looks into cells of near coordinates",
                  IKT_FACT_CELLS_NEAR),
    /* --- the form of P --- */
    {{IKT_FACT_WHOLE, IKT_FACT_GRAPH},
     "affinity.support = whole works on the cell codes of the rows, which input.graph does not "
     "hold: take affinity.support=sparse",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_NOT(IKT_FACT_BY_CODES)},
     "affinity.support = whole needs affinity.kind = isolation: only that kernel is a sum over "
     "cells",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_GRAPH_WRITTEN},
     "output.graph needs affinity.support = sparse: the whole kernel is never held as a graph",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_TAKES_LISTS},
     "layout.objective={layout.objective} works on lists of neighbours, which "
     "affinity.support=whole does not give",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_TAKES_P, IKT_NOT(IKT_FACT_TAKES_PARTS)},
     "affinity.support = whole does not go with layout.objective={layout.objective}: its "
     "attraction is not in proportion to P, so that the parts of P that iterations draw would not "
     "add up to it; take {any:parts}",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_NOT(IKT_FACT_TAKES_P)},
     "affinity.support = whole is a form of P, which layout.objective={layout.objective} makes no "
     "use of: take affinity.support=sparse",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_SPECTRUM},
     "{spectrum} needs affinity.support = sparse or dense: eigenvectors take products with P, "
     "which the whole kernel is never held as",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_STOPS_ITSELF},
     "affinity.support = whole needs layout.stop = fixed: the last iterations draw from more "
     "partitionings, and so have to be known beforehand",
     IKT_ERR_USAGE},
    {{IKT_FACT_WHOLE, IKT_FACT_BATCHES},
     "layout.batch_rows moves rows that are near by P, which affinity.support=whole never holds: "
     "take sparse or dense",
     IKT_ERR_USAGE},
    {{IKT_FACT_NEAREST_ONLY, IKT_NOT(IKT_FACT_SPARSE)},
     "affinity.kind={affinity.kind} gives weights to the nearest rows of a row and to no others: "
     "leave affinity.support at sparse",
     IKT_ERR_USAGE},
    {{IKT_FACT_DENSE, IKT_FACT_TAKES_LISTS},
     "layout.objective={layout.objective} works on lists of neighbours, which "
     "affinity.support=dense does not give",
     IKT_ERR_USAGE},
    {{IKT_FACT_DENSE, IKT_FACT_GRAPH_WRITTEN},
     "output.graph needs affinity.support = sparse: a dense P is no graph",
     IKT_ERR_USAGE},
    {{IKT_FACT_GRAPH_WRITTEN, IKT_NOT(IKT_FACT_TAKES_P)},
     "output.graph keeps P, which layout.objective={layout.objective} does not make",
     IKT_ERR_USAGE},
    /* --- the objective, and the start --- */
    {{IKT_FACT_TAKES_CODES, IKT_NOT(IKT_FACT_SPARSE_GRAPH), IKT_NOT(IKT_FACT_BY_CODES)},
     "layout.objective works on the codes of the Isolation kernel, but affinity.kind is "
     "{affinity.kind}; take affinity.kind=isolation",
     IKT_ERR_USAGE},
    {{IKT_FACT_SPARSE_GRAPH, IKT_FACT_TAKES_LISTS, IKT_NOT(IKT_FACT_TAKES_FEATURES)},
     "layout.objective={layout.objective} works on lists of neighbours, which a graph does not "
     "give",
     IKT_ERR_USAGE},
    {{IKT_FACT_EXTENDS, IKT_FACT_STANDS},
     "--extend makes more iterations, and layout.objective={layout.objective} has none to make: "
     "leave it out",
     IKT_ERR_USAGE},
    {{IKT_FACT_TAKES_LABELS, IKT_FACT_UNLABELLED},
     "{labelled} needs labels, and the input has none; name them by input.labels",
     IKT_ERR_DATA},
    {{IKT_FACT_TAKES_LABELS, IKT_FACT_START_LANDMARKS},
     "layout.init = landmark begins at a map of some rows without their labels, which "
     "layout.objective={layout.objective} needs: take pca or random",
     IKT_ERR_USAGE},
    {{IKT_FACT_KERNEL_MAP, IKT_NOT(IKT_FACT_ROWS)},
     "{all:kernel} compare rows, which input.graph alone does not hold: give input.file or "
     "input.similarities",
     IKT_ERR_USAGE},
    {{IKT_FACT_KERNEL_LINEAR, IKT_FACT_MATRIX_OF_SIMILARITIES},
     "kernel.kind = linear takes inner products of rows with coordinates, which a matrix does not "
     "give: leave it out, for the similarities themselves",
     IKT_ERR_USAGE},
    {{IKT_FACT_KERNEL_LINEAR, IKT_FACT_MATRIX},
     "kernel.kind = linear takes inner products of rows with coordinates, which a matrix does not "
     "give: take gaussian or isolation",
     IKT_ERR_USAGE},
    {{IKT_FACT_KERNEL_MAP, IKT_NOT(IKT_FACT_KERNEL_CODES), IKT_FACT_MANHATTAN},
     "kernel.kind = linear and gaussian take inner products of the rows, which "
     "preprocess.metric=manhattan does not go with: take kernel.kind=isolation",
     IKT_ERR_USAGE},
    /* --- a model, by which new rows are placed --- */
    {{IKT_FACT_MODEL, IKT_FACT_SPARSE_ROWS},
     "output.model needs dense rows, and those of {input} are sparse: the file holds centres with "
     "all their columns",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_NOT(IKT_FACT_KERNEL_STANDS), IKT_NOT(IKT_FACT_PLACES_BY_TRIPLETS),
      IKT_NOT(IKT_FACT_PLACES_BY_KERNEL)},
     "output.model does not go with layout.objective = {layout.objective}: new rows are placed by "
     "the kernel of t-SNE, by triplets ({all:triplets}), or in a map of similarities "
     "({all:kernel})",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_KERNEL_STANDS, IKT_FACT_MATRIX, IKT_FACT_KERNEL_GAUSSIAN,
      IKT_FACT_SIMILARITIES},
     "output.model does not go with kernel.kind = gaussian of a matrix: new rows have no "
     "coordinates to be compared with landmarks by; leave it out, for the similarities themselves",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_KERNEL_STANDS, IKT_FACT_MATRIX, IKT_FACT_KERNEL_GAUSSIAN},
     "output.model does not go with kernel.kind = gaussian of a matrix: new rows have no "
     "coordinates to be compared with landmarks by",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_KERNEL_STANDS, IKT_FACT_MATRIX, IKT_FACT_KERNEL_CODES,
      IKT_FACT_SIMILARITIES},
     "output.model does not go with kernel.kind = isolation of a matrix: new rows have no "
     "coordinates to be compared with landmarks by; leave it out, for the similarities themselves",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_KERNEL_STANDS, IKT_FACT_MATRIX, IKT_FACT_KERNEL_CODES},
     "output.model does not go with kernel.kind = isolation of a matrix: new rows have no "
     "coordinates to be compared with landmarks by",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_NOT(IKT_FACT_KERNEL_STANDS), IKT_FACT_PLACES_BY_KERNEL,
      IKT_FACT_BY_DISTANCES},
     "output.model needs affinity.kind = isolation or fisher: only cell codes or the model of the "
     "classes tell where new rows belong",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_FOREST, IKT_FACT_CODES},
     "output.model needs isolation.form = voronoi: the file holds centres of cells, not trees",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_SIMILARITIES, IKT_FACT_SPECTRUM_CHANGED},
     "output.model does not go with input.spectrum = {input.spectrum}: similarities of new rows "
     "are not changed as those of the old ones are; take raw or shift",
     IKT_ERR_USAGE},
    /* --- the run --- */
    {{IKT_FACT_TIME_LIMIT, IKT_NOT(IKT_FACT_CHECKPOINTS)},
     "run.max_time needs a checkpoint to stop with, and run.checkpoint is none",
     IKT_ERR_USAGE},
    {{0}, NULL, IKT_OK}};

/* The first of these rules that holds, or NULL. Without a shape only rules count whose facts the
 * settings alone tell. */
static const ikt_rule *first_of(const ikt_facts *facts, bool has_shape, const ikt_rule *rule) {
    for (; rule && rule->sentence; rule++)
        if (ikt_facts_hold(facts, rule->when) && (has_shape || ikt_facts_are_settings(rule->when)))
            return rule;
    return NULL;
}

/* Refuses the run by the first of these rules that holds. */
static ikt_status check(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape,
                        const ikt_facts *facts, const ikt_rule *all) {
    char *text IKT_AT_END(ikt_free) = NULL;
    const ikt_rule *rule = first_of(facts, shape != NULL, all);
    if (!rule) return IKT_OK;
    IKT_TRY(ikt_sentence_make(ctx, settings, shape, rule->sentence, &text));
    return ikt_fail(ctx, rule->status, "%s", text);
}

ikt_status ikt_rules_check(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape) {
    const ikt_facts facts = ikt_facts_of(settings, shape);
    /* Those of a method know the reason best. */
    IKT_TRY(check(ctx, settings, shape, &facts, ikt_affinity_of(&settings->affinity)->rules));
    IKT_TRY(check(ctx, settings, shape, &facts, ikt_layout_objective(&settings->layout)->rules));
    return check(ctx, settings, shape, &facts, rules);
}
