/* Delimited text: what is read, what is refused, and where the message points. */
#include "io/io_files.h"

#include "base/memory.h"
#include "io/formats/csv_file.h"

enum { CELLS_MAX = 256 };

typedef struct {
    ikt_status status;
    int64_t n, d;
    bool has_labels;
    double x[CELLS_MAX];
    int32_t labels[CELLS_MAX];
    char classes[256];
} table;

/* The file with what its columns are learnt for; closed by the caller in any case. */
static ikt_status open_file(ikt_context *ctx, const char *name, const ikt_reader_options *options,
                            ikt_csv_file *file) {
    IKT_TRY(ikt_csv_file_open(ctx, name, options, 0, file));
    return ikt_csv_file_learn(file, file->columns.label, false);
}

static ikt_status read_next(ikt_csv_file *file, int64_t count, double *rows, int32_t *labels) {
    return ikt_csv_file_read(file, count, rows, file->columns.label, labels, NULL);
}

static table read_bytes(ikt_context *ctx, const char *text, size_t length, bool gzipped,
                        ikt_reader_options options) {
    table t = {.status = IKT_OK};
    char name[IO_NAME_MAX];
    ikt_csv_file file;
    io_name(ctx, "text.csv", name);
    io_write(name, text, length, gzipped);
    t.status = open_file(ctx, name, &options, &file);
    if (t.status == IKT_OK) {
        t.n = file.n;
        t.d = file.columns.numbers;
        t.has_labels = file.columns.label >= 0;
        assert_true(t.n * t.d <= CELLS_MAX);
        if (file.classes) snprintf(t.classes, sizeof t.classes, "%s", file.classes);
    }
    for (int64_t first = 0; t.status == IKT_OK && first < t.n; first += 2) {
        int64_t now = t.n - first < 2 ? t.n - first : 2;
        t.status = read_next(&file, now, t.x + first * t.d, t.has_labels ? t.labels + first : NULL);
    }
    ikt_csv_file_close(&file);
    unlink(name);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return t;
}

static table read_text(ikt_context *ctx, const char *text, const char *label, const char *skip) {
    const ikt_reader_options options = {.label_column = label, .skip_columns = skip};
    table t = read_bytes(ctx, text, strlen(text), false, options);
    table packed = read_bytes(ctx, text, strlen(text), true, options);
    assert_int_equal(t.status, packed.status);
    assert_memory_equal(t.x, packed.x, sizeof t.x);
    return t;
}

static void check(ikt_context *ctx, const table *t, int64_t n, int64_t d, const double *x) {
    if (t->status != IKT_OK) fail_msg("%s", ikt_message(ctx));
    assert_int_equal(t->n, n);
    assert_int_equal(t->d, d);
    for (int64_t i = 0; i < n * d; i++)
        if (t->x[i] != x[i]) fail_msg("cell %d: %.17g, not %.17g", (int)i, t->x[i], x[i]);
}

static void delimiters(void **state) {
    ikt_context *ctx = *state;
    static const double x[] = {1, -2.5, 3e2, 4, 5, 6};
    static const char *const texts[] = {"1,-2.5,3e2\n4,5,6\n",
                                        "1;-2.5;3e2\n4;5;6",
                                        "1\t-2.5\t3e2\r\n4\t5\t6\r\n",
                                        "  1   -2.5 3e2 \n4 5  6\n",
                                        "\n1, -2.5 ,\"3e2\"\n\n4,5,6\n\n",
                                        "\357\273\2771,-2.5,3e2\n4,5,6\n",
                                        "a,b,c\n1,-2.5,3e2\n4,5,6\n",
                                        "1,-2.5,3e2\r4,5,6\r",
                                        "1,-2.5,3e2\r\r\n\n4,5,6",
                                        "\"a, 1\",\"b\"\"c\",d\n1,-2.5,3e2\n4,5,6\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        table t = read_text(ctx, texts[i], "", "");
        check(ctx, &t, 2, 3, x);
        assert_false(t.has_labels);
    }
    const ikt_reader_options blank = {.delimiter = ' '};
    table t = read_bytes(ctx, "1\t2 3\n4 5\t6\n", 12, false, blank);
    check(ctx, &t, 2, 3, (const double[]){1, 2, 3, 4, 5, 6});
}

