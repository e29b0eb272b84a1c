/* Lines of delimited text, split into cells. */
#ifndef IKT_IO_CSV_LINE_H
#define IKT_IO_CSV_LINE_H

#include <stdbool.h>
#include <zlib.h>

#include "base/status.h"

/* A line being read, with its cells. Start with {ctx, path}; free with ikt_csv_free. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    gzFile file;
    char *buffer; /* bytes read ahead: at .. filled - 1 */
    int at, filled;
    bool after_return; /* the last byte taken was a return: a line feed may belong to it */
    char delimiter;    /* ' ' stands for any run of blanks and tabs */
    int64_t number;    /* of the line, from 1 */
    char *text;        /* the line; cells point into it */
    int64_t room;      /* bytes of text */
    char **cell;       /* [cells] */
    int64_t cells, cell_room;
} ikt_csv_line;

/* LOCAL. Opens the file (gzipped or not). Errors: IKT_ERR_FILE. */
ikt_status ikt_csv_open(ikt_csv_line *line);

/* LOCAL. Reads the next line that is not empty and splits it; *end at the end of the file. Cells
 * may be quoted ("a, b", with "" for a quote); blanks around cells are dropped.
 * Lines end with line feed, return, or both.  * A byte order mark is dropped. Errors: IKT_ERR_DATA
 * (unclosed quote, line over 64 MiB, zero byte), IKT_ERR_FILE (truncated, damaged compression). */
ikt_status ikt_csv_next(ikt_csv_line *line, bool *end);

/* LOCAL. Chooses the delimiter of the next lines: the first of tab, semicolon, comma that `text`
 * holds outside quotes, else blanks. */
char ikt_csv_detect(const char *text);

void ikt_csv_close(ikt_csv_line *line);
void ikt_csv_free(ikt_csv_line *line);

/* LOCAL. The whole cell as a number (also nan and inf); false where it is none. */
bool ikt_csv_number(const char *cell, double *value);

#endif
