/* iktsne plot: from files and options to pictures and messages. */
#include "support/ikt_test.h"

#include <hdf5.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/verb.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "io/results/result.h"

enum { N = 500, ARGUMENTS_MAX = 16 };

static char run_path[64], column_path[64], picture_path[64];

static void name_files(ikt_context *ctx) {
    int64_t id = getpid();
    ikt_broadcast(ctx, &id, sizeof id, 0);
    snprintf(run_path, sizeof run_path, "plot-verb-%lld.h5", (long long)id);
    snprintf(column_path, sizeof column_path, "plot-verb-%lld-columns.h5", (long long)id);
    snprintf(picture_path, sizeof picture_path, "plot-verb-%lld.png", (long long)id);
}

/* Where there are labels they may have names. */
static void write_named_run(ikt_context *ctx, bool labels, const char *names) {
    static float y[2 * N];
    static int64_t classes[N];
    static const int64_t marked[] = {17}, iteration[] = {1};
    static const double kl[] = {1.5}, norm[] = {0.1}, seconds[] = {0.2};
    static const ikt_note notes[] = {{"input", "five.h5:/X"}, {"kl", "1.23456"}};
    for (int64_t i = 0; i < N; i++) {
        classes[i] = i % 4;
        for (uint64_t c = 0; c < 2; c++)
            y[2 * i + (int64_t)c] =
                (float)(6 * (double)(i % 4) + ikt_rng_normal(1, IKT_RNG_TEST, i, c));
    }
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const ikt_result result = {.rows = rows,
                               .q = 2,
                               .embedding = y + 2 * rows.first,
                               .labels = labels ? classes + rows.first : NULL,
                               .label_names = names,
                               .marked = marked,
                               .n_marked = labels ? 1 : 0,
                               .n_trace = 1,
                               .trace_iteration = iteration,
                               .value_name = "kl",
                               .trace_value = kl,
                               .trace_gradient_norm = norm,
                               .trace_seconds = seconds,
                               .configuration = "isolation:\n  psi: 64\n",
                               .facts = notes,
                               .n_facts = 2};
    assert_int_equal(ikt_result_write(ctx, run_path, true, &result), IKT_OK);
}

static void write_run(ikt_context *ctx, bool labels) {
    write_named_run(ctx, labels, NULL);
}

