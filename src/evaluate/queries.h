/* Rows from which all rows are looked at: every row, or a sample.
 *
 * Method: queries are dealt to the ranks and go in batches, whose distances to all rows are found
 * (distances.h); each query with its distances is then shown to the observers by one thread. Ranks
 * by distance in the input and in the map are sorted once, for all observers that want them.
 * Advantage: one pass over the input serves any number of measures, and no rank holds more than a
 * batch of distances. Disadvantage: n distances a query, also for those who look at a few of them.
 */
#ifndef IKT_EVALUATE_QUERIES_H
#define IKT_EVALUATE_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "evaluate/measure.h"

/* One query, valid during a call. */
typedef struct {
    int64_t row;
    int thread; /* that calls, 0 .. threads - 1 */
    const float
        *distance;       /* [n] squared distance in the input, or t - (equal cells); 0 to itself */
    const int32_t *high; /* [n] rank of each row by that distance, ties by row; itself has 0.
                            NULL where no observer wants ranks */
    const int32_t *low;  /* [n] rank by distance in the map */
} ikt_query;

/* Keeps what it sees by thread, in integers, minima, maxima or exact sums: queries come in an order
 * that depends on threads and ranks. */
typedef struct {
    void *self;
    bool wants_ranks;
    void (*see)(void *self, const ikt_query *query); /* NULL: nothing to look at */
    void (*end)(void *self);                         /* frees `self`; NULL: nothing to free */
} ikt_query_observer;

/* LOCAL, pure. How many rows are queries: all n, or the sample. */
int64_t ikt_queries_count(const ikt_measure_settings *settings, int64_t n);

/* LOCAL, pure. From how many rows the nearest in the map are looked for, which costs far less. */
int64_t ikt_label_queries(const ikt_measure_settings *settings, int64_t n);

/* LOCAL. Queries share->first .. + share->count - 1 of share->n, as ascending rows of n. A sample
 * is drawn without replacement, each row with the same chance, by selection sampling in the order
 * of the rows: every rank makes all the draws. */
void ikt_queries_draw(uint64_t seed, int64_t n, const ikt_rows *share, int64_t *query);

/* COLLECTIVE. Shows every query of this rank to all observers.
 *   y         [n * q] positions of all rows.
 *   by_code   distances are those of what->codes, else those of what->data.
 * Errors: IKT_ERR_RESOURCE (memory; n >= 2^31), those of reading. */
ikt_status ikt_queries_run(ikt_context *ctx, const ikt_measure_settings *settings,
                           const ikt_measured *what, const float *y, bool by_code,
                           const ikt_query_observer *observers, int count);

/* LOCAL. Bytes per rank of a pass. */
int64_t ikt_queries_memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent,
                           bool by_code, bool ranks);

#endif
