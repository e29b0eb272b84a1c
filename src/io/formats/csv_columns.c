/* What the columns of delimited text are. See csv_file.h; read ikt_csv_columns_find, below,
 * first.
 */
#include "io/formats/csv_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "io/numbers/element.h"

enum { DIMENSIONS_MOST = 3 };

bool ikt_csv_is_missing(const char *cell) {
    static const char *const words[] = {"NA", "nan", "N/A", "#N/A", "null", "None", "?"};
    if (!*cell) return true;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcasecmp(cell, words[w]) == 0) return true;
    return false;
}

bool ikt_csv_number(const ikt_csv_dialect *how, const char *cell, double *value) {
    char text[512];
    const char *comma = how->has_commas ? ikt_csv_comma(cell) : NULL;
    if (how->has_commas && strchr(cell, '.')) return false;
    if (!comma) return ikt_decimal_whole(cell, value);
    if (strlen(cell) >= sizeof text) return false;
    strcpy(text, cell);
    text[comma - cell] = '.';
    return ikt_decimal_whole(text, value);
}

static bool is_number(const ikt_csv_dialect *how, const char *cell) {
    double value;
    return ikt_csv_number(how, cell, &value) && !isnan(value);
}

bool ikt_csv_is_text(const ikt_csv_dialect *how, const char *cell) {
    return !ikt_csv_is_missing(cell) && !is_number(how, cell);
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_of(const ikt_csv_columns *c, int64_t column) {
    const char *name = c->names;
    while (column-- > 0)
        name += strlen(name) + 1;
    return name;
}

const char *ikt_csv_heading(const ikt_csv_columns *c, int64_t column) {
    return c->has_header ? name_of(c, column) : "";
}

int64_t ikt_csv_lead(const ikt_csv_columns *c) {
    return c->how.lead + (c->has_header && !c->names_apart);
}

int64_t ikt_csv_find(const ikt_csv_columns *c, const char *name, size_t length) {
    char *end;
    const char *own = c->names;
    for (int64_t k = 0; k < c->columns && c->has_header; k++, own += strlen(own) + 1)
        if (length > 0 && strlen(own) == length && strncmp(own, name, length) == 0) return k;
    const long long number = strtoll(name, &end, 10);
    return end == name + length && number >= 1 && number <= c->columns ? number - 1 : -1;
}

void ikt_csv_name(const ikt_csv_columns *c, int64_t column, char *text, size_t size) {
    const char *heading = ikt_csv_heading(c, column);
    if (*heading)
        snprintf(text, size, "%s", heading);
    else if (c->has_header && column == 0)
        snprintf(text, size, IKT_CSV_ROW_NAMES);
    else
        snprintf(text, size, "column_%lld", (long long)column + 1);
}

/* Appends the names of the columns of a role to a list. */
static void list(const ikt_csv_columns *c, ikt_csv_role role, const char *before, char *text,
                 size_t size) {
    const char *between = before;
    for (int64_t k = 0; k < c->columns; k++) {
        const size_t used = strlen(text);
        char name[64];
        if (c->role[k] != role) continue;
        if (used + 80 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        ikt_csv_name(c, k, name, sizeof name);
        snprintf(text + used, size - used, "%s'%s'", between, name);
        between = ", ";
    }
}

const char *ikt_csv_describe(const ikt_csv_columns *c, char *text, size_t size) {
    text[0] = '\0';
    list(c, IKT_CSV_TEXT, "text in ", text, size);
    list(c, IKT_CSV_SKIPPED, *text ? "; left out: " : "left out: ", text, size);
    if (c->is_numbered)
        ikt_join(text, size, "; ", "the first line numbers the columns and is no row");
    if (c->how.has_commas) ikt_join(text, size, "; ", "commas of numbers are read as points");
    if (c->how.cells > 0) ikt_join(text, size, "; ", "lines of comment (#) are passed over");
    return text;
}

/* --- which column is what --------------------------------------------------------------------- */

/* The next name of a list, which *at then stands behind; false at the end, or without a list. */
static bool next_name(const char **at, const char **name, size_t *length) {
    *name = *at;
    if (!ikt_is_given(*at)) return false;
    *length = strcspn(*at, ",");
    *at += *length + ((*at)[*length] == ',');
    return true;
}

static bool is_of_name(const char *heading, const char *name, size_t length) {
    return strlen(heading) == length && strncmp(heading, name, length) == 0;
}

/* Gives the column of a name or number (from 1) a role; all columns of a heading are left out.
 * *column = -1 where there is none, which is an error if `strict`. */
static ikt_status assign(const ikt_csv_records *r, ikt_csv_columns *c, const char *name,
                         size_t length, ikt_csv_role role, bool strict, int64_t *column) {
    *column = ikt_csv_find(c, name, length);
    if (*column >= 0) c->role[*column] = (unsigned char)role;
    const char *heading = *column >= 0 ? ikt_csv_heading(c, *column) : "";
    for (int64_t k = *column + 1; role == IKT_CSV_SKIPPED && *heading && k < c->columns; k++)
        if (is_of_name(heading, name, length) && strcmp(ikt_csv_heading(c, k), heading) == 0)
            c->role[k] = IKT_CSV_SKIPPED;
    if (*column >= 0 || !strict) return IKT_OK;
    return ikt_fail(r->lines.ctx, IKT_ERR_USAGE,
                    "%s has no column '%.*s'; it has %lld, numbered from 1%s%.60s%s", r->lines.path,
                    (int)length, name, (long long)c->columns,
                    c->has_header ? ", the first named '" : " and without names",
                    ikt_csv_heading(c, 0), c->has_header ? "'" : "");
}

static ikt_status assign_list(const ikt_csv_records *r, ikt_csv_columns *c, const char *names,
                              ikt_csv_role role, bool strict) {
    int64_t column;
    size_t length;
    for (const char *name; next_name(&names, &name, &length);)
        IKT_TRY(assign(r, c, name, length, role, strict, &column));
    return IKT_OK;
}

/* The column of the labels, where one is asked for. */
static ikt_status assign_label(const ikt_csv_records *r, const ikt_reader_options *options,
                               bool strict, ikt_csv_columns *c) {
    const char *label = options->label_column;
    c->label = -1;
    if (!ikt_is_given(label)) return IKT_OK;
    if (options->label_may_lack && strcmp(label, "labels") == 0) /* of itself, or of a map's */
        IKT_TRY(assign(r, c, "label", strlen("label"), IKT_CSV_LABEL, false, &c->label));
    if (c->label >= 0) return IKT_OK;
    return assign(r, c, label, strlen(label), IKT_CSV_LABEL, strict && !options->label_may_lack,
                  &c->label);
}

/* The roles that the options give; of several that name a column the last counts, so that one that
 * is taken for its numbers may give the labels as well. Names that are not found are errors if
 * `strict`. */
static ikt_status assign_roles(const ikt_csv_records *r, const ikt_reader_options *options,
                               bool strict, ikt_csv_columns *c) {
    const bool takes = ikt_is_given(options->take_columns);
    memset(c->role, takes ? IKT_CSV_SKIPPED : IKT_CSV_NUMBER, (size_t)c->columns);
    IKT_TRY(assign_label(r, options, strict, c));
    IKT_TRY(assign_list(r, c, options->take_columns, IKT_CSV_NUMBER, strict));
    IKT_TRY(assign_list(r, c, options->text_columns, IKT_CSV_TEXT, strict));
    return assign_list(r, c, options->skip_columns, IKT_CSV_SKIPPED,
                       strict && !options->skip_may_lack);
}

/* Whether a list names one of the headings that the first record would be. */
static bool names_a_heading(const ikt_csv_columns *c, const char *names) {
    size_t length;
    for (const char *name; next_name(&names, &name, &length);) {
        const char *own = c->names;
        for (int64_t k = 0; k < c->columns; k++, own += strlen(own) + 1)
            if (strlen(own) == length && strncmp(own, name, length) == 0 &&
                ikt_csv_is_text(&c->how, own))
                return true;
    }
    return false;
}

/* Whether the first record, whose cells are c->names, is a header; see csv_file.h. Columns given
 * by number (names are not known yet) are no evidence: their data may be text.
 *   second     [columns] cells of the record behind it; NULL: there is none
 *   is_token   the first cell may be the word of a vector, 0.418 -0.5 no headings */
static bool is_header(const ikt_csv_columns *c, const ikt_reader_options *options, char **second,
                      bool is_token) {
    const char *own = c->names;
    bool has_text = false, is_above_first = false, is_above_number = false;
    bool counts_on = true, are_whole = true;
    double last = NAN, value = 0;
    int64_t numbers = 0;
    for (int64_t k = 0; k < c->columns; k++, own += strlen(own) + 1) {
        if (is_number(&c->how, own)) {
            (void)ikt_csv_number(&c->how, own, &value);
            are_whole &= value == floor(value);
            counts_on &= value == floor(value) && (numbers == 0 || value == last + 1);
            last = value;
            numbers++;
        }
        if (c->role[k] != IKT_CSV_NUMBER || !*own || is_number(&c->how, own)) continue;
        if (options->keeps_text && ikt_csv_is_missing(own)) continue;
        has_text = true;
        if (second && is_number(&c->how, second[k]))
            *(k == 0 ? &is_above_first : &is_above_number) = true;
    }
    if (!options->keeps_text) return has_text;
    if (names_a_heading(c, options->label_column) || names_a_heading(c, options->take_columns) ||
        names_a_heading(c, options->skip_columns) || names_a_heading(c, options->text_columns))
        return true;
    if (!has_text)
        return !c->names[0] && c->columns > 2 && counts_on && last == (double)c->columns - 2;
    is_above_number |= is_above_first && (are_whole || !is_token);
    return numbers == 0 || is_above_number || (counts_on && numbers > 1);
}

/* Looks for the columns of a map among numbers: x, y and z, or all where they are few. */
static ikt_status choose_map(const ikt_csv_records *r, ikt_csv_columns *c) {
    static const char *const axes[] = {"x", "y", "z"};
    char names[600] = "";
    int64_t at[DIMENSIONS_MOST] = {-1, -1, -1}, numbers = 0;
    for (int64_t k = c->columns - 1; k >= 0; k--) {
        numbers += c->role[k] == IKT_CSV_NUMBER;
        for (int a = 0; a < DIMENSIONS_MOST; a++)
            if (c->role[k] == IKT_CSV_NUMBER && strcasecmp(ikt_csv_heading(c, k), axes[a]) == 0)
                at[a] = k;
    }
    const bool is_plain = numbers >= 1 && numbers <= DIMENSIONS_MOST;
    if (at[0] < 0 && is_plain) return IKT_OK;
    if (at[0] < 0) {
        list(c, IKT_CSV_NUMBER, "", names, sizeof names);
        return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                        "%s has %lld columns of numbers%s%s%s; a map has one to three: name them, "
                        "%s:%s",
                        r->lines.path, (long long)numbers, numbers > 0 ? " (" : "", names,
                        numbers > 0 ? ")" : "", r->lines.path, c->has_header ? "NAME,NAME" : "1,2");
    }
    for (int64_t k = 0; k < c->columns; k++)
        if (c->role[k] == IKT_CSV_NUMBER &&
            !(k == at[0] || k == at[1] || (at[1] >= 0 && k == at[2])))
            c->role[k] = IKT_CSV_SKIPPED;
    return IKT_OK;
}

/* Whether each row is a token and its vector. */
static bool has_tokens(const ikt_csv_records *r) {
    return r->how.kind == IKT_CSV_WORDS ||
           (r->how.is_verbatim && r->how.delimiter == ' ' && r->how.kind == IKT_CSV_TABLE);
}

/* Goes behind the lead and as many records more, of which the last one is read. */
static ikt_status go_behind(ikt_csv_records *r, int64_t records) {
    return ikt_csv_begin(r, r->how.lead + records);
}

/* Copies the cells of the first record, in UTF-8, with room for the empty heading of row names. */
static ikt_status take_names(const ikt_csv_records *r, ikt_csv_columns *c) {
    c->columns = r->cells;
    c->name_bytes = 2;
    for (int64_t k = 0; k < r->cells; k++)
        c->name_bytes += 2 * (int64_t)strlen(r->cell[k]) + 1; /* Latin-1 as UTF-8 */
    IKT_TRY(ikt_alloc(r->lines.ctx, &c->role, c->columns + 1, 1, "reader"));
    IKT_TRY(ikt_alloc(r->lines.ctx, &c->place, c->columns + 1, sizeof *c->place, "reader"));
    IKT_TRY(ikt_alloc(r->lines.ctx, &c->width, c->columns + 1, sizeof *c->width, "reader"));
    IKT_TRY(ikt_alloc(r->lines.ctx, &c->names, c->name_bytes, 1, "reader"));
    char *to = c->names;
    for (int64_t k = 0; k < r->cells; k++) {
        const size_t length = strlen(r->cell[k]);
        if (ikt_csv_is_json(&r->how)) /* members are found by their bytes */
            strcpy(to, r->cell[k]);
        else
            (void)ikt_utf8_copy(r->cell[k], to, 2 * length + 1);
        to += strlen(to) + 1;
    }
    return IKT_OK;
}

/* Whether the first record, whose cells are c->names, is text, and numbers stand below it. Goes on
 * to the second. */
static ikt_status has_headings(ikt_csv_records *r, const ikt_csv_columns *c, bool *has_own) {
    bool end, has_number = false;
    IKT_TRY(ikt_csv_next(r, &end));
    *has_own = !end && r->cells == c->columns;
    for (int64_t k = 0; k < c->columns && *has_own; k++) {
        *has_own = ikt_csv_is_text(&c->how, name_of(c, k));
        has_number |= is_number(&c->how, r->cell[k]);
    }
    *has_own &= has_number;
    return IKT_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Members are found by their names, of which none may come twice. */
static ikt_status check_names(const ikt_csv_records *r, const ikt_csv_columns *c) {
    const char *at = c->names;
    IKT_ARRAYS(held, r->lines.ctx, "reader");
    const char **name = ikt_claim(&held, c->columns, sizeof *name);
    IKT_TRY(held.status);
    for (int64_t k = 0; k < c->columns; k++, at += strlen(at) + 1)
        name[k] = at;
    if (c->columns > 1) qsort(name, (size_t)c->columns, sizeof *name, by_name);
    for (int64_t k = 1; k < c->columns; k++)
        if (strcmp(name[k - 1], name[k]) == 0)
            return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                            "%s has two members '%.60s' in one object: give them different names",
                            r->lines.path, name[k]);
    return IKT_OK;
}

/* Names that are no record: those of the members of objects, or a comment of as many cells as there
 * are columns. Then the first record comes again. */
static ikt_status take_names_apart(ikt_csv_records *r, ikt_csv_columns *c) {
    if (ikt_csv_is_json(&r->how)) {
        IKT_TRY(check_names(r, c));
        r->keys = c->names;
        r->key_count = c->columns;
        c->names_apart = true;
    } else if (r->comment) {
        bool has_own, are_names = true;
        IKT_TRY(has_headings(r, c, &has_own));
        const ikt_status st = ikt_csv_cut_comment(r);
        if (st == IKT_ERR_DATA) ikt_clear(r->lines.ctx); /* # "a" b: only words */
        if (st != IKT_OK && st != IKT_ERR_DATA) return st;
        for (int64_t k = 0; k < r->cells; k++)
            are_names &= ikt_csv_is_text(&c->how, r->cell[k]);
        c->names_apart = st == IKT_OK && are_names && !has_own && r->cells == c->columns;
        if (!c->names_apart) return go_behind(r, 1); /* back to where we were */
        ikt_free_all(&c->role, &c->place, &c->width, &c->names);
        IKT_TRY(take_names(r, c));
    }
    c->has_header = c->names_apart;
    return c->names_apart ? go_behind(r, 0) : IKT_OK;
}

static void put_place(ikt_csv_columns *c, int64_t column) {
    c->place[column] = c->numbers + 1; /* from 1: 0 is no place yet */
    c->numbers += c->width[column] > 0 ? c->width[column] : 1;
}

/* Numbers the columns of numbers, in the order of the file or in that in which they are asked for;
 * counts those of text. */
static ikt_status number_columns(const ikt_csv_records *r, const char *take, ikt_csv_columns *c) {
    const bool is_all = !ikt_is_given(take);
    size_t length;
    for (const char *name; next_name(&take, &name, &length);) {
        const int64_t k = ikt_csv_find(c, name, length);
        if (c->role[k] == IKT_CSV_TEXT)
            return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                            "%s: the column '%.*s' holds text, where numbers are needed",
                            r->lines.path, (int)length, name);
        if (c->role[k] == IKT_CSV_SKIPPED)
            return ikt_fail(r->lines.ctx, IKT_ERR_USAGE,
                            "%s: the column '%.*s' is asked for, and is to be left out as well",
                            r->lines.path, (int)length, name);
        if (c->place[k] > 0)
            return ikt_fail(r->lines.ctx, IKT_ERR_USAGE, "%s: the column '%.*s' is named twice",
                            r->lines.path, (int)length, name);
        put_place(c, k);
    }
    for (int64_t k = 0; k < c->columns; k++) {
        if (c->role[k] == IKT_CSV_NUMBER && is_all) put_place(c, k);
        c->texts += c->role[k] == IKT_CSV_TEXT;
    }
    return IKT_OK;
}

