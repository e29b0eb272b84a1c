/* A source after normalisation and reduction: the rows that the kernels read.
 *
 * Method: nothing is stored but the map; every read takes rows from the source in small blocks,
 * maps them (normalise.h), projects them on principal components where asked to (linalg/pca.h), and
 * rounds to float32 once, at the end. Advantage: X never has to fit in memory; a row has the same
 * bits in every read, on any rank. Disadvantage: the map is computed again at each pass, 2 d k
 * operations a row with reduction.
 * Rows of a sparse source stay sparse unless they are reduced (ikt_dataset_is_sparse); the
 * functions that give dense rows fill them up, for those who can hold them.
 */
#ifndef IKT_DATA_DATASET_H
#define IKT_DATA_DATASET_H

#include <stdbool.h>

#include "base/status.h"
#include "data/normalise.h"
#include "io/sources/pairwise.h"
#include "io/sources/source.h"
#include "linalg/blocks.h"
#include "linalg/pca.h"
#include "linalg/sparse.h"

typedef struct ikt_dataset ikt_dataset;

/* COLLECTIVE. Fixes the map by passes over the source: none for uint8 taken as it is, one for the
 * normalisation of others, two more for a reduction.
 *   source     borrowed until ikt_dataset_destroy.
 *   settings   the same on all ranks; pca at most the number of columns.
 *   out        receives the data set, owned by the caller; NULL on failure.
 * Errors: those of ikt_normaliser_create and ikt_pca_fit; IKT_ERR_USAGE for more components than
 * columns; the source's. */
ikt_status ikt_dataset_create(ikt_context *ctx, ikt_source *source,
                              const ikt_preprocess_settings *settings, ikt_dataset **out);

/* What a data set does to its rows. Lent by whoever owns the parts. */
typedef struct {
    ikt_normaliser normaliser;
    const ikt_pca *pca; /* NULL: no reduction */
} ikt_data_map;

/* LOCAL. What the distance of two rows is. */
ikt_metric_kind ikt_dataset_metric(const ikt_dataset *d);

/* LOCAL. The matrix of all distances that a precomputed data set is; NULL for rows with
 * coordinates. Of a precomputed one, ikt_dataset_read and the functions that gather floats give the
 * squared distances of a row to all rows, in their order, as single precision has them: as many
 * columns as rows. It is never bytes, sparse, mapped or reduced. */
const ikt_pairwise *ikt_dataset_pairs(const ikt_dataset *d);

/* LOCAL. The map of a data set; valid as long as the data set. */
ikt_data_map ikt_dataset_map(const ikt_dataset *d);

/* LOCAL. What stands for missing values in its source (missing.h), or NULL. */
const double *ikt_dataset_fill(const ikt_dataset *d);

/* COLLECTIVE. A data set under a map that others fixed, without a pass over the source. Its rows
 * have not been looked at, so each is checked whenever it is read: a value that is not finite, or
 * so far out that squared distances do not fit single precision, is IKT_ERR_DATA with its row.
 *   source   borrowed; as many columns as the map.
 *   rows      its parts are borrowed until ikt_dataset_destroy.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_dataset_create_mapped(ikt_context *ctx, ikt_source *source, const ikt_data_map *map,
                                     ikt_dataset **out);

/* LOCAL. Frees *dataset and sets it to NULL; accepts NULL. The source stays open; what was taken by
 * ikt_dataset_take_model goes too. */
void ikt_dataset_destroy(ikt_dataset **dataset);

/* LOCAL. Makes `*model`, a data set under the same map, the one that centres of an Isolation model
 * of the rows of `d` are drawn from. Takes both it and its source. Where only one of the two can be
 * read as bytes, neither is from now on, so that rows meet centres of their own type. */
void ikt_dataset_take_model(ikt_dataset *d, ikt_source **source, ikt_dataset **model);

/* LOCAL. The data set that centres are drawn from: `d` itself unless another was taken. */
ikt_dataset *ikt_dataset_model(ikt_dataset *d);

