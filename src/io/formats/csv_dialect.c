/* How a text is cut into records and cells. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/context.h"
#include "io/formats/bytes.h"
#include "io/numbers/element.h"

enum { HEAD = 4096, RECORDS_MOST = 1000, RECORDS_LEAST = 20, BYTES_ENOUGH = 1 << 20 };

static const char blanks[] = " \t\r\n";

/* --- by its first signs ----------------------------------------------------------------------- */

static const char *skip(const char *at, const char *signs) {
    return at + strspn(at, signs);
}

/* Whether a text that begins with a bracket is nothing but vectors: behind the first one comes
 * another, the end of the array or of the line, but no cell of a table. */
static bool are_vectors(const char *text) {
    const char *at = skip(text, "[ \t\r\n");
    double value;
    if (!ikt_decimal(at, &at, &value)) return false;
    at = skip(at, "0123456789+-.,eE \t\r\nnulNoaIif"); /* null, None, nan, inf */
    if (*at != ']') return !*at;
    at = skip(at + 1, " \t");
    if (*at == ',') at = skip(at + 1, " \t");
    return !*at || strchr("[]\r\n", *at);
}

static void look_at_head(const char *head, ikt_csv_dialect *how) {
    const char *text = skip(strncmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head, blanks);
    const char *within = skip(text + (*text != '\0'), blanks);
    if (*text == '{' && *within == '"') {
        how->kind = IKT_CSV_OBJECTS;
        how->delimiter = ',';
        how->is_verbatim = true;
    } else if (*text == '[' && *within == '{') {
        how->kind = IKT_CSV_ARRAY;
        how->delimiter = ',';
        how->is_verbatim = true;
    } else if (*text == '[' && are_vectors(text)) {
        const char *end = strchr(text, ']');
        how->kind = IKT_CSV_VECTORS;
        how->is_verbatim = true;
        if (how->delimiter == 0)
            how->delimiter =
                memchr(text, ',', end ? (size_t)(end - text) : strlen(text)) ? ',' : ' ';
    }
}

/* The last two signs that stand for something. */
static void keep_last(const char *text, int bytes, char last[2]) {
    char found[2] = {last[0], last[1]};
    int count = 0;
    while (bytes-- > 0 && count < 2) {
        if (strchr(", \t\r\n", text[bytes])) continue;
        found[0] = count == 0 ? last[1] : text[bytes];
        if (count++ == 0) found[1] = text[bytes];
    }
    memcpy(last, found, sizeof found);
}

static ikt_status read_head(const ikt_csv_records *r, ikt_csv_dialect *how) {
    char head[HEAD + 1];
    gzFile file;
    IKT_TRY(ikt_gz_open(r->lines.ctx, r->lines.path, &file));
    int bytes = gzread(file, head, HEAD);
    head[bytes > 0 ? bytes : 0] = '\0';
    int64_t rows, columns;
    if (ikt_csv_are_words(head, bytes, &rows, &columns))
        *how = (ikt_csv_dialect){.kind = IKT_CSV_WORDS, .announced = rows, .width = columns};
    else
        look_at_head(head, how);
    const char *text = skip(head, "\xEF\xBB\xBF \t\r\n");
    const bool is_array = how->kind == IKT_CSV_VECTORS && *skip(text + 1, blanks) == '[';
    char last[2] = "";
    for (; is_array && bytes > 0; bytes = gzread(file, head, HEAD))
        keep_last(head, bytes, last);
    gzclose(file);
    if (!is_array || last[1] != ']' || last[0] == ']') return IKT_OK;
    return ikt_fail(r->lines.ctx, IKT_ERR_FILE,
                    "%s begins an array, [[, that no bracket ends: is it truncated?",
                    r->lines.path);
}

/* --- an object of columns --------------------------------------------------------------------- */

