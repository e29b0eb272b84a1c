/* Where the rows start. */
#ifndef IKT_PIPELINE_START_H
#define IKT_PIPELINE_START_H

#include "data/dataset.h"
#include "dist/row_map.h"
#include "pipeline/landmarks.h"
#include "pipeline/settings.h"

/* COLLECTIVE. Initial positions, as layout.init says.
 *   settings    layout resolved
 *   landmarks   used with init: landmark
 *   y           [map->count * layout.dimensions] the positions, owned by the caller. NULL, or with
 * init: landmark the places of the rows among the landmarks, where those are known already Errors:
 * IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_row_map *map, const ikt_landmarks *landmarks, float **y);

/* COLLECTIVE. Whether layout.init_file holds positions for n rows. Errors: IKT_ERR_DATA, those of
 * opening. */
ikt_status ikt_start_check_file(ikt_context *ctx, const ikt_layout_settings *layout, int64_t n);

#endif
