/* Writing a model file, part by part, while a run goes on.
 *
 * Codes exist early in a run and positions at its end; what is written at once need not be kept in
 * memory. The file appears under its name when all of it is there (base/atomic_file.h).
 */
#ifndef IKT_IO_RESULTS_MODEL_WRITE_H
#define IKT_IO_RESULTS_MODEL_WRITE_H

#include "base/status.h"
#include "io/results/model_file.h"
#include "io/results/result.h"

typedef struct ikt_model_writer ikt_model_writer;

/* COLLECTIVE. Begins a file beside its name.
 *   out   receives the writer, for ikt_model_writer_end or _abandon; NULL on failure
 * Errors: IKT_ERR_FILE (cannot be written, exists and not `overwrite`), IKT_ERR_RESOURCE. */
ikt_status ikt_model_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_model_writer **out);

/* COLLECTIVE, same arguments; before any part. Errors: IKT_ERR_FILE. */
ikt_status ikt_model_writer_shape(ikt_model_writer *writer, const ikt_model_shape *shape);
/* LOCAL. The shape that was written. */
const ikt_model_shape *ikt_model_writer_get_shape(const ikt_model_writer *writer);

/* COLLECTIVE. Writes rows first .. first + count - 1 of a data set, which the first call makes.
 * Every row is written once, by one rank.
 *   rows     [count] rows, `stride` bytes from one to the next, 0: dense; NULL where count is 0
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_model_writer_part(ikt_model_writer *writer, ikt_model_part part, int64_t first,
                                 int64_t count, const void *rows, int64_t stride);

/* COLLECTIVE, same arguments; after all parts. Attributes of /provenance, and with them
 * "model_hash": of every row that was written, the same on any ranks. Errors: IKT_ERR_FILE. */
ikt_status ikt_model_writer_notes(ikt_model_writer *writer, const char *configuration,
                                  const ikt_note *notes, int64_t count);

/* COLLECTIVE. `local` is this rank's outcome so far: where all succeeded the file gets its name,
 * otherwise it is removed. Frees *writer. Returns the agreed outcome; accepts NULL. */
ikt_status ikt_model_writer_end(ikt_model_writer **writer, ikt_status local);

/* COLLECTIVE. Removes what was written and frees *writer; accepts NULL. */
void ikt_model_writer_abandon(ikt_model_writer **writer);

#endif
