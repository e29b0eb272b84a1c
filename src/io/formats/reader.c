/* What readers of all formats share, and which of them a file is for. See reader.h. */
#include "io/formats/reader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "io/formats/bytes.h"

ikt_status ikt_reader_new(ikt_context *ctx, const ikt_reader_ops *ops, const char *path,
                          ikt_reader **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "reader"));
    ikt_reader *reader = *out;
    reader->ctx = ctx;
    reader->path = path;
    const ikt_status st = ikt_alloc(ctx, &reader->self, (int64_t)ops->self_bytes, 1, "reader");
    if (st == IKT_OK)
        reader->ops = ops;
    else
        ikt_free(out);
    return st;
}

void ikt_reader_close(ikt_reader **reader) {
    if (!*reader) return;
    if ((*reader)->ops->close) (*reader)->ops->close(*reader);
    ikt_sparse_block_free(&(*reader)->whole);
    ikt_free_all(&(*reader)->self, &(*reader)->classes);
    ikt_free(reader);
}

ikt_status ikt_reader_check_options(ikt_context *ctx, const char *path, const ikt_reader_ops *ops,
                                    const ikt_reader_options *options) {
    const char *article = strchr("IN", ops->name[0]) ? "an" : "a";
    if (ikt_is_given(options->array) && !ops->has_arrays)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is %s %s file, which holds one table: arrays have names in NPZ, "
                        "MATLAB and safetensors files",
                        path, article, ops->name);
    if (ops->labels_are &&
        (ikt_is_given(options->label_column) || ikt_is_given(options->skip_columns)))
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s is %s %s file, which has no named columns; %s",
                        path, article, ops->name, ops->labels_are);
    return IKT_OK;
}

/* Appends rows to a block. */
static ikt_status append_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    if (reader->whole.rows == 0) return reader->ops->read_sparse(reader, rows, entries, block);
    return ikt_sparse_whole_read(reader->ctx, &reader->whole, reader->done, rows, entries, block);
}

ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    if (reader->sparse) {
        ikt_sparse_block block IKT_AT_END(ikt_sparse_block_free) = {0};
        IKT_TRY(append_sparse(reader, count, INT64_MAX, &block));
        ikt_sparse_block_spread(&block, reader->d, reader->type, rows);
        if (labels) memcpy(labels, block.labels, (size_t)count * sizeof *labels);
    } else {
        IKT_TRY(reader->ops->read(reader, count, rows, labels));
    }
    reader->done += count;
    return IKT_OK;
}

ikt_status ikt_reader_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    ikt_sparse_block_clear(block);
    IKT_TRY(append_sparse(reader, rows, entries, block));
    reader->done += block->rows;
    return IKT_OK;
}

ikt_status ikt_reader_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    if (reader->whole.rows == 0) return reader->ops->count(reader, rows, entries);
    *entries = ikt_sparse_block_first(&reader->whole, rows);
    return IKT_OK;
}

/* --- which array of several is meant ---------------------------------------------------------- */

static ikt_status refuse(ikt_context *ctx, const char *path, const ikt_array *arrays, int64_t count,
                         const char *what) {
    char list[800] = "";
    for (int64_t a = 0; a < count && strlen(list) + 160 < sizeof list; a++)
        ikt_join(list, sizeof list, ", ", "%.80s (%.60s)", arrays[a].name, arrays[a].shape);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s %s; it holds: %s", path, what,
                    count > 0 ? list : "nothing");
}

static int64_t find(const ikt_array *arrays, int64_t count, const char *name) {
    for (int64_t a = 0; a < count; a++)
        if (strcmp(arrays[a].name, name) == 0) return a;
    return -1;
}

/* The only one of its kind; -1 where there is none or several. */
static int64_t only(const ikt_array *arrays, int64_t count, bool table) {
    int64_t found = -1;
    for (int64_t a = 0; a < count; a++) {
        if (!arrays[a].usable || (table && !arrays[a].table)) continue;
        if (found >= 0) return -1;
        found = a;
    }
    return found;
}