/* Whether the first cells of the records are words, though the second is a number, as they are in
 * vectors of words. Comes back to the second record, at which it begins. */
static ikt_status find_tokens(ikt_csv_records *r, bool *are_tokens) {
    bool end = false;
    *are_tokens = false;
    for (int record = 0; !end && !*are_tokens && record < IKT_CSV_LOOKED_AT; record++) {
        *are_tokens = ikt_csv_is_text(&r->how, r->cell[0]);
        IKT_TRY(ikt_csv_next(r, &end));
    }
    return go_behind(r, 2);
}

/* Whether cells are whole numbers in digits alone, each one more than the one before; and which is
 * the first. A vector in brackets is none. */
static bool count_on(const ikt_csv_records *r, const char *cell, int64_t k, int64_t *first) {
    if (!*cell || strspn(cell, "0123456789") != strlen(cell) || strlen(cell) > 15) return false;
    const int64_t number = strtoll(cell, NULL, 10);
    if (k == 0) *first = number;
    return r->cells > 1 && number == *first + k;
}

/* Whether the first record, whose cells are c->names, numbers the columns from 0 or 1 on, as pandas
 * writes names where there are none. Method: no record looked at counts on, too; and where all of
 * them hold whole numbers alone, three columns at least, whose first one does not count the rows as
 * a matrix of distances does along a line. Advantage: a table whose numbers happen to begin so is
 * kept whole. Disadvantage: of two columns of whole numbers a heading 0,1 is taken for a row.
 * Comes back to the second record, at which it begins. */
