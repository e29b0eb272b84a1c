/* Eigenpairs by ScaLAPACK. See eigen.h. */
#include "linalg/eigen.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "linalg/column_stats.h"
#include "linalg/cyclic.h"

/* --- prototypes of ScaLAPACK (see cyclic.c) --------------------------------------------------- */

/* All eigenvalues, ascending, and eigenvectors of a real symmetric matrix (divide and conquer). */
void pdsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *ia,
              const int *ja, const int *a_descriptor, double *values, double *z, const int *iz,
              const int *jz, const int *z_descriptor, double *work, const int *lwork, int *iwork,
              const int *liwork, int *info);

/* Cholesky factor U of a positive definite matrix, U^T U, in place. */
void pdpotrf_(const char *triangle, const int *n, double *a, const int *ia, const int *ja,
              const int *a_descriptor, int *info);

/* Of kind 1: U^-T A U^-1 in place of A, where b holds U. */
void pdsygst_(const int *kind, const char *triangle, const int *n, double *a, const int *ia,
              const int *ja, const int *a_descriptor, const double *b, const int *ib, const int *jb,
              const int *b_descriptor, double *scale, int *info);

/* Solves U X = B in place of B. */
void pdtrtrs_(const char *triangle, const char *transposed, const char *diagonal, const int *n,
              const int *columns, const double *a, const int *ia, const int *ja,
              const int *a_descriptor, double *b, const int *ib, const int *jb,
              const int *b_descriptor, int *info);

/* The same of a symmetric positive definite A, of which pdpotrf left the factor. */
void pdpotrs_(const char *triangle, const int *n, const int *columns, const double *a,
              const int *ia, const int *ja, const int *a_descriptor, double *b, const int *ib,
              const int *jb, const int *b_descriptor, int *info);

/* C = alpha A B + beta C, of which A or B may be transposed. */
void pdgemm_(const char *a_transposed, const char *b_transposed, const int *m, const int *n,
             const int *k, const double *alpha, const double *a, const int *ia, const int *ja,
             const int *a_descriptor, const double *b, const int *ib, const int *jb,
             const int *b_descriptor, const double *beta, double *c, const int *ic, const int *jc,
             const int *c_descriptor);

/* Weak: a BLAS that is neither OpenBLAS nor MKL has none of these. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void MKL_Set_Num_Threads(int threads) __attribute__((weak));
extern int MKL_Get_Max_Threads(void) __attribute__((weak));

static const char purpose[] = "eigenvectors";

int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max) {
    int rows, columns;
    ikt_cyclic_grid(d, ranks, alone_max, &rows, &columns);
    /* Matrix, eigenvectors, and twice as much for the solver's work; the own rows. */
    return (int64_t)(32.0 * (double)d * (double)d / rows / columns) + d * 8 * (d / ranks + 1) +
           2048 * d;
}

/* --- the solver ------------------------------------------------------------------------------- */

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

/* What the solver works with on one rank of the grid. */
typedef struct {
    double *a, *b, *z; /* parts of the matrices (b may be NULL) and of the eigenvectors */
    double *values;    /* [n] ascending */
    double *work;
    int *iwork;
    int lwork, liwork;
    ikt_arrays held;
} storage;

static void run_solver(const ikt_cyclic *l, const storage *s, int *info) {
    int one = 1;
    pdsyevd_("V", "U", &l->n, s->a, &one, &one, l->descriptor, s->values, s->z, &one, &one,
             l->descriptor, s->work, &s->lwork, s->iwork, &s->liwork, info);
}

/* COLLECTIVE over the grid. Asks the solver for the size of its work arrays and allocates all. */
static ikt_status allocate(ikt_context *ctx, const ikt_cyclic *l, bool is_general, storage *s) {
    double work_size[3] = {0};
    int iwork_size[3] = {0}, info = 0;
    const storage query = {.work = work_size, .iwork = iwork_size, .lwork = -1, .liwork = -1};
    s->held = ikt_arrays_of(ctx, purpose);
    if (l->row < 0) return IKT_OK;
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
    s->a = ikt_claim(&s->held, l->entries, sizeof *s->a);
    if (is_general) s->b = ikt_claim(&s->held, l->entries, sizeof *s->b);
    s->z = ikt_claim(&s->held, l->entries, sizeof *s->z);
    s->values = ikt_claim(&s->held, l->n, sizeof *s->values);
    s->work = ikt_claim(&s->held, s->lwork, sizeof *s->work);
    s->iwork = ikt_claim(&s->held, s->liwork, sizeof *s->iwork);
    return s->held.status;
}

