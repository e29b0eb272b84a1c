/* Eigenvalues and symmetry of similarities. See definite.h. */
#include "similarity/definite.h"

#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "linalg/eigen.h"

/* What counts as a negative eigenvalue and not as rounding, as a part of the largest magnitude. */
static const double rounding = 1e-10;

static const char purpose[] = "similarities";

ikt_status ikt_matrix_symmetrise(ikt_context *ctx, const ikt_rows *rows, double *k) {
    const int64_t n = rows->n, own = rows->count;
    IKT_ARRAYS(held, ctx, purpose);
    double *leave = ikt_claim(&held, own * n, sizeof *leave);
    double *come = ikt_claim(&held, own * n, sizeof *come);
    int64_t *counts = ikt_claim(&held, rows->ranks, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    /* To each rank its columns of the own rows; from it, rows of the own columns. */
    int64_t at = 0;
    for (int rank = 0; rank < rows->ranks; rank++) {
        const int64_t from = ikt_rows_first(rows, rank), width = ikt_rows_count(rows, rank);
        counts[rank] = own * width;
        for (int64_t i = 0; i < own; i++)
            for (int64_t c = 0; c < width; c++)
                leave[at++] = k[i * n + from + c];
    }
    ikt_exchange(ctx, leave, counts, come, counts, sizeof *come);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < own; i++)
            k[i * n + j] = (k[i * n + j] + come[j * own + i]) / 2;
    return IKT_OK;
}

/* What the matrix lacks of a definite one, along an eigenvector. */
static double lack(const void *self, double value) {
    return value < 0 ? *(const double *)self * -value : 0;
}

/* COLLECTIVE. K - lambda_min I. */
static ikt_status shift(ikt_context *ctx, const ikt_rows *rows, int64_t alone_max, double *k,
                        ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    double *vector IKT_AT_END(ikt_free) = NULL;
    *found = (ikt_eigenvalues){.negative = -1};
    IKT_TRY(ikt_alloc_all(ctx, &vector, n, sizeof *vector, purpose));
    IKT_TRY(ikt_eigen_selected(ctx, rows, k, NULL, 1, IKT_EIGEN_LEAST, alone_max, &found->least,
                               vector));
    for (int64_t i = 0; found->least < 0 && i < rows->count; i++)
        k[i * n + rows->first + i] -= found->least;
    return IKT_OK;
}

ikt_status ikt_eigenvalues_change(ikt_context *ctx, const ikt_rows *rows, ikt_spectrum_use kind,
                                  int64_t alone_max, double *k, ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    const double factor = kind == IKT_USE_FLIP ? 2 : 1;
    double negative = 0, all = 0;
    if (kind == IKT_USE_SHIFT) return shift(ctx, rows, alone_max, k, found);
    *found = (ikt_eigenvalues){.negative = 0};
    IKT_ARRAYS(held, ctx, purpose);
    double *more = ikt_claim(&held, rows->count * n, sizeof *more);
    double *values = ikt_claim(&held, n, sizeof *values);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_eigen_function(ctx, rows, k, lack, &factor, alone_max, values, more));
    const double largest = fmax(fabs(values[0]), fabs(values[n - 1]));
    found->most = values[0];
    found->least = values[n - 1];
    for (int64_t j = 0; j < n; j++) {
        found->negative += values[j] < -rounding * largest;
        negative += values[j] < 0 ? -values[j] : 0;
        all += fabs(values[j]);
    }
    found->share = all > 0 ? negative / all : 0;
    if (found->negative > 0) {
        for (int64_t e = 0; e < rows->count * n; e++)
            k[e] += more[e];
        IKT_TRY(ikt_matrix_symmetrise(ctx, rows, k));
    }
    return IKT_OK;
}
