/* Orthogonal Procrustes analysis, and small singular value decompositions. See procrustes.h. */
#include "linalg/procrustes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"

enum { Q = IKT_PROCRUSTES_MOST, SWEEPS_MOST = 60 };

/* --- singular values -------------------------------------------------------------------------- */

/* Columns as rows, which are easier to turn. */
typedef double vectors[Q][Q];

static double dot(int d, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

static void turn(int d, double *a, double *b, double c, double s) {
    for (int i = 0; i < d; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* Makes two columns orthogonal; false where they are. */
static bool turn_pair(int d, vectors w, vectors v, int p, int q) {
    const double alpha = dot(d, w[p], w[p]), beta = dot(d, w[q], w[q]);
    const double gamma = dot(d, w[p], w[q]);
    if (fabs(gamma) <= DBL_EPSILON * sqrt(alpha) * sqrt(beta)) return false;
    const double zeta = (beta - alpha) / (2 * gamma);
    const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + t * t);
    turn(d, w[p], w[q], c, c * t);
    turn(d, v[p], v[q], c, c * t);
    return true;
}

/* The unit vector that sticks out most of those before `k`, orthogonal to them. */
static void complete(int d, vectors u, int k) {
    double best = -1, candidate[Q];
    for (int axis = 0; axis < d; axis++) {
        memset(candidate, 0, sizeof candidate);
        candidate[axis] = 1;
        for (int pass = 0; pass < 2; pass++) /* twice is enough */
            for (int p = 0; p < k; p++) {
                const double along = dot(d, candidate, u[p]);
                for (int i = 0; i < d; i++)
                    candidate[i] -= along * u[p][i];
            }
        const double length = sqrt(dot(d, candidate, candidate));
        if (length <= best) continue;
        best = length;
        for (int i = 0; i < d; i++)
            u[k][i] = candidate[i] / length;
    }
}

void ikt_small_svd(int d, const double *a, double *u, double *s, double *v) {
    vectors w = {{0}}, right = {{0}}, left = {{0}};
    for (int k = 0; k < d; k++) {
        right[k][k] = 1;
        for (int i = 0; i < d; i++)
            w[k][i] = a[i * d + k];
    }
    bool is_changed = true;
    for (int sweep = 0; is_changed && sweep < SWEEPS_MOST; sweep++) {
        is_changed = false;
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++)
                is_changed |= turn_pair(d, w, right, p, q);
    }
    for (int k = 0; k < d; k++)
        for (int p = k + 1; p < d; p++)
            if (dot(d, w[p], w[p]) > dot(d, w[k], w[k]))
                for (int i = 0; i < d; i++) {
                    const double x = w[k][i], y = right[k][i];
                    w[k][i] = w[p][i];
                    w[p][i] = x;
                    right[k][i] = right[p][i];
                    right[p][i] = y;
                }
    for (int k = 0; k < d; k++) {
        s[k] = sqrt(dot(d, w[k], w[k]));
        const bool is_there = s[k] > 4 * DBL_EPSILON * s[0]; /* else its direction is rounding */
        for (int i = 0; i < d && is_there; i++)
            left[k][i] = w[k][i] / s[k];
        if (!is_there) complete(d, left, k);
    }
    for (int k = 0; k < d; k++)
        for (int i = 0; i < d; i++) {
            u[i * d + k] = left[k][i];
            v[i * d + k] = right[k][i];
        }
}

double ikt_small_det(int d, const double *a) {
    if (d == 1) return a[0];
    if (d == 2) return a[0] * a[3] - a[1] * a[2];
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

/* --- motions ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Mean rows of both maps, and what the rows say of both once they are centred.
 *   cross     [q * q] receives the sum of y^T r
 *   squares   receives the sums of squares of y and of the reference */
static void find_moments(ikt_context *ctx, const float *y, const float *reference, int64_t n_local,
                         double n, ikt_procrustes *out, double *cross, double squares[2]) {
    const int q = out->q;
    ikt_exact_sum mean[2 * Q] = {{{0}, 0, 0}}, sum[Q * Q + 2] = {{{0}, 0, 0}};
    for (int64_t i = 0; i < n_local; i++)
        for (int c = 0; c < q; c++) {
            ikt_exact_sum_add(&mean[c], (double)y[q * i + c]);
            ikt_exact_sum_add(&mean[Q + c], (double)reference[q * i + c]);
        }
    ikt_exact_sum_reduce(ctx, mean, 2 * Q);
    for (int c = 0; c < q; c++) {
        out->from[c] = ikt_exact_sum_value(&mean[c]) / n;
        out->to[c] = ikt_exact_sum_value(&mean[Q + c]) / n;
    }
    for (int64_t i = 0; i < n_local; i++) {
        double a[Q], b[Q];
        for (int c = 0; c < q; c++) {
            a[c] = (double)y[q * i + c] - out->from[c];
            b[c] = (double)reference[q * i + c] - out->to[c];
            ikt_exact_sum_add(&sum[Q * Q], a[c] * a[c]);
            ikt_exact_sum_add(&sum[Q * Q + 1], b[c] * b[c]);
        }
        for (int e = 0; e < q * q; e++)
            ikt_exact_sum_add(&sum[e], a[e / q] * b[e % q]);
    }
    ikt_exact_sum_reduce(ctx, sum, Q * Q + 2);
    for (int e = 0; e < q * q; e++)
        cross[e] = ikt_exact_sum_value(&sum[e]);
    for (int s = 0; s < 2; s++)
        squares[s] = ikt_exact_sum_value(&sum[Q * Q + s]);
}

/* The turn, and how much of the reference it explains: the sum of the singular values. The last of
 * them pays for a turn that must not mirror; where it is nothing, mirroring is never needed. */
static double find_turn(const double *cross, bool mirror, ikt_procrustes *out) {
    const int q = out->q;
    double u[Q * Q], s[Q], v[Q * Q], sum = 0;
    ikt_small_svd(q, cross, u, s, v);
    out->is_mirrored = ikt_small_det(q, u) * ikt_small_det(q, v) < 0;
    const bool is_free = q > 1 && s[q - 1] <= 8 * DBL_EPSILON * s[0];
    if (out->is_mirrored && (!mirror || is_free)) {
        for (int i = 0; i < q; i++)
            u[i * q + q - 1] *= -1;
        s[q - 1] *= -1;
        out->is_mirrored = false;
    }
    for (int e = 0; e < q * q; e++) {
        out->turn[e] = 0;
        for (int k = 0; k < q; k++)
            out->turn[e] += u[e / q * q + k] * v[e % q * q + k];
    }
    for (int k = 0; k < q; k++)
        sum += s[k];
    return sum;
}

ikt_status ikt_procrustes_fit(ikt_context *ctx, int q, const float *y, const float *reference,
                              int64_t n_local, bool mirror, bool scale, ikt_procrustes *out) {
    const double n = (double)ikt_sum_one(ctx, n_local);
    *out = (ikt_procrustes){.q = q, .scale = 1};
    if (n == 0) return ikt_fail(ctx, IKT_ERR_DATA, "there are no rows to align by");
    double cross[Q * Q], squares[2];
    find_moments(ctx, y, reference, n_local, n, out, cross, squares);
    if (!(squares[0] > 0) || !(squares[1] > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "all rows of %s lie in one point: nothing to align",
                        squares[0] > 0 ? "the reference" : "the embedding");
    const double explained = find_turn(cross, mirror, out);
    if (scale) out->scale = explained / squares[0];
    out->size = sqrt(squares[1] / n);
    if (out->scale > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "no turn%s brings the embedding nearer to the reference than one point would "
                    "be: the two have nothing in common, or their rows are in another order",
                    mirror ? "" : " without mirroring");
}

void ikt_procrustes_apply(const ikt_procrustes *motion, const float *y, int64_t n, float *out) {
    const int q = motion->q;
    for (int64_t i = 0; i < n; i++) {
        double centred[Q], moved[Q];
        for (int c = 0; c < q; c++)
            centred[c] = (double)y[q * i + c] - motion->from[c];
        for (int c = 0; c < q; c++) {
            moved[c] = 0;
            for (int k = 0; k < q; k++)
                moved[c] += centred[k] * motion->turn[k * q + c];
        }
        for (int c = 0; c < q; c++)
            out[q * i + c] = (float)(motion->scale * moved[c] + motion->to[c]);
    }
}

double ikt_procrustes_angle(const ikt_procrustes *motion) {
    const int q = motion->q;
    const double degrees = 180 / acos(-1.0);
    double proper[Q * Q];
    memcpy(proper, motion->turn, sizeof proper);
    for (int c = 0; c < q && motion->is_mirrored; c++)
        proper[(q - 1) * q + c] *= -1;
    if (q == 1) return 0;
    if (q == 2) return degrees * atan2(proper[1], proper[0]);
    const double cosine = (proper[0] + proper[4] + proper[8] - 1) / 2;
    return degrees * acos(fmin(fmax(cosine, -1), 1));
}
