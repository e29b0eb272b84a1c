/* What the help of the program is made of besides options and keys: the program in a sentence, what
 * is true of every verb, and examples. */
#include <stddef.h>
#include <string.h>

#include "app/help.h"

const char ikt_program_summary[] = "t-SNE with the Isolation kernel, for millions of points on MPI";

const ikt_program_option ikt_program_options[] = {
    {"help", "", "", "complete help of the verb"},
    {"help", "=FORM", "man|bash|zsh|fish",
     "manual page (man); `iktsne --help=bash`, zsh or fish: completion of that shell"},
    {"version", "", "", "version, libraries and instruction set, instead of a verb"},
    {"quiet", "", "", "print warnings and results only"},
    {"verbose", "", "", "print details of each stage"},
    {"log", "KIND", "text|json", "lines of the log as text, or as json: one object a line"},
    {"threads", "N", "", "OpenMP threads of each rank (default: the processors the launcher gave)"},
    {NULL, NULL, NULL, NULL}};

const ikt_exit_code ikt_exit_codes[] = {
    {IKT_OK, "success"},
    {IKT_ERR_INTERNAL, "internal error: please report it"},
    {IKT_ERR_USAGE, "wrong usage or configuration"},
    {IKT_ERR_DATA, "bad data"},
    {IKT_ERR_FILE, "file system"},
    {IKT_ERR_RESOURCE, "not enough memory or other resources"},
    {IKT_STOPPED, "stopped by a signal or in time, with a checkpoint: the same command goes on"},
    {0, NULL}};

static const ikt_example examples[] = {
    {"generate", "iktsne generate five-subspace data.h5", NULL},
    {"embed", "mpirun -n 2 iktsne embed config/five-subspace.yaml input.file=data.h5 run.seed=7",
     "Two ranks; what stands on the command line wins over the file"},
    {"embed", "iktsne embed input.file=data.h5 output.file=run.h5 output.picture=run.png",
     "No configuration file: all else at its default"},
    {"align", "iktsne align run2.h5 run.h5 aligned.h5",
     "The second run as near to the first as turning and scaling bring it"},
    {"export", "iktsne export run.h5 positions.npy", "The name tells the format"},
    {"view", "iktsne view run.h5 run.html", NULL},
    {"embed", "iktsne embed config.yaml --extend 500",
     "More iterations for the finished run in output.file"},
    {"convert",
     "iktsne convert t10k-images-idx3-ubyte.gz digits.h5 --labels "
     "t10k-labels-idx1-ubyte.gz",
     NULL},
    {"convert", "iktsne convert cells.csv cells.h5 --label-column type", NULL},
    {"evaluate", "iktsne evaluate run.h5 --input digits.h5 --json",
     "Also the measures that compare with the input"},
    {"plot", "iktsne plot run.h5 picture.png --title Digits", NULL},
    {"info", "iktsne info run.h5 --config >again.yaml",
     "What `iktsne embed again.yaml output.file=again.h5` repeats the run with"},
    {"plan", "iktsne plan config.yaml", "Memory and time before an allocation is asked for"},
    {"transform", "iktsne transform model.h5 new.h5 placed.h5 --picture placed.png", NULL},
    {"study", "iktsne study config/studies/table5.yaml --data data --output table5", NULL}};

const ikt_example *ikt_example_of(const char *verb, int i) {
    for (size_t e = 0; e < sizeof examples / sizeof *examples; e++)
        if ((!verb || strcmp(examples[e].verb, verb) == 0) && i-- == 0) return &examples[e];
    return NULL;
}
