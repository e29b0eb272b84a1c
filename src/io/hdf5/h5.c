/* HDF5 objects: links, groups, attributes, reasons. See h5.h. */
#include "io/hdf5/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"

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

/* --- links ------------------------------------------------------------------------------------ */

enum { LINKS_MOST = 16, PATH_SIZE = 1024, WHY_SIZE = 768 };

/* What a path leads to: nothing of that name, an object, or a link that leads nowhere, round in a
 * circle, or out of the file to what is no regular file (opening a pipe would wait for ever). */
typedef enum { PLACE_ABSENT, PLACE_FOUND, PLACE_LOST } place;

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

/* `why` receives, of a lost link, which link it is and what is wrong with it. */
static place look_up(hid_t object, const char *path, int links, char *why, size_t size);

/* Where the link `part`, which is the whole path up to its name, leads. */
static place follow(hid_t object, const char *part, const H5L_info_t *info, int links, char *why,
                    size_t size) {
    char value[PATH_SIZE] = "", target[2 * PATH_SIZE];
    const char *file, *within, *fault = "";
    if (info->u.val_size >= sizeof value ||
        H5Lget_val(object, part, value, sizeof value, H5P_DEFAULT) < 0)
        return PLACE_FOUND; /* opening it will tell */
    if (info->type == H5L_TYPE_EXTERNAL) {
        if (H5Lunpack_elink_val(value, info->u.val_size, NULL, &file, &within) < 0)
            return PLACE_FOUND;
        if (look_outside(object, file, &fault)) {
            if (H5Oexists_by_name(object, part, H5P_DEFAULT) > 0) return PLACE_FOUND;
            fault = "nothing that can be opened";
        }
        snprintf(why, size, "'%.200s' is a link to %s: '%.200s' in %.200s", part, fault, within,
                 file);
        return PLACE_LOST;
    }
    const char *slash = value[0] == '/' ? NULL : strrchr(part, '/');
    snprintf(target, sizeof target, "%.*s%s", slash ? (int)(slash - part + 1) : 0, part, value);
    if (links == LINKS_MOST) {
        snprintf(why, size, "'%.200s' is a link that leads back to itself", part);
        return PLACE_LOST;
    }
    const place found = look_up(object, target, links + 1, why, size);
    if (found != PLACE_ABSENT) return found;
    snprintf(why, size, "'%.200s' is a link to '%.200s', which is not there", part, value);
    return PLACE_LOST;
}

/* Part after part, as H5Lexists wants every group on the way to exist. Behind an external link,
 * paths are those of another file: only whether there is an object is asked then. */
