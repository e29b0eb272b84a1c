/* Colours that stay apart: CIE-Lab distances as seen with normal and with colour-blind vision.
 *
 * Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes (2009) for
 * full protanopia and deuteranopia, applied in linear light. */
#include "support/ikt_test.h"

#include <math.h>

#include "plot/colouring.h"

enum { NORMAL, PROTANOPIA, DEUTERANOPIA, VISIONS };

static const double vision_matrix[VISIONS][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                    {{0.152286, 1.052583, -0.204868},
                                                     {0.114503, 0.786281, 0.099216},
                                                     {-0.003882, -0.048116, 1.051998}},
                                                    {{0.367322, 0.860646, -0.227968},
                                                     {0.280085, 0.672501, 0.047413},
                                                     {-0.011820, 0.042940, 0.968881}}};

typedef struct {
    double l, a, b;
} lab;

static double linear(uint8_t value) {
    double s = value / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double lab_curve(double t) {
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static lab lab_of(ikt_rgb colour, int vision) {
    double in[3] = {linear(colour.r), linear(colour.g), linear(colour.b)}, s[3];
    for (int i = 0; i < 3; i++) {
        const double *m = vision_matrix[vision][i];
        s[i] = fmin(fmax(m[0] * in[0] + m[1] * in[1] + m[2] * in[2], 0), 1);
    }
    double x = lab_curve((0.4124564 * s[0] + 0.3575761 * s[1] + 0.1804375 * s[2]) / 0.95047);
    double y = lab_curve(0.2126729 * s[0] + 0.7151522 * s[1] + 0.0721750 * s[2]);
    double z = lab_curve((0.0193339 * s[0] + 0.1191920 * s[1] + 0.9503041 * s[2]) / 1.08883);
    return (lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double distance(ikt_rgb p, ikt_rgb q, int vision) {
    lab a = lab_of(p, vision), b = lab_of(q, vision);
    return sqrt((a.l - b.l) * (a.l - b.l) + (a.a - b.a) * (a.a - b.a) + (a.b - b.b) * (a.b - b.b));
}

/* Least distance of two of `count` classes. */
static double separation(int64_t count, bool black, int vision) {
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            least = fmin(least, distance(ikt_palette_class(i, count, black),
                                         ikt_palette_class(j, count, black), vision));
    return least;
}

static void classes_stay_apart_for_every_reader(void **state) {
    (void)state;
    /* A distance of about 2.3 is just noticed side by side; small dots need several times that. */
    static const struct {
        int64_t most;
        double normal, blind;
    } bounds[] = {{8, 26, 16}, {10, 45, 25}, {24, 26, 14}};
    int64_t count = 2;
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (; count <= bounds[b].most; count++)
            for (int vision = 0; vision < VISIONS; vision++) {
                double bound = vision == NORMAL ? bounds[b].normal : bounds[b].blind;
                assert_true(separation(count, false, vision) >= bound);
                /* On black all are lighter, and so a little closer to each other. */
                assert_true(separation(count, true, vision) >= 0.75 * bound);
            }
}

static void classes_differ_from_the_background(void **state) {
    (void)state;
    for (int black = 0; black < 2; black++) {
        ikt_theme theme = ikt_theme_get(black);
        for (int64_t count = 1; count <= 200; count++)
            for (int64_t i = 0; i < count; i++)
                assert_true(distance(ikt_palette_class(i, count, black), theme.background, 0) > 18);
        assert_true(distance(theme.plain, theme.background, 0) > 40);
        assert_true(distance(theme.ink, theme.background, 0) > 80);
    }
}

static void many_classes_vary_in_lightness(void **state) {
    (void)state;
    enum { COUNT = 3 * IKT_PALETTE_DISTINCT };
    for (int64_t i = 0; i < COUNT; i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(distance(ikt_palette_class(i, COUNT, false),
                                 ikt_palette_class(j, COUNT, false), NORMAL) > 10);
    ikt_rgb first = ikt_palette_class(0, 1000, false),
            again = ikt_palette_class(COUNT, 1000, false);
    assert_memory_equal(&first, &again, sizeof first);
}

/* Equal steps of the number look equal: lightness rises throughout, for every reader, and no step
 * is more than half as long again as the mean. */
static void numbers_rise_evenly_in_lightness(void **state) {
    (void)state;
    enum { STEPS = 64 };
    for (int black = 0; black < 2; black++)
        for (int vision = 0; vision < VISIONS; vision++) {
            double total = 0, longest = 0;
            for (int i = 0; i < STEPS; i++) {
                ikt_rgb p = ikt_palette_value((double)i / STEPS, black);
                ikt_rgb q = ikt_palette_value((i + 1.0) / STEPS, black);
                double step = distance(p, q, vision);
                total += step;
                longest = fmax(longest, step);
                assert_true(lab_of(q, vision).l > lab_of(p, vision).l - 0.3);
            }
            if (vision == NORMAL) assert_true(longest < 1.5 * total / STEPS);
            assert_true(lab_of(ikt_palette_value(1, black), vision).l -
                            lab_of(ikt_palette_value(0, black), vision).l >
                        50);
        }
    ikt_rgb end = ikt_palette_value(1, false), beyond = ikt_palette_value(7, false);
    assert_memory_equal(&end, &beyond, sizeof end);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_stay_apart_for_every_reader),
                                       cmocka_unit_test(classes_differ_from_the_background),
                                       cmocka_unit_test(many_classes_vary_in_lightness),
                                       cmocka_unit_test(numbers_rise_evenly_in_lightness)};
    return cmocka_run_group_tests_name("plot colours", tests, NULL, NULL);
}
