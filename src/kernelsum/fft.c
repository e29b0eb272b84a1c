/* Sums by a particle-mesh method: spread, convolve, gather.
 *
 * Method: unit charges are spread over the nodes of a regular grid by B-splines, the grid is
 * convolved with the kernel by one forward and one inverse FFT, and the potential and its analytic
 * gradient are gathered by the same splines (smooth particle-mesh Ewald, Essmann et al. 1995; one
 * charge suffices, methods section 3). Charges are added as integers, so that neither threads nor
 * ranks change a bit; every rank then transforms the same grid.
 * Advantage: cost n + g log g with g nodes; one charge and two transforms where the published
 * schemes take four charges and eight. Disadvantage: the grid covers the whole square of the map,
 * and the transform is repeated on every rank. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "kernelsum/bspline.h"
#include "kernelsum/grid.h"
#include "kernelsum/ops.h"

enum { CACHED = 3 }; /* transforms kept: a map's size breathes around a step of the ladder */

typedef struct {
    ikt_fft_settings settings;
    ikt_transform *cached[CACHED]; /* most recently used first */
    int64_t *charge;               /* [threads * side * side], grows */
    int64_t charge_room;
    double unit; /* integer value of a charge of 1 */
    bool said_coarse;
} particle_mesh;

/* Window of a point: first nodes and the splines' values (and slopes) along both axes. */
typedef struct {
    int64_t node[2];
    double value[2][IKT_ORDER_MOST], slope[2][IKT_ORDER_MOST];
} window;

static inline void find_window(const ikt_grid_shape *shape, int order, const float *y, bool slopes,
                               window *w) {
    for (int c = 0; c < 2; c++) {
        double at = ((double)y[c] - shape->origin[c]) / shape->spacing;
        double cell = floor(at);
        w->node[c] = (int64_t)cell - (order / 2 - 1);
        ikt_bspline(order, at - cell, w->value[c], slopes ? w->slope[c] : NULL);
    }
}

/* Least and greatest coordinates over all ranks; false when any is not finite. */
static bool find_bounds(const ikt_kernelsum *sums, const float *y, double *low, double *high) {
    double least[5] = {INFINITY, INFINITY, INFINITY, INFINITY, 0}; /* low, -high, -invalid */
    for (int64_t e = 0; e < 2 * sums->map.count; e++) {
        double value = (double)y[e];
        if (!isfinite(value)) least[4] = -1;
        if (value < least[e % 2]) least[e % 2] = value;
        if (-value < least[2 + e % 2]) least[2 + e % 2] = -value;
    }
    ikt_min_f64(sums->ctx, least, 5);
    for (int c = 0; c < 2; c++) {
        low[c] = least[c];
        high[c] = -least[2 + c];
    }
    return least[4] == 0 && sums->map.n > 0;
}

/* The transform for the shape, made if it is not among those kept. */
static ikt_status find_transform(ikt_kernelsum *sums, const ikt_grid_shape *shape) {
    particle_mesh *m = sums->self;
    int found = 0;
    while (found < CACHED - 1 && m->cached[found] &&
           (ikt_transform_padded(m->cached[found]) != shape->padded ||
            ikt_transform_spacing(m->cached[found]) != shape->spacing))
        found++;
    ikt_transform *transform = m->cached[found];
    if (transform && (ikt_transform_padded(transform) != shape->padded ||
                      ikt_transform_spacing(transform) != shape->spacing))
        ikt_transform_destroy(&transform); /* the one used longest ago makes room */
    m->cached[found] = NULL;
    ikt_status st = IKT_OK;
    if (!transform) {
        /* Shapes are equal on all ranks, so all come here together. */
        st = ikt_agree(sums->ctx,
                       ikt_transform_create(sums->ctx, m->settings.order, shape, &transform));
        ikt_log(sums->ctx, IKT_LOG_DEBUG, "grid: %lld nodes a side, spacing %g",
                (long long)shape->padded, shape->spacing);
    }
    for (; found > 0; found--)
        m->cached[found] = m->cached[found - 1];
    m->cached[0] = transform;
    return st;
}

static ikt_status make_room(ikt_kernelsum *sums, const ikt_grid_shape *shape) {
    particle_mesh *m = sums->self;
    int64_t room = shape->side * shape->side * ikt_threads(sums->ctx);
    ikt_status st = IKT_OK;
    if (room > m->charge_room) {
        ikt_free(&m->charge);
        st = ikt_alloc(sums->ctx, &m->charge, room + room / 4, sizeof *m->charge, "repulsion");
        m->charge_room = st == IKT_OK ? room + room / 4 : 0;
    }
    return ikt_agree(sums->ctx, st);
}

static void spread_point(const particle_mesh *m, const ikt_grid_shape *shape, const float *y,
                         int64_t *charge) {
    window w;
    int order = m->settings.order;
    find_window(shape, order, y, false, &w);
    for (int b = 0; b < order; b++) {
        int64_t *row = charge + (w.node[1] + b) * shape->side + w.node[0];
        double scaled = m->unit * w.value[1][b];
        for (int a = 0; a < order; a++)
            row[a] += (int64_t)(scaled * w.value[0][a]);
    }
}

