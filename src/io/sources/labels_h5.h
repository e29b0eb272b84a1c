/* Classes of rows from an HDF5 file: integers, and what AnnData keeps in obs.
 *
 * NAME is looked for as /NAME, then as obs/NAME. It may be
 *   integers          of any type, or floating numbers that are integers; also as one row or column
 *   truth values      an enumeration FALSE, TRUE
 *   texts             numbered from 0 in the order of their bytes
 *   categories        a group with `codes` and `categories` (anndata from 0.8 on), or codes with an
 *                     attribute `categories` that refers to their names (before): class k is
 *                     category k of the file
 *   values and mask   of integers, truth values or texts with gaps
 * Rows without a value, code -1 among them, are class IKT_LABEL_MISSING.
 */
#ifndef IKT_IO_SOURCES_LABELS_H5_H
#define IKT_IO_SOURCES_LABELS_H5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Reads the classes of rows first .. first + count - 1.
 *   path      of the file, for messages
 *   n         rows of the file
 *   labels    [count]
 *   present   false where there is nothing of that name (no error)
 *   names     in: NULL, or what an earlier call for the same name gave, which spares the work; out:
 *             "a\nb\n", line k names class k; NULL where classes are numbers only; freed with
 *             ikt_free
 * Errors: IKT_ERR_DATA (length, type, a code beyond the categories, too many texts), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. Cost of texts: the whole column is read once to number them. */
ikt_status ikt_labels_read(ikt_context *ctx, hid_t file, const char *path, const char *name,
                           int64_t n, int64_t first, int64_t count, int64_t *labels, bool *present,
                           char **names);

/* COLLECTIVE. Whether NAME stands for classes that have names: categories, texts or truth values.
 * Errors: IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_labels_have_names(ikt_context *ctx, hid_t file, const char *path, const char *name,
                                 bool *named);

/* LOCAL. The attribute label_names of a file, which names the classes of its data set /labels, with
 * a line for each class and in UTF-8 (texts that are not are taken for Latin-1, with a warning);
 * freed with ikt_free, NULL where there is none.
 *   path   of the file, for messages. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_label_names_read(ikt_context *ctx, hid_t file, const char *path, char **names);

#endif
