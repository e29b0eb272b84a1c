/* Ranks of many floats at once, by radix sort. */
#ifndef IKT_EVALUATE_RADIX_H
#define IKT_EVALUATE_RADIX_H

#include <stdint.h>

#include "base/status.h"

/* Work space for n values, and room for two arrays of ranks. */
typedef struct {
    int64_t n;
    uint32_t *key[2]; /* [n] */
    int32_t *item[2]; /* [n] */
    int32_t *rank[2]; /* [n], for the caller */
} ikt_radix;

/* LOCAL. Errors: IKT_ERR_RESOURCE. n < 2^31. */
ikt_status ikt_radix_create(ikt_context *ctx, int64_t n, ikt_radix *out);
void ikt_radix_destroy(ikt_radix *radix);

/* LOCAL. rank[j] = position of value[j] in ascending order; equal values keep their order. No NaN.
 */
void ikt_radix_ranks(ikt_radix *radix, const float *value, int32_t *rank);

#endif
