/* A matrix dealt block-cyclically. See cyclic.h. */
#include "linalg/cyclic.h"

#include <limits.h>
#include <mpi.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"

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

/* Copies an m x n submatrix from one block-cyclic layout to another, whose grids may have different
 * processes; `everywhere` is a grid of all of both. Entry [1] of a descriptor is -1 on a process
 * that is not in its grid. */
void pdgemr2d_(const int *m, const int *n, const double *a, const int *ia, const int *ja,
               const int *a_descriptor, double *b, const int *ib, const int *jb,
               const int *b_descriptor, const int *everywhere);

/* --- the layout ------------------------------------------------------------------------------ */

static const char purpose[] = "eigenvectors";

enum { BLOCK_MAX = 64, DESCRIPTOR = sizeof((ikt_cyclic *)0)->descriptor / sizeof(int) };

void ikt_cyclic_grid(int64_t n, int ranks, int64_t alone_max, int *rows, int *columns) {
    *rows = *columns = 1;
    if (n <= alone_max) return;
    while ((*rows + 1) * (*rows + 1) <= ranks)
        ++*rows;
    *columns = ranks / *rows;
}

void ikt_cyclic_destroy(ikt_cyclic *l) {
    if (l->n == 0) return; /* it was not made */
    if (l->row >= 0) Cblacs_gridexit(l->grid);
    Cfree_blacs_system_handle(l->system);
    l->n = 0;
}

ikt_status ikt_cyclic_check(ikt_context *ctx, int64_t n) {
    if (n <= INT_MAX / BLOCK_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "eigenvectors of %lld columns exceed ScaLAPACK's 32-bit sizes; use fewer "
                    "columns",
                    (long long)n);
}

ikt_status ikt_cyclic_create(ikt_context *ctx, int64_t n, int64_t alone_max, ikt_cyclic *out) {
    char order[] = "Row";
    int zero = 0, info = 0;
    IKT_TRY(ikt_cyclic_check(ctx, n));
    *out = (ikt_cyclic){.n = (int)n, .block = BLOCK_MAX, .row = -1, .column = -1};
    ikt_cyclic_grid(n, ikt_size(ctx), alone_max, &out->rows, &out->columns);
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
    if (st != IKT_OK) ikt_cyclic_destroy(out);
    return st;
}

/* COLLECTIVE. Copies the rows of `count` ranks from rank `first` on, which have `each` rows apiece.
 * To ScaLAPACK, a row of the symmetric matrix is a column: the ranks are a grid of one row whose
 * blocks of columns are the ranks' rows.
 *   everywhere   a grid of all ranks
 *   is_back      from the parts to the rows */
static void copy_ranks(const ikt_cyclic *l, int everywhere, int first, int count, int64_t each,
                       int64_t first_row, bool is_back, double *own, double *part, int *rank_list) {
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
    if (is_back)
        pdgemr2d_(&n, &all, part, &one, &to, target, own, &one, &one, source, &everywhere);
    else
        pdgemr2d_(&n, &all, own, &one, &one, source, part, &one, &to, target, &everywhere);
    if (row >= 0) Cblacs_gridexit(grid);
}

/* COLLECTIVE. Between the ranks' rows and the parts. */
static ikt_status copy_rows(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                            bool is_back, double *own, double *part) {
    const int ranks = ikt_size(ctx), larger = (int)(rows->n % ranks);
    const int64_t each = rows->n / ranks;
    char order[] = "Row";
    int everywhere = l->system, *list IKT_AT_END(ikt_free) = NULL;
    ikt_status st = ikt_alloc(ctx, &list, ranks, sizeof *list, purpose);
    if (st == IKT_OK && rows->count * rows->n > INT_MAX / 2)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "a matrix of %lld rows exceeds ScaLAPACK's 32-bit sizes on %d ranks; use "
                      "more ranks",
                      (long long)rows->n, ranks);
    IKT_TRY(ikt_agree(ctx, st));
    /* The first ranks have a row more than the others (rows.h). */
    Cblacs_gridinit(&everywhere, order, 1, ranks);
    copy_ranks(l, everywhere, 0, larger, each + 1, 0, is_back, own, part, list);
    copy_ranks(l, everywhere, larger, ranks - larger, each, larger * (each + 1), is_back, own, part,
               list);
    Cblacs_gridexit(everywhere);
    return IKT_OK;
}

ikt_status ikt_cyclic_fill(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                           const double *own, double *part) {
    return copy_rows(ctx, l, rows, false, (double *)(uintptr_t)own, part);
}

ikt_status ikt_cyclic_return(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                             const double *part, double *own) {
    return copy_rows(ctx, l, rows, true, own, (double *)(uintptr_t)part);
}

/* Global index of local index i along a dimension. */
static int64_t global_index(int64_t i, int block, int process, int processes) {
    return (i / block * processes + process) * block + i % block;
}

int64_t ikt_cyclic_column(const ikt_cyclic *l, int64_t column) {
    return global_index(column, l->block, l->column, l->columns);
}

ikt_cyclic ikt_cyclic_narrow(const ikt_cyclic *l, int k) {
    ikt_cyclic narrow = *l;
    int zero = 0, info = 0, leading = l->local_rows > 1 ? l->local_rows : 1;
    if (l->row < 0) return narrow;
    narrow.local_columns = numroc_(&k, &narrow.block, &narrow.column, &zero, &narrow.columns);
    narrow.entries = (int64_t)narrow.local_rows * narrow.local_columns;
    descinit_(narrow.descriptor, &narrow.n, &k, &narrow.block, &narrow.block, &zero, &zero,
              &narrow.grid, &leading, &info);
    return narrow;
}

void ikt_cyclic_scatter(const ikt_cyclic *l, const double *in, double *part) {
    for (int64_t column = 0; column < l->local_columns; column++)
        for (int64_t row = 0; row < l->local_rows; row++)
            part[column * l->local_rows + row] = in[ikt_cyclic_column(l, column) * l->n +
                                                    global_index(row, l->block, l->row, l->rows)];
}

/* One rank knows an entry; the others add the integer 0 to its bits. */
void ikt_cyclic_gather(ikt_context *ctx, const ikt_cyclic *l, const double *part, int64_t k,
                       bool last, double *out) {
    const int64_t n = l->n;
    memset(out, 0, (size_t)(k * n) * sizeof *out);
    for (int64_t column = 0; column < l->local_columns; column++) {
        const int64_t j = ikt_cyclic_column(l, column);
        const int64_t m = last ? n - 1 - j : j;
        for (int64_t row = 0; row < l->local_rows && m < k; row++)
            out[m * n + global_index(row, l->block, l->row, l->rows)] =
                part[column * l->local_rows + row];
    }
    ikt_sum_i64(ctx, (int64_t *)(void *)out, k * n);
}
