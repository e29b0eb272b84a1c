/* Rows to be converted that are read in order, by rank 0, with the labels beside them. */
#include <math.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/convert/row_feed.h"

typedef struct {
    ikt_reader *rows, *labels; /* rank 0 */
    char *label_path;          /* and the name of an array behind it */
    void *label_block;         /* as they are stored */
} reader_self;

/* The labels of a reader are a column of integers, one a row, in the file itself, in another, or in
 * the array of another: "FILE", or "FILE:ARRAY" where there is no file of the whole name. */
static ikt_status open_labels(const ikt_row_feed *feed, const ikt_feed_options *options,
                              int64_t rows, bool has_own, reader_self *self) {
    ikt_reader_options plain = {.array = options->label_array};
    const char *path = feed->path;
    if (ikt_is_given(options->labels) && ikt_is_given(options->label_array))
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--labels and --label-array exclude each other");
    if (ikt_is_given(options->labels)) {
        const size_t length = ikt_file_name_length(options->labels);
        IKT_TRY(ikt_alloc(feed->ctx, &self->label_path, (int64_t)strlen(options->labels) + 1, 1,
                          "reader"));
        strcpy(self->label_path, options->labels);
        self->label_path[length] = '\0';
        path = self->label_path;
        if (options->labels[length]) plain.array = path + length + 1;
    }
    IKT_TRY(ikt_reader_open(feed->ctx, path, &plain, &self->labels));
    const ikt_reader *labels = self->labels;
    if (has_own)
        return ikt_fail(feed->ctx, IKT_ERR_USAGE,
                        "the rows of %s come with labels (--label-column, or LIBSVM): --labels, "
                        "--label-array and these exclude each other",
                        feed->path);
    if (labels->d != 1 && labels->n != 1) /* a row of labels is as good as a column */
        return ikt_fail(feed->ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld",
                        labels->path, (long long)labels->d);
    if (labels->n * labels->d != rows)
        return ikt_fail(feed->ctx, IKT_ERR_DATA, "%s has %lld labels, but %s has %lld rows",
                        labels->path, (long long)(labels->n * labels->d), feed->path,
                        (long long)rows);
    return IKT_OK;
}

/* On rank 0. What the readers know. */
static ikt_status open_readers(ikt_row_feed *feed, const ikt_feed_options *options) {
    reader_self *self = feed->self;
    IKT_TRY(ikt_reader_open(feed->ctx, feed->path, &options->reader, &self->rows));
    const ikt_reader *rows = self->rows;
    if (ikt_is_given(options->labels) || ikt_is_given(options->label_array))
        IKT_TRY(open_labels(feed, options, rows->n, rows->labels, self));
    if (options->rows > rows->n)
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                        (long long)options->rows, feed->path, (long long)rows->n);
    feed->n = options->rows > 0 ? options->rows : rows->n;
    feed->d = rows->d;
    feed->sparse = rows->sparse;
    feed->type = rows->type;
    feed->labels = rows->labels || self->labels;
    feed->entries = rows->entries;
    if (!rows->sparse || feed->n == rows->n) return IKT_OK;
    return rows->ops->count(self->rows, feed->n, &feed->entries);
}

static ikt_status reader_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    const reader_self *self = feed->self;
    const bool root = ikt_rank(feed->ctx) == 0;
    IKT_TRY(ikt_agree(feed->ctx, root ? open_readers(feed, options) : IKT_OK));
    const char *own = root ? self->rows->classes : NULL;
    int64_t facts[] = {feed->n,
                       feed->d,
                       feed->entries,
                       feed->type,
                       feed->sparse,
                       feed->labels,
                       own ? (int64_t)strlen(own) + 1 : 0};
    ikt_broadcast(feed->ctx, facts, sizeof facts, 0);
    feed->n = facts[0];
    feed->d = facts[1];
    feed->entries = facts[2];
    feed->type = (ikt_type)facts[3];
    feed->sparse = facts[4] > 0;
    feed->labels = facts[5] > 0;
    feed->count = root ? feed->n : 0;
    feed->first = root ? 0 : feed->n;
    feed->first_entry = root ? 0 : feed->entries;
    const int64_t bytes = facts[6];
    if (bytes == 0) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &feed->classes, bytes, 1, "class names")));
    if (own) strcpy(feed->classes, own);
    ikt_broadcast(feed->ctx, feed->classes, bytes, 0);
    return IKT_OK;
}

