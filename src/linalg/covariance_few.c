/* Eigenpairs of a covariance by the products of its rows. See covariance_few.h. */
#include "linalg/covariance_few.h"

#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "dist/rows.h"
#include "linalg/dot_tile.h"
#include "linalg/eigen.h"

enum {
    LANES = IKT_TILE_COLUMNS,
    GROUP = IKT_TILE_ROWS,
    ROWS_MOST = 1024,      /* beyond it the products of the rows cost more than the iteration */
    COLUMNS_LEAST = 512,   /* below it the matrix of all columns is soon solved */
    VALUES_MOST = 1 << 25, /* that are held, of 8 bytes */
    CHUNK = 1024           /* columns of the components that a thread sums up */
};

static const char purpose[] = "principal components";

static int64_t panels_of(int64_t n) {
    return (n + LANES - 1) / LANES;
}

bool ikt_covariance_is_of_few(int64_t n, int64_t d) {
    return n <= ROWS_MOST && d > COLUMNS_LEAST && d >= 2 * n &&
           panels_of(n) * LANES * d <= VALUES_MOST;
}

/* Rows, in panels of LANES of them, which ranks share. */
typedef struct {
    ikt_context *ctx;
    int64_t n, d, padded;
    ikt_rows panels;
    int64_t *counts; /* [ranks] panels of each */
    double *z;       /* [padded * d] centred rows, and rows of zeros */
    int workers;     /* threads, of which each takes a panel at a time */
    double *packed;  /* [workers * d * LANES] the rows of a panel */
    double *own;     /* [own panels][padded][LANES] products of a panel's rows with all from its
                        first one on */
    double *all;     /* [panels][padded][LANES] */
    double *upper, *vectors, *values;
    ikt_arrays held;
} few_rows;

static ikt_status begin(few_rows *f, const ikt_row_reader *reader, int64_t k) {
    const int64_t n = f->n, d = f->d, panels = panels_of(n);
    f->held = ikt_arrays_of(f->ctx, purpose);
    f->padded = panels * LANES;
    f->panels = ikt_rows_make(panels, ikt_size(f->ctx), ikt_rank(f->ctx));
    f->workers = (int)ikt_smaller(ikt_threads(f->ctx), ikt_larger(f->panels.count, 1));
    f->counts = ikt_claim(&f->held, ikt_size(f->ctx), sizeof *f->counts);
    f->z = ikt_claim(&f->held, f->padded * d, sizeof *f->z);
    f->packed = ikt_claim(&f->held, f->workers * d * LANES, sizeof *f->packed);
    f->own = ikt_claim(&f->held, f->panels.count * f->padded * LANES, sizeof *f->own);
    f->all = ikt_claim(&f->held, panels * f->padded * LANES, sizeof *f->all);
    f->upper = ikt_claim(&f->held, ikt_upper_entries(n), sizeof *f->upper);
    f->vectors = ikt_claim(&f->held, k * n, sizeof *f->vectors);
    f->values = ikt_claim(&f->held, k, sizeof *f->values);
    IKT_TRY(ikt_arrays_agree(&f->held));
    for (int r = 0; r < f->panels.ranks; r++)
        f->counts[r] = ikt_rows_count(&f->panels, r);
    const int64_t some = ikt_stream_rows(d, (int64_t)sizeof *f->z);
    for (int64_t first = 0; first < n; first += some)
        IKT_TRY(reader->read(reader->self, first, ikt_smaller(some, n - first), f->z + first * d));
    return IKT_OK;
}

/* LOCAL. Centred, and times a power of two that brings them below 1, which is returned. */
static double centre(const few_rows *f, const ikt_column_stats *stats) {
    double widest = 0;
    int exponent = 0;
    for (int64_t c = 0; c < f->d; c++)
        widest =
            fmax(widest, fmax(stats->most[c] - stats->mean[c], stats->mean[c] - stats->least[c]));
    if (widest > 0) frexp(widest, &exponent);
    const double scale = ldexp(1, exponent < -1000 ? 1000 : -exponent);
#pragma omp parallel for num_threads(ikt_threads(f->ctx))
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t c = 0; c < f->d; c++)
            f->z[i * f->d + c] = (f->z[i * f->d + c] - stats->mean[c]) * scale;
    return scale;
}

