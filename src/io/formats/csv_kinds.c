/* Which columns of delimited text are text, and which hold vectors. See csv_file.h; read
 * ikt_csv_find_texts, at the end, first.
 */
#include "io/formats/csv_file.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "io/numbers/element.h"

/* The least numbers of a cell in round brackets, or in others, that make it a vector though numbers
 * stand beside it. */
enum { ROUND_LEAST = 8, SQUARE_LEAST = 4 };

/* Whether a cell ends with a number that a bracket opens: "w1 [0.1"; or begins with a bracket that
 * it does not close: "[word". */
static bool opens_vector(const char *cell) {
    const size_t bracket = strcspn(cell, "[({");
    double value;
    if (*cell && bracket == 0 && !strpbrk(cell, "])}")) return true;
    if (!cell[bracket]) return false;
    cell += bracket + 1;
    return ikt_decimal_whole(cell + strspn(cell, "[({ "), &value) && !isnan(value);
}

/* Whether a cell begins with a number that a bracket closes: "0.9]". */
static bool closes_vector(const char *cell) {
    double value;
    return ikt_decimal(cell, &cell, &value) && *cell && strchr("])}", *cell);
}

/* Whether a cell begins as a vector does. */
static bool begins_vector(const char *cell) {
    double value;
    if (!*cell || !strchr("[({", *cell)) return false;
    cell += 1 + strspn(cell + 1, " \t\r\n");
    return ikt_decimal(cell, &cell, &value);
}

/* What the cells of a column have shown. */
enum {
    OPEN,   /* nothing: they are missing */
    BROKEN, /* one begins as a vector, and is none: text, unless a vector follows */
    KNOWN,  /* a number, or text */
    COMMA,  /* text that would be a number if its comma were a point, */
    LETTER, /* or the letter of its exponent were E */
    NARROW, /* a vector, though perhaps a text in brackets: "(40.7, -74.0)" */
    WIDE    /* a vector beyond doubt */
};

/* In a column of text "[0.1" and, further on, "0.9]" are a vector that was cut. */
static ikt_status check_text(const ikt_csv_records *r, const ikt_csv_columns *c, int64_t column) {
    const char *cell = r->cell[column];
    if (*cell == '[' && begins_vector(cell) && strstr(cell, "..."))
        return ikt_csv_bad_cell(r, c, column,
                                ": numpy has left numbers out: write x.tolist() in place of x");
    if (!opens_vector(cell)) return IKT_OK;
    for (int64_t k = column + 1; k < c->columns; k++)
        if (closes_vector(r->cell[k]))
            return ikt_csv_bad_cell(r, c, column,
                                    " begins a vector in brackets that the delimiters cut: a "
                                    "vector in a cell is read between quotes, \"[0.1, 0.2]\"");
    return IKT_OK;
}

/* Whether a cell is a number as Fortran writes it in double precision: "1.25D-01". */
static bool has_letter(const char *cell) {
    static const char digits[] = "0123456789";
    const char *at = cell + (*cell == '-' || *cell == '+');
    at += strspn(at, digits);
    if (*at++ != '.') return false;
    at += strspn(at, digits);
    if ((*at != 'D' && *at != 'd') || (at[1] != '-' && at[1] != '+') || !at[2]) return false;
    return !at[2 + strspn(at + 2, digits)];
}

static ikt_status look_at_cell(const ikt_csv_records *r, ikt_csv_columns *c, int64_t column,
                               unsigned char *seen) {
    const char *cell = r->cell[column];
    const int64_t width = ikt_csv_vector(cell, NULL, 0);
    if (width > 1) {
        c->width[column] = width;
        *seen = width >= (*cell == '(' ? ROUND_LEAST : SQUARE_LEAST) ? WIDE : NARROW;
        return IKT_OK;
    }
    if (*seen == BROKEN || ikt_csv_is_missing(cell)) return IKT_OK;
    *seen = width < 0 && begins_vector(cell) ? BROKEN : KNOWN;
    if (!ikt_csv_is_text(&c->how, cell)) return IKT_OK;
    if (*seen == KNOWN) c->role[column] = IKT_CSV_TEXT;
    if (*seen == KNOWN && has_letter(cell)) *seen = LETTER;
    if (*seen == KNOWN && ikt_csv_comma(cell)) *seen = COMMA;
    return check_text(r, c, column);
}

/* Where a column holds vectors, these are the rows: other numbers are left out. Narrow ones beside
 * numbers, or beside wide ones, are texts in brackets. */
