/* The sections of the configuration that belong to the run as a whole, and the list of all. */
#include "settings/settings.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "cells/cells.h"
#include "config/value.h"
#include "io/formats/reader.h"
#include "isolation/centre_table.h"
#include "isolation/settings.h"
#include "metric/near_bytes.h"

#define ROW(section, ...) IKT_KEY_OF(ikt_##section##_settings, __VA_ARGS__)
#define TEXT(section, name, usual, help)                                                           \
    ROW(section, name, IKT_KEY_STRING, usual, 0, 0, 0, NULL, "", help)
#define SWITCH(section, name, usual, help)                                                         \
    ROW(section, name, IKT_KEY_BOOL, usual, 0, 0, 0, NULL, "", help)
#define CHOICE(section, name, usual, choices, help)                                                \
    ROW(section, name, IKT_KEY_CHOICE, usual, 0, 0, 0, choices, "", help)
#define NUMBER(section, name, type, usual, low, high, is_auto, unit, help)                         \
    ROW(section, name, IKT_KEY_##type, usual, low, high, is_auto, NULL, unit, help)

static const ikt_key input_keys[] = {
    TEXT(input, file, "",
         "The file with the data, which has one row for each point: HDF5, AnnData (.h5ad), MATLAB "
         "7.3, NPY, IDX, CSV or raw numbers. `iktsne convert` makes HDF5 from other files. CSV is "
         "parsed by all ranks, which then hold its numbers in memory; columns of text are left "
         "aside"),
    TEXT(input, dataset, IKT_DATASET_AUTO,
         "The name of the data set, which holds n x d numbers, or of the group of a sparse matrix "
         "(CSR; / if its parts lie at the root). auto is X, but obsm/X_pca of an AnnData file that "
         "has it, which may also hold layers/NAME and raw/X; in a MATLAB file it is the variable. "
         "Of a CSV file or JSON lines it names the columns to embed, by names or numbers from 1 "
         "with commas between; auto is all columns of numbers, or the one of vectors. NPY, IDX and "
         "raw files hold one array only"),
    TEXT(input, graph, "",
         "A neighbour graph that takes the place of the kernel, as FILE or FILE:PATH: a sparse "
         "matrix by rows in an HDF5 file, as AnnData has in obsp, or the output.graph of another "
         "run; or a matrix of all pairs, distances or similarities: a square data set of an HDF5 "
         "file, or an NPY file. input.file may then be left out"),
    TEXT(input, similarities, "",
         "A dense matrix of the similarities of all rows in place of the rows: FILE or "
         "FILE:DATASET of an HDF5 or NPY file, or the name of a data set of input.file. It may be "
         "indefinite; the distances of rows are sqrt(K_ii + K_jj - 2 K_ij), where squares below 0 "
         "count as 0 (docs/kernels.md)"),
    SWITCH(input, symmetrise, "no",
           "Take (K + K^T) / 2 in place of the similarities K; without it K must be symmetric to a "
           "millionth of its largest entry"),
    CHOICE(input, spectrum, "raw", "raw|clip|flip|shift",
           "What becomes of negative eigenvalues of the similarities: raw keeps them, clip sets "
           "them to 0, flip makes them positive, shift adds the least one's magnitude to all "
           "eigenvalues, which adds a constant to squared distances"),
    TEXT(input, labels, "labels",
         "The classes of the rows. They colour the picture and serve the measures, and may be "
         "absent; the embedding does not depend on them unless affinity.kind is fisher or "
         "layout.objective is kda. A label below 0, or an empty name, stands for none (-1 and 1 "
         "alone are two classes). The name is "
         "that of a data set of n integers, of a column of obs (AnnData), of a column of CSV, of a "
         "file (labels.npy, IDX), or FILE.h5:DATASET"),
    TEXT(input, skip_columns, "",
         "The columns of a CSV file that are not embedded: names, or numbers from 1, with commas "
         "between. Columns that begin with text, the names of the rows, and the labels are left "
         "aside in any case"),
    CHOICE(input, delimiter, "auto", IKT_DELIMITER_NAMES,
           "The sign that separates the cells of a CSV file; auto finds it"),
    NUMBER(input, rows, INT, "auto", 2, 1e15, 1, "rows",
           "Use only this many rows, the first of the file; auto uses all"),
    CHOICE(
        input, transposed, "auto", "auto|yes|no",
        "Whether the points are the columns of the array in the file instead of its rows. auto "
        "means no; but a matrix of MATLAB, which is stored by columns, is read as MATLAB shows it"),
    NUMBER(input, columns, INT, "auto", 1, 1e9, 1, "numbers",
           "The numbers in a row of a raw file, which holds nothing but numbers; the size of the "
           "file then gives the number of rows. auto: the file is not raw"),
    CHOICE(input, type, "auto", "auto|" IKT_ELEMENT_NAMES, "The type of the numbers in a raw file"),
    CHOICE(input, byte_order, "little", "little|big",
           "The byte of a number that comes first in a raw file"),
    NUMBER(input, skip, INT, "0", 0, 1e15, 0, "bytes",
           "The bytes before the first number of a raw file")};

static const ikt_section input_section = {"input", "The data", input_keys,
                                          sizeof input_keys / sizeof *input_keys};

static const ikt_key output_keys[] = {
    TEXT(output, file, "",
         "The HDF5 file for the embedding, the trace and the provenance of the run"),
    TEXT(output, picture, "",
         "The file for a picture of the embedding: PNG, or SVG or PDF where the name ends so; "
         "empty or none for no picture"),
    TEXT(output, model, "",
         "The HDF5 file for the model by which `iktsne transform` places new rows: the centres, "
         "the codes of all rows and the embedding (affinity.kind: isolation), or the rows "
         "themselves (other kernels with layout.objective: trimap); empty or none for none"),
    TEXT(output, graph, "",
         "The HDF5 file for the neighbour graph of the run, which further runs read by input.graph "
         "and scipy reads as a sparse matrix; empty or none for none"),
    SWITCH(output, overwrite, "no", "Replace output files that exist"),
    SWITCH(output, state, "yes",
           "Also write the state that --extend goes on from: 12 bytes a row and dimension"),
    CHOICE(output, measures, "map", "none|map|all",
           "The measures that are printed at the end: none; map, those of the embedding and its "
           "labels; or all, which adds those that compare it with the input")};

static const ikt_section output_section = {"output", "What is written", output_keys,
                                           sizeof output_keys / sizeof *output_keys};

const char ikt_preset_names[] =
    "none|quick|paper|large|uniform|umap|largevis|trimap-paper|laptsne|laptsne-paper";

static const ikt_key run_keys[] = {
    CHOICE(
        run, preset, "none", ikt_preset_names,
        "The settings to begin with: quick for a first look, paper for what the Isolation kernel "
        "paper does, large for millions of rows, uniform for equal weights, umap, "
        "largevis and laptsne for the methods of these names, and laptsne-paper and "
        "trimap-paper for what the papers of these methods do. "
        "Every setting that is given wins over the preset. (layout.preset is the schedule of the "
        "iterations alone)"),
    NUMBER(run, seed, INT, "1", 0, 9e15, 0, "",
           "The seed of every random draw. Equal seeds give equal embeddings, bit for bit, on any "
           "number of ranks and threads"),
    NUMBER(run, threads, INT, "auto", 1, IKT_THREADS_MOST, 1, "threads",
           "The OpenMP threads of each rank; auto is one for each processor that the launcher gave "
           "to the rank"),
    TEXT(run, checkpoint, "auto",
         "The folder for checkpoints, which are removed at the end of the run. The same command "
         "goes on from a checkpoint that is there. auto is output.file with .checkpoint behind it, "
         "and none means no checkpoints"),
    NUMBER(run, checkpoint_every, REAL, "15", 0, 1e6, 0, "minutes",
           "The time between two checkpoints; 0 writes one only where a signal or the end of the "
           "time asks for it"),
    TEXT(run, max_time, "auto",
         "The time after which the run stops with a checkpoint and exit code 75, as minutes, "
         "hours:minutes:seconds or another form that Slurm knows. auto is the end of the Slurm "
         "job, and none means no limit"),
    SWITCH(
        run, resume, "yes",
        "Go on from the checkpoint of this run where there is one; no removes it and begins anew"),
    SWITCH(run, checkpoint_keep, "no",
           "Leave the checkpoint behind when the run is done, so that --extend need not compute P "
           "again"),
    CHOICE(run, log, "text", "text|json",
           "The lines of the log on standard error: text, or json, which is one object a line "
           "(docs/logs.md)")};

static const ikt_section run_section = {"run", "The run itself", run_keys,
                                        sizeof run_keys / sizeof *run_keys};

void ikt_output_settle(ikt_output_settings *output) {
    char *const names[] = {output->picture, output->model, output->graph};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++)
        if (strcmp(names[f], "none") == 0) names[f][0] = '\0';
}

