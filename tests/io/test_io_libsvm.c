/* LIBSVM's text: what is read, what is refused, and where the message points. */
#include "io/io_files.h"

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"

enum { CELLS_MAX = 64 };

typedef struct {
    ikt_status status;
    const char *format;
    int64_t n, d;
    float x[CELLS_MAX];
    int32_t labels[CELLS_MAX];
    char classes[256];
} table;

static table read_bytes(ikt_context *ctx, const char *text, bool gzipped) {
    table t = {.status = IKT_OK, .format = ""};
    const ikt_reader_options options = {.header = IKT_HEADER_AUTO};
    char name[IO_NAME_MAX];
    ikt_reader *reader = NULL;
    io_name(ctx, "pairs.libsvm", name);
    io_write(name, text, strlen(text), gzipped);
    ikt_reader_content content;
    assert_int_equal(ikt_reader_guess(ctx, name, &content), IKT_OK);
    t.format = content.format->name;
    if (content.format == &ikt_reader_libsvm)
        t.status = ikt_reader_open(ctx, name, &options, &reader);
    if (reader) {
        t.n = reader->n;
        t.d = reader->d;
        assert_true(t.n * t.d <= CELLS_MAX);
        if (reader->classes) snprintf(t.classes, sizeof t.classes, "%s", reader->classes);
    }
    if (reader) {
        assert_int_equal(reader->type, IKT_TYPE_F32);
        assert_true(reader->labels);
        for (int64_t i = 0; t.status == IKT_OK && i < t.n; i++)
            t.status = ikt_reader_read(reader, 1, t.x + i * t.d, t.labels + i);
    }
    ikt_reader_close(&reader);
    unlink(name);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return t;
}

static void check(ikt_context *ctx, const char *text, int64_t n, int64_t d, const float *x,
                  const int32_t *labels) {
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        table t = read_bytes(ctx, text, gzipped);
        if (t.status != IKT_OK) fail_msg("%s", ikt_message(ctx));
        assert_string_equal(t.format, "LIBSVM");
        assert_int_equal(t.n, n);
        assert_int_equal(t.d, d);
        assert_memory_equal(t.x, x, (size_t)(n * d) * sizeof *x);
        assert_memory_equal(t.labels, labels, (size_t)n * sizeof *labels);
    }
}

static void rows_are_dense_and_what_is_not_named_is_zero(void **state) {
    ikt_context *ctx = *state;
    static const float x[] = {0.5f, 0, -2, 0, 1e-3f, 0};
    static const int32_t labels[] = {1, -1};
    check(ctx, "+1 1:0.5 3:-2\n-1 2:1e-3\n", 2, 3, x, labels);
    check(ctx, "1\t1:0.5   3:-2 \r\n  -1 2:1e-3", 2, 3, x, labels);
    check(ctx, "\357\273\2771.0 1:0.5 3:-2\r-1 2:1e-3\r", 2, 3, x, labels);
    check(ctx, "# by hand: 1 2\n\n1 1:0.5 3:-2 # the first\n-1 2:1e-3#\"\n#\n", 2, 3, x, labels);
}

static void a_row_may_be_empty(void **state) {
    check(*state, "1\n-1 2:5\n1 \n", 3, 2, (const float[]){0, 0, 0, 5, 0, 0},
          (const int32_t[]){1, -1, 1});
}

/* The 0 may come late: it counts for the whole file. */
static void a_file_with_an_index_of_zero_counts_from_zero(void **state) {
    check(*state, "3 1:4 2:5\n4 0:1\n", 2, 3, (const float[]){0, 4, 5, 1, 0, 0},
          (const int32_t[]){3, 4});
}

static void labels_that_are_no_integers_are_classes(void **state) {
    ikt_context *ctx = *state;
    static const float x[] = {1, 2, 3};
    const char *const texts[] = {"wolf 1:1\nant 1:2\nwolf 1:3\n", "2 1:1\n1.5 1:2\n2 1:3\n",
                                 "3,4 1:1\n1,2 1:2\n3,4 1:3\n"};
    const char *const classes[] = {"ant\nwolf\n", "1.5\n2\n", "1,2\n3,4\n"};
    for (int i = 0; i < 3; i++) {
        check(ctx, texts[i], 3, 1, x, (const int32_t[]){1, 0, 1});
        assert_string_equal(read_bytes(ctx, texts[i], false).classes, classes[i]);
    }
}

/* The formats are told apart by content: no table of numbers is taken for pairs. */
static void tables_are_left_to_csv(void **state) {
    ikt_context *ctx = *state;
    const char *const texts[] = {"1 2 3\n4 5 6\n", "1,2\n3,4\n", "1\n2\n", "a b:c\n1 2\n",
                                 "1 1:2 3\n4 5:6 7\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(read_bytes(ctx, texts[i], false).format, "CSV");
}

static void refuse(ikt_context *ctx, const char *text, const char *message) {
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        table t = read_bytes(ctx, text, gzipped);
        assert_int_equal(t.status, IKT_ERR_DATA);
        io_expect(ctx, message);
    }
}

