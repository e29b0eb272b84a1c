/* Transform of the kernel, and the self-term of the grid. See influence.h. */
#include "kernelsum/influence.h"

#include <fftw3.h>
#include <math.h>

#include "base/memory.h"

enum { MOST = IKT_WINDOW_LANES };

static const double two_pi = 6.283185307179586;

static double square(double x) {
    return x * x;
}

static double value_at_zero(ikt_kernel kernel) {
    return kernel == IKT_KERNEL_STUDENT ? 1 : 0;
}

/* The kernel less its value at 0, in a form that keeps its digits where r is small: w - 1 is
 * -r^2 / (1 + r^2). */
static double sample(ikt_kernel kernel, double r2) {
    return kernel == IKT_KERNEL_STUDENT ? -r2 / (1 + r2) : -log1p(r2) / (1 + r2);
}

static void sample_kernel(ikt_kernel kernel, const ikt_grid *grid, int64_t rows, int64_t columns,
                          double *table) {
    double h2 = grid->spacing * grid->spacing;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double r2 = h2 * (double)(r * r + c * c);
            table[r * columns + c] = sample(kernel, r2);
        }
}

static ikt_status transform_kernel(ikt_context *ctx, int64_t rows, int64_t columns, double *table) {
    fftw_plan plan = fftw_plan_r2r_2d((int)rows, (int)columns, table, table, FFTW_REDFT00,
                                      FFTW_REDFT00, FFTW_ESTIMATE);
    if (!plan)
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a cosine transform of %lld x %lld",
                        (long long)rows, (long long)columns);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return IKT_OK;
}

/* Transform of the window at frequency k of a period: its values at nodes are those of a point that
 * lies on node order/2 - 1. */
static double window_wave(const ikt_window *window, int64_t k, int64_t period) {
    double weight[MOST], slope[MOST], sum = 0;
    ikt_window_at(window, 0, weight, slope);
    for (int a = 0; a < window->order; a++)
        sum += weight[a] * cos(two_pi * (double)(k * (window->order / 2 - 1 - a)) / (double)period);
    return sum;
}

/* How many Fourier coefficients of the whole period an entry of the quarter table stands for. */
static double copies(int64_t k, int64_t last) {
    return k == 0 || k == last ? 1 : 2;
}

/* Divides by the windows at source and target and by the size; takes the mean out. */
static void divide(ikt_kernel kernel, const ikt_grid *grid, const ikt_window *window, double *along,
                   ikt_influence *out) {
    int64_t rows = grid->padded[1] / 2 + 1, columns = grid->padded[0] / 2 + 1;
    double size = (double)grid->padded[0] * (double)grid->padded[1];
    for (int64_t c = 0; c < columns; c++)
        along[c] = 1 / square(window_wave(window, c, grid->padded[0]));
    for (int64_t r = 0; r < rows; r++) {
        double scale = 1 / (size * square(window_wave(window, r, grid->padded[1])));
        for (int64_t c = 0; c < columns; c++)
            out->table[r * columns + c] *= scale * along[c];
    }
    out->mean = value_at_zero(kernel) + out->table[0]; /* the windows' transforms are 1 there */
    out->table[0] = 0;
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

/* Correlation of a point's weights with themselves, and with their slopes, at each lag (both
 * signs), for the places of the table. */
typedef struct {
    double value[IKT_SELF_PLACES][MOST], slope[IKT_SELF_PLACES][MOST];
} correlations;

static void correlate(const ikt_window *window, correlations *out) {
    for (int place = 0; place < IKT_SELF_PLACES; place++) {
        double w[MOST], s[MOST];
        ikt_window_at(window, (place + 0.5) / IKT_SELF_PLACES, w, s);
        for (int lag = 0; lag < window->order; lag++) {
            double value = 0, slope = 0;
            for (int k = 0; k + lag < window->order; k++) {
                value += w[k] * w[k + lag] * (lag ? 2 : 1);
                slope += lag ? s[k] * w[k + lag] + w[k] * s[k + lag] : s[k] * w[k];
            }
            out->value[place][lag] = value;
            out->slope[place][lag] = slope;
        }
    }
}

/* The grid's self-term less the true one, which has no gradient. */
static void fill_self(ikt_kernel kernel, const ikt_grid *grid, int order, const correlations *c,
                      double lag[MOST][MOST], ikt_influence *out) {
    for (int p = 0; p < IKT_SELF_PLACES * IKT_SELF_PLACES; p++) {
        int x = p % IKT_SELF_PLACES, y = p / IKT_SELF_PLACES;
        double phi = out->mean - value_at_zero(kernel), by_x = 0, by_y = 0;
        for (int e = 0; e < order; e++)
            for (int d = 0; d < order; d++) {
                phi += c->value[y][e] * c->value[x][d] * lag[e][d];
                by_x += c->value[y][e] * c->slope[x][d] * lag[e][d];
                by_y += c->slope[y][e] * c->value[x][d] * lag[e][d];
            }
        out->self[4 * p] = (float)phi;
        out->self[4 * p + 1] = (float)(by_x * grid->inverse);
        out->self[4 * p + 2] = (float)(by_y * grid->inverse);
    }
}

static ikt_status make(ikt_context *ctx, ikt_kernel kernel, const ikt_grid *grid,
                       const ikt_window *window, double **along, ikt_influence *out) {
    int64_t rows = grid->padded[1] / 2 + 1, columns = grid->padded[0] / 2 + 1;
    IKT_TRY(ikt_alloc(ctx, along, columns, sizeof(double), "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &out->table, rows * columns, sizeof(double), "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &out->self, 4 * IKT_SELF_PLACES * IKT_SELF_PLACES, sizeof(float),
                      "repulsion"));
    sample_kernel(kernel, grid, rows, columns, out->table);
    IKT_TRY(transform_kernel(ctx, rows, columns, out->table));
    divide(kernel, grid, window, *along, out);
    double lag[MOST][MOST];
    find_lags(grid, window->order, out->table, *along, lag);
    correlations c;
    correlate(window, &c);
    fill_self(kernel, grid, window->order, &c, lag, out);
    return IKT_OK;
}

ikt_status ikt_influence_make(ikt_context *ctx, const ikt_grid *grid, const ikt_window *window,
                              ikt_influence *out) {
    return ikt_influence_make_of(ctx, IKT_KERNEL_STUDENT, grid, window, out);
}

ikt_status ikt_influence_make_of(ikt_context *ctx, ikt_kernel kernel, const ikt_grid *grid,
                                 const ikt_window *window, ikt_influence *out) {
    double *along = NULL;
    *out = (ikt_influence){0, NULL, NULL};
    ikt_status st = make(ctx, kernel, grid, window, &along, out);
    ikt_free(&along);
    if (st != IKT_OK) ikt_influence_release(out);
    return st;
}

void ikt_influence_release(ikt_influence *influence) {
    ikt_free(&influence->table);
    ikt_free(&influence->self);
}
