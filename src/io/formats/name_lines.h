/* Names in one text, a line each: which line has a name. */
#ifndef IKT_IO_FORMATS_NAME_LINES_H
#define IKT_IO_FORMATS_NAME_LINES_H

#include <stdint.h>

typedef struct {
    const char *name;
    int64_t line; /* from 0 */
} ikt_name_line;

/* LOCAL. Cuts a text into its lines, which point into it.
 *   out   [most] receives the first of them
 * Returns how many there are. */
int64_t ikt_name_lines_cut(char *text, int64_t most, ikt_name_line *out);

/* LOCAL. Sorts by the bytes of the names, equal ones by their lines. */
void ikt_name_lines_sort(ikt_name_line *lines, int64_t count);

/* LOCAL, pure. The first line of that name, or -1.
 *   sorted   [count] as ikt_name_lines_sort leaves them */
int64_t ikt_name_lines_find(const ikt_name_line *sorted, int64_t count, const char *name);

#endif
