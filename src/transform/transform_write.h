/* File and picture of rows placed into a finished embedding. */
#ifndef IKT_TRANSFORM_TRANSFORM_WRITE_H
#define IKT_TRANSFORM_TRANSFORM_WRITE_H

#include "transform/transform.h"

/* COLLECTIVE. A result file (io/results/result.h) of the new rows: places, labels, provenance with
 * the model's name and hash, and per row /diagnostics/divergence, similarity, nearest. Its
 * configuration is that of the model's run with the new input, so that `evaluate --input` and
 * `plot` read it like any other. Errors: IKT_ERR_FILE. */
ikt_status ikt_transform_write(ikt_context *ctx, const ikt_transform_request *request,
                               const ikt_transformed *done, const char *path, bool overwrite);

/* COLLECTIVE. The new rows coloured by label before the old ones in grey. Errors: IKT_ERR_FILE. */
ikt_status ikt_transform_picture(ikt_context *ctx, const ikt_transform_request *request,
                                 const ikt_transformed *done, const char *path, bool overwrite);

#endif
