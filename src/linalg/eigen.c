/* Eigenpairs by ScaLAPACK: the solvers, whose matrices cyclic.h lays out. See eigen.h. */
#include "linalg/eigen.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/column_stats.h"
#include "linalg/cyclic.h"

static const char purpose[] = "eigenvectors";

/* Weak: a BLAS that is neither OpenBLAS nor MKL has none of these. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void MKL_Set_Num_Threads(int threads) __attribute__((weak));
extern int MKL_Get_Max_Threads(void) __attribute__((weak));

/* Sets the threads of the BLAS below ScaLAPACK and returns what it was (0 where that is unknown):
 * threaded BLAS routines split their sums by threads, so their bits depend on the machine. Of
 * another BLAS the user sets OMP_NUM_THREADS or that library's variable. */
static int set_blas_threads(int threads) {
    int before = 0;
    if (threads < 1) return before;
    if (openblas_set_num_threads && openblas_get_num_threads) {
        before = openblas_get_num_threads();
        openblas_set_num_threads(threads);
    }
    if (MKL_Set_Num_Threads && MKL_Get_Max_Threads) {
        before = MKL_Get_Max_Threads();
        MKL_Set_Num_Threads(threads);
    }
    return before;
}

int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max) {
    /* Matrix, eigenvectors, and as much again for the solver's work. */
    return (int64_t)(24.0 * ikt_cyclic_share(d, ranks, alone_max)) + 1024 * d;
}

/* --- the solver ------------------------------------------------------------------------------- */

/* The matrices: one that every rank has, or one or two that lie on the ranks by rows. */
typedef struct {
    int64_t n;
    const double *upper;  /* or NULL: */
    const ikt_rows *rows; /* of the own rows */
    const double *a, *b;  /* [rows->count * n], b may be NULL */
} problem;

/* What the solver works with on one rank of the grid. */
typedef struct {
    double *a, *b, *z; /* parts of the matrices (b may be NULL) and of the eigenvectors */
    double *values;    /* [n] ascending */
    double *work;
    int *iwork;
    int lwork, liwork;
} storage;

static void run_solver(const ikt_cyclic *l, const storage *s, int *info) {
    int one = 1;
    pdsyevd_("V", "U", &l->n, s->a, &one, &one, l->descriptor, s->values, s->z, &one, &one,
             l->descriptor, s->work, &s->lwork, s->iwork, &s->liwork, info);
}

/* COLLECTIVE over the grid. Asks the solver for the size of its work arrays and allocates all. */
static ikt_status allocate(ikt_context *ctx, const ikt_cyclic *l, bool is_general, storage *s) {
    const int64_t entries = ikt_cyclic_entries(l);
    double work_size[3] = {0};
    int iwork_size[3] = {0}, info = 0;
    const storage query = {.work = work_size, .iwork = iwork_size, .lwork = -1, .liwork = -1};
    if (!ikt_cyclic_has_part(l)) return IKT_OK;
    run_solver(l, &query, &info);
    /* The query asks too little for the sorting of eigenvectors (pdlasrt) and for the
     * back-transformation (pdormtr); the solver would go on with wrong vectors. */
    work_size[0] += ((double)l->local_rows + l->local_columns + 3 * l->block) * l->block;
    if (info != 0 || !(work_size[0] < INT_MAX))
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "ScaLAPACK cannot size its work for %d columns (pdsyevd: info %d)", l->n,
                        info);
    s->lwork = (int)work_size[0];
    s->liwork = iwork_size[0];
    IKT_TRY(ikt_alloc(ctx, &s->a, entries, sizeof(double), purpose));
    if (is_general) IKT_TRY(ikt_alloc(ctx, &s->b, entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->z, entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->values, l->n, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->work, s->lwork, sizeof(double), purpose));
    return ikt_alloc(ctx, &s->iwork, s->liwork, sizeof(int), purpose);
}