/* COLLECTIVE over the grid. With b = U^T U, the pairs of A v = lambda B v are those of
 * U^-T A U^-1 w = lambda w with v = U^-1 w. */
static ikt_status solve(ikt_context *ctx, const ikt_cyclic *l, const storage *s) {
    const char *name = "pdsyevd";
    const int *d = l->descriptor;
    int info = 0, one = 1;
    double scale = 1;
    if (l->row < 0) return IKT_OK;
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

/* COLLECTIVE. Whether all pairs solve their equation, as ScaLAPACK has been seen to return wrong
 * ones with info 0. Each rank looks at its rows: the largest entry of |A v - lambda B v|, relative
 * to those of A and, times |lambda|, of B. The solver's vectors are normalised: zeros are wrong. */
static ikt_status check(ikt_context *ctx, const ikt_rows *rows, const double *a, const double *b,
                        int64_t k, const double *values, const double *vectors) {
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
    if (most[2] <= 1e-9 * (double)n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL,
                    "ScaLAPACK's eigenvectors of %lld columns are wrong (residual %.1e); try "
                    "another build of ScaLAPACK or BLAS",
                    (long long)n, most[2]);
}

/* COLLECTIVE. The solver's values are ascending; one rank shares them, the others add the integer
 * 0. */
static void share_values(ikt_context *ctx, const ikt_cyclic *l, const double *ascending, int64_t k,
                         bool last, double *values) {
    const bool is_first = l->row == 0 && l->column == 0;
    for (int64_t m = 0; m < k; m++)
        values[m] = is_first ? ascending[last ? l->n - 1 - m : m] : 0;
    ikt_sum_i64(ctx, (int64_t *)(void *)values, k);
}

static void storage_destroy(storage *s) {
    ikt_arrays_free(&s->held);
}

ikt_status ikt_eigen_selected(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, ikt_eigen_end end, int64_t alone_max,
                              double *values, double *vectors) {
    const int64_t n = rows->n;
    ikt_cyclic l IKT_AT_END(ikt_cyclic_destroy) = {0};
    storage s IKT_AT_END(storage_destroy) = {0};
    IKT_TRY(ikt_cyclic_create(ctx, n, alone_max, &l));
    IKT_TRY(ikt_agree(ctx, allocate(ctx, &l, b != NULL, &s)));
    IKT_TRY(ikt_cyclic_fill(ctx, &l, rows, a, s.a));
    if (b) IKT_TRY(ikt_cyclic_fill(ctx, &l, rows, b, s.b));
    IKT_TRY(ikt_agree(ctx, solve(ctx, &l, &s)));
    const bool last = end == IKT_EIGEN_LARGEST;
    share_values(ctx, &l, s.values, k, last, values);
    ikt_cyclic_gather(ctx, &l, s.z, k, last, vectors);
    IKT_TRY(check(ctx, rows, a, b, k, values, vectors));
    for (int64_t m = 0; m < k; m++) {
        double *vector = vectors + m * n;
        int64_t largest = 0;
        for (int64_t i = 1; i < n; i++)
            if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
        const bool is_turned = vector[largest] < 0;
        for (int64_t i = 0; i < n && is_turned; i++)
            vector[i] = -vector[i];
    }
    return IKT_OK;
}

ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors) {
    const ikt_rows rows = ikt_rows_make(d, ikt_size(ctx), ikt_rank(ctx));
    double *own IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_cyclic_check(ctx, d)); /* before anything of that size is allocated */
    IKT_TRY(ikt_alloc_all(ctx, &own, rows.count * d, sizeof *own, purpose));
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t j = 0; j < d; j++) {
            const int64_t row = rows.first + i, low = row < j ? row : j, high = row < j ? j : row;
            own[i * d + j] = upper[ikt_upper_index(d, low, high)];
        }
    return ikt_eigen_selected(ctx, &rows, own, NULL, k, IKT_EIGEN_LARGEST, alone_max, values,
                              vectors);
}

/* --- functions of a matrix -------------------------------------------------------------------- */

static double identity(const void *self, double value) {
    (void)self;
    return value;
}

