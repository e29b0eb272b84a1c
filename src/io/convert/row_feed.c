/* The rows of a file that is converted: those of a plain LIBSVM or CSV file, of which every rank
 * parses its range, and of formats that are read in order on rank 0. See convert.h. */
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "io/convert/convert.h"
#include "io/formats/csv_file.h"
#include "io/formats/libsvm_text.h"
#include "io/formats/matrix_market.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

/* --- LIBSVM ----------------------------------------------------------------------------------- */

static ikt_status libsvm_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    ikt_libsvm_file *file = feed->self;
    ikt_feed_shape *shape = &feed->shape;
    IKT_TRY(ikt_reader_check_options(feed->ctx, feed->path, &ikt_reader_libsvm, &options->reader));
    if (ikt_is_given(options->labels) || ikt_is_given(options->label_array))
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "%s is a LIBSVM file, whose rows come with labels: --labels and "
                        "--label-array do not apply",
                        feed->path);
    shape->type = options->reader.as ? (ikt_type)(options->reader.as - 1) : IKT_TYPE_F32;
    IKT_TRY(ikt_libsvm_file_open(feed->ctx, feed->path, shape->type, options->rows, file));
    shape->n = shape->n_file = file->n;
    shape->d = file->d;
    shape->sparse = shape->labels = true;
    shape->entries = file->entries;
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

/* --- formats that rank 0 reads ---------------------------------------------------------------- */

static ikt_reader *reader_of(const ikt_row_feed *feed) {
    return *(ikt_reader *const *)feed->self;
}

/* On rank 0. What the reader knows. */
static ikt_status open_reader(ikt_row_feed *feed, const ikt_feed_options *options) {
    IKT_TRY(ikt_reader_open(feed->ctx, feed->path, &options->reader, feed->self));
    const ikt_reader *rows = reader_of(feed);
    feed->shape = (ikt_feed_shape){.n_file = rows->n,
                                   .d = rows->d,
                                   .sparse = rows->sparse,
                                   .type = rows->type,
                                   .labels = rows->labels,
                                   .entries = rows->entries};
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    if (!rows->sparse || feed->shape.n == rows->n) return IKT_OK;
    return ikt_reader_count(reader_of(feed), feed->shape.n, &feed->shape.entries);
}

static ikt_status reader_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    const bool root = ikt_rank(feed->ctx) == 0;
    IKT_TRY(ikt_agree(feed->ctx, root ? open_reader(feed, options) : IKT_OK));
    const char *own = root ? reader_of(feed)->classes : NULL;
    int64_t bytes = own ? (int64_t)strlen(own) + 1 : 0;
    ikt_broadcast(feed->ctx, &feed->shape, (int64_t)sizeof feed->shape, 0);
    ikt_broadcast(feed->ctx, &bytes, (int64_t)sizeof bytes, 0);
    ikt_row_feed_on_root(feed);
    if (bytes == 0) return IKT_OK;
    IKT_TRY(ikt_alloc_all(feed->ctx, &feed->classes, bytes, 1, "class names"));
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

static const ikt_row_feed_ops reader_ops = {.self_bytes = sizeof(ikt_reader *),
                                            .open = reader_open,
                                            .dense = reader_dense,
                                            .sparse = reader_sparse,
                                            .close = reader_close};

/* --- CSV -------------------------------------------------------------------------------------- */

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

/* Logs columns and lines that are left out though nobody has asked for that. */
static void log_left_out(const ikt_row_feed *feed, const ikt_csv_columns *c, bool is_asked) {
    char text[1024];
    bool has_vectors = false;
    for (int64_t k = 0; k < c->columns && !is_asked; k++)
        has_vectors |= c->role[k] == IKT_CSV_NUMBER && c->width[k] > 0;
    if (!has_vectors && c->how.cells <= 0 && !c->how.has_commas) return;
    if (*ikt_csv_describe(c, text, sizeof text))
        ikt_log(feed->ctx, IKT_LOG_STAGE, "%s: %s", feed->path, text);
}

