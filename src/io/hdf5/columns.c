/* One-dimensional data sets: numbers and texts. See columns.h. */
#include "io/hdf5/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
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
    const hid_t type IKT_AT_END(ikt_h5_end) = c->dataset < 0 ? -1 : H5Dget_type(c->dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    int64_t size[2];
    const int dimensions = ikt_h5_shape(c->dataset, size);
    c->is_across = dimensions == 2 && size[1] != 1;
    c->length = size[c->is_across];
    c->is_real = class == H5T_FLOAT;
    c->is_wide = class == H5T_INTEGER && bytes == 8 && H5Tget_sign(type) == H5T_SGN_NONE;
    if ((dimensions == 1 || dimensions == 2) && (!c->is_across || size[0] == 1) &&
        bytes <= sizeof(double) &&
        (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM))
        return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' is not a one-dimensional data set of numbers",
                    c->path, c->name);
}

/* COLLECTIVE. Opens the data set c->name of `file`.
 *   n   entries that it must have, or ikt_at_least(m) */
static ikt_status open_dataset(ikt_column *c, hid_t file, int64_t n) {
    c->dataset = H5Dopen2(file, c->name, H5P_DEFAULT);
    ikt_status st = measure(c);
    if (st == IKT_OK && !ikt_entries_fit(c->length, n))
        st = ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s' has %lld entries, but there are %lld rows",
                      c->path, c->name, (long long)c->length, (long long)ikt_entries_wanted(n));
    return ikt_agree(c->ctx, st);
}

static void release(ikt_column *c) {
    ikt_h5_close(c->dataset);
    ikt_h5_close(c->file);
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
    IKT_ARRAYS(held, c->ctx, "labels"); /* integers may be stored as floating numbers */
    double *reals = c->is_real ? ikt_claim(&held, count, sizeof *reals) : NULL;
    ikt_status st = IKT_OK;
    char text[IKT_INTEGER_TEXT];
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(reals ? ikt_column_read_reals(c, first, count, reals)
                  : read_range(c, c->is_wide ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, first, count,
                               values));
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        if (reals && (!(fabs(reals[i]) < 9e15) || reals[i] != floor(reals[i])))
            st = ikt_fail(c->ctx, IKT_ERR_DATA, "%s: '%s', row %lld: %g is not an integer", c->path,
                          c->name, (long long)(first + i), reals[i]);
        else if (reals)
            values[i] = (int64_t)reals[i];
        /* Integers that int64 does not hold would all become the greatest that it does: a class. */
        else if (c->is_wide && values[i] < 0)
            st = ikt_fail(c->ctx, IKT_ERR_DATA,
                          "%s: '%s', row %lld: %s is more than 2^63 - 1, the largest integer "
                          "that is read here; number the classes from 0",
                          c->path, c->name, (long long)(first + i),
                          ikt_integer_text(values[i], true, text));
    }
    return ikt_agree(c->ctx, st);
}

ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present) {
    ikt_column c IKT_AT_END(release) = column_of(ctx, path, name);
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, name, present)));
    *present = ikt_max_one(ctx, *present) > 0;
    if (!*present) return IKT_OK;
    IKT_TRY(open_dataset(&c, file, n));
    return ikt_column_read_wholes(&c, first, count, values);
}

ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n_file,
                           int64_t n, int64_t **rows, int64_t *count) {
    ikt_column c IKT_AT_END(release) = column_of(ctx, path, "marked");
    bool present;
    *rows = NULL;
    *count = 0;
    IKT_TRY(ikt_agree(ctx, ikt_h5_find(ctx, file, path, c.name, &present)));
    if (ikt_max_one(ctx, present) == 0) return IKT_OK;
    IKT_TRY(open_dataset(&c, file, -1));
    IKT_TRY(ikt_alloc_all(ctx, rows, c.length, sizeof **rows, "marked rows"));
    ikt_status st = ikt_column_read_wholes(&c, 0, c.length, *rows);
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
    return st;
}

/* --- columns of any file ---------------------------------------------------------------------- */

/* COLLECTIVE. Opens the file and what is meant in it. */
static ikt_status open_named(ikt_column *c, const char *dataset, int64_t n) {
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_h5_open(c->ctx, c->path, &c->file));
    if (!ikt_h5_has(c->file, dataset))
        snprintf(c->name, sizeof c->name, "obs/%s", dataset); /* as AnnData has them */
    if (!ikt_h5_has(c->file, c->name)) st = ikt_h5_missing(c->ctx, c->file, c->path, dataset);
    IKT_TRY(ikt_agree(c->ctx, st));
    return open_dataset(c, c->file, n);
}

