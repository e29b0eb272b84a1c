/* Bringing columns or rows to one scale.
 *
 * Method: one statistics pass over the source (linalg/column_stats.h) fixes a shift and a scale per
 * column; rows are then mapped one by one, (x - shift) * scale in double precision, so that float64
 * input is centred before it is rounded.
 * Advantage: X stays where it is and each read applies the map anew; the same bits on any ranks.
 * Disadvantage: an extra pass over the file for everything but uint8 data taken as they are.
 * Sparse rows are not shifted, only scaled, so that zeros stay zeros: kernels use differences
 * between rows alone, in which a shift cancels. What is lost: a column without zeros, far from
 * zero, keeps its offset when it is rounded to float32.
 */
#ifndef IKT_DATA_NORMALISE_H
#define IKT_DATA_NORMALISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "io/sources/source.h"

/* Order of the choices of preprocess.normalise. */
typedef enum {
    IKT_NORMALISE_NONE,
    IKT_NORMALISE_MINMAX, /* each column to [0, 1] */
    IKT_NORMALISE_ZSCORE, /* each column to mean 0, variance 1 */
    IKT_NORMALISE_UNIT,   /* each row to length 1: Euclidean order becomes that of the cosine */
    IKT_NORMALISE_AUTO    /* none or minmax, as the rows call for (ikt_normalise_choose) */
} ikt_normalise;

/* Order of the choices of preprocess.metric: what the distance of two rows is. */
typedef enum {
    IKT_METRIC_EUCLIDEAN,
    IKT_METRIC_COSINE,      /* Euclidean, of rows brought to length 1 */
    IKT_METRIC_CORRELATION, /* the same, of rows less their own mean */
    IKT_METRIC_MANHATTAN,   /* sums of absolute differences */
    IKT_METRIC_PRECOMPUTED  /* the rows are those of a matrix of all distances */
} ikt_metric_kind;

/* Order of the choices of preprocess.matrix: what the entries of a precomputed matrix are. */
typedef enum {
    IKT_MATRIX_DISTANCES,
    IKT_MATRIX_SIMILARITIES /* K, which become distances sqrt(K_ii + K_jj - 2 K_ij) */
} ikt_matrix_kind;

/* The configuration section `preprocess`: what happens to the rows between file and kernels. */
typedef struct {
    int normalise;    /* ikt_normalise */
    int64_t pca;      /* principal components to reduce to; 0 = keep the columns */
    int64_t pca_rows; /* rows that these are found of, IKT_AUTO_INT; 0 = all */
    int missing;      /* ikt_missing (missing.h), for those who open the source */
    int metric;       /* ikt_metric_kind */
    int matrix;       /* of metric precomputed: ikt_matrix_kind */
    /* No key: similarities that were looked through already (similarity/similarity_matrix.h) and
     * may belong to no distances, of which squares below 0 count as 0. */
    bool is_indefinite;
} ikt_preprocess_settings;

extern const ikt_section ikt_preprocess_section;

typedef struct {
    ikt_normalise mode;
    ikt_metric_kind metric; /* of cosine and correlation, each row is mapped after its columns */
    int64_t d;
    double *shift, *scale; /* [d] each; NULL when the map is the identity; of sparse rows, shift is
                              always NULL */
    int64_t constant;      /* columns with one value only: mapped to 0 */
    int64_t zero_rows;     /* mode unit: rows without length, which stay zero */
} ikt_normaliser;

/* LOCAL, pure. The rows of `n` that principal components are found of, at most, as they come in
 * whole blocks: what the settings say, where auto is at most 2^20, at least one block. The angle
 * between components of m random rows and those of all falls with 1 / sqrt(m); docs/accuracy.md has
 * it measured. */
int64_t ikt_pca_rows(const ikt_preprocess_settings *settings, int64_t n);

/* LOCAL, pure. Which map of the columns the settings mean: where rows are brought to length 1 and
 * nothing is said of the columns, none, not even the common offset is taken from them. */
ikt_normalise ikt_normalise_of(const ikt_preprocess_settings *settings);

/* LOCAL. Refuses components, or a metric, that rows do not have.
 *   name   of the rows, which have d columns
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_preprocess_check(ikt_context *ctx, const ikt_preprocess_settings *settings,
                                const char *name, int64_t d, bool is_sparse);

/* The warning of rows without any difference, with their name. */
#define IKT_ALL_EQUAL "%s: all rows are equal, so that what the map shows is not in the data"

/* COLLECTIVE. What auto means for the rows of a source: minmax where some columns would outweigh
 * all others, none otherwise (normalise_auto.c has the rules). Logs the choice with its reason.
 *   mode   receives IKT_NORMALISE_NONE or IKT_NORMALISE_MINMAX, the same on all ranks and on any
 *          number of them
 * Errors: IKT_ERR_RESOURCE; the source's. Reads 8,192 rows at most. */
ikt_status ikt_normalise_choose(ikt_context *ctx, ikt_source *source, ikt_normalise *mode);

/* COLLECTIVE. Determines the map of each column.
 *   none     scale 1; the shift is the column's mean cut to a multiple of the power of two above
 * its range: 0 for columns near zero, which stay as they are, and the bulk of a large offset
 *            otherwise. Differences between rows, all that any kernel uses, are unchanged, but no
 *            longer lost when rounding to float32. uint8: the identity.
 *   minmax   shift = least, scale = 1 / (most - least).
 *   zscore   shift = mean, scale = 1 / standard deviation (divided by n).
 *   unit     the identity; ikt_normaliser_row divides by the row's length.
 *   metric   cosine divides each mapped row by its length, correlation takes its mean from it
 *            before; of sparse rows correlation is refused, as their zeros would not stay zeros
 * Of a sparse source (ikt_source_is_sparse) minmax and zscore have the same scale, over all rows,
 * zeros included, and no shift; none is the identity.
 *   auto     what ikt_normalise_choose chooses, which is out->mode then.
 * `out` is filled; free it with ikt_normaliser_free, also after a failure. Logs how many columns
 * are constant and rows zero (level stage). Errors: IKT_ERR_DATA for no rows, for a NaN or an
 * infinity (lowest row of all ranks, with column), for values whose squared distances single
 * precision cannot hold; IKT_ERR_RESOURCE; the source's. */
ikt_status ikt_normaliser_create(ikt_context *ctx, ikt_source *source, ikt_normalise mode,
                                 ikt_metric_kind metric, ikt_normaliser *out);
void ikt_normaliser_free(ikt_normaliser *normaliser);

/* LOCAL. Maps one row.
 *   row   [d] of `type`, as read.   out   [d]. */
void ikt_normaliser_row(const ikt_normaliser *normaliser, ikt_type type, const void *row,
                        double *out);

/* LOCAL. The same for the entries of a sparse row, under a map without shift; zeros may come out.
 *   column, value   [count].   out   [count] */
void ikt_normaliser_entries(const ikt_normaliser *normaliser, const int32_t *column,
                            const double *value, int64_t count, double *out);

#endif
