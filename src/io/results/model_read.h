/* Reading a model file. */
#ifndef IKT_IO_RESULTS_MODEL_READ_H
#define IKT_IO_RESULTS_MODEL_READ_H

#include "base/status.h"
#include "io/results/model_file.h"

typedef struct ikt_model_file ikt_model_file;

/* COLLECTIVE. Opens a model and checks that all it must hold is there, in the sizes and types that
 * its shape says. The file is opened for reading only.
 *   out   receives the file, closed with ikt_model_file_close; NULL on failure
 * Errors: IKT_ERR_FILE (missing, not HDF5, truncated); IKT_ERR_DATA (not a model, a newer format,
 * parts that are missing or of other sizes). */
ikt_status ikt_model_file_open(ikt_context *ctx, const char *path, ikt_model_file **out);
/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_model_file_close(ikt_model_file **file);

/* LOCAL. */
const ikt_model_shape *ikt_model_file_shape(const ikt_model_file *file);
const char *ikt_model_file_path(const ikt_model_file *file);

/* COLLECTIVE. Reads rows first .. first + count - 1 of a part that is there; ranks may ask for
 * different ranges, and for none.
 *   rows   [count] rows, `stride` bytes from one to the next, 0: dense; gaps are left as they are
 * Errors: IKT_ERR_FILE (checksums), IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_model_file_read(ikt_model_file *file, ikt_model_part part, int64_t first,
                               int64_t count, void *rows, int64_t stride);

/* COLLECTIVE. An attribute of /provenance on every rank, freed with ikt_free; NULL where there is
 * none. */
ikt_status ikt_model_file_note(ikt_model_file *file, const char *name, char **text);

#endif