/* COLLECTIVE. The own rows of V f(L) V^T; what was in s->a and s->b is lost. */
static ikt_status apply(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                        const storage *s, double (*f)(const void *self, double value),
                        const void *self, double *own) {
    const int one = 1, *d = l->descriptor;
    const double unit = 1, zero = 0;
    if (l->row >= 0) {
        for (int64_t column = 0; column < l->local_columns; column++) {
            const double factor = f(self, s->values[ikt_cyclic_column(l, column)]);
            for (int64_t row = 0; row < l->local_rows; row++)
                s->a[column * l->local_rows + row] = factor * s->z[column * l->local_rows + row];
        }
        const int threads = set_blas_threads(1);
        pdgemm_("N", "T", &l->n, &l->n, &l->n, &unit, s->a, &one, &one, d, s->z, &one, &one, d,
                &zero, s->b, &one, &one, d);
        set_blas_threads(threads);
    }
    return ikt_cyclic_return(ctx, l, rows, s->b, own);
}

ikt_status ikt_eigen_function(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              double (*f)(const void *self, double value), const void *self,
                              int64_t alone_max, double *values, double *own) {
    const int64_t n = rows->n, entries = rows->count * n;
    double most[2] = {0, 0}; /* entry of A; difference */
    ikt_cyclic l IKT_AT_END(ikt_cyclic_destroy) = {0};
    storage s IKT_AT_END(storage_destroy) = {0};
    IKT_TRY(ikt_cyclic_create(ctx, n, alone_max, &l));
    IKT_TRY(ikt_agree(ctx, allocate(ctx, &l, false, &s)));
    IKT_TRY(ikt_cyclic_fill(ctx, &l, rows, a, s.a));
    IKT_TRY(ikt_agree(ctx, solve(ctx, &l, &s)));
    s.b = ikt_claim(&s.held, l.entries, sizeof *s.b);
    IKT_TRY(ikt_arrays_agree(&s.held));
    share_values(ctx, &l, s.values, n, true, values);
    IKT_TRY(apply(ctx, &l, rows, &s, identity, NULL, own));
    for (int64_t e = 0; e < entries; e++) {
        most[0] = fmax(most[0], fabs(a[e]));
        most[1] = fmax(most[1], fabs(a[e] - own[e]));
    }
    ikt_max_f64(ctx, most, 2);
    if (!(most[1] <= 1e-9 * (double)n * most[0]))
        return ikt_fail(ctx, IKT_ERR_INTERNAL,
                        "ScaLAPACK's eigenvectors of %lld columns are wrong (difference %.1e); try "
                        "another build of ScaLAPACK or BLAS",
                        (long long)n, most[1]);
    return apply(ctx, &l, rows, &s, f, self, own);
}

/* --- positive definite systems ---------------------------------------------------------------- */

/* COLLECTIVE over the grid. */
static ikt_status factorise_and_solve(ikt_context *ctx, const ikt_cyclic *l,
                                      const ikt_cyclic *narrow, int columns, double *a, double *b,
                                      bool *is_definite) {
    const int one = 1;
    int info = 0;
    if (l->row < 0) return IKT_OK;
    const int threads = set_blas_threads(1);
    pdpotrf_("U", &l->n, a, &one, &one, l->descriptor, &info);
    *is_definite = info == 0;
    if (info == 0)
        pdpotrs_("U", &l->n, &columns, a, &one, &one, l->descriptor, b, &one, &one,
                 narrow->descriptor, &info);
    set_blas_threads(threads);
    if (info >= 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL, "Cholesky's factor of %d columns failed (info %d)", l->n,
                    info);
}

ikt_status ikt_cholesky_solve(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, int64_t alone_max, double *x,
                              bool *is_definite) {
    ikt_cyclic l IKT_AT_END(ikt_cyclic_destroy) = {0};
    *is_definite = true;
    IKT_TRY(ikt_cyclic_create(ctx, rows->n, alone_max, &l));
    const ikt_cyclic narrow = ikt_cyclic_narrow(&l, (int)k);
    IKT_ARRAYS(held, ctx, purpose);
    double *matrix = ikt_claim(&held, l.entries, sizeof *matrix);
    double *sides = ikt_claim(&held, narrow.entries, sizeof *sides);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_cyclic_fill(ctx, &l, rows, a, matrix));
    if (l.row >= 0) ikt_cyclic_scatter(&narrow, b, sides);
    IKT_TRY(
        ikt_agree(ctx, factorise_and_solve(ctx, &l, &narrow, (int)k, matrix, sides, is_definite)));
    *is_definite = ikt_max_one(ctx, !*is_definite) == 0;
    ikt_cyclic_gather(ctx, &narrow, sides, k, false, x);
    for (int64_t e = 0; !*is_definite && e < k * rows->n; e++)
        x[e] = 0;
    return IKT_OK;
}
