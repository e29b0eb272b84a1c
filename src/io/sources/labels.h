/* Classes of rows: from an HDF5 file, where AnnData keeps them in obs, or from a file of their own.
 *
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

#include "base/status.h"
#include "io/formats/class_labels.h"

/* LOCAL, pure. Whether these are the labels that are read where none are named, /labels. Where they
 * are numbers, the attribute label_names of the file may name the classes. */
bool ikt_labels_are_default(const char *name);

/* COLLECTIVE. Reads the classes of rows first .. first + count - 1.
 *   path      of the file, for messages
 *   n         rows of the file
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

#endif
