/* Per-pixel sums to colours.
 *
 * Colours are averaged in linear light, where a mean of colours is what the eye sees of fine dots,
 * and laid over the background in sRGB, where steps of opacity look even. */
#include "plot/shade.h"

#include <math.h>

enum { LINEAR_MAX = 65535, BINS_PER_OCTAVE = 16, BINS = 64 * BINS_PER_OCTAVE };

static uint16_t linear_of(uint8_t value) {
    double s = value / 255.0;
    double l = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
    return (uint16_t)lround(l * LINEAR_MAX);
}

ikt_linear ikt_linear_of(ikt_rgb colour) {
    return (ikt_linear){linear_of(colour.r), linear_of(colour.g), linear_of(colour.b)};
}

void ikt_linear_table(uint8_t *table) {
    for (int i = 0; i <= LINEAR_MAX; i++) {
        double l = (double)i / LINEAR_MAX;
        double s = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055;
        table[i] = (uint8_t)lround(255 * s);
    }
}

void ikt_shade_mean(const ikt_pixel_sum *sums, int64_t count, const uint8_t *table,
                    ikt_shaded *out) {
    for (int64_t i = 0; i < count; i++) {
        int64_t cover = sums[i].cover, half = cover / 2;
        out[i] = (ikt_shaded){cover, {0, 0, 0}};
        if (cover > 0)
            out[i].mean =
                (ikt_rgb){table[(sums[i].r + half) / cover], table[(sums[i].g + half) / cover],
                          table[(sums[i].b + half) / cover]};
    }
}

/* Coverage (in points) that 99 % of the covered pixels do not exceed, to a sixteenth of an octave.
 * At least 4, so that a few touching discs do not count as dense. */
static double high_coverage(const ikt_shaded *pixels, int64_t count) {
    int64_t bins[BINS] = {0}, covered = 0, seen = 0;
    for (int64_t i = 0; i < count; i++) {
        if (pixels[i].cover == 0) continue;
        covered++;
        bins[(int)(BINS_PER_OCTAVE * log2((double)pixels[i].cover))]++;
    }
    int bin = 0;
    while (bin < BINS - 1 && (seen += bins[bin]) < covered - covered / 100)
        bin++;
    return fmax(exp2((bin + 1.0) / BINS_PER_OCTAVE) / IKT_COVER_FULL, 4);
}

static double single_opacity(double opacity, double high) {
    if (opacity > 0) return opacity;
    return fmax(0.85 / (1 + 0.45 * log10(high / 4)), 0.3);
}

void ikt_shade_draw(ikt_image *image, const ikt_shaded *pixels, int64_t side, double opacity,
                    int64_t x, int64_t y) {
    double high = high_coverage(pixels, side * side), single = single_opacity(opacity, high);
    for (int64_t row = 0; row < side; row++)
        for (int64_t column = 0; column < side; column++) {
            const ikt_shaded *p = &pixels[row * side + column];
            if (p->cover == 0) continue;
            double c = (double)p->cover / IKT_COVER_FULL;
            double alpha = c <= 1 ? single * c : single + (1 - single) * log(c) / log(high);
            ikt_rgb *to = &image->pixel[(y + row) * image->width + x + column];
            *to = ikt_rgb_mix(*to, p->mean, fmin(alpha, 1));
        }
}