bool ikt_run_has_checkpoints(const ikt_run_settings *run) {
    return strcmp(run->checkpoint, "none") != 0;
}

/* --- presets: their values are measured, docs/guide.md has what each costs and gives ---------- */

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
    {"uniform",
     "Equal weights for the 15 nearest rows: nothing to tune but their number, and a P with a "
     "sixth of the Gaussian's entries, which holds no weights (docs/affinities.md)",
     {"affinity.kind=knn", "affinity.neighbours=15", NULL}},
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
    {"trimap-paper",
     "TriMap as its paper has it: similarities of distances scaled by the 10th to 20th nearest "
     "rows, "
     "50 near rows with 10 far rows each and 5 random triplets, weighed by the ratio of the "
     "similarities (docs/trimap.md)",
     {"affinity.kind=knn", "layout.objective=trimap", "layout.learning_rate=0.02",
      "trimap.triplets=fixed", "trimap.neighbours=50", "trimap.outliers=10", "trimap.random=5",
      "trimap.weights=ratio", "trimap.scale_from=10", "trimap.scale_to=20", NULL}},
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

/* --- all of them ------------------------------------------------------------------------------ */

void ikt_settings_parts(ikt_settings *settings, ikt_config_part parts[IKT_SETTINGS_PARTS]) {
    int p = 0;
    parts[p++] = (ikt_config_part){&input_section, &settings->input};
    parts[p++] = (ikt_config_part){&ikt_preprocess_section, &settings->preprocess};
    parts[p++] = (ikt_config_part){&ikt_affinity_section, &settings->affinity};
    parts[p++] = (ikt_config_part){&ikt_isolation_section, &settings->isolation};
    ikt_affinity_parts(&settings->affinity, parts + p);
    p += IKT_AFFINITY_PARTS;
    parts[p++] = (ikt_config_part){&ikt_whole_section, &settings->affinity.whole};
    parts[p++] = (ikt_config_part){&ikt_layout_section, &settings->layout};
    ikt_objective_parts(&settings->layout.own, parts + p);
    p += IKT_OBJECTIVE_PARTS;
    parts[p++] = (ikt_config_part){&ikt_kernel_section, &settings->kernel};
    parts[p++] = (ikt_config_part){&output_section, &settings->output};
    parts[p++] = (ikt_config_part){&run_section, &settings->run};
    assert(p == IKT_SETTINGS_PARTS);
}

