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

/* Cells of a line by its delimiters outside quotes; *is_quoted: it leaves one open. */
static int64_t count_cells(const char *line, const ikt_csv_dialect *how, bool *is_quoted) {
    bool was_end = true;
    int64_t cells = how->delimiter != ' ';
    *is_quoted = false;
    for (const char *at = line; *at; at++) {
        const bool is_between = !*is_quoted && is_end(*at, how->delimiter);
        if (*at == '"' && !how->is_verbatim) *is_quoted = !*is_quoted;
        cells += how->delimiter == ' ' ? was_end && !is_between : is_between;
        was_end = is_between;
    }
    return cells;
}

/* Whether a line that # begins has it right before a word, as a row has: "#1,0.5". */
static bool is_mark(const char *line) {
    const char *next = line + strspn(line, " \t") + 1;
    return *next && *next != '#' && !is_blank(*next);
}

/* Such a line is none if it has as many cells as a record, or might be a faulty one. */
static bool is_comment(const char *line, const ikt_csv_dialect *how) {
    bool is_quoted;
    if (how->cells == 0 || line[strspn(line, " \t")] != '#') return false;
    const int64_t cells = count_cells(line, how, &is_quoted);
    return cells != how->cells && (!is_mark(line) || (cells < 2 && !is_quoted));
}

/* Of vectors what stands between them is no record either, of objects what ends them. */
static bool is_empty(const char *line, const ikt_csv_dialect *how) {
    return line[strspn(line, how->kind == IKT_CSV_VECTORS ? ", \t\r\n"
                             : how->kind == IKT_CSV_ARRAY ? "] \t\r\n"
                                                          : " \t")] == '\0';
}

int64_t ikt_csv_line(const ikt_csv_records *r) {
    return r->before + r->number;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* The first of tab, semicolon, comma, bar that the text holds outside quotes, else blanks. */
static char detect_delimiter(const char *text) {
    for (const char *c = "\t;,|"; *c; c++) {
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

ikt_status ikt_csv_add_cell(ikt_csv_records *r, char *cell) {
    if (r->cells == r->cell_capacity) {
        const int64_t more = r->cell_capacity ? 2 * r->cell_capacity : 64;
        IKT_TRY(ikt_resize(r->lines.ctx, &r->cell, more, sizeof *r->cell, "reader"));
        r->cell_capacity = more;
    }
    r->cell[r->cells++] = cell;
    return IKT_OK;
}

const char *ikt_csv_comma(const char *cell) {
    static const char digits[] = "0123456789";
    const char *at = cell + (*cell == '-' || *cell == '+'), *comma = at + strspn(at, digits);
    const size_t length = *comma == ',' ? strspn(comma + 1, digits) : 0;
    if (length == 0) return NULL;
    at = comma + 1 + length;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        if (!*at) return NULL;
        at += strspn(at, digits);
    }
    return *at ? NULL : comma;
}

static ikt_status split(ikt_csv_records *r, char *at) {
    const char delimiter = r->how.delimiter;
    bool last = false;
    for (r->cells = 0; !last; at++) {
        while (is_blank(*at) && (delimiter == ' ' || *at != delimiter))
            at++;
        if (*at == '\0' && delimiter == ' ') return IKT_OK; /* blanks at the end of the line */
        char *cell = at, *end = NULL;
        if (*at != '"' || r->how.is_verbatim) {
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
        IKT_TRY(ikt_csv_add_cell(r, cell));
    }
    return IKT_OK;
}

/* A vector without the bracket that ends it, which has been taken for the end of the line: "[[1, 2"
 * at the beginning of an array, ", [3, 4" within. */
static ikt_status split_vector(ikt_csv_records *r, char *text) {
    const bool is_first = r->lines.begin == 0 && r->number == 1;
    int open = 0;
    char *end = text + strlen(text);
    if (strstr(text, "..."))
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                        "%s, vector %lld: numpy has left numbers out: write x.tolist() in place of "
                        "x",
                        r->lines.path, (long long)ikt_csv_line(r));
    text += strspn(text, is_first ? " \t\r\n" : ", \t\r\n");
    for (; *text == '['; open++)
        text += 1 + strspn(text + 1, " \t\r\n");
    if (open < 1 || open > 1 + is_first)
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                        open < 1 ? "%s, vector %lld: '%.60s' stands between the brackets"
                                 : "%s, vector %lld begins a second array, or the array has more "
                                   "than two axes: '%.60s'",
                        r->lines.path, (long long)ikt_csv_line(r), text);
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\r') *at = ' ';
    while (end > text && is_blank(end[-1]))
        *--end = '\0';
    if (r->how.delimiter == ',' && end > text && end[-1] == ',')
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                        "%s, vector %lld: a comma is too many, behind the last number",
                        r->lines.path, (long long)ikt_csv_line(r));
    return split(r, text);
}

