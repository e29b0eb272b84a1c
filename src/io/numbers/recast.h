/* Numbers of one type as numbers of another, where nothing is lost but digits.
 *
 * Floats may round a number, but must be able to hold it; bytes hold it exactly or not at all. What
 * is not finite cannot be embedded, so it fits no type: it is refused when a file is converted,
 * where it can still be mended.
 */
#ifndef IKT_IO_NUMBERS_RECAST_H
#define IKT_IO_NUMBERS_RECAST_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/numbers/element.h"

/* LOCAL, pure. The i-th of an array. */
double ikt_number_at(ikt_type type, const void *values, int64_t i);

/* LOCAL, pure. Whether a number can be stored as this type. (In line: parsers ask it of each.) */
static inline bool ikt_number_fits(ikt_type type, double value) {
    if (type == IKT_TYPE_U8) return value >= 0 && value <= 255 && value == floor(value);
    return type == IKT_TYPE_F32 ? fabs(value) <= (double)FLT_MAX : isfinite(value);
}

/* LOCAL. values[count] of type `from` into recast[count] of type `to`. Returns the first that does
 * not fit, or -1. */
int64_t ikt_recast(ikt_type from, const void *values, ikt_type to, void *recast, int64_t count);

/* LOCAL. Puts a number that fits at values[i]. */
void ikt_number_put(ikt_type type, void *values, int64_t i, double value);

#endif
