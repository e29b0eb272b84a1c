/* The records of delimited text. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <string.h>

#include "base/memory.h"

static const int64_t record_most = (int64_t)1 << 26;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Whether the character ends a cell. */
static bool is_end(char c, char delimiter) {
    return c == '\0' || (delimiter == ' ' ? is_blank(c) : c == delimiter);
}

static bool is_empty(const char *line) {
    return line[strspn(line, " \t")] == '\0';
}

int64_t ikt_csv_line(const ikt_csv_records *r) {
    return r->before + r->number;
}

/* --- cells ------------------------------------------------------------------------------------ */

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

static ikt_status split(ikt_csv_records *r, char *at) {
    const char delimiter = r->delimiter;
    bool last = false;
    for (r->cells = 0; !last; at++) {
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
            return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                            "%s, line %lld: a quote is not closed, or text follows it",
                            r->lines.path, (long long)ikt_csv_line(r));
        }
        last = *at == '\0';
        *end = '\0';
        if (r->cells == r->cell_capacity) {
            const int64_t more = r->cell_capacity ? 2 * r->cell_capacity : 64;
            IKT_TRY(ikt_resize(r->lines.ctx, &r->cell, more, sizeof *r->cell, "reader"));
            r->cell_capacity = more;
        }
        r->cell[r->cells++] = cell;
    }
    return IKT_OK;
}

/* --- records ---------------------------------------------------------------------------------- */

/* How far a record has been looked through for quotes that its end leaves open. */
typedef struct {
    bool quoted, start; /* within quotes; where a cell may begin */
} quotes;

static const quotes outside = {false, true}, inside = {true, false};

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

static ikt_status next_line(ikt_csv_records *r, char **text, int64_t *length) {
    const ikt_status st = ikt_text_lines_next(&r->lines, text, length);
    if (r->lines.fault.status == IKT_OK) return st;
    return ikt_text_lines_report(&r->lines, r->before);
}

/* Appends a line, and a line break before it, to the `length` bytes of r->text. */
static ikt_status append(ikt_csv_records *r, int64_t *length, const char *more, int64_t bytes) {
    const int64_t all = *length + bytes + 2;
    if (all > record_most)
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                        "%s, line %lld: a quote is not closed within 64 MiB", r->lines.path,
                        (long long)ikt_csv_line(r));
    if (all > r->capacity) {
        IKT_TRY(ikt_resize(r->lines.ctx, &r->text, 2 * all, 1, "reader"));
        r->capacity = 2 * all;
    }
    if (*length > 0) r->text[(*length)++] = '\n';
    memcpy(r->text + *length, more, (size_t)bytes + 1);
    *length += bytes;
    return IKT_OK;
}

/* Joins the lines that follow to *text for as long as a quote is open, those behind the range among
 * them. At the end of the file it stays so, which splitting finds. */
static ikt_status join(ikt_csv_records *r, char **text, int64_t bytes) {
    const int64_t range_end = r->lines.end;
    quotes q = outside;
    char *more = *text;
    int64_t length = 0;
    ikt_status st = IKT_OK;
    if (!memchr(*text, '"', (size_t)bytes)) return IKT_OK;
    look_through(&q, more, r->delimiter);
    r->lines.end = INT64_MAX;
    while (st == IKT_OK && q.quoted && more) {
        st = append(r, &length, more, bytes);
        if (st == IKT_OK) st = next_line(r, &more, &bytes);
        if (st == IKT_OK && more) look_through(&q, more, r->delimiter);
    }
    r->lines.end = range_end;
    IKT_TRY(st);
    if (length == 0) return IKT_OK;
    if (more) IKT_TRY(append(r, &length, more, bytes));
    *text = r->text;
    return IKT_OK;
}

ikt_status ikt_csv_begin(ikt_csv_records *r) {
    quotes q = r->is_inside ? inside : outside;
    char *text = "";
    int64_t bytes;
    const ikt_status st = ikt_text_lines_open(&r->lines);
    if (r->lines.fault.status != IKT_OK) return ikt_text_lines_report(&r->lines, r->before);
    IKT_TRY(st);
    while (q.quoted && text) {
        IKT_TRY(next_line(r, &text, &bytes));
        if (text) look_through(&q, text, r->delimiter);
    }
    return IKT_OK;
}

ikt_status ikt_csv_next(ikt_csv_records *r, bool *end) {
    char *text;
    int64_t bytes = 0;
    do {
        IKT_TRY(next_line(r, &text, &bytes));
        *end = text == NULL;
        if (*end) return IKT_OK;
    } while (is_empty(text));
    r->number = r->lines.number;
    IKT_TRY(join(r, &text, bytes));
    if (r->delimiter == 0) r->delimiter = detect_delimiter(text);
    return split(r, text);
}

ikt_status ikt_csv_survey(ikt_csv_records *r, ikt_csv_passage passage[2]) {
    quotes q[2] = {outside, inside};
    char *text;
    int64_t bytes = 0;
    passage[0] = passage[1] = (ikt_csv_passage){false, 0};
    IKT_TRY(ikt_text_lines_open(&r->lines));
    for (;;) {
        IKT_TRY(ikt_text_lines_next(&r->lines, &text, &bytes));
        if (!text) break;
        const bool has_quotes = memchr(text, '"', (size_t)bytes) != NULL;
        for (int way = 0; way < 2; way++) {
            if (!q[way].quoted && is_empty(text)) continue;
            passage[way].records += !q[way].quoted;
            if (!q[way].quoted) q[way] = outside;
            if (has_quotes) look_through(&q[way], text, r->delimiter);
        }
    }
    for (int way = 0; way < 2; way++)
        passage[way].ends_inside = q[way].quoted;
    return IKT_OK;
}

void ikt_csv_free(ikt_csv_records *r) {
    ikt_text_lines_free(&r->lines);
    ikt_free(&r->text);
    ikt_free(&r->cell);
}
