/* Sparse matrices in groups of HDF5 files. See sparse_group.h.
 *
 * Columns of more than 32 bits are read as 64-bit numbers, into the place of the values, which come
 * after them: HDF5 would turn what does not fit into 32 bits into numbers that do. */
#include "io/hdf5/sparse_group.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "base/sort.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"

static const int64_t rows_most = ((int64_t)1 << 48) - 1;
static const int64_t length_most = (int64_t)1 << 48; /* sums of lengths fit 64 bits */

/* A data set of one dimension that holds numbers. */
typedef struct {
    hid_t dataset;
    int64_t length; /* at most length_most */
    ikt_h5_number number;
} list;

/* LOCAL. Opens the list CHILD of a group; to be closed by ikt_h5_close of its data set, also after
 * a failure.
 *   is_index   whether only integers will do
 *   name       of the group, for messages
 * Errors: IKT_ERR_DATA: there is none, or it is no such list. */
static ikt_status list_open(ikt_context *ctx, hid_t group, const char *child, bool is_index,
                            const char *name, list *out) {
    *out = (list){.dataset = ikt_h5_open_dataset(group, child)};
    const hid_t type IKT_AT_END(ikt_h5_end) = out->dataset < 0 ? -1 : H5Dget_type(out->dataset);
    const bool is_number = ikt_h5_number_of(type, &out->number);
    out->length = ikt_h5_length(out->dataset);
    if (is_number && (!is_index || out->number.is_integer) && out->length >= 0 &&
        out->length <= length_most)
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s/%s is not a list of %s of up to 64 bits", name, child,
                    is_index ? "integers" : "numbers");
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool has_parts(hid_t group) {
    return ikt_h5_has(group, "data") && ikt_h5_has(group, "indices") && ikt_h5_has(group, "indptr");
}

bool ikt_csr_group_is(hid_t group) {
    return has_parts(group) || ikt_h5_has_attribute(group, "h5sparse_format");
}

/* Whether a group is a count matrix of 10x Genomics (Cell Ranger). */
static bool is_tenx(hid_t group) {
    return has_parts(group) && ikt_h5_has(group, "barcodes") && ikt_h5_has(group, "shape");
}

/* A data set in place of the attribute. Of 10x Genomics it says genes x cells, and the cells, which
 * are our rows, come one after the other. */
static bool read_shape(hid_t group, int64_t shape[2]) {
    const hid_t set IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(group, "shape");
    int64_t stored[2];
    const bool is_turned = is_tenx(group);
    if (set < 0 || ikt_h5_length(set) != 2 || ikt_h5_class(set) != H5T_INTEGER ||
        H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored) < 0)
        return false;
    shape[0] = stored[is_turned];
    shape[1] = stored[!is_turned];
    return true;
}

bool ikt_csr_group_shape(hid_t group, int64_t shape[2]) {
    return ikt_h5_get_ints(group, "shape", 2, shape) ||
           ikt_h5_get_ints(group, "h5sparse_shape", 2, shape) || read_shape(group, shape);
}

/* What the attributes say the group is, and the parts it has. */
static ikt_status check_kind(const ikt_csr_group *g) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    for (int i = 0; i < 2; i++) {
        char *text IKT_AT_END(ikt_free) = NULL;
        IKT_TRY(ikt_h5_get_text(g->ctx, g->group, names[i], &text));
        if (text && strncmp(text, "csr", 3) != 0)
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s is a %.80s; a sparse matrix by rows (csr_matrix) is needed%s",
                            g->name, text,
                            strncmp(text, "csc", 3) ? "" : ", which scipy's .tocsr() makes");
    }
    if (has_parts(g->group)) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is a group, but no sparse matrix: it lacks one of data, indices and indptr",
                    g->name);
}

ikt_status ikt_csr_group_open(ikt_context *ctx, hid_t group, const char *name, int64_t columns_most,
                              ikt_csr_group *g) {
    static const char *const names[3] = {"data", "indices", "indptr"};
    hid_t *const dataset[3] = {&g->data, &g->indices, &g->indptr};
    list part[3];
    int64_t shape[2];
    *g = (ikt_csr_group){
        .ctx = ctx, .name = name, .group = group, .indptr = -1, .indices = -1, .data = -1};
    IKT_TRY(check_kind(g));
    if (!ikt_csr_group_shape(group, shape))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s lacks 'shape', an attribute or a data set, with the numbers of rows "
                        "and columns",
                        name);
    if (shape[0] < 1 || shape[1] < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", name, (long long)shape[0],
                        (long long)shape[1]);
    if (shape[0] > rows_most || shape[1] > columns_most)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; up to %lld columns can be used", name,
                        (long long)shape[0], (long long)shape[1], (long long)columns_most);
    g->n = shape[0];
    g->d = shape[1];
    for (int i = 0; i < 3; i++) {
        ikt_status st = list_open(ctx, group, names[i], i > 0, name, &part[i]);
        *dataset[i] = part[i].dataset;
        IKT_TRY(st);
    }
    g->number = part[0].number;
    g->entries = part[1].length;
    g->index = part[1].number;
    g->start = part[2].number;
    if (part[0].length != g->entries)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s is damaged: %lld values in data, but %lld columns in indices", g->name,
                        (long long)part[0].length, (long long)g->entries);
    if (part[2].length - 1 == g->n) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is damaged: indptr has %lld numbers, %lld rows want one more than there "
                    "are rows",
                    g->name, (long long)part[2].length, (long long)g->n);
}

