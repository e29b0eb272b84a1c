/* Virtual data sets of HDF5, which are made of parts of other files. See h5.h.
 *
 * HDF5 gives zeros for a part whose file or data set is missing or too short, or cannot be opened
 * beside all others, without a word, and
 * reads none on several ranks. So every part is looked for before the first row is read, where HDF5
 * looks for it: beside the file, or in the folder that HDF5_VDS_PREFIX names; one with a place of
 * its own as it is named. What no part covers is as it was meant, the fill value. */
#define _GNU_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/files.h"
#include "io/hdf5/h5.h"

enum { NAME_SIZE = 1024, FILES_BESIDE = 64 /* that others of the process may have open */ };

static void free_text(char **text) {
    free(*text);
}

/* Whether a file is in a folder; `path` receives how it is called there. */
static bool is_in(const char *folder, int length, const char *name, char path[IKT_PATH_MAX]) {
    snprintf(path, IKT_PATH_MAX, "%.*s%s%.2000s", length, folder, length > 0 ? "/" : "", name);
    return access(path, R_OK) == 0;
}

/* Where the file of a part is: in one of the folders of HDF5_VDS_PREFIX, beside the file, or beside
 * the one that this is a link to. */
static void find_file(hid_t dataset, const char *name, char path[IKT_PATH_MAX]) {
    char own[IKT_PATH_MAX] = "", *real IKT_AT_END(free_text) = NULL;
    const char *prefix = getenv("HDF5_VDS_PREFIX"), *slash;
    if (name[0] == '/') {
        if (is_in("", 0, name, path)) return;
        name = strrchr(name, '/') + 1;
    }
    for (const char *at = prefix; at && *at; at += strspn(at, ":")) {
        const int length = (int)strcspn(at, ":");
        if (is_in(at, length, name, path)) return;
        at += length;
    }
    if (H5Fget_name(dataset, own, sizeof own) < 0) own[0] = '\0';
    slash = strrchr(own, '/');
    if (is_in(slash ? own : ".", slash ? (int)(slash - own) : 1, name, path)) return;
    real = realpath(own, NULL);
    slash = real ? strrchr(real, '/') : NULL;
    if (slash && is_in(real, (int)(slash - real), name, path)) return;
    snprintf(path, IKT_PATH_MAX, "%s", name);
}

/* Whether a data set has all of what is taken from it.
 *   wanted, place   what is taken, of which HDF5 knows no size where it is all; and where it goes
 */
static bool is_whole(hid_t source, hid_t wanted, hid_t place) {
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], size[H5S_MAX_RANK];
    const hid_t space IKT_AT_END(ikt_h5_end) = source < 0 ? -1 : H5Dget_space(source);
    const int axes = space < 0 ? -1 : H5Sget_simple_extent_dims(space, size, NULL);
    if (axes >= 1 && H5Sget_select_type(wanted) == H5S_SEL_ALL)
        return H5Sget_simple_extent_npoints(space) == H5Sget_select_npoints(place);
    if (axes < 1 || axes != H5Sget_simple_extent_ndims(wanted) ||
        H5Sget_select_bounds(wanted, first, last) < 0)
        return false;
    bool is_there = true;
    for (int axis = 0; axis < axes; axis++)
        is_there &= last[axis] < size[axis] || last[axis] == H5S_UNLIMITED;
    return is_there;
}

