/* Names of classes: in their text, and in the legend of a picture. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "io/formats/class_labels.h"
#include "plot/figure.h"

enum { WIDTH = 300, HEIGHT = 200, SAID = 4096 };

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

/* Draws the legend of two classes as SVG, the text of which goes to `said`; returns its width. */
static double draw(int64_t first, int64_t second, const char *names, char said[SAID]) {
    ikt_class classes[2] = {{first, 30}, {second, 12}};
    ikt_rgb colours[2] = {{200, 0, 0}, {0, 0, 200}};
    const ikt_theme theme = ikt_theme_get(false);
    const ikt_colouring colouring = {
        .kind = IKT_COLOUR_CLASSES, .colour = colours, .classes = classes, .n_classes = 2};
    ikt_legend legend = {
        .colouring = &colouring, .theme = &theme, .class_names = names, .n = 42, .unit = 1};
    ikt_legend_plan(&legend, HEIGHT, WIDTH);
    ikt_canvas canvas = {.kind = IKT_CANVAS_SVG, .file = tmpfile()};
    assert_non_null(canvas.file);
    ikt_legend_draw(&canvas, &legend, 0, 0);
    rewind(canvas.file);
    const size_t length = fread(said, 1, SAID, canvas.file);
    assert_in_range(length, 1, SAID - 1);
    said[length] = '\0';
    fclose(canvas.file);
    return legend.width;
}

/* Whether legends of two pairs of classes look the same. */
static bool same(const int64_t a[2], const char *names_a, const int64_t b[2], const char *names_b) {
    char one[SAID], other[SAID];
    const double wide = draw(a[0], a[1], names_a, one);
    return wide == draw(b[0], b[1], names_b, other) && strcmp(one, other) == 0;
}

static void the_legend_shows_names(void **state) {
    (void)state;
    char said[SAID];
    static const int64_t usual[2] = {0, 1}, far[2] = {1, 3}, missing[2] = {-1, 1};
    draw(0, 1, "b cell\nt cell\n", said);
    assert_non_null(strstr(said, ">b cell</text>"));
    assert_non_null(strstr(said, ">t cell</text>"));
    draw(-1, 0, "b cell\n", said);
    assert_non_null(strstr(said, ">(missing)</text>"));
    assert_true(same(usual, NULL, usual, "0\n1\n"));
    assert_false(same(usual, NULL, usual, "b cell\nt cell\n"));
    assert_true(same(usual, "b cell\nt cell\n", far, "x\nb cell\ny\nt cell\n"));
    assert_true(same(usual, "(missing)\nb\n", missing, "a\nb\n"));
    assert_true(same(usual, "(missing)\n1\n", missing, "a\n"));
}

static void long_names_make_it_wider(void **state) {
    (void)state;
    char said[SAID];
    const double narrow = draw(0, 1, "a\nb\n", said);
    assert_true(draw(0, 1, "hematopoietic stem cells\nb\n", said) > narrow + 50);
}

IKT_MPI_TESTS(ikt_test(a_line_names_a_class), ikt_test(the_legend_shows_names),
              ikt_test(long_names_make_it_wider))
