/* Uniform cubic B-splines on a coarse grid of normal vectors. */
#include "data/deform_field.h"

#include <string.h>

void ikt_deform_field_draw(ikt_deform_field *field, double sd, uint64_t seed,
                           ikt_rng_purpose purpose, int64_t row, uint64_t first_draw) {
    /* The mean over positions of the sum of squared weights along one side is 151/315. */
    double knot_sd = sd * 315.0 / 151.0;
    uint64_t draw = first_draw;
    for (int i = 0; i < IKT_FIELD_KNOTS; i++)
        for (int j = 0; j < IKT_FIELD_KNOTS; j++) {
            field->x[i][j] = (float)(knot_sd * ikt_rng_normal(seed, purpose, row, draw++));
            field->y[i][j] = (float)(knot_sd * ikt_rng_normal(seed, purpose, row, draw++));
        }
}

/* The cell that holds the position, and the weights of the four knots from there on. */
static int locate(float position, float w[4]) {
    float at = position * IKT_FIELD_CELLS;
    at = at < 0 ? 0 : at > IKT_FIELD_CELLS ? IKT_FIELD_CELLS : at;
    int cell = at < IKT_FIELD_CELLS ? (int)at : IKT_FIELD_CELLS - 1;
    float f = at - (float)cell, f2 = f * f, f3 = f2 * f, g = 1 - f;
    w[0] = g * g * g * (1.f / 6);
    w[1] = (3 * f3 - 6 * f2 + 4) * (1.f / 6);
    w[2] = (-3 * f3 + 3 * f2 + 3 * f + 1) * (1.f / 6);
    w[3] = f3 * (1.f / 6);
    return cell;
}

void ikt_deform_field_weights(float position, float weight[IKT_FIELD_KNOTS]) {
    float w[4];
    int cell = locate(position, w);
    memset(weight, 0, IKT_FIELD_KNOTS * sizeof *weight);
    memcpy(weight + cell, w, sizeof w);
}

void ikt_deform_field_at(const ikt_deform_field *field, float px, float py, float *dx, float *dy) {
    float wx[4], wy[4];
    int cx = locate(px, wx), cy = locate(py, wy);
    *dx = *dy = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            *dx += wy[i] * wx[j] * field->x[cy + i][cx + j];
            *dy += wy[i] * wx[j] * field->y[cy + i][cx + j];
        }
}
