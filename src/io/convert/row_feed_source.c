/* Rows to be converted that come from a source, an HDF5 file: every rank has its share of them.
 * Sparse rows are given in canonical form, for which they are read twice. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/convert/row_feed.h"
#include "io/numbers/element.h"

typedef struct {
    ikt_source *source;
    const char *labels; /* what they are named by; lent */
    int64_t *wide;      /* labels of a block, as the file has them */
    ikt_sparse_rows rows;
} source_self;

static ikt_status check_options(const ikt_row_feed *feed, const ikt_feed_options *options) {
    if (!ikt_is_given(options->reader.label_column) &&
        !ikt_is_given(options->reader.skip_columns) && !ikt_is_given(options->label_array) &&
        !ikt_is_given(options->reader.array))
        return IKT_OK;
    return ikt_fail(feed->ctx, IKT_ERR_USAGE,
                    "%s is an HDF5 file: its rows are the data set named by --dataset and its "
                    "labels those named by --labels; --label-column, --label-array, "
                    "--skip-columns and --array do not apply",
                    feed->path);
}

/* COLLECTIVE. Labels of the next rows. */
static ikt_status read_labels(ikt_row_feed *feed, int64_t count, int32_t *labels) {
    source_self *self = feed->self;
    bool present;
    if (!feed->labels) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx,
                      ikt_room(feed->ctx, &self->wide, count, sizeof *self->wide, "blocks")));
    IKT_TRY(ikt_source_read_labels(self->source, self->labels, feed->first + feed->done, count,
                                   self->wide, &present));
    return ikt_feed_narrow_labels(feed, count, self->wide, labels);
}

static ikt_status source_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    source_self *self = feed->self;
    IKT_TRY(ikt_source_read(self->source, feed->first + feed->done, count, rows));
    return read_labels(feed, count, labels);
}

/* --- sparse rows ------------------------------------------------------------------------------ */

/* COLLECTIVE. Rows of this rank from number `done` on: at most `most`, of one block of the source,
 * which bounds their entries. */
static ikt_status read_block(ikt_row_feed *feed, int64_t done, int64_t most) {
    source_self *self = feed->self;
    const int64_t first = feed->first + done, block = ikt_source_block_rows(self->source);
    int64_t count = block - first % block;
    if (count > most) count = most;
    if (count > feed->count - done) count = feed->count - done;
    return ikt_source_read_sparse(self->source, count > 0 ? first : 0, count, &self->rows);
}

/* The first `count` of the rows that were read, into an empty block. */
static ikt_status give(ikt_row_feed *feed, int64_t count, ikt_sparse_block *block) {
    const ikt_sparse_rows *rows = &((const source_self *)feed->self)->rows;
    const int64_t entries = rows->start[count];
    IKT_TRY(ikt_sparse_block_room(feed->ctx, block, count, entries));
    for (int64_t i = 0; i < count; i++)
        block->ends[i] = rows->start[i + 1];
    for (int64_t e = 0; e < entries; e++)
        block->columns[e] = rows->column[e];
    if (entries > 0) memcpy(block->values, rows->value, (size_t)entries * sizeof *rows->value);
    block->rows = count;
    block->entries = entries;
    return IKT_OK;
}

static ikt_status source_sparse(ikt_row_feed *feed, int64_t most, int64_t entries,
                                ikt_sparse_block *block) {
    const ikt_sparse_rows *rows = &((const source_self *)feed->self)->rows;
    int64_t count = 0;
    IKT_TRY(read_block(feed, feed->done, most));
    while (count < rows->count && (count == 0 || rows->start[count] < entries))
        count++;
    IKT_TRY(ikt_agree(feed->ctx, give(feed, count, block)));
    return read_labels(feed, count, block->labels);
}

static bool are_bytes(const ikt_sparse_rows *rows) {
    for (int64_t e = 0; e < rows->start[rows->count]; e++)
        if (!ikt_number_fits(IKT_TYPE_U8, rows->value[e])) return false;
    return true;
}

/* COLLECTIVE. A first pass over the rows, which tells how many entries are left when those of one
 * place are added up and zeros left out, and whether bytes are bytes still. */
static ikt_status count_entries(ikt_row_feed *feed) {
    source_self *self = feed->self;
    const ikt_type stored = ikt_source_stored_type(self->source);
    int64_t own = 0, wider = stored != IKT_TYPE_U8, done = 0;
    do {
        IKT_TRY(read_block(feed, done, feed->count));
        own += self->rows.start[self->rows.count];
        if (!wider) wider = !are_bytes(&self->rows);
        done += self->rows.count;
    } while (ikt_max_one(feed->ctx, feed->count - done) > 0);
    if (ikt_max_one(feed->ctx, wider) == 0) feed->type = stored;
    feed->entries = ikt_sum_one(feed->ctx, own);
    feed->first_entry = ikt_sum_before(feed->ctx, own);
    return IKT_OK;
}

static ikt_status source_marked(ikt_row_feed *feed, int64_t **rows, int64_t *count) {
    return ikt_source_read_marked(((source_self *)feed->self)->source, rows, count);
}

static void source_close(ikt_row_feed *feed) {
    source_self *self = feed->self;
    if (!self) return;
    ikt_source_close(&self->source);
    ikt_sparse_rows_destroy(&self->rows);
    ikt_free(&self->wide);
    ikt_free(&self);
}

static const ikt_row_feed_ops source_ops = {
    .dense = source_dense, .sparse = source_sparse, .marked = source_marked, .close = source_close};

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
    self->labels = ikt_is_given(options->labels) ? options->labels : "labels";
    IKT_TRY(ikt_source_read_labels(self->source, self->labels, 0, 0, &label, &feed->labels));
    if (!feed->labels && ikt_is_given(options->labels))
        return ikt_source_no_labels(self->source, options->labels, "--labels");
    IKT_TRY(ikt_source_read_text(self->source, "label_names", &feed->classes));
    feed->n = ikt_source_rows(self->source);
    feed->d = ikt_source_columns(self->source);
    feed->type = ikt_source_type(self->source);
    const ikt_rows share = ikt_rows_make(feed->n, ikt_size(feed->ctx), ikt_rank(feed->ctx));
    feed->first = share.first;
    feed->count = share.count;
    feed->sparse = feed->keeps_form = ikt_source_is_sparse(self->source);
    return feed->sparse ? count_entries(feed) : IKT_OK;
}
