/* Genes and colours of AnnData files. See labels.h. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/sources/labels.h"

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
    categories c = {.genes = g};
    hid_t names = H5Dopen2(group, "categories", H5P_DEFAULT);
    hid_t codes = H5Dopen2(group, "codes", H5P_DEFAULT);
    const int64_t count = ikt_h5_length(codes);
    int64_t *code = NULL;
    ikt_status st = ikt_alloc(g->ctx, &c.code, g->wanted, sizeof *c.code, purpose);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &code, count > 0 ? count : 0, sizeof *code, purpose);
    for (int64_t w = 0; w < g->wanted && st == IKT_OK; w++)
        c.code[w] = -1;
    if (st == IKT_OK && count > 0 && ikt_h5_length(names) > 0)
        st = ikt_h5_visit_texts(g->ctx, names, 0, ikt_h5_length(names), match_category, &c);
    const bool is_read = st == IKT_OK && count > 0 &&
                         H5Dread(codes, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, code) >= 0;
    for (int64_t i = 0; i < count && is_read; i++)
        for (int64_t w = 0; w < g->wanted; w++)
            if (g->column[w] < 0 && c.code[w] >= 0 && code[i] == c.code[w]) g->column[w] = i;
    ikt_free(&c.code);
    ikt_free(&code);
    ikt_h5_close(names);
    ikt_h5_close(codes);
    return st;
}

/* LOCAL. Looks the names up in column NAME of var, if there is one. */
static ikt_status look_up(genes *g, hid_t var, const char *name) {
    hid_t object = name[0] && ikt_h5_has(var, name) ? ikt_h5_open_object(var, name) : -1;
    ikt_status st = IKT_OK;
    if (object >= 0 && H5Iget_type(object) == H5I_GROUP && ikt_h5_has(object, "codes") &&
        ikt_h5_has(object, "categories"))
        st = match_codes(g, object);
    else if (object >= 0 && H5Iget_type(object) == H5I_DATASET && ikt_h5_length(object) > 0)
        st = ikt_h5_visit_texts(g->ctx, object, 0, ikt_h5_length(object), match, g);
    ikt_h5_close(object);
    return st;
}

/* COLLECTIVE. The numbers of the genes: the index of var first, then what other tools call the
 * names of genes. */
static ikt_status find_columns(genes *g) {
    static const char *const others[] = {"feature_name", "gene_symbols", "gene_name",
                                         "gene_short_name"};
    const char *const var_path = strncmp(g->matrix, "raw/", 4) == 0 ? "raw/var" : "var";
    hid_t var = ikt_h5_has(g->file, var_path) ? ikt_h5_open_object(g->file, var_path) : -1;
    char index[NAME_SIZE] = "";
    ikt_status st = IKT_OK;
    if (var < 0 || H5Iget_type(var) != H5I_GROUP)
        st = ikt_fail(g->ctx, IKT_ERR_DATA,
                      "%s has no group %s, so it has no genes by name; --genes-from names an "
                      "AnnData file (.h5ad)",
                      g->path, var_path);
    if (st == IKT_OK) ikt_h5_short_text(var, "_index", index, sizeof index);
    if (st == IKT_OK) st = look_up(g, var, index[0] ? index : "_index");
    for (size_t o = 0; o < sizeof others / sizeof *others && st == IKT_OK; o++)
        st = look_up(g, var, others[o]);
    for (int64_t w = 0; w < g->wanted && st == IKT_OK; w++)
        if (g->column[w] < 0)
            st = ikt_fail(g->ctx, IKT_ERR_DATA, "--genes: %s has no gene '%s' in its %s", g->path,
                          g->names[w], var_path);
    ikt_h5_close(var);
    return ikt_agree(g->ctx, st);
}

/* --- the three forms of a matrix -------------------------------------------------------------- */

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

