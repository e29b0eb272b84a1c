/* A square matrix dealt block-cyclically over a grid of ranks. See cyclic.h. */
#include "linalg/cyclic.h"

#include <limits.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/column_stats.h"

enum { BLOCK_MAX = 64, DESCRIPTOR = 9 };

static void grid_shape(int64_t n, int ranks, int64_t alone_max, int *rows, int *columns) {
    *rows = *columns = 1;
    if (n <= alone_max) return;
    while ((*rows + 1) * (*rows + 1) <= ranks)
        ++*rows;
    *columns = ranks / *rows;
}

/* Small enough that every process of the grid gets some blocks. */
static int block_size(int64_t n, int processes) {
    int64_t block = n / (2 * processes);
    if (processes == 1 || block > BLOCK_MAX) return BLOCK_MAX;
    return block < 1 ? 1 : (int)block;
}

double ikt_cyclic_share(int64_t n, int ranks, int64_t alone_max) {
    int rows, columns;
    grid_shape(n, ranks, alone_max, &rows, &columns);
    return (double)n * (double)n / rows / columns;
}

ikt_status ikt_cyclic_create(ikt_context *ctx, int64_t n, int64_t alone_max, ikt_cyclic *out) {
    char order[] = "Row";
    int zero = 0, info = 0;
    if (n > INT_MAX / BLOCK_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "eigenvectors of %lld columns exceed ScaLAPACK's 32-bit sizes; use fewer "
                        "columns",
                        (long long)n);
    *out = (ikt_cyclic){.n = (int)n, .row = -1, .column = -1};
    grid_shape(n, ikt_size(ctx), alone_max, &out->rows, &out->columns);
    out->block = block_size(n, out->rows > out->columns ? out->rows : out->columns);
    out->system = Csys2blacs_handle(ikt_comm(ctx));
    out->grid = out->system;
    Cblacs_gridinit(&out->grid, order, out->rows, out->columns);
    if (out->grid >= 0)
        Cblacs_gridinfo(out->grid, &out->rows, &out->columns, &out->row, &out->column);
    if (ikt_cyclic_has_part(out)) {
        out->local_rows = numroc_(&out->n, &out->block, &out->row, &zero, &out->rows);
        out->local_columns = numroc_(&out->n, &out->block, &out->column, &zero, &out->columns);
        int leading = out->local_rows > 1 ? out->local_rows : 1;
        descinit_(out->descriptor, &out->n, &out->n, &out->block, &out->block, &zero, &zero,
                  &out->grid, &leading, &info);
    }
    const ikt_status st =
        ikt_cyclic_entries(out) <= INT_MAX / 2
            ? IKT_OK
            : ikt_fail(ctx, IKT_ERR_RESOURCE,
                       "eigenvectors of %d columns exceed ScaLAPACK's 32-bit sizes on %d ranks; "
                       "use more ranks or fewer columns",
                       out->n, out->rows * out->columns);
    if (ikt_agree(ctx, st) == IKT_OK) return IKT_OK;
    ikt_cyclic_destroy(out);
    return IKT_ERR_RESOURCE;
}

void ikt_cyclic_destroy(ikt_cyclic *layout) {
    if (ikt_cyclic_has_part(layout)) Cblacs_gridexit(layout->grid);
    Cfree_blacs_system_handle(layout->system);
}

/* Global index of local index i along a dimension. */
static int64_t global_index(int64_t i, int block, int process, int processes) {
    return (i / block * processes + process) * block + i % block;
}

int64_t ikt_cyclic_entry(const ikt_cyclic *layout, int64_t row, int64_t column, int64_t *i,
                         int64_t *j) {
    *i = global_index(row, layout->block, layout->row, layout->rows);
    *j = global_index(column, layout->block, layout->column, layout->columns);
    return column * layout->local_rows + row;
}

void ikt_cyclic_fill(const ikt_cyclic *layout, const double *upper, double *part) {
    for (int64_t column = 0; column < layout->local_columns; column++)
        for (int64_t row = 0; row < layout->local_rows; row++) {
            int64_t i, j, at = ikt_cyclic_entry(layout, row, column, &i, &j);
            part[at] = i <= j ? upper[ikt_upper_index(layout->n, i, j)]
                              : upper[ikt_upper_index(layout->n, j, i)];
        }
}

/* COLLECTIVE. Copies the rows of `count` ranks from rank `first` on, which have `each` rows apiece.
 * To ScaLAPACK, a row of the symmetric matrix is a column: the ranks are a grid of one row whose
 * blocks of columns are the ranks' rows.
 *   everywhere   a grid of all ranks */
static void copy_ranks(const ikt_cyclic *layout, int everywhere, int first, int count, int64_t each,
                       int64_t first_row, const double *own, double *part, int *rank_list) {
    if (count == 0 || each == 0) return;
    int grid = layout->system, rows = 0, columns = 0, row = -1, column = -1;
    int one = 1, zero = 0, info = 0, n = layout->n, width = (int)each, all = width * count;
    int source[DESCRIPTOR] = {1, -1}, target[DESCRIPTOR] = {1, -1};
    int to = (int)first_row + 1;
    for (int r = 0; r < count; r++)
        rank_list[r] = first + r;
    Cblacs_gridmap(&grid, rank_list, 1, 1, count);
    if (grid >= 0) Cblacs_gridinfo(grid, &rows, &columns, &row, &column);
    if (row >= 0) descinit_(source, &n, &all, &n, &width, &zero, &zero, &grid, &n, &info);
    for (int e = 0; e < DESCRIPTOR && ikt_cyclic_has_part(layout); e++)
        target[e] = layout->descriptor[e];
    pdgemr2d_(&n, &all, own, &one, &one, source, part, &one, &to, target, &everywhere);
    if (row >= 0) Cblacs_gridexit(grid);
}

ikt_status ikt_cyclic_fill_rows(ikt_context *ctx, const ikt_cyclic *layout, const ikt_rows *rows,
                                const double *own, double *part) {
    const int ranks = ikt_size(ctx), larger = (int)(rows->n % ranks);
    const int64_t each = rows->n / ranks;
    char order[] = "Row";
    int everywhere = layout->system, *list = NULL;
    ikt_status st = ikt_alloc(ctx, &list, ranks, sizeof *list, "eigenvectors");
    if (st == IKT_OK && rows->count * rows->n > INT_MAX / 2)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "a matrix of %lld rows exceeds ScaLAPACK's 32-bit sizes on %d ranks; use "
                      "more ranks",
                      (long long)rows->n, ranks);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        /* The first ranks have a row more than the others (rows.h). */
        Cblacs_gridinit(&everywhere, order, 1, ranks);
        copy_ranks(layout, everywhere, 0, larger, each + 1, 0, own, part, list);
        copy_ranks(layout, everywhere, larger, ranks - larger, each, larger * (each + 1), own, part,
                   list);
        Cblacs_gridexit(everywhere);
    }
    ikt_free(&list);
    return st;
}
