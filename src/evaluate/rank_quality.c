/* AUC_RNX, trustworthiness, continuity and the curve R(k), from counts of neighbour ranks
 * (family.h). Neighbours in the input are ranked by distance (family `ranks`), or by
 * similarity under the Isolation kernel (family `kernel`), which is what an embedding by that
 * kernel saw. */
#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"
#include "evaluate/family.h"

/* --- counting --------------------------------------------------------------------------------- */

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

static ikt_status begin_counting(const ikt_measure_settings *settings, int64_t n,
                                 ikt_query_observer *observer) {
    ikt_arrays *held = &observer->held;
    const int threads = ikt_threads(held->ctx);
    counter *c = ikt_claim(held, 1, sizeof *c);
    part *parts = ikt_claim(held, threads, sizeof *parts);
    IKT_TRY(held->status);
    for (int t = 0; t < threads; t++)
        parts[t].together = ikt_claim(held, n, sizeof(uint32_t));
    *c = (counter){.n = n,
                   .trust_k = settings->trust_k,
                   .queries = ikt_queries_count(settings, n),
                   .threads = threads,
                   .parts = parts};
    observer->self = c;
    observer->wants_ranks = true;
    observer->see = see;
    return held->status;
}

/* COLLECTIVE. The counts of all threads and ranks; the same on every rank. */
static ikt_status collect(ikt_context *ctx, const counter *c, ikt_rank_counts *out) {
    int64_t excess[2] = {0, 0};
    *out = (ikt_rank_counts){.n = c->n, .queries = c->queries};
    IKT_TRY(ikt_alloc_all(ctx, &out->together, c->n, sizeof *out->together, "measures"));
    for (int t = 0; t < c->threads; t++) {
        for (int64_t k = 0; k < c->n; k++)
            out->together[k] += c->parts[t].together[k];
        excess[0] += c->parts[t].intruders;
        excess[1] += c->parts[t].missing;
    }
    ikt_sum_i64(ctx, out->together, c->n);
    ikt_sum_i64(ctx, excess, 2);
    out->intruders = excess[0];
    out->missing = excess[1];
    return IKT_OK;
}

ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out) {
    ikt_query_observer observer IKT_AT_END(ikt_query_observer_free) = {
        .held = ikt_arrays_of(ctx, "measures")};
    float *y IKT_AT_END(ikt_free) = NULL;
    *out = (ikt_rank_counts){0};
    IKT_TRY(ikt_agree(ctx, begin_counting(settings, what->rows.n, &observer)));
    IKT_TRY(ikt_share_rows(ctx, &what->rows, what->y, (size_t)what->q * sizeof *y, "measures", &y));
    IKT_TRY(ikt_queries_run(ctx, settings, what, y, false, &observer, 1));
    return collect(ctx, observer.self, out);
}

void ikt_rank_counts_destroy(ikt_rank_counts *counts) {
    ikt_free(&counts->together);
}

/* --- formulas --------------------------------------------------------------------------------- */

/* R(k) = ((n-1) Q(k) - k) / (n-1-k) with Q(k) = shared / (k queries): the share of common
 * neighbours, rescaled so that 0 is what a random map has. `shared` counts the pairs that are in
 * both neighbourhoods of size k. */
static double overlap(const ikt_rank_counts *counts, int64_t shared, int64_t k) {
    return (double)shared / ((double)k * (double)counts->queries);
}

static double rescaled(const ikt_rank_counts *counts, int64_t shared, int64_t k) {
    double others = (double)(counts->n - 1);
    return (others * overlap(counts, shared, k) - (double)k) / (others - (double)k);
}

/* AUC_RNX over all k = 1 .. n-2, and over the paper's k = 0.01 n, 0.03 n, ..., 0.99 n (rounded half
 * up, each once). NaN where no such k lies in 1 .. n-2. */
static void areas(const ikt_rank_counts *counts, double *all, double *paper) {
    double sum = 0, weight = 0, chosen = 0, chosen_weight = 0; /* of R(k) / k and of 1 / k */
    int64_t n = counts->n, shared = 0, percent = 1;
    for (int64_t k = 1; k <= n - 2; k++) {
        shared += counts->together[k];
        double value = rescaled(counts, shared, k);
        sum += value / (double)k;
        weight += 1 / (double)k;
        while (percent < 100 && (percent * n + 50) / 100 < k)
            percent += 2;
        if (percent >= 100 || (percent * n + 50) / 100 != k) continue;
        chosen += value / (double)k;
        chosen_weight += 1 / (double)k;
    }
    *all = sum / weight;
    *paper = chosen_weight > 0 ? chosen / chosen_weight : NAN;
}

/* 1 - 2 / (queries k (2n - 3k - 1)) * sum of rank excesses (Venna and Kaski 2001); k < n / 2. */
static double faithful(const ikt_rank_counts *counts, int64_t k, int64_t excess) {
    double worst = (double)k * (double)(2 * counts->n - 3 * k - 1) / 2;
    return 1 - (double)excess / ((double)counts->queries * worst);
}

