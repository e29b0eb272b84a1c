/* A file that all ranks write: pieces in order, of any length, complete or not at all. */
#include "io/io_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/shared_file.h"
#include "base/watch.h"

enum { ROUNDS = 5, BYTES_MOST = 4096 };

/* Bytes that rank r brings in a round: some bring none. */
static int64_t length_of(int round, int rank) {
    return (round + rank) % 3 == 0 ? 0 : 40 * rank + 7 * round + 1;
}

static char byte_of(int round, int rank, int64_t i) {
    return (char)(round * 61 + rank * 17 + i);
}

static ikt_status write_rounds(ikt_context *ctx, ikt_shared_file *file) {
    char piece[BYTES_MOST];
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t count = length_of(round, ikt_rank(ctx));
        for (int64_t i = 0; i < count; i++)
            piece[i] = byte_of(round, ikt_rank(ctx), i);
        IKT_TRY(ikt_shared_append(file, piece, count));
    }
    return ikt_shared_append(file, "end", ikt_rank(ctx) == 0 ? 3 : 0);
}

static void check_file(ikt_context *ctx, const char *name) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    for (int round = 0; round < ROUNDS; round++)
        for (int rank = 0; rank < ikt_size(ctx); rank++)
            for (int64_t i = 0; i < length_of(round, rank); i++)
                assert_int_equal(fgetc(file), (unsigned char)byte_of(round, rank, i));
    assert_int_equal(fgetc(file), 'e');
    assert_int_equal(fgetc(file), 'n');
    assert_int_equal(fgetc(file), 'd');
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
}

/* With and without room taken before, in small pieces and in one. */
static void pieces_in_order(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "shared", name);
    for (int way = 0; way < 4; way++) {
        ikt_shared_file *file;
        if (way >= 2) ikt_set_piece_bytes(ctx, 16);
        assert_int_equal(ikt_shared_begin(ctx, name, true, way % 2 ? 100000 : 0, &file), IKT_OK);
        const ikt_status st = write_rounds(ctx, file);
        assert_int_equal(ikt_shared_end(&file, st), IKT_OK);
        assert_null(file);
        check_file(ctx, name);
        ikt_barrier(ctx);
    }
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* One rank gives up: the file that was there stays, and nothing is left beside it. */
static void giving_up(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], beside[2 * IO_NAME_MAX];
    ikt_shared_file *file;
    io_name(ctx, "given-up", name);
    if (ikt_rank(ctx) == 0) io_write(name, "old", 3, false);
    ikt_barrier(ctx);
    assert_int_equal(ikt_shared_begin(ctx, name, false, 0, &file), IKT_ERR_FILE);
    io_expect(ctx, "exists already");
    assert_null(file);
    assert_int_equal(ikt_shared_begin(ctx, name, true, 0, &file), IKT_OK);
    snprintf(beside, sizeof beside, "%s", ikt_shared_name(file));
    ikt_status st = ikt_shared_append(file, "new", ikt_rank(ctx) == 0 ? 3 : 0);
    if (st == IKT_OK && ikt_rank(ctx) == ikt_size(ctx) - 1)
        st = ikt_fail(ctx, IKT_ERR_DATA, "gave up");
    assert_int_equal(ikt_shared_end(&file, st), IKT_ERR_DATA);
    io_expect(ctx, "gave up");
    struct stat is;
    assert_int_equal(stat(name, &is), 0);
    assert_int_equal(is.st_size, 3);
    ikt_barrier(ctx);
    assert_int_not_equal(stat(beside, &is), 0);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void no_folder(void **state) {
    ikt_context *ctx = *state;
    ikt_shared_file *file;
    assert_int_equal(ikt_shared_begin(ctx, "no-such-folder/x", true, 0, &file), IKT_ERR_FILE);
    io_expect(ctx, "cannot be written");
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* A pipe that nobody opens, and one whose reader does not read: a signal that asks for the end ends
 * both waits, on all ranks, with the same sentence. */
static void a_pipe_that_nobody_reads(void **state) {
    static char piece[1 << 20];
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_shared_file *file;
    int reader = -1;
    io_name(ctx, "pipe", name);
    if (ikt_rank(ctx) == 0) assert_int_equal(mkfifo(name, 0600), 0);
    ikt_barrier(ctx);
    ikt_watch_signals();
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(ikt_shared_begin(ctx, name, false, 0, &file), IKT_ERR_FILE);
    io_expect(ctx, "nobody reads the pipe");
    assert_null(file);
    if (ikt_rank(ctx) == 0) reader = open(name, O_RDONLY | O_NONBLOCK);
    assert_int_equal(ikt_shared_begin(ctx, name, false, 0, &file), IKT_OK);
    const ikt_status st = ikt_shared_append(file, piece, sizeof piece);
    assert_int_equal(st, IKT_ERR_FILE);
    io_expect(ctx, "nobody reads the pipe");
    assert_int_equal(ikt_shared_end(&file, st), IKT_ERR_FILE);
    ikt_clear(ctx);
    ikt_watch_signals_end();
    if (reader >= 0) close(reader);
    io_remove(ctx, name);
}

IKT_MPI_TESTS(ikt_test(pieces_in_order), ikt_test(giving_up), ikt_test(no_folder),
              ikt_test(a_pipe_that_nobody_reads))
