/* Transform of the kernel, and the self-term of the grid. See mesh.h. */
#include "kernelsum/mesh.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/context.h"

enum {
    MOST = IKT_WINDOW_LANES,
    FEW_SAMPLES = 1 << 14, /* that one thread takes */
    BATCH = 8              /* columns that are transformed at a time: a cache line */
};

static const double two_pi = 6.283185307179586;

static double value_at_zero(ikt_kernel kernel) {
    return kernel.kind == IKT_KERNEL_STUDENT_LOG ? 0 : 1;
}

/* A kernel less its value at 0, in a form that keeps its digits where r2 is small: w - 1 is
 * -r2 / (1 + r2) for the Student kernel. */
static double less_at_zero(ikt_kernel kernel, double r2) {
    if (kernel.kind == IKT_KERNEL_TAILED) return expm1(-kernel.alpha * log1p(r2 / kernel.alpha));
    if (kernel.kind == IKT_KERNEL_GAUSSIAN) return expm1(-r2);
    return (kernel.kind == IKT_KERNEL_STUDENT ? -r2 : -log1p(r2)) / (1 + r2);
}

/* Square of the transform of the window at frequency k of a period: its values at nodes are those
 * of a point that lies on node order/2 - 1. */
static double window_squared(const ikt_window *window, int64_t k, int64_t period) {
    double weight[MOST], slope[MOST], sum = 0;
    ikt_window_at(window, 0, weight, slope);
    for (int a = 0; a < window->order; a++)
        sum += weight[a] * cos(two_pi * (double)(k * (window->order / 2 - 1 - a)) / (double)period);
    return sum * sum;
}

/* The first `width` columns of `rows` rows become contiguous, are transformed and go back.
 *   column   [width * rows] to work in */
static void transform_columns(fftw_plan plan, int64_t rows, int64_t stride, int64_t width,
                              double *table, double *column) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++)
            column[c * rows + r] = table[r * stride + c];
    for (int64_t c = 0; c < width; c++)
        fftw_execute_r2r(plan, column + c * rows, column + c * rows);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++)
            table[r * stride + c] = column[c * rows + r];
}

/* Cosine transform in place (REDFT00), along rows and then along columns, which threads share. The
 * bits are those of a plan of FFTW for two dimensions, which takes five times as long to make. */
static ikt_status transform(ikt_context *ctx, int64_t rows, int64_t columns, double *table) {
    const int threads = rows * columns < FEW_SAMPLES ? 1 : ikt_threads(ctx);
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    double *column = NULL;
    IKT_TRY(ikt_alloc(ctx, &column, threads * BATCH * rows, sizeof(double), "repulsion"));
    fftw_plan along = fftw_plan_r2r_1d((int)columns, table, table, FFTW_REDFT00, flags);
    fftw_plan across = fftw_plan_r2r_1d((int)rows, column, column, FFTW_REDFT00, flags);
    const bool is_planned = along && across;
#pragma omp parallel num_threads(threads) if (threads > 1)
    if (is_planned) {
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r++)
            fftw_execute_r2r(along, table + r * columns, table + r * columns);
#pragma omp for schedule(static)
        for (int64_t c = 0; c < columns; c += BATCH)
            transform_columns(across, rows, columns, columns - c < BATCH ? columns - c : BATCH,
                              table + c, column + omp_get_thread_num() * BATCH * rows);
    }
    if (along) fftw_destroy_plan(along);
    if (across) fftw_destroy_plan(across);
    ikt_free(&column);
    if (is_planned) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a cosine transform of %lld x %lld",
                    (long long)rows, (long long)columns);
}

/* How many Fourier coefficients of the whole period an entry of the quarter table stands for. */
static double copies(int64_t k, int64_t last) {
    return k == 0 || k == last ? 1 : 2;
}

/* lag[e][d]: potential in a node d columns and e rows from a node with charge 1. */
static void find_lags(const ikt_grid *grid, int order, const double *table, double *along,
                      double lag[MOST][MOST]) {
    int64_t rows = grid->padded[1] / 2 + 1, columns = grid->padded[0] / 2 + 1;
    for (int e = 0; e < order; e++) {
        for (int64_t c = 0; c < columns; c++)
            along[c] = 0;
        for (int64_t r = 0; r < rows; r++) {
            double coefficient =
                copies(r, rows - 1) *
                cos(two_pi * (double)(r * e % grid->padded[1]) / (double)grid->padded[1]);
            for (int64_t c = 0; c < columns; c++)
                along[c] += coefficient * table[r * columns + c];
        }
        for (int d = 0; d < order; d++) {
            lag[e][d] = 0;
            for (int64_t c = 0; c < columns; c++)
                lag[e][d] +=
                    copies(c, columns - 1) * along[c] *
                    cos(two_pi * (double)(c * d % grid->padded[0]) / (double)grid->padded[0]);
        }
    }
}

