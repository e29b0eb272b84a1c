/* Sparse matrices that stand column after column. */
#include "io/hdf5/csc_h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/csr_group.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/h5_numbers.h"

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

static ikt_status list_read(ikt_context *ctx, const ikt_h5_list *list, const char *name, hid_t type,
                            void *values) {
    char reason[256];
    if (list->length == 0) return IKT_OK;
    if (!ikt_h5_has_storage(list->dataset))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written", name);
    if (H5Dread(list->dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", name,
                    ikt_h5_reason(reason, sizeof reason));
}

/* The rows that MATLAB_sparse or shape tells; -1: none. */
static int64_t rows_of(hid_t group) {
    int64_t number = -1, shape[2];
    if (is_matlab(group)) return ikt_h5_get_int(group, "MATLAB_sparse", &number) ? number : -1;
    return ikt_csr_group_shape(group, shape) ? shape[0] : -1;
}

static ikt_status check(ikt_context *ctx, const char *name, const ikt_h5_list parts[3],
                        ikt_csc *csc) {
    csc->entries = parts[0].length;
    csc->d = parts[2].length - 1;
    csc->type = parts[0].number.type;
    if (csc->n < 1 || csc->d < 1 || parts[1].length != csc->entries)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is no sparse matrix: %lld rows, %lld values in %lld places, %lld "
                        "columns",
                        name, (long long)csc->n, (long long)csc->entries,
                        (long long)parts[1].length, (long long)csc->d);
    const int64_t most = INT64_MAX / 64, room = ikt_memory_available(ctx);
    if (csc->entries < most && csc->d < most && 16 * csc->entries + 8 * csc->d <= room)
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s stands by columns, and turning its %lld entries takes %.1f GB on one rank, "
                    "of which there are %.1f",
                    name, (long long)csc->entries, 16e-9 * (double)csc->entries,
                    1e-9 * (double)room);
}

/* Integers of 64 bits come as doubles. */
static ikt_status check_exact(ikt_context *ctx, const char *name, const ikt_csc *csc) {
    for (int64_t e = 0; e < csc->entries; e++)
        if (fabs(csc->values[e]) >= IKT_H5_EXACT_MOST)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s: the integer %.0f, of 2^53 or more, loses digits as a floating "
                            "number; store it otherwise",
                            name, csc->values[e]);
    return IKT_OK;
}

static ikt_status read_parts(ikt_context *ctx, const char *name, const ikt_h5_list parts[3],
                             ikt_csc *csc) {
    IKT_TRY(ikt_alloc(ctx, &csc->rows, csc->entries, sizeof *csc->rows, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->starts, csc->d + 1, sizeof *csc->starts, "sparse matrix"));
    IKT_TRY(ikt_alloc(ctx, &csc->values, csc->entries, sizeof *csc->values, "sparse matrix"));
    IKT_TRY(list_read(ctx, &parts[0], name, H5T_NATIVE_DOUBLE, csc->values));
    if (parts[0].number.is_wide) IKT_TRY(check_exact(ctx, name, csc));
    IKT_TRY(list_read(ctx, &parts[1], name, H5T_NATIVE_INT64, csc->rows));
    return list_read(ctx, &parts[2], name, H5T_NATIVE_INT64, csc->starts);
}

ikt_status ikt_csc_read(ikt_context *ctx, hid_t group, const char *name, ikt_csc *out) {
    static const char *const names[2][3] = {{"data", "indices", "indptr"}, {"data", "ir", "jc"}};
    ikt_h5_list parts[3] = {{.dataset = -1}, {.dataset = -1}, {.dataset = -1}};
    ikt_status st = IKT_OK;
    *out = (ikt_csc){.n = rows_of(group)};
    for (int i = 0; i < 3 && st == IKT_OK; i++)
        st = ikt_h5_list_open(ctx, group, names[is_matlab(group)][i], i > 0, name, &parts[i]);
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
