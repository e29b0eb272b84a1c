/* From P to what the loop minimises. */
#include "pipeline/objective_make.h"

#include "base/log.h"
#include "plan/machine.h"

static ikt_status make_sums(ikt_context *ctx, const ikt_rows *rows, ikt_kernel kernel,
                            const ikt_layout_settings *settings, ikt_kernelsum **out) {
    const bool is_tight = settings->accuracy == IKT_ACCURACY_TIGHT;
    const int q = (int)settings->dimensions;
    if (settings->repulsion == IKT_REPULSION_EXACT)
        return ikt_kernelsum_create_exact(ctx, rows, q, kernel, out);
    if (settings->repulsion == IKT_REPULSION_TREE)
        return ikt_kernelsum_create_tree(ctx, rows, q, is_tight ? IKT_TREE_TIGHT : IKT_TREE_DEFAULT,
                                         out);
    ikt_fft_settings fft = ikt_fft_preset(is_tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    fft.sharing = settings->grid;
    if (fft.sharing == IKT_SHARING_AUTO && ikt_size(ctx) > 1) {
        ikt_machine machine;
        IKT_TRY(ikt_machine_load(ctx, "", &machine));
        fft.rates = ikt_machine_fft_rates(&machine, ikt_threads(ctx));
    }
    return ikt_kernelsum_create_fft_of(ctx, rows, kernel, &fft, out);
}

static ikt_status make_of_sums(ikt_context *ctx, const ikt_probabilities *p, const ikt_rows *rows,
                               const ikt_layout_settings *settings, ikt_made_objective *out) {
    const ikt_objective_kind kind = (ikt_objective_kind)settings->objective;
    const ikt_divergence *divergence = ikt_divergence_of(kind);
    ikt_objective_spec spec = {.kind = kind,
                               .trade_off = settings->trade_off,
                               .graph = p->is_dense ? NULL : &p->graph,
                               .dense = p->is_dense ? &p->dense : NULL};
    char text[256];
    for (int k = 0; k < divergence->n_kernels; k++) {
        IKT_TRY(make_sums(ctx, rows, divergence->kernel[k], settings, &out->sums[k]));
        spec.sums[k] = out->sums[k];
    }
    ikt_kernelsum_describe(out->sums[0], text, sizeof text);
    ikt_log(ctx, IKT_LOG_STAGE, "%s in %lld dimensions; repulsion: %s", divergence->name,
            (long long)settings->dimensions, text);
    return ikt_objective_create(ctx, &spec, &out->objective);
}

ikt_status ikt_objective_make(ikt_context *ctx, const ikt_probabilities *p,
                              const ikt_layout_settings *settings, ikt_made_objective *out) {
    const ikt_rows *rows = p->is_dense ? &p->dense.rows : &p->graph.rows;
    const int q = (int)settings->dimensions;
    *out = (ikt_made_objective){.sums = {NULL}};
    if (!p->is_dense || settings->objective != IKT_OBJECTIVE_TSNE ||
        settings->repulsion != IKT_REPULSION_EXACT)
        return make_of_sums(ctx, p, rows, settings, out);
    ikt_log(ctx, IKT_LOG_STAGE,
            "tsne in %d dimensions; repulsion: exact sums over all pairs of %lld points, in one "
            "pass with the attraction",
            q, (long long)rows->n);
    return ikt_tsne_dense_exact_create(ctx, &p->dense, q, &out->objective);
}

void ikt_objective_release(ikt_made_objective *made) {
    ikt_objective_destroy(&made->objective);
    for (int k = 0; k < IKT_KERNELS_MOST; k++)
        ikt_kernelsum_destroy(&made->sums[k]);
}
