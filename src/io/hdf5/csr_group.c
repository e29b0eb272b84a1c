/* Sparse matrices in groups of HDF5 files. See csr_group.h.
 *
 * Columns of more than 32 bits are read as 64-bit numbers, into the place of the values, which come
 * after them: HDF5 would turn what does not fit into 32 bits into numbers that do. */
#include "io/hdf5/csr_group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"
#include "io/hdf5/h5.h"

static const int64_t rows_most = ((int64_t)1 << 48) - 1;

/* --- opening ---------------------------------------------------------------------------------- */

static bool has_parts(hid_t group) {
    return ikt_h5_has(group, "data") && ikt_h5_has(group, "indices") && ikt_h5_has(group, "indptr");
}

bool ikt_csr_group_is(hid_t group) {
    return has_parts(group) || ikt_h5_has_attribute(group, "h5sparse_format");
}

bool ikt_csr_group_shape(hid_t group, int64_t shape[2]) {
    return ikt_h5_get_ints(group, "shape", 2, shape) ||
           ikt_h5_get_ints(group, "h5sparse_shape", 2, shape);
}

/* What the attributes say the group is, and the parts it has. */
static ikt_status check_kind(const ikt_csr_group *g) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    ikt_status st = IKT_OK;
    for (int i = 0; i < 2 && st == IKT_OK; i++) {
        char *text = NULL;
        st = ikt_h5_get_text(g->ctx, g->group, names[i], &text);
        if (st == IKT_OK && text && strncmp(text, "csr", 3) != 0)
            st =
                ikt_fail(g->ctx, IKT_ERR_DATA,
                         "%s is a %.80s; a sparse matrix by rows (csr_matrix) is needed%s", g->name,
                         text, strncmp(text, "csc", 3) ? "" : ", which scipy's .tocsr() makes");
        ikt_free(&text);
    }
    if (st != IKT_OK || has_parts(g->group)) return st;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is a group, but no sparse matrix: it lacks one of data, indices and indptr",
                    g->name);
}

static ikt_status check_shape(ikt_csr_group *g, int64_t columns_most) {
    int64_t shape[2];
    if (!ikt_csr_group_shape(g->group, shape))
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s lacks the attribute 'shape' with the numbers of rows and columns",
                        g->name);
    if (shape[0] < 1 || shape[1] < 1)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", g->name,
                        (long long)shape[0], (long long)shape[1]);
    if (shape[0] > rows_most || shape[1] > columns_most)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; up to %lld columns can be used",
                        g->name, (long long)shape[0], (long long)shape[1], (long long)columns_most);
    g->n = shape[0];
    g->d = shape[1];
    return IKT_OK;
}

static ikt_status check_lengths(const ikt_csr_group *g, int64_t values, int64_t starts) {
    if (values != g->entries)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s is damaged: %lld values in data, but %lld columns in indices", g->name,
                        (long long)values, (long long)g->entries);
    if (starts - 1 == g->n) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is damaged: indptr has %lld numbers, %lld rows want one more than there "
                    "are rows",
                    g->name, (long long)starts, (long long)g->n);
}

static ikt_status open_parts(ikt_csr_group *g) {
    ikt_h5_list list;
    ikt_status st = ikt_h5_list_open(g->ctx, g->group, "data", false, g->name, &list);
    const int64_t values = list.length;
    g->data = list.dataset;
    g->number = list.number;
    if (st == IKT_OK) {
        st = ikt_h5_list_open(g->ctx, g->group, "indices", true, g->name, &list);
        g->indices = list.dataset;
        g->entries = list.length;
        g->is_short = list.number.is_short;
    }
    if (st == IKT_OK) {
        st = ikt_h5_list_open(g->ctx, g->group, "indptr", true, g->name, &list);
        g->indptr = list.dataset;
    }
    return st == IKT_OK ? check_lengths(g, values, list.length) : st;
}

ikt_status ikt_csr_group_open(ikt_context *ctx, hid_t group, const char *name, int64_t columns_most,
                              ikt_csr_group *out) {
    *out = (ikt_csr_group){
        .ctx = ctx, .name = name, .group = group, .indptr = -1, .indices = -1, .data = -1};
    IKT_TRY(check_kind(out));
    IKT_TRY(check_shape(out, columns_most));
    return open_parts(out);
}

void ikt_csr_group_close(ikt_csr_group *g) {
    ikt_h5_close(g->data);
    ikt_h5_close(g->indices);
    ikt_h5_close(g->indptr);
    ikt_h5_close(g->group);
    g->indptr = g->indices = g->data = g->group = -1;
}

/* --- where rows begin ------------------------------------------------------------------------- */