ikt_status ikt_array_choose(ikt_context *ctx, const char *path, const ikt_array *arrays,
                            int64_t count, const char *name, int64_t *out) {
    static const char *const usual[] = {"X",       "x",       "data",       "x_train",
                                        "X_train", "train_x", "fea",        "features",
                                        "images",  "arr_0",   "embeddings", "embedding"};
    char what[300];
    if (ikt_is_given(name)) {
        *out = find(arrays, count, name);
        if (*out >= 0 && arrays[*out].usable) return IKT_OK;
        if (*out < 0)
            snprintf(what, sizeof what, "has no array '%.200s'", name);
        else
            snprintf(
                what, sizeof what,
                "cannot be used: '%.100s' is no array of integers, float16 to float64, bfloat16 or "
                "truth values with rows and columns",
                name);
        return refuse(ctx, path, arrays, count, what);
    }
    *out = only(arrays, count, false);
    if (*out < 0) *out = only(arrays, count, true);
    for (size_t k = 0; k < sizeof usual / sizeof *usual && *out < 0; k++) {
        const int64_t a = find(arrays, count, usual[k]);
        if (a >= 0 && arrays[a].usable && arrays[a].table) *out = a;
    }
    if (*out >= 0) return IKT_OK;
    bool is_any = false;
    for (int64_t a = 0; a < count; a++)
        is_any |= arrays[a].usable;
    if (!is_any) return refuse(ctx, path, arrays, count, "has no array of numbers that is read");
    return refuse(ctx, path, arrays, count,
                  "does not tell which of its arrays is meant: name it (--array NAME, or "
                  "FILE:NAME for labels and maps; input.dataset=NAME of safetensors)");
}

/* --- the formats ------------------------------------------------------------------------------ */

/* In the order in which they are asked: CSV takes any text; IDX begins with as little as a name
 * says better. */
static const ikt_reader_ops *const formats[] = {
    &ikt_reader_npy, &ikt_reader_npz,         &ikt_reader_mat, &ikt_reader_vecs,   &ikt_reader_bin,
    &ikt_reader_idx, &ikt_reader_safetensors, &ikt_reader_mtx, &ikt_reader_libsvm, &ikt_reader_csv};
enum { FORMATS = sizeof formats / sizeof *formats, HEAD = 512 };

/* ARFF is text, which the reader of CSV would take for its own: comments of %, then @relation, if
 * it is among these bytes. */
static bool is_arff(const char *at, const char *end) {
    static const char word[] = "@relation";
    while (at < end && (*at == '%' || *at == '\n' || *at == '\r')) {
        while (at < end && *at != '\n')
            at++;
        at += at < end;
    }
    return end - at >= 9 && strncasecmp(at, word, 9) == 0;
}

