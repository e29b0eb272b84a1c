/* Rows in an HDF5 data set, read by collective hyperslabs, or in the group of a sparse matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/columns.h"
#include "io/h5.h"
#include "io/source_csr.h"
#include "io/source_ops.h"

typedef struct {
    hid_t file, dataset;
    ikt_csr_reader *csr; /* in place of the data set, or NULL */
    bool wide;          /* integers of 64 bits */
    char *path;
} hdf5_self;

static hid_t memory_type(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

/* Integers of 64 bits come as doubles, which hold them up to 2^53. */
static ikt_status check_exact(const ikt_source *source, int64_t first, int64_t count,
                              const double *values) {
    for (int64_t e = 0; e < count * source->d; e++)
        if (fabs(values[e]) >= 9007199254740992.0)
            return ikt_fail(source->ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld: an integer of 2^53 or more loses digits as "
                            "a floating number; store it otherwise",
                            source->name, (long long)(first + e / source->d),
                            (long long)(e % source->d));
    return IKT_OK;
}

static ikt_status hdf5_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    hdf5_self *self = source->self;
    IKT_TRY(ikt_h5_read_rows(source->ctx, self->dataset, memory_type(source->type), first, count,
                             rows));
    if (!self->wide) return IKT_OK;
    return ikt_agree(source->ctx, check_exact(source, first, count, rows));
}

static ikt_status hdf5_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                   ikt_sparse_rows *rows) {
    hdf5_self *self = source->self;
    return ikt_csr_read(self->csr, first, count, rows);
}

static ikt_status hdf5_labels(ikt_source *source, const char *dataset, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    hdf5_self *self = source->self;
    return ikt_column_read_int(source->ctx, self->file, self->path, dataset, source->n_file, first,
                               count, labels, present);
}

static ikt_status hdf5_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    hdf5_self *self = source->self;
    return ikt_marked_read(source->ctx, self->file, self->path, source->n, rows, count);
}

static ikt_status hdf5_text(ikt_source *source, const char *name, char **text) {
    hdf5_self *self = source->self;
    return ikt_agree(source->ctx, ikt_h5_get_text(source->ctx, self->file, name, text));
}

static void hdf5_close(ikt_source *source) {
    hdf5_self *self = source->self;
    ikt_csr_close(&self->csr);
    ikt_h5_close(self->dataset);
    ikt_h5_close(self->file);
    ikt_free(&self->path);
    ikt_free(&self);
    source->self = NULL;
}

static const ikt_source_ops hdf5_ops = {.read = hdf5_read,
                                        .read_labels = hdf5_labels,
                                        .read_marked = hdf5_marked,
                                        .read_text = hdf5_text,
                                        .close = hdf5_close};

static const ikt_source_ops hdf5_sparse_ops = {.read_sparse = hdf5_read_sparse,
                                               .read_labels = hdf5_labels,
                                               .read_marked = hdf5_marked,
                                               .read_text = hdf5_text,
                                               .close = hdf5_close};

/* The type of ours that holds every value exactly. */
static ikt_status choose_type(ikt_source *source, hid_t type) {
    hdf5_self *self = source->self;
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    size_t size = class == H5T_NO_CLASS ? 0 : H5Tget_size(type);
    if (size > 8 || (class != H5T_INTEGER && class != H5T_FLOAT))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s holds no numbers that can be used: integers and floating numbers of up "
                        "to 64 bits are needed",
                        source->name);
    if (class == H5T_FLOAT)
        source->type = size <= 4 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    else if (size == 1 && H5Tget_sign(type) == H5T_SGN_NONE)
        source->type = IKT_TYPE_U8;
    else
        source->type = size <= 2 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    self->wide = class == H5T_INTEGER && size == 8;
    return IKT_OK;
}

static ikt_status set_shape(ikt_source *source, int64_t n, int64_t d, int64_t rows) {
    source->n_file = n;
    source->d = d;
    source->n = rows > 0 ? rows : n;
    if (source->n_file == 0 || source->d == 0)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", source->name,
                        (long long)source->n_file, (long long)source->d);
    if (source->n > source->n_file)
        return ikt_fail(source->ctx, IKT_ERR_USAGE, "input.rows = %lld, but %s has only %lld rows",
                        (long long)source->n, source->name, (long long)source->n_file);
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
    return set_shape(source, (int64_t)size[0], (int64_t)size[1], rows);
}

/* The group of a sparse matrix, taken over; its rows are looked at afterwards (scan_group). */
static ikt_status measure_group(ikt_source *source, hid_t group, int64_t rows) {
    hdf5_self *self = source->self;
    source->ops = &hdf5_sparse_ops;
    IKT_TRY(ikt_csr_open(source->ctx, group, source->name, &self->csr));
    const ikt_csr_facts *facts = ikt_csr_about(self->csr);
    source->type = facts->type;
    return set_shape(source, facts->n, facts->d, rows);
}

/* COLLECTIVE. */
static ikt_status scan_group(ikt_source *source) {
    hdf5_self *self = source->self;
    if (!self->csr) return IKT_OK;
    IKT_TRY(ikt_csr_scan(self->csr, source->n));
    const ikt_csr_facts *facts = ikt_csr_about(self->csr);
    source->entries = facts->entries;
    source->longest = facts->longest;
    source->block = facts->block;
    return IKT_OK;
}

static ikt_status at_the_root(const ikt_source *source, const char *dataset) {
    return ikt_fail(source->ctx, IKT_ERR_DATA,
                    "%s does not exist, but the file is a sparse matrix itself (data, indices, "
                    "indptr): name it '/' in place of '%s'",
                    source->name, dataset);
}

static ikt_status open_dataset(ikt_source *source, const char *path, const char *dataset,
                               int64_t rows) {
    hdf5_self *self = source->self;
    char reason[256];
    const bool is_root = strcmp(dataset, "/") == 0;
    if (!is_root && !ikt_h5_has(self->file, dataset))
        return ikt_csr_is_here(self->file) ? at_the_root(source, dataset)
                                           : ikt_h5_missing(source->ctx, self->file, path, dataset);
    hid_t object = H5Oopen(self->file, dataset, H5P_DEFAULT);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        self->dataset = object;
        return measure(source, rows);
    }
    if (object < 0)
        return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened: %s", source->name,
                        ikt_h5_reason(reason, sizeof reason));
    if (H5Iget_type(object) == H5I_GROUP) return measure_group(source, object, rows);
    ikt_h5_close(object);
    return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is no data set", source->name);
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
    if (st == IKT_OK) st = scan_group(*out);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}
