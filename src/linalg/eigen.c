/* Eigenpairs by ScaLAPACK: the solvers, whose matrices cyclic.h lays out. See eigen.h. */
#include "linalg/eigen.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/blas_threads.h"
#include "linalg/covariance.h"
#include "linalg/cyclic.h"
#include "linalg/scalapack.h"

static const char purpose[] = "eigenvectors";

/* What the solver works with on one rank of the grid. */
typedef struct {
    double *a, *b, *z; /* parts of the matrices (b may be NULL) and of the eigenvectors */
    double *values;    /* [n] ascending */
    double *work;
    int *iwork;
    int lwork, liwork;
    double *product; /* [n] matrix times vector, for the check */
} storage;

static void storage_free(storage *s) {
    ikt_free(&s->a);
    ikt_free(&s->b);
    ikt_free(&s->z);
    ikt_free(&s->values);
    ikt_free(&s->work);
    ikt_free(&s->iwork);
    ikt_free(&s->product);
}

int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max) {
    /* Matrix, eigenvectors, and as much again for the solver's work. */
    return (int64_t)(24.0 * ikt_cyclic_share(d, ranks, alone_max)) + 1024 * d;
}

/* --- the solver ------------------------------------------------------------------------------- */

static void solver(const ikt_cyclic *l, storage *s, int lwork, int liwork, int *info) {
    int one = 1;
    pdsyevd_("V", "U", &l->n, s->a, &one, &one, l->descriptor, s->values, s->z, &one, &one,
             l->descriptor, s->work, &lwork, s->iwork, &liwork, info);
}

/* LOCAL. The parts of the matrices and of the eigenvectors. */
static ikt_status allocate_matrices(ikt_context *ctx, const ikt_cyclic *l, bool is_general,
                                    storage *s) {
    const int64_t entries = ikt_cyclic_entries(l);
    IKT_TRY(ikt_alloc(ctx, &s->product, l->n, sizeof(double), purpose));
    if (!ikt_cyclic_has_part(l)) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &s->a, entries, sizeof(double), purpose));
    if (is_general) IKT_TRY(ikt_alloc(ctx, &s->b, entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->z, entries, sizeof(double), purpose));
    return ikt_alloc(ctx, &s->values, l->n, sizeof(double), purpose);
}

/* COLLECTIVE over the grid. Asks the solver for the size of its work arrays and allocates them. */
static ikt_status allocate_work(ikt_context *ctx, const ikt_cyclic *l, storage *s) {
    double work_size[3] = {0};
    int iwork_size[3] = {0}, info = 0;
    if (!ikt_cyclic_has_part(l)) return IKT_OK;
    storage query = {
        .a = s->a, .z = s->z, .values = s->values, .work = work_size, .iwork = iwork_size};
    solver(l, &query, -1, -1, &info);
    /* The query asks too little for the sorting of eigenvectors (pdlasrt) and for the
     * back-transformation (pdormtr); the solver would go on with wrong vectors. */
    work_size[0] += ((double)l->local_rows + l->local_columns + 3 * l->block) * l->block;
    if (info != 0 || !(work_size[0] < INT_MAX))
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "ScaLAPACK cannot size its work for %d columns (pdsyevd: info %d)", l->n,
                        info);
    s->lwork = (int)work_size[0];
    s->liwork = iwork_size[0];
    IKT_TRY(ikt_alloc(ctx, &s->work, s->lwork, sizeof(double), purpose));
    return ikt_alloc(ctx, &s->iwork, s->liwork, sizeof(int), purpose);
}

/* COLLECTIVE over the grid. With b = U^T U, the pairs of A v = lambda B v are those of
 * U^-T A U^-1 w = lambda w with v = U^-1 w. */
