/* Binary numbers of other machines. */
#include "io/binary.h"

#include <string.h>

#include "base/memory.h"

static const int64_t exact_most = (int64_t)1 << 53;

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

ikt_type ikt_binary_type(ikt_element e) {
    if (e.kind == 'b' || (e.kind == 'u' && e.bytes == 1)) return IKT_TYPE_U8;
    if (e.kind == 'f') return e.bytes == 4 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    return e.bytes <= 2 ? IKT_TYPE_F32 : IKT_TYPE_F64;
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
    reader->type = ikt_binary_type(array->element);
    if (!ikt_bytes_can_hold(from, bytes))
        return ikt_fail(reader->ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its header announces %lld rows, %lld bytes in "
                        "all, which a compressed file of %lld bytes cannot hold",
                        reader->path, (long long)n, (long long)bytes, (long long)from->packed);
    if (from->size < 0) return IKT_OK;
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

/* The bits of one element, whatever the order of its bytes. */
static uint64_t bits_of(ikt_element e, const unsigned char *stored) {
    uint64_t bits = 0;
    for (int b = 0; b < e.bytes; b++)
        bits = bits << 8 | stored[e.big ? b : e.bytes - 1 - b];
    return bits;
}

bool ikt_binary_number(ikt_element e, const unsigned char *stored, double *value) {
    const uint64_t bits = bits_of(e, stored);
    if (e.kind == 'f' && e.bytes == 4) {
        uint32_t word = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        *value = (double)narrow;
    } else if (e.kind == 'f') {
        memcpy(value, &bits, sizeof *value);
    } else if (e.kind == 'i') {
        int unused = 64 - 8 * e.bytes; /* shifting there and back extends the sign */
        int64_t number = (int64_t)(bits << unused) >> unused;
        *value = (double)number;
        return number <= exact_most && number >= -exact_most;
    } else {
        *value = (double)bits;
        return bits <= (uint64_t)exact_most;
    }
    return true;
}

ikt_status ikt_binary_convert(ikt_reader *reader, const ikt_binary *array, int64_t first,
                              int64_t count, void *values, int64_t stride) {
    ikt_element e = array->element;
    const unsigned char *stored = array->stored + first * e.bytes;
    for (int64_t i = 0; i < count; i++) {
        double value;
        if (!ikt_binary_number(e, stored + i * e.bytes, &value))
            return ikt_fail(reader->ctx, IKT_ERR_DATA,
                            "%s holds an integer near %g, which no floating number holds exactly",
                            reader->path, value);
        if (reader->type == IKT_TYPE_U8)
            ((uint8_t *)values)[i * stride] = (uint8_t)value;
        else if (reader->type == IKT_TYPE_F32)
            ((float *)values)[i * stride] = (float)value;
        else
            ((double *)values)[i * stride] = value;
    }
    return IKT_OK;
}
