/* From P to the map. See line.h. */
#include "pipeline/line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "plan/machine.h"

ikt_status ikt_line_reorder(const ikt_line *line, bool back, const void *in, void *out,
                            int64_t bytes) {
    if (!line->is_ordered) {
        if (in != out) memcpy(out, in, (size_t)(bytes * line->rows->count));
        return IKT_OK;
    }
    IKT_IN_STAGE(line->ctx, IKT_STAGE_ORDER);
    return (back ? ikt_order_restore : ikt_order_apply)(line->ctx, &line->order, in, bytes, out,
                                                        bytes, bytes);
}

/* --- eigenvectors of P: a start, and the number of clusters --------------------------------------
 *
 * Neither is saved by checkpoints: after a stop before the loop's first iteration they are found
 * once more, with the same bits, which takes some tens of products with P; a signal to stop is
 * heeded between two steps of the solver. */

static ikt_spectrum_of spectrum_of(const ikt_line *line) {
    const ikt_p_form form = ikt_form_of(line);
    return (ikt_spectrum_of){form.graph, form.dense};
}

static void log_report(ikt_context *ctx, const char *what, const ikt_spectrum_report *r) {
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        IKT_LOG_NUMBERS(IKT_LOG_INT("components", r->components),
                        IKT_LOG_INT("products", r->products), IKT_LOG_INT("columns", r->columns),
                        IKT_LOG_REAL("residual", r->residual), IKT_LOG_REAL("seconds", r->seconds)),
        "%s: %lld products of P with %lld columns, residual %.1e, in %.1f s; P has %lld connected "
        "component%s",
        what, (long long)r->products, (long long)r->columns, r->residual, r->seconds,
        (long long)r->components, ikt_plural(r->components));
}

/* COLLECTIVE. */
static ikt_status find_gap(const ikt_line *line, ikt_eigengap *out) {
    const ikt_spectrum_of form = spectrum_of(line);
    IKT_IN_STAGE(line->ctx, IKT_STAGE_SPECTRUM);
    return ikt_eigengap_find(line->ctx, &form, (ikt_eigengap_kind)line->settings->layout.eigengap,
                             (uint64_t)line->settings->run.seed, out);
}

/* That no gap stands out is a warning. */
static void tell_gap(ikt_context *ctx, const ikt_layout_settings *layout, const ikt_eigengap *gap) {
    char text[512];
    int64_t clusters;
    log_report(ctx, "eigenvalues", &gap->report);
    if (ikt_eigengap_clusters(ctx, gap, &clusters) != IKT_OK) {
        ikt_log(ctx, IKT_LOG_WARN, "%s", ikt_message(ctx));
        ikt_clear(ctx);
        return;
    }
    ikt_eigengap_describe((ikt_eigengap_kind)layout->eigengap, gap, text, sizeof text);
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("clusters", clusters),
                                    IKT_LOG_INT("second", gap->after[1]),
                                    IKT_LOG_REAL("second_share", gap->gap[1] / gap->gap[0])),
                    "eigengap: %lld clusters; %s", (long long)clusters, text);
}

/* COLLECTIVE. The eigenvectors that layout.init=spectral starts from, in the order of P.
 *   scores   [rows.count * layout.dimensions] receives them, each of length sqrt(n) */
static ikt_status find_eigenvectors(const ikt_line *line, double *scores,
                                    ikt_spectrum_report *report) {
    const ikt_settings *settings = line->settings;
    const ikt_rows *rows = line->rows;
    const ikt_spectrum_of form = spectrum_of(line);
    const int64_t q = settings->layout.dimensions;
    const double length = sqrt((double)rows->n);
    /* What is only where a loop begins need not be exact. */
    const double tolerance = ikt_layout_objective(&settings->layout)->is_start
                                 ? IKT_SPECTRUM_VALUE_TOLERANCE
                                 : IKT_SPECTRUM_START_TOLERANCE;
    double value[3];
    IKT_IN_STAGE(line->ctx, IKT_STAGE_SPECTRUM);
    IKT_TRY(ikt_spectrum_map(line->ctx, &form, q, tolerance, (uint64_t)settings->run.seed, scores,
                             value, report));
    for (int64_t e = 0; e < q * rows->count; e++)
        scores[e] *= length;
    return IKT_OK;
}