static ikt_status find_numbering(ikt_csv_records *r, const ikt_csv_columns *c, bool *is_numbering) {
    const char *own = c->names;
    bool end = false, are_whole = true, is_matrix = true;
    int64_t first = 0, other = 0, records = 0;
    *is_numbering = c->columns > 1 && r->cells == c->columns;
    for (int64_t k = 0; k < c->columns && *is_numbering; k++, own += strlen(own) + 1)
        *is_numbering = count_on(r, own, k, &first) && first <= 1;
    if (!*is_numbering) return IKT_OK;
    for (; !end && *is_numbering && records < IKT_CSV_LOOKED_AT; records++) {
        bool counts_on = true;
        for (int64_t k = 0; k < r->cells; k++) {
            counts_on &= count_on(r, r->cell[k], k, &other);
            are_whole &= strspn(r->cell[k], "0123456789-") == strlen(r->cell[k]);
        }
        is_matrix &= strtoll(r->cell[0], NULL, 10) == first + records + 1;
        *is_numbering = !counts_on;
        IKT_TRY(ikt_csv_next(r, &end));
    }
    is_matrix &= end && records == c->columns - 1;
    *is_numbering &= !are_whole || (c->columns > 2 && !is_matrix);
    return go_behind(r, 2);
}

/* Whether the first record is a header, or lacks the heading of row names before it, which R's
 * write.table gives none, not even an empty one. */
