/* Body of mesh_f32.c and mesh_f64.c, part one: convolution by FFT, in REAL.
 *
 * Method: rows of charges become rows of REAL and are transformed in place, ROWS at a time; then
 * COLUMNS columns at a time go through forward transform, product and inverse transform in a buffer
 * of one thread; then the rows are transformed back. One-dimensional FFTW plans of fixed widths do
 * all of it, made by FFTW_ESTIMATE (measured plans would differ from run to run, and so would
 * bits). Advantage: a quarter of the padded grid is all that is ever stored, threads share nothing.
 * Disadvantage: every rank transforms the whole grid; to share it, the columns would be dealt out
 * between the two passes over rows. */
#include "kernelsum/mesh.h"

#include <fftw3.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"

enum { ROWS = 8, COLUMNS = 8 };

struct ikt_mesh {
    int64_t padded[2];
    int64_t batches;      /* of columns */
    int64_t stride;       /* numbers a row of the field */
    int64_t waves;        /* padded[1] / 2 + 1, rows of the table */
    REAL *table;          /* [batches][waves][COLUMNS] */
    FFTW(plan) row[2];    /* forward, inverse: ROWS rows in place */
    FFTW(plan) column[2]; /* forward, inverse: COLUMNS interleaved columns in place */
};

static int64_t batches_of(const int64_t padded[2]) {
    return (padded[0] / 2 + 1 + COLUMNS - 1) / COLUMNS;
}

static int64_t field_count(const int64_t padded[2], int64_t rows) {
    return (rows + ROWS - 1) / ROWS * ROWS * batches_of(padded) * COLUMNS * 2;
}

static int64_t column_count(const int64_t padded[2], int threads) {
    return threads * padded[1] * COLUMNS * 2;
}

static void pack_table(const double *from, ikt_mesh *m) {
    int64_t columns = m->padded[0] / 2 + 1;
    for (int64_t b = 0; b < m->batches; b++)
        for (int64_t r = 0; r < m->waves; r++)
            for (int64_t c = 0; c < COLUMNS; c++) {
                int64_t column = b * COLUMNS + c;
                m->table[(b * m->waves + r) * COLUMNS + c] =
                    column < columns ? (REAL)from[r * columns + column] : 0;
            }
}

/* Plans are for arrays of the alignment that ikt_alloc gives, of which these two are examples;
 * planning by FFTW_ESTIMATE does not touch them. */
static void make_plans(ikt_mesh *m, REAL *rows, REAL *columns) {
    int width = (int)m->padded[0], height = (int)m->padded[1];
    int real_stride = (int)m->stride, wave_stride = (int)m->stride / 2;
    FFTW(complex) *waves = (FFTW(complex) *)(void *)rows;
    FFTW(complex) *column = (FFTW(complex) *)(void *)columns;
    m->row[0] = FFTW(plan_many_dft_r2c)(1, &width, ROWS, rows, &real_stride, 1, real_stride, waves,
                                        &wave_stride, 1, wave_stride, FFTW_ESTIMATE);
    m->row[1] = FFTW(plan_many_dft_c2r)(1, &width, ROWS, waves, &wave_stride, 1, wave_stride, rows,
                                        &real_stride, 1, real_stride, FFTW_ESTIMATE);
    for (int way = 0; way < 2; way++)
        m->column[way] =
            FFTW(plan_many_dft)(1, &height, COLUMNS, column, NULL, COLUMNS, 1, column, NULL,
                                COLUMNS, 1, way ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
}

static ikt_status plan(ikt_context *ctx, ikt_mesh *m) {
    REAL *rows = NULL, *columns = NULL;
    ikt_status st = ikt_alloc(ctx, &rows, ROWS * m->stride, sizeof(REAL), "repulsion");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &columns, column_count(m->padded, 1), sizeof(REAL), "repulsion");
    if (st == IKT_OK) {
        make_plans(m, rows, columns);
        if (!m->row[0] || !m->row[1] || !m->column[0] || !m->column[1])
            st = ikt_fail(ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a grid of %lld x %lld",
                          (long long)m->padded[1], (long long)m->padded[0]);
    }
    ikt_free(&rows);
    ikt_free(&columns);
    return st;
}

