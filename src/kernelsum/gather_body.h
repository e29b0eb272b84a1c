/* Body of mesh_f32.c and mesh_f64.c, part two: potential and gradient at the points, in REAL.
 *
 * Method: the cells of a piece of points are found first (places.h). The weights and slopes of a
 * point along both axes are polynomials, evaluated in the lanes of one vector; the rows of its
 * window are contracted to two vectors, and the lanes of four points are added together. The
 * self-term of the grid, looked up by the place in the cell, is taken off last.
 * The order of operations is written out in vectors of fixed width: the bits do not depend on what
 * the processor has. */
#include "kernelsum/places.h"

typedef REAL quad __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL octet __attribute__((vector_size(8 * sizeof(REAL))));
typedef REAL both __attribute__((vector_size(16 * sizeof(REAL))));

/* Coefficients of the window in REAL: of order 4 with the lanes value x, value y, slope x, slope y;
 * of order 6 with value and slope apart, lanes 6 and 7 zero, the same for both axes. */
typedef struct {
    both four[IKT_WINDOW_TERMS_4];
    octet value[IKT_WINDOW_TERMS_6], slope[IKT_WINDOW_TERMS_6];
} coefficients;

/* What the grid gives for a piece of points, before the self-term. */
typedef struct {
    REAL phi[IKT_PIECE], by_x[IKT_PIECE], by_y[IKT_PIECE];
} sums;

static coefficients convert(const ikt_window *window) {
    coefficients c;
    for (int d = 0; d < IKT_WINDOW_TERMS_4; d++)
        for (int k = 0; k < 16; k++)
            c.four[d][k] = (REAL)(k < 8 ? window->value[d][k % 4] : window->slope[d][k % 4]);
    for (int d = 0; d < IKT_WINDOW_TERMS_6; d++)
        for (int k = 0; k < IKT_WINDOW_LANES; k++) {
            c.value[d][k] = (REAL)window->value[d][k];
            c.slope[d][k] = (REAL)window->slope[d][k];
        }
    return c;
}

/* Sums over the window of one point of order 4, lane by lane: phi, by y; and by x. */
static inline __attribute__((always_inline)) void window_4(const both *c, REAL vx, REAL vy,
                                                           const REAL *corner, int64_t stride,
                                                           octet *phi_y, quad *by_x) {
    const both v = {vx, vx, vx, vx, vy, vy, vy, vy, vx, vx, vx, vx, vy, vy, vy, vy};
    both w = c[IKT_WINDOW_TERMS_4 - 1];
    for (int d = IKT_WINDOW_TERMS_4 - 2; d >= 0; d--)
        w = w * v + c[d];
    quad row[4];
    for (int b = 0; b < 4; b++)
        memcpy(&row[b], corner + b * stride, sizeof row[b]);
    /* rows times weights along y, and times slopes along y */
    octet sum = __builtin_shufflevector(row[0], row[0], 0, 1, 2, 3, 0, 1, 2, 3) *
                __builtin_shufflevector(w, w, 4, 4, 4, 4, 12, 12, 12, 12);
    sum += __builtin_shufflevector(row[1], row[1], 0, 1, 2, 3, 0, 1, 2, 3) *
           __builtin_shufflevector(w, w, 5, 5, 5, 5, 13, 13, 13, 13);
    sum += __builtin_shufflevector(row[2], row[2], 0, 1, 2, 3, 0, 1, 2, 3) *
           __builtin_shufflevector(w, w, 6, 6, 6, 6, 14, 14, 14, 14);
    sum += __builtin_shufflevector(row[3], row[3], 0, 1, 2, 3, 0, 1, 2, 3) *
           __builtin_shufflevector(w, w, 7, 7, 7, 7, 15, 15, 15, 15);
    *phi_y = sum * __builtin_shufflevector(w, w, 0, 1, 2, 3, 0, 1, 2, 3);
    *by_x =
        __builtin_shufflevector(sum, sum, 0, 1, 2, 3) * __builtin_shufflevector(w, w, 8, 9, 10, 11);
}

/* Adds the lanes of four vectors: (0 + 2) + (1 + 3) of each. */
static inline __attribute__((always_inline)) void add_lanes_4(const quad *q, quad *sum) {
    quad first = __builtin_shufflevector(q[0], q[1], 0, 1, 4, 5) +
                 __builtin_shufflevector(q[0], q[1], 2, 3, 6, 7);
    quad second = __builtin_shufflevector(q[2], q[3], 0, 1, 4, 5) +
                  __builtin_shufflevector(q[2], q[3], 2, 3, 6, 7);
    *sum = __builtin_shufflevector(first, second, 0, 2, 4, 6) +
           __builtin_shufflevector(first, second, 1, 3, 5, 7);
}

