/* The larger and the smaller of two whole numbers. */
#ifndef IKT_BASE_NUMBER_H
#define IKT_BASE_NUMBER_H

#include <stdint.h>

static inline int64_t ikt_larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t ikt_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
