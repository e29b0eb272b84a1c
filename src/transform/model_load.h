/* A model file brought into memory: what places new rows (docs/transform.md). */
#ifndef IKT_TRANSFORM_MODEL_LOAD_H
#define IKT_TRANSFORM_MODEL_LOAD_H

#include "data/dataset.h"
#include "io/results/model_file.h"
#include "isolation/model.h"
#include "settings/settings.h"

/* The same on every rank. */
typedef struct {
    ikt_model_file *file;  /* open, for codes and labels */
    ikt_model_shape shape; /* of it */
    ikt_settings settings; /* of the run that made it */
    char hash[32];         /* of what the file holds, as it says; "" where it does not */
    ikt_normaliser normaliser;
    ikt_pca *pca;     /* NULL: no reduction */
    ikt_model *model; /* "rows" are numbers of distinct centres */
    float *y;         /* [n * q] the embedding */
} ikt_loaded_model;

/* COLLECTIVE. Opens and reads a model; codes and centres stay in the file.
 *   out   free with ikt_loaded_model_destroy; empty on failure
 * Errors: those of ikt_model_file_open; IKT_ERR_DATA for numbers and positions that cannot be. */
ikt_status ikt_model_load(ikt_context *ctx, const char *path, ikt_loaded_model *out);
void ikt_loaded_model_destroy(ikt_loaded_model *loaded);

/* COLLECTIVE. New rows under the preprocessing of the model, with its centres as what codes are
 * made from.
 *   source   lent until ikt_dataset_destroy, as is `loaded`
 * Errors: IKT_ERR_DATA for another number of columns; those of opening. */
ikt_status ikt_loaded_model_dataset(ikt_context *ctx, const ikt_loaded_model *loaded,
                                    ikt_source *source, ikt_dataset **out);

#endif