static place look_up(hid_t object, const char *path, int links, char *why, size_t size) {
    char part[PATH_SIZE];
    if (path[0] == '\0' || strcmp(path, "/") == 0 || strlen(path) >= sizeof part)
        return strcmp(path, "/") == 0 && links > 0 ? PLACE_FOUND : PLACE_ABSENT;
    bool is_outside = false;
    for (const char *at = path; *at && !is_outside;) {
        H5L_info_t info;
        at += strspn(at, "/");
        at += strcspn(at, "/");
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (part[strspn(part, "/")] == '\0') continue;
        if (H5Lexists(object, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(object, part, &info, H5P_DEFAULT) < 0)
            return PLACE_ABSENT;
        if (info.type == H5L_TYPE_HARD) continue;
        const place found = follow(object, part, &info, links, why, size);
        if (found != PLACE_FOUND) return found;
        is_outside = info.type == H5L_TYPE_EXTERNAL;
    }
    return H5Oexists_by_name(object, path, H5P_DEFAULT) > 0 ? PLACE_FOUND : PLACE_ABSENT;
}

bool ikt_h5_is_file(const char *path) {
#if H5_VERSION_GE(1, 12, 0)
    return H5Fis_accessible(path, H5P_DEFAULT) > 0;
#else
    return H5Fis_hdf5(path) > 0;
#endif
}

void ikt_h5_give_back(hid_t type, hid_t space, void *values) {
#if H5_VERSION_GE(1, 12, 0)
    (void)H5Treclaim(type, space, H5P_DEFAULT, values);
#else
    (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
#endif
}

bool ikt_h5_has(hid_t object, const char *path) {
    char why[WHY_SIZE];
    return look_up(object, path, 0, why, sizeof why) == PLACE_FOUND;
}

ikt_status ikt_h5_find(ikt_context *ctx, hid_t file, const char *name, const char *path,
                       bool *present) {
    char why[WHY_SIZE];
    const place found = look_up(file, path, 0, why, sizeof why);
    *present = found == PLACE_FOUND;
    if (found != PLACE_LOST) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s: %s", name, why);
}

hid_t ikt_h5_open_object(hid_t parent, const char *path) {
    return ikt_h5_has(parent, path) ? H5Oopen(parent, path, H5P_DEFAULT) : -1;
}

static hid_t open_kind(hid_t parent, const char *path, H5I_type_t kind) {
    const hid_t object = ikt_h5_open_object(parent, path);
    if (object < 0 || H5Iget_type(object) == kind) return object;
    ikt_h5_close(object);
    return -1;
}

hid_t ikt_h5_open_dataset(hid_t parent, const char *path) {
    return open_kind(parent, path, H5I_DATASET);
}

hid_t ikt_h5_open_group(hid_t parent, const char *path) {
    return open_kind(parent, path, H5I_GROUP);
}

int ikt_h5_shape(hid_t dataset, int64_t size[2]) {
    hsize_t all[H5S_MAX_RANK] = {0}, rest = 1;
    const hid_t space IKT_AT_END(ikt_h5_end) = dataset < 0 ? -1 : H5Dget_space(dataset);
    const int dimensions = space < 0 ? -1 : H5Sget_simple_extent_dims(space, all, NULL);
    size[0] = (int64_t)all[0];
    size[1] = 1;
    for (int i = 1; i < dimensions && size[1] >= 0; i++) {
        size[1] =
            rest > 0 && all[i] > (hsize_t)(INT64_MAX >> 4) / rest ? -1 : size[1] * (int64_t)all[i];
        rest *= all[i];
    }
    return dimensions;
}

H5T_class_t ikt_h5_class(hid_t dataset) {
    const hid_t type IKT_AT_END(ikt_h5_end) = dataset < 0 ? -1 : H5Dget_type(dataset);
    return type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
}

hid_t ikt_h5_create_group(hid_t parent, const char *name) {
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Pcreate(H5P_GROUP_CREATE);
    if (list < 0 || H5Pset_obj_track_times(list, false) < 0) return -1;
    return H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Closes `space`, however it ends. */
static bool set_attribute(hid_t object, const char *name, hid_t type, hid_t space,
                          const void *value) {
    hid_t attribute = -1;
    if (space >= 0) attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    ikt_h5_close(space);
    return ikt_h5_close(attribute) && good;
}

/* Of variable length: that is what h5py shows as str, and it has no limit of 64 KiB. */
bool ikt_h5_set_text(hid_t object, const char *name, const char *text) {
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Tcopy(H5T_C_S1);
    return type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
           H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
           set_attribute(object, name, type, H5Screate(H5S_SCALAR), &text);
}

bool ikt_h5_set_int(hid_t object, const char *name, int64_t value) {
    return set_attribute(object, name, H5T_NATIVE_INT64, H5Screate(H5S_SCALAR), &value);
}

bool ikt_h5_set_ints(hid_t object, const char *name, int64_t count, const int64_t *value) {
    const hsize_t size[1] = {(hsize_t)count};
    return set_attribute(object, name, H5T_NATIVE_INT64, H5Screate_simple(1, size, NULL), value);
}

bool ikt_h5_has_attribute(hid_t object, const char *name) {
    return object >= 0 && H5Aexists(object, name) > 0;
}

/* Opens an attribute of `count` elements of that class; negative where there is none. */
static hid_t open_attribute(hid_t object, const char *name, H5T_class_t class, int64_t count,
                            hid_t *type) {
    *type = -1;
    if (H5Aexists(object, name) <= 0) return -1;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    const bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == count;
    ikt_h5_close(space);
    if (fits) *type = H5Aget_type(attribute);
    if (*type >= 0 && H5Tget_class(*type) == class) return attribute;
    ikt_h5_close(*type);
    ikt_h5_close(attribute);
    *type = -1;
    return -1;
}

bool ikt_h5_get_ints(hid_t object, const char *name, int64_t count, int64_t *value) {
    hid_t type IKT_AT_END(ikt_h5_end) = -1;
    const hid_t attribute IKT_AT_END(ikt_h5_end) =
        open_attribute(object, name, H5T_INTEGER, count, &type);
    return attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
}

bool ikt_h5_get_int(hid_t object, const char *name, int64_t *value) {
    return ikt_h5_get_ints(object, name, 1, value);
}

ikt_status ikt_h5_get_text(ikt_context *ctx, hid_t object, const char *name, char **text) {
    *text = NULL;
    hid_t type IKT_AT_END(ikt_h5_end) = -1;
    const hid_t attribute IKT_AT_END(ikt_h5_end) =
        open_attribute(object, name, H5T_STRING, 1, &type);
    if (attribute < 0) return IKT_OK;
    char *value = NULL; /* of variable length: HDF5's; an empty one may come as a null pointer */
    const bool is_variable = H5Tis_variable_str(type) > 0;
    bool good = !is_variable || H5Aread(attribute, type, &value) >= 0;
    const size_t length = !is_variable ? H5Tget_size(type) : value ? strlen(value) : 0;
    const ikt_status st = ikt_alloc(ctx, text, (int64_t)length + 1, 1, "text");
    if (st == IKT_OK && value) memcpy(*text, value, length);
    if (st == IKT_OK && !is_variable) good = H5Aread(attribute, type, *text) >= 0;
    if (value) H5free_memory(value);
    if (st != IKT_OK || good) return st;
    ikt_free(text);
    return ikt_fail(ctx, IKT_ERR_FILE, "a text attribute cannot be read");
}

ikt_status ikt_h5_read_note(ikt_context *ctx, hid_t file, const char *name, char **text) {
    const hid_t group IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(file, "provenance");
    *text = NULL;
    return ikt_agree(ctx, group >= 0 ? ikt_h5_get_text(ctx, group, name, text) : IKT_OK);
}

const char *ikt_h5_short_text(hid_t object, const char *name, char *text, size_t size) {
    char *variable = NULL, fixed[256] = "";
    hid_t type IKT_AT_END(ikt_h5_end) = -1;
    const hid_t attribute IKT_AT_END(ikt_h5_end) =
        open_attribute(object, name, H5T_STRING, 1, &type);
    const bool is_variable = attribute >= 0 && H5Tis_variable_str(type) > 0;
    bool good = attribute >= 0 && (is_variable || H5Tget_size(type) < sizeof fixed);
    good = good && H5Aread(attribute, type, is_variable ? (void *)&variable : fixed) >= 0;
    snprintf(text, size, "%s", !good ? "" : !is_variable ? fixed : variable ? variable : "");
    if (variable) H5free_memory(variable);
    return text;
}

/* --- whether HDF5 prints its errors ----------------------------------------------------------- */

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
