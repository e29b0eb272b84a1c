/* The sections of the configuration that belong to the run as a whole, and the list of all. */
#include "pipeline/settings.h"

#include <stddef.h>
#include <string.h>

static const ikt_key input_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(ikt_input_settings, file), "", 0, 0, 0, NULL, "",
     "HDF5 file with the data, one row a point; `iktsne convert` makes one from IDX, NPY, CSV or "
     "LIBSVM"},
    {"dataset", IKT_KEY_STRING, offsetof(ikt_input_settings, dataset), "X", 0, 0, 0, NULL, "",
     "Name of the data set (n x d; uint8, float32 or float64)"},
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
     "threads", "OpenMP threads of each rank; auto is one for each processor the launcher gave"}};

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