static void labels(void **state) {
    ikt_context *ctx = *state;
    static const double x[] = {1, 2, 4, 5, 7, 8};
    table t = read_text(ctx, "a,b,kind\n1,2,30\n4,5,-6\n7,8,30\n", "kind", "");
    check(ctx, &t, 3, 2, x);
    assert_memory_equal(t.labels, ((const int32_t[]){30, -6, 30}), 3 * sizeof(int32_t));
    assert_string_equal(t.classes, "");
    t = read_text(ctx, "kind,a,b\nwolf,1,2\nant,4,5\n\"wolf\",7,8\n", "1", "");
    check(ctx, &t, 3, 2, x);
    assert_memory_equal(t.labels, ((const int32_t[]){1, 0, 1}), 3 * sizeof(int32_t));
    assert_string_equal(t.classes, "ant\nwolf\n");
    /* One label that is no integer makes all of them names. */
    t = read_text(ctx, "1,2,10\n4,5,9\n7,8,9.5\n", "3", "");
    check(ctx, &t, 3, 2, x);
    assert_memory_equal(t.labels, ((const int32_t[]){0, 1, 2}), 3 * sizeof(int32_t));
    assert_string_equal(t.classes, "10\n9\n9.5\n");
}

/* Text in a column that is no part of the rows does not make the first row a header. */
static void headers(void **state) {
    ikt_context *ctx = *state;
    static const double x[] = {1, 2, 4, 5};
    table t = read_text(ctx, "1,2,setosa\n4,5,other\n", "3", "");
    check(ctx, &t, 2, 2, x);
    t = read_text(ctx, "id1,1,2,setosa\nid2,4,5,other\n", "4", "1");
    check(ctx, &t, 2, 2, x);
    t = read_text(ctx, "id1,1,2,setosa\nid2,4,5,other\n", "", "4,1");
    check(ctx, &t, 2, 2, x);
    t = read_text(ctx, "id,a,b,kind\nid1,1,2,setosa\nid2,4,5,other\n", "kind", "id");
    check(ctx, &t, 2, 2, x);
    ikt_reader_options options = {.header = IKT_HEADER_YES};
    t = read_bytes(ctx, "0,1\n1,2\n4,5\n", 12, false, options);
    check(ctx, &t, 2, 2, x);
    options.header = IKT_HEADER_NO;
    t = read_bytes(ctx, "a,1\n1,2\n", 8, false, options);
    assert_int_equal(t.status, IKT_ERR_DATA);
    io_expect(ctx, "line 1, column 1: 'a' is not a number");
}

/* A record is as many lines as its quotes take. Messages name the line that it begins in. */
static void records_of_several_lines(void **state) {
    ikt_context *ctx = *state;
    static const double x[] = {1, 2, 3, 4};
    static const char *const texts[] = {
        "a,note,b\n1,\"two\nlines\",2\n3,\"with \"\"quotes\"\"\n\nand, more\",4\n",
        "\357\273\277a,\"no\rte\",b\r\n1,x\"y,2\r\n3,\"\r\n\",4\r\n",
        "\"a\nb\";\"no;te\";c\n1;\"\";2\n3;\"\n\n\n\";4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        table t = read_text(ctx, texts[i], "", "2");
        check(ctx, &t, 2, 2, x);
    }
    table t = read_text(ctx, "a,b\n1,\"one\ntwo\"\n2,x\n", "", "");
    assert_int_equal(t.status, IKT_ERR_DATA);
    io_expect(ctx, "text.csv, line 2, column 2 ('b'): 'one?two' is not a number");
    t = read_text(ctx, "a,b\n1,\"one\ntwo\"\n2,x\n", "b", "");
    assert_int_equal(t.status, IKT_ERR_DATA);
    io_expect(ctx, "is a label of several lines");
    t = read_text(ctx, "a,b\n1,\"one\ntwo\n2,x\n", "", "b");
    assert_int_equal(t.status, IKT_ERR_DATA);
    io_expect(ctx, "line 2: a quote is not closed");
}

static void refuse(ikt_context *ctx, const char *text, const char *label, const char *skip,
                   ikt_status status, const char *message) {
    table t = read_text(ctx, text, label, skip);
    assert_int_equal(t.status, status);
    io_expect(ctx, message);
}

