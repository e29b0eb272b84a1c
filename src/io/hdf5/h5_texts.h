/* Texts in HDF5 data sets: names of categories, columns of texts.
 *
 * Strings of fixed or variable length, numbers and members of enumerations all come as text in
 * which nothing breaks a line (at most 1,023 bytes of it), in UTF-8: a text that is not UTF-8 is
 * taken for Latin-1 (ISO 8859-1), with one warning. They are read in small blocks by each rank
 * alone, so that a damaged file cannot ask for much memory.
 */
#ifndef IKT_IO_HDF5_H5_TEXTS_H
#define IKT_IO_HDF5_H5_TEXTS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL. Length of a one-dimensional data set, -1 for others. */
int64_t ikt_h5_length(hid_t dataset);

/* LOCAL. Whether a data set holds strings. */
bool ikt_h5_is_text(hid_t dataset);

/* LOCAL. Calls visit(self, i, text) for entries i = first .. first + count - 1 of a one-dimensional
 * data set, in order, until it fails. The text is lent for the call.
 * Errors: those of `visit`; IKT_ERR_FILE, IKT_ERR_DATA (elements that are no text), and
 * IKT_ERR_RESOURCE. */
typedef ikt_status ikt_text_visitor(void *self, int64_t i, const char *text);
ikt_status ikt_h5_visit_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                              ikt_text_visitor *visit, void *self);

/* LOCAL. The same with strings as they are, of any length and with their line breaks: texts to be
 * read rather than names. */
ikt_status ikt_h5_visit_whole_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                                    ikt_text_visitor *visit, void *self);

/* LOCAL. Warns that texts of the object of that name are taken for Latin-1. */
void ikt_h5_warn_latin1(ikt_context *ctx, const char *name);

/* LOCAL. The members of an enumeration whose values are 0, 1, ..., "a\nb\n", freed with ikt_free;
 * NULL for others. */
ikt_status ikt_h5_enum_names(ikt_context *ctx, hid_t dataset, char **names);

#endif
