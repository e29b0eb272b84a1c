/* Measures that compare neighbour ranks in the input and in the map: AUC_RNX, trustworthiness,
 * continuity.
 *
 * Method: for each query row, all rows are ranked twice, by input distance and by distance in the
 * map (ties by row). The larger of a row's two ranks tells from which k on it belongs to both
 * neighbourhoods; a histogram of it gives Q(k) for every k at once. Every row is a query up to
 * exact_limit rows, a seeded sample beyond. Advantage: all k in n log n a query, integers
 * throughout. Disadvantage: n distances in the input a query. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/measure.h"
#include "evaluate/radix.h"
#include "linalg/distance.h"

enum { BLOCK_ROWS = 512 };
static const int64_t batch_bytes = (int64_t)256 << 20;

typedef struct {
    ikt_context *ctx;
    const ikt_measured *what;
    const ikt_measure_settings *settings;
    int64_t n, d;
    int64_t queries, *query;    /* all queries, ascending rows; NULL: every row */
    int64_t first, count;       /* those of this rank */
    float *y;                   /* [n * 2] */
    int64_t *together;          /* [n] pairs by the larger of their two ranks */
    int64_t intruders, missing; /* sums of rank excesses of trustworthiness and continuity */
} ranking;

/* Rows drawn without replacement, each with the same chance: selection sampling in row order. */
static ikt_status draw_queries(ranking *r) {
    if (r->n <= r->settings->exact_limit) {
        r->queries = r->n;
        return IKT_OK;
    }
    int64_t wanted = r->settings->sample < r->n ? r->settings->sample : r->n, found = 0;
    IKT_TRY(ikt_alloc(r->ctx, &r->query, wanted, sizeof *r->query, "measures"));
    for (int64_t row = 0; row < r->n && found < wanted; row++) {
        double chance = (double)(wanted - found) / (double)(r->n - row);
        if (ikt_rng_uniform(r->settings->seed, IKT_RNG_SAMPLE, row, 0) < chance)
            r->query[found++] = row;
    }
    r->queries = found;
    return IKT_OK;
}

static int64_t query_row(const ranking *r, int64_t q) {
    return r->query ? r->query[q] : q;
}

/* Work space of a batch of queries. */
typedef struct {
    int64_t rows;        /* queries that fit */
    int64_t stride;      /* floats from query to query */
    float *x;            /* [rows * d] the queries' coordinates */
    float *distance;     /* [rows * stride] to every row, in the input */
    float *block;        /* [BLOCK_ROWS * d] rows being streamed */
    float *packed;       /* the same, packed */
    float *tile;         /* [threads * 8 * BLOCK_ROWS] */
    ikt_radix *sorter;   /* [threads] */
    int64_t **histogram; /* [threads] -> [n] */
} batch;

static void batch_free(const ranking *r, batch *b) {
    ikt_free(&b->x);
    ikt_free(&b->distance);
    ikt_free(&b->block);
    ikt_free(&b->packed);
    ikt_free(&b->tile);
    for (int t = 0; t < ikt_threads(r->ctx); t++) {
        if (b->sorter) ikt_radix_destroy(&b->sorter[t]);
        if (b->histogram) ikt_free(&b->histogram[t]);
    }
    ikt_free(&b->sorter);
    ikt_free(&b->histogram);
}

static ikt_status batch_alloc(ranking *r, batch *b) {
    ikt_context *ctx = r->ctx;
    int threads = ikt_threads(ctx);
    int64_t most = ikt_max_one(ctx, r->count);
    b->stride = ikt_packed_rows(r->n);
    b->rows = batch_bytes / (b->stride * (int64_t)sizeof(float)) + 1;
    if (b->rows > most) b->rows = most;
    IKT_TRY(ikt_alloc(ctx, &b->x, b->rows * r->d, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &b->distance, b->rows * b->stride, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &b->block, BLOCK_ROWS * r->d, sizeof(float), "measures"));
    IKT_TRY(
        ikt_alloc(ctx, &b->packed, ikt_packed_floats(BLOCK_ROWS, r->d), sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &b->tile, (int64_t)threads * 8 * BLOCK_ROWS, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &b->sorter, threads, sizeof *b->sorter, "measures"));
    IKT_TRY(ikt_alloc(ctx, &b->histogram, threads, sizeof *b->histogram, "measures"));
    for (int t = 0; t < threads; t++) {
        IKT_TRY(ikt_radix_create(ctx, r->n, &b->sorter[t]));
        IKT_TRY(ikt_alloc(ctx, &b->histogram[t], r->n, sizeof(int64_t), "measures"));
    }
    return IKT_OK;
}

