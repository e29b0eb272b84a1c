/* Singular values of matrices of up to three rows. See small_svd.h. */
#include "linalg/small_svd.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { D = IKT_SVD_MOST, SWEEPS_MOST = 60 };

/* Columns as rows, which are easier to turn. */
typedef double vectors[D][D];

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

static void swap(double *a, double *b) {
    double kept[D];
    memcpy(kept, a, sizeof kept);
    memcpy(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
}

/* The unit vector that sticks out most of those before `k`, orthogonal to them. */
static void complete(int d, vectors u, int k) {
    double best = -1, candidate[D];
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

static void sort(int d, vectors w, vectors v) {
    for (int k = 0; k < d; k++)
        for (int p = k + 1; p < d; p++)
            if (dot(d, w[p], w[p]) > dot(d, w[k], w[k])) {
                swap(w[k], w[p]);
                swap(v[k], v[p]);
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
    sort(d, w, right);
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
