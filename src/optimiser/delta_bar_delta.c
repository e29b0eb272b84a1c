/* Delta-bar-delta with a gradient that is taken ahead: the steps of TriMap.
 *
 * Method: momentum and a gain for each coordinate (Jacobs 1988), the gradient g being that at
 * x + momentum v, where the momentum alone would carry the rows (Nesterov 1983; as TriMap's program
 * does). Stored is that point, y = x + momentum v, at which the loop evaluates: with v' the new
 * velocity and mu' the next momentum,
 *     v' = mu v - rate gain g,   x' = x + v',   y' = x' + mu' v' = y + (1 + mu') v' - mu v.
 * A gain grows by 0.2 unless gradient and velocity have the same sign, which shrinks it by the
 * factor 0.8 to at least 0.01. Advantage: one gradient a step, and no second table of positions.
 * Disadvantage: the map that is written is y, ahead of x by a step that has died away by then. */
#include "base/cpu.h"
#include "optimiser/gain.h"
#include "optimiser/optimiser.h"

/* Multiplications and additions one by one: every vector width gives the same bits. */
static IKT_WIDEST_VECTORS void step(const ikt_optimiser_step *step, const ikt_gradient *gradient,
                                    int64_t count, float *const *array, float *restrict y) {
    const float *restrict attraction = gradient->attraction;
    const float *restrict repulsion = gradient->repulsion;
    float *restrict velocity = array[0], *restrict gain = array[1];
    const float attraction_scale = gradient->attraction_scale;
    const float repulsion_scale = gradient->repulsion_scale;
    const float momentum = (float)step->momentum, rate = (float)step->rate;
    const float ahead = 1 + (float)step->next_momentum;
    for (int64_t e = 0; e < count; e++) {
        const float slope = attraction_scale * attraction[e] + repulsion_scale * repulsion[e];
        const float v = velocity[e], carried = momentum * v;
        gain[e] = ikt_gain_next(gain[e], slope, v, 1);
        velocity[e] = carried - rate * gain[e] * slope;
        y[e] += ahead * velocity[e] - carried;
    }
}

const ikt_optimiser_kind ikt_optimiser_delta_bar_delta = {
    "delta_bar_delta", 2, {{"velocity", 0, true}, {"gain", 1, false}}, step};
