/* Sorting of plain numbers, by the C library's sort. See sort.h. */
#include "base/sort.h"

#include <stdlib.h>

/* The same two functions for each type. */
#define SORT_OF(suffix, type)                                                                      \
    static int ascending_##suffix(const void *a, const void *b) {                                  \
        return IKT_COMPARE(*(const type *)a, *(const type *)b);                                    \
    }                                                                                              \
    static void sort_##suffix(type *value, int64_t count) {                                        \
        if (count > 1) qsort(value, (size_t)count, sizeof *value, ascending_##suffix);             \
    }

#define DISTINCT_OF(suffix, type)                                                                  \
    int64_t ikt_sort_distinct_##suffix(type *value, int64_t count) {                               \
        int64_t kept = 0;                                                                          \
        sort_##suffix(value, count);                                                               \
        for (int64_t e = 0; e < count; e++)                                                        \
            if (kept == 0 || value[kept - 1] != value[e]) value[kept++] = value[e];                \
        return kept;                                                                               \
    }

SORT_OF(i64, int64_t)
SORT_OF(u32, uint32_t)
SORT_OF(i32, int32_t)
SORT_OF(f64, double)
DISTINCT_OF(i64, int64_t)
DISTINCT_OF(u32, uint32_t)
DISTINCT_OF(i32, int32_t)

void ikt_sort_i64(int64_t *value, int64_t count) {
    sort_i64(value, count);
}

void ikt_sort_u32(uint32_t *value, int64_t count) {
    sort_u32(value, count);
}

void ikt_sort_f64(double *value, int64_t count) {
    sort_f64(value, count);
}
