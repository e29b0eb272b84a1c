/* Where the grid lies: a pure function of the map's bounds. */
#include "kernelsum/grid.h"

#include <math.h>

/* The prefilter of a B-spline falls by a factor of at least 2.3 a node (order 6): after 24 nodes
 * its tail is below 1e-8 of the kernel. */
enum { MARGIN = 24, CELLS_LEAST = 32, SIDE_LEAST = 8, HALVINGS_MOST = 40 };

ikt_fft_settings ikt_fft_preset(ikt_fft_accuracy accuracy) {
    static const ikt_fft_settings presets[] = {
        [IKT_FFT_DEFAULT] = {6, 0.40, 8192}, [IKT_FFT_TIGHT] = {6, 0.18, 8192}};
    return presets[accuracy];
}

/* The least even product of 2, 3 and 5 that is at least n: lengths that FFTs like. Multiples of 16
 * keep rows on cache lines; the ladder is fine enough to lose little. */
static int64_t friendly(int64_t n) {
    for (int64_t m = (n + 15) / 16 * 16;; m += 16) {
        int64_t rest = m;
        while (rest % 2 == 0)
            rest /= 2;
        while (rest % 3 == 0)
            rest /= 3;
        while (rest % 5 == 0)
            rest /= 5;
        if (rest == 1) return m;
    }
}

static double wider(const double *low, const double *high) {
    double x = high[0] - low[0], y = high[1] - low[1];
    return x > y ? x : y;
}

ikt_grid_shape ikt_grid_fit(const ikt_fft_settings *settings, const double *low,
                            const double *high) {
    ikt_grid_shape shape;
    shape.spacing = settings->spacing;
    double span = wider(low, high);
    /* A map too large for the grid gets a coarser one, in steps of a ladder so that the kernel's
     * transform is not made anew in each iteration. */
    while (span / shape.spacing > (double)settings->grid_limit)
        shape.spacing *= 1.125;
    /* A map that is small beside the kernel gets cells in proportion: the force there is as small,
     * and so must be the error. */
    for (int h = 0; h < HALVINGS_MOST && span > 0 && span / shape.spacing < CELLS_LEAST; h++)
        shape.spacing /= 2;
    for (int c = 0; c < 2; c++) /* first node: order/2 - 1 nodes below the lowest point's cell */
        shape.origin[c] =
            (floor(low[c] / shape.spacing) - (settings->order / 2 - 1)) * shape.spacing;
    int64_t side = (int64_t)(span / shape.spacing) + 3 + settings->order;
    shape.side = side < SIDE_LEAST ? SIDE_LEAST : side;
    shape.padded = friendly(2 * shape.side + MARGIN);
    return shape;
}

int64_t ikt_grid_memory(const ikt_fft_settings *settings, double side) {
    const double low[2] = {0, 0}, high[2] = {side, side};
    ikt_grid_shape shape = ikt_grid_fit(settings, low, high);
    int64_t padded = shape.padded, half = padded / 2 + 1;
    return 8 * shape.side * shape.side /* integer sums */
           + 8 * padded * (padded + 2) /* grid and its transform, in place */
           + 8 * half * half;          /* kernel */
}
