/* The rows of a file that is converted, and those of a plain LIBSVM file, of which every rank
 * parses its range. See row_feed.h. */
#include "io/convert/row_feed.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/libsvm_text.h"
#include "io/sources/labels.h"

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
    feed->n = feed->n_file = file->n;
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

/* --- labels ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Reads the labels of the own rows that stand in a file or an array of their own. */
static ikt_status read_given(ikt_row_feed *feed, const ikt_feed_options *options) {
    ikt_context *ctx = feed->ctx;
    const bool is_array = ikt_is_given(options->label_array);
    char name[2 * IKT_PATH_MAX];
    bool present = false;
    if (!ikt_is_given(options->labels) && !is_array) return IKT_OK;
    if (ikt_is_given(options->labels) && is_array) /* all of these are the same on all ranks */
        return ikt_fail(ctx, IKT_ERR_USAGE, "--labels and --label-array exclude each other");
    if (feed->has_own)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows of %s come with labels (--label-column, or LIBSVM): --labels, "
                        "--label-array and these exclude each other",
                        feed->path);
    snprintf(name, sizeof name, "%s%s%s", is_array ? feed->path : options->labels,
             is_array ? ":" : "", is_array ? options->label_array : "");
    IKT_TRY(ikt_alloc_all(ctx, &feed->given, feed->count, sizeof *feed->given, "labels"));
    IKT_TRY(ikt_label_file_read(ctx, name, feed->n_file, feed->first, feed->count, feed->given,
                                &present, &feed->classes));
    feed->labels = true;
    if (present) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: there is no such file", name);
}

ikt_status ikt_row_feed_narrow(const ikt_row_feed *feed, const int64_t *wide, int64_t count,
                               int32_t *labels) {
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        labels[i] = (int32_t)wide[i];
        if (labels[i] != wide[i])
            st = ikt_fail(feed->ctx, IKT_ERR_DATA,
                          "%s, row %lld (counted from 0): %lld is no label (an integer of 32 bits)",
                          feed->label_path, (long long)(feed->first + feed->done + i),
                          (long long)wide[i]);
    }
    return ikt_agree(feed->ctx, st);
}

/* --- any feed --------------------------------------------------------------------------------- */

ikt_status ikt_row_feed_open(ikt_context *ctx, const char *path, const ikt_feed_options *options,
                             ikt_row_feed **out) {
    static const ikt_row_feed_ops *const kinds[] = {&ikt_row_feed_reader, &libsvm_ops,
                                                    &ikt_row_feed_csv,    &ikt_row_feed_source,
                                                    &ikt_row_feed_source, &ikt_row_feed_source};
    enum { READER, LIBSVM, CSV, NPY, IDX, HDF5 };
    ikt_reader_content content = {0};
    ikt_row_feed *feed = NULL;
    ikt_status st = IKT_OK;
    int64_t kind = READER;
    *out = NULL;
    if (ikt_rank(ctx) == 0 && !options->reader.raw.type) {
        st = ikt_input_check(ctx, path);
        if (st == IKT_OK && ikt_source_is_hdf5(path))
            kind = HDF5;
        else if (st == IKT_OK)
            st = ikt_reader_guess(ctx, path, &content);
        if (content.format == &ikt_reader_csv) kind = CSV;
        if (content.format == &ikt_reader_libsvm && !content.packed) kind = LIBSVM;
        if (content.format == &ikt_reader_npy && !content.packed) kind = NPY;
        if (content.format == &ikt_reader_idx && !content.packed) kind = IDX;
    }
    IKT_TRY(ikt_agree(ctx, st));
    kind = ikt_max_one(ctx, kind);
    const ikt_row_feed_ops *ops = kinds[kind];
    st = ikt_alloc(ctx, &feed, 1, sizeof *feed, "reader");
    if (st == IKT_OK) st = ikt_alloc(ctx, &feed->self, (int64_t)ops->self_bytes, 1, "reader");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        feed->ctx = ctx;
        feed->path = path;
        feed->label_path = ikt_is_given(options->labels) ? options->labels : path;
        feed->ops = ops;
        feed->is_hdf5 = kind == HDF5;
        if (kind == NPY || kind == IDX)
            st = ikt_reader_check_options(
                ctx, path, kind == NPY ? &ikt_reader_npy : &ikt_reader_idx, &options->reader);
        if (st == IKT_OK) st = ops->open(feed, options);
        feed->has_own = feed->labels;
    }
    if (st == IKT_OK && !feed->is_hdf5) st = read_given(feed, options);
    if (st != IKT_OK) ikt_row_feed_close(&feed);
    *out = feed;
    return st;
}

ikt_status ikt_row_feed_use_rows(ikt_row_feed *feed, int64_t rows) {
    feed->n = rows > 0 ? rows : feed->n_file;
    if (feed->n <= feed->n_file) return IKT_OK;
    return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                    (long long)rows, feed->path, (long long)feed->n_file);
}

ikt_status ikt_row_feed_dense(ikt_row_feed *feed, int64_t most, void *rows, int32_t *labels,
                              int64_t *count) {
    const int64_t left = feed->count - feed->done;
    *count = most < left ? most : left;
    IKT_TRY(ikt_agree(feed->ctx, feed->ops->dense(feed, *count, rows, labels)));
    if (feed->given) IKT_TRY(ikt_row_feed_narrow(feed, feed->given + feed->done, *count, labels));
    feed->done += *count;
    return IKT_OK;
}

ikt_status ikt_row_feed_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                               ikt_sparse_block *block) {
    const int64_t left = feed->count - feed->done;
    ikt_sparse_block_clear(block);
    IKT_TRY(
        ikt_agree(feed->ctx, feed->ops->sparse(feed, rows < left ? rows : left, entries, block)));
    if (feed->given)
        IKT_TRY(ikt_row_feed_narrow(feed, feed->given + feed->done, block->rows, block->labels));
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
    ikt_free(&(*feed)->given);
    ikt_free(feed);
}
