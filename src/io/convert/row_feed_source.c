/* Rows to be converted that a source opens: of HDF5, and of formats whose rows stand plainly.
 *
 * Every rank has its share of the rows. Sparse ones are given in canonical form, for which they are
 * read twice. A sparse matrix of HDF5 that stands by columns (sparse_group.h) is turned in the
 * memory of rank 0, which then has all of them. */
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/rows.h"
#include "io/convert/convert.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

/* feed->source is NULL where the matrix stands by columns. */
typedef struct {
    const char *label_name; /* what labels of a source are named by; borrowed */
    int64_t *labels;        /* of a block, as the file has them */
    ikt_sparse_rows rows;   /* a block of a sparse source */
    ikt_sparse_block whole; /* by columns: on rank 0 */
} source_self;

/* --- reading ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Labels of the next rows. */
static ikt_status read_labels(ikt_row_feed *feed, int64_t count, int32_t *labels) {
    source_self *self = feed->self;
    bool present;
    if (!self->label_name || !feed->shape.labels) return IKT_OK;
    IKT_TRY(ikt_agree(
        feed->ctx, ikt_reserve(feed->ctx, &self->labels, count, sizeof *self->labels, "blocks")));
    IKT_TRY(ikt_source_read_labels(feed->source, self->label_name, feed->first + feed->done, count,
                                   self->labels, &present));
    return ikt_row_feed_narrow(feed, self->labels, count, labels);
}

static ikt_status source_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    IKT_TRY(ikt_source_read(feed->source, feed->first + feed->done, count, rows));
    return read_labels(feed, count, labels);
}

/* COLLECTIVE. Rows of this rank from number `done` on: at most `most`, of one block of the source,
 * which bounds their entries. */
static ikt_status read_block(ikt_row_feed *feed, int64_t done, int64_t most) {
    source_self *self = feed->self;
    const int64_t first = feed->first + done, block = ikt_source_block_rows(feed->source);
    int64_t count = block - first % block;
    if (count > most) count = most;
    if (count > feed->count - done) count = feed->count - done;
    return ikt_source_read_sparse(feed->source, count > 0 ? first : 0, count, &self->rows);
}

static ikt_status source_sparse(ikt_row_feed *feed, int64_t most, int64_t most_entries,
                                ikt_sparse_block *block) {
    const source_self *self = feed->self;
    const ikt_sparse_rows *rows = &self->rows;
    if (!feed->source)
        return most == 0 ? IKT_OK
                         : ikt_sparse_whole_read(feed->ctx, &self->whole, feed->done, most,
                                                 most_entries, block);
    IKT_TRY(read_block(feed, feed->done, most));
    int64_t count = 0;
    while (count < rows->count && (count == 0 || rows->start[count] < most_entries))
        count++;
    const int64_t entries = rows->start[count];
    IKT_TRY(ikt_agree(feed->ctx, ikt_sparse_block_reserve(feed->ctx, block, count, entries)));
    for (int64_t i = 0; i < count; i++)
        block->ends[i] = rows->start[i + 1];
    for (int64_t e = 0; e < entries; e++)
        block->columns[e] = rows->column[e];
    if (entries > 0) memcpy(block->values, rows->value, (size_t)entries * sizeof *rows->value);
    block->rows = count;
    block->entries = entries;
    return read_labels(feed, count, block->labels);
}

static void source_close(ikt_row_feed *feed) {
    source_self *self = feed->self;
    ikt_sparse_rows_destroy(&self->rows);
    ikt_sparse_block_free(&self->whole);
    ikt_free(&self->labels);
}

/* --- a matrix by columns ---------------------------------------------------------------------- */

/* LOCAL, on rank 0. Turns the matrix; tells rows, columns and the type that holds every value:
 * bytes that were added up may be bytes no more. */
