/* The model file: written by any number of ranks, read back in any ranges; what is wrong with a
 * file is told in one sentence. */
#include "io/io_files.h"

#include <hdf5.h>

#include "base/memory.h"
#include "base/row_hash.h"
#include "io/results/model_file.h"
#include "transform/transform.h"

enum { N = 301, T = 13, PSI = 300, CENTRES = 500, D = 7, K = 3, STRIDE = 64 };

static const ikt_model_shape shape = {.n = N,
                                      .q = 2,
                                      .d = D,
                                      .columns = K,
                                      .centres = CENTRES,
                                      .t = T,
                                      .psi = PSI,
                                      .is_shifted = true,
                                      .is_reduced = true};

static uint16_t code_of(int64_t row, int64_t p) {
    return (uint16_t)((row * 31 + p * 7) % PSI);
}

/* Writes all parts; rows and codes by the ranks that own them, the rest by one. */
static void write_parts(ikt_context *ctx, ikt_model_writer *w, bool labels) {
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const int64_t one = ikt_rank(ctx) == 0;
    static char codes[N * STRIDE];
    static float y[2 * N], centres[CENTRES * K];
    static int64_t label[N];
    static int32_t number[T * PSI];
    double scale[D * K];
    for (int64_t e = 0; e < D * K; e++)
        scale[e] = (double)e / 3;
    for (int64_t i = 0; i < rows.count; i++) {
        memset(codes + i * STRIDE, 0x5A, STRIDE); /* what lies in the gaps must not matter */
        for (int64_t p = 0; p < T; p++) {
            uint16_t code = code_of(rows.first + i, p);
            memcpy(codes + i * STRIDE + 2 * p, &code, sizeof code);
        }
        y[2 * i] = (float)(rows.first + i);
        y[2 * i + 1] = -y[2 * i] / 3;
        label[i] = (rows.first + i) % 4 - 1;
    }
    for (int64_t e = 0; e < CENTRES * K; e++)
        centres[e] = (float)e / 8;
    for (int64_t e = 0; e < T * PSI; e++)
        number[e] = (int32_t)(e % PSI + e / PSI);
    assert_int_equal(ikt_model_writer_shape(w, &shape), IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_SHIFT, 0, D * one, scale, 0), IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_SCALE, 0, D * one, scale, 0), IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_MEAN, 0, D * one, scale, 0), IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_COMPONENTS, 0, K * one, scale, 0), IKT_OK);
    for (int64_t first = 0; first < CENTRES; first += 200) { /* in several calls */
        int64_t now = CENTRES - first < 200 ? CENTRES - first : 200;
        assert_int_equal(
            ikt_model_writer_part(w, IKT_MODEL_CENTRES, first, now * one, centres + first * K, 0),
            IKT_OK);
    }
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_PARTITIONINGS, 0, T * one, number, 0),
                     IKT_OK);
    assert_int_equal(
        ikt_model_writer_part(w, IKT_MODEL_CODES, rows.first, rows.count, codes, STRIDE), IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_EMBEDDING, rows.first, rows.count, y, 0),
                     IKT_OK);
    if (labels)
        assert_int_equal(
            ikt_model_writer_part(w, IKT_MODEL_LABELS, rows.first, rows.count, label, 0), IKT_OK);
}

static void write_model(ikt_context *ctx, const char *name, bool labels) {
    const ikt_note notes[] = {{"version", "1.2"}, {"input", "x.h5:/X"}};
    ikt_model_writer *w;
    assert_int_equal(ikt_model_writer_begin(ctx, name, true, &w), IKT_OK);
    write_parts(ctx, w, labels);
    assert_int_equal(ikt_model_writer_notes(w, "run:\n  seed: 7\n", notes, 2), IKT_OK);
    assert_int_equal(ikt_model_writer_end(&w, IKT_OK), IKT_OK);
    assert_null(w);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void check_rows(ikt_model_file *f, int64_t first, int64_t count) {
    static char codes[N * STRIDE];
    static float y[2 * N];
    memset(codes, 7, sizeof codes);
    assert_int_equal(ikt_model_file_read(f, IKT_MODEL_CODES, first, count, codes, STRIDE), IKT_OK);
    assert_int_equal(ikt_model_file_read(f, IKT_MODEL_EMBEDDING, first, count, y, 0), IKT_OK);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t p = 0; p < T; p++) {
            uint16_t code;
            memcpy(&code, codes + i * STRIDE + 2 * p, sizeof code);
            assert_int_equal(code, code_of(first + i, p));
        }
        assert_int_equal(codes[i * STRIDE + 2 * T], 7); /* gaps are left alone */
        assert_true(y[2 * i] == (float)(first + i));
    }
}

