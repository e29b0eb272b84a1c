/* Distances of a batch of rows to all rows: in the input, or by the codes of the Isolation kernel.
 * Both are used alike: create, fill for each batch of rows, read `distance`, destroy.
 */
#ifndef IKT_EVALUATE_DISTANCES_H
#define IKT_EVALUATE_DISTANCES_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes.h"

/* Distances of a batch of rows to all rows, in the input after preprocessing.
 *
 * Method: the rows of the input are streamed in blocks, of which each rank reads and preprocesses
 * an equal part and gets the others' by an allgather; each rank then takes the distances of its own
 * queries to the block.
 * Advantage: a pass over the input costs one read however many ranks there are, and no rank holds
 * more than a block. Disadvantage: every batch of queries is a pass of its own.
 */
typedef struct {
    ikt_dataset *data;
    int64_t n, d;
    int64_t batch;   /* queries that fit */
    int64_t stride;  /* floats from query to query in `distance` */
    float *distance; /* [batch * stride] squared distance of query q to row j: q * stride + j */
    float *query;    /* [batch * d] coordinates of the queries */
    int64_t block;   /* rows streamed at a time */
    float *part;     /* [own part of a block * d], with several ranks */
    float *rows;     /* [block * d] */
    float *packed;   /* the same, packed for the kernel by tiles */
    float *tile;     /* [threads] results of the kernel */
    int64_t *counts; /* [ranks] rows of a block that each reads */
} ikt_input_distances;

/* LOCAL. Work space for `batch` queries at a time. Errors: IKT_ERR_RESOURCE; what was allocated is
 * freed with ikt_input_distances_destroy. */
ikt_status ikt_input_distances_create(ikt_context *ctx, ikt_dataset *data, int64_t batch,
                                      ikt_input_distances *out);
void ikt_input_distances_destroy(ikt_input_distances *work);

/* LOCAL. Bytes of the work space for n rows of d columns. */
int64_t ikt_input_distances_memory(int64_t n, int64_t d, int64_t batch, int ranks, int threads);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= batch, may be 0; every rank its own.
 * Errors: those of reading. */
ikt_status ikt_input_distances_fill(ikt_context *ctx, ikt_input_distances *work, const int64_t *row,
                                    int64_t count);

/* Dissimilarities of a batch of rows to all rows under the Isolation kernel, from cell codes.
 *
 * Method: the codes of all ranks' queries of a batch go to every rank; each compares them with the
 * codes of its own rows and sends every query's counts to the rank that asked. A dissimilarity is
 * the number of partitionings in which two rows share no cell: t (1 - K), an exact integer.
 * Advantage: no rank holds the codes of others but the batch's. Disadvantage: as many bytes on the
 * wire as there are pairs, twice over.
 */
typedef struct {
    ikt_rows rows;
    const ikt_codes *codes;
    int64_t batch;      /* queries of a rank that fit */
    int64_t stride;     /* floats from query to query in `distance` */
    float *distance;    /* [batch * stride] of query q to row j: q * stride + j */
    int64_t *asked;     /* [ranks * batch] rows asked for by all ranks */
    char *code;         /* [ranks * batch * codes->stride] their codes */
    uint16_t *out, *in; /* [ranks * batch * own rows] counts that leave; [batch * n] that come */
    int64_t *counts, *leave; /* [ranks] queries of each rank; counts that go to it */
    int64_t *come;           /* [ranks] */
} ikt_code_distances;

/* LOCAL. Work space for `batch` queries of each rank at a time.
 *   codes   of the own rows of `map`, lent.
 * Errors: IKT_ERR_RESOURCE; what was allocated is freed with ikt_code_distances_destroy. */
ikt_status ikt_code_distances_create(ikt_context *ctx, const ikt_rows *rows, const ikt_codes *codes,
                                     int64_t batch, ikt_code_distances *out);
void ikt_code_distances_destroy(ikt_code_distances *work);

/* LOCAL. Bytes of the work space. */
int64_t ikt_code_distances_memory(int64_t n, int64_t stride, int64_t batch, int ranks);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= batch, may be 0; every rank its own.
 * Errors: none but of memory, agreed. */
ikt_status ikt_code_distances_fill(ikt_context *ctx, ikt_code_distances *work, const int64_t *row,
                                   int64_t count);

#endif
