/* Which sparse matrix of a file is meant. */
#ifndef IKT_IO_RESULTS_GRAPH_FIND_H
#define IKT_IO_RESULTS_GRAPH_FIND_H

#include <hdf5.h>

#include "base/status.h"

/* COLLECTIVE. Length of the file's name in FILE[:PATH]: all of it where there is such a file. */
size_t ikt_graph_name_split(ikt_context *ctx, const char *name);

/* LOCAL. The group `graph` of the file, or the only square sparse matrix in groups up to three
 * deep.
 *   path   [size], receives its name
 * Errors: IKT_ERR_DATA where there is none, or several, with their names. */
ikt_status ikt_graph_find(ikt_context *ctx, hid_t file, const char *file_name, char *path,
                          size_t size);

#endif
