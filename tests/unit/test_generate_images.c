/* Glyphs and the displacement field: statistics, shapes, and that a classifier can tell them. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/deform_field.h"
#include "data/generate.h"
#include "data/glyph_draw.h"

enum { PIXELS = IKT_GLYPH_PIXELS };

static void make(ikt_context *ctx, double strength, int n, uint8_t **x, int32_t **labels) {
    ikt_generate_settings s;
    ikt_generation *g;
    assert_int_equal(ikt_generate_defaults(ctx, &s), IKT_OK);
    s.points = n, s.strength = strength;
    assert_int_equal(ikt_generation_open(ctx, "glyphs", &s, 5, &g), IKT_OK);
    assert_int_equal(g->columns, PIXELS);
    assert_int_equal(ikt_alloc(ctx, x, (int64_t)n * PIXELS, 1, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, labels, n, sizeof **labels, "test"), IKT_OK);
    ikt_generation_fill(g, 0, n, *x, *labels);
    ikt_generation_close(&g);
}

static int64_t distance(const uint8_t *a, const uint8_t *b) {
    int64_t sum = 0;
    for (int p = 0; p < PIXELS; p++)
        sum += (a[p] - b[p]) * (a[p] - b[p]);
    return sum;
}

/* Labels follow from the pixels: the nearest of the other images bears the same label. */
static void nearest_neighbours_agree(void **state) {
    ikt_context *ctx = *state;
    enum { N = 1000 };
    uint8_t *x;
    int32_t *labels, right = 0;
    make(ctx, IKT_AUTO_REAL, N, &x, &labels);
    for (int i = 0; i < N; i++) {
        int64_t best = INT64_MAX;
        int nearest = -1;
        for (int j = 0; j < N; j++) {
            int64_t between = j == i ? INT64_MAX : distance(x + i * PIXELS, x + j * PIXELS);
            if (between < best) best = between, nearest = j;
        }
        assert_true(best > 0); /* no two are equal */
        right += labels[i] == labels[nearest];
    }
    assert_in_range(right, 900, 990);
    ikt_free(&x), ikt_free(&labels);
}

static void glyphs_look_like_mnist_in_the_mean(void **state) {
    ikt_context *ctx = *state;
    enum { N = 20000 };
    uint8_t *x;
    int32_t *labels;
    make(ctx, IKT_AUTO_REAL, N, &x, &labels);
    int64_t count[10] = {0}, inked = 0, border = 0;
    double worst = 0;
    for (int i = 0; i < N; i++) {
        assert_in_range(labels[i], 0, 9);
        count[labels[i]]++;
        double total = 0, cx = 0, cy = 0;
        for (int p = 0; p < PIXELS; p++) {
            int v = x[i * PIXELS + p], px = p % 28, py = p / 28;
            inked += v > 0;
            border += v > 0 && (px == 0 || py == 0 || px == 27 || py == 27);
            total += v, cx += v * px, cy += v * py;
        }
        assert_true(total > 0);
        worst = fmax(worst, fmax(fabs(cx / total - 13.5), fabs(cy / total - 13.5)));
    }
    for (int k = 0; k < 10; k++)
        assert_in_range(count[k], 2000 - 215, 2000 + 215); /* 5 deviations */
    double share = (double)inked / ((double)N * PIXELS);
    assert_true(share > 0.18 && share < 0.30);
    assert_true(worst < 3.5); /* ink is centred, up to shifts of half a pixel sd and overlaps */
    assert_true(border < N / 1000);
    ikt_free(&x), ikt_free(&labels);
}