static ikt_status csv_open(ikt_row_feed *feed, const ikt_feed_options *options) {
    ikt_csv_file *file = feed->self;
    const ikt_csv_columns *columns = &file->columns;
    ikt_feed_shape *shape = &feed->shape;
    ikt_context *ctx = feed->ctx;
    ikt_reader_options reader = options->reader;
    if (ikt_is_given(options->dataset) && !ikt_source_is_any(options->dataset))
        reader.take_columns = options->dataset;
    IKT_TRY(ikt_reader_check_options(ctx, feed->path, &ikt_reader_csv, &reader));
    IKT_TRY(ikt_csv_file_open(ctx, feed->path, &reader, options->rows, file));
    shape->n_file = file->n_file;
    IKT_TRY(ikt_row_feed_use_rows(feed, options->rows));
    if (columns->numbers == 0)
        return ikt_fail(ctx, IKT_ERR_DATA, /* the same on all ranks */
                        "%s holds no numbers: %lld rows of 0 columns%s%s", feed->path,
                        (long long)file->n, *columns->unread ? ": " : "", columns->unread);
    if (*columns->unread && ikt_rank(ctx) == 0)
        ikt_warn(ctx, "%s: %s", feed->path, columns->unread);
    IKT_TRY(ikt_csv_file_learn(file, columns->label, true));
    log_left_out(feed, columns, ikt_is_given(reader.take_columns));
    shape->d = columns->numbers;
    shape->type = IKT_TYPE_F64;
    shape->labels = columns->label >= 0;
    feed->classes = file->classes;
    file->classes = NULL; /* given away */
    feed->first = file->first;
    feed->count = file->count;
    IKT_TRY(ikt_alloc_all(ctx, &feed->text, columns->texts, sizeof *feed->text, "reader"));
    for (int64_t t = 0; t < columns->texts; t++) {
        name_text(feed, t, columns, file->text[t].column);
        feed->text[t].about.width = file->text[t].width;
        feed->text[t].about.bytes = file->text[t].bytes;
        feed->texts++;
    }
    return IKT_OK;
}

static ikt_status csv_dense(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels) {
    ikt_csv_file *file = feed->self;
    IKT_ARRAYS(held, feed->ctx, "reader");
    char **texts = ikt_claim(&held, feed->texts, sizeof *texts);
    IKT_TRY(held.status);
    for (int64_t t = 0; t < feed->texts; t++) {
        ikt_feed_text *text = &feed->text[t];
        IKT_TRY(ikt_reserve(feed->ctx, &text->block, count, (size_t)text->about.width, "texts"));
        texts[t] = text->block;
    }
    return ikt_csv_file_read(file, count, rows, file->columns.label, feed->has_own ? labels : NULL,
                             texts);
}

static void csv_close(ikt_row_feed *feed) {
    ikt_csv_file_close(feed->self);
}

static const ikt_row_feed_ops csv_ops = {
    .self_bytes = sizeof(ikt_csv_file), .open = csv_open, .dense = csv_dense, .close = csv_close};

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
    IKT_TRY(ikt_label_file_read(ctx, name, feed->shape.n_file, feed->first, feed->count,
                                feed->given, &present, &feed->classes));
    feed->shape.labels = true;
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

enum { READER, LIBSVM, CSV, FLAT, HDF5 };

/* On rank 0. What the file is. */
static ikt_status find_kind(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                            int64_t *kind) {
    ikt_reader_content content;
    IKT_TRY(ikt_input_check(ctx, path));
    if (ikt_source_is_hdf5(path)) {
        *kind = HDF5;
        return IKT_OK;
    }
    IKT_TRY(ikt_reader_guess(ctx, path, &content));
    if (content.format == &ikt_reader_csv) *kind = CSV;
    if (content.packed) return IKT_OK;
    if (content.format == &ikt_reader_libsvm) *kind = LIBSVM;
    if (!content.format || !content.format->is_flat) return IKT_OK;
    *kind = FLAT;
    return ikt_reader_check_options(ctx, path, content.format, options);
}

