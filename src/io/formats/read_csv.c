/* Delimited text, gzipped or not, as a sequence of rows on one rank: two passes, one to count rows
 * and learn classes, one to read numbers.
 *
 * Advantage: any size in the memory of a block and of the longest record. Disadvantage: the file is
 * read twice, by one rank; csv_file.h shares it among all. */
#include <string.h>

#include "io/formats/class_labels.h"
#include "io/formats/csv_columns.h"
#include "io/formats/csv_texts.h"
#include "io/formats/reader.h"

typedef struct {
    ikt_csv_records records;
    ikt_csv_columns columns;
    ikt_text_labels labels;
} csv_self;

static bool csv_probe(const unsigned char *head, int64_t bytes) {
    for (int64_t b = 0; b < bytes; b++)
        if (head[b] < 9 || (head[b] > 13 && head[b] < 32)) return false;
    return true;
}

/* Goes to the first record of data. */
static ikt_status begin(csv_self *self) {
    bool end;
    IKT_TRY(ikt_csv_begin(&self->records));
    return self->columns.has_header ? ikt_csv_next(&self->records, &end) : IKT_OK;
}

/* The first pass counts rows and learns the classes of text labels. */
static ikt_status csv_open(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    ikt_csv_records *records = &self->records;
    const ikt_csv_columns *columns = &self->columns;
    const char *label;
    bool end = false;
    reader->type = IKT_TYPE_F64;
    records->lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    IKT_TRY(ikt_csv_columns_find(records, options, &self->columns));
    reader->d = columns->numbers;
    reader->labels = columns->label >= 0;
    IKT_TRY(begin(self));
    IKT_TRY(ikt_csv_next(records, &end));
    while (!end) {
        IKT_TRY(ikt_csv_check_cells(records, columns));
        if (reader->labels) IKT_TRY(ikt_csv_label(records, columns, columns->label, &label));
        if (reader->labels) IKT_TRY(ikt_text_labels_learn(reader->ctx, &self->labels, label));
        reader->n++;
        IKT_TRY(ikt_csv_next(records, &end));
    }
    IKT_TRY(ikt_text_labels_list(reader->ctx, reader->path, &self->labels, &reader->classes));
    return begin(self);
}

static ikt_status csv_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    csv_self *self = reader->self;
    ikt_csv_missing missing = {0};
    double *row = rows;
    bool end;
    for (int64_t i = 0; i < count; i++, row += reader->d) {
        IKT_TRY(ikt_csv_next(&self->records, &end));
        if (end)
            return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s became shorter while it was read",
                            reader->path);
        IKT_TRY(ikt_csv_numbers(&self->records, &self->columns, row, &missing));
        if (labels)
            labels[i] =
                ikt_text_labels_number(&self->labels, self->records.cell[self->columns.label]);
    }
    return IKT_OK;
}

static void csv_close(ikt_reader *reader) {
    csv_self *self = reader->self;
    ikt_csv_free(&self->records);
    ikt_csv_columns_free(&self->columns);
    ikt_text_labels_free(&self->labels);
}

const ikt_reader_ops ikt_reader_csv = {.name = "CSV",
                                       .self_bytes = sizeof(csv_self),
                                       .probe = csv_probe,
                                       .open = csv_open,
                                       .read = csv_read,
                                       .close = csv_close};

/* --- a column as texts ------------------------------------------------------------------------ */

/* In a table as other programs write them, so that columns are the same as for rows and labels. */
static ikt_status visit_records(ikt_reader *reader, const char *column, ikt_csv_visitor *visit,
                                void *visitor) {
    const ikt_reader_options options = {.label_column = column, .keeps_text = true};
    csv_self *self = reader->self;
    ikt_csv_records *records = &self->records;
    bool end = false;
    records->lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    IKT_TRY(ikt_csv_columns_find(records, &options, &self->columns));
    IKT_TRY(begin(self));
    IKT_TRY(ikt_csv_next(records, &end));
    for (int64_t row = 0; !end; row++) {
        IKT_TRY(ikt_csv_check_cells(records, &self->columns));
        IKT_TRY(visit(visitor, row, records->cell[self->columns.label]));
        IKT_TRY(ikt_csv_next(records, &end));
    }
    return IKT_OK;
}

ikt_status ikt_csv_visit_column(ikt_context *ctx, const char *path, const char *column,
                                ikt_csv_visitor *visit, void *self) {
    ikt_reader *reader = NULL;
    IKT_TRY(ikt_reader_new(ctx, &ikt_reader_csv, path, &reader));
    const ikt_status st = visit_records(reader, column, visit, self);
    ikt_reader_close(&reader);
    return st;
}