void ikt_csr_group_close(ikt_csr_group *g) {
    ikt_h5_close(g->data);
    ikt_h5_close(g->indices);
    ikt_h5_close(g->indptr);
    ikt_h5_close(g->group);
    g->indptr = g->indices = g->data = g->group = -1;
}

/* --- where rows begin ------------------------------------------------------------------------- */

/* LOCAL, pure. Whether a row may have the entries from .. to - 1. */
static bool is_within(const ikt_csr_group *g, int64_t from, int64_t to) {
    return from >= 0 && from <= to && to <= g->entries;
}

static ikt_status refuse_range(const ikt_csr_group *g, const int64_t range[2], int64_t row) {
    const bool is_unsigned = g->start.is_unsigned;
    const bool descends =
        is_unsigned ? (uint64_t)range[0] > (uint64_t)range[1] : range[0] > range[1];
    char from[IKT_INTEGER_TEXT], to[IKT_INTEGER_TEXT];
    ikt_integer_text(range[0], is_unsigned, from);
    ikt_integer_text(range[1], is_unsigned, to);
    if (descends)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s is damaged: indptr descends from %s to %s at row %lld", g->name, from,
                        to, (long long)row);
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is damaged: indptr places row %lld at entries %s to %s of %lld", g->name,
                    (long long)row, from, to, (long long)g->entries);
}

ikt_status ikt_csr_group_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                                int64_t *start) {
    ikt_status st = IKT_OK;
    char text[IKT_INTEGER_TEXT];
    start[0] = 0;
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->indptr, ikt_h5_integer_type(&g->start), first,
                             count > 0 ? count + 1 : 0, start));
    if (first == 0 && count > 0 && start[0] != 0)
        st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s is damaged: indptr begins with %s, not 0", g->name,
                      ikt_integer_text(start[0], g->start.is_unsigned, text));
    for (int64_t i = 0; i < count && st == IKT_OK; i++)
        if (!is_within(g, start[i], start[i + 1])) st = refuse_range(g, start + i, first + i);
    return ikt_agree(g->ctx, st);
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
 * them; which one is sought only then, as a loop that remembers it takes twice as long. Without
 * `simd`: clang 14 loses what such a loop reduces where it optimises little (-O1). */
static bool take_columns(const ikt_csr_group *g, int64_t entries, const char *wide,
                         uint32_t *column) {
    unsigned bad = 0;
    const uint64_t d = (uint64_t)g->d;
#pragma omp parallel for reduction(| : bad) num_threads(ikt_threads(g->ctx))
    for (int64_t e = 0; e < entries; e++) {
        const uint64_t number = (uint64_t)stored_column(column, wide, e);
        column[e] = (uint32_t)number;
        bad |= number >= d;
    }
    return bad;
}

/* The first value that is not finite, or an integer that loses digits as a floating number. */
static ikt_status refuse_value(const ikt_csr_group *g, double limit, int64_t first, int64_t count,
                               const int64_t *start, const uint32_t *column, const double *value) {
    int64_t e = 0;
    while (fabs(value[e]) < limit)
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

ikt_status ikt_csr_group_entries(const ikt_csr_group *g, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column, double *value) {
    const int64_t entries = start[count] - start[0];
    const double limit = g->number.is_wide ? IKT_H5_EXACT_MOST : INFINITY;
    void *to = g->index.is_short ? (void *)column : value;
    const char *wide = g->index.is_short ? NULL : (const char *)value;
    unsigned bad = 0;
    char text[IKT_INTEGER_TEXT];
    if (g->entries == 0) return IKT_OK;
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->indices,
                             g->index.is_short ? H5T_NATIVE_INT32 : ikt_h5_integer_type(&g->index),
                             start[0], entries, to));
    ikt_status st = IKT_OK;
    if (take_columns(g, entries, wide, column)) {
        int64_t e = 0;
        while ((uint64_t)stored_column(column, wide, e) < (uint64_t)g->d)
            e++;
        st = ikt_fail(g->ctx, IKT_ERR_DATA,
                      "%s is damaged: row %lld has an entry in column %s, but columns go from 0 "
                      "to %lld",
                      g->name, (long long)row_of(first, count, start, e),
                      ikt_integer_text(stored_column(column, wide, e), g->index.is_unsigned, text),
                      (long long)g->d - 1);
    }
    IKT_TRY(ikt_agree(g->ctx, st));
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->data, H5T_NATIVE_DOUBLE, start[0], entries, value));
#pragma omp parallel for reduction(| : bad) num_threads(ikt_threads(g->ctx))
    for (int64_t e = 0; e < entries; e++)
        bad |= !(fabs(value[e]) < limit);
    return ikt_agree(g->ctx,
                     bad ? refuse_value(g, limit, first, count, start, column, value) : IKT_OK);
}

