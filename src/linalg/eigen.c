/* Eigenpairs by ScaLAPACK: the layout of matrices, apart from the solver. See eigen.h. */
#include "linalg/eigen.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/column_stats.h"

/* --- prototypes of BLACS and ScaLAPACK, which ship none for C -----------------------------------
 *
 * Integers are Fortran's default INTEGER (32 bits); callers check their sizes. Names carry the
 * underscore that all current Fortran compilers append. */

/* BLACS: a grid of processes on a communicator. Csys2blacs_handle to Cblacs_gridinit are called by
 * all ranks of the communicator; a rank outside the grid gets row -1 from Cblacs_gridinfo. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *grid, char *order, int rows, int columns);
void Cblacs_gridinfo(int grid, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int grid);

/* A grid of the ranks in `list` (column by column, `leading` apart), for all ranks of the
 * communicator to call; *grid is negative on those that are not in it. */
void Cblacs_gridmap(int *grid, int *list, int leading, int rows, int columns);

/* Rows (or columns) of a block-cyclic dimension that process `process` of `processes` holds. */
int numroc_(const int *n, const int *block, const int *process, const int *source,
            const int *processes);

/* Describes a block-cyclic matrix on a grid. */
void descinit_(int *descriptor, const int *m, const int *n, const int *row_block,
               const int *column_block, const int *row_source, const int *column_source,
               const int *grid, const int *leading, int *info);

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

/* Copies an m x n submatrix from one block-cyclic layout to another, whose grids may have different
 * processes; `everywhere` is a grid of all of both. Entry [1] of a descriptor is -1 on a process
 * that is not in its grid. */
void pdgemr2d_(const int *m, const int *n, const double *a, const int *ia, const int *ja,
               const int *a_descriptor, double *b, const int *ib, const int *jb,
               const int *b_descriptor, const int *everywhere);

/* Weak: a BLAS that is neither OpenBLAS nor MKL has none of these. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void MKL_Set_Num_Threads(int threads) __attribute__((weak));
extern int MKL_Get_Max_Threads(void) __attribute__((weak));

static const char purpose[] = "eigenvectors";

/* --- a square matrix dealt block-cyclically over a grid of ranks ------------------------------ */

enum { BLOCK_MAX = 64, DESCRIPTOR = 9 };

typedef struct {
    int system, grid;              /* BLACS handles */
    int rows, columns;             /* of the grid */
    int row, column;               /* this rank's place, -1 outside the grid */
    int n, block;                  /* columns of the matrix, and of a block */
    int local_rows, local_columns; /* of this rank's part; 0 outside the grid */
    int64_t entries;               /* of the part */
    int descriptor[DESCRIPTOR];    /* ScaLAPACK's */
} layout;

/* Matrices of at most `alone_max` columns are on rank 0 alone; larger ones are spread over a
 * near-square grid of all ranks, of which a few may be left out. */
static void grid_shape(int64_t n, int ranks, int64_t alone_max, int *rows, int *columns) {
    *rows = *columns = 1;
    if (n <= alone_max) return;
    while ((*rows + 1) * (*rows + 1) <= ranks)
        ++*rows;
    *columns = ranks / *rows;
}

static void layout_destroy(layout *l) {
    if (l->row >= 0) Cblacs_gridexit(l->grid);
    Cfree_blacs_system_handle(l->system);
}

static ikt_status check_count(ikt_context *ctx, int64_t n) {
    if (n <= INT_MAX / BLOCK_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "eigenvectors of %lld columns exceed ScaLAPACK's 32-bit sizes; use fewer "
                    "columns",
                    (long long)n);
}

/* COLLECTIVE. Makes the grid. Errors: IKT_ERR_RESOURCE (32-bit sizes); destroyed then. */
static ikt_status layout_create(ikt_context *ctx, int64_t n, int64_t alone_max, layout *out) {
    char order[] = "Row";
    int zero = 0, info = 0;
    IKT_TRY(check_count(ctx, n));
    *out = (layout){.n = (int)n, .block = BLOCK_MAX, .row = -1, .column = -1};
    grid_shape(n, ikt_size(ctx), alone_max, &out->rows, &out->columns);
    /* Blocks are small enough that every process of the grid gets some. */
    const int64_t block = n / (2 * (out->rows > out->columns ? out->rows : out->columns));
    if (out->rows * out->columns > 1 && block < BLOCK_MAX) out->block = block < 1 ? 1 : (int)block;
    out->system = Csys2blacs_handle(ikt_comm(ctx));
    out->grid = out->system;
    Cblacs_gridinit(&out->grid, order, out->rows, out->columns);
    if (out->grid >= 0)
        Cblacs_gridinfo(out->grid, &out->rows, &out->columns, &out->row, &out->column);
    if (out->row >= 0) {
        out->local_rows = numroc_(&out->n, &out->block, &out->row, &zero, &out->rows);
        out->local_columns = numroc_(&out->n, &out->block, &out->column, &zero, &out->columns);
        int leading = out->local_rows > 1 ? out->local_rows : 1;
        descinit_(out->descriptor, &out->n, &out->n, &out->block, &out->block, &zero, &zero,
                  &out->grid, &leading, &info);
    }
    out->entries = (int64_t)out->local_rows * out->local_columns;
    ikt_status st = IKT_OK;
    if (out->entries > INT_MAX / 2)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "eigenvectors of %d columns exceed ScaLAPACK's 32-bit sizes on %d ranks; "
                      "use more ranks or fewer columns",
                      out->n, out->rows * out->columns);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) layout_destroy(out);
    return st;
}