/* An object of an array, behind the bracket that begins it or a comma. */
static ikt_status split_object(ikt_csv_records *r, char *text) {
    const char *found = text + strspn(text, " \t\r\n");
    if (*found != (r->number == 1 ? '[' : ','))
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA, "%s, object %lld: '%.60s' stands before it",
                        r->lines.path, (long long)ikt_csv_line(r), found);
    return ikt_csv_cut_object(r, text + (found - text) + 1);
}

static ikt_status cut(ikt_csv_records *r, char *text) {
    return r->how.kind == IKT_CSV_VECTORS   ? split_vector(r, text)
           : r->how.kind == IKT_CSV_OBJECTS ? ikt_csv_cut_object(r, text)
           : r->how.kind == IKT_CSV_ARRAY   ? split_object(r, text)
                                            : split(r, text);
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
    if (r->how.is_verbatim || !memchr(*text, '"', (size_t)bytes)) return IKT_OK;
    look_through(&q, more, r->how.delimiter);
    r->lines.end = INT64_MAX;
    while (st == IKT_OK && q.quoted && more) {
        st = append(r, &length, more, bytes);
        if (st == IKT_OK) st = next_line(r, &more, &bytes);
        if (st == IKT_OK && more) look_through(&q, more, r->how.delimiter);
    }
    r->lines.end = range_end;
    IKT_TRY(st);
    if (length == 0) return IKT_OK;
    if (more) IKT_TRY(append(r, &length, more, bytes));
    *text = r->text;
    return IKT_OK;
}

/* What the kind of a text is cut into. */
static ikt_text_unit unit_of(ikt_csv_kind kind) {
    static const ikt_text_unit units[] = {
        [IKT_CSV_TABLE] = IKT_UNIT_LINE,   [IKT_CSV_VECTORS] = IKT_UNIT_VECTOR,
        [IKT_CSV_OBJECTS] = IKT_UNIT_LINE, [IKT_CSV_ARRAY] = IKT_UNIT_OBJECT,
        [IKT_CSV_MEMBERS] = IKT_UNIT_ROW,  [IKT_CSV_WORDS] = IKT_UNIT_ROW};
    return units[kind];
}

ikt_status ikt_csv_begin(ikt_csv_records *r, int64_t passed) {
    quotes q = r->is_inside ? inside : outside;
    char *text = "";
    int64_t bytes;
    bool end;
    r->comments = r->marks = r->number = 0;
    ikt_free(&r->comment);
    r->lines.unit = unit_of(r->how.kind);
    const ikt_status st = r->how.kind == IKT_CSV_MEMBERS ? ikt_csv_members_begin(r)
                          : r->how.kind == IKT_CSV_WORDS ? ikt_csv_words_begin(r)
                                                         : ikt_text_lines_open(&r->lines);
    if (r->lines.fault.status != IKT_OK) return ikt_text_lines_report(&r->lines, r->before);
    IKT_TRY(st);
    while (q.quoted && text) {
        IKT_TRY(next_line(r, &text, &bytes));
        if (text) look_through(&q, text, r->how.delimiter);
    }
    while (passed-- > 0)
        IKT_TRY(ikt_csv_next(r, &end));
    return IKT_OK;
}

