/* Body of mesh_f32.c and mesh_f64.c, part one: convolution by FFT, in REAL.
 *
 * Method: rows of charges become rows of REAL and are transformed, ROWS at a time; COLUMNS columns
 * at a time, as wide as a cache line, go through forward transform, product and inverse transform
 * in a buffer of one thread; then the rows are transformed back. The coefficients lie by batches of
 * columns, all rows of a batch together, so that no pass strides through memory.
 * A column is half empty before and half unwanted after. So its even coefficients are a transform
 * of half the length, its odd coefficients are another, of the column times a twiddle, and each is
 * of one contiguous array in the first-level cache: a third of the time of transforming interleaved
 * columns of full length. All plans are one-dimensional and of fixed widths, made by FFTW_ESTIMATE
 * (measured plans would differ from run to run, and so would bits).
 * Advantage: a quarter of the padded grid is all that is ever stored, threads share nothing, and a
 * rank may do any range of rows and of batches: slabs.h deals them out. */
#include "kernelsum/mesh.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"

enum {
    ROWS = 4,
    COLUMNS = 32 / (int)sizeof(REAL), /* 8 or 4: a cache line of coefficients */
    WIDTH = 2 * COLUMNS,
    ALIGNED = 16 /* numbers: rows, columns and buffers begin on cache lines */
};

typedef FFTW(complex) fourier;

struct ikt_mesh {
    int64_t padded[2];
    int64_t batches;     /* of columns */
    int64_t half;        /* padded[1] / 2 */
    int64_t stride;      /* numbers a row in the buffers */
    int64_t table_count; /* numbers of the table for a column */
    /* [batches * COLUMNS][table_count]: even coefficients 0, 2 .. half, from table_count / 2 on odd
     * coefficients
     */
    REAL *table;
    REAL *twiddle;        /* [half][2] exp(-2 pi i j / padded[1]) */
    FFTW(plan) row[2];    /* ROWS rows: charges to coefficients, coefficients to potentials */
    FFTW(plan) column[2]; /* half a column: forward, inverse */
};

static int64_t batches_of(const int64_t padded[2]) {
    return (padded[0] / 2 + 1 + COLUMNS - 1) / COLUMNS;
}

