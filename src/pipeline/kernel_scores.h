/* The maps of kpca and kda as positions, or as scores to start from: which rows they are made of,
 * by which similarities, and what is told of them. */
#ifndef IKT_PIPELINE_KERNEL_SCORES_H
#define IKT_PIPELINE_KERNEL_SCORES_H

#include <stdbool.h>

#include "data/dataset.h"
#include "dist/rows.h"
#include "io/results/model_file.h"
#include "isolation/codes.h"
#include "settings/settings.h"
#include "similarity/kernel_map.h"

/* What a run tells of its kernel map; m = 0: it has none. */
typedef struct {
    int64_t m, unlabelled; /* rows that it is made of; rows without a label (kda) */
    bool is_kda;
    double bandwidth;                 /* of the Gaussian kernel, else 0 */
    ikt_kernel_pca_facts components;  /* of kpca */
    int q;                            /* eigenvalues of these */
    ikt_discriminant_facts separated; /* of kda */
} ikt_kernel_report;

/* COLLECTIVE. Codes of the own rows by the model that the section `isolation` means, for the
 * Isolation kernel as a similarity.
 *   codes   free with ikt_codes_destroy in any case
 *   model   NULL, or receives the model, owned by the caller; NULL on failure
 * Errors: those of the model and of the codes. */
ikt_status ikt_kernel_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_rows *rows, ikt_codes *codes, ikt_model **model);

/* COLLECTIVE. Coordinates of the own rows.
 *   settings   layout.init tells which map; the section kernel tells how
 *   data       rows, or a matrix; not NULL
 *   labels     [rows->count] of the own rows, for kda: negative ones are none. NULL without
 *   writer     receives what places new rows in the map; NULL: that is not wanted
 *   scores     [rows->count * layout.dimensions]
 *   report     receives what was found, which the log has told
 * Errors: IKT_ERR_DATA without labels that kda needs; those of the maps and of reading;
 * IKT_ERR_RESOURCE. */
ikt_status ikt_kernel_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const int64_t *labels, ikt_model_writer *writer,
                             double *scores, ikt_kernel_report *report);

#endif
