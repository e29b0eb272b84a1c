/* The loss of a triplet and its gradient: what TriMap sums (Amid & Warmuth, TriMap, section 3).
 *
 * A triplet (i, j, k) says that i is more like j than like k. With u = y_i - y_j, v = y_i - y_k,
 * exp_t'(z) = max(0, 1 + (1 - t') z)^(1 / (1 - t')) and q_ij = exp_t'(-|u|^2), its loss is
 *     w log_t(1 + r),   r = q_ik / q_ij,   log_t(z) = (z^(1 - t) - 1) / (1 - t),
 * both functions becoming exp and log at 1. With a = t' - 1, A = 1 + a |u|^2, B = 1 + a |v|^2 and
 * l = log r = (log A - log B) / a (|u|^2 - |v|^2 for a = 0),
 *     h = r (1 + r)^-t,   c_j = 2 w h / A,   c_k = 2 w h / B,
 *     gradient at y_i: c_j u - c_k v,   at y_j: -c_j u,   at y_k: c_k v.
 * All of it is computed from l, so that nothing overflows before the result does. For t = t' = 2
 * the loss is w A / (A + B), and no force is longer than w / 4.
 *
 * t-STE with alpha degrees of freedom (van der Maaten & Weinberger 2012) is t = 1,
 * t' = (3 + alpha) / (1 + alpha), w = 1, of a map whose squared distances are multiplied by
 * (1 + alpha) / (2 alpha); the paper of TriMap prints (1 + alpha) / 2, which is right for alpha = 1
 * only. STE is t = t' = 1, w = 1.
 *
 * Method: closed forms in double precision. Advantage: exact to some 1e-15 for all 0 <= t and
 * t' >= 1. Disadvantage: three elementary functions a triplet; the case t = t' = 2 needs none and
 * is taken apart.
 */
#ifndef IKT_SAMPLED_TRIPLET_H
#define IKT_SAMPLED_TRIPLET_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/exact_sum.h"
#include "base/status.h"
#include "config/key.h"
#include "dist/rows.h"

typedef struct {
    double t;       /* 0 .. 10 */
    double t_prime; /* 1 .. 10 */
} ikt_triplet_rule;

/* How a triplet is weighed by L = D_ik - D_ij, the logarithm of the ratio of its similarities.
 * Whatever the kind, the gradient is then divided by the mean weight of all triplets, so that a
 * learning rate means the same for all of them.
 *
 * `near` gives a far row a place outside: its own near rows are as unlike as all others (D some
 * tens), so that triplets that draw it to them weigh nothing, and those in which it is the far row
 * as much as ever. With `log` alone the former weigh half as much as the latter and reach farther:
 * at a distance v in the map the pull of an unsatisfied triplet falls as 1 / v^2, the push of a
 * satisfied one as 1 / v^3, and the row ends in the middle of the map. */
typedef enum {
    IKT_TRIPLET_LOG,   /* log_{1/2}(1 + L) = 2 (sqrt(1 + L) - 1) */
    IKT_TRIPLET_RATIO, /* exp(L - most) + 0.001: the paper's ratio of similarities */
    IKT_TRIPLET_UNIT,  /* 1 */
    IKT_TRIPLET_NEAR   /* as `log`, times exp(-D_ij), the similarity of the near pair */
} ikt_triplet_weighing;

/* What L of random triplets is multiplied by, for logarithmic weights. */
#define IKT_TRIPLET_RANDOM_SHARE 0.1

/* Of weight 1; times w. */
typedef struct {
    double loss;     /* log_t(1 + r) */
    double c_j, c_k; /* coefficients of u and of v in the gradient */
} ikt_triplet_terms;

/* LOCAL, pure. log_t(1 + x) for x >= 0, of log(1 + x). */
double ikt_log_t(double t, double log_of);

/* LOCAL, pure. log exp_t'(-square) = -log(1 + (t' - 1) square) / (t' - 1), for square >= 0. */
double ikt_log_exp_t(double t_prime, double square);

/* LOCAL, pure. Loss and coefficients, of |u|^2 and |v|^2. */
ikt_triplet_terms ikt_triplet(const ikt_triplet_rule *rule, double u_square, double v_square);

/* LOCAL, pure. The weight of a triplet; 0 where L <= 0, that is where k is not farther than j.
 *   near   of the ikt_triplet_near of its near pair, or 1 for a random triplet
 *   most   for `ratio`: what is subtracted from L, which counts as no larger than that */
