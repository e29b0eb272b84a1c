/* IDX and NPY files: known bytes to known numbers, and every way of being wrong. */
#include "io/io_files.h"

#include <math.h>

#include "base/memory.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"

static const ikt_reader_options plain = {.header = IKT_HEADER_AUTO};

/* Reads a file of these bytes in blocks of `block` rows into rows[]; the reader's shape goes to n,
 * d, type. */
static ikt_status read_bytes(ikt_context *ctx, const void *bytes, size_t count, bool gzipped,
                             int64_t block, int64_t *n, int64_t *d, ikt_type *type, void *rows) {
    char name[IO_NAME_MAX];
    ikt_reader *reader = NULL;
    io_name(ctx, "binary", name);
    io_write(name, bytes, count, gzipped);
    ikt_status st = ikt_reader_open(ctx, name, &plain, &reader);
    if (st == IKT_OK) {
        *n = reader->n;
        *d = reader->d;
        *type = reader->type;
    }
    for (int64_t first = 0; st == IKT_OK && first < *n; first += block) {
        int64_t now = *n - first < block ? *n - first : block;
        size_t row = (size_t)*d * ikt_type_size(*type);
        st = ikt_reader_read(reader, now, (char *)rows + (size_t)first * row, NULL);
    }
    ikt_reader_close(&reader);
    unlink(name);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return st;
}

static double number(ikt_type type, const void *rows, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)rows)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)rows)[i]
                                  : ((const double *)rows)[i];
}

static void check_numbers(ikt_context *ctx, const void *bytes, size_t count, ikt_type type,
                          int64_t n, int64_t d, const double *expected) {
    for (int variant = 0; variant < 4; variant++) {
        int64_t found_n = 0, found_d = 0;
        ikt_type found = IKT_TYPE_U8;
        double rows[64];
        ikt_status st = read_bytes(ctx, bytes, count, variant & 1, variant & 2 ? 1 : 64, &found_n,
                                   &found_d, &found, rows);
        if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
        assert_int_equal(found_n, n);
        assert_int_equal(found_d, d);
        assert_int_equal(found, type);
        for (int64_t i = 0; i < n * d; i++)
            if (number(type, rows, i) != expected[i])
                fail_msg("number %d: %.17g, not %.17g", (int)i, number(type, rows, i), expected[i]);
    }
}

static void check_error(ikt_context *ctx, const void *bytes, size_t count, bool gzipped,
                        ikt_status status, const char *text) {
    int64_t n, d;
    ikt_type type;
    static double rows[8192];
    assert_int_equal(read_bytes(ctx, bytes, count, gzipped, 64, &n, &d, &type, rows), status);
    io_expect(ctx, text);
}

#define BYTES(...)                                                                                 \
    (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})

