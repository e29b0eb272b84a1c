/* Bytes of a file, read in order, and the readers of arrays that stand plainly in them: IDX and
 * NPY. See bytes.h. */
#include "io/formats/bytes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/atomic_file.h"

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

/* Reads exactly `bytes` bytes of the header. */
static ikt_status read_header(ikt_reader *reader, void *data, int64_t bytes) {
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
    /* What leads the rows is counted but for the first, which has been read as the header. */
    const int64_t leads = n > 0 ? (n - 1) * array->lead : 0;
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
        reader->layout = (ikt_layout){
            array->element, array->header - array->lead, n, d, array->by_columns, array->is_list,
            array->lead};
    if (from->size < array->header + leads + bytes) return truncated(reader, array, from->size);
    if (array->may_go_on || from->size == array->header + leads + bytes) return IKT_OK;
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
    IKT_TRY(read_header(reader, magic, sizeof magic));
    array->element = idx_element(magic[2]);
    if (array->element.bytes == 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: unknown type of elements", reader->path);
    for (int axis = 0; axis < magic[3]; axis++) {
        IKT_TRY(read_header(reader, size, sizeof size));
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
    .is_flat = true,
    .probe = idx_probe,
    .open = idx_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};

/* --- NPY -------------------------------------------------------------------------------------- */

/* Arrays in C order are streamed. In Fortran order a row is spread over the whole file, so that is
 * read whole. */

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
                      !(kind == 'f' && size == '1') && !(kind == 'b' && size != '1') &&
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
    IKT_ARRAYS(held, bytes->ctx, "reader");
    char *text = ikt_claim(&held, length + 1, 1);
    IKT_TRY(held.status);
    IKT_TRY(take(bytes, header, text, length));
    return parse(bytes, text, header);
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
                        "%s holds elements of type %s; integers, float16 to float64 and truth "
                        "values are read%s",
                        reader->path, header.type,
                        strcmp(header.type + 1, "V2") == 0
                            ? ": if they are bfloat16, which NPY has no name for, "
                              "x.astype('float32') makes them such"
                            : "");
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
    array->is_list = header.axes == 1;
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
    .is_flat = true,
    .probe = npy_probe,
    .open = npy_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};
