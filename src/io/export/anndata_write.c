/* Elements of an AnnData file. See anndata_write.h. */
#include "io/export/anndata_write.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/h5.h"

/* Length of a one-dimensional data set; -1: it is none. */
static int64_t length_of(hid_t file, const char *name) {
    hsize_t size[1] = {0};
    const hid_t object = ikt_h5_open_object(file, name);
    const bool is_set = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    const hid_t space = is_set ? H5Dget_space(object) : -1;
    const bool is_flat = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                         H5Sget_simple_extent_dims(space, size, NULL) == 1;
    ikt_h5_close(space);
    ikt_h5_close(object);
    return is_flat ? (int64_t)size[0] : -1;
}

/* obs is a group whose attribute _index names the data set of the rows' names; before AnnData 0.7
 * it was a table. */
static ikt_status find_index(ikt_context *ctx, hid_t file, int64_t *rows) {
    char name[512] = "obs", *index = NULL;
    *rows = length_of(file, name);
    if (*rows >= 0 || !ikt_h5_has(file, name)) return IKT_OK;
    const hid_t obs = ikt_h5_open_object(file, name);
    ikt_status st = obs >= 0 ? ikt_h5_get_text(ctx, obs, "_index", &index) : IKT_OK;
    if (st == IKT_OK && index) {
        snprintf(name, sizeof name, "obs/%.400s", index);
        *rows = length_of(file, name);
    }
    ikt_free(&index);
    ikt_h5_close(obs);
    return st;
}

ikt_status ikt_anndata_rows(ikt_context *ctx, hid_t file, const char *path, int64_t *rows) {
    IKT_TRY(find_index(ctx, file, rows));
    if (*rows >= 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is no AnnData file: it has no obs with an index, which says how many rows "
                    "there are",
                    path);
}

bool ikt_anndata_mark(hid_t object, const char *type, const char *version) {
    return ikt_h5_set_text(object, "encoding-type", type) &&
           ikt_h5_set_text(object, "encoding-version", version);
}

hid_t ikt_anndata_dict(hid_t parent, const char *name) {
    if (ikt_h5_has(parent, name)) return H5Gopen2(parent, name, H5P_DEFAULT);
    const hid_t group = ikt_h5_create_group(parent, name);
    if (group < 0 || ikt_anndata_mark(group, "dict", "0.1.0")) return group;
    ikt_h5_close(group);
    return -1;
}

/* A data set of one element. All ranks have it, and one writes it. */
static bool add_scalar(hid_t parent, const char *name, hid_t type, const void *value,
                       const char *encoding) {
    const hid_t space = H5Screate(H5S_SCALAR), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    const bool good = set >= 0 && ikt_anndata_mark(set, encoding, "0.2.0") &&
                      H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
    if (!good) return false; /* closing would clear the reason; the file is given up */
    ikt_h5_close(list);
    ikt_h5_close(space);
    return ikt_h5_close(set);
}

bool ikt_anndata_text(hid_t parent, const char *name, const char *text) {
    const size_t length = strlen(text);
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool good = type >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
                      H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                      H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                      add_scalar(parent, name, type, text, "string");
    if (good) ikt_h5_close(type);
    return good;
}

bool ikt_anndata_number(hid_t parent, const char *name, double value) {
    return add_scalar(parent, name, H5T_NATIVE_DOUBLE, &value, "numeric-scalar");
}

bool ikt_anndata_integer(hid_t parent, const char *name, int64_t value) {
    return add_scalar(parent, name, H5T_NATIVE_INT64, &value, "numeric-scalar");
}
