/* NPZ, numpy's archive of arrays. See npz.h. */
#include "io/formats/npz.h"

#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

#ifdef IKT_HAVE_LIBZIP
#include <zip.h>

enum { MEMBERS_MOST = 10000 };
static const char ending[] = ".npy";

static ikt_status zip_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    zip_int64_t now = 1;
    *got = 0;
    while (*got < count && now > 0) {
        now = zip_fread(bytes->handle, (char *)data + *got, (zip_uint64_t)(count - *got));
        if (now > 0) *got += now;
    }
    /* libzip compares the checksum when it is asked for more than there is. */
    bytes->done += *got;
    char more;
    if (now >= 0 && bytes->done == bytes->size) now = zip_fread(bytes->handle, &more, 1);
    if (now >= 0) return IKT_OK;
    return ikt_fail(bytes->ctx, IKT_ERR_FILE, "%s is damaged: %s", bytes->path,
                    zip_file_strerror(bytes->handle));
}

static void zip_end(ikt_bytes *bytes) {
    zip_fclose(bytes->handle);
}

static const ikt_bytes_ops zip_ops = {zip_read, zip_end};

/* What the archive says of a member must be possible for a file of its size. */
static ikt_status check_sizes(const ikt_npz *npz, const char *name, const zip_stat_t *about) {
    const uint64_t ratio_most = 1032, file = (uint64_t)npz->file_bytes;
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE)
        return ikt_fail(npz->ctx, IKT_ERR_DATA,
                        "%s: '%s' is compressed by a method that is not read; numpy.savez and "
                        "numpy.savez_compressed write what is",
                        npz->path, name);
    const bool stored = about->comp_method == ZIP_CM_STORE;
    if (about->encryption_method == ZIP_EM_NONE && about->comp_size <= file &&
        (stored ? about->size == about->comp_size : about->size / ratio_most <= about->comp_size))
        return IKT_OK;
    return ikt_fail(
        npz->ctx, IKT_ERR_FILE,
        "%s is damaged: '%s' is said to have %llu bytes, and %llu compressed, in a file "
        "of %llu",
        npz->path, name, (unsigned long long)about->size, (unsigned long long)about->comp_size,
        (unsigned long long)file);
}

ikt_status ikt_npz_bytes(const ikt_npz *npz, const ikt_npz_member *member, ikt_bytes *bytes) {
    zip_stat_t about;
    zip_t *zip = npz->zip;
    *bytes = (ikt_bytes){.ctx = npz->ctx, .path = npz->path};
    zip_stat_init(&about);
    if (zip_stat_index(zip, (zip_uint64_t)member->place, 0, &about) == 0) {
        IKT_TRY(check_sizes(npz, member->name, &about));
        bytes->handle = zip_fopen_index(zip, (zip_uint64_t)member->place, 0);
    }
    if (!bytes->handle)
        return ikt_fail(npz->ctx, IKT_ERR_FILE, "%s: '%s' cannot be read: %s", npz->path,
                        member->name, zip_strerror(zip));
    bytes->ops = &zip_ops;
    bytes->size = (int64_t)about.size;
    bytes->packed = about.comp_method == ZIP_CM_STORE ? 0 : (int64_t)about.comp_size;
    return IKT_OK;
}

/* Adds the member at a place of the archive, if it is an array. */
static ikt_status add_member(ikt_npz *npz, int64_t place) {
    const char *name = zip_get_name(npz->zip, (zip_uint64_t)place, ZIP_FL_ENC_RAW);
    const size_t length = name ? strlen(name) : 0, tail = strlen(ending);
    if (length <= tail || strcmp(name + length - tail, ending) != 0) return IKT_OK;
    ikt_npz_member *member = &npz->member[npz->count];
    ikt_bytes bytes;
    IKT_TRY(ikt_alloc(npz->ctx, &member->name, (int64_t)length + 1, 1, "reader"));
    npz->count++;
    memcpy(member->name, name, length - tail);
    member->place = place;
    IKT_TRY(ikt_npz_bytes(npz, member, &bytes));
    const ikt_status st = ikt_npy_header_read(&bytes, npz->path, &member->header);
    ikt_bytes_close(&bytes);
    return st;
}

static ikt_status list_members(ikt_npz *npz) {
    const int64_t entries = zip_get_num_entries(npz->zip, 0);
    if (entries > MEMBERS_MOST)
        return ikt_fail(npz->ctx, IKT_ERR_DATA, "%s has %lld members; up to %d are read", npz->path,
                        (long long)entries, MEMBERS_MOST);
    IKT_TRY(ikt_alloc(npz->ctx, &npz->member, entries, sizeof *npz->member, "reader"));
    for (int64_t place = 0; place < entries; place++)
        IKT_TRY(add_member(npz, place));
    if (npz->count > 0) return IKT_OK;
    return ikt_fail(npz->ctx, IKT_ERR_DATA,
                    "%s is a zip archive without an array of numpy (.npy) in it", npz->path);
}

ikt_status ikt_npz_open(ikt_context *ctx, const char *path, ikt_npz *npz) {
    int code = 0;
    struct stat about;
    *npz = (ikt_npz){.ctx = ctx, .path = path};
    npz->file_bytes = stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
    npz->zip = zip_open(path, ZIP_RDONLY, &code);
    if (npz->zip) return list_members(npz);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const ikt_status st = ikt_fail(ctx, IKT_ERR_FILE,
                                   "%s is truncated or damaged: as a zip "
                                   "archive (NPZ) it cannot be read: %s",
                                   path, zip_error_strerror(&error));
    zip_error_fini(&error);
    return st;
}

static void close_zip(ikt_npz *npz) {
    if (npz->zip) zip_discard(npz->zip);
}

#else

ikt_status ikt_npz_open(ikt_context *ctx, const char *path, ikt_npz *npz) {
    *npz = (ikt_npz){.ctx = ctx, .path = path};
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is a zip archive (NPZ), and this program was built without libzip, which "
                    "reads them: build it with libzip (Debian package libzip-dev), or save single "
                    "arrays with numpy.save",
                    path);
}

ikt_status ikt_npz_bytes(const ikt_npz *npz, const ikt_npz_member *member, ikt_bytes *bytes) {
    (void)member, (void)bytes;
    return ikt_fail(npz->ctx, IKT_ERR_INTERNAL, "this program was built without libzip");
}

static void close_zip(ikt_npz *npz) {
    (void)npz;
}

#endif

const ikt_npz_member *ikt_npz_find(const ikt_npz *npz, const char *name) {
    for (int64_t m = 0; m < npz->count; m++)
        if (strcmp(npz->member[m].name, name) == 0) return &npz->member[m];
    return NULL;
}

void ikt_npz_close(ikt_npz *npz) {
    for (int64_t m = 0; m < npz->count; m++)
        ikt_free(&npz->member[m].name);
    ikt_free(&npz->member);
    close_zip(npz);
    *npz = (ikt_npz){0};
}
