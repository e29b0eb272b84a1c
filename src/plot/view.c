/* The part of the plane that a picture shows. See view.h.
 *
 * Method: histograms of x and of y over the range of all points; from both ends of both axes go as
 * many points as may be left out, and the next histograms are of what is left, until the range
 * halves no longer. The view then has all points within a quarter of that range around it, so
 * that none is left out that lies near the others. Counts are integers: the order of ranks does not
 * matter. */
#include "plot/view.h"

#include "base/comm.h"

enum { BINS = 1024, ROUNDS = 32 };

/* Points in one that may be left out, and the least gain in scale that is worth it. */
#define LEFT_OUT 1e-4
#define GAIN     2.0
#define AROUND   0.25

/* A range of both axes: x, y. */
typedef struct {
    double low[2], high[2];
} box;

static double span_of(const box *b) {
    return fmax(b->high[0] - b->low[0], b->high[1] - b->low[1]);
}

static bool is_inside(const box *b, const float *at) {
    return (double)at[0] >= b->low[0] && (double)at[0] <= b->high[0] &&
           (double)at[1] >= b->low[1] && (double)at[1] <= b->high[1];
}

static int64_t count_of(const ikt_view_points *p) {
    return p->rows->count + p->n_behind;
}

static const float *point(const ikt_view_points *p, int64_t i) {
    return i < p->rows->count ? p->y + 2 * i : p->behind + 2 * (i - p->rows->count);
}

static ikt_status check(ikt_context *ctx, const ikt_view_points *p) {
    for (int64_t i = 0; i < count_of(p); i++) {
        const float *at = point(p, i);
        if (!isfinite(at[0]) || !isfinite(at[1]))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "the embedding has a coordinate that is not finite in row %lld (%g, "
                            "%g), so it cannot be drawn; run it again with a smaller learning rate",
                            (long long)(p->rows->first + i), (double)at[0], (double)at[1]);
    }
    return IKT_OK;
}

/* COLLECTIVE. The range of the points inside of `limits` and of the marked rows. */
static box range_inside(ikt_context *ctx, const ikt_view_points *p, const box *limits) {
    /* Least x, least y, minus largest x, minus largest y: one MIN over ranks serves all. */
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    const int64_t first = p->rows->first;
    for (int64_t i = 0, end = count_of(p) + p->n_marked; i < end; i++) {
        const int64_t m = i - count_of(p), row = m < 0 ? i : p->marked[m] - first;
        if (m >= 0 && (row < 0 || row >= p->rows->count)) continue;
        const float *at = point(p, row);
        if (m < 0 && !is_inside(limits, at)) continue;
        for (int a = 0; a < 2; a++) {
            least[a] = fmin(least[a], (double)at[a]);
            least[2 + a] = fmin(least[2 + a], -(double)at[a]);
        }
    }
    ikt_min_f64(ctx, least, 4);
    return (box){{least[0], least[1]}, {-least[2], -least[3]}};
}

/* COLLECTIVE. What is left of `range` where up to a quarter of `budget` points go from each end of
 * each axis; takes those that went from the budget. */
static box trim(ikt_context *ctx, const ikt_view_points *p, const box *range, int64_t *budget) {
    const int64_t most = *budget / 4;
    int64_t bins[2 * BINS] = {0};
    for (int64_t i = 0; i < count_of(p); i++) {
        const float *at = point(p, i);
        if (!is_inside(range, at)) continue;
        for (int a = 0; a < 2; a++) {
            const double part = ((double)at[a] - range->low[a]) / (range->high[a] - range->low[a]);
            bins[a * BINS + (part < 1 ? (int)(part * BINS) : BINS - 1)]++;
        }
    }
    ikt_sum_i64(ctx, bins, 2 * BINS);
    box left = *range;
    for (int a = 0; a < 2; a++) {
        const double bin = (range->high[a] - range->low[a]) / BINS;
        const int64_t *count = bins + a * BINS;
        int from = 0, end = BINS;
        int64_t below = 0, above = 0;
        while (from < BINS - 1 && below + count[from] <= most)
            below += count[from++];
        while (end > from + 1 && above + count[end - 1] <= most)
            above += count[--end];
        *budget -= below + above;
        left.low[a] = range->low[a] + from * bin;
        left.high[a] = range->low[a] + end * bin;
    }
    return left;
}

/* COLLECTIVE. The range of the points without those that lie far out. */
static box range_without_far(ikt_context *ctx, const ikt_view_points *p, const box *all) {
    const int64_t n = p->rows->n + ikt_sum_one(ctx, p->n_behind);
    int64_t budget = (int64_t)(LEFT_OUT * (double)n);
    box range = *all;
    for (int round = 0; round < ROUNDS && budget > 0; round++) {
        const box left = trim(ctx, p, &range, &budget);
        const bool has_halved = span_of(&left) * GAIN < span_of(&range);
        range = left;
        if (!has_halved || !(range.high[0] > range.low[0]) || !(range.high[1] > range.low[1]))
            break;
    }
    const double around = AROUND * span_of(&range);
    for (int a = 0; a < 2; a++) {
        range.low[a] -= around;
        range.high[a] += around;
    }
    return range_inside(ctx, p, &range);
}

ikt_status ikt_view_fit(ikt_context *ctx, const ikt_view_points *points, int64_t side,
                        double margin, ikt_view *view) {
    const box plane = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    IKT_TRY(ikt_agree(ctx, check(ctx, points)));
    box shown = range_inside(ctx, points, &plane);
    if (!points->has_all && shown.high[0] > shown.low[0] && shown.high[1] > shown.low[1]) {
        const box near = range_without_far(ctx, points, &shown);
        if (span_of(&near) > 0 && span_of(&near) * GAIN < span_of(&shown)) shown = near;
    }
    *view = (ikt_view){0, 0, 0, side};
    double span = 0;
    if (shown.low[0] <= shown.high[0]) {
        view->centre_x = 0.5 * (shown.low[0] + shown.high[0]);
        view->centre_y = 0.5 * (shown.low[1] + shown.high[1]);
        span = span_of(&shown);
    }
    if (span <= 0) span = 2;
    view->scale = IKT_VIEW_PHASES * ((double)side - 2 * margin) / span;
    return IKT_OK;
}

int64_t ikt_view_outside(ikt_context *ctx, const ikt_view *view, const ikt_rows *rows,
                         const float *y) {
    const int64_t end = view->side * IKT_VIEW_PHASES;
    int64_t outside = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t x = ikt_view_x(view, y[2 * i]), down = ikt_view_y(view, y[2 * i + 1]);
        outside += x < 0 || x >= end || down < 0 || down >= end;
    }
    return ikt_sum_one(ctx, outside);
}
