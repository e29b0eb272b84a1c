/* Numbers in decimal notation, correctly rounded, faster than strtod.
 *
 * Method: a number of up to 19 digits whose digits make an integer of at most 2^53, times or over
 * a power of ten of at most 10^22, is one exact integer and one exact power; the one operation
 * between them rounds correctly (W. D. Clinger, How to read floating point numbers accurately, PLDI
 * 1990).
 * Everything else goes to strtod. Advantage: nearly all numbers that files hold are short, and take
 * a few nanoseconds. Disadvantage: numbers of 17 digits are mostly as slow as before.
 */
#ifndef IKT_IO_NUMBERS_DECIMAL_H
#define IKT_IO_NUMBERS_DECIMAL_H

#include <stdbool.h>

/* LOCAL, pure. The number that `text` begins with, as strtod reads it in the locale "C" but without
 * hexadecimal ones; nan and inf are numbers.
 *   end   receives the first character behind it. Returns false where there is no number. */
bool ikt_decimal(const char *text, const char **end, double *value);

/* LOCAL, pure. The same where the whole text is the number. */
bool ikt_decimal_whole(const char *text, double *value);

#endif
