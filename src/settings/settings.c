/* The sections of the configuration that belong to the run as a whole, and the list of all. */
#include "settings/settings.h"

#include <stddef.h>
#include <string.h>

#include "neighbours/cells.h"
#include "settings/preset.h"

static const ikt_key input_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_input_settings, file), "", 0, 0, 0, NULL, "",
     "The file with the data, which has one row for each point: HDF5, AnnData (.h5ad), MATLAB 7.3, "
     "NPY, IDX or raw numbers. `iktsne convert` makes HDF5 from compressed files and from text"},
    {"dataset", IKT_KEY_STRING, offsetof(ikt_input_settings, dataset), "X", 0, 0, 0, NULL, "",
     "The name of the data set, which holds n x d numbers, or of the group of a sparse matrix "
     "(CSR; / if its parts lie at the root). In an AnnData file it may also be obsm/X_pca, "
     "layers/NAME or raw/X; in a MATLAB file it is the variable. NPY, IDX and raw files hold one "
     "array only"},
    {"graph", IKT_KEY_STRING, offsetof(ikt_input_settings, graph), "", 0, 0, 0, NULL, "",
     "A neighbour graph that takes the place of the kernel, as FILE or FILE:PATH: a sparse matrix "
     "by rows in an HDF5 file, as AnnData has in obsp, or the output.graph of another run; or a "
     "matrix of all pairs, distances or similarities: a square data set of an HDF5 file, or an NPY "
     "file. input.file may then be left out"},
    {"labels", IKT_KEY_STRING, offsetof(ikt_input_settings, labels), "labels", 0, 0, 0, NULL, "",
     "The classes of the rows. They colour the picture and serve the measures, are not used for "
     "the embedding, and may be absent. The name is that of a data set of n integers, of a column "
     "of obs (AnnData), of a file (labels.npy, IDX), or FILE.h5:DATASET"},
    {"rows", IKT_KEY_INT, offsetof(ikt_input_settings, rows), "auto", 2, 1e15, 1, NULL, "rows",
     "Use only this many rows, the first of the file; auto uses all"},
    {"transposed", IKT_KEY_CHOICE, offsetof(ikt_input_settings, transposed), "auto", 0, 0, 0,
     "auto|yes|no", "",
     "Whether the points are the columns of the array in the file instead of its rows. auto means "
     "no; but a matrix of MATLAB, which is stored by columns, is read as MATLAB shows it"},
    {"columns", IKT_KEY_INT, offsetof(ikt_input_settings, columns), "auto", 1, 1e9, 1, NULL,
     "numbers",
     "The numbers in a row of a raw file, which holds nothing but numbers; the size of the file "
     "then gives the number of rows. auto: the file is not raw"},
    {"type", IKT_KEY_CHOICE, offsetof(ikt_input_settings, type), "auto", 0, 0, 0,
     "auto|uint8|int8|uint16|int16|uint32|int32|uint64|int64|float16|float32|float64", "",
     "The type of the numbers in a raw file"},
    {"byte_order", IKT_KEY_CHOICE, offsetof(ikt_input_settings, byte_order), "little", 0, 0, 0,
     "little|big", "", "The byte of a number that comes first in a raw file"},
    {"skip", IKT_KEY_INT, offsetof(ikt_input_settings, skip), "0", 0, 1e15, 0, NULL, "bytes",
     "The bytes before the first number of a raw file"}};

static const ikt_section input_section = {"input", "The data", input_keys,
                                          sizeof input_keys / sizeof *input_keys};

