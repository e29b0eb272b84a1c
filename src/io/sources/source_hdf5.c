/* Rows in an HDF5 data set, read by collective hyperslabs, or in the group of a sparse matrix
 * (sparse_group.h); AnnData and MATLAB 7.3 files are such.
 *
 * Method of sparse rows: one pass over indptr when the group is opened checks it and learns how
 * many rows make blocks of a bounded number of entries; a range of rows is then a range of indptr
 * and a range of the columns and values. Advantage: each rank reads its own rows and nothing else,
 * and no damage in the file leads beyond an array. Disadvantage: a matrix stored by columns (CSC)
 * would have to be turned round first, and is refused.
 * Columns of a row may stand in any order; a value that comes twice counts as its sum, as in SciPy.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

typedef struct {
    hid_t file, dataset;
    ikt_csr_group group; /* of a sparse source, in place of the data set */
    bool wide;           /* integers of 64 bits */
    hid_t *column;       /* [columns] of a DataFrame, in place of the data set; owned */
    int64_t columns;
    hid_t truth; /* the type of truth values, which HDF5 makes no numbers of; or -1 */
    bool turned; /* rows are the columns of the data set */
    char *path;
} hdf5_self;

/* COLLECTIVE. Column after column. */
static ikt_status read_frame(ikt_source *source, int64_t first, int64_t count, void *rows) {
    const hdf5_self *self = source->self;
    IKT_ARRAYS(held, source->ctx, "source");
    void *values = ikt_claim(&held, count, ikt_type_size(source->type));
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t c = 0; c < self->columns; c++) {
        IKT_TRY(ikt_h5_read_rows(source->ctx, self->column[c], ikt_h5_memory_type(source->type),
                                 first, count, values));
        for (int64_t i = 0; i < count; i++)
            ikt_number_put(source->type, rows, i * source->d + c,
                           ikt_number_at(source->type, values, i));
    }
    return IKT_OK;
}

static ikt_status hdf5_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    hdf5_self *self = source->self;
    const hid_t type = self->truth >= 0 ? self->truth : ikt_h5_memory_type(source->type);
    if (self->column)
        IKT_TRY(read_frame(source, first, count, rows));
    else
        IKT_TRY((self->turned ? ikt_h5_read_columns : ikt_h5_read_rows)(source->ctx, self->dataset,
                                                                        type, first, count, rows));
    if (!self->wide) return IKT_OK;
    /* Integers of 64 bits come as doubles, which hold them up to 2^53. */
    const double *values = rows;
    ikt_status st = IKT_OK;
    for (int64_t e = 0; e < count * source->d && st == IKT_OK; e++)
        if (fabs(values[e]) >= IKT_H5_EXACT_MOST)
            st = ikt_fail(source->ctx, IKT_ERR_DATA,
                          "%s, row %lld, column %lld: an integer of 2^53 or more loses digits as a "
                          "floating number; store it otherwise",
                          source->name, (long long)(first + e / source->d),
                          (long long)(e % source->d));
    return ikt_agree(source->ctx, st);
}

/* --- sparse rows ------------------------------------------------------------------------------ */

static ikt_status hdf5_starts(ikt_source *source, int64_t first, int64_t count, int64_t *start) {
    return ikt_csr_group_starts(&((hdf5_self *)source->self)->group, first, count, start);
}

static ikt_status hdf5_entries(ikt_source *source, int64_t first, int64_t count,
                               const int64_t *start, uint32_t *column, double *value) {
    const ikt_csr_group *g = &((hdf5_self *)source->self)->group;
    return ikt_csr_group_entries(g, first, count, start, column, value);
}

/* COLLECTIVE. Goes through indptr of the rows that are used. */
static ikt_status scan_rows(ikt_source *source) {
    const ikt_csr_group *g = &((hdf5_self *)source->self)->group;
    IKT_TRY(ikt_source_scan_rows(source));
    if (source->n < source->n_file || source->entries == g->entries) return IKT_OK;
    return ikt_fail(source->ctx, IKT_ERR_DATA, /* entries of no row are those of lost rows */
                    "%s is damaged: the rows of indptr end at entry %lld, but there are %lld",
                    g->name, (long long)source->entries, (long long)g->entries);
}