/* Whether part number `k` is there; `what` receives its name, `path` that of its file. */
static bool is_there(hid_t dataset, hid_t list, size_t k, char what[2 * NAME_SIZE],
                     char path[IKT_PATH_MAX]) {
    char file[NAME_SIZE], name[NAME_SIZE];
    if (H5Pget_virtual_filename(list, k, file, sizeof file) < 0 ||
        H5Pget_virtual_dsetname(list, k, name, sizeof name) < 0)
        return false;
    const bool is_own = strcmp(file, ".") == 0;
    if (strchr(file, '%')) return true; /* one of a series without an end, which HDF5 counts */
    snprintf(what, 2 * NAME_SIZE, "%s%s%s", is_own ? "" : file, is_own ? "" : ":", name);
    if (!is_own) find_file(dataset, file, path);
    const hid_t other IKT_AT_END(ikt_h5_end) =
        is_own ? H5Iget_file_id(dataset) : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t source IKT_AT_END(ikt_h5_end) = other < 0 ? -1 : H5Dopen2(other, name, H5P_DEFAULT);
    const hid_t wanted IKT_AT_END(ikt_h5_end) = H5Pget_virtual_srcspace(list, k);
    const hid_t place IKT_AT_END(ikt_h5_end) = H5Pget_virtual_vspace(list, k);
    return wanted >= 0 && place >= 0 && is_whole(source, wanted, place);
}

/* Files of the parts; one that has several, which follow each other, is one. */
static size_t count_files(hid_t list, size_t parts) {
    char name[2][NAME_SIZE] = {"", ""};
    size_t files = 0;
    for (size_t k = 0; k < parts; k++)
        files += H5Pget_virtual_filename(list, k, name[k % 2], NAME_SIZE) < 0 ||
                 strcmp(name[0], name[1]) != 0;
    return files;
}

/* Whether HDF5 may hold so many files open, as it does with those of all parts; the limit is raised
 * as far as the system lets us. */
static bool may_open(size_t files) {
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)files + FILES_BESIDE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return true;
    if (limit.rlim_max < wanted) return false;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool ikt_h5_is_virtual(hid_t dataset) {
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Dget_create_plist(dataset);
    return list >= 0 && H5Pget_layout(list) == H5D_VIRTUAL;
}

static ikt_status check_stays(ikt_context *ctx, const char *path) {
    if (!path[0] || !ikt_files_replace(ctx, path)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s holds what the input is made of and cannot be the output, too: give the "
                    "output another name",
                    path);
}

ikt_status ikt_h5_check_stays(ikt_context *ctx, hid_t dataset) {
    char path[IKT_PATH_MAX] = "";
    return H5Fget_name(dataset, path, sizeof path) > 0 ? check_stays(ctx, path) : IKT_OK;
}

ikt_status ikt_h5_check_parts(ikt_context *ctx, hid_t dataset, const char *name) {
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Dget_create_plist(dataset);
    char what[2 * NAME_SIZE] = "", path[IKT_PATH_MAX];
    size_t parts = 0;
    IKT_TRY(ikt_h5_check_stays(ctx, dataset));
    if (list < 0 || H5Pget_layout(list) != H5D_VIRTUAL) return IKT_OK;
    if (ikt_size(ctx) > 1)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is a virtual data set, made of parts of other files, which HDF5 reads "
                        "on one rank only: write it whole on one rank, iktsne convert FILE.h5 "
                        "WHOLE.h5, and take that file",
                        name);
    ikt_status st = IKT_OK;
    if (H5Pget_virtual_count(list, &parts) < 0) parts = 0;
    if (!may_open(count_files(list, parts)))
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "%s is a virtual data set of so many files that they may not be open at "
                        "once, and HDF5 would give zeros for the others: raise the limit of open "
                        "files (ulimit -n)",
                        name);
    for (size_t k = 0; k < parts && st == IKT_OK; k++) {
        path[0] = '\0';
        if (is_there(dataset, list, k, what, path))
            st = check_stays(ctx, path);
        else
            st = ikt_fail(ctx, IKT_ERR_FILE,
                          "%s is a virtual data set, and its part %.800s is not there, or smaller "
                          "than it has to be, so that HDF5 would give zeros for it: bring the file "
                          "to its place (HDF5_VDS_PREFIX names a folder)",
                          name, what);
    }
    H5Eclear2(H5E_DEFAULT);
    return st;
}
