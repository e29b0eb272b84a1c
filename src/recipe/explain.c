/* What goes together, by asking. See recipe.h. */
#include "recipe/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"

enum { ROWS = 1000, COLUMNS = 10, ASSIGNMENT = 64 };

/* Rows with labels, and of what kind they are. */
static ikt_shape rows_of(bool is_sparse, int64_t columns) {
    return (ikt_shape){.data = {.n = ROWS,
                                .d = columns,
                                .type = IKT_TYPE_F32,
                                .is_sparse = is_sparse,
                                .entries = is_sparse ? 3 : 0},
                       .has_rows = true,
                       .is_stored_sparse = is_sparse,
                       .name = "the data"};
}

static ikt_shape graph_of(bool is_pairwise) {
    return (ikt_shape){.data = {.n = ROWS, .type = IKT_TYPE_F32},
                       .graph = {.n = ROWS,
                                 .entries = 10 * ROWS,
                                 .is_pairwise = is_pairwise,
                                 .name = "the graph",
                                 .values = "distances"},
                       .name = "the graph"};
}

/* A recipe on such inputs with settings that differ from the defaults by some assignments, divided
 * by blanks. */
static ikt_status attempt(ikt_context *ctx, const ikt_shape *shape, const char *assignments) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char one[ASSIGNMENT];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    for (const char *at = assignments; *at;) {
        const size_t length = strcspn(at, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, at);
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, one));
        at += length + strspn(at + length, " ");
    }
    IKT_ARRAYS(held, ctx, "recipe");
    ikt_recipe *recipe = ikt_claim(&held, 1, sizeof *recipe);
    IKT_TRY(held.status);
    return ikt_recipe_make(ctx, &settings, shape, 1, 1, recipe);
}

