/* Rows of a data set, opened on all ranks and read by ranges.
 *
 * A source is one way of holding rows (an HDF5 file, an AnnData or MATLAB 7.3 file among them; an
 * NPY, IDX or raw file; an array in memory); all are read alike, in parallel and without a copy of
 * the file in memory. CSV is parsed by all ranks and then held in memory, a share on each. Other
 * files that must be unpacked or parsed are for `iktsne convert`.
 */
#ifndef IKT_IO_SOURCES_SOURCE_H
#define IKT_IO_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "io/numbers/element.h"
#include "io/numbers/sparse_rows.h"

typedef struct ikt_source ikt_source;

/* The first of two sources that is there; NULL: neither is. */
static inline ikt_source *ikt_source_or(ikt_source *first, ikt_source *other) {
    return first ? first : other;
}

/* LOCAL. Whether a file is HDF5 (a regular file, not a pipe), also behind a block of another
 * program's (MATLAB has one). */
bool ikt_source_is_hdf5(const char *path);

/* Whether the rows of the data are the columns of the file. AUTO: of a MATLAB file, which stores
 * matrices column after column. */
typedef enum { IKT_TRANSPOSED_AUTO, IKT_TRANSPOSED_YES, IKT_TRANSPOSED_NO } ikt_transposed;

/* A file of nothing but numbers, row after row; the size of the file tells how many rows. */
typedef struct {
    ikt_element element;
    int64_t columns; /* 0: the file is of a format that says what it holds */
    int64_t skip;    /* bytes before the first number */
} ikt_raw;

/* The data set of a file that names none: obsm/X_pca of an AnnData file that has it, else X. */
#define IKT_DATASET_AUTO "auto"

typedef struct {
    const char *dataset; /* of an HDF5 file; "X" or "auto" for files that hold one array only, and
                            for all columns of numbers of CSV, of which others are "NAME,NAME" */
    const char *labels;  /* of CSV: the column that is no number but the label, where there is one
                            of that name; NULL: none */
    char delimiter;      /* of CSV; 0: the one that it shows */
    const char *skip; /* of CSV: columns to leave out, names or numbers with commas between; NULL:
                         none */
    bool is_map;      /* one to three columns of positions: of CSV those of x, y and z where there
                         are such; also of formats that only one rank can read */
    bool is_list;     /* an array of one axis will do: labels, a column */
    int64_t rows;     /* use only the first rows; 0 = all */
    ikt_transposed transposed;
    ikt_raw raw;
    bool skip_is_shared; /* `skip` was said of several files, and may be meant for others of them */
    bool inherited;      /* the data set, `skip` and `raw` are those of another file: passed over
                            where the format has no use for them, or the columns are not there */
} ikt_source_options;

/* COLLECTIVE. Opens the rows (n x d) that a file holds, whose format its content tells; of HDF5 a
 * data set, or the group of a sparse matrix stored by rows (sparse_group.h; "/" where its parts lie
 * at the root). uint8, float32 and float64 keep their type; float16 and integers of up to 16 bits
 * come as float32, other integers as float64, which holds them exactly (64-bit integers of 2^53 or
 * more are refused when they are read). Errors: IKT_ERR_FILE (missing, damaged; of a format that is
 * to be converted first, with the command), IKT_ERR_DATA (no such data set, with those there are;
 * not two-dimensional; not numbers; a group that is no sparse matrix of rows, or a damaged one; no
 * rows), IKT_ERR_USAGE (rows > n; options that the format has no use for). */
ikt_status ikt_source_open_with(ikt_context *ctx, const char *path,
                                const ikt_source_options *options, ikt_source **out);

/* COLLECTIVE. The same with nothing special. */
ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out);

/* COLLECTIVE. The data set that another file's was, for the rows of this one: "auto" where this is
 * a file of safetensors without an array of that name, else as it is. Errors: those of reading the
 * names of the arrays; a file that cannot be read is none. */
ikt_status ikt_source_adopt(ikt_context *ctx, const char *path, char dataset[IKT_STRING_MAX]);

/* COLLECTIVE. A source on an array that every rank holds whole; borrowed until close. */
ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out);

/* COLLECTIVE. A source on rows of which each rank holds its own, in the order of the ranks.
 *   rows     [count * d] of this rank; borrowed until close
 *   labels   [count], borrowed until close, or NULL on all ranks with rows: the labels
 *            whatever name is asked for
 *   count    any, also 0; d and type the same on all ranks
 * Errors: IKT_ERR_USAGE (negative sizes, an array that is missing, ranks that disagree),
 * IKT_ERR_DATA (no rows), IKT_ERR_RESOURCE. */
