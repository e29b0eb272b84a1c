/* Points to per-pixel integer sums.
 *
 * Discs are taken from a table made once, for each eighth of a pixel. Rows are the unit of work:
 * a thread owns a strip of rows and passes over all points.
 * Advantage: no atomics, no copies of the picture per thread, exact. Disadvantage: every thread
 * reads all coordinates of the rank, so very many threads gain less. */
#include "plot/raster.h"

#include "base/memory.h"

enum { PHASES = IKT_VIEW_PHASES, SHIFT = 3, SUBROWS = 16 };
_Static_assert(1 << SHIFT == PHASES, "a shift divides by the phases");

/* Length of the part of [left, right] inside the pixel that begins at x. */
static double overlap(double left, double right, double x) {
    double from = fmax(left, x), to = fmin(right, x + 1);
    return to > from ? to - from : 0;
}

/* Covered part of the pixel whose corner is at (x, y), for a disc around (0, 0): exact along the
 * row, 16 lines down the pixel. */
static double disc_cover(double radius, double x, double y) {
    double sum = 0;
    for (int line = 0; line < SUBROWS; line++) {
        double dy = y + (line + 0.5) / SUBROWS, square = radius * radius - dy * dy;
        if (square <= 0) continue;
        double half = sqrt(square);
        sum += overlap(-half, half, x);
    }
    return sum / SUBROWS;
}

static void stamp_phase(const ikt_stamp *s, int phase_x, int phase_y, uint8_t *cover) {
    double cx = (double)s->reach + (phase_x + 0.5) / PHASES;
    double cy = (double)s->reach + (phase_y + 0.5) / PHASES;
    for (int64_t row = 0; row < s->size; row++)
        for (int64_t column = 0; column < s->size; column++) {
            double part = disc_cover(s->radius, (double)column - cx, (double)row - cy);
            cover[row * s->size + column] = (uint8_t)lround(part * IKT_COVER_FULL);
        }
}

ikt_status ikt_stamp_create(ikt_context *ctx, double radius, ikt_stamp *out) {
    int64_t reach = (int64_t)ceil(radius), size = 2 * reach + 1;
    *out = (ikt_stamp){radius, reach, size, NULL};
    IKT_TRY(ikt_alloc(ctx, &out->cover, PHASES * PHASES * size * size, 1, "picture"));
    for (int y = 0; y < PHASES; y++)
        for (int x = 0; x < PHASES; x++)
            stamp_phase(out, x, y, out->cover + (y * PHASES + x) * size * size);
    return IKT_OK;
}

void ikt_stamp_destroy(ikt_stamp *stamp) {
    ikt_free(&stamp->cover);
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Rows [top, bottom) of the view that one thread fills; `sums` begins with row `top`. */
typedef struct {
    int64_t top, bottom, width;
    ikt_pixel_sum *sums;
} strip;

static void add_point(const strip *s, const ikt_stamp *stamp, int64_t step_x, int64_t step_y,
                      ikt_linear colour) {
    /* Steps may be negative: shift and mask round down, division would not. */
    int64_t left = (step_x >> SHIFT) - stamp->reach, up = (step_y >> SHIFT) - stamp->reach;
    const uint8_t *cover =
        stamp->cover +
        ((step_y & (PHASES - 1)) * PHASES + (step_x & (PHASES - 1))) * stamp->size * stamp->size;
    int64_t row_end = smaller(up + stamp->size, s->bottom);
    int64_t first = larger(left, 0), end = smaller(left + stamp->size, s->width);
    for (int64_t row = larger(up, s->top); row < row_end; row++) {
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

static void fill_strip(const strip *s, const ikt_view *view, const ikt_stamp *stamp,
                       const ikt_raster_points *points) {
    int64_t above = (s->top - stamp->reach) * PHASES;
    int64_t below = (s->bottom + stamp->reach) * PHASES;
    for (int64_t i = 0; i < points->n; i++) {
        int64_t step_y = ikt_view_y(view, points->y[2 * i + 1]);
        if (step_y < above || step_y >= below) continue;
        int64_t step_x = ikt_view_x(view, points->y[2 * i]);
        uint16_t index = points->colour ? points->colour[i] : 0;
        add_point(s, stamp, step_x, step_y, points->table[index]);
    }
}

void ikt_raster_band(const ikt_context *ctx, const ikt_view *view, const ikt_stamp *stamp,
                     const ikt_raster_points *points, int64_t first_row, int64_t rows,
                     ikt_pixel_sum *sums) {
    int threads = ikt_threads(ctx);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        int64_t from = rows * t / threads, to = rows * (t + 1) / threads;
        strip s = {first_row + from, first_row + to, view->side, sums + from * view->side};
        if (to > from) fill_strip(&s, view, stamp, points);
    }
}
