/* Whether HDF5 survives a file. See h5_check.h. */
#include "io/hdf5/h5_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/sandbox.h"
#include "io/hdf5/h5.h"

enum {
    DEPTH_MOST = 4,
    OBJECTS_MOST = 10000,
    TEXTS_MOST = 1 << 16 /* of a data set: all, where there are no more */
};
static const int64_t value_most = (int64_t)1 << 26; /* bytes of an attribute that is read */
static const int64_t memory_most = (int64_t)4 << 30;
static const int64_t bytes_a_second = (int64_t)10 << 20; /* of metadata; a slow machine does more */
static const int64_t unpacked_most = (int64_t)256 << 20; /* bytes of chunks, in all */

/* How far the walk has come. */
typedef struct {
    int depth, objects;
    int64_t unpacked; /* bytes of chunks that were unpacked */
} walk;

static void read_attribute(hid_t attribute) {
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    const bool small = count > 0 && size > 0 && count <= value_most / (int64_t)size;
    char *value = small ? calloc((size_t)count, size) : NULL;
    if (value && H5Aread(attribute, type, value) >= 0 && space >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
    free(value);
    ikt_h5_close(type);
    ikt_h5_close(space);
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *target) {
    (void)info, (void)target;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute >= 0) read_attribute(attribute);
    ikt_h5_close(attribute);
    return 0;
}

/* Names of classes: those of variable length lie anywhere in the file. */
static void read_texts(hid_t dataset, hid_t type, hid_t space) {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (count <= 0 || count > TEXTS_MOST || size == 0 || (int64_t)size > value_most / count) return;
    char *texts = calloc((size_t)count, size);
    if (texts && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    free(texts);
}

/* Whether the chunk that a value lies in may still be unpacked; counts it. */
static bool may_unpack(walk *w, hid_t list, hid_t type) {
    hsize_t chunk[H5S_MAX_RANK];
    if (list < 0 || type < 0) return false;
    if (H5Pget_layout(list) != H5D_CHUNKED) return true;
    const int dimensions = H5Pget_chunk(list, H5S_MAX_RANK, chunk);
    double bytes = (double)H5Tget_size(type);
    for (int i = 0; i < dimensions; i++)
        bytes *= (double)chunk[i];
    if (dimensions < 1 || bytes > (double)(unpacked_most - w->unpacked)) return false;
    w->unpacked += (int64_t)bytes;
    return true;
}

/* Index of the chunks, and one value, which shows whether the type can be converted. */
static void read_dataset(walk *w, hid_t dataset) {
    H5D_space_status_t status;
    double value;
    const hsize_t one[H5S_MAX_RANK] = {1};
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const hid_t here = H5Screate_simple(1, one, NULL), list = H5Dget_create_plist(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    (void)H5Dget_storage_size(dataset);
    (void)H5Dget_space_status(dataset, &status);
    const int dimensions = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    for (int i = 0; i < H5S_MAX_RANK; i++)
        count[i] = 1;
    const bool is_small = may_unpack(w, list, type);
    if (is_small && (class == H5T_INTEGER || class == H5T_FLOAT) && here >= 0 && dimensions > 0 &&
        H5Sget_simple_extent_npoints(space) > 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        (void)H5Dread(dataset, H5T_NATIVE_DOUBLE, here, space, H5P_DEFAULT, &value);
    if (is_small && class == H5T_STRING && dimensions == 1) read_texts(dataset, type, space);
    ikt_h5_close(list);
    ikt_h5_close(here);
    ikt_h5_close(space);
    ikt_h5_close(type);
}

static herr_t visit_object(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    /* A soft link leads to what is visited anyway, or out of the file. */
    if (info->type != H5L_TYPE_HARD || ++w->objects > OBJECTS_MOST) return 0;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0) return 0;
    hsize_t position = 0;
    const H5I_type_t kind = H5Iget_type(object);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    if (kind == H5I_DATASET) read_dataset(w, object);
    if (kind == H5I_GROUP && w->depth < DEPTH_MOST) {
        w->depth++;
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, w);
        w->depth--;
    }
    ikt_h5_close(object);
    return 0;
}

static bool walk_through(const char *path, char *reason, size_t size) {
    walk w = {0, 0, 0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        ikt_h5_reason(reason, size);
        return false;
    }
    hsize_t position = 0;
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, &w);
    ikt_h5_close(file);
    return true;
}

/* What the other process does. */
static bool try_file(void *about, char *reason, size_t size) {
    return walk_through(about, reason, size);
}

/* Without another process. */
static ikt_h5_soundness only_open(const char *path, char *reason, size_t size) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) ikt_h5_reason(reason, size);
    ikt_h5_close(file);
    return file < 0 ? IKT_H5_REFUSED : IKT_H5_SOUND;
}

ikt_h5_soundness ikt_h5_check(const ikt_context *ctx, const char *path, char *reason, size_t size) {
    struct stat about;
    char name[IKT_PATH_MAX];
    snprintf(name, sizeof name, "%s", path);
    reason[0] = '\0';
    if (stat(path, &about) != 0) return only_open(path, reason, size);
    const int64_t seconds = 4 + about.st_size / bytes_a_second;
    const ikt_sandbox_limits limits = {seconds, 60 + 10 * seconds, memory_most};
    switch (ikt_sandbox(ctx, try_file, name, &limits, reason, size)) {
    case IKT_SANDBOX_PASSED:
        return IKT_H5_SOUND;
    case IKT_SANDBOX_REFUSED:
        return IKT_H5_REFUSED;
    case IKT_SANDBOX_DIED:
        return IKT_H5_BROKEN;
    case IKT_SANDBOX_LATE:
        return IKT_H5_LATE;
    default:
        return only_open(path, reason, size);
    }
}