static ikt_status find_header(ikt_csv_records *r, const ikt_reader_options *options, bool is_ready,
                              ikt_csv_columns *c) {
    bool is_token = false;
    const bool is_short = is_ready && options->header != IKT_HEADER_NO &&
                          r->cells == c->columns + 1 && c->columns > 1 &&
                          ikt_csv_is_text(&c->how, c->names);
    if (c->names_apart || has_tokens(r) || r->how.kind == IKT_CSV_VECTORS) return IKT_OK;
    if (is_short) {
        memmove(c->names + 1, c->names, (size_t)c->name_bytes - 1);
        c->names[0] = '\0';
        c->columns++;
    }
    c->has_header = options->header == IKT_HEADER_YES || is_short;
    if (options->header != IKT_HEADER_AUTO || is_short) return IKT_OK;
    IKT_TRY(assign_roles(r, options, false, c));
    if (is_ready && r->how.delimiter == ' ' && ikt_csv_is_text(&c->how, c->names))
        IKT_TRY(find_tokens(r, &is_token));
    char **second = is_ready && r->cells == c->columns ? r->cell : NULL;
    c->has_header = is_header(c, options, second, is_token);
    if (is_ready && !c->has_header) IKT_TRY(find_numbering(r, c, &c->is_numbered));
    c->has_header |= c->is_numbered;
    return IKT_OK;
}

