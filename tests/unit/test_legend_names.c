/* Names of classes: in their text, and in the legend of a picture. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/memory.h"
#include "io/label_names.h"
#include "plot/legend.h"

enum { WIDTH = 300, HEIGHT = 200 };
static const ikt_rgb white = {255, 255, 255};

static void a_line_names_a_class(void **state) {
    (void)state;
    char text[32];
    static const char names[] = "a\n\nb cell\n";
    assert_int_equal(ikt_label_names_count(names), 3);
    assert_string_equal(ikt_label_name(names, 0, text, sizeof text), "a");
    assert_string_equal(ikt_label_name(names, 1, text, sizeof text), "");
    assert_string_equal(ikt_label_name(names, 2, text, sizeof text), "b cell");
    assert_string_equal(ikt_label_name(names, 2, text, 4), "b c");
    assert_string_equal(ikt_label_name(names, 3, text, sizeof text), "3");
    assert_string_equal(ikt_label_name(names, INT64_MAX, text, sizeof text), "9223372036854775807");
    assert_string_equal(ikt_label_name(names, -1, text, sizeof text), "(missing)");
    assert_string_equal(ikt_label_name(names, -2, text, sizeof text), "-2");
    assert_string_equal(ikt_label_name(NULL, -1, text, sizeof text), "-1");
    assert_string_equal(ikt_label_name("last", 0, text, sizeof text), "0"); /* no whole line */
}

/* Draws the legend of two classes; returns its width. */
static double draw(ikt_context *ctx, int64_t first, int64_t second, const char *names,
                   ikt_image *image) {
    ikt_class classes[2] = {{first, 30}, {second, 12}};
    ikt_rgb colours[2] = {{200, 0, 0}, {0, 0, 200}};
    const ikt_theme theme = ikt_theme_get(false);
    const ikt_colouring colouring = {
        .kind = IKT_COLOUR_CLASSES, .colour = colours, .classes = classes, .n_classes = 2};
    const ikt_legend_content content = {
        .colouring = &colouring, .theme = &theme, .class_names = names, .n = 42};
    const ikt_legend legend = ikt_legend_plan(&content, 1, HEIGHT, WIDTH);
    assert_int_equal(ikt_image_create(ctx, WIDTH, HEIGHT, white, image), IKT_OK);
    ikt_legend_draw(image, &legend, &content, 0, 0);
    return legend.width;
}

/* Whether legends of two pairs of classes look the same. */
static bool same(ikt_context *ctx, const int64_t a[2], const char *names_a, const int64_t b[2],
                 const char *names_b) {
    ikt_image one, other;
    const double wide = draw(ctx, a[0], a[1], names_a, &one);
    const double also = draw(ctx, b[0], b[1], names_b, &other);
    const bool is_same =
        wide == also && memcmp(one.pixel, other.pixel, WIDTH * HEIGHT * sizeof *one.pixel) == 0;
    ikt_image_destroy(&one);
    ikt_image_destroy(&other);
    return is_same;
}

static void the_legend_shows_names(void **state) {
    ikt_context *ctx = *state;
    static const int64_t usual[2] = {0, 1}, far[2] = {1, 3}, missing[2] = {-1, 1};
    assert_true(same(ctx, usual, NULL, usual, "0\n1\n"));
    assert_false(same(ctx, usual, NULL, usual, "b cell\nt cell\n"));
    assert_true(same(ctx, usual, "b cell\nt cell\n", far, "x\nb cell\ny\nt cell\n"));
    assert_true(same(ctx, usual, "(missing)\nb\n", missing, "a\nb\n"));
    assert_true(same(ctx, usual, "(missing)\n1\n", missing, "a\n"));
}

static void long_names_make_it_wider(void **state) {
    ikt_context *ctx = *state;
    ikt_image image;
    const double narrow = draw(ctx, 0, 1, "a\nb\n", &image);
    ikt_image_destroy(&image);
    assert_true(draw(ctx, 0, 1, "hematopoietic stem cells\nb\n", &image) > narrow + 50);
    ikt_image_destroy(&image);
}

IKT_MPI_TESTS(ikt_test(a_line_names_a_class), ikt_test(the_legend_shows_names),
              ikt_test(long_names_make_it_wider))
