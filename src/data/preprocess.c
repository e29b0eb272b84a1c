/* The configuration section `preprocess`. */
#include "data/preprocess.h"

static const ikt_key keys[] = {
    {.name = "normalise",
     .type = IKT_KEY_CHOICE,
     .offset = offsetof(ikt_preprocess_settings, normalise),
     .fallback = "minmax",
     .choices = "none|minmax|zscore|unit",
     .unit = "",
     .help =
         "How the columns are brought to one scale: minmax maps each column to [0, 1], zscore "
         "gives it mean 0 and variance 1, unit gives each row length 1 (cosine distance), and none "
         "keeps the values. Sparse rows are only scaled, not shifted, so that zeros stay zeros"},
    {.name = "pca",
     .type = IKT_KEY_INT,
     .offset = offsetof(ikt_preprocess_settings, pca),
     .fallback = "0",
     .low = 0,
     .high = 1e6,
     .unit = "components",
     .help = "Reduce the normalised rows to this many principal components; 0 keeps all columns. "
             "Sparse rows may have up to 16,384 columns for this"},
};

const ikt_section ikt_preprocess_section = {"preprocess",
                                            "What happens to the rows before distances are taken",
                                            keys, sizeof keys / sizeof *keys};
