/* The rows of a file that is converted. See row_feed.h. */
#include "io/convert/row_feed.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/libsvm_text.h"

typedef ikt_status (*opener)(ikt_row_feed *feed, const ikt_feed_options *options);

/* Which kind it is, as rank 0 sees it. */
static ikt_status choose(ikt_row_feed *feed, const ikt_feed_options *options, opener *open) {
    static const opener kinds[] = {ikt_feed_from_reader, ikt_feed_from_libsvm,
                                   ikt_feed_from_source};
    ikt_status st = IKT_OK;
    bool plain = false;
    int64_t kind = 0;
    if (ikt_rank(feed->ctx) == 0 && !options->reader.raw.type) {
        st = ikt_input_check(feed->ctx, feed->path);
        if (st == IKT_OK && ikt_source_is_hdf5(feed->path))
            kind = 2;
        else if (st == IKT_OK)
            st = ikt_reader_is_plain_libsvm(feed->ctx, feed->path, &plain);
        if (plain) kind = 1;
    }
    IKT_TRY(ikt_agree(feed->ctx, st));
    *open = kinds[ikt_max_one(feed->ctx, kind)];
    return IKT_OK;
}

ikt_status ikt_row_feed_open(ikt_context *ctx, const char *path, const ikt_feed_options *options,
                             ikt_row_feed **out) {
    opener open;
    *out = NULL;
    ikt_row_feed *feed;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &feed, 1, sizeof *feed, "reader")));
    feed->ctx = ctx;
    feed->path = path;
    ikt_status st = choose(feed, options, &open);
    if (st == IKT_OK) st = open(feed, options);
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

ikt_status ikt_feed_narrow_labels(const ikt_row_feed *feed, int64_t count, const int64_t *wide,
                                  int32_t *labels) {
    for (int64_t i = 0; i < count; i++) {
        labels[i] = (int32_t)wide[i];
        if (labels[i] != wide[i])
            return ikt_fail(feed->ctx, IKT_ERR_DATA,
                            "%s, row %lld (counted from 0): %lld is no label (an integer of 32 "
                            "bits)",
                            feed->path, (long long)(feed->first + feed->done + i),
                            (long long)wide[i]);
    }
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
    ikt_free(&(*feed)->classes);
    ikt_free(feed);
}

/* Rows to be converted that stand in a plain LIBSVM file: every rank parses its range of it. */

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
