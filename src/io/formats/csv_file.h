/* The records of delimited text, or of a range of its bytes, as cells.
 *
 * A record is a line, cut into cells and unquoted where it stands; where a quoted cell has line
 * breaks, it is as many lines as that takes, copied together. Cells may be quoted ("a, b", with ""
 * for a quote); blanks around cells, empty lines and a byte order mark are dropped. Lines end with
 * line feed, return, or both. What other programs write as text is cut in its own way, the dialect:
 * comments, vectors in brackets, objects of JSON, a line each.
 *
 * Ranges that make up a file have each of its records once, in the range in which it begins. A
 * range that begins within quotes cannot know that. Method: ikt_csv_survey goes through the range
 * twice at once, as if it began within quotes and as if it did not; what the ranges before it say
 * then decides which of the two is true. Advantage: any range can be gone through at the same time
 * as the others. Disadvantage: one more pass, which looks at quotes only.
 */
#ifndef IKT_IO_FORMATS_CSV_FILE_H
#define IKT_IO_FORMATS_CSV_FILE_H

#include "dist/row_blocks.h"
#include "io/formats/bytes.h"
#include "io/formats/class_labels.h"
#include "io/formats/reader.h"
#include "io/formats/text_lines.h"

typedef enum {
    IKT_CSV_TABLE,   /* cells between delimiters */
    IKT_CSV_VECTORS, /* vectors in brackets, one after the other: lists that were printed, arrays
                        of JSON, of any number of lines */
    IKT_CSV_OBJECTS, /* an object of JSON on each line, whose members are cells */
    IKT_CSV_ARRAY,   /* the same in one array of JSON, on any lines */
    IKT_CSV_MEMBERS, /* one object of JSON, whose members are columns: arrays, or objects that
                        number the rows */
    IKT_CSV_WORDS    /* no text: words and their numbers, as word2vec writes them in binary */
} ikt_csv_kind;

/* How a text is cut. */
typedef struct {
    ikt_csv_kind kind;
    char delimiter;   /* ' ' stands for any run of blanks and tabs, '\n' for none: a line is a cell;
                         0: not known yet */
    bool is_verbatim; /* quotes are signs like any other: tokens of word vectors */
    bool has_commas;  /* in numbers, in place of points: "1,5"; a point makes no number then */
    int64_t point;    /* between semicolons, where some numbers have commas: the first column, from
                         1, that has a number with a point, so that commas are none; 0: none has */
    int64_t cells;    /* of a record, where there are comments: lines that begin with # and have
                         another number of cells, one or a blank behind the #; 0: there are none;
                         -1: not known yet */
    int64_t lead;     /* records before all others, header among them, that say what follows:
                         "sep=;", or the two counts of word2vec */
    int64_t announced; /* rows by those counts; 0: they say nothing */
    int64_t width;     /* of words: numbers of a row */
} ikt_csv_dialect;

/* LOCAL, pure. Whether records are members of objects, and where they begin shows only from the
 * beginning of the file on, so that one range has all. */
static inline bool ikt_csv_is_json(const ikt_csv_dialect *how) {
    return how->kind >= IKT_CSV_OBJECTS && how->kind <= IKT_CSV_MEMBERS;
}
static inline bool ikt_csv_is_whole(const ikt_csv_dialect *how) {
    return how->kind >= IKT_CSV_ARRAY;
}

