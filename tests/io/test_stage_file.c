/* Checkpoint files: written on all ranks and read on any; two generations; damage of every kind is
 * refused before HDF5 sees the file. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/hdf5/stage_file.h"

enum { ROWS = 1000, COLUMNS = 7, SHARED = 5, DAMAGES = 250 };

static const ikt_stage_head head = {"codes",    "1.0",          "commit 1", "avx2",
                                    "1000 x 7", "a: 1\nb: 2\n", 12};

static char path[64], previous[64];

static void name_files(ikt_context *ctx) {
    int64_t pid = getpid();
    ikt_broadcast(ctx, &pid, sizeof pid, 0);
    snprintf(path, sizeof path, "stage-%lld.h5", (long long)pid);
    snprintf(previous, sizeof previous, "stage-%lld.previous.h5", (long long)pid);
}

static float value_of(int64_t row, int64_t column, int generation) {
    return (float)(100 * row + column + generation);
}

static void write_file(ikt_context *ctx, int generation) {
    const ikt_rows distribution = ikt_rows_make(ROWS, ikt_size(ctx), ikt_rank(ctx));
    float *rows = NULL;
    int64_t shared[SHARED] = {1, 2, 3, 4, generation};
    assert_int_equal(ikt_alloc(ctx, &rows, distribution.count * COLUMNS, sizeof *rows, "test"),
                     IKT_OK);
    for (int64_t e = 0; e < distribution.count * COLUMNS; e++)
        rows[e] = value_of(distribution.first + e / COLUMNS, e % COLUMNS, generation);
    const ikt_part parts[] = {ikt_part_shared("numbers", IKT_PART_I64, SHARED, shared),
                              ikt_part_rows("rows", IKT_PART_F32, &distribution, COLUMNS, rows),
                              ikt_part_shared("nothing", IKT_PART_F64, 0, shared)};
    assert_int_equal(ikt_stage_file_write(ctx, path, previous, &head, parts, 3), IKT_OK);
    ikt_free(&rows);
}

/* Rows shared out the other way round: what a rank reads, others have written. */
static void check_file(ikt_context *ctx, const char *name, int generation) {
    const int size = ikt_size(ctx), mirror = size - 1 - ikt_rank(ctx);
    const ikt_rows distribution = ikt_rows_make(ROWS, size, mirror);
    float *rows = NULL;
    int64_t shared[SHARED];
    ikt_stage_file *file;
    assert_int_equal(ikt_alloc(ctx, &rows, distribution.count * COLUMNS, sizeof *rows, "test"),
                     IKT_OK);
    assert_int_equal(ikt_stage_file_open(ctx, name, "codes", &file), IKT_OK);
    assert_string_equal(ikt_stage_file_head(file).settings, head.settings);
    assert_string_equal(ikt_stage_file_head(file).stage, "codes");
    assert_int_equal(ikt_stage_file_head(file).iterations, head.iterations);
    const ikt_part parts[] = {ikt_part_shared("numbers", IKT_PART_I64, SHARED, shared),
                              ikt_part_rows("rows", IKT_PART_F32, &distribution, COLUMNS, rows)};
    assert_int_equal(ikt_stage_file_read(file, parts, 2), IKT_OK);
    assert_int_equal(shared[SHARED - 1], generation);
    for (int64_t e = 0; e < distribution.count * COLUMNS; e++)
        assert_true(rows[e] == value_of(distribution.first + e / COLUMNS, e % COLUMNS, generation));
    const ikt_part wrong[] = {
        ikt_part_rows("rows", IKT_PART_F32, &distribution, COLUMNS + 1, rows)};
    assert_int_equal(ikt_stage_file_read(file, wrong, 1), IKT_ERR_DATA);
    ikt_clear(ctx);
    ikt_stage_file_close(&file);
    assert_null(file);
    ikt_free(&rows);
}

static void remove_files(ikt_context *ctx) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) {
        unlink(path);
        unlink(previous);
    }
}