static ikt_status make_curve(ikt_context *ctx, const ikt_rank_counts *counts, ikt_rank_curve *out) {
    int64_t shared = 0;
    *out = (ikt_rank_curve){.count = counts->n - 2, .queries = counts->queries};
    IKT_TRY(ikt_alloc(ctx, &out->overlap, out->count, sizeof(double), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->rescaled, out->count, sizeof(double), "measures"));
    for (int64_t k = 1; k <= out->count; k++) {
        shared += counts->together[k];
        out->overlap[k - 1] = overlap(counts, shared, k);
        out->rescaled[k - 1] = rescaled(counts, shared, k);
    }
    return IKT_OK;
}

ikt_status ikt_measure_rank_curve(ikt_context *ctx, const ikt_measure_settings *settings,
                                  const ikt_measured *what, ikt_rank_curve *out) {
    ikt_rank_counts counts IKT_AT_END(ikt_rank_counts_destroy) = {0};
    *out = (ikt_rank_curve){0};
    if (what->rows.n < 3 || !what->data)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the curve R(k) needs a map of at least 3 rows, and the input data");
    IKT_TRY(ikt_rank_counts_compute(ctx, settings, what, &counts));
    const ikt_status st = ikt_agree(ctx, make_curve(ctx, &counts, out));
    if (st != IKT_OK) ikt_rank_curve_destroy(out);
    return st;
}

/* --- the families ----------------------------------------------------------------------------- */

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what) {
    const int64_t n = what->rows.n;
    if (n < 4)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trustworthiness needs at least 4 rows, and there are %lld: ask for other "
                        "measures (--measures)",
                        (long long)n);
    if (settings->trust_k < 1 || 2 * settings->trust_k >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trustworthiness over %lld neighbours needs more than twice as many rows; "
                        "there are %lld: choose fewer neighbours (trust-k)",
                        (long long)settings->trust_k, (long long)n);
    return IKT_OK;
}

static ikt_status begin(const ikt_measure_view *view, ikt_query_observer *observer) {
    return begin_counting(view->settings, view->n, observer);
}

/* COLLECTIVE. Appends the measures, whose names end in `suffix`. */
static ikt_status report(ikt_context *ctx, const ikt_measure_view *view, const counter *counted,
                         const char *suffix, const char *note, bool keep_curve, ikt_measures *out) {
    const int64_t sample = counted->queries < counted->n ? counted->queries : 0;
    ikt_rank_counts counts IKT_AT_END(ikt_rank_counts_destroy) = {0};
    double all, paper;
    char of_k[24], name[48];
    IKT_TRY(collect(ctx, counted, &counts));
    areas(&counts, &all, &paper);
    const int64_t k = view->settings->trust_k;
    snprintf(of_k, sizeof of_k, " (k %lld)", (long long)k);
    const struct {
        const char *name, *ending;
        double value;
    } found[] = {{"AUC_RNX", "", all},
                 {"AUC_RNX (paper's k)", "", paper},
                 {"trustworthiness", of_k, faithful(&counts, k, counts.intruders)},
                 {"continuity", of_k, faithful(&counts, k, counts.missing)}};
    for (size_t f = 0; f < sizeof found / sizeof *found; f++) {
        if (f == 1 && isnan(paper)) continue;
        snprintf(name, sizeof name, "%s%s%s", found[f].name, found[f].ending, suffix);
        IKT_TRY(ikt_measures_add(ctx, out, name, found[f].value, sample, note));
    }
    if (!keep_curve) return IKT_OK;
    ikt_rank_curve_destroy(&out->curve);
    return make_curve(ctx, &counts, &out->curve);
}

static ikt_status finish_ranks(ikt_context *ctx, const ikt_measure_view *view, void *self,
                               ikt_measures *out) {
    return report(ctx, view, self, "", "input neighbours by distance after preprocessing",
                  view->settings->keep_curve, out);
}

static ikt_status finish_kernel(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                ikt_measures *out) {
    return report(ctx, view, self, ", kernel",
                  "input neighbours by similarity under the Isolation kernel, ties by row", false,
                  out);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    const int64_t n = extent->n;
    const int64_t per_thread = (int64_t)sizeof(part) + n * (int64_t)sizeof(uint32_t);
    const int64_t curve = settings->keep_curve ? 2 * n * (int64_t)sizeof(double) : 0;
    return n * (int64_t)sizeof(int64_t) + extent->threads * per_thread + curve;
}

const ikt_measure_family ikt_family_ranks = {
    .name = "ranks",
    .help = "AUC_RNX in both definitions, trustworthiness and continuity, by distance in the input",
    .needs = IKT_MEASURE_NEEDS_INPUT,
    .check = check,
    .begin = begin,
    .finish = finish_ranks,
    .memory = memory};

const ikt_measure_family ikt_family_kernel = {
    .name = "kernel",
    .help = "those of ranks, by similarity under the Isolation kernel",
    .needs = IKT_MEASURE_NEEDS_CODES,
    .check = check,
    .begin = begin,
    .finish = finish_kernel,
    .memory = memory};
