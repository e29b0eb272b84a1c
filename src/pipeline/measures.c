/* Measures of runs and of result files. */
#include "pipeline/measures.h"

#include <string.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/classes.h"
#include "evaluate/radix.h"
#include "pipeline/objective_make.h"

enum { EXACT_ROWS = 50000, MARKED_MOST = 16, CLASSES_MOST = 64 };

/* Dimensions of the map that is measured. */
static int64_t dimensions_of(const ikt_measured *what) {
    (void)what; /* measures know maps of two dimensions */
    return 2;
}

/* Positions and labels of all rows on every rank. */
typedef struct {
    int64_t q;
    float *y;
    int64_t *labels;
    ikt_classes classes;
    ikt_radix radix;
    float *distance; /* [n] */
    int64_t *ranks;  /* [n] of the rows of one class */
} overview;

static void overview_free(overview *o) {
    ikt_free(&o->y);
    ikt_free(&o->labels);
    ikt_free(&o->distance);
    ikt_free(&o->ranks);
    ikt_classes_destroy(&o->classes);
    ikt_radix_destroy(&o->radix);
}

static ikt_status overview_make(ikt_context *ctx, const ikt_measured *what, overview *o) {
    int64_t n = what->map.n;
    o->q = dimensions_of(what);
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->y, (size_t)o->q * sizeof *o->y, &o->y));
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->labels, sizeof *o->labels, &o->labels));
    IKT_TRY(ikt_classes_find(ctx, what->labels, what->map.count, &o->classes));
    ikt_status st = ikt_radix_create(ctx, n, &o->radix);
    if (st == IKT_OK) st = ikt_alloc(ctx, &o->distance, n, sizeof *o->distance, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &o->ranks, n, sizeof *o->ranks, "measures");
    return ikt_agree(ctx, st);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void rank_from(overview *o, int64_t n, int64_t row) {
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t c = 0; c < o->q; c++) {
            double d = (double)o->y[o->q * j + c] - (double)o->y[o->q * row + c];
            sum += d * d;
        }
        o->distance[j] = (float)sum;
    }
    o->distance[row] = -1;
    ikt_radix_ranks(&o->radix, o->distance, o->radix.rank[0]);
}

static ikt_status add_class(ikt_context *ctx, overview *o, int64_t n, int64_t row, int64_t label,
                            ikt_measures *out) {
    char name[48];
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++)
        if (o->labels[j] == label && j != row) o->ranks[count++] = o->radix.rank[0][j];
    if (count == 0) return IKT_OK;
    qsort(o->ranks, (size_t)count, sizeof *o->ranks, by_number);
    snprintf(name, sizeof name, "row %lld to class %lld", (long long)row, (long long)label);
    return ikt_measures_add(ctx, out, name, (double)o->ranks[count / 2] / (double)(n - 1), 0,
                            "median rank distance of the class from the marked row; 0 nearest");
}

ikt_status ikt_measure_marked(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                              int64_t n_marked, ikt_measures *out) {
    overview o = {0};
    int64_t n = what->map.n;
    if (n_marked == 0 || !what->has_labels || n < 2 || n > INT32_MAX) return IKT_OK;
    ikt_status st = overview_make(ctx, what, &o);
    for (int64_t m = 0; m < n_marked && m < MARKED_MOST && st == IKT_OK; m++) {
        rank_from(&o, n, marked[m]);
        for (int64_t c = 0; c < o.classes.count && c < CLASSES_MOST && st == IKT_OK; c++)
            st = add_class(ctx, &o, n, marked[m], o.classes.label[c], out);
    }
    overview_free(&o);
    return ikt_agree(ctx, st);
}

/* Settings that suit any number of rows: fewer neighbours for tiny sets. */
static ikt_measure_settings settings_for(const ikt_run *run) {
    ikt_measure_settings settings = ikt_measure_defaults();
    int64_t others = run->map.n - 1;
    settings.seed = (uint64_t)run->settings.run.seed;
    if (settings.k > others) settings.k = others;
    if (settings.trust_k > run->map.n / 3) settings.trust_k = run->map.n / 3;
    return settings;
}

ikt_status ikt_run_measures(ikt_context *ctx, const ikt_run *run, ikt_measures *out) {
    ikt_measures_wanted wanted = (ikt_measures_wanted)run->settings.output.measures;
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_status st = IKT_OK;
    if (wanted == IKT_MEASURES_NONE || run->map.n < 4) return IKT_OK;
    if (run->settings.layout.dimensions != 2) {
        ikt_log(ctx, IKT_LOG_STAGE, "no measures: they know maps of two dimensions");
        return IKT_OK;
    }
    ikt_stage_begin(ctx, IKT_STAGE_MEASURES);
    if (wanted == IKT_MEASURES_ALL) st = ikt_pipeline_open(ctx, &run->settings, &source, &data);
    if (st == IKT_OK) {
        ikt_measure_settings settings = settings_for(run);
        bool has_labels = ikt_max_one(ctx, run->labels != NULL) > 0;
        const ikt_measured what = {run->map, run->embedding.y, run->labels, has_labels, data};
        st = ikt_measures_compute(ctx, &settings, &what, out);
        if (st == IKT_OK) st = ikt_measure_marked(ctx, &what, run->marked, run->n_marked, out);
    }
    ikt_pipeline_close(&source, &data);
    ikt_stage_end(ctx, IKT_STAGE_MEASURES);
    return st;
}

ikt_status ikt_measure_divergence(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  const ikt_row_map *map, int q, const float *y, double *kl) {
    ikt_probabilities p;
    ikt_made_objective made;
    ikt_layout_settings layout = settings->layout;
    layout.dimensions = q;
    layout.objective = IKT_OBJECTIVE_TSNE;
    layout.repulsion = map->n <= EXACT_ROWS ? IKT_REPULSION_EXACT
                       : q == 2             ? IKT_REPULSION_FFT
                                            : IKT_REPULSION_TREE;
    layout.accuracy = IKT_ACCURACY_TIGHT;
    IKT_TRY(ikt_probabilities_compute(ctx, settings, data, map, NULL, NULL, &p));
    ikt_status st = ikt_objective_make(ctx, &p, &layout, &made);
    if (st == IKT_OK) {
        ikt_objective_terms terms = {true, 0, 0};
        ikt_gradient gradient;
        memcpy(made.objective.y, y, (size_t)(map->count * q) * sizeof *y);
        made.objective.evaluate(made.objective.self, &gradient, &terms);
        *kl = terms.value;
    }
    ikt_objective_release(&made);
    ikt_probabilities_destroy(&p);
    return st;
}
