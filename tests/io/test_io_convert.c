/* iktsne convert: real files of every format against the same data in HDF5, and its messages. */
#include "io/io_files.h"

#include <math.h>

#include "app/verb.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/convert/table_writer.h"
#include "io/sources/source.h"

enum { ARGUMENTS_MAX = 12, OPTIONS_BYTES = 256 };

static char output[IO_NAME_MAX];

/* Runs the verb with the paths and `options`, split at blanks. */
static ikt_status convert(ikt_context *ctx, const char *input, const char *options) {
    char text[2][IO_NAME_MAX * 8], words[OPTIONS_BYTES], *argv[ARGUMENTS_MAX];
    int argc = 2;
    snprintf(text[0], sizeof text[0], "%s", input);
    snprintf(text[1], sizeof text[1], "%s", output);
    snprintf(words, sizeof words, "%s", options);
    argv[0] = text[0];
    argv[1] = text[1];
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    ikt_status st = ikt_verb_convert.run(ctx, argc, argv);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return st;
}

/* Converts a file that rank 0 makes of this text. */
static ikt_status convert_text(ikt_context *ctx, const char *text, const char *options) {
    char name[IO_NAME_MAX];
    io_name(ctx, "input.csv", name);
    if (ikt_rank(ctx) == 0) io_write(name, text, strlen(text), false);
    ikt_barrier(ctx);
    ikt_status st = convert(ctx, name, options);
    io_remove(ctx, name);
    return st;
}

static void expect(ikt_context *ctx, ikt_status found, ikt_status status, const char *text) {
    assert_int_equal(found, status);
    io_expect(ctx, text);
    assert_int_not_equal(access(output, F_OK), 0);
}

static void must(ikt_context *ctx, ikt_status st) {
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
}

static double number(const ikt_source *s, const void *rows, int64_t i) {
    return ikt_source_type(s) == IKT_TYPE_U8    ? (double)((const uint8_t *)rows)[i]
           : ikt_source_type(s) == IKT_TYPE_F32 ? (double)((const float *)rows)[i]
                                                : ((const double *)rows)[i];
}

/* Rows and labels of the output are those of `expected` from row `first` on, as float32. Every rank
 * compares its share. */
static void check_same(ikt_context *ctx, const char *expected, int64_t first, int64_t n,
                       ikt_type type) {
    ikt_source *a, *b;
    must(ctx, ikt_source_open(ctx, output, "X", 0, &a));
    must(ctx, ikt_source_open(ctx, expected, "X", 0, &b));
    int64_t d = ikt_source_columns(b), *labels[2];
    bool present[2];
    void *rows[2];
    assert_int_equal(ikt_source_type(a), type);
    assert_int_equal(ikt_source_rows(a), n);
    assert_int_equal(ikt_source_columns(a), d);
    ikt_rows distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    for (int s = 0; s < 2; s++) {
        ikt_source *source = s ? b : a;
        int64_t from = distribution.first + (s ? first : 0);
        must(ctx, ikt_alloc(ctx, &rows[s], distribution.count * d, 8, "test"));
        must(ctx, ikt_alloc(ctx, &labels[s], distribution.count, 8, "test"));
        must(ctx, ikt_source_read(source, from, distribution.count, rows[s]));
        must(ctx, ikt_source_read_labels(source, "labels", from, distribution.count, labels[s],
                                         &present[s]));
        assert_true(present[s]);
    }
    for (int64_t e = 0; e < distribution.count * d; e++)
        if ((float)number(a, rows[0], e) != (float)number(b, rows[1], e))
            fail_msg("row %lld, column %lld: %.9g, not %.9g",
                     (long long)(distribution.first + e / d), (long long)(e % d),
                     number(a, rows[0], e), number(b, rows[1], e));
    for (int64_t i = 0; i < distribution.count; i++)
        assert_int_equal(labels[0][i], labels[1][i]);
    for (int s = 0; s < 2; s++) {
        ikt_free(&rows[s]);
        ikt_free(&labels[s]);
    }
    ikt_source_close(&a);
    ikt_source_close(&b);
    io_remove(ctx, output);
}

