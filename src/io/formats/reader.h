/* Sequential readers of foreign formats, for `convert`: IDX, NPY, NPZ, MATLAB, LIBSVM, vectors of
 * searches, safetensors; those of text, IDX, NPY and fbin also gzipped. CSV is known here and read
 * by all ranks (csv_file.h).
 *
 * A reader is used on one rank; the others learn the outcome. Rows come in order, block by block,
 * so a file never has to fit in memory (except where a row is spread over the whole file: arrays in
 * Fortran order, sparse matrices by columns or in no order). A format is one file with one line in
 * reader.c.
 */
#ifndef IKT_IO_FORMATS_READER_H
#define IKT_IO_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "io/numbers/element.h"
#include "io/numbers/sparse_rows.h"

/* Whether the first line of a CSV file names the columns. AUTO: when it holds a text (outside the
 * columns that are labels or skipped by number, where text is no sign). */
typedef enum { IKT_HEADER_AUTO, IKT_HEADER_YES, IKT_HEADER_NO } ikt_csv_header;

/* Delimiters of text by their names; the first: the one that the text shows. */
#define IKT_DELIMITER_NAMES "auto|comma|semicolon|tab|blank|pipe"
#define IKT_DELIMITERS                                                                             \
    { 0, ',', ';', '\t', ' ', '|' }

/* LOCAL. What text is cut by, in whatever a context reads, where no option of its own says it. */
void ikt_delimiter_use(ikt_context *ctx, char delimiter);

/* Texts may be NULL for "". */
typedef struct {
    char delimiter;           /* of CSV; 0 = the one that the text shows */
    ikt_csv_header header;    /* of CSV: whether the first line is one */
    const char *label_column; /* of CSV: name, or number from 1; "" = none */
    const char *skip_columns; /* of CSV: names or numbers with commas between; "" = none */
    bool skip_may_lack;       /* and are no error where they are not there */
    const char *text_columns; /* of CSV, likewise: columns to be kept as text */
    const char *take_columns; /* of CSV, likewise: the only ones that are numbers; "" = all */
    bool label_may_lack;      /* of CSV: no column of that name is no error */
    bool keeps_text;          /* of CSV: columns of text are kept, not refused */
    bool keeps_missing;       /* NaN, and empty cells of CSV, are missing values, not refused */
    bool is_source;           /* of CSV: read directly, so that messages name settings */
    bool rounds;              /* of CSV: whole numbers beyond 2^53 are no error */
    bool is_map;              /* of CSV: one to three columns of positions are looked for */
    const char *array;        /* of formats of several: which one; "" = the one that can be meant */
    int as; /* 0, or 1 + the ikt_type that values will be stored as: LIBSVM names the line of one
             * that does not fit */
} ikt_reader_options;

typedef struct ikt_reader ikt_reader;

/* An array of a file that holds several. */
typedef struct {
    const char *name;  /* borrowed; "" of what is the only thing to be meant and has none */
    bool usable;       /* of numbers that are read */
    bool table;        /* of several rows and columns */
    const char *shape; /* "1797 x 64, <f8", for messages; borrowed */
} ikt_array;
typedef void ikt_array_visitor(void *self, const ikt_array *array);

/* A format. Its functions are LOCAL and keep the contract of the function below of the same name.
 */
typedef struct {
    const char *name;       /* "IDX" */
    size_t self_bytes;      /* of reader->self, which is zeroed before `open` */
    const char *labels_are; /* where labels come from, for who asks for columns as CSV has them;
                               NULL: from columns */
    bool has_arrays;        /* several, which have names */
    bool is_flat;           /* rows stand as `layout` says, for all ranks to read */
    const char *endings;    /* of names of files, ".fvecs .bvecs", by which a format is known whose
                               files say nothing themselves; NULL: `probe` knows it */
    /* LOCAL. Whether the first bytes are this format's. */
    bool (*probe)(const unsigned char *head, int64_t bytes);
    /* Sets n, d, type, labels and classes, and what is sparse. NULL: not read in order. */
    ikt_status (*open)(ikt_reader *reader, const ikt_reader_options *options);
    /* One of the two, as reader->sparse says; neither where there is reader->whole, or where files
     * are read by their layout alone. */
    ikt_status (*read)(ikt_reader *reader, int64_t count, void *rows, int32_t *labels);
    ikt_status (*read_sparse)(ikt_reader *reader, int64_t rows, int64_t entries,
                              ikt_sparse_block *block);
    /* Of sparse rows, likewise: the entries of the first `rows`. Called before any are read. */
    ikt_status (*count)(ikt_reader *reader, int64_t rows, int64_t *entries);
    /* Calls visit(self, ...) for each array of the file. NULL: there is one, or they are not
     * listed. Errors: those of `open`. */
    ikt_status (*list)(ikt_context *ctx, const char *path, ikt_array_visitor *visit, void *self);
    /* Frees what `self` holds; also called where `open` failed half way. */
    void (*close)(ikt_reader *reader);
} ikt_reader_ops;

