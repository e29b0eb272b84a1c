/* Numbers without a header, of a type and a number of columns that the user tells. */
#include <string.h>

#include "base/memory.h"
#include "io/formats/binary.h"

static bool element_of(const ikt_raw_options *raw, ikt_element *element) {
    static const struct {
        const char *name;
        char kind;
        int bytes;
    } known[] = {{"int8", 'i', 1},    {"int16", 'i', 2},  {"int32", 'i', 4},  {"int64", 'i', 8},
                 {"uint8", 'u', 1},   {"uint16", 'u', 2}, {"uint32", 'u', 4}, {"uint64", 'u', 8},
                 {"float32", 'f', 4}, {"float64", 'f', 8}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, raw->type) == 0) {
            *element = (ikt_element){known[k].kind, known[k].bytes, raw->big};
            return true;
        }
    return false;
}

/* Rows, from the size of the file. */
static ikt_status measure(ikt_reader *reader, ikt_binary *array, const ikt_raw_options *raw) {
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
    return ikt_binary_shape(reader, array, bytes / row, raw->columns, false);
}

static ikt_status skip(ikt_reader *reader, ikt_binary *array, int64_t bytes) {
    char gone[4096];
    int64_t got = 1;
    while (bytes > 0 && got > 0) {
        const int64_t now = bytes < (int64_t)sizeof gone ? bytes : (int64_t)sizeof gone;
        IKT_TRY(ikt_bytes_read(&array->bytes, gone, now, &got));
        bytes -= got;
    }
    if (bytes == 0) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s became shorter while it was read", reader->path);
}

static ikt_status raw_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array;
    IKT_TRY(ikt_alloc(reader->ctx, &array, 1, sizeof *array, "reader"));
    reader->self = array;
    IKT_TRY(ikt_reader_no_columns(reader, options, "labels are a file of their own (--labels)"));
    if (!element_of(&options->raw, &array->element))
        return ikt_fail(reader->ctx, IKT_ERR_USAGE, "'%s' is no type of raw numbers",
                        options->raw.type);
    IKT_TRY(ikt_bytes_open_plain(reader->ctx, reader->path, &array->bytes));
    IKT_TRY(measure(reader, array, &options->raw));
    return skip(reader, array, options->raw.skip);
}

static ikt_status raw_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    ikt_binary *array = reader->self;
    const int64_t elements = count * reader->d;
    IKT_TRY(ikt_binary_read(reader, array, reader->done * reader->d, elements));
    return ikt_binary_convert(reader, array, 0, elements, rows, 1);
}

static void raw_close(ikt_reader *reader) {
    ikt_binary *array = reader->self;
    if (!array) return;
    ikt_binary_close(array);
    ikt_free(&array);
}

const ikt_reader_ops ikt_reader_raw = {
    .name = "raw", .open = raw_open, .read = raw_read, .close = raw_close};