/* Global index of local index i along a dimension. */
static int64_t global_index(int64_t i, int block, int process, int processes) {
    return (i / block * processes + process) * block + i % block;
}

/* COLLECTIVE. Copies the rows of `count` ranks from rank `first` on, which have `each` rows apiece.
 * To ScaLAPACK, a row of the symmetric matrix is a column: the ranks are a grid of one row whose
 * blocks of columns are the ranks' rows.
 *   everywhere   a grid of all ranks */
static void copy_ranks(const layout *l, int everywhere, int first, int count, int64_t each,
                       int64_t first_row, const double *own, double *part, int *rank_list) {
    if (count == 0 || each == 0) return;
    int grid = l->system, rows = 0, columns = 0, row = -1, column = -1;
    int one = 1, zero = 0, info = 0, n = l->n, width = (int)each, all = width * count;
    int source[DESCRIPTOR] = {1, -1}, target[DESCRIPTOR] = {1, -1};
    int to = (int)first_row + 1;
    for (int r = 0; r < count; r++)
        rank_list[r] = first + r;
    Cblacs_gridmap(&grid, rank_list, 1, 1, count);
    if (grid >= 0) Cblacs_gridinfo(grid, &rows, &columns, &row, &column);
    if (row >= 0) descinit_(source, &n, &all, &n, &width, &zero, &zero, &grid, &n, &info);
    for (int e = 0; e < DESCRIPTOR && l->row >= 0; e++)
        target[e] = l->descriptor[e];
    pdgemr2d_(&n, &all, own, &one, &one, source, part, &one, &to, target, &everywhere);
    if (row >= 0) Cblacs_gridexit(grid);
}

/* COLLECTIVE. Fills the parts from a symmetric matrix that lies on the ranks by rows; no rank holds
 * more than its rows, own[rows->count * n], and its part. Errors: IKT_ERR_RESOURCE. */
static ikt_status fill(ikt_context *ctx, const layout *l, const ikt_rows *rows, const double *own,
                       double *part) {
    const int ranks = ikt_size(ctx), larger = (int)(rows->n % ranks);
    const int64_t each = rows->n / ranks;
    char order[] = "Row";
    int everywhere = l->system, *list = NULL;
    ikt_status st = ikt_alloc(ctx, &list, ranks, sizeof *list, purpose);
    if (st == IKT_OK && rows->count * rows->n > INT_MAX / 2)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "a matrix of %lld rows exceeds ScaLAPACK's 32-bit sizes on %d ranks; use "
                      "more ranks",
                      (long long)rows->n, ranks);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        /* The first ranks have a row more than the others (rows.h). */
        Cblacs_gridinit(&everywhere, order, 1, ranks);
        copy_ranks(l, everywhere, 0, larger, each + 1, 0, own, part, list);
        copy_ranks(l, everywhere, larger, ranks - larger, each, larger * (each + 1), own, part,
                   list);
        Cblacs_gridexit(everywhere);
    }
    ikt_free(&list);
    return st;
}

int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max) {
    int rows, columns;
    grid_shape(d, ranks, alone_max, &rows, &columns);
    /* Matrix, eigenvectors, and as much again for the solver's work; the own rows. */
    return (int64_t)(24.0 * (double)d * (double)d / rows / columns) + d * 8 * (d / ranks + 1) +
           1024 * d;
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
} storage;

static void run_solver(const layout *l, const storage *s, int *info) {
    int one = 1;
    pdsyevd_("V", "U", &l->n, s->a, &one, &one, l->descriptor, s->values, s->z, &one, &one,
             l->descriptor, s->work, &s->lwork, s->iwork, &s->liwork, info);
}