/* The columns of text and of vectors, where texts are kept. */
static ikt_status find_kinds(ikt_csv_records *r, const ikt_reader_options *options, bool is_ready,
                             ikt_csv_columns *c) {
    const bool has_row_names = (c->has_header && !c->names[0] && c->columns > 1) || has_tokens(r);
    if (has_row_names && c->role[0] == IKT_CSV_NUMBER) c->role[0] = IKT_CSV_TEXT;
    if (!c->has_header) { /* the first record is one of data */
        IKT_TRY(go_behind(r, 1));
        is_ready = true;
    }
    return ikt_csv_find_texts(r, c, is_ready, !ikt_is_given(options->take_columns));
}

ikt_status ikt_csv_columns_find(ikt_csv_records *r, const ikt_reader_options *options,
                                ikt_csv_columns *c) {
    bool end, is_ready = false;
    IKT_TRY(ikt_csv_dialect_find(r, options->delimiter));
    IKT_TRY(go_behind(r, 0));
    IKT_TRY(ikt_csv_next(r, &end));
    if (end) return ikt_fail(r->lines.ctx, IKT_ERR_DATA, "%s is empty", r->lines.path);
    c->how = r->how;
    c->keeps_missing = options->keeps_missing;
    c->is_source = options->is_source;
    c->rounds = options->rounds;
    IKT_TRY(take_names(r, c));
    IKT_TRY(take_names_apart(r, c));
    if (options->keeps_text) {
        IKT_TRY(ikt_csv_next(r, &end));
        is_ready = !end;
    }
    IKT_TRY(find_header(r, options, is_ready, c));
    if (c->has_header && !c->names_apart && strncmp(c->names, "# ", 2) == 0)
        memmove(c->names, c->names + 2, (size_t)c->name_bytes - 2); /* as numpy.savetxt writes it */
    IKT_TRY(assign_roles(r, options, true, c));
    if (r->how.kind == IKT_CSV_WORDS) c->width[1] = r->how.width;
    if (options->keeps_text) IKT_TRY(find_kinds(r, options, is_ready, c));
    if (options->is_map && !ikt_is_given(options->take_columns)) IKT_TRY(choose_map(r, c));
    return number_columns(r, options->take_columns, c);
}

ikt_status ikt_csv_columns_share(ikt_context *ctx, ikt_csv_columns *c) {
    ikt_csv_columns all = *c;
    IKT_ARRAYS(held, ctx, "reader");
    ikt_broadcast(ctx, &all, (int64_t)sizeof all, 0);
    if (ikt_rank(ctx) != 0) { /* freed by the caller in any case */
        all.role = ikt_claim_kept(&held, all.columns + 1, 1);
        all.place = ikt_claim_kept(&held, all.columns + 1, sizeof *all.place);
        all.width = ikt_claim_kept(&held, all.columns + 1, sizeof *all.width);
        all.names = ikt_claim_kept(&held, all.name_bytes, 1);
        *c = all;
    }
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_broadcast(ctx, c->role, c->columns, 0);
    ikt_broadcast(ctx, c->place, c->columns * (int64_t)sizeof *c->place, 0);
    ikt_broadcast(ctx, c->width, c->columns * (int64_t)sizeof *c->width, 0);
    ikt_broadcast(ctx, c->names, c->name_bytes, 0);
    return IKT_OK;
}

void ikt_csv_columns_free(ikt_csv_columns *c) {
    ikt_free_all(&c->role, &c->place, &c->width, &c->names);
}