ikt_status ikt_source_from_rows(ikt_context *ctx, const void *rows, const int64_t *labels,
                                int64_t count, int64_t d, ikt_type type, ikt_source **out);

/* COLLECTIVE. The same on sparse rows of float32 or float64 values (`type`), canonical, borrowed.
 */
ikt_status ikt_source_from_sparse(ikt_context *ctx, const ikt_sparse_rows *rows, int64_t d,
                                  ikt_type type, ikt_source **out);

/* Compressed sparse rows as SciPy holds them: those of one rank. Lent. */
typedef struct {
    int64_t count;      /* rows of this rank */
    const void *start;  /* [count + 1] the entries of row i are start[i] .. start[i + 1] - 1 */
    const void *column; /* [start[count]] */
    const void *value;  /* [start[count]] */
    ikt_index index;    /* type of start and column */
    ikt_type type;      /* of the values */
} ikt_csr_arrays;

/* COLLECTIVE. A source on such rows, of which each rank holds its own, in the order of the ranks.
 * Columns of a row may stand in any order; a value that comes twice counts as its sum. Values of
 * bytes come as float32.
 *   d        columns; d, and the types, are the same on all ranks
 *   labels   as above
 * Errors: IKT_ERR_USAGE (negative sizes, missing arrays, ranks that disagree), IKT_ERR_DATA (no
 * rows, starts that descend), IKT_ERR_RESOURCE. */
ikt_status ikt_source_from_csr(ikt_context *ctx, const ikt_csr_arrays *rows, const int64_t *labels,
                               int64_t d, ikt_source **out);

/* COLLECTIVE, for a graph on the arrays of such a source: where the entries of rows begin, and
 * their columns and values as they are given, as of ikt_csr_group_starts and
 * ikt_csr_group_entries, with their errors. */
ikt_status ikt_source_csr_starts(ikt_source *source, int64_t first, int64_t count, int64_t *start);
ikt_status ikt_source_csr_entries(ikt_source *source, int64_t first, int64_t count,
                                  const int64_t *start, uint32_t *column, double *value);

/* COLLECTIVE. Closes and sets to NULL; accepts NULL. */
void ikt_source_close(ikt_source **source);

/* LOCAL. */
int64_t ikt_source_rows(const ikt_source *source);
int64_t ikt_source_columns(const ikt_source *source);
ikt_type ikt_source_type(const ikt_source *source);
bool ikt_source_is_half(const ikt_source *source);     /* float16, which comes as float32 */
const char *ikt_source_name(const ikt_source *source); /* "file.h5:/X", "file.npy" */

/* LOCAL. Whether rows are held sparse; they are never uint8 then. Of sparse ones: the type that
 * holds every value as stored, which may be uint8; how many entries the rows hold in all, as
 * stored; the longest of them; and rows to be read at a time, a power of two, so that blocks that
 * begin at its multiples hold a million entries at most, or one row. */
bool ikt_source_is_sparse(const ikt_source *source);
ikt_type ikt_source_stored_type(const ikt_source *source);
int64_t ikt_source_entries(const ikt_source *source);
int64_t ikt_source_longest_row(const ikt_source *source);
int64_t ikt_source_block_rows(const ikt_source *source);

/* COLLECTIVE. Reads rows first .. first + count - 1 into rows[count * d] of the source's type;
 * those of a sparse source are filled up with zeros. Ranks may ask for different ranges; count may
 * be 0. Errors: IKT_ERR_FILE, agreed; of sparse sources also those of ikt_source_read_sparse. */
ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows);

/* COLLECTIVE. The same rows of a sparse source as they are held, in canonical form.
 *   rows   grows as needed; free with ikt_sparse_rows_destroy, also after a failure
 * Errors: IKT_ERR_DATA with row and column (an index beyond the columns, a value that is not finite
 * or an integer of 2^53 or more), IKT_ERR_FILE, IKT_ERR_RESOURCE; agreed. */
ikt_status ikt_source_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                  ikt_sparse_rows *rows);

/* COLLECTIVE. Reads the labels of rows.
 *   name      a data set of n integers beside the rows, of safetensors an array; of an AnnData file
 *             also a column of obs (categories, texts, truth values and integers: labels.h); or a
 *             file of its own,
 *             FILE.npy, FILE-idx1-ubyte or FILE.h5:DATASET
 *   labels    [count]
 *   present   false where there is nothing of that name (no error)
 * Errors: IKT_ERR_DATA (wrong length, not classes), IKT_ERR_FILE. */