bool ikt_settings_has_equal(const ikt_key *key, const ikt_config_part *a,
                            const ikt_config_part *b) {
    char of_a[IKT_STRING_MAX], of_b[IKT_STRING_MAX];
    ikt_value_print(key, ikt_config_member(a, key), of_a, sizeof of_a);
    ikt_value_print(key, ikt_config_member(b, key), of_b, sizeof of_b);
    return strcmp(of_a, of_b) == 0;
}

ikt_similarity_kind ikt_settings_similarity(const ikt_settings *settings) {
    const ikt_preprocess_settings *rows = &settings->preprocess;
    if (settings->kernel.kind != IKT_SIMILARITY_AUTO)
        return (ikt_similarity_kind)settings->kernel.kind;
    return rows->metric == IKT_METRIC_PRECOMPUTED && rows->matrix == IKT_MATRIX_SIMILARITIES
               ? IKT_SIMILARITY_GIVEN
               : IKT_SIMILARITY_ISOLATION;
}

ikt_similarity_kind ikt_settings_class_similarity(const ikt_settings *settings) {
    const ikt_similarity_kind kind = ikt_settings_similarity(settings);
    const bool is_chosen = settings->kernel.kind != IKT_SIMILARITY_AUTO;
    return is_chosen || kind == IKT_SIMILARITY_GIVEN ? kind : IKT_SIMILARITY_LINEAR;
}

bool ikt_settings_has_kernel_map(const ikt_settings *settings) {
    return ikt_layout_start(&settings->layout)->of_similarities;
}