static void real_idx(void **state) {
    ikt_context *ctx = *state;
    char images[1024], labels[1024], all[1024], options[1200];
    if (!io_data("raw/mnist-t10k-images-idx3-ubyte.gz", images) ||
        !io_data("raw/mnist-t10k-labels-idx1-ubyte.gz", labels) || !io_data("mnist70k.h5", all))
        skip();
    io_name(ctx, "out.h5", output);
    snprintf(options, sizeof options, "--labels %.200s", labels);
    must(ctx, convert(ctx, images, options));
    check_same(ctx, all, 60000, 10000, IKT_TYPE_U8);
}

static void real_npy(void **state) {
    ikt_context *ctx = *state;
    char rows[1024], labels[1024], all[1024], options[1200];
    if (!io_data("raw/digits.npy", rows) || !io_data("raw/digits-labels.npy", labels) ||
        !io_data("digits.h5", all))
        skip();
    io_name(ctx, "out.h5", output);
    snprintf(options, sizeof options, "--labels %.200s", labels);
    must(ctx, convert(ctx, rows, options));
    check_same(ctx, all, 0, 1797, IKT_TYPE_F32);
    snprintf(options, sizeof options, "--labels=%.200s --type uint8", labels);
    must(ctx, convert(ctx, io_data("raw/digits_X_f4_fortran.npy", rows), options));
    check_same(ctx, all, 0, 1797, IKT_TYPE_U8);
    /* Labels of another length. */
    expect(ctx, convert(ctx, io_data("raw/mnist-t10k-labels-idx1-ubyte.gz", rows), options),
           IKT_ERR_DATA, "has 1797 labels, but");
}

static void real_text(void **state) {
    ikt_context *ctx = *state;
    char path[1024], all[1024];
    io_name(ctx, "out.h5", output);
    if (!io_data("raw/biodeg.csv", path) || !io_data("biodeg.h5", all)) skip();
    must(ctx, convert(ctx, path, "--label-column 42"));
    check_same(ctx, all, 0, 1055, IKT_TYPE_F64);
    if (!io_data("raw/waveform-21.tsv.gz", path) || !io_data("waveform.h5", all)) skip();
    must(ctx, convert(ctx, path, "--label-column target --type=float32"));
    check_same(ctx, all, 0, 5000, IKT_TYPE_F32);
    if (!io_data("raw/synthetic_control.data", path)) skip();
    ikt_source *source;
    float row[60];
    must(ctx, convert(ctx, path, "--type float32"));
    must(ctx, ikt_source_open(ctx, output, "X", 0, &source));
    assert_int_equal(ikt_source_rows(source), 600);
    assert_int_equal(ikt_source_columns(source), 60);
    must(ctx, ikt_source_read(source, 0, 1, row));
    assert_true(row[0] == 28.7812f && row[1] == 34.4632f);
    ikt_source_close(&source);
    io_remove(ctx, output);
    if (!io_data("raw/Data_Cortex_Nuclear.csv", path)) skip();
    expect(ctx, convert(ctx, path, "--label-column class --skip-columns MouseID,79,80,81"),
           IKT_ERR_DATA, "the cell is empty; fill it, or leave the column out");
}

