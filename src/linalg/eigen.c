/* Leading eigenpairs by ScaLAPACK. See eigen.h. */
#include "linalg/eigen.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/blas_threads.h"
#include "linalg/covariance.h"
#include "linalg/scalapack.h"

enum { BLOCK_MAX = 64, DESCRIPTOR = 9 };

/* A square matrix of d columns, dealt block-cyclically over a grid. */
typedef struct {
    int system, grid;  /* BLACS handles */
    int rows, columns; /* of the grid */
    int row, column;   /* this rank's place, -1 outside the grid */
    int d, block;
    int local_rows, local_columns;
    int descriptor[DESCRIPTOR];
} layout;

typedef struct {
    double *a, *z, *values; /* local matrix, local eigenvectors, all eigenvalues */
    double *work;
    int *iwork;
    double *product; /* of matrix and vector, for the check */
} storage;

static void grid_shape(int64_t d, int ranks, int64_t alone_max, int *rows, int *columns) {
    *rows = *columns = 1;
    if (d <= alone_max) return;
    while ((*rows + 1) * (*rows + 1) <= ranks)
        ++*rows;
    *columns = ranks / *rows;
}

/* Small enough that every process of the grid gets some blocks. */
static int block_size(int64_t d, int processes) {
    int64_t block = d / (2 * processes);
    if (processes == 1 || block > BLOCK_MAX) return BLOCK_MAX;
    return block < 1 ? 1 : (int)block;
}

int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max) {
    int rows, columns;
    grid_shape(d, ranks, alone_max, &rows, &columns);
    /* Matrix, eigenvectors, and as much again for the solver's work. */
    return (int64_t)(24.0 * (double)d * (double)d / rows / columns) + 1024 * d;
}

/* COLLECTIVE. Makes the grid and this rank's part of the matrix. */
static layout layout_make(ikt_context *ctx, int64_t d, int64_t alone_max) {
    layout l = {.d = (int)d};
    char order[] = "Row";
    int zero = 0, info = 0;
    grid_shape(d, ikt_size(ctx), alone_max, &l.rows, &l.columns);
    l.block = block_size(d, l.rows > l.columns ? l.rows : l.columns);
    l.system = Csys2blacs_handle(ikt_comm(ctx));
    l.grid = l.system;
    Cblacs_gridinit(&l.grid, order, l.rows, l.columns);
    l.row = l.column = -1;
    if (l.grid >= 0) Cblacs_gridinfo(l.grid, &l.rows, &l.columns, &l.row, &l.column);
    if (l.row < 0) return l;
    l.local_rows = numroc_(&l.d, &l.block, &l.row, &zero, &l.rows);
    l.local_columns = numroc_(&l.d, &l.block, &l.column, &zero, &l.columns);
    int leading = l.local_rows > 1 ? l.local_rows : 1;
    descinit_(l.descriptor, &l.d, &l.d, &l.block, &l.block, &zero, &zero, &l.grid, &leading, &info);
    return l;
}

static void layout_free(layout *l) {
    if (l->row >= 0) Cblacs_gridexit(l->grid);
    Cfree_blacs_system_handle(l->system);
}

/* Global index of local index i along a dimension. */
static int64_t global_index(int64_t i, int block, int process, int processes) {
    return (i / block * processes + process) * block + i % block;
}

/* Place of a local entry; its global row and column go to *i and *j. */
static int64_t entry_at(const layout *l, int64_t row, int64_t column, int64_t *i, int64_t *j) {
    *i = global_index(row, l->block, l->row, l->rows);
    *j = global_index(column, l->block, l->column, l->columns);
    return column * l->local_rows + row;
}

static void fill(const layout *l, const double *upper, double *a) {
    for (int64_t column = 0; column < l->local_columns; column++) {
        for (int64_t row = 0; row < l->local_rows; row++) {
            int64_t i, j, at = entry_at(l, row, column, &i, &j);
            a[at] =
                i <= j ? upper[ikt_upper_index(l->d, i, j)] : upper[ikt_upper_index(l->d, j, i)];
        }
    }
}

static void solver(const layout *l, storage *s, int lwork, int liwork, int *info) {
    int one = 1;
    pdsyevd_("V", "U", &l->d, s->a, &one, &one, l->descriptor, s->values, s->z, &one, &one,
             l->descriptor, s->work, &lwork, s->iwork, &liwork, info);
}

static ikt_status allocate_matrices(ikt_context *ctx, const layout *l, storage *s) {
    const char *purpose = "eigenvectors";
    int64_t entries = (int64_t)l->local_rows * l->local_columns;
    IKT_TRY(ikt_alloc(ctx, &s->product, l->d, sizeof(double), purpose));
    if (l->row < 0) return IKT_OK;
    if (entries > INT_MAX / 2)
        return ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "eigenvectors of %d columns exceed ScaLAPACK's 32-bit sizes on %d ranks; use "
            "more ranks or fewer columns",
            l->d, l->rows * l->columns);
    IKT_TRY(ikt_alloc(ctx, &s->a, entries, sizeof(double), purpose));
    IKT_TRY(ikt_alloc(ctx, &s->z, entries, sizeof(double), purpose));
    return ikt_alloc(ctx, &s->values, l->d, sizeof(double), purpose);
}

