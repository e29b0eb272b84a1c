/* Which array of a file that holds several is meant. */
#ifndef IKT_IO_FORMATS_ARRAY_CHOICE_H
#define IKT_IO_FORMATS_ARRAY_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    const char *name;  /* lent */
    bool usable;       /* of numbers that are read */
    bool table;        /* of several rows and columns */
    const char *shape; /* "1797 x 64, <f8", for messages; lent */
} ikt_array;

/* LOCAL. Chooses: the one that `name` names; else the only usable one; else the only table; else
 * the first table whose name is usual for rows (X, data, ...).
 *   name   NULL or "" where nothing is asked for
 *   out    receives its number
 * Errors: IKT_ERR_DATA: none, or several; the message names them, and the option to choose by. */
ikt_status ikt_array_choose(ikt_context *ctx, const char *path, const ikt_array *arrays,
                            int64_t count, const char *name, int64_t *out);

#endif
