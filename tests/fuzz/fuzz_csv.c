/* Delimited text, in the ways in which its columns can be asked for. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ikt_reader_options ways[] = {
        {.header = IKT_HEADER_AUTO},
        {.label_column = "1", .skip_columns = "kind,3"},
        {.delimiter = ',', .header = IKT_HEADER_YES, .label_column = "kind"},
        {.delimiter = ' ', .header = IKT_HEADER_NO, .label_column = "2", .skip_columns = "1"},
        {.keeps_text = true, .keeps_missing = true},
        {.keeps_text = true, .label_column = "kind", .take_columns = "v"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        fuzz_table(data, size, &ways[w], true);
    return 0;
}
