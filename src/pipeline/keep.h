/* Keeping what places new rows: model, codes, preprocessing and embedding of a run (output.model).
 *
 * Codes are written while they are there, in the order of the input, so that a run with a model
 * holds no more than one without. Form of the file: io/results/model_file.h, docs/transform.md.
 */
#ifndef IKT_PIPELINE_KEEP_H
#define IKT_PIPELINE_KEEP_H

#include "io/results/model_file.h"
#include "isolation/codes.h"
#include "pipeline/pipeline.h"

/* COLLECTIVE. Writes shape, preprocessing, distinct centres, partitionings and codes.
 *   data    the rows coded
 *   rows     of them
 *   codes   of the own rows, in the order of the input
 *   q       dimensions of the map that is to come
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading the centres. Memory: some 32 MiB, and 8
 * t psi bytes. */
ikt_status ikt_keep_codes(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                          const ikt_rows *rows, const ikt_model *model, const ikt_codes *codes,
                          int64_t q);

/* COLLECTIVE. Adds embedding, labels and provenance of a finished run and gives the file its name;
 * nothing without output.model. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_run_keep(ikt_context *ctx, ikt_run *run);

#endif
