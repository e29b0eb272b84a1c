/* Records of delimited text, split into cells.
 *
 * Method: a record is a line, cut and unquoted where it stands; where a quoted cell has line
 * breaks, it is as many lines as that takes, copied together. Memory: a block of the file and the
 * longest record.
 */
#ifndef IKT_IO_FORMATS_CSV_LINE_H
#define IKT_IO_FORMATS_CSV_LINE_H

#include <stdbool.h>

#include "base/status.h"
#include "io/formats/text_lines.h"

/* A record being read, with its cells. Start with {ctx, path} and, where it is known, delimiter;
 * free with ikt_csv_free. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    ikt_text_lines lines;
    char delimiter; /* ' ' stands for any run of blanks and tabs */
    int64_t number; /* of the line that the record begins in, from 1 */
    char *text;     /* a record of several lines */
    int64_t room;   /* bytes of text */
    char **cell;    /* [cells], until the next record */
    int64_t cells, cell_room;
} ikt_csv_line;

/* LOCAL. Opens the file (gzipped or not) at its beginning; may be called again, for another pass.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csv_open(ikt_csv_line *line);

/* LOCAL. Reads the next record that is not an empty line and splits it; *end at the end of the
 * file. Cells may be quoted ("a, b", with "" for a quote, and line breaks); blanks around cells are
 * dropped. Lines end with line feed, return, or both. A byte order mark is dropped.
 * Errors: IKT_ERR_DATA (unclosed quote, over 64 MiB, zero byte), IKT_ERR_FILE (truncated, damaged
 * compression). */
ikt_status ikt_csv_next(ikt_csv_line *line, bool *end);

/* LOCAL. The same where an earlier pass has counted that there is one more. Errors: IKT_ERR_FILE
 * where there is none any more. */
ikt_status ikt_csv_next_again(ikt_csv_line *line);

/* LOCAL, pure. Chooses the delimiter of the next lines: the first of tab, semicolon, comma that
 * `text` holds outside quotes, else blanks. */
char ikt_csv_detect(const char *text);

/* LOCAL. Closes the file, keeping buffers for another pass; frees everything. */
void ikt_csv_close(ikt_csv_line *line);
void ikt_csv_free(ikt_csv_line *line);

/* LOCAL. The whole cell as a number in decimal notation (also nan and inf, which callers refuse
 * with a message of their own); false where it is none. */
bool ikt_csv_number(const char *cell, double *value);

#endif
