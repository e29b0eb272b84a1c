/* Principal components: fit and projection. See pca.h. */
#include "linalg/pca.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/sort.h"
#include "base/watch.h"
#include "dist/rows.h"
#include "linalg/column_stats.h"
#include "linalg/covariance_few.h"
#include "linalg/covariance_leading.h"
#include "linalg/dot_tile.h"
#include "linalg/eigen.h"

enum { LANES = IKT_TILE_COLUMNS };

static const char purpose[] = "principal components";

/* --- dense rows ------------------------------------------------------------------------------- */

static ikt_status create(ikt_context *ctx, int64_t d, int64_t k, ikt_pca **out) {
    const int64_t lanes = (k + LANES - 1) / LANES * LANES;
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, purpose));
    ikt_pca *pca = *out;
    pca->d = d;
    pca->k = k;
    IKT_ARRAYS(held, ctx, purpose);
    pca->mean = ikt_claim_kept(&held, d, sizeof *pca->mean);
    pca->variance = ikt_claim_kept(&held, k, sizeof *pca->variance);
    pca->components = ikt_claim_kept(&held, k * d, sizeof *pca->components);
    pca->packed = ikt_claim_kept(&held, lanes * d, sizeof *pca->packed);
    pca->offset = ikt_claim_kept(&held, lanes, sizeof *pca->offset);
    return held.status;
}

void ikt_pca_destroy(ikt_pca **pca) {
    if (!*pca) return;
    ikt_free_all(&(*pca)->mean, &(*pca)->variance, &(*pca)->components, &(*pca)->packed,
                 &(*pca)->offset, pca);
}

static void pack(ikt_pca *pca) {
    for (int64_t m = 0; m < pca->k; m++) {
        double *lane = pca->packed + m / LANES * LANES * pca->d + m % LANES;
        for (int64_t c = 0; c < pca->d; c++) {
            double weight = pca->components[m * pca->d + c];
            lane[c * LANES] = weight;
            pca->offset[m] += pca->mean[c] * weight;
        }
    }
}

/* COLLECTIVE. Components and their variances, without the covariance matrix or by it. */
static ikt_status find_components(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, ikt_pca *pca) {
    const int64_t d = reader->d, n = reader->n, k = pca->k;
    const bool is_wide = ikt_covariance_is_wide(d, k);
    bool is_of_few = ikt_covariance_is_of_few(n, d);
    double *upper IKT_AT_END(ikt_free) = NULL, total = 0;
    for (int64_t c = 0; c < d; c++)
        total += stats->variance[c];
    /* The matrix is made of numbers of any size. */
    if (!is_wide && !(total > 0 && isfinite(total))) is_of_few = false;
    if (is_of_few || is_wide) {
        pca->total_variance = total;
        if (n < 2 || !(pca->total_variance > 0)) return IKT_OK;
        if (!isfinite(pca->total_variance))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s: values whose squares exceed a double have no principal "
                            "components; bring them to another unit, or set "
                            "preprocess.normalise=minmax",
                            reader->name);
        pca->total_variance *= (double)n / (double)(n - 1);
        return is_of_few
                   ? ikt_covariance_of_few(ctx, reader, stats, k, pca->variance, pca->components)
                   : ikt_covariance_leading(ctx, reader, stats, pca->total_variance, k,
                                            pca->variance, pca->components);
    }
    IKT_TRY(ikt_covariance_compute(ctx, reader, stats, &upper));
    for (int64_t c = 0; c < d; c++)
        pca->total_variance += upper[ikt_upper_index(d, c, c)];
    if (!(pca->total_variance > 0)) return IKT_OK;
    return ikt_eigen_leading(ctx, upper, d, ikt_smaller(k, d), IKT_EIGEN_ALONE_MAX, pca->variance,
                             pca->components);
}

int64_t ikt_pca_bytes(int64_t n, int64_t d, int64_t k, int ranks, int threads) {
    const int64_t real = (int64_t)sizeof(double), lanes = (k + LANES - 1) / LANES * LANES;
    const int64_t kept = (k + lanes + 1) * (d + 1) * real + (int64_t)sizeof(ikt_pca);
    const int64_t columns = 4 * d * real;
    const int64_t block = ikt_stream_rows(d, real) * d * real;
    const int64_t sums = 2 * d * (int64_t)sizeof(ikt_exact_sum) + 3 * d * real + block;
    if (ikt_covariance_is_of_few(n, d))
        return kept + columns + ikt_larger(sums, ikt_covariance_few_bytes(n, d, threads));
    if (ikt_covariance_is_wide(d, k))
        return kept + columns +
               ikt_larger(sums, ikt_covariance_leading_bytes(d, k, ranks, threads));
    const int64_t packed = block + (IKT_BLOCK_ROWS + 1) * (d + LANES) * real;
    const int64_t solved = ikt_eigen_bytes(d, ranks, IKT_EIGEN_ALONE_MAX);
    return kept + columns +
           ikt_larger(sums, ikt_upper_entries(d) * real + ikt_larger(packed, solved));
}