/* COLLECTIVE. Blocks of rows, all of their columns, as they stand in the file. */
static ikt_status read_dense(genes *g, hid_t dataset) {
    hsize_t size[2] = {0, 0};
    hid_t space = H5Dget_space(dataset);
    const bool is_matrix =
        H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) == 2;
    ikt_h5_close(space);
    const int64_t d = (int64_t)size[1], block = d > 0 && d < BLOCK_NUMBERS ? BLOCK_NUMBERS / d : 1;
    double *rows = NULL;
    ikt_status st = is_matrix ? check_shape(g, (int64_t)size[0], d)
                              : ikt_fail(g->ctx, IKT_ERR_DATA, "%s is no matrix", g->name);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &rows, block * d, sizeof *rows, purpose);
    st = ikt_agree(g->ctx, st);
    const int64_t most = ikt_max_one(g->ctx, g->count);
    for (int64_t done = 0; done < most && st == IKT_OK; done += block) {
        const int64_t left = g->count - done, now = left < 0 ? 0 : left < block ? left : block;
        st = ikt_h5_read_rows(g->ctx, dataset, H5T_NATIVE_DOUBLE, now > 0 ? g->first + done : 0,
                              now, rows);
        for (int64_t i = 0; i < now && st == IKT_OK; i++)
            for (int64_t w = 0; w < g->wanted; w++)
                g->values[w * g->count + done + i] = rows[i * d + g->column[w]];
    }
    ikt_free(&rows);
    return st;
}

/* What reading by rows needs beside; freed as one. */
typedef struct {
    int64_t *start; /* [count + 1] */
    uint32_t *column;
    double *value;
} entries;

/* COLLECTIVE. The entries of rows done .. upto - 1. Entries of one place add up, as in scipy. */
static ikt_status take_entries(genes *g, const ikt_csr_group *csr, entries *e, int64_t done,
                               int64_t upto) {
    const int64_t count = e->start[upto] - e->start[done], now = upto - done;
    ikt_status st = ikt_reserve(g->ctx, &e->column, count, sizeof *e->column, purpose);
    if (st == IKT_OK) st = ikt_reserve(g->ctx, &e->value, count, sizeof *e->value, purpose);
    IKT_TRY(ikt_agree(g->ctx, st));
    IKT_TRY(ikt_csr_group_entries(csr, now > 0 ? g->first + done : 0, now, e->start + done,
                                  e->column, e->value));
    for (int64_t i = done; i < upto; i++)
        for (int64_t k = e->start[i] - e->start[done]; k < e->start[i + 1] - e->start[done]; k++)
            for (int64_t w = 0; w < g->wanted; w++)
                if (e->column[k] == (uint32_t)g->column[w])
                    g->values[w * g->count + i] += e->value[k];
    return IKT_OK;
}

static ikt_status read_by_rows(genes *g, hid_t group) {
    ikt_csr_group csr;
    entries e = {NULL, NULL, NULL};
    ikt_status st = ikt_csr_group_open(g->ctx, group, g->name, UINT32_MAX, &csr);
    if (st == IKT_OK) st = check_shape(g, csr.n, csr.d);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &e.start, g->count + 1, sizeof *e.start, purpose);
    st = ikt_agree(g->ctx, st);
    if (st == IKT_OK)
        st = ikt_csr_group_starts(&csr, g->count > 0 ? g->first : 0, g->count, e.start);
    for (int64_t done = 0; st == IKT_OK;) {
        int64_t upto = done; /* at least a row, as many as a block of entries holds */
        while (upto < g->count &&
               (upto == done || e.start[upto + 1] - e.start[done] < BLOCK_NUMBERS))
            upto++;
        if (ikt_max_one(g->ctx, upto - done) == 0) break;
        st = take_entries(g, &csr, &e, done, upto);
        done = upto;
    }
    ikt_free(&e.start);
    ikt_free(&e.column);
    ikt_free(&e.value);
    ikt_csr_group_close(&csr);
    return st;
}

/* COLLECTIVE. The entries of one gene, which all ranks read. */
static ikt_status take_column(genes *g, int64_t w, const hid_t part[3]) {
    int64_t range[2] = {0, 0}, *row = NULL;
    double *value = NULL;
    IKT_TRY(ikt_h5_read_rows(g->ctx, part[2], H5T_NATIVE_INT64, g->column[w], 2, range));
    const int64_t count = range[1] - range[0];
    ikt_status st = IKT_OK;
    if (range[0] < 0 || count < 0 || range[1] > ikt_h5_length(part[0]) ||
        range[1] > ikt_h5_length(part[1]))
        st = ikt_fail(g->ctx, IKT_ERR_DATA,
                      "%s is damaged: column %" PRId64 " has entries %" PRId64 " to %" PRId64,
                      g->name, g->column[w], range[0], range[1]);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &row, count, sizeof *row, purpose);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &value, count, sizeof *value, purpose);
    st = ikt_agree(g->ctx, st);
    if (st == IKT_OK && count > 0)
        st = ikt_h5_read_rows(g->ctx, part[1], H5T_NATIVE_INT64, range[0], count, row);
    if (st == IKT_OK && count > 0)
        st = ikt_h5_read_rows(g->ctx, part[0], H5T_NATIVE_DOUBLE, range[0], count, value);
    for (int64_t k = 0; k < count && st == IKT_OK; k++) {
        const int64_t i = row[k] - g->first;
        if (i >= 0 && i < g->count) g->values[w * g->count + i] += value[k];
    }
    ikt_free(&row);
    ikt_free(&value);
    return st;
}

