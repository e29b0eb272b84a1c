/* Sparse matrices that stand column after column. */
#include "io/csc_h5.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/h5.h"
#include "io/h5_texts.h"

/* A list of numbers in the group. */
typedef struct {
    hid_t dataset;
    H5T_class_t class;
    size_t size; /* bytes of an element */
    int64_t length;
} part;

static bool is_matlab(hid_t group) {
    return ikt_h5_has_attribute(group, "MATLAB_sparse");
}

bool ikt_csc_is_here(hid_t group) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    char text[16];
    bool is_csc = is_matlab(group);
    for (size_t a = 0; a < sizeof names / sizeof *names; a++)
        is_csc |= strncmp(ikt_h5_short_text(group, names[a], text, sizeof text), "csc", 3) == 0;
    return is_csc;
}

ikt_status ikt_csc_refuse(ikt_context *ctx, hid_t group, const char *path, const char *dataset) {
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: '%s' is a sparse matrix%s that stands column after column; `iktsne "
                    "convert %s rows.h5 --dataset %s` makes the rows that can be embedded",
                    path, dataset, is_matlab(group) ? " of MATLAB" : "", path, dataset);
}

static ikt_status part_open(ikt_context *ctx, hid_t group, const char *name, const char *child,
                            part *p) {
    p->dataset = ikt_h5_has(group, child) ? H5Dopen2(group, child, H5P_DEFAULT) : -1;
    hid_t type = p->dataset < 0 ? -1 : H5Dget_type(p->dataset);
    p->class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    p->size = type < 0 ? 0 : H5Tget_size(type);
    p->length = ikt_h5_length(p->dataset);
    ikt_h5_close(type);
    if (p->length >= 0 && (p->class == H5T_INTEGER || p->class == H5T_FLOAT) && p->size <= 8 &&
        (p->length == 0 || ikt_h5_has_storage(p->dataset)))
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no list of numbers '%s'", name, child);
}

static ikt_status part_read(ikt_context *ctx, const part *p, const char *name, hid_t type,
                            void *values) {
    char reason[256];
    if (p->length == 0 || H5Dread(p->dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", name,
                    ikt_h5_reason(reason, sizeof reason));
}

/* The rows that MATLAB_sparse or shape tells; -1: none. */
static int64_t rows_of(hid_t group) {
    int64_t number = -1;
    hsize_t size = 0;
    int64_t shape[2] = {-1, -1};
    if (is_matlab(group)) return ikt_h5_get_int(group, "MATLAB_sparse", &number) ? number : -1;
    hid_t attribute =
        ikt_h5_has_attribute(group, "shape") ? H5Aopen(group, "shape", H5P_DEFAULT) : -1;
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    if (space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
        H5Sget_simple_extent_dims(space, &size, NULL) == 1 && size == 2 &&
        H5Aread(attribute, H5T_NATIVE_INT64, shape) < 0)
        shape[0] = -1;
    ikt_h5_close(space);
    ikt_h5_close(attribute);
    return shape[0];
}

static ikt_status check(ikt_context *ctx, const char *name, const part parts[3], ikt_csc *csc) {
    csc->entries = parts[0].length;
    csc->d = parts[2].length - 1;
    csc->type = (parts[0].class == H5T_FLOAT && parts[0].size <= 4) ||
                        (parts[0].class == H5T_INTEGER && parts[0].size <= 2)
                    ? IKT_TYPE_F32
                    : IKT_TYPE_F64;
    if (csc->n < 1 || csc->d < 1 || parts[1].length != csc->entries)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is no sparse matrix: %lld rows, %lld values in %lld places, %lld "
                        "columns",
                        name, (long long)csc->n, (long long)csc->entries,
                        (long long)parts[1].length, (long long)csc->d);
    const int64_t bytes = 16 * csc->entries + 8 * csc->d, room = ikt_memory_available(ctx);
    if (csc->entries < INT64_MAX / 64 && bytes <= room) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s stands by columns, and turning its %lld entries takes %.1f GB on one rank, "
                    "of which there are %.1f",
                    name, (long long)csc->entries, 16e-9 * (double)csc->entries,
                    1e-9 * (double)room);
}

static ikt_status check_starts(ikt_context *ctx, const char *name, const ikt_csc *csc) {
    bool good = csc->starts[0] == 0 && csc->starts[csc->d] == csc->entries;
    for (int64_t c = 0; c < csc->d && good; c++)
        good = csc->starts[c] <= csc->starts[c + 1];
    if (good) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is damaged: the beginnings of its columns do not ascend from 0 to %lld",
                    name, (long long)csc->entries);
}

static ikt_status read_parts(ikt_context *ctx, const char *name, const part parts[3],
                             ikt_csc *csc) {
    IKT_TRY(ikt_alloc(ctx, &csc->rows, csc->entries, sizeof *csc->rows, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->starts, csc->d + 1, sizeof *csc->starts, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->values, csc->entries, sizeof *csc->values, "sparse matrix"));
    IKT_TRY(part_read(ctx, &parts[0], name, H5T_NATIVE_DOUBLE, csc->values));
    IKT_TRY(part_read(ctx, &parts[1], name, H5T_NATIVE_INT64, csc->rows));
    IKT_TRY(part_read(ctx, &parts[2], name, H5T_NATIVE_INT64, csc->starts));
    return check_starts(ctx, name, csc);
}

ikt_status ikt_csc_read(ikt_context *ctx, hid_t group, const char *name, ikt_csc *out) {
    static const char *const names[2][3] = {{"data", "indices", "indptr"}, {"data", "ir", "jc"}};
    part parts[3] = {{.dataset = -1}, {.dataset = -1}, {.dataset = -1}};
    ikt_status st = IKT_OK;
    *out = (ikt_csc){.n = rows_of(group)};
    for (int i = 0; i < 3 && st == IKT_OK; i++)
        st = part_open(ctx, group, name, names[is_matlab(group)][i], &parts[i]);
    if (st == IKT_OK) st = check(ctx, name, parts, out);
    if (st == IKT_OK) st = read_parts(ctx, name, parts, out);
    for (int i = 0; i < 3; i++)
        ikt_h5_close(parts[i].dataset);
    return st;
}

void ikt_csc_destroy(ikt_csc *csc) {
    ikt_free(&csc->rows);
    ikt_free(&csc->starts);
    ikt_free(&csc->values);
}
