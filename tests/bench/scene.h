/* Made-up data that the loop's paths run on: a late map, its rows in an order of locality, P.
 *
 * Rows are numbered along a curve through the map, those of a small square at random within it, as
 * rows are that are ordered by coarse cells. The side of the map is that of t-SNE maps of as many
 * rows. Neighbours are so far apart in the order that every halving of the rows cuts a fifth of
 * them, as was counted on digits (docs/scaling.md); half of them are mutual.
 */
#ifndef IKT_BENCH_SCENE_H
#define IKT_BENCH_SCENE_H

#include "graph/graph.h"
#include "harness.h"
#include "kernelsum/grid.h"

enum { BENCH_NEIGHBOURS_MOST = 90 };

/* LOCAL. Side of the map of n rows. */
double bench_span(int64_t n);

/* LOCAL. Positions of the own rows: *y [rows->count * 2], for ikt_free. Errors: IKT_ERR_RESOURCE.
 */
ikt_status bench_positions(ikt_context *ctx, const ikt_rows *rows, float **y);

/* LOCAL. Lists of k neighbours, even and at most BENCH_NEIGHBOURS_MOST, with weights, as
 * ikt_test_symmetrise takes them. Errors: IKT_ERR_RESOURCE. */
ikt_status bench_lists(ikt_context *ctx, const ikt_rows *rows, int64_t k, bool is_uniform,
                       ikt_neighbours *out);

/* COLLECTIVE. Their P. Errors: IKT_ERR_RESOURCE. */
ikt_status bench_graph(ikt_context *ctx, const ikt_rows *rows, int64_t k, bool is_uniform,
                       ikt_graph *out);

/* LOCAL. A coordinate in [0, 1) of a row of a mixture of clusters: neither all rows nor none are
 * about as near to one centre as to the next. */
double bench_coordinate(int64_t row, int64_t column);

#endif
