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
#ifndef IKT_KERNELSUM_WINDOW_H
#define IKT_KERNELSUM_WINDOW_H

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

#endif
