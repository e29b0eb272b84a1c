/* Rows of which only the entries that are not zero are held: compressed sparse rows (CSR).
 *
 * Text as bags of words has some hundred entries in a row of a million columns; dense, it would not
 * fit anywhere. Rows are CANONICAL: columns ascend within a row, none comes twice, no value is 0,
 * so that equal rows are equal bytes.
 */
#ifndef IKT_IO_NUMBERS_SPARSE_ROWS_H
#define IKT_IO_NUMBERS_SPARSE_ROWS_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t count;   /* rows */
    int64_t *start;  /* [count + 1] entries of row i are start[i] .. start[i + 1] - 1, from 0 */
    int32_t *column; /* [start[count]] ascending in each row */
    double *value;   /* [start[count]] finite, not 0 */
} ikt_sparse_rows;

/* LOCAL. Reserves memory for so many rows and entries; an array that has to grow loses what it
 * holds. An all-zero struct has no memory. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_rows_reserve(ikt_context *ctx, int64_t count, int64_t entries,
                                   ikt_sparse_rows *rows);
void ikt_sparse_rows_destroy(ikt_sparse_rows *rows);

/* LOCAL. Sorts a row by column, adds up the values of a column that comes more than once, in the
 * order in which they stand, and drops what is 0 then.
 *   column, value   [count], the row as it was stored
 *   is_single       whether sums are rounded to float32
 *   scratch         ikt_sparse_scratch_bytes(count) bytes of workspace; NULL where the columns
 * ascend already (ikt_sparse_is_ascending) Returns how many entries are left. */
int64_t ikt_sparse_canonical(int32_t *column, double *value, int64_t count, int is_single,
                             void *scratch);

/* LOCAL. The same for all rows, and closes the gaps that dropped entries leave.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sparse_rows_order(ikt_context *ctx, int is_single, ikt_sparse_rows *rows);

/* LOCAL, pure. Whether columns ascend, none twice. Bytes of workspace for rows of
 * `count`. */
int ikt_sparse_is_ascending(const int32_t *column, int64_t count);
int64_t ikt_sparse_scratch_bytes(int64_t count);

#endif
