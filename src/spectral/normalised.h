/* The normalised affinities N = D^-1/2 P D^-1/2, d_i the sum of row i of P, as an operator on
 * blocks of vectors. I - N is the normalised graph Laplacian of P.
 *
 * Eigenvalues of N lie between -1 and 1. Each connected component of P has the eigenvalue 1 with
 * the eigenvector sqrt(d) on its rows and 0 elsewhere; these are the known ones of the operator.
 * Method: a product is one pass over the own rows of P, whose entries are taken in the order in
 * which they stand, which is the same on any ranks, with one exchange of boundary rows (sparse P)
 * or of all rows (dense P). Known vectors are removed by sums over the rows of each component, as
 * integers.
 */
#ifndef IKT_SPECTRAL_NORMALISED_H
#define IKT_SPECTRAL_NORMALISED_H

#include <stdint.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"
#include "linalg/solver.h"

/* The connected components of P: rows that are joined by positive affinities, one after another.
 *
 * Each component has an eigenvalue 0 of the graph Laplacian of its own, so a solver has to be told
 * of them, and a user may want to know that the data falls apart.
 * Method: a rank joins the rows and columns of its own entries (union by the lower number); then
 * all take the lowest row that they are joined to, over boundary rows again and again until nothing
 * changes. Advantage: the passes are as many as ranks that a component winds through, not as rows.
 * The result, numbers by the lowest row of each, is the same on any ranks.
 */

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

typedef struct ikt_normalised ikt_normalised;

/* COLLECTIVE. The operator of a P, of which one form is given and the other NULL, for blocks of
 * `columns` columns.
 *   graph, dense   borrowed until it is destroyed
 *   components     of P; borrowed
 *   out            freed with ikt_normalised_destroy; NULL on failure
 * Errors: IKT_ERR_RESOURCE. Memory: ikt_normalised_bytes. */
ikt_status ikt_normalised_create(ikt_context *ctx, const ikt_graph *graph, const ikt_dense *dense,
                                 const ikt_components *components, int64_t columns,
                                 ikt_normalised **out);
void ikt_normalised_destroy(ikt_normalised **normalised);

/* LOCAL. As the solver wants it (solver.h); the operator lends itself. */
ikt_operator ikt_normalised_operator(ikt_normalised *normalised);

/* LOCAL, pure. Bytes of a rank with n_local rows.
 *   boundary   ghosts of a sparse P and rows that others need, each; all n rows of a dense one */
int64_t ikt_normalised_bytes(int64_t n_local, int64_t boundary, int64_t columns);

#endif
