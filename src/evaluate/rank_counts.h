/* Neighbour ranks in the input against neighbour ranks in the map, counted.
 *
 * Method: from each query all rows are ranked twice, in the input and in the map (queries.h). A row
 * belongs to both neighbourhoods of size k from k = the larger of its two ranks on, so one
 * histogram of that gives the overlap for every k.
 * Advantage: every k at once, integers throughout. Disadvantage: two sorts a query.
 */
#ifndef IKT_EVALUATE_RANK_COUNTS_H
#define IKT_EVALUATE_RANK_COUNTS_H

#include <stdint.h>

#include "base/status.h"
#include "evaluate/measure.h"

typedef struct {
    int64_t n;
    int64_t queries;   /* rows that were queries */
    int64_t *together; /* [n] pairs (query, row) by the larger of the row's two ranks */
    int64_t intruders; /* sum of (input rank - trust_k) over rows among the trust_k nearest in the
                          map but not in the input */
    int64_t missing;   /* sum of (map rank - trust_k) over rows among the trust_k nearest in the
                          input but not in the map */
} ikt_rank_counts;

/* COLLECTIVE. Counts in a pass of its own over all rows up to settings->exact_limit rows, over
 * settings->sample rows beyond; the same on every rank.
 *   what   with data; n < 2^31.
 *   out    freed with ikt_rank_counts_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE, those of reading. Cost: n d + n operations a query. */
ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out);
void ikt_rank_counts_destroy(ikt_rank_counts *counts);

#endif
