/* Sequential readers of foreign formats, for `convert`: IDX, NPY, CSV, LIBSVM, each also
 * gzipped.
 *
 * A reader is used on one rank; the others learn the outcome. Rows come in order, block by block,
 * so a file never has to fit in memory (NPY in Fortran order excepted: there a row is spread over
 * the whole file). A format is one file with one line in reader_table.c.
 */
#ifndef IKT_IO_READER_H
#define IKT_IO_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/element.h"
#include "io/source.h"

/* Whether the first line of a CSV file names the columns. AUTO: when it holds a text (outside the
 * columns that are labels or skipped by number, where text is no sign). */
typedef enum { IKT_HEADER_AUTO, IKT_HEADER_YES, IKT_HEADER_NO } ikt_csv_header;

typedef struct {
    char delimiter;           /* of CSV; 0 = detect among comma, semicolon, tab, blanks */
    ikt_csv_header header;    /* of CSV: whether the first line is one */
    const char *label_column; /* of CSV: name, or number from 1; "" = none */
    const char *skip_columns; /* of CSV: names or numbers with commas between; "" = none */
} ikt_reader_options;

typedef struct ikt_reader ikt_reader;

/* A format. Its functions are LOCAL and keep the contract of the function below of the same name.
 */
typedef struct {
    const char *name; /* "IDX" */
    /* LOCAL. Whether the first bytes are this format's. */
    bool (*probe)(const unsigned char *head, int64_t bytes);
    /* Sets n, d, type, labels and classes; `self` is the format's own. Options that do not apply to
     * the format are errors. */
    ikt_status (*open)(ikt_reader *reader, const ikt_reader_options *options);
    ikt_status (*read)(ikt_reader *reader, int64_t count, void *rows, int32_t *labels);
    /* Frees `self`; also called where `open` failed half way. */
    void (*close)(ikt_reader *reader);
} ikt_reader_ops;

struct ikt_reader {
    ikt_context *ctx;
    const ikt_reader_ops *ops;
    const char *path;
    void *self;
    int64_t n, d;  /* rows, columns */
    ikt_type type; /* of the rows that `read` gives */
    int64_t done;  /* rows read so far */
    bool labels;   /* whether rows come with labels */
    char *classes; /* names of text labels 0, 1, ..., a line each; NULL when labels are numbers */
    ikt_layout layout; /* where the numbers stand, so that others can read them without the reader;
                          element.bytes is 0 where they have to be parsed or unpacked */
};

/* LOCAL. Opens a file by its content. Errors: IKT_ERR_FILE (missing, truncated), IKT_ERR_DATA (of
 * no known format, malformed). The path is lent. */
ikt_status ikt_reader_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           ikt_reader **out);

/* LOCAL. The next `count` rows into rows[count * d] of the reader's type, and their labels into
 * labels[count] where it has any (NULL otherwise). Errors as above, naming line or row. */
ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels);

/* LOCAL. Closes, frees and sets to NULL; accepts NULL. */
void ikt_reader_close(ikt_reader **reader);

/* LOCAL. What the content of a file looks like: the name of a format ("CSV"), and whether it is
 * gzipped. *name is NULL where no format is known. Errors: IKT_ERR_FILE. */
ikt_status ikt_reader_guess(ikt_context *ctx, const char *path, const char **name, bool *gzipped);

/* The formats; the order in which they are tried is in reader_table.c. */
extern const ikt_reader_ops ikt_reader_idx, ikt_reader_npy, ikt_reader_libsvm, ikt_reader_csv;

#endif
