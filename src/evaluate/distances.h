/* Distances of a batch of rows to all rows: in the input, or by the codes of the Isolation kernel.
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
#ifndef IKT_EVALUATE_DISTANCES_H
#define IKT_EVALUATE_DISTANCES_H

#include "evaluate/measure.h"

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
 *   what      with data, or by_code with codes; lent
 * Errors: IKT_ERR_RESOURCE; what was allocated is freed with ikt_distances_destroy. */
ikt_status ikt_distances_create(ikt_context *ctx, const ikt_measured *what, bool by_code,
                                int64_t batch, ikt_distances *out);
void ikt_distances_destroy(ikt_distances *work);

/* LOCAL. Bytes of the work space per rank. */
int64_t ikt_distances_memory(const ikt_measure_extent *extent, bool by_code, int64_t batch);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= batch, may be 0; every rank its own.
 * Errors: those of reading. */
ikt_status ikt_distances_fill(ikt_context *ctx, ikt_distances *work, const int64_t *row,
                              int64_t count);

#endif