static ikt_status check_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                               const int64_t *start) {
    if (first == 0 && count > 0 && start[0] != 0)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s is damaged: indptr begins with %lld, not 0",
                        g->name, (long long)start[0]);
    for (int64_t i = 0; i < count; i++) {
        if (start[i] > start[i + 1])
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s is damaged: indptr descends from %lld to %lld at row %lld", g->name,
                            (long long)start[i], (long long)start[i + 1], (long long)(first + i));
        if (start[i] < 0 || start[i + 1] > g->entries)
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s is damaged: indptr places row %lld at entries %lld to %lld of %lld",
                            g->name, (long long)(first + i), (long long)start[i],
                            (long long)start[i + 1], (long long)g->entries);
    }
    return IKT_OK;
}

ikt_status ikt_csr_group_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                                int64_t *start) {
    start[0] = 0;
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->indptr, H5T_NATIVE_INT64, first, count > 0 ? count + 1 : 0,
                             start));
    return ikt_agree(g->ctx, check_starts(g, first, count, start));
}

/* --- entries ---------------------------------------------------------------------------------- */

/* The row, of first .. first + count - 1, that entry e (counted from start[0]) is in. */
static int64_t row_of(int64_t first, int64_t count, const int64_t *start, int64_t e) {
    return first + ikt_find_block(start, count, start[0] + e);
}

/* A column as the file has it: in `column`, which may be negative there, or in 64 bits. */
static int64_t stored_column(const uint32_t *column, const char *wide, int64_t e) {
    int64_t number;
    if (!wide) return (int32_t)column[e];
    memcpy(&number, wide + (size_t)e * sizeof number, sizeof number);
    return number;
}

/* Narrows columns. Returns whether there are any that the matrix does not have, negative ones among
 * them; which one is sought only then, as a loop that remembers it takes twice as long. */
static bool take_columns(const ikt_csr_group *g, int64_t entries, const char *wide,
                         uint32_t *column) {
    unsigned bad = 0;
    const uint64_t d = (uint64_t)g->d;
#pragma omp parallel for simd reduction(| : bad) num_threads(ikt_threads(g->ctx))
    for (int64_t e = 0; e < entries; e++) {
        const uint64_t number = (uint64_t)stored_column(column, wide, e);
        column[e] = (uint32_t)number;
        bad |= number >= d;
    }
    return bad;
}

static ikt_status refuse_column(const ikt_csr_group *g, int64_t first, int64_t count,
                                const int64_t *start, const char *wide, const uint32_t *column) {
    int64_t e = 0;
    while ((uint64_t)stored_column(column, wide, e) < (uint64_t)g->d)
        e++;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is damaged: row %lld has an entry in column %lld, but columns go from 0 to "
                    "%lld",
                    g->name, (long long)row_of(first, count, start, e),
                    (long long)stored_column(column, wide, e), (long long)g->d - 1);
}

static ikt_status read_columns(const ikt_csr_group *g, int64_t first, int64_t count,
                               const int64_t *start, uint32_t *column, double *space) {
    const int64_t entries = start[count] - start[0];
    void *to = g->is_short ? (void *)column : space;
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->indices, g->is_short ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64,
                             start[0], entries, to));
    const char *wide = g->is_short ? NULL : (const char *)space;
    return ikt_agree(g->ctx, take_columns(g, entries, wide, column)
                                 ? refuse_column(g, first, count, start, wide, column)
                                 : IKT_OK);
}

static double value_limit(const ikt_csr_group *g) {
    return g->number.is_wide ? IKT_H5_EXACT_MOST : INFINITY;
}

static bool any_bad_value(const ikt_csr_group *g, int64_t entries, const double *value) {
    unsigned bad = 0;
    const double limit = value_limit(g);
#pragma omp parallel for simd reduction(| : bad) num_threads(ikt_threads(g->ctx))
    for (int64_t e = 0; e < entries; e++)
        bad |= !(fabs(value[e]) < limit);
    return bad;
}

static ikt_status refuse_value(const ikt_csr_group *g, int64_t first, int64_t count,
                               const int64_t *start, const uint32_t *column, const double *value) {
    int64_t e = 0;
    while (fabs(value[e]) < value_limit(g))
        e++;
    const long long row = row_of(first, count, start, e);
    if (isfinite(value[e]))
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s, row %lld, column %lld: an integer of 2^53 or more loses digits as a "
                        "floating number; store it otherwise",
                        g->name, row, (long long)column[e]);
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld (counted from 0): value is %s; replace the value or "
                    "remove the row",
                    g->name, row, (long long)column[e],
                    isnan(value[e]) ? "NaN (not a number)" : "infinite");
}

static ikt_status read_values(const ikt_csr_group *g, int64_t first, int64_t count,
                              const int64_t *start, const uint32_t *column, double *value) {
    const int64_t entries = start[count] - start[0];
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->data, H5T_NATIVE_DOUBLE, start[0], entries, value));
    return ikt_agree(g->ctx, any_bad_value(g, entries, value)
                                 ? refuse_value(g, first, count, start, column, value)
                                 : IKT_OK);
}

ikt_status ikt_csr_group_entries(const ikt_csr_group *g, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column, double *value) {
    if (g->entries == 0) return IKT_OK;
    IKT_TRY(read_columns(g, first, count, start, column, value));
    return read_values(g, first, count, start, column, value);
}