static ikt_status solve(ikt_context *ctx, const ikt_cyclic *l, storage *s) {
    if (!ikt_cyclic_has_part(l)) return IKT_OK;
    const char *name = "pdsyevd";
    const int *d = l->descriptor;
    int info = 0, one = 1;
    double scale = 1;
    const int threads = ikt_blas_threads_set(1);
    if (s->b) {
        pdpotrf_("U", &l->n, s->b, &one, &one, d, &info);
        if (info == 0)
            pdsygst_(&one, "U", &l->n, s->a, &one, &one, d, s->b, &one, &one, d, &scale, &info);
        if (info != 0) name = "pdpotrf or pdsygst: is the second matrix positive definite?";
    }
    if (info == 0) solver(l, s, s->lwork, s->liwork, &info);
    if (info == 0 && s->b)
        pdtrtrs_("U", "N", "N", &l->n, &l->n, s->b, &one, &one, d, s->z, &one, &one, d, &info);
    ikt_blas_threads_set(threads);
    if (info == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL,
                    "the eigenvalue solver failed on %d columns (%s: info %d)", l->n, name, info);
}

/* Column of z that holds pair m of the result: z is ascending. Its own inverse. */
static int64_t column_of(const ikt_cyclic *l, ikt_eigen_end end, int64_t m) {
    return end == IKT_EIGEN_LEAST ? m : l->n - 1 - m;
}

/* COLLECTIVE. Each entry of the result is known to one rank; the others add the integer zero to its
 * bits. */
static void collect(ikt_context *ctx, const ikt_cyclic *l, ikt_eigen_end end, int64_t k,
                    const storage *s, double *values, double *vectors) {
    const int64_t n = l->n;
    memset(values, 0, (size_t)k * sizeof *values);
    memset(vectors, 0, (size_t)(k * n) * sizeof *vectors);
    for (int64_t m = 0; m < k && l->row == 0 && l->column == 0; m++)
        values[m] = s->values[column_of(l, end, m)];
    for (int64_t column = 0; column < l->local_columns; column++)
        for (int64_t row = 0; row < l->local_rows; row++) {
            int64_t i, j, at = ikt_cyclic_entry(l, row, column, &i, &j);
            const int64_t m = column_of(l, end, j);
            if (m < k) vectors[m * n + i] = s->z[at];
        }
    ikt_sum_i64(ctx, (int64_t *)(void *)values, k);
    ikt_sum_i64(ctx, (int64_t *)(void *)vectors, k * n);
}

static void fix_sign(double *vector, int64_t d) {
    int64_t largest = 0;
    for (int64_t i = 1; i < d; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    if (vector[largest] >= 0) return;
    for (int64_t i = 0; i < d; i++)
        vector[i] = -vector[i];
}

static ikt_status refuse_wrong(ikt_context *ctx, int64_t n, double worst) {
    if (worst <= 1e-9 * (double)n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL,
                    "ScaLAPACK's eigenvectors of %lld columns are wrong (residual %.1e); try "
                    "another build of ScaLAPACK or BLAS",
                    (long long)n, worst);
}

/* --- the leading pairs of a matrix that every rank has ------------------------------------------
 */

/* Largest entry of |A v - lambda v| and of | |v|^2 - 1 |, relative to the matrix' largest. */
static double residual(const double *upper, int64_t d, double value, const double *v,
                       double *product) {
    double largest = 0, norm = 0, length = 0;
    memset(product, 0, (size_t)d * sizeof *product);
    for (int64_t i = 0; i < d; i++) {
        const double *row = upper + ikt_upper_index(d, i, i) - i; /* row[j] is entry (i, j) */
        product[i] += row[i] * v[i];
        for (int64_t j = i; j < d; j++)
            norm = fmax(norm, fabs(row[j]));
        for (int64_t j = i + 1; j < d; j++) {
            product[i] += row[j] * v[j];
            product[j] += row[j] * v[i];
        }
    }
    for (int64_t i = 0; i < d; i++) {
        largest = fmax(largest, fabs(product[i] - value * v[i]));
        length += v[i] * v[i];
    }
    return fmax(norm > 0 ? largest / norm : 0, fabs(length - 1));
}

/* COLLECTIVE. ScaLAPACK has been seen to return wrong vectors with info 0, so the first and the
 * last are tried on their equation. Every rank holds the same numbers and comes to the same
 * verdict. */
static ikt_status check(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                        const double *values, const double *vectors, double *product) {
    return refuse_wrong(ctx, d,
                        fmax(residual(upper, d, values[0], vectors, product),
                             residual(upper, d, values[k - 1], vectors + (k - 1) * d, product)));
}

ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors) {
    ikt_cyclic l;
    storage s = {0};
    IKT_TRY(ikt_cyclic_create(ctx, d, alone_max, &l));
    ikt_status status = ikt_agree(ctx, allocate_matrices(ctx, &l, false, &s));
    if (status == IKT_OK) status = ikt_agree(ctx, allocate_work(ctx, &l, &s));
    if (status == IKT_OK) {
        ikt_cyclic_fill(&l, upper, s.a);
        status = ikt_agree(ctx, solve(ctx, &l, &s));
    }
    if (status == IKT_OK) {
        collect(ctx, &l, IKT_EIGEN_LARGEST, k, &s, values, vectors);
        status = check(ctx, upper, d, k, values, vectors, s.product);
    }
    for (int64_t m = 0; status == IKT_OK && m < k; m++)
        fix_sign(vectors + m * d, d);
    storage_free(&s);
    ikt_cyclic_destroy(&l);
    return status;
}

