/* One-dimensional data sets beside the rows: labels, marks, columns to colour by.
 *
 * They are read like the rows: each rank a range, collectively. `path` is the name of the file for
 * messages; `n` is the length that the data set must have, the rows of the file that it describes.
 */
#ifndef IKT_IO_HDF5_COLUMNS_H
#define IKT_IO_HDF5_COLUMNS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* How many entries there must be, as `n` of all that reads columns, labels and texts: n of them;
 * or, as ikt_at_least(m), m or more, of which -1, any number, is the case m = 0. And how many that
 * are, for messages. */
static inline int64_t ikt_at_least(int64_t m) {
    return -1 - m;
}
static inline bool ikt_entries_fit(int64_t has, int64_t n) {
    return n >= 0 ? has == n : has >= -1 - n;
}
static inline int64_t ikt_entries_wanted(int64_t n) {
    return n >= 0 ? n : -1 - n;
}

/* COLLECTIVE. Reads `count` integers from `first` on of the data set `name` of `file`: integers of
 * any type, or floating numbers that are integers.
 *   first, count   this rank's range; count may be 0
 *   values         [count]
 *   present        false where there is no such data set (no error)
 * Errors: IKT_ERR_DATA (length, not integers, 2^63 or more, which names the row; a link that leads
 * nowhere), IKT_ERR_FILE. */
ikt_status ikt_column_read_int(ikt_context *ctx, hid_t file, const char *path, const char *name,
                               int64_t n, int64_t first, int64_t count, int64_t *values,
                               bool *present);

/* A column that is read range after range, of any HDF5 file. */
typedef struct ikt_column ikt_column;

/* COLLECTIVE. Opens it; a column of obs (AnnData) may be named alone. *out is NULL on failure.
 * Errors: those above; IKT_ERR_DATA where there is no such data set, naming those there are. */
ikt_status ikt_column_open(ikt_context *ctx, const char *path, const char *dataset, int64_t n,
                           ikt_column **out);

/* LOCAL. Its entries, where n was -1: any number of them. */
int64_t ikt_column_length(const ikt_column *column);

/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_column_close(ikt_column **column);

/* LOCAL. Whether its numbers are of a floating type. */
bool ikt_column_is_real(const ikt_column *column);

/* COLLECTIVE. Reads `count` numbers from `first` on, as doubles, or as integers what is stored as
 * integers. Errors: IKT_ERR_FILE; IKT_ERR_DATA: an integer of 2^63 or more. */
ikt_status ikt_column_read_reals(ikt_column *column, int64_t first, int64_t count, double *values);
ikt_status ikt_column_read_wholes(ikt_column *column, int64_t first, int64_t count,
                                  int64_t *values);

/* COLLECTIVE. Reads such a range as doubles and closes the file. */
ikt_status ikt_source_read_column(ikt_context *ctx, const char *path, const char *dataset,
                                  int64_t n, int64_t first, int64_t count, double *values);

/* COLLECTIVE. The entries of /marked below n, the number of rows in use, on every rank, in the
 * order of the file; see ikt_source_read_marked.
 *   n_file   rows of the file, all of which may be marked
 * Errors: IKT_ERR_DATA (not integers, no rows of the file), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_marked_read(ikt_context *ctx, hid_t file, const char *path, int64_t n_file,
                           int64_t n, int64_t **rows, int64_t *count);

/* Texts in HDF5 data sets: names of categories, columns of texts.
 *
 * Strings of fixed or variable length, numbers and members of enumerations all come as text in
 * which nothing breaks a line (at most 1,023 bytes of it), in UTF-8: a text that is not UTF-8 is
 * taken for Latin-1 (ISO 8859-1), with one warning. They are read in small blocks by each rank
 * alone, so that a damaged file cannot ask for much memory.
 */

/* LOCAL. Length of a one-dimensional data set, or of a cell array of MATLAB's (cellstr) that is one
 * row or column; -1 for others. */
int64_t ikt_h5_length(hid_t dataset);

/* LOCAL. Whether a data set holds strings, or is such a cell array. */
bool ikt_h5_is_text(hid_t dataset);

/* LOCAL. Calls visit(self, i, text) for entries i = first .. first + count - 1 of a one-dimensional
 * data set, in order, until it fails. The text is borrowed for the call.
 *   is_whole   strings are given as they are, of any length and with their line breaks: texts to be
 *              read rather than names
 * Errors: those of `visit`; IKT_ERR_FILE, IKT_ERR_DATA (elements that are no text), and
 * IKT_ERR_RESOURCE. */
typedef ikt_status ikt_text_visitor(void *self, int64_t i, const char *text);
ikt_status ikt_h5_visit_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                              bool is_whole, ikt_text_visitor *visit, void *self);

/* LOCAL. Whether a group is a DataFrame of AnnData's (also in obsm); its columns, which its
 * attribute column-order names, opened. *count receives how many; column [*count] is freed with
 * ikt_free, each closed with ikt_h5_close, also after a failure. Errors: IKT_ERR_DATA (a name of
 * none), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
bool ikt_h5_is_frame(hid_t group);
ikt_status ikt_h5_open_frame(ikt_context *ctx, hid_t group, hid_t **column, int64_t *count);

/* LOCAL. Warns that texts of the object of that name are taken for Latin-1. */
void ikt_h5_warn_latin1(ikt_context *ctx, const char *name);

/* LOCAL. The members of an enumeration whose values are 0, 1, ..., "a\nb\n", freed with ikt_free;
 * NULL for others. */
ikt_status ikt_h5_enum_names(ikt_context *ctx, hid_t dataset, char **names);

#endif
