/* Whole pictures: the same bytes on any number of ranks and threads, and what can go wrong. */
#include "support/ikt_test.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "config/key.h"
#include "plot/plot.h"

enum { N_MAX = 3000 };

/* All points on every rank; a rank's own are a part of them. */
static float all_y[2 * N_MAX], all_behind[2 * N_MAX];
static int64_t all_labels[N_MAX];
static double all_values[N_MAX];

static void make_points(int64_t n, int64_t classes) {
    for (int64_t i = 0; i < n; i++) {
        int64_t c = ikt_rng_below(1, IKT_RNG_TEST, i, 0, classes);
        all_y[2 * i] = (float)(7 * (double)(c % 5) + ikt_rng_normal(1, IKT_RNG_TEST, i, 1));
        all_y[2 * i + 1] = (float)(7 * (double)(c / 5) + ikt_rng_normal(1, IKT_RNG_TEST, i, 2));
        all_labels[i] = 11 * c - 20; /* any integers */
        for (int64_t e = 2 * i; e < 2 * i + 2; e++)
            all_behind[e] = all_y[e] - 0.9f * all_y[2 * N_MAX - 1 - e]; /* wider than the rows */
        all_values[i] = i % 50 == 3 ? NAN : all_y[2 * i] * 1e5;
    }
}

typedef enum { PLAIN, LABELS, VALUES, BACKED, TINTED } kind;

static int all_q = 2; /* dimensions that the numbers of all_y are taken for */

static ikt_plot_points part(const ikt_rows *rows, kind colours) {
    static const int64_t marked[] = {0, 2};
    int64_t n_marked = rows->n >= 3 ? 2 : 0;
    return (ikt_plot_points){
        .rows = rows,
        .q = all_q,
        .y = all_y + all_q * rows->first,
        .labels = colours == LABELS || colours >= BACKED ? all_labels + rows->first : NULL,
        .values = colours == VALUES ? all_values + rows->first : NULL,
        .column = "a column",
        .marked = marked,
        .n_marked = n_marked,
        .behind = colours >= BACKED ? all_behind + 2 * rows->first : NULL,
        .n_behind = colours >= BACKED ? rows->count : 0,
        .behind_labels = colours == TINTED ? all_labels + rows->first : NULL};
}

static ikt_plot_settings small_settings(void) {
    ikt_plot_settings settings = ikt_plot_defaults();
    settings.width = 360;
    settings.title = "Test";
    settings.footer = "KL 1.23";
    settings.overwrite = true;
    return settings;
}

/* Different runs of this program may go on at once. */
static void name_file(ikt_context *ctx, const char *what, char path[80]) {
    int64_t id = getpid();
    ikt_broadcast(ctx, &id, sizeof id, 0);
    snprintf(path, 80, "plot-%s-%lld.png", what, (long long)id);
}

/* Hash of a file's bytes; 0 where it is missing. */
static uint64_t hash_file(const char *path) {
    static unsigned char bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return ikt_hash_bytes(bytes, length, 1);
}

