/* Delimited text, gzipped or not: two passes, one to count rows and learn classes, one to read
 * numbers.
 *
 * Method: a record is a line, cut into cells and unquoted where it stands; where a quoted cell has
 * line breaks, it is as many lines as that takes, copied together. Cells may be quoted ("a, b",
 * with "" for a quote); blanks around cells, empty lines and a byte order mark are dropped. Lines
 * end with line feed, return, or both.
 * Advantage: any size in the memory of a block and of the longest record. Disadvantage: the file is
 * read twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/formats/class_labels.h"
#include "io/formats/csv_texts.h"
#include "io/formats/reader.h"
#include "io/formats/text_lines.h"
#include "io/numbers/decimal.h"

static const int64_t record_most = (int64_t)1 << 26;

typedef struct {
    ikt_text_lines lines;
    char delimiter; /* ' ' stands for any run of blanks and tabs; 0: not known yet */
    int64_t number; /* of the line that the record begins in, from 1 */
    char *text;     /* [capacity] a record of several lines */
    int64_t capacity;
    char **cell; /* [cells], until the next record */
    int64_t cells, cell_capacity;
    bool header;
    int64_t columns; /* cells of the first record */
    int64_t label;   /* column of the labels, or -1 */
    bool *skip;      /* [columns] not part of the rows: skipped, or the labels */
    char *names;     /* cells of the first line, each with its zero */
    ikt_text_labels labels;
} csv_self;

static bool csv_probe(const unsigned char *head, int64_t bytes) {
    for (int64_t b = 0; b < bytes; b++)
        if (head[b] < 9 || (head[b] > 13 && head[b] < 32)) return false;
    return true;
}

/* --- records and their cells ------------------------------------------------------------------ */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Whether the character ends a cell. */
static bool is_end(char c, char delimiter) {
    return c == '\0' || (delimiter == ' ' ? is_blank(c) : c == delimiter);
}

/* The first of tab, semicolon, comma that the text holds outside quotes, else blanks. */
static char detect_delimiter(const char *text) {
    for (const char *c = "\t;,"; *c; c++) {
        bool quoted = false;
        for (const char *at = text; *at; at++) {
            if (*at == '"') quoted = !quoted;
            if (*at == *c && !quoted) return *c;
        }
    }
    return ' ';
}

/* Moves a quoted cell to its unquoted form in place: writing never overtakes reading. Leaves *at on
 * the delimiter or the end. False where no quote closes or more follows it. */
static bool take_quoted(char **at, char delimiter, char **end_of_cell) {
    char *from = *at + 1, *to = *at;
    for (; *from != '"' || from[1] == '"'; from++) {
        if (*from == '\0') return false;
        if (*from == '"') from++; /* "" is a quote within */
        *to++ = *from;
    }
    from++;
    while (is_blank(*from) && !is_end(*from, delimiter))
        from++;
    *at = from;
    *end_of_cell = to;
    return is_end(*from, delimiter);
}

static ikt_status split(ikt_reader *reader, char *at) {
    csv_self *self = reader->self;
    const char delimiter = self->delimiter;
    bool last = false;
    for (self->cells = 0; !last; at++) {
        while (is_blank(*at) && (delimiter == ' ' || *at != delimiter))
            at++;
        if (*at == '\0' && delimiter == ' ') return IKT_OK; /* blanks at the end of the line */
        char *cell = at, *end = NULL;
        if (*at != '"') {
            while (!is_end(*at, delimiter))
                at++;
            for (end = at; end > cell && is_blank(end[-1]);)
                end--;
        } else if (!take_quoted(&at, delimiter, &end)) {
            return ikt_fail(reader->ctx, IKT_ERR_DATA,
                            "%s, line %lld: a quote is not closed, or text follows it",
                            reader->path, (long long)self->number);
        }
        last = *at == '\0';
        *end = '\0';
        if (self->cells == self->cell_capacity) {
            const int64_t more = self->cell_capacity ? 2 * self->cell_capacity : 64;
            IKT_TRY(ikt_resize(reader->ctx, &self->cell, more, sizeof *self->cell, "reader"));
            self->cell_capacity = more;
        }
        self->cell[self->cells++] = cell;
    }
    return IKT_OK;
}

/* How far a record has been looked through for quotes that its end leaves open. */
typedef struct {
    bool quoted, start; /* within quotes; where a cell may begin */
} quotes;

/* Goes on through a line. While the delimiter is not known, every quote counts. */
static void look_through(quotes *q, const char *at, char delimiter) {
    for (; *at; at++) {
        if (q->quoted) {
            if (*at != '"') continue;
            if (at[1] == '"')
                at++;
            else
                q->quoted = q->start = false;
        } else if (*at == '"' && (q->start || delimiter == 0)) {
            q->quoted = true;
        } else if (delimiter != 0 && is_end(*at, delimiter)) {
            q->start = true;
        } else if (!is_blank(*at)) {
            q->start = false;
        }
    }
}

static ikt_status next_line(ikt_reader *reader, char **text, int64_t *length) {
    csv_self *self = reader->self;
    const ikt_status st = ikt_text_lines_next(&self->lines, text, length);
    if (self->lines.fault.status == IKT_OK) return st;
    return ikt_text_lines_report(&self->lines, 0);
}

