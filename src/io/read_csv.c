/* Delimited text: two passes, one to count rows and learn classes, one to read numbers.
 *
 * Advantage: any size in the memory of a line. Disadvantage: the file is read twice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv_line.h"
#include "io/reader.h"

typedef struct {
    ikt_csv_line line;
    bool header;
    int64_t columns; /* cells of a line */
    int64_t label;   /* column of the labels, or -1 */
    bool *skip;      /* [columns] not part of the rows: skipped, or the labels */
    char *names;     /* headings, each with its zero; "" without a header */
    char **class;    /* [classes] text labels in order, pointing into class_text */
    int64_t classes, class_room;
    bool text_labels;
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
    for (int64_t c = 0; c < self->columns && self->header; c++)
        if (strlen(heading(self, c)) == length && strncmp(heading(self, c), name, length) == 0)
            return c;
    char *end;
    long long number = strtoll(name, &end, 10);
    return end == name + length && number >= 1 && number <= self->columns ? number - 1 : -1;
}

static ikt_status no_column(ikt_reader *reader, const char *name, size_t length) {
    const csv_self *self = reader->self;
    return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                    "%s has no column '%.*s'; it has %lld, numbered from 1%s%s", reader->path,
                    (int)length, name, (long long)self->columns,
                    self->header ? ", the first named " : "", heading(self, 0));
}

static ikt_status choose_columns(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    IKT_TRY(ikt_alloc(reader->ctx, &self->skip, self->columns, sizeof *self->skip, "reader"));
    self->label = -1;
    if (options->label_column[0]) {
        size_t length = strlen(options->label_column);
        self->label = find_column(self, options->label_column, length);
        if (self->label < 0) return no_column(reader, options->label_column, length);
        self->skip[self->label] = true;
    }
    for (const char *at = options->skip_columns; *at;) {
        size_t length = strcspn(at, ",");
        int64_t column = find_column(self, at, length);
        if (column < 0) return no_column(reader, at, length);
        self->skip[column] = true;
        at += length + (at[length] == ',');
    }
    for (int64_t c = 0; c < self->columns; c++)
        reader->d += !self->skip[c];
    reader->labels = self->label >= 0;
    return IKT_OK;
}

/* The first line tells columns, delimiter and whether it is a header. */
static ikt_status read_first(ikt_reader *reader) {
    csv_self *self = reader->self;
    int64_t length = 0;
    bool end;
    IKT_TRY(ikt_csv_next(&self->line, &end));
    if (end) return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s is empty", reader->path);
    self->columns = self->line.cells;
    for (int64_t c = 0; c < self->columns; c++) {
        double value;
        self->header |= self->line.cell[c][0] && !ikt_csv_number(self->line.cell[c], &value);
        length += (int64_t)strlen(self->line.cell[c]) + 1;
    }
    IKT_TRY(ikt_alloc(reader->ctx, &self->names, length + 1, 1, "reader"));
    char *to = self->names;
    for (int64_t c = 0; c < self->columns; c++) {
        strcpy(to, self->line.cell[c]);
        to += strlen(to) + 1;
    }
    return IKT_OK;
}

/* A first line whose only text is in the label column is no header but data. */
static void reconsider_header(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    double value;
    if (!self->header || !options->label_column[0]) return;
    self->header = false;
    int64_t label = find_column(self, options->label_column, strlen(options->label_column));
    const char *name = self->names;
    for (int64_t c = 0; c < self->columns; c++, name += strlen(name) + 1)
        if (c != label && !ikt_csv_number(name, &value)) self->header = true;
}

