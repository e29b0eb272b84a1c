/* An object of JSON whose members are columns: {"id": [1, 2], "v": [[0.1, 2], [3, 4]]}, or as
 * pandas writes it, {"id": {"0": 1, "1": 2}, ...}, where each column numbers the rows.
 *
 * Method: a column ends before the next one begins, so the whole text is held, and a cursor goes
 * through each member; a record is the next element of every one. Elements are unescaped and ended
 * where they stand, so each pass reads the file again. Advantage: as little code as there is.
 * Disadvantage: the memory of the text, on one rank. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "io/formats/bytes.h"

struct ikt_csv_cursor {
    const char *name;
    char *at; /* where the next element is to be taken; NULL: there is none */
    bool has_keys;
};

static const char blanks[] = " \t\r\n";
static const int64_t block = (int64_t)1 << 20;

static char *skip(char *at) {
    return at + strspn(at, blanks);
}

static ikt_status bad(const ikt_csv_records *r, const char *name, const char *what) {
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA, "%s, member '%.60s': %s", r->lines.path, name,
                    what);
}

/* The whole file into r->text. */
static ikt_status read_text(ikt_csv_records *r) {
    ikt_context *ctx = r->lines.ctx;
    ikt_status st = IKT_OK;
    int64_t length = 0, got = 1;
    ikt_bytes bytes IKT_AT_END(ikt_bytes_close) = {0};
    IKT_TRY(ikt_bytes_open(ctx, r->lines.path, &bytes));
    while (st == IKT_OK && got > 0) {
        if (length + block >= r->capacity) {
            const int64_t known = bytes.size > length ? bytes.size : 2 * length;
            st = ikt_resize(ctx, &r->text, known + block + 1, 1, "reader");
            if (st == IKT_OK) r->capacity = known + block + 1;
        }
        if (st == IKT_OK) st = ikt_bytes_read(&bytes, r->text + length, block, &got);
        if (st == IKT_OK) length += got;
    }
    IKT_TRY(st);
    r->text[length] = '\0';
    if (memchr(r->text, '\0', (size_t)length))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s holds a zero byte; not text?", r->lines.path);
    return IKT_OK;
}

static ikt_status add_cursor(ikt_csv_records *r, const char *name, char *value) {
    /* Room for twice as many each time that the number is a power of two. */
    if ((r->cursors & (r->cursors - 1)) == 0)
        IKT_TRY(ikt_resize(r->lines.ctx, &r->cursor, r->cursors ? 2 * r->cursors : 1,
                           sizeof *r->cursor, "reader"));
    struct ikt_csv_cursor *c = &r->cursor[r->cursors++];
    *c = (struct ikt_csv_cursor){.name = name, .at = skip(value + 1), .has_keys = *value == '{'};
    if (*c->at == ']' || *c->at == '}') c->at = NULL;
    return IKT_OK;
}

/* Members that are rows: their names are 0, 1, 2, ..., or their elements are named by words, as the
 * columns of a table are. Such an object may as well be one of columns whose rows have names:
 * nothing tells which, so neither is taken. */
static ikt_status check_orientation(const ikt_csv_records *r) {
    bool counts_on = r->cursors > 1, are_named = r->cursors > 0;
    for (int64_t k = 0; k < r->cursors; k++) {
        const struct ikt_csv_cursor *c = &r->cursor[k];
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)k);
        counts_on &= strcmp(c->name, number) == 0;
        are_named &= c->has_keys && c->at && *c->at == '"' &&
                     !strchr("-0123456789", c->at[1]); /* the zero is none of these */
    }
    if (!counts_on && !are_named) return IKT_OK;
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                    "%s is one JSON object of rows by name, or of columns whose rows have names: "
                    "write it with to_json(orient='records')",
                    r->lines.path);
}

ikt_status ikt_csv_members_begin(ikt_csv_records *r) {
    static const char no_end[] = "has no end: is the file truncated?";
    r->cursors = 0;
    r->lines.number = 0;
    if (r->lines.end == 0) return IKT_OK; /* another rank has all */
    IKT_TRY(read_text(r));
    const bool has_mark = strncmp(r->text, "\xEF\xBB\xBF", 3) == 0;
    char *at = skip(r->text + (has_mark ? 3 : 0)), *name, *value, *end;
    bool is_text;
    for (at++; *(at = skip(at)) != '}'; at += *at == ',') {
        if (!ikt_json_take(&at, &name, &end, &is_text) || !is_text || *at != ':')
            return bad(r, "", "a name has no value");
        *end = '\0';
        at++;
        if (!ikt_json_take(&at, &value, &end, &is_text)) return bad(r, name, no_end);
        if (is_text || (*value != '[' && *value != '{'))
            return bad(r, name, "is no array, though other members are");
        if (*at != ',' && *at != '}') return bad(r, name, no_end);
        IKT_TRY(add_cursor(r, name, value));
    }
    return check_orientation(r);
}

/* The next element of a member into the cell, and of an object its name, of members of rows. */
static ikt_status take_element(ikt_csv_records *r, struct ikt_csv_cursor *c, int64_t k,
                               const char **row) {
    static char nothing[] = "";
    char *cell, *end, *key;
    bool is_text;
    if (c->has_keys) {
        if (!ikt_json_take(&c->at, &key, &end, &is_text) || !is_text || *c->at != ':')
            return bad(r, c->name, "an element has no name, though others have");
        *end = '\0';
        if (!*row) *row = key;
        if (strcmp(*row, key) != 0)
            return bad(r, c->name,
                       "its elements have other names, or another order of them, than "
                       "those of the first member");
        c->at++;
    }
    if (*c->at == ']') return bad(r, c->name, "a comma is too many, behind the last element");
    if (!ikt_json_take(&c->at, &cell, &end, &is_text) || !*c->at || !strchr(",]}", *c->at))
        return bad(r, c->name, "an element has no end");
    c->at = *c->at == ',' ? c->at + 1 : NULL;
    *end = '\0'; /* perhaps on the sign */
    if (!is_text && !ikt_json_is_value(cell))
        return bad(r, c->name, "an element is no value of JSON");
    r->cell[k] = !is_text && strcmp(cell, "null") == 0 ? nothing : cell;
    return IKT_OK;
}

ikt_status ikt_csv_members_next(ikt_csv_records *r, bool *end) {
    static const char few[] =
        "has fewer elements than others: columns have as many; an object that is one row is "
        "read as such in an array, [{...}]";
    const char *row = NULL;
    int64_t ended = 0;
    r->cells = 0;
    for (int64_t k = 0; k < r->cursors; k++) {
        IKT_TRY(ikt_csv_add_cell(r, (char *)r->cursor[k].name));
        ended += r->cursor[k].at == NULL;
    }
    *end = r->keys && ended == r->cursors;
    if (*end || !r->keys) return IKT_OK;
    r->number = ++r->lines.number;
    for (int64_t k = 0; k < r->cursors; k++) {
        if (!r->cursor[k].at) return bad(r, r->cursor[k].name, few);
        IKT_TRY(take_element(r, &r->cursor[k], k, &row));
    }
    return IKT_OK;
}