static void round_trip(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], *text, hash[32];
    static float centres[CENTRES * K];
    static int64_t label[N];
    ikt_model_file *f;
    io_name(ctx, "model.h5", name);
    for (int labels = 0; labels < 2; labels++) {
        write_model(ctx, name, labels);
        assert_int_equal(ikt_model_file_open(ctx, name, &f), IKT_OK);
        const ikt_model_shape *s = ikt_model_file_shape(f);
        assert_true(s->n == N && s->q == 2 && s->d == D && s->columns == K && s->t == T);
        assert_true(s->psi == PSI && s->centres == CENTRES && s->has_labels == labels);
        assert_true(s->is_shifted && s->is_reduced && !s->is_unit && !s->is_u8);
        const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
        check_rows(f, rows.first, rows.count);
        check_rows(f, 0, ikt_rank(ctx) == 0 ? N : 0);
        assert_int_equal(ikt_model_file_read(f, IKT_MODEL_CENTRES, 0, CENTRES, centres, 0), IKT_OK);
        for (int64_t e = 0; e < CENTRES * K; e++)
            assert_true(centres[e] == (float)e / 8);
        if (labels) {
            assert_int_equal(ikt_model_file_read(f, IKT_MODEL_LABELS, 0, N, label, 0), IKT_OK);
            assert_int_equal(label[5], 0);
        }
        assert_int_equal(ikt_model_file_note(f, "configuration", &text), IKT_OK);
        assert_string_equal(text, "run:\n  seed: 7\n");
        ikt_free(&text);
        assert_int_equal(ikt_model_file_note(f, "model_hash", &text), IKT_OK);
        snprintf(hash, sizeof hash, "%s", text);
        ikt_free(&text);
        ikt_model_file_close(&f);
    }
    /* The hash is that of the contents, whoever wrote them. */
    ikt_context *alone = ikt_test_alone();
    char own[IO_NAME_MAX + 32];
    snprintf(own, sizeof own, "%s-%d", name, ikt_rank(ctx));
    write_model(alone, own, true);
    assert_int_equal(ikt_model_file_open(alone, own, &f), IKT_OK);
    assert_int_equal(ikt_model_file_note(f, "model_hash", &text), IKT_OK);
    assert_string_equal(text, hash);
    ikt_free(&text);
    ikt_model_file_close(&f);
    unlink(own);
    ikt_context_destroy(&alone);
    io_remove(ctx, name);
}

/* What a model can lack, done to a good one by one rank; what stays as it is loses its seal. */
typedef enum { NEWER, NO_CODES, OTHER_ROWS, NO_PSI, NO_FORMAT, NO_SEAL, CHANGES } change;

static void set_int(hid_t file, const char *name, int64_t value) {
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
}

static void spoil(const char *name, change what) {
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (what == NEWER) set_int(file, "format_version", 99);
    if (what == NO_CODES) assert_true(H5Ldelete(file, "codes", H5P_DEFAULT) >= 0);
    if (what == OTHER_ROWS) set_int(file, "rows", N + 1);
    if (what == NO_PSI) assert_true(H5Adelete(file, "psi") >= 0);
    if (what == NO_FORMAT) assert_true(H5Adelete(file, "format") >= 0);
    H5Fclose(file);
}

static void what_is_wrong_is_told(void **state) {
    static const char *const said[CHANGES] = {"has format version 99; this program reads up to 6",
                                              "has no data set 'codes'; it holds: ",
                                              "/codes has another size or type",
                                              "attribute psi is missing or wrong",
                                              "is not a model to place rows by",
                                              "no longer ends with its checksum"};
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "spoilt.h5", name);
    for (int what = 0; what < CHANGES; what++) {
        ikt_model_file *f;
        write_model(ctx, name, true);
        if (ikt_rank(ctx) == 0) spoil(name, (change)what);
        ikt_barrier(ctx);
        if (what != NO_SEAL) assert_int_equal(ikt_seal_put(ctx, name), IKT_OK);
        assert_int_equal(ikt_model_file_open(ctx, name, &f), IKT_ERR_DATA);
        assert_null(f);
        io_expect(ctx, said[what]);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    io_remove(ctx, name);
}

