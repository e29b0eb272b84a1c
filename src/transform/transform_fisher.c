/* From new rows to the old rows that are near in the Fisher metric. See transform.h.
 *
 * A new row has its similarities to the support, from them log-weights, and with these a distance
 * to every old row, as if it had stood among the old rows without a label. The old log-weights are
 * those that the run had, so that old rows keep what was left out of their own entries. */
#include "transform/transform.h"

#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/arrays.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "linalg/blocks.h"
#include "neighbours/fisher_search.h"

static const char purpose[] = "fisher model";

/* A model of classes, and the old rows of this rank. */
typedef struct {
    const ikt_loaded_model *loaded;
    ikt_class_support support;
    double *self;       /* [m] k(s, s) */
    double numbers[2];  /* sigma, and what squared plain distances count */
    float *packed;      /* [ikt_packed_floats(m, d)] rows of the support; NULL: similarities are
                           given */
    ikt_rows old;       /* whose log-weights this rank has, */
    float *weight;      /* [old.count * lanes] */
    float *root;        /* [old.count * wide] */
    float *x;           /* [old.count * d], where plain distances count */
    ikt_fisher_own own; /* the new rows */
    const ikt_metric *metric;
    ikt_arrays held; /* all arrays above */
} class_rows;

static void destroy(class_rows *c) {
    ikt_class_support_destroy(&c->support);
    ikt_arrays_free(&c->held);
}

/* COLLECTIVE. The support, which every rank reads. */
static ikt_status read_support(ikt_context *ctx, class_rows *c) {
    const ikt_loaded_model *m = c->loaded;
    const ikt_model_shape *s = &m->shape;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *row = ikt_claim(&held, s->support, sizeof *row);
    int32_t *of = ikt_claim(&held, s->support, sizeof *of);
    IKT_TRY(ikt_arrays_agree(&held));
    c->self = ikt_claim(&c->held, s->support, sizeof *c->self);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_SUPPORT, 0, s->support, row, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_SUPPORT_CLASS, 0, s->support, of, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_SUPPORT_SELF, 0, s->support, c->self, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_CLASS_NUMBERS, 0, 2, c->numbers, 0));
    bool is_good = c->numbers[0] > 0 && c->numbers[1] >= 0 && (c->numbers[1] > 0) == s->has_rows;
    for (int64_t l = 1; l < s->support; l++)
        is_good = is_good && row[l] > row[l - 1];
    if (is_good)
        IKT_TRY(ikt_agree(
            ctx, ikt_class_support_make(ctx, row, of, s->support, (int)s->classes, &c->support)));
    if (is_good && c->support.shape.lanes == s->lanes) return IKT_OK;
    return ikt_model_file_damaged(m->file, "/fisher holds what is no support of classes");
}

/* COLLECTIVE. Rows of the support, where rows are compared themselves. */
static ikt_status read_support_rows(ikt_context *ctx, class_rows *c) {
    const ikt_model_shape *s = &c->loaded->shape;
    if (s->is_of_similarities) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    float *x = ikt_claim(&held, s->support * s->columns, sizeof *x);
    IKT_TRY(ikt_arrays_agree(&held));
    c->packed = ikt_claim(&c->held, ikt_packed_floats(s->support, s->columns), sizeof *c->packed);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_TRY(ikt_model_file_read(c->loaded->file, IKT_MODEL_SUPPORT_ROWS, 0, s->support, x, 0));
    ikt_pack_rows(x, s->support, s->columns, c->packed);
    return IKT_OK;
}

/* COLLECTIVE. Log-weights of this rank's share of the old rows, and their roots. */
static ikt_status read_old(ikt_context *ctx, class_rows *c) {
    const ikt_loaded_model *m = c->loaded;
    const ikt_class_lanes *shape = &c->support.shape;
    const ikt_segment_kernel *kernel = ikt_segment_kernel_for(ikt_cpu_isa());
    const int64_t count = c->old.count, d = m->shape.columns;
    c->weight = ikt_claim(&c->held, count * shape->lanes, sizeof *c->weight);
    c->root = ikt_claim(&c->held, count * shape->wide, sizeof *c->root);
    if (m->shape.has_rows) c->x = ikt_claim(&c->held, count * d, sizeof *c->x);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_WEIGHTS, c->old.first, count, c->weight, 0));
    if (c->x) IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_ROWS, c->old.first, count, c->x, 0));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++)
        kernel->roots(shape, c->weight + i * shape->lanes, c->weight + i * shape->lanes, 0,
                      c->root + i * shape->wide);
    return IKT_OK;
}

/* COLLECTIVE. Log-weights of the new rows, some at a time. They have numbers behind those of the
 * old rows, so that of every pair the old row is the lower one. */
