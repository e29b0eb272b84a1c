/* What the files of io/ share about HDF5. See h5.h. */
#include "io/h5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"

static const int64_t piece_bytes = (int64_t)1 << 29, chunk_bytes = (int64_t)1 << 20;

bool ikt_h5_close(hid_t id) {
    if (id < 0) return true;
    switch (H5Iget_type(id)) {
    case H5I_FILE:
        return H5Fclose(id) >= 0;
    case H5I_DATASET:
        return H5Dclose(id) >= 0;
    case H5I_DATASPACE:
        return H5Sclose(id) >= 0;
    case H5I_DATATYPE:
        return H5Tclose(id) >= 0;
    case H5I_ATTR:
        return H5Aclose(id) >= 0;
    case H5I_GROUP:
        return H5Gclose(id) >= 0;
    case H5I_GENPROP_LST:
        return H5Pclose(id) >= 0;
    default:
        return false;
    }
}

static herr_t keep_description(unsigned depth, const H5E_error2_t *error, void *target) {
    (void)depth; /* walking upward from the innermost: the first line is the reason */
    const char **description = target;
    if (!*description && error->desc && error->desc[0]) *description = error->desc;
    return 0;
}

const char *ikt_h5_reason(char *text, size_t size) {
    const char *description = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &description);
    snprintf(text, size, "%.180s", description ? description : "unknown reason");
    for (char *c = text; *c; c++)
        if (*c == '\n') *c = ' ';
    H5Eclear2(H5E_DEFAULT);
    return text;
}

static void be_silent(void) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* A list with the communicator; negative on failure. */
static hid_t parallel_access(ikt_context *ctx) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_mpio(access, ikt_comm(ctx), MPI_INFO_NULL) < 0) {
        ikt_h5_close(access);
        return -1;
    }
    return access;
}

static ikt_status look_first(ikt_context *ctx, const char *path) {
    char reason[256];
    if (access(path, R_OK) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    if (H5Fis_hdf5(path) <= 0)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file; `iktsne convert` makes one from IDX, NPY or CSV",
                        path);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        ikt_h5_reason(reason, sizeof reason);
        bool locked = strstr(reason, "unable to lock") != NULL;
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be opened: %s%s", path, reason,
                        locked ? " (another program may be writing it; on file systems without "
                                 "locks set HDF5_USE_FILE_LOCKING=FALSE)"
                               : "");
    }
    ikt_h5_close(file);
    return IKT_OK;
}

ikt_status ikt_h5_open(ikt_context *ctx, const char *path, hid_t *file) {
    *file = -1;
    be_silent();
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = look_first(ctx, path);
    IKT_TRY(ikt_agree(ctx, st));
    char reason[256];
    hid_t list = parallel_access(ctx);
    if (list >= 0) *file = H5Fopen(path, H5F_ACC_RDONLY, list);
    ikt_h5_close(list);
    if (*file < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be opened on rank %d: %s", path, ikt_rank(ctx),
                      ikt_h5_reason(reason, sizeof reason));
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_h5_close(*file);
        *file = -1;
    }
    return st;
}

ikt_status ikt_h5_create(ikt_context *ctx, const char *path, hid_t *file) {
    *file = -1;
    be_silent();
    ikt_status st = IKT_OK;
    char reason[256];
    hid_t list = parallel_access(ctx);
    if (list >= 0) *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    ikt_h5_close(list);
    if (*file < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be created on rank %d: %s", path, ikt_rank(ctx),
                      ikt_h5_reason(reason, sizeof reason));
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_h5_close(*file);
        *file = -1;
    }
    return st;
}

bool ikt_h5_has(hid_t file, const char *path) {
    char part[1024];
    if (path[0] == '\0' || strcmp(path, "/") == 0 || strlen(path) >= sizeof part) return false;
    /* H5Lexists wants every group on the way to exist. */
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (part[0] && H5Lexists(file, part, H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(file, path, H5P_DEFAULT) > 0;
}

/* One collective transfer of rows; a rank with none selects nothing but takes part. */
static bool transfer(hid_t dataset, hid_t type, int64_t first, int64_t count, void *read_to,
                     const void *write_from) {
    hsize_t size[2] = {0, 0}, start[2] = {(hsize_t)first, 0}, part[2] = {(hsize_t)count, 0};
    char nothing = 0;
    hid_t there = H5Dget_space(dataset), list = H5Pcreate(H5P_DATASET_XFER), here = -1;
    int dimensions = there < 0 ? -1 : H5Sget_simple_extent_dims(there, size, NULL);
    bool good = list >= 0 && dimensions >= 1 && dimensions <= 2 &&
                H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE) >= 0;
    part[1] = size[1];
    if (good) here = H5Screate_simple(dimensions, count > 0 ? part : size, NULL);
    good = good && here >= 0;
    if (good && count > 0) {
        good = H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, part, NULL) >= 0;
    } else if (good) {
        good = H5Sselect_none(there) >= 0 && H5Sselect_none(here) >= 0;
        if (!read_to && !write_from) read_to = &nothing;
    }
    if (good)
        good = write_from ? H5Dwrite(dataset, type, here, there, list, write_from) >= 0
                          : H5Dread(dataset, type, here, there, list, read_to) >= 0;
    ikt_h5_close(here);
    ikt_h5_close(there);
    ikt_h5_close(list);
    return good;
}

/* HDF5 returns from a collective read of a data set without storage on the ranks that want rows,
 * and waits on those that want none: such a data set, created but never written, is refused
 * instead. */
static ikt_status check_allocated(ikt_context *ctx, hid_t dataset, const char *name, bool reading) {
    H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
    ikt_status st = IKT_OK;
    if (reading &&
        (H5Dget_space_status(dataset, &status) < 0 || status == H5D_SPACE_STATUS_NOT_ALLOCATED))
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written: it holds no values",
                      name);
    return ikt_agree(ctx, st);
}

