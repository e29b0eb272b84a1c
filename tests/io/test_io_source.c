/* Rows to a file and back, on any number of ranks, and every way a file can be wrong. */
#define _GNU_SOURCE
#include "io/io_files.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <sys/file.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dist/rows.h"
#include "io/convert/table_writer.h"
#include "io/hdf5/columns.h"
#include "io/sources/source.h"

/* The element of row i, column c: any byte, or a number that float32 holds exactly. */
static double element(ikt_type type, int64_t i, int64_t c) {
    uint64_t draw = ikt_rng_u64(7, IKT_RNG_TEST, i, (uint64_t)c);
    return type == IKT_TYPE_U8 ? (double)(draw & 255)
                               : (double)(int32_t)(draw & 0xFFFFFF) / 64 - 1000;
}

static void set(ikt_type type, void *rows, int64_t at, double value) {
    if (type == IKT_TYPE_U8)
        ((uint8_t *)rows)[at] = (uint8_t)value;
    else if (type == IKT_TYPE_F32)
        ((float *)rows)[at] = (float)value;
    else
        ((double *)rows)[at] = value;
}

static double get(ikt_type type, const void *rows, int64_t at) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)rows)[at]
           : type == IKT_TYPE_F32 ? (double)((const float *)rows)[at]
                                  : ((const double *)rows)[at];
}

static void *make_rows(ikt_context *ctx, ikt_type type, int64_t first, int64_t count, int64_t d) {
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, count * d, ikt_type_size(type), "test"), IKT_OK);
    for (int64_t e = 0; e < count * d; e++)
        set(type, rows, e, element(type, first + e / d, e % d));
    return rows;
}

/* Writes n x d in blocks of `block` rows a rank; blocks need not fit the chunks of the file. */
static void write_table(ikt_context *ctx, const char *name, int64_t n, int64_t d, ikt_type type,
                        bool labels, int64_t block) {
    ikt_table_writer *writer;
    ikt_rows distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_table_create(ctx, name, true, n, d, type, labels, &writer), IKT_OK);
    int64_t steps = ikt_max_one(ctx, (distribution.count + block - 1) / block);
    for (int64_t step = 0; step < steps; step++) {
        int64_t first = step * block < distribution.count ? step * block : distribution.count;
        int64_t count = distribution.count - first < block ? distribution.count - first : block;
        void *rows = make_rows(ctx, type, distribution.first + first, count, d);
        int32_t *own = NULL;
        assert_int_equal(ikt_alloc(ctx, &own, count, sizeof *own, "test"), IKT_OK);
        for (int64_t i = 0; i < count; i++)
            own[i] = (int32_t)((distribution.first + first + i) % 11) - 5;
        assert_int_equal(
            ikt_table_write(writer, distribution.first + first, count, rows, labels ? own : NULL),
            IKT_OK);
        ikt_free(&rows);
        ikt_free(&own);
    }
    assert_int_equal(ikt_table_attribute(writer, "note", "made by a test"), IKT_OK);
    assert_int_equal(ikt_table_marked(writer, (const int64_t[]){n - 1, 0}, 2), IKT_OK);
    ikt_status st = ikt_table_close(&writer, IKT_OK);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    assert_null(writer);
}

static void check_range(ikt_context *ctx, ikt_source *source, int64_t first, int64_t count) {
    ikt_type type = ikt_source_type(source);
    int64_t d = ikt_source_columns(source);
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, count * d, ikt_type_size(type), "test"), IKT_OK);
    ikt_status st = ikt_source_read(source, first, count, rows);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    for (int64_t e = 0; e < count * d; e++)
        if (get(type, rows, e) != element(type, first + e / d, e % d))
            fail_msg("row %lld, column %lld differs", (long long)(first + e / d),
                     (long long)(e % d));
    ikt_free(&rows);
}

