/* How far new rows lie from the rows of the fit. See transform.h.
 *
 * Rule: up to 2,048 rows that the model holds are drawn, and the distance of each from the nearest
 * other one is found. A new row is far where its distance from the nearest of them is larger than
 * that of 99 in 100 of them. Reason: a new row from where the fitted ones come from is one more
 * draw, so that one in 100 is called far whatever the data, and more only where new rows are
 * different. Similarity would not do: cells of the Isolation kernel reach to infinity, and a row
 * far outside has those of the rows at the edge. Of rows three times as far out as those of eight
 * sets all are called far, and 2 to 44 % have a similarity below that of 99 in 100 fitted ones.
 * Advantage: the same for every kernel and metric, and for each row a function of the model and the
 * row alone. Disadvantage: a class that lies within the others is not seen; a pass more over the
 * new rows. */
#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "linalg/blocks.h"
#include "metric/metric.h"
#include "transform/transform.h"

enum {
    REFERENCES = 2048,
    REFERENCES_LEAST = 30, /* below which there is no quantile */
    FLOATS = 1 << 23,      /* of all of them, at most */
    TOGETHER = 8           /* rows compared at a time */
};

static const double usual = 0.99, /* share of the fitted rows that are not far */
    far_least = 0.05, /* share of far rows that is worth a warning, where it is no chance either */
    deviations = 3;

static const char purpose[] = "distances";

typedef struct {
    ikt_context *ctx;
    const ikt_metric *metric;
    int64_t m, d;
    float *x;      /* [m * d] the references, on every rank */
    float *packed; /* the same */
    float *score;  /* [threads * TOGETHER * ikt_packed_rows(m)] work space */
} references;

/* The part of a model that holds rows of the fit, and how many; none of similarities. */
static ikt_model_part part_of(const ikt_model_shape *s, int64_t *count) {
    *count = s->is_of_similarities    ? 0
             : ikt_model_has_cells(s) ? s->centres
             : s->has_rows            ? s->n
                                      : s->support;
    return ikt_model_has_cells(s)              ? IKT_MODEL_CENTRES
           : s->has_rows                       ? IKT_MODEL_ROWS
           : s->placing == IKT_PLACING_CLASSES ? IKT_MODEL_SUPPORT_ROWS
                                               : IKT_MODEL_LANDMARK_ROWS;
}

/* LOCAL, pure. How many references there are; 0: too few of them. */
static int64_t count_references(const ikt_model_shape *s) {
    int64_t there;
    part_of(s, &there);
    const int64_t m = ikt_smaller(ikt_smaller(there, REFERENCES), FLOATS / s->columns);
    return m < REFERENCES_LEAST ? 0 : m;
}

int64_t ikt_new_rows_distance_memory(const ikt_model_shape *s, int threads) {
    const int64_t m = count_references(s);
    return (int64_t)sizeof(float) *
           (2 * ikt_packed_floats(m, s->columns) + threads * TOGETHER * ikt_packed_rows(m) +
            4 * m); /* the distances of a share, of all, and sorted in double precision */
}

/* COLLECTIVE. Reads the references, of which each rank reads a share, and packs them. */
static ikt_status read_references(const ikt_loaded_model *loaded, references *r, ikt_arrays *held) {
    const ikt_model_shape *s = &loaded->shape;
    ikt_context *ctx = r->ctx;
    int64_t there;
    const ikt_model_part part = part_of(s, &there);
    const bool is_u8 = part == IKT_MODEL_CENTRES && s->is_u8;
    const size_t bytes = (size_t)(r->d * ikt_held_bytes(is_u8));
    const ikt_rows share = ikt_rows_make(r->m, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&share, 0), step = r->m == there ? most : 1;
    char *all IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(some, ctx, purpose);
    int64_t *number = ikt_claim(&some, r->m, sizeof *number);
    char *own = ikt_claim(&some, share.count, bytes);
    ikt_draw_claimed(&some, (uint64_t)loaded->settings.run.seed, IKT_RNG_PLACING, 2, there, r->m,
                     number);
    IKT_TRY(ikt_arrays_agree(&some));
    for (int64_t e = 0; e < most; e += step) {
        const int64_t at = ikt_smaller(e, share.count), count = ikt_smaller(step, share.count - at);
        IKT_TRY(ikt_model_file_read(loaded->file, part, count > 0 ? number[share.first + at] : 0,
                                    count, own + (size_t)at * bytes, 0));
    }
    IKT_TRY(ikt_share_rows(ctx, &share, own, bytes, purpose, &all));
    r->x = ikt_claim(held, r->m * r->d, sizeof *r->x);
    r->packed = ikt_claim(held, ikt_packed_floats(r->m, r->d), sizeof *r->packed);
    r->score =
        ikt_claim(held, ikt_threads(ctx) * TOGETHER * ikt_packed_rows(r->m), sizeof *r->score);
    IKT_TRY(ikt_arrays_agree(held));
    for (int64_t e = 0; e < r->m * r->d; e++)
        r->x[e] = is_u8 ? (float)((const uint8_t *)all)[e] : ((const float *)(void *)all)[e];
    ikt_pack_rows(r->x, r->m, r->d, r->packed);
    return IKT_OK;
}

