/* Rows in an HDF5 data set, read by collective hyperslabs, or in the group of a sparse matrix;
 * AnnData and MATLAB 7.3 files are such. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/h5_contents.h"
#include "io/hdf5/sparse_group.h"
#include "io/sources/label_names.h"
#include "io/sources/labels_h5.h"
#include "io/sources/source_csr.h"
#include "io/sources/source_ops.h"

typedef struct {
    hid_t file, dataset;
    ikt_csr_reader *csr; /* in place of the data set, or NULL */
    bool wide;           /* integers of 64 bits */
    bool turned;         /* rows are the columns of the data set */
    char *path;
} hdf5_self;

/* Integers of 64 bits come as doubles, which hold them up to 2^53. */
static ikt_status check_exact(const ikt_source *source, int64_t first, int64_t count,
                              const double *values) {
    for (int64_t e = 0; e < count * source->d; e++)
        if (fabs(values[e]) >= IKT_H5_EXACT_MOST)
            return ikt_fail(source->ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld: an integer of 2^53 or more loses digits as "
                            "a floating number; store it otherwise",
                            source->name, (long long)(first + e / source->d),
                            (long long)(e % source->d));
    return IKT_OK;
}

static ikt_status hdf5_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    hdf5_self *self = source->self;
    IKT_TRY((self->turned ? ikt_h5_read_columns : ikt_h5_read_rows)(
        source->ctx, self->dataset, ikt_h5_memory_type(source->type), first, count, rows));
    if (!self->wide) return IKT_OK;
    return ikt_agree(source->ctx, check_exact(source, first, count, rows));
}

static ikt_status hdf5_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                   ikt_sparse_rows *rows) {
    hdf5_self *self = source->self;
    return ikt_csr_read(self->csr, first, count, rows);
}

static ikt_status hdf5_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    hdf5_self *self = source->self;
    IKT_TRY(ikt_labels_read(source->ctx, self->file, self->path, name, source->n_file, first, count,
                            labels, present, &source->label_names));
    if (!*present || !source->default_labels || source->label_names) return IKT_OK;
    char *names = NULL;
    ikt_status st = ikt_label_names_read(source->ctx, self->file, self->path, &names);
    if (st == IKT_OK) ikt_label_names_check(source->ctx, self->path, names, count, labels);
    ikt_free(&names);
    return ikt_agree(source->ctx, st);
}

static ikt_status hdf5_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    hdf5_self *self = source->self;
    return ikt_marked_read(source->ctx, self->file, self->path, source->n_file, source->n, rows,
                           count);
}

static ikt_status hdf5_text(ikt_source *source, const char *name, char **text) {
    hdf5_self *self = source->self;
    return ikt_agree(source->ctx,
                     strcmp(name, "label_names") == 0
                         ? ikt_label_names_read(source->ctx, self->file, self->path, text)
                         : ikt_h5_get_text(source->ctx, self->file, name, text));
}

static void hdf5_describe(const ikt_source *source, ikt_source_content *content) {
    hdf5_self *self = source->self;
    ikt_h5_list_tables(self->file, content->tables, sizeof content->tables);
    ikt_h5_list_labels(self->file, source->n_file, content->labels, sizeof content->labels);
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
                                        .describe = hdf5_describe,
                                        .close = hdf5_close};

static const ikt_source_ops hdf5_sparse_ops = {.read_sparse = hdf5_read_sparse,
                                               .read_labels = hdf5_labels,
                                               .read_marked = hdf5_marked,
                                               .read_text = hdf5_text,
                                               .describe = hdf5_describe,
                                               .close = hdf5_close};

/* The type of ours that holds every value exactly. */
static ikt_status choose_type(ikt_source *source, hid_t type) {
    hdf5_self *self = source->self;
    ikt_h5_number number;
    if (!ikt_h5_number_of(type, &number) || number.is_truth)
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s holds no numbers that can be used: integers and floating numbers of up "
                        "to 64 bits are needed",
                        source->name);
    source->type = number.type;
    self->wide = number.is_wide;
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
    source->n_file = (int64_t)size[self->turned];
    source->d = (int64_t)size[!self->turned];
    return ikt_source_use_rows(source, rows);
}

