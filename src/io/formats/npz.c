/* NPZ, numpy's archive: a zip file whose members are NPY files, stored or deflated. Read is one of
 * its arrays as the NPY file that it is, or the sparse matrix that scipy has put in it
 * (scipy.sparse.save_npz): rows (csr) are streamed; columns (csc) and triplets (coo) are brought
 * into rows in memory.
 *
 * Archives need libzip; a build without it says so when it meets one. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "io/formats/bytes.h"

static bool npz_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

#ifdef IKT_HAVE_LIBZIP
#include <zip.h>

enum { MEMBERS_MOST = 10000, SHAPE_SIZE = 96 };
static const char ending[] = ".npy";

typedef struct {
    char *name;       /* without ".npy" */
    int64_t position; /* in the archive */
    ikt_npy_header header;
} npz_member;

typedef struct {
    ikt_context *ctx;
    const char *path; /* borrowed */
    void *zip;        /* libzip's */
    int64_t file_bytes;
    npz_member *member; /* [count] the arrays, in the order of the file */
    int64_t count;
} npz_archive;

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
static ikt_status check_sizes(const npz_archive *npz, const char *name, const zip_stat_t *about) {
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

/* The bytes of a member, from its header on; reading the last of them compares the checksum
 * (CRC-32) of the archive. Several can be open at once, and are closed before the archive. */
static ikt_status open_member(const npz_archive *npz, const npz_member *member, ikt_bytes *bytes) {
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

/* The array of that name, or NULL. */
static const npz_member *find_member(const npz_archive *npz, const char *name) {
    for (int64_t m = 0; m < npz->count; m++)
        if (strcmp(npz->member[m].name, name) == 0) return &npz->member[m];
    return NULL;
}

/* Opens the archive and reads the headers of its arrays. */
static ikt_status open_archive(npz_archive *npz) {
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
        npz_member *member = &npz->member[npz->count];
        ikt_bytes bytes IKT_AT_END(ikt_bytes_close) = {0};
        IKT_TRY(ikt_alloc(npz->ctx, &member->name, (int64_t)length + 1, 1, "reader"));
        npz->count++;
        memcpy(member->name, name, length - tail);
        member->position = position;
        IKT_TRY(open_member(npz, member, &bytes));
        IKT_TRY(ikt_npy_header_read(&bytes, &member->header));
    }
    if (npz->count > 0) return IKT_OK;
    return ikt_fail(npz->ctx, IKT_ERR_DATA,
                    "%s is a zip archive without an array of numpy (.npy) in it", npz->path);
}

/* --- sparse matrices -------------------------------------------------------------------------- */

enum { NAME_SIZE = 8, BLOCK = 1 << 14 /* numbers */ };

/* One of the arrays, of one axis, that is read in order. All zero: closed. */
typedef struct {
    ikt_context *ctx;
    const char *path, *name; /* for messages; borrowed */
    ikt_bytes bytes;
    ikt_element element;
    int64_t length, done;
    unsigned char *stored; /* a block as it is stored */
} column;

typedef struct {
    npz_archive npz;
    ikt_reader *chosen; /* of an array, NULL: of the sparse matrix */
    char *name;         /* "FILE:ARRAY" */
    int64_t *starts;    /* csr: [n + 1] */
    column indices, values;
} npz_self;

/* --- arrays ----------------------------------------------------------------------------------- */

static ikt_status bad_array(const column *c, ikt_status status, const char *what) {
    return ikt_fail(c->ctx, status, "%s: the array '%s' of its sparse matrix %s", c->path, c->name,
                    what);
}

/* Errors: IKT_ERR_DATA (not there, not one axis, no numbers), IKT_ERR_FILE (more than the archive
 * can hold). To be closed in any case. */
static ikt_status open_column(const npz_archive *npz, const char *name, column *c) {
    ikt_npy_header header;
    const npz_member *member = find_member(npz, name);
    *c = (column){.ctx = npz->ctx, .path = npz->path, .name = name};
    if (!member) return bad_array(c, IKT_ERR_DATA, "is missing");
    IKT_TRY(open_member(npz, member, &c->bytes));
    IKT_TRY(ikt_npy_header_read(&c->bytes, &header));
    if (!header.numeric || header.axes != 1)
        return bad_array(c, IKT_ERR_DATA, "is not a list of numbers");
    c->element = header.element;
    c->length = header.shape[0];
    const int64_t bytes = ikt_binary_product(c->length, c->element.bytes);
    if (bytes < 0 || c->bytes.size != header.bytes + bytes)
        return bad_array(c, IKT_ERR_FILE, "has another length than its header announces");
    return ikt_alloc(c->ctx, &c->stored, BLOCK, sizeof(double), "reader");
}

static void close_column(column *c) {
    ikt_bytes_close(&c->bytes);
    ikt_free(&c->stored);
}

/* The next `count` numbers, as reals or as integers: the other one is NULL. Errors: IKT_ERR_FILE
 * (truncated), IKT_ERR_DATA (too few; not integers; beyond 2^53). */
static ikt_status read_column(column *c, int64_t count, double *reals, int64_t *integers) {
    if (integers && c->element.kind == 'f')
        return bad_array(c, IKT_ERR_DATA, "is not one of integers");
    if (count > c->length - c->done) return bad_array(c, IKT_ERR_DATA, "is too short");
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t now = count - first < BLOCK ? count - first : BLOCK;
        int64_t got;
        IKT_TRY(ikt_bytes_read(&c->bytes, c->stored, now * c->element.bytes, &got));
        if (got < now * c->element.bytes) return bad_array(c, IKT_ERR_FILE, "is truncated");
        for (int64_t i = 0; i < now; i++) {
            double value;
            if (!ikt_element_number(c->element, c->stored + i * c->element.bytes, &value))
                return bad_array(c, IKT_ERR_DATA,
                                 "holds an integer that no floating number holds exactly");
            if (integers)
                integers[first + i] = (int64_t)value;
            else
                reals[first + i] = value;
        }
        c->done += now;
    }
    return IKT_OK;
}