/* Undeformed, a row is one of the ideal shapes: as many different images as there are shapes. */
static void strength_zero_leaves_the_ideal_shapes(void **state) {
    ikt_context *ctx = *state;
    enum { N = 600 };
    uint8_t *x;
    int32_t *labels;
    static ikt_glyph_shapes shapes;
    assert_int_equal(ikt_glyph_shapes_make(ctx, &shapes), IKT_OK);
    make(ctx, 0, N, &x, &labels);
    int different[10] = {0};
    for (int i = 0; i < N; i++) {
        int j = 0;
        while (distance(x + i * PIXELS, x + j * PIXELS) > 0)
            j++;
        assert_int_equal(labels[i], labels[j]);
        different[labels[i]] += j == i;
    }
    for (int k = 0; k < 10; k++) {
        assert_true(shapes.styles[k] >= 3);
        assert_int_equal(different[k], shapes.styles[k]);
    }
    ikt_free(&x), ikt_free(&labels);
}

/* Every pixel against the distance to the path in double, by all segments. */
static void pen_draws_distances(void **state) {
    (void)state;
    ikt_glyph_path path = {5, {5, 5, 20.3f, 40, 30}, {-3, 22, 8.7f, 30, 2}, {1, 0, 0, 1, 0}};
    ikt_glyph_pen pen = {2, 1.5f, 240};
    uint8_t pixels[PIXELS];
    ikt_glyph_draw(&path, pen, pixels);
    for (int p = 0; p < PIXELS; p++) {
        double least = 1e9;
        for (int i = 1; i < path.n; i++) {
            double x0 = path.x[i - 1], y0 = path.y[i - 1], dx = path.x[i] - x0;
            double dy = path.y[i] - y0, px = p % 28 - x0, py = p / 28 - y0;
            double t = fmin(1, fmax(0, (px * dx + py * dy) / (dx * dx + dy * dy)));
            if (!path.begins[i]) least = fmin(least, hypot(px - t * dx, py - t * dy));
        }
        double grey = 240 * fmin(1, fmax(0, (2.75 - least) / 1.5));
        assert_true(fabs(grey - pixels[p]) < 0.51);
    }
}

static void field_is_smooth_and_of_its_size(void **state) {
    (void)state;
    enum { N = 2000 };
    const float at[][2] = {{0, 0}, {0.3f, 0.9f}, {0.5f, 0.5f}, {1, 0.125f}, {0.25f, 1}};
    double squares = 0, mean = 0;
    for (int i = 0; i < N; i++) {
        ikt_deform_field field;
        ikt_deform_field_draw(&field, 3, 1, IKT_RNG_TEST, i, 10);
        for (int k = 0; k < 5; k++) {
            float dx, dy, wx[IKT_FIELD_KNOTS], wy[IKT_FIELD_KNOTS], sum = 0, x = 0;
            ikt_deform_field_at(&field, at[k][0], at[k][1], &dx, &dy);
            ikt_deform_field_weights(at[k][0], wx);
            ikt_deform_field_weights(at[k][1], wy);
            for (int a = 0; a < IKT_FIELD_KNOTS; a++)
                for (int b = 0; b < IKT_FIELD_KNOTS; b++)
                    sum += wy[a] * wx[b], x += wy[a] * wx[b] * field.x[a][b];
            assert_true(fabsf(sum - 1) < 1e-5f);
            assert_true(fabsf(x - dx) < 1e-4f);
            mean += dx + dy;
            squares += dx * dx + dy * dy;
        }
        float near, there, other;
        ikt_deform_field_at(&field, 0.25f - 1e-4f, 0.4f, &near, &other);
        ikt_deform_field_at(&field, 0.25f + 1e-4f, 0.4f, &there, &other);
        assert_true(fabsf(near - there) < 0.02f); /* continuous across cells */
    }
    assert_true(fabs(mean / (10 * N)) < 0.1);
    assert_true(fabs(sqrt(squares / (10 * N)) / 3 - 1) < 0.05);
}

IKT_MPI_TESTS(ikt_test(nearest_neighbours_agree), ikt_test(glyphs_look_like_mnist_in_the_mean),
              ikt_test(strength_zero_leaves_the_ideal_shapes), ikt_test(pen_draws_distances),
              ikt_test(field_is_smooth_and_of_its_size))