/* LOCAL. Rows of the source; columns after reduction. */
int64_t ikt_dataset_rows(const ikt_dataset *d);
int64_t ikt_dataset_columns(const ikt_dataset *d);

/* LOCAL. Whether the source (and that of the model) is uint8 and neither normalised nor reduced, so
 * that integer kernels are exact. */
bool ikt_dataset_is_u8(const ikt_dataset *d);

/* LOCAL. Whether rows (and those of the model) can be read sparse: of a sparse source, neither
 * reduced nor shifted. */
bool ikt_dataset_is_sparse(const ikt_dataset *d);

/* LOCAL. Of a sparse data set: entries of all rows, as stored; the longest row; rows to be read at
 * a time (ikt_source_block_rows). */
int64_t ikt_dataset_entries(const ikt_dataset *d);
int64_t ikt_dataset_longest_row(const ikt_dataset *d);
int64_t ikt_dataset_block_rows(const ikt_dataset *d);

/* LOCAL. The source of the rows, borrowed. */
ikt_source *ikt_dataset_source(const ikt_dataset *d);

/* LOCAL. "file.h5:/X", for messages. */
const char *ikt_dataset_name(const ikt_dataset *d);

/* COLLECTIVE. Rows first .. first + count - 1, mapped; ranks may ask for different ranges, also for
 * none.
 *   rows   [count * ikt_dataset_columns(d)].
 * Errors: the source's. Memory: some 16 MiB beside `rows`, whatever count. */
ikt_status ikt_dataset_read(ikt_dataset *d, int64_t first, int64_t count, float *rows);

/* LOCAL. Whether rows are reduced to principal components, q or more of them. */
bool ikt_dataset_has_components(const ikt_dataset *d, int64_t q);

/* COLLECTIVE. Scores along the first q of these components, those of largest variance; ranges as
 * above.
 *   scores   [count * q]
 * Errors: IKT_ERR_RESOURCE, the source's. */
ikt_status ikt_dataset_read_components(ikt_context *ctx, ikt_dataset *d, int64_t q, int64_t first,
                                       int64_t count, double *scores);

/* COLLECTIVE. Rows as bytes; only if ikt_dataset_is_u8. */
ikt_status ikt_dataset_read_u8(ikt_dataset *d, int64_t first, int64_t count, uint8_t *rows);

/* COLLECTIVE. The same in sparse form; only if ikt_dataset_is_sparse. The float32 values are those
 * of ikt_dataset_read.
 *   rows   grows as needed; free with ikt_sparse_destroy, also after a failure */
ikt_status ikt_dataset_read_sparse(ikt_dataset *d, int64_t first, int64_t count, ikt_sparse *rows);

/* COLLECTIVE. Gives every rank the same selected rows, sparse; only if ikt_dataset_is_sparse.
 *   rows   [count], distinct global rows in ascending order, the same on all ranks
 *   out    receives them, owned by the caller; empty on failure
 * Each rank reads an equal share of them. Errors: IKT_ERR_RESOURCE, the source's. */
ikt_status ikt_dataset_gather_sparse(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     ikt_sparse *out);

/* COLLECTIVE. Gives every rank the same selected rows.
 *   rows   [count], distinct global rows in ascending order, the same on all ranks.
 *   out    [count * ikt_dataset_columns(d)], float, or uint8_t if ikt_dataset_is_u8.
 * Each rank reads an equal share of them, in blocks that hold wanted rows only. */
ikt_status ikt_dataset_gather(ikt_dataset *d, const int64_t *rows, int64_t count, void *out);

/* COLLECTIVE. The same as floats whatever the rows are. Memory: a byte an entry beside `out`. */
ikt_status ikt_dataset_gather_floats(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     float *out);

/* LOCAL. The mapped rows in double precision (the float32 values of ikt_dataset_read), for PCA and
 * statistics. Valid as long as the data set. */
ikt_row_reader ikt_dataset_reader(ikt_dataset *d);

#endif
