/* From neighbours to conditional probabilities p_j|i. */
#ifndef IKT_AFFINITY_AFFINITY_H
#define IKT_AFFINITY_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "neighbours/neighbours.h"

typedef enum { IKT_AFFINITY_ISOLATION, IKT_AFFINITY_GAUSSIAN } ikt_affinity_kind;
typedef enum { IKT_SUPPORT_SPARSE, IKT_SUPPORT_DENSE } ikt_support;

typedef enum { IKT_SEARCH_AUTO, IKT_SEARCH_EXACT, IKT_SEARCH_APPROXIMATE } ikt_search;

typedef struct {
    int kind;            /* ikt_affinity_kind */
    int64_t neighbours;  /* k, or IKT_AUTO_INT */
    int support;         /* ikt_support */
    int search;          /* ikt_search */
    int64_t candidates;  /* of a row in approximate search, or IKT_AUTO_INT */
    int64_t refinements; /* rounds over neighbours of neighbours after it */
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

/* LOCAL, pure. Whether neighbours of n rows are searched for in near cells only (auto: from 16,384
 * rows on), and among how many candidates a row then is. */
bool ikt_affinity_is_approximate(const ikt_affinity_settings *settings, int64_t n);
int64_t ikt_affinity_candidates(const ikt_affinity_settings *settings, int64_t n, int64_t k);

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
 *   map       of the rows of the lists
 *   order     where the lists are in positions: the order they are in; otherwise NULL
 *   lists     with weights in place of scores
 *   orphans   receives their number over all ranks.
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_affinity_adopt_orphans(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                                      const ikt_order *order, ikt_neighbours *lists,
                                      int64_t *orphans);

#endif