/* COLLECTIVE. Coordinates of the batch's queries; every rank asks for its own. */
static ikt_status read_queries(ranking *r, batch *b, int64_t first, int64_t count) {
    if (!r->query) /* consecutive rows */
        return ikt_dataset_read(r->what->data, count ? first : 0, count, b->x);
    for (int64_t q = 0; q < b->rows; q++) {
        bool has = q < count;
        IKT_TRY(ikt_dataset_read(r->what->data, has ? query_row(r, first + q) : 0, has,
                                 b->x + (has ? q * r->d : 0)));
    }
    return IKT_OK;
}

/* Distances of the queries to a block of rows, eight queries a tile. */
static void score_block(ranking *r, batch *b, int64_t count, int64_t row, int64_t rows) {
    ikt_isa isa = ikt_cpu_isa();
    ikt_pack_rows(b->block, rows, r->d, b->packed);
#pragma omp parallel for num_threads(ikt_threads(r->ctx))
    for (int64_t q = 0; q < count; q += 8) {
        int64_t now = count - q < 8 ? count - q : 8, width = ikt_packed_rows(rows);
        float *tile = b->tile + (int64_t)omp_get_thread_num() * 8 * BLOCK_ROWS;
        ikt_distance_block(isa, b->x + q * r->d, now, b->packed, rows, r->d, tile);
        for (int64_t a = 0; a < now; a++)
            memcpy(b->distance + (q + a) * b->stride + row, tile + a * width,
                   (size_t)rows * sizeof *tile);
    }
}

/* COLLECTIVE. Every rank streams all rows past its queries. */
static ikt_status fill_distances(ranking *r, batch *b, int64_t count) {
    for (int64_t row = 0; row < r->n; row += BLOCK_ROWS) {
        int64_t rows = r->n - row < BLOCK_ROWS ? r->n - row : BLOCK_ROWS;
        IKT_TRY(ikt_dataset_read(r->what->data, row, rows, b->block));
        score_block(r, b, count, row, rows);
    }
    return IKT_OK;
}

static void map_distances(const ranking *r, int64_t row, float *distance) {
    const float *y = r->y;
    for (int64_t j = 0; j < r->n; j++) {
        double dx = (double)y[2 * j] - (double)y[2 * row];
        double dy = (double)y[2 * j + 1] - (double)y[2 * row + 1];
        distance[j] = (float)(dx * dx + dy * dy);
    }
}

/* Ranks one query's rows both ways; rank 0 is the query itself. */
static void rank_query(const ranking *r, ikt_radix *sorter, int64_t row, float *input,
                       int64_t *together, int64_t *intruders, int64_t *missing) {
    int64_t k = r->settings->trust_k;
    input[row] = -1; /* before all others */
    ikt_radix_ranks(sorter, input, sorter->rank[0]);
    map_distances(r, row, input);
    input[row] = -1;
    ikt_radix_ranks(sorter, input, sorter->rank[1]);
    const int32_t *high = sorter->rank[0], *low = sorter->rank[1];
    for (int64_t j = 0; j < r->n; j++) {
        together[high[j] > low[j] ? high[j] : low[j]]++;
        if (low[j] <= k && high[j] > k) *intruders += high[j] - k;
        if (high[j] <= k && low[j] > k) *missing += low[j] - k;
    }
}

static void rank_batch(ranking *r, batch *b, int64_t first, int64_t count) {
    int64_t intruders = 0, missing = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : intruders, missing)                    \
    num_threads(ikt_threads(r->ctx))
    for (int64_t q = 0; q < count; q++) {
        int thread = omp_get_thread_num();
        rank_query(r, &b->sorter[thread], query_row(r, first + q), b->distance + q * b->stride,
                   b->histogram[thread], &intruders, &missing);
    }
    r->intruders += intruders;
    r->missing += missing;
}

static ikt_status rank_all(ranking *r, batch *b) {
    int64_t steps = b->rows > 0 ? (ikt_max_one(r->ctx, r->count) + b->rows - 1) / b->rows : 0;
    for (int64_t step = 0; step < steps; step++) {
        int64_t left = r->count - step * b->rows;
        int64_t count = left < 0 ? 0 : left < b->rows ? left : b->rows;
        int64_t first = r->first + step * b->rows;
        IKT_TRY(read_queries(r, b, first, count));
        IKT_TRY(fill_distances(r, b, count));
        rank_batch(r, b, first, count);
        ikt_progress(r->ctx, "batches of queries", step + 1, steps, NULL);
    }
    for (int t = 0; t < ikt_threads(r->ctx); t++)
        for (int64_t k = 0; k < r->n; k++)
            r->together[k] += b->histogram[t][k];
    ikt_sum_i64(r->ctx, r->together, r->n);
    r->intruders = ikt_sum_one(r->ctx, r->intruders);
    r->missing = ikt_sum_one(r->ctx, r->missing);
    return IKT_OK;
}

