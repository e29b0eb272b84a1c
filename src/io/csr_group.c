/* Sparse matrices in groups of HDF5 files. See csr_group.h.
 *
 * Columns are read as 64-bit numbers through a buffer: HDF5 would turn what does not fit into 32
 * bits into numbers that do, and a negative column into column 0. */
#include "io/csr_group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/h5.h"

enum { PIECE = 1 << 20 }; /* entries that are read at a time */

static const char purpose[] = "sparse matrix";

/* --- opening ---------------------------------------------------------------------------------- */

/* LOCAL. A text attribute; "" where there is none. */
static ikt_status read_text(ikt_context *ctx, hid_t group, const char *name, char *text,
                            size_t size) {
    char *found = NULL;
    IKT_TRY(ikt_h5_get_text(ctx, group, name, &found));
    snprintf(text, size, "%s", found ? found : "");
    ikt_free(&found);
    return IKT_OK;
}

/* "csr_matrix", "csc_matrix", ...; "" where the group does not say. */
static ikt_status read_format(ikt_context *ctx, hid_t group, char *text, size_t size) {
    char old[16];
    IKT_TRY(read_text(ctx, group, "encoding-type", text, size));
    if (text[0]) return IKT_OK;
    IKT_TRY(read_text(ctx, group, "h5sparse_format", old, sizeof old));
    if (old[0]) snprintf(text, size, "%s_matrix", old);
    return IKT_OK;
}

static bool has_parts(hid_t group) {
    return ikt_h5_has(group, "data") && ikt_h5_has(group, "indices") && ikt_h5_has(group, "indptr");
}

bool ikt_csr_group_is(hid_t file, const char *path) {
    if (!ikt_h5_has(file, path)) return false;
    hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    const bool is_group = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    const bool is = is_group && (has_parts(object) || H5Aexists(object, "h5sparse_format") > 0);
    ikt_h5_close(object);
    return is;
}

static ikt_status read_shape(ikt_csr_group *g) {
    int64_t shape[2] = {0, 0};
    if (!ikt_h5_get_ints(g->group, "shape", 2, shape) &&
        !ikt_h5_get_ints(g->group, "h5sparse_shape", 2, shape))
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s has no attribute 'shape' of two integers, rows and columns", g->name);
    g->n = shape[0];
    g->d = shape[1];
    if (g->n < 1 || g->d < 1)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", g->name, (long long)g->n,
                        (long long)g->d);
    if (g->d < UINT32_MAX && g->n < INT64_MAX) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_RESOURCE, "%s has %lld columns; at most %lld can be used",
                    g->name, (long long)g->d, (long long)UINT32_MAX - 1);
}

/* Opens a data set of one dimension and learns its length and type. */
static ikt_status open_part(const ikt_csr_group *g, const char *name, hid_t *dataset,
                            int64_t *length, hid_t *type) {
    hsize_t size[1] = {0};
    *dataset = ikt_h5_has(g->group, name) ? H5Oopen(g->group, name, H5P_DEFAULT) : -1;
    const bool is_data = *dataset >= 0 && H5Iget_type(*dataset) == H5I_DATASET;
    hid_t space = is_data ? H5Dget_space(*dataset) : -1;
    *type = is_data ? H5Dget_type(*dataset) : -1;
    const bool flat = space >= 0 && *type >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, size, NULL) == 1;
    ikt_h5_close(space);
    *length = (int64_t)size[0];
    if (flat) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is no sparse matrix: it has no one-dimensional data set '%s'", g->name,
                    name);
}

static ikt_status open_integers(const ikt_csr_group *g, const char *name, hid_t *dataset,
                                int64_t *length) {
    hid_t type;
    ikt_status st = open_part(g, name, dataset, length, &type);
    const bool is_integer = type >= 0 && H5Tget_class(type) == H5T_INTEGER;
    ikt_h5_close(type);
    if (st == IKT_OK && !is_integer)
        st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s/%s does not hold integers", g->name, name);
    return st;
}