static ikt_status choose_vectors(const ikt_csv_records *r, ikt_csv_columns *c,
                                 const unsigned char *seen) {
    char names[600] = "";
    int64_t vectors = 0, others = 0;
    for (int64_t k = 0; k < c->columns; k++)
        others += c->role[k] == IKT_CSV_NUMBER && seen[k] != NARROW;
    for (int64_t k = 0; k < c->columns; k++) {
        char name[64];
        if (c->role[k] != IKT_CSV_NUMBER || c->width[k] == 0) continue;
        if (seen[k] == NARROW && others > 0) {
            c->role[k] = IKT_CSV_TEXT;
            continue;
        }
        ikt_csv_name(c, k, name, sizeof name);
        ikt_join(names, sizeof names, ", ", "'%s'", name);
        vectors++;
    }
    for (int64_t k = 0; k < c->columns && vectors > 0; k++)
        if (c->role[k] == IKT_CSV_NUMBER && c->width[k] == 0) c->role[k] = IKT_CSV_SKIPPED;
    if (vectors < 2) return IKT_OK;
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                    "%s holds vectors in several columns: %s; name one of them (input.dataset, or "
                    "--dataset of convert)",
                    r->lines.path, names);
}

/* Appends the names of the columns that have shown that; false where there are none. */
static bool list_columns(const ikt_csv_columns *c, const unsigned char *seen, unsigned char what,
                         char *text, size_t size) {
    char name[64];
    for (int64_t k = 0; k < c->columns; k++) {
        if (seen[k] != what) continue;
        ikt_csv_name(c, k, name, sizeof name);
        ikt_join(text, size, ", ", "'%s'", name);
    }
    return *text;
}

/* Tells why columns are text that people would take for numbers, where it is not for commas.
 *   first   character of the first record after headings */
static void tell_others(ikt_csv_columns *c, const unsigned char *seen, char first) {
    char *text = c->unread;
    const size_t size = sizeof c->unread - 200; /* with room for why */
    bool has_numbers = false;
    for (int64_t k = 0; k < c->columns; k++)
        has_numbers |= c->role[k] == IKT_CSV_NUMBER;
    const char *names = c->names ? c->names : "";
    const char *heading = names + (!*names && c->name_bytes > 1); /* of row names: none */
    if (list_columns(c, seen, LETTER, text, size))
        ikt_join(text, sizeof c->unread, ": ",
                 "numbers with the exponent D of Fortran: write them with E, 1.5E-01");
    else if (!has_numbers && (first == '!' || *heading == '!'))
        ikt_join(text, sizeof c->unread, "",
                 "its first lines begin with !, as those before a table of GEO do: remove all such "
                 "lines (grep -v '^!')");
}

/* Tells of columns that are text because of commas. */
static void tell_commas(ikt_csv_columns *c, const unsigned char *seen) {
    static const char *const thousands =
        "with commas, not read as they may be of thousands, 1,000: write them with points, or "
        "without commas";
    static const char *const others =
        "have commas for points: write them with points, or separate the cells by semicolons";
    char name[64], *text = c->unread;
    const size_t size = sizeof c->unread - 200; /* with room for why */
    if (!list_columns(c, seen, COMMA, text, size)) return;
    if (c->how.point > 0) {
        ikt_csv_name(c, c->how.point - 1, name, sizeof name);
        ikt_join(text, sizeof c->unread, ": ",
                 "numbers with commas, not read as column '%s' has points: write all with points",
                 name);
    } else {
        ikt_join(text, sizeof c->unread, ": ", "numbers %s",
                 c->how.delimiter == ';' ? thousands : others);
    }
}

ikt_status ikt_csv_find_texts(ikt_csv_records *r, ikt_csv_columns *c, bool is_ready, bool chooses) {
    int64_t open = c->columns;
    bool end = !is_ready;
    char first = '\0';
    IKT_ARRAYS(held, r->lines.ctx, "reader");
    unsigned char *seen = ikt_claim(&held, c->columns, sizeof *seen);
    IKT_TRY(held.status);
    for (int record = 0; !end && open > 0 && record < IKT_CSV_LOOKED_AT; record++) {
        IKT_TRY(ikt_csv_check_cells(r, c));
        if (record == 0 && r->cells > 0) first = r->cell[0][0];
        open = 0;
        for (int64_t k = 0; k < c->columns; k++) {
            if (c->role[k] != IKT_CSV_NUMBER || seen[k] >= KNOWN) continue;
            IKT_TRY(look_at_cell(r, c, k, &seen[k]));
            open += seen[k] < KNOWN;
        }
        IKT_TRY(ikt_csv_next(r, &end));
    }
    for (int64_t k = 0; k < c->columns; k++)
        if (c->role[k] == IKT_CSV_NUMBER && seen[k] == BROKEN) c->role[k] = IKT_CSV_TEXT;
    tell_commas(c, seen);
    if (!*c->unread) tell_others(c, seen, first);
    return chooses ? choose_vectors(r, c, seen) : IKT_OK;
}
