/* Principal components: fit and projection. See pca.h. */
#include "linalg/pca.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"
#include "linalg/covariance.h"
#include "linalg/dot_tile.h"
#include "linalg/eigen.h"

enum { LANES = IKT_TILE_COLUMNS };

static int64_t groups_of(int64_t k) {
    return (k + LANES - 1) / LANES;
}

static ikt_status create(ikt_context *ctx, int64_t d, int64_t k, ikt_pca **out) {
    const char *purpose = "principal components";
    int64_t groups = groups_of(k);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, purpose));
    ikt_pca *pca = *out;
    pca->d = d;
    pca->k = k;
    IKT_TRY(ikt_alloc(ctx, &pca->mean, d, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &pca->variance, k, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &pca->components, k * d, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &pca->packed, groups * LANES * d, sizeof(double), purpose));
    return ikt_alloc(ctx, &pca->offset, groups * LANES, sizeof(double), purpose);
}

void ikt_pca_destroy(ikt_pca **pca) {
    if (!*pca) return;
    ikt_free(&(*pca)->mean);
    ikt_free(&(*pca)->variance);
    ikt_free(&(*pca)->components);
    ikt_free(&(*pca)->packed);
    ikt_free(&(*pca)->offset);
    ikt_free(pca);
}

/* Covariance and solver hold about this much on the rank with most to do. */
static ikt_status check_memory(ikt_context *ctx, const ikt_row_reader *reader) {
    double d = (double)reader->d;
    double needed =
        4 * d * d + (double)ikt_eigen_bytes(reader->d, ikt_size(ctx), IKT_EIGEN_ALONE_MAX);
    double available = (double)ikt_memory_available(ctx);
    ikt_status status = IKT_OK;
    if (needed > available / 2)
        status =
            ikt_fail(ctx, IKT_ERR_RESOURCE,
                     "principal components of %s (%lld columns) need %.1f GB a rank and %.1f GB "
                     "are free; use fewer ranks on a node or more nodes, or set preprocess.pca "
                     "to 0 and layout.init to random",
                     reader->name, (long long)reader->d, needed / 1e9, available / 1e9);
    return ikt_agree(ctx, status);
}

/* Components whose variance is rounding error of the largest are no directions of the data. */
static void drop_empty(ikt_pca *pca) {
    double noise = pca->variance[0] * (double)pca->d * DBL_EPSILON;
    for (int64_t m = 0; m < pca->k; m++) {
        if (pca->variance[m] > noise) {
            pca->rank++;
            continue;
        }
        pca->variance[m] = 0;
        memset(pca->components + m * pca->d, 0, (size_t)pca->d * sizeof(double));
    }
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

static ikt_status decompose(ikt_context *ctx, const double *upper, ikt_pca *pca) {
    int64_t d = pca->d, k = pca->k < d ? pca->k : d;
    for (int64_t c = 0; c < d; c++)
        pca->total_variance += upper[ikt_upper_index(d, c, c)];
    if (pca->total_variance > 0)
        IKT_TRY(ikt_eigen_leading(ctx, upper, d, k, IKT_EIGEN_ALONE_MAX, pca->variance,
                                  pca->components));
    drop_empty(pca);
    pack(pca);
    return IKT_OK;
}

ikt_status ikt_pca_fit(ikt_context *ctx, const ikt_row_reader *reader, int64_t k, ikt_pca **out) {
    ikt_column_stats stats = {0};
    double *upper = NULL;
    ikt_status status;
    *out = NULL;
    IKT_TRY_GOTO(status, done, check_memory(ctx, reader));
    IKT_TRY_GOTO(status, done, ikt_agree(ctx, create(ctx, reader->d, k, out)));
    IKT_TRY_GOTO(status, done, ikt_column_stats_compute(ctx, reader, &stats));
    IKT_TRY_GOTO(status, done, ikt_covariance_compute(ctx, reader, &stats, &upper));
    memcpy((*out)->mean, stats.mean, (size_t)reader->d * sizeof(double));
    IKT_TRY_GOTO(status, done, decompose(ctx, upper, *out));
done:
    ikt_column_stats_free(&stats);
    ikt_free(&upper);
    if (status != IKT_OK) ikt_pca_destroy(out);
    return status;
}

ikt_status ikt_pca_restore(ikt_context *ctx, int64_t d, int64_t k, const double *mean,
                           const double *components, ikt_pca **out) {
    *out = NULL;
    ikt_status status = create(ctx, d, k, out);
    if (status != IKT_OK) {
        ikt_pca_destroy(out);
        return status;
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
    ikt_isa isa = ikt_cpu_isa();
    double *rows = NULL;
    ikt_status status;
    IKT_TRY_GOTO(status, done,
                 ikt_agree(ctx, ikt_alloc(ctx, &rows, rows_max * d, sizeof(double), "row blocks")));
    int64_t steps = ikt_stream_steps(ctx, count, rows_max);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step((ikt_row_range){first, count}, rows_max, step);
        IKT_TRY_GOTO(status, done, reader->read(reader->self, at.first, at.count, rows));
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < at.count; i += IKT_TILE_ROWS) {
            int64_t now = at.count - i < IKT_TILE_ROWS ? at.count - i : IKT_TILE_ROWS;
            ikt_pca_project(pca, isa, rows + i * d, now, scores + (at.first - first + i) * pca->k);
        }
    }
done:
    ikt_free(&rows);
    return status;
}
