/* What the columns of delimited text are: numbers, labels, texts, or left out; and their cells as
 * such.
 *
 * Method: the first records tell. A column is one of text where the first of its cells that is not
 * missing is no number, so that a text that turns up among numbers is an error with its line, and
 * no column is lost because of it. The first line is a header where it has a text above a number,
 * where it is all text, or where its numbers, two at least, count on (years, or 0, 1, 2, as pandas
 * names columns without names); a label or a column asked for by its name makes it one, too.
 * A column without a heading before all others, as R and pandas write them, holds the names of the
 * rows; so does the first one where the header has one cell less than the rows.
 * Advantage: tables as other programs write them are read as they are. Disadvantage: a file whose
 * first thousand rows miss a text is refused at the first one, and the column has to be named.
 */
#ifndef IKT_IO_FORMATS_CSV_COLUMNS_H
#define IKT_IO_FORMATS_CSV_COLUMNS_H

#include "io/formats/csv_records.h"
#include "io/formats/reader.h"

/* Name of the column of row names, where it has none of its own. */
#define IKT_CSV_ROW_NAMES "row_names"

typedef enum { IKT_CSV_NUMBER, IKT_CSV_TEXT, IKT_CSV_LABEL, IKT_CSV_SKIPPED } ikt_csv_role;

/* Freed with ikt_csv_columns_free; begin with an all-zero struct. */
typedef struct {
    char delimiter;
    bool has_header, keeps_missing, is_source;
    int64_t columns; /* cells of a record */
    int64_t numbers, texts;
    int64_t label;       /* the column of the labels, or -1 */
    unsigned char *role; /* [columns] ikt_csv_role */
    int64_t *place;      /* [columns] where a number stands in its row, from 1 */
    char *names;         /* [name_bytes] headings, each with its zero; "" without a header */
    int64_t name_bytes;
} ikt_csv_columns;

/* LOCAL. Goes to the beginning of the text and finds out what its columns are.
 *   records   of the file from its beginning on; its delimiter is known afterwards
 * Errors: those of ikt_csv_next; IKT_ERR_DATA (an empty file, no columns for a map), IKT_ERR_USAGE
 * (a column that is not there, with those that are). */
ikt_status ikt_csv_columns_find(ikt_csv_records *records, const ikt_reader_options *options,
                                ikt_csv_columns *out);
void ikt_csv_columns_free(ikt_csv_columns *columns);

/* COLLECTIVE. Gives all ranks what rank 0 has found. Errors: IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_csv_columns_share(ikt_context *ctx, ikt_csv_columns *columns);

/* LOCAL, pure. The heading of a column, or "" where there is none; and the number of the column of
 * that heading, or of that number from 1, or -1. */
const char *ikt_csv_heading(const ikt_csv_columns *columns, int64_t column);
int64_t ikt_csv_find(const ikt_csv_columns *columns, const char *name, size_t length);

/* LOCAL, pure. The name of a column for people and files: its heading, "row_names", "column_5". */
void ikt_csv_name(const ikt_csv_columns *columns, int64_t column, char *text, size_t size);

/* LOCAL, pure. "text in 'id', 'cell_type'; left out: 'row'", or "" where all columns are numbers
 * and labels. Returns `text`, at most `size` bytes. */
const char *ikt_csv_describe(const ikt_csv_columns *columns, char *text, size_t size);

/* LOCAL, pure. Whether a cell is one that other programs write for a value that is missing: empty,
 * NA, NaN, null, None, "?" and the like. */
bool ikt_csv_is_missing(const char *cell);

/* LOCAL, pure. Whether a cell is neither missing nor a number. */
bool ikt_csv_is_text(const char *cell);

/* The first missing number of a range. */
typedef struct {
    int64_t count;  /* of missing numbers */
    int64_t line;   /* of the first of them, in the file */
    int64_t column; /* of the text, from 0 */
} ikt_csv_missing;

/* LOCAL. The numbers of the record at hand.
 *   row       [columns->numbers] receives them
 *   missing   takes note of those that are missing
 * Errors: IKT_ERR_DATA with line and column: another number of cells, no number, none that is
 * finite; a missing one unless columns->keeps_missing. */
ikt_status ikt_csv_numbers(const ikt_csv_records *records, const ikt_csv_columns *columns,
                           double *row, ikt_csv_missing *missing);

/* LOCAL. Fails where the record at hand has not as many cells as the first has columns. */
ikt_status ikt_csv_check_cells(const ikt_csv_records *records, const ikt_csv_columns *columns);

/* LOCAL. Fails with IKT_ERR_DATA: "FILE, line 12, column 5 ('Genotype'): 'abc'WHAT". */
ikt_status ikt_csv_bad_cell(const ikt_csv_records *records, const ikt_csv_columns *columns,
                            int64_t column, const char *what);

/* LOCAL. The label of the record at hand, which there must be. Errors: IKT_ERR_DATA: it is missing,
 * or has several lines. */
ikt_status ikt_csv_label(const ikt_csv_records *records, const ikt_csv_columns *columns,
                         int64_t column, const char **label);

#endif
