/* NPZ, numpy's archive of arrays, and the sparse matrices of scipy in it. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ikt_reader_options ways[] = {{.array = ""}, {.array = "a"}, {.array = "data"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        fuzz_table(data, size, &ways[w], false);
    return 0;
}