ikt_status ikt_column_open(ikt_context *ctx, const char *path, const char *dataset, int64_t n,
                           ikt_column **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "column"));
    **out = column_of(ctx, path, dataset);
    const ikt_status st = open_named(*out, dataset, n);
    if (st != IKT_OK) ikt_column_close(out);
    return st;
}

void ikt_column_close(ikt_column **column) {
    if (!*column) return;
    release(*column);
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

/* --- texts ------------------------------------------------------------------------------------ */

enum { BLOCK = 1024, TEXT_MOST = 1024 };
static const int64_t fixed_most = 1 << 16; /* bytes of a string of fixed length */

void ikt_h5_warn_latin1(ikt_context *ctx, const char *name) {
    ikt_warn(ctx, "%s holds texts that are not UTF-8; they are read as Latin-1 (ISO 8859-1)", name);
}

/* How a data set is read. */
typedef struct {
    ikt_context *ctx;
    hid_t dataset, type; /* type: of the elements in memory */
    H5T_class_t class;
    bool is_variable;
    bool is_unsigned;
    bool is_utf8;  /* false where a text was not */
    bool is_whole; /* texts of any length, line breaks and all */
    char *text;    /* [capacity] of an element */
    int64_t capacity;
    char name[512];
} texts;

/* Whether a data set is a cell array of MATLAB's, n x 1 or 1 x n, whose elements refer to texts. */
static bool has_cells(hid_t dataset, int64_t size[2]) {
    char class[8];
    return ikt_h5_class(dataset) == H5T_REFERENCE && ikt_h5_shape(dataset, size) == 2 &&
           (size[0] == 1 || size[1] == 1) &&
           strcmp(ikt_h5_short_text(dataset, "MATLAB_class", class, sizeof class), "cell") == 0;
}

int64_t ikt_h5_length(hid_t dataset) {
    int64_t size[2];
    if (has_cells(dataset, size)) return size[0] * size[1];
    return ikt_h5_shape(dataset, size) == 1 ? size[0] : -1;
}

bool ikt_h5_is_text(hid_t dataset) {
    int64_t size[2];
    return ikt_h5_class(dataset) == H5T_STRING || has_cells(dataset, size);
}

/* Numbers come as double, int64 or uint64; strings as they are, of fixed length with one byte more
 * for a zero. */
static hid_t memory_type(texts *t) {
    const hid_t stored IKT_AT_END(ikt_h5_end) = H5Dget_type(t->dataset);
    t->class = stored < 0 ? H5T_NO_CLASS : H5Tget_class(stored);
    t->is_variable = t->class == H5T_STRING && H5Tis_variable_str(stored) > 0;
    if (t->class == H5T_FLOAT) return H5Tcopy(H5T_NATIVE_DOUBLE);
    t->is_unsigned = t->class == H5T_INTEGER && H5Tget_sign(stored) == H5T_SGN_NONE;
    if (t->class == H5T_INTEGER || t->class == H5T_ENUM)
        return H5Tcopy(t->is_unsigned ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64);
    if (t->class == H5T_REFERENCE) return H5Tcopy(H5T_STD_REF_OBJ);
    if (t->class != H5T_STRING) return -1;
    const size_t length = H5Tget_size(stored);
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_cset(type, H5Tget_cset(stored)) >= 0 &&
        (t->is_variable || length < (size_t)fixed_most) &&
        H5Tset_size(type, t->is_variable ? H5T_VARIABLE : length + 1) >= 0)
        return type;
    ikt_h5_close(type);
    return -1;
}

/* A character of UTF-16 as UTF-8, with the half that may follow; returns how many were taken. */
static int put_character(const uint16_t *unit, int64_t left, char **to) {
    uint32_t code = unit[0];
    const bool is_pair = left > 1 && code >> 10 == 0x36 && unit[1] >> 10 == 0x37;
    if (is_pair) code = 0x10000u + ((code & 0x3FFu) << 10) + (unit[1] & 0x3FFu);
    if (!is_pair && code >> 11 == 0x1B) code = IKT_UTF8_REPLACEMENT; /* half of a pair */
    *to += ikt_utf8_encode(code, *to);
    return 1 + is_pair;
}

