/* Which rank owns which rows: contiguous blocks whose sizes differ by at most one. Sets of rows.
 *
 * Ownership is a pure function of (n, ranks); ranks without rows are legal (n < ranks).
 */
#ifndef IKT_DIST_ROWS_H
#define IKT_DIST_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t n;     /* global rows, >= 0 */
    int ranks;     /* >= 1 */
    int64_t first; /* first global row of this rank */
    int64_t count; /* rows of this rank */
} ikt_rows;

/* LOCAL. */
ikt_rows ikt_rows_make(int64_t n, int ranks, int rank);
int64_t ikt_rows_first(const ikt_rows *rows, int rank); /* rank == ranks gives n */
int64_t ikt_rows_count(const ikt_rows *rows, int rank);
int ikt_rows_owner(const ikt_rows *rows, int64_t row);

/* Whether a row belongs to this rank. */
static inline bool ikt_is_own(const ikt_rows *rows, int64_t row) {
    return row >= rows->first && row < rows->first + rows->count;
}

/* COLLECTIVE. What belongs to a few rows, on every rank.
 *   row      [count] the rows, ascending, the same on all ranks; a row may come twice
 *   own      [rows->count] elements of `bytes` bytes, of the own rows
 *   counts   [ranks] receives how many of the few rows each rank owns
 *   all      [count] elements, in the order of `row` */
void ikt_rows_gather(ikt_context *ctx, const ikt_rows *rows, const int64_t *row, int64_t count,
                     const void *own, size_t bytes, int64_t *counts, void *all);

/* A set of global rows, one bit each, whose members have numbers: how many come before. Advantage:
 * no sorting of millions of columns, a number is one look-up. Disadvantage: 3 n / 16 bytes. */
typedef struct {
    uint64_t *mark;   /* [words] bit r % 64 of word r / 64: row r is a member */
    uint32_t *before; /* [words] members in the words before */
    int64_t words;
    int64_t count; /* members, once they are numbered */
} ikt_row_set;

/* LOCAL, all of the following. An empty set of rows below n. Errors: IKT_ERR_RESOURCE; free with
 * ikt_row_set_destroy in any case. */
ikt_status ikt_row_set_create(ikt_context *ctx, int64_t n, ikt_row_set *out);
void ikt_row_set_destroy(ikt_row_set *set);

/* Adds a row; from several threads at once. */
void ikt_row_set_add(ikt_row_set *set, uint32_t row);

/* Numbers the members, by ascending row. Nothing may be added afterwards. */
void ikt_row_set_number(ikt_row_set *set);

/* The members, ascending: row[set->count]. */
void ikt_row_set_list(const ikt_row_set *set, uint32_t *row);

/* The number of a member. */
static inline int64_t ikt_row_set_place(const ikt_row_set *set, uint32_t row) {
    uint64_t below = (UINT64_C(1) << (row % 64)) - 1;
    return (int64_t)set->before[row / 64] + __builtin_popcountll(set->mark[row / 64] & below);
}

#endif
