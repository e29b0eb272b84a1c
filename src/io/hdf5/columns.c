/* One-dimensional data sets beside the rows. */
#include "io/hdf5/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"

typedef struct {
    ikt_context *ctx;
    const char *path, *name; /* of the file and the data set, for messages */
    hid_t dataset;
    int64_t length;
    bool real;   /* of floating type */
    bool wide;   /* unsigned integers of 64 bits, of which int64 holds half */
    bool across; /* a matrix of one row, as MATLAB stores a column */
} column;

static void column_close(column *c) {
    ikt_h5_close(c->dataset);
    c->dataset = -1;
}

/* Learns the length of a list of numbers; a matrix with one row or one column is one, too. */
static bool measure_length(column *c, hid_t space) {
    hsize_t size[2] = {0, 1};
    const int dimensions = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (dimensions < 1 || dimensions > 2 ||
        H5Sget_simple_extent_dims(space, size, NULL) != dimensions)
        return false;
    c->across = dimensions == 2 && size[1] != 1;
    c->length = (int64_t)(c->across ? size[1] : size[0]);
    return !c->across || size[0] == 1;
}

/* Learns length and type of an opened data set. Truth values are an enumeration. */
static ikt_status measure(column *c) {
    hid_t space = c->dataset < 0 ? -1 : H5Dget_space(c->dataset);
    hid_t type = c->dataset < 0 ? -1 : H5Dget_type(c->dataset);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const bool flat = measure_length(c, space);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    c->real = class == H5T_FLOAT;
    c->wide = class == H5T_INTEGER && size == 8 && H5Tget_sign(type) == H5T_SGN_NONE;
    ikt_h5_close(space);
    ikt_h5_close(type);
    if (flat && size <= sizeof(double) &&
        (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM))
        return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' is not a one-dimensional data set of numbers",
                    c->path, c->name);
}

/* Opens c->name in `file`. */
static ikt_status column_open(column *c, hid_t file) {
    c->dataset = H5Dopen2(file, c->name, H5P_DEFAULT);
    ikt_status st = ikt_agree(c->ctx, measure(c));
    if (st != IKT_OK) column_close(c);
    return st;
}

static ikt_status check_length(const column *c, int64_t n) {
    if (c->length == n) return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' has %lld entries, but there are %lld rows",
                    c->path, c->name, (long long)c->length, (long long)n);
}

static ikt_status read_range(const column *c, hid_t type, int64_t first, int64_t count,
                             void *values) {
    return (c->across ? ikt_h5_read_columns : ikt_h5_read_rows)(c->ctx, c->dataset, type, first,
                                                                count, values);
}

/* Integers that are stored as floating numbers. */
static ikt_status read_reals(const column *c, int64_t first, int64_t count, int64_t *values) {
    double *reals = NULL;
    ikt_status st = ikt_agree(c->ctx, ikt_alloc(c->ctx, &reals, count, sizeof *reals, "labels"));
    if (st == IKT_OK) st = read_range(c, H5T_NATIVE_DOUBLE, first, count, reals);
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        if (!(fabs(reals[i]) < 9e15) || reals[i] != floor(reals[i]))
            st = ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s', row %lld: %g is not an integer", c->path,
                          c->name, (long long)(first + i), reals[i]);
        else
            values[i] = (int64_t)reals[i];
    }
    ikt_free(&reals);
    return ikt_agree(c->ctx, st);
}

/* Integers that int64 does not hold would all become the greatest that it does: one class. */
static ikt_status check_wide(const column *c, int64_t first, int64_t count, const int64_t *values) {
    for (int64_t i = 0; i < count; i++)
        if (values[i] < 0)
            return ikt_fail(c->ctx, IKT_ERR_DATA,
                            "%s: '%s', row %lld: %llu is more than 2^63 - 1, the largest integer "
                            "that is read here; number the classes from 0",
                            c->path, c->name, (long long)(first + i),
                            (unsigned long long)values[i]);
    return IKT_OK;
}

