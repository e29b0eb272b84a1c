/* NPY, numpy's array file, and NPZ, its archive: one of its arrays as the NPY file that it is, or
 * the sparse matrix that scipy has put in it. See numpy.h.
 *
 * Arrays in C order are streamed. In Fortran order a row is spread over the whole file, so that is
 * read whole. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/formats/numpy.h"

enum { LENGTH_MOST = 1 << 16, VERSION_MOST = 3 };

static ikt_status malformed(const ikt_bytes *bytes, const char *what) {
    return ikt_fail(bytes->ctx, IKT_ERR_DATA, "%s: its NPY header has no usable %s", bytes->path,
                    what);
}

static ikt_status take(ikt_bytes *bytes, ikt_npy_header *header, void *data, int64_t count) {
    int64_t got;
    IKT_TRY(ikt_bytes_read(bytes, data, count, &got));
    header->bytes += got;
    if (got == count) return IKT_OK;
    return ikt_fail(bytes->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header",
                    bytes->path);
}

/* What follows 'name': in the dictionary, or "". */
static const char *value_of(const char *dictionary, const char *name) {
    const char *at = strstr(dictionary, name);
    if (!at) return "";
    at += strlen(name);
    at += strspn(at, "'\" ");
    if (*at != ':') return "";
    return at + 1 + strspn(at + 1, " ");
}

/* "'<f4'": order of bytes, kind, bytes. A list, of fields, is a type that is not numeric. */
static ikt_status parse_type(const ikt_bytes *bytes, const char *text, ikt_npy_header *header) {
    if (*text == '[') {
        snprintf(header->type, sizeof header->type, "'fields' (descr)");
        return IKT_OK;
    }
    if (*text != '\'' && *text != '"') return malformed(bytes, "element type (descr)");
    const size_t length = strcspn(text + 1, "'\"");
    if (text[length + 1] != *text) return malformed(bytes, "element type (descr)");
    snprintf(header->type, sizeof header->type, "%.*s", (int)(length < 20 ? length : 20), text + 1);
    const char order = text[1], kind = length == 3 ? text[2] : '?';
    const char size = length == 3 ? text[3] : '?';
    header->numeric = strchr("<>|=", order) && strchr("uifb", kind) && strchr("1248", size) &&
                      !(kind == 'f' && size < '4') && !(kind == 'b' && size != '1') &&
                      !(order == '|' && size != '1');
    if (header->numeric) header->element = (ikt_element){kind, size - '0', order == '>'};
    return IKT_OK;
}

/* "(1797, 64)". */
static ikt_status parse_shape(const ikt_bytes *bytes, const char *text, ikt_npy_header *header) {
    if (*text != '(') return malformed(bytes, "shape");
    for (text += 1 + strspn(text + 1, " "); *text != ')'; header->axes++) {
        char *end;
        if (header->axes == IKT_NPY_AXES_MOST || !isdigit((unsigned char)*text))
            return malformed(bytes, "shape");
        header->shape[header->axes] = strtoll(text, &end, 10);
        text = end + strspn(end, " ");
        if (*text == ',')
            text += 1 + strspn(text + 1, " ");
        else if (*text != ')')
            return malformed(bytes, "shape");
    }
    return IKT_OK;
}

static ikt_status parse(const ikt_bytes *bytes, const char *text, ikt_npy_header *header) {
    const char *order = value_of(text, "fortran_order");
    header->fortran = strncmp(order, "True", 4) == 0;
    if (!header->fortran && strncmp(order, "False", 5) != 0)
        return malformed(bytes, "order (fortran_order)");
    IKT_TRY(parse_type(bytes, value_of(text, "descr"), header));
    return parse_shape(bytes, value_of(text, "shape"), header);
}

ikt_status ikt_npy_header_read(ikt_bytes *bytes, ikt_npy_header *header) {
    unsigned char head[12] = {0};
    char *text = NULL;
    *header = (ikt_npy_header){.axes = 0};
    IKT_TRY(take(bytes, header, head, 8));
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return ikt_fail(bytes->ctx, IKT_ERR_DATA, "%s is no array of NPY", bytes->path);
    if (head[6] < 1 || head[6] > VERSION_MOST)
        return ikt_fail(bytes->ctx, IKT_ERR_DATA, "%s has NPY version %d; 1 to %d are read",
                        bytes->path, head[6], VERSION_MOST);
    IKT_TRY(take(bytes, header, head + 8, head[6] == 1 ? 2 : 4));
    const int64_t length = head[8] | head[9] << 8 | head[10] << 16 | (int64_t)head[11] << 24;
    if (length > LENGTH_MOST) return malformed(bytes, "length");
    IKT_TRY(ikt_alloc(bytes->ctx, &text, length + 1, 1, "reader"));
    ikt_status st = take(bytes, header, text, length);
    if (st == IKT_OK) st = parse(bytes, text, header);
    ikt_free(&text);
    return st;
}

static bool npy_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* The first axis counts rows, the others are one row. */
ikt_status ikt_npy_begin(ikt_reader *reader) {
    ikt_binary *array = reader->self;
    ikt_npy_header header;
    int64_t d = 1;
    IKT_TRY(ikt_npy_header_read(&array->bytes, &header));
    if (!header.numeric)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s holds elements of type %s; integers, float32, float64 and truth values "
                        "are read",
                        reader->path, header.type);
    if (header.axes == 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s: its NPY header has no usable shape (it is a single number)",
                        reader->path);
    if (header.axes > 2 && header.fortran)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s has %d axes in Fortran order; two are read",
                        reader->path, header.axes);
    for (int axis = 1; axis < header.axes; axis++)
        d = ikt_binary_product(d, header.shape[axis]);
    array->element = header.element;
    array->header = header.bytes;
    array->by_columns = header.fortran;
    array->may_go_on = true; /* numpy lets further arrays follow */
    return ikt_binary_shape(reader, header.shape[0], d);
}

static ikt_status npy_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array = reader->self;
    (void)options;
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &array->bytes));
    return ikt_npy_begin(reader);
}

const ikt_reader_ops ikt_reader_npy = {
    .name = "NPY",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "give labels as a file of their own (--labels)",
    .probe = npy_probe,
    .open = npy_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};

/* --- archives --------------------------------------------------------------------------------- */

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
