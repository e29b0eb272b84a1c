/* Genes and colours of AnnData files. See labels.h. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/sort.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

enum { BLOCK_NUMBERS = 1 << 21, NAME_SIZE = 1024 };

static const char purpose[] = "genes";

/* What is read, and where it goes. */
typedef struct {
    ikt_context *ctx;
    hid_t file;
    const char *path, *matrix;
    char name[NAME_SIZE]; /* FILE:/MATRIX, for messages */
    int64_t n, first, count;
    const char *const *names;
    int64_t wanted;
    int64_t *column; /* [wanted] numbers of the genes; -1: not found yet */
    double *values;  /* [wanted * count] */
} genes;

/* --- which columns ---------------------------------------------------------------------------- */

static ikt_status match(void *self, int64_t i, const char *text) {
    genes *g = self;
    for (int64_t w = 0; w < g->wanted; w++)
        if (g->column[w] < 0 && strcmp(text, g->names[w]) == 0) g->column[w] = i;
    return IKT_OK;
}

/* Names of categories that are wanted: their codes stand for them. */
typedef struct {
    const genes *genes;
    int64_t *code; /* [wanted] */
} categories;

static ikt_status match_category(void *self, int64_t i, const char *text) {
    categories *c = self;
    for (int64_t w = 0; w < c->genes->wanted; w++)
        if (strcmp(text, c->genes->names[w]) == 0) c->code[w] = i;
    return IKT_OK;
}

/* LOCAL. Looks the wanted names up in a column of var that holds categories. */
static ikt_status match_codes(genes *g, hid_t group) {
    const hid_t names IKT_AT_END(ikt_h5_end) = H5Dopen2(group, "categories", H5P_DEFAULT);
    const hid_t codes IKT_AT_END(ikt_h5_end) = H5Dopen2(group, "codes", H5P_DEFAULT);
    const int64_t count = ikt_h5_length(codes);
    IKT_ARRAYS(held, g->ctx, purpose);
    categories c = {g, ikt_claim(&held, g->wanted, sizeof *c.code)};
    int64_t *code = ikt_claim(&held, count > 0 ? count : 0, sizeof *code);
    IKT_TRY(held.status);
    for (int64_t w = 0; w < g->wanted; w++)
        c.code[w] = -1;
    if (count > 0 && ikt_h5_length(names) > 0)
        IKT_TRY(
            ikt_h5_visit_texts(g->ctx, names, 0, ikt_h5_length(names), false, match_category, &c));
    if (count <= 0 || H5Dread(codes, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, code) < 0)
        return IKT_OK;
    for (int64_t i = 0; i < count; i++)
        for (int64_t w = 0; w < g->wanted; w++)
            if (g->column[w] < 0 && c.code[w] >= 0 && code[i] == c.code[w]) g->column[w] = i;
    return IKT_OK;
}

/* LOCAL. Looks the names up in column NAME of var, if there is one. */
static ikt_status look_up(genes *g, hid_t var, const char *name) {
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(var, name);
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_GROUP && ikt_h5_has(object, "codes") && ikt_h5_has(object, "categories"))
        return match_codes(g, object);
    if (kind == H5I_DATASET && ikt_h5_length(object) > 0)
        return ikt_h5_visit_texts(g->ctx, object, 0, ikt_h5_length(object), false, match, g);
    return IKT_OK;
}

/* LOCAL. The numbers of the genes: the index of var first, then what other tools call the names of
 * genes. */
static ikt_status find_columns(genes *g) {
    static const char *const others[] = {"feature_name", "gene_symbols", "gene_name",
                                         "gene_short_name"};
    const char *const var_path = strncmp(g->matrix, "raw/", 4) == 0 ? "raw/var" : "var";
    const hid_t var IKT_AT_END(ikt_h5_end) = ikt_h5_open_group(g->file, var_path);
    char index[NAME_SIZE] = "";
    if (var < 0)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s has no group %s, so it has no genes by name; --genes-from names an "
                        "AnnData file (.h5ad)",
                        g->path, var_path);
    ikt_h5_short_text(var, "_index", index, sizeof index);
    IKT_TRY(look_up(g, var, ikt_text_or(index, "_index")));
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        IKT_TRY(look_up(g, var, others[o]));
    for (int64_t w = 0; w < g->wanted; w++)
        if (g->column[w] < 0)
            return ikt_fail(g->ctx, IKT_ERR_DATA, "--genes: %s has no gene '%s' in its %s", g->path,
                            g->names[w], var_path);
    return IKT_OK;
}

/* --- by rows, and by columns ------------------------------------------------------------------ */

