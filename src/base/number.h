/* The larger and the smaller of two whole numbers; and the ending of a word behind a number. */
#ifndef IKT_BASE_NUMBER_H
#define IKT_BASE_NUMBER_H

#include <stdint.h>

static inline int64_t ikt_larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t ikt_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* "1 rank", "2 ranks" */
static inline const char *ikt_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

#endif
