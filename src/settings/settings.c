/* The sections of the configuration that belong to the run as a whole, and the list of all. */
#include "settings/settings.h"

#include <stddef.h>
#include <string.h>

#include "neighbours/cells.h"
#include "settings/preset.h"

static const ikt_key input_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_input_settings, file), "", 0, 0, 0, NULL, "",
     "File with the data, one row a point: HDF5, AnnData (.h5ad), MATLAB 7.3, NPY, IDX or raw "
     "numbers; `iktsne convert` makes HDF5 from what is compressed or text"},
    {"dataset", IKT_KEY_STRING, offsetof(ikt_input_settings, dataset), "X", 0, 0, 0, NULL, "",
     "Name of the data set (n x d numbers), of AnnData also obsm/X_pca, layers/NAME or raw/X; of "
     "MATLAB the variable; or of the group of a sparse matrix (CSR; / where its parts lie at the "
     "root). NPY, IDX and raw files hold one array only"},
    {"graph", IKT_KEY_STRING, offsetof(ikt_input_settings, graph), "", 0, 0, 0, NULL, "",
     "FILE or FILE:PATH of a neighbour graph (a sparse matrix by rows in an HDF5 file, as AnnData "
     "has in obsp, or a graph of output.graph), or of a matrix of all pairs (distances or "
     "similarities: a square data set of an HDF5 file, or an NPY file); it takes the place of the "
     "kernel, and input.file may then be left out"},
    {"labels", IKT_KEY_STRING, offsetof(ikt_input_settings, labels), "labels", 0, 0, 0, NULL, "",
     "Classes of the rows, which colour the picture and serve the measures; not used for the "
     "embedding, and absent is fine. The name of a data set of n integers, of a column of obs "
     "(AnnData), of a file (labels.npy, IDX), or FILE.h5:DATASET"},
    {"rows", IKT_KEY_INT, offsetof(ikt_input_settings, rows), "auto", 2, 1e15, 1, NULL, "rows",
     "Use only the first rows of the file; auto is all"},
    {"transposed", IKT_KEY_CHOICE, offsetof(ikt_input_settings, transposed), "auto", 0, 0, 0,
     "auto|yes|no", "",
     "Whether the points are the columns of the array in the file and not its rows; auto: no, but "
     "matrices of MATLAB, which are stored so, are read as MATLAB shows them"},
    {"columns", IKT_KEY_INT, offsetof(ikt_input_settings, columns), "auto", 1, 1e9, 1, NULL,
     "numbers",
     "Of a raw file, which holds nothing but numbers: how many are a row; the size of the file "
     "tells how many rows. auto: the file is not raw"},
    {"type", IKT_KEY_CHOICE, offsetof(ikt_input_settings, type), "auto", 0, 0, 0,
     "auto|uint8|int8|uint16|int16|uint32|int32|uint64|int64|float16|float32|float64", "",
     "Of a raw file: the type of its numbers"},
    {"byte_order", IKT_KEY_CHOICE, offsetof(ikt_input_settings, byte_order), "little", 0, 0, 0,
     "little|big", "", "Of a raw file: which byte of a number comes first"},
    {"skip", IKT_KEY_INT, offsetof(ikt_input_settings, skip), "0", 0, 1e15, 0, NULL, "bytes",
     "Of a raw file: bytes before the first number"}};

static const ikt_section input_section = {"input", "The data", input_keys,
                                          sizeof input_keys / sizeof *input_keys};

static const ikt_key output_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_output_settings, file), "", 0, 0, 0, NULL, "",
     "HDF5 file for the embedding, the trace and the provenance of the run"},
    {"picture", IKT_KEY_STRING, offsetof(ikt_output_settings, picture), "", 0, 0, 0, NULL, "",
     "File for a picture of the embedding: PNG, or SVG or PDF by its ending; empty for none"},
    {"model", IKT_KEY_STRING, offsetof(ikt_output_settings, model), "", 0, 0, 0, NULL, "",
     "HDF5 file for what `iktsne transform` places new rows by: centres, codes of all rows and the "
     "embedding (affinity.kind: isolation); empty for none"},
    {"graph", IKT_KEY_STRING, offsetof(ikt_output_settings, graph), "", 0, 0, 0, NULL, "",
     "HDF5 file for the neighbour graph of the run, which further runs read by input.graph, and "
     "scipy as a sparse matrix; empty for none"},
    {"overwrite", IKT_KEY_BOOL, offsetof(ikt_output_settings, overwrite), "no", 0, 0, 0, NULL, "",
     "Replace output files that exist"},
    {"state", IKT_KEY_BOOL, offsetof(ikt_output_settings, state), "yes", 0, 0, 0, NULL, "",
     "Also write what --extend goes on from: 12 bytes a row and dimension"},
    {"measures", IKT_KEY_CHOICE, offsetof(ikt_output_settings, measures), "map", 0, 0, 0,
     "none|map|all", "",
     "Measures printed at the end: none, those of the map and its labels, or also those that "
     "compare with the input"}};

static const ikt_section output_section = {"output", "What is written", output_keys,
                                           sizeof output_keys / sizeof *output_keys};

