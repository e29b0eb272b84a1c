/* Rows whose Isolation model comes from another data set (Zhu & Ting 2021, table 8).
 *
 * Rows and centres must go through one map: minmax, zscore and principal components are those of
 * the data set that gives the model, and are applied to both. Without them (normalise none or unit,
 * no reduction) nothing of that data set but the centres is read: bytes need no map, and the common
 * offset that other numbers are freed of is that of the rows to be embedded, which changes no
 * distance. Where both are the same file, every bit is that of a run without isolation.model_from.
 */
#ifndef IKT_PIPELINE_MODEL_ROWS_H
#define IKT_PIPELINE_MODEL_ROWS_H

#include "data/dataset.h"
#include "settings/settings.h"

/* COLLECTIVE. What of it can be told without reading rows: how many rows centres are drawn from.
 *   source   the rows to be embedded
 *   drawn    0 without isolation.model_from
 *   is_u8    whether those rows are bytes; as `source` without isolation.model_from
 * Errors: IKT_ERR_USAGE where the kernel needs no model; IKT_ERR_DATA for another number of
 * columns; those of opening. */
ikt_status ikt_model_rows_check(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_source *source, int64_t *drawn, bool *is_u8);

/* COLLECTIVE. The data set of `source`, with that of isolation.model_from as its model
 * (ikt_dataset_take_model).
 *   source   the rows; lent until ikt_dataset_destroy
 *   out      receives the data set, owned by the caller; NULL on failure
 * Errors: IKT_ERR_USAGE where the kernel needs no model; IKT_ERR_DATA for another number of
 * columns; those of opening, and of ikt_dataset_create. */
ikt_status ikt_model_rows_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                               ikt_dataset **out);

#endif
