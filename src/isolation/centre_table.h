/* The distinct centres of a model, and of which partitionings each of them is a centre. */
#ifndef IKT_ISOLATION_CENTRE_TABLE_H
#define IKT_ISOLATION_CENTRE_TABLE_H

#include "isolation/model.h"

typedef struct {
    int64_t count; /* distinct centres of all partitionings, the coarse one included */
    int64_t *row;  /* [count] their rows, ascending */
    int64_t
        parts; /* partitionings: t, and one more where there is a coarse one, which is number t */
    int64_t *first; /* [parts + 1] where the centres of each partitioning begin in `index` */
    int32_t *index; /* [first[parts]] each centre as a number below count, ascending in each */
    int64_t *start; /* [count + 1] where the uses of each distinct centre begin */
    uint16_t *part; /* [start[count]] a partitioning that it is a centre of */
    uint16_t *cell; /* [start[count]] and its number there */
} ikt_centre_table;

/* SAME-ARGS. Makes the table of a model. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model, ikt_centre_table *out);
void ikt_centre_table_destroy(ikt_centre_table *table);

/* LOCAL. Bytes of a table, and of making one. */
int64_t ikt_centre_table_bytes(int64_t centres);

#endif