/* The grid's self-term less the true one, which has no gradient, at each place of a cell: from the
 * correlation of a point's weights with themselves, and with their slopes, at each lag (both
 * signs).
 */
static void fill_self(ikt_kernel kernel, const ikt_grid *grid, const ikt_window *window,
                      double lag[MOST][MOST], ikt_influence *out) {
    const int order = window->order;
    double value[IKT_SELF_PLACES][MOST] = {{0}}, slope[IKT_SELF_PLACES][MOST] = {{0}};
    for (int place = 0; place < IKT_SELF_PLACES; place++) {
        double w[MOST], s[MOST];
        ikt_window_at(window, (place + 0.5) / IKT_SELF_PLACES, w, s);
        for (int d = 0; d < order; d++)
            for (int k = 0; k + d < order; k++) {
                value[place][d] += w[k] * w[k + d] * (d ? 2 : 1);
                slope[place][d] += d ? s[k] * w[k + d] + w[k] * s[k + d] : s[k] * w[k];
            }
    }
    for (int p = 0; p < IKT_SELF_PLACES * IKT_SELF_PLACES; p++) {
        int x = p % IKT_SELF_PLACES, y = p / IKT_SELF_PLACES;
        double phi = out->mean - value_at_zero(kernel), by_x = 0, by_y = 0;
        for (int e = 0; e < order; e++)
            for (int d = 0; d < order; d++) {
                phi += value[y][e] * value[x][d] * lag[e][d];
                by_x += value[y][e] * slope[x][d] * lag[e][d];
                by_y += slope[y][e] * value[x][d] * lag[e][d];
            }
        out->self[4 * p] = (float)phi;
        out->self[4 * p + 1] = (float)(by_x * grid->inverse);
        out->self[4 * p + 2] = (float)(by_y * grid->inverse);
    }
}

ikt_status ikt_influence_make(ikt_context *ctx, ikt_kernel kernel, const ikt_grid *grid,
                              const ikt_window *window, ikt_influence *out) {
    const int64_t rows = grid->padded[1] / 2 + 1, columns = grid->padded[0] / 2 + 1;
    const int64_t places = IKT_SELF_PLACES * IKT_SELF_PLACES;
    const double h2 = grid->spacing * grid->spacing;
    const double size = (double)grid->padded[0] * (double)grid->padded[1];
    double *along IKT_AT_END(ikt_free) = NULL, lag[MOST][MOST];
    ikt_influence made IKT_AT_END(ikt_influence_release) = {0, NULL, NULL};
    *out = (ikt_influence){0};
    ikt_status st = ikt_alloc(ctx, &along, columns, sizeof(double), "repulsion");
    if (st == IKT_OK) st = ikt_alloc(ctx, &made.table, rows * columns, sizeof(double), "repulsion");
    if (st == IKT_OK) st = ikt_alloc(ctx, &made.self, 4 * places, sizeof(float), "repulsion");
    /* The transform of the kernel less its value at 0. */
    const int64_t samples = st == IKT_OK ? rows * columns : 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) if (samples >= FEW_SAMPLES)
    for (int64_t e = 0; e < samples; e++) {
        const int64_t r = e / columns, c = e % columns;
        made.table[e] = less_at_zero(kernel, h2 * (double)(r * r + c * c));
    }
    IKT_TRY(st);
    IKT_TRY(transform(ctx, rows, columns, made.table));
    /* Divided by the windows at source and target and by the size; the mean is taken out. */
    for (int64_t c = 0; c < columns; c++)
        along[c] = 1 / window_squared(window, c, grid->padded[0]);
    for (int64_t r = 0; r < rows; r++) {
        const double scale = 1 / (size * window_squared(window, r, grid->padded[1]));
        for (int64_t c = 0; c < columns; c++)
            made.table[r * columns + c] *= scale * along[c];
    }
    made.mean = value_at_zero(kernel) + made.table[0]; /* the windows' transforms are 1 there */
    made.table[0] = 0;
    find_lags(grid, window->order, made.table, along, lag);
    fill_self(kernel, grid, window, lag, &made);
    return ikt_give(out, made);
}

void ikt_influence_release(ikt_influence *influence) {
    ikt_free_all(&influence->table, &influence->self);
}