/* The type of ours that holds every value. */
static ikt_status choose_type(ikt_csr_group *g, hid_t type) {
    const H5T_class_t class = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    g->is_truth = class == H5T_ENUM && size == 1;
    if (g->is_truth || (class == H5T_INTEGER && size == 1 && H5Tget_sign(type) == H5T_SGN_NONE))
        g->type = IKT_TYPE_U8;
    else if ((class == H5T_FLOAT && size <= 4) || (class == H5T_INTEGER && size <= 2))
        g->type = IKT_TYPE_F32;
    else if ((class == H5T_FLOAT || class == H5T_INTEGER) && size <= 8)
        g->type = IKT_TYPE_F64;
    else
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s/data holds no numbers that can be used", g->name);
    return IKT_OK;
}

static ikt_status open_values(ikt_csr_group *g, int64_t *length) {
    hid_t type;
    ikt_status st = open_part(g, "data", &g->data, length, &type);
    if (st == IKT_OK) st = choose_type(g, type);
    ikt_h5_close(type);
    return st;
}

static ikt_status open_parts(ikt_csr_group *g) {
    int64_t starts, values;
    IKT_TRY(open_integers(g, "indptr", &g->indptr, &starts));
    IKT_TRY(open_integers(g, "indices", &g->indices, &g->entries));
    IKT_TRY(open_values(g, &values));
    if (starts - 1 != g->n)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s/indptr has %lld entries; %lld rows need %lld, one more than rows",
                        g->name, (long long)starts, (long long)g->n, (long long)g->n + 1);
    if (values == g->entries) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA, "%s has %lld indices but %lld values", g->name,
                    (long long)g->entries, (long long)values);
}

static ikt_status open_group(ikt_csr_group *g, hid_t file, const char *path) {
    char format[32], named[768] = "";
    H5Fget_name(file, named, sizeof named);
    snprintf(g->name, sizeof g->name, "%s:%s%.200s", named, path[0] == '/' ? "" : "/", path);
    hid_t object = ikt_h5_has(file, path) ? H5Oopen(file, path, H5P_DEFAULT) : -1;
    if (object < 0) return ikt_h5_missing(g->ctx, file, named, path);
    g->group = object;
    if (H5Iget_type(object) != H5I_GROUP)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s is a dense data set; a sparse matrix is needed",
                        g->name);
    IKT_TRY(read_format(g->ctx, g->group, format, sizeof format));
    if (format[0] && strcmp(format, "csr_matrix") != 0)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s is a %s; a sparse matrix by rows (csr_matrix) is needed, which scipy's "
                        ".tocsr() makes",
                        g->name, format);
    IKT_TRY(read_shape(g));
    return open_parts(g);
}

ikt_status ikt_csr_group_open(ikt_context *ctx, hid_t file, const char *path, ikt_csr_group *out) {
    *out = (ikt_csr_group){.ctx = ctx, .group = -1, .indptr = -1, .indices = -1, .data = -1};
    return ikt_agree(ctx, open_group(out, file, path));
}

void ikt_csr_group_close(ikt_csr_group *g) {
    ikt_h5_close(g->indptr);
    ikt_h5_close(g->indices);
    ikt_h5_close(g->data);
    ikt_h5_close(g->group);
    g->indptr = g->indices = g->data = g->group = -1;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ikt_status check_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                               const int64_t *start) {
    for (int64_t i = 0; i <= count; i++) {
        const int64_t before = i > 0 ? start[i - 1] : 0;
        const bool is_outer =
            (first + i == 0 && start[i] != 0) || (first + i == g->n && start[i] != g->entries);
        if (start[i] >= before && start[i] <= g->entries && !is_outer) continue;
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s/indptr[%lld] is %lld, where it has to rise from 0 to the number of "
                        "entries, %lld",
                        g->name, (long long)(first + i), (long long)start[i],
                        (long long)g->entries);
    }
    return IKT_OK;
}

ikt_status ikt_csr_group_starts(const ikt_csr_group *g, int64_t first, int64_t count,
                                int64_t *start) {
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->indptr, H5T_NATIVE_INT64, first, count + 1, start));
    return ikt_agree(g->ctx, check_starts(g, first, count, start));
}

int64_t ikt_csr_row_of(int64_t first, int64_t count, const int64_t *start, int64_t e) {
    int64_t low = 0, high = count; /* the last row that begins at or before the entry */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (start[middle] - start[0] <= e)
            low = middle;
        else
            high = middle;
    }
    return first + low;
}

