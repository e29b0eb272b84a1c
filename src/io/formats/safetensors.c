/* Safetensors, in which models and their embeddings are passed on: the length of a header, 8 bytes;
 * the header, an object of JSON that names for each array its type, its shape and where it stands;
 * and the arrays, by rows, least significant byte first.
 *
 * The header is gone through once, member by member, each of which is cut as objects of JSON are
 * (csv_file.h). Each rank then reads its rows of the array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "base/sort.h"
#include "io/formats/bytes.h"
#include "io/formats/csv_file.h"

enum { AXES_MOST = 8, SHAPE_SIZE = 160, HEAD = 8 };
static const int64_t header_most = 100000000; /* as the format has it */

typedef struct {
    const char *name; /* in the header */
    char shape[SHAPE_SIZE];
    ikt_element element; /* bytes: 0 where it is not read */
    int64_t n, d, offset, end;
    int axes;
} tensor;

typedef struct {
    ikt_context *ctx;
    const char *path;
    char *header;   /* text, with names and values ended where they stand */
    int64_t length; /* of the header, without its length */
    int64_t file_bytes;
    tensor *tensor; /* [count] */
    int64_t count;
} tensors;

static bool probe(const unsigned char *head, int64_t bytes) {
    int64_t length = 0;
    for (int b = HEAD - 1; b >= 0 && bytes > HEAD + 1; b--)
        length = length < header_most ? length << 8 | head[b] : header_most;
    return length >= 2 && length < header_most && head[HEAD] == '{' &&
           (head[HEAD + 1] == '"' || head[HEAD + 1] == ' ' || head[HEAD + 1] == '}');
}

static void end(tensors *t) {
    ikt_free_all(&t->header, &t->tensor);
}

/* --- the header ------------------------------------------------------------------------------- */

static ikt_status damaged(const tensors *t, const char *name, const char *what) {
    return ikt_fail(t->ctx, IKT_ERR_FILE, "%s is damaged: in its header %s%.80s%s%s", t->path,
                    *name ? "the array '" : "", name, *name ? "' " : "", what);
}

/* Whether a member of an object, a name in quotes, is an array: a cell does not tell one from a
 * text that looks like it. */
static bool is_array(const char *object, const char *name) {
    const char *at = strstr(object, name);
    if (!at) return false;
    at += strlen(name);
    at += strspn(at, " \t\r\n");
    if (*at++ != ':') return false;
    return at[strspn(at, " \t\r\n")] == '[';
}

/* "[3, 4]" as integers that are not negative; returns how many there are, or -1. */
static int take_list(const char *text, int64_t *values, int most) {
    int count = 0;
    if (*text != '[') return -1;
    for (text += 1 + strspn(text + 1, " "); *text && *text != ']'; count++) {
        char *stop;
        if (*text < '0' || *text > '9' || count == most) return -1;
        values[count] = strtoll(text, &stop, 10);
        text = stop + strspn(stop, ", ");
    }
    return *text == ']' ? count : -1;
}

static ikt_element element_of(const char *type) {
    /* As ikt_element_numbered has them. */
    static const char *const names[] = {"U8",  "I8",  "U16", "I16", "U32",  "I32", "U64",
                                        "I64", "F16", "F32", "F64", "BF16", "BOOL"};
    int k = 0;
    while (k < (int)(sizeof names / sizeof *names) && strcmp(names[k], type) != 0)
        k++;
    return ikt_element_numbered(k, false);
}