/* COLLECTIVE. What is wanted of the eigenvectors of P. */
ikt_status ikt_step_eigenvectors(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_layout_settings *layout = &line->settings->layout;
    ikt_spectrum_report *report = &line->out->eigenvectors;
    const int64_t bytes = layout->dimensions * (int64_t)sizeof *line->eigenvectors;
    if (layout->eigengap != IKT_EIGENGAP_OFF) {
        IKT_TRY(find_gap(line, &line->out->gap));
        tell_gap(ctx, layout, &line->out->gap);
    }
    if (!ikt_layout_start(layout)->of_p || line->from) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &line->eigenvectors, line->rows->count, (size_t)bytes, "initial"));
    IKT_TRY(find_eigenvectors(line, line->eigenvectors, report));
    log_report(ctx, "eigenvectors", report);
    if (report->components > 1)
        ikt_log(ctx, IKT_LOG_WARN,
                "P falls into %lld connected components, of which eigenvectors part but one or "
                "two: most rows of the others start together, apart by the jitter alone; "
                "layout.init=pca keeps them apart",
                (long long)report->components);
    return ikt_line_reorder(line, true, line->eigenvectors, line->eigenvectors, bytes);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* What the watcher of the context is told of: the positions in the order of the input. */
typedef struct {
    const ikt_line *line;
    const ikt_objective *objective;
    float *y; /* [rows->count * q] */
} reporter;

static ikt_status report(void *self, int64_t iteration, double value) {
    const reporter *r = self;
    IKT_TRY(ikt_line_reorder(r->line, true, r->objective->y, r->y,
                             r->objective->q * (int64_t)sizeof *r->y));
    ikt_watcher_report(r->line->ctx, iteration, value, r->y);
    return IKT_OK;
}

/* COLLECTIVE. Labels in the order of the loop, where the objective needs them; NULL else. */
static ikt_status order_labels(const ikt_line *line, ikt_arrays *held, const int64_t **labels) {
    *labels = NULL;
    if (!(ikt_layout_objective(&line->settings->layout)->needs & IKT_NEEDS_LABELS)) return IKT_OK;
    int64_t *ordered = ikt_claim(held, line->rows->count, sizeof *ordered);
    IKT_TRY(ikt_arrays_agree(held));
    *labels = ordered;
    return ikt_line_reorder(line, false, line->options->labels, ordered, sizeof *ordered);
}

/* Rates of this machine, by which several ranks may share the grid. P is there by now: a broken
 * file of rates, which change no bit, must not cost it. */
static void find_rates(ikt_context *ctx, const ikt_layout_settings *layout, ikt_fft_rates *rates) {
    ikt_machine machine;
    if (layout->grid != IKT_SHARING_AUTO || ikt_size(ctx) == 1) return;
    if (ikt_machine_load(ctx, "", &machine) == IKT_OK) {
        *rates = ikt_machine_fft_rates(&machine, ikt_threads(ctx));
        return;
    }
    ikt_log(ctx, IKT_LOG_WARN, "the usual rates of a machine are taken: %s", ikt_message(ctx));
    ikt_clear(ctx);
}

