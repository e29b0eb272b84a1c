/* Where the rows start. */
#ifndef IKT_PIPELINE_START_H
#define IKT_PIPELINE_START_H

#include "data/dataset.h"
#include "dist/rows.h"
#include "io/results/graph_write.h"
#include "pipeline/landmarks.h"
#include "settings/settings.h"

/* What there is to start from, and to tell of it; lent. */
typedef struct {
    const ikt_landmarks *landmarks; /* used with init: landmark */
    const double *scores;           /* [rows->count * layout.dimensions] principal components of the
                                       own rows, where they are known already; or NULL */
    ikt_graph_writer *graph_writer; /* receives components, or places among landmarks; or NULL */
} ikt_start_sources;

/* COLLECTIVE. Initial positions, as layout.init says.
 *   settings    layout resolved
 *   data        may be NULL where nothing is taken from the rows
 *   y           [rows->count * layout.dimensions] the positions, owned by the caller. NULL, or with
 * init: landmark the places of the rows among the landmarks, where those are known already Errors:
 * IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_rows *rows, const ikt_start_sources *from, float **y);

#endif
