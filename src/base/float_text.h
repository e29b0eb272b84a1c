/* The shortest decimal that reads back to the same float32.
 *
 * Method: of 1 to 9 digits (9 always suffice) the fewest whose value, rounded to float32, is the
 * number. Digits come from one multiplication by an exact power of ten and the trial from one
 * division, some tens of nanoseconds; what lies outside 1e-5 .. 1e6 goes through printf.
 */
#ifndef IKT_BASE_FLOAT_TEXT_H
#define IKT_BASE_FLOAT_TEXT_H

enum { IKT_FLOAT_TEXT = 20 };

/* LOCAL, pure. Writes e.g. "-3.25", "12", "1e-07", "nan", "inf"; returns its length. */
int ikt_float_print(float value, char text[IKT_FLOAT_TEXT]);

#endif
