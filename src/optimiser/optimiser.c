/* What all kinds of optimiser share, and the kinds: in their steps multiplications and additions
 * are done one by one, so that every vector width gives the same bits. */
#include "optimiser/optimiser.h"

#include <float.h>
#include <math.h>

#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/memory.h"

enum { PIECE = 8192 /* coordinates that a thread takes at a time */ };

/* The number of coordinates from which on a second thread is worth waking. */
static const int64_t parallel_coordinates = 1 << 16;

ikt_status ikt_optimiser_create(ikt_context *ctx, const ikt_optimiser_kind *kind,
                                int64_t coordinates, ikt_optimiser *out) {
    *out = (ikt_optimiser){.kind = kind, .coordinates = coordinates};
    for (int a = 0; a < kind->arrays; a++)
        IKT_TRY(ikt_alloc(ctx, &out->array[a], coordinates, sizeof *out->array[a], "layout"));
    ikt_optimiser_begin(out);
    return IKT_OK;
}

void ikt_optimiser_begin(const ikt_optimiser *optimiser) {
    const ikt_optimiser_kind *kind = optimiser->kind;
    for (int a = 0; a < kind->arrays; a++)
        for (int64_t e = 0; e < optimiser->coordinates; e++)
            optimiser->array[a][e] = kind->array[a].start;
}

void ikt_optimiser_destroy(ikt_optimiser *optimiser) {
    for (int a = 0; a < IKT_OPTIMISER_ARRAYS_MOST; a++)
        ikt_free(&optimiser->array[a]);
}

static inline float slope_at(const ikt_gradient *g, int64_t e) {
    return g->attraction_scale * g->attraction[e] + g->repulsion_scale * g->repulsion[e];
}

/* Comparisons with NaN are false. */
static IKT_WIDEST_VECTORS int is_finite(const float *y, int64_t count) {
    int outside = 0;
    for (int64_t e = 0; e < count; e++)
        outside |= !(fabsf(y[e]) <= FLT_MAX);
    return !outside;
}

/* One step of the coordinates first .. first + length - 1. */
static void step_piece(const ikt_optimiser *optimiser, const ikt_optimiser_step *step,
                       const ikt_gradient *gradient, int64_t first, int64_t length, float *y) {
    const ikt_gradient piece = {gradient->attraction + first, gradient->repulsion + first,
                                gradient->attraction_scale, gradient->repulsion_scale};
    float *array[IKT_OPTIMISER_ARRAYS_MOST] = {NULL};
    for (int a = 0; a < optimiser->kind->arrays; a++)
        array[a] = optimiser->array[a] + first;
    optimiser->kind->step(step, &piece, length, array, y + first);
}

/* Row by row, as the bits do not depend on how coordinates are divided up. */
static bool step_some(const ikt_optimiser *optimiser, const ikt_optimiser_step *step,
                      const ikt_gradient *gradient, int q, const uint8_t *moves, float *y) {
    bool all_finite = true;
    for (int64_t i = 0; i < optimiser->coordinates / q; i++) {
        if (!moves[i]) continue;
        step_piece(optimiser, step, gradient, i * q, q, y);
        all_finite = all_finite && is_finite(y + i * q, q);
    }
    return all_finite;
}

bool ikt_optimiser_take_step(ikt_context *ctx, const ikt_optimiser *optimiser,
                             const ikt_optimiser_step *step, const ikt_gradient *gradient, int q,
                             const uint8_t *moves, float *y) {
    const int64_t count = optimiser->coordinates;
    if (moves) return step_some(optimiser, step, gradient, q, moves, y);
    int all_finite = 1;
#pragma omp parallel for schedule(static) reduction(&& : all_finite)                               \
    num_threads(ikt_threads(ctx)) if (count >= parallel_coordinates)
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t length = count - first < PIECE ? count - first : PIECE;
        step_piece(optimiser, step, gradient, first, length, y);
        all_finite = all_finite && is_finite(y + first, length);
    }
    return all_finite;
}

void ikt_optimiser_scale(const ikt_optimiser *optimiser, float factor, float *y) {
    const ikt_optimiser_kind *kind = optimiser->kind;
    for (int64_t e = 0; e < optimiser->coordinates; e++)
        y[e] *= factor;
    for (int a = 0; a < kind->arrays; a++)
        for (int64_t e = 0; e < optimiser->coordinates && kind->array[a].is_length; e++)
            optimiser->array[a][e] *= factor;
}

