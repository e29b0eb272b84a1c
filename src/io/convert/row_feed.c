/* The rows of a file that is converted, and those of a plain LIBSVM file, of which every rank
 * parses its range. See row_feed.h. */
#include "io/convert/row_feed.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/csv_file.h"
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

/* --- formats that rank 0 reads ---------------------------------------------------------------- */

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

/* --- CSV -------------------------------------------------------------------------------------- */

typedef struct {
    ikt_csv_file file;
    char **texts; /* [feed->texts] the blocks of feed->text */
} csv_self;

/* Names of data sets: what a slash would make a path of, and what comes twice, is changed. */
static void name_text(ikt_row_feed *feed, int64_t t, const ikt_csv_columns *columns,
                      int64_t column) {
    ikt_table_text *about = &feed->text[t].about;
    ikt_csv_name(columns, column, about->heading, sizeof about->heading);
    snprintf(about->name, sizeof about->name, "%.240s", about->heading);
    for (char *at = about->name; *at; at++)
        if (*at == '/') *at = '_';
    if (strcmp(about->name, ".") == 0 || strcmp(about->name, "..") == 0) about->name[0] = '_';
    const size_t length = strlen(about->name);
    int64_t other = 0;
    for (int again = 2; other < t; again++) {
        for (other = 0; other < t && strcmp(feed->text[other].about.name, about->name) != 0;)
            other++;
        if (other < t) snprintf(about->name + length, sizeof about->name - length, "_%d", again);
    }
}

static ikt_status csv_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    csv_self *self = feed->self;
    ikt_csv_file *file = &self->file;
    ikt_context *ctx = feed->ctx;
    IKT_TRY(ikt_reader_check_options(ctx, feed->path, &ikt_reader_csv, &options->reader));
    IKT_TRY(ikt_csv_file_open(ctx, feed->path, &options->reader, options->rows, file));
    feed->n_file = file->n_file;
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    if (file->columns.numbers == 0)
        return ikt_fail(ctx, IKT_ERR_DATA, /* the same on all ranks */
                        "%s holds no numbers: %lld rows of 0 columns", feed->path,
                        (long long)file->n);
    IKT_TRY(ikt_csv_file_learn(file, file->columns.label, true));
    feed->d = file->columns.numbers;
    feed->type = IKT_TYPE_F64;
    feed->labels = file->columns.label >= 0;
    feed->classes = file->classes;
    file->classes = NULL; /* given away */
    feed->first = file->first;
    feed->count = file->count;
    const int64_t texts = file->columns.texts;
    ikt_status st = ikt_alloc(ctx, &feed->text, texts, sizeof *feed->text, "reader");
    if (st == IKT_OK) st = ikt_alloc(ctx, &self->texts, texts, sizeof *self->texts, "reader");
    st = ikt_agree(ctx, st);
    for (int64_t t = 0; st == IKT_OK && t < texts; t++) {
        name_text(feed, t, &file->columns, file->text[t].column);
        feed->text[t].about.width = file->text[t].width;
        feed->text[t].about.bytes = file->text[t].bytes;
        feed->texts++;
    }
    return st;
}

static ikt_status csv_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    csv_self *self = feed->self;
    ikt_csv_file *file = &self->file;
    for (int64_t t = 0; t < feed->texts; t++) {
        const int64_t bytes = count * feed->text[t].about.width;
        if (bytes > feed->text[t].capacity) {
            IKT_TRY(ikt_resize(feed->ctx, &feed->text[t].block, bytes, 1, "texts"));
            feed->text[t].capacity = bytes;
        }
        self->texts[t] = feed->text[t].block;
    }
    return ikt_csv_file_read(file, count, rows, file->columns.label, feed->has_own ? labels : NULL,
                             self->texts);
}

static void csv_close(ikt_row_feed *feed) {
    csv_self *self = feed->self;
    ikt_csv_file_close(&self->file);
    ikt_free(&self->texts);
}

const ikt_row_feed_ops ikt_row_feed_csv = {
    .self_bytes = sizeof(csv_self), .open = csv_open, .dense = csv_dense, .close = csv_close};
