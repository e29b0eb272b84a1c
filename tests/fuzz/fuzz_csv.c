/* Delimited text, in the ways in which its columns can be asked for. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ikt_reader_options ways[] = {{0, IKT_HEADER_AUTO, "", ""},
                                              {0, IKT_HEADER_AUTO, "1", "kind,3"},
                                              {',', IKT_HEADER_YES, "kind", ""},
                                              {' ', IKT_HEADER_NO, "2", "1"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        fuzz_table(data, size, &ways[w]);
    return 0;
}
