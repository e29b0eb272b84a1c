/* From neighbours to conditional probabilities p_j|i. */
#ifndef IKT_AFFINITY_AFFINITY_H
#define IKT_AFFINITY_AFFINITY_H

#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "data/dataset.h"
#include "neighbours/neighbours.h"

typedef enum { IKT_AFFINITY_ISOLATION, IKT_AFFINITY_GAUSSIAN } ikt_affinity_kind;
typedef enum { IKT_SUPPORT_SPARSE, IKT_SUPPORT_DENSE } ikt_support;

typedef struct {
    int kind;           /* ikt_affinity_kind */
    int64_t neighbours; /* k, or IKT_AUTO_INT */
    int support;        /* ikt_support */
} ikt_affinity_settings;

typedef struct {
    double perplexity;
} ikt_gaussian_settings;

extern const ikt_section ikt_affinity_section, ikt_gaussian_section;

/* SAME-ARGS. Checks the settings against n rows and resolves what is "auto".
 *   k   receives the neighbours of a row: 30 for isolation, three times the perplexity for
 *       Gaussian, at most n - 1; for dense support n - 1.
 * Errors: IKT_ERR_USAGE with key, value and what is possible. */
ikt_status ikt_affinity_resolve(ikt_context *ctx, const ikt_affinity_settings *settings,
                                const ikt_gaussian_settings *gaussian, int64_t n, int64_t *k);

/* LOCAL. Isolation kernel on neighbour lists whose scores are numbers of differing cells:
 * p_j|i = K(i, j) / sum over the list of K(i, .), with t K(i, j) = t - score (Zhu & Ting 2021,
 * section 4.2, truncated to the k most similar rows).
 *   weight   [n_local * k], receives p_j|i; all zero for a row without any similarity. May be
 *            lists->score itself: weights then take the place of scores.
 * Returns the number of such rows. */
int64_t ikt_isolation_weights(ikt_context *ctx, const ikt_neighbours *lists, int64_t t,
                              float *weight);

/* LOCAL. Gaussian kernel on neighbour lists whose scores are squared distances: p_j|i proportional
 * to exp(-beta_i d_ij^2), beta_i found so that the entropy of the row is log(perplexity).
 *   weight   [n_local * k], receives p_j|i, each row summing to 1; may be lists->score itself. */
void ikt_gaussian_weights(ikt_context *ctx, const ikt_neighbours *lists, double perplexity,
                          float *weight);

/* LOCAL. beta for one row of `count` squared distances (any order) and the sum of
 * exp(-beta (d^2 - least)) in *total; `skip` is an index to leave out, or -1. */
double ikt_gaussian_beta(const float *squared, int64_t count, int64_t skip, double perplexity,
                         double *least, double *total);

/* COLLECTIVE. Gives rows without any similarity (all weights zero) the uniform weight over their k
 * nearest rows by input distance; see orphans.h. Replaces those rows' lists in place.
 *   lists     with weights in place of scores
 *   orphans   receives their number over all ranks.
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_affinity_adopt_orphans(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                                      ikt_neighbours *lists, int64_t *orphans);

#endif