/* --- what else the file holds ----------------------------------------------------------------- */

static ikt_status hdf5_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    hdf5_self *self = source->self;
    return ikt_labels_read(source->ctx, self->file, self->path, name, source->n_file, first, count,
                           labels, present, &source->label_names);
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

static ikt_status add_name(void *self, int64_t i, const char *text) {
    (void)i;
    ikt_column_name_add(self, text);
    return ((ikt_text *)self)->status;
}

/* Where the names of the columns of an object stand: those of the variables (genes) of AnnData and
 * loom; "" where they have none.
 *   list   [IKT_H5_NAME] receives it */
static void find_variables(hid_t file, const char *object, char list[IKT_H5_NAME]) {
    const bool is_raw = strncmp(object, "/raw/X", 6) == 0;
    const bool is_matrix =
        is_raw || strcmp(object, "/X") == 0 || strncmp(object, "/layers/", 8) == 0;
    const char *const var = is_raw ? "raw/var" : "var";
    char index[128];
    list[0] = '\0';
    if (ikt_h5_is_loom(file) && ikt_h5_is_by_genes(file, object + 1))
        snprintf(list, IKT_H5_NAME, "row_attrs/Gene");
    if (!is_matrix || !ikt_h5_is_anndata(file)) return;
    const hid_t group IKT_AT_END(ikt_h5_end) = ikt_h5_open_group(file, var);
    ikt_h5_short_text(group, "_index", index, sizeof index);
    snprintf(list, IKT_H5_NAME, "%s/%s", var, ikt_text_or(index, "_index"));
}

