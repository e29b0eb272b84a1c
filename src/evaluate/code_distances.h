/* Dissimilarities of a batch of rows to all rows under the Isolation kernel, from cell codes.
 *
 * Method: the codes of all ranks' queries of a batch go to every rank; each compares them with the
 * codes of its own rows and sends every query's counts to the rank that asked. A dissimilarity is
 * the number of partitionings in which two rows share no cell: t (1 - K), an exact integer.
 * Advantage: no rank holds the codes of others but the batch's. Disadvantage: as many bytes on the
 * wire as there are pairs, twice over.
 */
#ifndef IKT_EVALUATE_CODE_DISTANCES_H
#define IKT_EVALUATE_CODE_DISTANCES_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "isolation/codes.h"

typedef struct {
    ikt_rows rows;
    const ikt_codes *codes;
    int64_t room;            /* queries of a rank that fit */
    int64_t stride;          /* floats from query to query in `distance` */
    float *distance;         /* [room * stride] of query q to row j: q * stride + j */
    int64_t *asked;          /* [ranks * room] rows asked for by all ranks */
    char *code;              /* [ranks * room * codes->stride] their codes */
    uint16_t *out, *in;      /* [ranks * room * own rows] counts that leave; [room * n] that come */
    int64_t *counts, *leave; /* [ranks] queries of each rank; counts that go to it */
    int64_t *come;           /* [ranks] */
} ikt_code_distances;

/* LOCAL. Work space for `room` queries of each rank at a time.
 *   codes   of the own rows of `map`, lent.
 * Errors: IKT_ERR_RESOURCE; what was allocated is freed with ikt_code_distances_destroy. */
ikt_status ikt_code_distances_create(ikt_context *ctx, const ikt_rows *rows, const ikt_codes *codes,
                                     int64_t room, ikt_code_distances *out);
void ikt_code_distances_destroy(ikt_code_distances *work);

/* LOCAL. Bytes of the work space. */
int64_t ikt_code_distances_memory(int64_t n, int64_t stride, int64_t room, int ranks);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= room, may be 0; every rank its own.
 * Errors: none but of memory, agreed. */
ikt_status ikt_code_distances_fill(ikt_context *ctx, ikt_code_distances *work, const int64_t *row,
                                   int64_t count);

#endif
