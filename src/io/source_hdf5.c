/* Rows in an HDF5 data set, read by collective hyperslabs. */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/columns.h"
#include "io/h5.h"
#include "io/source_ops.h"

typedef struct {
    hid_t file, dataset;
    char *path;
} hdf5_self;

static hid_t memory_type(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

static ikt_status hdf5_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    hdf5_self *self = source->self;
    int64_t row_bytes = source->d * (int64_t)ikt_type_size(source->type);
    return ikt_h5_read_rows(source->ctx, self->dataset, source->name, memory_type(source->type),
                            row_bytes, first, count, rows);
}

static ikt_status hdf5_labels(ikt_source *source, const char *dataset, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    hdf5_self *self = source->self;
    return ikt_column_read_int(source->ctx, self->file, self->path, dataset, source->n_file, true,
                               first, count, labels, present);
}

static ikt_status hdf5_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    hdf5_self *self = source->self;
    return ikt_marked_read(source->ctx, self->file, self->path, source->n, rows, count);
}

static void hdf5_close(ikt_source *source) {
    hdf5_self *self = source->self;
    ikt_h5_close(self->dataset);
    ikt_h5_close(self->file);
    ikt_free(&self->path);
    ikt_free(&self);
    source->self = NULL;
}

static const ikt_source_ops hdf5_ops = {hdf5_read, hdf5_labels, hdf5_marked, hdf5_close};

/* Lists the data sets of the root group for a message. */
typedef struct {
    char text[512];
    size_t used;
} listing;

static herr_t list_object(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)group, (void)info;
    listing *list = target;
    if (list->used + strlen(name) + 4 < sizeof list->text)
        list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                       "%s%s", list->used ? ", " : "", name);
    return 0;
}

static ikt_status missing(ikt_context *ctx, hid_t file, const char *path, const char *dataset) {
    listing list = {"", 0};
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, list_object, &list);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s' (input.dataset); it holds: %s",
                    path, dataset, list.used ? list.text : "nothing");
}

static ikt_status choose_type(ikt_source *source, hid_t type) {
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    size_t size = class == H5T_NO_CLASS ? 0 : H5Tget_size(type);
    if (class == H5T_INTEGER) {
        bool is_u8 = size == 1 && H5Tget_sign(type) == H5T_SGN_NONE;
        source->type = is_u8 ? IKT_TYPE_U8 : size <= 2 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    } else if (class == H5T_FLOAT) {
        source->type = size <= 4 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    } else {
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s holds no numbers", source->name);
    }
    return IKT_OK;
}

/* Learns rows, columns and type of the opened data set. */
static ikt_status measure(ikt_source *source, int64_t rows) {
    hdf5_self *self = source->self;
    hsize_t size[2] = {0, 0};
    hid_t space = H5Dget_space(self->dataset), type = H5Dget_type(self->dataset);
    int dimensions = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    ikt_status st = IKT_OK;
    if (dimensions != 2 || H5Sget_simple_extent_dims(space, size, NULL) != 2)
        st = ikt_fail(source->ctx, IKT_ERR_DATA, "%s has %d dimensions; rows x columns are needed",
                      source->name, dimensions);
    if (st == IKT_OK) st = choose_type(source, type);
    ikt_h5_close(space);
    ikt_h5_close(type);
    IKT_TRY(st);
    source->n_file = (int64_t)size[0];
    source->d = (int64_t)size[1];
    source->n = rows > 0 ? rows : source->n_file;
    if (source->n_file == 0 || source->d == 0)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", source->name,
                        (long long)source->n_file, (long long)source->d);
    if (source->n > source->n_file)
        return ikt_fail(source->ctx, IKT_ERR_USAGE, "input.rows = %lld, but %s has only %lld rows",
                        (long long)source->n, source->name, (long long)source->n_file);
    return IKT_OK;
}

static ikt_status open_dataset(ikt_source *source, const char *path, const char *dataset,
                               int64_t rows) {
    hdf5_self *self = source->self;
    if (!ikt_h5_has(self->file, dataset)) return missing(source->ctx, self->file, path, dataset);
    H5O_info_t info;
    if (H5Oget_info_by_name(self->file, dataset, &info, H5P_DEFAULT) >= 0 &&
        info.type == H5O_TYPE_GROUP)
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s is a group (a sparse matrix?); this version reads dense data sets",
                        source->name);
    char reason[256];
    self->dataset = H5Dopen2(self->file, dataset, H5P_DEFAULT);
    if (self->dataset < 0)
        return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened: %s", source->name,
                        ikt_h5_reason(reason, sizeof reason));
    return measure(source, rows);
}

static ikt_status prepare(ikt_context *ctx, const char *path, const char *dataset,
                          ikt_source **out) {
    hdf5_self *self = NULL;
    IKT_TRY(ikt_source_new(ctx, path, dataset, out));
    IKT_TRY(ikt_alloc(ctx, &self, 1, sizeof *self, "source"));
    self->file = self->dataset = -1;
    (*out)->self = self;
    (*out)->ops = &hdf5_ops;
    IKT_TRY(ikt_alloc(ctx, &self->path, (int64_t)strlen(path) + 1, 1, "source"));
    strcpy(self->path, path);
    return IKT_OK;
}

ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out) {
    *out = NULL;
    ikt_status st = ikt_agree(ctx, prepare(ctx, path, dataset, out));
    if (st == IKT_OK) st = ikt_h5_open(ctx, path, &((hdf5_self *)(*out)->self)->file);
    if (st == IKT_OK) st = ikt_agree(ctx, open_dataset(*out, path, dataset, rows));
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}