static int64_t round_up(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

static int64_t stride_of(const int64_t padded[2]) {
    return round_up(batches_of(padded) * WIDTH, ALIGNED);
}

static int64_t field_count(const int64_t padded[2], int64_t rows) {
    return round_up(rows, ROWS) * batches_of(padded) * WIDTH;
}

/* Numbers of a thread's buffer: ROWS rows before and after their transform; or COLUMNS halves of
 * columns, and three more to work on one of them. */
static int64_t buffer_count(const int64_t padded[2]) {
    int64_t rows = 2 * ROWS * stride_of(padded), columns = (COLUMNS + 3) * padded[1];
    return round_up(columns > rows ? columns : rows, ALIGNED);
}

/* --- making ----------------------------------------------------------------------------------- */

static void pack_table(const double *from, ikt_mesh *m) {
    int64_t columns = m->padded[0] / 2 + 1;
    for (int64_t r = 0; r <= m->half; r++) {
        REAL *to = m->table + (r % 2) * (m->table_count / 2) + r / 2;
        for (int64_t c = 0; c < columns; c++)
            to[c * m->table_count] = (REAL)from[r * columns + c];
    }
}

static void fill_twiddles(ikt_mesh *m) {
    const double step = -6.283185307179586 / (double)m->padded[1];
    for (int64_t j = 0; j < m->half; j++) {
        m->twiddle[2 * j] = (REAL)cos(step * (double)j);
        m->twiddle[2 * j + 1] = (REAL)sin(step * (double)j);
    }
}

/* Plans are for arrays of the alignment that ikt_alloc gives, of which these two are examples;
 * planning by FFTW_ESTIMATE does not touch them. */
static void make_plans(ikt_mesh *m, REAL *from, REAL *to) {
    int width = (int)m->padded[0], half = (int)m->half;
    int stride = (int)m->stride, coefficients = stride / 2;
    fourier *from_coefficients = (fourier *)(void *)from, *to_coefficients = (fourier *)(void *)to;
    m->row[0] = FFTW(plan_many_dft_r2c)(1, &width, ROWS, from, &stride, 1, stride, to_coefficients,
                                        &coefficients, 1, coefficients, FFTW_ESTIMATE);
    m->row[1] = FFTW(plan_many_dft_c2r)(1, &width, ROWS, from_coefficients, &coefficients, 1,
                                        coefficients, to, &stride, 1, stride, FFTW_ESTIMATE);
    for (int way = 0; way < 2; way++)
        m->column[way] = FFTW(plan_dft_1d)(half, from_coefficients, to_coefficients,
                                           way ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
}

static ikt_status plan(ikt_context *ctx, ikt_mesh *m) {
    REAL *buffers = NULL;
    const int64_t count = buffer_count(m->padded);
    IKT_TRY(ikt_alloc(ctx, &buffers, 2 * count, sizeof(REAL), "repulsion"));
    make_plans(m, buffers, buffers + count);
    ikt_free(&buffers);
    if (m->row[0] && m->row[1] && m->column[0] && m->column[1]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a grid of %lld x %lld",
                    (long long)m->padded[1], (long long)m->padded[0]);
}

static void destroy(ikt_mesh **mesh) {
    ikt_mesh *m = *mesh;
    if (!m) return;
    for (int way = 0; way < 2; way++) {
        if (m->row[way]) FFTW(destroy_plan)(m->row[way]);
        if (m->column[way]) FFTW(destroy_plan)(m->column[way]);
    }
    ikt_free(&m->table);
    ikt_free(&m->twiddle);
    ikt_free(mesh);
}

static ikt_status create(ikt_context *ctx, const int64_t padded[2], const ikt_influence *influence,
                         ikt_mesh **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "repulsion"));
    ikt_mesh *m = *out;
    memcpy(m->padded, padded, sizeof m->padded);
    m->batches = batches_of(padded);
    m->half = padded[1] / 2;
    m->stride = stride_of(padded);
    m->table_count = 2 * round_up(m->half / 2 + 1, ALIGNED);
    ikt_status st =
        ikt_alloc(ctx, &m->table, m->batches * COLUMNS * m->table_count, sizeof(REAL), "repulsion");
    if (st == IKT_OK) st = ikt_alloc(ctx, &m->twiddle, 2 * m->half, sizeof(REAL), "repulsion");
    if (st == IKT_OK) st = plan(ctx, m);
    if (st != IKT_OK) {
        destroy(out);
        return st;
    }
    pack_table(influence->table, m);
    fill_twiddles(m);
    return IKT_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static IKT_WIDEST_VECTORS void scale_charges(const int64_t *charge, int64_t count, double scale,
                                             REAL *row) {
    for (int64_t c = 0; c < count; c++)
        row[c] = (REAL)(scale * (double)charge[c]);
}

/* ROWS rows of integer charges to rows of REAL, zero where there are no nodes. */
static void load_rows(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                      int64_t first, REAL *rows) {
    const double scale = 1 / charges->unit;
    for (int64_t r = first; r < first + ROWS; r++) {
        const int64_t *charge = charges->charge + r * charges->stride;
        REAL *row = rows + (r - first) * m->stride;
        int64_t count = r < grid->nodes[1] ? grid->nodes[0] : 0;
        scale_charges(charge, count, scale, row);
        memset(row + count, 0, (size_t)(m->padded[0] - count) * sizeof *row);
    }
}

/* Copies ROWS rows of coefficients from one behind the other to batches of `rows` rows, or back. */
static void scatter_rows(const ikt_mesh *m, int64_t rows, int64_t first, const REAL *from,
                         REAL *field) {
    for (int64_t b = 0; b < m->batches; b++)
        for (int64_t r = 0; r < ROWS; r++)
            memcpy(field + (b * rows + first + r) * WIDTH, from + r * m->stride + b * WIDTH,
                   WIDTH * sizeof *field);
}

static void collect_rows(const ikt_mesh *m, int64_t rows, int64_t first, const REAL *field,
                         REAL *to) {
    for (int64_t b = 0; b < m->batches; b++)
        for (int64_t r = 0; r < ROWS; r++)
            memcpy(to + r * m->stride + b * WIDTH, field + (b * rows + first + r) * WIDTH,
                   WIDTH * sizeof *field);
}

static void forward_rows(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                         int64_t first, REAL *field, REAL *buffer) {
    REAL *coefficients = buffer + ROWS * m->stride;
    load_rows(m, grid, charges, first, buffer);
    FFTW(execute_dft_r2c)(m->row[0], buffer, (fourier *)(void *)coefficients);
    scatter_rows(m, round_up(grid->nodes[1], ROWS), first, coefficients, field);
}

static void inverse_rows(const ikt_mesh *m, const ikt_grid *grid, int64_t first,
                         const ikt_mesh_space *space, REAL *buffer) {
    REAL *rows = buffer + ROWS * m->stride, *out = space->potential;
    collect_rows(m, round_up(grid->nodes[1], ROWS), first, space->field, buffer);
    FFTW(execute_dft_c2r)(m->row[1], (fourier *)(void *)buffer, rows);
    for (int64_t r = 0; r < ROWS && first + r < grid->nodes[1]; r++)
        memcpy(out + (first + r) * space->potential_stride, rows + r * m->stride,
               (size_t)space->potential_stride * sizeof *out);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Rows of COLUMNS coefficients to columns of `half` coefficients, and back. */
static void split_columns(const REAL *block, int64_t rows, int64_t half, REAL *columns) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < COLUMNS; c++)
            memcpy(columns + 2 * (c * half + r), block + r * WIDTH + 2 * c, sizeof(fourier));
    for (int64_t c = 0; c < COLUMNS; c++)
        memset(columns + 2 * (c * half + rows), 0, (size_t)(half - rows) * sizeof(fourier));
}

