/* Small text files that every rank needs: read by one, given to all. */
#ifndef IKT_CONFIG_TEXT_FILE_H
#define IKT_CONFIG_TEXT_FILE_H

#include "base/status.h"

/* COLLECTIVE. The text of a file of at most 1 MiB, on every rank, ended by a zero byte.
 *   text   receives it; freed with ikt_free; NULL on failure.
 * Errors: IKT_ERR_FILE (cannot be read, too large), IKT_ERR_USAGE (holds a zero byte),
 * IKT_ERR_RESOURCE. */
ikt_status ikt_text_file_load(ikt_context *ctx, const char *path, char **text);

#endif
