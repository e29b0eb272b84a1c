/* Rows to be converted that are read in order, by rank 0, with the labels beside them. */
#include <math.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/convert/row_feed.h"
#include "io/numbers/element.h"

typedef struct {
    ikt_reader *rows, *labels; /* rank 0 */
    char *label_path, *label_array;
    void *label_block; /* as they are stored */
    int64_t room;
} reader_self;

/* A reader's labels are a column of integers, one a row. */
static ikt_status check_labels(const ikt_row_feed *feed) {
    const reader_self *self = feed->self;
    const ikt_reader *labels = self->labels, *rows = self->rows;
    if (rows->labels)
        return ikt_fail(feed->ctx, IKT_ERR_USAGE,
                        "the rows of %s come with labels (--label-column, or LIBSVM): --labels, "
                        "--label-array and these exclude each other",
                        feed->path);
    if (labels->d != 1 && labels->n != 1) /* a row of labels is as good as a column */
        return ikt_fail(feed->ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld",
                        labels->path, (long long)labels->d);
    if (labels->n * labels->d != rows->n)
        return ikt_fail(feed->ctx, IKT_ERR_DATA, "%s has %lld labels, but %s has %lld rows",
                        labels->path, (long long)(labels->n * labels->d), rows->path,
                        (long long)rows->n);
    return IKT_OK;
}

/* "FILE", or "FILE:ARRAY" where there is no file of the whole name. */
static ikt_status split_name(const ikt_row_feed *feed, const char *text) {
    reader_self *self = feed->self;
    IKT_TRY(ikt_alloc(feed->ctx, &self->label_path, (int64_t)strlen(text) + 1, 1, "reader"));
    strcpy(self->label_path, text);
    const size_t length = ikt_file_name_length(text);
    if (text[length] == '\0') return IKT_OK;
    self->label_path[length] = '\0';
    self->label_array = self->label_path + length + 1;
    return IKT_OK;
}

static ikt_status open_labels(const ikt_row_feed *feed, const ikt_feed_options *options) {
    reader_self *self = feed->self;
    ikt_reader_options plain = {.array = options->label_array};
    if (ikt_is_given(options->labels) && ikt_is_given(options->label_array))
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--labels and --label-array exclude each other");
    const char *path = feed->path;
    if (ikt_is_given(options->labels)) {
        IKT_TRY(split_name(feed, options->labels));
        path = self->label_path;
        plain.array = self->label_array;
    }
    IKT_TRY(ikt_reader_open(feed->ctx, path, &plain, &self->labels));
    return check_labels(feed);
}

static ikt_status open_readers(ikt_row_feed *feed, const ikt_feed_options *options) {
    reader_self *self = feed->self;
    IKT_TRY(ikt_reader_open(feed->ctx, feed->path, &options->reader, &self->rows));
    const ikt_reader *rows = self->rows;
    if (ikt_is_given(options->labels) || ikt_is_given(options->label_array))
        IKT_TRY(open_labels(feed, options));
    if (options->rows > rows->n)
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                        (long long)options->rows, feed->path, (long long)rows->n);
    feed->entries = rows->entries;
    if (!rows->sparse || options->rows == 0 || options->rows == rows->n) return IKT_OK;
    return rows->ops->count(self->rows, options->rows, &feed->entries);
}

/* What rank 0 knows, on all ranks. */
static void share(ikt_row_feed *feed, int64_t most) {
    const reader_self *self = feed->self;
    const ikt_reader *rows = self->rows;
    int64_t facts[6] = {0};
    if (rows) {
        const int64_t known[6] = {
            most > 0 ? most : rows->n,   rows->d, feed->entries, rows->sparse, rows->type,
            rows->labels || self->labels};
        memcpy(facts, known, sizeof facts);
    }
    ikt_broadcast(feed->ctx, facts, sizeof facts, 0);
    feed->n = facts[0];
    feed->d = facts[1];
    feed->entries = facts[2];
    feed->sparse = facts[3] > 0;
    feed->type = (ikt_type)facts[4];
    feed->labels = facts[5] > 0;
    feed->count = rows ? feed->n : 0;
    feed->first = rows ? 0 : feed->n;
    feed->first_entry = rows ? 0 : feed->entries;
}

static ikt_status share_classes(ikt_row_feed *feed) {
    const reader_self *self = feed->self;
    const char *own = self->rows ? self->rows->classes : NULL;
    const int64_t bytes = ikt_max_one(feed->ctx, own ? (int64_t)strlen(own) + 1 : 0);
    if (bytes == 0) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &feed->classes, bytes, 1, "class names")));
    if (own) strcpy(feed->classes, own);
    ikt_broadcast(feed->ctx, feed->classes, bytes, 0);
    return IKT_OK;
}

static ikt_status read_labels(ikt_row_feed *feed, int64_t count, int32_t *labels) {
    reader_self *self = feed->self;
    ikt_reader *reader = self->labels;
    const int64_t all = reader->n == 1 ? reader->d : count; /* a row comes whole */
    if (all > self->room) {
        IKT_TRY(ikt_resize(feed->ctx, &self->label_block, all, sizeof(double), "blocks"));
        self->room = all;
    }
    if (reader->n > 1 || reader->done == 0)
        IKT_TRY(ikt_reader_read(reader, reader->n > 1 ? count : 1, self->label_block, NULL));
    for (int64_t i = 0; i < count; i++) {
        const double value =
            ikt_number_at(reader->type, self->label_block, reader->n > 1 ? i : feed->done + i);
        if (value != floor(value) || fabs(value) >= 2147483648.0)
            return ikt_fail(feed->ctx, IKT_ERR_DATA,
                            "%s, row %lld (counted from 0): %.17g is no label (an integer of 32 "
                            "bits)",
                            reader->path, (long long)(feed->done + i), value);
        labels[i] = (int32_t)value;
    }
    return IKT_OK;
}

static ikt_status reader_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    reader_self *self = feed->self;
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_reader_read(self->rows, count, rows, self->rows->labels ? labels : NULL));
    return self->labels ? read_labels(feed, count, labels) : IKT_OK;
}

static ikt_status reader_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    reader_self *self = feed->self;
    if (rows == 0) return IKT_OK;
    IKT_TRY(ikt_reader_read_sparse(self->rows, rows, entries, block));
    return self->labels ? read_labels(feed, block->rows, block->labels) : IKT_OK;
}

static void reader_close(ikt_row_feed *feed) {
    reader_self *self = feed->self;
    if (!self) return;
    ikt_reader_close(&self->rows);
    ikt_reader_close(&self->labels);
    ikt_free(&self->label_path);
    ikt_free(&self->label_block);
    ikt_free(&self);
    feed->self = NULL;
}

static const ikt_row_feed_ops reader_ops = {
    .dense = reader_dense, .sparse = reader_sparse, .close = reader_close};

ikt_status ikt_feed_from_reader(ikt_row_feed *feed, const ikt_feed_options *options) {
    reader_self *self = NULL;
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &self, 1, sizeof *self, "reader")));
    feed->self = self;
    feed->ops = &reader_ops;
    IKT_TRY(ikt_agree(feed->ctx, ikt_rank(feed->ctx) == 0 ? open_readers(feed, options) : IKT_OK));
    share(feed, options->rows);
    return share_classes(feed);
}
