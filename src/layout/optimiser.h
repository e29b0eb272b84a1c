/* Gradient descent with momentum and a gain for each coordinate (Jacobs 1988). */
#ifndef IKT_LAYOUT_OPTIMISER_H
#define IKT_LAYOUT_OPTIMISER_H

#include <stdint.h>

#include "base/status.h"
#include "objective/objective.h"

typedef struct {
    int64_t coordinates; /* q n_local */
    float *velocity;     /* [coordinates] last step */
    float *gain;         /* [coordinates] */
} ikt_optimiser;

/* LOCAL. Starts at rest with gains of 1. */
ikt_status ikt_optimiser_create(ikt_context *ctx, int64_t coordinates, ikt_optimiser *out);
void ikt_optimiser_destroy(ikt_optimiser *optimiser);

/* LOCAL. One step: a gain grows by 0.2 where the gradient still points along the last step and
 * shrinks by the factor 0.8 where it turned, at least 0.01; then
 *   velocity = momentum velocity - rate gain gradient,  y += velocity.
 * One pass over gradient, velocity, gain and y, in which the two parts of the gradient are added:
 * memory is the limit. */
void ikt_optimiser_step(ikt_context *ctx, ikt_optimiser *optimiser, double momentum, double rate,
                        const ikt_gradient *gradient, float *y);

/* LOCAL. Multiplies positions and last steps by a factor. */
void ikt_optimiser_scale(ikt_optimiser *optimiser, float factor, float *y);

/* COLLECTIVE. Euclidean norm of the whole gradient, of q numbers a row, n_local own rows a rank. */
double ikt_gradient_norm(ikt_context *ctx, const ikt_gradient *gradient, int q, int64_t n_local);

#endif
