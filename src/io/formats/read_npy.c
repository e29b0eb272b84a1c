/* NPY, numpy's array file: a header (npy_header.h), then the elements.
 *
 * Arrays in C order are streamed. In Fortran order a row is spread over the whole file, so that is
 * read whole. */
#include <string.h>

#include "base/memory.h"
#include "io/formats/npy_header.h"

typedef struct {
    ikt_binary array;
    bool fortran;
} npy_self;

static bool npy_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* The first axis counts rows, the others are one row. */
static ikt_status measure(ikt_reader *reader, npy_self *self, const ikt_npy_header *header) {
    int64_t d = 1;
    if (!header->numeric)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s holds elements of type %s; integers, float32, float64 and truth values "
                        "are read",
                        reader->path, header->type);
    if (header->axes == 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s: its NPY header has no usable shape (it is a single number)",
                        reader->path);
    if (header->axes > 2 && header->fortran)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s has %d axes in Fortran order; two are read",
                        reader->path, header->axes);
    for (int axis = 1; axis < header->axes; axis++)
        d = ikt_binary_product(d, header->shape[axis]);
    self->array.element = header->element;
    self->array.header = header->bytes;
    self->fortran = header->fortran;
    /* numpy lets further arrays follow. */
    IKT_TRY(ikt_binary_shape(reader, &self->array, header->shape[0], d, true));
    reader->layout.by_columns = self->fortran;
    return IKT_OK;
}

ikt_status ikt_npy_begin(ikt_reader *reader, ikt_bytes *bytes) {
    npy_self *self = NULL;
    ikt_npy_header header;
    const ikt_status st = ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader");
    if (st != IKT_OK) {
        ikt_bytes_close(bytes);
        return st;
    }
    reader->self = self;
    self->array.bytes = *bytes;
    *bytes = (ikt_bytes){0};
    IKT_TRY(ikt_npy_header_read(&self->array.bytes, reader->path, &header));
    return measure(reader, self, &header);
}

static ikt_status npy_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_bytes bytes;
    IKT_TRY(
        ikt_reader_no_columns(reader, options, "give labels as a file of their own (--labels)"));
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &bytes));
    return ikt_npy_begin(reader, &bytes);
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

const ikt_reader_ops ikt_reader_npy = {
    .name = "NPY", .probe = npy_probe, .open = npy_open, .read = npy_read, .close = npy_close};
