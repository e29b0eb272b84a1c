/* Neighbour ranks in the input against neighbour ranks in the map, counted.
 *
 * Method: for each query row all rows are ranked twice, by distance in the input and in the map
 * (ties by row; rank 0 is the query itself). A row belongs to both neighbourhoods of size k from
 * k = the larger of its two ranks on, so one histogram of that gives the overlap for every k.
 * Queries go in batches; all rows are streamed past a batch, each read once by one rank.
 * Advantage: every k at once, integers throughout, X is never held. Disadvantage: n distances and
 * two sorts a query, and X is read again for every batch.
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

/* COLLECTIVE. Counts over all rows up to settings->exact_limit rows, over settings->sample rows
 * drawn without replacement beyond; the same on every rank.
 *   what   with data; n < 2^31.
 *   out    freed with ikt_rank_counts_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE, those of reading. Cost: n d + n operations a query. Memory:
 * ikt_rank_counts_memory. */
ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out);
void ikt_rank_counts_destroy(ikt_rank_counts *counts);

/* LOCAL. Predicted peak bytes per rank for n rows of d columns. */
int64_t ikt_rank_counts_memory(const ikt_measure_settings *settings, int64_t n, int64_t d,
                               int ranks, int threads);

#endif
