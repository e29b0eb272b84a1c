/* Body of mesh_f32.c and mesh_f64.c, part one: convolution by FFT, in REAL.
 *
 * Method: rows of charges become rows of REAL and are transformed in place, ROWS at a time; then
 * COLUMNS columns at a time go through forward transform, product and inverse transform in a buffer
 * of one thread; then the rows are transformed back. One-dimensional FFTW plans of fixed widths do
 * all of it, made by FFTW_ESTIMATE (measured plans would differ from run to run, and so would
 * bits). Advantage: a quarter of the padded grid is all that is ever stored, threads share nothing.
 * A rank may do any range of rows and of batches: slabs.h deals them out. */
#include "kernelsum/mesh.h"

#include <fftw3.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"

enum { ROWS = 4, COLUMNS = 4, ALIGNED = 16 /* numbers: rows and buffers begin on cache lines */ };

struct ikt_mesh {
    int64_t padded[2];
    int64_t batches;      /* of columns */
    int64_t stride;       /* numbers a row of the field */
    int64_t waves;        /* padded[1] / 2 + 1, rows of the table */
    REAL *table;          /* [batches][waves][COLUMNS] */
    FFTW(plan) row[2];    /* forward: ROWS rows, buffer to field; inverse: field to buffer */
    FFTW(plan) column[2]; /* forward, inverse: COLUMNS interleaved columns, buffer to buffer */
};

static int64_t batches_of(const int64_t padded[2]) {
    return (padded[0] / 2 + 1 + COLUMNS - 1) / COLUMNS;
}