/* --- selected pairs of a matrix that lies on the ranks by rows ----------------------------------
 */

/* COLLECTIVE. Whether all pairs solve their equation, each rank looking at its rows: the largest
 * entry of |A v - lambda B v|, relative to those of A and, times |lambda|, of B. Vectors are what
 * the solver normalised, so that a vector of zeros is told by its length. */
static ikt_status check_rows(ikt_context *ctx, const ikt_rows *rows, const double *a,
                             const double *b, int64_t k, const double *values,
                             const double *vectors) {
    const int64_t n = rows->n;
    double most[3] = {0, 0, 0}; /* entries of A and B; residual */
    for (int64_t e = 0; e < rows->count * n; e++) {
        most[0] = fmax(most[0], fabs(a[e]));
        if (b) most[1] = fmax(most[1], fabs(b[e]));
    }
    if (!b) most[1] = 1;
    ikt_max_f64(ctx, most, 2);
    for (int64_t m = 0; m < k; m++) {
        const double *v = vectors + m * n;
        double largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(v[i]));
        const double scale = (most[0] + fabs(values[m]) * most[1]) * largest;
        if (!(largest > 0)) most[2] = INFINITY;
        for (int64_t i = 0; i < rows->count && scale > 0; i++) {
            double left = 0, right = b ? 0 : v[rows->first + i];
            for (int64_t j = 0; j < n; j++) {
                left += a[i * n + j] * v[j];
                if (b) right += b[i * n + j] * v[j];
            }
            most[2] = fmax(most[2], fabs(left - values[m] * right) / scale);
        }
    }
    ikt_max_f64(ctx, most + 2, 1);
    return refuse_wrong(ctx, n, most[2]);
}

ikt_status ikt_eigen_selected(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, ikt_eigen_end end, int64_t alone_max,
                              double *values, double *vectors) {
    ikt_cyclic l;
    storage s = {0};
    IKT_TRY(ikt_cyclic_create(ctx, rows->n, alone_max, &l));
    ikt_status status = ikt_agree(ctx, allocate_matrices(ctx, &l, b != NULL, &s));
    if (status == IKT_OK) status = ikt_agree(ctx, allocate_work(ctx, &l, &s));
    if (status == IKT_OK) status = ikt_cyclic_fill_rows(ctx, &l, rows, a, s.a);
    if (status == IKT_OK && b) status = ikt_cyclic_fill_rows(ctx, &l, rows, b, s.b);
    if (status == IKT_OK) status = ikt_agree(ctx, solve(ctx, &l, &s));
    if (status == IKT_OK) {
        collect(ctx, &l, end, k, &s, values, vectors);
        status = check_rows(ctx, rows, a, b, k, values, vectors);
    }
    for (int64_t m = 0; status == IKT_OK && m < k; m++)
        fix_sign(vectors + m * rows->n, rows->n);
    storage_free(&s);
    ikt_cyclic_destroy(&l);
    return status;
}
