/* Names, a line each. See name_lines.h. */
#include "io/formats/name_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

int64_t ikt_name_lines_cut(char *text, int64_t most, ikt_name_line *out) {
    int64_t count = 0;
    for (char *end = strchr(text, '\n'); end; text = end + 1, end = strchr(text, '\n')) {
        *end = '\0';
        if (count < most) out[count] = (ikt_name_line){text, count};
        count++;
    }
    return count;
}

static int by_name(const void *a, const void *b) {
    const ikt_name_line *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

void ikt_name_lines_sort(ikt_name_line *lines, int64_t count) {
    if (count > 1) qsort(lines, (size_t)count, sizeof *lines, by_name);
}

int64_t ikt_name_lines_find(const ikt_name_line *sorted, int64_t count, const char *name) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, count, strcmp(sorted[at].name, name) >= 0);
    return at < count && strcmp(sorted[at].name, name) == 0 ? sorted[at].line : -1;
}