/* Keeps the last comment before the first record: it may name the columns. */
static ikt_status keep_comment(ikt_csv_records *r, const char *text, int64_t bytes) {
    r->comments++;
    r->marks += is_mark(text);
    if (r->lines.begin > 0 || r->number > 0) return IKT_OK;
    ikt_free(&r->comment);
    IKT_TRY(ikt_alloc(r->lines.ctx, &r->comment, bytes + 1, 1, "reader"));
    strcpy(r->comment, text + strspn(text, " \t#"));
    return IKT_OK;
}

ikt_status ikt_csv_cut_comment(ikt_csv_records *r) {
    r->cells = 0;
    return r->comment ? split(r, r->comment) : IKT_OK;
}

ikt_status ikt_csv_next(ikt_csv_records *r, bool *end) {
    char *text;
    int64_t bytes = 0;
    if (r->how.kind == IKT_CSV_MEMBERS) return ikt_csv_members_next(r, end);
    if (r->how.kind == IKT_CSV_WORDS) return ikt_csv_words_next(r, end);
    for (;;) {
        IKT_TRY(next_line(r, &text, &bytes));
        *end = text == NULL;
        if (*end) return IKT_OK;
        if (is_empty(text, &r->how)) continue;
        if (!is_comment(text, &r->how)) break;
        IKT_TRY(keep_comment(r, text, bytes));
    }
    r->number = r->lines.number;
    IKT_TRY(join(r, &text, bytes));
    if (r->how.delimiter == 0) r->how.delimiter = detect_delimiter(text);
    return cut(r, text);
}

/* Of what is no lines, in which there are no quotes to be within. */
static ikt_status survey_rows(ikt_csv_records *r, ikt_csv_passage passage[2]) {
    bool end = false;
    IKT_TRY(ikt_csv_begin(r, 0));
    for (int64_t records = -1; !end; records++) {
        passage[0].records = passage[1].records = r->lines.number = records + 1;
        IKT_TRY(ikt_csv_next(r, &end));
    }
    return IKT_OK;
}

ikt_status ikt_csv_survey(ikt_csv_records *r, ikt_csv_passage passage[2]) {
    quotes q[2] = {outside, inside};
    char *text;
    int64_t bytes = 0;
    passage[0] = passage[1] = (ikt_csv_passage){false, 0};
    if (unit_of(r->how.kind) == IKT_UNIT_ROW) return survey_rows(r, passage);
    r->lines.unit = unit_of(r->how.kind);
    IKT_TRY(ikt_text_lines_open(&r->lines));
    for (;;) {
        IKT_TRY(ikt_text_lines_next(&r->lines, &text, &bytes));
        if (!text) break;
        const bool has_quotes = !r->how.is_verbatim && memchr(text, '"', (size_t)bytes) != NULL;
        const bool is_nothing = is_empty(text, &r->how) || is_comment(text, &r->how);
        for (int way = 0; way < 2; way++) {
            if (!q[way].quoted && is_nothing) continue;
            passage[way].records += !q[way].quoted;
            if (!q[way].quoted) q[way] = outside;
            if (has_quotes) look_through(&q[way], text, r->how.delimiter);
        }
    }
    for (int way = 0; way < 2; way++)
        passage[way].ends_inside = q[way].quoted;
    return IKT_OK;
}

void ikt_csv_free(ikt_csv_records *r) {
    if (r->bytes) ikt_bytes_close(r->bytes);
    ikt_text_lines_free(&r->lines);
    ikt_free_all(&r->text, &r->comment, &r->cursor, &r->bytes);
    ikt_free(&r->cell);
    r->capacity = r->cell_capacity = r->cells = r->cursors = 0;
}
