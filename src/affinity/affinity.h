/* From neighbours to conditional probabilities p_j|i: settings and weights of every kind. */
#ifndef IKT_AFFINITY_AFFINITY_H
#define IKT_AFFINITY_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/edges.h"
#include "base/status.h"
#include "config/key.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "neighbours/neighbours.h"

/* In the order of the table of kinds (kind.h). */
typedef enum {
    IKT_AFFINITY_ISOLATION,
    IKT_AFFINITY_GAUSSIAN,
    IKT_AFFINITY_KNN,
    IKT_AFFINITY_ADAPTIVE,
    IKT_AFFINITY_GRAPH, /* no kernel: input.graph */
    IKT_AFFINITIES
} ikt_affinity_name;

typedef enum { IKT_SUPPORT_SPARSE, IKT_SUPPORT_DENSE } ikt_support;

typedef enum { IKT_SEARCH_AUTO, IKT_SEARCH_EXACT, IKT_SEARCH_APPROXIMATE } ikt_search;

typedef struct {
    double perplexity;
} ikt_gaussian_settings;

typedef struct {
    int64_t neighbours; /* sigma is the distance to so many-th nearest row */
} ikt_adaptive_settings;

typedef struct {
    int kind;                       /* ikt_affinity_name */
    int64_t neighbours;             /* k, or IKT_AUTO_INT */
    int support;                    /* ikt_support */
    int search;                     /* ikt_search */
    int64_t candidates;             /* of a row in approximate search, or IKT_AUTO_INT */
    int64_t refinements;            /* rounds over neighbours of neighbours after it */
    ikt_gaussian_settings gaussian; /* of single kinds, in sections of their own */
    ikt_adaptive_settings adaptive;
    ikt_graph_settings graph;
} ikt_affinity_settings;

extern const ikt_section ikt_affinity_section, ikt_gaussian_section, ikt_adaptive_section;

/* SAME-ARGS. Checks the settings against n rows and resolves what is "auto".
 *   k   receives the neighbours of a row, at most n - 1. With dense support, where every pair has a
 *       weight, they serve kinds that look at neighbours all the same: see there.
 * Errors: IKT_ERR_USAGE with key, value and what is possible. */
ikt_status ikt_affinity_resolve(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t n,
                                int64_t *k);

/* LOCAL. Lowers what was chosen for more rows to what suits a subset of n of them, and leaves to
 * choose again what depends on their number. */
void ikt_affinity_shrink(ikt_affinity_settings *settings, int64_t n);

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

/* LOCAL. kNN kernel, K(x, y) = 1 for y among the k nearest rows of x, otherwise 0 (Zhu & Ting 2021,
 * appendix D, equation 14): p_j|i = 1 / k for the rows of the list. P is symmetric although K is
 * not, because p_ij is the mean of both directions. */
void ikt_knn_weights(ikt_context *ctx, const ikt_neighbours *lists, float *weight);

/* COLLECTIVE. Adaptive Gaussian kernel on neighbour lists whose scores are squared distances:
 * K(x, y) = exp(-|x - y|^2 / (sigma_x sigma_y)), sigma the distance to the m-th nearest row (Zhu &
 * Ting 2021, appendix D, equation 15; Zelnik-Manor & Perona 2004), normalised over the list.
 * Where rows coincide sigma can be 0. Then K is its limit: 1 at distance 0, 0 at any other. A row
 * whose similarities all are 0 thereby (a lone row beside a heap of equal ones) gets the uniform
 * weight over its m nearest rows. Kernels too small for a number do no harm: they are normalised by
 * differences of their exponents.
 *   rows     of the rows of the lists
 *   lists   sorted, and weights put in place of scores
 *   m       1 <= m <= lists->k
 *   flat    receives the number of such rows, over all ranks.
 * Errors: IKT_ERR_RESOURCE. Memory beside the lists: 4 bytes a row, 16 for each neighbour on
 * another rank, n/5 bytes. */
ikt_status ikt_adaptive_weights(ikt_context *ctx, const ikt_rows *distribution,
                                ikt_neighbours *lists, int64_t m, int64_t *flat);

/* LOCAL, pure. |x - y|^2 / (sigma_x sigma_y) from the squares of all three, by the rule above:
 * infinite where K is 0. */
double ikt_adaptive_exponent(double squared, double reach_x, double reach_y);

/* COLLECTIVE. Gives rows without any similarity (all weights zero) the uniform weight over their k
 * nearest rows by input distance; see zero_similarity.h. Replaces those rows' lists in place.
 *   rows       of the rows of the lists
 *   order     where the lists are by slots: the order they are in; otherwise NULL
 *   lists     with weights in place of scores
 *   zero_similarity   receives their number over all ranks.
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_affinity_adopt_zero_similarity(ikt_context *ctx, ikt_dataset *data,
                                              const ikt_rows *rows, const ikt_order *order,
                                              ikt_neighbours *lists, int64_t *zero_similarity);

#endif