/* LOCAL. Whether an option that is a text was given. */
static inline bool ikt_is_given(const char *text) {
    return text && *text;
}

struct ikt_reader {
    ikt_context *ctx;
    const ikt_reader_ops *ops;
    const char *path;
    void *self;             /* the format's own */
    int64_t n, d;           /* rows, columns */
    ikt_type type;          /* of the rows that `read` gives, and which sparse values fit */
    bool sparse;            /* rows come as sparse ones */
    int64_t entries;        /* of sparse rows, in all */
    ikt_sparse_block whole; /* all of them, where they had to be brought into rows in memory */
    int64_t done;           /* rows read so far */
    bool labels;            /* whether rows come with labels */
    char *classes; /* names of text labels 0, 1, ..., a line each; NULL when labels are numbers */
    ikt_layout layout; /* where the numbers stand, so that others can read them without the reader;
                          element.bytes is 0 where they have to be parsed or unpacked */
};

/* LOCAL. Opens a file by its content. Errors: IKT_ERR_FILE (missing, truncated),
 * IKT_ERR_DATA (of no known format, malformed), IKT_ERR_USAGE (options that do not apply). The path
 * is borrowed. */
ikt_status ikt_reader_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           ikt_reader **out);

/* LOCAL. The next `count` rows into rows[count * d] of the reader's type, and their labels into
 * labels[count] where it has any (NULL otherwise). Sparse rows become dense ones. Errors as above,
 * naming line or row. */
ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels);

/* LOCAL, for sparse readers. The next rows into a block, which is emptied before: at most `rows`,
 * fewer where they come to `entries` entries. */
ikt_status ikt_reader_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block);

/* LOCAL, for sparse readers, before any rows are read. The entries of the first `rows`. */
ikt_status ikt_reader_count(ikt_reader *reader, int64_t rows, int64_t *entries);

/* LOCAL. Closes, frees and sets to NULL; accepts NULL. */
void ikt_reader_close(ikt_reader **reader);

/* LOCAL. A reader whose bytes or parts the caller opens; closed with ikt_reader_close. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_reader_new(ikt_context *ctx, const ikt_reader_ops *ops, const char *path,
                          ikt_reader **out);

/* LOCAL. Fails with IKT_ERR_USAGE where options were given that the format of a file has no use
 * for: columns as CSV has them, or the name of an array. */
ikt_status ikt_reader_check_options(ikt_context *ctx, const char *path, const ikt_reader_ops *ops,
                                    const ikt_reader_options *options);

/* LOCAL, pure. Whether a path, without ".gz", ends in one of these endings, separated by blanks;
 * capitals count as small letters. */
bool ikt_reader_is_named(const char *endings, const char *path);

/* LOCAL, pure. Whether a file is of a format, by its name or its first bytes. */
bool ikt_reader_fits(const ikt_reader_ops *ops, const char *path, const unsigned char *head,
                     int64_t bytes);

/* What the content of a file looks like. */
typedef struct {
    const ikt_reader_ops *format; /* NULL: none of ours */
    bool packed;                  /* whether it is gzipped */
    const char *foreign;          /* of a format that nobody here reads: "is an Excel file, ..." */
} ikt_reader_content;

/* LOCAL. Errors: IKT_ERR_FILE, IKT_ERR_DATA (empty). */
ikt_status ikt_reader_guess(ikt_context *ctx, const char *path, ikt_reader_content *content);

/* LOCAL. Fails with IKT_ERR_DATA where a file is gzipped of a format that is only read where it
 * stands plainly: of several arrays, or read by its layout alone. */
ikt_status ikt_reader_check_packed(ikt_context *ctx, const char *path,
                                   const ikt_reader_content *content);

/* The formats; the order in which they are tried is in reader.c. */
extern const ikt_reader_ops ikt_reader_idx, ikt_reader_npy, ikt_reader_npz, ikt_reader_mat,
    ikt_reader_libsvm, ikt_reader_csv, ikt_reader_mtx, ikt_reader_vecs, ikt_reader_bin,
    ikt_reader_safetensors;

/* LOCAL. Which array of a file that holds several is meant. Chooses: the one that `name` names;
 * else the only usable one; else the only table; else the first table whose name is usual for rows
 * (X, data, ...).
 *   name   NULL or "" where nothing is asked for
 *   out    receives its number
 * Errors: IKT_ERR_DATA: none, or several; the message names them, and the option to choose by. */
ikt_status ikt_array_choose(ikt_context *ctx, const char *path, const ikt_array *arrays,
                            int64_t count, const char *name, int64_t *out);

#endif
