/* Placing new rows into a finished embedding:
 *     model file -> new rows -> codes -> neighbours among the old -> p_j|i -> places.
 *
 * The old rows stay where they are and the new ones do not see each other, so the place of a row is
 * a function of the model and that row: the same bits in any batch, on any ranks and threads.
 */
#ifndef IKT_TRANSFORM_TRANSFORM_H
#define IKT_TRANSFORM_TRANSFORM_H

#include "transform/model_load.h"

/* What is wanted; texts are lent. */
typedef struct {
    const char *model, *input; /* files */
    const char *dataset;       /* of the rows in the input */
    const char *labels;        /* data set of labels beside them; absent is fine for "labels" */
    int64_t neighbours;        /* old rows of a list, or IKT_AUTO_INT: as the model's run had */
    int64_t trials;            /* most evaluations of the divergence of a row */
} ikt_transform_request;

/* New rows and their places. */
typedef struct {
    ikt_loaded_model loaded; /* the model, with the old embedding on every rank */
    ikt_rows rows;
    int64_t k;          /* neighbours */
    float *y;           /* [rows.count * q] */
    double *divergence; /* [rows.count] KL_i */
    float *similarity;  /* [rows.count] K to the most similar old row; 0 flags an outlier */
    int64_t *nearest;   /* [rows.count] that old row (the first of the list) */
    int64_t *labels;    /* [rows.count], or NULL where the input has none */
    char *label_names;  /* a line a class, or NULL */
    int64_t lonely;     /* rows whose similarity is 0 */
    int64_t unsettled;  /* rows that the limit of trials stopped */
    double mean_divergence;
    double accuracy; /* see ikt_transform_accuracy; negative where there are no labels */
    char input_name[IKT_STRING_MAX + 64];
    int64_t d;
    const char *type; /* "uint8" */
    uint64_t hash;    /* of the places */
    int64_t predicted_bytes;
} ikt_transformed;

/* COLLECTIVE. Places the rows of the input.
 *   out   free with ikt_transformed_destroy; empty on failure
 * Errors: those of ikt_model_load, ikt_loaded_model_dataset and reading; IKT_ERR_USAGE for more
 * neighbours than old rows; IKT_ERR_RESOURCE before anything long where memory would not do. */
ikt_status ikt_transform_run(ikt_context *ctx, const ikt_transform_request *request,
                             ikt_transformed *out);
void ikt_transformed_destroy(ikt_transformed *done);

/* COLLECTIVE. Share of new rows whose label is that of most of the 10 nearest old rows in the map
 * (ties to the smallest label); negative where old or new rows have none. Memory: 30 bytes an old
 * row. Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_transform_accuracy(ikt_context *ctx, const ikt_transformed *done, double *accuracy);

#endif
