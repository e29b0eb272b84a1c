/* k-means of data rows with many centres. See central_rows.h. */
#include "neighbours/central_rows.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sort.h"
#include "metric/metric.h"
#include "neighbours/exact.h"

static const char purpose[] = "centres";

typedef struct {
    ikt_context *ctx;
    ikt_dataset *data;
    ikt_rows rows;
    int64_t k, d;
    int64_t chunk;        /* rows that are read at a time */
    double unit;          /* of sums */
    float *centre;        /* [k * d] */
    float *packed;        /* the same, packed for distances */
    float *x;             /* [chunk * d] rows */
    ikt_neighbours lists; /* of a chunk: the nearest centre of each row */
    int32_t *cluster;     /* [rows.count] number of the nearest centre; -1: none yet */
    float *near;          /* [rows.count] squared distance to it */
    int64_t *sum;         /* [k * d] coordinates of the rows of each cluster, in units */
    int64_t *size;        /* [k] rows of each */
    ikt_arrays held;      /* all of these but the lists */
} work;

static ikt_status work_create(ikt_context *ctx, ikt_dataset *data, int64_t k, work *w) {
    *w = (work){.ctx = ctx, .data = data, .k = k, .d = ikt_dataset_columns(data)};
    w->rows = ikt_rows_make(ikt_dataset_rows(data), ikt_size(ctx), ikt_rank(ctx));
    w->chunk = ikt_stream_rows(w->d, (int64_t)sizeof *w->x);
    const ikt_rows chunk = {w->chunk, 1, 0, w->chunk};
    ikt_arrays *held = &w->held;
    *held = ikt_arrays_of(ctx, purpose);
    w->centre = ikt_claim(held, k * w->d, sizeof *w->centre);
    w->packed = ikt_claim(held, ikt_packed_floats(k, w->d), sizeof *w->packed);
    w->x = ikt_claim(held, w->chunk * w->d, sizeof *w->x);
    if (held->status == IKT_OK) held->status = ikt_neighbours_create(ctx, &chunk, 1, &w->lists);
    w->cluster = ikt_claim(held, w->rows.count, sizeof *w->cluster);
    w->near = ikt_claim(held, w->rows.count, sizeof *w->near);
    w->sum = ikt_claim(held, k * w->d, sizeof *w->sum);
    w->size = ikt_claim(held, k, sizeof *w->size);
    IKT_TRY(ikt_arrays_agree(held));
    for (int64_t i = 0; i < w->rows.count; i++)
        w->cluster[i] = -1;
    return IKT_OK;
}

static void work_destroy(work *w) {
    ikt_arrays_free(&w->held);
    ikt_neighbours_destroy(&w->lists);
}

/* COLLECTIVE. Reads chunk `step` of the own rows into w->x; all ranks take as many steps as the one
 * with the most rows. */
static ikt_status read_chunk(work *w, int64_t step, ikt_row_range *part) {
    *part = ikt_stream_step((ikt_row_range){w->rows.first, w->rows.count}, w->chunk, step);
    return ikt_dataset_read(w->data, part->count > 0 ? part->first : 0, part->count, w->x);
}

/* COLLECTIVE. The unit in which n coordinates of either sign add up within 62 bits. */
static ikt_status find_unit(work *w) {
    const int64_t steps = ikt_stream_steps(w->ctx, w->rows.count, w->chunk);
    double least = 0; /* minus the greatest absolute value */
    int bits, digits;
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range part;
        IKT_TRY(read_chunk(w, step, &part));
        for (int64_t e = 0; e < part.count * w->d; e++)
            least = fmin(least, -fabs((double)w->x[e]));
    }
    ikt_min_f64(w->ctx, &least, 1);
    frexp(-least, &bits);
    frexp((double)w->rows.n, &digits);
    w->unit = ldexp(1, bits + digits - 62);
    return IKT_OK;
}

/* COLLECTIVE. The first centres: distinct rows, drawn at random. */
static ikt_status draw_centres(work *w, uint64_t seed) {
    const int64_t slots = ikt_draw_slots(w->k);
    IKT_ARRAYS(held, w->ctx, purpose);
    int64_t *row = ikt_claim(&held, w->k, sizeof *row);
    int64_t *slot = ikt_claim(&held, slots, sizeof *slot);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_draw_subset(seed, IKT_RNG_CENTRES, 0, w->rows.n, w->k, slot, slots, row);
    return ikt_dataset_gather_floats(w->data, row, w->k, w->centre);
}

/* Adds the rows of a chunk, whose first own row is `first`, to the sums of their clusters. */
static void add_rows(work *w, int64_t first, int64_t count) {
    const double scale = 1 / w->unit;
    const int64_t d = w->d, parts = ikt_threads(w->ctx);
    for (int64_t i = 0; i < count; i++)
        w->size[w->cluster[first + i]]++;
#pragma omp parallel for num_threads(ikt_threads(w->ctx)) schedule(static, 1)
    for (int64_t part = 0; part < parts; part++) /* of the columns */
        for (int64_t i = 0; i < count; i++) {
            int64_t *sum = w->sum + w->cluster[first + i] * d;
            for (int64_t c = d * part / parts; c < d * (part + 1) / parts; c++)
                sum[c] += llrint((double)w->x[i * d + c] * scale);
        }
}

