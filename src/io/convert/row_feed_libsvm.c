/* Rows to be converted that stand in a plain LIBSVM file: every rank parses its range of it. */
#include "base/memory.h"
#include "io/convert/row_feed.h"
#include "io/formats/libsvm_ranks.h"

static ikt_status check_options(const ikt_row_feed *feed, const ikt_feed_options *options) {
    const ikt_reader reader = {.ctx = feed->ctx, .ops = &ikt_reader_libsvm, .path = feed->path};
    IKT_TRY(ikt_reader_check_array(&reader, &options->reader));
    IKT_TRY(ikt_reader_no_columns(&reader, &options->reader,
                                  "its labels are the first word of each line"));
    if (!ikt_is_given(options->labels) && !ikt_is_given(options->label_array)) return IKT_OK;
    return ikt_fail(feed->ctx, IKT_ERR_USAGE,
                    "%s is a LIBSVM file, whose rows come with labels: --labels and --label-array "
                    "do not apply",
                    feed->path);
}

static ikt_status libsvm_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    return ikt_libsvm_file_read(feed->self, rows, entries, block);
}

static void libsvm_close(ikt_row_feed *feed) {
    ikt_libsvm_file *file = feed->self;
    if (!file) return;
    ikt_libsvm_file_close(file);
    ikt_free(&file);
    feed->self = NULL;
}

static const ikt_row_feed_ops libsvm_ops = {.sparse = libsvm_sparse, .close = libsvm_close};

ikt_status ikt_feed_from_libsvm(ikt_row_feed *feed, const ikt_feed_options *options) {
    ikt_libsvm_file *file = NULL;
    IKT_TRY(check_options(feed, options)); /* the same on all ranks */
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &file, 1, sizeof *file, "reader")));
    feed->self = file;
    feed->ops = &libsvm_ops;
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