/* Appends a line, and a line break before it, to the `length` bytes of self->text. */
static ikt_status append(ikt_reader *reader, int64_t *length, const char *more, int64_t bytes) {
    csv_self *self = reader->self;
    const int64_t all = *length + bytes + 2;
    if (all > record_most)
        return ikt_fail(reader->ctx, IKT_ERR_DATA,
                        "%s, line %lld: a quote is not closed within 64 MiB", reader->path,
                        (long long)self->number);
    if (all > self->capacity) {
        IKT_TRY(ikt_resize(reader->ctx, &self->text, 2 * all, 1, "reader"));
        self->capacity = 2 * all;
    }
    if (*length > 0) self->text[(*length)++] = '\n';
    memcpy(self->text + *length, more, (size_t)bytes + 1);
    *length += bytes;
    return IKT_OK;
}

/* Joins the lines that follow to *text for as long as a quote is open. At the end of the file it
 * stays so, which splitting finds. */
static ikt_status join(ikt_reader *reader, char **text, int64_t bytes) {
    csv_self *self = reader->self;
    quotes q = {false, true};
    char *more = *text;
    int64_t length = 0;
    if (!memchr(*text, '"', (size_t)bytes)) return IKT_OK;
    look_through(&q, more, self->delimiter);
    while (q.quoted && more) {
        IKT_TRY(append(reader, &length, more, bytes));
        IKT_TRY(next_line(reader, &more, &bytes));
        if (more) look_through(&q, more, self->delimiter);
    }
    if (length == 0) return IKT_OK;
    if (more) IKT_TRY(append(reader, &length, more, bytes));
    *text = self->text;
    return IKT_OK;
}

/* The next record that is not an empty line, as cells; *end at the end of the file. */
static ikt_status next_record(ikt_reader *reader, bool *end) {
    csv_self *self = reader->self;
    char *text;
    int64_t bytes = 0;
    do {
        IKT_TRY(next_line(reader, &text, &bytes));
        *end = text == NULL;
        if (*end) return IKT_OK;
    } while (text[strspn(text, " \t")] == '\0');
    self->number = self->lines.number;
    IKT_TRY(join(reader, &text, bytes));
    if (self->delimiter == 0) self->delimiter = detect_delimiter(text);
    return split(reader, text);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Heading of a column, or "" where there is none. */
static const char *heading(const csv_self *self, int64_t column) {
    const char *name = self->names;
    while (self->header && column-- > 0)
        name += strlen(name) + 1;
    return self->header ? name : "";
}

/* The column of a heading or number (from 1) becomes no part of the rows. *column = -1 where there
 * is none, which is an error if `strict`. */
static ikt_status leave_out(ikt_reader *reader, const char *name, size_t length, bool strict,
                            int64_t *column) {
    csv_self *self = reader->self;
    const char *own = self->names;
    char *end;
    *column = -1;
    for (int64_t c = 0; c < self->columns && self->header && *column < 0; c++) {
        if (strlen(own) == length && strncmp(own, name, length) == 0) *column = c;
        own += strlen(own) + 1;
    }
    const long long number = strtoll(name, &end, 10);
    if (*column < 0 && end == name + length && number >= 1 && number <= self->columns)
        *column = number - 1;
    if (*column >= 0) self->skip[*column] = true;
    if (*column >= 0 || !strict) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                    "%s has no column '%.*s'; it has %lld, numbered from 1%s%.60s%s", reader->path,
                    (int)length, name, (long long)self->columns,
                    self->header ? ", the first named '" : " and without names", heading(self, 0),
                    self->header ? "'" : "");
}

/* Finds the columns that are labels or skipped. Names that are not found are errors if `strict`. */
static ikt_status choose_columns(ikt_reader *reader, const ikt_reader_options *options,
                                 bool strict) {
    csv_self *self = reader->self;
    const char *label = options->label_column;
    int64_t column;
    memset(self->skip, 0, (size_t)self->columns * sizeof *self->skip);
    self->label = -1;
    if (ikt_is_given(label)) IKT_TRY(leave_out(reader, label, strlen(label), strict, &self->label));
    for (const char *at = options->skip_columns; ikt_is_given(at);) {
        const size_t length = strcspn(at, ",");
        IKT_TRY(leave_out(reader, at, length, strict, &column));
        at += length + (at[length] == ',');
    }
    return IKT_OK;
}

/* The first record tells the columns, and perhaps their names: it is a header where a cell is a
 * text. Columns given by number (names are not known yet) are no evidence: their data may be text.
 */
