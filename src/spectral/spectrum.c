/* Eigenmaps and eigengaps of P. See spectrum.h. */
#include "spectral/spectrum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "spectral/normalised.h"

/* Gaps that differ by less are one: eigenvalues are not known better. */
static const double gap_noise = 1e-9;

/* Share of the largest gap from which on another seed or perplexity may make the second the
 * largest: docs/notebook/2026-11-27-eigengap.md. */
static const double near_share = 0.8;

static const ikt_rows *rows_of(const ikt_spectrum_of *p) {
    return p->graph ? &p->graph->rows : &p->dense->rows;
}

/* COLLECTIVE. Eigenpairs of N beside those of its components. */
static ikt_status find_pairs(ikt_context *ctx, const ikt_spectrum_of *p,
                             const ikt_components *components, int64_t wanted, double tolerance,
                             uint64_t seed, ikt_spectrum_report *report, ikt_eigenpairs *pairs) {
    const ikt_rows *rows = rows_of(p);
    const ikt_solver_options options = {
        .wanted = wanted,
        .columns = ikt_smaller(wanted + IKT_SOLVER_GUARDS, rows->n - components->count),
        .degree = IKT_SOLVER_DEGREE,
        .tolerance = tolerance,
        .steps_most = IKT_SOLVER_STEPS,
        .seed = seed};
    ikt_normalised *normalised IKT_AT_END(ikt_normalised_destroy) = NULL;
    *pairs = (ikt_eigenpairs){.products = 0};
    IKT_TRY(
        ikt_normalised_create(ctx, p->graph, p->dense, components, options.columns, &normalised));
    const ikt_operator n = ikt_normalised_operator(normalised);
    IKT_TRY(ikt_eigenpairs_find(ctx, rows, &n, &options, pairs));
    report->columns = options.columns;
    report->products = pairs->products;
    report->steps = pairs->steps;
    report->residual = pairs->worst;
    report->tolerance = tolerance;
    report->has_converged = pairs->has_converged;
    if (!pairs->has_converged)
        ikt_log(ctx, IKT_LOG_WARN,
                "eigenvectors of P: the residual is %.1e after %lld products and not below %.0e; "
                "the eigenvalues lie too near one another",
                pairs->worst, (long long)pairs->products, tolerance);
    return IKT_OK;
}

ikt_status ikt_spectrum_map(ikt_context *ctx, const ikt_spectrum_of *p, int64_t q, double tolerance,
                            uint64_t seed, double *map, double *value,
                            ikt_spectrum_report *report) {
    const ikt_rows *rows = rows_of(p);
    const double begun = ikt_now();
    ikt_components components IKT_AT_END(ikt_components_destroy) = {0};
    ikt_eigenpairs pairs IKT_AT_END(ikt_eigenpairs_destroy) = {.products = 0};
    *report = (ikt_spectrum_report){.components = 0};
    IKT_TRY(ikt_components_find(ctx, p->graph, p->dense, &components));
    report->components = components.count;
    if (rows->n - components.count < q)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "P has %lld rows and %lld connected component%s, which leaves %lld eigenvectors "
            "beside those of the eigenvalue 0 for %lld dimensions; take layout.init=pca "
            "or random",
            (long long)rows->n, (long long)components.count, ikt_plural(components.count),
            (long long)(rows->n - components.count), (long long)q);
    IKT_TRY(find_pairs(ctx, p, &components, q, tolerance, seed, report, &pairs));
    for (int64_t i = 0; i < rows->count; i++)
        memcpy(map + i * q, pairs.v.v + i * pairs.v.m, (size_t)q * sizeof *map);
    for (int64_t k = 0; k < q; k++)
        value[k] = 1 - pairs.theta[k];
    report->seconds = ikt_now() - begun;
    return IKT_OK;
}

void ikt_spectrum_orient(ikt_context *ctx, const ikt_rows *rows, int64_t q, double *map) {
    for (int64_t c = 0; c < q; c++) {
        double most = 0, largest = 0;
        int64_t row = INT64_MAX, lowest;
        for (int64_t i = 0; i < rows->count; i++)
            if (fabs(map[i * q + c]) > most) {
                most = fabs(map[i * q + c]);
                row = i;
            }
        largest = most;
        ikt_max_f64(ctx, &largest, 1);
        const bool is_mine = row != INT64_MAX && most == largest;
        lowest = is_mine ? rows->first + row : INT64_MAX;
        ikt_min_i64(ctx, &lowest, 1);
        const bool is_negative = is_mine && rows->first + row == lowest && map[row * q + c] < 0;
        if (ikt_sum_one(ctx, is_negative) == 0) continue;
        for (int64_t i = 0; i < rows->count; i++)
            map[i * q + c] = -map[i * q + c];
    }
}

