/* LIBSVM parsed by ranges of bytes, one a rank: the same rows, labels, classes and messages as by
 * one reader of the whole, wherever the ranges are cut. */
#include "io/io_files.h"

#include "base/memory.h"
#include "io/formats/libsvm_text.h"
#include "io/formats/reader.h"

enum { SIZE_MAX_TEXT = 4096 };

static char name[IO_NAME_MAX];

static void put(ikt_context *ctx, const char *text, size_t size) {
    io_name(ctx, "ranks.libsvm", name);
    if (ikt_rank(ctx) == 0) io_write(name, text, size, false);
    ikt_barrier(ctx);
}

/* What a reader of the whole says: opened in a context of this rank alone. */
static ikt_status open_whole(ikt_context *alone, ikt_reader **reader) {
    const ikt_reader_options plain = {.header = IKT_HEADER_AUTO};
    return ikt_reader_open(alone, name, &plain, reader);
}

static void check_rows(ikt_libsvm_file *file, ikt_reader *reader) {
    ikt_sparse_block mine = {0}, all = {0};
    const int64_t n = file->n;
    assert_int_equal(ikt_reader_read_sparse(reader, n, INT64_MAX, &all), IKT_OK);
    for (int64_t row = file->first; row < file->first + file->count; row++) {
        assert_int_equal(ikt_libsvm_file_read(file, 1, INT64_MAX, &mine), IKT_OK);
        const int64_t from = ikt_sparse_block_first(&all, row), count = all.ends[row] - from;
        assert_int_equal(mine.rows, 1);
        assert_int_equal(mine.entries, count);
        assert_int_equal(mine.labels[0], all.labels[row]);
        if (row == file->first) assert_int_equal(file->first_entry, from);
        if (count == 0) continue;
        assert_memory_equal(mine.columns, all.columns + from, (size_t)count * sizeof *all.columns);
        assert_memory_equal(mine.values, all.values + from, (size_t)count * sizeof *all.values);
    }
    assert_int_equal(ikt_libsvm_file_read(file, 1, INT64_MAX, &mine), IKT_OK);
    assert_int_equal(mine.rows, 0);
    ikt_sparse_block_free(&mine);
    ikt_sparse_block_free(&all);
}

