/* Rows without any similarity, and their nearest rows by input distance. */
#ifndef IKT_AFFINITY_ZERO_SIMILARITY_H
#define IKT_AFFINITY_ZERO_SIMILARITY_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"

/* The same on every rank: there are few such rows. */
typedef struct {
    int64_t count, k;
    int64_t *row;      /* [count] global rows, ascending */
    uint32_t *nearest; /* [count * k] their k nearest rows, by ascending (distance, row) */
} ikt_zero_similarity;

/* COLLECTIVE. Finds the nearest rows of the marked ones.
 *   marked  [rows->count] nonzero for the own rows without any similarity
 *   k       neighbours wanted, < n
 * The data is streamed once per thousand of them, and not at all where there are none.
 *   data   NULL: there are no rows, beside a file of all pairs, and marked ones are refused
 * Errors: IKT_ERR_DATA for marked rows without data, those of reading, IKT_ERR_RESOURCE; *out is
 * empty then. */
ikt_status ikt_zero_similarity_find(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                    const uint8_t *marked, int64_t k, ikt_zero_similarity *out);

void ikt_zero_similarity_destroy(ikt_zero_similarity *zeros);

#endif
