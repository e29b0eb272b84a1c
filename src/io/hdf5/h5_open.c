/* Opening HDF5 files, and completing those that were written. See h5.h.
 *
 * HDF5 trusts what it reads: of files with a few damaged bytes it crashes on some and reads others
 * for ever (release 1.10; one in twenty-five of our results with random damage). A job of a
 * thousand ranks should end with a sentence instead. So a process forked for the purpose opens the
 * file alone first, with neither MPI nor the files that are open here, and goes through what we
 * read later: groups, attributes, types and the index of chunks. It may use a few seconds of
 * processor time and some memory. Only its end matters: what is merely wrong is left to whoever
 * reads it, and who needs it.
 *
 * Cost: a fork, and the metadata read once more. Where this process may not be forked
 * (base/sandbox.h), or the check was ended from outside, the file is only opened: that it could not
 * be checked says nothing about it. Values of large chunks are not read, as unpacking one may take
 * longer than any check should.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/row_hash.h"
#include "base/sandbox.h"
#include "io/hdf5/h5.h"

/* --- looking before --------------------------------------------------------------------------- */

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
    bool is_damaged;  /* the attributes of a group cannot be listed */
} walk;

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *target) {
    (void)info, (void)target;
    const hid_t attribute IKT_AT_END(ikt_h5_end) = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Aget_type(attribute);
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Aget_space(attribute);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    const bool small = count > 0 && size > 0 && count <= value_most / (int64_t)size;
    char *value = small ? calloc((size_t)count, size) : NULL;
    if (value && H5Aread(attribute, type, value) >= 0) ikt_h5_give_back(type, space, value);
    free(value);
    return 0;
}

/* Names of classes: those of variable length lie anywhere in the file. */
static void read_texts(hid_t dataset, hid_t type, hid_t space) {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (count <= 0 || count > TEXTS_MOST || size == 0 || (int64_t)size > value_most / count) return;
    char *texts = calloc((size_t)count, size);
    if (texts && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0)
        ikt_h5_give_back(type, space, texts);
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
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset);
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Dget_space(dataset);
    const hid_t here IKT_AT_END(ikt_h5_end) = H5Screate_simple(1, one, NULL);
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Dget_create_plist(dataset);
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
}

static herr_t visit_object(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    /* A soft link leads to what is visited anyway, or out of the file. */
    if (info->type != H5L_TYPE_HARD || ++w->objects > OBJECTS_MOST) return 0;
    const hid_t object IKT_AT_END(ikt_h5_end) = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0) return 0;
    hsize_t position = 0;
    const H5I_type_t kind = H5Iget_type(object);
    const herr_t listed =
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    /* Groups of results are listed like that, and HDF5 1.10 may crash after such a failure. */
    w->is_damaged = w->is_damaged || (listed < 0 && kind == H5I_GROUP);
    if (kind == H5I_DATASET) read_dataset(w, object);
    if (kind == H5I_GROUP && w->depth < DEPTH_MOST) {
        w->depth++;
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, w);
        w->depth--;
    }
    return 0;
}

/* What the other process does. */
static bool try_file(void *path, char *reason, size_t size) {
    walk w = {0, 0, 0, false};
    const hid_t file IKT_AT_END(ikt_h5_end) = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        ikt_h5_reason(reason, size);
        return false;
    }
    hsize_t position = 0;
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, &w);
    if (w.is_damaged) snprintf(reason, size, "the attributes of one of its groups are damaged");
    return !w.is_damaged;
}