/* One array, from {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}. */
static ikt_status take_tensor(const tensors *t, char *text, tensor *out) {
    static const char keys[] = "dtype\0shape\0data_offsets";
    ikt_csv_records cells IKT_AT_END(ikt_csv_free) = {
        .lines = {.ctx = t->ctx, .path = t->path}, .keys = keys, .key_count = 3};
    int64_t shape[AXES_MOST] = {0}, place[2] = {0};
    const bool has_shape = is_array(text, "\"shape\"");
    const bool has_place = is_array(text, "\"data_offsets\"");
    const ikt_status st = ikt_csv_cut_object(&cells, text);
    if (st == IKT_ERR_DATA) { /* said in our own words */
        ikt_clear(t->ctx);
        return damaged(t, out->name, "is no object of JSON");
    }
    IKT_TRY(st);
    out->element = element_of(cells.cell[0]);
    out->axes = take_list(cells.cell[1], shape, AXES_MOST);
    if (!has_shape || out->axes < 0) return damaged(t, out->name, "has no shape of 1 to 8 axes");
    if (!has_place || take_list(cells.cell[2], place, 2) != 2)
        return damaged(t, out->name, "has no two data_offsets");
    out->n = out->axes > 0 ? shape[0] : 1;
    out->d = 1;
    for (int axis = 0; axis < out->axes; axis++) {
        if (axis > 0) out->d = ikt_binary_product(out->d, shape[axis]);
        ikt_join(out->shape, SHAPE_SIZE, " x ", "%lld", (long long)shape[axis]);
    }
    ikt_join(out->shape, SHAPE_SIZE, ", ", "%s%.12s", out->axes > 0 ? "" : "a single ",
             cells.cell[0]);
    const int64_t begin = HEAD + t->length, room = t->file_bytes - begin;
    const int64_t bytes =
        ikt_binary_product(ikt_binary_product(out->n, out->d), out->element.bytes);
    if (place[1] > room || place[0] > place[1])
        return ikt_fail(t->ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: the array '%.80s' is said to end at byte %lld "
                        "of %lld behind the header",
                        t->path, out->name, (long long)place[1], (long long)room);
    if (out->element.bytes > 0 && bytes != place[1] - place[0])
        return damaged(t, out->name, "has data_offsets that do not go with its shape");
    out->offset = begin + place[0];
    out->end = begin + place[1];
    return IKT_OK;
}

/* By where they begin, and end. */
static int by_place(const void *left, const void *right) {
    const tensor *a = left, *b = right;
    return a->offset != b->offset ? IKT_COMPARE(a->offset, b->offset) : IKT_COMPARE(a->end, b->end);
}

static int by_name(const void *left, const void *right) {
    return strcmp(((const tensor *)left)->name, ((const tensor *)right)->name);
}

/* No two arrays have a name or a byte in common, and none is left over behind them. */
static ikt_status check_places(const tensors *t) {
    IKT_ARRAYS(held, t->ctx, "reader");
    const int64_t count = t->count;
    tensor *sorted = ikt_claim(&held, count + 1, sizeof *sorted);
    IKT_TRY(held.status);
    if (count > 0) memcpy(sorted, t->tensor, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int64_t k = 1; k < count; k++)
        if (strcmp(sorted[k - 1].name, sorted[k].name) == 0)
            return damaged(t, sorted[k].name, "comes twice");
    qsort(sorted, (size_t)count, sizeof *sorted, by_place);
    int64_t end = HEAD + t->length;
    for (int64_t k = 0; k < count; end = sorted[k++].end)
        if (sorted[k].offset < end)
            return damaged(t, sorted[k].name, "begins where another one has not ended");
    if (end == t->file_bytes) return IKT_OK;
    return ikt_fail(t->ctx, IKT_ERR_FILE,
                    "%s is damaged: %lld bytes follow the last array of its header", t->path,
                    (long long)(t->file_bytes - end));
}