static void idx_of_every_type(void **state) {
    ikt_context *ctx = *state;
    check_numbers(ctx, BYTES(0, 0, 0x08, 1, 0, 0, 0, 3, 1, 2, 255), IKT_TYPE_U8, 3, 1,
                  (const double[]){1, 2, 255});
    check_numbers(ctx, BYTES(0, 0, 0x09, 1, 0, 0, 0, 2, 0x80, 0x7F), IKT_TYPE_F32, 2, 1,
                  (const double[]){-128, 127});
    check_numbers(ctx, BYTES(0, 0, 0x0B, 1, 0, 0, 0, 2, 0xFF, 0xFE, 0x01, 0x00), IKT_TYPE_F32, 2, 1,
                  (const double[]){-2, 256});
    check_numbers(ctx, BYTES(0, 0, 0x0C, 1, 0, 0, 0, 1, 0x80, 0, 0, 1), IKT_TYPE_F64, 1, 1,
                  (const double[]){-2147483647.0});
    check_numbers(ctx, BYTES(0, 0, 0x0D, 1, 0, 0, 0, 1, 0x3F, 0xC0, 0, 0), IKT_TYPE_F32, 1, 1,
                  (const double[]){1.5});
    check_numbers(ctx, BYTES(0, 0, 0x0E, 1, 0, 0, 0, 1, 0xBF, 0xF8, 0, 0, 0, 0, 0, 0), IKT_TYPE_F64,
                  1, 1, (const double[]){-1.5});
    /* 2 x 2 x 3: two rows of six. */
    check_numbers(ctx,
                  BYTES(0, 0, 0x08, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7,
                        8, 9, 10, 11),
                  IKT_TYPE_U8, 2, 6, (const double[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

static void idx_errors(void **state) {
    ikt_context *ctx = *state;
    static const unsigned char two_rows[] = {0, 0, 0x08, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5};
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        check_error(ctx, two_rows, sizeof two_rows, gzipped, IKT_ERR_FILE,
                    "is truncated: its header announces 2 rows of 3 bytes, 18 bytes in all, but "
                    "there are only 17");
        check_error(ctx, two_rows, 10, gzipped, IKT_ERR_FILE, "ends in its header");
        check_error(ctx, BYTES(0, 0, 0x08, 1, 0, 0, 0, 1, 5, 6), gzipped, IKT_ERR_DATA,
                    "is it damaged?");
    }
    check_error(ctx, BYTES(0, 0, 0x08, 1, 0, 0, 0, 0), false, IKT_ERR_DATA, "0 rows of 1 columns");
    check_error(ctx,
                BYTES(0, 0, 0x08, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255),
                false, IKT_ERR_DATA, "impossible size");
    check_error(ctx, BYTES(0, 0, 0x08, 2, 0, 255, 255, 255, 0, 255, 255, 255), false, IKT_ERR_FILE,
                "is truncated");
    check_error(ctx, BYTES(0, 0, 0x0F, 1, 0, 0, 0, 1, 5), false, IKT_ERR_DATA,
                "neither HDF5, IDX, NPY, NPZ, MATLAB, LIBSVM nor CSV");
}

/* An NPY file: header text and bytes after it. */
typedef struct {
    unsigned char bytes[1024];
    size_t count;
} npy;

static npy make_npy(int version, const char *header, const unsigned char *data, size_t count) {
    npy file = {.count = 8};
    size_t length = strlen(header);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (unsigned char)version;
    for (int b = 0; b < (version == 1 ? 2 : 4); b++)
        file.bytes[file.count++] = (unsigned char)(length >> (8 * b));
    memcpy(file.bytes + file.count, header, length);
    memcpy(file.bytes + file.count + length, data, count);
    file.count += length + count;
    return file;
}

static void check_npy(ikt_context *ctx, int version, const char *header, const unsigned char *data,
                      size_t count, ikt_type type, int64_t n, int64_t d, const double *expected) {
    npy file = make_npy(version, header, data, count);
    check_numbers(ctx, file.bytes, file.count, type, n, d, expected);
}

static void npy_of_every_type(void **state) {
    ikt_context *ctx = *state;
    check_npy(ctx, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n",
              BYTES(0, 1, 254, 255), IKT_TYPE_U8, 2, 2, (const double[]){0, 1, 254, 255});
    check_npy(ctx, 2, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", BYTES(1, 0, 1),
              IKT_TYPE_U8, 3, 1, (const double[]){1, 0, 1});
    check_npy(ctx, 3, "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2)}\n",
              BYTES(0xFF, 0x80), IKT_TYPE_F32, 1, 2, (const double[]){-1, -128});
    check_npy(ctx, 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }",
              BYTES(0xFE, 0xFF, 0x00, 0x80), IKT_TYPE_F32, 2, 1, (const double[]){-2, -32768});
    check_npy(ctx, 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }",
              BYTES(0xFF, 0xFE), IKT_TYPE_F32, 1, 1, (const double[]){65534});
    check_npy(ctx, 1, "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }",
              BYTES(0xFF, 0xFF, 0xFF, 0xFE), IKT_TYPE_F64, 1, 1, (const double[]){-2});
    check_npy(ctx, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }",
              BYTES(0xFF, 0xFF, 0xFF, 0xFF), IKT_TYPE_F64, 1, 1, (const double[]){4294967295.0});
    check_npy(ctx, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }",
              BYTES(0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0x20, 0),
              IKT_TYPE_F64, 2, 1, (const double[]){-3, 9007199254740992.0});
    check_npy(ctx, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
              BYTES(0xC0, 0x20, 0, 0), IKT_TYPE_F32, 1, 1, (const double[]){-2.5});
    check_npy(ctx, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }",
              BYTES(0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0x40), IKT_TYPE_F64, 1, 2,
              (const double[]){1, 2});
    /* 3 x 2 by columns. */
    check_npy(ctx, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2), }",
              BYTES(1, 2, 3, 4, 5, 6), IKT_TYPE_U8, 3, 2, (const double[]){1, 4, 2, 5, 3, 6});
}

/* What IEEE 754 says of the bits of a number of half precision. */
static float half_of(int bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return (float)(bits >> 15 ? -size : size);
}

/* All numbers of half precision, in both orders of bytes, side by side and apart. */
static void halves_are_what_the_standard_says(void **state) {
    enum { ALL = 1 << 16, APART = 3 };
    ikt_context *ctx = *state;
    unsigned char *stored;
    float *value;
    assert_int_equal(ikt_alloc(ctx, &stored, ALL, 2, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &value, APART * ALL, sizeof *value, "test"), IKT_OK);
    for (int variant = 0; variant < 4; variant++) {
        const bool is_big = variant & 1;
        const int64_t stride = variant & 2 ? APART : 1;
        for (int bits = 0; bits < ALL; bits++) {
            stored[2 * bits + is_big] = (unsigned char)(bits & 255);
            stored[2 * bits + !is_big] = (unsigned char)(bits >> 8);
        }
        const ikt_element half = {'f', 2, is_big};
        assert_int_equal(ikt_elements_convert(half, stored, ALL, value, stride), ALL);
        for (int bits = 0; bits < ALL; bits++) {
            const float found = value[bits * stride], expected = half_of(bits);
            if (isnan(expected) ? !isnan(found)
                                : found != expected || signbit(found) != signbit(expected))
                fail_msg("bits %04x: %g, not %g", (unsigned)bits, (double)found, (double)expected);
        }
    }
    ikt_free_all(&stored, &value);
}

