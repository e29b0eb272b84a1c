/* A file of delimited text, gzipped or not, parsed by all ranks.
 *
 * Method: a plain file is cut into as many ranges of bytes as there are ranks, and each rank has
 * the records that begin in its own (csv_records.h); of a compressed one rank 0 has all. The first
 * pass finds where records begin, and counts them; a second one, where labels or texts are wanted,
 * learns them; the last gives rows. Rows, their order, columns, classes, and the message of the
 * first bad line are those of one rank.
 * Advantage: parsing, which takes longer than reading, is shared by the ranks, and any size passes
 * by in the memory of a block. Disadvantage: the file is read two or three times, and all ranks
 * must see it.
 */
#ifndef IKT_IO_FORMATS_CSV_FILE_H
#define IKT_IO_FORMATS_CSV_FILE_H

#include "dist/row_blocks.h"
#include "io/formats/class_labels.h"
#include "io/formats/csv_columns.h"

/* A column of texts as all ranks know it. */
typedef struct {
    int64_t column; /* of the file, from 0 */
    int64_t width;  /* bytes of the longest, in UTF-8, at least 1 */
    int64_t bytes;  /* of all of them */
} ikt_csv_text;

typedef struct {
    ikt_context *ctx;
    ikt_csv_records records; /* of this rank's range */
    ikt_csv_columns columns;
    bool is_packed;       /* gzipped: rank 0 has all rows */
    bool takes_missing;   /* labels may be missing, and have line breaks, which become blanks */
    bool has_header;      /* this rank's first record is the header */
    int64_t n_file;       /* rows of the file */
    int64_t n;            /* of these, those asked for */
    int64_t first, count; /* rows of this rank */
    int64_t done;         /* of these, those that have been read */
    ikt_text_labels labels;
    char *classes;      /* names of labels, "a\nb\n", on every rank; NULL: labels are integers */
    ikt_csv_text *text; /* [columns.texts], once they are learnt; owned */
    ikt_csv_missing missing; /* among the rows of this rank that have been read */
    int64_t label_column;    /* of the labels below, once has_labels */
    bool has_labels;
    int32_t *label;        /* [count] of this rank's rows; owned */
    ikt_row_blocks blocks; /* of the ranks' rows */
} ikt_csv_file;

/* COLLECTIVE. Opens the file and takes the first pass. `file` is to be closed in any case.
 *   path      lent
 *   options   of columns; keeps_text says whether columns of text are kept or refused
 *   rows      use only the first rows; 0, or more than there are: all
 * Errors: IKT_ERR_FILE, those of ikt_csv_columns_find, IKT_ERR_DATA (no rows, a zero byte). */
ikt_status ikt_csv_file_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                             int64_t rows, ikt_csv_file *file);

/* COLLECTIVE. Takes the pass that learns labels and texts, and goes back to the first row.
 *   column       of the labels; -1: none. With takes_missing, which the caller sets after opening,
 *                a missing one is IKT_LABEL_MISSING and no error
 *   wants_text   whether the widths of texts are wanted
 *
 * Errors: IKT_ERR_DATA with the first bad line of the file (a label that is missing, too
 * many classes, a text of 65,536 bytes or more, a line with another number of cells). */
ikt_status ikt_csv_file_learn(ikt_csv_file *file, int64_t column, bool wants_text);

/* COLLECTIVE. The labels of any rows, as rows are read from a source. Takes two passes, and none
 * where the labels of the same column were asked for before. Missing ones are IKT_LABEL_MISSING.
 *   labels   [count] of the rows from `first` on
 * Errors: those of ikt_csv_file_learn, IKT_ERR_RESOURCE. */
ikt_status ikt_csv_file_labels(ikt_csv_file *file, int64_t column, int64_t first, int64_t count,
                               int64_t *labels);

/* COLLECTIVE. Takes a pass that tells whether any row has text in a column; goes back to the first
 * row. Errors: IKT_ERR_DATA (a line with another number of cells), IKT_ERR_FILE. */
ikt_status ikt_csv_file_has_text(ikt_csv_file *file, int64_t column, bool *has_text);

/* LOCAL. Goes back to this rank's first row. Errors: IKT_ERR_FILE. */
ikt_status ikt_csv_file_rewind(ikt_csv_file *file);

/* LOCAL. The next rows of this rank.
 *   count     at most those that are left
 *   rows      [count * columns.numbers], or NULL
 *   column    of the labels, as it was learnt; labels [count], or NULL
 *   texts     [columns.texts] buffers of count * width bytes: UTF-8, filled up with zeros; or NULL
 * Errors: IKT_ERR_DATA with line and column, IKT_ERR_FILE: the file has changed. */
ikt_status ikt_csv_file_read(ikt_csv_file *file, int64_t count, double *rows, int64_t column,
                             int32_t *labels, char **texts);

/* COLLECTIVE. "line 7, column 3 ('width'): the cell is missing, the first of 12": of all rows that
 * have been read by all ranks; "" where none is missing. */
void ikt_csv_file_missing(const ikt_csv_file *file, char *text, size_t size);

/* LOCAL. Closes and frees; accepts an all-zero struct. */
void ikt_csv_file_close(ikt_csv_file *file);

/* LOCAL. A column as the texts of its cells, whatever they hold: calls visit(self, row, text) for
 * every row of the file, in order, until it fails. The text is unquoted, lent for the call; it is
 * of any length and may have line breaks.
 *   column   its heading, or its number from 1
 * Errors: those of `visit`; IKT_ERR_FILE, IKT_ERR_DATA (no CSV), IKT_ERR_USAGE (no such column),
 * IKT_ERR_RESOURCE. */
typedef ikt_status ikt_csv_visitor(void *self, int64_t row, const char *text);
ikt_status ikt_csv_visit_column(ikt_context *ctx, const char *path, const char *column,
                                ikt_csv_visitor *visit, void *self);

#endif
