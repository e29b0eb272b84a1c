/* NPY, numpy's array file: a header, then the elements. See numpy.h.
 *
 * Arrays in C order are streamed. In Fortran order a row is spread over the whole file, so that is
 * read whole. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/formats/numpy.h"

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
                      !(kind == 'f' && size < '4') && !(kind == 'b' && size != '1') &&
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
    char *text = NULL;
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
    IKT_TRY(ikt_alloc(bytes->ctx, &text, length + 1, 1, "reader"));
    ikt_status st = take(bytes, header, text, length);
    if (st == IKT_OK) st = parse(bytes, text, header);
    ikt_free(&text);
    return st;
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
                        "%s holds elements of type %s; integers, float32, float64 and truth values "
                        "are read",
                        reader->path, header.type);
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
    .probe = npy_probe,
    .open = npy_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};