/* What rank 0 finds out alone about a file to be read. */
static ikt_status look_first(ikt_context *ctx, const char *path) {
    char reason[256] = "", name[IKT_PATH_MAX];
    struct stat about = {0};
    IKT_TRY(ikt_input_check(ctx, path));
    if (!ikt_h5_is_file(path))
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file; `iktsne convert` makes one from IDX, NPY, NPZ, "
                        "MATLAB, CSV, LIBSVM or raw numbers",
                        path);
    snprintf(name, sizeof name, "%s", path);
    stat(path, &about);
    const int64_t seconds = 4 + about.st_size / bytes_a_second;
    const ikt_sandbox_limits limits = {seconds, 60 + 10 * seconds, memory_most};
    const ikt_sandbox_end end = ikt_sandbox(ctx, try_file, name, &limits, reason, sizeof reason);
    if (end == IKT_SANDBOX_LATE)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s cannot be read: the file system did not answer within a minute; try "
                        "again, or set IKTSNE_FORK=no, which leaves out the check of the file",
                        path);
    if (end == IKT_SANDBOX_DIED)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is damaged: the HDF5 library %s its structure; take another copy of "
                        "the file, or make it again",
                        path, reason);
    if (end == IKT_SANDBOX_NONE) {
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (file < 0) ikt_h5_reason(reason, sizeof reason);
        ikt_h5_close(file);
    }
    if (!reason[0]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be opened: %s%s", path, reason,
                    strstr(reason, "unable to lock")
                        ? " (another program may be writing it; on file systems without locks "
                          "set HDF5_USE_FILE_LOCKING=FALSE)"
                        : "");
}

/* --- opening and creating --------------------------------------------------------------------- */

typedef enum { OPEN_TO_READ, OPEN_TO_ADD, CREATE } opening;

/* COLLECTIVE. Opens or creates the file `name` on all ranks; after a failure none keeps it open.
 * A process without MPI, or one rank that reads, opens it by the driver of HDF5 for one process,
 * which alone reads virtual data sets.
 *   path   what messages call it */
static ikt_status open_file(ikt_context *ctx, const char *path, const char *name, opening how,
                            hid_t *file) {
    static const char *const done[] = {"opened", "opened for writing", "created"};
    char reason[256];
    ikt_status st = IKT_OK;
    *file = -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we speak for HDF5 */
    ikt_h5_add_filters();
    const hid_t access IKT_AT_END(ikt_h5_end) = H5Pcreate(H5P_FILE_ACCESS);
    const bool is_plain = ikt_is_alone(ctx) || (how == OPEN_TO_READ && ikt_size(ctx) == 1);
    if (access < 0 || (!is_plain && H5Pset_fapl_mpio(access, ikt_comm(ctx), MPI_INFO_NULL) < 0))
        st = ikt_fail(ctx, IKT_ERR_RESOURCE, "HDF5 cannot be used with MPI: %s",
                      ikt_h5_reason(reason, sizeof reason));
    else if (how == OPEN_TO_READ && ikt_rank(ctx) == 0)
        st = look_first(ctx, path);
    IKT_TRY(ikt_agree(ctx, st));
    *file = how == CREATE
                ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                : H5Fopen(name, how == OPEN_TO_ADD ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    if (*file < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be %s on rank %d: %s", path, done[how],
                      ikt_rank(ctx), ikt_h5_reason(reason, sizeof reason));
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) return IKT_OK;
    ikt_h5_close(*file);
    *file = -1;
    return st;
}

ikt_status ikt_h5_open(ikt_context *ctx, const char *path, hid_t *file) {
    bool is_sealed;
    char format[16];
    *file = -1;
    IKT_TRY(ikt_seal_look(ctx, path, &is_sealed));
    IKT_TRY(ikt_h5_open_looked(ctx, path, file));
    ikt_h5_short_text(*file, "format", format, sizeof format);
    if (!is_sealed && strncmp(format, "iktsne-", strlen("iktsne-")) == 0)
        ikt_warn(ctx,
                 "%s no longer ends with its checksum, since another program has changed it: what "
                 "it holds is taken as it is",
                 path);
    return IKT_OK;
}

ikt_status ikt_h5_open_looked(ikt_context *ctx, const char *path, hid_t *file) {
    return open_file(ctx, path, path, OPEN_TO_READ, file);
}

ikt_status ikt_h5_open_to_add(ikt_context *ctx, const char *path, const char *temporary,
                              hid_t *file) {
    return open_file(ctx, path, temporary, OPEN_TO_ADD, file);
}

