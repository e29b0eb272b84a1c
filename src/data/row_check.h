/* Rows that no statistic has seen: can distances be computed with them? */
#ifndef IKT_DATA_ROW_CHECK_H
#define IKT_DATA_ROW_CHECK_H

#include "io/sources/source.h"

/* LOCAL. First of `count` mapped rows that holds a value that is not finite, or so large that
 * squared distances leave single precision; -1: none.
 *   rows   [count * columns] */
int64_t ikt_rows_find_bad(const float *rows, int64_t count, int64_t columns);

/* LOCAL. Fails with IKT_ERR_DATA, naming row and column of the source and what is wrong.
 *   row      its number in the source
 *   native   [ikt_source_columns(source)] the row as read
 *   room     [ikt_source_columns(source)] */
ikt_status ikt_row_refuse(ikt_context *ctx, const ikt_source *source, int64_t row,
                          const void *native, double *room);

#endif
