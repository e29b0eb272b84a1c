/* Binary numbers of other machines. */
#include "io/formats/binary.h"

#include "base/memory.h"

void ikt_binary_close(ikt_binary *array) {
    ikt_bytes_close(&array->bytes);
    ikt_free(&array->stored);
}

ikt_status ikt_binary_header(ikt_reader *reader, ikt_binary *array, void *data, int64_t bytes) {
    int64_t got;
    IKT_TRY(ikt_bytes_read(&array->bytes, data, bytes, &got));
    array->header += got;
    if (got == bytes) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header",
                    reader->path);
}

int64_t ikt_binary_product(int64_t a, int64_t b) {
    if (a < 0 || b < 0) return -1;
    if (a == 0 || b == 0) return 0;
    return a <= INT64_MAX / 16 / b ? a * b : -1;
}

static ikt_status truncated(ikt_reader *reader, const ikt_binary *array, int64_t found) {
    int64_t row = ikt_binary_product(reader->d, array->element.bytes);
    return ikt_fail(reader->ctx, IKT_ERR_FILE,
                    "%s is truncated: its header announces %lld rows of %lld bytes, %lld bytes in "
                    "all, but there are only %lld",
                    reader->path, (long long)reader->n, (long long)row,
                    (long long)(array->header + reader->n * row), (long long)found);
}

ikt_status ikt_binary_shape(ikt_reader *reader, ikt_binary *array, int64_t n, int64_t d,
                            bool more) {
    int64_t bytes = ikt_binary_product(ikt_binary_product(n, d), array->element.bytes);
    const ikt_bytes *from = &array->bytes;
    if (bytes < 0)
        return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: its header announces an impossible size",
                        reader->path);
    reader->n = n;
    reader->d = d;
    reader->type = ikt_element_type(array->element);
    if (!ikt_bytes_can_hold(from, bytes))
        return ikt_fail(reader->ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its header announces %lld rows, %lld bytes in "
                        "all, which a compressed file of %lld bytes cannot hold",
                        reader->path, (long long)n, (long long)bytes, (long long)from->packed);
    if (from->size < 0) return IKT_OK;
    if (ikt_bytes_is_file(from))
        reader->layout = (ikt_layout){array->element, array->header, n, d, false};
    if (from->size < array->header + bytes) return truncated(reader, array, from->size);
    if (more || from->size == array->header + bytes) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s has %lld bytes, but its header announces %lld: is it damaged?",
                    reader->path, (long long)from->size, (long long)(array->header + bytes));
}

ikt_status ikt_binary_read(ikt_reader *reader, ikt_binary *array, int64_t done, int64_t count) {
    int64_t size = array->element.bytes, bytes = count * size, got;
    if (bytes > array->room) {
        IKT_TRY(ikt_resize(reader->ctx, &array->stored, bytes, 1, "reader"));
        array->room = bytes;
    }
    IKT_TRY(ikt_bytes_read(&array->bytes, array->stored, bytes, &got));
    if (got == bytes) return IKT_OK;
    return truncated(reader, array, array->header + done * size + got);
}

ikt_status ikt_binary_convert(ikt_reader *reader, const ikt_binary *array, int64_t first,
                              int64_t count, void *values, int64_t stride) {
    const ikt_element e = array->element;
    const unsigned char *stored = array->stored + first * e.bytes;
    const int64_t good = ikt_elements_convert(e, stored, count, values, stride);
    if (good == count) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s holds an integer near %g, which no floating number holds exactly",
                    reader->path, ikt_element_value(e, stored + good * e.bytes));
}
