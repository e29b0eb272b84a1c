/* A picture in memory and the few shapes that figures are made of.
 *
 * Strokes are drawn from the distance of a pixel's centre to the nearest segment: one rule for
 * letters, crosses and discs. Advantage: smooth at any size. Disadvantage: every pixel of the
 * bounding box is measured against every segment, which is right for small shapes only. */
#include "plot/image.h"

#include <math.h>

#include "base/memory.h"

ikt_status ikt_image_create(ikt_context *ctx, int64_t width, int64_t height, ikt_rgb colour,
                            ikt_image *out) {
    *out = (ikt_image){width, height, NULL};
    IKT_TRY(ikt_alloc(ctx, &out->pixel, width * height, sizeof *out->pixel, "picture"));
    ikt_image_fill(out, 0, 0, width, height, colour);
    return IKT_OK;
}

void ikt_image_destroy(ikt_image *image) {
    ikt_free(&image->pixel);
}

static uint8_t mix_channel(uint8_t under, uint8_t over, double opacity) {
    return (uint8_t)lround(under + (over - under) * opacity);
}

ikt_rgb ikt_rgb_mix(ikt_rgb under, ikt_rgb over, double opacity) {
    return (ikt_rgb){mix_channel(under.r, over.r, opacity), mix_channel(under.g, over.g, opacity),
                     mix_channel(under.b, over.b, opacity)};
}

static int64_t clamp_index(int64_t value, int64_t limit) {
    return value < 0 ? 0 : value > limit ? limit : value;
}

void ikt_image_fill(ikt_image *image, int64_t x, int64_t y, int64_t width, int64_t height,
                    ikt_rgb colour) {
    int64_t left = clamp_index(x, image->width), right = clamp_index(x + width, image->width);
    int64_t top = clamp_index(y, image->height), bottom = clamp_index(y + height, image->height);
    for (int64_t row = top; row < bottom; row++)
        for (int64_t column = left; column < right; column++)
            image->pixel[row * image->width + column] = colour;
}

void ikt_image_frame(ikt_image *image, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour) {
    ikt_image_fill(image, x, y, width, 1, colour);
    ikt_image_fill(image, x, y + height - 1, width, 1, colour);
    ikt_image_fill(image, x, y, 1, height, colour);
    ikt_image_fill(image, x + width - 1, y, 1, height, colour);
}

static double distance_squared(const ikt_segment *s, double x, double y) {
    double dx = s->x1 - s->x0, dy = s->y1 - s->y0, along = dx * dx + dy * dy;
    double t = along > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / along : 0;
    t = fmin(fmax(t, 0), 1);
    double ex = s->x0 + t * dx - x, ey = s->y0 + t * dy - y;
    return ex * ex + ey * ey;
}

typedef struct {
    int64_t left, right, top, bottom; /* pixels; right and bottom are not included */
} box;

static box stroke_box(const ikt_image *image, const ikt_segment *segments, int count,
                      double reach) {
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int i = 0; i < count; i++) {
        x0 = fmin(x0, fmin(segments[i].x0, segments[i].x1));
        x1 = fmax(x1, fmax(segments[i].x0, segments[i].x1));
        y0 = fmin(y0, fmin(segments[i].y0, segments[i].y1));
        y1 = fmax(y1, fmax(segments[i].y0, segments[i].y1));
    }
    if (count == 0) return (box){0, 0, 0, 0};
    return (box){clamp_index((int64_t)floor(x0 - reach), image->width),
                 clamp_index((int64_t)ceil(x1 + reach), image->width),
                 clamp_index((int64_t)floor(y0 - reach), image->height),
                 clamp_index((int64_t)ceil(y1 + reach), image->height)};
}

void ikt_image_stroke(ikt_image *image, const ikt_segment *segments, int count, double width,
                      ikt_rgb colour) {
    double reach = width / 2 + 0.5;
    box b = stroke_box(image, segments, count, reach);
    for (int64_t row = b.top; row < b.bottom; row++)
        for (int64_t column = b.left; column < b.right; column++) {
            double nearest = INFINITY;
            for (int i = 0; i < count; i++)
                nearest = fmin(nearest, distance_squared(&segments[i], (double)column + 0.5,
                                                         (double)row + 0.5));
            double cover = fmin(fmax(reach - sqrt(nearest), 0), fmin(width, 1));
            if (cover <= 0) continue;
            ikt_rgb *pixel = &image->pixel[row * image->width + column];
            *pixel = ikt_rgb_mix(*pixel, colour, cover);
        }
}
