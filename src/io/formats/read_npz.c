/* NPZ, numpy's archive: one of its arrays as the NPY file that it is, or the sparse matrix that
 * scipy has put in it. See numpy.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/formats/numpy.h"

static bool npz_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

#ifdef IKT_HAVE_LIBZIP
#include <zip.h>

enum { MEMBERS_MOST = 10000, SHAPE_SIZE = 96 };
static const char ending[] = ".npy";

typedef struct {
    ikt_npz npz;
    ikt_reader *chosen; /* of the array, or of the sparse matrix */
    char *name;         /* "FILE:ARRAY" */
} npz_self;

/* --- the archive ------------------------------------------------------------------------------ */

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
    const uint64_t file = (uint64_t)npz->file_bytes;
    const bool stored = about->comp_method == ZIP_CM_STORE;
    if (!stored && about->comp_method != ZIP_CM_DEFLATE)
        return ikt_fail(npz->ctx, IKT_ERR_DATA,
                        "%s: '%s' is compressed by a method that is not read; numpy.savez and "
                        "numpy.savez_compressed write what is",
                        npz->path, name);
    if (about->encryption_method == ZIP_EM_NONE && about->comp_size <= file &&
        (stored ? about->size == about->comp_size
                : about->size / IKT_DEFLATE_MOST <= about->comp_size))
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
    if (zip_stat_index(zip, (zip_uint64_t)member->position, 0, &about) == 0) {
        IKT_TRY(check_sizes(npz, member->name, &about));
        bytes->handle = zip_fopen_index(zip, (zip_uint64_t)member->position, 0);
    }
    if (!bytes->handle)
        return ikt_fail(npz->ctx, IKT_ERR_FILE, "%s: '%s' cannot be read: %s", npz->path,
                        member->name, zip_strerror(zip));
    bytes->ops = &zip_ops;
    bytes->size = (int64_t)about.size;
    bytes->packed = about.comp_method == ZIP_CM_STORE ? 0 : (int64_t)about.comp_size;
    return IKT_OK;
}

const ikt_npz_member *ikt_npz_find(const ikt_npz *npz, const char *name) {
    for (int64_t m = 0; m < npz->count; m++)
        if (strcmp(npz->member[m].name, name) == 0) return &npz->member[m];
    return NULL;
}

/* Opens the archive and reads the headers of its arrays. */
static ikt_status open_archive(ikt_npz *npz) {
    int code = 0;
    struct stat about;
    npz->file_bytes = stat(npz->path, &about) == 0 ? (int64_t)about.st_size : 0;
    npz->zip = zip_open(npz->path, ZIP_RDONLY, &code);
    if (!npz->zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const ikt_status st = ikt_fail(npz->ctx, IKT_ERR_FILE,
                                       "%s is truncated or damaged: as a zip "
                                       "archive (NPZ) it cannot be read: %s",
                                       npz->path, zip_error_strerror(&error));
        zip_error_fini(&error);
        return st;
    }
    const int64_t entries = zip_get_num_entries(npz->zip, 0);
    if (entries > MEMBERS_MOST)
        return ikt_fail(npz->ctx, IKT_ERR_DATA, "%s has %lld members; up to %d are read", npz->path,
                        (long long)entries, MEMBERS_MOST);
    IKT_TRY(ikt_alloc(npz->ctx, &npz->member, entries, sizeof *npz->member, "reader"));
    for (int64_t position = 0; position < entries; position++) {
        const char *name = zip_get_name(npz->zip, (zip_uint64_t)position, ZIP_FL_ENC_RAW);
        const size_t length = name ? strlen(name) : 0, tail = strlen(ending);
        if (length <= tail || strcmp(name + length - tail, ending) != 0) continue;
        ikt_npz_member *member = &npz->member[npz->count];
        ikt_bytes bytes;
        IKT_TRY(ikt_alloc(npz->ctx, &member->name, (int64_t)length + 1, 1, "reader"));
        npz->count++;
        memcpy(member->name, name, length - tail);
        member->position = position;
        IKT_TRY(ikt_npz_bytes(npz, member, &bytes));
        const ikt_status st = ikt_npy_header_read(&bytes, &member->header);
        ikt_bytes_close(&bytes);
        IKT_TRY(st);
    }
    if (npz->count > 0) return IKT_OK;
    return ikt_fail(npz->ctx, IKT_ERR_DATA,
                    "%s is a zip archive without an array of numpy (.npy) in it", npz->path);
}

/* --- the reader ------------------------------------------------------------------------------- */

