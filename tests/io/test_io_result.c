/* The output file of a run: written and read back on any number of ranks. */
#include "io/io_files.h"

#include <hdf5.h>

#include "base/memory.h"
#include "io/result_example.h"

static result_example example;

static void write_example(ikt_context *ctx, const char *name, int64_t n, bool labels) {
    result_example_fill(&example, n, ikt_size(ctx), ikt_rank(ctx), labels, "here");
    ikt_status st = ikt_result_write(ctx, name, true, &example.result);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void check_rows(ikt_result_file *file, int64_t first, int64_t count, bool labels) {
    static float y[RESULT_ROWS_MAX * 2];
    static int64_t found[RESULT_ROWS_MAX];
    bool present = !labels;
    assert_int_equal(ikt_result_read_embedding(file, first, count, y), IKT_OK);
    for (int64_t e = 0; e < 2 * count; e++)
        assert_true(y[e] == result_element(first + e / 2, e % 2));
    assert_int_equal(ikt_result_read_labels(file, "labels", first, count, found, &present), IKT_OK);
    assert_int_equal(present, labels);
    for (int64_t i = 0; i < count && labels; i++)
        assert_int_equal(found[i], (first + i) % 3 - 1);
}

/* Notes as they are met, one text. */
static void collect(void *self, const char *name, const char *text, bool varying) {
    char *all = self;
    size_t used = strlen(all);
    snprintf(all + used, 1024 - used, "%s%s=%s;", varying ? "run/" : "", name, text);
}

static void check_texts(ikt_result_file *file, bool labels) {
    char all[1024] = "", *text;
    assert_int_equal(ikt_result_configuration(file, &text), IKT_OK);
    assert_string_equal(text, "run:\n  seed: 7\n");
    ikt_free(&text);
    assert_int_equal(ikt_result_read_text(file, "label_names", &text), IKT_OK);
    assert_true(labels == (text != NULL));
    if (labels) assert_string_equal(text, "one\ntwo\n\xCF\x88\n");
    ikt_free(&text);
    assert_int_equal(ikt_result_notes(file, collect, all), IKT_OK);
    assert_string_equal(all, "compiler=cc \"\xCF\x88\";configuration=run:\n  seed: 7\n;kl=1.125;"
                             "version=1.2.3;run/host=here;run/ranks=?;");
}

static void round_trip(ikt_context *ctx, int64_t n, bool labels) {
    char name[IO_NAME_MAX];
    ikt_result_file *file;
    int64_t *marked, n_marked;
    io_name(ctx, "result.h5", name);
    write_example(ctx, name, n, labels);
    assert_int_equal(ikt_result_open(ctx, name, &file), IKT_OK);
    assert_int_equal(ikt_result_rows(file), n);
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    check_rows(file, rows.first, rows.count, labels);
    check_rows(file, 0, n, labels);
    check_texts(file, labels);
    assert_int_equal(ikt_result_read_marked(file, &marked, &n_marked), IKT_OK);
    assert_int_equal(n_marked, n > 2 ? 2 : 0);
    assert_true(n_marked == 0 || (marked[0] == 2 && marked[1] == 0));
    ikt_free(&marked);
    ikt_result_close(&file);
    assert_null(file);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void round_trips(void **state) {
    ikt_context *ctx = *state;
    round_trip(ctx, 1, true); /* fewer rows than ranks */
    round_trip(ctx, 5, false);
    round_trip(ctx, RESULT_ROWS_MAX, true);
}

static void not_overwritten(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "kept.h5", name);
    write_example(ctx, name, 4, false);
    assert_int_equal(ikt_result_write(ctx, name, false, &example.result), IKT_ERR_FILE);
    io_expect(ctx, "exists already");
    io_remove(ctx, name);
    assert_int_equal(ikt_result_write(ctx, "no/folder/x.h5", false, &example.result), IKT_ERR_FILE);
    io_expect(ctx, "no/folder/x.h5 cannot be written");
}

/* A file as another program may have made it. */
static void write_foreign(ikt_context *ctx, const char *name, int columns, int64_t version) {
    const hsize_t size[2] = {3, (hsize_t)columns}, two[1] = {2};
    static const double values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    if (ikt_rank(ctx) == 0) {
        hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(2, size, NULL), scalar = H5Screate(H5S_SCALAR);
        hid_t pair = H5Screate_simple(1, two, NULL), text = H5Tcopy(H5T_C_S1);
        hid_t set = H5Dcreate2(file, "embedding", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        hid_t group = H5Gcreate2(file, "provenance", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Tset_size(text, H5T_VARIABLE);
        const char *words[2] = {"variable", "length"};
        hid_t one = H5Acreate2(group, "one", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
        hid_t several = H5Acreate2(group, "several", text, pair, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(one, text, words);
        H5Awrite(several, text, words); /* not one text: to be passed over */
        hid_t number = H5Acreate2(file, "format_version", H5T_NATIVE_INT64,
                                  version < 0 ? pair : scalar, H5P_DEFAULT, H5P_DEFAULT);
        const int64_t numbers[2] = {version, version};
        H5Awrite(number, H5T_NATIVE_INT64, numbers);
        H5Aclose(one), H5Aclose(several), H5Aclose(number), H5Gclose(group), H5Dclose(set);
        H5Sclose(space), H5Sclose(scalar), H5Sclose(pair), H5Tclose(text), H5Fclose(file);
    }
    ikt_barrier(ctx);
}

static void foreign_files(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], all[1024] = "", *text;
    ikt_result_file *file;
    float y[6];
    io_name(ctx, "foreign.h5", name);
    write_foreign(ctx, name, 2, -1); /* two version numbers are none */
    assert_int_equal(ikt_result_open(ctx, name, &file), IKT_OK);
    assert_int_equal(ikt_result_read_embedding(file, 2, 1, y), IKT_OK);
    assert_true(y[0] == 4 && y[1] == 5);
    assert_int_equal(ikt_result_notes(file, collect, all), IKT_OK);
    assert_string_equal(all, "one=variable;");
    assert_int_equal(ikt_result_configuration(file, &text), IKT_OK);
    assert_null(text);
    ikt_result_close(&file);
    for (int columns = 1; columns <= 3; columns++) {
        write_foreign(ctx, name, columns, 1);
        assert_int_equal(ikt_result_open(ctx, name, &file), IKT_OK);
        assert_int_equal(ikt_result_dimensions(file), columns);
        assert_int_equal(ikt_result_read_embedding(file, 1, 2, y), IKT_OK);
        for (int e = 0; e < 2 * columns; e++)
            assert_true(y[e] == (float)(columns + e));
        ikt_result_close(&file);
    }
    write_foreign(ctx, name, 4, 1);
    assert_int_equal(ikt_result_open(ctx, name, &file), IKT_ERR_DATA);
    io_expect(ctx, "has no /embedding of 1 to 3 columns");
    write_foreign(ctx, name, 2, 2);
    assert_int_equal(ikt_result_open(ctx, name, &file), IKT_ERR_DATA);
    io_expect(ctx, "has format version 2; this program reads up to 1");
    assert_null(file);
    assert_int_equal(ikt_result_open(ctx, "no.h5", &file), IKT_ERR_FILE);
    io_expect(ctx, "no.h5 cannot be read");
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(round_trips), ikt_test(not_overwritten), ikt_test(foreign_files))
