/* For LD_PRELOAD: memory that runs out. The allocation of number IKT_TEST_FAIL_AT (from 1) and all
 * that follow fail on the rank IKT_TEST_FAIL_RANK, or on every rank. The program allocates by
 * aligned_alloc and its libraries do not, so they go on. With IKT_TEST_COUNT the number of
 * allocations is printed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long count;

static long number_of(const char *name, long fallback) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : fallback;
}

static int is_here(void) {
    const long rank = number_of("IKT_TEST_FAIL_RANK", -1);
    return rank < 0 || rank == number_of("OMPI_COMM_WORLD_RANK", number_of("PMI_RANK", 0));
}

void *aligned_alloc(size_t alignment, size_t size) {
    static void *(*next)(size_t, size_t);
    const long at = number_of("IKT_TEST_FAIL_AT", 0);
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "aligned_alloc");
        memcpy(&next, &found, sizeof next);
    }
    return at > 0 && ++count >= at && is_here() ? NULL : next(alignment, size);
}

__attribute__((destructor)) static void print_count(void) {
    if (getenv("IKT_TEST_COUNT")) fprintf(stderr, "allocations %ld\n", count);
}