/* Whether such a run is possible. */
static bool allows(ikt_context *ctx, const ikt_shape *shape, const char *assignments) {
    const ikt_status st = attempt(ctx, shape, assignments);
    ikt_clear(ctx);
    return st == IKT_OK;
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char *objective_name(int k) {
    return ikt_objective_kind_of((ikt_objective_name)k)->name;
}

static void add_head(ikt_text *text, const char *first) {
    ikt_text_add(text, "| %s |", first);
    for (int k = 0; k < IKT_OBJECTIVES; k++)
        ikt_text_add(text, " %s |", objective_name(k));
    ikt_text_add(text, "\n|---|");
    for (int k = 0; k < IKT_OBJECTIVES; k++)
        ikt_text_add(text, "---|");
    ikt_text_add(text, "\n");
}

/* A line of a table: for each objective whether something goes with it. */
static void add_line(ikt_text *text, const char *name, const ikt_shape *shape,
                     const char *assignments) {
    char all[4 * ASSIGNMENT];
    ikt_text_add(text, "| %s |", name);
    for (int k = 0; k < IKT_OBJECTIVES; k++) {
        snprintf(all, sizeof all, "layout.objective=%s %s", objective_name(k), assignments);
        ikt_text_add(text, " %s |", allows(text->ctx, shape, all) ? "yes" : "");
    }
    ikt_text_add(text, "\n");
}

static void add_objectives(ikt_text *text) {
    static const char *const needs[] = {"P", "lists of neighbours", "codes", "labels",
                                        "what any two rows are compared by"};
    static const char *const placed[] = {[IKT_PLACES_NOTHING] = "",
                                         [IKT_PLACES_BY_KERNEL] = "by the kernel of t-SNE",
                                         [IKT_PLACES_BY_TRIPLETS] = "by triplets"};
    ikt_text_add(text, "| layout.objective | takes | own section | new rows are placed |\n"
                       "|---|---|---|---|\n");
    for (int k = 0; k < IKT_OBJECTIVES; k++) {
        const ikt_objective_kind *kind = ikt_objective_kind_of((ikt_objective_name)k);
        const char *way = placed[kind->places];
        if (!way[0] && ikt_start_kind_of(kind->start)->of_similarities)
            way = "by similarities to landmarks";
        ikt_text_add(text, "| %s | %s", kind->name, kind->is_start ? "its start" : "");
        for (int n = 0, count = kind->is_start; n < (int)(sizeof needs / sizeof *needs); n++)
            if (kind->needs & 1u << n) ikt_text_add(text, "%s%s", count++ ? ", " : "", needs[n]);
        ikt_text_add(text, " | %s | %s |\n", kind->section ? kind->section->name : "", way);
    }
}

static void add_affinities(ikt_text *text) {
    static const char *const support[] = {"sparse", "dense", "whole"};
    const ikt_shape rows = rows_of(false, COLUMNS);
    char name[ASSIGNMENT], assignments[2 * ASSIGNMENT];
    add_head(text, "affinity.kind, affinity.support");
    for (int a = 0; a < IKT_AFFINITIES; a++)
        for (int s = 0; s < 3; s++) {
            const char *kind = ikt_affinity_kind_of((ikt_affinity_name)a)->name;
            if (a == IKT_AFFINITY_GRAPH) continue; /* an input, below */
            snprintf(name, sizeof name, "%s, %s", kind, support[s]);
            snprintf(assignments, sizeof assignments, "affinity.kind=%s affinity.support=%s", kind,
                     support[s]);
            add_line(text, name, &rows, assignments);
        }
}

static void add_starts(ikt_text *text) {
    const ikt_shape rows = rows_of(false, COLUMNS);
    char assignments[2 * ASSIGNMENT];
    add_head(text, "layout.init");
    for (int i = IKT_INIT_PCA; i < IKT_INITS; i++) {
        const char *name = ikt_start_kind_of((ikt_layout_init)i)->name;
        snprintf(assignments, sizeof assignments, "layout.init=%s%s", name,
                 i == IKT_INIT_FILE ? " layout.init_file=map.h5" : "");
        add_line(text, name, &rows, assignments);
    }
}

static void add_inputs(ikt_text *text) {
    const ikt_shape dense = rows_of(false, COLUMNS), sparse = rows_of(true, COLUMNS);
    const ikt_shape matrix = rows_of(false, ROWS), edges = graph_of(false), pairs = graph_of(true);
    add_head(text, "input");
    add_line(text, "rows, dense", &dense, "");
    add_line(text, "rows, sparse", &sparse, "");
    add_line(text, "rows without labels",
             &(ikt_shape){.data = dense.data, .has_rows = true, .is_unlabelled = true}, "");
    add_line(text, "a matrix of distances (preprocess.metric=precomputed)", &matrix,
             "preprocess.metric=precomputed");
    add_line(text, "a matrix of similarities (input.similarities)", &matrix,
             "input.similarities=K.npy");
    add_line(text, "a sparse graph alone (input.graph)", &edges, "input.graph=graph.h5");
    add_line(text, "distances of all pairs (input.graph)", &pairs, "input.graph=distances.npy");
    ikt_text_add(text, "\nOutputs, of dense rows:\n\n");
    add_head(text, "output");
    add_line(text, "output.model", &dense, "output.model=m.h5");
    add_line(text, "output.graph", &dense, "output.graph=g.h5");
    add_line(text, "layout.eigengap", &dense, "layout.eigengap=absolute");
    add_line(text, "layout.batch_rows", &dense, "layout.batch_rows=100");
}

void ikt_methods_describe(ikt_text *text) {
    add_objectives(text);
    ikt_text_add(text, "\nWhich affinity and which form of P go with an objective (everything else "
                       "at its default):\n\n");
    add_affinities(text);
    ikt_text_add(text, "\nWhich starts:\n\n");
    add_starts(text);
    ikt_text_add(text, "\nWhich inputs, with the default affinity:\n\n");
    add_inputs(text);
}
