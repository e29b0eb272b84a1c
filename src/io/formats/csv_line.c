/* Records of delimited text, split into cells. See csv_line.h. */
#include "io/formats/csv_line.h"

#include <string.h>

#include "base/memory.h"
#include "io/numbers/decimal.h"

static const int64_t record_most = (int64_t)1 << 26;

ikt_status ikt_csv_open(ikt_csv_line *line) {
    line->lines.ctx = line->ctx;
    line->lines.path = line->path;
    line->lines.end = INT64_MAX;
    return ikt_text_lines_open(&line->lines);
}

void ikt_csv_close(ikt_csv_line *line) {
    ikt_text_lines_close(&line->lines);
}

void ikt_csv_free(ikt_csv_line *line) {
    ikt_text_lines_free(&line->lines);
    ikt_free(&line->text);
    ikt_free(&line->cell);
}

bool ikt_csv_number(const char *cell, double *value) {
    const char *end;
    return ikt_decimal(cell, &end, value) && *end == '\0';
}

char ikt_csv_detect(const char *text) {
    static const char candidates[] = "\t;,";
    for (const char *c = candidates; *c; c++) {
        bool quoted = false;
        for (const char *at = text; *at; at++) {
            if (*at == '"') quoted = !quoted;
            if (*at == *c && !quoted) return *c;
        }
    }
    return ' ';
}

static ikt_status add_cell(ikt_csv_line *line, char *cell) {
    if (line->cells == line->cell_room) {
        int64_t room = line->cell_room ? 2 * line->cell_room : 64;
        IKT_TRY(ikt_resize(line->ctx, &line->cell, room, sizeof *line->cell, "reader"));
        line->cell_room = room;
    }
    line->cell[line->cells++] = cell;
    return IKT_OK;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Whether the character ends a cell. */
static bool is_end(char c, char delimiter) {
    return c == '\0' || (delimiter == ' ' ? is_blank(c) : c == delimiter);
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

static void take_plain(char **at, char delimiter, char **end_of_cell) {
    char *start = *at;
    while (!is_end(**at, delimiter))
        ++*at;
    *end_of_cell = *at;
    while (*end_of_cell > start && is_blank((*end_of_cell)[-1]))
        --*end_of_cell;
}

static ikt_status split(ikt_csv_line *line, char *at) {
    const char delimiter = line->delimiter;
    line->cells = 0;
    for (;;) {
        while (is_blank(*at) && (delimiter == ' ' || *at != delimiter))
            at++;
        if (*at == '\0' && delimiter == ' ') return IKT_OK; /* blanks at the end of the line */
        char *cell = at, *end = NULL;
        if (*at == '"') {
            if (!take_quoted(&at, delimiter, &end))
                return ikt_fail(line->ctx, IKT_ERR_DATA,
                                "%s, line %lld: a quote is not closed, or text follows it",
                                line->path, (long long)line->number);
        } else {
            take_plain(&at, delimiter, &end);
        }
        bool last = *at == '\0';
        *end = '\0';
        IKT_TRY(add_cell(line, cell));
        if (last) return IKT_OK;
        at++;
    }
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

static ikt_status next_line(ikt_csv_line *line, char **text, int64_t *length) {
    const ikt_status st = ikt_text_lines_next(&line->lines, text, length);
    if (line->lines.fault.status == IKT_OK) return st;
    return ikt_text_fault_report(line->ctx, line->path, &line->lines.fault, 0);
}

/* Appends a line, and a line break before it, to the `length` bytes of line->text. */
static ikt_status append(ikt_csv_line *line, int64_t *length, const char *more, int64_t bytes) {
    const int64_t all = *length + bytes + 2;
    if (all > record_most)
        return ikt_fail(line->ctx, IKT_ERR_DATA,
                        "%s, line %lld: a quote is not closed within 64 MiB", line->path,
                        (long long)line->number);
    if (all > line->room) {
        IKT_TRY(ikt_resize(line->ctx, &line->text, 2 * all, 1, "reader"));
        line->room = 2 * all;
    }
    if (*length > 0) line->text[(*length)++] = '\n';
    memcpy(line->text + *length, more, (size_t)bytes + 1);
    *length += bytes;
    return IKT_OK;
}

/* Joins the lines that follow to *text for as long as a quote is open. At the end of the file it
 * stays so, which splitting finds. */
static ikt_status join(ikt_csv_line *line, char **text, int64_t bytes) {
    quotes q = {false, true};
    char *more = *text;
    int64_t length = 0;
    if (!memchr(*text, '"', (size_t)bytes)) return IKT_OK;
    look_through(&q, more, line->delimiter);
    while (q.quoted && more) {
        IKT_TRY(append(line, &length, more, bytes));
        IKT_TRY(next_line(line, &more, &bytes));
        if (more) look_through(&q, more, line->delimiter);
    }
    if (length == 0) return IKT_OK;
    if (more) IKT_TRY(append(line, &length, more, bytes));
    *text = line->text;
    return IKT_OK;
}

ikt_status ikt_csv_next(ikt_csv_line *line, bool *end) {
    char *text;
    int64_t bytes = 0;
    do {
        IKT_TRY(next_line(line, &text, &bytes));
        *end = text == NULL;
        if (*end) return IKT_OK;
    } while (text[strspn(text, " \t")] == '\0');
    line->number = line->lines.number;
    IKT_TRY(join(line, &text, bytes));
    if (line->delimiter == 0) line->delimiter = ikt_csv_detect(text);
    return split(line, text);
}

ikt_status ikt_csv_next_again(ikt_csv_line *line) {
    bool end;
    IKT_TRY(ikt_csv_next(line, &end));
    if (!end) return IKT_OK;
    return ikt_fail(line->ctx, IKT_ERR_FILE, "%s became shorter while it was read", line->path);
}
