/* The formats that `convert` reads, and opening a file by its content. */
#include <string.h>

#include "base/memory.h"
#include "io/formats/bytes.h"
#include "io/formats/libsvm_text.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"

/* In the order in which they are asked: CSV takes any text. */
static const ikt_reader_ops *const formats[] = {&ikt_reader_npy,    &ikt_reader_npz,
                                                &ikt_reader_mat,    &ikt_reader_idx,
                                                &ikt_reader_libsvm, &ikt_reader_csv};
enum { FORMATS = sizeof formats / sizeof *formats, HEAD = 512 };

/* The first bytes of what a file holds; *packed: it is gzipped. */
static ikt_status read_head(ikt_context *ctx, const char *path, unsigned char *head, int *bytes,
                            bool *packed) {
    gzFile file;
    IKT_TRY(ikt_gz_open(ctx, path, &file));
    *bytes = gzread(file, head, HEAD);
    *packed = *bytes > 0 && !gzdirect(file);
    ikt_status st = *bytes < 0 ? ikt_gz_check(ctx, path, file) : IKT_OK;
    if (st == IKT_OK && *bytes <= 0) st = ikt_fail(ctx, IKT_ERR_DATA, "%s is empty", path);
    gzclose(file);
    return st;
}

static const ikt_reader_ops *format_of(const unsigned char *head, int64_t bytes) {
    for (int format = 0; format < FORMATS; format++)
        if (formats[format]->probe(head, bytes)) return formats[format];
    return NULL;
}

static ikt_status find_format(ikt_context *ctx, const char *path, const ikt_reader_ops **ops) {
    unsigned char head[HEAD];
    int bytes = 0;
    bool packed;
    IKT_TRY(read_head(ctx, path, head, &bytes, &packed));
    const char *foreign = ikt_foreign_text(head, bytes);
    *ops = foreign ? NULL : format_of(head, bytes);
    if (packed && (*ops == &ikt_reader_npz || *ops == &ikt_reader_mat))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is a gzipped %s file: unpack it (gunzip); such files are compressed "
                        "within",
                        path, (*ops)->name);
    if (*ops) return IKT_OK;
    if (!foreign) foreign = ikt_foreign_format(head, bytes);
    if (foreign) return ikt_fail(ctx, IKT_ERR_DATA, "%s %s", path, foreign);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is neither HDF5, IDX, NPY, NPZ, MATLAB, LIBSVM nor CSV text; numbers "
                    "without a header are read with --raw TYPE --columns N",
                    path);
}

ikt_status ikt_reader_guess(ikt_context *ctx, const char *path, const char **name, bool *packed,
                            const char **foreign) {
    unsigned char head[HEAD];
    int bytes = 0;
    *name = NULL;
    IKT_TRY(read_head(ctx, path, head, &bytes, packed));
    *foreign = ikt_foreign_text(head, bytes);
    const ikt_reader_ops *ops = *foreign ? NULL : format_of(head, bytes);
    if (ops) *name = ops->name;
    if (!ops && !*foreign) *foreign = ikt_foreign_format(head, bytes);
    return IKT_OK;
}

ikt_status ikt_reader_is_plain_libsvm(ikt_context *ctx, const char *path, bool *is) {
    unsigned char head[HEAD];
    int bytes = 0;
    bool packed;
    *is = false;
    IKT_TRY(read_head(ctx, path, head, &bytes, &packed));
    *is = !packed && format_of(head, bytes) == &ikt_reader_libsvm;
    return IKT_OK;
}

static ikt_status check_shape(ikt_reader *reader) {
    if (reader->n > 0 && reader->d > 0) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s holds no numbers: %lld rows of %lld columns",
                    reader->path, (long long)reader->n, (long long)reader->d);
}

static const char *article(const ikt_reader *reader) {
    return strchr("IN", reader->ops->name[0]) ? "an" : "a";
}

ikt_status ikt_reader_check_array(const ikt_reader *reader, const ikt_reader_options *options) {
    if (!ikt_is_given(options->array) || reader->ops == &ikt_reader_npz ||
        reader->ops == &ikt_reader_mat)
        return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                    "%s is %s %s file, which holds one table: arrays have names in NPZ and MATLAB "
                    "files",
                    reader->path, article(reader), reader->ops->name);
}

ikt_status ikt_reader_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           ikt_reader **out) {
    const ikt_reader_ops *ops = &ikt_reader_raw;
    *out = NULL;
    if (!options->raw.type) IKT_TRY(find_format(ctx, path, &ops));
    ikt_reader *reader;
    IKT_TRY(ikt_alloc(ctx, &reader, 1, sizeof *reader, "reader"));
    reader->ctx = ctx;
    reader->ops = ops;
    reader->path = path;
    ikt_status st = ikt_reader_check_array(reader, options);
    if (st == IKT_OK) st = reader->ops->open(reader, options);
    if (st == IKT_OK) st = check_shape(reader);
    if (st != IKT_OK) ikt_reader_close(&reader);
    *out = reader;
    return st;
}

void ikt_sparse_block_spread(const ikt_sparse_block *block, int64_t d, ikt_type type, void *rows) {
    memset(rows, 0, (size_t)(block->rows * d) * ikt_type_size(type));
    for (int64_t row = 0; row < block->rows; row++)
        for (int64_t e = ikt_sparse_block_first(block, row); e < block->ends[row]; e++)
            ikt_number_put(type, rows, row * d + block->columns[e], block->values[e]);
}

static ikt_status read_spread(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    ikt_sparse_block block = {0};
    ikt_status st = reader->ops->read_sparse(reader, count, INT64_MAX, &block);
    if (st == IKT_OK) ikt_sparse_block_spread(&block, reader->d, reader->type, rows);
    if (st == IKT_OK && labels) memcpy(labels, block.labels, (size_t)count * sizeof *labels);
    ikt_sparse_block_free(&block);
    return st;
}

ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    IKT_TRY(reader->sparse ? read_spread(reader, count, rows, labels)
                           : reader->ops->read(reader, count, rows, labels));
    reader->done += count;
    return IKT_OK;
}

ikt_status ikt_reader_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    ikt_sparse_block_clear(block);
    IKT_TRY(reader->ops->read_sparse(reader, rows, entries, block));
    reader->done += block->rows;
    return IKT_OK;
}

void ikt_reader_close(ikt_reader **reader) {
    if (!*reader) return;
    (*reader)->ops->close(*reader);
    ikt_free(&(*reader)->classes);
    ikt_free(reader);
}

ikt_status ikt_reader_no_columns(const ikt_reader *reader, const ikt_reader_options *options,
                                 const char *instead) {
    if (!ikt_is_given(options->label_column) && !ikt_is_given(options->skip_columns)) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_USAGE, "%s is %s %s file, which has no named columns; %s",
                    reader->path, article(reader), reader->ops->name, instead);
}