ikt_status ikt_pca_fit(ikt_context *ctx, const ikt_row_reader *reader, int64_t k, ikt_pca **out) {
    ikt_column_stats stats IKT_AT_END(ikt_column_stats_free) = {0};
    ikt_pca *made IKT_AT_END(ikt_pca_destroy) = NULL;
    *out = NULL;
    const double d = (double)reader->d, available = (double)ikt_memory_available(ctx);
    const double needed =
        (double)ikt_pca_bytes(reader->n, reader->d, k, ikt_size(ctx), ikt_threads(ctx));
    ikt_status st = IKT_OK;
    if (needed > available / 2)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "principal components of %s (%lld columns) need %.1f GB a rank and %.1f GB "
                      "are free; use fewer ranks on a node or more nodes, or set preprocess.pca "
                      "to 0 and layout.init to random",
                      reader->name, (long long)reader->d, needed / 1e9, available / 1e9);
    if (st == IKT_OK) st = create(ctx, reader->d, k, &made);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_column_stats_compute(ctx, reader, &stats));
    memcpy(made->mean, stats.mean, (size_t)reader->d * sizeof *made->mean);
    IKT_TRY(find_components(ctx, reader, &stats, made));
    ikt_pca *pca = made;
    /* components whose variance is rounding error of the largest become zero */
    const double noise = pca->variance[0] * d * DBL_EPSILON;
    for (int64_t m = 0; m < k; m++) {
        pca->rank += pca->variance[m] > noise;
        if (pca->variance[m] > noise) continue;
        pca->variance[m] = 0;
        memset(pca->components + m * reader->d, 0, (size_t)reader->d * sizeof(double));
    }
    pack(pca);
    return ikt_give(out, made);
}

ikt_status ikt_pca_restore(ikt_context *ctx, int64_t d, int64_t k, const double *mean,
                           const double *components, ikt_pca **out) {
    *out = NULL;
    const ikt_status st = create(ctx, d, k, out);
    if (st != IKT_OK) {
        ikt_pca_destroy(out);
        return st;
    }
    memcpy((*out)->mean, mean, (size_t)d * sizeof *mean);
    memcpy((*out)->components, components, (size_t)(k * d) * sizeof *components);
    (*out)->rank = k;
    pack(*out);
    return IKT_OK;
}

void ikt_pca_project(const ikt_pca *pca, ikt_isa isa, const double *rows, int64_t count,
                     double *scores) {
    for (int64_t m = 0; m < pca->k; m += LANES) {
        double tile[IKT_TILE_ROWS * LANES];
        int64_t width = pca->k - m < LANES ? pca->k - m : LANES;
        ikt_dot_tile(isa, pca->d, rows, pca->d, 1, pca->packed + m * pca->d, tile);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < width; j++)
                scores[i * pca->k + m + j] = tile[i * LANES + j] - pca->offset[m + j];
    }
}

ikt_status ikt_pca_scores(ikt_context *ctx, const ikt_pca *pca, const ikt_row_reader *reader,
                          int64_t first, int64_t count, double *scores) {
    int64_t d = pca->d, rows_max = ikt_stream_rows(d, (int64_t)sizeof(double));
    if (rows_max < IKT_TILE_ROWS) rows_max = IKT_TILE_ROWS;
    const ikt_isa isa = ikt_cpu_isa();
    double *rows IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &rows, rows_max * d, sizeof(double), "row blocks"));
    ikt_status st = IKT_OK;
    const int64_t steps = ikt_stream_steps(ctx, count, rows_max);
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        ikt_row_range at = ikt_stream_step((ikt_row_range){first, count}, rows_max, step);
        st = reader->read(reader->self, at.first, at.count, rows);
        const int64_t read = st == IKT_OK ? at.count : 0;
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < read; i += IKT_TILE_ROWS) {
            int64_t now = read - i < IKT_TILE_ROWS ? read - i : IKT_TILE_ROWS;
            ikt_pca_project(pca, isa, rows + i * d, now, scores + (at.first - first + i) * pca->k);
        }
        if (st == IKT_OK) st = ikt_watch_pause(ctx);
    }
    return st;
}

/* --- sparse rows ------------------------------------------------------------------------------ */

