/* The maps of kpca and kda, as positions or as scores to start from: which rows they are made of,
 * by which similarities, and what is told of them. See line.h. */
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "isolation/model.h"
#include "kernelsum/replica.h"
#include "linalg/eigen.h"
#include "pipeline/early_outputs.h"
#include "pipeline/line.h"

static const char purpose[] = "kernel map";

/* --- which rows ------------------------------------------------------------------------------- */

/* The rows that a map is made of, the same on all ranks. */
typedef struct {
    int64_t m;
    int64_t *row, *label; /* [m], of the caller's arrays; labels of kda only */
} landmarks;

/* COLLECTIVE. m of `count` rows. */
static ikt_status draw(const ikt_settings *settings, int64_t count, ikt_arrays *held,
                       landmarks *out) {
    IKT_TRY(ikt_kernel_landmarks(held->ctx, &settings->kernel, count, &out->m));
    out->row = ikt_claim(held, out->m, sizeof *out->row);
    ikt_draw_claimed(held, (uint64_t)settings->run.seed, IKT_RNG_KERNEL, 0, count, out->m,
                     out->row);
    return ikt_arrays_agree(held);
}

/* COLLECTIVE. Some of the rows with a label. */
static ikt_status draw_labelled(const ikt_settings *settings, const ikt_rows *rows,
                                const int64_t *labels, const char *names, ikt_arrays *held,
                                landmarks *out, int64_t *unlabelled) {
    ikt_context *ctx = held->ctx;
    int64_t *all IKT_AT_END(ikt_free) = NULL, count = 0;
    const int64_t least = ikt_labels_least(ctx, labels, rows->count, names);
    IKT_TRY(ikt_share_rows(ctx, rows, labels, sizeof *all, purpose, &all));
    IKT_ARRAYS(work, ctx, purpose);
    int64_t *may = ikt_claim(&work, rows->n, sizeof *may);
    IKT_TRY(ikt_arrays_agree(&work));
    for (int64_t i = 0; i < rows->n; i++)
        if (all[i] >= least) may[count++] = i;
    *unlabelled = rows->n - count;
    IKT_TRY(draw(settings, count, held, out));
    out->label = ikt_claim(held, out->m, sizeof *out->label);
    IKT_TRY(ikt_arrays_agree(held));
    for (int64_t l = 0; l < out->m; l++) {
        out->row[l] = may[out->row[l]];
        out->label[l] = all[out->row[l]];
    }
    return IKT_OK;
}

ikt_status ikt_kernel_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_rows *rows, ikt_codes *codes, ikt_model **out) {
    const ikt_codes_rows shape = ikt_codes_rows_of(data);
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(data));
    ikt_model_spec spec;
    ikt_model *model IKT_AT_END(ikt_model_destroy) = NULL;
    *codes = (ikt_codes){0};
    if (out) *out = NULL;
    IKT_TRY(ikt_model_spec_make(ctx, settings, rows->n, drawn, &shape, &spec));
    spec.coarse = spec.near = 0; /* cells that order rows are no part of the kernel */
    IKT_TRY(ikt_agree(ctx, ikt_model_create(ctx, &spec, &model)));
    IKT_TRY(ikt_codes_compute(ctx, data, rows, model, codes, NULL));
    return out ? ikt_give(out, model) : IKT_OK;
}

/* --- what is told ----------------------------------------------------------------------------- */

static void tell_components(ikt_context *ctx, const ikt_kernel_report *r) {
    const ikt_kernel_pca_facts *c = &r->components;
    double sum = 0;
    for (int v = 0; v < r->q; v++)
        sum += c->value[v];
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", r->m),
                                    IKT_LOG_REAL("largest_eigenvalue", c->value[0]),
                                    IKT_LOG_REAL("variance", sum / c->trace)),
                    "kernel PCA of %lld rows: the largest eigenvalue is %.4g; %d hold %.1f %% "
                    "of the sum of all",
                    (long long)r->m, c->value[0], r->q, 100 * sum / c->trace);
}

