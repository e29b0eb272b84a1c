/* What a run has to do, in numbers. */
#include "pipeline/workload.h"

#include <math.h>

/* The map while attraction is exaggerated: some clumps in a few units. */
static const double early_span = 15;

static const double symmetric_share = 1.4;

ikt_status ikt_workload_make(ikt_context *ctx, const ikt_settings *settings,
                             const ikt_data_shape *data, int ranks, int threads,
                             ikt_workload *out) {
    *out = (ikt_workload){.settings = *settings,
                          .data = *data,
                          .map = ikt_row_map_make(data->n, ranks, 0),
                          .ranks = ranks,
                          .threads = threads};
    ikt_settings *s = &out->settings;
    out->columns = s->preprocess.pca > 0 ? s->preprocess.pca : data->d;
    if (out->columns > data->d)
        return ikt_fail(ctx, IKT_ERR_USAGE, "preprocess.pca = %lld, but there are %lld columns",
                        (long long)s->preprocess.pca, (long long)data->d);
    out->is_u8 = data->type == IKT_TYPE_U8 && s->preprocess.normalise == IKT_NORMALISE_NONE &&
                 s->preprocess.pca == 0;
    out->is_isolation = s->affinity.kind == IKT_AFFINITY_ISOLATION;
    out->is_dense = s->affinity.support == IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_layout_resolve(ctx, &s->layout, data->n));
    IKT_TRY(ikt_affinity_resolve(ctx, &s->affinity, &s->gaussian, data->n, &out->k));
    if (out->is_isolation) {
        IKT_TRY(ikt_isolation_resolve_psi(ctx, &s->isolation, data->n, &out->psi));
        out->t = s->isolation.partitionings;
    }
    out->is_exact = s->layout.repulsion == IKT_REPULSION_EXACT;
    bool tight = s->layout.accuracy == IKT_ACCURACY_TIGHT;
    out->fft = ikt_fft_preset(tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    return IKT_OK;
}

int64_t ikt_workload_row_bytes(const ikt_workload *w) {
    return w->columns * (w->is_u8 ? 1 : (int64_t)sizeof(float));
}

double ikt_workload_symmetric_share(void) {
    return symmetric_share;
}

double ikt_workload_span(const ikt_workload *w, double done) {
    const ikt_layout_settings *layout = &w->settings.layout;
    double after = (double)(layout->iterations - layout->exaggeration_iterations) * done;
    double span = 15 * pow((double)w->data.n, 0.25) * sqrt(after / 500);
    return span > early_span ? span : early_span;
}

ikt_grid ikt_workload_grid(const ikt_workload *w, double span) {
    return ikt_grid_fit(&w->fft, &(ikt_bounds){{0, 0}, {span, span}});
}

double ikt_workload_cut(const ikt_workload *w) {
    return (double)(w->ranks - 1) / w->ranks;
}

double ikt_workload_partners(const ikt_workload *w) {
    return w->ranks - 1;
}

double ikt_workload_boundary(const ikt_workload *w) {
    double others = (double)(w->map.n - w->map.count);
    double crossing = ikt_workload_cut(w) * symmetric_share * (double)(w->map.count * w->k);
    if (others <= 0) return 0;
    return w->is_dense ? others : others * (1 - exp(-crossing / others));
}