/* --- the number of clusters ------------------------------------------------------------------- */

void ikt_eigengap_order(ikt_eigengap_kind kind, ikt_eigengap *out) {
    double least = INFINITY;
    out->gaps = 0;
    for (int64_t k = 2; k < out->values; k++) { /* eigenvalue k, counted from 1 */
        const double next = out->value[k];
        double gap = next - out->value[k - 1];
        if (kind == IKT_EIGENGAP_RELATIVE) gap = next > gap_noise ? gap / next : 0;
        least = fmin(least, gap);
        int64_t at = out->gaps;
        while (at > 0 && gap > out->gap[at - 1])
            at--;
        if (at == IKT_EIGENGAP_LARGEST) continue;
        if (out->gaps < IKT_EIGENGAP_LARGEST) out->gaps++;
        for (int64_t move = out->gaps - 1; move > at; move--) {
            out->gap[move] = out->gap[move - 1];
            out->after[move] = out->after[move - 1];
        }
        out->gap[at] = gap;
        out->after[at] = k;
    }
    out->is_clear = out->gaps > 0 && out->gap[0] > gap_noise &&
                    (out->values == 3 || out->gap[0] - least > gap_noise);
}

void ikt_eigengap_describe(ikt_eigengap_kind kind, const ikt_eigengap *gap, char *text,
                           size_t size) {
    char gaps[256] = "";
    for (int64_t g = 0; g < gap->gaps; g++)
        ikt_join(gaps, sizeof gaps, ", ", "%lld (%.4f)", (long long)gap->after[g], gap->gap[g]);
    snprintf(text, size, "the largest%s gaps come after eigenvalues %s",
             kind == IKT_EIGENGAP_RELATIVE ? " relative" : "", gaps);
    if (gap->gaps < 2) return;
    ikt_join(text, size, "; ", "the second is %.0f %% of the first",
             100 * gap->gap[1] / gap->gap[0]);
    gaps[0] = '\0';
    for (int64_t g = 1; g < gap->gaps; g++)
        if (gap->gap[g] >= near_share * gap->gap[0])
            ikt_join(gaps, sizeof gaps, ", ", "%lld", (long long)gap->after[g]);
    if (gaps[0])
        ikt_join(text, size, "; ",
                 "slightly other affinities may suggest %s, whose gaps are nearly as large "
                 "(layout.regulariser_rank takes a number)",
                 gaps);
}

ikt_status ikt_eigengap_find(ikt_context *ctx, const ikt_spectrum_of *p, ikt_eigengap_kind kind,
                             uint64_t seed, ikt_eigengap *out) {
    const double begun = ikt_now();
    const int64_t n = rows_of(p)->n;
    ikt_components components IKT_AT_END(ikt_components_destroy) = {0};
    ikt_eigenpairs pairs IKT_AT_END(ikt_eigenpairs_destroy) = {.products = 0};
    *out = (ikt_eigengap){.values = ikt_smaller(IKT_EIGENGAP_VALUES, n)};
    IKT_TRY(ikt_components_find(ctx, p->graph, p->dense, &components));
    const int64_t zeros = ikt_smaller(components.count, out->values);
    out->report.components = components.count;
    if (zeros < out->values)
        IKT_TRY(find_pairs(ctx, p, &components, out->values - zeros, IKT_SPECTRUM_VALUE_TOLERANCE,
                           seed, &out->report, &pairs));
    for (int64_t k = zeros; k < out->values; k++)
        out->value[k] = 1 - pairs.theta[k - zeros];
    out->report.seconds = ikt_now() - begun;
    ikt_eigengap_order(kind, out);
    return IKT_OK;
}

ikt_status ikt_eigengap_clusters(ikt_context *ctx, const ikt_eigengap *gap, int64_t *clusters) {
    const long long components = gap->report.components;
    *clusters = gap->is_clear ? gap->after[0] : 0;
    if (gap->is_clear) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "no gap between the %lld least eigenvalues of P, which has %lld connected "
                    "component%s, is larger than the others, so that they suggest no number of "
                    "clusters",
                    (long long)gap->values, components, ikt_plural(components));
}

int64_t ikt_spectrum_bytes(int64_t n_local, int64_t boundary, int64_t wanted, int threads) {
    const int64_t columns = wanted + IKT_SOLVER_GUARDS;
    return ikt_solver_bytes(n_local, columns, threads) +
           ikt_normalised_bytes(n_local, boundary, columns) +
           ikt_components_bytes(n_local, boundary);
}
