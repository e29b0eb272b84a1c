/* Body of mesh_f32.c and mesh_f64.c: convolution by FFT, and potential and gradient at the points,
 * in REAL.
 *
 * Convolution. Method: two rows of charges become the real and imaginary parts of one complex row,
 * whose transform is taken apart into those of both; FFTW's transforms of real numbers take three
 * times as long. COLUMNS columns at a time, as wide as a cache line, go through forward transform,
 * product and inverse transform in a buffer of one thread; then the rows are transformed back. The
 * coefficients lie by batches of columns, all rows of a batch together, so that no pass strides
 * through memory. A column is half empty before and half unwanted after. So its even coefficients
 * are a transform of half the length, its odd coefficients are another, of the column times a
 * twiddle, and each is of one contiguous array in the first-level cache: a third of the time of
 * transforming interleaved columns of full length. All plans are one-dimensional and of fixed
 * widths, made by FFTW_ESTIMATE (measured plans would differ from run to run, and so would bits).
 * Advantage: a quarter of the padded grid is all that is ever stored, threads share nothing, and a
 * rank may do any range of rows and of batches: slabs.h deals them out.
 *
 * Gathering. Method: the cells of a piece of points are found first (grid.h). The weights and
 * slopes of a point along both axes are polynomials, evaluated in the lanes of two vectors; the
 * rows of its window are contracted to two vectors, and the lanes of four points are added
 * together. The self-term of the grid, looked up by the place in the cell, is taken off last. The
 * order of operations is written out in vectors of fixed width: the bits do not depend on what the
 * processor has. */
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

#define INLINE static inline __attribute__((always_inline))

struct ikt_mesh {
    int64_t padded[2];
    int64_t batches;     /* of columns */
    int64_t half;        /* padded[1] / 2 */
    int64_t table_count; /* numbers of the table for a column */
    /* [batches * COLUMNS][table_count]: even coefficients 0, 2 .. half, from table_count / 2 on odd
     * coefficients
     */
    REAL *table;
    /* [half / COLUMNS][4 * COLUMNS] exp(-2 pi i j / padded[1]): of COLUMNS coefficients each
     * cosine twice, then each sine less and more */
    REAL *twiddle;
    FFTW(plan) row[2];    /* two rows as a complex one: forward, inverse */
    FFTW(plan) column[2]; /* half a column: forward, inverse */
};

static int64_t batches_of(const int64_t padded[2]) {
    return (padded[0] / 2 + 1 + COLUMNS - 1) / COLUMNS;
}