/* An HDF5 file with everything, converted: rows, labels, names of classes and marks. */
static void hdf5(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], *text;
    ikt_source *source;
    int64_t *marked, count, label;
    bool present;
    ikt_table_writer *writer;
    enum { N = 11 };
    double rows[N][2];
    float found[2];
    int32_t labels[N];
    io_name(ctx, "in.h5", name);
    io_name(ctx, "out.h5", output);
    for (int i = 0; i < N; i++) {
        rows[i][0] = i / 3.0;
        rows[i][1] = -i;
        labels[i] = i % 2;
    }
    int64_t mine = ikt_rank(ctx) == 0 ? N : 0;
    must(ctx, ikt_table_create(ctx, name, true, N, 2, IKT_TYPE_F64, true, &writer));
    must(ctx, ikt_table_write(writer, 0, mine, rows, labels));
    must(ctx, ikt_table_attribute(writer, "label_names", "even\nodd\n"));
    must(ctx, ikt_table_marked(writer, (const int64_t[]){4, 9}, 2));
    must(ctx, ikt_table_close(&writer, IKT_OK));

    must(ctx, convert(ctx, name, "--type float32 --rows 7 --dataset /X"));
    must(ctx, ikt_source_open(ctx, output, "X", 0, &source));
    assert_int_equal(ikt_source_rows(source), 7);
    for (int i = 0; i < 7; i++) {
        must(ctx, ikt_source_read(source, i, 1, found));
        must(ctx, ikt_source_read_labels(source, "labels", i, 1, &label, &present));
        assert_true(found[0] == (float)(i / 3.0) && found[1] == (float)-i && label == i % 2);
    }
    must(ctx, ikt_source_read_text(source, "label_names", &text));
    assert_string_equal(text, "even\nodd\n");
    ikt_free(&text);
    must(ctx, ikt_source_read_marked(source, &marked, &count));
    assert_int_equal(count, 1);
    assert_int_equal(marked[0], 4);
    ikt_free(&marked);
    ikt_source_close(&source);
    io_remove(ctx, output);

    expect(ctx, convert(ctx, name, "--type uint8"), IKT_ERR_DATA,
           "row 1, column 0 (counted from 0): 0.333333 cannot be stored as uint8");
    expect(ctx, convert(ctx, name, "--dataset Y"), IKT_ERR_DATA, "no data set 'Y'; it holds: X");
    expect(ctx, convert(ctx, name, "--label-column x"), IKT_ERR_USAGE, "do not apply");
    expect(ctx, convert(ctx, name, "--labels x"), IKT_ERR_DATA, "has no labels 'x' (--labels)");
    expect(ctx, convert(ctx, name, "--rows 12"), IKT_ERR_USAGE, "has only 11 rows");
    must(ctx, ikt_table_create(ctx, name, true, N, 2, IKT_TYPE_F64, false, &writer));
    rows[6][1] = NAN;
    must(ctx, ikt_table_write(writer, 0, mine, rows, NULL));
    must(ctx, ikt_table_close(&writer, IKT_OK));
    expect(ctx, convert(ctx, name, ""), IKT_ERR_DATA,
           "row 6, column 1 (counted from 0): nan cannot be stored as float64");
    io_remove(ctx, name);
}

static void class_names(void **state) {
    ikt_context *ctx = *state;
    ikt_source *source;
    int64_t labels[3];
    bool present;
    char *text;
    io_name(ctx, "out.h5", output);
    must(ctx, convert_text(ctx, "x,kind\n1,wolf\n2,ant\n3,wolf\n", "--label-column kind"));
    must(ctx, ikt_source_open(ctx, output, "X", 0, &source));
    must(ctx, ikt_source_read_labels(source, "labels", 0, 3, labels, &present));
    assert_true(present && labels[0] == 1 && labels[1] == 0 && labels[2] == 1);
    must(ctx, ikt_source_read_text(source, "label_names", &text));
    assert_string_equal(text, "ant\nwolf\n");
    ikt_free(&text);
    ikt_source_close(&source);
    io_remove(ctx, output);
}

