/* Values of rows that other ranks own: the boundary exchange of a sparse graph.
 *
 * Method: each rank names the foreign rows it needs once (its ghosts, sorted); the owners remember
 * whom to send what. An exchange is then one message per pair of ranks that share a boundary,
 * split into begin and end so that work goes between.
 * Advantage: volume and number of messages follow the boundary, not n. Disadvantage: a graph whose
 * rows are not ordered by locality makes nearly every row a ghost.
 */
#ifndef IKT_DIST_HALO_H
#define IKT_DIST_HALO_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct ikt_halo ikt_halo;

/* COLLECTIVE. Plans the exchange of `width` floats a row.
 *   rows        ownership of the rows; kept by value.
 *   ghost_row  [n_ghost] global numbers of foreign rows, ascending, none of this rank's; borrowed.
 * Errors: IKT_ERR_RESOURCE. Memory: 4 bytes per row sent, 4*width bytes per row sent. */
ikt_status ikt_halo_create(ikt_context *ctx, const ikt_rows *rows, const int64_t *ghost_row,
                           int64_t n_ghost, int width, ikt_halo **out);
void ikt_halo_destroy(ikt_halo **halo);

/* COLLECTIVE. Starts sending the boundary rows of own[rows.count * width] and receiving into
 * ghost[n_ghost * width]. Neither may be touched for writing until ikt_halo_end. */
void ikt_halo_begin(ikt_halo *halo, const float *own, float *ghost);
void ikt_halo_end(ikt_halo *halo);

#endif
