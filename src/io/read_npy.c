/* NPY, numpy's array file: magic, a dictionary as text, elements. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/binary.h"

enum { HEADER_MOST = 1 << 16, AXES_MOST = 8 };

typedef struct {
    gzFile file;
    ikt_element element;
    bool fortran;
    unsigned char *stored; /* one block as stored; the whole array in Fortran order */
    int64_t room;          /* bytes */
} npy_self;

static bool npy_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 10 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static ikt_status malformed(ikt_reader *reader, const char *what) {
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: its NPY header has no usable %s", reader->path,
                    what);
}

/* What follows 'name': in the dictionary, or NULL. */
static const char *value_of(const char *header, const char *name) {
    const char *at = strstr(header, name);
    if (!at) return NULL;
    at += strlen(name);
    at += strspn(at, "'\" ");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " ");
}

static ikt_status parse_type(ikt_reader *reader, const char *text, npy_self *self) {
    if (!text || (*text != '\'' && *text != '"')) return malformed(reader, "element type (descr)");
    char order = text[1], kind = text[2];
    int bytes = atoi(text + 3);
    bool good = strchr("<>|=", order) && strchr("uifb", kind) && kind != '\0' &&
                (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                !(kind == 'f' && bytes < 4);
    if (!good)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s holds elements of type %.6s; integers and float32 or float64 are read",
                        reader->path, text);
    self->element = (ikt_element){kind, bytes, order == '>'};
    return IKT_OK;
}

static ikt_status parse_shape(ikt_reader *reader, const char *text, const npy_self *self) {
    if (!text || *text != '(') return malformed(reader, "shape");
    int64_t n = 1, d = 1, bytes;
    int axes = 0;
    for (text++; *text && *text != ')' && axes <= AXES_MOST;) {
        char *end;
        text += strspn(text, " ,");
        if (*text == ')') break;
        long long length = strtoll(text, &end, 10);
        if (end == text || length < 0) return malformed(reader, "shape");
        if (axes++ == 0)
            n = length;
        else
            IKT_TRY(ikt_binary_size(reader, d, length, 1, &d));
        text = end;
    }
    if (axes == 0 || axes > AXES_MOST) return malformed(reader, "shape");
    if (axes > 2 && self->fortran)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s has %d axes in Fortran order; two are read",
                        reader->path, axes);
    IKT_TRY(ikt_binary_size(reader, n, d, self->element.bytes, &bytes));
    reader->n = n;
    reader->d = d;
    return IKT_OK;
}

static ikt_status read_header(ikt_reader *reader, npy_self *self) {
    unsigned char head[12];
    char *text = NULL;
    IKT_TRY(ikt_binary_read(reader, self->file, head, 8));
    int width = head[6] >= 2 ? 4 : 2;
    IKT_TRY(ikt_binary_read(reader, self->file, head + 8, width));
    int64_t length = head[8] | head[9] << 8;
    if (width == 4) length |= (int64_t)head[10] << 16 | (int64_t)head[11] << 24;
    if (length > HEADER_MOST) return malformed(reader, "length");
    IKT_TRY(ikt_alloc(reader->ctx, &text, length + 1, 1, "reader"));
    ikt_status st = ikt_binary_read(reader, self->file, text, length);
    const char *order = value_of(text, "fortran_order");
    self->fortran = order && strncmp(order, "True", 4) == 0;
    if (st == IKT_OK && !order) st = malformed(reader, "order (fortran_order)");
    if (st == IKT_OK) st = parse_type(reader, value_of(text, "descr"), self);
    if (st == IKT_OK) st = parse_shape(reader, value_of(text, "shape"), self);
    ikt_free(&text);
    reader->type = ikt_element_type(self->element);
    reader->row_bytes = self->fortran ? 0 : reader->d * self->element.bytes;
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
    self->file = gzopen(reader->path, "rb");
    if (!self->file)
        return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s cannot be read: %s", reader->path,
                        strerror(errno));
    return read_header(reader, self);
}

static ikt_status make_room(ikt_reader *reader, npy_self *self, int64_t bytes) {
    if (bytes <= self->room) return IKT_OK;
    IKT_TRY(ikt_resize(reader->ctx, &self->stored, bytes, 1, "reader"));
    self->room = bytes;
    return IKT_OK;
}

/* Rows out of an array stored by columns. */
static ikt_status read_fortran(ikt_reader *reader, npy_self *self, int64_t count, void *rows) {
    size_t width = (size_t)self->element.bytes, size = ikt_type_size(reader->type);
    if (reader->done == 0) {
        int64_t bytes = reader->n * reader->d * self->element.bytes;
        IKT_TRY(make_room(reader, self, bytes));
        IKT_TRY(ikt_binary_read(reader, self->file, self->stored, bytes));
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < reader->d; c++)
            ikt_element_convert(self->element,
                                self->stored + (size_t)(c * reader->n + reader->done + i) * width,
                                1, (char *)rows + (size_t)(i * reader->d + c) * size);
    return IKT_OK;
}

static ikt_status npy_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    npy_self *self = reader->self;
    if (self->fortran) return read_fortran(reader, self, count, rows);
    int64_t bytes = count * reader->d * self->element.bytes;
    IKT_TRY(make_room(reader, self, bytes));
    IKT_TRY(ikt_binary_read(reader, self->file, self->stored, bytes));
    ikt_element_convert(self->element, self->stored, count * reader->d, rows);
    return IKT_OK;
}

static void npy_close(ikt_reader *reader) {
    npy_self *self = reader->self;
    if (!self) return;
    if (self->file) gzclose(self->file);
    ikt_free(&self->stored);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_npy = {"NPY", npy_probe, npy_open, npy_read, npy_close};
