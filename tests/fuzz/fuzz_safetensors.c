/* The headers of safetensors: what is accepted stands in the file, whichever array is asked for. */
#include "harness.h"

static void ignore(void *self, const ikt_array *array) {
    ++*(int64_t *)self;
    fuzz_check(array->name && array->shape, "an array without a name or a shape");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ikt_reader_options ways[] = {{.array = ""}, {.array = "a"}};
    const int64_t most = (1 << 20) + (int64_t)size * 512;
    const char *path = fuzz_file(data, size);
    if (!ikt_reader_safetensors.probe(data, (int64_t)size)) return 0;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        ikt_context *ctx = fuzz_context();
        ikt_reader *reader = NULL;
        const ikt_status st = ikt_reader_open(ctx, path, &ways[w], &reader);
        if (st == IKT_OK) {
            const ikt_layout *l = &reader->layout;
            fuzz_check(l->n >= 1 && l->d >= 1 &&
                           l->offset + l->n * l->d * l->element.bytes <= (int64_t)size,
                       "an array that stands beyond the end of its file");
        }
        ikt_reader_close(&reader);
        fuzz_outcome(ctx, st, most);
    }
    ikt_context *ctx = fuzz_context();
    int64_t count = 0;
    fuzz_outcome(ctx, ikt_reader_safetensors.list(ctx, path, ignore, &count), most);
    return 0;
}
