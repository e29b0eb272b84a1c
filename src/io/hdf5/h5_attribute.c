/* Attributes of HDF5 objects: one text, one integer, some integers. See h5.h. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/h5.h"

static bool set_attribute(hid_t object, const char *name, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR), attribute = -1;
    if (space >= 0) attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    ikt_h5_close(space);
    return ikt_h5_close(attribute) && good;
}

/* Of variable length: that is what h5py shows as str, and it has no limit of 64 KiB. */
bool ikt_h5_set_text(hid_t object, const char *name, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 && set_attribute(object, name, type, &text);
    ikt_h5_close(type);
    return good;
}

bool ikt_h5_set_int(hid_t object, const char *name, int64_t value) {
    return set_attribute(object, name, H5T_NATIVE_INT64, &value);
}

/* Opens an attribute of one element of that class; negative where there is none. */
static hid_t open_single(hid_t object, const char *name, H5T_class_t class, hid_t *type) {
    *type = -1;
    if (H5Aexists(object, name) <= 0) return -1;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    bool single = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    ikt_h5_close(space);
    if (single) *type = H5Aget_type(attribute);
    if (*type >= 0 && H5Tget_class(*type) == class) return attribute;
    ikt_h5_close(*type);
    ikt_h5_close(attribute);
    *type = -1;
    return -1;
}

bool ikt_h5_has_attribute(hid_t object, const char *name) {
    return object >= 0 && H5Aexists(object, name) > 0;
}

bool ikt_h5_get_int(hid_t object, const char *name, int64_t *value) {
    hid_t type, attribute = open_single(object, name, H5T_INTEGER, &type);
    bool good = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return good;
}

bool ikt_h5_set_ints(hid_t object, const char *name, int64_t count, const int64_t *value) {
    const hsize_t size[1] = {(hsize_t)count};
    hid_t space = H5Screate_simple(1, size, NULL), attribute = -1;
    if (space >= 0)
        attribute = H5Acreate2(object, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, value) >= 0;
    ikt_h5_close(space);
    return ikt_h5_close(attribute) && good;
}

bool ikt_h5_get_ints(hid_t object, const char *name, int64_t count, int64_t *value) {
    if (H5Aexists(object, name) <= 0) return false;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == count &&
                      H5Tget_class(type) == H5T_INTEGER &&
                      H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
    ikt_h5_close(space);
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return good;
}

static ikt_status get_fixed(ikt_context *ctx, hid_t attribute, hid_t type, char **text) {
    IKT_TRY(ikt_alloc(ctx, text, (int64_t)H5Tget_size(type) + 1, 1, "text"));
    if (H5Aread(attribute, type, *text) >= 0) return IKT_OK;
    ikt_free(text);
    return ikt_fail(ctx, IKT_ERR_FILE, "a text attribute cannot be read");
}

static ikt_status get_variable(ikt_context *ctx, hid_t attribute, hid_t type, char **text) {
    char *value = NULL;
    hid_t memory = H5Tcopy(H5T_C_S1);
    ikt_status st = IKT_OK;
    if (memory < 0 || H5Tset_size(memory, H5T_VARIABLE) < 0 ||
        H5Tset_cset(memory, H5Tget_cset(type)) < 0 || H5Aread(attribute, memory, &value) < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "a text attribute cannot be read");
    /* An empty text may come as a null pointer. */
    size_t length = value ? strlen(value) : 0;
    if (st == IKT_OK) st = ikt_alloc(ctx, text, (int64_t)length + 1, 1, "text");
    if (st == IKT_OK && value) memcpy(*text, value, length);
    if (value) H5free_memory(value);
    ikt_h5_close(memory);
    return st;
}

ikt_status ikt_h5_get_text(ikt_context *ctx, hid_t object, const char *name, char **text) {
    *text = NULL;
    hid_t type, attribute = open_single(object, name, H5T_STRING, &type);
    if (attribute < 0) return IKT_OK;
    ikt_status st = H5Tis_variable_str(type) > 0 ? get_variable(ctx, attribute, type, text)
                                                 : get_fixed(ctx, attribute, type, text);
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return st;
}

const char *ikt_h5_short_text(hid_t object, const char *name, char *text, size_t size) {
    char *variable = NULL, fixed[256] = "";
    hid_t type, attribute = open_single(object, name, H5T_STRING, &type);
    const bool is_variable = attribute >= 0 && H5Tis_variable_str(type) > 0;
    bool good = attribute >= 0 && (is_variable || H5Tget_size(type) < sizeof fixed);
    good = good && H5Aread(attribute, type, is_variable ? (void *)&variable : fixed) >= 0;
    snprintf(text, size, "%s", !good ? "" : !is_variable ? fixed : variable ? variable : "");
    if (variable) H5free_memory(variable);
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return text;
}