/* Nothing is left of a model that was given up, and what was there before stays. */
static void giving_up_leaves_what_was_there(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_model_writer *w;
    ikt_model_file *f;
    io_name(ctx, "kept.h5", name);
    write_model(ctx, name, false);
    assert_int_equal(ikt_model_writer_begin(ctx, name, false, &w), IKT_ERR_FILE);
    io_expect(ctx, "exists already");
    assert_null(w);
    assert_int_equal(ikt_model_writer_begin(ctx, name, true, &w), IKT_OK);
    write_parts(ctx, w, true);
    ikt_model_writer_abandon(&w);
    assert_null(w);
    ikt_model_writer_abandon(&w);
    assert_int_equal(ikt_model_file_open(ctx, name, &f), IKT_OK);
    assert_false(ikt_model_file_shape(f)->has_labels);
    ikt_model_file_close(&f);
    assert_int_equal(ikt_memory_now(ctx), 0);
    io_remove(ctx, name);
}

/* --- models that hold rows -------------------------------------------------------------------- */

static void write_model_of_rows(ikt_context *ctx, const char *name) {
    static const ikt_model_shape of_rows = {
        .n = N, .q = 2, .d = K, .columns = K, .placing = IKT_PLACING_TRIPLETS, .has_rows = true};
    static float x[N * K], scale[N], y[2 * N];
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_model_writer *w;
    for (int64_t e = 0; e < N * K; e++)
        x[e] = (float)e / 16;
    for (int64_t e = 0; e < N; e++)
        scale[e] = 1 + (float)e;
    assert_int_equal(ikt_model_writer_begin(ctx, name, true, &w), IKT_OK);
    assert_int_equal(ikt_model_writer_shape(w, &of_rows), IKT_OK);
    assert_int_equal(
        ikt_model_writer_part(w, IKT_MODEL_ROWS, rows.first, rows.count, x + K * rows.first, 0),
        IKT_OK);
    assert_int_equal(
        ikt_model_writer_part(w, IKT_MODEL_SCALES, rows.first, rows.count, scale + rows.first, 0),
        IKT_OK);
    assert_int_equal(ikt_model_writer_part(w, IKT_MODEL_EMBEDDING, rows.first, rows.count,
                                           y + 2 * rows.first, 0),
                     IKT_OK);
    assert_int_equal(ikt_model_writer_notes(w, "run:\n  seed: 7\n", NULL, 0), IKT_OK);
    assert_int_equal(ikt_model_writer_end(&w, IKT_OK), IKT_OK);
}

static void models_may_hold_rows(void **state) {
    static const char *const said[] = {"has no data set 'scales'", "its sizes do not fit together",
                                       "its sizes do not fit together"};
    static float x[N * K], scale[N];
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    ikt_model_file *f;
    ikt_loaded_model loaded;
    io_name(ctx, "rows.h5", name);
    write_model_of_rows(ctx, name);
    assert_int_equal(ikt_model_file_open(ctx, name, &f), IKT_OK);
    assert_true(ikt_model_file_shape(f)->has_rows);
    assert_int_equal(ikt_model_file_shape(f)->placing, IKT_PLACING_TRIPLETS);
    assert_int_equal(ikt_model_file_read(f, IKT_MODEL_ROWS, 0, N, x, 0), IKT_OK);
    assert_int_equal(ikt_model_file_read(f, IKT_MODEL_SCALES, 0, N, scale, 0), IKT_OK);
    for (int64_t e = 0; e < N * K; e++)
        assert_true(x[e] == (float)e / 16 && scale[e / K] == 1 + (float)(e / K));
    ikt_model_file_close(&f);
    /* Its configuration is that of a map by t-SNE. */
    assert_int_equal(ikt_model_load(ctx, name, &loaded), IKT_ERR_DATA);
    io_expect(ctx, "is not what its configuration would place rows by");
    for (int what = 0; what < 3; what++) {
        write_model_of_rows(ctx, name);
        if (ikt_rank(ctx) == 0) {
            hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
            assert_true(file >= 0);
            if (what == 0) assert_true(H5Ldelete(file, "scales", H5P_DEFAULT) >= 0);
            if (what == 1) set_int(file, "placing", 0);
            if (what == 2) set_int(file, "holds_rows", 0);
            H5Fclose(file);
        }
        ikt_barrier(ctx);
        assert_int_equal(ikt_seal_put(ctx, name), IKT_OK);
        assert_int_equal(ikt_model_file_open(ctx, name, &f), IKT_ERR_DATA);
        io_expect(ctx, said[what]);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
    io_remove(ctx, name);
}

IKT_MPI_TESTS(ikt_test(round_trip), ikt_test(what_is_wrong_is_told), ikt_test(models_may_hold_rows),
              ikt_test(giving_up_leaves_what_was_there))
