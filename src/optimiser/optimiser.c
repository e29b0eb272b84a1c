/* What all kinds of optimiser share: their arrays, threads, and the norm of a gradient. */
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
    for (int a = 0; a < kind->arrays; a++) {
        IKT_TRY(ikt_alloc(ctx, &out->array[a], coordinates, sizeof *out->array[a], "layout"));
        for (int64_t e = 0; e < coordinates && kind->array[a].start != 0; e++)
            out->array[a][e] = kind->array[a].start;
    }
    return IKT_OK;
}

void ikt_optimiser_destroy(ikt_optimiser *optimiser) {
    for (int a = 0; a < IKT_OPTIMISER_ARRAYS_MOST; a++)
        ikt_free(&optimiser->array[a]);
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
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_exact_sum mine = {{0}, 0, 0};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n_local; i++) {
            double square = 0;
            for (int64_t e = q * i; e < q * (i + 1); e++) {
                float slope = gradient->attraction_scale * gradient->attraction[e] +
                              gradient->repulsion_scale * gradient->repulsion[e];
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
