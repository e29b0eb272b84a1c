/* Body of mesh_f32.c and mesh_f64.c, part two: potential and gradient at the points, in REAL.
 *
 * Method: weights and slopes of a point are polynomials evaluated in all lanes at once; a row of
 * the window is one vector, to which the rows are contracted before the lanes are added. The
 * self-term of the grid, looked up by the place in the cell, is taken off.
 * The order of operations is written out in vectors of fixed width: the bits do not depend on what
 * the processor has. */

enum { PIECE = 256 /* points that a thread takes at a time */ };

typedef REAL quad __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL octet __attribute__((vector_size(8 * sizeof(REAL))));

/* Coefficients of the window in REAL. */
typedef struct {
    octet value[IKT_WINDOW_TERMS], slope[IKT_WINDOW_TERMS];
} coefficients;

static coefficients convert(const ikt_window *window) {
    coefficients c;
    for (int d = 0; d < IKT_WINDOW_TERMS; d++)
        for (int k = 0; k < IKT_WINDOW_LANES; k++) {
            c.value[d][k] = (REAL)window->value[d][k];
            c.slope[d][k] = (REAL)window->slope[d][k];
        }
    return c;
}

/* Adds mean and self-term, scales, and stores what was summed for point i. */
static inline __attribute__((always_inline)) void
store(const ikt_gather_job *job, int64_t i, const double u[2], REAL phi, REAL by_x, REAL by_y) {
    int x = (int)(u[0] * IKT_SELF_PLACES), y = (int)(u[1] * IKT_SELF_PLACES);
    x = x < IKT_SELF_PLACES ? x : IKT_SELF_PLACES - 1;
    y = y < IKT_SELF_PLACES ? y : IKT_SELF_PLACES - 1;
    x = x < 0 ? 0 : x;
    y = y < 0 ? 0 : y;
    const float *self = job->influence->self + 4 * (y * IKT_SELF_PLACES + x);
    REAL inverse = (REAL)job->grid->inverse;
    job->phi[i] = (double)phi + (job->everywhere - (double)self[0]);
    job->gradient[2 * i] = (float)(by_x * inverse - (REAL)self[1]);
    job->gradient[2 * i + 1] = (float)(by_y * inverse - (REAL)self[2]);
}

static inline __attribute__((always_inline)) void
gather_4(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    enum { TERMS = IKT_WINDOW_TERMS_4 };
    quad value[TERMS], slope[TERMS];
    for (int d = 0; d < TERMS; d++) {
        memcpy(&value[d], &c->value[d], sizeof value[d]);
        memcpy(&slope[d], &c->slope[d], sizeof slope[d]);
    }
    for (int64_t i = 0; i < job->count; i++) {
        double u[2];
        const REAL *corner = field + ikt_grid_cell(job->grid, 0, job->y[2 * i], &u[0]) +
                             ikt_grid_cell(job->grid, 1, job->y[2 * i + 1], &u[1]) * stride;
        REAL vx = (REAL)(u[0] - 0.5), vy = (REAL)(u[1] - 0.5);
        quad x = value[TERMS - 1], y = x, dx = slope[TERMS - 2], dy = dx;
        for (int d = TERMS - 2; d >= 0; d--) {
            x = x * vx + value[d];
            y = y * vy + value[d];
        }
        for (int d = TERMS - 3; d >= 0; d--) {
            dx = dx * vx + slope[d];
            dy = dy * vy + slope[d];
        }
        quad along = {0}, across = {0};
        for (int b = 0; b < 4; b++) {
            quad row;
            memcpy(&row, corner + b * stride, sizeof row);
            along += row * y[b];
            across += row * dy[b];
        }
        quad phi = along * x, by_x = along * dx, by_y = across * x;
        store(job, i, u, (phi[0] + phi[2]) + (phi[1] + phi[3]),
              (by_x[0] + by_x[2]) + (by_x[1] + by_x[3]), (by_y[0] + by_y[2]) + (by_y[1] + by_y[3]));
    }
}

static inline __attribute__((always_inline)) REAL add_lanes(const octet *v) {
    const octet a = *v; /* lanes 6 and 7 have no weight */
    return ((a[0] + a[4]) + a[2]) + ((a[1] + a[5]) + a[3]);
}

static inline __attribute__((always_inline)) void
gather_6(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    enum { TERMS = IKT_WINDOW_TERMS_6 };
    for (int64_t i = 0; i < job->count; i++) {
        double u[2];
        const REAL *corner = field + ikt_grid_cell(job->grid, 0, job->y[2 * i], &u[0]) +
                             ikt_grid_cell(job->grid, 1, job->y[2 * i + 1], &u[1]) * stride;
        REAL vx = (REAL)(u[0] - 0.5), vy = (REAL)(u[1] - 0.5);
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
        store(job, i, u, add_lanes(&phi), add_lanes(&by_x), add_lanes(&by_y));
    }
}

static inline __attribute__((always_inline)) void
gather_any(const ikt_gather_job *job, const coefficients *c, const REAL *field, int64_t stride) {
    if (job->window->order == 4)
        gather_4(job, c, field, stride);
    else
        gather_6(job, c, field, stride);
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

static void gather(const ikt_mesh *mesh, const ikt_mesh_space *space, const ikt_gather_job *job) {
    coefficients c = convert(job->window);
#pragma omp parallel for num_threads(space->threads) schedule(static)
    for (int64_t first = 0; first < job->count; first += PIECE) {
        ikt_gather_job piece = *job;
        piece.y += 2 * first;
        piece.phi += first;
        piece.gradient += 2 * first;
        piece.count = job->count - first < PIECE ? job->count - first : PIECE;
        gather_piece(job->isa, &piece, &c, space->field, mesh->stride);
    }
}

const ikt_mesh_ops MESH_OPS = {sizeof(REAL), create,  destroy, field_count, buffer_count,
                               shape,        forward, columns, inverse,     gather};