static int64_t round_up(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

static int64_t field_count(const int64_t padded[2], int64_t rows) {
    return round_up(rows, ROWS) * batches_of(padded) * WIDTH;
}

/* Numbers of a complex row, and of one coefficient more. */
static int64_t joined_count(const int64_t padded[2]) {
    return round_up(2 * padded[0] + 2, ALIGNED);
}

/* Numbers of a thread's buffer: a complex row before and after its transform; or COLUMNS halves of
 * columns, and three more to work on one of them. */
static int64_t buffer_count(const int64_t padded[2]) {
    int64_t rows = 2 * joined_count(padded), columns = (COLUMNS + 3) * padded[1];
    return round_up(columns > rows ? columns : rows, ALIGNED);
}

/* --- making ----------------------------------------------------------------------------------- */

/* Plans are for arrays of the alignment that ikt_alloc gives, of which the two halves of a buffer
 * are examples; planning by FFTW_ESTIMATE does not touch them. */
static ikt_status plan(ikt_context *ctx, ikt_mesh *m) {
    const int lengths[] = {(int)m->padded[0], (int)m->half};
    const int64_t count = buffer_count(m->padded);
    REAL *from = NULL;
    IKT_TRY(ikt_alloc(ctx, &from, 2 * count, sizeof(REAL), "repulsion"));
    fourier *before = (fourier *)(void *)from, *after = (fourier *)(void *)(from + count);
    for (int way = 0; way < 2; way++) {
        const int sign = way ? FFTW_BACKWARD : FFTW_FORWARD;
        m->row[way] = FFTW(plan_dft_1d)(lengths[0], before, after, sign, FFTW_ESTIMATE);
        m->column[way] = FFTW(plan_dft_1d)(lengths[1], before, after, sign, FFTW_ESTIMATE);
    }
    ikt_free(&from);
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
    m->table_count = 2 * round_up(m->half / 2 + 1, ALIGNED);
    ikt_status st =
        ikt_alloc(ctx, &m->table, m->batches * COLUMNS * m->table_count, sizeof(REAL), "repulsion");
    if (st == IKT_OK) st = ikt_alloc(ctx, &m->twiddle, 4 * m->half, sizeof(REAL), "repulsion");
    if (st == IKT_OK) st = plan(ctx, m);
    if (st != IKT_OK) {
        destroy(out);
        return st;
    }
    const int64_t columns = m->padded[0] / 2 + 1;
    for (int64_t r = 0; r <= m->half; r++) {
        REAL *to = m->table + (r % 2) * (m->table_count / 2) + r / 2;
        for (int64_t c = 0; c < columns; c++)
            to[c * m->table_count] = (REAL)influence->table[r * columns + c];
    }
    const double step = -6.283185307179586 / (double)m->padded[1];
    for (int64_t j = 0; j < m->half; j++) {
        REAL *cosine = m->twiddle + 4 * (j - j % COLUMNS) + 2 * (j % COLUMNS),
             *sine = cosine + 2 * COLUMNS;
        cosine[0] = cosine[1] = (REAL)cos(step * (double)j);
        sine[1] = (REAL)sin(step * (double)j);
        sine[0] = -sine[1];
    }
    return IKT_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* COLUMNS coefficients: those of a row in one batch, or neighbours in a column or a complex row. */
typedef REAL lanes __attribute__((vector_size(WIDTH * sizeof(REAL))));

#define REVERSE(v) __builtin_shufflevector(v, v, REVERSED)
#define SWAP(v)    __builtin_shufflevector(v, v, SWAPPED)

/* What makes coefficients their conjugates. */
INLINE void set_signs(lanes *signs) {
    for (int l = 0; l < WIDTH; l++)
        (*signs)[l] = (REAL)(l % 2 ? -1 : 1);
}

/* Two rows of charges, scaled, as real and imaginary parts; `b` may be NULL. */
static IKT_WIDEST_VECTORS void join_charges(const int64_t *a, const int64_t *b, int64_t count,
                                            double scale, REAL *joined) {
    for (int64_t c = 0; c < count; c++) {
        joined[2 * c] = (REAL)(scale * (double)a[c]);
        joined[2 * c + 1] = b ? (REAL)(scale * (double)b[c]) : 0;
    }
}

/* Coefficients Z of two joined rows of n numbers, with Z[n] = Z[0], become twice those of each,
 * A = Z[k] + conj Z[n - k] and B = (Z[k] - conj Z[n - k]) / i, in batches `apart` numbers apart.
 * Those beyond n / 2 in the last batch mean nothing. */
static IKT_WIDEST_VECTORS void part_coefficients(const REAL *joined, int64_t n, int64_t batches,
                                                 int64_t apart, REAL *a, REAL *b) {
    lanes signs;
    set_signs(&signs);
    for (int64_t k = 0; k < batches * COLUMNS; k += COLUMNS) {
        lanes z, mirror;
        memcpy(&z, joined + 2 * k, sizeof z);
        memcpy(&mirror, joined + 2 * (n - k - (COLUMNS - 1)), sizeof mirror);
        mirror = REVERSE(mirror) * signs;
        const lanes sum = z + mirror, difference = z - mirror, turned = SWAP(difference) * signs;
        memcpy(a + k / COLUMNS * apart, &sum, sizeof sum);
        memcpy(b + k / COLUMNS * apart, &turned, sizeof turned);
    }
}

/* The way back: Z[k] = A + i B and Z[n - k] = conj A + i conj B, for k up to n / 2. The imaginary
 * parts of the first and the last coefficient are nothing but rounding, and left out. */
static IKT_WIDEST_VECTORS void join_coefficients(const REAL *a, const REAL *b, int64_t n,
                                                 int64_t apart, REAL *joined) {
    lanes signs;
    set_signs(&signs);
    for (int64_t k = 0; k < n / 2; k += COLUMNS) {
        lanes one, other;
        memcpy(&one, a + k / COLUMNS * apart, sizeof one);
        memcpy(&other, b + k / COLUMNS * apart, sizeof other);
        other = SWAP(other);
        const lanes z = one - other * signs, mirror = one * signs + other;
        const lanes reversed = REVERSE(mirror);
        memcpy(joined + 2 * k, &z, sizeof z);
        memcpy(joined + 2 * (n - k - (COLUMNS - 1)), &reversed, sizeof reversed);
    }
    const int64_t last = n / 2 / COLUMNS * apart;
    joined[0] = a[0], joined[1] = b[0];
    joined[n] = a[last], joined[n + 1] = b[last];
}

/* Potentials of two joined rows; `b` may be NULL. */
static IKT_WIDEST_VECTORS void part_potentials(const REAL *joined, int64_t count, REAL *a,
                                               REAL *b) {
    for (int64_t c = 0; c < count; c++)
        a[c] = joined[2 * c];
    for (int64_t c = 0; b && c < count; c++)
        b[c] = joined[2 * c + 1];
}

/* --- columns ---------------------------------------------------------------------------------- */

/* value times cosine, and what of `sine` is to be added to it: with (re, im) the value of a pair of
 * lanes, (im, re) times (-s, s). Written with re and im apart, GCC 12 would fuse these products in
 * the widest vectors (see IKT_WIDEST_VECTORS). Half columns are a multiple of COLUMNS. */
INLINE void turn(const REAL *coefficients, const REAL *twiddle, lanes *by_cosine, lanes *by_sine) {
    lanes value, cosine, sine;
    memcpy(&value, coefficients, sizeof value);
    memcpy(&cosine, twiddle, sizeof cosine);
    memcpy(&sine, twiddle + WIDTH, sizeof sine);
    *by_cosine = value * cosine;
    *by_sine = SWAP(value) * sine;
}

/* out = column times twiddle, zero from `rows` on. */
static IKT_WIDEST_VECTORS void apply_twiddle(const REAL *column, const REAL *twiddle, int64_t rows,
                                             int64_t half, REAL *out) {
    for (int64_t j = 0; j < rows; j += COLUMNS) {
        lanes by_cosine, by_sine;
        turn(column + 2 * j, twiddle + 4 * j, &by_cosine, &by_sine);
        by_cosine += by_sine;
        memcpy(out + 2 * j, &by_cosine, sizeof by_cosine);
    }
    memset(out + 2 * rows, 0, (size_t)(2 * (half - rows)) * sizeof *out);
}

/* column += odd times conjugate of twiddle, up to `rows` at least. */
static IKT_WIDEST_VECTORS void remove_twiddle(const REAL *odd, const REAL *twiddle, int64_t rows,
                                              REAL *column) {
    for (int64_t j = 0; j < rows; j += COLUMNS) {
        lanes by_cosine, by_sine, sum;
        turn(odd + 2 * j, twiddle + 4 * j, &by_cosine, &by_sine);
        memcpy(&sum, column + 2 * j, sizeof sum);
        sum += by_cosine - by_sine;
        memcpy(column + 2 * j, &sum, sizeof sum);
    }
}

/* Coefficients k < up times table[k], the others, which mirror them, times table[sum - k]. */
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

/* One column of which `rows` coefficients are not zero, convolved where it is. `work` holds three
 * halves of a column. */
static void convolve_column(const ikt_mesh *m, const REAL *table, int64_t rows, REAL *column,
                            REAL *work) {
    const int64_t half = m->half;
    REAL *odd = work, *even_coefficients = work + 2 * half, *odd_coefficients = work + 4 * half;
    apply_twiddle(column, m->twiddle, rows, half, odd);
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
    remove_twiddle(odd, m->twiddle, rows, column);
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

/* ROWS rows of integer charges, zero where there are no nodes, become coefficients. Charges are
 * halved, since taking joined rows apart doubles. */
static void forward(const ikt_mesh *m, const ikt_grid *grid, const ikt_charges *charges,
                    const ikt_mesh_space *space, int64_t first, int64_t end) {
    const int64_t nodes = grid->nodes[1], count = grid->nodes[0], n = m->padded[0];
    const int64_t rows = round_up(nodes, ROWS), stride = charges->stride;
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t row = first * ROWS; row < end * ROWS; row += 2) {
        REAL *joined = own_buffer(m, space), *transformed = joined + joined_count(m->padded);
        const int64_t *charge = charges->charge + row * stride;
        const int64_t used = row < nodes ? count : 0;
        join_charges(charge, row + 1 < nodes ? charge + stride : NULL, used, 0.5 / charges->unit,
                     joined);
        memset(joined + 2 * used, 0, (size_t)(2 * (n - used)) * sizeof *joined);
        FFTW(execute_dft)
        (m->row[0], (fourier *)(void *)joined, (fourier *)(void *)transformed);
        memcpy(transformed + 2 * n, transformed, sizeof(fourier));
        REAL *to = (REAL *)space->field + row * WIDTH;
        part_coefficients(transformed, n, m->batches, rows * WIDTH, to, to + WIDTH);
    }
}

static void inverse(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end) {
    const int64_t nodes = grid->nodes[1], n = m->padded[0], stride = space->potential_stride;
    const int64_t rows = round_up(nodes, ROWS);
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t row = first * ROWS; row < end * ROWS; row += 2) {
        REAL *joined = own_buffer(m, space), *transformed = joined + joined_count(m->padded);
        const REAL *from = (const REAL *)space->field + row * WIDTH;
        REAL *potential = (REAL *)space->potential + row * stride;
        if (row >= nodes) continue;
        join_coefficients(from, from + WIDTH, n, rows * WIDTH, joined);
        FFTW(execute_dft)
        (m->row[1], (fourier *)(void *)joined, (fourier *)(void *)transformed);
        part_potentials(transformed, stride, potential,
                        row + 1 < nodes ? potential + stride : NULL);
    }
}

/* COLUMNS columns between a batch, where they lie interleaved, and contiguous ones of `half`
 * coefficients. */
static void copy_columns(int64_t rows, int64_t half, REAL *batch, REAL *column, bool to_batch) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < COLUMNS; c++) {
            REAL *in_batch = batch + r * WIDTH + 2 * c, *in_column = column + 2 * (c * half + r);
            memcpy(to_batch ? in_batch : in_column, to_batch ? in_column : in_batch,
                   sizeof(fourier));
        }
}

