/* Delimited text: two passes, one to count rows and learn classes, one to read numbers.
 *
 * Advantage: any size in the memory of a line. Disadvantage: the file is read twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/formats/csv_labels.h"
#include "io/formats/csv_line.h"
#include "io/formats/reader.h"

typedef struct {
    ikt_csv_line line;
    bool header;
    int64_t columns; /* cells of a line */
    int64_t label;   /* column of the labels, or -1 */
    bool *skip;      /* [columns] not part of the rows: skipped, or the labels */
    char *names;     /* cells of the first line, each with its zero */
    ikt_csv_labels labels;
} csv_self;

static bool csv_probe(const unsigned char *head, int64_t bytes) {
    for (int64_t b = 0; b < bytes; b++)
        if (head[b] < 9 || (head[b] > 13 && head[b] < 32)) return false;
    return true;
}

/* Heading of a column, or "" where there is none. */
static const char *heading(const csv_self *self, int64_t column) {
    const char *name = self->names;
    while (self->header && column-- > 0)
        name += strlen(name) + 1;
    return self->header ? name : "";
}

/* Column of a heading or number (from 1), or -1. */
static int64_t find_column(const csv_self *self, const char *name, size_t length) {
    const char *own = self->names;
    for (int64_t c = 0; c < self->columns && self->header; c++, own += strlen(own) + 1)
        if (strlen(own) == length && strncmp(own, name, length) == 0) return c;
    char *end;
    long long number = strtoll(name, &end, 10);
    return end == name + length && number >= 1 && number <= self->columns ? number - 1 : -1;
}

static ikt_status no_column(ikt_reader *reader, const char *name, size_t length) {
    const csv_self *self = reader->self;
    const char *first = heading(self, 0);
    return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                    "%s has no column '%.*s'; it has %lld, numbered from 1%s%.60s%s", reader->path,
                    (int)length, name, (long long)self->columns,
                    self->header ? ", the first named '" : " and without names", first,
                    self->header ? "'" : "");
}

/* Finds the columns that are labels or skipped. Names that are not found are errors if `strict`. */
static ikt_status choose_columns(ikt_reader *reader, const ikt_reader_options *options,
                                 bool strict) {
    csv_self *self = reader->self;
    memset(self->skip, 0, (size_t)self->columns * sizeof *self->skip);
    self->label = -1;
    if (options->label_column[0]) {
        size_t length = strlen(options->label_column);
        self->label = find_column(self, options->label_column, length);
        if (self->label >= 0) self->skip[self->label] = true;
        if (self->label < 0 && strict) return no_column(reader, options->label_column, length);
    }
    for (const char *at = options->skip_columns; *at;) {
        size_t length = strcspn(at, ",");
        int64_t column = find_column(self, at, length);
        if (column >= 0) self->skip[column] = true;
        if (column < 0 && strict) return no_column(reader, at, length);
        at += length + (at[length] == ',');
    }
    return IKT_OK;
}

/* Keeps the cells of the first line, which tells the columns and perhaps their names. */
static ikt_status keep_names(ikt_reader *reader) {
    csv_self *self = reader->self;
    int64_t length = 1;
    self->columns = self->line.cells;
    for (int64_t c = 0; c < self->columns; c++)
        length += (int64_t)strlen(self->line.cell[c]) + 1;
    IKT_TRY(ikt_alloc(reader->ctx, &self->skip, self->columns, sizeof *self->skip, "reader"));
    IKT_TRY(ikt_alloc(reader->ctx, &self->names, length, 1, "reader"));
    char *to = self->names;
    for (int64_t c = 0; c < self->columns; c++) {
        strcpy(to, self->line.cell[c]);
        to += strlen(to) + 1;
    }
    return IKT_OK;
}

/* Whether the first line, as it stands in self->line, is a header. Columns given by number (names
 * are not known yet) are no evidence: their data may be text. */
static ikt_status decide_header(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    double value;
    self->header = options->header == IKT_HEADER_YES;
    if (options->header != IKT_HEADER_AUTO) return IKT_OK;
    IKT_TRY(choose_columns(reader, options, false));
    bool text = false;
    for (int64_t c = 0; c < self->columns; c++) {
        const char *cell = self->line.cell[c];
        text |= !self->skip[c] && cell[0] && !ikt_csv_number(cell, &value);
    }
    self->header = text;
    return IKT_OK;
}

