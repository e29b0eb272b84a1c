/* The records of delimited text, or of a range of its bytes, as cells.
 *
 * A record is a line, cut into cells and unquoted where it stands; where a quoted cell has line
 * breaks, it is as many lines as that takes, copied together. Cells may be quoted ("a, b", with ""
 * for a quote); blanks around cells, empty lines and a byte order mark are dropped. Lines end with
 * line feed, return, or both.
 *
 * Ranges that make up a file have each of its records once, in the range in which it begins. A
 * range that begins within quotes cannot know that. Method: ikt_csv_survey goes through the range
 * twice at once, as if it began within quotes and as if it did not; what the ranges before it say
 * then decides which of the two is true. Advantage: any range can be gone through at the same time
 * as the others. Disadvantage: one more pass, which looks at quotes only.
 */
#ifndef IKT_IO_FORMATS_CSV_RECORDS_H
#define IKT_IO_FORMATS_CSV_RECORDS_H

#include "io/formats/text_lines.h"

/* Start with the lines' {ctx, path, begin, end} and a delimiter; free with ikt_csv_free. */
typedef struct {
    ikt_text_lines lines;
    char delimiter; /* ' ' stands for any run of blanks and tabs; 0: not known yet */
    int64_t before; /* lines of the file before the range: messages count from the first one */
    bool is_inside; /* the range begins within quotes of a record of the range before */
    int64_t number; /* of the line that the record begins in, from 1, in the range */
    char *text;     /* [capacity] a record of several lines */
    int64_t capacity;
    char **cell; /* [cells], until the next record */
    int64_t cells, cell_capacity;
} ikt_csv_records;

/* LOCAL. Goes to the first record of the range; may be called again, for another pass.
 * Errors: those of ikt_text_lines_open and _next, with a message. */
ikt_status ikt_csv_begin(ikt_csv_records *records);

/* LOCAL. The next record that is not an empty line, as cells that may be changed; *end = true
 * behind the last one. Where the delimiter is not known the first record tells it: the first of
 * tab, semicolon and comma that it holds outside quotes, else blanks.
 * Errors: IKT_ERR_DATA with the line (a quote that is not closed, a record over 64 MiB, a zero
 * byte), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csv_next(ikt_csv_records *records, bool *end);

/* LOCAL, pure. The number in the file of the line that the record at hand begins in, from 1. */
int64_t ikt_csv_line(const ikt_csv_records *records);

/* What a pass through the range finds. */
typedef struct {
    bool ends_inside; /* within quotes */
    int64_t records;  /* that begin in it */
} ikt_csv_passage;

/* LOCAL. Goes through the range, of known delimiter. lines.number is then its number of lines.
 *   passage   receives what there is if the range begins outside quotes, and if within
 * Errors: as ikt_text_lines_next, faults without a message among them. */
ikt_status ikt_csv_survey(ikt_csv_records *records, ikt_csv_passage passage[2]);

/* LOCAL. Closes and frees; accepts an all-zero struct. */
void ikt_csv_free(ikt_csv_records *records);

#endif
