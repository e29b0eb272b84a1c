/* Labels from a file of their own: FILE.npy, FILE-idx1-ubyte, or FILE.h5:DATASET (FILE.h5 alone:
 * its data set `labels`). */
#ifndef IKT_IO_SOURCES_LABEL_FILE_H
#define IKT_IO_SOURCES_LABEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. As ikt_labels_read, of the file that `name` names.
 *   present   false where there is no such file (no error)
 * Errors: those of ikt_source_open and ikt_labels_read; IKT_ERR_DATA (more than one column, not n
 * entries, not integers). */
ikt_status ikt_label_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                               int64_t count, int64_t *labels, bool *present, char **names);

/* COLLECTIVE. Whether FILE.h5:DATASET names classes that have names, rather than numbers; false
 * where there is no such file. Errors: those of ikt_labels_have_names. */
ikt_status ikt_label_file_has_names(ikt_context *ctx, const char *name, bool *named);

#endif