static ikt_status weigh_new(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                            class_rows *c) {
    enum { ROWS = 512, TOGETHER = 8 };
    const ikt_class_lanes *shape = &c->support.shape;
    const int64_t m = c->support.m, d = c->loaded->shape.columns, count = rows->count;
    const int64_t stride = ikt_packed_rows(m);
    const int64_t compared = c->packed ? ROWS : 0; /* else similarities are given */
    c->own.count = count;
    c->own.row = ikt_claim(&c->held, count, sizeof *c->own.row);
    c->own.weight = ikt_claim(&c->held, count * shape->lanes, sizeof *c->own.weight);
    c->own.root = ikt_claim(&c->held, count * shape->wide, sizeof *c->own.root);
    if (c->x) c->own.x = ikt_claim(&c->held, count * d, sizeof *c->own.x);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_ARRAYS(held, ctx, purpose);
    float *x = ikt_claim(&held, ROWS * d, sizeof *x);
    float *squared = ikt_claim(&held, compared * stride, sizeof *squared);
    float *k = ikt_claim(&held, compared * m, sizeof *k);
    IKT_TRY(ikt_arrays_agree(&held));
    const ikt_row_range own = {rows->first, count};
    const int64_t steps = ikt_stream_steps(ctx, count, ROWS);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, ROWS, step);
        const int64_t from = at.first - own.first;
        IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < ikt_smaller(compared, at.count); i += TOGETHER)
            ikt_class_compare(c->metric, x + i * d, ikt_smaller(TOGETHER, at.count - i), c->packed,
                              m, d, squared + i * stride, k + i * m);
        for (int64_t i = 0; i < at.count; i++)
            c->own.row[from + i] = c->old.n + at.first + i;
        if (c->x) memcpy(c->own.x + from * d, x, (size_t)(at.count * d) * sizeof *x);
        ikt_class_weights(ctx, &c->support, c->numbers[0], c->packed ? k : x, c->self, NULL,
                          at.count, c->own.weight + from * shape->lanes,
                          c->own.root + from * shape->wide);
    }
    return IKT_OK;
}

/* COLLECTIVE. The nearest old rows of the new ones. */
static ikt_status search(ikt_context *ctx, const class_rows *c, ikt_neighbours *lists) {
    const ikt_fisher_settings *settings = &c->loaded->settings.affinity.fisher;
    const ikt_fisher_rows rows = {.rows = c->old,
                                  .job = {.kernel = ikt_segment_kernel_for(ikt_cpu_isa()),
                                          .shape = c->support.shape,
                                          .rule = (ikt_segment_rule)settings->rule,
                                          .points = (int)settings->points},
                                  .support = &c->support,
                                  .leaves_out = settings->own == IKT_OWN_LEFT_OUT,
                                  .weight = c->weight,
                                  .root = c->root,
                                  .x = c->x,
                                  .d = c->x ? c->loaded->shape.columns : 0,
                                  .metric = c->metric,
                                  .euclidean = c->numbers[1],
                                  .candidates = IKT_CANDIDATES_ALL};
    ikt_list_course course = {.lists = lists};
    IKT_TRY(ikt_fisher_search(ctx, &rows, &c->own, NULL, &course, NULL));
    ikt_neighbours_sort(ctx, lists);
    return IKT_OK;
}

/* COLLECTIVE. The lists, with distances for scores, and room for similarities. */
static ikt_status find_lists(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                             const ikt_rows *rows, int64_t k, ikt_new_lists *out) {
    class_rows c IKT_AT_END(destroy) = {
        .loaded = loaded,
        .old = ikt_rows_make(loaded->shape.n, ikt_size(ctx), ikt_rank(ctx)),
        .metric = ikt_metric_of(data),
        .held = ikt_arrays_of(ctx, purpose)};
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    IKT_TRY(read_support(ctx, &c));
    IKT_TRY(read_support_rows(ctx, &c));
    IKT_TRY(read_old(ctx, &c));
    IKT_TRY(weigh_new(ctx, data, rows, &c));
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, rows, k, &out->lists)));
    IKT_TRY(ikt_alloc_all(ctx, &out->similarity, rows->count, sizeof(float), purpose));
    return search(ctx, &c, &out->lists);
}

ikt_status ikt_new_class_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded,
                                    ikt_dataset *data, const ikt_rows *rows, int64_t k,
                                    ikt_new_lists *out) {
    *out = (ikt_new_lists){.similarity = NULL};
    const ikt_status st = find_lists(ctx, loaded, data, rows, k, out);
    if (st != IKT_OK) ikt_new_lists_destroy(out);
    IKT_TRY(st);
    for (int64_t i = 0; i < rows->count; i++)
        out->similarity[i] = expf(-out->lists.score[i * k]);
    ikt_gaussian_weights(ctx, &out->lists, loaded->settings.affinity.gaussian.perplexity,
                         out->lists.score);
    return IKT_OK;
}

int64_t ikt_new_class_lists_memory(const ikt_model_shape *shape, int64_t old, int64_t rows,
                                   int64_t k, int threads) {
    const int64_t wide = (shape->classes + 15) / 16 * 16, d = shape->has_rows ? shape->columns : 0;
    const int64_t size = sizeof(float), floats = shape->lanes + wide + d;
    const int64_t support = shape->support * (shape->columns + shape->support);
    return size * ((old + rows) * floats + support) + 8 * rows +
           ikt_fisher_search_memory(rows, ikt_fisher_selected(IKT_CANDIDATES_ALL, 0, k),
                                    shape->lanes, wide, d, threads);
}
