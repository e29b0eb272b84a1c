/* New rows that share no cell with any old row: which cells to give them instead. */
#ifndef IKT_TRANSFORM_ZERO_SIMILARITY_NEW_H
#define IKT_TRANSFORM_ZERO_SIMILARITY_NEW_H

#include "dist/rows.h"
#include "isolation/codes.h"
#include "transform/model_load.h"

/* COLLECTIVE. A cell is occupied where an old row falls into it, and a centre where its cell in
 * some partitioning is. Each lonely row gets, in the partitionings in which its nearest occupied
 * centre has an occupied cell, that cell for its own; ties go to the lower centre. Afterwards it is
 * similar to some old row.
 *   lonely   [rows->count] which own rows; the same ones whatever the ranks
 *   codes    of the new rows; changed
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_DATA for codes that are no cells. Cost: a
 * pass over old codes and new rows, and a distance a lonely row and centre. */
ikt_status ikt_zero_similarity_new_adopt(ikt_context *ctx, const ikt_loaded_model *loaded,
                                         ikt_dataset *data, const ikt_rows *rows,
                                         const bool *lonely, ikt_codes *codes);

#endif
