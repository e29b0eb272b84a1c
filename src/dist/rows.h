/* Which rank owns which rows: contiguous blocks whose sizes differ by at most one.
 *
 * Pure functions of (n, ranks); ranks without rows are legal (n < ranks).
 */
#ifndef IKT_DIST_ROWS_H
#define IKT_DIST_ROWS_H

#include <stdint.h>

typedef struct {
    int64_t n;     /* global rows, >= 0 */
    int ranks;     /* >= 1 */
    int64_t first; /* first global row of this rank */
    int64_t count; /* rows of this rank */
} ikt_rows;

/* LOCAL, all of them. */
ikt_rows ikt_rows_make(int64_t n, int ranks, int rank);
int64_t ikt_rows_first(const ikt_rows *rows, int rank); /* rank == ranks gives n */
int64_t ikt_rows_count(const ikt_rows *rows, int rank);
int ikt_rows_owner(const ikt_rows *rows, int64_t row);

#endif