static ikt_status read_first(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    int64_t length = 1;
    double value;
    bool end;
    IKT_TRY(next_record(reader, &end));
    if (end) return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s is empty", reader->path);
    self->columns = self->cells;
    for (int64_t c = 0; c < self->columns; c++)
        length += (int64_t)strlen(self->cell[c]) + 1;
    IKT_TRY(ikt_alloc(reader->ctx, &self->skip, self->columns, sizeof *self->skip, "reader"));
    IKT_TRY(ikt_alloc(reader->ctx, &self->names, length, 1, "reader"));
    char *to = self->names;
    for (int64_t c = 0; c < self->columns; c++) {
        strcpy(to, self->cell[c]);
        to += strlen(to) + 1;
    }
    self->header = options->header == IKT_HEADER_YES;
    if (options->header == IKT_HEADER_AUTO) {
        IKT_TRY(choose_columns(reader, options, false));
        for (int64_t c = 0; c < self->columns; c++)
            self->header |=
                !self->skip[c] && self->cell[c][0] && !ikt_decimal_whole(self->cell[c], &value);
    }
    IKT_TRY(choose_columns(reader, options, true));
    for (int64_t c = 0; c < self->columns; c++)
        reader->d += !self->skip[c];
    reader->labels = self->label >= 0;
    return IKT_OK;
}

/* --- the two passes --------------------------------------------------------------------------- */

static ikt_status check_cells(ikt_reader *reader) {
    const csv_self *self = reader->self;
    if (self->cells == self->columns) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld has %lld cells; the first has %lld",
                    reader->path, (long long)self->number, (long long)self->cells,
                    (long long)self->columns);
}

/* "file.csv, line 12, column 5 ('Genotype'): 'abc' is not a number ..." */
static ikt_status bad_cell(ikt_reader *reader, int64_t column, const char *what) {
    const csv_self *self = reader->self;
    const char *name = heading(self, column), *cell = self->cell[column];
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld, column %lld%s%.60s%s: %s%.60s%s%s",
                    reader->path, (long long)self->number, (long long)column + 1,
                    *name ? " ('" : "", name, *name ? "')" : "", *cell ? "'" : "", cell,
                    *cell ? "'" : "", what);
}

/* The first pass counts rows and learns the classes of text labels. */
static ikt_status csv_open(ikt_reader *reader, const ikt_reader_options *options) {
    csv_self *self = reader->self;
    bool end = false;
    reader->type = IKT_TYPE_F64;
    self->delimiter = options->delimiter;
    self->lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    IKT_TRY(ikt_text_lines_open(&self->lines));
    IKT_TRY(read_first(reader, options));
    if (self->header) IKT_TRY(next_record(reader, &end));
    while (!end) {
        IKT_TRY(check_cells(reader));
        const char *cell = self->label >= 0 ? self->cell[self->label] : NULL;
        if (cell && !*cell) return bad_cell(reader, self->label, "the label is missing");
        if (cell && strchr(cell, '\n'))
            return bad_cell(reader, self->label, " is a label of several lines");
        if (cell) IKT_TRY(ikt_text_labels_learn(reader->ctx, &self->labels, cell));
        reader->n++;
        IKT_TRY(next_record(reader, &end));
    }
    IKT_TRY(ikt_text_labels_list(reader->ctx, reader->path, &self->labels, &reader->classes));
    IKT_TRY(ikt_text_lines_open(&self->lines));
    return self->header ? next_record(reader, &end) : IKT_OK;
}

static ikt_status read_row(ikt_reader *reader, double *row) {
    csv_self *self = reader->self;
    for (int64_t c = 0; c < self->columns; c++) {
        if (self->skip[c]) continue;
        const char *cell = self->cell[c];
        if (!*cell)
            return bad_cell(reader, c,
                            "the cell is empty; fill it, or leave the column out with "
                            "--skip-columns");
        if (!ikt_decimal_whole(cell, row))
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
    bool end;
    for (int64_t i = 0; i < count; i++, row += reader->d) {
        IKT_TRY(next_record(reader, &end));
        if (end)
            return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s became shorter while it was read",
                            reader->path);
        IKT_TRY(check_cells(reader));
        IKT_TRY(read_row(reader, row));
        if (labels) labels[i] = ikt_text_labels_number(&self->labels, self->cell[self->label]);
    }
    return IKT_OK;
}

static void csv_close(ikt_reader *reader) {
    csv_self *self = reader->self;
    ikt_text_lines_free(&self->lines);
    ikt_text_labels_free(&self->labels);
    ikt_free(&self->text);
    ikt_free(&self->cell);
    ikt_free(&self->skip);
    ikt_free(&self->names);
}

const ikt_reader_ops ikt_reader_csv = {.name = "CSV",
                                       .self_bytes = sizeof(csv_self),
                                       .probe = csv_probe,
                                       .open = csv_open,
                                       .read = csv_read,
                                       .close = csv_close};

/* --- a column as texts ------------------------------------------------------------------------ */

static ikt_status visit_records(ikt_reader *reader, const char *column, ikt_csv_visitor *visit,
                                void *visitor) {
    const ikt_reader_options options = {.label_column = column};
    csv_self *self = reader->self;
    bool end = false;
    self->lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    IKT_TRY(ikt_text_lines_open(&self->lines));
    IKT_TRY(read_first(reader, &options));
    if (self->header) IKT_TRY(next_record(reader, &end));
    for (int64_t row = 0; !end; row++) {
        IKT_TRY(check_cells(reader));
        IKT_TRY(visit(visitor, row, self->cell[self->label]));
        IKT_TRY(next_record(reader, &end));
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
