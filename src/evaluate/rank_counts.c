/* Neighbour ranks in the input against those in the map, counted. See rank_counts.h. */
#include "evaluate/rank_counts.h"

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/input_distances.h"
#include "evaluate/radix.h"
#include "evaluate/tree.h"
#include "linalg/distance.h"

/* What one thread counts; a pair (query, row) adds to `together` at most twice a query. */
typedef struct {
    ikt_radix radix;
    uint32_t *together; /* [n] */
    int64_t intruders, missing;
} counter;

typedef struct {
    ikt_context *ctx;
    int64_t n, trust_k;
    int64_t count, *query; /* queries of this rank, ascending rows */
    float *y;              /* [n * 2] */
    ikt_input_distances input;
    counter *counters; /* [threads] */
} ranking;

/* Queries in all: every row, or the sample. */
static int64_t queries_of(const ikt_measure_settings *settings, int64_t n) {
    return n <= settings->exact_limit || settings->sample >= n ? n : settings->sample;
}

/* Queries in a batch: what the memory allows, whole tiles of 8 where it allows as many, and no more
 * than the rank with the most queries has. */
static int64_t batch_of(const ikt_measure_settings *settings, int64_t n, int64_t queries,
                        int ranks) {
    int64_t room = settings->batch_bytes / (ikt_packed_rows(n) * (int64_t)sizeof(float));
    int64_t most = (queries + ranks - 1) / ranks;
    room = room >= 8 ? room / 8 * 8 : room;
    if (room < 1) room = 1;
    return room < most ? room : most;
}

int64_t ikt_rank_counts_memory(const ikt_measure_settings *settings, int64_t n, int64_t d,
                               int ranks, int threads) {
    int64_t queries = queries_of(settings, n), batch = batch_of(settings, n, queries, ranks);
    int64_t per_thread =
        (int64_t)sizeof(counter) + ikt_radix_memory(n) + n * (int64_t)sizeof(uint32_t);
    int64_t per_row = (int64_t)(2 * sizeof(float) + sizeof(int64_t)); /* y, together */
    return ikt_input_distances_memory(n, d, batch, ranks, threads) + threads * per_thread +
           n * per_row + (queries + ranks - 1) / ranks * (int64_t)sizeof(int64_t);
}

/* This rank's share of the queries. A sample is drawn without replacement, each row with the same
 * chance, by selection sampling in the order of the rows; every rank makes all the draws. */
static void draw_queries(ranking *r, const ikt_measure_settings *settings,
                         const ikt_row_map *share) {
    if (share->n == r->n) {
        for (int64_t q = 0; q < r->count; q++)
            r->query[q] = share->first + q;
        return;
    }
    int64_t found = 0, end = share->first + share->count;
    for (int64_t row = 0; row < r->n && found < end; row++) {
        double chance = (double)(share->n - found) / (double)(r->n - row);
        if (ikt_rng_uniform(settings->seed, IKT_RNG_SAMPLE, row, 0) >= chance) continue;
        if (found >= share->first) r->query[found - share->first] = row;
        found++;
    }
}

static ikt_status allocate(ranking *r, const ikt_measured *what, int64_t batch,
                           ikt_rank_counts *out) {
    ikt_context *ctx = r->ctx;
    IKT_TRY(ikt_alloc(ctx, &out->together, r->n, sizeof *out->together, "measures"));
    IKT_TRY(ikt_alloc(ctx, &r->query, r->count, sizeof *r->query, "measures"));
    IKT_TRY(ikt_alloc(ctx, &r->counters, ikt_threads(ctx), sizeof *r->counters, "measures"));
    for (int t = 0; t < ikt_threads(ctx); t++) {
        counter *c = &r->counters[t];
        IKT_TRY(ikt_radix_create(ctx, r->n, &c->radix));
        IKT_TRY(ikt_alloc(ctx, &c->together, r->n, sizeof *c->together, "measures"));
    }
    return ikt_input_distances_create(ctx, what->data, batch, &r->input);
}

