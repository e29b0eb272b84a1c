/* One-dimensional data sets beside the rows. */
#include "io/columns.h"

#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/h5.h"

/* Opens a one-dimensional numeric data set and tells its length; negative on failure. */
static ikt_status open_column(ikt_context *ctx, hid_t file, const char *path, const char *name,
                              hid_t *dataset, int64_t *length, H5T_class_t *class) {
    hsize_t size[1] = {0};
    *dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t space = *dataset < 0 ? -1 : H5Dget_space(*dataset);
    hid_t type = *dataset < 0 ? -1 : H5Dget_type(*dataset);
    bool flat = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, size, NULL) == 1;
    *class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    ikt_h5_close(space);
    ikt_h5_close(type);
    *length = (int64_t)size[0];
    ikt_status st = IKT_OK;
    if (!flat || (*class != H5T_INTEGER && *class != H5T_FLOAT))
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s:/%s is not a one-dimensional data set of numbers",
                      path, name);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_h5_close(*dataset);
        *dataset = -1;
    }
    return st;
}

static ikt_status check_length(ikt_context *ctx, const char *path, const char *name, int64_t length,
                               int64_t n, bool whole) {
    if (length == n || (!whole && length > n)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s:/%s has %lld entries, but there are %lld rows", path,
                    name, (long long)length, (long long)n);
}

/* Numbers stored as floats that are integers. */
static ikt_status read_integers_of_float(ikt_context *ctx, hid_t dataset, const char *path,
                                         const char *name, int64_t first, int64_t count,
                                         int64_t *values) {
    double *reals = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &reals, count, sizeof *reals, "labels"));
    if (st == IKT_OK)
        st = ikt_h5_read_rows(ctx, dataset, name, H5T_NATIVE_DOUBLE, sizeof *reals, first, count,
                              reals);
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        if (!(fabs(reals[i]) < 9e15) || reals[i] != floor(reals[i]))
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s:/%s, row %lld: %g is not an integer", path, name,
                          (long long)(first + i), reals[i]);
        else
            values[i] = (int64_t)reals[i];
    }
    ikt_free(&reals);
    return ikt_agree(ctx, st);
}

ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, bool whole, int64_t first, int64_t count, int64_t *values,
                               bool *present) {
    hid_t dataset;
    int64_t length;
    H5T_class_t class;
    *present = ikt_max_one(ctx, ikt_h5_has(file, name)) > 0;
    if (!*present) return IKT_OK;
    IKT_TRY(open_column(ctx, file, path, name, &dataset, &length, &class));
    ikt_status st = check_length(ctx, path, name, length, n, whole);
    if (st == IKT_OK && class == H5T_FLOAT)
        st = read_integers_of_float(ctx, dataset, path, name, first, count, values);
    else if (st == IKT_OK)
        st = ikt_h5_read_rows(ctx, dataset, name, H5T_NATIVE_INT64, sizeof *values, first, count,
                              values);
    ikt_h5_close(dataset);
    return st;
}

ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *name, int64_t n,
                                  int64_t first, int64_t count, double *values) {
    hid_t file, dataset;
    int64_t length;
    H5T_class_t class;
    IKT_TRY(ikt_h5_open(ctx, path, &file));
    ikt_status st = IKT_OK;
    if (ikt_max_one(ctx, ikt_h5_has(file, name)) == 0)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s'", path, name);
    if (st == IKT_OK) st = open_column(ctx, file, path, name, &dataset, &length, &class);
    if (st == IKT_OK) {
        st = check_length(ctx, path, name, length, n, true);
        if (st == IKT_OK)
            st = ikt_h5_read_rows(ctx, dataset, name, H5T_NATIVE_DOUBLE, sizeof *values, first,
                                  count, values);
        ikt_h5_close(dataset);
    }
    ikt_h5_close(file);
    return st;
}

ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n,
                           int64_t **rows, int64_t *count) {
    hid_t dataset;
    int64_t length, kept = 0;
    H5T_class_t class;
    *rows = NULL;
    *count = 0;
    if (ikt_max_one(ctx, ikt_h5_has(file, "marked")) == 0) return IKT_OK;
    IKT_TRY(open_column(ctx, file, path, "marked", &dataset, &length, &class));
    ikt_status st = ikt_alloc(ctx, rows, length, sizeof **rows, "marked rows");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_h5_read_rows(ctx, dataset, "marked", H5T_NATIVE_INT64, sizeof **rows, 0, length,
                              *rows);
    ikt_h5_close(dataset);
    for (int64_t i = 0; i < length && st == IKT_OK; i++)
        if ((*rows)[i] >= 0 && (*rows)[i] < n) (*rows)[kept++] = (*rows)[i];
    *count = kept;
    if (st != IKT_OK) ikt_free(rows);
    return st;
}

bool ikt_marked_write(hid_t file, const int64_t *rows, int64_t count) {
    hid_t dataset = ikt_h5_create_rows(file, "marked", H5T_NATIVE_INT64, count, 0);
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    bool good = dataset >= 0 && list >= 0 && H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE) >= 0 &&
                H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, list, rows) >= 0;
    ikt_h5_close(list);
    return ikt_h5_close(dataset) && good;
}
