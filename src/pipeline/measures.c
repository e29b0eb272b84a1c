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
#include "pipeline/line.h"

enum { EXACT_ROWS = 50000, DENSE_ROWS = 16384, MARKED_MOST = 16, CLASSES_MOST = 64 };

/* Ranks of all rows by their distance from a marked one, on every rank. */
typedef struct {
    float *y;        /* [n * q] */
    int64_t *labels; /* [n] */
    ikt_classes classes;
    int64_t least; /* of their labels, that is one */
    ikt_radix radix;
    float *distance; /* [n] */
    int64_t *ranks;  /* [n] of the rows of one class */
} overview;

static void overview_destroy(overview *o) {
    ikt_free_all(&o->y, &o->labels, &o->distance, &o->ranks);
    ikt_classes_destroy(&o->classes);
    ikt_radix_destroy(&o->radix);
}

/* LOCAL. */
static ikt_status make_room(ikt_context *ctx, int64_t n, overview *o) {
    IKT_TRY(ikt_radix_create(ctx, n, &o->radix));
    IKT_TRY(ikt_alloc(ctx, &o->distance, n, sizeof *o->distance, "measures"));
    return ikt_alloc(ctx, &o->ranks, n, sizeof *o->ranks, "measures");
}

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

/* LOCAL. All classes as one marked row sees them. */
static ikt_status add_row(ikt_context *ctx, overview *o, int64_t n, int64_t q, int64_t row,
                          ikt_measures *out) {
    ikt_embedding_distances(o->y, n, q, o->y + q * row, o->distance);
    o->distance[row] = -1;
    ikt_radix_ranks(&o->radix, o->distance, o->radix.rank[0]);
    for (int64_t c = 0; c < ikt_smaller(o->classes.count, CLASSES_MOST); c++)
        if (o->classes.label[c] >= o->least)
            IKT_TRY(add_class(ctx, o, n, row, o->classes.label[c], out));
    return IKT_OK;
}

/* LOCAL. What some marked rows see. */
static ikt_status add_rows(ikt_context *ctx, overview *o, int64_t n, int64_t q, const int64_t *row,
                           int64_t count, ikt_measures *out) {
    for (int64_t m = 0; m < count; m++)
        IKT_TRY(add_row(ctx, o, n, q, row[m], out));
    return IKT_OK;
}

ikt_status ikt_measure_marked(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                              int64_t n_marked, ikt_measures *out) {
    const ikt_rows *rows = &what->rows;
    const int64_t n = rows->n, q = what->q;
    overview o IKT_AT_END(overview_destroy) = {.y = NULL};
    if (n_marked == 0 || !what->has_labels || n < 2 || n > INT32_MAX) return IKT_OK;
    IKT_TRY(ikt_share_rows(ctx, rows, what->y, (size_t)q * sizeof *o.y, "measures", &o.y));
    IKT_TRY(ikt_share_rows(ctx, rows, what->labels, sizeof *o.labels, "measures", &o.labels));
    IKT_TRY(ikt_classes_find(ctx, what->labels, rows->count, &o.classes));
    o.least = ikt_labels_least(ctx, what->labels, rows->count, what->names);
    IKT_TRY(ikt_agree(ctx, make_room(ctx, n, &o)));
    const int64_t count = ikt_smaller(n_marked, MARKED_MOST);
    return ikt_agree(ctx, add_rows(ctx, &o, n, q, marked, count, out));
}

ikt_status ikt_measure_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, ikt_codes *codes) {
    *codes = (ikt_codes){0};
    if (ikt_affinity_of(&settings->affinity)->scores != IKT_SCORES_CODES)
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
                          .names = run->label_names,
                          .has_labels = ikt_max_one(ctx, run->labels != NULL) > 0};
}

/* What is computed of a run; `only`: families, NULL for all that are possible. */
static ikt_measure_settings settings_of(const ikt_run *run, const char *only) {
    const int64_t n = run->rows.n;
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.seed = (uint64_t)run->settings.run.seed;
    settings.only = only;
    settings.leaves_out = only != NULL;
    settings.cheap_only = !only && run->settings.output.measures == IKT_MEASURES_MAP;
    settings.fits_k = true;
    settings.trust_k = ikt_measure_trust_k(settings.trust_k, n);
    return settings;
}

