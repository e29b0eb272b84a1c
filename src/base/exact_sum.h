/* Order-free sums of doubles.
 *
 * Method: a superaccumulator, that is one wide fixed-point number covering the whole range of
 * doubles, in 32-bit digits held in 64-bit integers. Every addition is exact, so the sum does not
 * depend on the order, on threads or on ranks, and is rounded once at the end.
 * Advantage: correct by construction, better than double accuracy. Disadvantage: a few nanoseconds
 * an addition; sum fixed-size pieces in plain doubles first where there are many small terms.
 */
#ifndef IKT_BASE_EXACT_SUM_H
#define IKT_BASE_EXACT_SUM_H

#include <stdint.h>

#include "base/status.h"

enum { IKT_EXACT_SUM_DIGITS = 68 };

typedef struct {
    int64_t digit[IKT_EXACT_SUM_DIGITS]; /* signed digits of weight 2^(32*i - 1088) */
    int64_t additions;                   /* since carries were last resolved */
    int64_t not_finite;                  /* number of infinities and NaNs added */
} ikt_exact_sum;

/* LOCAL. An all-zero struct is an empty sum. */
void ikt_exact_sum_add(ikt_exact_sum *sum, double value);
void ikt_exact_sum_add_array(ikt_exact_sum *sum, const double *values, int64_t count,
                             int64_t stride);
/* LOCAL. Adds `other` to `sum` (for per-thread sums). */
void ikt_exact_sum_merge(ikt_exact_sum *sum, const ikt_exact_sum *other);

/* The same as a reduction of a parallel loop: reduction(exact : sum) gives each thread a sum of its
 * own, and all of them are merged in the end, in any order, which changes no bit. */
#pragma omp declare reduction(exact:ikt_exact_sum                                                  \
                              : ikt_exact_sum_merge(&omp_out, &omp_in))                            \
    initializer(omp_priv = (ikt_exact_sum){{0}, 0, 0})

/* LOCAL. The sum rounded to double; NaN when a term was not finite. */
double ikt_exact_sum_value(const ikt_exact_sum *sum);

/* COLLECTIVE. Replaces each of the `count` sums by its total over all ranks, on every rank. */
void ikt_exact_sum_reduce(ikt_context *ctx, ikt_exact_sum *sums, int64_t count);

/* COLLECTIVE. Convenience: total over ranks of the local values; the same double on every rank. */
double ikt_exact_total(ikt_context *ctx, const double *values, int64_t count);

#endif
