/* Rows from which all rows are looked at: every row, or a sample.
 *
 * Method: queries are dealt to the ranks and go in batches, whose distances to all rows are found
 * (below); each query with its distances is then shown to the observers by one thread. Ranks
 * by distance in the input and in the map are sorted once, for all observers that want them.
 * Advantage: one pass over the input serves any number of measures, and no rank holds more than a
 * batch of distances. Disadvantage: n distances a query, also for those who look at a few of them.
 */
#ifndef IKT_EVALUATE_QUERIES_H
#define IKT_EVALUATE_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
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
    ikt_arrays held;                                 /* `self` and its arrays */
} ikt_query_observer;

static inline void ikt_query_observer_free(ikt_query_observer *observer) {
    ikt_arrays_free(&observer->held);
}

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

/* --- distances of a batch of rows to all rows ------------------------------------------------- */

/* In the input, or by the codes of the Isolation kernel.
 *
 * In the input, after preprocessing: its rows are streamed in blocks, of which each rank reads and
 * preprocesses an equal part and gets the others' by an allgather; each rank then takes the
 * distances of its own queries to the block. Advantage: a pass over the input costs one read
 * however many ranks there are, and no rank holds more than a block. Disadvantage: every batch of
 * queries is a pass of its own.
 *
 * By codes: the codes of all ranks' queries of a batch go to every rank; each compares them with
 * the codes of its own rows and sends every query's counts to the rank that asked. A dissimilarity
 * is the number of partitionings in which two rows share no cell: t (1 - K), an exact integer.
 * Advantage: no rank holds the codes of others but the batch's. Disadvantage: as many bytes on the
 * wire as there are pairs, twice over.
 */

typedef struct {
    ikt_rows rows;
    ikt_dataset *data;      /* distances in it, or */
    const ikt_codes *codes; /* by them; the other is NULL */
    int64_t batch;          /* queries of a rank that fit */
    int64_t stride;         /* floats from query to query in `distance` */
    float *distance;        /* [batch * stride] of query q to row j, squared: q * stride + j */
    int64_t *counts;        /* [ranks] rows of a block that each reads; queries of each rank */

    /* In the input. */
    int64_t d;
    float *query;  /* [batch * d] coordinates of the queries */
    int64_t block; /* rows streamed at a time */
    float *part;   /* [own part of a block * d], with several ranks */
    float *stream; /* [block * d] */
    float *packed; /* the same, packed for the kernel by tiles */
    float *tile;   /* [threads] results of the kernel */

    /* By codes. */
    int64_t *asked;        /* [ranks * batch] rows asked for by all ranks */
    char *code;            /* [ranks * batch * codes->stride] their codes */
    uint16_t *out, *in;    /* [ranks * batch * own rows] counts that leave; [batch * n] that come */
    int64_t *leave, *come; /* [ranks] counts that go to each rank; that come from it */
} ikt_distances;

/* LOCAL. Work space for `batch` queries of each rank at a time.
 *   what      with data, or by_code with codes; borrowed
 *   held      its arrays are held with
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_distances_create(ikt_arrays *held, const ikt_measured *what, bool by_code,
                                int64_t batch, ikt_distances *out);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= batch, may be 0; every rank its own.
 * Errors: those of reading. */
ikt_status ikt_distances_fill(ikt_context *ctx, ikt_distances *work, const int64_t *row,
                              int64_t count);

#endif
