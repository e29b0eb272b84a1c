/* Bytes of a file, read in order, and the readers of arrays that stand plainly in them: IDX and raw
 * numbers, and the elements of NPY. See bytes.h. */
#define _GNU_SOURCE /* fseeko */
#include "io/formats/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/memory.h"

/* --- bytes ------------------------------------------------------------------------------------ */

static ikt_status gz_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    const int64_t piece = (int64_t)1 << 28; /* zlib counts in ints */
    int now = 1;
    *got = 0;
    while (*got < count && now > 0) {
        const int64_t left = count - *got;
        now = gzread(bytes->handle, (char *)data + *got, (unsigned)(left < piece ? left : piece));
        if (now > 0) *got += now;
    }
    return now < 0 ? ikt_gz_check(bytes->ctx, bytes->path, bytes->handle) : IKT_OK;
}

static void gz_close(ikt_bytes *bytes) {
    gzclose(bytes->handle);
}

static const ikt_bytes_ops gz_ops = {gz_read, gz_close};

static ikt_status plain_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    *got = (int64_t)fread(data, 1, (size_t)count, bytes->handle);
    if (!ferror(bytes->handle)) return IKT_OK;
    return ikt_fail(bytes->ctx, IKT_ERR_FILE, "%s cannot be read: %s", bytes->path,
                    strerror(errno));
}

static void plain_close(ikt_bytes *bytes) {
    fclose(bytes->handle);
}

static const ikt_bytes_ops plain_ops = {plain_read, plain_close};

/* Bytes of a file of known length; -1 of a pipe. */
static int64_t length_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
}

ikt_status ikt_bytes_open(ikt_context *ctx, const char *path, ikt_bytes *bytes) {
    gzFile file;
    *bytes = (ikt_bytes){.ctx = ctx, .path = path};
    IKT_TRY(ikt_gz_open(ctx, path, &file));
    const int64_t length = length_of(path);
    const bool direct = gzdirect(file);
    bytes->ops = &gz_ops;
    bytes->handle = file;
    bytes->size = direct ? length : -1;
    bytes->packed = direct || length < 0 ? 0 : length;
    bytes->is_plain = bytes->size >= 0;
    return IKT_OK;
}

ikt_status ikt_bytes_open_plain(ikt_context *ctx, const char *path, ikt_bytes *bytes) {
    *bytes = (ikt_bytes){.ctx = ctx, .path = path, .size = length_of(path)};
    bytes->is_plain = bytes->size >= 0;
    IKT_TRY(ikt_input_check(ctx, path));
    FILE *file = fopen(path, "rb");
    if (!file) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    bytes->ops = &plain_ops;
    bytes->handle = file;
    return IKT_OK;
}

ikt_status ikt_bytes_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got) {
    return bytes->ops->read(bytes, data, count, got);
}

void ikt_bytes_close(ikt_bytes *bytes) {
    if (bytes->ops) bytes->ops->close(bytes);
    *bytes = (ikt_bytes){0};
}

ikt_status ikt_gz_open(ikt_context *ctx, const char *path, gzFile *file) {
    *file = NULL;
    IKT_TRY(ikt_input_check(ctx, path));
    *file = gzopen(path, "rb");
    if (*file && gzbuffer(*file, 1 << 17) == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path,
                    *file ? "no memory" : strerror(errno));
}

ikt_status ikt_gz_check(ikt_context *ctx, const char *path, gzFile file) {
    int error = Z_OK, reason_of_system = errno;
    const char *reason = gzerror(file, &error);
    if (error == Z_OK || error == Z_STREAM_END || error == Z_BUF_ERROR) return IKT_OK;
    if (error == Z_ERRNO) reason = strerror(reason_of_system);
    size_t length = strlen(path); /* zlib says the path again */
    if (strncmp(reason, path, length) == 0) reason += length + strspn(reason + length, ": ");
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, reason);
}

/* --- arrays of numbers ------------------------------------------------------------------------ */

int64_t ikt_binary_product(int64_t a, int64_t b) {
    if (a < 0 || b < 0) return -1;
    if (a == 0 || b == 0) return 0;
    return a <= INT64_MAX / 16 / b ? a * b : -1;
}