double ikt_gradient_norm(ikt_context *ctx, const ikt_gradient *gradient, int q, int64_t n_local) {
    ikt_exact_sum sum = {{0}, 0, 0};
#pragma omp parallel for schedule(static) reduction(exact : sum) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++) {
        double square = 0;
        for (int64_t e = q * i; e < q * (i + 1); e++) {
            const float slope = slope_at(gradient, e);
            square += (double)slope * (double)slope;
        }
        ikt_exact_sum_add(&sum, square);
    }
    ikt_exact_sum_reduce(ctx, &sum, 1);
    return sqrt(ikt_exact_sum_value(&sum));
}

/* --- gains ------------------------------------------------------------------------------------ */

/* The gain of a coordinate, which multiplies its steps (Jacobs 1988; van der Maaten & Hinton 2008):
 * it grows by a constant while the gradient still points along the last step, shrinks by a factor
 * where the gradient turned, and never falls below a least value. */
static const float gain_growth = 0.2f, gain_decay = 0.8f, gain_least = 0.01f;

/* The gain of the next step: it shrinks where gradient and velocity are both above 0 or both
 * below, since steps go against the gradient, and where both are 0 if `zeros_agree`. Selections
 * without a branch, which compilers turn into vectors and whose outcome nobody could foretell; two
 * operations in single precision, the same on every vector width. */
static inline float gain_next(float gain, float slope, float velocity, int zeros_agree) {
    const float shrunk = gain * gain_decay, grown = gain + gain_growth;
    const float of_positive = velocity > 0 ? shrunk : grown;
    const float of_negative = velocity < 0 ? shrunk : grown;
    const float of_others = velocity != 0 ? grown : zeros_agree ? shrunk : grown;
    const float of_rest = slope < 0 ? of_negative : of_others;
    const float next = slope > 0 ? of_positive : of_rest;
    return next < gain_least ? gain_least : next;
}

/* --- kinds of optimiser ----------------------------------------------------------------------- */

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

static IKT_WIDEST_VECTORS void step_ahead(const ikt_optimiser_step *step,
                                          const ikt_gradient *gradient, int64_t count,
                                          float *const *array, float *restrict y) {
    float *restrict velocity = array[0], *restrict gain = array[1];
    const float momentum = (float)step->momentum, rate = (float)step->rate;
    const float ahead = 1 + (float)step->next_momentum;
    for (int64_t e = 0; e < count; e++) {
        const float slope = slope_at(gradient, e);
        const float v = velocity[e], carried = momentum * v;
        gain[e] = gain_next(gain[e], slope, v, 1);
        velocity[e] = carried - rate * gain[e] * slope;
        y[e] += ahead * velocity[e] - carried;
    }
}

const ikt_optimiser_kind ikt_optimiser_delta_bar_delta = {
    "delta_bar_delta", 2, {{"velocity", 0, true}, {"gain", 1, false}}, step_ahead};

/* Plain gradient descent. */

static IKT_WIDEST_VECTORS void step_plain(const ikt_optimiser_step *step,
                                          const ikt_gradient *gradient, int64_t count,
                                          float *const *array, float *restrict y) {
    const float rate = (float)step->rate;
    (void)array;
    for (int64_t e = 0; e < count; e++)
        y[e] -= rate * slope_at(gradient, e);
}

const ikt_optimiser_kind ikt_optimiser_descent = {
    .name = "descent", .arrays = 0, .step = step_plain};

/* Gradient descent with momentum and gains. */

static IKT_WIDEST_VECTORS void step_with_momentum(const ikt_optimiser_step *step,
                                                  const ikt_gradient *gradient, int64_t count,
                                                  float *const *array, float *restrict y) {
    float *restrict velocity = array[0], *restrict gain = array[1];
    const float momentum = (float)step->momentum, rate = (float)step->rate;
    for (int64_t e = 0; e < count; e++) {
        const float slope = slope_at(gradient, e);
        gain[e] = gain_next(gain[e], slope, velocity[e], 0);
        velocity[e] = momentum * velocity[e] - rate * gain[e] * slope;
        y[e] += velocity[e];
    }
}

const ikt_optimiser_kind ikt_optimiser_momentum = {
    "momentum", 2, {{"velocity", 0, true}, {"gain", 1, false}}, step_with_momentum};
