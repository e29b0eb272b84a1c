/* Texts of an HDF5 data set as classes: a list of names, or a column whose different texts are the
 * classes, numbered in the order of their bytes.
 *
 * Each rank sorts the different texts of its share of the rows, the lists are joined on every rank
 * and sorted again: what comes out does not depend on ranks. Disadvantage: all different texts on
 * every rank, which is why there may be IKT_CLASSES_MAX (csv_classes.h) of them.
 */
#ifndef IKT_IO_SOURCES_TEXT_CLASSES_H
#define IKT_IO_SOURCES_TEXT_CLASSES_H

#include <hdf5.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL. All entries of a list in its order, "a\nb\n", freed with ikt_free.
 * Errors: IKT_ERR_DATA (no list of texts or numbers, too many), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_text_list_read(ikt_context *ctx, hid_t dataset, char **names);

/* COLLECTIVE. The different texts of a column, sorted; as above. */
ikt_status ikt_text_classes_find(ikt_context *ctx, hid_t dataset, char **names);

/* COLLECTIVE. Numbers of the texts of rows first .. first + count - 1 among `names`, to
 * labels[count]. Errors: as above. */
ikt_status ikt_text_classes_number(ikt_context *ctx, hid_t dataset, const char *names,
                                   int64_t first, int64_t count, int64_t *labels);

#endif