static ikt_status check_shape(genes *g, int64_t rows, int64_t columns) {
    if (rows != g->n)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s has %" PRId64 " rows, but the map has %" PRId64,
                        g->name, rows, g->n);
    for (int64_t w = 0; w < g->wanted; w++)
        if (g->column[w] >= columns)
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s has %" PRId64 " columns, but the names of more genes", g->name,
                            columns);
    return IKT_OK;
}

/* The value in a column of a row; 0 where the row does not hold it. */
static double sparse_value(const ikt_sparse_rows *rows, int64_t i, int64_t column) {
    const int64_t end = rows->start[i + 1];
    int64_t at;
    IKT_FIND_FIRST(at, rows->start[i], end, rows->column[at] >= column);
    return at < end && rows->column[at] == column ? rows->value[at] : 0;
}

/* COLLECTIVE. Blocks of rows, dense or sparse, all of their columns, as a source reads them. */
static ikt_status read_by_rows(genes *g) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_sparse_rows entries IKT_AT_END(ikt_sparse_rows_destroy) = {0};
    IKT_TRY(ikt_source_open(g->ctx, g->path, g->matrix, 0, &source));
    const ikt_type type = ikt_source_type(source);
    const bool is_sparse = ikt_source_is_sparse(source);
    const int64_t d = ikt_source_columns(source),
                  fitting = d < BLOCK_NUMBERS ? BLOCK_NUMBERS / d : 1;
    const int64_t block = is_sparse ? ikt_source_block_rows(source) : fitting;
    IKT_TRY(check_shape(g, ikt_source_rows(source), d)); /* the same on all ranks */
    IKT_ARRAYS(held, g->ctx, purpose);
    void *rows = is_sparse ? NULL : ikt_claim(&held, block * d, ikt_type_size(type));
    IKT_TRY(ikt_arrays_agree(&held));
    const int64_t most = ikt_max_one(g->ctx, g->count);
    for (int64_t done = 0; done < most; done += block) {
        const int64_t left = g->count - done, now = left < 0 ? 0 : left < block ? left : block;
        const int64_t first = now > 0 ? g->first + done : 0;
        IKT_TRY(is_sparse ? ikt_source_read_sparse(source, first, now, &entries)
                          : ikt_source_read(source, first, now, rows));
        for (int64_t i = 0; i < now; i++)
            for (int64_t w = 0; w < g->wanted; w++)
                g->values[w * g->count + done + i] =
                    is_sparse ? sparse_value(&entries, i, g->column[w])
                              : ikt_number_at(type, rows, i * d + g->column[w]);
    }
    return IKT_OK;
}

/* COLLECTIVE. The entries of one gene, which all ranks read. */
static ikt_status take_column(genes *g, int64_t w, const hid_t part[3]) {
    const hid_t stored IKT_AT_END(ikt_h5_end) = H5Dget_type(part[2]);
    int64_t range[2] = {0, 0};
    char from[IKT_INTEGER_TEXT], to[IKT_INTEGER_TEXT];
    ikt_h5_number start = {0};
    (void)ikt_h5_number_of(stored, &start);
    IKT_TRY(ikt_h5_read_rows(g->ctx, part[2], ikt_h5_integer_type(&start), g->column[w], 2, range));
    const int64_t count = range[0] >= 0 && range[1] >= 0 ? range[1] - range[0] : -1;
    IKT_ARRAYS(held, g->ctx, purpose);
    if (count < 0 || range[1] > ikt_h5_length(part[0]) || range[1] > ikt_h5_length(part[1]))
        held.status =
            ikt_fail(g->ctx, IKT_ERR_DATA, "%s is damaged: column %" PRId64 " has entries %s to %s",
                     g->name, g->column[w], ikt_integer_text(range[0], start.is_unsigned, from),
                     ikt_integer_text(range[1], start.is_unsigned, to));
    int64_t *row = ikt_claim(&held, count, sizeof *row);
    double *value = ikt_claim(&held, count, sizeof *value);
    IKT_TRY(ikt_arrays_agree(&held));
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_h5_read_rows(g->ctx, part[1], H5T_NATIVE_INT64, range[0], count, row));
    IKT_TRY(ikt_h5_read_rows(g->ctx, part[0], H5T_NATIVE_DOUBLE, range[0], count, value));
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = row[k] - g->first;
        if (i >= 0 && i < g->count) g->values[w * g->count + i] += value[k];
    }
    return IKT_OK;
}

static const char *const list_name[3] = {"data", "indices", "indptr"};

