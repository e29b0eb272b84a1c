/* Formats that are known by their first bytes and not read: what they are, and what to do instead.
 */
#ifndef IKT_IO_FORMATS_FOREIGN_H
#define IKT_IO_FORMATS_FOREIGN_H

#include <stdint.h>

/* LOCAL, pure. "is a Parquet file, ...", to follow a path, or NULL where the bytes are none of
 * these. */
const char *ikt_foreign_format(const unsigned char *head, int64_t bytes);

/* LOCAL, pure. The same of formats of text, which another reader would take for its own. Those that
 * are known by a word behind comments are known if it is among these bytes. */
const char *ikt_foreign_text(const unsigned char *head, int64_t bytes);

#endif