bool ikt_settings_is_kernel_map(const ikt_settings *settings) {
    return ikt_layout_objective(&settings->layout)->is_start &&
           ikt_settings_has_kernel_map(settings);
}

bool ikt_settings_is_near(const ikt_settings *settings, int64_t n) {
    return settings->affinity.support != IKT_SUPPORT_DENSE &&
           settings->preprocess.metric != IKT_METRIC_PRECOMPUTED &&
           ikt_affinity_is_approximate(&settings->affinity, n);
}

ikt_list_search ikt_settings_list_search(const ikt_settings *settings, int64_t n, int64_t k,
                                         int64_t fine, int64_t passes, bool joins) {
    const ikt_affinity_settings *affinity = &settings->affinity;
    const bool has_triplets = ikt_layout_objective(&settings->layout)->lists != NULL;
    const int64_t rounds = passes > 1 ? 2 + joins : fine > 0;
    return (ikt_list_search){passes,
                             fine > 0
                                 ? ikt_affinity_fine_candidates(affinity, n, fine, k)
                                 : ikt_affinity_candidates(affinity, n, k, passes, has_triplets),
                             ikt_chosen(affinity->refinements, rounds)};
}

void ikt_settings_forget_job(ikt_run_settings *run) {
    strcpy(run->checkpoint, "auto");
    strcpy(run->max_time, "auto");
    run->checkpoint_every = 15;
    run->resume = true;
    run->checkpoint_keep = false;
    run->extend = 0;
    run->log = IKT_LOG_TEXT;
}

ikt_settings ikt_settings_of_landmarks(const ikt_settings *settings, int64_t count) {
    ikt_settings s = *settings;
    s.preprocess.normalise = IKT_NORMALISE_NONE; /* has been done, */
    if (s.preprocess.metric == IKT_METRIC_COSINE || s.preprocess.metric == IKT_METRIC_CORRELATION)
        s.preprocess.metric = IKT_METRIC_EUCLIDEAN; /* and this is a part of it */
    s.preprocess.pca = 0;
    s.isolation.psi = s.isolation.pool = IKT_AUTO_INT;
    s.isolation.model_from[0] = '\0';
    ikt_affinity_shrink(&s.affinity, count);
    s.affinity.whole.last_iterations = IKT_AUTO_INT;
    s.affinity.whole.step = IKT_AUTO_REAL;
    s.layout.init = IKT_INIT_PCA;
    s.layout.regulariser = IKT_REGULARISER_NONE; /* groups are drawn together in the whole map */
    s.layout.eigengap = IKT_EIGENGAP_OFF;        /* that of all rows is wanted */
    s.layout.batch_rows = IKT_AUTO_INT;
    s.layout.learning_rate = s.layout.final_learning_rate = IKT_AUTO_REAL;
    s.layout.tsne_iterations = IKT_AUTO_INT;
    s.layout.repulsion = IKT_REPULSION_AUTO;
    ikt_objective_shrink(&s.layout.own, count);
    return s;
}

/* Rows of a fine cell up to which fine cells are searched; fine cells of a row: some, and so many
 * that they hold its candidates. Columns that a sparse row shares with a centre up to which it is
 * compared with many. */
enum { FINE_ROWS = 128, FINE_LEAST = 8, SHARED_COLUMNS = 4 };

/* Fine cells of a row. By default not more than the list by which its own cells are found has. */
static int64_t fine_cells_of_a_row(const ikt_settings *settings, const ikt_model_spec *spec,
                                   int64_t n, int64_t k, int64_t centres) {
    const int64_t candidates = ikt_affinity_fine_candidates(&settings->affinity, n, centres, k);
    const int64_t wanted = FINE_LEAST + candidates * centres / n;
    const int64_t listed = ikt_list_length(centres, spec);
    const bool is_usual = settings->affinity.candidates == IKT_AUTO_INT;
    return ikt_smaller(wanted, is_usual ? listed : centres);
}

/* SAME-ARGS. psi and pool by a rule, where they are "auto"; `centres` receives how many distinct
 * ones codes come from lists of, 0 where they do not. */