static void files_are_read_on_other_ranks_and_two_are_kept(void **state) {
    ikt_context *ctx = *state;
    name_files(ctx);
    for (int generation = 1; generation <= 3; generation++) {
        write_file(ctx, generation);
        check_file(ctx, path, generation);
        if (generation > 1) check_file(ctx, previous, generation - 1);
    }
    remove_files(ctx);
}

/* A file as bytes, on rank 0. */
typedef struct {
    char *bytes;
    long length;
} content;

static content slurp(const char *name) {
    content c = {NULL, 0};
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    c.length = ftell(file);
    c.bytes = malloc((size_t)c.length);
    rewind(file);
    assert_int_equal(fread(c.bytes, 1, (size_t)c.length, file), c.length);
    fclose(file);
    return c;
}

static void spill(const char *name, const char *bytes, long length) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Damage number `which`, at places that the seed says: bits, stretches of zeros, a cut, more bytes.
 */
static void damage(const content *whole, uint64_t which) {
    char *bytes = malloc((size_t)whole->length + 8);
    long length = whole->length;
    const long at = (long)(ikt_rng_uniform(1, IKT_RNG_TEST, 0, which) * (double)length);
    memcpy(bytes, whole->bytes, (size_t)length);
    memset(bytes + length, 0, 8);
    switch (which % 4) {
    case 0:
        bytes[at] = (char)(bytes[at] ^ 1 << which / 4 % 8);
        break;
    case 1:
        for (long i = at; i < length && i < at + 4096; i++)
            bytes[i] = (char)~bytes[i];
        break;
    case 2:
        length = at;
        break;
    default:
        length += 1 + at % 8;
    }
    spill(path, bytes, length);
    free(bytes);
}

static void damage_of_every_kind_is_refused(void **state) {
    ikt_context *ctx = *state;
    content whole = {NULL, 0};
    ikt_stage_file *file;
    name_files(ctx);
    write_file(ctx, 1);
    if (ikt_rank(ctx) == 0) whole = slurp(path);
    int refused = 0;
    for (uint64_t which = 0; which < DAMAGES; which++) {
        if (ikt_rank(ctx) == 0) damage(&whole, which);
        ikt_barrier(ctx);
        assert_int_equal(ikt_stage_file_open(ctx, path, "codes", &file), IKT_ERR_DATA);
        assert_null(file);
        assert_non_null(strstr(ikt_message(ctx), path));
        ikt_clear(ctx);
        ikt_barrier(ctx);
        refused++;
    }
    if (ikt_rank(ctx) == 0) {
        print_message("%d damaged checkpoints, %d refused\n", DAMAGES, refused);
        spill(path, whole.bytes, whole.length);
    }
    ikt_barrier(ctx);
    check_file(ctx, path, 1);
    free(whole.bytes);
    remove_files(ctx);
}

static void a_file_of_another_stage_is_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_stage_file *file;
    name_files(ctx);
    write_file(ctx, 1);
    assert_int_equal(ikt_stage_file_open(ctx, path, "loop", &file), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "is of the stage 'codes' and not of 'loop'"));
    ikt_clear(ctx);
    remove_files(ctx);
}

/* What is written fails in the end: the file that was there stays, and nothing else. */
static void a_file_that_cannot_be_written_leaves_the_old_one(void **state) {
    ikt_context *ctx = *state;
    char folder[96];
    name_files(ctx);
    write_file(ctx, 1);
    snprintf(folder, sizeof folder, "%s/inside.h5", path); /* a file is no folder */
    assert_int_equal(ikt_stage_file_write(ctx, folder, previous, &head, NULL, 0), IKT_ERR_FILE);
    ikt_clear(ctx);
    check_file(ctx, path, 1);
    assert_int_equal(ikt_stage_file_open(ctx, previous, "codes", &(ikt_stage_file *){NULL}),
                     IKT_ERR_FILE);
    ikt_clear(ctx);
    remove_files(ctx);
}

IKT_MPI_TESTS(ikt_test(files_are_read_on_other_ranks_and_two_are_kept),
              ikt_test(damage_of_every_kind_is_refused),
              ikt_test(a_file_of_another_stage_is_refused),
              ikt_test(a_file_that_cannot_be_written_leaves_the_old_one))
