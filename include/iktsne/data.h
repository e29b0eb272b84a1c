/* What is embedded: rows, dense or sparse, or a graph or a matrix of all pairs in their place; with
 * labels, and positions to start from. All in the memory of the program.
 *
 * Each rank describes what it has. Row i of the whole is the i-th when the ranks' blocks stand one
 * behind the other in the order of the ranks. Arrays are borrowed: they must stay as they are
 * until the call that uses them has returned, and are never copied whole. Functions here only
 * note where the arrays are; the call that uses them checks them, and answers with a sentence.
 */
#ifndef IKTSNE_DATA_H
#define IKTSNE_DATA_H

#include <stdint.h>

#include "iktsne/context.h"

IKT_BEGIN_C

typedef struct ikt_data ikt_data;

/* LOCAL. Data without any arrays yet.
 *   count   rows of this rank, any number, also 0
 *   out     receives them (owned by the caller), NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_data_create(ikt_context *ctx, int64_t count, ikt_data **out);

/* LOCAL. Frees *data and sets it to NULL; accepts NULL. */
IKT_API void ikt_data_destroy(ikt_data **data);

/* LOCAL, all of the following; on all ranks with the same columns, types and dimensions.
 *
 * Dense rows, [count * columns], row-major. */
IKT_API void ikt_data_rows(ikt_data *data, const void *rows, int64_t columns, ikt_type type);

/* Compressed sparse rows, as scipy.sparse.csr_matrix has them: the entries of row i are start[i] ..
 * start[i + 1] - 1. Columns of a row may stand in any order, and a value that comes twice counts as
 * its sum; bytes are used as float32. start[0] need not be 0.
 *   start            [count + 1]
 *   column, value    [start[count]]
 *   index            type of start and column
 *   columns          below 2^31 */
IKT_API void ikt_data_sparse(ikt_data *data, const void *start, const void *column, ikt_index index,
                             const void *value, ikt_type type, int64_t columns);

/* A graph in place of a kernel: sparse rows of n x n numbers, which are what the key graph.values
 * says (distances, similarities, probabilities, none). It takes the place of rows; where rows are
 * given as well, they give the start and serve measures. A column may come once in a row. */
IKT_API void ikt_data_graph(ikt_data *data, const void *start, const void *column, ikt_index index,
                            const void *value, ikt_type type);

/* The same of all pairs, dense: [count * n], n being the rows of all ranks. */
IKT_API void ikt_data_pairs(ikt_data *data, const void *values, ikt_type type);

/* A class for each row, [count]: measures and pictures use them, the embedding does not, unless the
 * objective needs labels. On all ranks with rows or on none. */
IKT_API void ikt_data_labels(ikt_data *data, const int64_t *labels);

/* Positions to start from, [count * dimensions], IKT_TYPE_F32 or IKT_TYPE_F64, in place of
 * layout.init. They are scaled as layout.init_scale says: by default to a standard deviation of
 * 1e-4, and 0 keeps them as they are. */
IKT_API void ikt_data_start(ikt_data *data, const void *positions, int64_t dimensions,
                            ikt_type type);

IKT_END_C

#endif