static double product(ikt_sparse_row a, const double *dense) {
    double sum = 0;
    for (int64_t e = 0; e < a.count; e++)
        sum += (double)a.value[e] * dense[a.column[e]];
    return sum;
}

/* COLLECTIVE. All products of rows on every rank, each rank computing those of some.
 *   gram   [m * m] */
static ikt_status multiply(ikt_context *ctx, const ikt_sparse *rows, double *gram) {
    const int64_t m = rows->count;
    const int threads = ikt_threads(ctx);
    const ikt_rows distribution = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    IKT_ARRAYS(held, ctx, purpose);
    double *dense_rows = ikt_claim(&held, threads * rows->d, sizeof(double));
    double *own = ikt_claim(&held, distribution.count * m, sizeof *own);
    int64_t *counts = ikt_claim(&held, distribution.ranks, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < distribution.count; i++) {
        double *dense = dense_rows + omp_get_thread_num() * rows->d; /* zero before and after */
        const ikt_sparse_row row = ikt_sparse_row_of(rows, distribution.first + i);
        for (int64_t e = 0; e < row.count; e++)
            dense[row.column[e]] = (double)row.value[e];
        for (int64_t j = 0; j < m; j++)
            own[i * m + j] = product(ikt_sparse_row_of(rows, j), dense);
        for (int64_t e = 0; e < row.count; e++)
            dense[row.column[e]] = 0;
    }
    for (int r = 0; r < distribution.ranks; r++)
        counts[r] = ikt_rows_count(&distribution, r);
    ikt_allgather(ctx, own, distribution.count, (size_t)m * sizeof *own, gram, counts);
    return IKT_OK;
}

/* Products of the rows less their mean, as an upper triangle in place; in a fixed order.
 *   mean   [m] work space */
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

/* sum_i weight_i (x_i - mean), in the order of rows, with length 1 and the entry of largest
 * magnitude positive.
 *   axis   [d] zeros */
static void make_axis(const ikt_sparse *rows, const double *weight, const double *mean,
                      double *axis) {
    const int64_t d = rows->d;
    double total = 0, square = 0, largest = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, i);
        for (int64_t e = 0; e < row.count; e++)
            axis[row.column[e]] += weight[i] * (double)row.value[e];
        total += weight[i];
    }
    for (int64_t k = 0; k < d; k++)
        axis[k] -= total * mean[k];
    for (int64_t k = 0; k < d; k++) {
        square += axis[k] * axis[k];
        if (fabs(axis[k]) > fabs(largest)) largest = axis[k];
    }
    const double factor = square > 0 ? (largest < 0 ? -1 : 1) / sqrt(square) : 1;
    for (int64_t k = 0; k < d; k++)
        axis[k] *= factor;
}

ikt_status ikt_sparse_axes_fit(ikt_context *ctx, const ikt_sparse *rows, int64_t q,
                               ikt_sparse_axes *out) {
    const int64_t m = rows->count, d = rows->d, found = q < m ? q : m;
    ikt_sparse_axes made IKT_AT_END(ikt_sparse_axes_destroy) = {.d = d, .q = q};
    *out = (ikt_sparse_axes){0};
    IKT_ARRAYS(held, ctx, purpose);
    double *gram = ikt_claim(&held, m * m, sizeof *gram);
    double *vectors = ikt_claim(&held, m * found, sizeof *vectors);
    double *values = ikt_claim(&held, found, sizeof *values);
    double *mean = ikt_claim(&held, d + m, sizeof *mean);
    made.axis = ikt_claim_kept(&held, q * d, sizeof *made.axis);
    made.offset = ikt_claim_kept(&held, q, sizeof *made.offset);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(multiply(ctx, rows, gram));
    centre(m, gram, mean + d);
    IKT_TRY(ikt_eigen_leading(ctx, gram, m, found, IKT_EIGEN_ALONE_MAX, values, vectors));
    for (int64_t e = 0; e < rows->start[m]; e++)
        mean[rows->column[e]] += (double)rows->value[e];
    for (int64_t k = 0; k < d; k++)
        mean[k] /= (double)m;
    for (int64_t c = 0; c < found; c++) {
        double *axis = made.axis + c * d;
        if (!(values[c] > (double)m * DBL_EPSILON * values[0])) continue; /* it stays zero */
        make_axis(rows, vectors + c * m, mean, axis);
        for (int64_t k = 0; k < d; k++)
            made.offset[c] += mean[k] * axis[k];
    }
    return ikt_give(out, made);
}

void ikt_sparse_axes_destroy(ikt_sparse_axes *axes) {
    ikt_free_all(&axes->axis, &axes->offset);
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