static ikt_status read_first(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    bool end;
    IKT_TRY(ikt_csv_next(&self->line, &end));
    if (end) return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s is empty", reader->path);
    IKT_TRY(keep_names(reader));
    IKT_TRY(decide_header(reader, options));
    IKT_TRY(choose_columns(reader, options, true));
    for (int64_t c = 0; c < self->columns; c++)
        reader->d += !self->skip[c];
    reader->labels = self->label >= 0;
    return IKT_OK;
}

static ikt_status check_cells(ikt_reader *reader) {
    const csv_self *self = reader->self;
    if (self->line.cells == self->columns) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld has %lld cells; the first has %lld",
                    reader->path, (long long)self->line.number, (long long)self->line.cells,
                    (long long)self->columns);
}

/* "file.csv, line 12, column 5 ('Genotype'): 'abc' is not a number ..." */
static ikt_status bad_cell(ikt_reader *reader, int64_t column, const char *what) {
    const csv_self *self = reader->self;
    const char *name = heading(self, column), *cell = self->line.cell[column];
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld, column %lld%s%.60s%s: %s%.60s%s%s",
                    reader->path, (long long)self->line.number, (long long)column + 1,
                    *name ? " ('" : "", name, *name ? "')" : "", *cell ? "'" : "", cell,
                    *cell ? "'" : "", what);
}

static ikt_status learn_label(ikt_reader *reader) {
    csv_self *self = reader->self;
    const char *cell = self->line.cell[self->label];
    if (!*cell) return bad_cell(reader, self->label, "the label is missing");
    if (strchr(cell, '\n')) return bad_cell(reader, self->label, " is a label of several lines");
    return ikt_csv_labels_learn(reader->ctx, &self->labels, cell);
}

/* Counts rows; learns the classes of text labels. */
static ikt_status first_pass(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    IKT_TRY(read_first(reader, options));
    bool end = false;
    if (self->header) IKT_TRY(ikt_csv_next(&self->line, &end));
    while (!end) {
        IKT_TRY(check_cells(reader));
        if (self->label >= 0) IKT_TRY(learn_label(reader));
        reader->n++;
        IKT_TRY(ikt_csv_next(&self->line, &end));
    }
    return ikt_csv_labels_list(reader->ctx, reader->path, &self->labels, &reader->classes);
}

/* Texts that are not given are empty ones. */
static ikt_reader_options filled(const ikt_reader_options *options) {
    ikt_reader_options all = *options;
    if (!all.label_column) all.label_column = "";
    if (!all.skip_columns) all.skip_columns = "";
    return all;
}

static ikt_status csv_open(ikt_reader *reader, const ikt_reader_options *given) {
    const ikt_reader_options all = filled(given), *options = &all;
    csv_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    reader->type = IKT_TYPE_F64;
    self->line =
        (ikt_csv_line){.ctx = reader->ctx, .path = reader->path, .delimiter = options->delimiter};
    IKT_TRY(ikt_csv_open(&self->line));
    IKT_TRY(first_pass(reader, options));
    ikt_csv_close(&self->line);
    IKT_TRY(ikt_csv_open(&self->line));
    bool end;
    return self->header ? ikt_csv_next(&self->line, &end) : IKT_OK;
}

static ikt_status read_row(ikt_reader *reader, double *row) {
    csv_self *self = reader->self;
    for (int64_t c = 0; c < self->columns; c++) {
        if (self->skip[c]) continue;
        const char *cell = self->line.cell[c];
        if (!*cell)
            return bad_cell(reader, c,
                            "the cell is empty; fill it, or leave the column out with "
                            "--skip-columns");
        if (!ikt_csv_number(cell, row))
            return bad_cell(reader, c,
                            " is not a number; --skip-columns leaves a column out, "
                            "--label-column takes it as labels");
        if (!isfinite(*row)) return bad_cell(reader, c, " is not a finite number");
        row++;
    }
    return IKT_OK;
}

static ikt_status csv_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    csv_self *self = reader->self;
    double *row = rows;
    for (int64_t i = 0; i < count; i++, row += reader->d) {
        IKT_TRY(ikt_csv_next_again(&self->line));
        IKT_TRY(check_cells(reader));
        IKT_TRY(read_row(reader, row));
        if (labels) labels[i] = ikt_csv_labels_number(&self->labels, self->line.cell[self->label]);
    }
    return IKT_OK;
}

static void csv_close(ikt_reader *reader) {
    csv_self *self = reader->self;
    if (!self) return;
    ikt_csv_free(&self->line);
    ikt_csv_labels_free(&self->labels);
    ikt_free(&self->skip);
    ikt_free(&self->names);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_csv = {
    .name = "CSV", .probe = csv_probe, .open = csv_open, .read = csv_read, .close = csv_close};
