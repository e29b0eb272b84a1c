/* Plain gradient descent. See optimiser.h. */
#include "base/cpu.h"
#include "optimiser/optimiser.h"

/* Multiplications and additions one by one: every vector width gives the same bits. */
static IKT_WIDEST_VECTORS void step(const ikt_optimiser_step *step, const ikt_gradient *gradient,
                                    int64_t count, float *const *array, float *restrict y) {
    const float *restrict attraction = gradient->attraction;
    const float *restrict repulsion = gradient->repulsion;
    const float attraction_scale = gradient->attraction_scale;
    const float repulsion_scale = gradient->repulsion_scale;
    const float rate = (float)step->rate;
    (void)array;
    for (int64_t e = 0; e < count; e++)
        y[e] -= rate * (attraction_scale * attraction[e] + repulsion_scale * repulsion[e]);
}

const ikt_optimiser_kind ikt_optimiser_descent = {.name = "descent", .arrays = 0, .step = step};