static ikt_status turn(ikt_row_feed *feed, hid_t group, const ikt_feed_options *options) {
    source_self *self = feed->self;
    const ikt_sparse_block *whole = &self->whole;
    char name[1024];
    ikt_csc csc IKT_AT_END(ikt_csc_destroy) = {0};
    snprintf(name, sizeof name, "%s:/%s", feed->path, options->dataset);
    IKT_TRY(ikt_csc_read(feed->ctx, group, name, &csc));
    const ikt_sparse_triplets all = {.path = name,
                                     .n = csc.n,
                                     .d = csc.d,
                                     .entries = csc.entries,
                                     .rows = csc.rows,
                                     .is_unsigned = csc.is_unsigned,
                                     .column_starts = csc.starts,
                                     .values = csc.values};
    IKT_TRY(ikt_sparse_whole(feed->ctx, &all, &self->whole));
    feed->shape = (ikt_feed_shape){
        .n_file = csc.n, .d = csc.d, .type = csc.type, .sparse = true, .keeps_form = true};
    for (int64_t e = 0; feed->shape.type == IKT_TYPE_U8 && e < whole->entries; e++)
        if (!ikt_number_fits(IKT_TYPE_U8, whole->values[e])) feed->shape.type = IKT_TYPE_F32;
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    feed->shape.entries = whole->ends[feed->shape.n - 1];
    return IKT_OK;
}

/* Labels beside the matrix, a column of obs, or a file of their own. */
static ikt_status read_all_labels(ikt_row_feed *feed, hid_t file, const char *wanted) {
    const bool is_wanted = ikt_is_given(wanted);
    const char *name = is_wanted ? wanted : "labels";
    const int64_t n = feed->shape.n_file, count = feed->count;
    bool *labels = &feed->shape.labels;
    IKT_TRY(ikt_alloc_all(feed->ctx, &feed->given, count, sizeof *feed->given, "labels"));
    IKT_TRY(ikt_labels_read(feed->ctx, file, feed->path, name, n, 0, count, feed->given, labels,
                            &feed->classes));
    if (!*labels && is_wanted)
        IKT_TRY(
            ikt_label_file_read(feed->ctx, name, n, 0, count, feed->given, labels, &feed->classes));
    if (!*labels) ikt_free(&feed->given);
    if (*labels || !is_wanted) return IKT_OK;
    return ikt_agree(feed->ctx, ikt_fail(feed->ctx, IKT_ERR_DATA,
                                         "%s has no labels '%s' (--labels), and there is no file "
                                         "of that name",
                                         feed->path, name));
}

/* The data set that is meant where none is named. */
static const char *resolve(hid_t file, const char *dataset, char usual[IKT_H5_NAME]) {
    if (strcmp(dataset, IKT_DATASET_AUTO) != 0) return dataset;
    ikt_h5_usual_matrix(file, usual);
    return usual;
}

/* The first rows, as many as are wanted. *taken is false where the data set is no such matrix, no
 * error. */
static ikt_status try_columns(ikt_row_feed *feed, const ikt_feed_options *given, bool *taken) {
    const bool root = ikt_rank(feed->ctx) == 0;
    ikt_feed_options resolved = *given;
    const ikt_feed_options *options = &resolved;
    char usual[IKT_H5_NAME];
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(ikt_h5_open(feed->ctx, feed->path, &file));
    resolved.dataset = resolve(file, given->dataset, usual);
    const hid_t group IKT_AT_END(ikt_h5_end) = ikt_h5_open_group(file, options->dataset);
    *taken = ikt_max_one(feed->ctx, group >= 0 && ikt_csc_is_here(group)) > 0;
    if (!*taken) return IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, root ? turn(feed, group, options) : IKT_OK));
    ikt_broadcast(feed->ctx, &feed->shape, (int64_t)sizeof feed->shape, 0);
    ikt_row_feed_on_root(feed);
    return read_all_labels(feed, file, options->labels);
}

/* --- a source --------------------------------------------------------------------------------- */

/* COLLECTIVE. A first pass over the rows, which tells how many entries are left when those of one
 * row and column are added up and zeros left out, and whether bytes are bytes still. */