/* What the first object of a text holds, as far as it has been looked through. */
typedef struct {
    int64_t depth, deepest, members;
    int64_t closed;   /* members whose value is an array or an object */
    int64_t vectors;  /* members that are arrays of numbers and words, no texts, arrays, objects */
    bool has_number;  /* a member is a number */
    bool has_rows;    /* a member is an array of objects */
    bool has_arrays;  /* a member is an array of arrays */
    bool has_numbers; /* the array that is the member at hand holds them */
    bool has_others;  /* it holds texts, arrays or objects */
    bool is_quoted, is_escaped;
    bool is_name;  /* the text is the name of a member */
    bool is_value; /* the next sign begins the value of a member */
    bool is_alone; /* nothing follows the object */
    char value;    /* the bracket of the member at hand */
    char last;     /* sign that stands for something */
    char name[64]; /* of the member at hand, its beginning */
    char rows[64]; /* of the member that is an array of objects */
    size_t length; /* of the name */
} object;

/* A sign within quotes. */
static void look_at_text(object *o, char c) {
    if (c == '"' && !o->is_escaped) o->is_quoted = false;
    o->is_escaped = c == '\\' && !o->is_escaped;
    if (!o->is_quoted || !o->is_name || o->length + 1 >= sizeof o->name) return;
    o->name[o->length++] = c;
    o->name[o->length] = '\0';
}

/* A sign within an array that is a member, where an element of it begins. */
static void look_at_element(object *o, char c) {
    if (o->last != '[' && o->last != ',') return;
    if (c == '{' && !o->has_rows) memcpy(o->rows, o->name, sizeof o->rows);
    o->has_rows |= c == '{';
    o->has_arrays |= c == '[';
    o->has_numbers |= c == '-' || (c >= '0' && c <= '9');
    o->has_others |= c && strchr("{[\"", c);
}

static void look_at_sign(object *o, char c) {
    const bool is_blank = strchr(blanks, c) && c;
    if (o->members > 0 && o->depth == 0) {
        o->is_alone &= is_blank;
        return;
    }
    if (o->is_quoted) {
        look_at_text(o, c);
        return;
    }
    if (is_blank) return;
    const bool opens = c == '{' || c == '[';
    if (o->is_value) o->closed += opens;
    if (o->is_value) o->has_number |= c == '-' || (c >= '0' && c <= '9');
    if (opens && o->depth == 1) {
        o->value = c;
        o->has_numbers = o->has_others = false;
    }
    if (o->depth == 2 && o->value == '[') {
        look_at_element(o, c);
        o->vectors += c == ']' && o->has_numbers && !o->has_others;
    }
    o->is_value = c == ':' && o->depth == 1;
    o->members += o->is_value;
    o->is_quoted = c == '"';
    o->is_name = o->is_quoted && o->depth == 1 && o->last != ':';
    if (o->is_name) o->name[o->length = 0] = '\0';
    o->last = c;
    o->depth += opens - (c == '}' || c == ']');
    if (o->depth > o->deepest) o->deepest = o->depth;
}

/* Whether the text is one object whose members are columns. One of whose members exactly one is a
 * vector of numbers, and none an array of arrays, is a row, as it is in objects that have a line
 * each. */
static ikt_status find_members(const ikt_csv_records *r, ikt_csv_dialect *how) {
    char block[HEAD];
    object o = {.is_alone = true};
    gzFile file;
    int bytes;
    IKT_TRY(ikt_gz_open(r->lines.ctx, r->lines.path, &file));
    while (o.is_alone && (bytes = gzread(file, block, HEAD)) > 0)
        for (int b = 0; b < bytes && o.is_alone; b++)
            look_at_sign(&o, block[b]);
    gzclose(file);
    if (!o.is_alone || o.depth > 0) return IKT_OK;
    if (o.has_rows && o.vectors == 0 && !o.has_arrays && !o.has_number)
        return ikt_fail(
            r->lines.ctx, IKT_ERR_DATA,
            "%s is one JSON object with objects in its member '%s': if these are the "
            "rows, write each on a line of its own, for example by jq -c '.[\"%s\"][]'; "
            "if all of it is one row, leave them out, jq -c 'del(.[\"%s\"])'",
            r->lines.path, o.rows, o.rows, o.rows);
    const bool is_row = o.vectors == 1 && !o.has_arrays;
    if (o.closed == o.members && !is_row && (o.members > 1 || o.deepest > 2))
        how->kind = IKT_CSV_MEMBERS;
    return IKT_OK;
}