/* Makes t->text the text that an element of a cell array refers to: characters of 16 bits. */
static ikt_status text_of_cell(texts *t, const char *element) {
    hobj_ref_t reference;
    int64_t size[2], is_empty = 0;
    memcpy(&reference, element, sizeof reference);
    const hid_t cell IKT_AT_END(ikt_h5_end) =
        H5Rdereference2(t->dataset, H5P_DEFAULT, H5R_OBJECT, &reference);
    char class[8] = "";
    if (H5Iget_type(cell) == H5I_DATASET && ikt_h5_class(cell) == H5T_INTEGER)
        ikt_h5_short_text(cell, "MATLAB_class", class, sizeof class);
    const bool is_known = strcmp(class, "char") == 0 && ikt_h5_shape(cell, size) >= 1;
    const bool is_short = is_known && size[0] >= 0 && size[0] <= fixed_most && size[1] >= 0 &&
                          size[1] <= fixed_most; /* so that their product is none that wraps */
    const int64_t length = is_short ? size[0] * size[1] : -1;
    if (length < 0 || length > fixed_most)
        return ikt_fail(t->ctx, IKT_ERR_DATA, "%s: an element of the cell array is no text",
                        t->name);
    if (ikt_h5_get_int(cell, "MATLAB_empty", &is_empty) && is_empty) {
        t->text[0] = '\0';
        return IKT_OK;
    }
    IKT_ARRAYS(held, t->ctx, "texts");
    uint16_t *unit = ikt_claim(&held, length, sizeof *unit);
    if (3 * length + 1 > t->capacity) {
        IKT_TRY(held.status);
        IKT_TRY(ikt_resize(t->ctx, &t->text, 3 * length + 1, 1, "texts"));
        t->capacity = 3 * length + 1;
    }
    IKT_TRY(held.status);
    if (H5Dread(cell, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, unit) < 0)
        return ikt_fail(t->ctx, IKT_ERR_FILE, "%s: an element of the cell array cannot be read",
                        t->name);
    char *to = t->text;
    for (int64_t i = 0; i < length;)
        i += put_character(unit + i, length - i, &to);
    *to = '\0';
    if (!t->is_whole) ikt_make_printable(t->text);
    return IKT_OK;
}

/* Makes t->text the text of an element. */
static ikt_status text_of(texts *t, const char *element) {
    const char *string = element;
    int64_t whole = 0;
    double real = 0;
    if (t->is_variable) memcpy(&string, element, sizeof string);
    if (!string) string = "";
    memcpy(&whole, element, t->class == H5T_STRING ? 0 : sizeof whole);
    memcpy(&real, element, t->class == H5T_FLOAT ? sizeof real : 0);
    int64_t needed = TEXT_MOST;
    if (t->is_whole && t->class == H5T_STRING) needed += 2 * (int64_t)strlen(string);
    if (needed > t->capacity) {
        IKT_TRY(ikt_resize(t->ctx, &t->text, needed, 1, "texts"));
        t->capacity = needed;
    }
    if (t->class == H5T_REFERENCE) return text_of_cell(t, element);
    if (t->class == H5T_STRING)
        t->is_utf8 &= ikt_utf8_copy(string, t->text, (size_t)needed);
    else if (t->class == H5T_FLOAT)
        snprintf(t->text, TEXT_MOST, "%.10g", real);
    else if (t->is_unsigned)
        snprintf(t->text, TEXT_MOST, "%" PRIu64, (uint64_t)whole);
    else
        snprintf(t->text, TEXT_MOST, "%" PRId64, whole);
    if (!t->is_whole) ikt_make_printable(t->text);
    return IKT_OK;
}

static void texts_end(texts *t) {
    ikt_free(&t->text);
    ikt_h5_close(t->type);
}

/* Reads elements and hands each to `visit`. */
static ikt_status visit_block(texts *t, int64_t first, int64_t count, char *elements,
                              ikt_text_visitor *visit, void *self) {
    const size_t size = H5Tget_size(t->type);
    int64_t all[2];
    const bool is_row = has_cells(t->dataset, all) && all[0] == 1;
    const hsize_t start[2] = {is_row ? 0 : (hsize_t)first, is_row ? (hsize_t)first : 0};
    const hsize_t part[2] = {is_row ? 1 : (hsize_t)count, is_row ? (hsize_t)count : 1};
    const hsize_t length = (hsize_t)count;
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Dget_space(t->dataset);
    const hid_t here IKT_AT_END(ikt_h5_end) = H5Screate_simple(1, &length, NULL);
    char reason[256];
    ikt_status st = IKT_OK;
    memset(elements, 0, (size_t)count * size);
    if (space < 0 || here < 0 ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL) < 0 ||
        H5Dread(t->dataset, t->type, here, space, H5P_DEFAULT, elements) < 0)
        st = ikt_fail(t->ctx, IKT_ERR_FILE, "%s: rows %lld to %lld cannot be read: %s", t->name,
                      (long long)first, (long long)(first + count - 1),
                      ikt_h5_reason(reason, sizeof reason));
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        st = text_of(t, elements + (size_t)i * size);
        if (st == IKT_OK) st = visit(self, first + i, t->text);
    }
    /* HDF5 holds the strings of variable length of a block until they are given back. */
    if (t->is_variable && here >= 0) ikt_h5_give_back(t->type, here, elements);
    return st;
}