static void destroy(ikt_mesh **mesh) {
    ikt_mesh *m = *mesh;
    if (!m) return;
    for (int way = 0; way < 2; way++) {
        if (m->row[way]) FFTW(destroy_plan)(m->row[way]);
        if (m->column[way]) FFTW(destroy_plan)(m->column[way]);
    }
    ikt_free(&m->table);
    ikt_free(mesh);
}

static ikt_status create(ikt_context *ctx, const int64_t padded[2], const ikt_influence *influence,
                         ikt_mesh **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "repulsion"));
    ikt_mesh *m = *out;
    memcpy(m->padded, padded, sizeof m->padded);
    m->batches = batches_of(padded);
    m->stride = m->batches * COLUMNS * 2;
    m->waves = padded[1] / 2 + 1;
    ikt_status st =
        ikt_alloc(ctx, &m->table, m->batches * m->waves * COLUMNS, sizeof(REAL), "repulsion");
    if (st == IKT_OK) st = plan(ctx, m);
    if (st == IKT_OK)
        pack_table(influence->table, m);
    else
        destroy(out);
    return st;
}

/* ROWS rows of integer charges to rows of REAL, zero where there are no nodes. */
static void load_rows(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                      int64_t first, REAL *field) {
    double scale = 1 / charges->unit;
    memset(field, 0, (size_t)(ROWS * m->stride) * sizeof *field);
    for (int64_t r = first; r < first + ROWS && r < grid->nodes[1]; r++) {
        const int64_t *charge = charges->charge + r * charges->stride;
        REAL *row = field + (r - first) * m->stride;
        for (int64_t c = 0; c < grid->nodes[0]; c++)
            row[c] = (REAL)(scale * (double)charge[c]);
    }
}

/* Both halves of the waves times their row of the table. */
static void multiply(const ikt_mesh *m, const REAL *table, REAL *buffer) {
    for (int64_t r = 0; r < m->waves; r++) {
        REAL twice[2 * COLUMNS];
        for (int c = 0; c < 2 * COLUMNS; c++)
            twice[c] = table[r * COLUMNS + c / 2];
        REAL *up = buffer + r * 2 * COLUMNS;
        for (int c = 0; c < 2 * COLUMNS; c++)
            up[c] *= twice[c];
        if (r == 0 || r == m->waves - 1) continue;
        REAL *down = buffer + (m->padded[1] - r) * 2 * COLUMNS;
        for (int c = 0; c < 2 * COLUMNS; c++)
            down[c] *= twice[c];
    }
}

static void convolve_columns(const ikt_mesh *m, int64_t batch, int64_t rows, REAL *field,
                             REAL *buffer) {
    enum { WIDTH = 2 * COLUMNS };
    FFTW(complex) *waves = (FFTW(complex) *)(void *)buffer;
    REAL *corner = field + batch * WIDTH;
    for (int64_t r = 0; r < rows; r++)
        memcpy(buffer + r * WIDTH, corner + r * m->stride, WIDTH * sizeof *buffer);
    memset(buffer + rows * WIDTH, 0, (size_t)((m->padded[1] - rows) * WIDTH) * sizeof *buffer);
    FFTW(execute_dft)(m->column[0], waves, waves);
    multiply(m, m->table + batch * m->waves * COLUMNS, buffer);
    FFTW(execute_dft)(m->column[1], waves, waves);
    for (int64_t r = 0; r < rows; r++)
        memcpy(corner + r * m->stride, buffer + r * WIDTH, WIDTH * sizeof *buffer);
}

static void convolve(ikt_context *ctx, const ikt_mesh *m, const ikt_grid *grid,
                     const ikt_charges *charges, const ikt_mesh_space *space) {
    REAL *field = space->field;
    int64_t rows = grid->nodes[1];
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        REAL *buffer = (REAL *)space->columns + column_count(m->padded, omp_get_thread_num());
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r += ROWS) {
            load_rows(m, grid, charges, r, field + r * m->stride);
            FFTW(execute_dft_r2c)
            (m->row[0], field + r * m->stride, (FFTW(complex) *)(void *)(field + r * m->stride));
        }
#pragma omp for schedule(static)
        for (int64_t b = 0; b < m->batches; b++)
            convolve_columns(m, b, rows, field, buffer);
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r += ROWS)
            FFTW(execute_dft_c2r)
            (m->row[1], (FFTW(complex) *)(void *)(field + r * m->stride), field + r * m->stride);
    }
}
