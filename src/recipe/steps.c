/* The table of steps, and those of a run. See steps.h. */
#include "recipe/steps.h"

/* A line: what it takes, makes, is counted under; what it does, and the facts that it needs. */
/* clang-format off */
static const ikt_step table[IKT_STEPS] = {
    [IKT_STEP_READ] = {"read", 0, IKT_VALUE_ROWS, IKT_STAGE_PREPROCESS,
        "rows of the file, brought to scale and reduced", {IKT_FACT_ROWS}},
    [IKT_STEP_LABELS] = {"labels", 0, IKT_VALUE_LABELS, IKT_STAGE_READ,
        "classes of the rows", {IKT_NOT(IKT_FACT_UNLABELLED)}},
    [IKT_STEP_LANDMARKS] = {"landmarks", IKT_VALUE_ROWS, IKT_VALUE_LANDMARKS, IKT_STAGE_LANDMARKS,
        "a map of some rows, by steps of its own",
        {IKT_FACT_START_LANDMARKS, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_CODE] = {"code", IKT_VALUE_ROWS, IKT_VALUE_CODES, IKT_STAGE_CODES,
        "the cell of each row in each partitioning", {IKT_FACT_BY_CODES, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_SEARCH_CODES] = {"search", IKT_VALUE_CODES, IKT_VALUE_LISTS, IKT_STAGE_NEIGHBOURS,
        "the most similar rows, by the share of equal cells",
        {IKT_FACT_BY_CODES, IKT_FACT_SPARSE, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_SEARCH_CLASSES] = {"search", IKT_VALUE_ROWS | IKT_VALUE_LABELS, IKT_VALUE_LISTS,
        IKT_STAGE_NEIGHBOURS,
        "the nearest rows, by distances that follow labels", {IKT_FACT_BY_CLASSES}},
    [IKT_STEP_SEARCH_MATRIX] = {"search", 0, IKT_VALUE_LISTS, IKT_STAGE_NEIGHBOURS,
        "the nearest rows, in a matrix of all pairs", {IKT_FACT_PAIRS_GRAPH, IKT_FACT_SPARSE}},
    [IKT_STEP_SEARCH_PAIRS] = {"search", IKT_VALUE_ROWS, IKT_VALUE_LISTS, IKT_STAGE_NEIGHBOURS,
        "the nearest rows, by the distances that the input has",
        {IKT_FACT_BY_DISTANCES, IKT_FACT_SPARSE, IKT_FACT_MATRIX}},
    [IKT_STEP_SEARCH_ROWS] = {"search", IKT_VALUE_ROWS, IKT_VALUE_LISTS, IKT_STAGE_NEIGHBOURS,
        "the nearest rows, by distances",
        {IKT_FACT_BY_DISTANCES, IKT_FACT_SPARSE, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_JOIN] = {"join", 0, IKT_VALUE_FEATURES, IKT_STAGE_GRAPH,
        "the pairs of rows that a graph joins", {IKT_FACT_SPARSE_GRAPH}},
    [IKT_STEP_EDGES] = {"weigh", 0, IKT_VALUE_WEIGHTS, IKT_STAGE_AFFINITY,
        "affinities of the edges of a graph", {IKT_FACT_SPARSE_GRAPH}},
    [IKT_STEP_KEEP] = {"keep", IKT_VALUE_LISTS, IKT_VALUE_NEIGHBOURS, IKT_STAGE_AFFINITY,
        "the lists with their scores, for the objective", {IKT_NOT(IKT_FACT_SPARSE_GRAPH)}},
    [IKT_STEP_WEIGH] = {"weigh", IKT_VALUE_LISTS, IKT_VALUE_WEIGHTS, IKT_STAGE_AFFINITY,
        "affinities of the listed rows", {IKT_FACT_SPARSE}},
    [IKT_STEP_FILL_MATRIX] = {"fill", 0, IKT_VALUE_P, IKT_STAGE_AFFINITY,
        "the dense P of a matrix of all pairs", {IKT_FACT_DENSE, IKT_FACT_PAIRS_GRAPH}},
    [IKT_STEP_FILL_CODES] = {"fill", IKT_VALUE_CODES, IKT_VALUE_P, IKT_STAGE_AFFINITY,
        "the dense P of all pairs of codes", {IKT_FACT_DENSE, IKT_FACT_BY_CODES}},
    [IKT_STEP_FILL_PAIRS] = {"fill", IKT_VALUE_ROWS, IKT_VALUE_P, IKT_STAGE_AFFINITY,
        "the dense P of the distances that the input has",
        {IKT_FACT_DENSE, IKT_FACT_BY_DISTANCES, IKT_FACT_MATRIX}},
    [IKT_STEP_FILL_ROWS] = {"fill", IKT_VALUE_ROWS, IKT_VALUE_P, IKT_STAGE_AFFINITY,
        "the dense P of all pairs of rows", {IKT_FACT_DENSE, IKT_FACT_BY_DISTANCES}},
    [IKT_STEP_WHOLE] = {"cells", IKT_VALUE_CODES, IKT_VALUE_P, IKT_STAGE_AFFINITY,
        "the whole kernel, as the rows of each cell", {IKT_FACT_WHOLE}},
    [IKT_STEP_COMPARE_DISTANCES] = {"compare", 0, IKT_VALUE_FEATURES, IKT_STAGE_READ,
        "the matrix of distances by which any two rows are compared",
        {IKT_FACT_PAIRS_GRAPH, IKT_FACT_EDGE_DISTANCES}},
    [IKT_STEP_COMPARE_SIMILARITIES] = {"compare", 0, IKT_VALUE_FEATURES, IKT_STAGE_READ,
        "the matrix of similarities by which any two rows are compared", {IKT_FACT_PAIRS_GRAPH}},
    [IKT_STEP_COMPARE_CODES] = {"compare", IKT_VALUE_CODES, IKT_VALUE_FEATURES, IKT_STAGE_AFFINITY,
        "the codes by which any two rows are compared, and rows far from all", {IKT_FACT_BY_CODES}},
    [IKT_STEP_COMPARE_PAIRS] = {"compare", IKT_VALUE_ROWS, IKT_VALUE_FEATURES, IKT_STAGE_READ,
        "the distances that the input has, by which any two rows are compared", {IKT_FACT_MATRIX}},
    [IKT_STEP_COMPARE_ROWS] = {"compare", IKT_VALUE_ROWS, IKT_VALUE_FEATURES, IKT_STAGE_READ,
        "the rows, any two of which are compared", {IKT_FACT_ROWS}},
    [IKT_STEP_SYMMETRISE] = {"symmetrise", IKT_VALUE_WEIGHTS, IKT_VALUE_P, IKT_STAGE_GRAPH,
        "the sparse P, of both directions of each pair", {IKT_FACT_SPARSE}},
    [IKT_STEP_EIGENVECTORS] = {"eigenvectors", IKT_VALUE_P, IKT_VALUE_EIGENVECTORS,
        IKT_STAGE_SPECTRUM, "eigenvectors and least eigenvalues of P", {IKT_FACT_SPECTRUM}},
    [IKT_STEP_START_SEPARATED] = {"start", IKT_VALUE_ROWS | IKT_VALUE_LABELS, IKT_VALUE_POSITIONS,
        IKT_STAGE_PCA, "a map of similarities that tells labels apart", {IKT_FACT_START_LABELS}},
    [IKT_STEP_START_KERNEL] = {"start", IKT_VALUE_ROWS, IKT_VALUE_POSITIONS, IKT_STAGE_PCA,
        "a map of similarities", {IKT_FACT_KERNEL_MAP}},
    [IKT_STEP_START_EIGENVECTORS] = {"start", IKT_VALUE_EIGENVECTORS, IKT_VALUE_POSITIONS,
        IKT_STAGE_SPECTRUM, "eigenvectors of P", {IKT_FACT_START_P}},
    [IKT_STEP_START_LANDMARK_CODES] = {"start", IKT_VALUE_LANDMARKS | IKT_VALUE_CODES,
        IKT_VALUE_POSITIONS, IKT_STAGE_LANDMARKS,
        "positions among the landmarks that a row is most similar to",
        {IKT_FACT_START_LANDMARKS, IKT_FACT_BY_CODES, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_START_LANDMARK_ROWS] = {"start", IKT_VALUE_LANDMARKS, IKT_VALUE_POSITIONS,
        IKT_STAGE_LANDMARKS, "positions among the landmarks that a row is nearest to",
        {IKT_FACT_START_LANDMARKS, IKT_NOT(IKT_FACT_GRAPH)}},
    [IKT_STEP_START_KEPT_SCORES] = {"start", 0, IKT_VALUE_POSITIONS, IKT_STAGE_READ,
        "principal components that the graph keeps", {IKT_FACT_START_KEPT, IKT_FACT_START_PCA}},
    [IKT_STEP_START_KEPT_PLACES] = {"start", 0, IKT_VALUE_POSITIONS, IKT_STAGE_READ,
        "positions among landmarks that the graph keeps", {IKT_FACT_START_KEPT}},
    [IKT_STEP_START_PCA] = {"start", IKT_VALUE_ROWS, IKT_VALUE_POSITIONS, IKT_STAGE_PCA,
        "principal components of the rows", {IKT_FACT_START_PCA}},
    [IKT_STEP_START_FILE] = {"start", 0, IKT_VALUE_POSITIONS, IKT_STAGE_READ,
        "positions of a file", {IKT_FACT_START_FILE}},
    [IKT_STEP_START_RANDOM] = {"start", 0, IKT_VALUE_POSITIONS, IKT_STAGE_READ,
        "random positions", {IKT_FACT_END}},
    [IKT_STEP_LOOP_FROM_TSNE] = {"loop", IKT_VALUE_POSITIONS, IKT_VALUE_MAP, IKT_STAGE_LAYOUT,
        "the map of t-SNE, and from there that of the objective", {IKT_FACT_BEGINS_WITH_TSNE}},
    [IKT_STEP_LOOP] = {"loop", IKT_VALUE_POSITIONS, IKT_VALUE_MAP, IKT_STAGE_LAYOUT,
        "the map, along the gradient of the objective", {IKT_FACT_END}}};
/* clang-format on */

const ikt_step *ikt_step_of(ikt_step_id id) {
    return &table[id];
}

const char *ikt_value_name(ikt_value value) {
    static const char *const names[IKT_VALUES] = {"rows",     "labels",       "landmarks", "codes",
                                                  "lists",    "neighbours",   "weights",   "P",
                                                  "features", "eigenvectors", "positions", "map"};
    int v = 0;
    while (v < IKT_VALUES - 1 && !((unsigned)value & 1u << v))
        v++;
    return names[v];
}

bool ikt_steps_have(const ikt_steps *steps, ikt_step_id id) {
    for (int s = 0; s < steps->count; s++)
        if (steps->id[s] == id) return true;
    return false;
}

bool ikt_steps_make(const ikt_steps *steps, unsigned values) {
    for (int s = 0; s < steps->count; s++)
        if (table[steps->id[s]].makes & values) return true;
    return false;
}

/* What the loop takes, beside positions. */
static unsigned wanted_by(const ikt_objective_kind *kind) {
    static const struct {
        ikt_objective_need need;
        ikt_value value;
    } needs[] = {{IKT_NEEDS_P, IKT_VALUE_P},
                 {IKT_NEEDS_NEIGHBOURS, IKT_VALUE_NEIGHBOURS},
                 {IKT_NEEDS_CODES, IKT_VALUE_CODES},
                 {IKT_NEEDS_LABELS, IKT_VALUE_LABELS},
                 {IKT_NEEDS_FEATURES, IKT_VALUE_FEATURES}};
    unsigned wanted = 0;
    for (size_t n = 0; n < sizeof needs / sizeof *needs; n++)
        if (kind->needs & needs[n].need) wanted |= needs[n].value;
    return wanted;
}

/* The first step that makes a value and whose facts hold; IKT_STEPS: none. */
static ikt_step_id maker_of(unsigned value, const ikt_facts *facts) {
    int s = 0;
    for (; s < IKT_STEPS; s++) {
        if (table[s].makes == (ikt_value)value && ikt_facts_hold(facts, table[s].when)) break;
    }
    return (ikt_step_id)s;
}

/* What facts add to that, and take away from it. */
static const struct {
    int16_t when[4];
    unsigned with, without;
} other[] = {
    /* Pairs that a graph joins stand for lists, too. */
    {{IKT_FACT_SPARSE_GRAPH}, 0, IKT_VALUE_NEIGHBOURS},
    {{IKT_FACT_SPECTRUM}, IKT_VALUE_EIGENVECTORS, 0},
    {{IKT_FACT_MODEL, IKT_FACT_BY_CODES, IKT_NOT(IKT_FACT_KERNEL_STANDS)}, IKT_VALUE_CODES, 0}};

unsigned ikt_steps_wanted(const ikt_settings *settings, const ikt_facts *facts) {
    unsigned wanted = IKT_VALUE_MAP | wanted_by(ikt_layout_objective(&settings->layout));
    for (size_t o = 0; o < sizeof other / sizeof *other; o++)
        if (ikt_facts_hold(facts, other[o].when))
            wanted = (wanted | other[o].with) & ~other[o].without;
    return wanted;
}

ikt_status ikt_steps_find(ikt_context *ctx, const ikt_settings *settings, const ikt_facts *facts,
                          unsigned wanted, ikt_steps *out) {
    unsigned made = 0;
    bool is_chosen[IKT_STEPS] = {false};
    while (wanted & ~made) {
        unsigned value = 1;
        while (!(wanted & ~made & value))
            value <<= 1;
        const ikt_step_id id = maker_of(value, facts);
        if (id == IKT_STEPS)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "the %s that layout.objective=%s or its start needs are made by no "
                            "step with this input: iktsne embed --list-methods prints what goes "
                            "together",
                            ikt_value_name((ikt_value)value),
                            ikt_layout_objective(&settings->layout)->name);
        is_chosen[id] = true;
        made |= value;
        wanted |= table[id].takes;
    }
    out->count = 0;
    for (int s = 0; s < IKT_STEPS; s++)
        if (is_chosen[s]) out->id[out->count++] = (ikt_step_id)s;
    return IKT_OK;
}
