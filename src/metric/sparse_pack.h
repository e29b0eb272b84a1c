/* Sparse rows packed in groups of sixteen, one row a SIMD lane.
 *
 * A group holds the columns that any of its rows has, ascending, and for each of them the sixteen
 * values. Advantage: a metric compares a row with sixteen at once, without a branch that cannot be
 * foreseen for each pair. Disadvantage: a group takes up to sixteen times what its rows take
 * sparse, and the time of all its columns.
 */
#ifndef IKT_METRIC_SPARSE_PACK_H
#define IKT_METRIC_SPARSE_PACK_H

#include "linalg/sparse.h"

typedef struct {
    int64_t count;   /* rows packed */
    int64_t groups;  /* of sixteen */
    int64_t *first;  /* [groups + 1] where the columns of a group begin */
    int32_t *column; /* [first[groups]] ascending in each group */
    float *value;    /* [first[groups] * 16] */
} ikt_sparse_pack;

/* LOCAL. Packs rows. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_sparse_pack_create(ikt_context *ctx, const ikt_sparse *rows, ikt_sparse_pack *out);
void ikt_sparse_pack_destroy(ikt_sparse_pack *pack);

/* LOCAL, pure. Bytes of a pack of so many rows with so many entries in all, at most. */
int64_t ikt_sparse_pack_bytes(int64_t rows, int64_t entries);

#endif
