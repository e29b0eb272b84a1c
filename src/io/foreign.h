/* Formats that are known by their first bytes and not read: what they are, and what to do instead.
 */
#ifndef IKT_IO_FOREIGN_H
#define IKT_IO_FOREIGN_H

#include <stdint.h>

/* LOCAL, pure. "is a Parquet file, ...", to follow a path, or NULL where the bytes are none of
 * these. */
const char *ikt_foreign_format(const unsigned char *head, int64_t bytes);

#endif
