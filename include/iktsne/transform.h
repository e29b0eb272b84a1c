/* New rows in a finished embedding, whose rows stay where they are (docs/transform.md). */
#ifndef IKTSNE_TRANSFORM_H
#define IKTSNE_TRANSFORM_H

#include <stdint.h>

#include "iktsne/data.h"
#include "iktsne/embedding.h"
#include "iktsne/watcher.h"

IKT_BEGIN_C

/* COLLECTIVE. Places rows as `iktsne transform` does, with the same bits: each is placed for
 * itself, so that the place of a row is the same in any batch.
 *   model        the file that an embedding with output.model has written; the same on all ranks,
 *                as neighbours and iterations are
 *   data         dense rows with the columns of those that were embedded, and perhaps labels;
 *                borrowed for the call
 *   neighbours   most similar old rows that a new row is attracted to, with which it makes triplets
 *                in a map of TriMap; 0: as many as in the embedding
 *   iterations   most positions that are tried for a row; 0: 200
 *   watcher      is told of progress and may ask for an end; NULL on all ranks: nobody is told
 *   out          receives an embedding of the new rows (owned by the caller), NULL on failure;
 *                ctx must outlive it
 * Errors: IKT_ERR_USAGE, IKT_ERR_DATA (another number of columns; no model; sparse rows),
 * IKT_ERR_FILE, IKT_ERR_RESOURCE; IKT_STOPPED where the watcher asked for an end. */
IKT_API ikt_status ikt_transform(ikt_context *ctx, const char *model, const ikt_data *data,
                                 int64_t neighbours, int64_t iterations, const ikt_watcher *watcher,
                                 ikt_embedding **out);

IKT_END_C

#endif