/* All of an array of integers, in memory of ikt_alloc, the caller's. */
static ikt_status read_whole(const npz_archive *npz, const char *name, int64_t **values,
                             int64_t *length) {
    column c IKT_AT_END(close_column) = {.ctx = npz->ctx};
    IKT_TRY(open_column(npz, name, &c));
    *length = c.length;
    IKT_TRY(ikt_alloc(npz->ctx, values, c.length, sizeof **values, "reader"));
    return read_column(&c, c.length, NULL, *values);
}

/* --- opening ---------------------------------------------------------------------------------- */

static ikt_status bad_matrix(const npz_archive *npz, const char *what) {
    return ikt_fail(npz->ctx, IKT_ERR_DATA, "%s: its sparse matrix %s", npz->path, what);
}

static bool is_sparse(const npz_archive *npz) {
    return find_member(npz, "format") && find_member(npz, "shape") && find_member(npz, "data");
}

/* "csr": a text of bytes, or of characters of four bytes. */
static ikt_status read_format(const npz_archive *npz, char name[NAME_SIZE]) {
    ikt_npy_header header;
    ikt_bytes bytes IKT_AT_END(ikt_bytes_close) = {0};
    char text[4 * NAME_SIZE];
    int64_t got = 0;
    int length = 0;
    IKT_TRY(open_member(npz, find_member(npz, "format"), &bytes));
    IKT_TRY(ikt_npy_header_read(&bytes, &header));
    IKT_TRY(ikt_bytes_read(&bytes, text, sizeof text, &got));
    for (int64_t i = 0; i < got && length + 1 < NAME_SIZE; i++)
        if (text[i] >= 'a' && text[i] <= 'z') name[length++] = text[i];
    name[length] = '\0';
    return IKT_OK;
}

static ikt_status read_shape(const npz_archive *npz, int64_t *n, int64_t *d) {
    int64_t *shape IKT_AT_END(ikt_free) = NULL, length = 0;
    IKT_TRY(read_whole(npz, "shape", &shape, &length));
    if (length != 2 || shape[0] < 0 || shape[1] < 0)
        return bad_matrix(npz, "has no shape of two sizes");
    *n = shape[0];
    *d = shape[1];
    return IKT_OK;
}

/* csr: rows that can be streamed. */
static ikt_status open_rows(const npz_archive *npz, ikt_reader *reader) {
    npz_self *self = reader->self;
    int64_t length = 0;
    IKT_TRY(open_column(npz, "indices", &self->indices));
    if (self->indices.length != reader->entries)
        return bad_matrix(npz, "has not as many indices as values: is it damaged?");
    IKT_TRY(read_whole(npz, "indptr", &self->starts, &length));
    const int64_t *starts = self->starts;
    bool good = length == reader->n + 1 && starts[0] == 0 && starts[reader->n] == reader->entries;
    for (int64_t row = 0; row < reader->n && good; row++)
        good = starts[row] <= starts[row + 1];
    if (good) return IKT_OK;
    return bad_matrix(npz, "is damaged: where its rows begin (indptr) does not go with its shape "
                           "and its entries");
}

