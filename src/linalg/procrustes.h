/* The turn, mirror, scale and shift that bring one map nearest to another in least squares, and the
 * singular values of matrices of up to three rows that they follow from.
 *
 * Method: orthogonal Procrustes analysis (Schoenemann 1966; with scale, Schoenemann and Carroll
 * 1970): both maps are centred, M = sum of y^T r over the rows, M = U S V^T, and the turn is U V^T.
 * Sums are exact, so the bits do not depend on ranks. Advantage: the optimum, in two passes over
 * the rows. Disadvantage: least squares: a few rows far away weigh much.
 * Singular values: one-sided Jacobi (Hestenes 1958): pairs of columns are turned against each other
 * until all are orthogonal; their lengths are the singular values. Advantage: exact to rounding for
 * any condition, and the same bits whatever LAPACK there is. Disadvantage: only for small matrices.
 */
#ifndef IKT_LINALG_PROCRUSTES_H
#define IKT_LINALG_PROCRUSTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { IKT_PROCRUSTES_MOST = 3 };

/* A row y becomes scale (y - from) turn + to, as row vectors. */
typedef struct {
    int q;
    double from[IKT_PROCRUSTES_MOST], to[IKT_PROCRUSTES_MOST];
    double turn[IKT_PROCRUSTES_MOST * IKT_PROCRUSTES_MOST]; /* q x q, row-major, orthogonal */
    double scale;
    bool is_mirrored; /* the determinant of the turn is -1 */
    double size;      /* of the reference: root mean square distance of a row from the centre */
} ikt_procrustes;

/* COLLECTIVE. The best such motion; the same bits on every rank.
 *   y, reference   [n_local * q] rows that belong together; finite
 *   mirror, scale  whether it may mirror, and scale (else scale is 1)
 * Errors: IKT_ERR_DATA: no rows, all rows of one of both in one point, or no motion with a positive
 * scale is nearer than a point. */
ikt_status ikt_procrustes_fit(ikt_context *ctx, int q, const float *y, const float *reference,
                              int64_t n_local, bool mirror, bool scale, ikt_procrustes *out);

/* LOCAL. Moves rows: out[n * q], which may be y. */
void ikt_procrustes_apply(const ikt_procrustes *motion, const float *y, int64_t n, float *out);

/* LOCAL. The angle of the turn in degrees, of what is left of it when the last coordinate is
 * mirrored first where it mirrors: -180 .. 180 counter-clockwise for q = 2, 0 .. 180 for q = 3, 0
 * for q = 1. */
double ikt_procrustes_angle(const ikt_procrustes *motion);

/* LOCAL, pure. a = u diag(s) v^T, all d x d and row-major, 1 <= d <= IKT_PROCRUSTES_MOST; s
 * descending. Where singular values are 0 the vectors are completed to orthonormal ones. */
void ikt_small_svd(int d, const double *a, double *u, double *s, double *v);

/* LOCAL, pure. Determinant of a d x d matrix. */
double ikt_small_det(int d, const double *a);

#endif
