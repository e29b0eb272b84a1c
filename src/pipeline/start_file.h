/* A start from positions that are in a file. */
#ifndef IKT_PIPELINE_START_FILE_H
#define IKT_PIPELINE_START_FILE_H

#include "dist/rows.h"
#include "settings/settings.h"

/* COLLECTIVE. Positions of layout.init_file: /embedding of an HDF5 file; FILE:DATASET of any HDF5
 * file, AnnData's among them; or a file that io/formats/reader.h knows (NPY, CSV).
 * Positions of a run stay as they are unless layout.init_scale is given: a map that is gone on with
 * keeps its spread. Others are scaled to a standard deviation of 1e-4, as openTSNE does with its
 * own starts: t-SNE must be free to move rows while attraction is exaggerated.
 *
 *   settings   layout resolved
 *   y          [rows->count * layout.dimensions], receives the positions
 *
 * Foreign files are read by rank 0 and shared block after block. Errors: IKT_ERR_DATA: other
 * numbers of rows or dimensions, positions that are not finite; those of reading; IKT_ERR_RESOURCE.
 */
ikt_status ikt_start_from_file(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                               float *y);

/* COLLECTIVE. Whether layout.init_file holds positions for n rows, without reading them. Errors: as
 * above. */
ikt_status ikt_start_file_check(ikt_context *ctx, const ikt_layout_settings *layout, int64_t n);

#endif
