/* Points to pixels. See density.h.
 *
 * Discs are taken from a table made once, for each eighth of a pixel. Rows are the unit of work: a
 * thread owns a strip of rows and passes over all points. Advantage: no atomics, no copies of the
 * picture per thread, exact. Disadvantage: every thread reads all coordinates of the rank, so very
 * many threads gain less.
 * Colours are averaged in linear light, where a mean of colours is what the eye sees of fine dots,
 * and laid over the background in sRGB, where steps of opacity look even. */
#include "plot/density.h"

#include "base/comm.h"
#include "base/memory.h"

enum { PHASES = IKT_VIEW_PHASES, SHIFT = 3, SUBROWS = 16 };
_Static_assert(1 << SHIFT == PHASES, "a shift divides by the phases");
enum { BINS_PER_OCTAVE = 16, BINS = 64 * BINS_PER_OCTAVE };

/* Covered part of the pixel whose corner is at (x, y), for a disc around (0, 0): exact along the
 * row, 16 lines down the pixel. */
static double disc_cover(double radius, double x, double y) {
    double sum = 0;
    for (int line = 0; line < SUBROWS; line++) {
        const double dy = y + (line + 0.5) / SUBROWS, square = radius * radius - dy * dy;
        if (square <= 0) continue;
        const double half = sqrt(square);
        sum += fmax(fmin(half, x + 1) - fmax(-half, x), 0);
    }
    return sum / SUBROWS;
}

ikt_status ikt_stamp_create(ikt_context *ctx, double radius, ikt_stamp *out) {
    const int64_t reach = (int64_t)ceil(radius), size = 2 * reach + 1;
    *out = (ikt_stamp){radius, reach, size, NULL};
    IKT_TRY(ikt_alloc(ctx, &out->cover, PHASES * PHASES * size * size, 1, "picture"));
    for (int64_t line = 0; line < PHASES * PHASES * size; line++) {
        const int64_t phase = line / size, row = line % size;
        const double cx = (double)reach + ((double)(phase % PHASES) + 0.5) / PHASES;
        const double cy = (double)reach + ((double)(phase / PHASES) + 0.5) / PHASES;
        for (int64_t column = 0; column < size; column++) {
            const double part = disc_cover(radius, (double)column - cx, (double)row - cy);
            out->cover[line * size + column] = (uint8_t)lround(part * IKT_COVER_FULL);
        }
    }
    return IKT_OK;
}

void ikt_stamp_destroy(ikt_stamp *stamp) {
    ikt_free(&stamp->cover);
}

/* Rows [top, bottom) of the view that one thread fills; `sums` begins with row `top`. */
typedef struct {
    int64_t top, bottom, width;
    ikt_pixel_sum *sums;
} strip;

static void add_point(const strip *s, const ikt_stamp *stamp, int64_t step_x, int64_t step_y,
                      ikt_linear colour) {
    /* Steps may be negative: shift and mask round down, division would not. */
    const int64_t left = (step_x >> SHIFT) - stamp->reach, up = (step_y >> SHIFT) - stamp->reach;
    const int64_t right = left + stamp->size, down = up + stamp->size;
    const int64_t first = left > 0 ? left : 0, end = right < s->width ? right : s->width;
    const int64_t row_end = down < s->bottom ? down : s->bottom;
    const uint8_t *cover =
        stamp->cover +
        ((step_y & (PHASES - 1)) * PHASES + (step_x & (PHASES - 1))) * stamp->size * stamp->size;
    for (int64_t row = up > s->top ? up : s->top; row < row_end; row++) {
        const uint8_t *line = cover + (row - up) * stamp->size - left;
        ikt_pixel_sum *sums = s->sums + (row - s->top) * s->width;
        for (int64_t column = first; column < end; column++) {
            int64_t part = line[column];
            if (part == 0) continue;
            sums[column].cover += part;
            sums[column].r += part * colour.r;
            sums[column].g += part * colour.g;
            sums[column].b += part * colour.b;
        }
    }
}

