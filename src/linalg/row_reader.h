/* Rows as linear algebra wants them: any data set that can be read by ranges, in double precision.
 *
 * What owns the rows (a file, a preprocessed data set, an array in a test) lends one of these; so
 * the modules of this folder need not know where rows come from.
 */
#ifndef IKT_LINALG_ROW_READER_H
#define IKT_LINALG_ROW_READER_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    /* COLLECTIVE. Reads rows first .. first + count - 1 into rows[count*d], row-major. Ranks may
     * ask for different ranges, also for none. Returns an agreed status. */
    ikt_status (*read)(void *self, int64_t first, int64_t count, double *rows);
    void *self;       /* passed to read */
    int64_t n, d;     /* rows and columns, the same on all ranks */
    const char *name; /* "file.h5:/X", for messages; lent */
} ikt_row_reader;

#endif
