/* Embedding rows: those that the ranks of a program hold, or those of a file. */
#ifndef IKTSNE_EMBED_H
#define IKTSNE_EMBED_H

#include <stdint.h>

#include "iktsne/data.h"
#include "iktsne/embedding.h"
#include "iktsne/parameters.h"
#include "iktsne/watcher.h"

IKT_BEGIN_C

/* COLLECTIVE. Embeds data in memory: rows, dense or sparse, a graph or all pairs, as data.h says.
 * The result is that of `iktsne embed` on files with these arrays, bit for bit, however they are
 * distributed. Parameters, errors and memory are those of ikt_embed_rows, below.
 *   data      borrowed for the call
 *   watcher   is told of progress and may ask for an end (watcher.h); borrowed for the call; NULL
 *             on all ranks: nobody is told
 *   out       receives the embedding (owned by the caller), NULL on failure; ctx must outlive
 *             it
 * Errors: also IKT_STOPPED, without a checkpoint, where the watcher asked for an end before there
 * was a map. */
IKT_API ikt_status ikt_embed(ikt_context *ctx, const ikt_parameters *parameters,
                             const ikt_data *data, const ikt_watcher *watcher, ikt_embedding **out);

/* COLLECTIVE. Embeds dense rows. Row i of the whole is the i-th when the ranks' blocks stand
 * one behind the other in the order of the ranks; the result is that of `iktsne embed` on a file
 * with these rows, bit for bit, however they are distributed.
 *   parameters   the same on all ranks; borrowed for the call. A file appears only where one of
 *                output.file, output.model, output.picture or run.checkpoint names it; without
 *                output.file run.checkpoint: auto means none. input.file must be empty and
 *                input.rows auto. run.threads and run.log hold for this embedding, else those of
 *                the context; measures are those of output.measures (ikt_embedding_measures)
 *   rows         [count * columns] of this rank, row-major; borrowed for the call and
 *                never copied whole; may be NULL where count is 0
 *   count        rows of this rank, any number, also 0; two at least over all ranks
 *   columns      the same on all ranks, at least 1
 *   type         of the numbers, the same on all ranks; they must be finite
 *   labels       [count] a class for each row, borrowed for the call: measures and pictures use
 *                them, the embedding does not. NULL on all ranks for none; ranks without rows may
 *                pass NULL in any case
 *   out          receives the embedding (owned by the caller), NULL on failure; ctx must outlive it
 * Signals stay with the program: none is caught. With run.checkpoint a folder, an interrupted
 * embedding goes on from there when it is called again with the same rows and parameters, and
 * run.max_time can stop it.
 * Errors: IKT_ERR_USAGE (parameters that do not suit the rows; arguments that differ between
 * ranks), IKT_ERR_DATA (numbers that are not finite, with the row), IKT_ERR_RESOURCE (memory, with
 * what is needed), IKT_ERR_FILE; IKT_STOPPED, with a checkpoint.
 * Memory: some 400 bytes a row for codes, then 350 for P; it is predicted and refused before the
 * first long stage where it is not there. */
IKT_API ikt_status ikt_embed_rows(ikt_context *ctx, const ikt_parameters *parameters,
                                  const void *rows, int64_t count, int64_t columns, ikt_type type,
                                  const int64_t *labels, ikt_embedding **out);

/* COLLECTIVE. Embeds the rows of input.file, of which each rank gets an equal block; the rest as
 * above. Errors: also those of reading, IKT_ERR_FILE and IKT_ERR_DATA. */
IKT_API ikt_status ikt_embed_file(ikt_context *ctx, const ikt_parameters *parameters,
                                  ikt_embedding **out);

IKT_END_C

#endif