/* COLLECTIVE. The measures of these settings, and where marked rows landed. */
static ikt_status measure(ikt_context *ctx, const ikt_run *run, const char *only, bool has_input,
                          bool has_marked, ikt_measures *out) {
    const ikt_measure_settings settings = settings_of(run, only);
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *data IKT_AT_END(ikt_dataset_destroy) = NULL;
    ikt_codes codes IKT_AT_END(ikt_codes_destroy) = {0};
    if (run->rows.n < 4) return IKT_OK;
    IKT_IN_STAGE(ctx, IKT_STAGE_MEASURES);
    if (has_input) IKT_TRY(ikt_pipeline_open(ctx, &run->settings, run->given, &source, &data));
    ikt_measured what = ikt_run_measured(ctx, run);
    what.data = data;
    if (only && strstr(only, "kernel")) {
        IKT_TRY(ikt_measure_codes(ctx, &run->settings, data, &run->rows, &codes));
        what.codes = &codes;
    }
    if (!only || only[0]) IKT_TRY(ikt_measures_compute(ctx, &settings, &what, out));
    if (!has_marked) return IKT_OK;
    return ikt_measure_marked(ctx, &what, run->marked, run->n_marked, out);
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

/* What sums the kernel over n rows (ikt_repulsion): exactly while that is quick, or by what can do
 * it. */
static int repulsion_for(int64_t n, int q, double degrees) {
    if (n <= EXACT_ROWS) return IKT_REPULSION_EXACT;
    if (q == 2) return IKT_REPULSION_FFT;
    return ikt_tree_has_kernel(ikt_kernel_of_degrees(degrees)) ? IKT_REPULSION_TREE
                                                               : IKT_REPULSION_EXACT;
}

/* COLLECTIVE. The objective of t-SNE on a P, with the kernel of the run. */
static ikt_status make_tsne(const ikt_line *line, int q, ikt_objective *out) {
    ikt_context *ctx = line->ctx;
    const ikt_settings *settings = line->settings;
    const int64_t n = line->rows->n;
    const double degrees = settings->layout.degrees_of_freedom;
    const ikt_p_form form = ikt_form_of(line);
    ikt_objective_inputs inputs = {.rows = *line->rows,
                                   .q = q,
                                   .options = {.degrees = degrees,
                                               .repulsion = repulsion_for(n, q, degrees),
                                               .accuracy = IKT_ACCURACY_TIGHT,
                                               .sharing = settings->layout.grid},
                                   .graph = form.graph,
                                   .dense = form.dense,
                                   .whole = form.whole,
                                   .sampling = settings->affinity.whole};
    /* One iteration of the last ones, of a run that may be longer than they are. */
    const int64_t last = ikt_larger(0, inputs.sampling.last_iterations);
    if (form.whole) IKT_TRY(ikt_whole_resolve(ctx, &inputs.sampling, n, line->whole.t, last));
    return ikt_objective_create(ctx, &ikt_objective_tsne, &inputs, out);
}

ikt_status ikt_measure_divergence(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  const ikt_companions *beside, const ikt_rows *rows, int q,
                                  const float *y, double *kl, double *error) {
    const int64_t bytes = q * (int64_t)sizeof *y;
    const ikt_embed_options alone = {.labels = beside->labels, .label_names = beside->label_names};
    const ikt_shape shape = {.has_rows = data != NULL};
    ikt_settings used = *settings;
    ikt_steps steps;
    ikt_line line IKT_AT_END(ikt_line_end) = {.ctx = ctx,
                                              .steps = &steps,
                                              .settings = &used,
                                              .data = data,
                                              .rows = rows,
                                              .options = &alone};
    ikt_objective objective IKT_AT_END(ikt_objective_destroy) = {.kind = NULL};
    ikt_objective_terms terms = {.value = NAN};
    ikt_gradient gradient;
    *kl = NAN;
    *error = 0;
    /* The same P as far as rows allow it. */
    if (used.affinity.support == IKT_SUPPORT_WHOLE && rows->n <= DENSE_ROWS)
        used.affinity.support = IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_line_begin(&line));
    const ikt_facts facts = ikt_facts_of(&used, &shape);
    IKT_TRY(ikt_steps_find(ctx, &used, &facts, IKT_VALUE_P, &steps));
    IKT_TRY(ikt_line_run(&line, 0, IKT_STEPS));
    IKT_TRY(make_tsne(&line, q, &objective));
    IKT_TRY(ikt_line_reorder(&line, false, y, objective.y, bytes));
    IKT_TRY(objective.kind->evaluate(&objective, 0, true, &gradient, &terms));
    *kl = terms.value;
    *error = terms.error;
    return IKT_OK;
}
