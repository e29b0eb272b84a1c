/* The scorers there are: cell codes and Euclidean distance. */
#ifndef IKT_NEIGHBOURS_SCORERS_H
#define IKT_NEIGHBOURS_SCORERS_H

#include "data/dataset.h"
#include "isolation/codes.h"
#include "neighbours/scorer.h"

/* LOCAL. Scores are numbers of partitionings in which two codes differ: t (1 - K). `codes` is lent
 * to the scorer, whose `self` it is; nothing to free. */
ikt_scorer ikt_scorer_codes(const ikt_codes *codes, const ikt_rows *rows);

/* COLLECTIVE. Scores are squared Euclidean distances of the preprocessed rows. Reads the own rows
 * into memory: 4 d bytes each. Free with ikt_scorer_euclidean_destroy.
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_scorer_euclidean(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                ikt_scorer *out);

/* LOCAL. The same on rows in memory, lent as long as the scorer lives: x [rows->count * d]. */
ikt_status ikt_scorer_rows(ikt_context *ctx, const float *x, int64_t d, const ikt_rows *rows,
                           ikt_scorer *out);
void ikt_scorer_euclidean_destroy(ikt_scorer *scorer);

#endif
