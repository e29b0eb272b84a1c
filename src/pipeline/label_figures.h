/* How well maps and distances that follow labels tell labels that they were not told: errors of
 * held-out rows by their nearest train rows, beside those of the model itself, and, named as such,
 * those of the rows whose labels were used. */
#ifndef IKT_PIPELINE_LABEL_FIGURES_H
#define IKT_PIPELINE_LABEL_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "neighbours/fisher_search.h"
#include "pipeline/class_rows.h"

/* Errors of labels on a sample of some rows, by their nearest train rows; shares from 0 to 1. */
typedef struct {
    int64_t rows;     /* that there are */
    int64_t sample;   /* of them, drawn; 0: no figures */
    int64_t *row;     /* [sample] ascending, the same on every rank */
    int64_t votes;    /* nearest train rows that vote beside the nearest one: 10, or fewer */
    double posterior; /* of the likeliest class */
    double space_nearest, space_votes; /* in the Fisher metric: of the nearest row, by votes */
    double map_nearest, map_votes;     /* in the map, once that is there */
} ikt_label_figures;

/* What a run has learned of the classes; the same on every rank but for the posterior. */
typedef struct {
    bool is_there;
    ikt_class_rows classes;
    ikt_class_support support;
    ikt_class_sigma sigma;
    float *posterior; /* [rows.count * classes] p(c|x) of the own rows */
    double certain;   /* share of rows where a class has p > 0.999 */
    double spread;    /* the largest range of p of a class over the rows outside the support */
    double euclidean; /* the share of plain distances that counts */
    ikt_fisher_candidates candidates;
    int64_t among;  /* candidates of a row; 0 for all */
    double proved;  /* share of lists that are proved to be those of all rows */
    double longest; /* of the kept distances */
    bool is_permuted;
    bool leaves_out; /* own weights */
    double chance; /* 1 - sum of squared shares of the classes: what permuted labels are to give */
    ikt_label_figures held_out, used; /* rows whose labels were not used; rows of the support */
} ikt_class_outcome;

void ikt_class_outcome_destroy(ikt_class_outcome *outcome);

/* COLLECTIVE. Draws held-out rows and rows of the support, and finds their figures in the metric
 * and of the probabilities. Held out are rows with a label that fisher.train does not name, or
 * without a list those that are not of the support. Up to 5,000 rows and 1,000 of the support, and
 * fewer of a rule that no bound shortens. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_figures_of_space(ikt_context *ctx, const ikt_fisher_rows *rows, uint64_t seed,
                                ikt_class_outcome *outcome);

/* COLLECTIVE. The figures of the map y[rows->count * q], in the order of the input; logs them all.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_figures_of_map(ikt_context *ctx, const ikt_rows *rows, int64_t q, const float *y,
                              ikt_class_outcome *outcome);

/* COLLECTIVE. What lists hold of the truth.
 *   own     rows of this rank, with
 *   truth   their true lists, in any order
 *   lists   of all own rows, sorted
 *   sums    receives the entries that are as near as the true k-th nearest row, the sum of the
 *           distances of the lists, and that of the true ones; the same on every rank */
void ikt_figures_recall(ikt_context *ctx, const ikt_rows *rows, const ikt_fisher_own *own,
                        const ikt_neighbours *truth, const ikt_neighbours *lists, double sums[3]);

#endif
