/* Gradient descent with momentum and gains. */
#include "layout/optimiser.h"

#include "base/memory.h"

static const float gain_growth = 0.2f, gain_decay = 0.8f, gain_least = 0.01f;

ikt_status ikt_optimiser_create(ikt_context *ctx, int64_t coordinates, ikt_optimiser *out) {
    *out = (ikt_optimiser){coordinates, NULL, NULL};
    IKT_TRY(ikt_alloc(ctx, &out->velocity, coordinates, sizeof *out->velocity, "layout"));
    IKT_TRY(ikt_alloc(ctx, &out->gain, coordinates, sizeof *out->gain, "layout"));
    for (int64_t e = 0; e < coordinates; e++)
        out->gain[e] = 1;
    return IKT_OK;
}

void ikt_optimiser_destroy(ikt_optimiser *optimiser) {
    ikt_free(&optimiser->velocity);
    ikt_free(&optimiser->gain);
}

void ikt_optimiser_step(ikt_context *ctx, ikt_optimiser *optimiser, double momentum, double rate,
                        const float *gradient, float *y) {
    float *velocity = optimiser->velocity, *gain = optimiser->gain;
    float keep = (float)momentum, length = (float)rate;
#pragma omp parallel for simd num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < optimiser->coordinates; e++) {
        /* The step goes against the gradient: equal signs mean that the gradient turned. */
        int turned = (gradient[e] > 0 && velocity[e] > 0) || (gradient[e] < 0 && velocity[e] < 0);
        float next = turned ? gain[e] * gain_decay : gain[e] + gain_growth;
        gain[e] = next < gain_least ? gain_least : next;
        velocity[e] = keep * velocity[e] - length * gain[e] * gradient[e];
        y[e] += velocity[e];
    }
}