/* The group of a sparse matrix, taken over; its rows are looked at afterwards (scan_group). */
static ikt_status take_group(ikt_source *source, hid_t group, const ikt_source_options *options) {
    hdf5_self *self = source->self;
    source->ops = &hdf5_sparse_ops;
    IKT_TRY(ikt_csr_open(source->ctx, group, source->name, &self->csr));
    const ikt_csr_facts *facts = ikt_csr_about(self->csr);
    source->type = facts->type;
    source->stored = facts->stored;
    source->n_file = facts->n;
    source->d = facts->d;
    if (options->transposed == IKT_TRANSPOSED_YES)
        return ikt_fail(source->ctx, IKT_ERR_USAGE,
                        "input.transposed: yes is for dense arrays, and %s is a sparse matrix",
                        source->name);
    return ikt_source_use_rows(source, options->rows);
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

/* Whether rows are columns: as the user says, or as MATLAB stores them. */
static ikt_status take_dataset(ikt_source *source, const ikt_source_options *options) {
    hdf5_self *self = source->self;
    const bool is_matlab = ikt_h5_is_matlab(self->dataset);
    if (is_matlab) IKT_TRY(ikt_h5_check_matlab(source->ctx, self->dataset, source->name));
    self->turned = options->transposed == IKT_TRANSPOSED_AUTO
                       ? is_matlab
                       : options->transposed == IKT_TRANSPOSED_YES;
    IKT_TRY(measure(source, options->rows));
    if (!self->turned) return IKT_OK;
    self->dataset = ikt_h5_open_columns(self->file, options->dataset, self->dataset);
    if (self->dataset >= 0) return IKT_OK;
    return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened", source->name);
}

static ikt_status at_the_root(const ikt_source *source, const char *dataset) {
    return ikt_fail(source->ctx, IKT_ERR_DATA,
                    "%s does not exist, but the file is a sparse matrix itself (data, indices, "
                    "indptr): name it '/' in place of '%s'",
                    source->name, dataset);
}

static ikt_status open_dataset(ikt_source *source, const char *path,
                               const ikt_source_options *options) {
    hdf5_self *self = source->self;
    const char *dataset = options->dataset;
    char reason[256];
    const bool is_root = strcmp(dataset, "/") == 0;
    bool present = is_root;
    if (!is_root) IKT_TRY(ikt_h5_find(source->ctx, self->file, path, dataset, &present));
    if (!present)
        return ikt_csr_group_is(self->file)
                   ? at_the_root(source, dataset)
                   : ikt_h5_no_table(source->ctx, self->file, path, dataset);
    hid_t object = H5Oopen(self->file, dataset, H5P_DEFAULT);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        self->dataset = object;
        return take_dataset(source, options);
    }
    if (object < 0)
        return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened: %s", source->name,
                        ikt_h5_reason(reason, sizeof reason));
    const bool is_group = H5Iget_type(object) == H5I_GROUP;
    ikt_status st = is_group && ikt_csc_is_here(object)
                        ? ikt_csc_refuse(source->ctx, object, path, dataset)
                        : IKT_OK;
    if (st == IKT_OK && is_group) return take_group(source, object, options);
    ikt_h5_close(object);
    if (st != IKT_OK) return st;
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

static const char *format_of(hid_t file) {
    return ikt_h5_is_anndata(file)       ? "AnnData"
           : ikt_h5_is_matlab_file(file) ? "MATLAB 7.3"
                                         : "HDF5";
}

static ikt_status hdf5_open(ikt_context *ctx, const char *path, const ikt_source_options *options,
                            ikt_source **out) {
    *out = NULL;
    ikt_status st = ikt_agree(ctx, prepare(ctx, path, options->dataset, out));
    if (st == IKT_OK) st = ikt_h5_open(ctx, path, &((hdf5_self *)(*out)->self)->file);
    if (st == IKT_OK) {
        (*out)->format = format_of(((hdf5_self *)(*out)->self)->file);
        st = ikt_agree(ctx, open_dataset(*out, path, options));
    }
    if (st == IKT_OK) st = scan_group(*out);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

/* Behind a block of another program's, which MATLAB writes, the signature comes later. */
bool ikt_source_is_hdf5(const char *path) {
    struct stat about;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we speak for HDF5 */
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && H5Fis_hdf5(path) > 0;
}

static bool is_hdf5(const char *path, const unsigned char *head, int64_t bytes) {
    (void)head, (void)bytes;
    return ikt_source_is_hdf5(path);
}

const ikt_source_format ikt_source_hdf5 = {"HDF5", is_hdf5, hdf5_open};