ikt_status ikt_binary_header(ikt_reader *reader, void *data, int64_t bytes) {
    ikt_binary *array = reader->self;
    int64_t got;
    IKT_TRY(ikt_bytes_read(&array->bytes, data, bytes, &got));
    array->header += got;
    if (got == bytes) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header",
                    reader->path);
}

static ikt_status truncated(const ikt_reader *reader, const ikt_binary *array, int64_t found) {
    const int64_t row = ikt_binary_product(reader->d, array->element.bytes);
    return ikt_fail(reader->ctx, IKT_ERR_FILE,
                    "%s is truncated: its header announces %lld rows of %lld bytes, %lld bytes in "
                    "all, but there are only %lld",
                    reader->path, (long long)reader->n, (long long)row,
                    (long long)(array->header + reader->n * row), (long long)found);
}

ikt_status ikt_binary_shape(ikt_reader *reader, int64_t n, int64_t d) {
    const ikt_binary *array = reader->self;
    const ikt_bytes *from = &array->bytes;
    const int64_t bytes = ikt_binary_product(ikt_binary_product(n, d), array->element.bytes);
    if (bytes < 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: its header announces an impossible size",
                        reader->path);
    reader->n = n;
    reader->d = d;
    reader->type = ikt_element_type(array->element);
    if (from->packed > 0 && bytes / IKT_DEFLATE_MOST > from->packed)
        return ikt_fail(reader->ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its header announces %lld rows, %lld bytes in "
                        "all, which a compressed file of %lld bytes cannot hold",
                        reader->path, (long long)n, (long long)bytes, (long long)from->packed);
    if (from->size < 0) return IKT_OK;
    if (from->is_plain)
        reader->layout = (ikt_layout){array->element, array->header, n, d, array->by_columns};
    if (from->size < array->header + bytes) return truncated(reader, array, from->size);
    if (array->may_go_on || from->size == array->header + bytes) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s has %lld bytes, but its header announces %lld: is it damaged?",
                    reader->path, (long long)from->size, (long long)(array->header + bytes));
}

/* Stored elements from number `first` on to values[i * stride] of the reader's type. */
static ikt_status convert(const ikt_reader *reader, const ikt_binary *array, int64_t first,
                          int64_t count, void *values, int64_t stride) {
    const ikt_element e = array->element;
    const unsigned char *stored = array->stored + first * e.bytes;
    const int64_t good = ikt_elements_convert(e, stored, count, values, stride);
    if (good == count) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s holds an integer near %g, which no floating number holds exactly",
                    reader->path, ikt_element_integer(e, stored + good * e.bytes));
}

ikt_status ikt_binary_turn(const ikt_reader *reader, const ikt_binary *array, int64_t count,
                           void *rows) {
    const size_t size = ikt_type_size(reader->type);
    for (int64_t c = 0; c < reader->d; c++)
        IKT_TRY(convert(reader, array, c * reader->n + reader->done, count,
                        (char *)rows + (size_t)c * size, reader->d));
    return IKT_OK;
}

ikt_status ikt_binary_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    ikt_binary *array = reader->self;
    const int64_t before = reader->done * reader->d * array->element.bytes;
    (void)labels;
    if (!array->by_columns || reader->done == 0) {
        const int64_t wanted = array->by_columns ? reader->n : count;
        const int64_t bytes = wanted * reader->d * array->element.bytes;
        int64_t got;
        IKT_TRY(ikt_reserve(reader->ctx, &array->stored, bytes, 1, "reader"));
        IKT_TRY(ikt_bytes_read(&array->bytes, array->stored, bytes, &got));
        if (got < bytes) return truncated(reader, array, array->header + before + got);
    }
    if (array->by_columns) return ikt_binary_turn(reader, array, count, rows);
    IKT_TRY(convert(reader, array, 0, count * reader->d, rows, 1));
    if (array->may_go_on || reader->done + count < reader->n) return IKT_OK;
    char more;
    int64_t got;
    IKT_TRY(ikt_bytes_read(&array->bytes, &more, 1, &got));
    if (got == 0) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s goes on after the %lld rows that its header announces: is it damaged?",
                    reader->path, (long long)reader->n);
}

