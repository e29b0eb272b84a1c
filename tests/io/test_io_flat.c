/* NPY, IDX and raw files, and transposed data sets, read directly by all ranks in ranges of all
 * kinds. (What other programs write, and every type: test_inputs.sh.) */
#define _DEFAULT_SOURCE /* truncate */
#include "io/io_files.h"

#include <hdf5.h>

#include "base/memory.h"
#include "io/sources/source.h"

enum { N = 50, D = 4, HEADER = 128 };

/* What element (i, c) is: any 16 bits. */
static int element(int64_t i, int64_t c) {
    return (int)((i * 7919 + c * 104729) % 65536) - 32768;
}

/* Bytes of all elements as int16, most significant first or last; by rows or by columns. */
static size_t elements(unsigned char *to, bool big, bool by_columns) {
    for (int64_t e = 0; e < N * D; e++) {
        const int x = by_columns ? element(e % N, e / N) : element(e / D, e % D);
        to[2 * e + !big] = (unsigned char)((unsigned)x >> 8);
        to[2 * e + big] = (unsigned char)x;
    }
    return 2 * N * D;
}

static void write_npy(ikt_context *ctx, const char *name, bool big, bool by_columns) {
    unsigned char bytes[HEADER + 2 * N * D] = "\x93NUMPY\x01\x00\x76\x00";
    char text[HEADER];
    int used =
        snprintf(text, sizeof text, "{'descr': '%ci2', 'fortran_order': %s, 'shape': (50, 4), }",
                 big ? '>' : '<', by_columns ? "True" : "False");
    memset(bytes + 10, ' ', HEADER - 10);
    memcpy(bytes + 10, text, (size_t)used);
    bytes[HEADER - 1] = '\n';
    elements(bytes + HEADER, big, by_columns);
    if (ikt_rank(ctx) == 0) io_write(name, bytes, sizeof bytes, false);
    ikt_barrier(ctx);
}

static void check_rows(ikt_context *ctx, ikt_source *source, bool transposed, int64_t first,
                       int64_t count) {
    float rows[N * D];
    const int64_t d = ikt_source_columns(source);
    const ikt_status st = ikt_source_read(source, first, count, rows);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    for (int64_t e = 0; e < count * d; e++) {
        const int64_t i = first + e / d, c = e % d;
        if (rows[e] != (float)(transposed ? element(c, i) : element(i, c)))
            fail_msg("row %d, column %d differs", (int)i, (int)c);
    }
}

/* Opens and reads: all rows on each rank, a part on each, none on some. */
static void check(ikt_context *ctx, const char *name, const ikt_source_options *options) {
    ikt_source *source = NULL;
    const bool transposed = options->transposed == IKT_TRANSPOSED_YES;
    const int64_t rank = ikt_rank(ctx), size = ikt_size(ctx);
    if (ikt_source_open_with(ctx, name, options, &source) != IKT_OK)
        fail_msg("%s", ikt_message(ctx));
    const int64_t n = ikt_source_rows(source);
    assert_int_equal(n, transposed ? D : N);
    assert_int_equal(ikt_source_columns(source), transposed ? N : D);
    assert_int_equal(ikt_source_type(source), IKT_TYPE_F32);
    check_rows(ctx, source, transposed, 0, n);
    check_rows(ctx, source, transposed, n * rank / size, n * (rank + 1) / size - n * rank / size);
    check_rows(ctx, source, transposed, rank == 0 ? n - 1 : 0, rank == 0);
    ikt_source_close(&source);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void arrays_of_both_orders(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "flat.npy", name);
    for (int kind = 0; kind < 8; kind++) {
        const ikt_source_options options = {
            .dataset = "X", .transposed = kind & 4 ? IKT_TRANSPOSED_YES : IKT_TRANSPOSED_AUTO};
        write_npy(ctx, name, kind & 1, kind & 2);
        check(ctx, name, &options);
        io_remove(ctx, name);
    }
}

static void raw_numbers(void **state) {
    ikt_context *ctx = *state;
    unsigned char bytes[5 + 2 * N * D] = "head:";
    char name[IO_NAME_MAX];
    io_name(ctx, "flat.raw", name);
    for (int big = 0; big < 2; big++) {
        const ikt_source_options options = {.dataset = "X", .raw = {{'i', 2, big}, D, 5}};
        elements(bytes + 5, big, false);
        if (ikt_rank(ctx) == 0) io_write(name, bytes, sizeof bytes, false);
        ikt_barrier(ctx);
        check(ctx, name, &options);
        io_remove(ctx, name);
    }
}

