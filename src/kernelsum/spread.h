/* Spreading charges over the nodes of the grid, as integers.
 *
 * Each point adds the products of its weights along both axes to order x order nodes. Products are
 * rounded to integers before they are added, so the sum over points, threads and ranks is exact and
 * free of order; the rounding is 2^-50 of a charge for up to 4,000 points and grows in proportion
 * to n, so that all n charges would fit into one node: 1e-11 for 10^8 points. Charges other than 1
 * are of either sign and at most 1; the caller scales them.
 */
#ifndef IKT_KERNELSUM_SPREAD_H
#define IKT_KERNELSUM_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/status.h"
#include "kernelsum/grid.h"

/* The window by which the particle-mesh method spreads charges and gathers potentials.
 *
 * Method: window = box * ... * box * chi, where chi is an even polynomial on its support, with as
 * many boxes and coefficients as minimise the error of the force between two points at random
 * places of a grid (the objective of Hockney and Eastwood for particle-particle particle-mesh
 * methods; the kernel is 1 / (1 + r^2), its transform 2 pi K_0(k)). Every box gives the transform a
 * zero at each alias of k = 0, so a uniform density of any height makes no spurious force.
 * Advantage: with chi free, the error is a third below that of the B-spline of equal support (which
 * is the case that chi is a box, too) and the pieces remain polynomials. Disadvantage: higher
 * polynomials than the B-spline's, and two continuous derivatives fewer.
 */

enum { IKT_WINDOW_LANES = 8, IKT_WINDOW_TERMS = 10 };

/* Weights of the `order` nodes about a point that lies at `u` in [0, 1) between its nodes
 * order/2 - 1 and order/2 (counted from 0), as polynomials in v = u - 1/2:
 *   weight of node k = sum_d value[d][k] v^d,   its slope by u = sum_d slope[d][k] v^d.
 * Lanes order .. IKT_WINDOW_LANES - 1 are zero. The weights add up to 1, the slopes to 0. */
typedef struct {
    int order; /* 4 or 6 */
    int terms; /* of value; slope has one less */
    double value[IKT_WINDOW_TERMS][IKT_WINDOW_LANES];
    double slope[IKT_WINDOW_TERMS][IKT_WINDOW_LANES];
} ikt_window;

/* Terms of the windows, for loops whose length the compiler knows. */
enum { IKT_WINDOW_TERMS_4 = 7, IKT_WINDOW_TERMS_6 = 10 };

/* LOCAL. The window of an order, 4 or 6. Additions and multiplications only: the same on every
 * machine. */
ikt_window ikt_window_make(int order);

/* LOCAL. Weights [order] and slopes [order] at u; what the vectorised loops compute, in double. */
void ikt_window_at(const ikt_window *window, double u, double *weight, double *slope);

/* Charges of a grid: nodes[1] rows of `stride` fixed-point numbers; a charge of 1 is `unit`. The
 * `stride` - nodes[0] last columns are zero; the vectors of the last points reach into them. */
typedef struct {
    int64_t *charge;
    int64_t stride;
    double unit; /* a power of two; n charges of 1 in one node do not overflow */
} ikt_charges;

/* Workspace of the threads, for one of two methods (spread.c); grows as needed. Start from zero but
 * for `threads`, which stays. */
typedef struct {
    int threads;
    int64_t *own;           /* [threads - 1][own_charges] grids of the threads but the first, or */
    int64_t own_charges;    /* NULL and 0: then the points are sorted */
    float *sorted;          /* [n_local * 2] */
    int64_t *place;         /* [n_local] of each point among the sorted ones, and their charges; */
    double *sorted_amounts; /* [n_local] both made by callers with charges other than 1 */
    int64_t *offset;        /* [offsets], of them [threads][rows + 1] are in use */
    int64_t offsets;
} ikt_spread_space;

/* LOCAL. The value of a charge of 1 where n points may meet in one node. */
double ikt_charge_unit(int64_t n);

/* LOCAL. Stride of the rows of charges for a grid. */
int64_t ikt_charge_stride(const ikt_grid *grid, int order);

/* LOCAL. Makes the workspace large enough for n_local points, `charges` numbers of a grid and
 * `rows` rows of its cells. Nothing is needed for one thread. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_spread_prepare(ikt_context *ctx, ikt_spread_space *space, int64_t n_local,
                              int64_t charges, int64_t rows);
void ikt_spread_release(ikt_spread_space *space);

/* LOCAL. Sets the charges of the grid to those of the points y[n_local * 2]. Being sums of integers
 * they do not depend on the order of the points, on the threads or on the instruction set.
 *   amount      [n_local] charge of each point, -1 .. 1; NULL: 1 each
 *   is_sorted   points and grid are those of the last call with this workspace, which had charges
 *               as well: they are not sorted again */
void ikt_spread(ikt_isa isa, const ikt_grid *grid, const ikt_window *window, const float *y,
                const double *amount, int64_t n_local, bool is_sorted, ikt_spread_space *space,
                const ikt_charges *out);

#endif