/* Cuts a range into pieces; all ranks take as many steps. */
static ikt_status transfer_rows(ikt_context *ctx, hid_t dataset, const char *name, hid_t type,
                                int64_t row_bytes, int64_t first, int64_t count, char *read_to,
                                const char *write_from) {
    int64_t rows = piece_bytes / (row_bytes > 0 ? row_bytes : 1);
    IKT_TRY(check_allocated(ctx, dataset, name, read_to != NULL));
    if (rows < 1) rows = 1;
    int64_t steps = ikt_max_one(ctx, (count + rows - 1) / rows);
    ikt_status st = IKT_OK;
    for (int64_t step = 0; step < steps; step++) {
        int64_t done = step * rows, left = count - done;
        int64_t now = left < 0 ? 0 : left < rows ? left : rows;
        int64_t offset = now > 0 ? done * row_bytes : 0;
        char reason[256];
        if (!transfer(dataset, type, now > 0 ? first + done : 0, now,
                      read_to ? read_to + offset : NULL, write_from ? write_from + offset : NULL))
            st = ikt_fail(ctx, IKT_ERR_FILE, "%s: rows from %lld on cannot be %s: %s", name,
                          (long long)(first + done), write_from ? "written" : "read",
                          ikt_h5_reason(reason, sizeof reason));
    }
    return ikt_agree(ctx, st);
}

ikt_status ikt_h5_read_rows(ikt_context *ctx, hid_t dataset, const char *name, hid_t type,
                            int64_t row_bytes, int64_t first, int64_t count, void *rows) {
    return transfer_rows(ctx, dataset, name, type, row_bytes, first, count, rows, NULL);
}

ikt_status ikt_h5_write_rows(ikt_context *ctx, hid_t dataset, const char *name, hid_t type,
                             int64_t row_bytes, int64_t first, int64_t count, const void *rows) {
    static const char nothing = 0;
    return transfer_rows(ctx, dataset, name, type, row_bytes, first, count, NULL,
                         rows ? rows : &nothing);
}

hid_t ikt_h5_create_rows(hid_t parent, const char *name, hid_t type, int64_t n, int64_t d) {
    hsize_t size[2] = {(hsize_t)n, (hsize_t)d}, chunk[2] = {1, (hsize_t)d};
    int dimensions = d > 0 ? 2 : 1;
    int64_t row_bytes = (int64_t)H5Tget_size(type) * (d > 0 ? d : 1);
    int64_t rows = chunk_bytes / row_bytes;
    chunk[0] = (hsize_t)(rows < 1 ? 1 : rows < n ? rows : n);
    hid_t space = H5Screate_simple(dimensions, size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t result = -1;
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
        (n == 0 || (H5Pset_chunk(list, dimensions, chunk) >= 0 && H5Pset_fletcher32(list) >= 0)))
        result = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ikt_h5_close(space);
    ikt_h5_close(list);
    return result;
}

static bool set_attribute(hid_t object, const char *name, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR), attribute = -1;
    if (space >= 0) attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    ikt_h5_close(attribute);
    ikt_h5_close(space);
    return good;
}

bool ikt_h5_set_text(hid_t object, const char *name, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    size_t length = strlen(text);
    /* Attributes in the object's header are limited to 64 KiB; nothing here comes near it. */
    bool good = type >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                set_attribute(object, name, type, length > 0 ? text : "\0");
    ikt_h5_close(type);
    return good;
}

bool ikt_h5_set_int(hid_t object, const char *name, int64_t value) {
    return set_attribute(object, name, H5T_NATIVE_INT64, &value);
}

bool ikt_h5_set_real(hid_t object, const char *name, double value) {
    return set_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

static ikt_status get_fixed(ikt_context *ctx, hid_t attribute, hid_t type, char **text) {
    size_t size = H5Tget_size(type);
    if (size > (size_t)1 << 26)
        return ikt_fail(ctx, IKT_ERR_DATA, "a text attribute of %zu bytes is not credible", size);
    IKT_TRY(ikt_alloc(ctx, text, (int64_t)size + 1, 1, "text"));
    if (H5Aread(attribute, type, *text) >= 0) return IKT_OK;
    ikt_free(text);
    return ikt_fail(ctx, IKT_ERR_FILE, "a text attribute cannot be read");
}

static ikt_status get_variable(ikt_context *ctx, hid_t attribute, hid_t type, char **text) {
    char *value = NULL;
    hid_t memory = H5Tcopy(H5T_C_S1);
    ikt_status st = IKT_OK;
    if (memory < 0 || H5Tset_size(memory, H5T_VARIABLE) < 0 ||
        H5Tset_cset(memory, H5Tget_cset(type)) < 0 || H5Aread(attribute, memory, &value) < 0 ||
        !value)
        st = ikt_fail(ctx, IKT_ERR_FILE, "a text attribute cannot be read");
    if (st == IKT_OK) st = ikt_alloc(ctx, text, (int64_t)strlen(value) + 1, 1, "text");
    if (st == IKT_OK) strcpy(*text, value);
    if (value) H5free_memory(value);
    ikt_h5_close(memory);
    return st;
}

ikt_status ikt_h5_get_text(ikt_context *ctx, hid_t object, const char *name, char **text) {
    *text = NULL;
    if (H5Aexists(object, name) <= 0) return IKT_OK;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    ikt_status st = IKT_OK;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING)
        st = H5Tis_variable_str(type) > 0 ? get_variable(ctx, attribute, type, text)
                                          : get_fixed(ctx, attribute, type, text);
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return st;
}
