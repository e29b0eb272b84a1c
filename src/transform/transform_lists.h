/* From new rows to the old rows that they are similar to: codes -> lists -> p_j|i.
 *
 * The old codes pass by in blocks; the search is exact. A new row that shares no cell with any old
 * row (which needs a model of other rows, isolation.model_from) is given the cells of its nearest
 * centre in whose cell some partitioning has an old row, and becomes similar to those rows.
 */
#ifndef IKT_TRANSFORM_TRANSFORM_LISTS_H
#define IKT_TRANSFORM_TRANSFORM_LISTS_H

#include "dist/rows.h"
#include "neighbours/neighbours.h"
#include "transform/model_load.h"

typedef struct {
    ikt_neighbours lists; /* old rows, with p_j|i in place of scores */
    float *similarity;    /* [n_local] K to the most similar old row; 0: none shares a cell */
    int64_t lonely;       /* rows over all ranks whose similarity is 0 */
} ikt_new_lists;

/* COLLECTIVE.
 *   data   new rows, of ikt_loaded_model_dataset
 *   rows    of them
 *   k      old rows of a list, 1 .. those there are
 *   out    free with ikt_new_lists_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_DATA for codes that are no cells. */
ikt_status ikt_new_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                              const ikt_rows *rows, int64_t k, ikt_new_lists *out);
void ikt_new_lists_destroy(ikt_new_lists *lists);

#endif
