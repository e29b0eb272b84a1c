/* Matrix Market text in ranges of bytes, which the first bytes of the input choose: wherever the
 * entries are cut, the parts together give what one part does, or have its first fault. */
#include <string.h>

#include "base/memory.h"
#include "harness.h"
#include "io/formats/matrix_market.h"

enum { CUTS = 2, PARTS = CUTS + 1, ENTRIES_MOST = 1 << 14 };

typedef struct {
    ikt_matrix_entry entry[ENTRIES_MOST];
    int64_t count;
    ikt_text_fault fault; /* the first; its line is counted from the end of the header */
} text;

/* Appends the entries of a range. */
static void read_range(const ikt_matrix_market *about, ikt_text_lines *lines, int64_t *before,
                       text *out) {
    ikt_status st = ikt_text_lines_open(lines);
    bool found = st == IKT_OK;
    while (st == IKT_OK && found) {
        ikt_matrix_entry entry;
        memset(&entry, 0, sizeof entry);
        st = ikt_matrix_market_next(lines, about, &entry, &found);
        if (st != IKT_OK || !found) break;
        fuzz_check(entry.row < about->rows && entry.column < about->columns,
                   "an entry outside of the matrix");
        fuzz_check(entry.value - entry.value == 0, "a value that is not finite");
        if (out->count < ENTRIES_MOST) out->entry[out->count] = entry;
        out->count++;
    }
    fuzz_check(st == lines->fault.status, "a failure that is no fault of the text");
    out->fault = lines->fault;
    out->fault.line += *before;
    *before += lines->number;
}

static void compare(const text *a, const text *b) {
    fuzz_check(a->fault.status == b->fault.status, "accepted in one way only");
    if (a->fault.status != IKT_OK)
        fuzz_check(a->fault.line == b->fault.line && a->fault.column == b->fault.column &&
                       a->fault.what == b->fault.what && strcmp(a->fault.word, b->fault.word) == 0,
                   "another first fault");
    fuzz_check(a->count == b->count, "counted otherwise");
    for (int64_t e = 0; e < a->count && e < ENTRIES_MOST; e++)
        fuzz_check(a->entry[e].row == b->entry[e].row && a->entry[e].column == b->entry[e].column &&
                       memcmp(&a->entry[e].value, &b->entry[e].value, sizeof(double)) == 0,
                   "other entries");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static text whole, cut;
    if (size < CUTS + 2 || (data[CUTS] == 0x1f && data[CUTS + 1] == 0x8b)) return 0;
    ikt_context *ctx = fuzz_context();
    const char *path = fuzz_file(data + CUTS, size - CUTS);
    const int64_t bytes = (int64_t)size - CUTS;
    ikt_text_lines head = {.ctx = ctx, .path = path, .begin = 0, .end = INT64_MAX};
    ikt_matrix_market about;
    ikt_status st = ikt_text_lines_open(&head);
    if (st == IKT_OK) st = ikt_matrix_market_header(&head, false, &about);
    fuzz_check(st == head.fault.status, "a failure that is no fault of the text");
    ikt_text_lines_free(&head);
    if (st == IKT_OK) {
        int64_t before = 0, begin = about.body;
        whole.count = cut.count = 0;
        cut.fault.status = IKT_OK;
        fuzz_check(!about.is_packed && about.body <= bytes, "a header beyond the file");
        ikt_text_lines all = {.ctx = ctx, .path = path, .begin = begin, .end = bytes};
        read_range(&about, &all, &before, &whole);
        ikt_text_lines_free(&all);
        before = 0;
        for (int p = 0; p < PARTS && cut.fault.status == IKT_OK; p++) { /* may be empty */
            int64_t end = p < CUTS ? begin + data[p] % 64 : bytes;
            if (end > bytes) end = bytes;
            ikt_text_lines part = {.ctx = ctx, .path = path, .begin = begin, .end = end};
            read_range(&about, &part, &before, &cut);
            ikt_text_lines_free(&part);
            begin = end;
        }
        compare(&whole, &cut);
    }
    fuzz_check(ikt_memory_now(ctx) == 0, "memory is left behind");
    return 0;
}