static ikt_status check_lists(genes *g, hid_t group, const hid_t part[3]) {
    int64_t shape[2] = {0, 0};
    for (int i = 0; i < 3; i++)
        if (ikt_h5_length(part[i]) < 0)
            return ikt_fail(g->ctx, IKT_ERR_DATA, "%s lacks its list %s", g->name, list_name[i]);
    if (!ikt_csr_group_shape(group, shape))
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s lacks 'shape', an attribute or a data set",
                        g->name);
    if (ikt_h5_length(part[2]) != shape[1] + 1)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s is damaged: indptr is not as long as its columns",
                        g->name);
    return check_shape(g, shape[0], shape[1]);
}

static ikt_status read_by_columns(genes *g, hid_t group) {
    const hid_t data IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(group, list_name[0]);
    const hid_t rows IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(group, list_name[1]);
    const hid_t starts IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(group, list_name[2]);
    const hid_t part[3] = {data, rows, starts};
    IKT_TRY(ikt_agree(g->ctx, check_lists(g, group, part)));
    for (int64_t w = 0; w < g->wanted; w++)
        IKT_TRY(take_column(g, w, part));
    return IKT_OK;
}

static ikt_status read_matrix(genes *g) {
    int64_t size[2];
    snprintf(g->name, sizeof g->name, "%s:/%s", g->path, g->matrix);
    const bool present = ikt_h5_has(g->file, g->matrix);
    IKT_TRY(
        ikt_agree(g->ctx, present ? IKT_OK : ikt_h5_no_table(g->ctx, g->file, g->path, g->matrix)));
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(g->file, g->matrix);
    const bool is_group = H5Iget_type(object) == H5I_GROUP;
    if (is_group && ikt_csc_is_here(object)) return read_by_columns(g, object);
    if (is_group || ikt_h5_shape(object, size) == 2) return read_by_rows(g);
    return ikt_agree(g->ctx, ikt_fail(g->ctx, IKT_ERR_DATA, "%s is no matrix", g->name));
}

ikt_status ikt_anndata_genes(ikt_context *ctx, const char *path, const char *matrix,
                             const char *const *names, int64_t wanted, int64_t n, int64_t first,
                             int64_t count, double *values) {
    genes g = {.ctx = ctx,
               .file = -1,
               .path = path,
               .matrix = matrix,
               .n = n,
               .first = first,
               .count = count,
               .names = names,
               .wanted = wanted,
               .values = values};
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    IKT_ARRAYS(held, ctx, purpose);
    g.column = ikt_claim(&held, wanted, sizeof *g.column);
    memset(values, 0, (size_t)(wanted * count) * sizeof *values);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t w = 0; w < wanted; w++)
        g.column[w] = -1;
    IKT_TRY(ikt_h5_open(ctx, path, &file));
    g.file = file;
    IKT_TRY(ikt_agree(ctx, find_columns(&g)));
    return read_matrix(&g);
}

/* --- colours of categories -------------------------------------------------------------------- */

/* "#rrggbb", or with an opacity "#rrggbbaa", which is left out. */
static int32_t parse_colour(const char *text) {
    char *end;
    const size_t length = strlen(text);
    if (text[0] != '#' || (length != 7 && length != 9)) return -1;
    const unsigned long value = strtoul(text + 1, &end, 16);
    if (*end) return -1;
    return (int32_t)(length == 9 ? value >> 8 : value);
}

static ikt_status take_colour(void *self, int64_t i, const char *text) {
    ((int32_t *)self)[i] = parse_colour(text);
    return IKT_OK;
}

ikt_status ikt_anndata_colours(ikt_context *ctx, const char *name, int64_t *count,
                               int32_t **colour) {
    ikt_place place;
    char list[IKT_PATH_MAX + 16];
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    *count = 0;
    *colour = NULL;
    IKT_TRY(ikt_place_find(ctx, name, &place));
    if (!place.is_hdf5) return IKT_OK;
    const char *last = strrchr(place.part, '/'); /* obs/NAME is the column NAME, too */
    snprintf(list, sizeof list, "uns/%s_colors", last ? last + 1 : place.part);
    IKT_TRY(ikt_h5_open(ctx, place.file, &file));
    const hid_t dataset IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(file, list);
    const int64_t length = ikt_h5_length(dataset);
    if (ikt_max_one(ctx, length > 0 && ikt_h5_is_text(dataset)) == 0) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, colour, length, sizeof **colour, "colours"));
    IKT_TRY(
        ikt_agree(ctx, ikt_h5_visit_texts(ctx, dataset, 0, length, false, take_colour, *colour)));
    *count = length;
    return IKT_OK;
}
