/* "FILE" and "FILE:PART" as the options of columns, labels and texts name what they read. */
#ifndef IKT_IO_SOURCES_PLACE_H
#define IKT_IO_SOURCES_PLACE_H

#include <stdbool.h>

#include "base/atomic_file.h"
#include "base/context.h"

typedef struct {
    char file[IKT_PATH_MAX]; /* "" where there is none of that name */
    char part[IKT_PATH_MAX]; /* a data set or a column; "" where none is named */
    bool is_hdf5, is_csv;    /* by the content of the file */
} ikt_place;

/* COLLECTIVE. Takes a name apart, as rank 0 sees the file: other nodes need not see the same names.
 * Errors: IKT_ERR_FILE: what is there is no regular file, or cannot be read. */
ikt_status ikt_place_find(ikt_context *ctx, const char *name, ikt_place *place);

#endif
