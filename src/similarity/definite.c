/* Eigenvalues and symmetry of similarities. See definite.h. */
#include "similarity/definite.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/eigen.h"

/* What counts as a negative eigenvalue and not as rounding, as a part of the largest magnitude. */
static const double rounding = 1e-10;

static const char purpose[] = "similarities";

ikt_status ikt_matrix_symmetrise(ikt_context *ctx, const ikt_rows *rows, double *k) {
    const int64_t n = rows->n, own = rows->count;
    double *leave = NULL, *come = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &leave, own * n, sizeof *leave, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &come, own * n, sizeof *come, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
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
    }
    ikt_free(&leave);
    ikt_free(&come);
    ikt_free(&counts);
    return st;
}

/* What the matrix lacks of a definite one, along an eigenvector. */
static double lack(const void *self, double value) {
    return value < 0 ? *(const double *)self * -value : 0;
}

/* COLLECTIVE. K - lambda_min I. */
static ikt_status shift(ikt_context *ctx, const ikt_rows *rows, int64_t alone_max, double *k,
                        ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    double *vector = NULL;
    *found = (ikt_eigenvalues){.negative = -1};
    IKT_TRY(ikt_alloc_all(ctx, &vector, n, sizeof *vector, purpose));
    const ikt_status st = ikt_eigen_selected(ctx, rows, k, NULL, 1, IKT_EIGEN_LEAST, alone_max,
                                             &found->least, vector);
    for (int64_t i = 0; st == IKT_OK && found->least < 0 && i < rows->count; i++)
        k[i * n + rows->first + i] -= found->least;
    ikt_free(&vector);
    return st;
}

ikt_status ikt_eigenvalues_change(ikt_context *ctx, const ikt_rows *rows, ikt_spectrum_use kind,
                                  int64_t alone_max, double *k, ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    const double factor = kind == IKT_USE_FLIP ? 2 : 1;
    double *more = NULL, *values = NULL, negative = 0, all = 0;
    if (kind == IKT_USE_SHIFT) return shift(ctx, rows, alone_max, k, found);
    *found = (ikt_eigenvalues){.negative = 0};
    ikt_status st = ikt_alloc(ctx, &more, rows->count * n, sizeof *more, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &values, n, sizeof *values, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_eigen_function(ctx, rows, k, lack, &factor, alone_max, values, more);
    if (st == IKT_OK) {
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
            st = ikt_matrix_symmetrise(ctx, rows, k);
        }
    }
    ikt_free(&more);
    ikt_free(&values);
    return st;
}