/* --- by its first records --------------------------------------------------------------------- */

/* What cutting in one way gives. */
typedef struct {
    int64_t records, cells;  /* of a record but the first */
    int64_t numbers, filled; /* cells that are numbers; all */
    int64_t fractions;       /* numbers with a comma that parts no thousands: "1,5", not "1,500" */
    int64_t commas;          /* all numbers with a comma */
    int64_t point; /* the first column, from 1, of a number with a point; 0: there is none */
    int64_t uncut; /* records but the first of one cell */
    bool is_even;  /* all have as many cells, the first perhaps one less, as R writes it */
} trial;

static bool is_enough(const ikt_csv_records *r, int64_t records) {
    const int64_t bytes = r->lines.offset + r->lines.at;
    return records == RECORDS_MOST || (records >= RECORDS_LEAST && bytes > BYTES_ENOUGH);
}

/* Whether the comma of a number may stand behind thousands, as in "1,000". */
static bool may_part_thousands(const char *cell, const char *comma) {
    cell += *cell == '-' || *cell == '+';
    return *cell != '0' && comma > cell && comma - cell <= 3 && strlen(comma) == 4;
}

static void count_record(const ikt_csv_records *r, int64_t first, trial *t) {
    const bool is_second = t->records == 1;
    double value;
    if (t->records == 0 || is_second) t->cells = r->cells;
    t->is_even &=
        r->cells == t->cells && (!is_second || r->cells == first || r->cells == first + 1);
    t->uncut += t->records > 0 && r->cells < 2;
    t->records++;
    t->filled += r->cells;
    for (int64_t k = 0; k < r->cells; k++) {
        const bool is_number = ikt_decimal_whole(r->cell[k], &value);
        t->numbers += is_number;
        if (is_number && strchr(r->cell[k], '.') && (t->point == 0 || k + 1 < t->point))
            t->point = k + 1;
        const char *comma = ikt_csv_comma(r->cell[k]);
        t->commas += comma != NULL;
        t->fractions += comma && !may_part_thousands(r->cell[k], comma);
    }
}

/* Cuts the first records. One that cannot be cut ends the trial, which is no even one then. */
static ikt_status try_way(ikt_csv_records *r, const ikt_csv_dialect *how, trial *t) {
    int64_t first = 0;
    bool end = false;
    *t = (trial){.is_even = true};
    r->how = *how;
    ikt_status st = ikt_csv_begin(r, 0);
    while (st == IKT_OK && !end && !is_enough(r, t->records)) {
        st = ikt_csv_next(r, &end);
        if (st != IKT_OK || end) continue;
        if (t->records == 0) first = r->cells;
        count_record(r, first, t);
    }
    if (st != IKT_ERR_DATA) return st;
    t->is_even = false;
    ikt_clear(r->lines.ctx); /* reported by who reads the record, if that way is taken */
    return IKT_OK;
}

static bool is_count(const char *cell, int64_t *count) {
    char *end;
    *count = strtoll(cell, &end, 10);
    return cell[0] >= '0' && cell[0] <= '9' && *end == '\0' && *count > 0;
}

/* A first line that says what follows: Excel's "sep=;", or the counts of rows and columns of
 * word2vec, whose rows have a token more. */
static ikt_status find_lead(ikt_csv_records *r, bool is_asked, ikt_csv_dialect *how) {
    int64_t columns = 0, rows = 0;
    bool end;
    r->how = (ikt_csv_dialect){.delimiter = '\n', .is_verbatim = true, .cells = how->cells};
    IKT_TRY(ikt_csv_begin(r, 0));
    IKT_TRY(ikt_csv_next(r, &end));
    if (end) return IKT_OK;
    if (strncasecmp(r->cell[0], "sep=", 4) == 0 && strlen(r->cell[0]) <= 5) {
        how->lead = 1;
        if (!is_asked) how->delimiter = r->cell[0][4] ? r->cell[0][4] : '\t'; /* a blank, cut off */
        return IKT_OK;
    }
    if (is_asked) return IKT_OK;
    r->how.delimiter = ' ';
    IKT_TRY(ikt_csv_begin(r, 0));
    IKT_TRY(ikt_csv_next(r, &end));
    if (r->cells != 2 || !is_count(r->cell[0], &rows) || !is_count(r->cell[1], &columns) ||
        columns < 2 || columns == INT64_MAX)
        return IKT_OK;
    IKT_TRY(ikt_csv_next(r, &end));
    if (end || r->cells != columns + 1) return IKT_OK;
    *how = (ikt_csv_dialect){
        .delimiter = ' ', .is_verbatim = true, .cells = how->cells, .lead = 1, .announced = rows};
    return IKT_OK;
}

