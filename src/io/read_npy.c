/* NPY, numpy's array file: magic, a dictionary as text, elements; versions 1 to 3.
 *
 * Arrays in C order are streamed. In Fortran order a row is spread over the whole file, so that is
 * read whole. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/binary.h"
#include "io/gz.h"

enum { HEADER_MOST = 1 << 16, AXES_MOST = 8, VERSION_MOST = 3 };

typedef struct {
    ikt_binary array;
    bool fortran;
} npy_self;

static bool npy_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static ikt_status malformed(ikt_reader *reader, const char *what) {
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: its NPY header has no usable %s", reader->path,
                    what);
}

/* What follows 'name': in the dictionary, or "". */
static const char *value_of(const char *header, const char *name) {
    const char *at = strstr(header, name);
    if (!at) return "";
    at += strlen(name);
    at += strspn(at, "'\" ");
    if (*at != ':') return "";
    return at + 1 + strspn(at + 1, " ");
}

/* "'<f4'": order of bytes, kind, bytes. */
static ikt_status parse_type(ikt_reader *reader, const char *text, ikt_element *element) {
    if (*text != '\'' && *text != '"') return malformed(reader, "element type (descr)");
    size_t length = strcspn(text + 1, "'\"");
    if (text[length + 1] != *text) return malformed(reader, "element type (descr)");
    char order = text[1], kind = length == 3 ? text[2] : '?', bytes = length == 3 ? text[3] : '?';
    bool good = strchr("<>|=", order) && strchr("uifb", kind) && strchr("1248", bytes) &&
                !(kind == 'f' && bytes < '4') && !(kind == 'b' && bytes != '1') &&
                !(order == '|' && bytes != '1');
    if (!good)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s holds elements of type %.*s; integers, float32, float64 and truth "
                        "values are read",
                        reader->path, (int)(length < 20 ? length : 20), text + 1);
    *element = (ikt_element){kind, bytes - '0', order == '>'};
    return IKT_OK;
}

/* "(1797, 64)": the first axis counts rows, the others are one row. */
static ikt_status parse_shape(ikt_reader *reader, const char *text, bool fortran, int64_t *n,
                              int64_t *d) {
    int axes = 0;
    if (*text != '(') return malformed(reader, "shape");
    *n = *d = 1;
    for (text += 1 + strspn(text + 1, " "); *text != ')'; axes++) {
        char *end;
        if (axes == AXES_MOST || !isdigit((unsigned char)*text)) return malformed(reader, "shape");
        int64_t length = strtoll(text, &end, 10);
        if (axes == 0)
            *n = length;
        else
            *d = ikt_binary_product(*d, length);
        text = end + strspn(end, " ");
        if (*text == ',')
            text += 1 + strspn(text + 1, " ");
        else if (*text != ')')
            return malformed(reader, "shape");
    }
    if (axes == 0) return malformed(reader, "shape (it is a single number)");
    if (axes > 2 && fortran)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s has %d axes in Fortran order; two are read",
                        reader->path, axes);
    return IKT_OK;
}

static ikt_status parse_header(ikt_reader *reader, npy_self *self, const char *text) {
    int64_t n = 0, d = 0;
    const char *order = value_of(text, "fortran_order");
    self->fortran = strncmp(order, "True", 4) == 0;
    if (!self->fortran && strncmp(order, "False", 5) != 0)
        return malformed(reader, "order (fortran_order)");
    IKT_TRY(parse_type(reader, value_of(text, "descr"), &self->array.element));
    IKT_TRY(parse_shape(reader, value_of(text, "shape"), self->fortran, &n, &d));
    /* numpy lets further arrays follow. */
    IKT_TRY(ikt_binary_shape(reader, &self->array, n, d, true));
    reader->layout.by_columns = self->fortran;
    return IKT_OK;
}

static ikt_status read_header(ikt_reader *reader, npy_self *self) {
    unsigned char head[12] = {0};
    char *text = NULL;
    IKT_TRY(ikt_binary_header(reader, &self->array, head, 8));
    if (head[6] < 1 || head[6] > VERSION_MOST)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s has NPY version %d; 1 to %d are read",
                        reader->path, head[6], VERSION_MOST);
    IKT_TRY(ikt_binary_header(reader, &self->array, head + 8, head[6] == 1 ? 2 : 4));
    int64_t length = head[8] | head[9] << 8 | head[10] << 16 | (int64_t)head[11] << 24;
    if (length > HEADER_MOST) return malformed(reader, "length");
    IKT_TRY(ikt_alloc(reader->ctx, &text, length + 1, 1, "reader"));
    ikt_status st = ikt_binary_header(reader, &self->array, text, length);
    if (st == IKT_OK) st = parse_header(reader, self, text);
    ikt_free(&text);
    return st;
}

static ikt_status npy_open(ikt_reader *reader, const ikt_reader_options *options) {
    npy_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    if (options->label_column[0] || options->skip_columns[0])
        return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                        "%s is an NPY file, which has no named columns; give labels as a file of "
                        "their own (--labels)",
                        reader->path);
    IKT_TRY(ikt_gz_open(reader->ctx, reader->path, &self->array.file));
    return read_header(reader, self);
}

/* Rows out of an array stored by columns. */
static ikt_status read_fortran(ikt_reader *reader, npy_self *self, int64_t count, void *rows) {
    size_t size = ikt_type_size(reader->type);
    if (reader->done == 0) IKT_TRY(ikt_binary_read(reader, &self->array, 0, reader->n * reader->d));
    for (int64_t c = 0; c < reader->d; c++)
        IKT_TRY(ikt_binary_convert(reader, &self->array, c * reader->n + reader->done, count,
                                   (char *)rows + (size_t)c * size, reader->d));
    return IKT_OK;
}

static ikt_status npy_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    npy_self *self = reader->self;
    if (self->fortran) return read_fortran(reader, self, count, rows);
    int64_t elements = count * reader->d;
    IKT_TRY(ikt_binary_read(reader, &self->array, reader->done * reader->d, elements));
    return ikt_binary_convert(reader, &self->array, 0, elements, rows, 1);
}

static void npy_close(ikt_reader *reader) {
    npy_self *self = reader->self;
    if (!self) return;
    ikt_binary_close(&self->array);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_npy = {"NPY", npy_probe, npy_open, npy_read, npy_close};