static int64_t class_place(const csv_self *self, const char *name, bool *found) {
    int64_t low = 0, high = self->classes;
    *found = false;
    while (low < high && !*found) {
        int64_t middle = (low + high) / 2;
        int order = strcmp(self->class[middle], name);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static ikt_status learn_class(ikt_reader *reader, const char *name) {
    csv_self *self = reader->self;
    bool found;
    int64_t place = class_place(self, name, &found);
    if (found) return IKT_OK;
    if (self->classes == 100000)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s: the label column holds more than 100,000 different values",
                        reader->path);
    if (self->classes == self->class_room) {
        int64_t room = self->class_room ? 2 * self->class_room : 64;
        IKT_TRY(ikt_resize(reader->ctx, &self->class, room, sizeof *self->class, "reader"));
        self->class_room = room;
    }
    char *copy = NULL;
    IKT_TRY(ikt_alloc(reader->ctx, &copy, (int64_t)strlen(name) + 1, 1, "reader"));
    strcpy(copy, name);
    memmove(self->class + place + 1, self->class + place,
            (size_t)(self->classes - place) * sizeof *self->class);
    self->class[place] = copy;
    self->classes++;
    return IKT_OK;
}

static bool is_label_number(const char *cell) {
    double value;
    return ikt_csv_number(cell, &value) && fabs(value) < 2147483648.0 && value == floor(value);
}

static ikt_status check_cells(ikt_reader *reader) {
    const csv_self *self = reader->self;
    if (self->line.cells == self->columns) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld has %lld cells; the first has %lld",
                    reader->path, (long long)self->line.number, (long long)self->line.cells,
                    (long long)self->columns);
}

/* Counts rows; learns the classes of text labels. */
static ikt_status first_pass(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    IKT_TRY(read_first(reader));
    reconsider_header(reader, options);
    IKT_TRY(choose_columns(reader, options));
    bool end = false;
    for (bool first = true; !end; first = false) {
        if (!first || self->header) IKT_TRY(ikt_csv_next(&self->line, &end));
        if (end) break;
        IKT_TRY(check_cells(reader));
        reader->n++;
        if (self->label >= 0) {
            const char *cell = self->line.cell[self->label];
            self->text_labels |= !is_label_number(cell);
            IKT_TRY(learn_class(reader, cell));
        }
    }
    return IKT_OK;
}

/* "a\nb\n": the names in the order of their numbers. */
static ikt_status list_classes(ikt_reader *reader) {
    csv_self *self = reader->self;
    int64_t length = 1;
    if (!self->text_labels) return IKT_OK;
    for (int64_t c = 0; c < self->classes; c++)
        length += (int64_t)strlen(self->class[c]) + 1;
    IKT_TRY(ikt_alloc(reader->ctx, &reader->classes, length, 1, "reader"));
    char *to = reader->classes;
    for (int64_t c = 0; c < self->classes; c++)
        to += sprintf(to, "%s\n", self->class[c]);
    return IKT_OK;
}

static ikt_status csv_open(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    reader->type = IKT_TYPE_F64;
    self->line =
        (ikt_csv_line){.ctx = reader->ctx, .path = reader->path, .delimiter = options->delimiter};
    IKT_TRY(ikt_csv_open(&self->line));
    IKT_TRY(first_pass(reader, options));
    IKT_TRY(list_classes(reader));
    ikt_csv_close(&self->line);
    IKT_TRY(ikt_csv_open(&self->line));
    bool end;
    return self->header ? ikt_csv_next(&self->line, &end) : IKT_OK;
}

static ikt_status bad_cell(ikt_reader *reader, int64_t column, const char *what) {
    const csv_self *self = reader->self;
    const char *name = heading(self, column), *cell = self->line.cell[column];
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld, column %lld%s%.60s%s: %s%.60s%s%s",
                    reader->path, (long long)self->line.number, (long long)column + 1,
                    *name ? " ('" : "", name, *name ? "')" : "", *cell ? "'" : "", cell,
                    *cell ? "'" : "", what);
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

static int32_t label_of(const csv_self *self) {
    const char *cell = self->line.cell[self->label];
    bool found;
    if (self->text_labels) return (int32_t)class_place(self, cell, &found);
    return (int32_t)strtod(cell, NULL);
}

static ikt_status csv_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    csv_self *self = reader->self;
    double *row = rows;
    bool end;
    for (int64_t i = 0; i < count; i++, row += reader->d) {
        IKT_TRY(ikt_csv_next(&self->line, &end));
        if (end)
            return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s became shorter while it was read",
                            reader->path);
        IKT_TRY(check_cells(reader));
        IKT_TRY(read_row(reader, row));
        if (labels) labels[i] = label_of(self);
    }
    return IKT_OK;
}

static void csv_close(ikt_reader *reader) {
    csv_self *self = reader->self;
    if (!self) return;
    ikt_csv_free(&self->line);
    for (int64_t c = 0; c < self->classes; c++)
        ikt_free(&self->class[c]);
    ikt_free(&self->class);
    ikt_free(&self->skip);
    ikt_free(&self->names);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_csv = {"CSV", csv_probe, csv_open, csv_read, csv_close};
