/* iktsne info of a kept graph (output.graph). */
#ifndef IKT_APP_INFO_GRAPH_H
#define IKT_APP_INFO_GRAPH_H

#include "io/results/graph_file.h"

/* COLLECTIVE. Prints what it is and how it was made.
 *   configuration   only the settings that made it, as YAML
 * Errors: those of reading. */
ikt_status ikt_info_graph(ikt_context *ctx, const ikt_graph_file *file, bool configuration,
                          bool as_json);

#endif
