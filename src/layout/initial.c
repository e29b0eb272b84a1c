/* Where the rows start. */
#include <math.h>

#include "base/exact_sum.h"
#include "base/rng.h"
#include "layout/layout.h"

#define START(name, NAME, of_p, of_similarities, of_labels, scaled)                                \
    [IKT_INIT_##NAME] = {#name, of_p, of_similarities, of_labels, scaled},
static const ikt_start_kind kinds[IKT_INITS] = {IKT_START_TABLE(START)};

const ikt_start_kind *ikt_layout_start(const ikt_layout_settings *settings) {
    const ikt_objective_kind *objective = ikt_layout_objective(settings);
    return &kinds[objective->is_start ? (int)objective->start : settings->init];
}

const char *ikt_layout_start_file(const ikt_layout_settings *settings) {
    const bool is_read = settings->init == IKT_INIT_FILE || settings->init == IKT_INIT_AUTO;
    return is_read && !ikt_layout_objective(settings)->is_start ? settings->init_file : "";
}

const ikt_start_kind *ikt_start_kind_of(ikt_layout_init init) {
    return &kinds[init];
}

const char *ikt_layout_labels_key(const ikt_layout_settings *settings) {
    if (ikt_layout_objective(settings)->needs & IKT_NEEDS_LABELS) return "layout.objective";
    return ikt_layout_start(settings)->of_labels ? "layout.init" : NULL;
}

static const double start_deviation = 1e-4, jitter_share = 0.01;

/* COLLECTIVE. Scales scores so that the first has the deviation `target` over all rows. */
static void scale_to(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                     const double *scores, double target, float *y) {
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t i = 0; i < rows->count; i++) {
        ikt_exact_sum_add(&sum[0], scores[q * i]);
        ikt_exact_sum_add(&sum[1], scores[q * i] * scores[q * i]);
    }
    ikt_exact_sum_reduce(ctx, sum, 2);
    const double n = (double)rows->n, mean = ikt_exact_sum_value(&sum[0]) / n;
    const double variance = ikt_exact_sum_value(&sum[1]) / n - mean * mean;
    /* Where all rows are equal, jitter alone. */
    const double scale = variance > 0 ? target / sqrt(variance) : 0;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        for (int c = 0; c < q; c++) {
            double jitter = ikt_rng_normal(seed, IKT_RNG_JITTER, rows->first + i, (uint64_t)c);
            y[q * i + c] = (float)(scale * scores[q * i + c] + jitter_share * target * jitter);
        }
}

void ikt_initial_from_scores(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                             double target, const double *scores, float *y) {
    scale_to(ctx, rows, q, seed, scores, target > 0 ? target : start_deviation, y);
}

void ikt_initial_from_places(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                             double target, double *places, float *y) {
    for (int c = 0; c < q; c++) {
        ikt_exact_sum sum = {{0}, 0, 0};
        ikt_exact_sum_add_array(&sum, places + c, rows->count, q);
        ikt_exact_sum_reduce(ctx, &sum, 1);
        const double mean = ikt_exact_sum_value(&sum) / (double)rows->n;
        for (int64_t i = 0; i < rows->count; i++)
            places[q * i + c] -= mean;
    }
    scale_to(ctx, rows, q, seed, places, target > 0 ? target : start_deviation, y);
}

void ikt_initial_from_map(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed, float *y) {
    ikt_exact_sum squares = {{0}, 0, 0};
    for (int64_t e = 0; e < q * rows->count; e++)
        ikt_exact_sum_add(&squares, (double)y[e] * (double)y[e]);
    ikt_exact_sum_reduce(ctx, &squares, 1);
    double spread = sqrt(ikt_exact_sum_value(&squares) / (q * (double)rows->n));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        for (int c = 0; c < q; c++)
            y[q * i + c] +=
                (float)(jitter_share * spread *
                        ikt_rng_normal(seed, IKT_RNG_JITTER, rows->first + i, (uint64_t)c));
}

void ikt_initial_random(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed, double target,
                        float *y) {
    const double deviation = target > 0 ? target : start_deviation;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        for (int c = 0; c < q; c++)
            y[q * i + c] = (float)(deviation * ikt_rng_normal(seed, IKT_RNG_INITIAL,
                                                              rows->first + i, (uint64_t)c));
}