/* Start with the lines' {ctx, path, begin, end} and a dialect; free with ikt_csv_free. */
typedef struct {
    ikt_text_lines lines;
    ikt_csv_dialect how;
    const char *keys; /* of objects: which member is which cell, [key_count] names, each with its
                         zero; borrowed. NULL: cells are the names of the members */
    int64_t key_count;
    int64_t before; /* lines of the file before the range: messages count from the first one */
    bool is_inside; /* the range begins within quotes of a record of the range before */
    int64_t number; /* of the line that the record begins in, from 1, in the range */
    char *text;     /* [capacity] a record of several lines; of members all of the file */
    int64_t capacity;
    char *comment; /* the line of comment right before the first record, without its #; or NULL */
    int64_t comments; /* lines that the last pass went over as such */
    int64_t marks;    /* of these, those with no blank behind their # */
    char **cell;      /* [cells], until the next record */
    int64_t cells, cell_capacity;
    struct ikt_csv_cursor *cursor; /* [cursors] of members, where their next elements stand */
    int64_t cursors;
    ikt_bytes *bytes;    /* of words, as far as they have been read */
    const char *numbers; /* of words: float32 of the record */
} ikt_csv_records;

/* LOCAL. Finds out how a text is cut, by its first thousand records, and sets records->how.
 * Method: the delimiter that the first line tells is taken where it cuts all of these records into
 * as many cells, or most, so that one is faulty; else the first one that does. A text in which next
 * to no cell is a number is one column of texts, unless a delimiter says otherwise. Between
 * semicolons commas are points where one of them cannot part thousands, as in 1,000, and no number
 * has a point. An object of JSON alone is one of columns, or a row where one member alone is a
 * vector of numbers and none is an array of arrays.
 *   delimiter   what is asked for; 0: nothing but what the context is told (ikt_delimiter_use)
 * Errors: IKT_ERR_DATA (JSON of another form, with what to do), those of reading. What is wrong
 * with a record is left to who reads it. */
ikt_status ikt_csv_dialect_find(ikt_csv_records *records, char delimiter);

/* LOCAL. Goes to the first record of the range, and past as many as are to be passed over (the last
 * of them is the record that is read); may be called again, for another pass.
 * Errors: those of ikt_text_lines_open and _next, with a message. */
ikt_status ikt_csv_begin(ikt_csv_records *records, int64_t passed);

/* LOCAL. The next record that is neither an empty line nor a comment, as cells that may be changed;
 * *end = true behind the last one. Where the delimiter is not known the first record tells it: the
 * first of tab, semicolon, comma and bar that it holds outside quotes, else blanks.
 * Errors: IKT_ERR_DATA with the line (a quote that is not closed, a record over 64 MiB, a zero
 * byte), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csv_next(ikt_csv_records *records, bool *end);

/* LOCAL. The comment right before the first record as cells. IKT_OK with no cells where there is
 * none. */
ikt_status ikt_csv_cut_comment(ikt_csv_records *records);

/* LOCAL, pure. Where the comma of a number stands that has one in place of a point, or NULL. */
const char *ikt_csv_comma(const char *cell);

/* LOCAL, pure. Whether the whole cell is a number, with a comma where the dialect has them, and
 * which. The cell stays as it is: as a text or a class it keeps its comma. */
bool ikt_csv_number(const ikt_csv_dialect *how, const char *cell, double *value);

/* LOCAL. Makes room for one more cell and puts it there. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_add_cell(ikt_csv_records *records, char *cell);

/* LOCAL. Cuts an object of JSON into the cells of its members, in place: texts without quotes and
 * escapes, null as nothing, all others as they stand, vectors among them. Members that
 * records->keys does not name are passed over; names that the object lacks have empty cells.
 * Errors: IKT_ERR_DATA: no object. */
ikt_status ikt_csv_cut_object(ikt_csv_records *records, char *text);

/* LOCAL. The value of JSON that stands at *at, or behind blanks: a text is unescaped where it
 * stands, all else stays.
 *   at           moves to the sign behind the value and blanks
 *   value, end   receive where it begins, and where its zero belongs, which may be on that sign
 * False where it has no end. */
bool ikt_json_take(char **at, char **value, char **end, bool *is_text);

/* LOCAL, pure. Whether a value without quotes is one that there is: an array, an object, a number,
 * a word. */
bool ikt_json_is_value(const char *cell);