ikt_status ikt_h5_visit_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                              bool is_whole, ikt_text_visitor *visit, void *self) {
    texts t IKT_AT_END(texts_end) = {
        .ctx = ctx, .dataset = dataset, .is_utf8 = true, .is_whole = is_whole};
    IKT_ARRAYS(held, ctx, "class names");
    ikt_h5_name(dataset, t.name, sizeof t.name);
    t.type = memory_type(&t);
    if (t.type < 0 || ikt_h5_length(dataset) < 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is no list of texts or numbers", t.name);
    if (ikt_size(ctx) > 1)
        IKT_TRY(ikt_h5_check_stays(ctx, dataset));
    else if (first == 0)
        IKT_TRY(ikt_h5_check_parts(ctx, dataset, t.name));
    char *elements = ikt_claim(&held, BLOCK, H5Tget_size(t.type));
    ikt_status st = held.status;
    for (int64_t done = 0; done < count && st == IKT_OK; done += BLOCK)
        st = visit_block(&t, first + done, count - done < BLOCK ? count - done : BLOCK, elements,
                         visit, self);
    if (!t.is_utf8) ikt_h5_warn_latin1(ctx, t.name);
    return st;
}

/* Of one byte, as truth values are. */
ikt_status ikt_h5_enum_names(ikt_context *ctx, hid_t dataset, char **names) {
    const hid_t type IKT_AT_END(ikt_h5_end) = dataset < 0 ? -1 : H5Dget_type(dataset);
    const int members = type >= 0 && H5Tget_class(type) == H5T_ENUM && H5Tget_size(type) == 1
                            ? H5Tget_nmembers(type)
                            : 0;
    size_t used = 0;
    ikt_status st = IKT_OK;
    *names = NULL;
    if (members > 0 && members <= INT8_MAX)
        st = ikt_alloc(ctx, names, members * (TEXT_MOST + 1) + 1, 1, "class names");
    for (int m = 0; m < members && *names; m++) {
        char stored[TEXT_MOST / 2], name[TEXT_MOST];
        const int8_t value = (int8_t)m;
        if (H5Tenum_nameof(type, &value, stored, sizeof stored) < 0) {
            ikt_free(names); /* its members are not 0, 1, ... */
            break;
        }
        (void)ikt_utf8_copy(stored, name, sizeof name);
        ikt_make_printable(name);
        used += (size_t)snprintf(*names + used, TEXT_MOST + 1, "%s\n", name);
    }
    H5Eclear2(H5E_DEFAULT);
    return st;
}

/* --- DataFrames ------------------------------------------------------------------------------- */

bool ikt_h5_is_frame(hid_t group) {
    char text[16];
    return strcmp(ikt_h5_short_text(group, "encoding-type", text, sizeof text), "dataframe") == 0 &&
           ikt_h5_has_attribute(group, "column-order");
}

/* Strings of variable length, as anndata writes them. */
static ikt_status open_columns(ikt_context *ctx, hid_t group, hid_t attribute, int64_t count,
                               hid_t *column) {
    char frame[512];
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Aget_type(attribute);
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Aget_space(attribute);
    ikt_h5_name(group, frame, sizeof frame);
    IKT_ARRAYS(held, ctx, "columns");
    char **name = ikt_claim(&held, count, sizeof *name);
    IKT_TRY(held.status);
    if (H5Tis_variable_str(type) <= 0 || H5Aread(attribute, type, name) < 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s: the names of its columns cannot be read", frame);
    ikt_status st = IKT_OK;
    for (int64_t c = 0; c < count && st == IKT_OK; c++) {
        column[c] = ikt_h5_open_dataset(group, name[c] ? name[c] : "");
        if (column[c] < 0)
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s: its column '%.200s' is no list of numbers", frame,
                          name[c] ? name[c] : "");
    }
    ikt_h5_give_back(type, space, name);
    return st;
}

ikt_status ikt_h5_open_frame(ikt_context *ctx, hid_t group, hid_t **column, int64_t *count) {
    const hid_t attribute IKT_AT_END(ikt_h5_end) = H5Aopen(group, "column-order", H5P_DEFAULT);
    const hid_t space IKT_AT_END(ikt_h5_end) = attribute < 0 ? -1 : H5Aget_space(attribute);
    const int64_t points = space < 0 ? 0 : (int64_t)H5Sget_simple_extent_npoints(space);
    *count = 0;
    if (points < 1) return ikt_fail(ctx, IKT_ERR_DATA, "a DataFrame has no columns");
    IKT_TRY(ikt_alloc(ctx, column, points, sizeof **column, "columns"));
    for (int64_t c = 0; c < points; c++)
        (*column)[c] = -1;
    *count = points;
    return open_columns(ctx, group, attribute, points, *column);
}