/* --- column after column ---------------------------------------------------------------------- */

static bool is_matlab(hid_t group) {
    return ikt_h5_has_attribute(group, "MATLAB_sparse");
}

bool ikt_csc_is_here(hid_t group) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    char text[16];
    bool is_csc = is_matlab(group);
    for (size_t a = 0; a < sizeof names / sizeof *names; a++)
        is_csc |= strncmp(ikt_h5_short_text(group, names[a], text, sizeof text), "csc", 3) == 0;
    return is_csc;
}

ikt_status ikt_csc_refuse(ikt_context *ctx, hid_t group, const char *path, const char *dataset) {
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: '%s' is a sparse matrix%s that stands column after column; `iktsne "
                    "convert %s rows.h5 --dataset %s` makes the rows that can be embedded",
                    path, dataset, is_matlab(group) ? " of MATLAB" : "", path, dataset);
}

static ikt_status list_read(ikt_context *ctx, const list *from, const char *name, hid_t type,
                            void *values) {
    char reason[256];
    if (from->length == 0) return IKT_OK;
    IKT_TRY(ikt_size(ctx) == 1 ? ikt_h5_check_parts(ctx, from->dataset, name)
                               : ikt_h5_check_stays(ctx, from->dataset));
    if (!ikt_h5_has_storage(from->dataset) && !ikt_h5_is_virtual(from->dataset))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written", name);
    if (H5Dread(from->dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) return IKT_OK;
    ikt_h5_reason(reason, sizeof reason);
    IKT_TRY(ikt_h5_check_filters(ctx, from->dataset, name));
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", name, reason);
}

static ikt_status read_parts(ikt_context *ctx, const char *name, const list parts[3],
                             ikt_csc *csc) {
    const int64_t most = INT64_MAX / 64, available = ikt_memory_available(ctx);
    csc->entries = parts[0].length;
    csc->d = parts[2].length - 1;
    csc->type = parts[0].number.type;
    if (csc->n < 1 || csc->d < 1 || parts[1].length != csc->entries)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is no sparse matrix: %lld rows, %lld values in %lld places, %lld "
                        "columns",
                        name, (long long)csc->n, (long long)csc->entries,
                        (long long)parts[1].length, (long long)csc->d);
    if (csc->entries >= most || csc->d >= most || 16 * csc->entries + 8 * csc->d > available)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "%s stands by columns, and turning its %lld entries takes %.1f GB on one "
                        "rank, of which there are %.1f",
                        name, (long long)csc->entries, 16e-9 * (double)csc->entries,
                        1e-9 * (double)available);
    IKT_TRY(ikt_alloc(ctx, &csc->rows, csc->entries, sizeof *csc->rows, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->starts, csc->d + 1, sizeof *csc->starts, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->values, csc->entries, sizeof *csc->values, "sparse matrix"));
    IKT_TRY(list_read(ctx, &parts[0], name, H5T_NATIVE_DOUBLE, csc->values));
    for (int64_t e = 0; parts[0].number.is_wide && e < csc->entries; e++)
        if (fabs(csc->values[e]) >= IKT_H5_EXACT_MOST)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s: the integer %.0f, of 2^53 or more, loses digits as a floating "
                            "number; store it otherwise",
                            name, csc->values[e]);
    csc->is_unsigned = parts[1].number.is_unsigned;
    IKT_TRY(list_read(ctx, &parts[1], name, ikt_h5_integer_type(&parts[1].number), csc->rows));
    return list_read(ctx, &parts[2], name, ikt_h5_integer_type(&parts[2].number), csc->starts);
}

static void lists_end(list (*parts)[3]) {
    for (int i = 0; i < 3; i++)
        ikt_h5_close((*parts)[i].dataset);
}

ikt_status ikt_csc_read(ikt_context *ctx, hid_t group, const char *name, ikt_csc *out) {
    static const char *const names[2][3] = {{"data", "indices", "indptr"}, {"data", "ir", "jc"}};
    const bool matlab = is_matlab(group);
    list parts[3] IKT_AT_END(lists_end) = {{.dataset = -1}, {.dataset = -1}, {.dataset = -1}};
    int64_t shape[2] = {-1, -1};
    const bool is_known =
        matlab ? ikt_h5_get_int(group, "MATLAB_sparse", shape) : ikt_csr_group_shape(group, shape);
    *out = (ikt_csc){.n = is_known ? shape[0] : -1};
    for (int i = 0; i < 3; i++)
        IKT_TRY(list_open(ctx, group, names[matlab][i], i > 0, name, &parts[i]));
    return read_parts(ctx, name, parts, out);
}

void ikt_csc_destroy(ikt_csc *csc) {
    ikt_free(&csc->rows);
    ikt_free(&csc->starts);
    ikt_free(&csc->values);
}
