/* Rows to be converted that come from a source, an HDF5 file: every rank has its share of them. */
#include "base/comm.h"
#include "base/memory.h"
#include "dist/row_map.h"
#include "io/row_feed.h"

typedef struct {
    ikt_source *source;
    const char *labels; /* what they are named by; lent */
    int64_t *wide;      /* labels of a block, as the file has them */
    int64_t room;
} source_self;

static bool given(const char *text) {
    return text && *text;
}

static ikt_status check_options(const ikt_row_feed *feed, const ikt_feed_options *options) {
    if (!given(options->reader.label_column) && !given(options->reader.skip_columns) &&
        !given(options->label_array) && !given(options->reader.array))
        return IKT_OK;
    return ikt_fail(feed->ctx, IKT_ERR_USAGE,
                    "%s is an HDF5 file: its rows are the data set named by --dataset and its "
                    "labels those named by --labels; --label-column, --label-array, "
                    "--skip-columns and --array do not apply",
                    feed->path);
}

static ikt_status narrow_labels(const ikt_row_feed *feed, int64_t count, int32_t *labels) {
    const int64_t *wide = ((const source_self *)feed->self)->wide;
    for (int64_t i = 0; i < count; i++) {
        if (wide[i] != (int32_t)wide[i])
            return ikt_fail(feed->ctx, IKT_ERR_DATA,
                            "%s, row %lld (counted from 0): %lld is no label (an integer of 32 "
                            "bits)",
                            feed->path, (long long)(feed->first + feed->done + i),
                            (long long)wide[i]);
        labels[i] = (int32_t)wide[i];
    }
    return IKT_OK;
}

static ikt_status wide_room(ikt_row_feed *feed, int64_t count) {
    source_self *self = feed->self;
    if (count <= self->room) return IKT_OK;
    IKT_TRY(ikt_resize(feed->ctx, &self->wide, count, sizeof *self->wide, "blocks"));
    self->room = count;
    return IKT_OK;
}

static ikt_status source_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    source_self *self = feed->self;
    const int64_t first = feed->first + feed->done;
    bool present;
    IKT_TRY(ikt_source_read(self->source, first, count, rows));
    if (!feed->labels) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, wide_room(feed, count)));
    IKT_TRY(ikt_source_read_labels(self->source, self->labels, first, count, self->wide, &present));
    return narrow_labels(feed, count, labels);
}

static ikt_status source_marked(ikt_row_feed *feed, int64_t **rows, int64_t *count) {
    return ikt_source_read_marked(((source_self *)feed->self)->source, rows, count);
}

static void source_close(ikt_row_feed *feed) {
    source_self *self = feed->self;
    if (!self) return;
    ikt_source_close(&self->source);
    ikt_free(&self->wide);
    ikt_free(&self);
}

static const ikt_row_feed_ops source_ops = {
    .dense = source_dense, .marked = source_marked, .close = source_close};

ikt_status ikt_feed_from_source(ikt_row_feed *feed, const ikt_feed_options *options) {
    source_self *self = NULL;
    int64_t label;
    bool is_csc;
    IKT_TRY(check_options(feed, options)); /* the same on all ranks */
    IKT_TRY(ikt_feed_from_csc(feed, options, &is_csc));
    if (is_csc) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &self, 1, sizeof *self, "reader")));
    feed->self = self;
    feed->ops = &source_ops;
    IKT_TRY(ikt_source_open(feed->ctx, feed->path, options->dataset, options->rows, &self->source));
    self->labels = given(options->labels) ? options->labels : "labels";
    IKT_TRY(ikt_source_read_labels(self->source, self->labels, 0, 0, &label, &feed->labels));
    if (!feed->labels && given(options->labels))
        return ikt_source_no_labels(self->source, options->labels, "--labels");
    IKT_TRY(ikt_source_read_text(self->source, "label_names", &feed->classes));
    feed->n = ikt_source_rows(self->source);
    feed->d = ikt_source_columns(self->source);
    feed->type = ikt_source_type(self->source);
    const ikt_row_map share = ikt_row_map_make(feed->n, ikt_size(feed->ctx), ikt_rank(feed->ctx));
    feed->first = share.first;
    feed->count = share.count;
    return IKT_OK;
}
