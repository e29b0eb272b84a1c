/* A copy of an AnnData file with the embedding in obsm, beside the file or in its place.
 *
 * Where the file system can (btrfs, XFS), the copy shares the blocks of the file until they are
 * changed, which takes no time and no space; elsewhere the bytes of the file are copied by all
 * ranks, and the new elements are added to the copy: all that was there stays as it is, whatever it
 * is. The attributes by which AnnData knows elements are those of https://anndata.readthedocs.io,
 * "on-disk format": encoding-type and encoding-version of each group and data set. Texts are of
 * fixed length: parallel HDF5 writes no others, and AnnData reads both. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h> /* FICLONE */
#endif

#include "base/arrays.h"
#include "base/comm.h"
#include "base/shared_file.h"
#include "io/export/export.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"

/* --- elements, with the marks of AnnData ------------------------------------------------------ */

/* COLLECTIVE, as all of these; they return false on failure, for ikt_h5_reason to tell why. */
static bool mark(hid_t object, const char *type, const char *version) {
    return ikt_h5_set_text(object, "encoding-type", type) &&
           ikt_h5_set_text(object, "encoding-version", version);
}

/* The group of that name, made as an AnnData dict where it is not there; negative on failure. */
static hid_t open_dict(hid_t parent, const char *name) {
    if (ikt_h5_has(parent, name)) return H5Gopen2(parent, name, H5P_DEFAULT);
    const hid_t group = ikt_h5_create_group(parent, name);
    if (group < 0 || mark(group, "dict", "0.1.0")) return group;
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
    const bool good = set >= 0 && mark(set, encoding, "0.2.0") &&
                      H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
    if (!good) return false; /* closing would clear the reason; the file is given up */
    ikt_h5_close(list);
    ikt_h5_close(space);
    return ikt_h5_close(set);
}

static bool add_text(hid_t parent, const char *name, const char *text) {
    const size_t length = strlen(text);
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool good = type >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
                      H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                      H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                      add_scalar(parent, name, type, text, "string");
    if (good) ikt_h5_close(type);
    return good;
}

enum { COPY_BYTES = 8 << 20, NAME = 300, ELEMENTS_BYTES = 1 << 20 };

/* What is added, and to what. */
typedef struct {
    ikt_export *export;
    const ikt_export_options *options;
    const char *path;              /* of the copy when it is complete */
    char place[NAME], about[NAME]; /* obsm/X_iktsne, uns/iktsne */
    hid_t file;
} addition;

/* --- copying ---------------------------------------------------------------------------------- */

/* `count` bytes of the original from `at` on. */
static ikt_status read_piece(ikt_context *ctx, const char *path, int file, int64_t at,
                             int64_t count, char *bytes) {
    for (int64_t done = 0; done < count;) {
        const ssize_t now = pread(file, bytes + done, (size_t)(count - done), at + done);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0)
            return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path,
                            now < 0 ? strerror(errno) : "it has become shorter");
        done += now;
    }
    return IKT_OK;
}

/* LOCAL, on one rank. Whether the new file has become a clone of the other one. */
static bool clone(const char *temporary, int from) {
    bool is_cloned = false;
#ifdef FICLONE
    const int to = open(temporary, O_WRONLY | O_CLOEXEC);
    is_cloned = to >= 0 && ioctl(to, FICLONE, from) == 0;
    if (to >= 0) close(to);
#else
    (void)temporary, (void)from;
#endif
    return is_cloned;
}

/* COLLECTIVE. Clones or copies the `size` bytes.
 *   bytes   [COPY_BYTES] scratch */
static ikt_status copy_pieces(const addition *a, int from, int64_t size, char *bytes,
                              ikt_shared_file *to) {
    ikt_context *ctx = a->export->ctx;
    const int64_t added = ikt_h5_rows_bytes(a->export->n, 4 * a->export->q) + ELEMENTS_BYTES;
    const int64_t step = (int64_t)COPY_BYTES * ikt_size(ctx);
    int64_t is_cloned = 0;
    if (ikt_rank(ctx) == 0) is_cloned = clone(ikt_shared_name(to), from);
    if (ikt_max_one(ctx, is_cloned) > 0) return IKT_OK;
    IKT_TRY(ikt_atomic_reserve(ctx, a->path, ikt_shared_name(to), size + added));
    for (int64_t round = 0; round < size; round += step) {
        const int64_t at = round + (int64_t)COPY_BYTES * ikt_rank(ctx);
        const int64_t left = at < size ? size - at : 0;
        const int64_t count = left < COPY_BYTES ? left : COPY_BYTES;
        IKT_TRY(ikt_agree(ctx, read_piece(ctx, a->options->anndata, from, at, count, bytes)));
        IKT_TRY(ikt_shared_append(to, bytes, count));
    }
    return IKT_OK;
}

static void close_plain(const int *file) {
    if (*file >= 0) close(*file);
}

/* COLLECTIVE. Makes a copy of the file: a clone, or piece by piece, each by one rank; *to is ended
 * by the caller. */
