/* What people leave with: an embedding in the formats of other programs.
 *
 * Rows pass by in blocks of fixed size, block b on rank b modulo the number of ranks, so that any
 * size works in the memory of a block and the bytes do not depend on the ranks. A format is one
 * file with one line in export.c.
 */
#ifndef IKT_IO_EXPORT_EXPORT_H
#define IKT_IO_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic_file.h"
#include "io/hdf5/columns.h"
#include "io/results/beside.h"
#include "io/results/result.h"
#include "io/sources/labels.h"

enum {
    IKT_EXPORT_PATH = 1024,
    IKT_EXPORT_NAME = 256,
    IKT_EXPORT_COLUMNS = 32,
    IKT_EXPORT_BLOCK = 1 << 16
};

#define IKT_EXPORT_KEY "X_iktsne" /* in obsm, unless another is named */

/* What a column holds: numbers; classes that have names; texts. */
typedef enum { IKT_EXPORT_NUMBERS, IKT_EXPORT_CLASSES, IKT_EXPORT_TEXTS } ikt_export_kind;

/* A number, class or text for each row beside its place. */
typedef struct {
    char name[IKT_EXPORT_NAME]; /* "label" */
    ikt_export_kind kind;
    char source[2 * IKT_EXPORT_PATH]; /* FILE:DATASET of what is read anew for every block */
    ikt_column *values;               /* numbers, and the labels of a run; owned */
    double *cells;                    /* [n] numbers of a column that is held, as of CSV; owned */
    int64_t *classes;                 /* [n] likewise, or integers; owned */
    ikt_texts texts;                  /* likewise, all n; owned */
    char *names;                      /* "a\nb\n": line k names class k; NULL: none; owned */
} ikt_export_column;

/* What is exported; freed with ikt_export_close. */
typedef struct {
    ikt_context *ctx;
    const char *run;       /* the map, as it was named; borrowed */
    ikt_result_file *file; /* owned */
    int64_t n;
    int q;
    ikt_beside beside; /* all rows: their numbers in the input, columns of other files */
    ikt_export_column column[IKT_EXPORT_COLUMNS];
    int64_t columns;
} ikt_export;

/* How it is written. Everything is borrowed. */
typedef struct {
    bool overwrite;
    bool row_numbers;     /* a column of them */
    bool is_gzipped;      /* text */
    bool guards_formulas; /* text: an apostrophe before names that begin like a formula */
    const char *anndata;  /* the AnnData file of which a copy is made */
    bool in_place;        /* the copy takes the place of that file */
    const char *key;      /* of the embedding in it: "X_iktsne" */
} ikt_export_options;

typedef struct {
    const char *name;    /* "npy" */
    const char *endings; /* ".npy", several with blanks between */
    const char *what;    /* is written and under which names, as ikt_files_add_written takes them */
    const char *own_endings;
    bool has_columns; /* whether it holds more than the places */
    bool is_text;     /* and may be gzipped */
    bool is_stream;   /* written from front to back: into a pipe, too */
    /* COLLECTIVE. Errors: IKT_ERR_FILE, IKT_ERR_DATA, IKT_ERR_RESOURCE. */
    ikt_status (*write)(ikt_export *export, const ikt_export_options *options, const char *path);
} ikt_export_format;

/* COLLECTIVE. Opens the result file. Errors: those of ikt_result_open. */
ikt_status ikt_export_open(ikt_context *ctx, const char *run, ikt_export *out);
void ikt_export_close(ikt_export *export);

/* COLLECTIVE. Adds a column: the data set of the map's file, or of another; of a CSV file a column
 * of it, of an AnnData file also a column of obs.
 *   present   NULL, or receives whether there is such a data set; without it that is an error
 * Errors: those of ikt_column_open, ikt_label_file_read and ikt_texts_read; IKT_ERR_USAGE: too
 * many. */
ikt_status ikt_export_add(ikt_export *export, const char *file, const char *dataset, bool *present);

/* COLLECTIVE. Adds the labels of the map, where it has some: the data set `labels`, or of a map in
 * CSV its column `label` or `labels`, and the names of the classes beside it, `label_name`. Errors:
 * as above. */
ikt_status ikt_export_add_labels(ikt_export *export);

/* LOCAL. The numbers in the input of the rows first .. first + count - 1: those that the run has
 * stored, where they ascend as those of a run do, or else from `first` on. */
void ikt_export_numbers(const ikt_export *export, int64_t first, int64_t count, int64_t *number);

/* LOCAL. Whether a column of numbers is of a floating type. */
bool ikt_export_is_real(const ikt_export_column *column);

/* COLLECTIVE. The entries first .. first + count - 1 of a column of the kind, or as many texts,
 * which are freed with ikt_export_texts_free. Classes come as their numbers. Errors: those of
 * reading. */
ikt_status ikt_export_reals(ikt_export *export, int64_t c, int64_t first, int64_t count,
                            double *values);
ikt_status ikt_export_wholes(ikt_export *export, int64_t c, int64_t first, int64_t count,
                             int64_t *values);
ikt_status ikt_export_texts(ikt_export *export, int64_t c, int64_t first, int64_t count,
                            ikt_texts *texts);
void ikt_export_texts_free(ikt_texts *texts);

/* LOCAL. The format of that name, or of a file's name where `name` is "auto"; NULL: none.
 *   is_gzipped   receives whether the name of the file says so */
const ikt_export_format *ikt_export_find(const char *name, const char *path, bool *is_gzipped);

/* LOCAL. All names of formats, for messages: "npy, csv, ...". */
void ikt_export_names(char *text, size_t size);

/* LOCAL. Rows of this rank in a round: *count of them from *first on; none where the rows are
 * over. Rounds that it takes to see all rows, the same on every rank: 0 of no rows. */
int64_t ikt_export_rounds(const ikt_export *export);
void ikt_export_share(const ikt_export *export, int64_t round, int64_t *first, int64_t *count);

extern const ikt_export_format ikt_export_npy, ikt_export_csv, ikt_export_tsv, ikt_export_h5ad,
    ikt_export_vtkhdf;

#endif
