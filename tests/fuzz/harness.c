/* What the fuzzers share. */
#define _GNU_SOURCE /* memfd_create */
#include "harness.h"

#include <mpi.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/context.h"
#include "base/memory.h"
#include "io/formats/csv_file.h"

enum { CELLS_MOST = 1 << 18, PATH_SIZE = 64, PIECE = 3 };

typedef struct {
    int descriptor;
    char path[PATH_SIZE];
} memory_file;

static ikt_context *context;
static memory_file plain, packed;

void fuzz_check(int holds, const char *sentence) {
    if (holds) return;
    fprintf(stderr, "fuzz: %s\nfuzz: message: %s\n", sentence, ikt_message(context));
    abort();
}

static void make_file(memory_file *file, const char *name) {
    file->descriptor = memfd_create(name, 0);
    fuzz_check(file->descriptor >= 0, "no file in memory can be made");
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
}

static const char *fill_file(const memory_file *file, const void *data, size_t size) {
    fuzz_check(ftruncate(file->descriptor, 0) == 0 &&
                   pwrite(file->descriptor, data, size, 0) == (ssize_t)size,
               "the file in memory cannot be written");
    return file->path;
}

/* Without a launcher, and without what MPI itself leaves behind counting as leaks. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    __lsan_disable();
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_opal_signal", "", 1); /* signals are libFuzzer's */
    MPI_Init(count, arguments);
    ikt_status st = ikt_context_create(MPI_COMM_SELF, 1, &context);
    __lsan_enable();
    if (st != IKT_OK) return 1;
    ikt_context_set_log(context, IKT_LOG_ERROR);
    make_file(&plain, "input");
    make_file(&packed, "input.gz");
    return 0;
}

ikt_context *fuzz_context(void) {
    ikt_clear(context);
    context->memory_now = context->memory_peak = 0;
    return context;
}

const char *fuzz_file(const uint8_t *data, size_t size) {
    return fill_file(&plain, data, size);
}

const char *fuzz_packed_file(const uint8_t *data, size_t size) {
    fuzz_check(ftruncate(packed.descriptor, 0) == 0, "the file in memory cannot be emptied");
    gzFile file = gzopen(packed.path, "wb1");
    fuzz_check(file && (size == 0 || gzwrite(file, data, (unsigned)size) == (int)size) &&
                   gzclose(file) == Z_OK,
               "the file in memory cannot be compressed");
    return packed.path;
}

void fuzz_outcome(ikt_context *ctx, ikt_status status, int64_t bytes) {
    if (status == IKT_OK)
        fuzz_check(ikt_message(ctx)[0] == '\0', "success with a message");
    else
        fuzz_check(ikt_message(ctx)[0] != '\0', "a failure without a message");
    fuzz_check(status != IKT_ERR_INTERNAL && status != IKT_ERR_RESOURCE,
               "bytes of a file led to an internal error, or to too much memory");
    fuzz_check(strchr(ikt_message(ctx), '\n') == NULL, "a message of several lines");
    fuzz_check(ikt_memory_now(ctx) == 0, "memory is left behind");
    fuzz_check(ikt_memory_peak(ctx) <= bytes, "far more memory than the file can hold");
}

/* What was read; `rows` and `labels` belong to the caller. */
typedef struct {
    ikt_status status;
    bool skipped; /* too large to be read here */
    int64_t n, d;
    size_t bytes; /* of rows */
    char *rows;
    int32_t *labels;
} table;

/* Room for the rows. */
static void table_create(table *t, int64_t n, int64_t d, ikt_type type) {
    t->n = n;
    t->d = d;
    t->skipped = n > CELLS_MOST / d;
    if (t->skipped) return;
    t->bytes = (size_t)(n * d) * ikt_type_size(type);
    t->rows = calloc(t->bytes + 1, 1);
    t->labels = calloc((size_t)n + 1, sizeof *t->labels);
}

static void check_shape(int64_t n, int64_t d, bool labels, const char *classes) {
    fuzz_check(n >= 1 && d >= 1, "an accepted table has no rows or no columns");
    fuzz_check(!classes || (labels && classes[0] && strchr(classes, '\n')),
               "names of classes without labels or without a name");
}

