/* The graph of a map, its eigenvalues and the gradient of sums over them, in plain double
 * precision: what the regulariser of LaptSNE is compared with. Student kernel, two dimensions. */
#ifndef IKT_TEST_MAP_SPECTRUM_H
#define IKT_TEST_MAP_SPECTRUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SPECTRUM_MOST = 128 /* points */ };

typedef struct {
    int n;
    double w[SPECTRUM_MOST][SPECTRUM_MOST], degree[SPECTRUM_MOST];
    double sigma[SPECTRUM_MOST];            /* of the normalised Laplacian, the least first */
    double v[SPECTRUM_MOST][SPECTRUM_MOST]; /* v[k] its eigenvectors, orthonormal */
} spectrum;

/* Eigenpairs of the symmetric matrix a, which is destroyed, by Jacobi's rotations. */
static inline void spectrum_rotate(int n, double a[][SPECTRUM_MOST], double x[][SPECTRUM_MOST]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                off += a[i][j] * a[i][j];
        if (off < 1e-28) return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (fabs(a[p][q]) < 1e-300) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta));
                const double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    const double pk = a[p][k], qk = a[q][k], xp = x[p][k], xq = x[q][k];
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                    x[p][k] = c * xp - s * xq;
                    x[q][k] = s * xp + c * xq;
                }
            }
    }
}

static inline void spectrum_find(const double *y, int n, spectrum *s) {
    static double a[SPECTRUM_MOST][SPECTRUM_MOST], x[SPECTRUM_MOST][SPECTRUM_MOST];
    bool taken[SPECTRUM_MOST] = {false};
    s->n = n;
    for (int i = 0; i < n; i++) {
        s->degree[i] = 0;
        for (int j = 0; j < n; j++) {
            const double dx = y[2 * i] - y[2 * j], dy = y[2 * i + 1] - y[2 * j + 1];
            s->w[i][j] = i == j ? 0 : 1 / (1 + dx * dx + dy * dy);
            s->degree[i] += s->w[i][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = (i == j) - s->w[i][j] / sqrt(s->degree[i] * s->degree[j]);
    spectrum_rotate(n, a, x);
    for (int k = 0; k < n; k++) {
        int least = -1;
        for (int i = 0; i < n; i++)
            if (!taken[i] && (least < 0 || a[i][i] < a[least][least])) least = i;
        taken[least] = true;
        s->sigma[k] = a[least][least];
        memcpy(s->v[k], x[least], sizeof s->v[k]);
    }
}

/* h and h'. */
static inline double spectrum_h(bool is_log, double sigma) {
    return is_log ? log(sigma) : sigma;
}
static inline double spectrum_slope(bool is_log, double sigma) {
    return is_log ? 1 / sigma : 1;
}

/* sum over k = 2 .. rank of h(sigma_k). */
static inline double spectrum_value(const spectrum *s, int rank, bool is_log) {
    double sum = 0;
    for (int k = 1; k < rank; k++)
        sum += spectrum_h(is_log, s->sigma[k]);
    return sum;
}

/* Its gradient, [2 n]: -4 sum_j g_ij w_ij^2 (y_i - y_j). */
static inline void spectrum_gradient(const spectrum *s, const double *y, int rank, bool is_log,
                                     double *gradient) {
    double b[SPECTRUM_MOST];
    for (int i = 0; i < s->n; i++) {
        b[i] = 0;
        for (int k = 1; k < rank; k++)
            b[i] += spectrum_slope(is_log, s->sigma[k]) * (1 - s->sigma[k]) * s->v[k][i] *
                    s->v[k][i] / s->degree[i];
    }
    memset(gradient, 0, (size_t)(2 * s->n) * sizeof *gradient);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            double g = (b[i] + b[j]) / 2;
            for (int k = 1; k < rank; k++)
                g -= spectrum_slope(is_log, s->sigma[k]) * s->v[k][i] * s->v[k][j] /
                     sqrt(s->degree[i] * s->degree[j]);
            for (int c = 0; c < 2; c++)
                gradient[2 * i + c] -=
                    4 * g * s->w[i][j] * s->w[i][j] * (y[2 * i + c] - y[2 * j + c]);
        }
}

/* What the paper prints in its place, equations (20), (21), (25) and (26), for the sum of the
 * eigenvalues 1 .. rank. */
static inline void spectrum_printed(const spectrum *s, const double *y, int rank,
                                    double *gradient) {
    static double vv[SPECTRUM_MOST][SPECTRUM_MOST], u[SPECTRUM_MOST][SPECTRUM_MOST];
    double u0[SPECTRUM_MOST], u1[SPECTRUM_MOST];
    const int n = s->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            vv[i][j] = 0;
            for (int k = 0; k < rank; k++)
                vv[i][j] += s->v[k][i] * s->v[k][j];
        }
    for (int m = 0; m < n; m++) {
        u0[m] = u1[m] = 0;
        for (int i = 0; i < n; i++) {
            u0[m] += 0.5 * vv[i][m] * s->w[i][m] / (pow(s->degree[i], 1.5) * sqrt(s->degree[m]));
            u1[m] += 0.5 * vv[m][i] * s->w[m][i] / (sqrt(s->degree[m]) * pow(s->degree[i], 1.5));
        }
    }
    for (int m = 0; m < n; m++)
        for (int k = 0; k < n; k++)
            u[m][k] = (u0[k] + u1[m] - 0.5 * vv[m][k] / sqrt(s->degree[m] * s->degree[k])) *
                      s->w[m][k] * s->w[m][k];
    for (int m = 0; m < n; m++)
        for (int c = 0; c < 2; c++) {
            double sum = 0, row = 0;
            for (int k = 0; k < n; k++) {
                sum += u[m][k] * y[2 * k + c];
                row += u[m][k];
            }
            gradient[2 * m + c] = 2 * (sum - row * y[2 * m + c]);
        }
}

#endif