/* COLUMNS columns become contiguous, are convolved and go back. */
static void columns(const ikt_mesh *m, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end) {
    const int64_t rows = grid->nodes[1], last = m->padded[0] / 2 + 1;
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t b = first; b < end; b++) {
        REAL *batch = (REAL *)space->field + b * round_up(rows, ROWS) * WIDTH;
        REAL *column = own_buffer(m, space), *work = column + COLUMNS * 2 * m->half;
        copy_columns(rows, m->half, batch, column, false);
        for (int64_t c = 0; c < COLUMNS; c++) {
            REAL *at = column + 2 * c * m->half;
            memset(at + 2 * rows, 0, (size_t)(m->half - rows) * sizeof(fourier));
            if (b * COLUMNS + c < last)
                convolve_column(m, m->table + (b * COLUMNS + c) * m->table_count, rows, at, work);
        }
        copy_columns(rows, m->half, batch, column, true);
    }
}

/* --- gathering -------------------------------------------------------------------------------- */

typedef REAL quad __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL octet __attribute__((vector_size(8 * sizeof(REAL))));

/* Coefficients of the window in REAL: of order 4 four lanes for x and again for y; of order 6 six
 * lanes and two of zero, the same for both axes. */
typedef struct {
    octet value[IKT_WINDOW_TERMS_6], slope[IKT_WINDOW_TERMS_6];
} coefficients;