static void ranking_free(ranking *r) {
    for (int t = 0; r->counters && t < ikt_threads(r->ctx); t++) {
        ikt_radix_destroy(&r->counters[t].radix);
        ikt_free(&r->counters[t].together);
    }
    ikt_free(&r->counters);
    ikt_free(&r->query);
    ikt_free(&r->y);
    ikt_input_distances_destroy(&r->input);
}

static void map_distances(const ranking *r, int64_t row, float *distance) {
    for (int64_t j = 0; j < r->n; j++)
        distance[j] = ikt_map_distance(r->y + 2 * j, r->y + 2 * row);
}

/* Counts one query. `distance` [n] holds the distances in the input and is used up. */
static void count_query(const ranking *r, counter *c, int64_t row, float *distance) {
    const int32_t *high = c->radix.rank[0], *low = c->radix.rank[1];
    int64_t k = r->trust_k;
    distance[row] = -1; /* the query itself comes first */
    ikt_radix_ranks(&c->radix, distance, c->radix.rank[0]);
    map_distances(r, row, distance);
    distance[row] = -1;
    ikt_radix_ranks(&c->radix, distance, c->radix.rank[1]);
    for (int64_t j = 0; j < r->n; j++) {
        c->together[high[j] > low[j] ? high[j] : low[j]]++;
        if (low[j] <= k && high[j] > k) c->intruders += high[j] - k;
        if (high[j] <= k && low[j] > k) c->missing += low[j] - k;
    }
}

/* COLLECTIVE. All queries, batch by batch; ranks that have fewer take part with empty batches. */
static ikt_status count_all(ranking *r) {
    int64_t batch = r->input.room, steps = ikt_max_one(r->ctx, (r->count + batch - 1) / batch);
    for (int64_t step = 0; step < steps; step++) {
        int64_t first = step * batch < r->count ? step * batch : r->count;
        int64_t count = batch < r->count - first ? batch : r->count - first;
        IKT_TRY(ikt_input_distances_fill(r->ctx, &r->input, r->query + first, count));
#pragma omp parallel for schedule(dynamic, 4) num_threads(ikt_threads(r->ctx))
        for (int64_t q = 0; q < count; q++)
            count_query(r, &r->counters[omp_get_thread_num()], r->query[first + q],
                        r->input.distance + q * r->input.stride);
        ikt_progress(r->ctx, "batches of queries", step + 1, steps, NULL);
    }
    return IKT_OK;
}

/* COLLECTIVE. Adds up over threads and ranks. */
static void collect(const ranking *r, ikt_rank_counts *out) {
    for (int t = 0; t < ikt_threads(r->ctx); t++) {
        const counter *c = &r->counters[t];
        for (int64_t k = 0; k < r->n; k++)
            out->together[k] += c->together[k];
        out->intruders += c->intruders;
        out->missing += c->missing;
    }
    ikt_sum_i64(r->ctx, out->together, r->n);
    out->intruders = ikt_sum_one(r->ctx, out->intruders);
    out->missing = ikt_sum_one(r->ctx, out->missing);
}

ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out) {
    int64_t n = what->map.n, queries = queries_of(settings, n);
    ikt_row_map share = ikt_row_map_make(queries, ikt_size(ctx), ikt_rank(ctx));
    ranking r = {.ctx = ctx, .n = n, .trust_k = settings->trust_k, .count = share.count};
    *out = (ikt_rank_counts){.n = n, .queries = queries};
    int64_t batch = batch_of(settings, n, queries, ikt_size(ctx));
    ikt_status st = ikt_agree(ctx, allocate(&r, what, batch, out));
    if (st == IKT_OK) st = ikt_measure_replicate(ctx, &what->map, what->y, 2 * sizeof *r.y, &r.y);
    if (st == IKT_OK) {
        draw_queries(&r, settings, &share);
        st = count_all(&r);
    }
    if (st == IKT_OK) collect(&r, out);
    ranking_free(&r);
    if (st != IKT_OK) ikt_rank_counts_destroy(out);
    return st;
}

void ikt_rank_counts_destroy(ikt_rank_counts *counts) {
    ikt_free(&counts->together);
}