static ikt_status read_header(tensors *t, ikt_bytes *bytes) {
    unsigned char head[HEAD];
    int64_t got;
    t->file_bytes = bytes->size;
    IKT_TRY(ikt_bytes_read(bytes, head, HEAD, &got));
    t->length = (int64_t)ikt_element_integer((ikt_element){'u', 8, false}, head);
    if (got < HEAD || t->length > bytes->size - HEAD)
        return ikt_fail(t->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header", t->path);
    IKT_TRY(ikt_alloc(t->ctx, &t->header, t->length + 1, 1, "reader"));
    IKT_TRY(ikt_bytes_read(bytes, t->header, t->length, &got));
    if (memchr(t->header, '\0', (size_t)t->length)) return damaged(t, "", "is a zero byte");
    return IKT_OK;
}

/* The member of the header that begins at *at, which moves behind it and the sign that ends it.
 * False where there is none that is whole. */
static bool take_member(char **at, char **name, char **value, char *sign) {
    char *name_end, *end;
    bool is_text;
    if (!ikt_json_take(at, name, &name_end, &is_text) || !is_text || **at != ':') return false;
    *name_end = '\0';
    ++*at;
    if (!ikt_json_take(at, value, &end, &is_text)) return false;
    *sign = *(*at)++;
    *end = '\0'; /* perhaps on the sign */
    return *sign == ',' || *sign == '}';
}

/* Reads what the file says of its arrays; to be ended in any case. */
static ikt_status begin(tensors *t, ikt_bytes *bytes) {
    static const char blanks[] = " \t\r\n", no_object[] = "is no object of JSON";
    IKT_TRY(read_header(t, bytes));
    char *at = t->header + strspn(t->header, blanks), *name, *value, sign = ',';
    if (*at++ != '{') return damaged(t, "", no_object);
    at += strspn(at, blanks);
    if (*at == '}') sign = *at++;
    while (sign == ',') {
        if (!take_member(&at, &name, &value, &sign)) return damaged(t, "", no_object);
        if (strcmp(name, "__metadata__") == 0) continue;
        /* Room for twice as many each time that the number is a power of two. */
        if ((t->count & (t->count - 1)) == 0)
            IKT_TRY(ikt_resize(t->ctx, &t->tensor, t->count ? 2 * t->count : 1, sizeof *t->tensor,
                               "reader"));
        tensor *one = &t->tensor[t->count++];
        one->name = name;
        IKT_TRY(take_tensor(t, value, one));
    }
    if (at[strspn(at, blanks)]) return damaged(t, "", no_object);
    return check_places(t);
}

/* --- the reader ------------------------------------------------------------------------------- */

static ikt_array about(const tensor *one) {
    const bool is_usable = one->element.bytes > 0 && one->axes > 0;
    return (ikt_array){one->name, is_usable, is_usable && one->axes > 1, one->shape};
}

static ikt_status take_array(const tensors *t, ikt_reader *reader, const char *name) {
    ikt_binary *array = reader->self;
    int64_t which;
    IKT_ARRAYS(held, t->ctx, "reader");
    ikt_array *arrays = ikt_claim(&held, t->count, sizeof *arrays);
    IKT_TRY(held.status);
    for (int64_t k = 0; k < t->count; k++)
        arrays[k] = about(&t->tensor[k]);
    IKT_TRY(ikt_array_choose(t->ctx, t->path, arrays, t->count, name, &which));
    const tensor *one = &t->tensor[which];
    array->element = one->element;
    array->header = one->offset;
    array->is_list = one->axes == 1;
    array->may_go_on = true;
    return ikt_binary_shape(reader, one->n, one->d);
}

static ikt_status open_file(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array = reader->self;
    tensors t IKT_AT_END(end) = {.ctx = reader->ctx, .path = reader->path};
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &array->bytes));
    IKT_TRY(begin(&t, &array->bytes));
    return take_array(&t, reader, options->array);
}

static ikt_status list(ikt_context *ctx, const char *path, ikt_array_visitor *visit, void *self) {
    tensors t IKT_AT_END(end) = {.ctx = ctx, .path = path};
    ikt_bytes bytes IKT_AT_END(ikt_bytes_close) = {0};
    IKT_TRY(ikt_bytes_open(ctx, path, &bytes));
    IKT_TRY(begin(&t, &bytes));
    for (int64_t k = 0; k < t.count; k++) {
        const ikt_array array = about(&t.tensor[k]);
        visit(self, &array);
    }
    return IKT_OK;
}

const ikt_reader_ops ikt_reader_safetensors = {
    .name = "safetensors",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "labels are an array of it (--label-array) or of another file "
                  "(--labels FILE:NAME)",
    .has_arrays = true,
    .is_flat = true,
    .probe = probe,
    .open = open_file,
    .list = list,
    .close = ikt_binary_close,
};
