/* Rows of CSV to be converted: every rank parses its part of the file (csv_file.h). Columns of text
 * come with them. */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/convert/row_feed.h"
#include "io/formats/csv_file.h"

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
