/* Local numbers for the columns of P. */
#ifndef IKT_GRAPH_GHOSTS_H
#define IKT_GRAPH_GHOSTS_H

#include "graph/graph.h"

/* LOCAL. Lists the foreign rows among the columns as ghosts, ascending, and turns the columns,
 * which are global numbers (as uint32), into local ones. Errors: IKT_ERR_RESOURCE. Memory: n/8 +
 * n/16 bytes while it works. */
ikt_status ikt_ghosts_number(ikt_context *ctx, ikt_graph *graph);

#endif