static ikt_status copy_file(const addition *a, ikt_shared_file **to) {
    ikt_context *ctx = a->export->ctx;
    const char *path = a->options->anndata;
    struct stat about = {0};
    *to = NULL;
    const int from IKT_AT_END(close_plain) = open(path, O_RDONLY);
    IKT_ARRAYS(held, ctx, "block");
    if (from < 0 || fstat(from, &about) != 0)
        held.status = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    char *bytes = ikt_claim(&held, COPY_BYTES, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    int64_t size = (int64_t)about.st_size;
    ikt_broadcast(ctx, &size, (int64_t)sizeof size, 0);
    IKT_TRY(ikt_shared_begin(ctx, a->path, a->options->overwrite || a->options->in_place, 0, to));
    return copy_pieces(a, from, size, bytes, *to);
}

/* --- looking before --------------------------------------------------------------------------- */

/* Entries of a one-dimensional data set; -1: it is none. */
static int64_t entries_of(hid_t file, const char *name) {
    const hid_t dataset IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(file, name);
    return ikt_h5_length(dataset);
}

/* Compares the rows that the original says it has with those of the embedding. Its obs is a group
 * whose attribute _index names the data set of the rows' names; before AnnData 0.7 it was a table.
 */
static ikt_status check_rows(const addition *a, hid_t original) {
    ikt_context *ctx = a->export->ctx;
    const char *path = a->options->anndata;
    const hid_t obs IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(original, "obs");
    int64_t rows = entries_of(original, "obs");
    if (obs >= 0 && rows < 0) {
        char name[512], *index IKT_AT_END(ikt_free) = NULL;
        IKT_TRY(ikt_h5_get_text(ctx, obs, "_index", &index));
        snprintf(name, sizeof name, "obs/%.400s", index ? index : "");
        if (index) rows = entries_of(original, name);
    }
    if (rows == a->export->n) return IKT_OK;
    if (rows >= 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows (obs), but %s has %lld: the embedding is of other data",
                        path, (long long)rows, a->export->run, (long long)a->export->n);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is no AnnData file: it has no obs with an index, which says how many rows "
                    "there are",
                    path);
}

/* LOCAL, on rank 0. Renaming would replace even a file that may not be written. */
static ikt_status check_writable(const addition *a) {
    struct stat about;
    const char *path = a->options->anndata;
    const mode_t any = S_IWUSR | S_IWGRP | S_IWOTH;
    if (stat(path, &about) == 0 && (about.st_mode & any) != 0 && access(path, W_OK) == 0)
        return IKT_OK;
    return ikt_fail(a->export->ctx, IKT_ERR_FILE,
                    "%s may not be written, so nothing is added to it; a copy gets the embedding "
                    "without --in-place",
                    path);
}

/* LOCAL, on rank 0. What replaces the file belongs to whom the file belonged, where that may be. */
static ikt_status keep_owner(const addition *a, const char *temporary) {
    struct stat about;
    if (stat(a->options->anndata, &about) == 0 && chmod(temporary, about.st_mode & 07777) == 0) {
        if (chown(temporary, about.st_uid, about.st_gid) != 0) errno = 0;
        return IKT_OK;
    }
    return ikt_fail(a->export->ctx, IKT_ERR_FILE, "%s cannot be replaced: %s", a->path,
                    strerror(errno));
}

static ikt_status check_original(const addition *a, hid_t original) {
    static const char *const groups[] = {"obsm", "uns"};
    const char *const elements[] = {a->place, a->about};
    IKT_TRY(check_rows(a, original));
    /* Groups of the first AnnData files were tables, to which nothing can be added. */
    for (int i = 0; i < 2; i++) {
        const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(original, groups[i]);
        if (object >= 0 && H5Iget_type(object) != H5I_GROUP)
            return ikt_fail(a->export->ctx, IKT_ERR_DATA,
                            "%s: %s is no group, as AnnData wrote before version 0.7; read and "
                            "write the file with a newer AnnData first",
                            a->options->anndata, groups[i]);
    }
    for (int i = 0; i < 2 && !a->options->overwrite; i++)
        if (ikt_h5_has(original, elements[i]))
            return ikt_fail(a->export->ctx, IKT_ERR_DATA,
                            "%s has %s already; choose another --key, or --overwrite replaces it"
                            "%s",
                            a->options->anndata, elements[i],
                            a->options->in_place ? "" : " in the copy");
    return IKT_OK;
}

/* --- adding ----------------------------------------------------------------------------------- */

static ikt_status agree(const addition *a, bool good, const char *what) {
    return ikt_h5_check_written(a->export->ctx, a->file, a->path, good, what);
}

static bool remove_old(hid_t file, const char *name) {
    return !ikt_h5_has(file, name) || H5Ldelete(file, name, H5P_DEFAULT) >= 0;
}

