/* HDF5 files and objects. See h5.h. */
#include "io/hdf5/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "io/hdf5/h5_check.h"

/* HDF5 asks to be called by MPI_Finalize when it is first used after MPI_Init, and by exit unless
 * told not to. */
void ikt_h5_begin(void) {
    H5dont_atexit();
    H5open();
}

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

ikt_status ikt_h5_agree(ikt_context *ctx, hid_t object, ikt_status local) {
    char name[4096] = "";
    if (H5Fget_name(object, name, sizeof name) < 0) name[0] = '\0';
    return ikt_agree_file(ctx, local, name);
}

/* Metadata goes to the disk here and not when the file is closed: closing goes on after a failed
 * write into calls that wait for the other ranks. */
static ikt_status flush(ikt_context *ctx, hid_t file, const char *path) {
    char reason[256];
    if (file < 0 || H5Fflush(file, H5F_SCOPE_LOCAL) >= 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                    ikt_h5_reason(reason, sizeof reason));
}

static ikt_status close_all(ikt_context *ctx, const hid_t *ids, int count, const char *path) {
    char reason[256];
    bool closed = true;
    for (int i = 0; i < count; i++)
        closed = ikt_h5_close(ids[i]) && closed;
    if (closed) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                    ikt_h5_reason(reason, sizeof reason));
}

ikt_status ikt_h5_complete(ikt_context *ctx, const hid_t *ids, int count, const char *path,
                           const char *temporary, ikt_status local) {
    local = ikt_agree_file(ctx, local, temporary);
    if (local == IKT_OK) local = ikt_agree_file(ctx, flush(ctx, ids[count - 1], path), temporary);
    if (local == IKT_ERR_FILE) return local;
    ikt_status st = close_all(ctx, ids, count, path);
    return ikt_agree_file(ctx, local == IKT_OK ? st : local, temporary);
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

const char *ikt_h5_name(hid_t object, char *text, size_t size) {
    char file[512] = "", path[256] = "";
    if (H5Fget_name(object, file, sizeof file) < 0 || H5Iget_name(object, path, sizeof path) < 0)
        path[0] = '\0';
    snprintf(text, size, "%s:%s", file, path);
    return text;
}

/* Access by all ranks of the communicator; negative on failure. */
static hid_t parallel_access(ikt_context *ctx) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we speak for HDF5 */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_mpio(access, ikt_comm(ctx), MPI_INFO_NULL) >= 0) return access;
    char reason[256];
    ikt_fail(ctx, IKT_ERR_RESOURCE, "HDF5 cannot be used with MPI: %s",
             ikt_h5_reason(reason, sizeof reason));
    ikt_h5_close(access);
    return -1;
}

static ikt_status refused(ikt_context *ctx, const char *path, const char *reason) {
    const bool locked = strstr(reason, "unable to lock") != NULL;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be opened: %s%s", path, reason,
                    locked ? " (another program may be writing it; on file systems without locks "
                             "set HDF5_USE_FILE_LOCKING=FALSE)"
                           : "");
}

/* What rank 0 finds out alone about a file to be read. */
static ikt_status look_first(ikt_context *ctx, const char *path) {
    char reason[256];
    IKT_TRY(ikt_input_check(ctx, path));
    if (H5Fis_hdf5(path) <= 0)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file; `iktsne convert` makes one from IDX, NPY, NPZ, "
                        "MATLAB, CSV, LIBSVM or raw numbers",
                        path);
    switch (ikt_h5_check(ctx, path, reason, sizeof reason)) {
    case IKT_H5_SOUND:
        return IKT_OK;
    case IKT_H5_REFUSED:
        return refused(ctx, path, reason);
    case IKT_H5_LATE:
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s cannot be read: the file system did not answer within a minute; try "
                        "again, or set IKTSNE_FORK=no, which leaves out the check of the file",
                        path);
    default:
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is damaged: the HDF5 library %s its structure; take another copy of "
                        "the file, or make it again",
                        path, reason);
    }
}

/* The outcome of opening or creating on all ranks; on failure none keeps the file open. */
static ikt_status opened(ikt_context *ctx, const char *path, const char *what, hid_t *file) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (*file < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be %s on rank %d: %s", path, what,
                      ikt_rank(ctx), ikt_h5_reason(reason, sizeof reason));
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_h5_close(*file);
        *file = -1;
    }
    return st;
}