static ikt_status size_model(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                             ikt_psi_rule rule, const ikt_codes_rows *rows, ikt_model_spec *out,
                             int64_t *centres) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    const int64_t row_bytes =
        rows->is_sparse || rows->is_pairs ? 0 : rows->d * ikt_held_bytes(rows->is_u8);
    IKT_TRY(ikt_isolation_resolve_psi(ctx, isolation, n, out->n, rule, &out->psi));
    IKT_TRY(ikt_isolation_resolve_pool(ctx, isolation, out->n, out->psi, row_bytes, &out->pool));
    *centres = ikt_codes_distinct(out, rows);
    return IKT_OK;
}

/* Whether cells are of the nearest centres, of which sparse P knows more than of others. */
static bool has_fine_cells(const ikt_settings *settings) {
    return settings->affinity.support == IKT_SUPPORT_SPARSE &&
           settings->isolation.form == IKT_FORM_VORONOI;
}

bool ikt_settings_look_at_neighbourhoods(const ikt_settings *settings, int64_t n, bool is_sparse) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    const bool is_of_kernel = ikt_settings_has_kernel_map(settings) &&
                              ikt_settings_similarity(settings) == IKT_SIMILARITY_ISOLATION;
    const bool is_free = isolation->psi == IKT_AUTO_INT && isolation->psi_most == IKT_AUTO_INT;
    /* Maps without neighbours and codes have no use for psi. */
    if (objective->is_start && !(objective->needs & IKT_NEEDS_P) && !is_of_kernel) return false;
    if (isolation->model_from[0] || settings->input.graph[0] || is_sparse) return false;
    return ikt_affinity_of(&settings->affinity)->scores == IKT_SCORES_CODES &&
           has_fine_cells(settings) && is_free && n <= IKT_NEIGHBOURHOODS_ROWS_MOST;
}

/* Sparse rows are compared with all centres, which costs the columns that they share. Where all
 * rows are compared with all, that is nothing more. */
static ikt_psi_rule rule_of(const ikt_settings *settings, const ikt_codes_rows *rows,
                            bool is_near) {
    if (!has_fine_cells(settings)) return IKT_PSI_COARSE;
    if (!rows->is_sparse || !is_near) return IKT_PSI_FINE;
    const bool share_few = rows->entries * rows->entries <= SHARED_COLUMNS * (double)rows->d;
    return share_few ? IKT_PSI_INDEXED : IKT_PSI_COARSE;
}

/* A pool of all rows that there are is none. */
static int64_t pool_of(int64_t pool, int64_t drawn) {
    return pool < drawn ? pool : 0;
}

ikt_status ikt_model_spec_make(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                               int64_t drawn, const ikt_codes_rows *rows, ikt_model_spec *out) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    const bool is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    const bool is_near = ikt_settings_is_near(settings, n);
    const ikt_psi_rule rule = rule_of(settings, rows, is_near);
    int64_t centres;
    *out = (ikt_model_spec){.seed = (uint64_t)settings->run.seed,
                            .n = drawn,
                            .t = isolation->partitionings,
                            .form = isolation->form};
    IKT_TRY(size_model(ctx, settings, n, rule, rows, out, &centres));
    if (rule == IKT_PSI_INDEXED && centres == 0) /* their index would be too large */
        IKT_TRY(size_model(ctx, settings, n, IKT_PSI_COARSE, rows, out, &centres));
    if (centres > 0 && !rows->is_sparse && !rows->is_pairs && !is_dense)
        out->candidates = ikt_isolation_candidates(
            isolation, centres, rows->d, ikt_bytes_suit(rows->is_u8, rows->is_manhattan, rows->d));
    if (!is_near) {
        out->pool = pool_of(out->pool, drawn);
        return IKT_OK;
    }
    if (centres > 0 && n <= FINE_ROWS * centres) {
        int64_t k;
        IKT_TRY(ikt_affinity_resolve(ctx, &settings->affinity, n, &k));
        out->near = fine_cells_of_a_row(settings, out, n, k, centres);
        return IKT_OK;
    }
    out->pool = pool_of(ikt_cells_pool(n, out->pool), drawn);
    out->coarse = ikt_smaller(ikt_cells_choose(n, out->pool), drawn);
    return IKT_OK;
}

/* --- what a graph depends on ------------------------------------------------------------------ */

bool ikt_settings_is_of_kernel(const ikt_section *section) {
    const char *const others[] = {"input", "layout", "kernel", "output", "run"};
    for (int k = 0; k < IKT_OBJECTIVES; k++)
        if (ikt_objective_kind_of((ikt_objective_name)k)->section == section) return false;
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        if (strcmp(section->name, others[o]) == 0) return false;
    return true;
}

