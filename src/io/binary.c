/* Binary numbers of other machines. */
#include "io/binary.h"

#include <string.h>

ikt_type ikt_element_type(ikt_element e) {
    if (e.kind == 'b' || (e.kind == 'u' && e.bytes == 1)) return IKT_TYPE_U8;
    if (e.kind == 'f') return e.bytes == 4 ? IKT_TYPE_F32 : IKT_TYPE_F64;
    return e.bytes <= 2 ? IKT_TYPE_F32 : IKT_TYPE_F64;
}

/* The bits of one element, whatever the order of its bytes. */
static uint64_t bits_of(ikt_element e, const unsigned char *stored) {
    uint64_t bits = 0;
    for (int b = 0; b < e.bytes; b++)
        bits = bits << 8 | stored[e.big ? b : e.bytes - 1 - b];
    return bits;
}

static double number_of(ikt_element e, uint64_t bits) {
    if (e.kind == 'f' && e.bytes == 4) {
        uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        return (double)value;
    }
    if (e.kind == 'f') {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (e.kind == 'i') { /* extend the sign */
        int unused = 64 - 8 * e.bytes;
        return (double)((int64_t)(bits << unused) >> unused);
    }
    return (double)bits;
}

void ikt_element_convert(ikt_element e, const unsigned char *stored, int64_t count, void *values) {
    ikt_type type = ikt_element_type(e);
    for (int64_t i = 0; i < count; i++) {
        double value = number_of(e, bits_of(e, stored + i * e.bytes));
        if (type == IKT_TYPE_U8)
            ((uint8_t *)values)[i] = (uint8_t)value;
        else if (type == IKT_TYPE_F32)
            ((float *)values)[i] = (float)value;
        else
            ((double *)values)[i] = value;
    }
}

ikt_status ikt_binary_read(ikt_reader *reader, gzFile file, void *data, int64_t bytes) {
    const int64_t piece = (int64_t)1 << 28; /* zlib counts in ints */
    const int64_t row_bytes = reader->row_bytes > 0 ? reader->row_bytes : INT64_MAX;
    for (int64_t done = 0; done < bytes;) {
        int64_t now = bytes - done < piece ? bytes - done : piece;
        int got = gzread(file, (char *)data + done, (unsigned)now);
        if (got <= 0 && reader->n == 0)
            return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header",
                            reader->path);
        if (got <= 0)
            return ikt_fail(reader->ctx, IKT_ERR_FILE,
                            "%s is truncated: it ends before row %lld of the %lld it announces",
                            reader->path, (long long)(reader->done + done / row_bytes),
                            (long long)reader->n);
        done += got;
    }
    return IKT_OK;
}

ikt_status ikt_binary_size(ikt_reader *reader, int64_t a, int64_t b, int64_t c, int64_t *bytes) {
    if (a >= 0 && b >= 0 && c > 0 && (b == 0 || a <= INT64_MAX / b) &&
        (a == 0 || b == 0 || a * b <= INT64_MAX / 8 / c)) {
        *bytes = a * b * c;
        return IKT_OK;
    }
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s announces an impossible size", reader->path);
}
