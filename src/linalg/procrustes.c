/* Orthogonal Procrustes analysis. See procrustes.h. */
#include "linalg/procrustes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "linalg/small_svd.h"

enum { Q = IKT_PROCRUSTES_MOST, SUMS = Q * Q + 2 };
_Static_assert(Q == (int)IKT_SVD_MOST, "a turn is a small matrix");

/* COLLECTIVE. Mean rows of both maps. */
static void find_centres(ikt_context *ctx, int q, const float *y, const float *reference,
                         int64_t n_local, double n, ikt_procrustes *out) {
    ikt_exact_sum sum[2 * Q] = {{{0}, 0, 0}};
    for (int64_t i = 0; i < n_local; i++)
        for (int c = 0; c < q; c++) {
            ikt_exact_sum_add(&sum[c], (double)y[q * i + c]);
            ikt_exact_sum_add(&sum[Q + c], (double)reference[q * i + c]);
        }
    ikt_exact_sum_reduce(ctx, sum, 2 * Q);
    for (int c = 0; c < q; c++) {
        out->from[c] = ikt_exact_sum_value(&sum[c]) / n;
        out->to[c] = ikt_exact_sum_value(&sum[Q + c]) / n;
    }
}

/* What the rows say of both maps once they are centred. */
typedef struct {
    double cross[Q * Q]; /* q x q, sum of y^T r */
    double y, reference; /* sums of squares */
} moments;

/* COLLECTIVE. */
static moments find_moments(ikt_context *ctx, int q, const float *y, const float *reference,
                            int64_t n_local, const ikt_procrustes *at) {
    ikt_exact_sum sum[SUMS] = {{{0}, 0, 0}};
    moments m = {.y = 0};
    for (int64_t i = 0; i < n_local; i++) {
        double a[Q], b[Q];
        for (int c = 0; c < q; c++) {
            a[c] = (double)y[q * i + c] - at->from[c];
            b[c] = (double)reference[q * i + c] - at->to[c];
            ikt_exact_sum_add(&sum[Q * Q], a[c] * a[c]);
            ikt_exact_sum_add(&sum[Q * Q + 1], b[c] * b[c]);
        }
        for (int e = 0; e < q * q; e++)
            ikt_exact_sum_add(&sum[e], a[e / q] * b[e % q]);
    }
    ikt_exact_sum_reduce(ctx, sum, SUMS);
    for (int e = 0; e < q * q; e++)
        m.cross[e] = ikt_exact_sum_value(&sum[e]);
    m.y = ikt_exact_sum_value(&sum[Q * Q]);
    m.reference = ikt_exact_sum_value(&sum[Q * Q + 1]);
    return m;
}

/* The turn, and how much of the reference it explains: the sum of the singular values. The last of
 * them pays for a turn that must not mirror; where it is nothing, mirroring is never needed. */
static double find_turn(const moments *m, bool mirror, ikt_procrustes *out) {
    const int q = out->q;
    double u[Q * Q], s[Q], v[Q * Q], sum = 0;
    ikt_small_svd(q, m->cross, u, s, v);
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
    find_centres(ctx, q, y, reference, n_local, n, out);
    const moments m = find_moments(ctx, q, y, reference, n_local, out);
    if (!(m.y > 0) || !(m.reference > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "all rows of %s lie in one point: nothing to align",
                        m.y > 0 ? "the reference" : "the embedding");
    const double explained = find_turn(&m, mirror, out);
    if (scale) out->scale = explained / m.y;
    out->size = sqrt(m.reference / n);
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
