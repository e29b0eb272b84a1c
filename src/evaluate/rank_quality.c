/* AUC_RNX, trustworthiness and continuity: formulas over the counts of rank_counts.h. */
#include <math.h>
#include <stdio.h>

#include "evaluate/measure.h"
#include "evaluate/rank_counts.h"

/* R(k) = ((n-1) Q(k) - k) / (n-1-k) with Q(k) = shared / (k queries): the share of common
 * neighbours, rescaled so that 0 is what a random map has. `shared` counts the pairs that are in
 * both neighbourhoods of size k. */
static double rescaled(const ikt_rank_counts *counts, int64_t shared, int64_t k) {
    double others = (double)(counts->n - 1);
    double q = (double)shared / ((double)k * (double)counts->queries);
    return (others * q - (double)k) / (others - (double)k);
}

typedef struct {
    double sum, weight; /* of R(k) / k and of 1 / k */
} area;

static void area_add(area *a, double value, int64_t k) {
    a->sum += value / (double)k;
    a->weight += 1 / (double)k;
}

/* AUC_RNX over all k = 1 .. n-2, and over the paper's k = 0.01 n, 0.03 n, ..., 0.99 n (rounded half
 * up, each once). NaN where no such k lies in 1 .. n-2. */
static void areas(const ikt_rank_counts *counts, double *all, double *paper) {
    area every = {0, 0}, chosen = {0, 0};
    int64_t n = counts->n, shared = 0, percent = 1;
    for (int64_t k = 1; k <= n - 2; k++) {
        shared += counts->together[k];
        double value = rescaled(counts, shared, k);
        area_add(&every, value, k);
        while (percent < 100 && (percent * n + 50) / 100 < k)
            percent += 2;
        if (percent < 100 && (percent * n + 50) / 100 == k) area_add(&chosen, value, k);
    }
    *all = every.sum / every.weight;
    *paper = chosen.weight > 0 ? chosen.sum / chosen.weight : NAN;
}

/* 1 - 2 / (queries k (2n - 3k - 1)) * sum of rank excesses (Venna and Kaski 2001); k < n / 2. */
static double faithful(const ikt_rank_counts *counts, int64_t k, int64_t excess) {
    double worst = (double)k * (double)(2 * counts->n - 3 * k - 1) / 2;
    return 1 - (double)excess / ((double)counts->queries * worst);
}

static ikt_status report(ikt_context *ctx, const ikt_rank_counts *counts, int64_t k,
                         ikt_measures *out) {
    static const char *const space = "input neighbours by distance after preprocessing";
    int64_t sample = counts->queries < counts->n ? counts->queries : 0;
    double all, paper;
    char name[48];
    areas(counts, &all, &paper);
    IKT_TRY(ikt_measures_add(ctx, out, "AUC_RNX", all, sample, space));
    if (!isnan(paper))
        IKT_TRY(ikt_measures_add(ctx, out, "AUC_RNX (paper's k)", paper, sample, space));
    snprintf(name, sizeof name, "trustworthiness (k %lld)", (long long)k);
    IKT_TRY(
        ikt_measures_add(ctx, out, name, faithful(counts, k, counts->intruders), sample, space));
    snprintf(name, sizeof name, "continuity (k %lld)", (long long)k);
    return ikt_measures_add(ctx, out, name, faithful(counts, k, counts->missing), sample, space);
}

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings, int64_t n) {
    if (n > INT32_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "neighbour ranks are kept in 31 bits, and there are %lld rows",
                        (long long)n);
    if (n < 4 || settings->trust_k < 1 || 2 * settings->trust_k >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trustworthiness over %lld neighbours needs more than twice as many rows, "
                        "and at least 4; there are %lld: choose fewer neighbours (trust-k)",
                        (long long)settings->trust_k, (long long)n);
    return IKT_OK;
}

ikt_status ikt_measure_ranks(ikt_context *ctx, const ikt_measure_settings *settings,
                             const ikt_measured *what, ikt_measures *out) {
    ikt_rank_counts counts;
    IKT_TRY(check(ctx, settings, what->map.n));
    IKT_TRY(ikt_rank_counts_compute(ctx, settings, what, &counts));
    ikt_status st = ikt_agree(ctx, report(ctx, &counts, settings->trust_k, out));
    ikt_rank_counts_destroy(&counts);
    return st;
}
