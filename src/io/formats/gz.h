/* Files that may be gzipped: opening, and the reason of a failure.
 *
 * zlib reads plain files, too, so no reader needs to know whether its file is compressed. It tells
 * failures in three ways (errno, a number, a text); here they become our message.
 */
#ifndef IKT_IO_FORMATS_GZ_H
#define IKT_IO_FORMATS_GZ_H

#include <zlib.h>

#include "base/status.h"

/* LOCAL. Opens a file for reading, compressed or not. *file is closed with gzclose; NULL where it
 * cannot be opened. Errors: IKT_ERR_FILE with path and reason. */
ikt_status ikt_gz_open(ikt_context *ctx, const char *path, gzFile *file);

/* LOCAL. IKT_OK, or IKT_ERR_FILE with path and reason after a failed call on the file. That the
 * data end within their compression is no failure here: the caller knows better what is missing. */
ikt_status ikt_gz_check(ikt_context *ctx, const char *path, gzFile file);

#endif
