/* From a gradient to a step: what the loop moves the rows by.
 *
 * A kind of optimiser is a table of the arrays that it remembers between two steps and a function
 * that makes the step. Allocation, checkpoints and the memory plan follow from the table, so that a
 * new kind is one file with one struct; an objective names the kind that its paper asks for.
 */
#ifndef IKT_OPTIMISER_OPTIMISER_H
#define IKT_OPTIMISER_OPTIMISER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The gradient of the own rows as two fields, which are added up where they are used: for each of
 * the q n_local coordinates e
 *   gradient[e] = attraction_scale * attraction[e] + repulsion_scale * repulsion[e].
 * Early exaggeration is a factor on `attraction_scale`. */
typedef struct {
    const float *attraction, *repulsion; /* [n_local * q], owned by the objective */
    float attraction_scale, repulsion_scale;
} ikt_gradient;

/* What the schedule says of one step. */
typedef struct {
    int64_t iteration; /* steps done before this one */
    double momentum;
    double next_momentum; /* that of the step after this one */
    double rate;          /* multiplies the gradient */
} ikt_optimiser_step;

enum { IKT_OPTIMISER_ARRAYS_MOST = 3 };

/* An array that an optimiser remembers: one number for each coordinate of the own rows. */
typedef struct {
    const char *name; /* in checkpoints */
    float start;      /* what it holds before the first step */
    bool is_length;   /* in units of the map: scaled with it */
} ikt_optimiser_array;

typedef struct {
    const char *name;
    int arrays;
    ikt_optimiser_array array[IKT_OPTIMISER_ARRAYS_MOST];
    /* LOCAL. One step of `count` coordinates from the first of each array on. The bits do not
     * depend on how coordinates are divided up. */
    void (*step)(const ikt_optimiser_step *step, const ikt_gradient *gradient, int64_t count,
                 float *const *array, float *y);
} ikt_optimiser_kind;

/* Momentum and a gain for each coordinate (van der Maaten & Hinton 2008; Jacobs 1988): a gain grows
 * by 0.2 where the gradient still points along the last step and shrinks by the factor 0.8 where it
 * turned, to at least 0.01; then
 *   velocity = momentum velocity - rate gain gradient,  y += velocity. */
extern const ikt_optimiser_kind ikt_optimiser_momentum;

/* The same with the gradient at the point ahead where the momentum would carry the rows, as TriMap
 * takes it; the map is that point. */
extern const ikt_optimiser_kind ikt_optimiser_delta_bar_delta;

/* y -= rate gradient, which remembers nothing: for objectives whose gradient is sampled and whose
 * rate falls. */
extern const ikt_optimiser_kind ikt_optimiser_descent;

typedef struct {
    const ikt_optimiser_kind *kind;
    int64_t coordinates; /* q n_local */
    float *array[IKT_OPTIMISER_ARRAYS_MOST];
} ikt_optimiser;

/* LOCAL. An optimiser before its first step. Errors: IKT_ERR_RESOURCE; destroy it then, too. */
ikt_status ikt_optimiser_create(ikt_context *ctx, const ikt_optimiser_kind *kind,
                                int64_t coordinates, ikt_optimiser *out);
void ikt_optimiser_destroy(ikt_optimiser *optimiser);

/* LOCAL. Forgets what was remembered: as before the first step. */
void ikt_optimiser_begin(const ikt_optimiser *optimiser);

/* LOCAL. One step: y changes by what the kind makes of the gradient. One pass over gradient, arrays
 * and y, in which both fields of the gradient are added: reading memory is the limit.
 *   q, moves   coordinates of a row, and [coordinates / q] which rows are moved; all others stay,
 *              and what is remembered of them. NULL: all are
 * Returns whether every coordinate is finite afterwards. */
bool ikt_optimiser_take_step(ikt_context *ctx, const ikt_optimiser *optimiser,
                             const ikt_optimiser_step *step, const ikt_gradient *gradient, int q,
                             const uint8_t *moves, float *y);

/* LOCAL. Multiplies positions and what is in units of the map by a factor. */
void ikt_optimiser_scale(const ikt_optimiser *optimiser, float factor, float *y);

/* COLLECTIVE. The Euclidean norm of the whole gradient, of q numbers a row, n_local own rows. */
double ikt_gradient_norm(ikt_context *ctx, const ikt_gradient *gradient, int q, int64_t n_local);

#endif
