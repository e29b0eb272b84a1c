/* Turning a tile of a matrix that stands by columns into rows.
 *
 * Blocks of rows small enough that the lines they are written to stay in the cache while column
 * after column adds its numbers.
 */
#ifndef IKT_IO_NUMBERS_TURN_H
#define IKT_IO_NUMBERS_TURN_H

#include "io/numbers/element.h"

/* LOCAL. values[i * d + c] = stored[c * count + i], converted (ikt_elements_convert).
 *   stored   [columns * count] elements
 *   values   the first value of the tile in rows of d values of ikt_element_type
 * Returns -1, or the place in `stored` of an integer that no floating number holds exactly. */
int64_t ikt_turn(ikt_element element, const void *stored, int64_t columns, int64_t count,
                 void *values, int64_t d);

#endif
