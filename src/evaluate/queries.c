/* Rows from which all rows are looked at. See queries.h. */
#include "evaluate/queries.h"

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/distances.h"
#include "evaluate/tree.h"
#include "metric/metric.h"

/* The work space in which a thread ranks rows. */
typedef struct {
    ikt_radix radix;
    float *distance; /* [n] in the map */
} ranker;

typedef struct {
    ikt_context *ctx;
    const ikt_query_observer *observers;
    int observer_count;
    const float *y; /* [n * q] */
    int64_t n, q;
    bool wants_ranks;
    int64_t count, *query; /* of this rank, ascending rows */
    int64_t batch;         /* queries in it at most */
    ikt_distances distances;
    ranker *rankers; /* [threads] */
} pass;

int64_t ikt_queries_count(const ikt_measure_settings *settings, int64_t n) {
    return n <= settings->exact_limit || settings->sample >= n ? n : settings->sample;
}

/* Queries in a batch: what the memory allows, whole tiles of 8 where it allows as many, and no more
 * than the rank with the most queries has. */
static int64_t batch_of(const ikt_measure_settings *settings, int64_t n, int ranks) {
    int64_t batch = settings->batch_bytes / (ikt_packed_rows(n) * (int64_t)sizeof(float));
    int64_t most = (ikt_queries_count(settings, n) + ranks - 1) / ranks;
    batch = batch >= 8 ? batch / 8 * 8 : batch;
    if (batch < 1) batch = 1;
    return batch < most ? batch : most;
}

int64_t ikt_queries_memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent,
                           bool by_code, bool ranks) {
    const int64_t n = extent->n, batch = batch_of(settings, n, extent->ranks);
    const int64_t most = (ikt_queries_count(settings, n) + extent->ranks - 1) / extent->ranks;
    int64_t bytes = most * (int64_t)sizeof(int64_t) + extent->threads * (int64_t)sizeof(ranker);
    if (ranks) bytes += extent->threads * (ikt_radix_memory(n) + n * (int64_t)sizeof(float));
    return bytes + ikt_distances_memory(extent, by_code, batch);
}

int64_t ikt_label_queries(const ikt_measure_settings *settings, int64_t n) {
    const bool is_all =
        n <= settings->label_limit || n <= settings->exact_limit || n <= settings->label_sample;
    return is_all ? n : settings->label_sample;
}

void ikt_queries_draw(uint64_t seed, int64_t n, const ikt_rows *share, int64_t *query) {
    if (share->n == n) {
        for (int64_t q = 0; q < share->count; q++)
            query[q] = share->first + q;
        return;
    }
    int64_t found = 0, end = share->first + share->count;
    for (int64_t row = 0; row < n && found < end; row++) {
        double chance = (double)(share->n - found) / (double)(n - row);
        if (ikt_rng_uniform(seed, IKT_RNG_SAMPLE, row, 0) >= chance) continue;
        if (found >= share->first) query[found - share->first] = row;
        found++;
    }
}

static ikt_status allocate(pass *p, const ikt_measured *what, bool by_code) {
    ikt_context *ctx = p->ctx;
    IKT_TRY(ikt_alloc(ctx, &p->query, p->count, sizeof *p->query, "measures"));
    IKT_TRY(ikt_alloc(ctx, &p->rankers, ikt_threads(ctx), sizeof *p->rankers, "measures"));
    for (int t = 0; p->wants_ranks && t < ikt_threads(ctx); t++) {
        IKT_TRY(ikt_radix_create(ctx, p->n, &p->rankers[t].radix));
        IKT_TRY(ikt_alloc(ctx, &p->rankers[t].distance, p->n, sizeof(float), "measures"));
    }
    return ikt_distances_create(ctx, what, by_code, p->batch, &p->distances);
}

/* Shows a query to the observers, with the ranks of all rows from it where one wants them. */
static void show(const pass *p, int64_t row, float *distance) {
    const int thread = omp_get_thread_num();
    ranker *r = &p->rankers[thread];
    ikt_query query = {.row = row, .thread = thread, .distance = distance};
    if (p->wants_ranks) {
        const float own = distance[row];
        distance[row] = -1; /* the query itself comes first */
        ikt_radix_ranks(&r->radix, distance, r->radix.rank[0]);
        distance[row] = own;
        ikt_embedding_distances(p->y, p->n, p->q, p->y + p->q * row, r->distance);
        r->distance[row] = -1;
        ikt_radix_ranks(&r->radix, r->distance, r->radix.rank[1]);
        query.high = r->radix.rank[0];
        query.low = r->radix.rank[1];
    }
    for (int o = 0; o < p->observer_count; o++)
        if (p->observers[o].see) p->observers[o].see(p->observers[o].self, &query);
}

ikt_status ikt_queries_run(ikt_context *ctx, const ikt_measure_settings *settings,
                           const ikt_measured *what, const float *y, bool by_code,
                           const ikt_query_observer *observers, int count) {
    int64_t n = what->rows.n;
    ikt_rows share = ikt_rows_make(ikt_queries_count(settings, n), ikt_size(ctx), ikt_rank(ctx));
    pass p = {.ctx = ctx,
              .observers = observers,
              .observer_count = count,
              .y = y,
              .n = n,
              .q = what->q,
              .count = share.count,
              .batch = batch_of(settings, n, ikt_size(ctx))};
    bool any = false;
    for (int o = 0; o < count; o++) {
        any = any || observers[o].see;
        p.wants_ranks = p.wants_ranks || (observers[o].see && observers[o].wants_ranks);
    }
    if (!any) return IKT_OK;
    ikt_status st = ikt_agree(ctx, allocate(&p, what, by_code));
    if (st == IKT_OK) ikt_queries_draw(settings->seed, n, &share, p.query);
    /* Batch by batch; ranks that have fewer queries take part with empty batches. */
    const int64_t steps = st == IKT_OK ? ikt_max_one(ctx, (p.count + p.batch - 1) / p.batch) : 0;
    for (int64_t step = 0; step < steps; step++) {
        const int64_t first = step * p.batch < p.count ? step * p.batch : p.count;
        const int64_t some = p.batch < p.count - first ? p.batch : p.count - first;
        st = ikt_distances_fill(ctx, &p.distances, p.query + first, some);
        if (st != IKT_OK) break;
#pragma omp parallel for schedule(dynamic, 4) num_threads(ikt_threads(ctx))
        for (int64_t q = 0; q < some; q++)
            show(&p, p.query[first + q], p.distances.distance + q * p.distances.stride);
        ikt_progress(ctx, "batches of queries", step + 1, steps, NULL);
    }
    for (int t = 0; p.rankers && t < ikt_threads(ctx); t++) {
        ikt_radix_destroy(&p.rankers[t].radix);
        ikt_free(&p.rankers[t].distance);
    }
    ikt_free_all(&p.rankers, &p.query);
    ikt_distances_destroy(&p.distances);
    return st;
}