static ikt_status read_by_columns(genes *g, hid_t group) {
    static const char *const names[3] = {"data", "indices", "indptr"};
    hid_t part[3] = {-1, -1, -1};
    int64_t shape[2] = {0, 0};
    ikt_status st = IKT_OK;
    for (int i = 0; i < 3 && st == IKT_OK; i++) {
        part[i] = ikt_h5_has(group, names[i]) ? H5Dopen2(group, names[i], H5P_DEFAULT) : -1;
        if (ikt_h5_length(part[i]) < 0)
            st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s lacks its list %s", g->name, names[i]);
    }
    if (st == IKT_OK && !ikt_csr_group_shape(group, shape))
        st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s lacks the attribute 'shape'", g->name);
    if (st == IKT_OK && ikt_h5_length(part[2]) != shape[1] + 1)
        st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s is damaged: indptr is not as long as its columns",
                      g->name);
    if (st == IKT_OK) st = check_shape(g, shape[0], shape[1]);
    st = ikt_agree(g->ctx, st);
    for (int64_t w = 0; w < g->wanted && st == IKT_OK; w++)
        st = take_column(g, w, part);
    for (int i = 0; i < 3; i++)
        ikt_h5_close(part[i]);
    ikt_h5_close(group);
    return st;
}

static ikt_status read_matrix(genes *g) {
    snprintf(g->name, sizeof g->name, "%s:/%s", g->path, g->matrix);
    const bool present = ikt_h5_has(g->file, g->matrix);
    IKT_TRY(
        ikt_agree(g->ctx, present ? IKT_OK : ikt_h5_no_table(g->ctx, g->file, g->path, g->matrix)));
    hid_t object = ikt_h5_open_object(g->file, g->matrix);
    const H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
    if (type == H5I_GROUP)
        return ikt_csc_is_here(object) ? read_by_columns(g, object) : read_by_rows(g, object);
    ikt_status st =
        type == H5I_DATASET
            ? read_dense(g, object)
            : ikt_agree(g->ctx, ikt_fail(g->ctx, IKT_ERR_DATA, "%s is no matrix", g->name));
    ikt_h5_close(object);
    return st;
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
    memset(values, 0, (size_t)(wanted * count) * sizeof *values);
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &g.column, wanted, sizeof *g.column, purpose)));
    for (int64_t w = 0; w < wanted; w++)
        g.column[w] = -1;
    ikt_status st = ikt_h5_open(ctx, path, &g.file);
    if (st == IKT_OK) st = find_columns(&g);
    if (st == IKT_OK) st = read_matrix(&g);
    ikt_h5_close(g.file);
    ikt_free(&g.column);
    return st;
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
    hid_t file = -1, dataset = -1;
    *count = 0;
    *colour = NULL;
    IKT_TRY(ikt_place_find(ctx, name, &place));
    if (!place.is_hdf5) return IKT_OK;
    const char *last = strrchr(place.part, '/'); /* obs/NAME is the column NAME, too */
    snprintf(list, sizeof list, "uns/%s_colors", last ? last + 1 : place.part);
    IKT_TRY(ikt_h5_open(ctx, place.file, &file));
    ikt_status st = IKT_OK;
    if (ikt_h5_has(file, list)) dataset = H5Dopen2(file, list, H5P_DEFAULT);
    const int64_t length = ikt_h5_length(dataset);
    if (length > 0 && ikt_h5_is_text(dataset)) {
        st = ikt_agree(ctx, ikt_alloc(ctx, colour, length, sizeof **colour, "colours"));
        if (st == IKT_OK) st = ikt_h5_visit_texts(ctx, dataset, 0, length, take_colour, *colour);
        if (st == IKT_OK) *count = length;
    }
    ikt_h5_close(dataset);
    ikt_h5_close(file);
    return ikt_agree(ctx, st);
}