static void errors_name_line_and_column(void **state) {
    ikt_context *ctx = *state;
    refuse(ctx, "1 1:2\n2 2:3 1:4\n",
           "pairs.libsvm, line 2, column 7: '1:4' does not follow: indices ascend");
    refuse(ctx, "1 1:2 1:4\n", "line 1, column 7: '1:4' does not follow");
    refuse(ctx, "1 1:2\n1 3 4:5\n", "line 2, column 3: '3' is no pair index:value");
    refuse(ctx, "1 -3:4\n", "column 3: '-3:4' is no pair");
    refuse(ctx, "1 1:2\n\n1 2:x\n", "line 3, column 3: '2:x' has a value that is no number");
    refuse(ctx, "1 1:2\n1 2:\n", "'2:' has a value that is no number");
    refuse(ctx, "1 1:0x10\n", "'1:0x10' has a value that is no number");
    refuse(ctx, "1 1:nan\n", "'1:nan' has a value that is not a finite number");
    refuse(ctx, "1 1:2 2:1e39\n", "column 7: '2:1e39' has a value that is not a finite number");
    refuse(ctx, "1 1:2\n1:2 2:3\n", "line 2, column 1: '1:2' stands where the label");
    refuse(ctx, "1:2 2:3\n", "line 1, column 1: '1:2' stands where the label");
    refuse(ctx, "2 qid:1 1:3\n", "column 3: 'qid:1' is the number of a query");
    refuse(ctx, "1 99999999999999999999:4\n", "has an index that is too large");
    refuse(ctx, "1 0:1 9223372036854775807:1\n", "column 7: '9223372036854775807:1' has an index");
}

/* Any number of columns, as sparse rows. */
static void rows_are_read_sparse(void **state) {
    ikt_context *ctx = *state;
    static const char text[] = "7 2:1.5 4000000000:2\n8\n9 1:-1e-3 3:0\n";
    const ikt_reader_options options = {.as = 1 + IKT_TYPE_F64};
    char name[IO_NAME_MAX];
    ikt_reader *reader;
    ikt_sparse_block block = {0};
    io_name(ctx, "wide.libsvm", name);
    io_write(name, text, strlen(text), false);
    assert_int_equal(ikt_reader_open(ctx, name, &options, &reader), IKT_OK);
    assert_true(reader->sparse && reader->type == IKT_TYPE_F64);
    assert_int_equal(reader->n, 3);
    assert_int_equal(reader->d, 4000000000);
    assert_int_equal(reader->entries, 4);
    assert_int_equal(ikt_reader_read_sparse(reader, 3, 2, &block), IKT_OK);
    assert_int_equal(block.rows, 1); /* whose entries are as many as asked for */
    assert_int_equal(ikt_reader_read_sparse(reader, 2, 100, &block), IKT_OK);
    assert_int_equal(block.rows, 2);
    assert_memory_equal(block.ends, ((const int64_t[]){0, 2}), 2 * sizeof(int64_t));
    assert_memory_equal(block.columns, ((const int64_t[]){0, 2}), 2 * sizeof(int64_t));
    assert_memory_equal(block.values, ((const double[]){-1e-3, 0}), 2 * sizeof(double));
    assert_memory_equal(block.labels, ((const int32_t[]){8, 9}), 2 * sizeof(int32_t));
    ikt_sparse_block_free(&block);
    ikt_reader_close(&reader);
    unlink(name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Short decimals are exact without strtod, and the others go to it: the bits are always its. */
static void numbers_are_those_of_strtod(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5e1",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "123e-22",
                                        "123e-23",
                                        "1.7976931348623157e308",
                                        "1e309",
                                        "4.9e-324",
                                        "1e-400",
                                        "0.30000000000000004",
                                        "3.14159265358979323846264338",
                                        "00000000000000000000000000001.5",
                                        "0.00000000000000000000000000001",
                                        "1e",
                                        "1e+",
                                        "1e5x",
                                        "nan",
                                        "-inf",
                                        "infinity",
                                        "1e99999999999",
                                        "5e-00001"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *end;
        char *expected_end;
        double value, expected = strtod(texts[i], &expected_end);
        assert_true(ikt_decimal(texts[i], &end, &value));
        assert_ptr_equal(end, expected_end);
        assert_memory_equal(&value, &expected, sizeof value);
    }
    static const char *const none[] = {"", "+", "-", ".", "e5", "x", "0x10", "-0x1p3", "nan(1)"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const char *end;
        double value;
        assert_false(ikt_decimal(none[i], &end, &value));
    }
    for (int64_t i = 0; i < 20000; i++) {
        char text[64];
        const uint64_t bits = ikt_rng_u64(3, IKT_RNG_TEST, i, 0);
        const double scale = pow(10, (int)(bits % 40) - 20);
        snprintf(text, sizeof text, "%.*g", (int)(1 + bits / 64 % 18),
                 (double)(bits >> 11) * scale);
        const char *end;
        double value, expected = strtod(text, NULL);
        assert_true(ikt_decimal(text, &end, &value) && *end == '\0');
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s: %a, %a", text, value, expected);
    }
}

static void columns_cannot_be_chosen(void **state) {
    ikt_context *ctx = *state;
    const ikt_reader_options options = {.label_column = "1"};
    char name[IO_NAME_MAX];
    ikt_reader *reader;
    io_name(ctx, "pairs.libsvm", name);
    io_write(name, "1 1:2\n", 6, false);
    assert_int_equal(ikt_reader_open(ctx, name, &options, &reader), IKT_ERR_USAGE);
    io_expect(ctx, "is a LIBSVM file, which has no named columns");
    unlink(name);
}

IKT_MPI_TESTS(ikt_test(rows_are_dense_and_what_is_not_named_is_zero), ikt_test(a_row_may_be_empty),
              ikt_test(a_file_with_an_index_of_zero_counts_from_zero),
              ikt_test(labels_that_are_no_integers_are_classes), ikt_test(tables_are_left_to_csv),
              ikt_test(errors_name_line_and_column), ikt_test(rows_are_read_sparse),
              ikt_test(numbers_are_those_of_strtod), ikt_test(columns_cannot_be_chosen))
