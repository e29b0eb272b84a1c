/* The rows of a file that is converted. See row_feed.h. */
#include "io/convert/row_feed.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/input_file.h"
#include "base/memory.h"

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
