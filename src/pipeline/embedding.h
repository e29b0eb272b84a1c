/* From data to embedding: P -> initial positions -> loop.
 *
 * The pipeline without files: what it makes of all rows, a start from landmarks makes of some.
 */
#ifndef IKT_PIPELINE_EMBEDDING_H
#define IKT_PIPELINE_EMBEDDING_H

#include "data/dataset.h"
#include "dist/row_map.h"
#include "io/model_write.h"
#include "neighbours/recall.h"
#include "pipeline/settings.h"

/* Positions, and what was learned while making them. */
typedef struct {
    float *y; /* [map->count * q], q = layout.dimensions; owned */
    ikt_trace trace;
    int64_t orphans;   /* rows without any similarity */
    int64_t entries;   /* of P */
    double accuracy;   /* 10-NN label accuracy of the neighbours; or negative */
    ikt_recall recall; /* of approximate neighbour search; sample 0: exact */
} ikt_embedding;

/* COLLECTIVE. Embeds the rows of a data set.
 *   settings   as the user gave them; what the embedding had to decide replaces "auto"
 *   map        ownership of the rows
 *   labels     [map->count] of the own rows, or NULL
 *   keep       receives model and codes (keep.h), or NULL
 *   out        free with ikt_embedding_destroy; empty on failure
 * Errors: IKT_ERR_USAGE for settings that do not suit the number of rows, IKT_ERR_RESOURCE,
 * IKT_ERR_DATA, those of reading. */
ikt_status ikt_embedding_make(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                              const ikt_row_map *map, const int64_t *labels, ikt_model_writer *keep,
                              ikt_embedding *out);

void ikt_embedding_destroy(ikt_embedding *embedding);

#endif