/* "1797 x 64, <f8". */
static void describe(const ikt_npy_header *header, char text[SHAPE_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < header->axes && used + 40 < SHAPE_SIZE; axis++)
        used += (size_t)snprintf(text + used, SHAPE_SIZE - used, "%s%lld", axis > 0 ? " x " : "",
                                 (long long)header->shape[axis]);
    snprintf(text + used, SHAPE_SIZE - used, "%s%s", used > 0 ? ", " : "a single ", header->type);
}

static ikt_status choose(const ikt_npz *npz, const char *name, int64_t *chosen) {
    ikt_array *arrays = NULL;
    char(*shape)[SHAPE_SIZE] = NULL;
    ikt_status st = ikt_alloc(npz->ctx, &arrays, npz->count, sizeof *arrays, "reader");
    if (st == IKT_OK) st = ikt_alloc(npz->ctx, &shape, npz->count, sizeof *shape, "reader");
    for (int64_t m = 0; m < npz->count && st == IKT_OK; m++) {
        const ikt_npy_header *header = &npz->member[m].header;
        const bool usable = header->numeric && header->axes > 0;
        describe(header, shape[m]);
        arrays[m] = (ikt_array){npz->member[m].name, usable, usable && header->axes > 1, shape[m]};
    }
    if (st == IKT_OK) st = ikt_array_choose(npz->ctx, npz->path, arrays, npz->count, name, chosen);
    ikt_free(&arrays);
    ikt_free(&shape);
    return st;
}

static ikt_status npz_open(ikt_reader *reader, const ikt_reader_options *options) {
    npz_self *self = reader->self;
    ikt_npz *npz = &self->npz;
    int64_t member;
    *npz = (ikt_npz){.ctx = reader->ctx, .path = reader->path};
    IKT_TRY(open_archive(npz));
    if (!ikt_is_given(options->array) && ikt_npz_find(npz, "format") &&
        ikt_npz_find(npz, "shape") && ikt_npz_find(npz, "data")) {
        IKT_TRY(ikt_npz_sparse_open(npz, &self->chosen));
    } else {
        IKT_TRY(choose(npz, options->array, &member));
        const char *name = npz->member[member].name;
        const size_t size = strlen(npz->path) + strlen(name) + 2;
        IKT_TRY(ikt_alloc(npz->ctx, &self->name, (int64_t)size, 1, "reader"));
        snprintf(self->name, size, "%s:%s", npz->path, name);
        IKT_TRY(ikt_reader_new(npz->ctx, &ikt_reader_npy, self->name, &self->chosen));
        ikt_binary *array = self->chosen->self;
        IKT_TRY(ikt_npz_bytes(npz, &npz->member[member], &array->bytes));
        array->bytes.path = self->name;
        IKT_TRY(ikt_npy_begin(self->chosen));
    }
    reader->n = self->chosen->n;
    reader->d = self->chosen->d;
    reader->type = self->chosen->type;
    reader->sparse = self->chosen->sparse;
    reader->entries = self->chosen->entries;
    return IKT_OK;
}

static ikt_status npz_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    return ikt_reader_read(((npz_self *)reader->self)->chosen, count, rows, labels);
}

static ikt_status npz_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    return ikt_reader_read_sparse(((npz_self *)reader->self)->chosen, rows, entries, block);
}

static ikt_status npz_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    ikt_reader *chosen = ((npz_self *)reader->self)->chosen;
    return chosen->ops->count(chosen, rows, entries);
}

static void npz_close(ikt_reader *reader) {
    npz_self *self = reader->self;
    ikt_npz *npz = &self->npz;
    ikt_reader_close(&self->chosen);
    for (int64_t m = 0; m < npz->count; m++)
        ikt_free(&npz->member[m].name);
    ikt_free(&npz->member);
    if (npz->zip) zip_discard(npz->zip);
    ikt_free(&self->name);
}

const ikt_reader_ops ikt_reader_npz = {
    .name = "NPZ",
    .self_bytes = sizeof(npz_self),
    .labels_are = "labels are an array of it (--label-array) or of another file "
                  "(--labels FILE:NAME)",
    .has_arrays = true,
    .probe = npz_probe,
    .open = npz_open,
    .read = npz_read,
    .read_sparse = npz_read_sparse,
    .count = npz_count,
    .close = npz_close,
};

#else

static ikt_status npz_open(ikt_reader *reader, const ikt_reader_options *options) {
    (void)options;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s is a zip archive (NPZ), and this program was built without libzip, which "
                    "reads them: build it with libzip (Debian package libzip-dev), or save single "
                    "arrays with numpy.save",
                    reader->path);
}

const ikt_reader_ops ikt_reader_npz = {
    .name = "NPZ", .has_arrays = true, .probe = npz_probe, .open = npz_open};

#endif