static void join_columns(const REAL *columns, int64_t rows, int64_t half, REAL *block) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < COLUMNS; c++)
            memcpy(block + r * WIDTH + 2 * c, columns + 2 * (c * half + r), sizeof(fourier));
}

/* out = column times twiddle, zero from `rows` on. */
static IKT_WIDEST_VECTORS void twist(const REAL *column, const REAL *twiddle, int64_t rows,
                                     int64_t half, REAL *out) {
    for (int64_t j = 0; j < rows; j++) {
        const REAL re = column[2 * j], im = column[2 * j + 1];
        const REAL c = twiddle[2 * j], s = twiddle[2 * j + 1];
        out[2 * j] = re * c - im * s;
        out[2 * j + 1] = re * s + im * c;
    }
    memset(out + 2 * rows, 0, (size_t)(2 * (half - rows)) * sizeof *out);
}

/* column += odd times conjugate of twiddle, up to `rows`. */
static IKT_WIDEST_VECTORS void untwist(const REAL *odd, const REAL *twiddle, int64_t rows,
                                       REAL *column) {
    for (int64_t j = 0; j < rows; j++) {
        const REAL re = odd[2 * j], im = odd[2 * j + 1];
        const REAL c = twiddle[2 * j], s = twiddle[2 * j + 1];
        column[2 * j] += re * c + im * s;
        column[2 * j + 1] += im * c - re * s;
    }
}

/* Waves k < up times table[k], the others, which mirror them, times table[sum - k]. */
static IKT_WIDEST_VECTORS void multiply(const REAL *table, int64_t up, int64_t half, int64_t sum,
                                        REAL *coefficients) {
    for (int64_t k = 0; k < up; k++) {
        coefficients[2 * k] *= table[k];
        coefficients[2 * k + 1] *= table[k];
    }
    for (int64_t k = up; k < half; k++) {
        coefficients[2 * k] *= table[sum - k];
        coefficients[2 * k + 1] *= table[sum - k];
    }
}

/* One column of which `rows` coefficients are not zero, convolved where it is. `work` has room for
 * three halves of a column. */
static void convolve_column(const ikt_mesh *m, const REAL *table, int64_t rows, REAL *column,
                            REAL *work) {
    const int64_t half = m->half;
    REAL *odd = work, *even_coefficients = work + 2 * half, *odd_coefficients = work + 4 * half;
    twist(column, m->twiddle, rows, half, odd);
    FFTW(execute_dft)
    (m->column[0], (fourier *)(void *)column, (fourier *)(void *)even_coefficients);
    FFTW(execute_dft)
    (m->column[0], (fourier *)(void *)odd, (fourier *)(void *)odd_coefficients);
    multiply(table, half / 2 + 1, half, half, even_coefficients);
    multiply(table + m->table_count / 2, half / 2, half, half - 1, odd_coefficients);
    FFTW(execute_dft)
    (m->column[1], (fourier *)(void *)even_coefficients, (fourier *)(void *)column);
    FFTW(execute_dft)
    (m->column[1], (fourier *)(void *)odd_coefficients, (fourier *)(void *)odd);
    untwist(odd, m->twiddle, rows, column);
}

static void convolve_batch(const ikt_mesh *m, int64_t batch, int64_t rows, REAL *field,
                           REAL *buffer) {
    REAL *block = field + batch * round_up(rows, ROWS) * WIDTH;
    REAL *work = buffer + COLUMNS * 2 * m->half;
    int64_t first = batch * COLUMNS, last = m->padded[0] / 2 + 1;
    if (last > first + COLUMNS) last = first + COLUMNS;
    split_columns(block, rows, m->half, buffer);
    for (int64_t c = first; c < last; c++)
        convolve_column(m, m->table + c * m->table_count, rows, buffer + (c - first) * 2 * m->half,
                        work);
    join_columns(buffer, rows, m->half, block);
}

/* --- all ranges ------------------------------------------------------------------------------- */

static ikt_mesh_shape shape(const ikt_mesh *m, const ikt_grid *grid) {
    return (ikt_mesh_shape){.groups = (grid->nodes[1] + ROWS - 1) / ROWS,
                            .group_rows = ROWS,
                            .batches = m->batches,
                            .width = WIDTH};
}

static REAL *own_buffer(const ikt_mesh *m, const ikt_mesh_space *space) {
    return (REAL *)space->buffers + omp_get_thread_num() * buffer_count(m->padded);
}

static void forward(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                    const ikt_mesh_space *space, int64_t first, int64_t end) {
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t g = first; g < end; g++)
        forward_rows(m, grid, charges, g * ROWS, space->field, own_buffer(m, space));
}

static void columns(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end) {
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t b = first; b < end; b++)
        convolve_batch(m, b, grid->nodes[1], space->field, own_buffer(m, space));
}

static void inverse(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end) {
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t g = first; g < end; g++)
        inverse_rows(m, grid, g * ROWS, space, own_buffer(m, space));
}
