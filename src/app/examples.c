/* Examples of each verb. See examples.h. */
#include "app/examples.h"

#include <stddef.h>
#include <string.h>

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
