/* Gradient descent with momentum and gains. See optimiser.h. */
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
    for (int64_t e = 0; e < count; e++) {
        float slope = attraction_scale * attraction[e] + repulsion_scale * repulsion[e];
        gain[e] = ikt_gain_next(gain[e], slope, velocity[e], 0);
        velocity[e] = momentum * velocity[e] - rate * gain[e] * slope;
        y[e] += velocity[e];
    }
}

const ikt_optimiser_kind ikt_optimiser_momentum = {
    "momentum", 2, {{"velocity", 0, true}, {"gain", 1, false}}, step};
