/* AUC_RNX, trustworthiness, continuity and the curve R(k): formulas over the counts of
 * rank_counts.h. Neighbours in the input are ranked by distance (family `ranks`), or by similarity
 * under the Isolation kernel (family `kernel`), which is what an embedding by that kernel saw. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "evaluate/family.h"
#include "evaluate/rank_counts.h"

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

/* The ending of the names of measures, and their note, by the space of the neighbours. */
typedef struct {
    const char *suffix, *note;
} space;

static ikt_status report(ikt_context *ctx, const ikt_rank_counts *counts, int64_t k,
                         const space *in, ikt_measures *out) {
    int64_t sample = counts->queries < counts->n ? counts->queries : 0;
    double all, paper;
    char name[48];
    areas(counts, &all, &paper);
    snprintf(name, sizeof name, "AUC_RNX%s", in->suffix);
    IKT_TRY(ikt_measures_add(ctx, out, name, all, sample, in->note));
    snprintf(name, sizeof name, "AUC_RNX (paper's k)%s", in->suffix);
    if (!isnan(paper)) IKT_TRY(ikt_measures_add(ctx, out, name, paper, sample, in->note));
    snprintf(name, sizeof name, "trustworthiness (k %lld)%s", (long long)k, in->suffix);
    IKT_TRY(
        ikt_measures_add(ctx, out, name, faithful(counts, k, counts->intruders), sample, in->note));
    snprintf(name, sizeof name, "continuity (k %lld)%s", (long long)k, in->suffix);
    return ikt_measures_add(ctx, out, name, faithful(counts, k, counts->missing), sample, in->note);
}

/* --- the curve -------------------------------------------------------------------------------- */

static ikt_status curve_make(ikt_context *ctx, const ikt_rank_counts *counts, ikt_rank_curve *out) {
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

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what) {
    const int64_t n = what->rows.n;
    if (n < 4 || settings->trust_k < 1 || 2 * settings->trust_k >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trustworthiness over %lld neighbours needs more than twice as many rows, "
                        "and at least 4; there are %lld: choose fewer neighbours (trust-k)",
                        (long long)settings->trust_k, (long long)n);
    return IKT_OK;
}

ikt_status ikt_measure_rank_curve(ikt_context *ctx, const ikt_measure_settings *settings,
                                  const ikt_measured *what, ikt_rank_curve *out) {
    ikt_rank_counts counts;
    *out = (ikt_rank_curve){0};
    if (what->rows.n < 3 || !what->data)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the curve R(k) needs a map of at least 3 rows, and the input data");
    IKT_TRY(ikt_rank_counts_compute(ctx, settings, what, &counts));
    ikt_status st = ikt_agree(ctx, curve_make(ctx, &counts, out));
    ikt_rank_counts_destroy(&counts);
    if (st != IKT_OK) ikt_rank_curve_destroy(out);
    return st;
}

/* --- the families ----------------------------------------------------------------------------- */

static ikt_status begin(ikt_context *ctx, const ikt_measure_view *view,
                        ikt_query_observer *observer) {
    return ikt_rank_counter_begin(ctx, view->settings, view->n, observer);
}

static ikt_status finish_in(ikt_context *ctx, const ikt_measure_view *view, void *self,
                            const space *in, bool keep_curve, ikt_measures *out) {
    ikt_rank_counts counts;
    IKT_TRY(ikt_rank_counter_collect(ctx, self, &counts));
    ikt_status st = report(ctx, &counts, view->settings->trust_k, in, out);
    if (st == IKT_OK && keep_curve) {
        ikt_rank_curve_destroy(&out->curve);
        st = curve_make(ctx, &counts, &out->curve);
    }
    ikt_rank_counts_destroy(&counts);
    return ikt_agree(ctx, st);
}

static ikt_status finish_ranks(ikt_context *ctx, const ikt_measure_view *view, void *self,
                               ikt_measures *out) {
    static const space in = {"", "input neighbours by distance after preprocessing"};
    return finish_in(ctx, view, self, &in, view->settings->keep_curve, out);
}

static ikt_status finish_kernel(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                ikt_measures *out) {
    static const space in = {
        ", kernel", "input neighbours by similarity under the Isolation kernel, ties by row"};
    return finish_in(ctx, view, self, &in, false, out);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    int64_t curve = settings->keep_curve ? 2 * extent->n * (int64_t)sizeof(double) : 0;
    return ikt_rank_counts_memory(extent->n, extent->threads) + curve;
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
