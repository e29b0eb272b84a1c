/* The distinct centres of a model, and lists of a row's nearest ones.
 *
 * All partitionings draw their centres from the same rows. The table tells of which partitionings
 * each distinct centre is one; a list of a row's nearest distinct centres, walked along in the
 * order of distance, then gives the row's cells. Dense rows and sparse ones share the table, how
 * long lists are, how far they can be trusted, and the walk.
 */
#ifndef IKT_ISOLATION_CENTRE_LISTS_H
#define IKT_ISOLATION_CENTRE_LISTS_H

#include "base/sort.h"
#include "isolation/kernel_f32_bound.h"
#include "isolation/model.h"

typedef struct {
    int64_t count;  /* distinct centres of all partitionings, the coarse one included */
    int64_t stride; /* see ikt_centre_number */
    int64_t *row;   /* [count] their rows, ascending */
    int64_t parts;  /* partitionings: t, and one more where there is a coarse one, which is t */
    int64_t *first; /* [parts + 1] where the centres of each partitioning begin in `index` */
    int32_t *index; /* [first[parts]] each centre as a number below count, ascending in each */
    int64_t *start; /* [count + 1] where the uses of each distinct centre begin */
    uint16_t *part; /* [start[count]] a partitioning that it is a centre of */
    uint32_t *cell; /* [start[count]] and its number there */
} ikt_centre_table;

/* SAME-ARGS. Makes the table of a model. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model, ikt_centre_table *out);
void ikt_centre_table_destroy(ikt_centre_table *table);

/* LOCAL. Bytes of a table, and of making one. */
int64_t ikt_centre_table_bytes(int64_t centres);

/* A cell that is not found yet. */
#define IKT_CELL_OPEN UINT32_MAX

/* LOCAL, pure. The number of centre q in the order of computing: q * stride % count, with a stride
 * near the golden section of `count` that has no divisor in common with it, so that data sorted by
 * class are mixed and the first centres are a sample of all. */
static inline uint32_t ikt_centre_number(const ikt_centre_table *table, int64_t q) {
    return (uint32_t)(q * table->stride % table->count);
}

/* LOCAL, pure. Length of the lists: 99 of 100 rows find all their cells in it. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec);

/* LOCAL. After 1, 4 and 16 chunks of centres keeps as many values of each row as are likely to hold
 * all of the final list's (four standard deviations); the others need not be looked at.
 *   kept     [rows], of lists of `length`
 *   chunks   of `chunk` centres each that have been seen, of `count` centres in all */
void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count);

/* LOCAL, pure. The pair below which every centre is in the list: a centre that is not has at least
 * the value of kept->limit, and the definition's rounding and that of the value are bounded
 * (kernel_f32_bound.h). */
ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, double x_norm,
                          double largest_norm);

/* LOCAL. Gives each partitioning the first centre of the list that is one of its own.
 *   kept      sorted by the distance that defines cells, with numbers of the table
 *   certain   pairs from it on are not to be trusted
 *   cell      [table->parts], receives cells, or IKT_CELL_OPEN
 * Returns how many stay open. */
int64_t ikt_list_walk(const ikt_centre_table *table, const ikt_select *kept, ikt_pair certain,
                      uint32_t *cell);

/* LOCAL. Logs how lists have done.
 *   open   of `rows` rows of this rank, those that needed all centres */
void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows);

#endif
