/* The rows of a run: opened, completed where values are missing, brought to scale. */
#ifndef IKT_PIPELINE_ROWS_H
#define IKT_PIPELINE_ROWS_H

#include "data/dataset.h"
#include "data/missing.h"
#include "io/sources/source.h"
#include "settings/settings.h"

/* COLLECTIVE. Puts rows without missing values in place of `*source`, or of `given` ones, which
 * stay the caller's: then *source receives what stands on top of them, if anything has to. */
ikt_status ikt_rows_complete(ikt_context *ctx, ikt_missing how, ikt_source *given,
                             ikt_source **source);

/* COLLECTIVE. The data set of rows, with isolation.model_from that which is the model of the rows
 * (ikt_dataset_take_model).
 *   settings   receive what the rows decide: preprocess.normalise and isolation.psi of auto
 * Rows and centres go through one map: minmax, zscore and principal components are those of the
 * data set that gives the model, and are applied to both (Zhu & Ting 2021, table 8). Without them
 * (normalise none or unit, no reduction) nothing of that data set but the centres is read: bytes
 * need no map, and the common offset that other numbers are freed of is that of the rows to be
 * embedded, which changes no distance. Where both are the same file, every bit is that of a run
 * without isolation.model_from.
 * Errors: those of ikt_dataset_create; IKT_ERR_DATA where the model has other columns. */
ikt_status ikt_rows_open(ikt_context *ctx, ikt_source *rows, ikt_settings *settings,
                         ikt_dataset **data);

/* COLLECTIVE. The same decisions, for those who want no data set. */
ikt_status ikt_rows_resolve(ikt_context *ctx, ikt_source *rows, ikt_settings *settings);

/* COLLECTIVE. Opens input.file and applies input.rows and the preprocessing, for those who read the
 * rows of a run again.
 *   given    rows in place of input.file, which stay the caller's; *source is NULL then,
 *            or a source on top of them without missing values. Or NULL
 *   source, data   both NULL where there is a graph and no input.file, and on failure
 * Errors: those of ikt_input_open and ikt_rows_open. */
ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                             ikt_source **source, ikt_dataset **data);
void ikt_pipeline_close(ikt_source **source, ikt_dataset **data);

#endif