/* What raw numbers have no options for. */
static const ikt_reader_ops raw_facts = {.name = "raw",
                                         .labels_are = "labels are a file of their own (--labels)"};

/* COLLECTIVE. Opens the rows, and the labels that go with them. */
static ikt_status open_rows(ikt_row_feed *feed, int64_t kind, const ikt_feed_options *options) {
    IKT_TRY(feed->ops->open(feed, options));
    feed->has_own = feed->shape.labels;
    return kind == HDF5 ? IKT_OK : read_given(feed, options);
}

ikt_status ikt_row_feed_open(ikt_context *ctx, const char *path, const ikt_feed_options *options,
                             ikt_row_feed **out) {
    static const ikt_row_feed_ops *const kinds[] = {&reader_ops, &libsvm_ops, &csv_ops,
                                                    &ikt_row_feed_source, &ikt_row_feed_hdf5};
    ikt_row_feed *feed = NULL;
    ikt_status st = IKT_OK;
    int64_t kind = options->raw.columns > 0 ? FLAT : READER;
    *out = NULL;
    char matrix[IKT_PATH_MAX] = "";
    const bool is_folder = ikt_rank(ctx) == 0 && ikt_folder_matrix(path, matrix);
    if (ikt_max_one(ctx, is_folder) > 0) {
        ikt_broadcast(ctx, matrix, IKT_PATH_MAX, 0);
        path = matrix;
    }
    if (kind == FLAT)
        st = ikt_reader_check_options(ctx, path, &raw_facts, &options->reader);
    else if (ikt_rank(ctx) == 0)
        st = find_kind(ctx, path, &options->reader, &kind);
    IKT_TRY(ikt_agree(ctx, st));
    kind = ikt_max_one(ctx, kind);
    const ikt_row_feed_ops *ops = kinds[kind];
    IKT_TRY(ikt_alloc_all(ctx, &feed, 1, sizeof *feed, "reader"));
    *out = feed;
    feed->ctx = ctx;
    feed->path = path;
    if (path == matrix) feed->path = strcpy(feed->matrix, matrix);
    feed->label_path = ikt_is_given(options->labels) ? options->labels : feed->path;
    st = ikt_alloc_all(ctx, &feed->self, (int64_t)ops->self_bytes, 1, "reader");
    if (st == IKT_OK) {
        feed->ops = ops;
        st = open_rows(feed, kind, options);
    }
    if (st != IKT_OK) ikt_row_feed_close(out);
    return st;
}

ikt_status ikt_row_feed_use_rows(ikt_row_feed *feed, int64_t rows) {
    ikt_feed_shape *shape = &feed->shape;
    shape->n = rows > 0 ? rows : shape->n_file;
    if (shape->n <= shape->n_file) return IKT_OK;
    return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                    (long long)rows, feed->path, (long long)shape->n_file);
}

void ikt_row_feed_on_root(ikt_row_feed *feed) {
    const bool root = ikt_rank(feed->ctx) == 0;
    feed->count = root ? feed->shape.n : 0;
    feed->first = root ? 0 : feed->shape.n;
    feed->first_entry = root ? 0 : feed->shape.entries;
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

void ikt_row_feed_close(ikt_row_feed **feed) {
    ikt_row_feed *f = *feed;
    if (!f) return;
    if (f->ops) f->ops->close(f);
    ikt_source_close(&f->source);
    for (int64_t t = 0; t < f->texts; t++)
        ikt_free(&f->text[t].block);
    ikt_free_all(&f->text, &f->self, &f->classes, &f->given);
    ikt_free(feed);
}