static void npy_error(ikt_context *ctx, const char *header, const char *text) {
    static const unsigned char data[16] = {0};
    npy file = make_npy(1, header, data, sizeof data);
    check_error(ctx, file.bytes, file.count, false, IKT_ERR_DATA, text);
}

static void npy_errors(void **state) {
    ikt_context *ctx = *state;
    npy_error(ctx, "{'descr': '<f16', 'fortran_order': False, 'shape': (2, 1), }",
              "elements of type <f16");
    npy_error(ctx, "{'descr': '<U10', 'fortran_order': False, 'shape': (2,), }", "type <U10");
    npy_error(ctx, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "type <c8");
    npy_error(ctx, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "descr");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "fortran_order");
    npy_error(ctx, "{'descr': '<f4', 'shape': (2,), }", "fortran_order");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False}", "no usable shape");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "no usable shape");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "no usable shape");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "no usable shape");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "single number");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", "0 rows of 3");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2, 2)}", "Fortran order");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000)}",
              "impossible size");
    npy_error(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
              "impossible size");
    npy_error(ctx, "{'fortran_order': False, 'descr': '", "descr");
    npy_error(ctx, "", "fortran_order");
}

static void npy_damaged(void **state) {
    ikt_context *ctx = *state;
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    static const unsigned char data[24] = {0};
    npy file = make_npy(1, header, data, sizeof data);
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        check_error(ctx, file.bytes, file.count - 1, gzipped, IKT_ERR_FILE,
                    "announces 3 rows of 8 bytes");
        check_error(ctx, file.bytes, 30, gzipped, IKT_ERR_FILE, "ends in its header");
        check_error(ctx, file.bytes, 6, gzipped, IKT_ERR_FILE, "ends in its header");
    }
    file.bytes[6] = 4;
    check_error(ctx, file.bytes, file.count, false, IKT_ERR_DATA, "NPY version 4");
    file = make_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
                    (const unsigned char[]){1, 0, 0, 0, 0, 0, 0x20, 0}, 8);
    check_error(ctx, file.bytes, file.count, false, IKT_ERR_DATA,
                "holds an integer near 9.0072e+15");
}

/* A compressed file that ends early, and one whose bytes were changed. */
static void damaged_compression(void **state) {
    ikt_context *ctx = *state;
    static unsigned char bytes[8 + 40000], packed[60000];
    char name[IO_NAME_MAX];
    memcpy(bytes, (const unsigned char[]){0, 0, 0x08, 1, 0, 0, 40000 >> 8, 40000 & 255}, 8);
    for (uint32_t i = 8, x = 1; i < sizeof bytes; i++, x = x * 1664525u + 1013904223u)
        bytes[i] = (unsigned char)(x >> 24);
    io_name(ctx, "packed", name);
    io_write(name, bytes, sizeof bytes, true);
    FILE *file = fopen(name, "rb");
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    unlink(name);
    check_error(ctx, packed, size / 2, false, IKT_ERR_FILE, "is truncated");
    packed[size - 6] ^= 1; /* of the checksum at the end */
    check_error(ctx, packed, size, false, IKT_ERR_FILE, "incorrect data check");
}

static void missing_and_strange_files(void **state) {
    ikt_context *ctx = *state;
    ikt_reader *reader;
    const ikt_reader_options columns = {.label_column = "3"};
    assert_int_equal(ikt_reader_open(ctx, "no/such/file.npy", &plain, &reader), IKT_ERR_FILE);
    io_expect(ctx, "no/such/file.npy cannot be read: No such file");
    assert_int_equal(ikt_reader_open(ctx, ".", &plain, &reader), IKT_ERR_FILE);
    io_expect(ctx, "is a folder; a file is needed");
    check_error(ctx, "", 0, false, IKT_ERR_DATA, "is empty");
    check_error(ctx, BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9), false, IKT_ERR_DATA, "neither HDF5");
    io_write("io-idx", BYTES(0, 0, 0x08, 1, 0, 0, 0, 1, 5), false);
    assert_int_equal(ikt_reader_open(ctx, "io-idx", &columns, &reader), IKT_ERR_USAGE);
    io_expect(ctx, "no named columns");
    assert_null(reader);
    unlink("io-idx");
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(idx_of_every_type), ikt_test(idx_errors), ikt_test(npy_of_every_type),
              ikt_test(halves_are_what_the_standard_says), ikt_test(npy_errors),
              ikt_test(npy_damaged), ikt_test(damaged_compression),
              ikt_test(missing_and_strange_files))