/* LOCAL. The products of an own panel. */
static void multiply(const few_rows *f, int64_t at) {
    const int64_t d = f->d, first = (f->panels.first + at) * LANES;
    double *packed = f->packed + omp_get_thread_num() * d * LANES;
    double *to = f->own + at * f->padded * LANES;
    for (int64_t c = 0; c < d; c++)
        for (int64_t l = 0; l < LANES; l++)
            packed[c * LANES + l] = f->z[(first + l) * d + c];
    for (int64_t row = first; row < f->padded; row += GROUP)
        ikt_dot_tile(ikt_cpu_isa(), d, f->z + row * d, d, 1, packed, to + row * LANES);
}

/* COLLECTIVE. The upper triangle of all products, and its pairs. */
static ikt_status solve(few_rows *f, int64_t k) {
    const int64_t n = f->n, panel = f->padded * LANES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->workers)
    for (int64_t at = 0; at < f->panels.count; at++)
        multiply(f, at);
    ikt_allgather(f->ctx, f->own, f->panels.count, (size_t)panel * sizeof *f->own, f->all,
                  f->counts);
    for (int64_t i = 0, e = 0; i < n; i++)
        for (int64_t j = i; j < n; j++, e++)
            f->upper[e] = f->all[i / LANES * panel + j * LANES + i % LANES];
    return ikt_eigen_leading(f->ctx, f->upper, n, k, IKT_EIGEN_ALONE_MAX, f->values, f->vectors);
}

/* LOCAL. A component, of length 1, whose entry of largest magnitude, the first of equals, is
 * positive; what rounding leaves where the rows have no extent, which ikt_pca_fit takes out. */
static void write_component(const few_rows *f, const double *vector, double *component) {
    const int64_t d = f->d;
    double square = 0, largest = 0;
#pragma omp parallel for num_threads(ikt_threads(f->ctx))
    for (int64_t first = 0; first < d; first += CHUNK) {
        const int64_t end = ikt_smaller(first + CHUNK, d);
        for (int64_t c = first; c < end; c++)
            component[c] = 0;
        for (int64_t i = 0; i < f->n; i++)
            for (int64_t c = first; c < end; c++)
                component[c] = fma(vector[i], f->z[i * d + c], component[c]);
    }
    for (int64_t c = 0; c < d; c++) {
        square += component[c] * component[c];
        if (fabs(component[c]) > fabs(largest)) largest = component[c];
    }
    const double length = square > 0 ? copysign(sqrt(square), largest) : 1;
    for (int64_t c = 0; c < d; c++)
        component[c] /= length;
}

static void end(few_rows *f) {
    ikt_arrays_free(&f->held);
}

ikt_status ikt_covariance_of_few(ikt_context *ctx, const ikt_row_reader *reader,
                                 const ikt_column_stats *stats, int64_t k, double *variance,
                                 double *components) {
    few_rows f IKT_AT_END(end) = {.ctx = ctx, .n = reader->n, .d = reader->d};
    const int64_t found = ikt_smaller(k, f.n - 1);
    IKT_TRY(begin(&f, reader, found));
    const double scale = centre(&f, stats), others = (double)(f.n - 1);
    IKT_TRY(solve(&f, found));
    for (int64_t m = 0; m < found; m++) {
        variance[m] = f.values[m] / others / scale / scale;
        write_component(&f, f.vectors + m * f.n, components + m * f.d);
    }
    return IKT_OK;
}

int64_t ikt_covariance_few_bytes(int64_t n, int64_t d, int threads) {
    const int64_t padded = panels_of(n) * LANES, workers = ikt_smaller(threads, panels_of(n));
    const int64_t solved = ikt_eigen_bytes(n, 1, IKT_EIGEN_ALONE_MAX);
    return (int64_t)sizeof(double) *
               (padded * d + workers * d * LANES + 2 * padded * padded + 2 * n * n) +
           solved;
}
