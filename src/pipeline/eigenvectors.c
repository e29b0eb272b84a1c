/* Eigenvectors of P for the line. See eigenvectors.h. */
#include "pipeline/eigenvectors.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/timer.h"

static ikt_spectrum_of form_of(const ikt_probabilities *p) {
    return (ikt_spectrum_of){p->is_dense ? NULL : &p->graph, p->is_dense ? &p->dense : NULL};
}

static void log_report(ikt_context *ctx, const char *what, const ikt_spectrum_report *r) {
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        (ikt_log_number[]){IKT_LOG_INT("components", r->components),
                           IKT_LOG_INT("products", r->products),
                           IKT_LOG_INT("columns", r->columns),
                           IKT_LOG_REAL("residual", r->residual),
                           IKT_LOG_REAL("seconds", r->seconds),
                           {0}},
        "%s: %lld products of P with %lld columns, residual %.1e, in %.1f s; P has %lld connected "
        "component%s",
        what, (long long)r->products, (long long)r->columns, r->residual, r->seconds,
        (long long)r->components, r->components == 1 ? "" : "s");
}

ikt_status ikt_eigenvectors_start(ikt_context *ctx, const ikt_settings *settings,
                                  const ikt_probabilities *p, double *scores,
                                  ikt_spectrum_report *report) {
    const ikt_spectrum_of form = form_of(p);
    const int64_t q = settings->layout.dimensions;
    const double length = sqrt((double)p->rows.n);
    /* What is only where a loop begins need not be exact. */
    const double tolerance = ikt_layout_objective(&settings->layout)->is_start
                                 ? IKT_SPECTRUM_VALUE_TOLERANCE
                                 : IKT_SPECTRUM_START_TOLERANCE;
    double value[3];
    ikt_stage_begin(ctx, IKT_STAGE_SPECTRUM);
    const ikt_status st = ikt_spectrum_map(ctx, &form, q, tolerance, (uint64_t)settings->run.seed,
                                           scores, value, report);
    ikt_stage_end(ctx, IKT_STAGE_SPECTRUM);
    if (st != IKT_OK) return st;
    for (int64_t e = 0; e < q * p->rows.count; e++)
        scores[e] *= length;
    log_report(ctx, "eigenvectors", report);
    if (report->components > 1)
        ikt_log(ctx, IKT_LOG_WARN,
                "P falls into %lld connected components, of which eigenvectors part but one or "
                "two: most rows of the others start together, apart by the jitter alone; "
                "layout.init=pca keeps them apart",
                (long long)report->components);
    return IKT_OK;
}

ikt_status ikt_eigenvectors_gap(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_probabilities *p, ikt_eigengap *out) {
    const ikt_spectrum_of form = form_of(p);
    char gaps[256] = "";
    size_t used = 0;
    int64_t clusters;
    ikt_stage_begin(ctx, IKT_STAGE_SPECTRUM);
    const ikt_status st =
        ikt_eigengap_find(ctx, &form, (ikt_eigengap_kind)settings->layout.eigengap,
                          (uint64_t)settings->run.seed, out);
    ikt_stage_end(ctx, IKT_STAGE_SPECTRUM);
    if (st != IKT_OK) return st;
    for (int64_t g = 0; g < out->gaps; g++)
        used += (size_t)snprintf(gaps + used, sizeof gaps - used, "%s%lld (%.4f)",
                                 g > 0 ? ", " : "", (long long)out->after[g], out->gap[g]);
    log_report(ctx, "eigenvalues", &out->report);
    if (ikt_eigengap_clusters(ctx, out, &clusters) != IKT_OK) {
        ikt_log(ctx, IKT_LOG_WARN, "%s", ikt_message(ctx));
        ikt_clear(ctx);
        return IKT_OK;
    }
    ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("clusters", clusters), {0}},
                    "eigengap: %lld clusters; the largest%s gaps come after eigenvalues %s",
                    (long long)clusters,
                    settings->layout.eigengap == IKT_EIGENGAP_RELATIVE ? " relative" : "", gaps);
    return IKT_OK;
}