/* The next labels, which are those of the rows from `first` on. */
static ikt_status read_labels(const ikt_row_feed *feed, reader_self *self, int64_t first,
                              int64_t count, int32_t *labels) {
    ikt_reader *reader = self->labels;
    const int64_t all = reader->n == 1 ? reader->d : count; /* a row comes whole */
    IKT_TRY(ikt_reserve(feed->ctx, &self->label_block, all, sizeof(double), "blocks"));
    if (reader->n > 1 || reader->done == 0)
        IKT_TRY(ikt_reader_read(reader, reader->n > 1 ? count : 1, self->label_block, NULL));
    for (int64_t i = 0; i < count; i++) {
        const double value =
            ikt_number_at(reader->type, self->label_block, reader->n > 1 ? i : first + i);
        if (value != floor(value) || fabs(value) >= 2147483648.0)
            return ikt_fail(feed->ctx, IKT_ERR_DATA,
                            "%s, row %lld (counted from 0): %.17g is no label (an integer of 32 "
                            "bits)",
                            reader->path, (long long)(first + i), value);
        labels[i] = (int32_t)value;
    }
    return IKT_OK;
}

static ikt_status reader_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    reader_self *self = feed->self;
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_reader_read(self->rows, count, rows, self->rows->labels ? labels : NULL));
    return self->labels ? read_labels(feed, self, feed->done, count, labels) : IKT_OK;
}

static ikt_status reader_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    reader_self *self = feed->self;
    if (rows == 0) return IKT_OK;
    IKT_TRY(ikt_reader_read_sparse(self->rows, rows, entries, block));
    return self->labels ? read_labels(feed, self, feed->done, block->rows, block->labels) : IKT_OK;
}

ikt_status ikt_feed_labels_read(const ikt_row_feed *feed, const ikt_feed_options *options,
                                int64_t rows, bool has_own, int32_t **labels) {
    enum { BLOCK = 1 << 20 };
    ikt_context *ctx = feed->ctx;
    reader_self self = {.rows = NULL};
    ikt_status st = IKT_OK;
    *labels = NULL;
    if (!ikt_is_given(options->labels) && !ikt_is_given(options->label_array)) return IKT_OK;
    if (ikt_rank(ctx) == 0) st = open_labels(feed, options, rows, has_own, &self);
    if (st == IKT_OK) st = ikt_alloc(ctx, labels, rows, sizeof **labels, "labels");
    st = ikt_agree(ctx, st);
    for (int64_t first = 0; st == IKT_OK && self.labels && first < rows; first += BLOCK)
        st = read_labels(feed, &self, first, rows - first < BLOCK ? rows - first : BLOCK,
                         *labels + first);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_broadcast(ctx, *labels, rows * (int64_t)sizeof **labels, 0);
    ikt_reader_close(&self.labels);
    ikt_free(&self.label_path);
    ikt_free(&self.label_block);
    if (st != IKT_OK) ikt_free(labels);
    return st;
}

static void reader_close(ikt_row_feed *feed) {
    reader_self *self = feed->self;
    ikt_reader_close(&self->rows);
    ikt_reader_close(&self->labels);
    ikt_free(&self->label_path);
    ikt_free(&self->label_block);
}

const ikt_row_feed_ops ikt_row_feed_reader = {.self_bytes = sizeof(reader_self),
                                              .open = reader_open,
                                              .dense = reader_dense,
                                              .sparse = reader_sparse,
                                              .close = reader_close};
