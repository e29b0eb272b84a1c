/* Vectors as searches for neighbours are compared with: fvecs, bvecs and ivecs (TEXMEX, faiss),
 * each row of which is its number of columns and then as many numbers; and fbin, f16bin, u8bin,
 * i8bin and ibin (big-ann-benchmarks), which are the numbers of rows and columns and then the rows.
 * All of it with the least significant byte first.
 *
 * Nothing in them says what they are, so their names do. Rows of all of them have one length, so
 * each rank reads its own. */
#include <string.h>

#include "io/formats/bytes.h"

enum { WORD = 4 };

static const struct {
    const char *ending;
    char kind;
    int bytes;
} known[] = {{".bvecs", 'u', 1}, {".ivecs", 'i', 4},  {".fvecs", 'f', 4}, {".u8bin", 'u', 1},
             {".i8bin", 'i', 1}, {".f16bin", 'f', 2}, {".ibin", 'i', 4},  {".fbin", 'f', 4}};

/* The number of the ending that the name has, by which the format was known: there is one. */
static size_t ending_of(const char *path) {
    size_t k = 0;
    while (k + 1 < sizeof known / sizeof *known && !ikt_reader_is_named(known[k].ending, path))
        k++;
    return k;
}

/* Whether bytes are text, as no numbers of rows or columns are that fit into a file. */
static bool is_text(const unsigned char *byte, int64_t count) {
    int64_t k = 0;
    while (k < count && ((byte[k] >= ' ' && byte[k] < 0x7f) || strchr("\t\r\n", byte[k])) &&
           byte[k] != 0)
        k++;
    return k == count;
}

/* Opens the file and reads `count` words of its header. */
static ikt_status begin(ikt_reader *reader, int count, int64_t *words) {
    ikt_binary *array = reader->self;
    const ikt_element word = {'u', WORD, false};
    unsigned char head[2 * WORD];
    int64_t got;
    IKT_TRY(ikt_bytes_open(reader->ctx, reader->path, &array->bytes));
    const size_t k = ending_of(reader->path);
    array->element = (ikt_element){known[k].kind, known[k].bytes, false};
    IKT_TRY(ikt_bytes_read(&array->bytes, head, count * WORD, &got));
    if (got < count * WORD)
        return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header",
                        reader->path);
    if (is_text(head, got))
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s is text, but its name says %s: give it the ending of what it is",
                        reader->path, known[k].ending + 1);
    array->header = got;
    for (int w = 0; w < count; w++)
        words[w] = (int64_t)ikt_element_integer(word, head + w * WORD);
    return IKT_OK;
}

static ikt_status bin_open(ikt_reader *reader, const ikt_reader_options *options) {
    int64_t words[2] = {0};
    (void)options;
    IKT_TRY(begin(reader, 2, words));
    return ikt_binary_shape(reader, words[0], words[1]);
}

/* How many rows there are, their number of bytes tells. */
static ikt_status vecs_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_binary *array = reader->self;
    const ikt_bytes *bytes = &array->bytes;
    int64_t d = 0;
    (void)options;
    IKT_TRY(begin(reader, 1, &d));
    array->lead = WORD;
    const int64_t row = WORD + d * array->element.bytes;
    if (d == 0 || d > INT32_MAX || bytes->size % row != 0)
        return ikt_fail(reader->ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its first row announces %lld numbers, and its "
                        "%lld bytes are no whole rows of that length",
                        reader->path, (long long)d, (long long)bytes->size);
    return ikt_binary_shape(reader, bytes->size / row, d);
}

const ikt_reader_ops ikt_reader_vecs = {
    .name = "vecs",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "give labels as a file of their own (--labels)",
    .endings = ".fvecs .bvecs .ivecs",
    .is_flat = true,
    .open = vecs_open,
    .close = ikt_binary_close,
};

const ikt_reader_ops ikt_reader_bin = {
    .name = "bin",
    .self_bytes = sizeof(ikt_binary),
    .labels_are = "give labels as a file of their own (--labels)",
    .endings = ".fbin .f16bin .u8bin .i8bin .ibin",
    .is_flat = true,
    .open = bin_open,
    .read = ikt_binary_read,
    .close = ikt_binary_close,
};