void ikt_raster_band(const ikt_context *ctx, const ikt_view *view, const ikt_stamp *stamp,
                     const ikt_raster_points *points, int64_t first_row, int64_t rows,
                     ikt_pixel_sum *sums) {
    const int threads = ikt_threads(ctx);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const int64_t from = rows * t / threads, to = rows * (t + 1) / threads;
        const strip s = {first_row + from, first_row + to, view->side, sums + from * view->side};
        const int64_t above = (s.top - stamp->reach) * PHASES;
        const int64_t below = (s.bottom + stamp->reach) * PHASES;
        for (int64_t i = 0; i < points->n && to > from; i++) {
            const int64_t step_y = ikt_view_y(view, points->y[2 * i + 1]);
            if (step_y < above || step_y >= below) continue;
            const uint16_t index = points->colour ? points->colour[i] : 0;
            add_point(&s, stamp, ikt_view_x(view, points->y[2 * i]), step_y, points->table[index]);
        }
    }
}

void ikt_linear_table(uint8_t *table) {
    for (int i = 0; i <= UINT16_MAX; i++) {
        double l = (double)i / UINT16_MAX;
        double s = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055;
        table[i] = (uint8_t)lround(255 * s);
    }
}

void ikt_shade_mean(const ikt_pixel_sum *sums, int64_t count, const uint8_t *table,
                    ikt_shaded *out) {
    for (int64_t i = 0; i < count; i++) {
        int64_t cover = sums[i].cover, half = cover / 2;
        out[i] = (ikt_shaded){cover, {0, 0, 0}};
        if (cover > 0)
            out[i].mean =
                (ikt_rgb){table[(sums[i].r + half) / cover], table[(sums[i].g + half) / cover],
                          table[(sums[i].b + half) / cover]};
    }
}

/* Coverage (in points) that 99 % of the covered pixels do not exceed, to a sixteenth of an octave.
 * At least 4, so that a few touching discs do not count as dense. */
static double high_coverage(const ikt_shaded *pixels, int64_t count) {
    int64_t bins[BINS] = {0}, covered = 0, seen = 0;
    for (int64_t i = 0; i < count; i++) {
        if (pixels[i].cover == 0) continue;
        covered++;
        bins[(int)(BINS_PER_OCTAVE * log2((double)pixels[i].cover))]++;
    }
    int bin = 0;
    while (bin < BINS - 1 && (seen += bins[bin]) < covered - covered / 100)
        bin++;
    return fmax(exp2((bin + 1.0) / BINS_PER_OCTAVE) / IKT_COVER_FULL, 4);
}

void ikt_shade(const ikt_shaded *pixels, int64_t count, double opacity, ikt_rgb background,
               uint32_t *out) {
    const double high = high_coverage(pixels, count);
    const double single = opacity > 0 ? opacity : fmax(0.85 / (1 + 0.45 * log10(high / 4)), 0.3);
    for (int64_t i = 0; i < count; i++) {
        const double c = (double)pixels[i].cover / IKT_COVER_FULL;
        const double alpha = c <= 1 ? single * c : single + (1 - single) * log(c) / log(high);
        const ikt_rgb v = ikt_rgb_mix(background, pixels[i].mean, fmin(alpha, 1));
        out[i] = (uint32_t)v.r << 16 | (uint32_t)v.g << 8 | v.b;
    }
}

/* --- the view --------------------------------------------------------------------------------- */

/* Method: histograms of x and of y over the range of all points; from both ends of both axes go as
 * many points as may be left out, and the next histograms are of what is left, until the range
 * halves no longer. The view then has all points within a quarter of that range around it, so
 * that none is left out that lies near the others. Counts are integers: the order of ranks does not
 * matter. */

enum { VIEW_BINS = 1024, ROUNDS = 32 };

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
    int64_t bins[2 * VIEW_BINS] = {0};
    for (int64_t i = 0; i < count_of(p); i++) {
        const float *at = point(p, i);
        if (!is_inside(range, at)) continue;
        for (int a = 0; a < 2; a++) {
            const double part = ((double)at[a] - range->low[a]) / (range->high[a] - range->low[a]);
            bins[a * VIEW_BINS + (part < 1 ? (int)(part * VIEW_BINS) : VIEW_BINS - 1)]++;
        }
    }
    ikt_sum_i64(ctx, bins, 2 * VIEW_BINS);
    box left = *range;
    for (int a = 0; a < 2; a++) {
        const double bin = (range->high[a] - range->low[a]) / VIEW_BINS;
        const int64_t *count = bins + a * VIEW_BINS;
        int from = 0, end = VIEW_BINS;
        int64_t below = 0, above = 0;
        while (from < VIEW_BINS - 1 && below + count[from] <= most)
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