void ikt_binary_close(ikt_reader *reader) {
    ikt_binary *array = reader->self;
    ikt_bytes_close(&array->bytes);
    ikt_free(&array->stored);
}

/* --- IDX -------------------------------------------------------------------------------------- */

/* The format of MNIST: magic, sizes and elements, all big-endian; axes after the first are one row.
 * bytes = 0 where there is no such type. */
static ikt_element idx_element(int code) {
    static const ikt_element known[] = {
        [0x08] = {'u', 1, true}, [0x09] = {'i', 1, true}, [0x0B] = {'i', 2, true},
        [0x0C] = {'i', 4, true}, [0x0D] = {'f', 4, true}, [0x0E] = {'f', 8, true}};
    return code < (int)(sizeof known / sizeof *known) ? known[code] : (ikt_element){0};
}

static bool idx_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 4 && head[0] == 0 && head[1] == 0 && head[3] >= 1 &&
           idx_element(head[2]).bytes > 0;
}

static ikt_status idx_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array = reader->self;
    unsigned char magic[4], size[4];
    int64_t n = 0, d = 1;
    (void)options;
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &array->bytes));
    IKT_TRY(ikt_binary_header(reader, magic, sizeof magic));
    array->element = idx_element(magic[2]);
    if (array->element.bytes == 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: unknown type of elements", reader->path);
    for (int axis = 0; axis < magic[3]; axis++) {
        IKT_TRY(ikt_binary_header(reader, size, sizeof size));
        const int64_t length = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
        if (axis == 0)
            n = length;
        else
            d = ikt_binary_product(d, length);
    }
    return ikt_binary_shape(reader, n, d);
}

const ikt_reader_ops ikt_reader_idx = {
    .name = "IDX",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "labels of IDX are a file of their own (--labels)",
    .probe = idx_probe,
    .open = idx_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};

/* --- raw numbers ------------------------------------------------------------------------------ */

/* Without a header, of a type and a number of columns that the user tells; the size of the file
 * tells how many rows there are. */
static ikt_status raw_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array = reader->self;
    static const struct {
        const char *name;
        char kind;
        int bytes;
    } known[] = {{"int8", 'i', 1},    {"int16", 'i', 2},  {"int32", 'i', 4},  {"int64", 'i', 8},
                 {"uint8", 'u', 1},   {"uint16", 'u', 2}, {"uint32", 'u', 4}, {"uint64", 'u', 8},
                 {"float32", 'f', 4}, {"float64", 'f', 8}};
    const ikt_raw_options *raw = &options->raw;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, raw->type) == 0)
            array->element = (ikt_element){known[k].kind, known[k].bytes, raw->big};
    if (array->element.bytes == 0)
        return ikt_fail(reader->ctx, IKT_ERR_USAGE, "'%s' is no type of raw numbers", raw->type);
    IKT_TRY(ikt_bytes_open_plain(reader->ctx, reader->path, &array->bytes));
    const int64_t bytes = array->bytes.size - raw->skip;
    const int64_t row = ikt_binary_product(raw->columns, array->element.bytes);
    if (array->bytes.size < 0)
        return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s is no plain file: raw numbers need one",
                        reader->path);
    if (bytes < 0 || row <= 0 || bytes % row != 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s has %lld bytes, %lld to be skipped: the rest is no whole number of "
                        "rows of %lld %s (%lld bytes each)",
                        reader->path, (long long)array->bytes.size, (long long)raw->skip,
                        (long long)raw->columns, raw->type, (long long)row);
    array->header = raw->skip;
    if (fseeko(array->bytes.handle, (off_t)raw->skip, SEEK_SET) != 0)
        return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s cannot be read: %s", reader->path,
                        strerror(errno));
    return ikt_binary_shape(reader, bytes / row, raw->columns);
}

const ikt_reader_ops ikt_reader_raw = {
    .name = "raw",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "labels are a file of their own (--labels)",
    .open = raw_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};