/* R(k) = ((n-1) Q(k) - k) / (n-1-k), Q(k) = shared neighbours / (k queries). */
static double rescaled(const ranking *r, int64_t shared, int64_t k) {
    double n = (double)r->n, q = (double)shared / ((double)k * (double)r->queries);
    return ((n - 1) * q - (double)k) / (n - 1 - (double)k);
}

/* Whether k is one of the paper's 0.01 n, 0.03 n, ..., 0.99 n, rounded. */
static bool paper_takes(int64_t k, int64_t n) {
    int64_t step = (int64_t)llround(((double)k / (double)n - 0.01) / 0.02);
    for (int64_t s = step - 1; s <= step + 1; s++)
        if (s >= 0 && s < 50 && llround((0.01 + 0.02 * (double)s) * (double)n) == k) return true;
    return false;
}

static void area(const ranking *r, double *all, double *paper) {
    double sum[2] = {0, 0}, weight[2] = {0, 0};
    int64_t shared = 0;
    for (int64_t k = 1; k <= r->n - 2; k++) {
        shared += r->together[k];
        double value = rescaled(r, shared, k), w = 1 / (double)k;
        sum[0] += w * value;
        weight[0] += w;
        if (!paper_takes(k, r->n)) continue;
        sum[1] += w * value;
        weight[1] += w;
    }
    *all = sum[0] / weight[0];
    *paper = weight[1] > 0 ? sum[1] / weight[1] : NAN;
}

/* 1 - 2 / (queries k (2n - 3k - 1)) * sum of rank excesses (Venna & Kaski 2001). */
static double trust(const ranking *r, int64_t excess) {
    double k = (double)r->settings->trust_k, n = (double)r->n;
    return 1 - 2 * (double)excess / ((double)r->queries * k * (2 * n - 3 * k - 1));
}

static ikt_status report(const ranking *r, ikt_measures *out) {
    double all, paper;
    int64_t sample = r->query ? r->queries : 0;
    const char *space = "neighbours in the input ranked by distance after preprocessing";
    char name[48];
    area(r, &all, &paper);
    IKT_TRY(ikt_measures_add(r->ctx, out, "AUC_RNX", all, sample, space));
    IKT_TRY(ikt_measures_add(r->ctx, out, "AUC_RNX (paper's k)", paper, sample, space));
    snprintf(name, sizeof name, "trustworthiness (k %lld)", (long long)r->settings->trust_k);
    IKT_TRY(ikt_measures_add(r->ctx, out, name, trust(r, r->intruders), sample, space));
    snprintf(name, sizeof name, "continuity (k %lld)", (long long)r->settings->trust_k);
    return ikt_measures_add(r->ctx, out, name, trust(r, r->missing), sample, space);
}

static ikt_status prepare(ranking *r) {
    ikt_status st = draw_queries(r);
    if (st == IKT_OK) st = ikt_alloc(r->ctx, &r->together, r->n, sizeof *r->together, "measures");
    IKT_TRY(ikt_agree(r->ctx, st));
    ikt_row_map share = ikt_row_map_make(r->queries, ikt_size(r->ctx), ikt_rank(r->ctx));
    r->first = share.first;
    r->count = share.count;
    return ikt_measure_replicate(r->ctx, &r->what->map, r->what->y, 2 * sizeof *r->y, &r->y);
}

static ikt_status check_sizes(ikt_context *ctx, const ikt_measure_settings *settings, int64_t n) {
    if (n > INT32_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "rank measures count rows in 32 bits; n = %lld",
                        (long long)n);
    if (3 * settings->trust_k + 1 >= 2 * n || n < 4)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trustworthiness over %lld neighbours needs more than %lld rows",
                        (long long)settings->trust_k, (long long)n);
    return IKT_OK;
}

ikt_status ikt_measure_ranks(ikt_context *ctx, const ikt_measure_settings *settings,
                             const ikt_measured *what, ikt_measures *out) {
    ranking r = {.ctx = ctx, .what = what, .settings = settings, .n = what->map.n};
    batch b = {0};
    r.d = ikt_dataset_columns(what->data);
    IKT_TRY(check_sizes(ctx, settings, r.n));
    ikt_status st = prepare(&r);
    if (st == IKT_OK) st = ikt_agree(ctx, batch_alloc(&r, &b));
    if (st == IKT_OK) st = rank_all(&r, &b);
    if (st == IKT_OK) st = ikt_agree(ctx, report(&r, out));
    batch_free(&r, &b);
    ikt_free(&r.query);
    ikt_free(&r.together);
    ikt_free(&r.y);
    return st;
}