/* The same matrix, column after column, in pieces and in chunks. */
static void transposed_data_sets(void **state) {
    ikt_context *ctx = *state;
    const hsize_t size[2] = {D, N}, chunk[2] = {3, 7};
    char name[IO_NAME_MAX];
    io_name(ctx, "turned.h5", name);
    if (ikt_rank(ctx) == 0) {
        int16_t values[D * N];
        for (int e = 0; e < D * N; e++)
            values[e] = (int16_t)element(e % N, e / N);
        hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        for (int chunked = 0; chunked < 2; chunked++) {
            hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
            if (chunked) assert_true(H5Pset_chunk(list, 2, chunk) >= 0);
            hid_t set = H5Dcreate2(file, chunked ? "chunked" : "X", H5T_STD_I16BE, space,
                                   H5P_DEFAULT, list, H5P_DEFAULT);
            assert_true(H5Dwrite(set, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >=
                        0);
            H5Dclose(set), H5Sclose(space), H5Pclose(list);
        }
        H5Fclose(file);
    }
    ikt_barrier(ctx);
    ikt_source_options options = {.dataset = "X", .transposed = IKT_TRANSPOSED_YES};
    ikt_source *source = NULL;
    assert_int_equal(ikt_source_open_with(ctx, name, &options, &source), IKT_OK);
    assert_int_equal(ikt_source_rows(source), N);
    assert_int_equal(ikt_source_columns(source), D);
    check_rows(ctx, source, false, 0, N);
    check_rows(ctx, source, false, ikt_rank(ctx) % N, ikt_rank(ctx) == 1 ? 0 : 2);
    ikt_source_close(&source);
    options.dataset = "chunked";
    assert_int_equal(ikt_source_open_with(ctx, name, &options, &source), IKT_OK);
    check_rows(ctx, source, false, 0, N);
    check_rows(ctx, source, false, N - 3, 3);
    ikt_source_close(&source);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* A file that loses its end while it is read: one rank meets that, all hear of it. */
static void files_that_change(void **state) {
    ikt_context *ctx = *state;
    float rows[N * D];
    ikt_source *source = NULL;
    char name[IO_NAME_MAX];
    io_name(ctx, "cut.npy", name);
    write_npy(ctx, name, false, false);
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_OK);
    if (ikt_rank(ctx) == 0) assert_int_equal(truncate(name, HEADER + 2 * D * (N - 1)), 0);
    ikt_barrier(ctx);
    assert_int_equal(ikt_source_read(source, 0, N - 1, rows), IKT_OK);
    const bool last = ikt_rank(ctx) == ikt_size(ctx) - 1;
    assert_int_equal(ikt_source_read(source, last ? N - 1 : 0, 1, rows), IKT_ERR_FILE);
    io_expect(ctx, "is truncated: it ends at byte");
    ikt_source_close(&source);
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_ERR_FILE);
    io_expect(ctx, "announces 50 rows of 8 bytes");
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Many integers are converted by all threads: each comes as it is, and of two that no floating
 * number holds the first one is named. */
static void many_integers(void **state) {
    enum { COUNT = 200000, COLUMNS = 4, BAD = 150001, WORSE = 190000 };
    ikt_context *ctx = *state;
    ikt_source *source = NULL;
    int64_t *value;
    double *read;
    char name[IO_NAME_MAX];
    const ikt_source_options options = {.dataset = "X",
                                        .raw = {ikt_element_native('i', 8), COLUMNS, 0}};
    io_name(ctx, "many.raw", name);
    assert_int_equal(ikt_alloc(ctx, &value, COUNT, sizeof *value, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &read, COUNT, sizeof *read, "test"), IKT_OK);
    for (int is_bad = 0; is_bad < 2; is_bad++) {
        for (int64_t e = 0; e < COUNT; e++)
            value[e] = e * e - 7 * COUNT;
        if (is_bad) value[BAD] = value[WORSE] = (INT64_C(1) << 53) + 1;
        if (ikt_rank(ctx) == 0) io_write(name, value, COUNT * sizeof *value, false);
        ikt_barrier(ctx);
        assert_int_equal(ikt_source_open_with(ctx, name, &options, &source), IKT_OK);
        const ikt_status st = ikt_source_read(source, 0, COUNT / COLUMNS, read);
        assert_int_equal(st, is_bad ? IKT_ERR_DATA : IKT_OK);
        if (is_bad) io_expect(ctx, "row 37500, column 1: an integer beyond 2^53 loses digits");
        for (int64_t e = 0; !is_bad && e < COUNT; e++)
            assert_true(read[e] == (double)value[e]);
        ikt_source_close(&source);
        io_remove(ctx, name);
    }
    ikt_free_all(&value, &read);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(arrays_of_both_orders), ikt_test(raw_numbers),
              ikt_test(transposed_data_sets), ikt_test(files_that_change), ikt_test(many_integers))
