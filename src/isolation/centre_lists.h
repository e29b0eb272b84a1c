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
    int64_t *row;   /* [count] their rows, ascending */
    int64_t parts;  /* partitionings: t, and one more where there is a coarse one, which is t */
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

/* A cell that is not found yet; 65535 is a cell as well, see ikt_list_walk. */
enum { IKT_CELL_OPEN = UINT16_MAX };

/* LOCAL, pure. Length of the lists: 99 of 100 rows find all their cells in it. */
int64_t ikt_list_length(int64_t centres, int64_t psi, int64_t t, int64_t coarse);

/* LOCAL, pure. A stride near the golden section of `count` that has no divisor in common with it:
 * centre q in the order of computing is number q * stride % count, so that data sorted by class are
 * mixed and the first centres are a sample of all. */
int64_t ikt_list_stride(int64_t count);

/* LOCAL. After a share of the centres, as many values of each row as are likely to hold all of the
 * final list's (four standard deviations); the others need not be looked at.
 *   kept   [rows], of lists of `length`
 *   seen   of `count` centres */
void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t seen, int64_t count);

/* LOCAL, pure. A distance below which every centre is in the list: a centre that is not has a value
 * of at least `least_out`, and the definition's rounding and that of the value are bounded
 * (kernel_f32_bound.h). */
float ikt_list_certain_below(rounding round, double x_norm, double largest_norm, float least_out);

/* LOCAL. Gives each partitioning the first centre of the list that is one of its own.
 *   kept      sorted by the distance that defines cells, with numbers of the table
 *   certain   pairs from it on are not to be trusted
 *   cell      [table->parts], receives cells, or IKT_CELL_OPEN
 * Returns how many stay open. A partitioning of 65536 centres has a cell of the number
 * IKT_CELL_OPEN: it counts as open and is decided again, to the same. */
int64_t ikt_list_walk(const ikt_centre_table *table, const ikt_select *kept, ikt_pair certain,
                      uint16_t *cell);

#endif
