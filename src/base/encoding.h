/* Values as text of other formats: strings of JSON, bytes in base64, float32 as decimals. */
#ifndef IKT_BASE_ENCODING_H
#define IKT_BASE_ENCODING_H

#include <stdint.h>
#include <stdio.h>

/* LOCAL. Writes the text in double quotes. It may hold any bytes: those that are no UTF-8 (file
 * names may hold such) become U+FFFD. */
void ikt_quote(FILE *file, const char *text);

/* LOCAL. What would break a line or steer the terminal becomes '?'. */
void ikt_make_printable(char *text);

/* LOCAL, pure. Letters that `count` bytes become in base64 (RFC 4648): four for every three
 * bytes begun. */
int64_t ikt_base64_length(int64_t count);

/* LOCAL. Writes them to text[ikt_base64_length(count)], without a terminating zero. */
void ikt_base64(const void *bytes, int64_t count, char *text);

/* The shortest decimal that reads back to the same float32.
 *
 * Method: of 1 to 9 digits (9 always suffice) the fewest whose value, rounded to float32, is the
 * number. Digits come from one multiplication by an exact power of ten and the trial from one
 * division, some tens of nanoseconds; what lies outside 1e-5 .. 1e6 goes through printf. */
enum { IKT_FLOAT_TEXT = 20 };

/* LOCAL, pure. Writes e.g. "-3.25", "12", "1e-07", "nan", "inf"; returns its length. */
int ikt_float_print(float value, char text[IKT_FLOAT_TEXT]);

#endif
