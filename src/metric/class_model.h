/* How likely each class is at a row: a Parzen estimate from a support of labelled rows, by nothing
 * but similarities of the rows to the support.
 *
 * With a similarity k(., .), the inner product of vectors or any other, and s_l the support,
 *     a_il = (k(x_i, s_l) - k(s_l, s_l) / 2) / sigma^2
 * is the logarithm of exp(-|x_i - s_l|^2 / (2 sigma^2)) up to a summand of the row, which cancels
 * in every p(c|x_i) = sum over l of class c of exp(a_il) / sum over all l of exp(a_il), so that
 * k -> k + r_i + r_l changes nothing. Of vectors k = -|x - s|^2 / 2 with k(s, s) = 0 does as well
 * and loses no digits. Any real k gives probabilities, also an indefinite one. (Schulz, Brinkrolf &
 * Hammer 2017, whose equations (4), (6), (7) have a factor 1/2 too much, and (16) wrong terms.)
 *
 * A row of the support repeats its own label by its own weight. Where that is to be left out it is
 * IKT_NO_WEIGHT in the row's own log-weights; of a pair of rows the caller leaves out both.
 */
#ifndef IKT_METRIC_CLASS_MODEL_H
#define IKT_METRIC_CLASS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "metric/metric.h"
#include "metric/segment.h"

enum { IKT_SUPPORT_MOST = 4096, IKT_SUPPORT_USUAL = 1000 };

/* The rows whose labels the model knows; the same on every rank. */
typedef struct {
    int64_t m;
    int64_t *row;          /* [m] global rows, ascending */
    int32_t *of;           /* [m] class of each */
    int64_t *lane;         /* [m] where each stands in a row of log-weights: by class, then row */
    int64_t *first;        /* [classes + 1] first lane of each class */
    ikt_class_lanes shape; /* `first` is that above */
} ikt_class_support;

/* LOCAL. Draws the support: class c gets max(2, round(m n_c / n)) of its n_c rows, but not more
 * than n_c, those of least draw.
 *   of_row   [n] class of each row, -1 for rows without one; the same on all ranks
 *   m        wanted, at least 2 classes
 *   out      free with ikt_class_support_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Every class has at least two rows. */
ikt_status ikt_class_support_draw(ikt_context *ctx, const int32_t *of_row, int64_t n, int classes,
                                  int64_t m, uint64_t seed, ikt_class_support *out);

/* LOCAL. The support of given rows.
 *   row   [m] ascending; of   [m] the class of each
 *   out   as above. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_class_support_make(ikt_context *ctx, const int64_t *row, const int32_t *of,
                                  int64_t m, int classes, ikt_class_support *out);
void ikt_class_support_destroy(ikt_class_support *support);

/* How sigma is found. */
typedef enum { IKT_SIGMA_LIKELIHOOD, IKT_SIGMA_PERPLEXITY, IKT_SIGMA_GIVEN } ikt_sigma_rule;

typedef struct {
    double sigma;
    double perplexity_sigma; /* what the paper's rule gives; 0 where sigma was given */
    double log_likelihood;   /* mean of log p(c_l|s_l), own weight left out, p at least 1e-6 */
} ikt_class_sigma;

/* LOCAL, the same on every rank. The bandwidth.
 *   perplexity   the mean of t-SNE's bandwidths of the support rows, of perplexity 20, or of a
 *                third of them where they are fewer, by the distances k_ll + k_mm - 2 k_lm, what is
 *                below 0 taken for 0
 *   likelihood   the value of these times 2^(q / 2), q = -4 .. 6, with the largest mean log p; of
 *                equal ones the larger
 *   k       [m * m] similarities of the support rows, in the order of support->row
 *   self    [m] k(s, s)
 *   given   sigma of IKT_SIGMA_GIVEN
 * Errors: IKT_ERR_DATA where the support rows are equal; IKT_ERR_RESOURCE. Cost: at most 11 m^2
 * exponentials. */
ikt_status ikt_class_sigma_find(ikt_context *ctx, const ikt_class_support *support,
                                ikt_sigma_rule rule, double given, const double *k,
                                const double *self, ikt_class_sigma *out);

/* LOCAL. Log-weights of rows and the square roots of their probabilities.
 *   k        [count * m] similarities to the support, in the order of support->row
 *   self     [m] k(s, s)
 *   row      [count] global rows, whose own entry is left out; NULL: nothing is left out
 *   weight   [count * shape.lanes], receives them, aligned to 64 bytes
 *   root     [count * shape.wide], aligned to 64 bytes */
void ikt_class_weights(ikt_context *ctx, const ikt_class_support *support, double sigma,
                       const float *k, const double *self, const int64_t *row, int64_t count,
                       float *weight, float *root);

/* LOCAL, pure. The lane of a row of the support; -1 of other rows. */
int64_t ikt_class_lane_of(const ikt_class_support *support, int64_t row);

/* LOCAL, pure. The likeliest class, the first of several. */
int ikt_class_best(const ikt_class_lanes *shape, const float *root);

/* LOCAL. Similarities of rows with coordinates to the support, up to what cancels in all that is
 * made of them: k(x, s) = -|x - s|^2 / 2, with which k(s, s) = 0 and no digits are lost.
 *   x         [count * d]
 *   support   [ikt_packed_floats(m, d)] its rows as the metric takes them
 *   squared   [count * ikt_packed_rows(m)] work space
 *   k         [count * m] */
void ikt_class_compare(const ikt_metric *metric, const float *x, int64_t count,
                       const float *support, int64_t m, int64_t d, float *squared, float *k);

/* LOCAL, pure. Lanes of a row for m support rows of so many classes, at most. */
int64_t ikt_class_lanes_most(int64_t m, int64_t classes);

#endif
