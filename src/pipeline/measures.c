/* Measures of runs and of result files. */
#include "pipeline/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"
#include "objective/objective.h"
#include "pipeline/kernel_scores.h"
#include "pipeline/line.h"

enum { EXACT_ROWS = 50000, DENSE_ROWS = 16384, MARKED_MOST = 16, CLASSES_MOST = 64 };

/* Ranks of all rows by their distance from a marked one, on every rank. */
typedef struct {
    float *y;        /* [n * q] */
    int64_t *labels; /* [n] */
    ikt_classes classes;
    ikt_radix radix;
    float *distance; /* [n] */
    int64_t *ranks;  /* [n] of the rows of one class */
} overview;

/* Median and mean rank of a class: half of it is nearer than the one, and far parts draw at the
 * other. */
static ikt_status add_class(ikt_context *ctx, overview *o, int64_t n, int64_t row, int64_t label,
                            ikt_measures *out) {
    char name[48];
    int64_t count = 0, sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (o->labels[j] == label && j != row) {
            sum += o->radix.rank[0][j];
            o->ranks[count++] = o->radix.rank[0][j];
        }
    if (count == 0) return IKT_OK;
    ikt_sort_i64(o->ranks, count);
    const double others = (double)(n - 1);
    snprintf(name, sizeof name, "row %lld to class %lld", (long long)row, (long long)label);
    IKT_TRY(ikt_measures_add(ctx, out, name, (double)o->ranks[count / 2] / others, 0,
                             "median rank distance of the class from the marked row; 0 nearest"));
    snprintf(name, sizeof name, "row %lld to class %lld, mean", (long long)row, (long long)label);
    return ikt_measures_add(ctx, out, name, (double)sum / (double)count / others, 0,
                            "mean rank distance of the class from the marked row; 0 nearest");
}

ikt_status ikt_measure_marked(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                              int64_t n_marked, ikt_measures *out) {
    const int64_t n = what->rows.n, q = what->q;
    overview o = {0};
    if (n_marked == 0 || !what->has_labels || n < 2 || n > INT32_MAX) return IKT_OK;
    ikt_status st =
        ikt_share_rows(ctx, &what->rows, what->y, (size_t)q * sizeof *o.y, "measures", &o.y);
    if (st == IKT_OK)
        st =
            ikt_share_rows(ctx, &what->rows, what->labels, sizeof *o.labels, "measures", &o.labels);
    if (st == IKT_OK) st = ikt_classes_find(ctx, what->labels, what->rows.count, &o.classes);
    if (st == IKT_OK) {
        st = ikt_radix_create(ctx, n, &o.radix);
        if (st == IKT_OK) st = ikt_alloc(ctx, &o.distance, n, sizeof *o.distance, "measures");
        if (st == IKT_OK) st = ikt_alloc(ctx, &o.ranks, n, sizeof *o.ranks, "measures");
        st = ikt_agree(ctx, st);
    }
    for (int64_t m = 0; m < n_marked && m < MARKED_MOST && st == IKT_OK; m++) {
        ikt_embedding_distances(o.y, n, q, o.y + q * marked[m], o.distance);
        o.distance[marked[m]] = -1;
        ikt_radix_ranks(&o.radix, o.distance, o.radix.rank[0]);
        for (int64_t c = 0; c < o.classes.count && c < CLASSES_MOST && st == IKT_OK; c++)
            st = add_class(ctx, &o, n, marked[m], o.classes.label[c], out);
    }
    ikt_free(&o.y);
    ikt_free(&o.labels);
    ikt_free(&o.distance);
    ikt_free(&o.ranks);
    ikt_classes_destroy(&o.classes);
    ikt_radix_destroy(&o.radix);
    return ikt_agree(ctx, st);
}

ikt_status ikt_measure_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, ikt_codes *codes) {
    *codes = (ikt_codes){0};
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "neighbours by the Isolation kernel are those of an embedding by that "
                        "kernel; this one has another affinity.kind");
    return ikt_kernel_codes(ctx, settings, data, rows, codes, NULL);
}

ikt_measured ikt_run_measured(ikt_context *ctx, const ikt_run *run) {
    return (ikt_measured){.rows = run->rows,
                          .y = run->embedding.y,
                          .q = run->settings.layout.dimensions,
                          .labels = run->labels,
                          .has_labels = ikt_max_one(ctx, run->labels != NULL) > 0};
}