/* csc or coo, read whole: `indices` are rows, of csc, or both are named. */
static ikt_status open_whole(const npz_archive *npz, ikt_reader *reader, bool by_columns) {
    npz_self *self = reader->self;
    const int64_t entries = reader->entries;
    int64_t *rows IKT_AT_END(ikt_free) = NULL, *others IKT_AT_END(ikt_free) = NULL;
    double *values IKT_AT_END(ikt_free) = NULL;
    int64_t row_count = 0, other_count = 0;
    IKT_TRY(read_whole(npz, by_columns ? "indices" : "row", &rows, &row_count));
    IKT_TRY(read_whole(npz, by_columns ? "indptr" : "col", &others, &other_count));
    if (row_count != entries || other_count != (by_columns ? reader->d + 1 : entries))
        return bad_matrix(npz, "has arrays whose lengths do not go together");
    IKT_TRY(ikt_alloc(reader->ctx, &values, entries, sizeof *values, "reader"));
    IKT_TRY(read_column(&self->values, entries, values, NULL));
    const ikt_sparse_triplets all = {.path = reader->path,
                                     .n = reader->n,
                                     .d = reader->d,
                                     .entries = entries,
                                     .rows = rows,
                                     .columns = by_columns ? NULL : others,
                                     .column_starts = by_columns ? others : NULL,
                                     .values = values};
    IKT_TRY(ikt_sparse_whole(reader->ctx, &all, &reader->whole));
    reader->entries = reader->whole.entries;
    return IKT_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ikt_status npz_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    npz_self *self = reader->self;
    const int64_t *starts = self->starts + reader->done;
    int64_t count = 0;
    while (count < rows && (count == 0 || starts[count] - starts[0] < entries))
        count++;
    const int64_t now = starts[count] - starts[0];
    IKT_TRY(ikt_sparse_block_reserve(reader->ctx, block, count, now));
    for (int64_t row = 0; row < count; row++)
        block->ends[row] = starts[row + 1] - starts[0];
    block->rows = count;
    block->entries = now;
    IKT_TRY(read_column(&self->indices, now, NULL, block->columns));
    IKT_TRY(read_column(&self->values, now, block->values, NULL));
    for (int64_t e = 0; e < block->entries; e++)
        if (block->columns[e] < 0 || block->columns[e] >= reader->d)
            return ikt_fail(reader->ctx, IKT_ERR_DATA,
                            "%s: an entry stands in column %lld (counted from 0) of a matrix of "
                            "%lld columns",
                            reader->path, (long long)block->columns[e], (long long)reader->d);
    const int64_t twice = ikt_sparse_block_sort(block);
    if (twice < 0) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s, row %lld (counted from 0) has several entries in one column: "
                    "x.sum_duplicates() before saving makes them one",
                    reader->path, (long long)(reader->done + twice));
}

static ikt_status npz_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    const npz_self *self = reader->self;
    *entries = self->starts[rows];
    return IKT_OK;
}

static ikt_status open_sparse(const npz_archive *npz, ikt_reader *reader) {
    npz_self *self = reader->self;
    char format[NAME_SIZE];
    IKT_TRY(read_format(npz, format));
    const bool csr = strcmp(format, "csr") == 0, csc = strcmp(format, "csc") == 0;
    if (!csr && !csc && strcmp(format, "coo") != 0)
        return bad_matrix(npz, "is of another format than csr, csc and coo: save it with "
                               "scipy.sparse.save_npz(FILE, x.tocsr())");
    IKT_TRY(read_shape(npz, &reader->n, &reader->d));
    IKT_TRY(open_column(npz, "data", &self->values));
    reader->sparse = true;
    reader->entries = self->values.length;
    reader->type = ikt_element_type(self->values.element);
    return csr ? open_rows(npz, reader) : open_whole(npz, reader, csc);
}

/* --- the reader ------------------------------------------------------------------------------- */

