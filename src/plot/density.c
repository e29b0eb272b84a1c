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