static void check_labels(ikt_context *ctx, ikt_source *source, int64_t first, int64_t count) {
    int64_t *labels;
    bool present = false;
    assert_int_equal(ikt_alloc(ctx, &labels, count, sizeof *labels, "test"), IKT_OK);
    assert_int_equal(ikt_source_read_labels(source, "labels", first, count, labels, &present),
                     IKT_OK);
    assert_true(present);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(labels[i], (first + i) % 11 - 5);
    ikt_free(&labels);
}

static void check_marked(ikt_source *source, int64_t n, int64_t used) {
    int64_t *rows, count;
    assert_int_equal(ikt_source_read_marked(source, &rows, &count), IKT_OK);
    assert_int_equal(count, used == n ? 2 : 1);
    assert_int_equal(rows[0], used == n ? n - 1 : 0);
    ikt_free(&rows);
}

static void round_trip(ikt_context *ctx, int64_t n, int64_t d, ikt_type type, int64_t block) {
    char name[IO_NAME_MAX];
    ikt_source *source;
    io_name(ctx, "table.h5", name);
    write_table(ctx, name, n, d, type, true, block);
    for (int64_t used = n; used > 0; used = used == n && n > 1 ? n / 2 : 0) {
        assert_int_equal(ikt_source_open(ctx, name, "X", used == n ? 0 : used, &source), IKT_OK);
        assert_int_equal(ikt_source_rows(source), used);
        assert_int_equal(ikt_source_columns(source), d);
        assert_int_equal(ikt_source_type(source), type);
        ikt_rows rows = ikt_rows_make(used, ikt_size(ctx), ikt_rank(ctx));
        check_range(ctx, source, rows.first, rows.count);
        check_labels(ctx, source, rows.first, rows.count);
        check_range(ctx, source, 0, ikt_rank(ctx) == 0 ? used : 0); /* one for all */
        check_range(ctx, source, used - 1, 1);                      /* all the same row */
        check_marked(source, n, used);
        ikt_source_close(&source);
        assert_null(source);
    }
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void round_trips(void **state) {
    ikt_context *ctx = *state;
    round_trip(ctx, 1, 1, IKT_TYPE_F64, 10);
    round_trip(ctx, 2, 5, IKT_TYPE_U8, 10); /* fewer rows than ranks */
    round_trip(ctx, 5, 3, IKT_TYPE_F32, 1);
    round_trip(ctx, 1001, 13, IKT_TYPE_U8, 100);
    round_trip(ctx, 2003, 300, IKT_TYPE_F64, 171); /* several chunks, cut by every block */
    round_trip(ctx, 3, 200000, IKT_TYPE_F64, 2);   /* a row is larger than a chunk should be */
}

/* Transfers in many small pieces, and another number of them on every rank. */
static void small_pieces(void **state) {
    ikt_context *ctx = *state;
    ikt_set_piece_bytes(ctx, 1000);
    round_trip(ctx, 701, 13, IKT_TYPE_F32, 400);
}

static void from_memory(void **state) {
    ikt_context *ctx = *state;
    ikt_source *source;
    bool present = true;
    int64_t label, *marked, count;
    char *text;
    void *rows = make_rows(ctx, IKT_TYPE_F32, 0, 20, 3);
    assert_int_equal(ikt_source_from_memory(ctx, rows, 20, 3, IKT_TYPE_F32, &source), IKT_OK);
    check_range(ctx, source, 5, 7);
    check_range(ctx, source, 20, 0);
    assert_int_equal(ikt_source_read_labels(source, "labels", 0, 0, &label, &present), IKT_OK);
    assert_false(present);
    assert_int_equal(ikt_source_read_marked(source, &marked, &count), IKT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ikt_source_read_text(source, "note", &text), IKT_OK);
    assert_null(text);
    ikt_source_close(&source);
    ikt_free(&rows);
}

/* A data set of any type, written on rank 0 by HDF5 itself. */
static void put(hid_t file, const char *name, hid_t stored, hid_t memory, int dimensions,
                const hsize_t *size, const void *values) {
    hid_t space = H5Screate_simple(dimensions, size, NULL);
    hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values) assert_true(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

enum { ROWS = 6 };

/* One file with everything that is, or is not, fit to be read. */
static void write_zoo(ikt_context *ctx, const char *name) {
    static const int64_t whole[ROWS] = {1, -2, 3, 4, 5, 6};
    static const int64_t huge[ROWS] = {1, 2, 3, 4, 5, INT64_C(1) << 53};
    static const double real[ROWS] = {1, -2, 3, 4, 5, 6}, half[ROWS] = {1, 2, 3, 4.5, 5, 6};
    const hsize_t table[2] = {3, 2}, line[1] = {ROWS}, none[2] = {0, 2}, cube[3] = {1, 2, 3},
                  three[1] = {3};
    if (ikt_rank(ctx) == 0) {
        hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t text = H5Tcopy(H5T_C_S1);
        put(file, "i8", H5T_STD_I8LE, H5T_NATIVE_INT64, 2, table, whole);
        put(file, "u16", H5T_STD_U16BE, H5T_NATIVE_INT64, 2, table, huge);
        put(file, "i32", H5T_STD_I32LE, H5T_NATIVE_INT64, 2, table, whole);
        put(file, "i64", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, table, whole);
        put(file, "huge", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, table, huge);
        put(file, "f32big", H5T_IEEE_F32BE, H5T_NATIVE_INT64, 2, table, whole);
        put(file, "line", H5T_STD_I32LE, H5T_NATIVE_INT64, 1, line, whole);
        put(file, "cube", H5T_STD_I32LE, H5T_NATIVE_INT64, 3, cube, whole);
        put(file, "none", H5T_STD_I32LE, H5T_NATIVE_INT64, 2, none, NULL);
        put(file, "text", text, text, 2, table, NULL);
        put(file, "wide", H5T_NATIVE_LDOUBLE, H5T_NATIVE_INT64, 2, table, whole);
        put(file, "whole", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, three, real);
        put(file, "half", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, line, half);
        put(file, "half3", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, three, half + 1);
        H5Gclose(H5Gcreate2(file, "sparse", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        put(file, "sparse/data", H5T_STD_I32LE, H5T_NATIVE_INT64, 2, table, whole);
        H5Tclose(text);
        H5Fclose(file);
    }
    ikt_barrier(ctx);
}

static void check_type(ikt_context *ctx, const char *name, const char *dataset, ikt_type type) {
    static const double expected[ROWS] = {1, -2, 3, 4, 5, 6};
    double rows[ROWS];
    ikt_source *source;
    ikt_status st = ikt_source_open(ctx, name, dataset, 0, &source);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    assert_int_equal(ikt_source_type(source), type);
    assert_int_equal(ikt_source_read(source, 0, 3, rows), IKT_OK);
    for (int e = 0; e < ROWS; e++)
        assert_true(get(type, rows, e) == expected[e]);
    ikt_source_close(&source);
}

static void other_types(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_source *source;
    double rows[ROWS];
    io_name(ctx, "zoo.h5", name);
    write_zoo(ctx, name);
    check_type(ctx, name, "i8", IKT_TYPE_F32);
    check_type(ctx, name, "/i32", IKT_TYPE_F64);
    check_type(ctx, name, "i64", IKT_TYPE_F64);
    check_type(ctx, name, "f32big", IKT_TYPE_F32);
    check_type(ctx, name, "sparse/data", IKT_TYPE_F64);
    assert_int_equal(ikt_source_open(ctx, name, "u16", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_type(source), IKT_TYPE_F32);
    assert_int_equal(ikt_source_read(source, 0, 3, rows), IKT_OK);
    assert_true(get(IKT_TYPE_F32, rows, 5) == 65535); /* as HDF5 clipped it when it was written */
    ikt_source_close(&source);
    /* 2^53 stands for 2^53 + 1, too. */
    assert_int_equal(ikt_source_open(ctx, name, "huge", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read(source, 0, 2, rows), IKT_OK);
    bool last = ikt_rank(ctx) == ikt_size(ctx) - 1; /* one rank meets it, all must hear of it */
    assert_int_equal(ikt_source_read(source, last ? 2 : 0, 1, rows), IKT_ERR_DATA);
    io_expect(ctx, "huge, row 2, column 1: an integer of 2^53 or more");
    ikt_source_close(&source);
    io_remove(ctx, name);
}

static void refuse(ikt_context *ctx, const char *name, const char *dataset, int64_t rows,
                   ikt_status status, const char *text) {
    ikt_source *source;
    assert_int_equal(ikt_source_open(ctx, name, dataset, rows, &source), status);
    assert_null(source);
    io_expect(ctx, text);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void unfit_data_sets(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "zoo.h5", name);
    write_zoo(ctx, name);
    refuse(ctx, name, "X", 0, IKT_ERR_DATA, "no data set 'X'; it holds: cube, f32big");
    refuse(ctx, name, "X", 0, IKT_ERR_DATA, "none, sparse/, text");
    refuse(ctx, name, "sparse/X", 0, IKT_ERR_DATA, "no data set 'sparse/X'");
    refuse(ctx, name, "i8/X", 0, IKT_ERR_DATA, "no data set 'i8/X'");
    refuse(ctx, name, "", 0, IKT_ERR_DATA, "no data set ''");
    refuse(ctx, name, "line", 0, IKT_ERR_DATA, "/line has 1 dimensions; rows x columns are needed");
    refuse(ctx, name, "cube", 2, IKT_ERR_USAGE, "cube has only 1 rows"); /* 1 x 2 x 3 */
    refuse(ctx, name, "none", 0, IKT_ERR_DATA, "is empty (0 x 2)");
    refuse(ctx, name, "text", 0, IKT_ERR_DATA, "holds no numbers that can be used");
    refuse(ctx, name, "wide", 0, IKT_ERR_DATA, "holds no numbers that can be used");
    refuse(ctx, name, "sparse", 0, IKT_ERR_DATA, "is a group, but no sparse matrix");
    refuse(ctx, name, "i8", 4, IKT_ERR_USAGE, "input.rows = 4, but");
    io_remove(ctx, name);
}

static void labels_and_columns(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_source *source;
    int64_t labels[3];
    double column[ROWS];
    bool present = true;
    io_name(ctx, "zoo.h5", name);
    write_zoo(ctx, name);
    assert_int_equal(ikt_source_open(ctx, name, "i8", 2, &source), IKT_OK);
    assert_int_equal(ikt_source_read_labels(source, "nothing", 0, 1, labels, &present), IKT_OK);
    assert_false(present);
    assert_int_equal(ikt_source_read_labels(source, "whole", 1, 2, labels, &present), IKT_OK);
    assert_true(present && labels[0] == -2 && labels[1] == 3);
    assert_int_equal(ikt_source_read_labels(source, "line", 0, 1, labels, &present), IKT_ERR_DATA);
    io_expect(ctx, "'line' has 6 entries, but there are 3 rows");
    assert_int_equal(ikt_source_read_labels(source, "half3", 0, 3, labels, &present), IKT_ERR_DATA);
    io_expect(ctx, "'half3', row 2: 4.5 is not an integer");
    assert_int_equal(ikt_source_read_labels(source, "cube", 0, 1, labels, &present), IKT_ERR_DATA);
    io_expect(ctx, "'cube' is not a one-dimensional data set of numbers");
    ikt_source_close(&source);

    assert_int_equal(ikt_source_read_column(ctx, name, "half", ROWS, 3, 2, column), IKT_OK);
    assert_true(column[0] == 4.5 && column[1] == 5);
    assert_int_equal(ikt_source_read_column(ctx, name, "line", ROWS, 1, 1, column), IKT_OK);
    assert_true(column[0] == -2);
    assert_int_equal(ikt_source_read_column(ctx, name, "half", 3, 0, 1, column), IKT_ERR_DATA);
    io_expect(ctx, "has 6 entries, but there are 3 rows");
    assert_int_equal(ikt_source_read_column(ctx, name, "nix", 3, 0, 1, column), IKT_ERR_DATA);
    io_expect(ctx, "no data set 'nix'; it holds: cube");
    assert_int_equal(ikt_source_read_column(ctx, name, "text", 3, 0, 1, column), IKT_ERR_DATA);
    io_expect(ctx, "not a one-dimensional data set");
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The first `keep` bytes of a good file of `n` rows; keep < 0 leaves that many out. */
static void write_cut(ikt_context *ctx, const char *name, long keep) {
    write_table(ctx, name, 500, 40, IKT_TYPE_F32, false, 1000);
    if (ikt_rank(ctx) == 0) {
        FILE *file = fopen(name, "rb");
        fseek(file, 0, SEEK_END);
        long size = ftell(file);
        fclose(file);
        assert_int_equal(truncate(name, keep < 0 ? size + keep : keep), 0);
    }
    ikt_barrier(ctx);
}

static void unfit_files(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "unfit.h5", name);
    refuse(ctx, "no/such/file.h5", "X", 0, IKT_ERR_FILE, "file.h5 cannot be read: No such file");
    refuse(ctx, "", "X", 0, IKT_ERR_FILE, "cannot be read");
    refuse(ctx, ".", "X", 0, IKT_ERR_FILE, "is a folder");
    if (ikt_rank(ctx) == 0) io_write(name, "1 1:2\n", 6, false);
    ikt_barrier(ctx);
    refuse(ctx, name, "X", 0, IKT_ERR_FILE,
           "is not an HDF5 file but LIBSVM, which is read from beginning to end; `iktsne convert");
    if (ikt_rank(ctx) == 0) io_write(name, "", 0, false);
    ikt_barrier(ctx);
    refuse(ctx, name, "X", 0, IKT_ERR_DATA, "is not an HDF5 file");
    write_cut(ctx, name, -1000);
    refuse(ctx, name, "X", 0, IKT_ERR_FILE, "truncated file");
    write_cut(ctx, name, 60);
    refuse(ctx, name, "X", 0, IKT_ERR_FILE, "cannot be opened");
    io_remove(ctx, name);
}

/* Changed bytes do not go unnoticed: one rank finds them, all hear of it and none waits. */
static void changed_bytes(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_source *source;
    enum { N = 2100, D = 250 }; /* three chunks of 1048 rows */
    static float rows[N * D];
    io_name(ctx, "changed.h5", name);
    write_table(ctx, name, N, D, IKT_TYPE_F32, false, N);
    if (ikt_rank(ctx) == 0) {
        FILE *file = fopen(name, "r+b");
        fseek(file, -100000, SEEK_END); /* of the rows, wherever the file ends with its tables */
        unsigned char bytes[512];
        assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
        for (size_t b = 0; b < sizeof bytes; b++)
            bytes[b] ^= 0x55;
        fseek(file, -512, SEEK_CUR);
        assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
        fclose(file);
    }
    ikt_barrier(ctx);
    ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read(source, distribution.first, distribution.count, rows),
                     IKT_ERR_FILE);
    io_expect(ctx, "checksum");
    ikt_source_close(&source);
    io_remove(ctx, name);
}

/* A chunked data set as other programs make them: compressed, or with rows never written. */
static void put_chunked(hid_t file, const char *name, bool packed, hsize_t written) {
    enum { N = 50, D = 4 };
    const hsize_t size[2] = {N, D}, chunk[2] = {7, 3}, start[2] = {0, 0}, part[2] = {written, D};
    float rows[N * D];
    for (int e = 0; e < N * D; e++)
        rows[e] = (float)element(IKT_TYPE_F32, e / D, e % D);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    hid_t here = H5Screate_simple(2, size, NULL);
    assert_true(H5Pset_chunk(list, 2, chunk) >= 0);
    if (packed) assert_true(H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, 6) >= 0);
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (written > 0) {
        assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0);
        assert_true(H5Sselect_hyperslab(here, H5S_SELECT_SET, start, NULL, part, NULL) >= 0);
        assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, here, space, H5P_DEFAULT, rows) >= 0);
    }
    H5Dclose(set), H5Sclose(space), H5Sclose(here), H5Pclose(list);
}

static void chunks_of_others(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_source *source;
    float row[4] = {1, 1, 1, 1};
    io_name(ctx, "chunks.h5", name);
    if (ikt_rank(ctx) == 0) {
        hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        put_chunked(file, "packed", true, 50);
        put_chunked(file, "part", false, 20);
        put_chunked(file, "packedpart", true, 20);
        put_chunked(file, "unwritten", false, 0);
        H5Fclose(file);
    }
    ikt_barrier(ctx);
    static const char *const whole[] = {"packed", "part", "packedpart"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ikt_source_open(ctx, name, whole[i], i ? 20 : 0, &source), IKT_OK);
        ikt_rows rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
        check_range(ctx, source, rows.first, rows.count);
        bool last = ikt_rank(ctx) == ikt_size(ctx) - 1;
        check_range(ctx, source, 3, last ? 15 : 0);
        ikt_source_close(&source);
    }
    for (int i = 1; i < 3; i++) { /* rows of chunks that do not exist: one rank, the others none */
        assert_int_equal(ikt_source_open(ctx, name, whole[i], 0, &source), IKT_OK);
        int64_t count = ikt_rank(ctx) == ikt_size(ctx) - 1;
        assert_int_equal(ikt_source_read(source, 49, count, row), IKT_OK);
        if (count > 0) assert_true(row[0] == 0 && row[3] == 0);
        ikt_source_close(&source);
    }
    assert_int_equal(ikt_source_open(ctx, name, "unwritten", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read(source, 0, ikt_rank(ctx) == 0, row), IKT_ERR_DATA);
    io_expect(ctx, "unwritten was created but never written");
    ikt_source_close(&source);
    io_remove(ctx, name);
}

static void out_of_range(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_source *source;
    float rows[10];
    io_name(ctx, "range.h5", name);
    write_table(ctx, name, 5, 2, IKT_TYPE_F32, false, 5);
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_OK);
    bool wrong = ikt_rank(ctx) == ikt_size(ctx) - 1;
    assert_int_equal(ikt_source_read(source, wrong ? 4 : 0, 2, rows), IKT_ERR_INTERNAL);
    io_expect(ctx, "rows 4 to 5 were asked for; it has 5");
    check_range(ctx, source, 3, 2); /* and all goes on */
    ikt_source_close(&source);
    io_remove(ctx, name);
}

static void locked_file(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    int file = -1;
    io_name(ctx, "locked.h5", name);
    write_table(ctx, name, 5, 2, IKT_TYPE_F32, false, 5);
    if (ikt_rank(ctx) == 0) {
        file = open(name, O_RDWR);
        assert_int_equal(flock(file, LOCK_EX), 0);
    }
    ikt_barrier(ctx);
    const char *wish = getenv("HDF5_USE_FILE_LOCKING");
    if (!wish || strcmp(wish, "FALSE") != 0)
        refuse(ctx, name, "X", 0, IKT_ERR_FILE, "set HDF5_USE_FILE_LOCKING=FALSE");
    if (file >= 0) close(file);
    io_remove(ctx, name);
}

IKT_MPI_TESTS(ikt_test(round_trips), ikt_test(small_pieces), ikt_test(from_memory),
              ikt_test(other_types), ikt_test(unfit_data_sets), ikt_test(labels_and_columns),
              ikt_test(unfit_files), ikt_test(changed_bytes), ikt_test(chunks_of_others),
              ikt_test(out_of_range), ikt_test(locked_file))
