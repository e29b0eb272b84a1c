/* Neighbour ranks in the input against those in the map, counted. See rank_counts.h. */
#include "evaluate/rank_counts.h"

#include "base/comm.h"
#include "base/memory.h"

/* The counts of one thread; a pair (query, row) adds to `together` at most twice a query. */
typedef struct {
    uint32_t *together; /* [n] */
    int64_t intruders, missing;
} part;

typedef struct {
    int64_t n, trust_k, queries;
    int threads;
    part *parts; /* [threads] */
} counter;

static void see(void *self, const ikt_query *query) {
    const counter *c = self;
    const int32_t *high = query->high, *low = query->low;
    const int64_t k = c->trust_k;
    part *p = &c->parts[query->thread];
    for (int64_t j = 0; j < c->n; j++) {
        p->together[high[j] > low[j] ? high[j] : low[j]]++;
        if (low[j] <= k && high[j] > k) p->intruders += high[j] - k;
        if (high[j] <= k && low[j] > k) p->missing += low[j] - k;
    }
}

static void end(void *self) {
    counter *c = self;
    for (int t = 0; c->parts && t < c->threads; t++)
        ikt_free(&c->parts[t].together);
    ikt_free(&c->parts);
    ikt_free(&c);
}

ikt_status ikt_rank_counter_begin(ikt_context *ctx, const ikt_measure_settings *settings, int64_t n,
                                  ikt_query_observer *observer) {
    counter *c;
    IKT_TRY(ikt_alloc(ctx, &c, 1, sizeof *c, "measures"));
    *c = (counter){.n = n,
                   .trust_k = settings->trust_k,
                   .queries = ikt_queries_count(settings, n),
                   .threads = ikt_threads(ctx)};
    *observer = (ikt_query_observer){c, true, see, end};
    IKT_TRY(ikt_alloc(ctx, &c->parts, c->threads, sizeof *c->parts, "measures"));
    for (int t = 0; t < c->threads; t++)
        IKT_TRY(ikt_alloc(ctx, &c->parts[t].together, n, sizeof(uint32_t), "measures"));
    return IKT_OK;
}

ikt_status ikt_rank_counter_collect(ikt_context *ctx, void *self, ikt_rank_counts *out) {
    const counter *c = self;
    *out = (ikt_rank_counts){.n = c->n, .queries = c->queries};
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &out->together, c->n, sizeof(int64_t), "measures")));
    for (int t = 0; t < c->threads; t++) {
        for (int64_t k = 0; k < c->n; k++)
            out->together[k] += c->parts[t].together[k];
        out->intruders += c->parts[t].intruders;
        out->missing += c->parts[t].missing;
    }
    ikt_sum_i64(ctx, out->together, c->n);
    out->intruders = ikt_sum_one(ctx, out->intruders);
    out->missing = ikt_sum_one(ctx, out->missing);
    return IKT_OK;
}

ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out) {
    ikt_query_observer observer = {0};
    float *y = NULL;
    *out = (ikt_rank_counts){0};
    ikt_status st = ikt_agree(ctx, ikt_rank_counter_begin(ctx, settings, what->rows.n, &observer));
    if (st == IKT_OK)
        st = ikt_measure_replicate(ctx, &what->rows, what->y, (size_t)what->q * sizeof *y, &y);
    if (st == IKT_OK) st = ikt_queries_run(ctx, settings, what, y, false, &observer, 1);
    if (st == IKT_OK) st = ikt_rank_counter_collect(ctx, observer.self, out);
    if (observer.end) observer.end(observer.self);
    ikt_free(&y);
    return st;
}

void ikt_rank_counts_destroy(ikt_rank_counts *counts) {
    ikt_free(&counts->together);
}

int64_t ikt_rank_counts_memory(int64_t n, int threads) {
    int64_t per_thread = (int64_t)sizeof(part) + n * (int64_t)sizeof(uint32_t);
    return n * (int64_t)sizeof(int64_t) + threads * per_thread;
}