/* The parts of `settings` that a graph depends on; returns how many. */
static size_t choose_parts(ikt_settings *settings, ikt_config_part part[IKT_SETTINGS_PARTS]) {
    ikt_config_part all[IKT_SETTINGS_PARTS];
    size_t count = 0;
    ikt_settings_parts(settings, all);
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        if (ikt_settings_is_of_kernel(all[p].section)) part[count++] = all[p];
    return count;
}

ikt_status ikt_graph_settings_print(ikt_context *ctx, const ikt_settings *settings, char **text) {
    ikt_settings copy = *settings;
    ikt_config_part part[IKT_SETTINGS_PARTS];
    const size_t parts = choose_parts(&copy, part);
    return ikt_config_print(ctx, part, parts, text);
}

/* Refuses a key of the user whose value is neither the usual one nor that of the graph. */
static ikt_status check_key(ikt_context *ctx, const ikt_key *key, const ikt_config_part *own,
                            const ikt_config_part *usual, const ikt_config_part *made,
                            const char *name) {
    char asked[IKT_STRING_MAX], there[IKT_STRING_MAX];
    if (ikt_settings_has_equal(key, own, usual) || ikt_settings_has_equal(key, own, made))
        return IKT_OK;
    ikt_value_print(key, ikt_config_member(own, key), asked, sizeof asked);
    ikt_value_print(key, ikt_config_member(made, key), there, sizeof there);
    /* "graph" says no more than that there is one. */
    if (strcmp(own->section->name, "affinity") == 0 && strcmp(asked, "graph") == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s was made with %s.%s = %.80s, and this run asks for %.80s: leave the key "
                    "out, or make another graph (without input.graph)",
                    name, own->section->name, key->name, there, asked);
}

ikt_status ikt_settings_lists(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                              int64_t *k) {
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *objective = ikt_layout_objective(layout);
    const ikt_affinity_settings *affinity = &settings->affinity;
    const bool has_distances = ikt_affinity_of(affinity)->scores == IKT_SCORES_DISTANCES;
    const bool has_sparse_graph = settings->input.graph[0] && !affinity->graph.is_pairwise;
    if (!objective->lists || has_sparse_graph) return ikt_affinity_resolve(ctx, affinity, n, k);
    const ikt_objective_options options = ikt_layout_options(layout, 0);
    int64_t least = 0;
    const int64_t usual = objective->lists(&options, has_distances, &least);
    *k = ikt_chosen(affinity->neighbours, ikt_smaller(usual, n - 1));
    if (*k >= least && *k < n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "affinity.neighbours = %lld, but layout.objective=%s chooses among them: it "
                    "must be from %lld to %lld, or auto",
                    (long long)*k, objective->name, (long long)least, (long long)(n - 1));
}

ikt_status ikt_graph_settings_adopt(ikt_context *ctx, ikt_settings *settings, const char *text,
                                    const char *name) {
    ikt_config_part own[IKT_SETTINGS_PARTS], usual[IKT_SETTINGS_PARTS], made[IKT_SETTINGS_PARTS];
    ikt_config_part all[IKT_SETTINGS_PARTS]; /* which a text may have, though they do not count */
    IKT_ARRAYS(held, ctx, "settings");
    ikt_settings *both = ikt_claim(&held, 2, sizeof *both); /* usual ones, and those of the graph */
    IKT_TRY(held.status);
    const size_t parts = choose_parts(settings, own);
    choose_parts(&both[0], usual);
    choose_parts(&both[1], made);
    ikt_settings_parts(&both[1], all);
    IKT_TRY(ikt_config_defaults(ctx, usual, parts));
    IKT_TRY(ikt_config_defaults(ctx, all, IKT_SETTINGS_PARTS));
    IKT_TRY(ikt_config_parse_text(ctx, all, IKT_SETTINGS_PARTS, name, text));
    for (size_t p = 0; p < parts; p++)
        for (size_t k = 0; k < own[p].section->n_keys; k++)
            IKT_TRY(check_key(ctx, &own[p].section->keys[k], &own[p], &usual[p], &made[p], name));
    settings->preprocess = both[1].preprocess;
    settings->affinity = both[1].affinity;
    settings->isolation = both[1].isolation;
    return IKT_OK;
}