ikt_status ikt_h5_open(ikt_context *ctx, const char *path, hid_t *file) {
    *file = -1;
    hid_t list = parallel_access(ctx);
    ikt_status st = list < 0 ? IKT_ERR_RESOURCE : IKT_OK;
    if (st == IKT_OK && ikt_rank(ctx) == 0) st = look_first(ctx, path);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        *file = H5Fopen(path, H5F_ACC_RDONLY, list);
        st = opened(ctx, path, "opened", file);
    }
    ikt_h5_close(list);
    return st;
}

ikt_status ikt_h5_create(ikt_context *ctx, const char *path, hid_t *file) {
    *file = -1;
    hid_t list = parallel_access(ctx);
    ikt_status st = ikt_agree(ctx, list < 0 ? IKT_ERR_RESOURCE : IKT_OK);
    if (st == IKT_OK) {
        *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
        st = opened(ctx, path, "created", file);
    }
    ikt_h5_close(list);
    return st;
}

ikt_status ikt_h5_create_sized(ikt_context *ctx, const char *path, const char *temporary,
                               int64_t bytes, hid_t *file) {
    *file = -1;
    IKT_TRY(ikt_atomic_reserve(ctx, path, temporary, bytes)); /* creating takes it away again */
    IKT_TRY(ikt_h5_create(ctx, temporary, file));
    return ikt_atomic_reserve(ctx, path, temporary, bytes);
}

ikt_status ikt_h5_open_to_add(ikt_context *ctx, const char *path, const char *temporary,
                              hid_t *file) {
    *file = -1;
    hid_t list = parallel_access(ctx);
    ikt_status st = ikt_agree(ctx, list < 0 ? IKT_ERR_RESOURCE : IKT_OK);
    if (st == IKT_OK) {
        *file = H5Fopen(temporary, H5F_ACC_RDWR, list);
        st = opened(ctx, path, "opened for writing", file);
    }
    ikt_h5_close(list);
    return st;
}

/* --- links ------------------------------------------------------------------------------------ */

enum { LINKS_MOST = 16, PATH_SIZE = 1024 };

/* Whether a name exists; *is_plain is set to false where it is no regular file. */
static bool exists(const char *folder, size_t length, const char *name, bool *is_plain) {
    char path[2 * PATH_SIZE];
    struct stat about;
    snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "", name);
    if (stat(path, &about) != 0) return false;
    *is_plain &= S_ISREG(about.st_mode) != 0;
    return true;
}

/* Whether the file that an external link names is one that may be opened; looked for wherever HDF5
 * does: under the name as it is, in the folders of HDF5_EXT_PREFIX, and beside the file. */
static bool look_outside(hid_t object, const char *name, const char **fault) {
    char file[PATH_SIZE] = "";
    const char *base = strrchr(name, '/'), *prefix = getenv("HDF5_EXT_PREFIX");
    bool is_plain = true, is_there = exists("", 0, name, &is_plain);
    base = name[0] == '/' ? base + 1 : name;
    for (const char *at = prefix ? prefix : ""; *at; at += strspn(at, ":")) {
        is_there |= exists(at, strcspn(at, ":"), base, &is_plain);
        at += strcspn(at, ":");
    }
    if (H5Fget_name(object, file, sizeof file) < 0) file[0] = '\0';
    const char *end = strrchr(file, '/');
    if (end) is_there |= exists(file, (size_t)(end - file), base, &is_plain);
    *fault = !is_there ? "a file that is not there" : "what is no regular file";
    return is_there && is_plain;
}

static ikt_h5_place look_up(hid_t object, const char *path, int links, char *why, size_t size);

/* Where the link `part`, which is the whole path up to its name, leads. */
static ikt_h5_place follow(hid_t object, const char *part, const H5L_info_t *info, int links,
                           char *why, size_t size) {
    char value[PATH_SIZE] = "", target[2 * PATH_SIZE];
    const char *file, *within, *fault = "";
    if (info->u.val_size >= sizeof value ||
        H5Lget_val(object, part, value, sizeof value, H5P_DEFAULT) < 0)
        return IKT_H5_FOUND; /* opening it will tell */
    if (info->type == H5L_TYPE_EXTERNAL) {
        if (H5Lunpack_elink_val(value, info->u.val_size, NULL, &file, &within) < 0)
            return IKT_H5_FOUND;
        if (look_outside(object, file, &fault)) {
            if (H5Oexists_by_name(object, part, H5P_DEFAULT) > 0) return IKT_H5_FOUND;
            fault = "nothing that can be opened";
        }
        snprintf(why, size, "'%.200s' is a link to %s: '%.200s' in %.200s", part, fault, within,
                 file);
        return IKT_H5_LOST;
    }
    const char *slash = value[0] == '/' ? NULL : strrchr(part, '/');
    snprintf(target, sizeof target, "%.*s%s", slash ? (int)(slash - part + 1) : 0, part, value);
    if (links == LINKS_MOST) {
        snprintf(why, size, "'%.200s' is a link that leads back to itself", part);
        return IKT_H5_LOST;
    }
    const ikt_h5_place place = look_up(object, target, links + 1, why, size);
    if (place != IKT_H5_ABSENT) return place;
    snprintf(why, size, "'%.200s' is a link to '%.200s', which is not there", part, value);
    return IKT_H5_LOST;
}