ikt_status ikt_source_read_labels(ikt_source *source, const char *name, int64_t first,
                                  int64_t count, int64_t *labels, bool *present);

/* COLLECTIVE. Fails with IKT_ERR_DATA: there are no labels of that name; the message lists what
 * could be labels.
 *   key   what the name was given by, "input.labels" or "--labels" */
ikt_status ikt_source_no_labels(ikt_source *source, const char *name, const char *key);

/* COLLECTIVE. Rows to be marked in pictures (/marked), the same on every rank, freed with ikt_free;
 * NULL and 0 where there are none. Rows beyond those used are left out. */
ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count);

/* COLLECTIVE. A text attribute of the file, on every rank, freed with ikt_free; NULL where there is
 * none. "label_names" are the names of the classes that were read last (ikt_source_read_labels),
 * "a\nb\n": line k names class k. */
ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text);

/* LOCAL. Of CSV: "line 7, column 3 ('width'): the cell is missing, the first of 12", where cells
 * are missing, which then are NaN; "" otherwise. The same on every rank. */
const char *ikt_source_missing(const ikt_source *source);

/* LOCAL. The name of a column, cut to `size`; false where columns have none, and `name` is "". */
bool ikt_source_column_name(const ikt_source *source, int64_t column, char *name, size_t size);

/* Names of columns that take more bytes are not known. */
enum { IKT_COLUMN_NAMES_MOST = 64 << 20 };

/* COLLECTIVE. The names that the file gives all columns, "a\nb\n" in their order, on every rank,
 * freed with ikt_free: headings of CSV, variables of AnnData and loom, columns of a DataFrame. NULL
 * where columns have none. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_source_column_names(ikt_source *source, char **names);

/* COLLECTIVE. Brings columns into the order of those of other rows, by their names; nothing is done
 * where one side has none, or another number of columns.
 *   from    rows of any kind, borrowed until the source on top is closed, or owned by it
 *   names   of the columns of the other rows, a line each; NULL: none
 *   whose   what has them, for messages: "the rows of model.h5"
 *   out     a source on top of `from` with the same rows, labels and texts, whose columns stand in
 *           that order; NULL where `from` has it already
 * Errors: IKT_ERR_DATA where a name of the one is none of the other; those of reading. */
ikt_status ikt_source_order_columns(ikt_context *ctx, ikt_source *from, bool owns,
                                    const char *names, const char *whose, ikt_source **out);

/* What a file is and what it holds beside the rows that were opened, for messages. */
enum { IKT_CONTENT_TEXT = 1024 };
typedef struct {
    const char *format;            /* "HDF5", "AnnData", "MATLAB 7.3", "NPY", "memory" */
    char tables[IKT_CONTENT_TEXT]; /* what could be embedded: "X (2700 x 1838), obsm/X_pca ..." */
    char labels[IKT_CONTENT_TEXT]; /* what could be labels: "labels", "leiden, cell_type"; or "" */
    char beside[IKT_CONTENT_TEXT]; /* of CSV, the columns that are no part of the rows: "text in
                                      'id'; left out: 'row'"; or "" */
} ikt_source_content;

/* LOCAL, but on files that are opened in parallel to be called by all ranks. */
void ikt_source_describe(const ikt_source *source, ikt_source_content *content);

/* What a program that calls the library lends in place of files: a graph, a matrix of all pairs, or
 * positions to start from, in memory.
 *
 * Where a file of these is named in the settings (input.graph, layout.init_file), the name of an
 * array that the context borrowed stands for that array: all that opens such a file opens the array
 * in the same way. Advantage: nothing between the settings and the array has to know of it.
 */

/* The names. */
#define IKT_BORROWED_GRAPH "memory:graph"
#define IKT_BORROWED_PAIRS "memory:pairs"
#define IKT_BORROWED_START "memory:start"

/* Sources of the program's arrays; each may be NULL. */
typedef struct {
    ikt_source *graph; /* n x n, of ikt_source_from_csr */
    ikt_source *pairs; /* n x n, dense */
    ikt_source *start; /* n x dimensions, dense */
} ikt_borrowed;

/* SAME-ARGS. Lends them to a context until the next call; NULL: nothing any more. */
void ikt_borrow(ikt_context *ctx, const ikt_borrowed *borrowed);

/* LOCAL. What the context borrowed, or NULL. */
const ikt_borrowed *ikt_borrowed_of(const ikt_context *ctx);

/* LOCAL. The source of that name; NULL where the name is none of these, or nothing is borrowed. */
ikt_source *ikt_borrowed_find(const ikt_context *ctx, const char *name);

#endif
