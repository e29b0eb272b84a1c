/* Ranks of many floats at once, by radix sort.
 *
 * Method: three stable passes over 11 bits of an integer key in the order of the floats.
 * Advantage: linear, and equal values keep their order without comparing anything. Disadvantage:
 * 24 bytes of work space a value, and a pass costs the same for few values as for 2,048.
 */
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

/* LOCAL. n < 2^31. Errors: IKT_ERR_RESOURCE; what was allocated is freed with ikt_radix_destroy. */
ikt_status ikt_radix_create(ikt_context *ctx, int64_t n, ikt_radix *out);
void ikt_radix_destroy(ikt_radix *radix);

/* LOCAL. Bytes of the work space for n values. */
int64_t ikt_radix_memory(int64_t n);

/* LOCAL. rank[j] = position of value[j] in ascending order; equal values keep their order;
 * -0 equals 0, and NaNs come last. */
void ikt_radix_ranks(ikt_radix *radix, const float *value, int32_t *rank);

#endif
