/* The rows of a file that is converted, and those of a plain LIBSVM file, of which every rank
 * parses its range. See row_feed.h. */
#include "io/convert/row_feed.h"

#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/libsvm_text.h"

/* --- LIBSVM ----------------------------------------------------------------------------------- */

static ikt_status libsvm_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    ikt_libsvm_file *file = feed->self;
    IKT_TRY(ikt_reader_check_options(feed->ctx, feed->path, &ikt_reader_libsvm, &options->reader));
    if (ikt_is_given(options->labels) || ikt_is_given(options->label_array))
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "%s is a LIBSVM file, whose rows come with labels: --labels and "
                        "--label-array do not apply",
                        feed->path);
    feed->type = options->reader.as ? (ikt_type)(options->reader.as - 1) : IKT_TYPE_F32;
    IKT_TRY(ikt_libsvm_file_open(feed->ctx, feed->path, feed->type, options->rows, file));
    feed->n = file->n;
    feed->d = file->d;
    feed->sparse = feed->labels = true;
    feed->entries = file->entries;
    feed->first = file->first;
    feed->count = file->count;
    feed->first_entry = file->first_entry;
    feed->classes = file->classes;
    file->classes = NULL; /* given away */
    return IKT_OK;
}

static ikt_status libsvm_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    return ikt_libsvm_file_read(feed->self, rows, entries, block);
}

static void libsvm_close(ikt_row_feed *feed) {
    ikt_libsvm_file_close(feed->self);
}

static const ikt_row_feed_ops libsvm_ops = {.self_bytes = sizeof(ikt_libsvm_file),
                                            .open = libsvm_open,
                                            .sparse = libsvm_sparse,
                                            .close = libsvm_close};

/* --- any feed --------------------------------------------------------------------------------- */

ikt_status ikt_row_feed_open(ikt_context *ctx, const char *path, const ikt_feed_options *options,
                             ikt_row_feed **out) {
    static const ikt_row_feed_ops *const kinds[] = {&ikt_row_feed_reader, &libsvm_ops,
                                                    &ikt_row_feed_hdf5, &ikt_row_feed_csv};
    ikt_reader_content content = {0};
    ikt_row_feed *feed = NULL;
    ikt_status st = IKT_OK;
    int64_t kind = 0;
    *out = NULL;
    if (ikt_rank(ctx) == 0 && !options->reader.raw.type) {
        st = ikt_input_check(ctx, path);
        if (st == IKT_OK && ikt_source_is_hdf5(path))
            kind = 2;
        else if (st == IKT_OK)
            st = ikt_reader_guess(ctx, path, &content);
        if (content.format == &ikt_reader_libsvm && !content.packed) kind = 1;
        if (content.format == &ikt_reader_csv) kind = 3;
    }
    IKT_TRY(ikt_agree(ctx, st));
    const ikt_row_feed_ops *ops = kinds[ikt_max_one(ctx, kind)];
    st = ikt_alloc(ctx, &feed, 1, sizeof *feed, "reader");
    if (st == IKT_OK) st = ikt_alloc(ctx, &feed->self, (int64_t)ops->self_bytes, 1, "reader");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        feed->ctx = ctx;
        feed->path = path;
        feed->ops = ops;
        st = ops->open(feed, options);
    }
    if (st != IKT_OK) ikt_row_feed_close(&feed);
    *out = feed;
    return st;
}

ikt_status ikt_row_feed_dense(ikt_row_feed *feed, int64_t most, void *rows, int32_t *labels,
                              int64_t *count) {
    const int64_t left = feed->count - feed->done;
    *count = most < left ? most : left;
    IKT_TRY(ikt_agree(feed->ctx, feed->ops->dense(feed, *count, rows, labels)));
    feed->done += *count;
    return IKT_OK;
}

ikt_status ikt_row_feed_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                               ikt_sparse_block *block) {
    const int64_t left = feed->count - feed->done;
    ikt_sparse_block_clear(block);
    IKT_TRY(
        ikt_agree(feed->ctx, feed->ops->sparse(feed, rows < left ? rows : left, entries, block)));
    feed->done += block->rows;
    return IKT_OK;
}

ikt_status ikt_row_feed_marked(ikt_row_feed *feed, int64_t **rows, int64_t *count) {
    *rows = NULL;
    *count = 0;
    return feed->ops->marked ? feed->ops->marked(feed, rows, count) : IKT_OK;
}

void ikt_row_feed_close(ikt_row_feed **feed) {
    if (!*feed) return;
    if ((*feed)->ops) (*feed)->ops->close(*feed);
    for (int64_t t = 0; t < (*feed)->texts; t++)
        ikt_free(&(*feed)->text[t].block);
    ikt_free(&(*feed)->text);
    ikt_free(&(*feed)->self);
    ikt_free(&(*feed)->classes);
    ikt_free(feed);
}
