/* The connected components of P: rows that are joined by positive affinities, one after another.
 *
 * Each component has an eigenvalue 0 of the graph Laplacian of its own, so a solver has to be told
 * of them, and a user may want to know that the data falls apart.
 * Method: a rank joins the rows and columns of its own entries (union by the lower number); then
 * all take the lowest row that they are joined to, over boundary rows again and again until nothing
 * changes. Advantage: the passes are as many as ranks that a component winds through, not as rows.
 * The result, numbers by the lowest row of each, is the same on any ranks.
 */
#ifndef IKT_SPECTRAL_CONNECTED_H
#define IKT_SPECTRAL_CONNECTED_H

#include <stdint.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"

typedef struct {
    int64_t count; /* over all ranks */
    int32_t *of;   /* [n_local] the component of each own row; the one of row 0 is 0 */
} ikt_components;

/* COLLECTIVE. The components of a P, of which one form is given and the other NULL. Errors:
 * IKT_ERR_RESOURCE; free with ikt_components_destroy in any case. Memory: 16 bytes a row and ghost;
 * with a dense P 12 bytes for each of all rows. */
ikt_status ikt_components_find(ikt_context *ctx, const ikt_graph *graph, const ikt_dense *dense,
                               ikt_components *out);
void ikt_components_destroy(ikt_components *components);

/* LOCAL, pure. The most bytes of a rank with n_local rows meanwhile.
 *   boundary   ghosts of a sparse P; all n rows of a dense one */
int64_t ikt_components_bytes(int64_t n_local, int64_t boundary);

#endif