/* Takes `count` columns over, the first being entry e of the rows. */
static ikt_status take_columns(const ikt_csr_group *g, int64_t first, int64_t rows,
                               const int64_t *start, int64_t e, int64_t count, const int64_t *from,
                               uint32_t *column) {
    for (int64_t i = 0; i < count; i++) {
        if (from[i] < 0 || from[i] >= g->d)
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s, row %lld: an entry is in column %lld, but columns go from 0 to "
                            "%lld",
                            g->name, (long long)ikt_csr_row_of(first, rows, start, e + i),
                            (long long)from[i], (long long)g->d - 1);
        column[e + i] = (uint32_t)from[i];
    }
    return IKT_OK;
}

ikt_status ikt_csr_group_columns(const ikt_csr_group *g, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column) {
    const int64_t entries = start[count] - start[0], room = entries < PIECE ? entries : PIECE;
    const int64_t steps = ikt_max_one(g->ctx, (entries + PIECE - 1) / PIECE);
    int64_t *piece = NULL;
    ikt_status st = ikt_agree(g->ctx, ikt_alloc(g->ctx, &piece, room, sizeof *piece, purpose));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const int64_t done = step * PIECE < entries ? step * PIECE : entries;
        const int64_t now = entries - done < PIECE ? entries - done : PIECE;
        st = ikt_h5_read_rows(g->ctx, g->indices, H5T_NATIVE_INT64, start[0] + done, now, piece);
        if (st == IKT_OK)
            st = ikt_agree(g->ctx, take_columns(g, first, count, start, done, now, piece, column));
    }
    ikt_free(&piece);
    return st;
}

static hid_t memory_type(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

/* Entry of the first value that is not finite; -1: all are. */
static int64_t find_infinite(ikt_type type, int64_t count, const void *value) {
    const float *single = value;
    const double *precise = value;
    for (int64_t e = 0; type == IKT_TYPE_F32 && e < count; e++)
        if (!isfinite(single[e])) return e;
    for (int64_t e = 0; type == IKT_TYPE_F64 && e < count; e++)
        if (!isfinite(precise[e])) return e;
    return -1;
}

/* Bytes to the wider type, from the last one so that they may stand in its place. */
static void widen(ikt_type type, int64_t count, void *value) {
    const uint8_t *bytes = value;
    for (int64_t e = count - 1; type == IKT_TYPE_F32 && e >= 0; e--) {
        const float wide = bytes[e];
        memcpy((char *)value + e * (int64_t)sizeof wide, &wide, sizeof wide);
    }
    for (int64_t e = count - 1; type == IKT_TYPE_F64 && e >= 0; e--) {
        const double wide = bytes[e];
        memcpy((char *)value + e * (int64_t)sizeof wide, &wide, sizeof wide);
    }
}

/* Truth values are an enumeration, which HDF5 does not turn into numbers. */
static ikt_status read_truths(const ikt_csr_group *g, int64_t first, int64_t count, ikt_type type,
                              void *value) {
    hid_t stored = H5Dget_type(g->data);
    ikt_status st = ikt_agree(
        g->ctx,
        stored >= 0 ? IKT_OK : ikt_fail(g->ctx, IKT_ERR_FILE, "%s/data cannot be read", g->name));
    if (st == IKT_OK) st = ikt_h5_read_rows(g->ctx, g->data, stored, first, count, value);
    ikt_h5_close(stored);
    if (st == IKT_OK) widen(type, count, value);
    return st;
}

ikt_status ikt_csr_group_values(const ikt_csr_group *g, int64_t first, int64_t count,
                                const int64_t *start, const uint32_t *column, ikt_type type,
                                void *value) {
    const int64_t entries = start[count] - start[0];
    if (type == IKT_TYPE_U8 && g->type != IKT_TYPE_U8)
        return ikt_fail(g->ctx, IKT_ERR_INTERNAL, "%s holds no bytes", g->name);
    if (g->is_truth) return read_truths(g, start[0], entries, type, value);
    IKT_TRY(ikt_h5_read_rows(g->ctx, g->data, memory_type(type), start[0], entries, value));
    const int64_t bad = find_infinite(type, entries, value);
    if (bad < 0) return ikt_agree(g->ctx, IKT_OK);
    return ikt_agree(g->ctx, ikt_fail(g->ctx, IKT_ERR_DATA,
                                      "%s, row %lld, column %lld: not a finite number", g->name,
                                      (long long)ikt_csr_row_of(first, count, start, bad),
                                      (long long)column[bad]));
}
