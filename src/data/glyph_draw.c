/* Distances from pixels to segments, and grey values from distances. */
#include "data/glyph_draw.h"

#include <math.h>

enum { SIDE = IKT_GLYPH_SIDE, LANES = 4 }; /* the side is a multiple of the lanes */

/* First and last + 1 pixel whose centre is within reach of the interval a .. b, or none. */
static void pixel_range(float a, float b, float reach, int *first, int *past) {
    float low = (a < b ? a : b) - reach, high = (a < b ? b : a) + reach;
    low = low < 0 ? 0 : low > SIDE ? SIDE : low;
    high = high < -1 ? -1 : high > SIDE - 1 ? SIDE - 1 : high;
    *first = (int)low; /* one more than needed is harmless */
    *past = (int)(high + 1);
}

/* square[y][x] = min(itself, squared distance of (x, y) to the segment) near the segment. */
static void approach(float square[SIDE][SIDE], float x0, float y0, float x1, float y1,
                     float reach) {
    int left, right, top, bottom;
    pixel_range(x0, x1, reach, &left, &right);
    pixel_range(y0, y1, reach, &top, &bottom);
    float dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    float inverse = length > 1e-12f ? 1 / length : 0, tx = dx * inverse, ty = dy * inverse;
    left -= left % LANES; /* whole groups of lanes; their excess is measured correctly too */
    for (int y = top; y < bottom; y++) {
        float py = (float)y - y0, t0 = py * ty;
        for (int group = left; group < right; group += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                float px = (float)(group + lane) - x0, t = t0 + px * tx;
                t = t < 0 ? 0 : t;
                t = t > 1 ? 1 : t;
                float ex = px - t * dx, ey = py - t * dy, d = ex * ex + ey * ey;
                float *near = &square[y][group + lane];
                *near = d < *near ? d : *near;
            }
    }
}

void ikt_glyph_draw(const ikt_glyph_path *path, ikt_glyph_pen pen, uint8_t *pixels) {
    float square[SIDE][SIDE], reach = pen.radius + 0.5f * pen.edge, slope = pen.ink / pen.edge;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            square[y][x] = reach * reach;
    for (int i = 1; i < path->n; i++)
        if (!path->begins[i])
            approach(square, path->x[i - 1], path->y[i - 1], path->x[i], path->y[i], reach);
    const float *s = &square[0][0];
    for (int p = 0; p < IKT_GLYPH_PIXELS; p++) {
        float grey = slope * (reach - sqrtf(s[p]));
        grey = grey < pen.ink ? grey : pen.ink;
        pixels[p] = (uint8_t)(int)(grey + 0.5f);
    }
}