/* COLLECTIVE. The objective of the settings on what it needs. */
static ikt_status create_objective(ikt_line *line, const int64_t *labels,
                                   ikt_objective *objective) {
    ikt_context *ctx = line->ctx;
    const ikt_settings *settings = line->settings;
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    const ikt_eigengap *gap = &line->out->gap;
    const bool has_p = kind->needs & IKT_NEEDS_P;
    const ikt_p_form form = has_p ? ikt_form_of(line) : (ikt_p_form){.graph = NULL};
    char text[256];
    ikt_objective_inputs inputs = {.rows = *line->rows,
                                   .q = (int)layout->dimensions,
                                   .options =
                                       ikt_layout_options(layout, (uint64_t)settings->run.seed),
                                   .graph = form.graph,
                                   .dense = form.dense,
                                   .whole = form.whole,
                                   .sampling = settings->affinity.whole,
                                   .iterations = layout->iterations,
                                   .neighbours = &line->neighbours,
                                   .codes = &line->codes,
                                   .features = line->features.tile ? &line->features : NULL,
                                   .joined = line->joined.pairs.start ? &line->joined : NULL,
                                   .labels = labels};
    if (gap->values > 0) inputs.options.regulariser.found = gap->after[0];
    find_rates(ctx, layout, &inputs.options.rates);
    IKT_TRY(ikt_objective_create(ctx, kind, &inputs, objective));
    objective->kind->describe(objective, text, sizeof text); /* `create` may choose another */
    ikt_log(ctx, IKT_LOG_STAGE, "%s in %d dimensions; %s%s", kind->name, inputs.q,
            has_p && !kind->is_start ? "repulsion: " : "", text);
    return IKT_OK;
}

/* COLLECTIVE. Which rows steps move, where the settings do not say all.
 *   out   owned by the caller; NULL: all, and on failure */
static ikt_status create_batch(const ikt_line *line, ikt_batch **out) {
    const ikt_layout_settings *layout = &line->settings->layout;
    const ikt_batch_settings wanted = {.count = layout->batch_rows,
                                       .neighbours = layout->batch_neighbours,
                                       .seed = (uint64_t)line->settings->run.seed};
    const ikt_p_form form = ikt_form_of(line);
    if (layout->batch_rows == IKT_AUTO_INT) return IKT_OK;
    return ikt_batch_create(line->ctx, &wanted, form.graph, form.dense, out);
}

/* COLLECTIVE. */
ikt_status ikt_step_loop(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const ikt_embed_options *options = line->options;
    ikt_embed_result *out = line->out;
    const int64_t bytes = line->settings->layout.dimensions * (int64_t)sizeof *out->y;
    /* Landmarks are not the rows that the program gave. */
    const bool is_watched = options->reports && ikt_watcher_every(ctx) > 0;
    if (!out->y)
        IKT_TRY(ikt_alloc_all(ctx, &out->y, line->rows->count, (size_t)bytes, "embedding"));
    { /* what the loop holds is given back before rows change their order */
        IKT_IN_STAGE(ctx, IKT_STAGE_LAYOUT);
        IKT_ARRAYS(held, ctx, "labels");
        IKT_ARRAYS(positions, ctx, "embedding");
        ikt_objective objective IKT_AT_END(ikt_objective_destroy) = {.kind = NULL};
        ikt_batch *batch IKT_AT_END(ikt_batch_destroy) = NULL;
        const int64_t *labels;
        reporter watcher = {line, &objective, NULL};
        IKT_TRY(order_labels(line, &held, &labels));
        IKT_TRY(create_objective(line, labels, &objective));
        IKT_TRY(create_batch(line, &batch));
        if (is_watched) {
            watcher.y = ikt_claim(&positions, line->rows->count, (size_t)bytes);
            IKT_TRY(ikt_arrays_agree(&positions));
        }
        const ikt_loop_course course = {.hooks = options->hooks ? &options->hooks->loop : NULL,
                                        .from = line->from,
                                        .is_extended = options->from != NULL,
                                        .last = options->want_last ? &out->last : NULL,
                                        .report = is_watched ? report : NULL,
                                        .reporter = &watcher,
                                        .batch = batch};
        IKT_TRY(ikt_layout_run(ctx, &line->settings->layout, line->rows, &objective, &course,
                               out->y, &out->trace));
    }
    return ikt_line_reorder(line, true, out->y, out->y, bytes);
}
