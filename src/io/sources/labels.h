/* What stands beside the rows, in their file or in one of its own: classes, numbers and texts; of
 * an AnnData file also genes, and the colours of classes.
 *
 * Classes come from an HDF5 file, where AnnData keeps them in obs, or from a file of their own.
 * In an HDF5 file NAME is looked for as /NAME, then as obs/NAME. It may be
 *   integers          of any type, or floating numbers that are integers; also as one row or column
 *   truth values      an enumeration FALSE, TRUE
 *   texts             numbered from 0 in the order of their bytes
 *   categories        a group with `codes` and `categories` (anndata from 0.8 on), or codes with an
 *                     attribute `categories` that refers to their names (before): class k is
 *                     category k of the file
 *   values and mask   of integers, truth values or texts with gaps
 * Rows without a value, code -1 among them, are class IKT_LABEL_MISSING.
 */
#ifndef IKT_IO_SOURCES_LABELS_H
#define IKT_IO_SOURCES_LABELS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic_file.h"
#include "base/context.h"
#include "base/status.h"
#include "io/formats/class_labels.h"

/* LOCAL, pure. Whether these are the labels that are read where none are named, /labels. Where they
 * are numbers, the attribute label_names of the file may name the classes. */
bool ikt_labels_are_default(const char *name);

/* COLLECTIVE. Reads the classes of rows first .. first + count - 1.
 *   path      of the file, for messages
 *   n         rows of the file, as ikt_at_least says
 *   labels    [count]
 *   present   false where there is nothing of that name (no error)
 *   names     in: NULL, or what an earlier call for the same name gave, which spares the work; out:
 *             "a\nb\n", line k names class k; NULL where classes are numbers only; freed with
 *             ikt_free. A warning tells of classes beyond those that label_names names
 * Errors: IKT_ERR_DATA (length, type, a code beyond the categories, too many texts), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. Cost of texts: the whole column is read once to number them. */
ikt_status ikt_labels_read(ikt_context *ctx, hid_t file, const char *path, const char *name,
                           int64_t n, int64_t first, int64_t count, int64_t *labels, bool *present,
                           char **names);

/* COLLECTIVE. Whether NAME stands for classes that have names: categories, texts or truth values.
 * Errors: IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_labels_have_names(ikt_context *ctx, hid_t file, const char *path, const char *name,
                                 bool *named);

/* LOCAL. The attribute label_names of a file, with a line for each class and in UTF-8 (texts that
 * are not are taken for Latin-1, with a warning); freed with ikt_free, NULL where there is none.
 *   path   of the file, for messages. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_label_names_read(ikt_context *ctx, hid_t file, const char *path, char **names);

/* COLLECTIVE. As ikt_labels_read, of the file that `name` names: FILE.npy, FILE-idx1-ubyte,
 * FILE.npz:ARRAY, FILE.mat:ARRAY, FILE.h5:DATASET (FILE.h5 alone: its data set `labels`), or
 * FILE.csv:COLUMN by heading or number (FILE.csv alone: its only column, or `labels`).
 *   present   false where there is no such file (no error)
 * Errors: those of ikt_source_open and ikt_labels_read; IKT_ERR_DATA (more than one column, not n
 * entries, not integers). */
ikt_status ikt_label_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                               int64_t count, int64_t *labels, bool *present, char **names);

/* COLLECTIVE. The numbers of FILE.h5:DATASET, FILE.csv:COLUMN or FILE.npy, as doubles; a cell of
 * CSV that is missing is NaN. Errors: IKT_ERR_FILE; IKT_ERR_DATA (not n of them, more than one
 * column, no numbers); IKT_ERR_USAGE (no such column). */
ikt_status ikt_number_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                                int64_t count, double *values);

/* COLLECTIVE. Whether FILE.h5:DATASET or FILE.csv:COLUMN names classes that have names, rather than
 * numbers; false where there is no such file. Errors: those of ikt_labels_have_names and of
 * ikt_csv_file_open. */
ikt_status ikt_label_file_has_names(ikt_context *ctx, const char *name, bool *named);

/* "FILE" and "FILE:PART" as the options of columns, labels and texts name what they read. */