/* LOCAL. Of an object of columns: reads the file and goes to the first elements; and cuts the next
 * record into one element of each member, *end = true behind the last ones. Where records->keys is
 * NULL, the first record are the names of the members.
 * Errors: IKT_ERR_DATA (no such object; columns of differing length or names of rows; rows by
 * name), IKT_ERR_FILE (it ends too early), IKT_ERR_RESOURCE. */
ikt_status ikt_csv_members_begin(ikt_csv_records *records);
ikt_status ikt_csv_members_next(ikt_csv_records *records, bool *end);

/* LOCAL, pure. Whether a file that begins like this holds words, and its counts. */
bool ikt_csv_are_words(const char *head, int64_t bytes, int64_t *rows, int64_t *columns);

/* LOCAL. Of words: goes to the first one; and reads the next, *end = true behind the last one: two
 * cells, the second of which is empty. Errors: IKT_ERR_FILE (truncated), IKT_ERR_DATA (a token with
 * a zero byte or of more than 65,535, bytes behind the last row), IKT_ERR_RESOURCE. */
ikt_status ikt_csv_words_begin(ikt_csv_records *records);
ikt_status ikt_csv_words_next(ikt_csv_records *records, bool *end);

/* LOCAL. The numbers of the word at hand into row[width]; false where some are not finite. */
bool ikt_csv_words_numbers(const ikt_csv_records *records, double *row);

/* LOCAL. The numbers of a cell that is a vector, "[0.1, -2e-3]", in square, round or curly
 * brackets, with commas or blanks between.
 *   values   [most] receives the first of them; NULL with 0
 * Returns how many there are, or -1 where the cell is no vector. */
int64_t ikt_csv_vector(const char *cell, double *values, int64_t most);

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

/* LOCAL. Closes and frees; accepts an all-zero struct. ikt_csv_begin may follow. */
void ikt_csv_free(ikt_csv_records *records);

/* What the columns of delimited text are: numbers, labels, texts, or left out; and their cells as
 * such.
 *
 * Method: the first records tell. A column is one of text where the first of its cells that is not
 * missing is no number, so that a text that turns up among numbers is an error with its line, and
 * no column is lost because of it. The first line is a header where it has a text above a number,
 * where it is all text, or where its numbers, two at least, count on (years, or 0, 1, 2, as pandas
 * names columns without names) beside a text or an empty cell, or over all columns from 0 or 1 on
 * while no row below does; a label or a column asked for by its name makes it one, too.
 * A column without a heading before all others, as R and pandas write them, holds the names of the
 * rows; so does the first one where the header has one cell less than the rows.
 * A cell may be a vector in brackets: its numbers are columns of the rows. The only such column of
 * a table is its rows, unless columns are named, and other numbers are left out; beside these it
 * takes four numbers at least, or eight in round brackets, as less may be a text: "(40.7, -74.0)".
 * Advantage: tables as other programs write them are read as they are. Disadvantage: a file whose
 * first thousand rows miss a text is refused at the first one, and the column has to be named.
 */

/* Name of the column of row names, where it has none of its own. */
#define IKT_CSV_ROW_NAMES "row_names"

typedef enum { IKT_CSV_NUMBER, IKT_CSV_TEXT, IKT_CSV_LABEL, IKT_CSV_SKIPPED } ikt_csv_role;

/* Bytes of the sentence of columns that are not read. */
enum { IKT_CSV_UNREAD = 600 };

/* Freed with ikt_csv_columns_free; begin with an all-zero struct. */
typedef struct {
    ikt_csv_dialect how;
    bool has_header;  /* columns have names */
    bool names_apart; /* which are those of members or a comment: no record */
    bool is_numbered; /* the names are 0, 1, 2, ... or 1, 2, 3, ..., found by the rows below */
    bool keeps_missing, is_source, rounds;
    int64_t columns; /* cells of a record */
    int64_t numbers, texts;
    int64_t label;       /* the column of the labels, or -1 */
    unsigned char *role; /* [columns] ikt_csv_role */
    int64_t *place;      /* [columns] where a number stands in its row, from 1 */
    int64_t *width; /* [columns] how many numbers a cell holds as a vector; 0: it is no vector */
    char *names;    /* [name_bytes] headings, each with its zero; "" without a header */
    int64_t name_bytes;
    char unread[IKT_CSV_UNREAD]; /* which columns of text begin with a number with a comma or
                                    Fortran's exponent, or that a file without numbers begins with
                                    lines of GEO; why it is not read and what to do; "" else */
} ikt_csv_columns;