static ikt_status add_embedding(const addition *a) {
    ikt_export *export = a->export;
    ikt_context *ctx = export->ctx;
    hid_t set = -1;
    const hid_t group = open_dict(a->file, "obsm"); /* HDF5 must not close what it cannot write */
    IKT_TRY(agree(a, group >= 0 && remove_old(a->file, a->place), a->place));
    IKT_ARRAYS(held, ctx, "block");
    float *y = ikt_claim(&held, IKT_EXPORT_BLOCK * export->q, sizeof *y);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_h5_create(ctx, group, a->options->key, H5T_NATIVE_FLOAT, export->n, export->q,
                          IKT_H5_PLAIN, &set));
    IKT_TRY(agree(a, mark(set, "array", "0.2.0"), a->place));
    for (int64_t round = 0; round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        ikt_export_share(export, round, &first, &count);
        IKT_TRY(ikt_result_read_embedding(export->file, first, count, y));
        IKT_TRY(ikt_h5_write_rows(ctx, set, H5T_NATIVE_FLOAT, first, count, y));
    }
    return agree(a, ikt_h5_close(set) && ikt_h5_close(group), a->place);
}

/* Facts of the run that a reader of the file may want. */
typedef struct {
    hid_t group;
    bool good;
} facts;

static void add_fact(void *self, const char *name, const char *text, bool varying) {
    static const char *const texts[] = {"version", "input", "embedding_hash"};
    static const char *const numbers[] = {"kl", "cost", "neighbour_label_accuracy",
                                          "neighbour_similarity"};
    facts *f = self;
    if (varying || !f->good) return;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (strcmp(name, texts[t]) == 0) f->good = add_text(f->group, name, text);
    for (size_t t = 0; t < sizeof numbers / sizeof *numbers; t++) {
        const double value = strtod(text, NULL);
        if (strcmp(name, numbers[t]) == 0)
            f->good = add_scalar(f->group, name, H5T_NATIVE_DOUBLE, &value, "numeric-scalar");
    }
    if (strcmp(name, "iterations_done") == 0) {
        const int64_t value = strtoll(text, NULL, 10);
        f->good = add_scalar(f->group, name, H5T_NATIVE_INT64, &value, "numeric-scalar");
    }
}

static ikt_status add_about(const addition *a) {
    ikt_export *export = a->export;
    char *configuration = NULL;
    const hid_t uns = open_dict(a->file, "uns");
    const bool is_ready = uns >= 0 && remove_old(a->file, a->about);
    const hid_t group = is_ready ? open_dict(a->file, a->about) : -1;
    facts f = {group, group >= 0};
    IKT_TRY(agree(a, f.good, a->about));
    IKT_TRY(ikt_result_configuration(export->file, &configuration));
    const char *slash = strrchr(export->run, '/');
    f.good = add_text(group, "run", slash ? slash + 1 : export->run) &&
             add_text(group, "obsm", a->options->key) &&
             (!configuration || add_text(group, "configuration", configuration));
    ikt_free(&configuration);
    const ikt_status st = ikt_result_notes(export->file, add_fact, &f);
    if (st != IKT_OK) return st;
    IKT_TRY(agree(a, f.good, a->about));
    return agree(a, ikt_h5_close(group) && ikt_h5_close(uns), a->about);
}

/* COLLECTIVE. Adds what is to be added to the copy. */
static ikt_status add_to(addition *a, ikt_shared_file *copy) {
    ikt_context *ctx = a->export->ctx;
    const char *temporary = ikt_shared_name(copy);
    IKT_TRY(ikt_shared_close(copy));
    IKT_TRY(ikt_h5_open_to_add(ctx, a->path, temporary, &a->file));
    ikt_status st = add_embedding(a);
    if (st == IKT_OK) st = add_about(a);
    IKT_TRY(ikt_h5_complete(ctx, &a->file, 1, a->path, temporary, st));
    if (!a->options->in_place) return IKT_OK;
    return ikt_agree(ctx, ikt_rank(ctx) == 0 ? keep_owner(a, temporary) : IKT_OK);
}

/* COLLECTIVE. Whether the original is one that can be added to. */
static ikt_status look_at_original(const addition *a) {
    ikt_context *ctx = a->export->ctx;
    hid_t original IKT_AT_END(ikt_h5_end) = -1;
    if (a->options->in_place)
        IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? check_writable(a) : IKT_OK));
    IKT_TRY(ikt_h5_open(ctx, a->options->anndata, &original));
    return ikt_agree(ctx, check_original(a, original));
}

static ikt_status write_h5ad(ikt_export *export, const ikt_export_options *options,
                             const char *path) {
    addition a = {.export = export, .options = options, .path = path, .file = -1};
    const bool is_usual = strcmp(options->key, IKT_EXPORT_KEY) == 0;
    ikt_shared_file *copy;
    snprintf(a.place, sizeof a.place, "obsm/%s", options->key);
    snprintf(a.about, sizeof a.about, "uns/iktsne%s%s", is_usual ? "" : "_",
             is_usual ? "" : options->key);
    IKT_TRY(look_at_original(&a));
    ikt_status st = copy_file(&a, &copy);
    if (st == IKT_OK) st = add_to(&a, copy);
    return ikt_shared_end(&copy, st);
}

const ikt_export_format ikt_export_h5ad = {"h5ad", ".h5ad", "an HDF5 file", ".h5ad",
                                           false,  false,   false,          write_h5ad};