static void refusals(void **state) {
    ikt_context *ctx = *state;
    io_name(ctx, "out.h5", output);
    expect(ctx, convert(ctx, "no/such.npy", ""), IKT_ERR_FILE, "no/such.npy cannot be read");
    expect(ctx, convert_text(ctx, "1,2\n3,300\n", "--type uint8"), IKT_ERR_DATA,
           "row 1, column 1 (counted from 0): 300 cannot be stored as uint8");
    expect(ctx, convert_text(ctx, "1,2\n3,0.5\n", "--type uint8"), IKT_ERR_DATA,
           "0.5 cannot be stored as uint8");
    expect(ctx, convert_text(ctx, "1,1e300\n", "--type float32"), IKT_ERR_DATA,
           "1e+300 cannot be stored as float32");
    expect(ctx, convert_text(ctx, "7,2\n3,abc\n", ""), IKT_ERR_DATA, "line 2, column 2: 'abc'");
    expect(ctx, convert_text(ctx, "1,2\n", "--rows 2"), IKT_ERR_USAGE, "has only 1 rows");
    expect(ctx, convert_text(ctx, "1,2\n", "--skip-columns 1,2"), IKT_ERR_DATA,
           "1 rows of 0 columns");
    expect(ctx, convert_text(ctx, "1,2\n", "--label-column 3"), IKT_ERR_USAGE, "no column '3'");
    expect(ctx, convert_text(ctx, "1,2\n", "--delimiter ;"), IKT_ERR_USAGE, "--delimiter");
    expect(ctx, convert_text(ctx, "1,2\n", "--lables x"), IKT_ERR_USAGE, "did you mean --labels");
    must(ctx, convert_text(ctx, "1;2\n3;4\n", "--rows 1"));
    assert_int_equal(convert_text(ctx, "1;2\n3;4\n", ""), IKT_ERR_FILE);
    io_expect(ctx, "exists already");
    must(ctx, convert_text(ctx, "1;2\n3;4\n", "--overwrite"));
    io_remove(ctx, output);
    snprintf(output, sizeof output, "/proc/no/folder.h5");
    expect(ctx, convert_text(ctx, "1,2\n", ""), IKT_ERR_FILE, "cannot be written");
}

/* A label that is no integer of 32 bits, in a file of labels; several columns of labels. */
static void bad_labels(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], options[256], array[256];
    static const struct {
        const char *text, *message;
    } cases[] = {{"1,2\n3,4\n", "has 2 columns: name the one of the labels"},
                 {"1\n2\n3\n", "has 3 labels, but"}};
    static const struct {
        double value;
        const char *message;
    } values[] = {{2.5, "row 1 (counted from 0): 2.5 is no label"},
                  {3e9, "row 1 (counted from 0): 3000000000 is no label"}};
    io_name(ctx, "labels.csv", name);
    io_name(ctx, "out.h5", output);
    snprintf(options, sizeof options, "--labels %s", name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (ikt_rank(ctx) == 0) io_write(name, cases[i].text, strlen(cases[i].text), false);
        ikt_barrier(ctx);
        expect(ctx, convert_text(ctx, "1,2\n3,4\n", options), IKT_ERR_DATA, cases[i].message);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double both[2] = {1, values[i].value};
        const int length = snprintf(array, sizeof array, "\x93NUMPY\x01%c%c%c%-118s", 0, 118, 0,
                                    "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }");
        memcpy(array + length, both, sizeof both);
        if (ikt_rank(ctx) == 0) io_write(name, array, (size_t)length + sizeof both, false);
        ikt_barrier(ctx);
        expect(ctx, convert_text(ctx, "1,2\n3,4\n", options), IKT_ERR_DATA, values[i].message);
    }
    snprintf(options, sizeof options, "--labels %s --label-column 1", name);
    if (ikt_rank(ctx) == 0) io_write(name, "1\n2\n", 4, false);
    ikt_barrier(ctx);
    expect(ctx, convert_text(ctx, "1,2\n3,4\n", options), IKT_ERR_USAGE, "exclude each other");
    io_remove(ctx, name);
}

IKT_MPI_TESTS(ikt_test(real_idx), ikt_test(real_npy), ikt_test(real_text), ikt_test(hdf5),
              ikt_test(class_names), ikt_test(refusals), ikt_test(bad_labels))
