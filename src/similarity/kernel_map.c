/* Coordinates by similarities, and kernel PCA. See kernel_map.h. */
#include "similarity/kernel_map.h"

#include <float.h>
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/watch.h"
#include "dist/shuffle.h"
#include "linalg/blocks.h"
#include "linalg/eigen.h"

static const char purpose[] = "kernel map";

void ikt_kernel_map_destroy(ikt_kernel_map *map) {
    ikt_free_all(&map->weight, &map->mean);
    *map = (ikt_kernel_map){.m = 0};
}

/* In the order of the entries. */
static double mean_of(const double *value, int64_t count) {
    double sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += value[e];
    return sum / (double)count;
}

/* One row of similarities, which is centred in place. */
static void place(const ikt_kernel_map *map, double *k, double *y) {
    const double mean = mean_of(k, map->m);
    for (int64_t l = 0; l < map->m; l++)
        k[l] = k[l] - mean - map->mean[l] + map->total;
    for (int64_t c = 0; c < map->q; c++) {
        double sum = 0;
        for (int64_t l = 0; l < map->m; l++)
            sum += map->weight[c * map->m + l] * k[l];
        y[c] = sum;
    }
}

static void find_most_similar(const double *k, int64_t m, int64_t *which, float *similarity) {
    int64_t at = 0;
    for (int64_t l = 1; l < m; l++)
        if (k[l] > k[at]) at = l;
    *which = at;
    *similarity = (float)k[at];
}

ikt_status ikt_kernel_map_place(ikt_context *ctx, const ikt_kernel_map *map, ikt_similarities *s,
                                const ikt_rows *rows, double *y, const ikt_most_similar *most) {
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t block = ikt_similarities_rows_most(s);
    double *k IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &k, block * map->m, sizeof *k, purpose));
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_similarities_of_rows(s, at.first, at.count, k, NULL));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < at.count; i++) {
            const int64_t row = at.first - own.first + i;
            if (most)
                find_most_similar(k + i * map->m, map->m, most->which + row,
                                  most->similarity + row);
            place(map, k + i * map->m, y + row * map->q);
        }
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_kernel_map_centre(ikt_context *ctx, ikt_similarities *s, int64_t m,
                                 ikt_kernel_map *map, double **centred) {
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    const ikt_row_range own = {share.first, share.count};
    const int64_t block = ikt_similarities_rows_most(s);
    double *k IKT_AT_END(ikt_free) = NULL;
    *centred = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    k = ikt_claim_kept(&held, own.count * m, sizeof *k);
    double *mean = ikt_claim(&held, own.count, sizeof *mean);
    IKT_TRY(ikt_arrays_agree(&held));
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_similarities_of_chosen(s, at.first, at.count, k + (at.first - own.first) * m));
        IKT_TRY(ikt_watch_pause(ctx));
    }
    for (int64_t i = 0; i < own.count; i++)
        mean[i] = mean_of(k + i * m, m);
    IKT_TRY(ikt_share_rows(ctx, &share, mean, sizeof *mean, purpose, &map->mean));
    map->m = m;
    map->total = mean_of(map->mean, m);
    for (int64_t i = 0; i < own.count; i++) /* symmetric bit for bit where K is */
        for (int64_t l = 0; l < m; l++)
            k[i * m + l] = k[i * m + l] - (map->mean[own.first + i] + map->mean[l]) + map->total;
    return ikt_give(centred, k);
}

ikt_status ikt_kernel_map_mean_eigenvalue(ikt_context *ctx, int64_t m, const double *centred,
                                          double *mean) {
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    double *own IKT_AT_END(ikt_free) = NULL, *all IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &own, share.count, sizeof *own, purpose));
    for (int64_t i = 0; i < share.count; i++)
        own[i] = centred[i * m + share.first + i];
    IKT_TRY(ikt_share_rows(ctx, &share, own, sizeof *own, purpose, &all));
    *mean = mean_of(all, m);
    return IKT_OK;
}

/* COLLECTIVE. The largest sum of magnitudes of a row, which no eigenvalue is beyond. */
static double bound_of(ikt_context *ctx, int64_t m, const double *centred) {
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    double bound = 0;
    for (int64_t i = 0; i < share.count; i++) {
        double sum = 0;
        for (int64_t l = 0; l < m; l++)
            sum += fabs(centred[i * m + l]);
        bound = fmax(bound, sum);
    }
    ikt_max_f64(ctx, &bound, 1);
    return bound;
}

ikt_status ikt_kernel_pca_fit(ikt_context *ctx, ikt_similarities *s, int64_t m, int q,
                              int64_t alone_max, ikt_kernel_map *out, ikt_kernel_pca_facts *facts) {
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    double *centred IKT_AT_END(ikt_free) = NULL;
    int positive = 0;
    ikt_kernel_map made IKT_AT_END(ikt_kernel_map_destroy) = {.q = q};
    *out = (ikt_kernel_map){0};
    *facts = (ikt_kernel_pca_facts){.trace = 0};
    IKT_TRY(ikt_alloc_all(ctx, &made.weight, q * m, sizeof(double), purpose));
    IKT_TRY(ikt_kernel_map_centre(ctx, s, m, &made, &centred));
    IKT_TRY(ikt_kernel_map_mean_eigenvalue(ctx, m, centred, &facts->trace));
    facts->trace *= (double)m;
    IKT_TRY(ikt_eigen_selected(ctx, &share, centred, NULL, q, IKT_EIGEN_LARGEST, alone_max,
                               facts->value, made.weight));
    const double rounding = DBL_EPSILON * (double)m * bound_of(ctx, m, centred);
    while (positive < q && facts->value[positive] > rounding)
        positive++;
    if (positive < q)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "kernel PCA: %d of the centred similarities' eigenvalues are positive, and "
                        "layout.dimensions = %d: take fewer dimensions",
                        positive, q);
    for (int64_t c = 0; c < q; c++)
        for (int64_t l = 0; l < m; l++)
            made.weight[c * m + l] /= sqrt(facts->value[c]);
    return ikt_give(out, made);
}
