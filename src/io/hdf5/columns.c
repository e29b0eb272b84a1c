/* One-dimensional data sets beside the rows. */
#include "io/hdf5/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"

struct ikt_column {
    ikt_context *ctx;
    hid_t file, dataset;                 /* file: owned, or negative */
    char path[IKT_PATH_MAX], name[1024]; /* of the file and the data set */
    int64_t length;
    bool is_real;   /* of floating type */
    bool is_wide;   /* unsigned integers of 64 bits, of which int64 holds half */
    bool is_across; /* a matrix of one row, as MATLAB stores a column */
};

/* Learns length and type of the data set. A matrix with one row or one column is a list, too, and
 * truth values are an enumeration. */
static ikt_status measure(ikt_column *c) {
    hid_t space = c->dataset < 0 ? -1 : H5Dget_space(c->dataset);
    hid_t type = c->dataset < 0 ? -1 : H5Dget_type(c->dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    hsize_t size[2] = {0, 1};
    const int dimensions = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    bool is_list = (dimensions == 1 || dimensions == 2) &&
                   H5Sget_simple_extent_dims(space, size, NULL) == dimensions;
    c->is_across = dimensions == 2 && size[1] != 1;
    c->length = (int64_t)(c->is_across ? size[1] : size[0]);
    is_list = is_list && (!c->is_across || size[0] == 1);
    c->is_real = class == H5T_FLOAT;
    c->is_wide = class == H5T_INTEGER && bytes == 8 && H5Tget_sign(type) == H5T_SGN_NONE;
    ikt_h5_close(space);
    ikt_h5_close(type);
    if (is_list && bytes <= sizeof(double) &&
        (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM))
        return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' is not a one-dimensional data set of numbers",
                    c->path, c->name);
}

/* COLLECTIVE. Opens the data set c->name of `file`.
 *   n   entries that it must have; negative: any number */
static ikt_status open_dataset(ikt_column *c, hid_t file, int64_t n) {
    c->dataset = H5Dopen2(file, c->name, H5P_DEFAULT);
    ikt_status st = measure(c);
    if (st == IKT_OK && n >= 0 && c->length != n)
        st = ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' has %lld entries, but there are %lld rows",
                      c->path, c->name, (long long)c->length, (long long)n);
    return ikt_agree(c->ctx, st);
}

/* LOCAL. A column of a file that is open elsewhere. */
static ikt_column column_of(ikt_context *ctx, const char *path, const char *name) {
    ikt_column c = {.ctx = ctx, .file = -1, .dataset = -1};
    snprintf(c.path, sizeof c.path, "%s", path);
    snprintf(c.name, sizeof c.name, "%s", name);
    return c;
}

static ikt_status read_range(const ikt_column *c, hid_t type, int64_t first, int64_t count,
                             void *values) {
    return (c->is_across ? ikt_h5_read_columns : ikt_h5_read_rows)(c->ctx, c->dataset, type, first,
                                                                   count, values);
}

ikt_status ikt_column_read_reals(ikt_column *c, int64_t first, int64_t count, double *values) {
    return read_range(c, H5T_NATIVE_DOUBLE, first, count, values);
}

ikt_status ikt_column_read_wholes(ikt_column *c, int64_t first, int64_t count, int64_t *values) {
    double *reals = NULL; /* integers may be stored as floating numbers */
    ikt_status st = IKT_OK;
    if (c->is_real) {
        st = ikt_agree(c->ctx, ikt_alloc(c->ctx, &reals, count, sizeof *reals, "labels"));
        if (st == IKT_OK) st = ikt_column_read_reals(c, first, count, reals);
    } else {
        st = read_range(c, c->is_wide ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, first, count, values);
    }
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        if (reals && (!(fabs(reals[i]) < 9e15) || reals[i] != floor(reals[i])))
            st = ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s', row %lld: %g is not an integer", c->path,
                          c->name, (long long)(first + i), reals[i]);
        else if (reals)
            values[i] = (int64_t)reals[i];
        /* Integers that int64 does not hold would all become the greatest that it does: a class. */
        else if (c->is_wide && values[i] < 0)
            st = ikt_fail(c->ctx, IKT_ERR_DATA,
                          "%s: '%s', row %lld: %llu is more than 2^63 - 1, the largest integer "
                          "that is read here; number the classes from 0",
                          c->path, c->name, (long long)(first + i), (unsigned long long)values[i]);
    }
    ikt_free(&reals);
    return ikt_agree(c->ctx, st);
}

ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present) {
    ikt_column c = column_of(ctx, path, name);
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, name, present)));
    *present = ikt_max_one(ctx, *present) > 0;
    if (!*present) return IKT_OK;
    ikt_status st = open_dataset(&c, file, n);
    if (st == IKT_OK) st = ikt_column_read_wholes(&c, first, count, values);
    ikt_h5_close(c.dataset);
    return st;
}

ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n_file,
                           int64_t n, int64_t **rows, int64_t *count) {
    ikt_column c = column_of(ctx, path, "marked");
    bool present;
    *rows = NULL;
    *count = 0;
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, c.name, &present)));
    if (ikt_max_one(ctx, present) == 0) return IKT_OK;
    ikt_status st = open_dataset(&c, file, -1);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, rows, c.length, sizeof **rows, "marked rows"));
    if (st == IKT_OK) st = ikt_column_read_wholes(&c, 0, c.length, *rows);
    int64_t kept = 0;
    for (int64_t i = 0; st == IKT_OK && i < c.length; i++) {
        const int64_t row = (*rows)[i];
        if (row < 0 || row >= n_file)
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s: 'marked', entry %lld, names row %lld, but the rows are numbered "
                          "from 0 to %lld",
                          path, (long long)i, (long long)row, (long long)n_file - 1);
        else if (row < n)
            (*rows)[kept++] = row;
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) *count = kept;
    if (*count == 0) ikt_free(rows);
    ikt_h5_close(c.dataset);
    return st;
}

/* --- columns of any file ---------------------------------------------------------------------- */

ikt_status ikt_column_open(ikt_context *ctx, const char *path, const char *dataset, int64_t n,
                           ikt_column **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "column"));
    ikt_column *c = *out;
    *c = column_of(ctx, path, dataset);
    ikt_status st = ikt_h5_open(ctx, path, &c->file);
    if (st == IKT_OK) {
        if (!ikt_h5_has(c->file, dataset))
            snprintf(c->name, sizeof c->name, "obs/%s", dataset); /* as AnnData has them */
        if (!ikt_h5_has(c->file, c->name)) st = ikt_h5_missing(ctx, c->file, path, dataset);
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) st = open_dataset(c, c->file, n);
    if (st != IKT_OK) ikt_column_close(out);
    return st;
}

void ikt_column_close(ikt_column **column) {
    if (!*column) return;
    ikt_h5_close((*column)->dataset);
    ikt_h5_close((*column)->file);
    ikt_free(column);
}

int64_t ikt_column_length(const ikt_column *c) {
    return c->length;
}

bool ikt_column_is_real(const ikt_column *c) {
    return c->is_real;
}

ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *dataset,
                                  int64_t n, int64_t first, int64_t count, double *values) {
    ikt_column *c;
    IKT_TRY(ikt_column_open(ctx, path, dataset, n, &c));
    ikt_status st = ikt_column_read_reals(c, first, count, values);
    ikt_column_close(&c);
    return st;
}
