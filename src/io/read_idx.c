/* IDX, the format of MNIST: magic, sizes and elements, all big-endian. */
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "io/binary.h"

typedef struct {
    gzFile file;
    ikt_element element;
    unsigned char *stored; /* one block as stored */
    int64_t room;          /* bytes */
} idx_self;

static bool element_of(int code, ikt_element *element) {
    static const struct {
        int code;
        ikt_element element;
    } known[] = {{0x08, {'u', 1, true}}, {0x09, {'i', 1, true}}, {0x0B, {'i', 2, true}},
                 {0x0C, {'i', 4, true}}, {0x0D, {'f', 4, true}}, {0x0E, {'f', 8, true}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].code == code) {
            *element = known[k].element;
            return true;
        }
    return false;
}

static bool idx_probe(const unsigned char *head, int64_t bytes) {
    ikt_element element;
    return bytes >= 8 && head[0] == 0 && head[1] == 0 && head[3] >= 1 &&
           element_of(head[2], &element);
}

static ikt_status read_header(ikt_reader *reader, idx_self *self) {
    unsigned char magic[4], size[4];
    IKT_TRY(ikt_binary_read(reader, self->file, magic, 4));
    if (!element_of(magic[2], &self->element)) return IKT_ERR_INTERNAL; /* probe has seen it */
    int64_t d = 1, n = 0, bytes;
    for (int axis = 0; axis < magic[3]; axis++) {
        IKT_TRY(ikt_binary_read(reader, self->file, size, 4));
        int64_t length = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
        if (axis == 0)
            n = length;
        else
            IKT_TRY(ikt_binary_size(reader, d, length, 1, &d));
        IKT_TRY(ikt_binary_size(reader, n, d, self->element.bytes, &bytes));
    }
    reader->n = n;
    reader->d = d;
    reader->type = ikt_element_type(self->element);
    reader->row_bytes = d * self->element.bytes;
    return IKT_OK;
}

static ikt_status idx_open(ikt_reader *reader, const ikt_reader_options *options) {
    idx_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    if (options->label_column[0] || options->skip_columns[0])
        return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                        "%s is an IDX file, which has no named columns; labels of IDX are a file "
                        "of their own (--labels)",
                        reader->path);
    self->file = gzopen(reader->path, "rb");
    if (!self->file)
        return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s cannot be read: %s", reader->path,
                        strerror(errno));
    return read_header(reader, self);
}

static ikt_status idx_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    idx_self *self = reader->self;
    int64_t bytes = count * reader->d * self->element.bytes;
    if (bytes > self->room) {
        IKT_TRY(ikt_resize(reader->ctx, &self->stored, bytes, 1, "reader"));
        self->room = bytes;
    }
    IKT_TRY(ikt_binary_read(reader, self->file, self->stored, bytes));
    ikt_element_convert(self->element, self->stored, count * reader->d, rows);
    char more;
    if (reader->done + count == reader->n && gzread(self->file, &more, 1) != 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s goes on after the %lld rows that its header announces", reader->path,
                        (long long)reader->n);
    return IKT_OK;
}

static void idx_close(ikt_reader *reader) {
    idx_self *self = reader->self;
    if (!self) return;
    if (self->file) gzclose(self->file);
    ikt_free(&self->stored);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_idx = {"IDX", idx_probe, idx_open, idx_read, idx_close};