/* COLLECTIVE over the grid. Asks the solver for the size of its work arrays and allocates them. */
static ikt_status allocate_work(ikt_context *ctx, const layout *l, storage *s, int *lwork,
                                int *liwork) {
    double work_size[3] = {0};
    int iwork_size[3] = {0}, info = 0;
    if (l->row < 0) return IKT_OK;
    storage query = {s->a, s->z, s->values, work_size, iwork_size, NULL};
    solver(l, &query, -1, -1, &info);
    /* The query asks too little for the sorting of eigenvectors (pdlasrt) and for the
     * back-transformation (pdormtr); the solver would go on with wrong vectors. */
    work_size[0] += ((double)l->local_rows + l->local_columns + 3 * l->block) * l->block;
    if (info != 0 || !(work_size[0] < INT_MAX))
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "ScaLAPACK cannot size its work for %d columns (pdsyevd: info %d)", l->d,
                        info);
    *lwork = (int)work_size[0];
    *liwork = iwork_size[0];
    IKT_TRY(ikt_alloc(ctx, &s->work, *lwork, sizeof(double), "eigenvectors"));
    return ikt_alloc(ctx, &s->iwork, *liwork, sizeof(int), "eigenvectors");
}

/* COLLECTIVE over the grid. */
static ikt_status solve(ikt_context *ctx, const layout *l, storage *s, int lwork, int liwork) {
    if (l->row < 0) return IKT_OK;
    int info = 0;
    int threads = ikt_blas_threads_set(1);
    solver(l, s, lwork, liwork, &info);
    ikt_blas_threads_set(threads);
    if (info == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL,
                    "the eigenvalue solver failed on %d columns (pdsyevd: info %d)", l->d, info);
}

/* Each entry of the result is known to one rank; the others add the integer zero to its bits. */
static void collect(ikt_context *ctx, const layout *l, int64_t k, const storage *s, double *values,
                    double *vectors) {
    memset(values, 0, (size_t)k * sizeof *values);
    memset(vectors, 0, (size_t)(k * l->d) * sizeof *vectors);
    if (l->row == 0 && l->column == 0)
        for (int64_t m = 0; m < k; m++)
            values[m] = s->values[l->d - 1 - m];
    for (int64_t column = 0; column < l->local_columns; column++) {
        for (int64_t row = 0; row < l->local_rows; row++) {
            int64_t i, m, at = entry_at(l, row, column, &i, &m);
            if (m >= l->d - k) vectors[(l->d - 1 - m) * l->d + i] = s->z[at];
        }
    }
    ikt_sum_i64(ctx, (int64_t *)(void *)values, k);
    ikt_sum_i64(ctx, (int64_t *)(void *)vectors, k * l->d);
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

/* ScaLAPACK has been seen to return wrong vectors with info 0, so the first and the last are tried
 * on their equation. Every rank holds the same numbers and comes to the same verdict. */
static ikt_status check(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                        const double *values, const double *vectors, double *product) {
    double worst = fmax(residual(upper, d, values[0], vectors, product),
                        residual(upper, d, values[k - 1], vectors + (k - 1) * d, product));
    if (worst <= 1e-9 * (double)d) return IKT_OK;
    return ikt_fail(
        ctx, IKT_ERR_INTERNAL,
        "ScaLAPACK's eigenvectors of %lld columns are wrong (residual %.1e); try another "
        "build of ScaLAPACK or BLAS",
        (long long)d, worst);
}

static void fix_sign(double *vector, int64_t d) {
    int64_t largest = 0;
    for (int64_t i = 1; i < d; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    if (vector[largest] >= 0) return;
    for (int64_t i = 0; i < d; i++)
        vector[i] = -vector[i];
}

ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors) {
    if (d > INT_MAX / BLOCK_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "eigenvectors of %lld columns exceed ScaLAPACK's 32-bit sizes; use fewer "
                        "columns",
                        (long long)d);
    layout l = layout_make(ctx, d, alone_max);
    storage s = {0};
    int lwork = 0, liwork = 0;
    ikt_status status;
    IKT_TRY_GOTO(status, done, ikt_agree(ctx, allocate_matrices(ctx, &l, &s)));
    IKT_TRY_GOTO(status, done, ikt_agree(ctx, allocate_work(ctx, &l, &s, &lwork, &liwork)));
    if (l.row >= 0) fill(&l, upper, s.a);
    IKT_TRY_GOTO(status, done, ikt_agree(ctx, solve(ctx, &l, &s, lwork, liwork)));
    collect(ctx, &l, k, &s, values, vectors);
    IKT_TRY_GOTO(status, done, check(ctx, upper, d, k, values, vectors, s.product));
    for (int64_t m = 0; m < k; m++)
        fix_sign(vectors + m * d, d);
done:
    ikt_free(&s.a);
    ikt_free(&s.z);
    ikt_free(&s.values);
    ikt_free(&s.work);
    ikt_free(&s.iwork);
    ikt_free(&s.product);
    layout_free(&l);
    return status;
}
