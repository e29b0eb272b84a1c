/* The formats that `convert` reads, and opening a file by its content. */
#include "base/memory.h"
#include "io/gz.h"
#include "io/reader.h"

/* In the order in which they are asked: CSV takes any text. */
static const ikt_reader_ops *const formats[] = {&ikt_reader_npy, &ikt_reader_idx,
                                                &ikt_reader_libsvm, &ikt_reader_csv};
enum { FORMATS = sizeof formats / sizeof *formats, HEAD = 512 };

static ikt_status read_head(ikt_context *ctx, const char *path, unsigned char *head, int *bytes,
                            bool *gzipped) {
    gzFile file;
    IKT_TRY(ikt_gz_open(ctx, path, &file));
    *bytes = gzread(file, head, HEAD);
    *gzipped = *bytes > 0 && !gzdirect(file);
    ikt_status st = *bytes < 0 ? ikt_gz_check(ctx, path, file) : IKT_OK;
    if (st == IKT_OK && *bytes <= 0) st = ikt_fail(ctx, IKT_ERR_DATA, "%s is empty", path);
    gzclose(file);
    return st;
}

static int find_format(const unsigned char *head, int bytes) {
    int format = 0;
    while (format < FORMATS && !formats[format]->probe(head, bytes))
        format++;
    return format;
}

ikt_status ikt_reader_guess(ikt_context *ctx, const char *path, const char **name, bool *gzipped) {
    unsigned char head[HEAD];
    int bytes = 0;
    *name = NULL;
    IKT_TRY(read_head(ctx, path, head, &bytes, gzipped));
    int format = find_format(head, bytes);
    if (format < FORMATS) *name = formats[format]->name;
    return IKT_OK;
}

ikt_status ikt_reader_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           ikt_reader **out) {
    unsigned char head[HEAD];
    int bytes = 0;
    bool gzipped;
    *out = NULL;
    IKT_TRY(read_head(ctx, path, head, &bytes, &gzipped));
    int format = find_format(head, bytes);
    if (format == FORMATS)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s is neither HDF5, IDX, NPY, LIBSVM nor CSV text",
                        path);
    ikt_reader *reader;
    IKT_TRY(ikt_alloc(ctx, &reader, 1, sizeof *reader, "reader"));
    reader->ctx = ctx;
    reader->ops = formats[format];
    reader->path = path;
    ikt_status st = reader->ops->open(reader, options);
    if (st == IKT_OK && (reader->n == 0 || reader->d == 0))
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s holds no numbers: %lld rows of %lld columns", path,
                      (long long)reader->n, (long long)reader->d);
    if (st != IKT_OK) ikt_reader_close(&reader);
    *out = reader;
    return st;
}

ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    IKT_TRY(reader->ops->read(reader, count, rows, labels));
    reader->done += count;
    return IKT_OK;
}

void ikt_reader_close(ikt_reader **reader) {
    if (!*reader) return;
    (*reader)->ops->close(*reader);
    ikt_free(&(*reader)->classes);
    ikt_free(reader);
}
