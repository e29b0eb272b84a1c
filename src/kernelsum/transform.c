/* Convolution with the Student kernel by a two-dimensional real FFT.
 *
 * Method: rows are transformed by FFTW's one-dimensional real plan in place, one row a call, then
 * columns in batches of BATCH gathered into a contiguous buffer: transform, times kernel, back, all
 * while the batch is in cache. Rows that hold only padding are skipped on the way in and not needed
 * on the way out. Plans are made with FFTW_ESTIMATE, one row or batch at a time by one thread, so
 * that the bits depend neither on a timing nor on the number of threads.
 * Advantage: half the row transforms of a plain padded FFT, kernel applied in cache.
 * Disadvantage: columns are gathered and scattered by hand. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "kernelsum/bspline.h"
#include "kernelsum/grid.h"

enum { BATCH = 8 };

struct ikt_transform {
    ikt_context *ctx;
    int64_t padded, half; /* nodes a side; padded / 2 + 1 */
    int64_t stride;       /* doubles from row to row */
    double spacing;
    double *grid;   /* [padded * stride] in place: 2 half doubles of each row are complex numbers */
    double *kernel; /* [half * half], symmetric quarter; scaled by 1 / padded^2 */
    double *columns; /* [threads * BATCH * padded * 2] */
    int threads;
    fftw_plan row_forward, row_inverse, column_forward, column_inverse;
};

/* Transform of the B-spline's values at the nodes: sum_k M(k) cos(2 pi k m / L). */
static double window(int order, int64_t m, int64_t padded) {
    double value[IKT_ORDER_MOST] = {0};
    ikt_bspline(order, 0, value, NULL); /* node k - (order/2 - 1); the last value is 0 */
    double sum = 0;
    for (int k = 0; k < order; k++)
        sum += value[k] * cos(2 * 3.14159265358979323846 * (double)(k - (order / 2 - 1)) *
                              (double)m / (double)padded);
    return sum;
}

static double *column_buffer(const ikt_transform *t) {
    return t->columns + (int64_t)omp_get_thread_num() * BATCH * t->padded * 2;
}

static void transform_rows(ikt_transform *t, int64_t rows, int forward) {
#pragma omp parallel for schedule(static) num_threads(t->threads)
    for (int64_t r = 0; r < rows; r++) {
        double *row = t->grid + r * t->stride;
        if (forward)
            fftw_execute_dft_r2c(t->row_forward, row, (fftw_complex *)row);
        else
            fftw_execute_dft_c2r(t->row_inverse, (fftw_complex *)row, row);
    }
}

/* Columns first .. first + count - 1 of the first `rows` rows, to or from the buffer. */
static void move_columns(ikt_transform *t, int64_t first, int64_t count, int64_t rows,
                         double *buffer, int gather) {
    for (int64_t r = 0; r < rows; r++) {
        double *row = t->grid + r * t->stride + 2 * first;
        for (int64_t c = 0; c < count; c++) {
            double *here = buffer + (c * t->padded + r) * 2;
            double *from = gather ? row + 2 * c : here, *to = gather ? here : row + 2 * c;
            to[0] = from[0];
            to[1] = from[1];
        }
    }
}

static void multiply(const ikt_transform *t, int64_t first, int64_t count, double *buffer) {
    for (int64_t c = 0; c < count; c++) {
        const double *kernel = t->kernel + (first + c) * t->half;
        double *column = buffer + c * t->padded * 2;
        for (int64_t r = 0; r < t->padded; r++) {
            double factor = kernel[r < t->half ? r : t->padded - r];
            column[2 * r] *= factor;
            column[2 * r + 1] *= factor;
        }
    }
}

void ikt_transform_convolve(ikt_transform *t, int64_t side) {
    transform_rows(t, side, 1);
    int64_t batches = (t->half + BATCH - 1) / BATCH;
#pragma omp parallel for schedule(static) num_threads(t->threads)
    for (int64_t b = 0; b < batches; b++) {
        int64_t first = b * BATCH, count = t->half - first < BATCH ? t->half - first : BATCH;
        double *buffer = column_buffer(t);
        memset(buffer, 0, (size_t)(BATCH * t->padded * 2) * sizeof *buffer);
        move_columns(t, first, count, side, buffer, 1);
        fftw_execute_dft(t->column_forward, (fftw_complex *)buffer, (fftw_complex *)buffer);
        multiply(t, first, count, buffer);
        fftw_execute_dft(t->column_inverse, (fftw_complex *)buffer, (fftw_complex *)buffer);
        move_columns(t, first, count, side, buffer, 0);
    }
    transform_rows(t, side, 0);
}

/* The kernel at the nodes of the padded grid, distances taken round the period, transformed. It is
 * real and even, so its transform is, and the convolution itself can be used to compute it. */