/* COLLECTIVE over the grid. With b = U^T U, the pairs of A v = lambda B v are those of
 * U^-T A U^-1 w = lambda w with v = U^-1 w. */
static ikt_status solve(ikt_context *ctx, const ikt_cyclic *l, const storage *s) {
    const char *name = "pdsyevd";
    const int *d = l->descriptor;
    int info = 0, one = 1;
    double scale = 1;
    if (!ikt_cyclic_has_part(l)) return IKT_OK;
    const int threads = set_blas_threads(1);
    if (s->b) {
        pdpotrf_("U", &l->n, s->b, &one, &one, d, &info);
        if (info == 0)
            pdsygst_(&one, "U", &l->n, s->a, &one, &one, d, s->b, &one, &one, d, &scale, &info);
        if (info != 0) name = "pdpotrf or pdsygst: is the second matrix positive definite?";
    }
    if (info == 0) run_solver(l, s, &info);
    if (info == 0 && s->b)
        pdtrtrs_("U", "N", "N", &l->n, &l->n, s->b, &one, &one, d, s->z, &one, &one, d, &info);
    set_blas_threads(threads);
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

/* COLLECTIVE. The pairs as the header says, not yet tried on their equation. */
static ikt_status find_pairs(ikt_context *ctx, const problem *p, int64_t k, ikt_eigen_end end,
                             int64_t alone_max, double *values, double *vectors) {
    ikt_cyclic l;
    storage s = {0};
    IKT_TRY(ikt_cyclic_create(ctx, p->n, alone_max, &l));
    ikt_status st = ikt_agree(ctx, allocate(ctx, &l, p->b != NULL, &s));
    if (st == IKT_OK && p->upper)
        ikt_cyclic_fill(&l, p->upper, s.a);
    else if (st == IKT_OK)
        st = ikt_cyclic_fill_rows(ctx, &l, p->rows, p->a, s.a);
    if (st == IKT_OK && p->b) st = ikt_cyclic_fill_rows(ctx, &l, p->rows, p->b, s.b);
    if (st == IKT_OK) st = ikt_agree(ctx, solve(ctx, &l, &s));
    if (st == IKT_OK) collect(ctx, &l, end, k, &s, values, vectors);
    for (int64_t m = 0; st == IKT_OK && m < k; m++)
        fix_sign(vectors + m * p->n, p->n);
    ikt_free(&s.a);
    ikt_free(&s.b);
    ikt_free(&s.z);
    ikt_free(&s.values);
    ikt_free(&s.work);
    ikt_free(&s.iwork);
    ikt_cyclic_destroy(&l);
    return st;
}

/* --- the check: ScaLAPACK has been seen to return wrong vectors with info 0 ------------------- */

static ikt_status refuse_wrong(ikt_context *ctx, int64_t n, double worst) {
    if (worst <= 1e-9 * (double)n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL,
                    "ScaLAPACK's eigenvectors of %lld columns are wrong (residual %.1e); try "
                    "another build of ScaLAPACK or BLAS",
                    (long long)n, worst);
}

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

/* The first and the last pair are tried. Every rank holds the same numbers and comes to the same
 * verdict. */
ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors) {
    const problem p = {.n = d, .upper = upper};
    double *product = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &product, d, sizeof *product, purpose)));
    ikt_status st = find_pairs(ctx, &p, k, IKT_EIGEN_LARGEST, alone_max, values, vectors);
    if (st == IKT_OK)
        st = refuse_wrong(ctx, d,
                          fmax(residual(upper, d, values[0], vectors, product),
                               residual(upper, d, values[k - 1], vectors + (k - 1) * d, product)));
    ikt_free(&product);
    return st;
}

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
    const problem p = {.n = rows->n, .rows = rows, .a = a, .b = b};
    IKT_TRY(find_pairs(ctx, &p, k, end, alone_max, values, vectors));
    return check_rows(ctx, rows, a, b, k, values, vectors);
}