/* The last part of the name of an object in its file. */
static const char *last_name(hid_t object, char name[IKT_H5_NAME]) {
    if (H5Iget_name(object, name, IKT_H5_NAME) <= 0) name[0] = '\0';
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static ikt_status hdf5_name_columns(const ikt_source *source, ikt_text *names) {
    const hdf5_self *self = source->self;
    char object[IKT_H5_NAME], list[IKT_H5_NAME];
    for (int64_t c = 0; c < self->columns; c++)
        ikt_column_name_add(names, last_name(self->column[c], object));
    if (self->columns > 0) return IKT_OK;
    if (H5Iget_name(source->sparse ? self->group.group : self->dataset, object, sizeof object) <= 0)
        return IKT_OK;
    find_variables(self->file, object, list);
    if (!list[0] || !ikt_h5_has(self->file, list)) return IKT_OK;
    const hid_t texts IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(self->file, list);
    if (texts < 0 || ikt_h5_length(texts) != source->d) return IKT_OK;
    return ikt_h5_visit_texts(source->ctx, texts, 0, source->d, false, add_name, names);
}

static void hdf5_describe(const ikt_source *source, ikt_source_content *content) {
    hdf5_self *self = source->self;
    ikt_h5_list_tables(self->file, 0, content->tables, sizeof content->tables);
    ikt_h5_list_labels(self->file, source->n_file, content->labels, sizeof content->labels);
}

static void hdf5_close(ikt_source *source) {
    hdf5_self *self = source->self;
    if (source->sparse) ikt_csr_group_close(&self->group);
    for (int64_t c = 0; c < self->columns; c++)
        ikt_h5_close(self->column[c]);
    ikt_free(&self->column);
    ikt_h5_close(self->truth);
    ikt_h5_close(self->dataset);
    ikt_h5_close(self->file);
    ikt_free(&self->path);
}

static const ikt_source_ops hdf5_ops = {.self_bytes = sizeof(hdf5_self),
                                        .read = hdf5_read,
                                        .starts = hdf5_starts,
                                        .entries = hdf5_entries,
                                        .read_labels = hdf5_labels,
                                        .read_marked = hdf5_marked,
                                        .read_text = hdf5_text,
                                        .name_columns = hdf5_name_columns,
                                        .describe = hdf5_describe,
                                        .close = hdf5_close};

/* --- opening ---------------------------------------------------------------------------------- */

/* Takes the group over. Bytes come as float32: rows of bytes would have to be dense. */
static ikt_status take_group(ikt_source *source, hid_t group, const ikt_source_options *options) {
    ikt_csr_group *g = &((hdf5_self *)source->self)->group;
    source->sparse = true;
    IKT_TRY(ikt_csr_group_open(source->ctx, group, source->name, INT32_MAX, g));
    source->stored = g->number.type;
    source->type = g->number.type == IKT_TYPE_F64 ? IKT_TYPE_F64 : IKT_TYPE_F32;
    source->n_file = g->n;
    source->d = g->d;
    if (options->transposed == IKT_TRANSPOSED_YES)
        return ikt_fail(source->ctx, IKT_ERR_USAGE,
                        "input.transposed: yes is for dense arrays, and %s is a sparse matrix",
                        source->name);
    return ikt_source_use_rows(source, options->rows);
}

/* The columns of a DataFrame (obsm of AnnData), all of numbers. */
static ikt_status take_frame(ikt_source *source, hid_t group, const ikt_source_options *options) {
    hdf5_self *self = source->self;
    IKT_TRY(ikt_h5_open_frame(source->ctx, group, &self->column, &self->columns));
    source->type = IKT_TYPE_F32;
    source->d = self->columns;
    for (int64_t c = 0; c < self->columns; c++) {
        const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(self->column[c]);
        const int64_t length = ikt_h5_length(self->column[c]);
        ikt_h5_number number;
        char name[512];
        if (c == 0) source->n_file = length;
        if (!ikt_h5_number_of(type, &number) || number.is_truth || length < 0 ||
            length != source->n_file)
            return ikt_fail(source->ctx, IKT_ERR_DATA,
                            "%s is no list of %lld numbers, as a column of a DataFrame has to be",
                            ikt_h5_name(self->column[c], name, sizeof name),
                            (long long)source->n_file);
        if (number.type == IKT_TYPE_F64) source->type = IKT_TYPE_F64;
        self->wide |= number.is_wide;
    }
    if (options->transposed == IKT_TRANSPOSED_YES)
        return ikt_fail(source->ctx, IKT_ERR_USAGE,
                        "input.transposed: yes is for arrays, and %s is a DataFrame", source->name);
    return ikt_source_use_rows(source, options->rows);
}

/* Whether floating numbers are float16, with 5 bits of exponent, and not bfloat16. */
static bool is_half(hid_t type) {
    size_t sign, first, exponent = 0, fraction_first, fraction;
    return H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 2 &&
           H5Tget_fields(type, &sign, &first, &exponent, &fraction_first, &fraction) >= 0 &&
           exponent == 5;
}

/* Rows, columns, and the type of ours that holds every value exactly. */
static ikt_status measure(ikt_source *source) {
    hdf5_self *self = source->self;
    int64_t size[2];
    ikt_h5_number number;
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(self->dataset);
    const int dimensions = ikt_h5_shape(self->dataset, size);
    if (dimensions < 2 || (dimensions > 2 && self->turned))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s has %d dimensions; rows x columns are needed", source->name,
                        dimensions);
    if (!ikt_h5_number_of(type, &number) || (number.is_truth && H5Tget_nmembers(type) != 2))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s holds no numbers that can be used: integers and floating numbers of up "
                        "to 64 bits are needed",
                        source->name);
    source->type = number.type;
    source->is_half = is_half(type);
    self->wide = number.is_wide;
    if (number.is_truth) self->truth = H5Tcopy(type);
    source->n_file = size[self->turned];
    source->d = size[!self->turned];
    return IKT_OK;
}