static void fill_kernel(ikt_transform *t, int order, double *windows) {
    int64_t length = t->padded;
    for (int64_t m = 0; m < t->half; m++)
        windows[m] = window(order, m, length);
    for (int64_t r = 0; r < length; r++)
        for (int64_t c = 0; c < length; c++) {
            double dy = t->spacing * (double)(r <= length / 2 ? r : length - r);
            double dx = t->spacing * (double)(c <= length / 2 ? c : length - c);
            t->grid[r * t->stride + c] = 1 / (1 + dx * dx + dy * dy);
        }
    transform_rows(t, length, 1);
    double scale = 1 / ((double)length * (double)length);
    for (int64_t first = 0; first < t->half; first += BATCH) {
        int64_t count = t->half - first < BATCH ? t->half - first : BATCH;
        memset(t->columns, 0, (size_t)(BATCH * length * 2) * sizeof *t->columns);
        move_columns(t, first, count, length, t->columns, 1);
        fftw_execute_dft(t->column_forward, (fftw_complex *)t->columns, (fftw_complex *)t->columns);
        for (int64_t c = 0; c < count; c++)
            for (int64_t r = 0; r < t->half; r++) {
                double both = windows[first + c] * windows[r];
                t->kernel[(first + c) * t->half + r] =
                    scale * t->columns[(c * length + r) * 2] / (both * both);
            }
    }
    memset(t->grid, 0, (size_t)(length * t->stride) * sizeof *t->grid);
}

static ikt_status make_plans(ikt_transform *t) {
    int length = (int)t->padded;
    fftw_complex *row = (fftw_complex *)t->grid, *column = (fftw_complex *)t->columns;
    t->row_forward = fftw_plan_dft_r2c_1d(length, t->grid, row, FFTW_ESTIMATE);
    t->row_inverse = fftw_plan_dft_c2r_1d(length, row, t->grid, FFTW_ESTIMATE);
    t->column_forward = fftw_plan_many_dft(1, &length, BATCH, column, NULL, 1, length, column, NULL,
                                           1, length, FFTW_FORWARD, FFTW_ESTIMATE);
    t->column_inverse = fftw_plan_many_dft(1, &length, BATCH, column, NULL, 1, length, column, NULL,
                                           1, length, FFTW_BACKWARD, FFTW_ESTIMATE);
    if (t->row_forward && t->row_inverse && t->column_forward && t->column_inverse) return IKT_OK;
    return ikt_fail(t->ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a transform of length %d", length);
}

static ikt_status prepare(ikt_transform *t, int order, const ikt_grid_shape *shape) {
    t->padded = shape->padded;
    t->half = t->padded / 2 + 1;
    t->spacing = shape->spacing;
    t->threads = ikt_threads(t->ctx);
    t->stride =
        (2 * t->half + 7) / 8 * 8; /* rows begin on cache lines: plans see equal alignment */
    IKT_TRY(ikt_alloc(t->ctx, &t->grid, t->padded * t->stride, sizeof *t->grid, "repulsion"));
    IKT_TRY(ikt_alloc(t->ctx, &t->kernel, t->half * t->half, sizeof *t->kernel, "repulsion"));
    IKT_TRY(ikt_alloc(t->ctx, &t->columns, (int64_t)t->threads * BATCH * t->padded * 2,
                      sizeof *t->columns, "repulsion"));
    IKT_TRY(make_plans(t));
    double *windows = NULL;
    IKT_TRY(ikt_alloc(t->ctx, &windows, t->half, sizeof *windows, "repulsion"));
    fill_kernel(t, order, windows);
    ikt_free(&windows);
    return IKT_OK;
}

ikt_status ikt_transform_create(ikt_context *ctx, int order, const ikt_grid_shape *shape,
                                ikt_transform **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "repulsion"));
    (*out)->ctx = ctx;
    ikt_status st = prepare(*out, order, shape);
    if (st != IKT_OK) ikt_transform_destroy(out);
    return st;
}

void ikt_transform_destroy(ikt_transform **transform) {
    ikt_transform *t = *transform;
    if (!t) return;
    if (t->row_forward) fftw_destroy_plan(t->row_forward);
    if (t->row_inverse) fftw_destroy_plan(t->row_inverse);
    if (t->column_forward) fftw_destroy_plan(t->column_forward);
    if (t->column_inverse) fftw_destroy_plan(t->column_inverse);
    ikt_free(&t->grid);
    ikt_free(&t->kernel);
    ikt_free(&t->columns);
    ikt_free(transform);
}

int64_t ikt_transform_padded(const ikt_transform *transform) {
    return transform->padded;
}

double ikt_transform_spacing(const ikt_transform *transform) {
    return transform->spacing;
}

double *ikt_transform_grid(ikt_transform *transform, int64_t *stride) {
    *stride = transform->stride;
    return transform->grid;
}