/* What the grid gives for a piece of points, before the self-term. */
typedef struct {
    REAL phi[IKT_PIECE], by_x[IKT_PIECE], by_y[IKT_PIECE];
} sums;

/* Sums over the window of one point of order 4, lane by lane: phi, by y; and by x. In vectors of
 * eight: GCC takes wider ones than the processor has apart number by number, through memory. */
INLINE void window_4(const octet *value, const octet *slope, REAL vx, REAL vy, const REAL *corner,
                     int64_t stride, octet *phi_y, quad *by_x) {
    const octet v = {vx, vx, vx, vx, vy, vy, vy, vy};
    octet w = value[IKT_WINDOW_TERMS_4 - 1], s = slope[IKT_WINDOW_TERMS_4 - 2];
    for (int d = IKT_WINDOW_TERMS_4 - 2; d >= 0; d--)
        w = w * v + value[d];
    for (int d = IKT_WINDOW_TERMS_4 - 3; d >= 0; d--)
        s = s * v + slope[d];
    /* rows times weights along y, and times slopes along y */
    const octet y = __builtin_shufflevector(w, s, 4, 5, 6, 7, 12, 13, 14, 15);
    octet row[4];
    for (int b = 0; b < 4; b++) {
        quad once;
        memcpy(&once, corner + b * stride, sizeof once);
        row[b] = __builtin_shufflevector(once, once, 0, 1, 2, 3, 0, 1, 2, 3);
    }
    octet sum = row[0] * __builtin_shufflevector(y, y, 0, 0, 0, 0, 4, 4, 4, 4);
    sum += row[1] * __builtin_shufflevector(y, y, 1, 1, 1, 1, 5, 5, 5, 5);
    sum += row[2] * __builtin_shufflevector(y, y, 2, 2, 2, 2, 6, 6, 6, 6);
    sum += row[3] * __builtin_shufflevector(y, y, 3, 3, 3, 3, 7, 7, 7, 7);
    *phi_y = sum * __builtin_shufflevector(w, w, 0, 1, 2, 3, 0, 1, 2, 3);
    *by_x =
        __builtin_shufflevector(sum, sum, 0, 1, 2, 3) * __builtin_shufflevector(s, s, 0, 1, 2, 3);
}