static ikt_status column_read(const column *c, int64_t first, int64_t count, int64_t *values) {
    if (c->real) return read_reals(c, first, count, values);
    IKT_TRY(read_range(c, c->wide ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, first, count, values));
    return c->wide ? ikt_agree(c->ctx, check_wide(c, first, count, values)) : IKT_OK;
}

ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present) {
    column c = {.ctx = ctx, .path = path, .name = name, .dataset = -1};
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, name, present)));
    *present = ikt_max_one(ctx, *present) > 0;
    if (!*present) return IKT_OK;
    IKT_TRY(column_open(&c, file));
    ikt_status st = check_length(&c, n);
    if (st == IKT_OK) st = column_read(&c, first, count, values);
    column_close(&c);
    return st;
}

ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *dataset,
                                  int64_t n, int64_t first, int64_t count, double *values) {
    column c = {.ctx = ctx, .path = path, .name = dataset, .dataset = -1};
    char beside[1024]; /* a column of an AnnData file */
    hid_t file;
    IKT_TRY(ikt_h5_open(ctx, path, &file));
    snprintf(beside, sizeof beside, "obs/%s", dataset);
    if (!ikt_h5_has(file, dataset) && ikt_h5_has(file, beside)) c.name = dataset = beside;
    ikt_status st = ikt_agree(
        ctx, ikt_h5_has(file, dataset) ? IKT_OK : ikt_h5_missing(ctx, file, path, dataset));
    if (st == IKT_OK) st = column_open(&c, file);
    if (st == IKT_OK) st = check_length(&c, n);
    if (st == IKT_OK) st = read_range(&c, H5T_NATIVE_DOUBLE, first, count, values);
    column_close(&c);
    ikt_h5_close(file);
    return st;
}

/* Those below n, of which there are *kept; all must be rows of the file. */
static ikt_status keep_marked(const column *c, int64_t n_file, int64_t n, int64_t *rows,
                              int64_t *kept) {
    *kept = 0;
    for (int64_t i = 0; i < c->length; i++) {
        if (rows[i] < 0 || rows[i] >= n_file)
            return ikt_fail(c->ctx, IKT_ERR_DATA,
                            "%s: 'marked', entry %lld, names row %lld, but the rows are numbered "
                            "from 0 to %lld",
                            c->path, (long long)i, (long long)rows[i], (long long)n_file - 1);
        if (rows[i] < n) rows[(*kept)++] = rows[i];
    }
    return IKT_OK;
}

ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n_file,
                           int64_t n, int64_t **rows, int64_t *count) {
    column c = {.ctx = ctx, .path = path, .name = "marked", .dataset = -1};
    bool present;
    *rows = NULL;
    *count = 0;
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, c.name, &present)));
    if (ikt_max_one(ctx, present) == 0) return IKT_OK;
    IKT_TRY(column_open(&c, file));
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, rows, c.length, sizeof **rows, "marked rows"));
    if (st == IKT_OK) st = column_read(&c, 0, c.length, *rows);
    if (st == IKT_OK) st = ikt_agree(ctx, keep_marked(&c, n_file, n, *rows, count));
    if (st != IKT_OK) *count = 0;
    if (*count == 0) ikt_free(rows);
    column_close(&c);
    return st;
}

struct ikt_column {
    ikt_context *ctx;
    hid_t file;
    column of;
    char *path, *name; /* of the file and the data set, owned */
};

static ikt_status copy_text(ikt_context *ctx, const char *from, char **to) {
    IKT_TRY(ikt_alloc(ctx, to, (int64_t)strlen(from) + 1, 1, "column"));
    strcpy(*to, from);
    return IKT_OK;
}

static ikt_status prepare(ikt_context *ctx, const char *path, const char *dataset,
                          ikt_column **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "column"));
    ikt_column *c = *out;
    c->ctx = ctx;
    c->file = -1;
    c->of = (column){.ctx = ctx, .dataset = -1};
    IKT_TRY(copy_text(ctx, path, &c->path));
    IKT_TRY(copy_text(ctx, dataset, &c->name));
    c->of.path = c->path;
    c->of.name = c->name;
    return IKT_OK;
}

ikt_status ikt_column_open(ikt_context *ctx, const char *path, const char *dataset, int64_t n,
                           ikt_column **out) {
    *out = NULL;
    ikt_status st = ikt_agree(ctx, prepare(ctx, path, dataset, out));
    ikt_column *c = *out;
    if (st == IKT_OK) st = ikt_h5_open(ctx, path, &c->file);
    if (st == IKT_OK && !ikt_h5_has(c->file, dataset))
        st = ikt_h5_missing(ctx, c->file, path, dataset);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = column_open(&c->of, c->file);
    if (st == IKT_OK) st = check_length(&c->of, n);
    if (st != IKT_OK) ikt_column_close(out);
    return st;
}

void ikt_column_close(ikt_column **of) {
    ikt_column *c = *of;
    if (!c) return;
    column_close(&c->of);
    ikt_h5_close(c->file);
    ikt_free(&c->path);
    ikt_free(&c->name);
    ikt_free(of);
}

bool ikt_column_is_real(const ikt_column *c) {
    return c->of.real;
}

ikt_status ikt_column_read_reals(ikt_column *c, int64_t first, int64_t count, double *values) {
    return ikt_h5_read_rows(c->ctx, c->of.dataset, H5T_NATIVE_DOUBLE, first, count, values);
}

ikt_status ikt_column_read_wholes(ikt_column *c, int64_t first, int64_t count, int64_t *values) {
    return column_read(&c->of, first, count, values);
}