typedef struct {
    char file[IKT_PATH_MAX]; /* "" where there is none of that name */
    char part[IKT_PATH_MAX]; /* a data set or a column; "" where none is named */
    bool is_hdf5, is_csv;    /* by the content of the file */
} ikt_place;

/* COLLECTIVE. Takes a name apart, as rank 0 sees the file: other nodes need not see the same names.
 * Errors: IKT_ERR_FILE: what is there is no regular file, or cannot be read. */
ikt_status ikt_place_find(ikt_context *ctx, const char *name, ikt_place *place);

/* LOCAL. The name of the column of a file that is one column: that of the file without its folder
 * and its ending, or both of them in ids.csv.gz. */
void ikt_file_column(const char *path, char *name, size_t size);

/* The first whole number whose neighbour is no double: from here on integers have more digits. */
#define IKT_DOUBLE_WHOLE 9007199254740992.0

/* A text for each row, of any length: strings or integers of an HDF5 file, or a column of a CSV
 * file.
 *
 * NAME is FILE:COLUMN. In an HDF5 file COLUMN is a data set of strings or integers, /COLUMN or
 * obs/COLUMN (of an AnnData); in a CSV file it is a heading, or a number from 1. Texts come as
 * UTF-8; those that are not are taken for Latin-1, with a warning.
 */

/* What NAME stands for. */
typedef enum {
    IKT_TEXTS_NONE,    /* no texts: other numbers, categories, or nothing at all */
    IKT_TEXTS_STRINGS, /* strings of an HDF5 file */
    IKT_TEXTS_WHOLE,   /* integers of an HDF5 file, each in all its digits */
    IKT_TEXTS_CELLS    /* of a CSV file, which may be numbers, too */
} ikt_texts_kind;

/* COLLECTIVE. Looks without reading. Errors: IKT_ERR_FILE. */
ikt_status ikt_texts_look(ikt_context *ctx, const char *name, ikt_texts_kind *kind);

/* Texts of this rank's rows; one that is missing is "". */
typedef struct {
    int64_t count;
    const char **text; /* [count] */
    char *bytes;       /* all of them, each with its terminating zero */
} ikt_texts;

/* COLLECTIVE. Reads the texts of rows first .. first + count - 1.
 *   n     rows that there must be
 *   out   free with ikt_texts_free, also after a failure
 * Of a CSV file every rank reads all and keeps its own. Errors: IKT_ERR_DATA (another number of
 * rows, no texts), IKT_ERR_USAGE (no such column), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_texts_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                          int64_t count, ikt_texts *out);
void ikt_texts_free(ikt_texts *texts);

/* What an AnnData file knows beside rows and columns: its genes by name, and the colours of its
 * categories. See https://anndata.readthedocs.io, "On-disk format".
 */

/* COLLECTIVE. The values of some variables (genes) in rows first .. first + count - 1.
 *   path     of the file
 *   matrix   "X", "raw/X" or "layers/NAME": dense, or sparse by rows (CSR) or by columns (CSC)
 *   names    [wanted] of variables: entries of the index of var (of raw/var for raw/X), or else of
 *            its column feature_name, gene_symbols, gene_name or gene_short_name; the first wins
 *   n        rows that the matrix must have
 *   values   [wanted * count], gene after gene
 * Errors: IKT_ERR_DATA (no AnnData, no such matrix or gene, another number of rows), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. Time: a matrix that is dense or by rows is read once, whole, shared by the
 * ranks; of one by columns, each rank reads the columns asked for. */
ikt_status ikt_anndata_genes(ikt_context *ctx, const char *path, const char *matrix,
                             const char *const *names, int64_t wanted, int64_t n, int64_t first,
                             int64_t count, double *values);

/* COLLECTIVE. Colours that the file gives the categories of column NAME of obs: uns/NAME_colors, as
 * scanpy writes them, "#rrggbb".
 *   name     FILE:COLUMN; a file that is no AnnData, or has no such list, gives none
 *   count    receives how many there are; 0: none
 *   colour   receives [count] of 0xRRGGBB, -1 where an entry is no such colour; freed with ikt_free
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_anndata_colours(ikt_context *ctx, const char *name, int64_t *count,
                               int32_t **colour);

#endif
