/* Principal axes of some sparse rows. See sparse_axes.h. */
#include "linalg/sparse_axes.h"

#include <float.h>
#include <math.h>
#include <omp.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "linalg/eigen.h"

static const char purpose[] = "principal axes";

/* --- products --------------------------------------------------------------------------------- */

static double product(ikt_sparse_row a, const double *dense) {
    double sum = 0;
    for (int64_t e = 0; e < a.count; e++)
        sum += (double)a.value[e] * dense[a.column[e]];
    return sum;
}

/* Products of row i with all.
 *   dense   [d] zero, before and after */
static void multiply_row(const ikt_sparse *rows, int64_t i, double *dense, double *out) {
    const ikt_sparse_row own = ikt_sparse_row_of(rows, i);
    for (int64_t e = 0; e < own.count; e++)
        dense[own.column[e]] = (double)own.value[e];
    for (int64_t j = 0; j < rows->count; j++)
        out[j] = product(ikt_sparse_row_of(rows, j), dense);
    for (int64_t e = 0; e < own.count; e++)
        dense[own.column[e]] = 0;
}

/* COLLECTIVE. All products on every rank, each rank computing those of some rows.
 *   gram   [m * m] */
static ikt_status multiply(ikt_context *ctx, const ikt_sparse *rows, double *gram) {
    const int64_t m = rows->count;
    const int threads = ikt_threads(ctx);
    const ikt_rows distribution = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    double *dense = NULL, *own = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &dense, threads * rows->d, sizeof *dense, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &own, distribution.count * m, sizeof *own, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, distribution.ranks, sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t i = 0; i < distribution.count; i++)
            multiply_row(rows, distribution.first + i, dense + omp_get_thread_num() * rows->d,
                         own + i * m);
        for (int r = 0; r < distribution.ranks; r++)
            counts[r] = ikt_rows_count(&distribution, r);
        ikt_allgather(ctx, own, distribution.count, (size_t)m * sizeof *own, gram, counts);
    }
    ikt_free(&dense);
    ikt_free(&own);
    ikt_free(&counts);
    return st;
}

/* Products of the rows less their mean, as an upper triangle in place; in a fixed order. */
static void centre(int64_t m, double *gram, double *mean) {
    double all = 0;
    for (int64_t i = 0; i < m; i++) {
        mean[i] = 0;
        for (int64_t j = 0; j < m; j++)
            mean[i] += gram[i * m + j];
        mean[i] /= (double)m;
        all += mean[i];
    }
    all /= (double)m;
    int64_t to = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m; j++)
            gram[to++] = gram[i * m + j] - mean[i] - mean[j] + all;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* The entry of largest magnitude becomes positive, the length 1. */
static void standardise(double *axis, int64_t d) {
    double square = 0, largest = 0;
    for (int64_t k = 0; k < d; k++) {
        square += axis[k] * axis[k];
        if (fabs(axis[k]) > fabs(largest)) largest = axis[k];
    }
    if (!(square > 0)) return;
    const double factor = (largest < 0 ? -1 : 1) / sqrt(square);
    for (int64_t k = 0; k < d; k++)
        axis[k] *= factor;
}

/* sum_i weight_i (x_i - mean), in the order of rows.
 *   mean   [d] */
static void combine(const ikt_sparse *rows, const double *weight, const double *mean,
                    double *axis) {
    double total = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, i);
        for (int64_t e = 0; e < row.count; e++)
            axis[row.column[e]] += weight[i] * (double)row.value[e];
        total += weight[i];
    }
    for (int64_t k = 0; k < rows->d; k++)
        axis[k] -= total * mean[k];
}

static void find_mean(const ikt_sparse *rows, double *mean) {
    for (int64_t e = 0; e < rows->start[rows->count]; e++)
        mean[rows->column[e]] += (double)rows->value[e];
    for (int64_t k = 0; k < rows->d; k++)
        mean[k] /= (double)rows->count;
}

/* From eigenvectors to axes; those without variance stay zero. */
static void set_axes(const ikt_sparse *rows, int64_t found, const double *values,
                     const double *vectors, const double *mean, ikt_sparse_axes *out) {
    const double least = (double)rows->count * DBL_EPSILON * values[0];
    for (int64_t c = 0; c < found; c++) {
        double *axis = out->axis + c * rows->d;
        if (!(values[c] > least)) continue;
        combine(rows, vectors + c * rows->count, mean, axis);
        standardise(axis, rows->d);
        for (int64_t k = 0; k < rows->d; k++)
            out->offset[c] += mean[k] * axis[k];
    }
}

ikt_status ikt_sparse_axes_fit(ikt_context *ctx, const ikt_sparse *rows, int64_t q,
                               ikt_sparse_axes *out) {
    const int64_t m = rows->count, found = q < m ? q : m;
    double *gram = NULL, *vectors = NULL, *mean = NULL;
    *out = (ikt_sparse_axes){.d = rows->d, .q = q};
    ikt_status st = ikt_alloc(ctx, &gram, m * m, sizeof *gram, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &vectors, (m + 1) * found, sizeof *vectors, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &mean, rows->d + m, sizeof *mean, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->axis, q * rows->d, sizeof *out->axis, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->offset, q, sizeof *out->offset, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = multiply(ctx, rows, gram);
    if (st == IKT_OK) {
        double *values = vectors + m * found;
        centre(m, gram, mean + rows->d);
        st = ikt_eigen_leading(ctx, gram, m, found, IKT_EIGEN_ALONE_MAX, values, vectors);
        if (st == IKT_OK) find_mean(rows, mean);
        if (st == IKT_OK) set_axes(rows, found, values, vectors, mean, out);
    }
    ikt_free(&gram);
    ikt_free(&vectors);
    ikt_free(&mean);
    if (st != IKT_OK) ikt_sparse_axes_destroy(out);
    return st;
}

void ikt_sparse_axes_destroy(ikt_sparse_axes *axes) {
    ikt_free(&axes->axis);
    ikt_free(&axes->offset);
}

void ikt_sparse_axes_scores(ikt_context *ctx, const ikt_sparse_axes *axes, const ikt_sparse *rows,
                            double *scores) {
    const int64_t q = axes->q;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t c = 0; c < q; c++)
            scores[i * q + c] =
                product(ikt_sparse_row_of(rows, i), axes->axis + c * axes->d) - axes->offset[c];
}
