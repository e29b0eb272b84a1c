/* The n-th smallest of some numbers. */
#ifndef IKT_EVALUATE_ORDER_STATISTIC_H
#define IKT_EVALUATE_ORDER_STATISTIC_H

#include <stdint.h>

/* LOCAL. The place-th smallest, 0 <= place < count; reorders the values (quickselect: linear on
 * average). No NaN. */
float ikt_order_statistic(float *values, int64_t count, int64_t place);

/* LOCAL. The median: the mean of the two in the middle where count is even; count >= 1. */
double ikt_median(float *values, int64_t count);

#endif