static int64_t round_up(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

static int64_t stride_of(const int64_t padded[2]) {
    return round_up(batches_of(padded) * COLUMNS * 2, ALIGNED);
}

static int64_t field_count(const int64_t padded[2], int64_t rows) {
    return round_up(rows, ROWS) * stride_of(padded);
}

/* Numbers of one buffer: some columns, or some rows. */
static int64_t buffer_count(const int64_t padded[2]) {
    int64_t columns = padded[1] * COLUMNS * 2, rows = ROWS * stride_of(padded);
    return round_up(columns > rows ? columns : rows, ALIGNED);
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
static void make_plans(ikt_mesh *m, REAL *from, REAL *to) {
    int width = (int)m->padded[0], height = (int)m->padded[1];
    int stride = (int)m->stride, half = stride / 2;
    FFTW(complex) *from_waves = (FFTW(complex) *)(void *)from;
    FFTW(complex) *to_waves = (FFTW(complex) *)(void *)to;
    m->row[0] = FFTW(plan_many_dft_r2c)(1, &width, ROWS, from, &stride, 1, stride, to_waves, &half,
                                        1, half, FFTW_ESTIMATE);
    m->row[1] = FFTW(plan_many_dft_c2r)(1, &width, ROWS, from_waves, &half, 1, half, to, &stride, 1,
                                        stride, FFTW_ESTIMATE);
    for (int way = 0; way < 2; way++)
        m->column[way] =
            FFTW(plan_many_dft)(1, &height, COLUMNS, from_waves, NULL, COLUMNS, 1, to_waves, NULL,
                                COLUMNS, 1, way ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
}

static ikt_status plan(ikt_context *ctx, ikt_mesh *m) {
    REAL *buffers = NULL;
    IKT_TRY(ikt_alloc(ctx, &buffers, 2 * buffer_count(m->padded), sizeof(REAL), "repulsion"));
    make_plans(m, buffers, buffers + buffer_count(m->padded));
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
    ikt_free(mesh);
}

static ikt_status create(ikt_context *ctx, const int64_t padded[2], const ikt_influence *influence,
                         ikt_mesh **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "repulsion"));
    ikt_mesh *m = *out;
    memcpy(m->padded, padded, sizeof m->padded);
    m->batches = batches_of(padded);
    m->stride = stride_of(padded);
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
                      int64_t first, REAL *rows) {
    double scale = 1 / charges->unit;
    for (int64_t r = first; r < first + ROWS; r++) {
        const int64_t *charge = charges->charge + r * charges->stride;
        REAL *row = rows + (r - first) * m->stride;
        int64_t count = r < grid->nodes[1] ? grid->nodes[0] : 0;
        for (int64_t c = 0; c < count; c++)
            row[c] = (REAL)(scale * (double)charge[c]);
        memset(row + count, 0, (size_t)(m->padded[0] - count) * sizeof *row);
    }
}

static void forward_rows(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                         int64_t first, REAL *field, REAL *buffer) {
    load_rows(m, grid, charges, first, buffer);
    FFTW(execute_dft_r2c)(m->row[0], buffer, (FFTW(complex) *)(void *)(field + first * m->stride));
}

/* Nodes and the few columns beyond that the vectors of the last points reach into. */
static void inverse_rows(const ikt_mesh *m, int64_t count, int64_t first, REAL *field,
                         REAL *buffer) {
    REAL *rows = field + first * m->stride;
    FFTW(execute_dft_c2r)(m->row[1], (FFTW(complex) *)(void *)rows, buffer);
    for (int64_t r = 0; r < ROWS; r++)
        memcpy(rows + r * m->stride, buffer + r * m->stride, (size_t)count * sizeof *rows);
}

/* Both halves of the waves times their row of the table. */
static void multiply(const ikt_mesh *m, const REAL *table, REAL *waves) {
    enum { WIDTH = 2 * COLUMNS };
    for (int64_t r = 0; r < m->waves; r++) {
        REAL twice[WIDTH];
        for (int c = 0; c < WIDTH; c++)
            twice[c] = table[r * COLUMNS + c / 2];
        REAL *up = waves + r * WIDTH;
        for (int c = 0; c < WIDTH; c++)
            up[c] *= twice[c];
        if (r == 0 || r == m->waves - 1) continue;
        REAL *down = waves + (m->padded[1] - r) * WIDTH;
        for (int c = 0; c < WIDTH; c++)
            down[c] *= twice[c];
    }
}

/* One batch of columns, which begins at `corner`; its rows are `stride` numbers apart. */
static void convolve_columns(const ikt_mesh *m, int64_t batch, int64_t rows, REAL *corner,
                             int64_t stride, REAL *buffer) {
    enum { WIDTH = 2 * COLUMNS };
    REAL *waves = buffer + buffer_count(m->padded);
    for (int64_t r = 0; r < rows; r++)
        memcpy(buffer + r * WIDTH, corner + r * stride, WIDTH * sizeof *buffer);
    memset(buffer + rows * WIDTH, 0, (size_t)((m->padded[1] - rows) * WIDTH) * sizeof *buffer);
    FFTW(execute_dft)
    (m->column[0], (FFTW(complex) *)(void *)buffer, (FFTW(complex) *)(void *)waves);
    multiply(m, m->table + batch * m->waves * COLUMNS, waves);
    FFTW(execute_dft)
    (m->column[1], (FFTW(complex) *)(void *)waves, (FFTW(complex) *)(void *)buffer);
    for (int64_t r = 0; r < rows; r++)
        memcpy(corner + r * stride, buffer + r * WIDTH, WIDTH * sizeof *buffer);
}

static ikt_mesh_shape shape(const ikt_mesh *m, const ikt_grid *grid) {
    int64_t kept = grid->nodes[0] + IKT_WINDOW_LANES;
    return (ikt_mesh_shape){.groups = (grid->nodes[1] + ROWS - 1) / ROWS,
                            .group_rows = ROWS,
                            .batches = m->batches,
                            .width = 2 * COLUMNS,
                            .stride = m->stride,
                            .kept = kept < m->padded[0] ? kept : m->padded[0]};
}

static REAL *own_buffer(const ikt_mesh *m, const ikt_mesh_space *space) {
    return (REAL *)space->buffers + omp_get_thread_num() * 2 * buffer_count(m->padded);
}

static void forward(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                    const ikt_mesh_space *space, int64_t first, int64_t end) {
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t g = first; g < end; g++)
        forward_rows(m, grid, charges, g * ROWS, space->field, own_buffer(m, space));
}

static void columns(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end, void *field, int64_t stride) {
    enum { WIDTH = 2 * COLUMNS };
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t b = first; b < end; b++)
        convolve_columns(m, b, grid->nodes[1], (REAL *)field + (b - first) * WIDTH, stride,
                         own_buffer(m, space));
}

static void inverse(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end) {
    const int64_t kept = shape(m, grid).kept;
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t g = first; g < end; g++)
        inverse_rows(m, kept, g * ROWS, space->field, own_buffer(m, space));
}