/* Adds the lanes of four vectors: (0 + 2) + (1 + 3) of each. */
INLINE void add_lanes_4(const quad *q, quad *sum) {
    quad first = __builtin_shufflevector(q[0], q[1], 0, 1, 4, 5) +
                 __builtin_shufflevector(q[0], q[1], 2, 3, 6, 7);
    quad second = __builtin_shufflevector(q[2], q[3], 0, 1, 4, 5) +
                  __builtin_shufflevector(q[2], q[3], 2, 3, 6, 7);
    *sum = __builtin_shufflevector(first, second, 0, 2, 4, 6) +
           __builtin_shufflevector(first, second, 1, 3, 5, 7);
}

/* The same of both halves of four vectors. */
INLINE void add_halves_4(const octet *q, octet *sum) {
    octet first = __builtin_shufflevector(q[0], q[1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(q[0], q[1], 2, 3, 10, 11, 6, 7, 14, 15);
    octet second = __builtin_shufflevector(q[2], q[3], 0, 1, 8, 9, 4, 5, 12, 13) +
                   __builtin_shufflevector(q[2], q[3], 2, 3, 10, 11, 6, 7, 14, 15);
    *sum = __builtin_shufflevector(first, second, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(first, second, 1, 3, 9, 11, 5, 7, 13, 15);
}

INLINE void gather_4(const ikt_places *at, int count, const coefficients *c, const REAL *field,
                     int64_t stride, sums *out) {
    octet value[IKT_WINDOW_TERMS_4], slope[IKT_WINDOW_TERMS_4];
    memcpy(value, c->value, sizeof value);
    memcpy(slope, c->slope, sizeof slope);
    for (int i = 0; i < count; i += IKT_PIECE_STEP) {
        octet phi_y[4], sum;
        quad by_x[4], sum_x;
        for (int p = 0; p < 4; p++)
            window_4(value, slope, (REAL)at->v[0][i + p], (REAL)at->v[1][i + p],
                     field + at->cell[1][i + p] * stride + at->cell[0][i + p], stride, &phi_y[p],
                     &by_x[p]);
        add_halves_4(phi_y, &sum);
        add_lanes_4(by_x, &sum_x);
        memcpy(out->phi + i, &sum, sizeof sum_x);
        memcpy(out->by_y + i, (REAL *)&sum + 4, sizeof sum_x);
        memcpy(out->by_x + i, &sum_x, sizeof sum_x);
    }
}

INLINE REAL add_lanes(const octet *v) {
    const octet a = *v; /* lanes 6 and 7 have no weight */
    return ((a[0] + a[4]) + a[2]) + ((a[1] + a[5]) + a[3]);
}

INLINE void gather_6(const ikt_places *at, int count, const coefficients *c, const REAL *field,
                     int64_t stride, sums *out) {
    enum { TERMS = IKT_WINDOW_TERMS_6 };
    for (int i = 0; i < count; i++) {
        const REAL *corner = field + at->cell[1][i] * stride + at->cell[0][i];
        const REAL vx = (REAL)at->v[0][i], vy = (REAL)at->v[1][i];
        octet x = c->value[TERMS - 1], y = x, dx = c->slope[TERMS - 2], dy = dx;
        for (int d = TERMS - 2; d >= 0; d--) {
            x = x * vx + c->value[d];
            y = y * vy + c->value[d];
        }
        for (int d = TERMS - 3; d >= 0; d--) {
            dx = dx * vx + c->slope[d];
            dy = dy * vy + c->slope[d];
        }
        octet along = {0}, across = {0};
        for (int b = 0; b < 6; b++) {
            octet row;
            memcpy(&row, corner + b * stride, sizeof row);
            along += row * y[b];
            across += row * dy[b];
        }
        octet phi = along * x, by_x = along * dx, by_y = across * x;
        out->phi[i] = add_lanes(&phi);
        out->by_x[i] = add_lanes(&by_x);
        out->by_y[i] = add_lanes(&by_y);
    }
}

/* Places of the points in the table of self-terms. */
INLINE void find_self(const ikt_places *at, int count, int32_t *self) {
    for (int i = 0; i < count; i++) {
        int32_t x = (int32_t)((at->v[0][i] + 0.5) * IKT_SELF_PLACES);
        int32_t y = (int32_t)((at->v[1][i] + 0.5) * IKT_SELF_PLACES);
        x = x < IKT_SELF_PLACES ? x : IKT_SELF_PLACES - 1;
        y = y < IKT_SELF_PLACES ? y : IKT_SELF_PLACES - 1;
        x = x < 0 ? 0 : x;
        y = y < 0 ? 0 : y;
        self[i] = y * IKT_SELF_PLACES + x;
    }
}

/* Adds mean and self-term, scales, and stores what was summed for the first `count` points.
 *   self   [count] places in the table of self-terms; NULL: the places are not points */
INLINE void store(const ikt_gather_job *job, int count, const double *amount, const int32_t *self,
                  const sums *found) {
    const REAL inverse = (REAL)job->grid->inverse;
    const double everywhere = job->everywhere;
    const float *table = job->self;
    double *phi = job->phi;
    float *gradient = job->gradient;
    for (int i = 0; i < count; i++) {
        if (!self) {
            phi[i] = (double)found->phi[i] + everywhere;
            gradient[2 * i] = (float)(found->by_x[i] * inverse);
            gradient[2 * i + 1] = (float)(found->by_y[i] * inverse);
            continue;
        }
        const double charge = amount ? amount[i] : 1;
        const float *own = table + 4 * self[i];
        phi[i] = (double)found->phi[i] + (everywhere - charge * (double)own[0]);
        gradient[2 * i] = (float)(found->by_x[i] * inverse - (REAL)charge * (REAL)own[1]);
        gradient[2 * i + 1] = (float)(found->by_y[i] * inverse - (REAL)charge * (REAL)own[2]);
    }
}

/* At most IKT_PIECE points. */
INLINE void gather_any(const ikt_gather_job *job, const coefficients *c, const REAL *field,
                       int64_t stride) {
    ikt_places at;
    sums found;
    int32_t self[IKT_PIECE];
    const int count = (int)job->count;
    ikt_places_find(job->grid, job->y, count, &at);
    if (job->window->order == 4)
        gather_4(&at, count, c, field, stride, &found);
    else
        gather_6(&at, count, c, field, stride, &found);
    if (!job->self) {
        store(job, count, NULL, NULL, &found);
        return;
    }
    find_self(&at, count, self);
    if (job->amount)
        store(job, count, job->amount, self, &found);
    else
        store(job, count, NULL, self, &found);
}

IKT_FOR_EACH_ISA(gather_piece, gather_any,
                 (const ikt_gather_job *job, const coefficients *c, const REAL *field,
                  int64_t stride),
                 (job, c, field, stride))

static void gather(const ikt_mesh_space *space, const ikt_gather_job *job) {
    const ikt_window *window = job->window;
    coefficients c;
    const int apart = window->order == 4 ? 4 : IKT_WINDOW_LANES;
    for (int d = 0; d < IKT_WINDOW_TERMS_6; d++)
        for (int k = 0; k < IKT_WINDOW_LANES; k++) {
            c.value[d][k] = (REAL)window->value[d][k % apart];
            c.slope[d][k] = (REAL)window->slope[d][k % apart];
        }
#pragma omp parallel for num_threads(space->threads) schedule(static)
    for (int64_t first = 0; first < job->count; first += IKT_PIECE) {
        double phi[IKT_PIECE]; /* where they are not wanted */
        float gradient[2 * IKT_PIECE];
        ikt_gather_job piece = *job;
        piece.y += 2 * first;
        if (job->amount) piece.amount += first;
        piece.phi = job->phi ? job->phi + first : phi;
        piece.gradient = job->gradient ? job->gradient + 2 * first : gradient;
        piece.count = job->count - first < IKT_PIECE ? job->count - first : IKT_PIECE;
        gather_piece(job->isa)(&piece, &c, space->potential, space->potential_stride);
    }
}

const ikt_mesh_ops MESH_OPS = {sizeof(REAL), create,  destroy, field_count, buffer_count,
                               shape,        forward, columns, inverse,     gather};