/* The memory that a reader may have: buffers, and what bytes can stand for. Compressed text may be
 * a thousand times as long as its file, and a cell of one byte has a pointer of eight. */
static int64_t bound(size_t size) {
    return (1 << 20) + (int64_t)size * 1032 * 64;
}

/* All rows, `step` at a time. */
static ikt_status read_array(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                             int64_t step, table *t) {
    ikt_reader *reader = NULL;
    ikt_status st = ikt_reader_open(ctx, path, options, &reader);
    if (st == IKT_OK) {
        check_shape(reader->n, reader->d, reader->labels, reader->classes);
        table_create(t, reader->n, reader->d, reader->type);
    }
    for (int64_t first = 0; first < t->n && !t->skipped && st == IKT_OK; first += step) {
        const int64_t left = t->n - first, count = left < step ? left : step;
        const size_t row = t->bytes / (size_t)t->n;
        st = ikt_reader_read(reader, count, t->rows + (size_t)first * row,
                             reader->labels ? t->labels + first : NULL);
    }
    ikt_reader_close(&reader);
    return st;
}

static ikt_status read_csv(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                           int64_t step, table *t) {
    ikt_csv_file file;
    ikt_status st = ikt_csv_file_open(ctx, path, options, 0, &file);
    const int64_t label = file.columns.label;
    if (st == IKT_OK) st = ikt_csv_file_learn(&file, label, false);
    if (st == IKT_OK && file.columns.numbers > 0) {
        check_shape(file.n, file.columns.numbers, label >= 0, file.classes);
        table_create(t, file.n, file.columns.numbers, IKT_TYPE_F64);
    }
    for (int64_t first = 0; first < t->n && !t->skipped && st == IKT_OK; first += step) {
        const int64_t left = t->n - first, count = left < step ? left : step;
        st = ikt_csv_file_read(&file, count, (double *)(void *)t->rows + first * t->d, label,
                               label >= 0 ? t->labels + first : NULL, NULL);
    }
    ikt_csv_file_close(&file);
    return st;
}

static table read_table(const char *path, size_t size, const ikt_reader_options *options,
                        int64_t step, bool is_csv) {
    ikt_context *ctx = fuzz_context();
    table t = {.status = IKT_OK};
    t.status = (is_csv ? read_csv : read_array)(ctx, path, options, step, &t);
    fuzz_outcome(ctx, t.status, bound(size));
    return t;
}

static void compare(const table *a, const table *b) {
    if (a->skipped || b->skipped) return;
    fuzz_check((a->status == IKT_OK) == (b->status == IKT_OK), "accepted in one way only");
    if (a->status != IKT_OK) return;
    fuzz_check(a->n == b->n && a->d == b->d && a->bytes == b->bytes, "read with another shape");
    fuzz_check(a->bytes == 0 || memcmp(a->rows, b->rows, a->bytes) == 0, "read as other numbers");
    fuzz_check(a->n == 0 || memcmp(a->labels, b->labels, (size_t)a->n * sizeof *a->labels) == 0,
               "read with other labels");
}

static void table_free(table *t) {
    free(t->rows);
    free(t->labels);
}

/* Packed twice is something else, and archives are compressed within. */
static bool may_be_packed(const uint8_t *data, size_t size) {
    return size < 2 || (memcmp(data, "\x1f\x8b", 2) != 0 && memcmp(data, "PK", 2) != 0 &&
                        memcmp(data, "MA", 2) != 0);
}

void fuzz_table(const uint8_t *data, size_t size, const ikt_reader_options *options, bool is_csv) {
    const char *path = fuzz_file(data, size);
    table whole = read_table(path, size, options, CELLS_MOST, is_csv);
    table pieces = read_table(path, size, options, PIECE, is_csv);
    compare(&whole, &pieces);
    table_free(&pieces);
    if (may_be_packed(data, size)) {
        table other = read_table(fuzz_packed_file(data, size), size, options, CELLS_MOST, is_csv);
        compare(&whole, &other);
        table_free(&other);
    }
    table_free(&whole);
}
