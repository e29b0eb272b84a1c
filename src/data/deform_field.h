/* A random smooth displacement of the unit square.
 *
 * Method: independent normal vectors on a coarse grid, interpolated by uniform cubic B-splines,
 * which is Gaussian smoothing of white noise in all but name (Simard, Steinkraus, Platt 2003;
 * Loosli, Canu, Bottou 2007). Advantage: about a hundred draws whatever the image's size, twice
 * differentiable, no transcendental function a point. Disadvantage: one correlation length, about
 * a quarter of the side.
 */
#ifndef IKT_DATA_DEFORM_FIELD_H
#define IKT_DATA_DEFORM_FIELD_H

#include <stdint.h>

#include "base/rng.h"

enum {
    IKT_FIELD_CELLS = 4,
    IKT_FIELD_KNOTS = IKT_FIELD_CELLS + 3,
    IKT_FIELD_DRAWS = 2 * IKT_FIELD_KNOTS * IKT_FIELD_KNOTS
};

/* Coefficients of the two components of the displacement, [row of knots][column of knots]. */
typedef struct {
    float x[IKT_FIELD_KNOTS][IKT_FIELD_KNOTS], y[IKT_FIELD_KNOTS][IKT_FIELD_KNOTS];
} ikt_deform_field;

/* LOCAL, pure. Draws a field whose components have the standard deviation `sd` on average over the
 * square; uses the draws first_draw .. first_draw + IKT_FIELD_DRAWS - 1 of the row. */
void ikt_deform_field_draw(ikt_deform_field *field, double sd, uint64_t seed,
                           ikt_rng_purpose purpose, int64_t row, uint64_t first_draw);

/* LOCAL, pure. Weights of the knots at a position, 0 to 1, along one side: the displacement at
 * (px, py) is the sum over knots of weight_y[i] * weight_x[j] * field[i][j]. Four are not zero. */
void ikt_deform_field_weights(float position, float weight[IKT_FIELD_KNOTS]);

/* LOCAL, pure. The displacement at one position (each coordinate 0 to 1, clamped). */
void ikt_deform_field_at(const ikt_deform_field *field, float px, float py, float *dx, float *dy);

#endif
