/* Lines of delimited text, split into cells. */
#include "io/csv_line.h"

#include <string.h>

#include "base/memory.h"
#include "io/decimal.h"
#include "io/gz.h"

static const int64_t line_most = (int64_t)1 << 26;
enum { buffer_bytes = 1 << 16 };

ikt_status ikt_csv_open(ikt_csv_line *line) {
    line->number = 0;
    line->at = line->filled = 0;
    line->after_return = false;
    if (!line->buffer) IKT_TRY(ikt_alloc(line->ctx, &line->buffer, buffer_bytes, 1, "reader"));
    return ikt_gz_open(line->ctx, line->path, &line->file);
}

void ikt_csv_close(ikt_csv_line *line) {
    if (line->file) gzclose(line->file);
    line->file = NULL;
}

void ikt_csv_free(ikt_csv_line *line) {
    ikt_csv_close(line);
    ikt_free(&line->buffer);
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

static ikt_status make_room(ikt_csv_line *line, int64_t bytes) {
    int64_t room = line->room ? line->room : 4096;
    if (bytes > line_most)
        return ikt_fail(line->ctx, IKT_ERR_DATA, "%s, line %lld: longer than 64 MiB", line->path,
                        (long long)line->number);
    if (bytes <= line->room) return IKT_OK;
    while (room < bytes)
        room *= 2;
    IKT_TRY(ikt_resize(line->ctx, &line->text, room, 1, "reader"));
    line->room = room;
    return IKT_OK;
}

/* Fills the empty buffer; *end at the end of the file. */
static ikt_status fill(ikt_csv_line *line, bool *end) {
    int error = Z_OK;
    line->at = 0;
    line->filled = gzread(line->file, line->buffer, buffer_bytes);
    *end = line->filled <= 0;
    if (!*end) return IKT_OK;
    line->filled = 0;
    IKT_TRY(ikt_gz_check(line->ctx, line->path, line->file));
    (void)gzerror(line->file, &error);
    if (error != Z_BUF_ERROR) return IKT_OK;
    return ikt_fail(line->ctx, IKT_ERR_FILE, "%s is truncated: it ends in line %lld", line->path,
                    (long long)line->number);
}

/* Whether the byte at line->at ends the line; takes it then. A return and a line feed behind it
 * are one end. */
static bool take_end(ikt_csv_line *line) {
    char c = line->buffer[line->at];
    if (c != '\n' && c != '\r') return false;
    line->at++;
    line->after_return = c == '\r';
    return true;
}

/* Appends the bytes of the buffer before the next end or zero to the line. */
static ikt_status take_bytes(ikt_csv_line *line, int64_t *length) {
    const char *from = line->buffer + line->at;
    int count = 0, most = line->filled - line->at;
    while (count < most && from[count] != '\n' && from[count] != '\r' && from[count] != '\0')
        count++;
    IKT_TRY(make_room(line, *length + count + 1));
    memcpy(line->text + *length, from, (size_t)count);
    *length += count;
    line->at += count;
    if (count == most || line->buffer[line->at] != '\0') return IKT_OK;
    return ikt_fail(line->ctx, IKT_ERR_DATA, "%s, line %lld: holds a zero byte; not text?",
                    line->path, (long long)line->number);
}

/* One line without its end and without a byte order mark; *end when nothing is left. */
static ikt_status read_text(ikt_csv_line *line, bool *end) {
    static const char mark[] = "\xEF\xBB\xBF";
    int64_t length = 0;
    bool file_end = false, line_end = false;
    line->number++;
    while (!line_end && !file_end) {
        if (line->at == line->filled) IKT_TRY(fill(line, &file_end));
        if (file_end) break;
        if (line->after_return && line->buffer[line->at] == '\n') line->at++;
        line->after_return = false;
        IKT_TRY(take_bytes(line, &length));
        line_end = line->at < line->filled && take_end(line);
    }
    *end = file_end && length == 0;
    IKT_TRY(make_room(line, length + 1));
    line->text[length] = '\0';
    if (line->number == 1 && strncmp(line->text, mark, 3) == 0)
        memmove(line->text, line->text + 3, (size_t)length - 2);
    return IKT_OK;
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

static ikt_status split(ikt_csv_line *line) {
    char *at = line->text, delimiter = line->delimiter;
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

static void cut_comment(ikt_csv_line *line) {
    char *comment = line->comment ? strchr(line->text, line->comment) : NULL;
    if (comment) *comment = '\0';
}

ikt_status ikt_csv_next(ikt_csv_line *line, bool *end) {
    do {
        IKT_TRY(read_text(line, end));
        if (*end) return IKT_OK;
        cut_comment(line);
    } while (line->text[strspn(line->text, " \t")] == '\0');
    if (line->delimiter == 0) line->delimiter = ikt_csv_detect(line->text);
    return split(line);
}

ikt_status ikt_csv_next_again(ikt_csv_line *line) {
    bool end;
    IKT_TRY(ikt_csv_next(line, &end));
    if (!end) return IKT_OK;
    return ikt_fail(line->ctx, IKT_ERR_FILE, "%s became shorter while it was read", line->path);
}