/* Each thread spreads its share of the points over a grid of its own; integers add in any order. */
static void spread(ikt_kernelsum *sums, const ikt_grid_shape *shape, const float *y) {
    particle_mesh *m = sums->self;
    int64_t nodes = shape->side * shape->side;
    int threads = ikt_threads(sums->ctx);
    memset(m->charge, 0, (size_t)(nodes * threads) * sizeof *m->charge);
#pragma omp parallel num_threads(threads)
    {
        int64_t *own = m->charge + omp_get_thread_num() * nodes;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < sums->map.count; i++)
            spread_point(m, shape, y + 2 * i, own);
#pragma omp for schedule(static)
        for (int64_t g = 0; g < nodes; g++)
            for (int other = 1; other < threads; other++)
                m->charge[g] += m->charge[other * nodes + g];
    }
}

/* Integer charges to the padded grid of doubles. */
static void fill_grid(ikt_kernelsum *sums, const ikt_grid_shape *shape, ikt_transform *transform) {
    particle_mesh *m = sums->self;
    int64_t stride;
    double *grid = ikt_transform_grid(transform, &stride), scale = 1 / m->unit;
#pragma omp parallel for num_threads(ikt_threads(sums->ctx))
    for (int64_t r = 0; r < shape->side; r++) {
        double *row = grid + r * stride;
        const int64_t *charge = m->charge + r * shape->side;
        for (int64_t c = 0; c < shape->side; c++)
            row[c] = scale * (double)charge[c];
        memset(row + shape->side, 0, (size_t)(stride - shape->side) * sizeof *row);
    }
}

static void gather_point(const particle_mesh *m, const ikt_grid_shape *shape, const double *grid,
                         int64_t stride, const float *y, double *phi, float *gradient) {
    window w;
    int order = m->settings.order;
    double value = 0, slope_x = 0, slope_y = 0;
    find_window(shape, order, y, true, &w);
    for (int b = 0; b < order; b++) {
        const double *row = grid + (w.node[1] + b) * stride + w.node[0];
        double along = 0, along_slope = 0;
        for (int a = 0; a < order; a++) {
            along += w.value[0][a] * row[a];
            along_slope += w.slope[0][a] * row[a];
        }
        value += w.value[1][b] * along;
        slope_x += w.value[1][b] * along_slope;
        slope_y += w.slope[1][b] * along;
    }
    *phi = value;
    gradient[0] = (float)(slope_x / shape->spacing);
    gradient[1] = (float)(slope_y / shape->spacing);
}

static void gather(ikt_kernelsum *sums, const ikt_grid_shape *shape, ikt_transform *transform,
                   const float *y, double *phi, float *gradient) {
    int64_t stride;
    const double *grid = ikt_transform_grid(transform, &stride);
#pragma omp parallel for num_threads(ikt_threads(sums->ctx))
    for (int64_t i = 0; i < sums->map.count; i++)
        gather_point(sums->self, shape, grid, stride, y + 2 * i, phi + i, gradient + 2 * i);
}

static void warn_coarse(ikt_kernelsum *sums, const ikt_grid_shape *shape) {
    particle_mesh *m = sums->self;
    if (shape->spacing <= m->settings.spacing || m->said_coarse) return;
    m->said_coarse = true;
    ikt_log(sums->ctx, IKT_LOG_WARN,
            "the map has grown beyond %lld grid nodes a side: repulsion uses a spacing of %.3g "
            "instead of %.3g from here on; points far outside may be the reason",
            (long long)m->settings.grid_limit, shape->spacing, m->settings.spacing);
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    double low[2], high[2];
    if (!find_bounds(sums, y, low, high)) {
        ikt_kernelsum_invalid(sums, phi);
        return;
    }
    ikt_grid_shape shape = ikt_grid_fit(&m->settings, low, high);
    warn_coarse(sums, &shape);
    if (make_room(sums, &shape) != IKT_OK || find_transform(sums, &shape) != IKT_OK) {
        ikt_kernelsum_invalid(sums, phi);
        return;
    }
    ikt_stage_begin(ctx, IKT_STAGE_SPREAD);
    spread(sums, &shape, y);
    ikt_stage_end(ctx, IKT_STAGE_SPREAD);
    ikt_stage_begin(ctx, IKT_STAGE_GRID_SUM);
    ikt_sum_i64(ctx, m->charge, shape.side * shape.side);
    ikt_stage_end(ctx, IKT_STAGE_GRID_SUM);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    fill_grid(sums, &shape, m->cached[0]);
    ikt_transform_convolve(m->cached[0], shape.side);
    ikt_stage_end(ctx, IKT_STAGE_FFT);
    ikt_stage_begin(ctx, IKT_STAGE_GATHER);
    gather(sums, &shape, m->cached[0], y, phi, gradient);
    ikt_stage_end(ctx, IKT_STAGE_GATHER);
}

static void destroy(ikt_kernelsum *sums) {
    particle_mesh *m = sums->self;
    if (!m) return;
    for (int c = 0; c < CACHED; c++)
        ikt_transform_destroy(&m->cached[c]);
    ikt_free(&m->charge);
    ikt_free(&m);
}

/* The largest power of two with which the charges of all points on one node fit 62 bits; beyond
 * 2^40 nothing is gained over the splines' own rounding. */
static double charge_unit(int64_t n) {
    int bits = 0;
    while (bits < 62 && (int64_t)1 << bits <= n)
        bits++;
    return ldexp(1, 62 - bits < 40 ? 62 - bits : 40);
}

ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_row_map *map,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out) {
    particle_mesh *m = NULL;
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *map, NULL, evaluate, destroy};
        st = ikt_alloc(ctx, &m, 1, sizeof *m, "repulsion");
    }
    if (st == IKT_OK) {
        m->settings = *settings;
        m->unit = charge_unit(map->n);
        (*out)->self = m;
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}
