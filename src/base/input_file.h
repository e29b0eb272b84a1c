/* Names of input files: what may be read, and names that may be FILE or FILE:WHAT. */
#ifndef IKT_BASE_INPUT_FILE_H
#define IKT_BASE_INPUT_FILE_H

#include <stddef.h>

#include "base/status.h"

/* LOCAL. Whether `path` names a regular file that this rank may read, found out without opening it:
 * opening a pipe would wait for whoever writes it. Inputs are read more than once and by several
 * ranks, so that pipes, sockets and devices cannot be used.
 * Errors: IKT_ERR_FILE (missing, no permission, a folder, no regular file). */
ikt_status ikt_input_check(ikt_context *ctx, const char *path);

/* LOCAL. Length of the file's name in FILE or FILE:WHAT: all of it where there is such a file
 * (colons may belong to it) or no colon, otherwise what stands before the last colon. To be called
 * on one rank: other nodes need not see the same files. */
size_t ikt_file_name_length(const char *name);

#endif
