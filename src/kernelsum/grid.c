/* Where the grid lies: a pure function of the map's bounds, which are found here too. */
#include "kernelsum/grid.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"

enum {
    CELLS_LEAST = 32,    /* along the longer side, by halving the spacing */
    MARGIN_PER_NODE = 2, /* cells of margin for each node of the window */
    PADDED_LEAST = 64,
    HALVINGS_MOST = 40, /* of the spacing: for maps of span 1e-11 and less */
    LANES = 16,
    PIECE = 65536 /* coordinates that a thread takes at a time, a multiple of LANES */
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t choice __attribute__((vector_size(LANES * sizeof(float))));

/* Least, greatest, and 0 or NaN, of coordinates: even lanes x, odd lanes y. */
typedef struct {
    lanes low, high, invalid;
} extremes;

static inline __attribute__((always_inline)) void add_lanes(const float *y, extremes *e) {
    lanes value;
    memcpy(&value, y, sizeof value);
    choice lower = value<e->low, higher = value> e->high;
    e->low = (lanes)((lower & (choice)value) | (~lower & (choice)e->low));
    e->high = (lanes)((higher & (choice)value) | (~higher & (choice)e->high));
    e->invalid += value * 0.0f;
}

static IKT_WIDEST_VECTORS void add_coordinates(const float *y, int64_t count, extremes *out) {
    extremes e = *out;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        add_lanes(y + i, &e);
    float rest[LANES]; /* filled up with the last point */
    for (int lane = 0; i < count && lane < LANES; lane++)
        rest[lane] = y[i + lane < count ? i + lane : count - 2 + lane % 2];
    if (i < count) add_lanes(rest, &e);
    *out = e;
}

/* Extends least = {low x, low y, -high x, -high y} by `count` coordinates; all are -INFINITY when
 * something is not finite. */
static void extend(ikt_context *ctx, const float *y, int64_t count, double *least) {
#pragma omp parallel num_threads(ikt_threads(ctx)) if (count > PIECE)
    {
        extremes e = {(lanes){0} + INFINITY, (lanes){0} - INFINITY, {0}};
#pragma omp for schedule(static) nowait
        for (int64_t first = 0; first < count; first += PIECE)
            add_coordinates(y + first, count - first < PIECE ? count - first : PIECE, &e);
#pragma omp critical
        for (int lane = 0; lane < LANES; lane++) {
            const int axis = lane % 2;
            least[axis] = fmin(least[axis], (double)e.low[lane]);
            least[2 + axis] = fmin(least[2 + axis], -(double)e.high[lane]);
            for (int s = 0; s < 4 && isnan(e.invalid[lane]); s++)
                least[s] = -INFINITY;
        }
    }
}

bool ikt_bounds_find(ikt_context *ctx, const float *y, int64_t n_local, const float *target,
                     int64_t targets, ikt_bounds *bounds) {
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    extend(ctx, y, 2 * n_local, least);
    extend(ctx, target, 2 * targets, least);
    ikt_min_f64(ctx, least, 4);
    for (int axis = 0; axis < 2; axis++) {
        bounds->low[axis] = least[axis];
        bounds->high[axis] = -least[2 + axis];
    }
    return isfinite(least[0]) != 0;
}

/* Lengths that FFTW is fast at without trying plans: 4, 5 or 6 times a power of two. Columns are
 * transformed as two halves, which are slow where factors of 3 or 5 meet (measured, nanoseconds a
 * coefficient: 0.7 for halves of 256, 320, 384, 512, 640, 1024; 1.2 for 768 and 960; 1.5 for 288,
 * 432, 480, 576, 720, 800), so that the next length here costs less than a nearer one. What is lost
 * to padding is about what is saved by keeping the kernel's transform while the map grows. */
static int64_t friendly(int64_t n) {
    for (int64_t power = 16;; power *= 2)
        for (int64_t times = 4; times <= 6; times++)
            if (power * times >= n) return power * times;
}

ikt_grid ikt_grid_fit(const ikt_fft_settings *settings, const ikt_bounds *bounds) {
    ikt_grid grid;
    double span = fmax(bounds->high[0] - bounds->low[0], bounds->high[1] - bounds->low[1]);
    grid.spacing = settings->spacing;
    /* A map too large for the grid gets a coarser one, in steps, so that the kernel's transform is
     * not made anew in each iteration. */
    while (span / grid.spacing > (double)settings->grid_limit)
        grid.spacing *= 1.125;
    /* A map that is small beside the kernel gets cells in proportion: the force there is as small,
     * and so must be the error. */
    for (int h = 0; h < HALVINGS_MOST && span / grid.spacing < CELLS_LEAST; h++)
        grid.spacing /= 2;
    grid.inverse = 1 / grid.spacing;
    for (int axis = 0; axis < 2; axis++) {
        grid.origin[axis] = floor(bounds->low[axis] / grid.spacing) * grid.spacing;
        grid.cells[axis] = (int64_t)((bounds->high[axis] - grid.origin[axis]) * grid.inverse) + 1;
        grid.nodes[axis] = grid.cells[axis] + settings->order - 1;
        /* The kernel meets its periodic image at a kink, half a period away. The windows see it
         * rounded off within some cells, more the larger it is: it is large where a map is narrow,
         * beside the kernel. */
        const int64_t padded = 2 * (grid.cells[axis] + MARGIN_PER_NODE * settings->order);
        grid.padded[axis] = friendly(padded > PADDED_LEAST ? padded : PADDED_LEAST);
    }
    return grid;
}
