/* The sections of the configuration that belong to the run as a whole, and the list of all. */
#include "pipeline/settings.h"

#include <stddef.h>
#include <string.h>

static const ikt_key input_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_input_settings, file), "", 0, 0, 0, NULL, "",
     "HDF5 file with the data, one row a point; `iktsne convert` makes one from IDX, NPY, CSV or "
     "LIBSVM"},
    {"dataset", IKT_KEY_STRING, offsetof(ikt_input_settings, dataset), "X", 0, 0, 0, NULL, "",
     "Name of the data set (n x d; uint8, float32 or float64), or of the group of a sparse matrix "
     "(CSR, as AnnData writes it; / where its parts lie at the root)"},
    {"labels", IKT_KEY_STRING, offsetof(ikt_input_settings, labels), "labels", 0, 0, 0, NULL, "",
     "Name of a data set of n integers that colours the picture and serves the measures; not used "
     "for the embedding, and absent is fine"},
    {"rows", IKT_KEY_INT, offsetof(ikt_input_settings, rows), "auto", 2, 1e15, 1, NULL, "rows",
     "Use only the first rows of the file; auto is all"}};

static const ikt_section input_section = {"input", "The data", input_keys,
                                          sizeof input_keys / sizeof *input_keys};

static const ikt_key output_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_output_settings, file), "", 0, 0, 0, NULL, "",
     "HDF5 file for the embedding, the trace and the provenance of the run"},
    {"picture", IKT_KEY_STRING, offsetof(ikt_output_settings, picture), "", 0, 0, 0, NULL, "",
     "PNG file for a picture of the embedding; empty for none"},
    {"model", IKT_KEY_STRING, offsetof(ikt_output_settings, model), "", 0, 0, 0, NULL, "",
     "HDF5 file for what `iktsne transform` places new rows by: centres, codes of all rows and the "
     "embedding (affinity.kind: isolation); empty for none"},
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