static const ikt_key output_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_output_settings, file), "", 0, 0, 0, NULL, "",
     "The HDF5 file for the embedding, the trace and the provenance of the run"},
    {"picture", IKT_KEY_STRING, offsetof(ikt_output_settings, picture), "", 0, 0, 0, NULL, "",
     "The file for a picture of the embedding: PNG, or SVG or PDF where the name ends so; empty "
     "for none"},
    {"model", IKT_KEY_STRING, offsetof(ikt_output_settings, model), "", 0, 0, 0, NULL, "",
     "The HDF5 file for the model by which `iktsne transform` places new rows: the centres, the "
     "codes of all rows and the embedding (affinity.kind: isolation); empty for none"},
    {"graph", IKT_KEY_STRING, offsetof(ikt_output_settings, graph), "", 0, 0, 0, NULL, "",
     "The HDF5 file for the neighbour graph of the run, which further runs read by input.graph and "
     "scipy reads as a sparse matrix; empty for none"},
    {"overwrite", IKT_KEY_BOOL, offsetof(ikt_output_settings, overwrite), "no", 0, 0, 0, NULL, "",
     "Replace output files that exist"},
    {"state", IKT_KEY_BOOL, offsetof(ikt_output_settings, state), "yes", 0, 0, 0, NULL, "",
     "Also write the state that --extend goes on from: 12 bytes a row and dimension"},
    {"measures", IKT_KEY_CHOICE, offsetof(ikt_output_settings, measures), "map", 0, 0, 0,
     "none|map|all", "",
     "The measures that are printed at the end: none; map, those of the embedding and its labels; "
     "or all, which adds those that compare it with the input"}};

static const ikt_section output_section = {"output", "What is written", output_keys,
                                           sizeof output_keys / sizeof *output_keys};

static const ikt_key run_keys[] = {
    {"preset", IKT_KEY_CHOICE, offsetof(ikt_run_settings, preset), "none", 0, 0, 0,
     IKT_PRESET_NAMES, "",
     "The settings to begin with: quick for a first look, paper for what the Isolation kernel "
     "paper does, large for millions of rows. Every setting that is given wins over the preset. "
     "(layout.preset is the schedule of the iterations alone)"},
    {"seed", IKT_KEY_INT, offsetof(ikt_run_settings, seed), "1", 0, 9e15, 0, NULL, "",
     "The seed of every random draw. Equal seeds give equal embeddings, bit for bit, on any number "
     "of ranks and threads"},
    {"threads", IKT_KEY_INT, offsetof(ikt_run_settings, threads), "auto", 1, 4096, 1, NULL,
     "threads",
     "The OpenMP threads of each rank; auto is one for each processor that the launcher gave to "
     "the rank"},
    {"checkpoint", IKT_KEY_STRING, offsetof(ikt_run_settings, checkpoint), "auto", 0, 0, 0, NULL,
     "",
     "The folder for checkpoints, which are removed at the end of the run. The same command goes "
     "on from a checkpoint that is there. auto is output.file with .checkpoint behind it, and none "
     "means no checkpoints"},
    {"checkpoint_every", IKT_KEY_REAL, offsetof(ikt_run_settings, checkpoint_every), "15", 0, 1e6,
     0, NULL, "minutes",
     "The time between two checkpoints; 0 writes one only where a signal or the end of the time "
     "asks for it"},
    {"max_time", IKT_KEY_STRING, offsetof(ikt_run_settings, max_time), "auto", 0, 0, 0, NULL, "",
     "The time after which the run stops with a checkpoint and exit code 75, as minutes, "
     "hours:minutes:seconds or another form that Slurm knows. auto is the end of the Slurm job, "
     "and none means no limit"},
    {"resume", IKT_KEY_BOOL, offsetof(ikt_run_settings, resume), "yes", 0, 0, 0, NULL, "",
     "Go on from the checkpoint of this run where there is one; no removes it and begins anew"},
    {"checkpoint_keep", IKT_KEY_BOOL, offsetof(ikt_run_settings, checkpoint_keep), "no", 0, 0, 0,
     NULL, "",
     "Leave the checkpoint behind when the run is done, so that --extend need not compute P again"},
    {"log", IKT_KEY_CHOICE, offsetof(ikt_run_settings, log), "text", 0, 0, 0, "text|json", "",
     "The lines of the log on standard error: text, or json, which is one object a line "
     "(docs/logs.md)"}};

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
