/* Text that others have written, in lines of ours. */
#ifndef IKT_BASE_QUOTE_H
#define IKT_BASE_QUOTE_H

#include <stdio.h>

/* LOCAL. Writes the text in double quotes. It may hold any bytes: those that are no UTF-8 (file
 * names may hold such) become U+FFFD. */
void ikt_quote(FILE *file, const char *text);

/* LOCAL. What would break a line or steer the terminal becomes '?'. */
void ikt_make_printable(char *text);

#endif