/* Whether rows are columns: as the user says, or as MATLAB and loom store them. */
static ikt_status take_dataset(ikt_source *source, const ikt_source_options *options) {
    hdf5_self *self = source->self;
    const bool is_matlab = ikt_h5_is_matlab(self->dataset);
    if (is_matlab) IKT_TRY(ikt_h5_check_matlab(source->ctx, self->dataset, source->name));
    self->turned = options->transposed == IKT_TRANSPOSED_AUTO
                       ? is_matlab || ikt_h5_is_by_genes(self->file, options->dataset)
                       : options->transposed == IKT_TRANSPOSED_YES;
    IKT_TRY(measure(source));
    IKT_TRY(ikt_source_use_rows(source, options->rows));
    if (!self->turned) return IKT_OK;
    self->dataset = ikt_h5_open_columns(self->file, options->dataset, self->dataset);
    if (self->dataset >= 0) return IKT_OK;
    return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened", source->name);
}

static ikt_status open_dataset(ikt_source *source, const ikt_source_options *options) {
    hdf5_self *self = source->self;
    const char *path = self->path, *dataset = options->dataset;
    char reason[256];
    const bool is_root = strcmp(dataset, "/") == 0;
    bool present = is_root;
    if (!is_root) IKT_TRY(ikt_h5_find(source->ctx, self->file, path, dataset, &present));
    if (!present && ikt_csr_group_is(self->file))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s does not exist, but the file is a sparse matrix itself (data, indices, "
                        "indptr): name it '/' in place of '%s'",
                        source->name, dataset);
    if (!present) return ikt_h5_no_table(source->ctx, self->file, path, dataset);
    hid_t object IKT_AT_END(ikt_h5_end) = H5Oopen(self->file, dataset, H5P_DEFAULT);
    if (object < 0)
        return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be opened: %s", source->name,
                        ikt_h5_reason(reason, sizeof reason));
    const H5I_type_t kind = H5Iget_type(object);
    if (kind != H5I_DATASET && kind != H5I_GROUP)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is no data set", source->name);
    if (kind == H5I_GROUP && ikt_csc_is_here(object))
        return ikt_csc_refuse(source->ctx, object, path, dataset);
    if (kind == H5I_GROUP && ikt_h5_is_frame(object)) return take_frame(source, object, options);
    const hid_t kept = object; /* the source closes it */
    object = -1;
    if (kind == H5I_GROUP) return take_group(source, kept, options);
    self->dataset = kept;
    return take_dataset(source, options);
}

/* COLLECTIVE. Opens what is meant in the file. */
static ikt_status open_rows(ikt_source *source, const char *path,
                            const ikt_source_options *options) {
    ikt_context *ctx = source->ctx;
    hdf5_self *self = source->self;
    IKT_TRY(ikt_alloc_all(ctx, &self->path, (int64_t)strlen(path) + 1, 1, "source"));
    strcpy(self->path, path);
    if (ikt_h5_is_anndata(self->file))
        source->format = "AnnData";
    else if (ikt_h5_is_matlab_file(self->file))
        source->format = "MATLAB 7.3";
    else if (ikt_h5_is_loom(self->file))
        source->format = "loom";
    IKT_TRY(ikt_agree(ctx, open_dataset(source, options)));
    return source->sparse ? scan_rows(source) : IKT_OK;
}

static ikt_status hdf5_open(ikt_context *ctx, const ikt_source_format *format, const char *path,
                            const ikt_source_options *options, ikt_source **out) {
    ikt_source_options resolved = *options;
    char usual[IKT_H5_NAME];
    hid_t file;
    IKT_TRY(ikt_h5_open(ctx, path, &file));
    if (strcmp(options->dataset, IKT_DATASET_AUTO) == 0) {
        ikt_h5_usual_matrix(file, usual);
        resolved.dataset = usual;
    }
    ikt_status st = ikt_source_new(ctx, &hdf5_ops, format->name, path, resolved.dataset, out);
    if (st != IKT_OK) {
        ikt_h5_close(file);
        return st;
    }
    hdf5_self *self = (*out)->self;
    self->file = file;
    self->dataset = self->truth = -1;
    st = open_rows(*out, path, &resolved);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

/* Behind a block of another program's, which MATLAB writes, the signature comes later. */
bool ikt_source_is_hdf5(const char *path) {
    struct stat about;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we speak for HDF5 */
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && ikt_h5_is_file(path);
}

const ikt_source_format ikt_source_hdf5 = {"HDF5", NULL, hdf5_open};
