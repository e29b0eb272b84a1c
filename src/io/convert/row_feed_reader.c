/* Rows to be converted that are read in order, by rank 0. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/convert/row_feed.h"

/* The feed's own: a reader, on rank 0. */
static ikt_reader *reader_of(const ikt_row_feed *feed) {
    return *(ikt_reader *const *)feed->self;
}

/* On rank 0. What the reader knows. */
static ikt_status open_reader(ikt_row_feed *feed, const ikt_feed_options *options) {
    IKT_TRY(ikt_reader_open(feed->ctx, feed->path, &options->reader, feed->self));
    const ikt_reader *rows = reader_of(feed);
    feed->n_file = rows->n;
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    feed->d = rows->d;
    feed->sparse = rows->sparse;
    feed->type = rows->type;
    feed->labels = rows->labels;
    feed->entries = rows->entries;
    if (!rows->sparse || feed->n == rows->n) return IKT_OK;
    return rows->ops->count(reader_of(feed), feed->n, &feed->entries);
}

static ikt_status reader_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    const bool root = ikt_rank(feed->ctx) == 0;
    IKT_TRY(ikt_agree(feed->ctx, root ? open_reader(feed, options) : IKT_OK));
    const char *own = root ? reader_of(feed)->classes : NULL;
    int64_t facts[] = {feed->n,    feed->n_file, feed->d,      feed->entries,
                       feed->type, feed->sparse, feed->labels, own ? (int64_t)strlen(own) + 1 : 0};
    ikt_broadcast(feed->ctx, facts, sizeof facts, 0);
    feed->n = facts[0];
    feed->n_file = facts[1];
    feed->d = facts[2];
    feed->entries = facts[3];
    feed->type = (ikt_type)facts[4];
    feed->sparse = facts[5] > 0;
    feed->labels = facts[6] > 0;
    feed->count = root ? feed->n : 0;
    feed->first = root ? 0 : feed->n;
    feed->first_entry = root ? 0 : feed->entries;
    const int64_t bytes = facts[7];
    if (bytes == 0) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &feed->classes, bytes, 1, "class names")));
    if (own) strcpy(feed->classes, own);
    ikt_broadcast(feed->ctx, feed->classes, bytes, 0);
    return IKT_OK;
}

static ikt_status reader_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    if (count == 0) return IKT_OK;
    return ikt_reader_read(reader_of(feed), count, rows, feed->has_own ? labels : NULL);
}

static ikt_status reader_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    return rows == 0 ? IKT_OK : ikt_reader_read_sparse(reader_of(feed), rows, entries, block);
}

static void reader_close(ikt_row_feed *feed) {
    ikt_reader_close(feed->self);
}

const ikt_row_feed_ops ikt_row_feed_reader = {.self_bytes = sizeof(ikt_reader *),
                                              .open = reader_open,
                                              .dense = reader_dense,
                                              .sparse = reader_sparse,
                                              .close = reader_close};
