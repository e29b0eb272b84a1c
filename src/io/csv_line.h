/* Lines of delimited text, split into cells.
 *
 * Method: bytes are read ahead into a small buffer; a line is copied out of it, and its cells are
 * cut and unquoted in place. Memory: the buffer and the longest line.
 */
#ifndef IKT_IO_CSV_LINE_H
#define IKT_IO_CSV_LINE_H

#include <stdbool.h>
#include <zlib.h>

#include "base/status.h"

/* A line being read, with its cells. Start with {ctx, path} and, where they are known, delimiter
 * and comment; free with ikt_csv_free. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    gzFile file;
    char *buffer; /* bytes read ahead: at .. filled - 1 */
    int at, filled;
    bool after_return; /* the last byte taken was a return: a line feed may belong to it */
    char delimiter;    /* ' ' stands for any run of blanks and tabs */
    char comment;      /* begins what is left out up to the end of the line; 0: none */
    int64_t number;    /* of the line, from 1 */
    char *text;        /* the line; cells point into it */
    int64_t room;      /* bytes of text */
    char **cell;       /* [cells] */
    int64_t cells, cell_room;
} ikt_csv_line;

/* LOCAL. Opens the file (gzipped or not) at its beginning; may be called again after closing, for
 * another pass. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csv_open(ikt_csv_line *line);

/* LOCAL. Reads the next line that is not empty and splits it; *end at the end of the file. Cells
 * may be quoted ("a, b", with "" for a quote); blanks around cells are dropped.
 * Lines end with line feed, return, or both. A byte order mark is dropped. Errors: IKT_ERR_DATA
 * (unclosed quote, line over 64 MiB, zero byte), IKT_ERR_FILE (truncated, damaged compression). */
ikt_status ikt_csv_next(ikt_csv_line *line, bool *end);

/* LOCAL. The same where an earlier pass has counted that there is one more. Errors: IKT_ERR_FILE
 * where there is none any more. */
ikt_status ikt_csv_next_again(ikt_csv_line *line);

/* LOCAL. Chooses the delimiter of the next lines: the first of tab, semicolon, comma that `text`
 * holds outside quotes, else blanks. */
char ikt_csv_detect(const char *text);

/* LOCAL. Closes the file, keeping buffers for another pass; frees everything. */
void ikt_csv_close(ikt_csv_line *line);
void ikt_csv_free(ikt_csv_line *line);

/* LOCAL. The whole cell as a number in decimal notation (also nan and inf, which callers refuse
 * with a message of their own); false where it is none. */
bool ikt_csv_number(const char *cell, double *value);

#endif
