/* Names that may be FILE, or FILE:WHAT of something in a file. */
#ifndef IKT_IO_FORMATS_FILE_NAME_H
#define IKT_IO_FORMATS_FILE_NAME_H

#include <stddef.h>

/* LOCAL. Length of the file's name: all of it where there is such a file (colons may belong to it)
 * or no colon, otherwise what stands before the last colon. On one rank: other nodes need not see
 * the same files. */
size_t ikt_file_name_length(const char *name);

#endif