/* LOCAL. Goes to the beginning of the text and finds out what its columns are.
 *   records   of the file from its beginning on; its delimiter is known afterwards
 * Errors: those of ikt_csv_next; IKT_ERR_DATA (an empty file, no columns for a map), IKT_ERR_USAGE
 * (a column that is not there, with those that are). */
ikt_status ikt_csv_columns_find(ikt_csv_records *records, const ikt_reader_options *options,
                                ikt_csv_columns *out);
void ikt_csv_columns_free(ikt_csv_columns *columns);

/* Records that are looked at for the first cell of a column that is not missing. */
enum { IKT_CSV_LOOKED_AT = 1000 };

/* LOCAL. Takes columns of numbers for text where their first cell that is not missing is that, and
 * finds the widths of vectors. Goes past the records that it looks at.
 *   is_ready   a record is at hand
 *   chooses    vectors alone are the rows
 * Errors: those of ikt_csv_next; IKT_ERR_DATA (vectors that delimiters cut, or in several columns).
 */
ikt_status ikt_csv_find_texts(ikt_csv_records *records, ikt_csv_columns *columns, bool is_ready,
                              bool chooses);

/* LOCAL, pure. How many records stand before the rows. */
int64_t ikt_csv_lead(const ikt_csv_columns *columns);

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
bool ikt_csv_is_text(const ikt_csv_dialect *how, const char *cell);

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
 * finite, a whole one that a double rounds; a missing one unless columns->keeps_missing. */
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

/* A file of delimited text, gzipped or not, parsed by all ranks.
 *
 * Method: a plain file is cut into as many ranges of bytes as there are ranks, and each rank has
 * the records that begin in its own; of a compressed one rank 0 has all. The first pass finds where
 * records begin, and counts them; a second one, where labels or texts are wanted, learns them; the
 * last gives rows. Rows, their order, columns, classes, and the message of the
 * first bad line are those of one rank.
 * Advantage: parsing, which takes longer than reading, is shared by the ranks, and any size passes
 * by in the memory of a block. Disadvantage: the file is read two or three times, and all ranks
 * must see it.
 */

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
    bool is_on_root;      /* gzipped, or a document of JSON: rank 0 has all rows */
    bool takes_missing;   /* labels may be missing, and have line breaks, which become blanks */
    int64_t lead;         /* this rank's first records that are no rows: header and the like */
    int64_t n_file;       /* rows of the file */
    int64_t n;            /* of these, those asked for */
    int64_t first, count; /* rows of this rank */
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
 *   path      borrowed
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

/* COLLECTIVE. Takes a pass that tells whether any row has text or a code (class_labels.h) in a
 * column; goes back to the first row. Errors: IKT_ERR_DATA (a line with another number of cells),
 * IKT_ERR_FILE. */
ikt_status ikt_csv_file_has_text(ikt_csv_file *file, int64_t column, bool *has_text);

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
 * every row of the file, in order, until it fails. The text is unquoted, borrowed for the call; it
 * is of any length and may have line breaks.
 *   column   its heading, or its number from 1
 * Errors: those of `visit`; IKT_ERR_FILE, IKT_ERR_DATA (no CSV), IKT_ERR_USAGE (no such column),
 * IKT_ERR_RESOURCE. */
typedef ikt_status ikt_csv_visitor(void *self, int64_t row, const char *text);
ikt_status ikt_csv_visit_column(ikt_context *ctx, const char *path, const char *column,
                                ikt_csv_visitor *visit, void *self);

#endif