/* Hash of the decoded pixels, whose size must be width x height. */
static uint64_t hash_pixels(const char *path, unsigned width, unsigned height) {
    static unsigned char pixels[4 << 20];
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    image.format = PNG_FORMAT_RGB;
    assert_true(PNG_IMAGE_SIZE(image) <= sizeof pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    return ikt_hash_bytes(pixels, PNG_IMAGE_SIZE(image), 1);
}

/* Draws on all ranks and on rank 0 alone with one thread; the files must be equal. */
static uint64_t draw_both(ikt_context *ctx, const ikt_plot_settings *settings, int64_t n,
                          kind colours) {
    char path[80], reference[80];
    name_file(ctx, "all", path);
    name_file(ctx, "one", reference);
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points = part(&rows, colours);
    assert_int_equal(ikt_plot_embedding(ctx, settings, &points, path), IKT_OK);
    uint64_t pixels = 0;
    if (ikt_rank(ctx) == 0) {
        ikt_context *alone = ikt_test_alone();
        rows = ikt_rows_make(n, 1, 0);
        points = part(&rows, colours);
        assert_int_equal(ikt_plot_embedding(alone, settings, &points, reference), IKT_OK);
        ikt_context_destroy(&alone);
        assert_true(hash_file(path) == hash_file(reference));
        int64_t usual = all_q == 2 ? settings->width * 5 / 6 : 200; /* the least */
        unsigned height = (unsigned)(settings->height == IKT_AUTO_INT ? usual : settings->height);
        pixels = hash_pixels(path, (unsigned)settings->width, height);
        assert_int_equal(remove(path) | remove(reference), 0);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
    ikt_broadcast(ctx, &pixels, sizeof pixels, 0);
    return pixels;
}

static void pictures_do_not_depend_on_ranks_or_threads(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    make_points(N_MAX, 10);
    uint64_t hash[TINTED + 1];
    for (int threads = 1; threads <= 2; threads++) {
        ikt_context_set_threads(ctx, threads);
        for (int k = PLAIN; k <= TINTED; k++) {
            uint64_t now = draw_both(ctx, &settings, N_MAX, (kind)k);
            if (threads == 1)
                hash[k] = now;
            else
                assert_true(hash[k] == now);
        }
    }
    assert_true(hash[PLAIN] != hash[LABELS] && hash[PLAIN] != hash[VALUES]);
    assert_true(hash[BACKED] != hash[LABELS] && hash[TINTED] != hash[BACKED]);
    settings.names = true;
    assert_true(draw_both(ctx, &settings, N_MAX, LABELS) != hash[LABELS]);
    assert_true(draw_both(ctx, &settings, N_MAX, VALUES) ==
                hash[VALUES]); /* no classes, no names */
}

static void settings_change_the_picture(void **state) {
    ikt_context *ctx = *state;
    make_points(N_MAX, 40);
    ikt_plot_settings variants[8];
    uint64_t hash[8];
    for (int v = 0; v < 8; v++)
        variants[v] = small_settings();
    variants[1].black = true;
    variants[2].legend = false;
    variants[3].point_radius = 4.5;
    variants[4].opacity = 0.1;
    variants[5].title = "Another";
    variants[6].footer = NULL;
    variants[7].height = 250;
    for (int v = 0; v < 8; v++) {
        hash[v] = draw_both(ctx, &variants[v], N_MAX, LABELS);
        for (int other = 0; other < v; other++)
            assert_true(hash[v] != hash[other]);
    }
}

static void bands_do_not_show(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    settings.width = 900; /* three bands */
    make_points(N_MAX, 3);
    draw_both(ctx, &settings, N_MAX, LABELS);
}

static void few_points_are_still_a_picture(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    make_points(10, 2);
    uint64_t none = draw_both(ctx, &settings, 0, PLAIN);
    uint64_t one = draw_both(ctx, &settings, 1, LABELS);
    assert_true(one != none);
    draw_both(ctx, &settings, 5, VALUES); /* fewer rows than seven ranks */
    for (int i = 0; i < 10; i++)
        all_y[2 * i] = all_y[2 * i + 1] = 3e38f;
    draw_both(ctx, &settings, 10, LABELS);
    all_y[0] = all_y[1] = -3e38f; /* the span is not a float */
    draw_both(ctx, &settings, 10, LABELS);
    for (int i = 0; i < 10; i++)
        all_values[i] = NAN;
    draw_both(ctx, &settings, 10, VALUES);
}

/* The only point of a picture without legend lies in the middle of it. */
static void one_point_is_drawn_at_the_centre(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    settings.width = settings.height = 400;
    settings.legend = false;
    settings.title = "";
    settings.footer = "";
    settings.opacity = 1;
    settings.point_radius = 5;
    make_points(1, 1);
    char path[80];
    name_file(ctx, "centre", path);
    ikt_rows rows = ikt_rows_make(1, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points = part(&rows, LABELS);
    assert_int_equal(ikt_plot_embedding(ctx, &settings, &points, path), IKT_OK);
    if (ikt_rank(ctx) != 0) return;
    static unsigned char pixels[400 * 400 * 3];
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(PNG_IMAGE_SIZE(image), sizeof pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    const unsigned char blue[3] = {0x00, 0x72, 0xb2}, white[3] = {255, 255, 255};
    for (int y = 0; y < 400; y++)
        for (int x = 0; x < 400; x++) {
            double distance = hypot(x + 0.5 - 200, y + 0.5 - 200);
            const unsigned char *pixel = &pixels[3 * (400 * y + x)];
            if (distance < 4) assert_memory_equal(pixel, blue, 3);
            if (distance > 6.2 && distance < 150) assert_memory_equal(pixel, white, 3);
        }
    assert_int_equal(remove(path), 0);
}

/* Bars of a line, and three sides of a volume: the same files on any ranks, and none like another.
 */
static void lines_and_volumes_are_drawn(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    uint64_t hash[2][3];
    make_points(N_MAX, 10);
    for (all_q = 1; all_q <= 3; all_q += 2)
        for (int k = PLAIN; k <= VALUES; k++) {
            hash[all_q / 2][k] = draw_both(ctx, &settings, N_MAX / 2, (kind)k);
            draw_both(ctx, &settings, 5, (kind)k);
            draw_both(ctx, &settings, 0, (kind)k);
        }
    all_q = 2;
    assert_true(hash[0][LABELS] != hash[1][LABELS] && hash[0][LABELS] != hash[0][PLAIN]);
    assert_true(hash[1][LABELS] != hash[1][VALUES]);
}

/* Draws what must fail; every rank gets the same status and message, and no file appears. */
static void refuse(ikt_context *ctx, const ikt_plot_settings *settings,
                   const ikt_plot_points *points, ikt_status expected, const char *message) {
    char path[80];
    name_file(ctx, "bad", path);
    assert_int_equal(ikt_plot_embedding(ctx, settings, points, path), expected);
    if (!strstr(ikt_message(ctx), message)) fail_msg("message: %s", ikt_message(ctx));
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
    assert_true(hash_file(path) == 0);
}

static void coordinates_that_are_not_finite_are_named(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    ikt_rows distribution = ikt_rows_make(100, ikt_size(ctx), ikt_rank(ctx));
    static const int64_t rows[] = {0, 50, 99};
    for (int r = 0; r < 3; r++) {
        char message[32];
        make_points(100, 3);
        all_y[2 * rows[r] + 1] = r == 1 ? INFINITY : NAN;
        all_y[2 * 99] = NAN;
        ikt_plot_points points = part(&distribution, LABELS);
        snprintf(message, sizeof message, "in row %lld ", (long long)rows[r]);
        refuse(ctx, &settings, &points, IKT_ERR_DATA, message);
    }
}

static void wrong_settings_are_refused(void **state) {
    ikt_context *ctx = *state;
    make_points(N_MAX, 5);
    ikt_rows rows = ikt_rows_make(100, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points = part(&rows, LABELS);
    ikt_plot_settings settings = small_settings();
    settings.width = 100;
    refuse(ctx, &settings, &points, IKT_ERR_USAGE, "width is 100");
    settings = small_settings();
    settings.opacity = 1.5;
    refuse(ctx, &settings, &points, IKT_ERR_USAGE, "opacity");
    settings = small_settings();
    settings.point_radius = NAN;
    refuse(ctx, &settings, &points, IKT_ERR_USAGE, "radius");
    settings = small_settings();
    const int64_t beyond = 100;
    points.marked = &beyond;
    points.n_marked = 1;
    refuse(ctx, &settings, &points, IKT_ERR_USAGE, "row 100 cannot be marked");
}

static void too_many_classes_are_refused(void **state) {
    ikt_context *ctx = *state;
    enum { N = 5000 };
    static int64_t labels[N];
    static float y[2 * N];
    for (int i = 0; i < N; i++)
        labels[i] = i;
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points = {.rows = &rows,
                              .q = 2,
                              .y = y + 2 * rows.first,
                              .labels = labels + rows.first,
                              .column = "id"};
    ikt_plot_settings settings = small_settings();
    refuse(ctx, &settings, &points, IKT_ERR_DATA, "id has more than 4096");
}

static void files_that_cannot_be_written_are_reported(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    make_points(20, 2);
    ikt_rows rows = ikt_rows_make(20, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points = part(&rows, LABELS);
    assert_int_equal(ikt_plot_embedding(ctx, &settings, &points, "/nowhere/x.png"), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/nowhere/x.png"));
    ikt_clear(ctx);

    char path[80];
    name_file(ctx, "there", path);
    settings.overwrite = false;
    assert_int_equal(ikt_plot_embedding(ctx, &settings, &points, path), IKT_OK);
    uint64_t before = hash_file(path);
    settings.title = "second";
    assert_int_equal(ikt_plot_embedding(ctx, &settings, &points, path), IKT_ERR_FILE);
    ikt_clear(ctx);
    assert_true(before != 0 && hash_file(path) == before);
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) assert_int_equal(remove(path), 0);
}

/* Three columns side by side: the same file on any ranks, and the first panel's colours are those
 * of the column alone. */
static void panels_stand_side_by_side(void **state) {
    ikt_context *ctx = *state;
    ikt_plot_settings settings = small_settings();
    char path[80], reference[80];
    settings.width = 900;
    make_points(N_MAX, 10);
    name_file(ctx, "panels", path);
    name_file(ctx, "alone", reference);
    ikt_rows rows = ikt_rows_make(N_MAX, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_points points[] = {part(&rows, LABELS), part(&rows, VALUES), part(&rows, BACKED)};
    assert_int_equal(ikt_plot_panels(ctx, &settings, points, 3, path), IKT_OK);
    if (ikt_rank(ctx) == 0) {
        ikt_context *alone = ikt_test_alone();
        rows = ikt_rows_make(N_MAX, 1, 0);
        const kind kinds[] = {LABELS, VALUES, BACKED};
        for (int k = 0; k < 3; k++)
            points[k] = part(&rows, kinds[k]);
        assert_int_equal(ikt_plot_panels(alone, &settings, points, 3, reference), IKT_OK);
        ikt_context_destroy(&alone);
        assert_true(hash_file(path) == hash_file(reference));
        (void)hash_pixels(path, 900, 250);
        assert_int_equal(remove(path) | remove(reference), 0);
    }
    settings.width = settings.height = 200;
    ikt_plot_points many[IKT_PLOT_PANELS_MOST];
    rows = ikt_rows_make(N_MAX, ikt_size(ctx), ikt_rank(ctx));
    for (int k = 0; k < IKT_PLOT_PANELS_MOST; k++)
        many[k] = part(&rows, LABELS);
    assert_int_equal(ikt_plot_panels(ctx, &settings, many, IKT_PLOT_PANELS_MOST, path),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "no room for 16 panels"));
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void radius_falls_with_the_number_of_points(void **state) {
    (void)state;
    assert_true(ikt_plot_radius(1, 1000) == 6);
    assert_true(fabs(ikt_plot_radius(1000, 1000) - 3.5) < 1e-12);
    assert_true(fabs(ikt_plot_radius(70000, 1000) - 1.21) < 0.01);
    assert_true(ikt_plot_radius(100000000, 1000) == 0.65);
    assert_true(ikt_plot_radius(1000, 2000) == 2 * ikt_plot_radius(1000, 1000));
}

IKT_MPI_TESTS(ikt_test(pictures_do_not_depend_on_ranks_or_threads),
              ikt_test(settings_change_the_picture), ikt_test(bands_do_not_show),
              ikt_test(few_points_are_still_a_picture), ikt_test(lines_and_volumes_are_drawn),
              ikt_test(one_point_is_drawn_at_the_centre),
              ikt_test(coordinates_that_are_not_finite_are_named),
              ikt_test(wrong_settings_are_refused), ikt_test(too_many_classes_are_refused),
              ikt_test(files_that_cannot_be_written_are_reported),
              ikt_test(panels_stand_side_by_side), ikt_test(radius_falls_with_the_number_of_points))