static void write_column(hid_t file, const char *name, int64_t n, const double *values) {
    const hsize_t size = (hsize_t)n;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

/* /real: numbers; /small: whole numbers 0 to 3; /wide: whole numbers far apart; /short. */
static void write_columns(ikt_context *ctx) {
    if (ikt_rank(ctx) == 0) {
        static double real[N], small[N], wide[N];
        for (int i = 0; i < N; i++) {
            real[i] = sqrt(i);
            small[i] = i % 4;
            wide[i] = i * 1000;
        }
        hid_t file = H5Fcreate(column_path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(file >= 0);
        write_column(file, "real", N, real);
        write_column(file, "small", N, small);
        write_column(file, "wide", N, wide);
        write_column(file, "short", N - 1, real);
        H5Fclose(file);
    }
    ikt_barrier(ctx);
}

/* Runs the verb with up to four more arguments behind the paths. */
static ikt_status plot(ikt_context *ctx, const char *a, const char *b, const char *c,
                       const char *d) {
    static char text[ARGUMENTS_MAX][256];
    char *argv[ARGUMENTS_MAX];
    const char *const all[] = {run_path, picture_path, a, b, c, d};
    int argc = 0;
    for (int i = 0; i < 6 && all[i]; i++, argc++) {
        snprintf(text[argc], sizeof text[argc], "%s", all[i]);
        argv[argc] = text[argc];
    }
    ikt_status st = ikt_verb_plot.run(ctx, argc, argv);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return st;
}

/* Draws, and returns a hash of the pixels; the picture is removed. */
static uint64_t pixels_of(ikt_context *ctx, const char *a, const char *b, const char *c,
                          const char *d) {
    static unsigned char pixels[8 << 20];
    uint64_t hash = 0;
    ikt_status st = plot(ctx, a, b, c, d);
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
    if (ikt_rank(ctx) == 0) {
        png_image image;
        memset(&image, 0, sizeof image);
        image.version = PNG_IMAGE_VERSION;
        assert_true(png_image_begin_read_from_file(&image, picture_path));
        image.format = PNG_FORMAT_RGB;
        assert_true(PNG_IMAGE_SIZE(image) <= sizeof pixels);
        assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
        hash = ikt_hash_bytes(pixels, PNG_IMAGE_SIZE(image), image.width);
        assert_int_equal(remove(picture_path), 0);
    }
    ikt_broadcast(ctx, &hash, sizeof hash, 0);
    return hash;
}

static void colour_argument(char *out, size_t size, const char *dataset) {
    snprintf(out, size, "--colour-by=%s:%s", column_path, dataset);
}

static void every_option_changes_the_picture(void **state) {
    ikt_context *ctx = *state;
    char real[160], both[160];
    write_run(ctx, true);
    colour_argument(real, sizeof real, "/real");
    snprintf(both, sizeof both, "--colour-by=labels,%s:real", column_path);
    const char *const options[][2] = {{NULL, NULL},
                                      {"--colour-by", "none"},
                                      {real, NULL},
                                      {"--colour-as", "numbers"},
                                      {"--height=600", NULL},
                                      {"--point-radius", "5"},
                                      {"--opacity", "0.1"},
                                      {"--background", "black"},
                                      {"--title", "Five subspaces"},
                                      {"--mark", "0,3"},
                                      {"--mark", "none"},
                                      {"--no-legend", NULL},
                                      {"--names", NULL},
                                      {both, NULL},
                                      {"--width", "500"}};
    enum { COUNT = sizeof options / sizeof *options };
    uint64_t hash[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const char *width = i == COUNT - 1 ? NULL : "--width=400";
        hash[i] = width ? pixels_of(ctx, width, options[i][0], options[i][1], NULL)
                        : pixels_of(ctx, options[i][0], options[i][1], NULL, NULL);
        for (int other = 0; other < i; other++)
            assert_true(hash[other] != hash[i]);
    }
    assert_true(hash[0] == pixels_of(ctx, "--width=400", "--colour-by=labels", "--mark=17", NULL));
}

static void whole_numbers_of_small_span_are_classes(void **state) {
    ikt_context *ctx = *state;
    char small[160], wide[160];
    write_run(ctx, true);
    colour_argument(small, sizeof small, "small");
    colour_argument(wide, sizeof wide, "wide");
    uint64_t guessed = pixels_of(ctx, "--width=400", small, NULL, NULL);
    assert_true(guessed == pixels_of(ctx, "--width=400", small, "--colour-as=classes", NULL));
    assert_true(guessed != pixels_of(ctx, "--width=400", small, "--colour-as=numbers", NULL));
    guessed = pixels_of(ctx, "--width=400", wide, NULL, NULL);
    assert_true(guessed == pixels_of(ctx, "--width=400", wide, "--colour-as=numbers", NULL));
    assert_true(guessed != pixels_of(ctx, "--width=400", wide, "--colour-as=classes", NULL));
}

/* Names that are the numbers change nothing. */
static void the_legend_names_classes(void **state) {
    ikt_context *ctx = *state;
    write_run(ctx, true);
    uint64_t numbers = pixels_of(ctx, "--width=400", NULL, NULL, NULL);
    write_named_run(ctx, true, "0\n1\n2\n3\n");
    assert_true(numbers == pixels_of(ctx, "--width=400", NULL, NULL, NULL));
    write_named_run(ctx, true, "b cell\nt cell\n");
    assert_true(numbers != pixels_of(ctx, "--width=400", NULL, NULL, NULL));
}

static void labels_are_not_needed(void **state) {
    ikt_context *ctx = *state;
    write_run(ctx, false);
    assert_true(pixels_of(ctx, "--width=400", NULL, NULL, NULL) ==
                pixels_of(ctx, "--width=400", "--colour-by=none", NULL, NULL));
    assert_int_equal(plot(ctx, "--colour-by", "labels", NULL, NULL), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "no /labels"));
    ikt_clear(ctx);
}

/* The title, the run's figures and its configuration are in the file. */
static void the_file_says_where_it_comes_from(void **state) {
    ikt_context *ctx = *state;
    write_run(ctx, true);
    assert_int_equal(plot(ctx, "--width=300", NULL, NULL, NULL), IKT_OK);
    if (ikt_rank(ctx) == 0) {
        static char bytes[1 << 20];
        FILE *file = fopen(picture_path, "rb");
        assert_non_null(file);
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t i = 0; i < length; i++) /* so that strstr looks at all of it */
            if (bytes[i] == '\0') bytes[i] = ' ';
        bytes[length] = '\0';
        assert_non_null(strstr(bytes, run_path));
        assert_non_null(strstr(bytes, "five.h5:/X, KL 1.2346"));
        assert_non_null(strstr(bytes, "psi: 64"));
        assert_int_equal(remove(picture_path), 0);
    }
    ikt_barrier(ctx);
}

