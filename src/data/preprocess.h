/* Settings of what happens to the rows between the file and the kernels. */
#ifndef IKT_DATA_PREPROCESS_H
#define IKT_DATA_PREPROCESS_H

#include <stdint.h>

#include "config/key.h"

/* Order of the choices of preprocess.normalise. */
typedef enum {
    IKT_NORMALISE_NONE,
    IKT_NORMALISE_MINMAX, /* each column to [0, 1] */
    IKT_NORMALISE_ZSCORE, /* each column to mean 0, variance 1 */
    IKT_NORMALISE_UNIT    /* each row to length 1: Euclidean order becomes that of the cosine */
} ikt_normalise;

typedef struct {
    int normalise; /* ikt_normalise */
    int64_t pca;   /* principal components to reduce to; 0 = keep the columns */
} ikt_preprocess_settings;

extern const ikt_section ikt_preprocess_section;

#endif
