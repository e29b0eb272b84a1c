/* Sealed files: one that was found whole is not read again in the same run, unless anything of it
 * has changed, or might have without showing it. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/row_hash.h"

enum { BYTES = 5 << 20 };

static char path[64], other[64];

/* Bytes that the ranks' processes have read so far; -1 where the system does not say. */
static int64_t read_so_far(ikt_context *ctx) {
    long long count = -1;
    FILE *file = fopen("/proc/self/io", "r");
    if (file && fscanf(file, "rchar: %lld", &count) != 1) count = -1;
    if (file) fclose(file);
    return ikt_max_one(ctx, count < 0) > 0 ? -1 : ikt_sum_one(ctx, count);
}

/* Whether looking at the file reads all of it; it must come to `expected`. */
static bool look_reads_all(ikt_context *ctx, const char *name, ikt_status expected) {
    bool is_sealed;
    const int64_t before = read_so_far(ctx);
    assert_int_equal(ikt_seal_look(ctx, name, &is_sealed), expected);
    assert_true(is_sealed);
    ikt_clear(ctx);
    return before < 0 || read_so_far(ctx) - before >= BYTES;
}

static void write_sealed(ikt_context *ctx, const char *name, char byte) {
    static char block[BYTES];
    if (ikt_rank(ctx) == 0) {
        FILE *file = fopen(name, "wb");
        memset(block, byte, sizeof block);
        assert_non_null(file);
        assert_int_equal(fwrite(block, 1, sizeof block, file), sizeof block);
        assert_int_equal(fclose(file), 0);
    }
    ikt_barrier(ctx);
    assert_int_equal(ikt_seal_put(ctx, name), IKT_OK);
}

static void begin(ikt_context *ctx) {
    int64_t pid = getpid();
    ikt_broadcast(ctx, &pid, sizeof pid, 0);
    snprintf(path, sizeof path, "seal-%lld", (long long)pid);
    snprintf(other, sizeof other, "seal-%lld-other", (long long)pid);
    write_sealed(ctx, path, 'a');
}

static void end(ikt_context *ctx) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) unlink(path);
    if (ikt_rank(ctx) == 0) unlink(other);
}

static void wait_until_settled(void) {
    const struct timespec pause = {2, 200000000};
    nanosleep(&pause, NULL);
}

static void a_whole_file_is_read_once(void **state) {
    ikt_context *ctx = *state;
    if (read_so_far(ctx) < 0) skip();
    begin(ctx);
    assert_true(look_reads_all(ctx, path, IKT_OK));
    assert_true(look_reads_all(ctx, path, IKT_OK)); /* too young to be trusted */
    wait_until_settled();
    assert_true(look_reads_all(ctx, path, IKT_OK));
    for (int again = 0; again < 3; again++)
        assert_false(look_reads_all(ctx, path, IKT_OK));
    end(ctx);
}

/* One bit, and the time of the last change set back: only the inode's own time tells. */
static void damage_after_that_is_found(void **state) {
    ikt_context *ctx = *state;
    struct stat before;
    begin(ctx);
    wait_until_settled();
    assert_true(look_reads_all(ctx, path, IKT_OK));
    if (ikt_rank(ctx) == 0) {
        assert_int_equal(stat(path, &before), 0);
        const int file = open(path, O_WRONLY);
        assert_int_equal(pwrite(file, "b", 1, BYTES / 2), 1);
        assert_int_equal(futimens(file, (const struct timespec[]){before.st_atim, before.st_mtim}),
                         0);
        assert_int_equal(close(file), 0);
    }
    ikt_barrier(ctx);
    assert_true(look_reads_all(ctx, path, IKT_ERR_DATA));
    wait_until_settled();
    assert_true(look_reads_all(ctx, path, IKT_ERR_DATA));
    end(ctx);
}

static void another_file_of_that_name_is_read(void **state) {
    ikt_context *ctx = *state;
    begin(ctx);
    write_sealed(ctx, other, 'b');
    wait_until_settled();
    assert_true(look_reads_all(ctx, path, IKT_OK));
    if (ikt_rank(ctx) == 0) assert_int_equal(rename(other, path), 0);
    ikt_barrier(ctx);
    assert_true(look_reads_all(ctx, path, IKT_OK));
    end(ctx);
}

IKT_MPI_TESTS(ikt_test(a_whole_file_is_read_once), ikt_test(damage_after_that_is_found),
              ikt_test(another_file_of_that_name_is_read))
