/* IDX, the format of MNIST: magic, sizes and elements, all big-endian; axes after the first are one
 * row. */
#include "base/memory.h"
#include "io/formats/binary.h"

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
    return bytes >= 4 && head[0] == 0 && head[1] == 0 && head[3] >= 1 &&
           element_of(head[2], &element);
}

static ikt_status read_header(ikt_reader *reader, ikt_binary *array) {
    unsigned char magic[4], size[4];
    IKT_TRY(ikt_binary_header(reader, array, magic, sizeof magic));
    if (!element_of(magic[2], &array->element))
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: unknown type of elements", reader->path);
    int64_t n = 0, d = 1;
    for (int axis = 0; axis < magic[3]; axis++) {
        IKT_TRY(ikt_binary_header(reader, array, size, sizeof size));
        int64_t length = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
        if (axis == 0)
            n = length;
        else
            d = ikt_binary_product(d, length);
    }
    return ikt_binary_shape(reader, array, n, d, false);
}

static ikt_status idx_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array;
    IKT_TRY(ikt_alloc(reader->ctx, &array, 1, sizeof *array, "reader"));
    reader->self = array;
    IKT_TRY(
        ikt_reader_no_columns(reader, options, "labels of IDX are a file of their own (--labels)"));
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &array->bytes));
    return read_header(reader, array);
}

static ikt_status idx_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    ikt_binary *array = reader->self;
    int64_t elements = count * reader->d;
    IKT_TRY(ikt_binary_read(reader, array, reader->done * reader->d, elements));
    IKT_TRY(ikt_binary_convert(reader, array, 0, elements, rows, 1));
    char more;
    int64_t got = 0;
    if (reader->done + count == reader->n) IKT_TRY(ikt_bytes_read(&array->bytes, &more, 1, &got));
    if (got > 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s goes on after the %lld rows that its header announces: is it damaged?",
                        reader->path, (long long)reader->n);
    return IKT_OK;
}

static void idx_close(ikt_reader *reader) {
    ikt_binary *array = reader->self;
    if (!array) return;
    ikt_binary_close(array);
    ikt_free(&array);
}

const ikt_reader_ops ikt_reader_idx = {
    .name = "IDX", .probe = idx_probe, .open = idx_open, .read = idx_read, .close = idx_close};