/* Both ways of reading come to the same, be it rows or a message. */
static void check(ikt_context *ctx, const char *text, size_t size) {
    ikt_context *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    ikt_reader *reader = NULL;
    ikt_libsvm_file file;
    put(ctx, text, size);
    const ikt_status st = open_whole(alone, &reader);
    assert_int_equal(ikt_libsvm_file_open(ctx, name, IKT_TYPE_F32, 0, &file), st);
    assert_string_equal(ikt_message(ctx), ikt_message(alone));
    ikt_clear(ctx);
    if (st == IKT_OK) {
        assert_int_equal(file.n, reader->n);
        assert_int_equal(file.d, reader->d);
        assert_int_equal(file.entries, reader->entries);
        assert_int_equal(ikt_sum_one(ctx, file.count), file.n);
        assert_true((file.classes == NULL) == (reader->classes == NULL));
        if (file.classes) assert_string_equal(file.classes, reader->classes);
        check_rows(&file, reader);
    }
    ikt_libsvm_file_close(&file);
    ikt_reader_close(&reader);
    ikt_context_destroy(&alone);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void check_text(ikt_context *ctx, const char *text) {
    check(ctx, text, strlen(text));
}

static void ranges_of_every_text(void **state) {
    ikt_context *ctx = *state;
    static const char *const texts[] = {
        "1 1:1\n",
        "1 1:1",
        "1 1:1\n2 2:2\n3 3:3\n4 4:4\n5 5:5\n6 6:6\n7 7:7\n8 8:8\n",
        "1 1:1\r\n2 2:2\r\n3 3:3\r\n4 4:4\r\n5 5:5\r\n6 6:6\r\n7 7:7\r\n",
        "1 1:1\r2 2:2\r3 3:3\r4 4:4\r5 5:5\r6 6:6\r7 7:7",
        "1 1:1\n\n\n\n\n\r\n\r\r\n\n2 0:2\n\n\n\n\n\n\n# no row 1:2\n\n3\n\n",
        "\357\273\277wolf 1:1\nant 2:2 # first\nbear 1:1 2:3\nwolf\nant 9:1\n",
        "3 1:1\n2.5 1:1\n1 1:1\n2 1:1\n-7 1:1\n",
        ("# a comment that is longer than all of the ranges that seven ranks would make of it\n1 "
         "1:1\n"),
        "1 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 10:10 11:11 12:12 13:13 14:14 15:15 16:16\n2 3:4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(ctx, texts[i]);
}

/* Whichever rank meets the first bad line, the message names its number in the file. */
static void messages_of_every_line(void **state) {
    ikt_context *ctx = *state;
    static const char *const bad[] = {"1 2:1 1:1",
                                      "1 1:x",
                                      "1 1:1e99",
                                      "7:1 8:1",
                                      "2 qid:3 1:1",
                                      "1 1:1 zwei",
                                      "1 99999999999999999999:1"};
    for (int line = 0; line < 9; line += 2) {
        char text[SIZE_MAX_TEXT] = "";
        for (int row = 0; row < 9; row++) {
            strcat(text, row == line || row == 7 ? bad[(line + row) % 7] : "1 1:1 3:4.5");
            strcat(text, row % 3 ? "\n" : "\r\n\n");
        }
        check_text(ctx, text);
    }
    char zero[] = "1 1:1\n2 2:2\n3 3:3\n4 4:4\n";
    zero[14] = '\0';
    put(ctx, zero, sizeof zero - 1);
    ikt_libsvm_file file;
    assert_int_equal(ikt_libsvm_file_open(ctx, name, IKT_TYPE_F32, 0, &file), IKT_ERR_DATA);
    io_expect(ctx, "line 3: holds a zero byte");
    ikt_libsvm_file_close(&file);
    io_remove(ctx, name);
}

/* More lines than fit a block, of very different lengths, and ranges far from each other's. */
static void many_lines(void **state) {
    ikt_context *ctx = *state;
    static char text[600000];
    size_t size = 0;
    for (int row = 0; row < 4000; row++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%d", row % 97 ? "c" : "",
                                 row % 11);
        for (int entry = 0; entry < row % 29; entry++)
            size += (size_t)snprintf(text + size, sizeof text - size, " %d:%d.%d",
                                     entry * 7 + row % 7 + 1, row, entry);
        text[size++] = '\n';
    }
    check(ctx, text, size);
}

static void the_first_rows(void **state) {
    ikt_context *ctx = *state;
    put(ctx, "1 1:1\n2 2:2 3:3\n3\n4 4:4\n5 1:5 9:5\n", 34);
    static const int64_t entries[] = {0, 1, 3, 3, 4, 6};
    for (int64_t rows = 1; rows <= 5; rows++) {
        ikt_libsvm_file file;
        ikt_sparse_block block = {0};
        assert_int_equal(ikt_libsvm_file_open(ctx, name, IKT_TYPE_F32, rows, &file), IKT_OK);
        assert_int_equal(file.n, rows);
        assert_int_equal(file.d, 9);
        assert_int_equal(file.entries, entries[rows]);
        assert_int_equal(ikt_sum_one(ctx, file.count), rows);
        assert_int_equal(ikt_libsvm_file_read(&file, 100, 100, &block), IKT_OK);
        assert_int_equal(ikt_sum_one(ctx, block.entries), entries[rows]);
        ikt_sparse_block_free(&block);
        ikt_libsvm_file_close(&file);
    }
    ikt_libsvm_file file;
    assert_int_equal(ikt_libsvm_file_open(ctx, name, IKT_TYPE_F32, 6, &file), IKT_ERR_USAGE);
    io_expect(ctx, "has only 5 rows");
    ikt_libsvm_file_close(&file);
    io_remove(ctx, name);
}

IKT_MPI_TESTS(ikt_test(ranges_of_every_text), ikt_test(messages_of_every_line),
              ikt_test(many_lines), ikt_test(the_first_rows))