/* Part after part, as H5Lexists wants every group on the way to exist. Behind an external link,
 * paths are those of another file: only whether there is an object is asked then. */
static ikt_h5_place look_up(hid_t object, const char *path, int links, char *why, size_t size) {
    char part[PATH_SIZE];
    if (path[0] == '\0' || strcmp(path, "/") == 0 || strlen(path) >= sizeof part)
        return strcmp(path, "/") == 0 && links > 0 ? IKT_H5_FOUND : IKT_H5_ABSENT;
    bool is_outside = false;
    for (const char *at = path; *at && !is_outside;) {
        H5L_info_t info;
        at += strspn(at, "/");
        at += strcspn(at, "/");
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (part[strspn(part, "/")] == '\0') continue;
        if (H5Lexists(object, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(object, part, &info, H5P_DEFAULT) < 0)
            return IKT_H5_ABSENT;
        if (info.type == H5L_TYPE_HARD) continue;
        const ikt_h5_place place = follow(object, part, &info, links, why, size);
        if (place != IKT_H5_FOUND) return place;
        is_outside = info.type == H5L_TYPE_EXTERNAL;
    }
    return H5Oexists_by_name(object, path, H5P_DEFAULT) > 0 ? IKT_H5_FOUND : IKT_H5_ABSENT;
}

ikt_h5_place ikt_h5_look_up(hid_t object, const char *path, char *why, size_t size) {
    why[0] = '\0';
    return look_up(object, path, 0, why, size);
}

bool ikt_h5_has(hid_t object, const char *path) {
    char why[IKT_H5_WHY];
    return ikt_h5_look_up(object, path, why, sizeof why) == IKT_H5_FOUND;
}

ikt_status ikt_h5_find(ikt_context *ctx, hid_t file, const char *name, const char *path,
                       bool *present) {
    char why[IKT_H5_WHY];
    const ikt_h5_place place = ikt_h5_look_up(file, path, why, sizeof why);
    *present = place == IKT_H5_FOUND;
    if (place != IKT_H5_LOST) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s: %s", name, why);
}

hid_t ikt_h5_open_object(hid_t parent, const char *path) {
    return ikt_h5_has(parent, path) ? H5Oopen(parent, path, H5P_DEFAULT) : -1;
}

typedef struct {
    char text[512];
    size_t used;
} listing;

static herr_t list_object(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    listing *list = target;
    hid_t object = ikt_h5_open_object(group, name);
    bool is_group = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    if (list->used + strlen(name) + 4 < sizeof list->text)
        list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                       "%s%s%s", list->used ? ", " : "", name, is_group ? "/" : "");
    ikt_h5_close(object);
    return 0;
}

ikt_status ikt_h5_missing(ikt_context *ctx, hid_t file, const char *path, const char *dataset) {
    listing list = {"", 0};
    bool present;
    IKT_TRY(ikt_h5_find(ctx, file, path, dataset, &present));
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, list_object, &list);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s'; it holds: %s", path, dataset,
                    list.used ? list.text : "nothing");
}

hid_t ikt_h5_create_group(hid_t parent, const char *name) {
    hid_t list = H5Pcreate(H5P_GROUP_CREATE), group = -1;
    if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    ikt_h5_close(list);
    return group;
}

/* HDF5's printing of errors. */

ikt_h5_host ikt_h5_host_keep(void) {
    ikt_h5_host host = {false, NULL, NULL};
    unsigned is_current = 0;
    if (H5Eauto_is_v2(H5E_DEFAULT, &is_current) >= 0 && is_current)
        host.is_known = H5Eget_auto2(H5E_DEFAULT, &host.print, &host.data) >= 0;
    return host;
}

void ikt_h5_host_restore(const ikt_h5_host *host) {
    if (host->is_known) H5Eset_auto2(H5E_DEFAULT, host->print, host->data);
}
