/* The dense symmetric P. See dense.h. */
#include "affinity/dense.h"

#include <math.h>
#include <string.h>

#include "affinity/orphans.h"
#include "base/comm.h"
#include "base/memory.h"

static int64_t padded(int64_t n) {
    return (n + 15) / 16 * 16;
}

int64_t ikt_dense_memory(int64_t n_local, int64_t n) {
    return n_local * padded(n) * (int64_t)sizeof(float);
}

static void copy_tile(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                      const float *score, int64_t stride) {
    ikt_dense *dense = self;
    for (int64_t a = 0; a < na; a++)
        memcpy(dense->value + (first + a) * dense->stride + row, score + a * stride,
               (size_t)nb * sizeof *score);
}

/* Fills the matrix with scores. */
static ikt_status fill(ikt_context *ctx, const ikt_scorer *scorer, ikt_dense *out) {
    *out = (ikt_dense){scorer->map, padded(scorer->map.n), NULL};
    ikt_status st =
        ikt_alloc(ctx, &out->value, out->map.count * out->stride, sizeof *out->value, "dense P");
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_score_all(ctx, scorer, copy_tile, out);
}

/* One double per row on every rank, from those of the own rows. */
static ikt_status gather_rows(ikt_context *ctx, const ikt_row_map *map, const double *own,
                              double **all) {
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, all, map->n, sizeof **all, "dense P");
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "dense P");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int r = 0; r < ikt_size(ctx); r++)
            counts[r] = ikt_row_map_count(map, r);
        ikt_allgather(ctx, own, map->count, sizeof *own, *all, counts);
    }
    ikt_free(&counts);
    return st;
}

/* Turns numbers of differing cells into numbers of equal cells; returns the sum without self. */
static double count_equal(ikt_dense *dense, int64_t i, int64_t t) {
    float *row = dense->value + i * dense->stride;
    int64_t sum = 0;
    for (int64_t j = 0; j < dense->map.n; j++) {
        row[j] = (float)t - row[j];
        sum += (int64_t)row[j];
    }
    row[dense->map.first + i] = 0;
    return (double)(sum - t);
}

static void isolation_rows(ikt_context *ctx, ikt_dense *dense, const double *sum) {
    double scale = 1 / (2 * (double)dense->map.n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->map.count; i++) {
        float *row = dense->value + i * dense->stride;
        double own = sum[dense->map.first + i];
        if (!(own > 0)) continue; /* no similarity at all: the row is zero already */
        for (int64_t j = 0; j < dense->map.n; j++)
            if (row[j] > 0) row[j] = (float)(scale * (double)row[j] * (1 / own + 1 / sum[j]));
    }
}

/* Rows without similarity get uniform weights over their nearest rows, in both directions. */
static ikt_status add_orphans(ikt_context *ctx, ikt_dense *dense, const double *sum,
                              ikt_dataset *data, int64_t k, int64_t *count) {
    const ikt_row_map *map = &dense->map;
    uint8_t *marked = NULL;
    ikt_orphans orphans = {0, 0, NULL, NULL};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &marked, map->count, 1, "orphans"));
    if (st == IKT_OK) {
        for (int64_t i = 0; i < map->count; i++)
            marked[i] = !(sum[map->first + i] > 0);
        st = ikt_orphans_find(ctx, data, map, marked, k, &orphans);
    }
    float share = (float)(1 / (2 * (double)map->n * (double)k));
    for (int64_t e = 0; e < orphans.count * k; e++) {
        int64_t a = orphans.row[e / k], b = orphans.nearest[e];
        if (a >= map->first && a < map->first + map->count)
            dense->value[(a - map->first) * dense->stride + b] += share;
        if (b >= map->first && b < map->first + map->count)
            dense->value[(b - map->first) * dense->stride + a] += share;
    }
    *count = orphans.count;
    ikt_orphans_destroy(&orphans);
    ikt_free(&marked);
    return st;
}

ikt_status ikt_dense_isolation(ikt_context *ctx, const ikt_scorer *scorer, int64_t t,
                               ikt_dataset *data, int64_t orphan_neighbours, ikt_dense *out,
                               int64_t *orphans) {
    double *own = NULL, *sum = NULL;
    ikt_status st = fill(ctx, scorer, out);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, &own, out->map.count, sizeof *own, "dense P"));
    if (st == IKT_OK) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < out->map.count; i++)
            own[i] = count_equal(out, i, t);
        st = gather_rows(ctx, &out->map, own, &sum);
    }
    if (st == IKT_OK) {
        isolation_rows(ctx, out, sum);
        st = add_orphans(ctx, out, sum, data, orphan_neighbours, orphans);
    }
    ikt_free(&own);
    ikt_free(&sum);
    if (st != IKT_OK) ikt_dense_destroy(out);
    return st;
}

/* p_j|i = exp(-beta_i (d^2 - least_i)) / total_i, so its logarithm is linear in d^2. */
typedef struct {
    double *beta, *shift; /* [n]: log p_j|i = shift_i - beta_i d_ij^2 */
} bandwidths;

static void find_bandwidths(ikt_context *ctx, const ikt_dense *dense, double perplexity,
                            double *beta, double *shift) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->map.count; i++) {
        double least, total;
        beta[i] = ikt_gaussian_beta(dense->value + i * dense->stride, dense->map.n,
                                    dense->map.first + i, perplexity, &least, &total);
        shift[i] = beta[i] * least - log(total);
    }
}

static void gaussian_rows(ikt_context *ctx, ikt_dense *dense, const bandwidths *b) {
    double scale = 1 / (2 * (double)dense->map.n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->map.count; i++) {
        float *row = dense->value + i * dense->stride;
        int64_t own = dense->map.first + i;
        for (int64_t j = 0; j < dense->map.n; j++) {
            double squared = (double)row[j];
            row[j] = (float)(scale * (exp(b->shift[own] - b->beta[own] * squared) +
                                      exp(b->shift[j] - b->beta[j] * squared)));
        }
        row[own] = 0;
    }
}

ikt_status ikt_dense_gaussian(ikt_context *ctx, const ikt_scorer *scorer, double perplexity,
                              ikt_dense *out) {
    double *beta = NULL, *shift = NULL;
    bandwidths all = {NULL, NULL};
    ikt_status st = fill(ctx, scorer, out);
    if (st == IKT_OK) {
        st = ikt_alloc(ctx, &beta, out->map.count, sizeof *beta, "dense P");
        if (st == IKT_OK) st = ikt_alloc(ctx, &shift, out->map.count, sizeof *shift, "dense P");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) find_bandwidths(ctx, out, perplexity, beta, shift);
    if (st == IKT_OK) st = gather_rows(ctx, &out->map, beta, &all.beta);
    if (st == IKT_OK) st = gather_rows(ctx, &out->map, shift, &all.shift);
    if (st == IKT_OK) gaussian_rows(ctx, out, &all);
    ikt_free(&beta);
    ikt_free(&shift);
    ikt_free(&all.beta);
    ikt_free(&all.shift);
    if (st != IKT_OK) ikt_dense_destroy(out);
    return st;
}

void ikt_dense_destroy(ikt_dense *dense) {
    ikt_free(&dense->value);
}