ikt_status ikt_h5_create_sized(ikt_context *ctx, const char *path, const char *temporary,
                               int64_t bytes, hid_t *file) {
    *file = -1;
    IKT_TRY(ikt_atomic_reserve(ctx, path, temporary, bytes)); /* creating takes it away again */
    IKT_TRY(open_file(ctx, temporary, temporary, CREATE, file));
    return ikt_atomic_reserve(ctx, path, temporary, bytes);
}

/* --- completing ------------------------------------------------------------------------------- */

ikt_status ikt_h5_agree(ikt_context *ctx, hid_t object, ikt_status local) {
    char name[4096] = "";
    if (H5Fget_name(object, name, sizeof name) < 0) name[0] = '\0';
    return ikt_agree_file(ctx, local, name);
}

ikt_status ikt_h5_check_written(ikt_context *ctx, hid_t file, const char *path, bool good,
                                const char *what) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (!good)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s: %s cannot be written: %s", path, what,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(ctx, file, st);
}

ikt_status ikt_h5_complete(ikt_context *ctx, const hid_t *ids, int count, const char *path,
                           const char *temporary, ikt_status local) {
    const hid_t file = ids[count - 1];
    char reason[256];
    local = ikt_agree_file(ctx, local, temporary);
    if (local == IKT_OK) {
        /* Metadata goes to the disk here and not when the file is closed: closing goes on after a
         * failed write into calls that wait for the other ranks. */
        if (file >= 0 && H5Fflush(file, H5F_SCOPE_LOCAL) < 0)
            local = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                             ikt_h5_reason(reason, sizeof reason));
        local = ikt_agree_file(ctx, local, temporary);
    }
    if (local == IKT_ERR_FILE) return local;
    bool is_closed = true;
    for (int i = 0; i < count; i++)
        is_closed = ikt_h5_close(ids[i]) && is_closed;
    if (!is_closed && local == IKT_OK)
        local = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                         ikt_h5_reason(reason, sizeof reason));
    return ikt_agree_file(ctx, local, temporary);
}

ikt_status ikt_h5_output_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t bytes,
                               ikt_h5_output *out) {
    *out = (ikt_h5_output){.ctx = ctx, .file = -1};
    snprintf(out->path, sizeof out->path, "%s", path);
    IKT_TRY(ikt_atomic_begin(ctx, path, overwrite, out->temporary));
    const ikt_status st = ikt_h5_create_sized(ctx, path, out->temporary, bytes, &out->file);
    return st == IKT_OK ? IKT_OK : ikt_h5_output_end(out, NULL, 0, st);
}

ikt_status ikt_h5_output_reserve(ikt_h5_output *out, int64_t bytes) {
    return ikt_atomic_reserve(out->ctx, out->path, out->temporary, bytes);
}

ikt_status ikt_h5_output_check(const ikt_h5_output *out, bool good, const char *what) {
    return ikt_h5_check_written(out->ctx, out->file, out->path, good, what);
}

/* COLLECTIVE. Closes the objects and the file. */
static ikt_status output_complete(ikt_h5_output *out, const hid_t *objects, int count,
                                  ikt_status local) {
    hid_t ids[IKT_H5_OBJECTS_MOST + 1];
    for (int i = 0; i < count; i++)
        ids[i] = objects[i];
    ids[count] = out->file;
    return ikt_h5_complete(out->ctx, ids, count + 1, out->path, out->temporary, local);
}

ikt_status ikt_h5_output_end(ikt_h5_output *out, const hid_t *objects, int count,
                             ikt_status local) {
    local = output_complete(out, objects, count, local);
    if (local == IKT_OK && out->is_sealed) local = ikt_seal_put(out->ctx, out->temporary);
    return ikt_atomic_end(out->ctx, out->path, out->temporary, local);
}

void ikt_h5_output_abandon(ikt_h5_output *out, const hid_t *objects, int count) {
    output_complete(out, objects, count, IKT_OK); /* after which nobody has it open any more */
    if (ikt_rank(out->ctx) == 0 && out->temporary[0]) ikt_atomic_discard(out->ctx, out->temporary);
}