/* LOCAL. Squared distances of rows from the nearest reference.
 *   self      the reference that the first row is, the next ones being the next; -m: none
 *   squared   [count] */
static void find_nearest(const references *r, const float *x, int64_t count, int64_t self,
                         float *squared) {
    const ikt_metric_kernel *kernel = r->metric->on(ikt_cpu_isa());
    const int64_t stride = ikt_packed_rows(r->m);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(r->ctx))
    for (int64_t first = 0; first < count; first += TOGETHER) {
        const int64_t some = ikt_smaller(count - first, TOGETHER);
        float *score = r->score + omp_get_thread_num() * TOGETHER * stride;
        kernel->block(x + first * r->d, some, r->packed, r->m, r->d, score);
        for (int64_t i = 0; i < some; i++) {
            float least = INFINITY;
            for (int64_t l = 0; l < r->m; l++)
                if (l != self + first + i && score[i * stride + l] < least)
                    least = score[i * stride + l];
            squared[first + i] = least;
        }
    }
}

/* COLLECTIVE. The squared distance that 99 in 100 references have at most from the nearest other
 * one. */
static ikt_status find_limit(const references *r, float *limit) {
    const ikt_rows share = ikt_rows_make(r->m, ikt_size(r->ctx), ikt_rank(r->ctx));
    float *all IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(held, r->ctx, purpose);
    float *own IKT_AT_END(ikt_free) = ikt_claim_kept(&held, share.count, sizeof *own);
    double *sorted = ikt_claim(&held, r->m, sizeof *sorted);
    IKT_TRY(ikt_arrays_agree(&held));
    find_nearest(r, r->x + share.first * r->d, share.count, share.first, own);
    IKT_TRY(ikt_share_rows(r->ctx, &share, own, sizeof *own, purpose, &all));
    ikt_free(&own);
    for (int64_t l = 0; l < r->m; l++)
        sorted[l] = (double)all[l];
    ikt_sort_f64(sorted, r->m);
    *limit = (float)sorted[(int64_t)ceil(usual * (double)r->m) - 1];
    return IKT_OK;
}

/* COLLECTIVE. Goes through the new rows. */
static ikt_status measure(const references *r, ikt_dataset *data, float limit,
                          ikt_transformed *done) {
    const ikt_row_range own = {done->rows.first, done->rows.count};
    const int64_t block = ikt_stream_rows(r->d, (int64_t)sizeof(float));
    const int64_t steps = ikt_stream_steps(r->ctx, own.count, block);
    int64_t far = 0;
    IKT_ARRAYS(held, r->ctx, purpose);
    float *x =
        ikt_claim(&held, ikt_smaller(block, ikt_rows_count(&done->rows, 0)) * r->d, sizeof *x);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
        find_nearest(r, x, at.count, -r->m - at.count, done->distance + (at.first - own.first));
    }
    for (int64_t i = 0; i < own.count; i++) {
        done->is_far[i] = done->distance[i] > limit;
        done->distance[i] = sqrtf(done->distance[i]);
        far += done->is_far[i];
    }
    done->far = ikt_sum_one(r->ctx, far);
    return IKT_OK;
}

/* SAME-ARGS. Where there are more far rows than chance makes of rows like the fitted ones. */
static void warn_of_far_rows(ikt_context *ctx, const ikt_transformed *done) {
    const double n = (double)done->rows.n, far = (double)done->far, expected = (1 - usual) * n;
    if (far > far_least * n && far > expected + deviations * sqrt(expected))
        ikt_log_numbers(
            ctx, IKT_LOG_WARN, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", done->far)),
            "%lld of %lld new rows lie farther from all rows of the fit than 99 in 100 of those do "
            "from each other (is_far in the output): the map has no place of its own for them, and "
            "the one that they get says little",
            (long long)done->far, (long long)done->rows.n);
}

ikt_status ikt_new_rows_distances(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done) {
    const ikt_loaded_model *loaded = &done->loaded;
    references r = {.ctx = ctx,
                    .metric = ikt_metric_of(data),
                    .m = count_references(&loaded->shape),
                    .d = loaded->shape.columns};
    float limit;
    done->has_distance = r.m > 0;
    if (!done->has_distance) return IKT_OK;
    IKT_ARRAYS(columns, ctx, "embedding");
    done->distance = ikt_claim_kept(&columns, done->rows.count, sizeof *done->distance);
    done->is_far = ikt_claim_kept(&columns, done->rows.count, sizeof *done->is_far);
    IKT_TRY(ikt_arrays_agree(&columns));
    IKT_ARRAYS(held, ctx, purpose);
    IKT_TRY(read_references(loaded, &r, &held));
    IKT_TRY(find_limit(&r, &limit));
    IKT_TRY(measure(&r, data, limit, done));
    warn_of_far_rows(ctx, done);
    return IKT_OK;
}