/* Measures of a run; `only`: families, NULL for all that are possible. */
static ikt_status measure(ikt_context *ctx, const ikt_run *run, const char *only, bool has_input,
                          bool has_marked, ikt_measures *out) {
    const int64_t n = run->rows.n;
    const bool has_codes = only && strstr(only, "kernel");
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_codes codes = {0};
    ikt_status st = IKT_OK;
    if (n < 4) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_MEASURES);
    if (has_input) st = ikt_pipeline_open(ctx, &run->settings, run->given, &source, &data);
    if (st == IKT_OK && has_codes)
        st = ikt_measure_codes(ctx, &run->settings, data, &run->rows, &codes);
    if (st == IKT_OK) {
        ikt_measure_settings settings = ikt_measure_defaults();
        ikt_measured what = ikt_run_measured(ctx, run);
        settings.seed = (uint64_t)run->settings.run.seed;
        settings.only = only;
        settings.leaves_out = only != NULL;
        settings.cheap_only = !only && run->settings.output.measures == IKT_MEASURES_MAP;
        if (settings.k > n - 1) settings.k = n - 1; /* fewer neighbours for tiny sets */
        if (settings.trust_k > n / 3) settings.trust_k = n / 3;
        what.data = data;
        what.codes = has_codes ? &codes : NULL;
        if (!only || only[0]) st = ikt_measures_compute(ctx, &settings, &what, out);
        if (st == IKT_OK && has_marked)
            st = ikt_measure_marked(ctx, &what, run->marked, run->n_marked, out);
    }
    ikt_codes_destroy(&codes);
    ikt_pipeline_close(&source, &data);
    ikt_stage_end(ctx, IKT_STAGE_MEASURES);
    return st;
}

ikt_status ikt_run_measures(ikt_context *ctx, const ikt_run *run, ikt_measures *out) {
    const ikt_measures_wanted wanted = (ikt_measures_wanted)run->settings.output.measures;
    if (wanted == IKT_MEASURES_NONE) return IKT_OK;
    return measure(ctx, run, NULL, wanted == IKT_MEASURES_ALL, true, out);
}

ikt_status ikt_run_measures_of(ikt_context *ctx, const ikt_run *run, const char *families,
                               bool has_marked, ikt_measures *out) {
    return measure(ctx, run, families, ikt_measures_need_input(families), has_marked, out);
}

/* COLLECTIVE. The objective of t-SNE on a P, with the kernel of the run. */
static ikt_status make_tsne(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_probabilities *p, int q, ikt_objective *out) {
    const int64_t n = p->rows.n;
    const double degrees = settings->layout.degrees_of_freedom;
    const bool has_tree = ikt_tree_has_kernel(ikt_kernel_of_degrees(degrees));
    ikt_objective_inputs inputs = {.rows = p->rows,
                                   .q = q,
                                   .options = {.degrees = degrees,
                                               .repulsion = n <= EXACT_ROWS ? IKT_REPULSION_EXACT
                                                            : q == 2        ? IKT_REPULSION_FFT
                                                            : has_tree      ? IKT_REPULSION_TREE
                                                                            : IKT_REPULSION_EXACT,
                                               .accuracy = IKT_ACCURACY_TIGHT,
                                               .sharing = settings->layout.grid},
                                   .graph = p->graph.forward.start ? &p->graph : NULL,
                                   .dense = p->is_dense ? &p->dense : NULL,
                                   .whole = p->is_whole ? &p->whole : NULL,
                                   .sampling = settings->affinity.whole};
    if (p->is_whole) IKT_TRY(ikt_whole_resolve(ctx, &inputs.sampling, n, p->whole.t, 0));
    return ikt_objective_create(ctx, &ikt_objective_tsne, &inputs, out);
}

ikt_status ikt_measure_divergence(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  const ikt_rows *rows, int q, const float *y, double *kl,
                                  double *error) {
    const int64_t bytes = q * (int64_t)sizeof *y;
    const ikt_embed_options alone = {.labels = NULL};
    const ikt_shape shape = {.has_rows = data != NULL};
    ikt_settings used = *settings;
    ikt_steps steps;
    ikt_line line = {.ctx = ctx,
                     .steps = &steps,
                     .settings = &used,
                     .data = data,
                     .rows = rows,
                     .options = &alone};
    ikt_objective objective = {.kind = NULL};
    ikt_objective_terms terms = {.value = NAN};
    ikt_gradient gradient;
    /* The same P as far as rows allow it. */
    if (used.affinity.support == IKT_SUPPORT_WHOLE && rows->n <= DENSE_ROWS)
        used.affinity.support = IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_line_begin(&line));
    const ikt_facts facts = ikt_facts_of(&used, &shape);
    ikt_probabilities *p = &line.p;
    ikt_status st = ikt_steps_find(ctx, &used, &facts, IKT_VALUE_P, &steps);
    if (st == IKT_OK) st = ikt_line_run(&line, 0, IKT_STEPS);
    if (st == IKT_OK) st = make_tsne(ctx, &used, p, q, &objective);
    if (st == IKT_OK && p->is_ordered)
        st = ikt_order_apply(ctx, &p->order, y, bytes, objective.y, bytes, bytes);
    else if (st == IKT_OK)
        memcpy(objective.y, y, (size_t)(rows->count * bytes));
    if (st == IKT_OK) st = objective.kind->evaluate(&objective, 0, true, &gradient, &terms);
    *kl = terms.value;
    *error = terms.error;
    ikt_objective_destroy(&objective);
    ikt_line_end(&line);
    return st;
}