double ikt_triplet_weight(ikt_triplet_weighing weighing, double near, double l, double most);

/* LOCAL, pure. The factor of a near pair at D. */
static inline double ikt_triplet_near(ikt_triplet_weighing weighing, double d) {
    return weighing == IKT_TRIPLET_NEAR ? exp(-d) : 1;
}

static inline bool ikt_triplet_is_log(ikt_triplet_weighing weighing) {
    return weighing == IKT_TRIPLET_LOG || weighing == IKT_TRIPLET_NEAR;
}

/* LOCAL, pure. What L of random triplets is multiplied by. */
static inline double ikt_triplet_random_share(ikt_triplet_weighing weighing) {
    return ikt_triplet_is_log(weighing) ? IKT_TRIPLET_RANDOM_SHARE : 1;
}

/* What the weights by ratios have at least. */
#define IKT_TRIPLET_RATIO_LEAST 0.001

/* The scale of distances at each row: what TriMap divides them by (Zelnik-Manor & Perona 2004). */

/* A scale below this share of the mean of all would be that of copies with some noise. */
#define IKT_SCALE_LEAST 1e-3

/* LOCAL, pure. The mean distance of a row to its nearest rows `from` to `to`, counted from 1 among
 * those that are not at distance 0; where there are fewer, to the last of them; 0 without any.
 *   square   [k] squared distances, ascending */
double ikt_scale_of(const float *square, int64_t k, int64_t from, int64_t to);

/* COLLECTIVE. No scale is left below IKT_SCALE_LEAST of the mean of all: D would be without
 * limit.
 *   sum     of the scales of the own rows
 *   whom    a row is equal to where its scale is 0, for the message
 *   scale   [rows->count]
 * Errors: IKT_ERR_DATA where all of them are 0. */
ikt_status ikt_scales_bound(ikt_context *ctx, const ikt_rows *rows, ikt_exact_sum *sum,
                            const char *whom, float *scale);

/* COLLECTIVE. The scales of the rows of other ranks that occur among some rows.
 *   row      [count] global rows, own ones among them
 *   scale    [rows->count] of the own rows
 *   set      receives the rows of other ranks; destroy it in any case
 *   others   receives their scales, by their numbers in the set; free it in any case
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_scales_fetch(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                            int64_t count, const float *scale, ikt_row_set *set, float **others);

/* LOCAL, pure. The scale of one of these rows. */
static inline float ikt_scale_at(const ikt_rows *rows, const float *scale, const ikt_row_set *set,
                                 const float *others, uint32_t row) {
    return ikt_is_own(rows, row) ? scale[(int64_t)row - rows->first]
                                 : others[ikt_row_set_place(set, row)];
}

/* The section `trimap`: which triplets there are, how they are weighed, and how they are drawn. */

typedef enum { IKT_TRIPLETS_AUTO, IKT_TRIPLETS_FIXED, IKT_TRIPLETS_POOL } ikt_triplets_from;

typedef struct {
    int triplets;       /* ikt_triplets_from */
    int64_t neighbours; /* m: near rows of a row */
    int64_t outliers;   /* m': far rows for each of them */
    int64_t random;     /* s: random triplets of a row */
    int weights;        /* ikt_triplet_weighing */
    double t, t_prime;
    int64_t scale_from, scale_to; /* nearest rows whose mean distance is a row's scale */
    int64_t pool_rows;            /* S, or IKT_AUTO_INT */
    int64_t redraw;               /* R: iterations that a pool lasts */
    int64_t far_rows;             /* f: rows of the pool that a tile looks at */
} ikt_triplet_settings;

extern const ikt_section ikt_triplet_section;

/* SAME-ARGS. Replaces every "auto" by what suits n rows.
 * Errors: IKT_ERR_USAGE where there are too few rows, or settings contradict each other. */
ikt_status ikt_triplet_resolve(ikt_context *ctx, ikt_triplet_settings *settings, int64_t n);

/* LOCAL, pure. How long the lists should be that a row's m neighbours are chosen from: 50 rows more
 * where distances are rescaled, so that the scales of other rows can change the order; for codes
 * the length at which the search is measured. */
int64_t ikt_triplet_lists(const ikt_triplet_settings *settings, bool has_distances);

#endif