static const ikt_key run_keys[] = {
    {"preset", IKT_KEY_CHOICE, offsetof(ikt_run_settings, preset), "none", 0, 0, 0,
     IKT_PRESET_NAMES, "",
     "Settings to begin with: quick for a first look, paper for what the Isolation kernel paper "
     "does, large for millions of rows; every setting that is given wins over it (layout.preset is "
     "the schedule of the loop alone)"},
    {"seed", IKT_KEY_INT, offsetof(ikt_run_settings, seed), "1", 0, 9e15, 0, NULL, "",
     "Seed of every random draw; equal seeds give equal embeddings, bit for bit, on any number of "
     "ranks and threads"},
    {"threads", IKT_KEY_INT, offsetof(ikt_run_settings, threads), "auto", 1, 4096, 1, NULL,
     "threads", "OpenMP threads of each rank; auto is one for each processor the launcher gave"},
    {"checkpoint", IKT_KEY_STRING, offsetof(ikt_run_settings, checkpoint), "auto", 0, 0, 0, NULL,
     "",
     "Folder for checkpoints, which are removed at the end of the run; auto is output.file with "
     ".checkpoint behind it, none for no checkpoints. The same command goes on from what is there"},
    {"checkpoint_every", IKT_KEY_REAL, offsetof(ikt_run_settings, checkpoint_every), "15", 0, 1e6,
     0, NULL, "minutes",
     "Time between two checkpoints; 0: only where a signal or the end of the time asks for one"},
    {"max_time", IKT_KEY_STRING, offsetof(ikt_run_settings, max_time), "auto", 0, 0, 0, NULL, "",
     "Time after which the run stops with a checkpoint and exit code 75: minutes, "
     "hours:minutes:seconds or another form that Slurm knows; auto is the end of the Slurm job, "
     "none for no limit"},
    {"resume", IKT_KEY_BOOL, offsetof(ikt_run_settings, resume), "yes", 0, 0, 0, NULL, "",
     "Go on from the checkpoint of this run, where there is one; no: remove it and begin anew"},
    {"checkpoint_keep", IKT_KEY_BOOL, offsetof(ikt_run_settings, checkpoint_keep), "no", 0, 0, 0,
     NULL, "",
     "Leave the checkpoint behind when the run is done, so that --extend need not make P again"},
    {"log", IKT_KEY_CHOICE, offsetof(ikt_run_settings, log), "text", 0, 0, 0, "text|json", "",
     "Lines of the log on standard error: text, or json, one object a line (docs/logs.md)"}};

static const ikt_section run_section = {"run", "The run itself", run_keys,
                                        sizeof run_keys / sizeof *run_keys};

void ikt_settings_parts(ikt_settings *settings, ikt_config_part parts[IKT_SETTINGS_PARTS]) {
    const ikt_config_part before[] = {{&input_section, &settings->input},
                                      {&ikt_preprocess_section, &settings->preprocess},
                                      {&ikt_affinity_section, &settings->affinity},
                                      {&ikt_isolation_section, &settings->isolation}};
    const ikt_config_part after[] = {{&ikt_layout_section, &settings->layout},
                                     {&output_section, &settings->output},
                                     {&run_section, &settings->run}};
    enum { BEFORE = sizeof before / sizeof *before, AFTER = sizeof after / sizeof *after };
    _Static_assert(BEFORE + IKT_AFFINITY_PARTS + AFTER == IKT_SETTINGS_PARTS, "all sections");
    memcpy(parts, before, sizeof before);
    ikt_affinity_parts(&settings->affinity, parts + BEFORE);
    memcpy(parts + BEFORE + IKT_AFFINITY_PARTS, after, sizeof after);
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
    s.preprocess.normalise = IKT_NORMALISE_NONE; /* has been done */
    s.preprocess.pca = 0;
    s.isolation.psi = s.isolation.pool = IKT_AUTO_INT;
    s.isolation.model_from[0] = '\0';
    ikt_affinity_shrink(&s.affinity, count);
    s.layout.init = IKT_INIT_PCA;
    s.layout.learning_rate = s.layout.final_learning_rate = IKT_AUTO_REAL;
    s.layout.repulsion = IKT_REPULSION_AUTO;
    return s;
}

ikt_status ikt_model_spec_make(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                               int64_t drawn, ikt_model_spec *out) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    const bool is_near = settings->affinity.support != IKT_SUPPORT_DENSE &&
                         ikt_affinity_is_approximate(&settings->affinity, n);
    *out = (ikt_model_spec){.seed = (uint64_t)settings->run.seed,
                            .n = drawn,
                            .t = isolation->partitionings,
                            .form = isolation->form};
    IKT_TRY(ikt_isolation_resolve_psi(ctx, isolation, n, drawn, &out->psi));
    IKT_TRY(ikt_isolation_resolve_pool(ctx, isolation, drawn, out->psi, &out->pool));
    if (is_near) out->pool = ikt_cells_pool(n, out->pool);
    if (out->pool >= drawn) out->pool = 0;
    if (is_near) out->coarse = ikt_cells_choose(n, out->pool);
    if (out->coarse > drawn) out->coarse = drawn;
    return IKT_OK;
}