/* The same of both halves of four vectors. */
static inline __attribute__((always_inline)) void add_halves_4(const octet *q, octet *sum) {
    octet first = __builtin_shufflevector(q[0], q[1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(q[0], q[1], 2, 3, 10, 11, 6, 7, 14, 15);
    octet second = __builtin_shufflevector(q[2], q[3], 0, 1, 8, 9, 4, 5, 12, 13) +
                   __builtin_shufflevector(q[2], q[3], 2, 3, 10, 11, 6, 7, 14, 15);
    *sum = __builtin_shufflevector(first, second, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(first, second, 1, 3, 9, 11, 5, 7, 13, 15);
}

static inline __attribute__((always_inline)) void gather_4(const ikt_places *at, int count,
                                                           const both *coefficient,
                                                           const REAL *field, int64_t stride,
                                                           sums *out) {
    both c[IKT_WINDOW_TERMS_4];
    memcpy(c, coefficient, sizeof c);
    for (int i = 0; i < count; i += IKT_PIECE_STEP) {
        octet phi_y[4], sum;
        quad by_x[4], sum_x;
        for (int p = 0; p < 4; p++)
            window_4(c, (REAL)at->v[0][i + p], (REAL)at->v[1][i + p],
                     field + at->cell[1][i + p] * stride + at->cell[0][i + p], stride, &phi_y[p],
                     &by_x[p]);
        add_halves_4(phi_y, &sum);
        add_lanes_4(by_x, &sum_x);
        memcpy(out->phi + i, &sum, sizeof sum_x);
        memcpy(out->by_y + i, (REAL *)&sum + 4, sizeof sum_x);
        memcpy(out->by_x + i, &sum_x, sizeof sum_x);
    }
}

static inline __attribute__((always_inline)) REAL add_lanes(const octet *v) {
    const octet a = *v; /* lanes 6 and 7 have no weight */
    return ((a[0] + a[4]) + a[2]) + ((a[1] + a[5]) + a[3]);
}

static inline __attribute__((always_inline)) void gather_6(const ikt_places *at, int count,
                                                           const coefficients *c, const REAL *field,
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
static inline __attribute__((always_inline)) void find_self(const ikt_places *at, int count,
                                                            int32_t *self) {
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

/* Adds mean and self-term, scales, and stores what was summed for the first `count` points. */
static inline __attribute__((always_inline)) void store(const ikt_gather_job *job, int count,
                                                        const double *amount, const int32_t *self,
                                                        const sums *found) {
    const REAL inverse = (REAL)job->grid->inverse;
    const double everywhere = job->everywhere;
    const float *table = job->self;
    double *phi = job->phi;
    float *gradient = job->gradient;
    for (int i = 0; i < count; i++) {
        const double charge = amount ? amount[i] : 1;
        const float *own = table + 4 * self[i];
        phi[i] = (double)found->phi[i] + (everywhere - charge * (double)own[0]);
        gradient[2 * i] = (float)(found->by_x[i] * inverse - (REAL)charge * (REAL)own[1]);
        gradient[2 * i + 1] = (float)(found->by_y[i] * inverse - (REAL)charge * (REAL)own[2]);
    }
}

/* The same where the places are not points. */
static inline __attribute__((always_inline)) void store_targets(const ikt_gather_job *job,
                                                                int count, const sums *found) {
    const REAL inverse = (REAL)job->grid->inverse;
    for (int i = 0; i < count; i++) {
        job->phi[i] = (double)found->phi[i] + job->everywhere;
        job->gradient[2 * i] = (float)(found->by_x[i] * inverse);
        job->gradient[2 * i + 1] = (float)(found->by_y[i] * inverse);
    }
}

/* At most IKT_PIECE points. */
static inline __attribute__((always_inline)) void
gather_any(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    ikt_places at;
    sums found;
    int32_t self[IKT_PIECE];
    const int count = (int)job->count;
    ikt_places_find(job->grid, job->y, count, &at);
    if (job->window->order == 4)
        gather_4(&at, count, c->four, field, stride, &found);
    else
        gather_6(&at, count, c, field, stride, &found);
    if (!job->self) {
        store_targets(job, count, &found);
        return;
    }
    find_self(&at, count, self);
    if (job->amount)
        store(job, count, job->amount, self, &found);
    else
        store(job, count, NULL, self, &found);
}

static void gather_portable(const ikt_gather_job *job, const coefficients *c, const REAL *field,
                            int64_t stride) {
    gather_any(job, c, field, stride);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
gather_avx2(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    gather_any(job, c, field, stride);
}

__attribute__((target("avx512f,avx512dq,avx512vl"))) static void
gather_avx512(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    gather_any(job, c, field, stride);
}
#endif

static void gather_piece(ikt_isa isa, const ikt_gather_job *job, const coefficients *c,
                         const REAL *field, int64_t stride) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512)
        gather_avx512(job, c, field, stride);
    else if (isa == IKT_ISA_AVX2)
        gather_avx2(job, c, field, stride);
    else
#endif
        gather_portable(job, c, field, stride);
    (void)isa;
}

static void gather(const ikt_mesh_space *space, const ikt_gather_job *job) {
    coefficients c = convert(job->window);
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
        gather_piece(job->isa, &piece, &c, space->potential, space->potential_stride);
    }
}

const ikt_mesh_ops MESH_OPS = {sizeof(REAL), create,  destroy, field_count, buffer_count,
                               shape,        forward, columns, inverse,     gather};