/* "1797 x 64, <f8". */
static void describe(const ikt_npy_header *header, char text[SHAPE_SIZE]) {
    text[0] = '\0';
    for (int axis = 0; axis < header->axes && strlen(text) + 40 < SHAPE_SIZE; axis++)
        ikt_join(text, SHAPE_SIZE, " x ", "%lld", (long long)header->shape[axis]);
    ikt_join(text, SHAPE_SIZE, ", ", "%s%s", header->axes > 0 ? "" : "a single ", header->type);
}

static ikt_array about(const npz_member *member, char shape[SHAPE_SIZE]) {
    const ikt_npy_header *header = &member->header;
    const bool usable = header->numeric && header->axes > 0;
    describe(header, shape);
    return (ikt_array){member->name, usable, usable && header->axes > 1, shape};
}

static ikt_status choose(const npz_archive *npz, const char *name, int64_t *chosen) {
    IKT_ARRAYS(held, npz->ctx, "reader");
    ikt_array *arrays = ikt_claim(&held, npz->count, sizeof *arrays);
    char(*shape)[SHAPE_SIZE] = ikt_claim(&held, npz->count, sizeof *shape);
    IKT_TRY(held.status);
    for (int64_t m = 0; m < npz->count; m++)
        arrays[m] = about(&npz->member[m], shape[m]);
    return ikt_array_choose(npz->ctx, npz->path, arrays, npz->count, name, chosen);
}

/* A reader of one of the arrays. */
static ikt_status open_array(npz_archive *npz, const npz_member *member, ikt_reader *reader) {
    npz_self *self = reader->self;
    const size_t size = strlen(npz->path) + strlen(member->name) + 2;
    IKT_TRY(ikt_alloc(npz->ctx, &self->name, (int64_t)size, 1, "reader"));
    snprintf(self->name, size, "%s:%s", npz->path, member->name);
    IKT_TRY(ikt_reader_new(npz->ctx, &ikt_reader_npy, self->name, &self->chosen));
    ikt_binary *array = self->chosen->self;
    IKT_TRY(open_member(npz, member, &array->bytes));
    array->bytes.path = self->name;
    IKT_TRY(ikt_npy_begin(self->chosen));
    reader->n = self->chosen->n;
    reader->d = self->chosen->d;
    reader->type = self->chosen->type;
    return IKT_OK;
}

static ikt_status npz_open(ikt_reader *reader, const ikt_reader_options *options) {
    npz_archive *npz = &((npz_self *)reader->self)->npz;
    int64_t which;
    *npz = (npz_archive){.ctx = reader->ctx, .path = reader->path};
    IKT_TRY(open_archive(npz));
    if (!ikt_is_given(options->array) && is_sparse(npz)) return open_sparse(npz, reader);
    IKT_TRY(choose(npz, options->array, &which));
    return open_array(npz, &npz->member[which], reader);
}

static void end_archive(npz_archive *npz) {
    for (int64_t m = 0; m < npz->count; m++)
        ikt_free(&npz->member[m].name);
    ikt_free(&npz->member);
    if (npz->zip) zip_discard(npz->zip);
}

static ikt_status npz_list(ikt_context *ctx, const char *path, ikt_array_visitor *visit,
                           void *self) {
    npz_archive npz IKT_AT_END(end_archive) = {.ctx = ctx, .path = path};
    char shape[SHAPE_SIZE];
    IKT_TRY(open_archive(&npz));
    if (is_sparse(&npz)) {
        int64_t n = 0, d = 0;
        IKT_TRY(read_shape(&npz, &n, &d));
        snprintf(shape, sizeof shape, "%lld x %lld, sparse", (long long)n, (long long)d);
        visit(self, &(ikt_array){"", true, true, shape});
        return IKT_OK;
    }
    for (int64_t m = 0; m < npz.count; m++) {
        const ikt_array array = about(&npz.member[m], shape);
        visit(self, &array);
    }
    return IKT_OK;
}

static ikt_status npz_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    return ikt_reader_read(((npz_self *)reader->self)->chosen, count, rows, labels);
}

static void npz_close(ikt_reader *reader) {
    npz_self *self = reader->self;
    npz_archive *npz = &self->npz;
    ikt_reader_close(&self->chosen); /* before the archive, as the columns */
    close_column(&self->indices);
    close_column(&self->values);
    end_archive(npz);
    ikt_free_all(&self->starts, &self->name);
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
    .list = npz_list,
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