/* COLLECTIVE. Gives every row to its nearest centre and sums up the clusters.
 *   changed   rows that were in another one
 *   spread    mean squared distance */
static ikt_status assign(work *w, int64_t *changed, double *spread) {
    const int64_t steps = ikt_stream_steps(w->ctx, w->rows.count, w->chunk);
    ikt_exact_sum total = {{0}, 0, 0};
    *changed = 0;
    memset(w->sum, 0, (size_t)(w->k * w->d) * sizeof *w->sum);
    memset(w->size, 0, (size_t)w->k * sizeof *w->size);
    ikt_pack_rows(w->centre, w->k, w->d, w->packed);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range part;
        IKT_TRY(read_chunk(w, step, &part));
        const int64_t first = part.first - w->rows.first;
        const ikt_rows own = {part.count, 1, 0, part.count};
        const ikt_scorer scorer = ikt_scorer_rows(&ikt_metric_euclidean, w->x, w->d, &own);
        w->lists.n_local = part.count;
        IKT_TRY(ikt_agree(w->ctx, part.count == 0 ? IKT_OK
                                                  : ikt_neighbours_among(w->ctx, &scorer, w->packed,
                                                                         w->k, &w->lists)));
        for (int64_t i = 0; i < part.count; i++) {
            const int32_t nearest = (int32_t)w->lists.row[i];
            *changed += w->cluster[first + i] != nearest;
            w->cluster[first + i] = nearest;
            w->near[first + i] = w->lists.score[i];
            ikt_exact_sum_add(&total, (double)w->lists.score[i]);
        }
        add_rows(w, first, part.count);
    }
    ikt_sum_i64(w->ctx, w->sum, w->k * w->d);
    ikt_sum_i64(w->ctx, w->size, w->k);
    ikt_sum_i64(w->ctx, changed, 1);
    ikt_exact_sum_reduce(w->ctx, &total, 1);
    *spread = ikt_exact_sum_value(&total) / (double)w->rows.n;
    return IKT_OK;
}

/* Every centre that has rows becomes their mean. */
static void move_centres(work *w) {
#pragma omp parallel for num_threads(ikt_threads(w->ctx))
    for (int64_t c = 0; c < w->k; c++)
        for (int64_t e = c * w->d; w->size[c] > 0 && e < (c + 1) * w->d; e++)
            w->centre[e] = (float)((double)w->sum[e] * w->unit / (double)w->size[c]);
}

/* COLLECTIVE. The row of each cluster that is nearest to its centre. */
static ikt_status choose(work *w, ikt_central_rows *out) {
    IKT_ARRAYS(held, w->ctx, purpose);
    double *least = ikt_claim(&held, w->k, sizeof *least); /* squared distances */
    out->row = ikt_claim_kept(&held, w->k, sizeof *out->row);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t c = 0; c < w->k; c++)
        least[c] = INFINITY;
    for (int64_t i = 0; i < w->rows.count; i++)
        least[w->cluster[i]] = fmin(least[w->cluster[i]], (double)w->near[i]);
    ikt_min_f64(w->ctx, least, w->k);
    for (int64_t c = 0; c < w->k; c++)
        out->row[c] = INT64_MAX;
    for (int64_t i = w->rows.count - 1; i >= 0; i--)
        if ((double)w->near[i] == least[w->cluster[i]]) out->row[w->cluster[i]] = w->rows.first + i;
    ikt_min_i64(w->ctx, out->row, w->k);
    ikt_sort_i64(out->row, w->k);
    IKT_FIND_FIRST(out->count, 0, w->k, out->row[out->count] == INT64_MAX);
    return IKT_OK;
}

ikt_status ikt_central_rows_find(ikt_context *ctx, ikt_dataset *data,
                                 const ikt_central_settings *settings, ikt_central_rows *out) {
    int64_t changed = 0;
    work w IKT_AT_END(work_destroy) = {0};
    ikt_central_rows made IKT_AT_END(ikt_central_rows_destroy) = {.row = NULL};
    *out = (ikt_central_rows){0};
    IKT_TRY(work_create(ctx, data, settings->count, &w));
    IKT_TRY(find_unit(&w));
    IKT_TRY(draw_centres(&w, settings->seed));
    IKT_TRY(assign(&w, &changed, &made.drawn));
    made.spread = made.drawn;
    while (made.steps < settings->steps && !made.has_converged) {
        move_centres(&w);
        IKT_TRY(assign(&w, &changed, &made.spread));
        made.has_converged = changed == 0;
        made.steps++;
        ikt_progress(ctx, "steps of k-means", made.steps, settings->steps, NULL);
    }
    IKT_TRY(choose(&w, &made));
    return ikt_give(out, made);
}

void ikt_central_rows_destroy(ikt_central_rows *found) {
    ikt_free(&found->row);
    *found = (ikt_central_rows){.row = NULL};
}
