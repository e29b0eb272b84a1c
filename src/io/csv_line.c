/* Lines of delimited text, split into cells. */
#include "io/csv_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const int64_t line_most = (int64_t)1 << 26;

ikt_status ikt_csv_open(ikt_csv_line *line) {
    line->number = 0;
    line->file = gzopen(line->path, "rb");
    if (line->file) return IKT_OK;
    return ikt_fail(line->ctx, IKT_ERR_FILE, "%s cannot be read: %s", line->path, strerror(errno));
}

void ikt_csv_close(ikt_csv_line *line) {
    if (line->file) gzclose(line->file);
    line->file = NULL;
}

void ikt_csv_free(ikt_csv_line *line) {
    ikt_csv_close(line);
    ikt_free(&line->text);
    ikt_free(&line->cell);
}

bool ikt_csv_number(const char *cell, double *value) {
    char *end;
    *value = strtod(cell, &end);
    return end != cell && *end == '\0' && !strpbrk(cell, "xX(");
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

/* One line without its end; *end when nothing is left. */
static ikt_status read_text(ikt_csv_line *line, bool *end) {
    int64_t length = 0;
    *end = false;
    for (;;) {
        if (length + 2 > line->room) {
            int64_t room = line->room ? 2 * line->room : 4096;
            if (room > line_most)
                return ikt_fail(line->ctx, IKT_ERR_DATA, "%s, line %lld: longer than 64 MiB",
                                line->path, (long long)line->number + 1);
            IKT_TRY(ikt_resize(line->ctx, &line->text, room, 1, "reader"));
            line->room = room;
        }
        if (!gzgets(line->file, line->text + length, (int)(line->room - length))) break;
        length += (int64_t)strlen(line->text + length);
        if (length > 0 && line->text[length - 1] == '\n') break;
    }
    int error = Z_OK;
    const char *reason = gzerror(line->file, &error);
    if (error != Z_OK && error != Z_STREAM_END)
        return ikt_fail(line->ctx, IKT_ERR_FILE, "%s, line %lld: cannot be read: %s", line->path,
                        (long long)line->number + 1, error == Z_ERRNO ? strerror(errno) : reason);
    *end = length == 0;
    line->number++;
    while (length > 0 && strchr("\r\n", line->text[length - 1]))
        length--;
    line->text[length] = '\0';
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
 * the delimiter or the end. False where no quote closes. */
static bool take_quoted(char **at, char delimiter, char **end_of_cell) {
    char *from = *at + 1, *to = *at;
    for (; *from != '"' || from[1] == '"'; from++) {
        if (*from == '\0') return false;
        if (*from == '"') from++; /* "" is a quote within */
        *to++ = *from;
    }
    from++;
    while (!is_end(*from, delimiter))
        from++; /* blanks, or junk behind the quote */
    *at = from;
    *end_of_cell = to;
    return true;
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
                return ikt_fail(line->ctx, IKT_ERR_DATA, "%s, line %lld: a quote is not closed",
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

ikt_status ikt_csv_next(ikt_csv_line *line, bool *end) {
    do {
        IKT_TRY(read_text(line, end));
        if (*end) return IKT_OK;
    } while (line->text[strspn(line->text, " \t")] == '\0');
    if (line->delimiter == 0) line->delimiter = ikt_csv_detect(line->text);
    return split(line);
}