/* COLLECTIVE over the grid. Asks the solver for the size of its work arrays and allocates all. */
static ikt_status allocate(ikt_context *ctx, const layout *l, bool is_general, storage *s) {
    double work_size[3] = {0};
    int iwork_size[3] = {0}, info = 0;
    const storage query = {.work = work_size, .iwork = iwork_size, .lwork = -1, .liwork = -1};
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
    IKT_TRY(ikt_alloc(ctx, &s->a, l->entries, sizeof(double), purpose));
    if (is_general) IKT_TRY(ikt_alloc(ctx, &s->b, l->entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->z, l->entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->values, l->n, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->work, s->lwork, sizeof(double), purpose));
    return ikt_alloc(ctx, &s->iwork, s->liwork, sizeof(int), purpose);
}

/* COLLECTIVE over the grid. With b = U^T U, the pairs of A v = lambda B v are those of
 * U^-T A U^-1 w = lambda w with v = U^-1 w. */
static ikt_status solve(ikt_context *ctx, const layout *l, const storage *s) {
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

/* Column of z that holds pair m of the result: z is ascending. Its own inverse. */
static int64_t column_of(const layout *l, ikt_eigen_end end, int64_t m) {
    return end == IKT_EIGEN_LEAST ? m : l->n - 1 - m;
}

/* COLLECTIVE. One rank knows an entry of the result; the others add the integer 0 to its bits. */
static void collect(ikt_context *ctx, const layout *l, ikt_eigen_end end, int64_t k,
                    const storage *s, double *values, double *vectors) {
    const int64_t n = l->n;
    memset(values, 0, (size_t)k * sizeof *values);
    memset(vectors, 0, (size_t)(k * n) * sizeof *vectors);
    for (int64_t m = 0; m < k && l->row == 0 && l->column == 0; m++)
        values[m] = s->values[column_of(l, end, m)];
    for (int64_t column = 0; column < l->local_columns; column++)
        for (int64_t row = 0; row < l->local_rows; row++) {
            const int64_t i = global_index(row, l->block, l->row, l->rows);
            const int64_t j = global_index(column, l->block, l->column, l->columns);
            const int64_t m = column_of(l, end, j);
            if (m < k) vectors[m * n + i] = s->z[column * l->local_rows + row];
        }
    ikt_sum_i64(ctx, (int64_t *)(void *)values, k);
    ikt_sum_i64(ctx, (int64_t *)(void *)vectors, k * n);
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

ikt_status ikt_eigen_selected(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, ikt_eigen_end end, int64_t alone_max,
                              double *values, double *vectors) {
    const int64_t n = rows->n;
    layout l;
    storage s = {0};
    IKT_TRY(layout_create(ctx, n, alone_max, &l));
    ikt_status st = ikt_agree(ctx, allocate(ctx, &l, b != NULL, &s));
    if (st == IKT_OK) st = fill(ctx, &l, rows, a, s.a);
    if (st == IKT_OK && b) st = fill(ctx, &l, rows, b, s.b);
    if (st == IKT_OK) st = ikt_agree(ctx, solve(ctx, &l, &s));
    if (st == IKT_OK) {
        collect(ctx, &l, end, k, &s, values, vectors);
        st = check(ctx, rows, a, b, k, values, vectors);
    }
    for (int64_t m = 0; st == IKT_OK && m < k; m++) {
        double *vector = vectors + m * n;
        int64_t largest = 0;
        for (int64_t i = 1; i < n; i++)
            if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
        const bool is_turned = vector[largest] < 0;
        for (int64_t i = 0; i < n && is_turned; i++)
            vector[i] = -vector[i];
    }
    ikt_free(&s.a);
    ikt_free(&s.b);
    ikt_free(&s.z);
    ikt_free(&s.values);
    ikt_free(&s.work);
    ikt_free(&s.iwork);
    layout_destroy(&l);
    return st;
}

ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors) {
    const ikt_rows rows = ikt_rows_make(d, ikt_size(ctx), ikt_rank(ctx));
    double *own = NULL;
    IKT_TRY(check_count(ctx, d)); /* before anything of that size is allocated */
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &own, rows.count * d, sizeof *own, purpose)));
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t j = 0; j < d; j++) {
            const int64_t row = rows.first + i, low = row < j ? row : j, high = row < j ? j : row;
            own[i * d + j] = upper[ikt_upper_index(d, low, high)];
        }
    const ikt_status st =
        ikt_eigen_selected(ctx, &rows, own, NULL, k, IKT_EIGEN_LARGEST, alone_max, values, vectors);
    ikt_free(&own);
    return st;
}
