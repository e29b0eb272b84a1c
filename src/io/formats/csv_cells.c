/* The cells of a record: numbers, vectors, labels. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <math.h>
#include <string.h>

#include "io/numbers/element.h"

ikt_status ikt_csv_check_cells(const ikt_csv_records *r, const ikt_csv_columns *c) {
    if (r->cells == c->columns) return IKT_OK;
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA, "%s, %s %lld has %lld cells; the first has %lld",
                    r->lines.path, ikt_text_lines_unit(&r->lines), (long long)ikt_csv_line(r),
                    (long long)r->cells, (long long)c->columns);
}

ikt_status ikt_csv_bad_cell(const ikt_csv_records *r, const ikt_csv_columns *c, int64_t column,
                            const char *what) {
    const char *name = ikt_csv_heading(c, column), *cell = r->cell[column];
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA, "%s, %s %lld, column %lld%s%.60s%s: %s%.60s%s%s",
                    r->lines.path, ikt_text_lines_unit(&r->lines), (long long)ikt_csv_line(r),
                    (long long)column + 1, *name ? " ('" : "", name, *name ? "')" : "",
                    *cell ? "'" : "", cell, *cell ? "'" : "", what);
}

ikt_status ikt_csv_label(const ikt_csv_records *r, const ikt_csv_columns *c, int64_t column,
                         const char **label) {
    *label = r->cell[column];
    if (!**label) return ikt_csv_bad_cell(r, c, column, "the label is missing");
    if (strchr(*label, '\n')) return ikt_csv_bad_cell(r, c, column, " is a label of several lines");
    return IKT_OK;
}

/* A vector, whose numbers stand one after the other in the row. */
static ikt_status take_vector(const ikt_csv_records *r, const ikt_csv_columns *c, int64_t column,
                              double *numbers) {
    const int64_t width = c->width[column];
    if (ikt_csv_vector(r->cell[column], numbers, width) != width)
        return ikt_csv_bad_cell(r, c, column,
                                " ... is no vector of as many numbers as the first vector has");
    for (int64_t i = 0; i < width; i++)
        if (!isfinite(numbers[i]))
            return ikt_csv_bad_cell(r, c, column, " ... holds a number that is not finite");
    return IKT_OK;
}

/* What is said of a cell that is no number; with a comma or a point, what would make it one. */
static const char *no_number(const ikt_csv_columns *c, const char *cell) {
    const ikt_csv_dialect points = {.has_commas = false};
    double value;
    if (c->how.has_commas && ikt_csv_number(&points, cell, &value))
        return " is not a number, as others have commas for points: write all of them in one way";
    if (!c->how.has_commas && ikt_csv_comma(cell))
        return " is not a number: write numbers with points, and no commas for thousands";
    return c->is_source ? " is not a number; input.skip_columns leaves a column out, input.labels "
                          "takes it as labels"
                        : " is not a number; --skip-columns leaves a column out, --label-column "
                          "takes it as labels";
}

static ikt_status take_number(const ikt_csv_records *r, const ikt_csv_columns *c, int64_t column,
                              double *number) {
    if (!ikt_csv_number(&c->how, r->cell[column], number))
        return ikt_csv_bad_cell(r, c, column, no_number(c, r->cell[column]));
    if (!isfinite(*number)) return ikt_csv_bad_cell(r, c, column, " is not a finite number");
    if (c->rounds || !ikt_decimal_rounds(r->cell[column], *number)) return IKT_OK;
    return ikt_csv_bad_cell(r, c, column,
                            c->is_source ? " is beyond 2^53 and loses digits as a floating number; "
                                           "input.skip_columns leaves a column out"
                                         : " is beyond 2^53 and loses digits as a floating number; "
                                           "--skip-columns leaves a column out, --text-columns "
                                           "keeps it as text");
}

/* Of words: their tokens are no numbers. */
static ikt_status take_words(const ikt_csv_records *r, const ikt_csv_columns *c, double *row) {
    if (c->role[0] == IKT_CSV_NUMBER) IKT_TRY(take_number(r, c, 0, row + c->place[0] - 1));
    if (c->role[1] != IKT_CSV_NUMBER) return IKT_OK;
    if (ikt_csv_words_numbers(r, row + c->place[1] - 1)) return IKT_OK;
    return ikt_csv_bad_cell(r, c, 1, "it holds a number that is not finite");
}

ikt_status ikt_csv_numbers(const ikt_csv_records *r, const ikt_csv_columns *c, double *row,
                           ikt_csv_missing *missing) {
    IKT_TRY(ikt_csv_check_cells(r, c));
    if (c->how.kind == IKT_CSV_WORDS) return take_words(r, c, row);
    for (int64_t k = 0; k < c->columns; k++) {
        if (c->role[k] != IKT_CSV_NUMBER) continue;
        const char *cell = r->cell[k];
        const int64_t width = c->width[k];
        double *number = row + c->place[k] - 1;
        const bool is_missing = c->keeps_missing ? ikt_csv_is_missing(cell) : !*cell;
        if (is_missing && !c->keeps_missing)
            return ikt_csv_bad_cell(r, c, k,
                                    "the cell is empty; fill it, or leave the column out with "
                                    "--skip-columns, or write NaN with --missing nan");
        if (!is_missing) {
            IKT_TRY(width > 0 ? take_vector(r, c, k, number) : take_number(r, c, k, number));
            continue;
        }
        if (missing->count++ == 0) {
            missing->line = ikt_csv_line(r);
            missing->column = k;
        }
        for (int64_t i = 0; i < (width > 0 ? width : 1); i++)
            number[i] = NAN;
    }
    return IKT_OK;
}