/* The first delimiter that cuts all records alike; *how stays where none does, and where most
 * records are cut: one that has other cells is faulty, and to be reported. */
static ikt_status try_others(ikt_csv_records *r, ikt_csv_dialect *how, trial *t) {
    static const char others[] = "\t;,|  "; /* blanks a second time: tokens may be quotes */
    const bool cuts = t->records > 1 && (t->cells > 1 || 2 * t->uncut < t->records - 1);
    for (int k = 0; others[k]; k++) {
        if (cuts && others[k] != how->delimiter) continue;
        trial other;
        ikt_csv_dialect way = *how;
        way.delimiter = others[k];
        way.is_verbatim = others[k + 1] == '\0';
        IKT_TRY(try_way(r, &way, &other));
        if (!other.is_even || other.cells < 2) continue;
        *how = way;
        *t = other;
        return IKT_OK;
    }
    return IKT_OK;
}

/* Blanks cut sentences, too: where they give hardly any numbers, the text is one column. */
static ikt_status try_texts(ikt_csv_records *r, ikt_csv_dialect *how, trial *t) {
    trial whole;
    ikt_csv_dialect way = *how;
    way.delimiter = '\n';
    if (t->cells < 2 && t->is_even) return IKT_OK;
    if (t->numbers > (t->is_even ? 0 : t->filled / 2)) return IKT_OK;
    IKT_TRY(try_way(r, &way, &whole));
    if (!whole.is_even) { /* a quote that is none */
        way.is_verbatim = true;
        IKT_TRY(try_way(r, &way, &whole));
    }
    if (!whole.is_even) return IKT_OK;
    *how = way;
    *t = whole;
    return IKT_OK;
}

/* The way of a table, with *how as far as it is known. */
static ikt_status find_way(ikt_csv_records *r, ikt_csv_dialect *how) {
    const bool is_asked = how->delimiter != 0;
    trial t;
    how->cells = -1;
    IKT_TRY(try_way(r, how, &t));
    if (t.records == 0 || r->marks > t.records) { /* perhaps # is no sign of a comment here */
        how->cells = 0;
        IKT_TRY(try_way(r, how, &t));
    }
    const char shown = r->how.delimiter;
    const bool has_comments = how->cells < 0 && r->comments > 0;
    IKT_TRY(find_lead(r, is_asked, how));
    if (how->lead == 0 && !is_asked) {
        how->delimiter = shown;
        if (!t.is_even) IKT_TRY(try_others(r, how, &t));
        if (shown == ' ' && how->delimiter == ' ' && !how->is_verbatim)
            IKT_TRY(try_texts(r, how, &t));
    } else if (how->lead > 0) {
        IKT_TRY(try_way(r, how, &t));
    }
    how->cells = has_comments ? t.cells : 0;
    if (how->delimiter != ';') return IKT_OK;
    how->has_commas = t.fractions > 0 && t.point == 0;
    how->point = t.commas > 0 ? t.point : 0;
    return IKT_OK;
}

void ikt_delimiter_use(ikt_context *ctx, char delimiter) {
    ctx->delimiter = delimiter;
}

ikt_status ikt_csv_dialect_find(ikt_csv_records *r, char delimiter) {
    const char asked = delimiter ? delimiter : r->lines.ctx->delimiter;
    ikt_csv_dialect how = {.delimiter = asked};
    IKT_TRY(read_head(r, &how));
    if (how.kind == IKT_CSV_OBJECTS) IKT_TRY(find_members(r, &how));
    if (how.kind == IKT_CSV_TABLE) IKT_TRY(find_way(r, &how));
    r->how = how;
    return IKT_OK;
}