static void tell_separated(ikt_context *ctx, const ikt_kernel_report *r) {
    const ikt_discriminant_facts *d = &r->separated;
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        IKT_LOG_NUMBERS(IKT_LOG_INT("rows", r->m), IKT_LOG_INT("unlabelled", r->unlabelled),
                        IKT_LOG_INT("classes", d->classes), IKT_LOG_REAL("ridge", d->ridge),
                        IKT_LOG_REAL("error", d->error), IKT_LOG_REAL("baseline", d->baseline),
                        IKT_LOG_REAL("chance", d->chance)),
        "kernel discriminant analysis of %lld labelled rows in %lld classes (%lld rows have no "
        "label), ridge %.4g: 1-NN error of these rows %.1f %%; of permuted labels %.1f %%, and by "
        "chance %.1f %%",
        (long long)r->m, (long long)d->classes, (long long)r->unlabelled, d->ridge, 100 * d->error,
        100 * d->baseline, 100 * d->chance);
    if (d->leaks)
        ikt_log(ctx, IKT_LOG_WARN,
                "kda: permuted labels are told better than by chance (1-NN error %.1f %% of %.1f "
                "%%), so that the map shows labels that mean nothing, too: take a larger "
                "kernel.ridge",
                100 * d->baseline, 100 * d->chance);
}

/* --- the map ---------------------------------------------------------------------------------- */

/* COLLECTIVE. The mean of the map, as positions have it, which the end of a run takes off them. */
static void find_origin(ikt_context *ctx, const ikt_rows *rows, int q, const double *scores,
                        double *origin) {
    ikt_exact_sum sum[IKT_DIMENSIONS_MOST] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t e = 0; e < q * rows->count; e++)
        ikt_exact_sum_add(&sum[e % q], (double)(float)scores[e]);
    ikt_exact_sum_reduce(ctx, sum, q);
    for (int c = 0; c < q; c++)
        origin[c] = ikt_exact_sum_value(&sum[c]) / (double)rows->n;
}

ikt_status ikt_kernel_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const int64_t *labels, const char *names,
                             ikt_model_writer *writer, double *scores, ikt_kernel_report *report) {
    const ikt_kernel_settings *kernel = &settings->kernel;
    const int q = (int)settings->layout.dimensions;
    landmarks chosen = {.m = 0};
    IKT_ARRAYS(held, ctx, purpose);
    ikt_codes codes IKT_AT_END(ikt_codes_destroy) = {0};
    ikt_kernel_map map IKT_AT_END(ikt_kernel_map_destroy) = {.m = 0};
    ikt_similarities *similar IKT_AT_END(ikt_similarities_destroy) = NULL;
    ikt_model *model IKT_AT_END(ikt_model_destroy) = NULL; /* of the Isolation kernel */
    ikt_similarity_of of = {
        .kind = ikt_settings_similarity(settings), .bandwidth = kernel->bandwidth, .data = data};
    *report =
        (ikt_kernel_report){.of_labels = ikt_layout_start(&settings->layout)->of_labels, .q = q};
    IKT_TRY(report->of_labels
                ? draw_labelled(settings, rows, labels, names, &held, &chosen, &report->unlabelled)
                : draw(settings, rows->n, &held, &chosen));
    if (of.kind == IKT_SIMILARITY_ISOLATION) {
        IKT_TRY(ikt_kernel_codes(ctx, settings, data, rows, &codes, &model));
        of.codes = &codes;
    }
    IKT_TRY(ikt_similarities_create(ctx, &of, rows, chosen.row, chosen.m, &similar));
    if (report->of_labels)
        IKT_TRY(ikt_discriminant_fit(ctx, similar, chosen.m, chosen.label, q, kernel->ridge,
                                     (uint64_t)settings->run.seed, IKT_EIGEN_ALONE_MAX, &map,
                                     &report->separated));
    else
        IKT_TRY(ikt_kernel_pca_fit(ctx, similar, chosen.m, q, IKT_EIGEN_ALONE_MAX, &map,
                                   &report->components));
    IKT_TRY(ikt_kernel_map_place(ctx, &map, similar, rows, scores, NULL));
    report->m = chosen.m;
    report->bandwidth = ikt_similarities_bandwidth(similar);
    (report->of_labels ? tell_separated : tell_components)(ctx, report);
    if (!writer) return IKT_OK;
    double origin[IKT_DIMENSIONS_MOST];
    find_origin(ctx, rows, q, scores, origin);
    const ikt_kernel_projection made = {of.kind, report->bandwidth, chosen.row, &map, origin, model,
                                        &codes};
    return ikt_run_model_projection(ctx, writer, data, rows, &made);
}
