/* A column of a CSV file as the texts of its cells, whatever they hold. */
#ifndef IKT_IO_FORMATS_CSV_TEXTS_H
#define IKT_IO_FORMATS_CSV_TEXTS_H

#include <stdint.h>

#include "base/status.h"

/* LOCAL. Calls visit(self, row, text) for every row of the file, in order, until it fails. The text
 * is that of the cell, unquoted, lent for the call; it is of any length and may have line breaks.
 *   column   its heading, or its number from 1
 * Errors: those of `visit`; IKT_ERR_FILE, IKT_ERR_DATA (no CSV), IKT_ERR_USAGE (no such column),
 * IKT_ERR_RESOURCE. */
typedef ikt_status ikt_csv_visitor(void *self, int64_t row, const char *text);
ikt_status ikt_csv_visit_column(ikt_context *ctx, const char *path, const char *column,
                                ikt_csv_visitor *visit, void *self);

#endif
