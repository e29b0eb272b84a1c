/* NPY, numpy's array file. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ikt_reader_options plain = {.header = IKT_HEADER_AUTO};
    fuzz_table(data, size, &plain, false);
    return 0;
}
