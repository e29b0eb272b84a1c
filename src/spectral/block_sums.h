/* Sums over all rows of blocks of vectors, in fixed blocks of rows: what block.c is made of. */
#ifndef IKT_SPECTRAL_BLOCK_SUMS_H
#define IKT_SPECTRAL_BLOCK_SUMS_H

#include "linalg/blocks.h"
#include "spectral/block.h"

/* The rows that this rank sums: whole fixed blocks, of which the last may end with rows of the
 * ranks behind. */
typedef struct {
    const ikt_block *block; /* lent */
    int64_t skipped;        /* own rows that the owner of their block's first row sums */
    int64_t count;          /* rows to be summed, from own row `skipped` on */
    double *tail;           /* [...* m] those of them that other ranks own */
} ikt_summed_rows;

/* COLLECTIVE. Fetches the tail. Errors: IKT_ERR_RESOURCE, agreed; free with
 * ikt_summed_rows_destroy in any case. */
ikt_status ikt_summed_rows_create(const ikt_block *block, ikt_summed_rows *out);
void ikt_summed_rows_destroy(ikt_summed_rows *rows);

/* LOCAL. Row i of those to be summed. */
static inline const double *ikt_summed_row(const ikt_summed_rows *rows, int64_t i) {
    const int64_t own = rows->skipped + i, m = rows->block->m;
    return own < rows->block->rows.count ? rows->block->v + own * m
                                         : rows->tail + (own - rows->block->rows.count) * m;
}

/* COLLECTIVE. Sums over rows of (b - theta a)^2 for each column; of a^2 where b is NULL.
 *   square   [m] receives them
 * Errors: IKT_ERR_RESOURCE; IKT_ERR_INTERNAL where one is not finite; agreed. */
ikt_status ikt_sum_squares(const ikt_summed_rows *a, const ikt_summed_rows *b, const double *theta,
                           double *square);

/* COLLECTIVE. Sums over rows of a_i b_j for all pairs of columns.
 *   a_square, b_square   what ikt_sum_squares gives of each
 *   gram                 [a->m * b->m] receives them */
ikt_status ikt_sum_products(const ikt_summed_rows *a, const ikt_summed_rows *b,
                            const double *a_square, const double *b_square, double *gram);

#endif