static ikt_status count_entries(ikt_row_feed *feed) {
    const source_self *self = feed->self;
    const ikt_type stored = ikt_source_stored_type(feed->source);
    int64_t own = 0, wider = stored != IKT_TYPE_U8, done = 0;
    do {
        IKT_TRY(read_block(feed, done, feed->count));
        own += self->rows.start[self->rows.count];
        for (int64_t e = 0; e < self->rows.start[self->rows.count] && !wider; e++)
            wider = !ikt_number_fits(IKT_TYPE_U8, self->rows.value[e]);
        done += self->rows.count;
    } while (ikt_max_one(feed->ctx, feed->count - done) > 0);
    if (ikt_max_one(feed->ctx, wider) == 0) feed->shape.type = stored;
    feed->shape.entries = ikt_sum_one(feed->ctx, own);
    feed->first_entry = ikt_sum_before(feed->ctx, own);
    return IKT_OK;
}

/* COLLECTIVE. What an opened source has of n rows, of which each rank has its share. */
static ikt_status take_source(ikt_row_feed *feed) {
    ikt_feed_shape *shape = &feed->shape;
    shape->d = ikt_source_columns(feed->source);
    shape->type = ikt_source_type(feed->source);
    const ikt_rows share = ikt_rows_make(shape->n, ikt_size(feed->ctx), ikt_rank(feed->ctx));
    feed->first = share.first;
    feed->count = share.count;
    shape->sparse = shape->keeps_form = ikt_source_is_sparse(feed->source);
    return shape->sparse ? count_entries(feed) : IKT_OK;
}

static ikt_status source_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    const char *array = options->reader.array; /* --dataset names one as well, where there are */
    if (ikt_is_given(array) && ikt_is_given(options->dataset) &&
        !ikt_source_is_any(options->dataset) && strcmp(array, options->dataset) != 0)
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "--array and --dataset name two arrays of %s, '%s' and '%s': give one",
                        feed->path, array, options->dataset);
    const ikt_source_options rows = {.dataset = ikt_is_given(array)              ? array
                                                : ikt_is_given(options->dataset) ? options->dataset
                                                                                 : "X",
                                     .raw = options->raw};
    /* Nothing in raw numbers tells that they are such: what they look like is not asked. */
    IKT_TRY(rows.raw.columns > 0
                ? ikt_source_raw.open(feed->ctx, &ikt_source_raw, feed->path, &rows, &feed->source)
                : ikt_source_open_with(feed->ctx, feed->path, &rows, &feed->source));
    feed->shape.n_file = ikt_source_rows(feed->source);
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    return take_source(feed);
}

/* COLLECTIVE. The rows and labels of an HDF5 file. */
static ikt_status hdf5_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    source_self *self = feed->self;
    const bool is_named = ikt_is_given(options->labels);
    bool by_columns;
    int64_t label;
    if (ikt_is_given(options->reader.label_column) || ikt_is_given(options->reader.skip_columns) ||
        ikt_is_given(options->label_array) || ikt_is_given(options->reader.array))
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "%s is an HDF5 file: its rows are the data set named by --dataset and its "
                        "labels those named by --labels; --label-column, --label-array, "
                        "--skip-columns and --array do not apply",
                        feed->path);
    IKT_TRY(try_columns(feed, options, &by_columns));
    if (by_columns) return IKT_OK;
    IKT_TRY(ikt_source_open(feed->ctx, feed->path, options->dataset, options->rows, &feed->source));
    self->label_name = is_named ? options->labels : "labels";
    IKT_TRY(
        ikt_source_read_labels(feed->source, self->label_name, 0, 0, &label, &feed->shape.labels));
    if (!feed->shape.labels && is_named)
        return ikt_source_no_labels(feed->source, options->labels, "--labels");
    feed->shape.n = ikt_source_rows(feed->source);
    IKT_TRY(ikt_source_read_text(feed->source, "label_names", &feed->classes));
    return take_source(feed);
}

const ikt_row_feed_ops ikt_row_feed_source = {.self_bytes = sizeof(source_self),
                                              .open = source_open,
                                              .dense = source_dense,
                                              .sparse = source_sparse,
                                              .close = source_close};
const ikt_row_feed_ops ikt_row_feed_hdf5 = {.self_bytes = sizeof(source_self),
                                            .open = hdf5_open,
                                            .dense = source_dense,
                                            .sparse = source_sparse,
                                            .close = source_close};
