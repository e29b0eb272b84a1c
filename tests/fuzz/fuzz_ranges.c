/* LIBSVM's text in ranges of bytes, which the first bytes of the input choose: wherever it is cut,
 * the parts together know and give what one part of the whole does, or have its first fault. */
#include <string.h>

#include "base/memory.h"
#include "harness.h"
#include "io/formats/libsvm_text.h"

enum { CUTS = 3, PARTS = CUTS + 1 };

/* What parts know when they are merged as ranks merge theirs. */
typedef struct {
    ikt_libsvm_part part[PARTS];
    int parts;
    ikt_text_fault fault; /* the first; its line is of the file */
    int64_t rows, entries, least, greatest;
    bool are_text;
} text;

static void open_part(ikt_libsvm_part *part, ikt_context *ctx, const char *path, int64_t begin,
                      int64_t end) {
    *part = (ikt_libsvm_part){.type = IKT_TYPE_F32};
    part->lines = (ikt_text_lines){.ctx = ctx, .path = path, .begin = begin, .end = end};
}

static void scan(text *t) {
    int64_t lines = 0;
    t->least = INT64_MAX;
    t->greatest = -1;
    for (int p = 0; p < t->parts && t->fault.status == IKT_OK; p++) {
        ikt_libsvm_part *part = &t->part[p];
        const ikt_status st = ikt_libsvm_scan(part);
        t->fault = part->lines.fault;
        fuzz_check(st == t->fault.status, "a failure that is no fault of the text");
        t->fault.line += lines;
        lines += part->lines.number;
        t->rows += part->rows;
        t->entries += part->entries;
        t->are_text |= part->labels.are_text;
        if (part->least < t->least) t->least = part->least;
        if (part->greatest > t->greatest) t->greatest = part->greatest;
    }
}

/* Every part gets the names of all. */
static void merge_names(text *t, ikt_context *ctx) {
    for (int p = 0; p < t->parts; p++)
        t->part[p].labels.are_text = t->are_text;
    for (int p = 0; p < t->parts && t->are_text; p++)
        for (int q = 0; q < t->parts; q++) {
            char *names;
            fuzz_check(ikt_class_names_list(ctx, &t->part[p].labels.classes, &names) == IKT_OK &&
                           ikt_class_names_add_lines(ctx, &t->part[q].labels.classes, names,
                                                     &t->part[q].labels.are_many) == IKT_OK,
                       "names cannot be merged");
            ikt_free(&names);
        }
}

static void read_rows(text *t, ikt_sparse_block *block) {
    int64_t origin, columns;
    ikt_libsvm_columns(t->least, t->greatest, &origin, &columns);
    for (int p = 0; p < t->parts; p++)
        fuzz_check(ikt_libsvm_rewind(&t->part[p]) == IKT_OK &&
                       ikt_libsvm_read(&t->part[p], t->part[p].rows, INT64_MAX, origin, columns,
                                       block) == IKT_OK,
                   "rows that were scanned cannot be read");
}

static void compare(text *a, text *b, ikt_context *ctx) {
    fuzz_check(a->fault.status == b->fault.status, "accepted in one way only");
    if (a->fault.status != IKT_OK) {
        fuzz_check(a->fault.line == b->fault.line && a->fault.column == b->fault.column &&
                       a->fault.what == b->fault.what && strcmp(a->fault.word, b->fault.word) == 0,
                   "another first fault");
        return;
    }
    ikt_sparse_block x = {0}, y = {0};
    fuzz_check(a->rows == b->rows && a->entries == b->entries && a->least == b->least &&
                   a->greatest == b->greatest && a->are_text == b->are_text,
               "counted otherwise");
    merge_names(a, ctx);
    merge_names(b, ctx);
    read_rows(a, &x);
    read_rows(b, &y);
    fuzz_check(x.rows == y.rows && x.entries == y.entries, "other rows");
    fuzz_check(x.rows == 0 || (memcmp(x.ends, y.ends, (size_t)x.rows * sizeof *x.ends) == 0 &&
                               memcmp(x.labels, y.labels, (size_t)x.rows * sizeof *x.labels) == 0),
               "other rows or labels");
    fuzz_check(x.entries == 0 ||
                   (memcmp(x.columns, y.columns, (size_t)x.entries * sizeof *x.columns) == 0 &&
                    memcmp(x.values, y.values, (size_t)x.entries * sizeof *x.values) == 0),
               "other entries");
    ikt_sparse_block_free(&x);
    ikt_sparse_block_free(&y);
}

static void close_text(text *t) {
    for (int p = 0; p < t->parts; p++)
        ikt_libsvm_free(&t->part[p]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < CUTS + 2 || (data[CUTS] == 0x1f && data[CUTS + 1] == 0x8b)) return 0;
    ikt_context *ctx = fuzz_context();
    const int64_t bytes = (int64_t)size - CUTS;
    const char *path = fuzz_file(data + CUTS, size - CUTS);
    text whole = {.parts = 1}, cut = {.parts = PARTS};
    int64_t begin = 0;
    open_part(&whole.part[0], ctx, path, 0, bytes);
    for (int p = 0; p < PARTS; p++) { /* the last range has the rest, and ranges may be empty */
        int64_t end = p < CUTS ? begin + data[p] % 64 : bytes;
        if (end > bytes) end = bytes;
        open_part(&cut.part[p], ctx, path, begin, end);
        begin = end;
    }
    scan(&whole);
    scan(&cut);
    compare(&whole, &cut, ctx);
    close_text(&whole);
    close_text(&cut);
    fuzz_check(ikt_memory_now(ctx) == 0, "memory is left behind");
    return 0;
}
