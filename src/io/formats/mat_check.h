/* Whether a MAT file of versions 5 to 7 is whole.
 *
 * The library that reads these files takes a matrix that ends too early, or whose compression is
 * damaged, for one of zeros. So the structure is gone through before: the elements of the file,
 * their compression to its end and checksum, the parts of each matrix, and that a matrix has as
 * many numbers as its size says. Cost: the file is read and unpacked once more.
 */
#ifndef IKT_IO_FORMATS_MAT_CHECK_H
#define IKT_IO_FORMATS_MAT_CHECK_H

#include "base/status.h"

/* LOCAL. Errors: IKT_ERR_FILE: cannot be read, truncated, damaged, with what and where. */
ikt_status ikt_mat_check(ikt_context *ctx, const char *path);

#endif