static void errors(void **state) {
    ikt_context *ctx = *state;
    refuse(ctx, "a,Genotype\n1,2\n3,abc\n", "", "", IKT_ERR_DATA,
           "text.csv, line 3, column 2 ('Genotype'): 'abc' is not a number");
    refuse(ctx, "1,2\n\n3,\n", "", "", IKT_ERR_DATA, "line 3, column 2: the cell is empty");
    refuse(ctx, "1,2\nnan,4\n", "", "", IKT_ERR_DATA, "line 2, column 1: 'nan' is not a finite");
    refuse(ctx, "1,2\n3,-Inf\n", "", "", IKT_ERR_DATA, "column 2: '-Inf' is not a finite");
    refuse(ctx, "1,2\n3,1e999\n", "", "", IKT_ERR_DATA, "'1e999' is not a finite");
    refuse(ctx, "1,2\n3,0x10\n", "", "", IKT_ERR_DATA, "'0x10' is not a number");
    refuse(ctx, "1,2\n3\n", "", "", IKT_ERR_DATA, "line 2 has 1 cells; the first has 2");
    refuse(ctx, "1,2\n3,4,5\n", "", "", IKT_ERR_DATA, "line 2 has 3 cells; the first has 2");
    refuse(ctx, "1,2\n3,\"4\n", "", "", IKT_ERR_DATA, "line 2: a quote is not closed");
    refuse(ctx, "1,2\n3,\"4\"5\n", "", "", IKT_ERR_DATA, "line 2: a quote is not closed, or text");
    refuse(ctx, "1,2,k\n3,4,\n", "3", "", IKT_ERR_DATA, "line 2, column 3: the label is missing");
    refuse(ctx, "a,b\n1,2\n", "c", "", IKT_ERR_USAGE,
           "no column 'c'; it has 2, numbered from 1, the first named 'a'");
    refuse(ctx, "1,2\n", "3", "", IKT_ERR_USAGE, "no column '3'; it has 2");
    refuse(ctx, "1,2\n", "", "1,0", IKT_ERR_USAGE, "no column '0'");
    refuse(ctx, "a,b\n", "", "", IKT_ERR_DATA, "0 rows of 2 columns");
    refuse(ctx, "\n \n", "", "", IKT_ERR_DATA, "is empty");
}

static void zero_byte(void **state) {
    ikt_context *ctx = *state;
    static char text[2000];
    const ikt_reader_options options = {.header = IKT_HEADER_AUTO};
    for (int i = 0; i < 500; i++)
        memcpy(text + 4 * i, "1,2\n", 4);
    text[1602] = '\0';
    table t = read_bytes(ctx, text, sizeof text, false, options);
    assert_int_equal(t.status, IKT_ERR_DATA);
    io_expect(ctx, "line 401: holds a zero byte");
}

/* A line longer than the first buffer, and more distinct number labels than names are allowed. */
static void long_lines_and_many_labels(void **state) {
    ikt_context *ctx = *state;
    enum { LONG = 20000, MANY = 100100 };
    char name[IO_NAME_MAX];
    ikt_csv_file file;
    ikt_reader_options options = {.header = IKT_HEADER_AUTO};
    io_name(ctx, "long.csv", name);
    FILE *text = fopen(name, "w");
    for (int row = 0; row < 2; row++)
        for (int c = 0; c < LONG; c++)
            fprintf(text, "%d%s", row + c, c + 1 < LONG ? "," : "\n");
    fclose(text);
    static double x[2 * LONG];
    assert_int_equal(open_file(ctx, name, &options, &file), IKT_OK);
    assert_int_equal(file.columns.numbers, LONG);
    assert_int_equal(read_next(&file, 2, x, NULL), IKT_OK);
    for (int i = 0; i < 2 * LONG; i++)
        assert_true(x[i] == i / LONG + i % LONG);
    ikt_csv_file_close(&file);
    text = fopen(name, "w");
    for (int row = 0; row < MANY; row++)
        fprintf(text, "1,%d\n", 1000000 + row);
    fclose(text);
    options.label_column = "2";
    assert_int_equal(open_file(ctx, name, &options, &file), IKT_OK);
    assert_int_equal(file.n, MANY);
    ikt_csv_file_close(&file);
    unlink(name);
}

static void real_tables(void **state) {
    ikt_context *ctx = *state;
    char path[1024];
    ikt_csv_file file;
    static double row[256];
    int32_t label;
    ikt_reader_options options = {.header = IKT_HEADER_AUTO};
    if (!io_data("raw/Data_Cortex_Nuclear.csv", path)) skip();
    /* Text in columns 1 and 79 to 82, missing cells in between. */
    options.label_column = "";
    options.skip_columns = "";
    assert_int_equal(open_file(ctx, path, &options, &file), IKT_OK);
    assert_int_equal(file.columns.numbers, 82);
    assert_int_equal(read_next(&file, 1, row, NULL), IKT_ERR_DATA);
    io_expect(ctx, "line 2, column 1 ('MouseID'): '309_1' is not a number");
    ikt_csv_file_close(&file);
    options.label_column = "class";
    options.skip_columns = "MouseID,Genotype,Treatment,Behavior";
    assert_int_equal(open_file(ctx, path, &options, &file), IKT_OK);
    assert_int_equal(file.n, 1080);
    assert_int_equal(file.columns.numbers, 77);
    assert_non_null(file.classes);
    assert_non_null(strstr(file.classes, "c-CS-m\n"));
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < file.n && st == IKT_OK; i++)
        st = read_next(&file, 1, row, &label);
    assert_int_equal(st, IKT_ERR_DATA);
    io_expect(ctx, "the cell is empty");
    ikt_csv_file_close(&file);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(delimiters), ikt_test(labels), ikt_test(headers),
              ikt_test(records_of_several_lines), ikt_test(errors), ikt_test(zero_byte),
              ikt_test(long_lines_and_many_labels), ikt_test(real_tables))