static void refuse(ikt_context *ctx, const char *a, const char *b, ikt_status status,
                   const char *message) {
    assert_int_equal(plot(ctx, a, b, NULL, NULL), status);
    if (!strstr(ikt_message(ctx), message)) fail_msg("message: %s", ikt_message(ctx));
    ikt_clear(ctx);
    assert_int_equal(access(picture_path, F_OK), -1);
}

static void mistakes_are_explained(void **state) {
    ikt_context *ctx = *state;
    char real[160], missing[160], cut[160];
    write_run(ctx, true);
    colour_argument(real, sizeof real, "real");
    colour_argument(missing, sizeof missing, "nothing");
    colour_argument(cut, sizeof cut, "short");
    refuse(ctx, "--behind", column_path, IKT_ERR_DATA, "/embedding");
    refuse(ctx, "--genes", "CD3D", IKT_ERR_DATA, "no genes by name");
    refuse(ctx, "--colour-by", "labels,,labels", IKT_ERR_USAGE, "empty name");
    refuse(ctx, "--mark", "3,500", IKT_ERR_USAGE, "rows 0 to 499");
    refuse(ctx, "--mark", "3,", IKT_ERR_USAGE, "'3,' is not a list");
    refuse(ctx, "--mark", "x", IKT_ERR_USAGE, "'x' is not a list");
    refuse(ctx, "--widht", "300", IKT_ERR_USAGE, "did you mean --width");
    refuse(ctx, "--background", "green", IKT_ERR_USAGE, "green");
    refuse(ctx, missing, NULL, IKT_ERR_DATA, "no data set 'nothing'");
    refuse(ctx, cut, NULL, IKT_ERR_DATA, "499");
    refuse(ctx, real, "--colour-as=classes", IKT_ERR_DATA, "row 2: classes must be whole");
    refuse(ctx, "--colour-by=other.h5:X", NULL, IKT_ERR_FILE, "other.h5");
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) assert_int_equal(remove(run_path), 0);
    ikt_barrier(ctx);
    refuse(ctx, NULL, NULL, IKT_ERR_FILE, run_path);
}

static int setup(void **state) {
    int result = ikt_test_setup(state);
    name_files(*state);
    write_columns(*state);
    return result;
}

static int teardown(void **state) {
    ikt_barrier(*state);
    if (ikt_rank(*state) == 0) {
        remove(run_path); /* the last test removes it itself */
        remove(column_path);
    }
    return ikt_test_teardown(state);
}

#define verb_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

IKT_MPI_TESTS(verb_test(every_option_changes_the_picture),
              verb_test(whole_numbers_of_small_span_are_classes),
              verb_test(the_legend_names_classes), verb_test(labels_are_not_needed),
              verb_test(the_file_says_where_it_comes_from), verb_test(mistakes_are_explained))
