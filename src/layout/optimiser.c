/* Gradient descent with momentum and gains. */
#include "layout/optimiser.h"

#include <math.h>

#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/memory.h"

static const float gain_growth = 0.2f, gain_decay = 0.8f, gain_least = 0.01f;

enum { PIECE = 8192 /* coordinates that a thread takes at a time */ };

/* Coordinates from which on a second thread is worth waking. */
static const int64_t parallel_coordinates = 1 << 16;

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

/* Multiplications and additions one by one: every vector width gives the same bits. */
static IKT_WIDEST_VECTORS void step_piece(int64_t count, float keep, float length,
                                          const ikt_gradient *gradient, float *restrict velocity,
                                          float *restrict gain, float *restrict y) {
    const float *restrict attraction = gradient->attraction;
    const float *restrict repulsion = gradient->repulsion;
    const float pull = gradient->pull, push = gradient->push;
    for (int64_t e = 0; e < count; e++) {
        float slope = pull * attraction[e] + push * repulsion[e];
        /* The step goes against the gradient: equal signs mean that the gradient turned. */
        int turned = (slope > 0 && velocity[e] > 0) || (slope < 0 && velocity[e] < 0);
        float next = turned ? gain[e] * gain_decay : gain[e] + gain_growth;
        gain[e] = next < gain_least ? gain_least : next;
        velocity[e] = keep * velocity[e] - length * gain[e] * slope;
        y[e] += velocity[e];
    }
}

void ikt_optimiser_step(ikt_context *ctx, ikt_optimiser *optimiser, double momentum, double rate,
                        const ikt_gradient *gradient, float *y) {
    const int64_t count = optimiser->coordinates;
#pragma omp parallel for schedule(static)                                                          \
    num_threads(ikt_threads(ctx)) if (count >= parallel_coordinates)
    for (int64_t first = 0; first < count; first += PIECE) {
        const ikt_gradient piece = {gradient->attraction + first, gradient->repulsion + first,
                                    gradient->pull, gradient->push};
        step_piece(count - first < PIECE ? count - first : PIECE, (float)momentum, (float)rate,
                   &piece, optimiser->velocity + first, optimiser->gain + first, y + first);
    }
}

void ikt_optimiser_scale(ikt_optimiser *optimiser, float factor, float *y) {
    for (int64_t e = 0; e < optimiser->coordinates; e++) {
        optimiser->velocity[e] *= factor;
        y[e] *= factor;
    }
}

double ikt_gradient_norm(ikt_context *ctx, const ikt_gradient *gradient, int q, int64_t n_local) {
    ikt_exact_sum sum = {{0}, 0, 0};
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_exact_sum mine = {{0}, 0, 0};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n_local; i++) {
            double square = 0;
            for (int64_t e = q * i; e < q * (i + 1); e++) {
                float slope = gradient->pull * gradient->attraction[e] +
                              gradient->push * gradient->repulsion[e];
                square += (double)slope * (double)slope;
            }
            ikt_exact_sum_add(&mine, square);
        }
#pragma omp critical(ikt_norm)
        ikt_exact_sum_merge(&sum, &mine);
    }
    ikt_exact_sum_reduce(ctx, &sum, 1);
    return sqrt(ikt_exact_sum_value(&sum));
}