/* What is known by its first bytes and not read: what it is, and what to do instead; or NULL. */
static const char *foreign_format(const unsigned char *head, int64_t bytes) {
    static const char pickle[] =
        "is a Python pickle, which is not read: export its arrays with numpy.save";
    static const char parquet[] =
        "is a Parquet file, which is not read: the Python package makes what is (with pyarrow and "
        "h5py), python -m iktsne convert FILE.parquet FILE.h5";
    static const char feather[] =
        "is an Arrow or Feather file, which is not read: the Python package makes what is (with "
        "pyarrow and h5py), python -m iktsne convert FILE.arrow FILE.h5";
    static const char rds[] =
        "is a file of R, which is not read: export its numbers as text with write.csv(x, 'x.csv', "
        "row.names = FALSE)";
    static const char utf16[] =
        "is text in UTF-16, as Excel writes it: save it as CSV in UTF-8, or "
        "convert it, iconv -f UTF-16 -t UTF-8";
    static const struct {
        const char *magic;
        size_t length;
        const char *what;
    } known[] = {
        {"PAR1", 4, parquet},
        {"\xFF\xFE", 2, utf16},
        {"\xFE\xFF", 2, utf16},
        {"ARROW1", 6, feather},
        {"FEA1", 4, feather},
        {"RDX3\n", 5, rds},
        {"X\n\0\0\0", 5, rds},
        {"\x80\x02", 2, pickle},
        {"\x80\x03", 2, pickle},
        {"\x80\x04", 2, pickle},
        {"\x80\x05", 2, pickle},
        {"\xD0\xCF\x11\xE0", 4, "is a file of Excel, which is not read: save the table as CSV"},
        {"7z\xBC\xAF", 4, "is a 7z archive: unpack it, or compress the file with gzip"},
        {"BZh91AY&SY", 10, "is compressed with bzip2: unpack it, or compress it with gzip"},
        {"\xFD\x37zXZ", 5, "is compressed with xz: unpack it, or compress it with gzip"},
        {"\x28\xB5\x2F\xFD", 4, "is compressed with zstd: unpack it, or compress it with gzip"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (bytes >= (int64_t)known[k].length && memcmp(head, known[k].magic, known[k].length) == 0)
            return known[k].what;
    return NULL;
}

bool ikt_reader_is_named(const char *endings, const char *path) {
    size_t length = strlen(path);
    if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
    for (size_t size; *endings; endings += size + (endings[size] == ' ')) {
        size = strcspn(endings, " ");
        if (length > size && strncasecmp(path + length - size, endings, size) == 0) return true;
    }
    return false;
}

bool ikt_reader_fits(const ikt_reader_ops *ops, const char *path, const unsigned char *head,
                     int64_t bytes) {
    return ops->endings ? ikt_reader_is_named(ops->endings, path) : ops->probe(head, bytes);
}

ikt_status ikt_reader_guess(ikt_context *ctx, const char *path, ikt_reader_content *content) {
    unsigned char head[HEAD];
    gzFile file;
    *content = (ikt_reader_content){0};
    IKT_TRY(ikt_gz_open(ctx, path, &file));
    const int bytes = gzread(file, head, HEAD);
    content->packed = bytes > 0 && !gzdirect(file);
    ikt_status st = bytes < 0 ? ikt_gz_check(ctx, path, file) : IKT_OK;
    if (st == IKT_OK && bytes <= 0) st = ikt_fail(ctx, IKT_ERR_DATA, "%s is empty", path);
    gzclose(file);
    IKT_TRY(st);
    if (is_arff((const char *)head, (const char *)head + bytes)) {
        content->foreign = "is an ARFF file, which is not read: what follows @DATA is CSV, and "
                           "what stands before it can be deleted";
        return IKT_OK;
    }
    for (int format = 0; format < FORMATS && !content->format; format++)
        if (ikt_reader_fits(formats[format], path, head, bytes)) content->format = formats[format];
    if (!content->format) content->foreign = foreign_format(head, bytes);
    if (content->packed && bytes >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
        content->foreign =
            "is a gzipped HDF5 file, which is only read unpacked: gunzip makes it so";
    return IKT_OK;
}

ikt_status ikt_reader_check_packed(ikt_context *ctx, const char *path,
                                   const ikt_reader_content *content) {
    const ikt_reader_ops *ops = content->format;
    if (!content->packed || !ops || !(ops->has_arrays || (ops->is_flat && !ops->read)))
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is a gzipped %s file, which is only read unpacked: gunzip makes it so",
                    path, ops->name);
}

static ikt_status find_format(ikt_context *ctx, const char *path, const ikt_reader_ops **ops) {
    ikt_reader_content content;
    IKT_TRY(ikt_reader_guess(ctx, path, &content));
    *ops = content.format;
    IKT_TRY(ikt_reader_check_packed(ctx, path, &content));
    if (*ops && !(*ops)->open)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is %s text, where an array is needed", path,
                        (*ops)->name);
    if (*ops) return IKT_OK;
    if (content.foreign) return ikt_fail(ctx, IKT_ERR_DATA, "%s %s", path, content.foreign);
    return ikt_fail(
        ctx, IKT_ERR_DATA,
        "%s is neither HDF5, IDX, NPY, NPZ, MATLAB, LIBSVM nor CSV text, nor safetensors, Matrix "
        "Market or word2vec, nor named as fvecs and fbin are; numbers without a header are read "
        "with --raw TYPE --columns N",
        path);
}

ikt_status ikt_reader_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           ikt_reader **out) {
    const ikt_reader_ops *ops;
    *out = NULL;
    IKT_TRY(find_format(ctx, path, &ops));
    IKT_TRY(ikt_reader_check_options(ctx, path, ops, options));
    IKT_TRY(ikt_reader_new(ctx, ops, path, out));
    const ikt_reader *reader = *out;
    ikt_status st = ops->open(*out, options);
    if (st == IKT_OK && (reader->n <= 0 || reader->d <= 0))
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s holds no numbers: %lld rows of %lld columns", path,
                      (long long)reader->n, (long long)reader->d);
    if (st != IKT_OK) ikt_reader_close(out);
    return st;
}
